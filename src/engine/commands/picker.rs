//! `/workflow` alone: in a terminal, the dialogs for the workflow and its task; elsewhere, the usage.

use crate::sorted::{Map, Set};

use crate::definition::{Input, ValueType, is_blank, on_one_line};
use crate::text;

use super::start::{Start, untrusted, usage};
use crate::engine::context::Cx;
use crate::engine::effect::{Level, Reply};
use crate::engine::state::{Engine, Waiter};

impl Engine {
    /// Asks for the workflow to start.
    pub(super) fn choose_workflow(&mut self, cx: &mut Cx) -> Reply {
        let library = self.definitions.library();
        let (mut command_names, options): (Vec<String>, Vec<String>) = library
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
        if command_names.is_empty() || !cx.ui.is_terminal() {
            let text = format!("{}{}", usage(library), untrusted(cx));
            cx.notify(Level::Info, text);
            return Reply::None;
        }
        let title = text::Title::new("Which workflow?", &untrusted(cx));
        self.select(Waiter::User, title, options, move |engine, chosen, cx| {
            match chosen.filter(|index| *index < command_names.len()) {
                Some(index) => engine.enter_task(command_names.swap_remove(index), Map::new()),
                None => engine.not_started(cx),
            }
        })
    }

    pub(super) fn enter_task(&mut self, command_name: String, values: Map<String, String>) -> Reply {
        let workflow = self.definitions.library().by_command_name(&command_name);
        let name = workflow.map_or(&command_name, |workflow| &workflow.name);
        let title = text::Title::new("What is the task for ", &format!("{}?", text::quoted(name, 60)));
        self.ask_text(Waiter::User, title, |engine, task, cx| match task.filter(|task| !is_blank(task)) {
            Some(task) => {
                let start = Start { command_name, task, values, allowed: Set::new(), uncounted: false };
                engine.start_or_ask(start, cx)
            }
            None => engine.not_started(cx),
        })
    }

    /// Asks for the first input of the workflow that has no value and no default, or a value that is not of its type:
    /// the files may change during a dialog. Without a user interface the error lists all missing inputs. `None` if
    /// nothing is missing.
    pub(super) fn enter_missing_input(&mut self, start: &Start, cx: &mut Cx) -> Option<Reply> {
        let workflow = self.definitions.library().by_command_name(&start.command_name)?;
        let is_missing = |input: &&Input| match start.values.get(&input.name) {
            Some(value) => input.kind.value(value).is_none(),
            None => input.default.is_none(),
        };
        let missing: Vec<&Input> = workflow.inputs.iter().filter(is_missing).collect();
        let first = missing.first()?;
        if !cx.ui.exists() {
            cx.fail(Level::Error, text::missing_inputs(&missing));
            return Some(Reply::None);
        }
        let title = text::input_question(workflow, first);
        let options: Vec<String> = first.kind.options().into_iter().map(ToOwned::to_owned).collect();
        let (name, start) = (first.name.clone(), start.clone());
        Some(match first.kind {
            ValueType::Choice(_) | ValueType::Flag => {
                let shown = options.iter().map(|option| text::exact(option));
                let shown = std::iter::once(NOT_STARTED.to_owned()).chain(shown).collect();
                self.select(Waiter::User, title, shown, move |engine, chosen, cx| {
                    let chosen = chosen.and_then(|index| options.get(index.checked_sub(1)?));
                    engine.enter_input(start, &name, chosen.cloned(), cx)
                })
            }
            ValueType::List { .. } => {
                let title = text::item_question(workflow, first, 1);
                self.ask_item(start, name, Vec::new(), title)
            }
            ValueType::Text | ValueType::Number(_) => self.ask_text(Waiter::User, title, move |engine, given, cx| {
                engine.enter_input(start, &name, given.filter(|text| !is_blank(text)), cx)
            }),
        })
    }

    /// Asks for the next item of a list. An empty answer ends the list; if the list must have items and has none,
    /// nothing is started.
    fn ask_item(&mut self, start: Start, name: String, mut items: Vec<String>, title: text::Title) -> Reply {
        self.ask_text(Waiter::User, title, move |engine, given, cx| {
            let workflow = engine.definitions.library().by_command_name(&start.command_name);
            let input = workflow
                .and_then(|workflow| Some((workflow, workflow.inputs.iter().find(|input| input.name == name)?)));
            let Some(((workflow, input), given)) = input.zip(given) else {
                return engine.tell_not_started(cx);
            };
            let ValueType::List { min, max } = input.kind else {
                return engine.start_or_ask(start, cx);
            };
            let is_end = is_blank(&given);
            if is_end && items.is_empty() && min > 0 {
                return engine.tell_not_started(cx);
            }
            if !is_end {
                items.push(given);
            }
            if !is_end && items.len() < max {
                let title = text::item_question(workflow, input, items.len() + 1);
                return engine.ask_item(start, name, items, title);
            }
            engine.enter_input(start, &name, Some(items.join("\n")), cx)
        })
    }

    /// Goes on with the value that the user gave to an input, or asks again if it is not of its type.
    fn enter_input(&mut self, mut start: Start, name: &str, given: Option<String>, cx: &mut Cx) -> Reply {
        let workflow = self.definitions.library().by_command_name(&start.command_name);
        let input = workflow.and_then(|workflow| workflow.inputs.iter().find(|input| input.name == name));
        let (Some(input), Some(given)) = (input, given) else { return self.tell_not_started(cx) };
        match input.kind.value(&given) {
            Some(value) => {
                start.values.insert(name.to_owned(), value);
            }
            None => cx.notify(Level::Warning, text::bad_input(input, &given)),
        }
        self.start_or_ask(start, cx)
    }
}

/// The first option of a choice: a key that was meant for the editor does no harm.
const NOT_STARTED: &str = "Do not start";
