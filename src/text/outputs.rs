//! Texts about the outputs of a phase.

use serde_json::Value;

use crate::definition::{Input, Output, Phase, Workflow, WorkflowOutput, nearest, on_one_line};
use crate::run::{Active, MAX_OUTPUTS, OutputValue, Outputs, WrongOutput};

use super::calls::call_again;
use super::names::{phase_title, short_name};
use super::ways::short;

/// Returns a list item for each output that a phase has, with its type and its description.
pub(super) fn expected_outputs(active: &Active) -> Vec<String> {
    active.outputs().iter().map(|output| format!("- {}", expected(output))).collect()
}

fn expected(Output { name, kind, is_optional, max_items: _, description }: &Output) -> String {
    let optional = if *is_optional { " (optional)" } else { "" };
    let about = description.as_ref().map_or_else(String::new, |about| format!(": {about}"));
    format!("`{name}`{optional}: {}{}", kind.expected(), on_one_line(&about))
}

/// Returns a note on the outputs of a phase or a workflow, on one line; `None` without any.
pub(super) fn outputs_note(outputs: &[Output]) -> Option<String> {
    let outputs = outputs.iter().map(|Output { name, kind, is_optional, max_items, .. }| {
        let optional = if *is_optional { ", optional" } else { "" };
        let most = max_items.as_ref().map_or_else(String::new, |input| format!(", at most input.{input}"));
        format!("{name} ({}{most}{optional})", kind.in_brief())
    });
    let outputs: Vec<String> = outputs.collect();
    (!outputs.is_empty()).then(|| format!("outputs: {}", outputs.join(", ")))
}

/// Returns a line for each output of a workflow, with the name of its value, and its type.
pub(super) fn workflow_output_lines(workflow: &Workflow) -> Vec<String> {
    let outputs = workflow.outputs.iter().map(|WorkflowOutput { name, of }| {
        let given = workflow.given.iter().find(|given| given.name == *name);
        let kind = given.map_or_else(String::new, |given| {
            let optional = if given.is_optional { ", optional" } else { "" };
            format!(" ({}{optional})", given.kind.expected())
        });
        format!("{name}: {of}{kind}")
    });
    outputs.collect()
}

/// Returns a list item for each output, with its value; a list becomes numbered lines.
pub(super) fn output_lines(outputs: &Outputs) -> String {
    let lines = outputs.iter().map(|(name, value)| {
        let value = output_text(value);
        match value.contains('\n') {
            true => format!("- {name}:\n  {}", value.replace('\n', "\n  ")),
            false => format!("- {name}: {value}"),
        }
    });
    lines.collect::<Vec<String>>().join("\n")
}

/// Returns an output as a text for the agent; a list becomes numbered lines.
pub(super) fn output_text(value: &OutputValue) -> String {
    match value {
        OutputValue::List(items) if items.is_empty() => "(none)".to_owned(),
        OutputValue::List(items) => numbered(items.iter().map(String::as_str)),
        OutputValue::Records(records) if records.is_empty() => "(none)".to_owned(),
        OutputValue::Records(_) => numbered(value.text().lines()),
        OutputValue::Text(_) | OutputValue::Number(_) | OutputValue::Flag(_) => value.text().into_owned(),
    }
}

/// Maximum length of a list in [`outputs_in_brief`], in characters.
const MAX_LIST: usize = 70;

/// Returns a list item for each output, with its value on one line: of a list the first items, and the number of the
/// others.
pub(super) fn outputs_in_brief(outputs: &Outputs) -> String {
    let lines = outputs.iter().map(|(name, value)| match value {
        OutputValue::List(items) => format!("- {name}: {}", list_in_brief(items)),
        OutputValue::Records(records) => {
            format!("- {name}: {}", list_in_brief(&OutputValue::Records(records.clone()).items()))
        }
        OutputValue::Text(_) | OutputValue::Number(_) | OutputValue::Flag(_) => {
            format!("- {name}: {}", output_on_one_line(value))
        }
    });
    lines.collect::<Vec<String>>().join("\n")
}

fn list_in_brief(items: &[String]) -> String {
    let mut room = MAX_LIST;
    let fits = |item: &&String| {
        let length = item.chars().count() + 2;
        let left = room.checked_sub(length);
        room = left.unwrap_or(0);
        left.is_some()
    };
    let number = items.iter().take_while(fits).count().max(1).min(items.len());
    let mut shown: Vec<String> = items.iter().take(number).map(|item| short(item)).collect();
    shown.extend((number < items.len()).then(|| format!("… {} more", items.len() - number)));
    format!("[{}]", shown.join(", "))
}

fn numbered<'a>(items: impl Iterator<Item = &'a str>) -> String {
    let lines = items.enumerate().map(|(index, item)| format!("{}. {item}", index + 1));
    lines.collect::<Vec<String>>().join("\n")
}

