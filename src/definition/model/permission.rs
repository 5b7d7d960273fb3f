//! The decision on a tool call.
//!
//! **Invariant: one function decides.** [`permission`] decides on every call, in a session and in `pi-workflows may`.

use crate::protocol::STEP_TOOL_NAME;

use super::files::{Stale, WorkflowFiles, WriteTarget, below, resolve_fixed};
use super::hidden::{HiddenCause, host_paths, refuses};
use super::limits::Limits;
use super::own_limits::Sandbox;
use super::path_variables::{unescaped, variables, wildcard};
use super::tools::{READING_TOOLS, runs_commands, writes_path};
use super::workflow::ToolPolicy;

/// The path that contains all others.
const EVERYTHING: &str = "/";

/// The decision on a tool call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Permission {
    Allowed,
    /// A file tool may reach some files only. A tool that only reads may reach every file that is not hidden.
    Files(FileAccess),
    Confined {
        /// The files that the command may reach.
        files: FileAccess,
        /// The command has the network.
        network: bool,
        /// See [`Limits::unconfined`].
        unconfined: Sandbox,
    },
    Refused(Refusal),
}

/// The files that a tool call may reach.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileAccess {
    /// The paths that the call may write, directories with everything below; `None`: everything.
    pub writable: Option<Vec<WritablePath>>,
    /// The files and directories that the call cannot read or write, as the rules name them.
    pub hidden: Vec<String>,
    /// See [`Limits::keeps_agent_folder`].
    pub keeps_agent_folder: bool,
    /// See [`Limits::kept`].
    pub kept: Vec<String>,
}

/// A file or directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WritablePath {
    /// The absolute path without links. The path of a directory, which need not exist, ends with `/`.
    pub path: String,
    /// The path as a rule names it; for a glob the directory before its first wildcard.
    pub named: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// The list of tools does not allow the tool.
    Tool,
    /// The tool is not one of pi's, so it may write anything, and no whitelist names it.
    MayWrite,
    /// The file that the tool would write is not in `write`.
    Path {
        /// The argument of the call.
        path: String,
        /// The file that a link leads to.
        link_target: Option<String>,
        /// The rule that would allow the file if the rule did not lead through a link.
        linked_rule: Option<String>,
    },
    /// The file lies in a folder that stays as it is.
    Kept {
        /// The argument of the call.
        path: String,
        folder: String,
    },
    /// The host does not tell which file the tool would write.
    Unresolved {
        /// The argument of the call; empty without one.
        path: String,
        reason: String,
    },
    /// `hide` refuses the call.
    Hidden {
        /// The argument of the call; empty without one.
        path: String,
        cause: HiddenCause,
    },
}

impl Permission {
    /// Returns the decision of two sets of rules on one call, which must pass both sets.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        match (self, other) {
            (refused @ Self::Refused(_), _) | (_, refused @ Self::Refused(_)) => refused,
            (Self::Allowed, decision) | (decision, Self::Allowed) => decision,
            (Self::Files(files), Self::Files(other)) => Self::Files(files.and(other)),
            (Self::Confined { files, network, unconfined }, Self::Files(other))
            | (Self::Files(other), Self::Confined { files, network, unconfined }) => {
                Self::Confined { files: files.and(other), network, unconfined }
            }
            (
                Self::Confined { files, network, unconfined },
                Self::Confined { files: also, network: other, unconfined: or },
            ) => Self::Confined {
                files: files.and(also),
                network: network && other,
                unconfined: unconfined.stricter(or),
            },
        }
    }
}

impl FileAccess {
    /// The files that a call within these limits may reach; with `keeps` some folders stay as they are.
    fn of(limits: &Limits, writable: Option<Vec<WritablePath>>, keeps: bool) -> Self {
        let kept = limits.kept.iter().filter(|_| keeps).map(|&folder| folder.to_owned()).collect();
        let keeps_agent_folder = limits.keeps_agent_folder && keeps;
        Self { writable, hidden: host_paths(limits.hide), keeps_agent_folder, kept }
    }

    /// Returns the files that both may reach.
    fn and(self, other: Self) -> Self {
        let (hidden, kept) = (joined(self.hidden, other.hidden), joined(self.kept, other.kept));
        let writable = match (self.writable, other.writable) {
            (Some(places), Some(others)) => {
                let pairs = places.iter().flat_map(|place| others.iter().map(move |other| (place, other)));
                let mut both: Vec<WritablePath> = Vec::new();
                for place in pairs.filter_map(|(place, other)| place.inner(other)) {
                    if both.iter().all(|one| one.path != place.path) {
                        both.push(place.clone());
                    }
                }
                Some(both)
            }
            (places, others) => places.or(others),
        };
        Self { writable, hidden, keeps_agent_folder: self.keeps_agent_folder || other.keeps_agent_folder, kept }
    }

