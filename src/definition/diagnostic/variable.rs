//! Variables in texts.

use super::description::{Description, available, error, failure, warning};
use crate::definition::model::{ValueName, nearest};

#[derive(Debug, Clone, PartialEq)]
pub enum VariableProblem {
    TooMany,
    UnknownVariable {
        name: String,
        field: Option<&'static str>,
        known: &'static [&'static str],
    },
    OtherForm {
        written: String,
        known: &'static [&'static str],
    },
    /// A text in braces that may mean a value.
    Guessed {
        written: String,
        suggestion: Option<String>,
    },
    NoItem {
        name: String,
    },
    OnlyText {
        written: String,
    },
    NameAsCommand {
        field: String,
        written: String,
        name: ValueName,
    },
    OtherFormInCommand {
        field: String,
        form: &'static str,
    },
    NotReplaced {
        field: String,
        name: String,
        named: bool,
    },
    UnknownValue {
        name: String,
        suggestion: Option<String>,
    },
}

impl VariableProblem {
    pub(crate) fn describe(&self) -> Description {
        match self {
            Self::TooMany => failure("too large to check: the text has too many unknown variables")
                .help("the others are reported when some are fixed"),
            Self::UnknownVariable { name, field, known } => {
                let of_field = field.map_or(String::new(), |field| format!(" in `{field}`"));
                let value = || match ValueName::parse(name.trim()) {
                    Ok(_) => Some(name.trim().to_owned()),
                    Err(meant) => meant,
                };
                let meant = meant_variable(name, known).map(Into::into);
                let meant = meant.or_else(value).filter(|meant| ValueName::can_be(meant));
                let help = match meant {
                    Some(known) => format!("did you mean `{{{known}}}`?"),
                    None => available(known, "variables", "docs/reference/variables.md"),
                };
                warning(format!("unknown variable `{{{name}}}`{of_field}; it is not replaced"))
                    .help(help)
                    .marking(&format!("{{{name}}}"))
            }
            Self::OtherForm { written, known } => {
                // Words after the name, such as `|| 'a'`, have no form here.
                let name = written.trim_matches(['$', '{', '}', ' ']);
                let name = name.split(|c: char| !ValueName::has(c)).next().unwrap_or(name);
                let is_of_task = ["ARGUMENTS", "args", "arguments"].contains(&name) || name.parse::<u8>().is_ok();
                let name = if is_of_task { "task" } else { name };
                let meant = if name.contains('.') { None } else { meant_variable(name, known) };
                warning(format!("`{written}` is not the form of a variable"))
                    .help(format!("write `{{{}}}`: one `{{`, one `}}`, and no `$`", meant.unwrap_or(name)))
                    .marking(written)
            }
            Self::Guessed { written, suggestion } => {
                let help = match suggestion {
                    Some(name) => format!("write `{{{name}}}`"),
                    None => "a variable is `{input.NAME}`, `{output.ID.NAME}`, `{outcome.ID}`, `{summary.ID}`, `{log.ID}` or `{item.FIELD}`".into(),
                };
                warning(format!("`{written}` is not the form of a variable")).help(help).marking(written)
            }
            Self::NoItem { name } => warning(format!("`{{{name}}}` is `(none)` here: no group with `each` is around it"))
                .help("list the phase in a group with `each`, or remove the variable")
                .marking(&format!("{{{name}}}")),
            Self::OnlyText { written } => only_text(written),
            Self::NameAsCommand { field, written, name } => {
                let wrong = error(format!("`{field}`: `{written}` is the name of a value, and no command")).marking(written);
                match name {
                    ValueName::Input(_) | ValueName::Output { .. } => wrong.suggest(Some(name.to_string())),
                    _ => wrong.help(format!("write `env: {{ value: {name} }}` beside `run`, and `\"$value\"` in its line")),
                }
            }
            Self::OtherFormInCommand { field, form } => {
                error(format!("`{field}`: `{form}` is not replaced here"))
                    .help("name a value in `env` beside `run`, as in `env: { scope: input.scope }`, and write `\"$scope\"` in the line")
                    .marking(form)
            }
            Self::NotReplaced { field, name, named } => not_replaced(field, name, *named),
            Self::UnknownValue { name, suggestion } => {
                let why = match name.split_once('.') {
                    Some(("summary", id)) => format!("no phase has the id `{id}`"),
                    Some(("input", _)) => "the workflow has no such input".to_owned(),
                    Some(("output", _)) => "the workflow has no such output".to_owned(),
                    Some(("log", _)) => "the workflow has no such step".to_owned(),
                    Some(("item", _)) => "the workflow has no such field of records".to_owned(),
                    _ => "the workflow has no such phase with outcomes".to_owned(),
                };
                warning(format!("unknown variable `{{{name}}}`: {why}; it is not replaced"))
                .suggest(suggestion.as_ref().map(|name| format!("{{{name}}}")))
                .marking(&format!("{{{name}}}"))
            }
        }
    }
}

/// Describes words by which other programs run a command or read a file.
fn only_text(written: &str) -> Description {
    let help = match written.strip_prefix('@') {
        Some(path) => format!("write `Read {path}.`, and the agent reads it"),
        None => format!(
            "put `- run: {}` with `id: ID` before the phase, and `{{log.ID}}` here",
            written.trim_start_matches('!').trim_matches('`')
        ),
    };
    warning(format!("`{written}` is text for the agent: no command is run and no file is read"))
        .help(help)
        .marking(written)
}

/// Describes a variable in a field that replaces none; `named` if a value has this name.
fn not_replaced(field: &str, name: &str, named: bool) -> Description {
    let message = format!("`{field}`: `{{{name}}}` is not replaced here");
    let kind = if named { error(message) } else { warning(message) };
    let value = ValueName::meant(name).map_or(name.to_owned(), |value| value.to_string());
    if named && field.ends_with("run") {
        return kind
            .help(format!("write `env: {{ value: {value} }}` beside `run`, and `\"$value\"` in its place"))
            .marking(&format!("{{{name}}}"));
    }
    if named && matches!(field, "gate.file" | "write") {
        return kind
            .help("a path takes `{runDir}` and `{input.NAME}` of its workflow, and nothing that the agent gives")
            .marking(&format!("{{{name}}}"));
    }
    kind.help("variables are replaced in the text of a phase and in the templates of `workflow.yaml`")
        .marking(&format!("{{{name}}}"))
}

/// Returns the variable that a name means: the variable with this synonym, or with the most similar name.
fn meant_variable<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    if let Some(known) = known.iter().find(|known| **known == name.trim()) {
        return Some(known);
    }
    let mut same = SYNONYMS.iter().filter(|(word, _)| name.eq_ignore_ascii_case(word));
    let same = same.find_map(|(_, variable)| known.iter().find(|known| *known == variable));
    same.copied().or_else(|| nearest(name, known.iter().copied()))
}

/// Names that authors use for variables, each with the variable; the first variable that the template knows is meant.
const SYNONYMS: [(&str, &str); 6] = [
    ("task", "description"),
    ("task", "taskDescription"),
    ("description", "taskDescription"),
    ("workflow", "workflowName"),
    ("phase", "phaseName"),
    ("summary", "previousSummary"),
];
