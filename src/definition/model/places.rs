//! The places to which the paths of rules lead.

use super::files::{Stale, WorkflowFiles, WriteTarget};

/// The rest of a path below a directory; empty for the directory itself, `None` elsewhere.
pub(crate) fn below<'a>(path: &'a str, directory: &str) -> Option<&'a str> {
    let rest = path.strip_prefix(directory)?;
    if rest.is_empty() || directory.ends_with('/') { Some(rest) } else { rest.strip_prefix('/') }
}

/// Returns the file to which the fixed part of a rule leads.
pub(crate) fn resolve(fixed: &str, host: &dyn WorkflowFiles) -> Result<Result<WriteTarget, String>, Stale> {
    // pi's tools remove an `@` at the beginning of their argument; a rule with one names a file.
    if fixed.starts_with('@') {
        return host.resolve_write(&format!("./{fixed}"));
    }
    host.resolve_write(if fixed.is_empty() { "." } else { fixed })
}