/// Returns an output on one line.
pub(super) fn output_on_one_line(value: &OutputValue) -> String {
    match value {
        OutputValue::List(items) => format!("[{}]", on_one_line(&items.join(", "))),
        OutputValue::Records(_) => format!("[{}]", on_one_line(&value.text().replace('\n', ", "))),
        OutputValue::Text(_) | OutputValue::Number(_) | OutputValue::Flag(_) => on_one_line(&value.text()),
    }
}

/// Returns the outcome and the outputs of a `next` in words: ` and the outcome small and the outputs size: large`.
pub fn call_with(outcome: Option<&str>, outputs: Option<&Outputs>) -> String {
    let outcome = outcome.map_or_else(String::new, |outcome| format!(" and the outcome {outcome}"));
    let outputs = outputs.into_iter().flatten();
    let outputs = outputs.map(|(name, value)| format!("{name}: {}", output_on_one_line(value)));
    let outputs: Vec<String> = outputs.collect();
    match outputs.is_empty() {
        true => outcome,
        false => format!("{outcome} and the outputs {}", outputs.join(", ")),
    }
}

/// Returns the error for an output `ID.NAME` that no phase has; `known` are all outputs of the workflow.
pub fn no_output(given: &str, known: &[Input]) -> String {
    let names = || known.iter().map(|output| &*output.name);
    let known = match names().collect::<Vec<&str>>()[..] {
        [] => "The workflow has no outputs.".to_owned(),
        ref names => format!("There are {}.", short(&names.join(", "))),
    };
    let meant = nearest(given, names());
    let meant = meant.map_or_else(String::new, |meant| format!(" Did you mean `{meant}`?"));
    format!("There is no output `{}`.{meant} {known}", short_name(given))
}

/// Returns the refusal of a `next` whose outputs do not fit the phase.
pub fn outputs_wrong(active: &Active, wrong: &[WrongOutput]) -> String {
    let phase = active.phase;
    let title = phase_title(phase);
    let lines: Vec<String> = wrong.iter().map(|wrong| format!("- {}", line(phase, wrong))).collect();
    format!("⚠️ The phase {title} cannot be left with these outputs:\n{}{}", lines.join("\n"), call_again(active))
}

/// The reason why a step has no outputs: the outputs of the run are too long together.
pub const OUTPUTS_TOO_LONG: &str = "the outputs of the run are longer than 512 KiB together";

/// Returns the reason why these outputs do not fit a phase, on one line.
pub fn wrong_outputs(phase: &Phase, wrong: &[WrongOutput]) -> String {
    let lines: Vec<String> = wrong.iter().map(|wrong| line(phase, wrong)).collect();
    format!("its outputs are wrong: {}", lines.join("; "))
}

fn line(phase: &Phase, wrong: &WrongOutput) -> String {
    match wrong {
        WrongOutput::Missing(output) => format!("missing: {}", expected(output)),
        WrongOutput::Unknown(name) => {
            let names = || phase.outputs.iter().map(|output| &*output.name);
            let known: Vec<String> = names().map(|name| format!("`{name}`")).collect();
            let known = match (nearest(name, names()), &known[..]) {
                (Some(meant), _) => format!("Did you mean `{meant}`?"),
                (None, []) => "The phase has none.".to_owned(),
                (None, known) => format!("There are {}.", known.join(", ")),
            };
            format!("`{}` is no output of this phase. {known}", short_name(name))
        }
        WrongOutput::Wrong { output, why: Some(why), .. } => format!("wrong: `{}`: {}", output.name, on_one_line(why)),
        WrongOutput::Wrong { output, given, why: None } => {
            let found = match given {
                Value::String(text) => short_name(text),
                other => short_name(&other.to_string()),
            };
            format!("wrong: {}. Found `{found}`", expected(output))
        }
        WrongOutput::NoObject => "`outputs` is not an object of names and values".to_owned(),
        WrongOutput::TooLong => {
            format!("all outputs of the run together are longer than {MAX_OUTPUTS} bytes")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_in_brief_names_its_first_items() {
        let brief = |items: &[&str]| {
            let items = items.iter().map(|item| (*item).to_owned()).collect();
            outputs_in_brief(&Outputs::from_iter([("tasks".to_owned(), OutputValue::List(items))]))
        };
        let many: Vec<String> = (1..=30).map(|number| format!("the task number {number}")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        let long = "x".repeat(200);
        let short = format!("{}… (cut)", "x".repeat(60));
        for (items, shown) in [
            (&[][..], "[]".to_owned()),
            (&["one", "two\nlines"][..], "[one, two lines]".to_owned()),
            (&many[..], "[the task number 1, the task number 2, the task number 3, … 27 more]".to_owned()),
            (&[&*long, "two"][..], format!("[{short}, … 1 more]")),
            (&["", "two"][..], "[, two]".to_owned()),
        ] {
            assert_eq!(brief(items), format!("- tasks: {shown}"));
        }
    }
}
