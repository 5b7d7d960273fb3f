//! The decision by `hide`: what the agent cannot read or write in a phase.

use super::files::{Stale, WorkflowFiles, WriteTarget, below, resolve_fixed};
use super::tools::READING_TOOLS;

/// The reason for a refusal by `hide`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HiddenCause {
    Listed {
        /// The file that a link leads to.
        link_target: Option<String>,
    },
    /// The folder of a search contains files that this rule hides.
    Around { rule: String },
    /// The host cannot tell which file the call means, for this reason.
    Unresolved { reason: String },
    /// The tool is not one of pi's, so it may read anything, and no whitelist names it.
    MayRead,
}

/// The tool of pi that reads all files of a folder.
const SEARCHING_TOOL: &str = "grep";

/// Returns the rules for the host, with `./` before a first `@`, which pi's tools would remove from a path.
pub(crate) fn host_paths(rules: &[String]) -> Vec<String> {
    let path = |rule: &String| match rule.strip_prefix('@') {
        Some(_) => format!("./{rule}"),
        None => rule.clone(),
    };
    rules.iter().map(path).collect()
}

/// Decides on a call of one of pi's file tools with this argument; `None` if `hide` does not refuse the call. The host
/// checks again after it has opened the file, because a link may have changed.
pub(crate) fn refuses(
    rules: &[String],
    tool: &str,
    path: Option<&str>,
    host: &dyn WorkflowFiles,
) -> Result<Option<HiddenCause>, Stale> {
    // Without a path the tools that list and search use the working directory.
    let default = READING_TOOLS.contains(&tool) && tool != "read";
    let Some(path) = path.or_else(|| default.then_some(".")) else {
        let reason = "the call has no readable `path`".to_owned();
        return Ok(Some(HiddenCause::Unresolved { reason }));
    };
    let target = match host.resolve_write(path)? {
        Ok(target) => target,
        Err(reason) => return Ok(Some(HiddenCause::Unresolved { reason })),
    };
    for rule in rules {
        // A path that the host cannot resolve cannot be reached either.
        let Ok(WriteTarget { path: hidden, .. }) = resolve_fixed(rule, host)? else { continue };
        if below(&target.path, &hidden).is_some() {
            let link_target = target.linked.then_some(target.path);
            return Ok(Some(HiddenCause::Listed { link_target }));
        }
        if tool == SEARCHING_TOOL && below(&hidden, &target.path).is_some() {
            return Ok(Some(HiddenCause::Around { rule: rule.clone() }));
        }
    }
    Ok(None)
}
