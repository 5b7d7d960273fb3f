//! Inputs: values that a run is started with.

use super::blank::trim;
use super::values::ValueName;
use super::words::either;

/// Maximum length of a value, in characters. The values stand in every state entry of their run.
pub const MAX_VALUE: usize = 1000;

/// A value that a run is started with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Input {
    /// Its name: letters, digits, `_` and `-`.
    pub name: String,
    /// Its type.
    pub kind: InputKind,
    /// The value of a run that gives none; `None` if each run must give one.
    pub default: Option<String>,
    /// Its meaning, for the user.
    pub description: Option<String>,
}

/// Type of an input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InputKind {
    /// Any text that is not blank.
    Text,
    /// A number.
    Number,
    /// One of these texts.
    Choice(Vec<String>),
    /// `true` or `false`.
    Flag,
}

impl Input {
    /// Returns the value that a text means, as it is stored; `None` if it is not of the type.
    pub fn value(&self, text: &str) -> Option<String> {
        let text = trim(text);
        let is_valid = match &self.kind {
            InputKind::Text => !text.is_empty() && text.chars().count() <= MAX_VALUE,
            InputKind::Number => text.parse::<f64>().is_ok_and(f64::is_finite),
            InputKind::Choice(options) => options.iter().any(|option| option == text),
            InputKind::Flag => text == "true" || text == "false",
        };
        is_valid.then(|| text.to_owned())
    }

    /// Returns the values that can be given, if they are few.
    pub fn options(&self) -> Vec<&str> {
        match &self.kind {
            InputKind::Choice(options) => options.iter().map(String::as_str).collect(),
            InputKind::Flag => vec!["true", "false"],
            InputKind::Text | InputKind::Number => Vec::new(),
        }
    }

    /// Returns true if a value of this input is one of these.
    pub fn is_one_of(&self, value: &str, values: &[String]) -> bool {
        let number = |text: &str| text.parse::<f64>().ok();
        values.iter().any(|other| match self.kind {
            InputKind::Number => number(other).is_some() && number(other) == number(value),
            InputKind::Text | InputKind::Choice(_) | InputKind::Flag => other == value,
        })
    }

    /// Returns true if each value of another input is a value of this one.
    pub fn accepts(&self, other: &Self) -> bool {
        match (&self.kind, &other.kind) {
            (InputKind::Text, _) | (InputKind::Number, InputKind::Number) => true,
            (_, InputKind::Choice(_) | InputKind::Flag) => {
                other.options().into_iter().all(|option| self.value(option).is_some())
            }
            (_, InputKind::Text | InputKind::Number) => false,
        }
    }

    /// Returns a value for a preview.
    pub fn sample(&self) -> String {
        let option = || self.options().first().map(|option| (*option).to_owned());
        let number = || (self.kind == InputKind::Number).then(|| "1".to_owned());
        let default = self.default.clone();
        default.or_else(option).or_else(number).unwrap_or_else(|| format!("({})", self.name))
    }

    /// Returns the possible values in words.
    pub fn expected(&self) -> String {
        match &self.kind {
            InputKind::Text => format!("a text of 1 to {MAX_VALUE} characters"),
            InputKind::Number => "a number".into(),
            InputKind::Choice(_) | InputKind::Flag => either(&self.options()),
        }
    }
}

/// The value of an input of a nested workflow, as the entry gives it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Given {
    /// This value.
    Value(String),
    /// The value of this name in the outer workflow: one of [`Self::FORMS`].
    Name(ValueName),
}

impl Given {
    /// The forms of the names that a value may have.
    pub const FORMS: [&str; 1] = [ValueName::INPUT];
}

/// Maximum length of the name of an input or outcome, in bytes. State entries hold many of them.
const MAX_NAME: usize = 60;

/// Returns true if a text can be the name of an input or outcome.
pub fn is_name(name: &str) -> bool {
    (1..=MAX_NAME).contains(&name.len())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))
}
