//! The arguments of a call of `workflow_propose`. Nothing in them is more than a text that the user is shown.

use serde_json::{Map, Value};

use crate::definition::{Input, Library, is_blank, trim};
use crate::engine::start::arguments::values;
use crate::engine::start::state::Start;
use crate::text;

/// Maximum length of the arguments, in bytes of JSON.
const MAX_LENGTH: usize = 16_000;
const NAMES: [&str; 3] = ["workflow", "task", "inputs"];

/// Returns the start that a call proposes.
///
/// # Errors
///
/// The problem, for the model.
pub fn read(input: &str, library: &Library) -> Result<Start, String> {
    if input.len() > MAX_LENGTH {
        return Err(text::PROPOSAL_TOO_LONG.to_owned());
    }
    let input: Value = serde_json::from_str(input).unwrap_or_default();
    if has_control(&input) {
        return Err(text::PROPOSAL_CONTROL.to_owned());
    }
    let Value::Object(fields) = &input else { return Err("Give `workflow` and `task`.".to_owned()) };
    if let Some(other) = fields.keys().find(|name| !NAMES.contains(&&***name)) {
        return Err(format!("unknown argument {}: values of inputs stand in `inputs`.", text::quoted(other, 60)));
    }
    let field = |name| trim(fields.get(name).and_then(Value::as_str).unwrap_or_default());
    let (name, task) = (field("workflow"), field("task"));
    let offers = library.offers();
    let offer = offers.iter().find(|offer| offer.fits && offer.name == name);
    let workflow = offer.ok_or_else(|| text::not_offered(name, library))?.workflow;
    if is_blank(task) {
        return Err("`task` is empty: give the user's whole request.".to_owned());
    }
    let given = match fields.get("inputs") {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Object(inputs)) => given(inputs, &workflow.inputs)?,
        Some(_) => return Err("`inputs` is not an object of names and values.".to_owned()),
    };
    let values = values(&workflow.inputs, &given)?;
    Ok(Start { command_name: name.to_owned(), task: task.to_owned(), values, is_proposed: true, ..Start::default() })
}

/// Returns the values as the command line gives them: a list of texts as one value for each item.
fn given(values: &Map<String, Value>, inputs: &[Input]) -> Result<Vec<(String, String)>, String> {
    let mut given = Vec::new();
    for (name, value) in values {
        if inputs.iter().any(|input| input.name == *name && !input.is_proposable()) {
            return Err(format!("`{name}` becomes a command, so only the user gives it. Leave it out."));
        }
        let is_list = inputs.iter().any(|input| input.name == *name && input.kind.is_list_of_texts());
        let one = |value: &Value| match value {
            Value::String(text) => Some(text.clone()),
            Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
            Value::Null | Value::Array(_) | Value::Object(_) => None,
        };
        match value {
            Value::Null => {}
            Value::Array(items) if is_list => {
                let items: Option<Vec<String>> = items.iter().map(one).collect();
                let items = items.ok_or_else(|| format!("`{name}`: expected a list of texts."))?;
                given.extend(items.into_iter().map(|item| (name.clone(), item)));
            }
            value => given.push((name.clone(), one(value).unwrap_or_else(|| value.to_string()))),
        }
    }
    Ok(given)
}

/// Returns true if a text in a value has a control character other than a line end or a tab.
fn has_control(value: &Value) -> bool {
    let is_control = |text: &String| text.chars().any(|c| c.is_control() && !matches!(c, '\n' | '\t'));
    match value {
        Value::String(text) => is_control(text),
        Value::Array(items) => items.iter().any(has_control),
        Value::Object(fields) => fields.iter().any(|(name, value)| is_control(name) || has_control(value)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}
