//! The field `inputs` of a workflow: values that a run is started with.

use std::collections::BTreeMap;

use super::diagnostic::{Expected, Problem, either};
use super::excerpt::short;
use super::fields::Fields;
use super::nearest::nearest;
use super::schema::{self, INPUT_TYPES, MAX_INPUTS, MAX_OPTIONS};
use super::yaml::{Step, Yaml};
use super::{is_blank, trim};

/// The keys of an input.
const FIELDS: [&str; schema::INPUT_FIELDS.len()] = schema::names(&schema::INPUT_FIELDS);
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

    /// Tests if a value of this input is one of these.
    pub fn is_one_of(&self, value: &str, values: &[String]) -> bool {
        let number = |text: &str| text.parse::<f64>().ok();
        values.iter().any(|other| match self.kind {
            InputKind::Number => number(other).is_some() && number(other) == number(value),
            InputKind::Text | InputKind::Choice(_) | InputKind::Flag => other == value,
        })
    }

    /// Tests if each value of another input is a value of this one.
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
    /// The value of the input of this name of the outer workflow: `"{input.NAME}"`.
    Input(String),
}

impl Given {
    fn of(text: &str) -> Self {
        let name = text.strip_prefix("{input.").and_then(|rest| rest.strip_suffix('}'));
        match name.filter(|name| is_name(name)) {
            Some(name) => Self::Input(name.to_owned()),
            None => Self::Value(text.to_owned()),
        }
    }
}

/// Reads the `with` of an entry of `phases`; `None` after an error. Names and values are checked with the library.
pub(super) fn read_given(
    fields: &mut Fields,
    index: usize,
    entry: &Yaml,
) -> Option<BTreeMap<String, Given>> {
    let here = [Step::Key("phases"), Step::Item(index), Step::Key("with")];
    let entries = match entry.get("with") {
        None | Some(Yaml::Null) => return Some(BTreeMap::new()),
        Some(Yaml::Map(entries)) => entries,
        Some(other) => {
            let (field, found) = ("with".into(), other.kind());
            let expected = Expected::Other("a mapping of names to values");
            fields.report(&here, Problem::WrongType { field, expected, found });
            return None;
        }
    };
    let mut all = BTreeMap::new();
    for (name, value) in entries {
        let Some(text) = scalar(value) else {
            let (field, found) = (format!("with.{name}"), written(value));
            let expected = "a value".into();
            let suggestion = match value {
                // `{input.NAME}` without quotes.
                Yaml::Map(entries) => entries.first().map(|(key, _)| format!("\"{{{key}}}\"")),
                _ => None,
            };
            let problem = Problem::BadValue { field, expected, found, suggestion };
            fields.report(&[here[0], here[1], here[2], Step::Key(name)], problem);
            return None;
        };
        all.insert(name.clone(), Given::of(&text));
    }
    Some(all)
}

/// Maximum length of the name of an input or outcome, in bytes. State entries hold many of them.
const MAX_NAME: usize = 60;

/// Tests if a text can be the name of an input or outcome.
pub fn is_name(name: &str) -> bool {
    (1..=MAX_NAME).contains(&name.len())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))
}

/// Reads `inputs`; `None` after an error.
pub(super) fn read(fields: &mut Fields) -> Option<Vec<Input>> {
    let entries = fields.entries("inputs", "a mapping of names to inputs", Some(MAX_INPUTS))?;
    let inputs: Vec<Option<Input>> =
        entries.iter().map(|(name, value)| input(fields, name, value)).collect();
    inputs.into_iter().collect()
}

fn input(fields: &mut Fields, name: &str, value: &Yaml) -> Option<Input> {
    let at = [Step::Key("inputs"), Step::Name(name)];
    if !is_name(name) {
        fields.report(&at, Problem::BadName { field: "inputs", name: name.to_owned() });
        return None;
    }
    let Yaml::Map(entries) = value else {
        let (field, found) = (format!("inputs.{name}"), value.kind().to_string());
        let expected = "a mapping like `{ type: text }`".into();
        fields.report(&at, Problem::BadValue { field, expected, found, suggestion: None });
        return None;
    };
    for (key, _) in entries {
        if !FIELDS.contains(&&**key) {
            let problem = Problem::UnknownPart { of: "inputs", field: key.clone(), known: &FIELDS };
            fields.report(&[at[0], Step::Key(name), Step::Name(key)], problem);
            return None;
        }
    }
    if value.get("options") == Some(&Yaml::Null) {
        // Reported as a field without a value.
        return None;
    }
    let mut bad = |key: &str, expected: String, suggestion: Option<&str>| {
        let found = value.get(key).map_or_else(|| "nothing".into(), written);
        let field = format!("inputs.{name}.{key}");
        let suggestion = suggestion.map(ToOwned::to_owned);
        let problem = Problem::BadValue { field, expected, found, suggestion };
        fields.report(&[at[0], Step::Key(name), Step::Key(key)], problem);
    };
    let options = match value.get("options") {
        None => None,
        Some(list) => {
            let text = |option: &Yaml| Some(trim(&scalar(option)?).to_owned());
            let texts: Option<Vec<String>> = list.items().iter().map(text).collect();
            let is_option = |text: &String| !is_blank(text) && text.chars().count() <= MAX_VALUE;
            let texts = texts.filter(|texts| {
                (1..=MAX_OPTIONS).contains(&texts.len()) && texts.iter().all(is_option)
            });
            if texts.is_none() {
                bad("options", format!("a list of 1 to {MAX_OPTIONS} texts"), None);
            }
            Some(texts?)
        }
    };
    let word = value.get("type").and_then(scalar).unwrap_or_default();
    let kind = match (&*word, options) {
        ("text", None) => InputKind::Text,
        ("number", None) => InputKind::Number,
        ("flag", None) => InputKind::Flag,
        ("choice", Some(options)) => InputKind::Choice(options),
        ("choice", None) => {
            bad("options", "a list of texts with `type: choice`".into(), None);
            return None;
        }
        ("text" | "number" | "flag", Some(_)) => {
            bad("options", "none without `type: choice`".into(), None);
            return None;
        }
        _ => {
            let expected = either(&INPUT_TYPES);
            bad("type", expected, nearest(&word, INPUT_TYPES));
            return None;
        }
    };
    let mut input = Input {
        name: name.to_owned(),
        default: (kind == InputKind::Flag).then(|| "false".to_owned()),
        kind,
        description: value.get("description").and_then(scalar),
    };
    if let Some(default) = value.get("default").filter(|default| **default != Yaml::Null) {
        input.default = scalar(default).and_then(|text| input.value(&text));
        if input.default.is_none() {
            let given = scalar(default).unwrap_or_default();
            bad("default", input.expected(), nearest(&given, input.options()));
            return None;
        }
    }
    Some(input)
}

/// A value that is a text, a number or a boolean, as text.
pub(super) fn scalar(value: &Yaml) -> Option<String> {
    if *value == Yaml::Null { None } else { value.scalar_text() }
}

/// A value as a diagnostic names it.
pub(super) fn written(value: &Yaml) -> String {
    scalar(value).map_or_else(|| value.kind().to_string(), |text| format!("`{}`", short(&text, 80)))
}
