//! Models, aliases and thinking levels.

use super::description::{Description, error, warning};
use crate::definition::model::{Thinking, either};

#[derive(Debug, Clone, PartialEq)]
pub enum ModelProblem {
    UnknownModel { name: String, suggestion: Option<String> },
    UnknownAlias { name: String, suggestion: Option<String> },
    UnknownThinking { name: String },
    BadAlias { alias: String },
    NotAModel { name: String },
}

impl ModelProblem {
    pub(crate) fn describe(&self) -> Description {
        match self {
            Self::UnknownModel { name, suggestion } => {
                warning(format!("unknown model `{name}`")).suggest(suggestion.as_ref())
            }
            Self::UnknownAlias { name, suggestion } => {
                let unknown = warning(format!("unknown alias `{name}` of a model"));
                match suggestion {
                    Some(_) => unknown.suggest(suggestion.as_ref()),
                    None => unknown
                        .help(format!("add `{name}: PROVIDER/ID` to `models` in ~/.pi/agent/workflows/settings.yaml")),
                }
            }
            Self::UnknownThinking { name } => {
                let unknown = warning(format!("unknown thinking level `{name}`; the user's own is kept"));
                match Thinking::nearest(name) {
                    Some(near) => unknown.suggest(Some(format!("\":{near}\""))),
                    None => unknown.help(format!("use {}", either(&Thinking::ALL.map(Thinking::name)))),
                }
            }
            Self::BadAlias { alias } => {
                error(format!("`{alias}` cannot be an alias: a name with `/` is that of a model")).marking(alias)
            }
            Self::NotAModel { name } => error(format!("`{name}` is not the name of a model"))
                .help("use PROVIDER/ID; an alias cannot stand for another alias"),
        }
    }
}
