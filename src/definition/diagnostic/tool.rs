//! Names of tools and of subagent profiles.

use super::description::{Description, LINK_OUTSIDE, ValueKind, error, list_in_yaml, warning};

#[derive(Debug, Clone, PartialEq)]
pub enum ToolProblem {
    ToolsAsList { found: ValueKind, names: Vec<String> },
    BothToolLists,
    UnknownTool { name: String, suggestion: Option<String> },
    ToolInAnotherCase { name: String, tool: String },
    NotATool { name: String },
    UnknownProfile { name: String, suggestion: Option<String> },
    ProfilesOutside,
}

impl ToolProblem {
    pub(crate) fn describe(&self) -> Description {
        match self {
            Self::ToolsAsList { found, names }
                if names.is_empty() || names.iter().any(|name| matches!(&**name, "*" | "all" | "none")) =>
            {
                error(format!("`tools`: expected a mapping, found {found}"))
                    .help("without `tools` all tools are allowed; `tools: { whitelist: [] }` allows none")
            }
            Self::ToolsAsList { found, names } => {
                error(format!("`tools`: expected a mapping, found {found}")).help(format!(
                    "write `tools: {{ whitelist: {} }}` to allow these tools only, or `blacklist` to refuse them",
                    list_in_yaml(&Vec::from_iter(names.iter().map(String::as_str)))
                ))
            }
            Self::BothToolLists => {
                error("`tools` can have a `blacklist` or a `whitelist`, not both").help("remove one of the two lists")
            }
            Self::UnknownTool { name, suggestion } => {
                warning(format!("unknown tool `{name}`")).suggest(suggestion.as_ref())
            }
            Self::ToolInAnotherCase { name, tool } => {
                error(format!("unknown tool `{name}`: the names of tools are case-sensitive")).suggest(Some(tool))
            }
            Self::NotATool { name } => {
                let wrong = error(format!("`{name}` is not the name of a tool"));
                match name.split_once('(') {
                    Some((tool, _)) => wrong.help(format!(
                        "a list has whole tools, such as `{tool}`; `write` and `network` limit what commands can do"
                    )),
                    None if name.starts_with('!') => {
                        wrong.help("`blacklist` has the tools that are refused, `whitelist` those that are allowed")
                    }
                    None => wrong.help("write the name of each tool, as an item of its own; a `*` can stand at the end, as in `mcp__github__*`"),
                }
            }
            Self::UnknownProfile { name, suggestion } => {
                warning(format!("unknown subagent profile `{name}`")).suggest(suggestion.as_ref())
            }
            Self::ProfilesOutside => {
                warning("the subagent profiles here are not read: a link leads out of the project").help(LINK_OUTSIDE)
            }
        }
    }
}
