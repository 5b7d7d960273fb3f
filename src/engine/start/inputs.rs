//! The questions for the workflow, its task and its inputs.

use crate::definition::{Input, Library, ValueType, Workflow, is_blank, on_one_line};
use crate::engine::context::Cx;
use crate::engine::effect::{Level, Request};
use crate::sorted::Map;
use crate::text;

use super::notices::{untrusted, usage};
use super::state::{Next, Start, StartAsked};

/// The first option of a choice: a key that was meant for the editor does no harm.
const NOT_STARTED: &str = "Do not start";
/// The option of a choice without a value, which is none of its own options.
pub const NO_VALUE: &str = "";

/// Asks for the workflow to start; elsewhere than in a terminal, or without workflows, shows the usage.
pub fn ask_workflow(library: &Library, cx: &mut Cx) -> Next {
    let (names, options): (Vec<String>, Vec<String>) = library
        .for_users()
        .map(|(name, workflow)| {
            let mut line = format!("{name} — {}", text::short_name(&workflow.name));
            if let Some(about) = text::description(workflow, library) {
                line.push_str(&format!(": {about}"));
            }
            let agents = text::agents_note(&workflow.key, library);
            let notes = [Some(text::origin(workflow)), agents].into_iter().flatten();
            line.push_str(&format!("  ({})", notes.collect::<Vec<_>>().join("; ")));
            (name, text::exact(&on_one_line(&line)))
        })
        .unzip();
    if names.is_empty() || !cx.ui.is_terminal() {
        let text = format!("{}{}", usage(library), untrusted(cx));
        cx.notify(Level::Info, text);
        return Next::Refused;
    }
    let title = text::Title::new("Which workflow?", &untrusted(cx));
    Next::Ask(Request::Select { title, options }, StartAsked::Workflow(names))
}

/// Asks for the task.
pub fn ask_task(start: Start, library: &Library) -> Next {
    let workflow = library.by_command_name(&start.command_name);
    let name = workflow.map_or(&start.command_name, |workflow| &workflow.name);
    let mut question = format!("{}?", text::quoted(name, 60));
    if let Some(task) = workflow.and_then(|workflow| workflow.default_task.as_ref()) {
        question.push_str(&format!("\nEmpty: {task}"));
    }
    let title = text::Title::new("What is the task for ", &question);
    Next::Ask(Request::Input { title }, StartAsked::Task(start))
}

/// Asks for the task anew, and then for all inputs: the run gets no value but those that the user gives.
pub fn ask_all(mut start: Start, library: &Library) -> Next {
    let workflow = library.by_command_name(&start.command_name);
    let inputs = workflow.map(|workflow| &*workflow.inputs).unwrap_or_default().iter();
    start.to_ask = inputs.filter(|input| !input.is_required()).map(|input| input.name.clone()).collect();
    start.values = Map::new();
    ask_task(start, library)
}

/// Asks for the first input of the workflow that has no value and no default, or a value that is not of its type: the
/// files may change during a dialog. Without a user interface the error lists all missing inputs. `None` if nothing is
/// missing.
pub fn ask_missing(start: &Start, library: &Library, cx: &mut Cx) -> Option<Next> {
    let workflow = library.by_command_name(&start.command_name)?;
    let is_missing = |input: &&Input| match start.values.get(&input.name) {
        Some(value) => input.kind.value(value).is_none(),
        None => input.is_required() || start.to_ask.contains(&input.name),
    };
    let missing: Vec<&Input> = workflow.inputs.iter().filter(is_missing).collect();
    let first = missing.first()?;
    if !cx.ui.exists() {
        cx.fail(Level::Error, text::missing_inputs(&missing));
        return Some(Next::Refused);
    }
    let (name, start) = (first.name.clone(), start.clone());
    let may_lack = start.to_ask.contains(&name);
    let title = text::input_question(workflow, first, may_lack);
    Some(match first.kind {
        ValueType::Choice(_) | ValueType::Flag => {
            let options = may_lack.then_some(NO_VALUE).into_iter().chain(first.kind.options());
            let options: Vec<String> = options.map(ToOwned::to_owned).collect();
            let shown = options.iter().map(|option| text::option_of_input(first, option));
            let shown = std::iter::once(NOT_STARTED.to_owned()).chain(shown).collect();
            Next::Ask(Request::Select { title, options: shown }, StartAsked::Choice { start, name, options })
        }
        ValueType::List { .. } if first.kind.is_list_of_texts() => ask_item((start, name, Vec::new()), workflow, first),
        ValueType::Text(_) | ValueType::Number(_) | ValueType::Command | ValueType::List { .. } => {
            Next::Ask(Request::Input { title }, StartAsked::Text { start, name })
        }
    })
}

fn ask_item((start, name, items): (Start, String, Vec<String>), workflow: &Workflow, input: &Input) -> Next {
    let title = text::item_question(workflow, input, items.len() + 1);
    Next::Ask(Request::Input { title }, StartAsked::Item { start, name, items })
}

/// Takes the next item of a list, and asks for another one. An empty answer ends the list; if the list must have items
/// and has none, nothing is started.
pub fn item_entered(
    (start, name, mut items): (Start, &str, Vec<String>),
    given: Option<String>,
    library: &Library,
    cx: &mut Cx,
) -> Next {
    let Some(((workflow, input), given)) = input_of(&start, name, library).zip(given) else {
        return Next::declined(cx);
    };
    let ValueType::List { min, max, .. } = input.kind else { return Next::Ready(start) };
    let is_end = is_blank(&given);
    if is_end && items.is_empty() && min > 0 {
        return Next::declined(cx);
    }
    if !is_end {
        items.push(given);
        if items.len() < max {
            return ask_item((start, name.to_owned(), items), workflow, input);
        }
    }
    entered(start, name, Some(items.join("\n")), library, cx)
}

/// Takes the value that the user gave to an input. The input is asked for again if the value is not of its type.
pub fn entered(mut start: Start, name: &str, given: Option<String>, library: &Library, cx: &mut Cx) -> Next {
    let Some(((_, input), given)) = input_of(&start, name, library).zip(given) else {
        return Next::declined(cx);
    };
    match input.kind.value(&given) {
        Some(value) => {
            start.values.insert(name.to_owned(), value);
        }
        None => cx.notify(Level::Warning, text::bad_input(input, &given)),
    }
    Next::Ready(start)
}

fn input_of<'a>(start: &Start, name: &str, library: &'a Library) -> Option<(&'a Workflow, &'a Input)> {
    let workflow = library.by_command_name(&start.command_name)?;
    Some((workflow, workflow.inputs.iter().find(|input| input.name == name)?))
}
