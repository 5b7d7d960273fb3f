//! Outputs: values with types that a phase hands over to later phases.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::{Number, Value};

use crate::definition::{Output, Phase, ValueType};
use crate::sorted::Map;

/// Maximum length of all outputs of a run together, in bytes. The run is stored with all its outputs, because a missing
/// output changes which entries are passed over.
pub const MAX_OUTPUTS: usize = 512 << 10;
/// Maximum length of a phase's emoji and of its name beside its outputs, in characters each.
pub(super) const MAX_NAME: usize = 100;

/// Values by the names of the outputs.
pub type Outputs = Map<String, OutputValue>;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum OutputValue {
    Flag(bool),
    Number(Number),
    List(Vec<String>),
    /// The value of a text or a choice.
    Text(String),
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HandedOutputs {
    /// The phase's emoji and name.
    pub name: String,
    /// The number of transitions of the run before.
    pub step: u64,
    pub values: Outputs,
    /// The current phase gets these outputs only as inputs of the nested workflows that it is in, see
    /// [`Active::seen`](super::Active::seen).
    #[serde(skip)]
    pub is_hidden: bool,
}

impl OutputValue {
    /// Returns the value of this type that the agent gives; `None` if it is not of the type.
    pub fn given(kind: &ValueType, given: &Value) -> Option<Self> {
        let text = match given {
            // Models give one value as a list, and a list as its JSON.
            Value::Array(items) if !matches!(kind, ValueType::List { .. }) => {
                let [item] = &items[..] else { return None };
                return Self::given(kind, item).filter(|_| !item.is_array());
            }
            Value::String(text) if matches!(kind, ValueType::List { .. }) => {
                let items = serde_json::from_str(text).ok().filter(Value::is_array)?;
                return Self::given(kind, &items);
            }
            Value::Array(items) => {
                let items: Option<Vec<&str>> = items.iter().map(Value::as_str).collect();
                return Some(Self::List(lines(&kind.list(&items?)?)));
            }
            Value::String(text) => kind.value(text)?,
            Value::Bool(_) | Value::Number(_) => kind.value(&given.to_string())?,
            Value::Null | Value::Object(_) => return None,
        };
        match kind {
            ValueType::Flag => Some(Self::Flag(text == "true")),
            ValueType::Number(_) => {
                let written = serde_json::from_str(&text).ok();
                written.or_else(|| Number::from_f64(text.parse().ok()?)).map(Self::Number)
            }
            ValueType::Text | ValueType::Choice(_) => Some(Self::Text(text)),
            // A text is no list: nothing says how to split it into items.
            ValueType::List { .. } => None,
        }
    }

    /// Returns true if the value, or an item of it, is the example that the exact calls show for a text of this name.
    fn is_example(&self, name: &str) -> bool {
        let is_example = |text: &String| text.strip_prefix('<').and_then(|rest| rest.strip_suffix('>')) == Some(name);
        match self {
            Self::Text(text) => is_example(text),
            Self::List(items) => items.iter().any(is_example),
            Self::Number(_) | Self::Flag(_) => false,
        }
    }

    /// Returns the value of this type that a text gives.
    pub fn of_text(kind: &ValueType, text: &str) -> Option<Self> {
        match kind {
            ValueType::List { .. } => Some(Self::List(lines(&kind.value(text)?))),
            ValueType::Text | ValueType::Number(_) | ValueType::Choice(_) | ValueType::Flag => {
                Self::given(kind, &text.into())
            }
        }
    }

    /// Returns the value as the text of an input; a list has one item on each line.
    pub fn text(&self) -> Cow<'_, str> {
        match self {
            Self::Flag(flag) => Cow::Borrowed(if *flag { "true" } else { "false" }),
            Self::Number(number) => Cow::Owned(number.to_string()),
            Self::List(items) => Cow::Owned(items.join("\n")),
            Self::Text(text) => Cow::Borrowed(text),
        }
    }
}

fn lines(text: &str) -> Vec<String> {
    text.lines().map(ToOwned::to_owned).collect()
}

/// An output that a call lacks or has wrong.
#[derive(Debug, Clone, PartialEq)]
pub enum WrongOutput<'a> {
    Missing(&'a Output),
    /// The phase has no output of this name.
    Unknown(&'a str),
    Wrong {
        output: &'a Output,
        given: &'a Value,
    },
    /// The given value is not an object.
    NoObject,
    /// All outputs of the run together would be longer than [`MAX_OUTPUTS`].
    TooLong,
}

/// Returns the outputs of a phase that a call gives; `null` gives no outputs.
///
/// # Errors
///
/// The outputs that are missing, unknown, or not of their type.
pub fn given_outputs<'a>(phase: &'a Phase, given: &'a Value) -> Result<Outputs, Vec<WrongOutput<'a>>> {
    let fields = match given {
        Value::Null => None,
        Value::Object(fields) => Some(fields),
        _ => return Err(vec![WrongOutput::NoObject]),
    };
    let field = |name: &str| fields.and_then(|fields| fields.get(name));
    let (mut outputs, mut wrong) = (Outputs::new(), Vec::new());
    for output in &phase.outputs {
        // Models pass `null` for an omitted output.
        match field(&output.name).filter(|given| !given.is_null()) {
            None if output.is_optional => {}
            None => wrong.push(WrongOutput::Missing(output)),
            Some(given) => match OutputValue::given(&output.kind, given) {
                Some(value) if !value.is_example(&output.name) => drop(outputs.insert(output.name.clone(), value)),
                Some(_) | None => wrong.push(WrongOutput::Wrong { output, given }),
            },
        }
    }
    let is_known = |name: &str| phase.outputs.iter().any(|output| output.name == name);
    let unknown = fields.into_iter().flat_map(serde_json::Map::keys).filter(|name| !is_known(name));
    wrong.extend(unknown.map(|name| WrongOutput::Unknown(name)));
    if wrong.is_empty() { Ok(outputs) } else { Err(wrong) }
}
