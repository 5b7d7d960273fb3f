//! Inputs: values that a run is started with. Outputs: values that the agent gives when it leaves a phase.

use super::value_type::ValueType;
use super::values::ValueName;

/// A value that a run is started with.
#[derive(Debug, Clone, PartialEq)]
pub struct Input {
    /// Its name: letters, digits, `_` and `-`.
    pub name: String,
    pub kind: ValueType,
    /// The value for a run that gives no value.
    pub default: Option<String>,
    /// A run may have no value.
    pub is_optional: bool,
    /// Its meaning, for the user.
    pub description: Option<String>,
}

impl Input {
    /// Returns true if each run must give a value.
    pub fn is_required(&self) -> bool {
        self.default.is_none() && !self.is_optional
    }

    pub fn sample(&self) -> String {
        self.default.clone().unwrap_or_else(|| self.kind.sample(&self.name))
    }
}

/// The value of an input of a nested workflow, as the entry gives it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Given {
    Value(String),
    List(Vec<String>),
    /// The value with this name in the outer workflow; the form of the name is one of [`Self::FORMS`].
    Name(ValueName),
}

impl Given {
    /// The forms of names that are allowed as a value.
    pub const FORMS: [&str; 4] = [ValueName::INPUT, ValueName::OUTPUT, ValueName::ITEM, ValueName::ITEM_FIELD];

    /// Returns the stored form of the value; `None` for a value that is not of this type, and for a name.
    pub fn value(&self, kind: &ValueType) -> Option<String> {
        match self {
            Self::Value(text) => kind.value(text),
            Self::List(items) => kind.list(items),
            Self::Name(_) => None,
        }
    }
}

/// Maximum length of the name of an input or outcome, in bytes. State entries hold many names.
const MAX_NAME: usize = 60;

/// Returns true if a text can be the name of an input or outcome.
pub fn is_name(name: &str) -> bool {
    (1..=MAX_NAME).contains(&name.len()) && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))
}