    /// The paths of `writable`.
    pub fn paths(&self) -> Vec<String> {
        match &self.writable {
            Some(places) => places.iter().map(|place| place.path.clone()).collect(),
            None => vec![EVERYTHING.to_owned()],
        }
    }
}

impl WritablePath {
    /// Returns the path that is equal to the other path or lies in it; `None` if neither path contains the other.
    fn inner<'a>(&'a self, other: &'a Self) -> Option<&'a Self> {
        let contains = |outer: &Self, inner: &Self| outer.path.ends_with('/') && inner.path.starts_with(&outer.path);
        if self.path == other.path || contains(other, self) {
            Some(self)
        } else {
            contains(self, other).then_some(other)
        }
    }
}

/// Decides on a call of a tool by a list of tools and limits. `path` returns the argument `path` of the call.
///
/// A tool that `carries_calls` of other tools passes a whitelist and `write`: each carried call gets its own decision.
pub fn permission(
    (tools, limits): (&ToolPolicy, &Limits),
    tool: &str,
    carries_calls: bool,
    path: &dyn Fn() -> Result<Option<String>, Stale>,
    host: &dyn WorkflowFiles,
) -> Result<Permission, Stale> {
    if tool == STEP_TOOL_NAME {
        return Ok(Permission::Allowed);
    }
    let whitelist = matches!(tools, ToolPolicy::Only(_));
    if !(tools.allows(tool) || carries_calls && whitelist) {
        return Ok(Permission::Refused(Refusal::Tool));
    }
    if runs_commands(tool) {
        if !limits.confine_commands() {
            return Ok(Permission::Allowed);
        }
        let holds = limits.hold_commands();
        let writable = match limits.write.as_ref().filter(|_| holds) {
            Some(rules) => Some(Writable::resolve(rules, host)?.places()),
            None => None,
        };
        let files = FileAccess::of(limits, writable, holds);
        let (network, unconfined) = (limits.network || !holds, limits.unconfined());
        return Ok(Permission::Confined { files, network, unconfined });
    }
    let reads = READING_TOOLS.contains(&tool);
    if !limits.hide.is_empty() {
        let path = path()?;
        let cause = if reads || writes_path(tool) {
            refuses(limits.hide, tool, path.as_deref(), host)?
        } else {
            (!carries_calls && !whitelist).then_some(HiddenCause::MayRead)
        };
        if let Some(cause) = cause {
            let path = path.unwrap_or_default();
            return Ok(Permission::Refused(Refusal::Hidden { path, cause }));
        }
    }
    let writes = writes_path(tool);
    if let Some(refusal) = if writes { in_kept(limits, path()?, host)? } else { None } {
        return Ok(Permission::Refused(refusal));
    }
    let keeps = writes && (limits.keeps_agent_folder || !limits.kept.is_empty());
    let everything = || match limits.hide.is_empty() && !keeps {
        true => Permission::Allowed,
        false => Permission::Files(FileAccess::of(limits, None, writes)),
    };
    if reads {
        return Ok(everything());
    }
    if writes {
        return match &limits.write {
            Some(rules) => within(rules, limits, path()?, host),
            None => Ok(everything()),
        };
    }
    if limits.write.is_none() || carries_calls || whitelist {
        return Ok(Permission::Allowed);
    }
    Ok(Permission::Refused(Refusal::MayWrite))
}

/// Returns both lists, each path once.
fn joined(mut paths: Vec<String>, others: Vec<String>) -> Vec<String> {
    for path in others {
        if !paths.contains(&path) {
            paths.push(path);
        }
    }
    paths
}

/// Returns the refusal of a call that writes a file in a kept folder. The host checks again after it has opened the
/// file.
fn in_kept(limits: &Limits, path: Option<String>, host: &dyn WorkflowFiles) -> Result<Option<Refusal>, Stale> {
    let Some(path) = path.filter(|_| !limits.kept.is_empty()) else { return Ok(None) };
    let Ok(target) = host.resolve_write(&path)? else { return Ok(None) };
    for &folder in &limits.kept {
        let Ok(kept) = host.resolve_write(folder)? else { continue };
        if below(&target.path, &kept.path).is_some() {
            return Ok(Some(Refusal::Kept { path, folder: folder.to_owned() }));
        }
    }
    Ok(None)
}

/// Decides on a call of a tool that writes a file.
fn within(
    rules: &[String],
    limits: &Limits,
    path: Option<String>,
    host: &dyn WorkflowFiles,
) -> Result<Permission, Stale> {
    let Some(path) = path else {
        let reason = "the call has no readable `path`".to_owned();
        return Ok(Permission::Refused(Refusal::Unresolved { path: String::new(), reason }));
    };
    Ok(match host.resolve_write(&path)? {
        Err(reason) => Permission::Refused(Refusal::Unresolved { path, reason }),
        Ok(target) => {
            let writable = Writable::resolve(rules, host)?;
            if writable.contains(&target) {
                Permission::Files(FileAccess::of(limits, Some(writable.places()), true))
            } else {
                let linked_rule = writable.linked_rule(&target);
                let link_target = target.linked.then_some(target.path);
                Permission::Refused(Refusal::Path { path, link_target, linked_rule })
            }
        }
    })
}

