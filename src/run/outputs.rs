//! Outputs: values with types that a phase hands over to later phases.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::{Number, Value};

use crate::definition::{Output, Record, ValueType, record_of, trim};
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
    Records(Vec<Record>),
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
    /// Returns the value of this type that the agent gives.
    ///
    /// # Errors
    ///
    /// As for [`ValueType::given`].
    pub fn given(kind: &ValueType, given: &Value) -> Result<Self, Option<String>> {
        kind.given(given).and_then(|value| Self::of_json(value).ok_or(None))
    }

    /// Returns the value that JSON has; `None` for JSON that no value has.
    pub fn of_json(value: Value) -> Option<Self> {
        Some(match value {
            Value::Bool(flag) => Self::Flag(flag),
            Value::Number(number) => Self::Number(number),
            Value::String(text) => Self::Text(text),
            Value::Array(items) if items.iter().any(Value::is_object) => {
                let record = |item| if let Value::Object(record) = item { Some(record) } else { None };
                Self::Records(items.into_iter().map(record).collect::<Option<_>>()?)
            }
            Value::Array(items) => {
                let text = |item| if let Value::String(text) = item { Some(text) } else { None };
                Self::List(items.into_iter().map(text).collect::<Option<_>>()?)
            }
            Value::Null | Value::Object(_) => return None,
        })
    }

    /// Returns true if the value, or an item of it, is the example that the exact calls show for a text of this name.
    fn is_example(&self, name: &str) -> bool {
        let is_example = |text: &String| text.strip_prefix('<').and_then(|rest| rest.strip_suffix('>')) == Some(name);
        match self {
            Self::Text(text) => is_example(text),
            Self::List(items) => items.iter().any(is_example),
            Self::Records(records) => records.iter().flatten().any(|(field, value)| {
                let text = value.as_str().and_then(|text| text.strip_prefix('<')?.strip_suffix('>'));
                text == Some(field)
            }),
            Self::Number(_) | Self::Flag(_) => false,
        }
    }

    /// Returns the value of this type that a text gives.
    pub fn of_text(kind: &ValueType, text: &str) -> Option<Self> {
        match kind {
            ValueType::List { .. } => Some(Self::of_input(kind, kind.value(text)?)),
            ValueType::Text(_) | ValueType::Number(_) | ValueType::Choice(_) | ValueType::Flag | ValueType::Command => {
                Self::given(kind, &text.into()).ok()
            }
        }
    }

    /// Returns the value of an input of this type, as its stored text means it.
    pub fn of_input(kind: &ValueType, text: String) -> Self {
        match kind {
            ValueType::List { fields, .. } if fields.is_empty() => Self::List(lines(&text)),
            ValueType::List { .. } => Self::Records(text.lines().filter_map(record_of).collect()),
            ValueType::Text(_) | ValueType::Number(_) | ValueType::Choice(_) | ValueType::Flag | ValueType::Command => {
                Self::Text(text)
            }
        }
    }

    /// Returns the items of a list, a record as its JSON; none of any other value.
    pub fn items(self) -> Vec<String> {
        match self {
            Self::List(items) => items,
            Self::Records(records) => records.into_iter().map(json).collect(),
            Self::Flag(_) | Self::Number(_) | Self::Text(_) => Vec::new(),
        }
    }

    /// Returns these values as one list: lists are joined, any other value is on one line.
    pub fn joined<'a>(values: impl Iterator<Item = &'a Self>) -> Self {
        let (mut items, mut records) = (Vec::new(), Vec::new());
        for value in values {
            match value {
                Self::List(texts) => items.extend(texts.iter().cloned()),
                Self::Records(others) => records.extend(others.iter().cloned()),
                Self::Flag(_) | Self::Number(_) | Self::Text(_) => items.push(on_a_line(&value.text())),
            }
        }
        if records.is_empty() { Self::List(items) } else { Self::Records(records) }
    }

    /// Returns the value as the text of an input; a list has one item on each line.
    pub fn text(&self) -> Cow<'_, str> {
        match self {
            Self::Flag(flag) => Cow::Borrowed(if *flag { "true" } else { "false" }),
            Self::Number(number) => Cow::Owned(number.to_string()),
            Self::List(items) => Cow::Owned(items.join("\n")),
            Self::Records(records) => Cow::Owned(records.iter().cloned().map(json).collect::<Vec<_>>().join("\n")),
            Self::Text(text) => Cow::Borrowed(text),
        }
    }
}

fn json(record: Record) -> String {
    Value::Object(record).to_string()
}

/// Returns a text with its lines on one.
fn on_a_line(text: &str) -> String {
    text.split(['\n', '\r']).map(trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ")
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
        /// The reason in words, for a list of records.
        why: Option<String>,
    },
    /// The given value is not an object.
    NoObject,
    /// All outputs of the run together would be longer than [`MAX_OUTPUTS`].
    TooLong,
}

/// Returns the outputs that a call gives, of those that a phase has; `null` gives no outputs.
///
/// # Errors
///
/// The outputs that are missing, unknown, or not of their type.
pub fn given_outputs<'a>(expected: &'a [Output], given: &'a Value) -> Result<Outputs, Vec<WrongOutput<'a>>> {
    let fields = match given {
        Value::Null => None,
        Value::Object(fields) => Some(fields),
        _ => return Err(vec![WrongOutput::NoObject]),
    };
    let field = |name: &str| fields.and_then(|fields| fields.get(name));
    let (mut outputs, mut wrong) = (Outputs::new(), Vec::new());
    for output in expected {
        // Models pass `null` for an omitted output.
        match field(&output.name).filter(|given| !given.is_null()) {
            None if output.is_optional => {}
            None => wrong.push(WrongOutput::Missing(output)),
            Some(given) => match OutputValue::given(&output.kind, given) {
                Ok(value) if !value.is_example(&output.name) => drop(outputs.insert(output.name.clone(), value)),
                Ok(_) => wrong.push(WrongOutput::Wrong { output, given, why: None }),
                Err(why) => wrong.push(WrongOutput::Wrong { output, given, why }),
            },
        }
    }
    let is_known = |name: &str| expected.iter().any(|output| output.name == name);
    let unknown = fields.into_iter().flat_map(serde_json::Map::keys).filter(|name| !is_known(name));
    wrong.extend(unknown.map(|name| WrongOutput::Unknown(name)));
    if wrong.is_empty() { Ok(outputs) } else { Err(wrong) }
}
