//! Texts about the inputs of a workflow.

use crate::definition::{Bounds, Input, ValueType, Workflow, nearest, on_one_line};
use crate::run::{Active, OutputValue};

use super::exact::{exact, quoted};
use super::names::short_name;
use super::outputs::output_on_one_line;
use super::questions::{Title, in_question};

/// Returns the values of the inputs of the workflow at this depth of the path, from 1 for the root; `None` without any.
pub(super) fn inputs(active: &Active, depth: usize) -> Option<String> {
    let segment = active.state.current_path.get(depth.checked_sub(1)?)?;
    let values = active.state.inputs(depth, active.library);
    let inputs = active.library.get(&segment.workflow_key)?.inputs.iter();
    let inputs = inputs
        .filter_map(|Input { name, kind, .. }| Some(format!("{name}: {}", value_on_one_line(kind, values.get(name)?))));
    let inputs: Vec<String> = inputs.collect();
    (!inputs.is_empty()).then(|| inputs.join(", "))
}

/// Returns a value of this type on one line.
fn value_on_one_line(kind: &ValueType, value: &str) -> String {
    output_on_one_line(&OutputValue::of_input(kind, value.to_owned()))
}

/// Returns the error for a name that no input has.
pub fn no_input(name: &str, inputs: &[Input]) -> String {
    let names = inputs.iter().map(|input| &*input.name);
    let known = match nearest(name, names.clone()) {
        Some(meant) => return format!("There is no input `{name}`. Did you mean `{meant}`?"),
        None => names.map(|name| format!("`{name}`")).collect::<Vec<String>>(),
    };
    match &known[..] {
        [] => format!("There is no input `{name}`: the workflow has none."),
        known => format!("There is no input `{name}`, only {}.", known.join(", ")),
    }
}

pub fn unknown_input(name: &str, inputs: &[Input]) -> String {
    let error = no_input(name, inputs);
    match nearest(name, inputs.iter().map(|input| &*input.name)) {
        Some(_) => error,
        None => format!("{error} `--` ends the values: -- {name}=…"),
    }
}

pub fn bad_input(input: &Input, value: &str) -> String {
    let meant = nearest(value, input.kind.options());
    let meant = meant.map_or_else(String::new, |meant| format!(" Did you mean `{meant}`?"));
    let (name, expected) = (&input.name, input.kind.expected());
    format!("`{name}`: expected {expected}, found `{}`.{meant}", short_name(value))
}

/// Returns the error for a value that cannot be part of a path, for this reason.
pub fn bad_in_path(name: &str, value: &str, why: &str) -> String {
    format!("`{name}`: it is part of a path (`gate.file` or `write`), and `{}` {why}.", short_name(value))
}

pub fn repeated_input(name: &str) -> String {
    format!("`{name}` is given twice.")
}

pub fn open_quote(name: &str, quote: char) -> String {
    format!(
        "`{name}`: no `{quote}` before a blank closes the quote at its beginning. Within it, `\\{quote}` is a `{quote}`."
    )
}

pub fn missing_inputs(missing: &[&Input]) -> String {
    let lines: Vec<String> = missing
        .iter()
        .map(|input| {
            let about = input.description.as_ref().map_or_else(String::new, |about| format!(": {}", short_name(about)));
            format!("  {}=… ({}){about}", input.name, input.kind.expected())
        })
        .collect();
    format!("These values are missing before the task:\n{}", lines.join("\n"))
}

/// Returns the error of the command line for inputs that are missing.
pub fn missing_options(missing: &[&Input]) -> String {
    let option = |input: &&Input| format!("--input {}=… ({})", input.name, input.kind.expected());
    let options: Vec<String> = missing.iter().map(option).collect();
    format!("Inputs without a value: {}", options.join(", "))
}

/// Returns the question for the value of an input; with `may_lack`, an empty answer gives none.
pub fn input_question(workflow: &Workflow, input: &Input, may_lack: bool) -> Title {
    let about = input.description.as_ref().map_or_else(String::new, |about| format!("\n│ {}", in_question(about)));
    // Inputs of other types have options, or take any text.
    let kind = match &input.kind {
        ValueType::Number(bounds) if *bounds == Bounds::default() => " (a number)".to_owned(),
        ValueType::Number(_) => format!(" ({})", input.kind.expected()),
        ValueType::List { fields, .. } if !fields.is_empty() => format!(" ({}, as JSON)", input.kind.expected()),
        ValueType::Command => " (a command)".to_owned(),
        ValueType::Text(_) | ValueType::Choice(_) | ValueType::Flag | ValueType::List { .. } => String::new(),
    };
    let has_options = !input.kind.options().is_empty();
    let empty = if may_lack && !has_options { format!("\nEmpty: {}", without_value(input)) } else { String::new() };
    Title::new("Input ", &format!("`{}`{kind} of {}?{about}{empty}", input.name, quoted(&workflow.name, 60)))
}

/// Returns an option of the question for an input, as it is shown; an empty one gives no value.
pub fn option_of_input(input: &Input, option: &str) -> String {
    if option.is_empty() { without_value(input) } else { exact(option) }
}

fn without_value(input: &Input) -> String {
    match &input.default {
        Some(value) => format!("the default, {}", in_question(&value_on_one_line(&input.kind, value))),
        None => "no value".to_owned(),
    }
}

/// Returns the title of the dialog for an item of a list, from 1.
pub fn item_question(workflow: &Workflow, input: &Input, number: usize) -> Title {
    input_question(workflow, input, false).and(&format!("│ Text {number} of a list; an empty answer ends it."))
}

/// Returns the usage of the command for a workflow with this command name and these inputs.
pub fn start_usage(name: &str, workflow: Option<&Workflow>) -> String {
    let inputs = workflow.into_iter().flat_map(|workflow| &workflow.inputs).map(|input| match input.is_required() {
        true => format!("{}=… ", input.name),
        false => format!("[{}=…] ", input.name),
    });
    format!("Usage: /workflow {name} {}{{description}}", inputs.collect::<String>())
}

/// Returns a line for each input of a workflow.
pub(super) fn input_lines(workflow: &Workflow) -> Vec<String> {
    let line = |input: &Input| {
        let default = input.default.as_ref();
        let default = default.map(|value| format!(", default `{}`", value_on_one_line(&input.kind, value)));
        let about = input.description.as_ref().map(|about| format!(": {about}"));
        let optional = || if input.is_optional { ", optional".to_owned() } else { String::new() };
        let (default, about) = (default.unwrap_or_else(optional), about.unwrap_or_default());
        let (name, expected) = (&input.name, input.kind.expected());
        on_one_line(&format!("{name}=… ({expected}{default}){about}"))
    };
    workflow.inputs.iter().map(line).collect()
}