/// The resolved rules of `write`.
struct Writable {
    rules: Vec<Rule>,
    /// The rules with a link in their fixed part, each with the path to which it leads. These rules allow nothing:
    /// whoever may change the link would choose the files that can be written.
    linked: Vec<(String, String)>,
}

/// One resolved rule.
struct Rule {
    /// Its fixed part, as it is written.
    fixed: String,
    /// The path before the first component with a wildcard, absolute.
    base: String,
    /// The rest, a glob.
    glob: Option<String>,
    /// The base is a directory, whether it exists or not.
    directory: bool,
}

impl Writable {
    fn resolve(rules: &[String], host: &dyn WorkflowFiles) -> Result<Self, Stale> {
        let mut resolved = Self { rules: Vec::new(), linked: Vec::new() };
        // A rule that still has a variable allows nothing.
        for rule in rules.iter().filter(|rule| variables(rule).is_empty()) {
            let (fixed, glob) = split(rule);
            let fixed = unescaped(fixed);
            let Ok(target) = resolve_fixed(&fixed, host)? else { continue };
            if target.linked {
                resolved.linked.push((unescaped(rule).into_owned(), target.path));
                continue;
            }
            let directory = glob.is_some() || names_directory(&fixed) || target.path.ends_with('/');
            let (fixed, glob) = (fixed.into_owned(), glob.map(normal));
            resolved.rules.push(Rule { fixed, base: target.path, glob, directory });
        }
        Ok(resolved)
    }

    fn contains(&self, target: &WriteTarget) -> bool {
        self.rules.iter().any(|rule| match (below(&target.path, &rule.base), &rule.glob) {
            (None, _) => false,
            (Some(""), _) => !rule.directory,
            (Some(_), None) => true,
            // A name may look like a glob, say `[id].ts`.
            (Some(rest), Some(glob)) => rest == glob || fast_glob::glob_match(glob, rest),
        })
    }

    /// The rule that leads through a link to this file, or to a directory above it.
    fn linked_rule(&self, target: &WriteTarget) -> Option<String> {
        let leads = |(_, to): &&(String, String)| below(&target.path, to).is_some();
        self.linked.iter().find(leads).map(|(rule, _)| rule.clone())
    }

    /// The places to which commands are held, each once: of a glob, the directory before its first wildcard.
    fn places(&self) -> Vec<WritablePath> {
        let mut places: Vec<WritablePath> = Vec::new();
        for Rule { fixed, base, directory, .. } in &self.rules {
            let end = if *directory && !base.ends_with('/') { "/" } else { "" };
            let path = format!("{base}{end}");
            if places.iter().all(|place| place.path != path) {
                places.push(WritablePath { path, named: command_path(fixed, *directory) });
            }
        }
        places
    }
}

/// Returns a glob without empty components and `.`; `/` at its end becomes `/**`.
fn normal(glob: &str) -> String {
    let parts = glob.split('/').filter(|part| !matches!(*part, "" | "."));
    let parts: Vec<&str> = parts.chain(glob.ends_with('/').then_some("**")).collect();
    parts.join("/")
}

/// Returns true if a glob matches everything below its directory.
pub(crate) fn is_everything(glob: &str) -> bool {
    matches!(&*normal(glob), "**" | "**/*")
}

pub(crate) fn is_glob(path: &str) -> bool {
    wildcard(path).is_some()
}

/// Returns true if a path without wildcards is a directory by its form.
fn names_directory(path: &str) -> bool {
    matches!(path.rsplit('/').next(), Some("" | "." | ".." | "~"))
}

/// Returns the fixed part of a rule, with `/` at its end for a directory; `./` for the working directory.
fn command_path(fixed: &str, directory: bool) -> String {
    let fixed = if fixed.is_empty() { "." } else { fixed };
    let end = if directory && !fixed.ends_with('/') { "/" } else { "" };
    format!("{fixed}{end}")
}

/// Returns the directory to which a rule holds commands, if the rule holds `edit` and `write` to a glob.
pub fn wider_for_commands(rule: &str) -> Option<String> {
    let (fixed, glob) = split(rule);
    (!is_everything(glob?)).then(|| command_path(&unescaped(fixed), true))
}

/// Splits a rule before its first component with a wildcard.
pub(crate) fn split(rule: &str) -> (&str, Option<&str>) {
    let Some(wildcard) = wildcard(rule) else { return (rule, None) };
    let start = rule.get(..wildcard).and_then(|fixed| fixed.rfind('/')).map_or(0, |slash| slash + 1);
    (rule.get(..start).unwrap_or_default(), rule.get(start..))
}
