//! Gates and their checks.

use super::description::{Description, error, warning};
use crate::definition::model::{ValueName, is_variable, list, read_by_programs, short};

#[derive(Debug, Clone, PartialEq)]
pub enum GateProblem {
    GateSize { limit: usize },
    NotOneKind { kinds: Vec<&'static str> },
    MisplacedCheckField { field: &'static str, of: &'static str },
    EnvSize { of: &'static str, limit: usize },
    BadVariable { of: &'static str, name: String, value: Option<ValueName> },
    BadDuration { of: &'static str },
    BadExpression { words: String },
    BadGlob { field: &'static str, path: String },
    WideGlob { field: &'static str, limit: usize },
    OutsideProject { path: String },
    LongName { limit: usize },
    LoopForbidden { field: String },
    WithoutGate,
}

impl GateProblem {
    pub(crate) fn describe(&self) -> Description {
        match self {
            Self::GateSize { limit } => error(format!("`gate` must have from 1 to {limit} checks")),
            Self::NotOneKind { kinds } => {
                let several = !kinds.is_empty();
                let found = if several { list(kinds) } else { "none".to_owned() };
                let wrong = error(format!("expected one of `run` and `file` in a check, found {found}"));
                if several { wrong.help("make an entry of `gate` for each") } else { wrong }
            }
            Self::MisplacedCheckField { field, of } => error(format!("`{field}` belongs to a check with `{of}`")),
            Self::EnvSize { of, limit } => error(format!("`{of}` must have from 1 to {limit} variables")),
            Self::BadVariable { of, name, value } => {
                let lower = name.to_ascii_lowercase();
                let help = match (read_by_programs(&lower), value) {
                    (Some(names), _) => format!("programs read `{names}`: use a name of your own"),
                    (None, Some(value)) if is_variable(&lower) => {
                        format!("write `{lower}: {value}`, and `\"${lower}\"` in the command")
                    }
                    (None, _) => "write a name of lower-case letters, digits and `_`".to_owned(),
                };
                error(format!("`{of}`: `{}` cannot be the name of a variable", short(name, 80)))
                    .help(help)
                    .marking(name)
            }
            Self::BadDuration { of } => error(format!(
                "`{of}`: expected a duration like `90s` or `10m`, or a number of seconds, at most a day",
            )),
            Self::BadExpression { words } => error(format!("`gate.contains`: not a valid regular expression: {words}")),
            Self::BadGlob { field, path } => error(format!("`{field}`: not a valid glob: `{path}`"))
                .help("close each `[` and `{`; a name with such a character has `[[]` or `[{]` instead"),
            Self::WideGlob { field, limit } => {
                error(format!("`{field}`: the alternatives expand to more than {limit} paths")).help(
                    if *field == "write" { "use `*`, or several entries" } else { "use `*`, or a check with `run`" },
                )
            }
            Self::OutsideProject { path } => error(format!("`gate.file`: `{path}` is outside the project"))
                .help("write a path relative to the project's directory, with `/`"),
            Self::LongName { limit } => {
                warning(format!("`gate.name` is longer than {limit} characters; it is shortened"))
            }
            Self::LoopForbidden { field } => {
                error(format!("`{field}: loop` is not allowed in a workflow with `loopable: false`"))
            }
            Self::WithoutGate => error("`gateAttempts` needs a `gate`"),
        }
    }
}
