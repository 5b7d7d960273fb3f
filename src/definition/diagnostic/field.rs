//! Fields, and values of any field.

use std::ops::RangeInclusive;

use super::description::{Description, ValueKind, error, items_meant, list_in_yaml, suggestion, warning};
use super::meant::{self, Mapping};
use crate::definition::model::schema;
use crate::definition::model::{Phase, Workflow, either, nearest, short};

#[derive(Debug, Clone, PartialEq)]
pub enum FieldProblem {
    Missing { field: &'static str, instead: Option<String> },
    Blank { field: String },
    Empty { field: String },
    NotAList { field: String, expected: &'static str, text: String },
    Quoted { field: String, expected: String, value: String },
    WrongType { field: String, expected: &'static str, found: ValueKind },
    Ignored { field: &'static str, expected: &'static str, found: ValueKind },
    NegativeLength { field: &'static str, found: String },
    OutOfRange { field: &'static str, range: RangeInclusive<u32>, found: String },
    NotAChoice { field: &'static str, words: &'static [&'static str], found: String, suggestion: Option<&'static str> },
    BadValue { field: String, expected: String, found: String, suggestion: Option<String> },
    BadName { field: &'static str, name: String },
    EntryCount { field: &'static str, limit: usize },
    UnknownPart { of: &'static str, field: String, known: &'static [&'static str] },
    UnknownField { of: Mapping, field: String, known: &'static [&'static str] },
    BadCommandName { value: String },
    FolderAsCommandName { folder: String },
}

impl FieldProblem {
    pub(crate) fn bad(field: impl Into<String>, expected: impl Into<String>, found: impl Into<String>) -> Self {
        Self::BadValue { field: field.into(), expected: expected.into(), found: found.into(), suggestion: None }
    }

    /// Suggests a value in place of a bad value.
    pub(crate) fn suggest(mut self, value: Option<impl Into<String>>) -> Self {
        if let Self::BadValue { suggestion, .. } = &mut self {
            *suggestion = value.map(Into::into);
        }
        self
    }

    pub(crate) fn wrong_type(field: impl Into<String>, expected: &'static str, found: ValueKind) -> Self {
        Self::WrongType { field: field.into(), expected, found }
    }

    pub(crate) fn describe(&self) -> Description {
        match self {
            Self::Missing { field, instead } => {
                let missing = error(format!("missing field `{field}`"));
                match instead {
                    Some(instead) => {
                        missing.help(format!("did you mean `{field}` instead of `{instead}`?")).marking(instead)
                    }
                    None => missing.help("list the files of the phases: `phases: [plan.md, do.md]`"),
                }
            }
            Self::Blank { field } => error(format!("`{field}` must not be empty")),
            Self::Empty { field } => {
                let name = field.rsplit('.').next().unwrap_or(field);
                let help = match &**field {
                    "write" => "`write: []` allows nothing; without `write` everything is allowed",
                    "id" | "name" | "commandName" | "prompt" | "whenToUse" | "defaultTask" => {
                        "write a value, or remove the key"
                    }
                    _ => "write a value, or remove the key: a rule without a value protects nothing",
                };
                error(format!("`{field}` has no value")).help(help).marking(name)
            }
            Self::NotAList { field, expected, text } => not_a_list(field, expected, text),
            Self::Quoted { field, expected, value } => {
                error(format!("`{field}`: expected {expected}, found the string `{value}`")).help("remove the quotes")
            }
            Self::WrongType { field, expected, found } => wrong_type(field, expected, *found),
            Self::Ignored { field, expected, found } => {
                let message = format!("`{field}`: expected {expected}, found {found}; it has no effect");
                warning(message).quotes(expected, *found)
            }
            Self::NegativeLength { field, found } => {
                warning(format!("`{field}`: expected a number from 0, found `{found}`; it has no effect"))
            }
            Self::OutOfRange { field, range, found } => error(format!(
                "`{field}`: expected a whole number from {} to {}, found {found}",
                range.start(),
                range.end()
            )),
            Self::NotAChoice { field, words, found, suggestion } => {
                let words = either(words);
                error(format!("`{field}`: expected {words}, found {found}")).suggest(*suggestion)
            }
            Self::BadValue { field, expected, found, suggestion } => {
                let switch = switch_meant(found.trim_matches('`')).filter(|_| expected.contains("`true`"));
                let suggestion = suggestion.as_deref().or(switch);
                error(format!("`{field}`: expected {expected}, found {found}")).suggest(suggestion)
            }
            Self::BadName { field, name } => error(format!(
                "`{field}`: expected at most 60 letters, digits, `_` and `-` as a name, found `{}`",
                short(name, 80)
            )),
            Self::EntryCount { field, limit } => error(format!("`{field}` must have 1 to {limit} entries")),
            Self::UnknownPart { of, field, known } => {
                let mapping = match *of {
                    "phases" => Mapping::Entry,
                    "inputs" | "outputs" | "fields" => Mapping::Value,
                    "gate" => Mapping::Check,
                    _ => Mapping::Other,
                };
                let unknown = error(format!("unknown field `{field}` in `{of}`")).marking(field);
                unknown.help(meaning(field, known, mapping).unwrap_or_else(|| suggestion(field, known, mapping)))
            }
            Self::UnknownField { of, field, known } => {
                let unknown = error(format!("unknown field `{field}`")).marking(field);
                unknown.help(meaning(field, known, *of).unwrap_or_else(|| match of {
                    Mapping::Prompt => suggestion(field, known, *of),
                    _ => suggestion(field, known, *of) + "; data of your own belongs below `metadata:`",
                }))
            }
            Self::BadCommandName { value } => {
                error(format!("`commandName`: expected letters, digits, `_` and `-` only, found `{value}`"))
                    .suggest(command_name(value))
            }
            Self::FolderAsCommandName { folder } => {
                let example = command_name(folder).unwrap_or_else(|| "my-workflow".into());
                error(format!("missing field `commandName`: the name of the folder, `{folder}`, cannot be one"))
                    .help(format!("add a name of letters, digits, `_` and `-`, such as `commandName: {example}`"))
            }
        }
    }
}

/// Returns the word for a switch that a text means, as YAML 1.1 read it.
fn switch_meant(text: &str) -> Option<&'static str> {
    match &*text.to_ascii_lowercase() {
        "yes" | "on" | "y" => Some("true"),
        "no" | "off" | "n" => Some("false"),
        _ => None,
    }
}

/// Describes a text in the place of a list.
fn not_a_list(field: &str, expected: &str, text: &str) -> Description {
    let wrong = error(format!("`{field}`: expected {expected}, found a string"));
    let name = field.rsplit('.').next().unwrap_or(field);
    if lacks_space(text) {
        return wrong.help(SPACE_NEEDED);
    }
    if text.starts_with(['–', '—', '•']) {
        return wrong.help("begin each item of a list with `- `");
    }
    if matches!(text, "none" | "nothing" | "no") {
        match name {
            "write" => return wrong.help("`write: []` allows nothing"),
            "hide" => return wrong.help("remove it: without `hide` nothing is hidden"),
            _ => {}
        }
    }
    let items = items_meant(text.trim_matches(['[', ']', ' ']), field.starts_with("tools."));
    wrong.help(format!("did you mean `{name}: {}`?", list_in_yaml(&items)))
}

/// Describes a value of another type than expected.
fn wrong_type(field: &str, expected: &'static str, found: ValueKind) -> Description {
    let message = format!("`{field}`: expected {expected}, found {found}");
    let wrong = error(message).quotes(expected, found);
    match (field.rsplit('.').next(), found) {
        (Some("phases"), ValueKind::Mapping) => wrong.help("write each entry behind a `- `, such as `- plan.md`"),
        (Some("gate"), ValueKind::String) => wrong.help("write a check as `run: npm test` or `file: PATH`"),
        (Some("gate"), ValueKind::Mapping) => wrong.help("write a list of checks: `gate: [{ run: npm test }]`"),
        (Some("inputs" | "outputs"), ValueKind::List) => {
            wrong.help("write a name and a type for each, as in `scope: { type: text }`")
        }
        (Some("autoContinue"), ValueKind::Mapping) => {
            wrong.help("write `autoContinue: true`: the countdown and the bounds cannot be set")
        }
        (Some("env"), ValueKind::List) => {
            wrong.help("write the name of a variable and of a value of the run, as in `scope: input.scope`")
        }
        (Some("outcomes"), ValueKind::List) => wrong.help("each outcome has a target: `clean: next` for `clean`"),
        (Some("budget"), ValueKind::String | ValueKind::Number) => {
            wrong.help("name what is bounded, as in `budget: { time: 10m }`")
        }
        (_, ValueKind::String) if expected == "`true` or `false`" => {
            wrong.help("write one of the two words, without quotes")
        }
        _ => wrong,
    }
}

/// Returns the command name that is most like a text.
fn command_name(text: &str) -> Option<String> {
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    Some(words.join("-").to_ascii_lowercase()).filter(|name| !name.is_empty())
}

/// Returns the help for an unknown field of a mapping that means another field, there or elsewhere.
fn meaning(field: &str, known: &[&str], of: Mapping) -> Option<String> {
    let place = place_of(field).filter(|_| of != Mapping::Prompt && (of != Mapping::Other || field != "description"));
    let place = place.map(|place| match of {
        Mapping::Phase if field == "description" => {
            format!("`{field}` belongs in {place}; that of one phase belongs below `metadata:`")
        }
        _ => format!("`{field}` belongs in {place}"),
    });
    let plain = meant::plain(field);
    let is_opposite = |known: &str| {
        let known = meant::plain(known);
        ["no", "non", "not", "un"].iter().any(|no| plain.strip_prefix(no) == Some(&known))
    };
    let near = nearest(field, known.iter().copied()).filter(|known| !is_opposite(known));
    let is_in_capitals = near.is_some_and(|known| known.eq_ignore_ascii_case(field));
    let near = near.map(|known| format!("did you mean `{known}`?"));
    if is_in_capitals {
        return near;
    }
    meant::help(field, known, of).or(place).or(near)
}

/// Returns the place of a field, in words; `None` for a name that no field has.
fn place_of(field: &str) -> Option<&'static str> {
    let has = |fields: &[schema::Field]| fields.iter().any(|other| other.name == field);
    if has(Phase::FIELDS) && has(Workflow::FIELDS) {
        Some("the front matter of a phase file, beside `prompt`, or in `workflow.yaml`")
    } else if has(Phase::FIELDS) {
        Some(meant::PLACE_OF_PHASES)
    } else if has(Workflow::FIELDS) {
        Some("`workflow.yaml`")
    } else if has(&schema::ENTRY_FIELDS) {
        Some("an entry of `phases` in `workflow.yaml`")
    } else {
        None
    }
}

/// Returns true if a text begins with a `-` that is not followed by a space, as `-build.md` does.
pub(crate) fn lacks_space(text: &str) -> bool {
    let item = text.trim_start().strip_prefix('-').unwrap_or_default();
    item.starts_with(|c: char| c.is_alphabetic() || matches!(c, '_' | '.' | '/'))
}

/// The help for a text without a space behind its `-` in the place of a list.
pub(crate) const SPACE_NEEDED: &str = "write a space behind each `-`";
