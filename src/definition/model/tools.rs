//! The tools of pi.

/// Names of pi's tools that run a command line.
pub(crate) const COMMAND_TOOLS: [&str; 2] = ["bash", "powershell"];

/// Names of pi's tools that write the file of their argument `path`.
pub(crate) const FILE_TOOLS: [&str; 2] = ["edit", "write"];

/// Names of pi's tools that write nothing.
pub(crate) const READING_TOOLS: [&str; 4] = ["read", "grep", "find", "ls"];

/// Names of pi's tools that only call or find other tools.
const CARRIERS: [&str; 2] = ["codemode", "tool_search"];

/// Returns true if this is one of pi's tools that only call or find other tools.
pub fn is_carrier(tool: &str) -> bool {
    CARRIERS.contains(&tool)
}

/// Returns true if this is one of pi's tools that run a command line.
pub fn runs_commands(tool: &str) -> bool {
    COMMAND_TOOLS.contains(&tool)
}

/// Returns true if this is one of pi's tools that write the file of their argument `path`.
pub fn writes_path(tool: &str) -> bool {
    FILE_TOOLS.contains(&tool)
}

fn pi_tools<'a>() -> impl Iterator<Item = &'a str> + Clone {
    READING_TOOLS.into_iter().chain(COMMAND_TOOLS).chain(FILE_TOOLS)
}

/// Returns true if an entry of a list of tools means a tool: its name, or its beginning with `*` behind it.
pub fn means_tool(entry: &str, tool: &str) -> bool {
    entry.strip_suffix('*').map_or(entry == tool, |beginning| tool.starts_with(beginning))
}

/// Returns the known tool that an entry of a list of tools would mean in another case: one of pi's own tools, or one of
/// `tools`. `None` if the entry means a tool, or if no name is similar.
pub(crate) fn tool_in_another_case<'a>(entry: &str, tools: &'a [String]) -> Option<&'a str> {
    let mut known = pi_tools().chain(tools.iter().map(String::as_str));
    let lower = entry.to_ascii_lowercase();
    let meant = known.clone().find(|tool| means_tool(&lower, &tool.to_ascii_lowercase()))?;
    known.all(|tool| !means_tool(entry, tool)).then_some(meant)
}

pub(crate) fn is_of_pi(name: &str) -> bool {
    pi_tools().any(|tool| tool == name)
}
