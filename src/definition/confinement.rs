//! The limits of a phase: the files that may be written, and the network; and the decision on a tool call.
//!
//! **Invariant: one function decides.** [`permission`] decides on every call, in a session, in `pi-workflows may` and for
//! the `tests` of a phase.

use crate::protocol::STEP_TOOL_NAME;
use crate::usage;

use super::diagnostic::{Expected, Problem};
use super::fields::{Fields, not_a_list};
use super::gate::{MAX_EXPANSIONS, expansions};
use super::schema::{MAX_WRITE, SANDBOXES};
use super::yaml::{Step, Yaml};
use super::{Phase, Stale, ToolPolicy, Workflow, WorkflowFiles, WriteTarget, is_blank};

/// Names of pi's tools that run a command line.
pub(super) const COMMAND_TOOLS: [&str; 2] = ["bash", "powershell"];
/// Names of pi's tools that write the file of their argument `path`.
pub(super) const FILE_TOOLS: [&str; 2] = ["edit", "write"];
/// Names of pi's tools that write nothing.
pub(super) const READING_TOOLS: [&str; 4] = ["read", "grep", "find", "ls"];

/// Names of pi's tools that only call or find other tools.
const CARRIERS: [&str; 2] = ["codemode", "tool_search"];

const WILDCARDS: [char; 4] = ['*', '?', '[', '{'];

/// `write`, `network` and `sandbox` of one file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Confinement {
    /// The paths and globs that may be written; empty: nothing; `None`: not given.
    pub write: Option<Vec<String>>,
    /// Commands have the network.
    pub network: Option<bool>,
    /// Handling of commands.
    pub sandbox: Option<Sandbox>,
}

/// Handling of commands in a phase with limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Sandbox {
    /// They are confined, or refused where the system cannot confine them.
    #[default]
    Required,
    /// They are confined, or run without limits where the system cannot confine them.
    Preferred,
    /// They run without limits: `write` holds for file tools only.
    Off,
}

/// The limits that hold in a phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits<'a> {
    /// The paths and globs that may be written; `None`: everything.
    pub write: Option<&'a [String]>,
    /// The file in which `write` stands; that of the phase without `write`.
    pub write_file: WriteFile,
    /// Commands have the network.
    pub network: bool,
    /// Handling of commands.
    pub sandbox: Sandbox,
}

/// The file in which a phase's `write` stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteFile {
    /// That of the phase.
    Phase,
    /// The `workflow.yaml`.
    Workflow,
}

impl<'a> Limits<'a> {
    /// The limits of a phase in a workflow.
    pub fn of(phase: &'a Phase, workflow: &'a Workflow) -> Self {
        let (own, default) = (&phase.confinement, &workflow.confinement);
        Self {
            write: own.write.as_deref().or(default.write.as_deref()),
            write_file: if own.write.is_none() && default.write.is_some() {
                WriteFile::Workflow
            } else {
                WriteFile::Phase
            },
            network: own.network.or(default.network).unwrap_or(true),
            sandbox: own.sandbox.or(default.sandbox).unwrap_or_default(),
        }
    }

    /// Tests if commands are confined.
    pub fn confine_commands(&self) -> bool {
        self.sandbox != Sandbox::Off && (self.write.is_some() || !self.network)
    }
}

/// The decision on a tool call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Permission {
    /// It is allowed.
    Allowed,
    /// A file tool may write these paths.
    WithinPaths(Vec<String>),
    /// A command may run confined.
    Confined {
        /// The files and directories that may be written, directories with everything below: absolute paths without
        /// links, directories that may not exist with `/` at their end.
        writable: Vec<String>,
        /// These as the rules name them: of a glob the directory before its first wildcard, and no rule that leads through
        /// a link. `None`: everything.
        named: Option<Vec<String>>,
        /// It has the network.
        network: bool,
    },
    /// It is refused.
    Refused(Refusal),
}

/// The reason for a refusal.
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
        /// The rule that would allow it if it did not lead through a link.
        linked_rule: Option<String>,
    },
    /// The host does not tell which file the tool would write.
    Unresolved {
        /// The argument of the call; empty without one.
        path: String,
        /// The reason, for the user.
        reason: String,
    },
}

impl Refusal {
    /// The rule that it belongs to.
    pub fn rule(&self) -> usage::Rule {
        match self {
            Self::Tool => usage::Rule::Tools,
            Self::MayWrite | Self::Path { .. } | Self::Unresolved { .. } => usage::Rule::Write,
        }
    }
}

/// Decides on a call of a tool. `path` returns its argument `path`.
///
/// A tool that `carries_calls` of other tools passes a whitelist, and `write`: each call that it makes is decided on by
/// itself.
///
/// # Errors
///
/// If the session is gone.
pub fn permission(
    (phase, workflow): (&Phase, &Workflow),
    tool: &str,
    carries_calls: bool,
    path: &dyn Fn() -> Result<Option<String>, Stale>,
    host: &dyn WorkflowFiles,
) -> Result<Permission, Stale> {
    if tool == STEP_TOOL_NAME {
        return Ok(Permission::Allowed);
    }
    let whitelist = matches!(phase.tools, ToolPolicy::Only(_));
    if !(phase.tools.allows(tool) || carries_calls && whitelist) {
        return Ok(Permission::Refused(Refusal::Tool));
    }
    let limits = Limits::of(phase, workflow);
    if runs_commands(tool) {
        if !limits.confine_commands() {
            return Ok(Permission::Allowed);
        }
        let (writable, named) = match limits.write {
            Some(rules) => {
                let resolved = Writable::resolve(rules, host)?;
                (resolved.paths(), Some(resolved.named()))
            }
            None => (vec!["/".to_owned()], None),
        };
        return Ok(Permission::Confined { writable, named, network: limits.network });
    }
    let Some(rules) = limits.write else { return Ok(Permission::Allowed) };
    if writes_path(tool) {
        return within(rules, path()?, host);
    }
    if READING_TOOLS.contains(&tool) || carries_calls || whitelist {
        return Ok(Permission::Allowed);
    }
    Ok(Permission::Refused(Refusal::MayWrite))
}

/// Tests if this is one of pi's tools that only call or find other tools.
pub fn is_carrier(tool: &str) -> bool {
    CARRIERS.contains(&tool)
}

/// Tests if this is one of pi's tools that run a command line.
pub fn runs_commands(tool: &str) -> bool {
    COMMAND_TOOLS.contains(&tool)
}

/// Tests if this is one of pi's tools that write the file of their argument `path`.
pub fn writes_path(tool: &str) -> bool {
    FILE_TOOLS.contains(&tool)
}

/// Decides on a call of a tool that writes a file.
fn within(
    rules: &[String],
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
                Permission::WithinPaths(writable.paths())
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
    /// The rules with a link in their fixed part, each with the path to which it leads. They allow nothing: whoever may
    /// change the link would choose what can be written.
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
        for rule in rules {
            let (fixed, glob) = split(rule);
            let Ok(target) = resolve(fixed, host)? else { continue };
            if target.linked {
                resolved.linked.push((rule.clone(), target.path));
                continue;
            }
            let directory = glob.is_some() || names_directory(fixed) || target.path.ends_with('/');
            let (fixed, glob) = (fixed.to_owned(), glob.map(normal));
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

    /// [`Self::paths`] as the rules name them, directories with `/` at their end.
    fn named(&self) -> Vec<String> {
        let mut named = Vec::new();
        for Rule { fixed, directory, .. } in &self.rules {
            let fixed = command_path(fixed, *directory);
            if !named.contains(&fixed) {
                named.push(fixed);
            }
        }
        named
    }

    /// The paths to which commands are held, each once: of a glob, the directory before its first wildcard.
    fn paths(&self) -> Vec<String> {
        let mut paths = Vec::new();
        for rule in &self.rules {
            let end = if rule.directory && !rule.base.ends_with('/') { "/" } else { "" };
            let path = format!("{}{end}", rule.base);
            if !paths.contains(&path) {
                paths.push(path);
            }
        }
        paths
    }
}

/// The rest of a path below a directory; empty for the directory itself, `None` elsewhere.
pub(super) fn below<'a>(path: &'a str, directory: &str) -> Option<&'a str> {
    let rest = path.strip_prefix(directory)?;
    if rest.is_empty() || directory.ends_with('/') { Some(rest) } else { rest.strip_prefix('/') }
}

/// Returns the file to which the fixed part of a rule leads.
pub(super) fn resolve(
    fixed: &str,
    host: &dyn WorkflowFiles,
) -> Result<Result<WriteTarget, String>, Stale> {
    // pi's tools remove an `@` at the beginning of their argument; a rule with one names a file.
    if fixed.starts_with('@') {
        return host.resolve_write(&format!("./{fixed}"));
    }
    host.resolve_write(if fixed.is_empty() { "." } else { fixed })
}

/// A glob without empty components and `.`; with `/` at its end it is everything below.
fn normal(glob: &str) -> String {
    let parts = glob.split('/').filter(|part| !matches!(*part, "" | "."));
    let parts: Vec<&str> = parts.chain(glob.ends_with('/').then_some("**")).collect();
    parts.join("/")
}

/// Tests if a glob matches everything below its directory.
pub(super) fn is_everything(glob: &str) -> bool {
    matches!(&*normal(glob), "**" | "**/*")
}

/// Tests if a path has a wildcard.
pub(super) fn is_glob(path: &str) -> bool {
    path.contains(WILDCARDS)
}

/// Tests if a path without wildcards is a directory by its form.
fn names_directory(path: &str) -> bool {
    matches!(path.rsplit('/').next(), Some("" | "." | ".." | "~"))
}

/// The fixed part of a rule, with `/` at its end for a directory; `./` for the working directory.
fn command_path(fixed: &str, directory: bool) -> String {
    let fixed = if fixed.is_empty() { "." } else { fixed };
    let end = if directory && !fixed.ends_with('/') { "/" } else { "" };
    format!("{fixed}{end}")
}

/// The directory to which a rule holds commands, if it is a glob to which it holds `edit` and `write` more closely.
pub fn wider_for_commands(rule: &str) -> Option<String> {
    let (fixed, glob) = split(rule);
    (!is_everything(glob?)).then(|| command_path(fixed, true))
}

/// Splits a rule before its first component with a wildcard.
pub(super) fn split(rule: &str) -> (&str, Option<&str>) {
    let Some(wildcard) = rule.find(WILDCARDS) else { return (rule, None) };
    let start =
        rule.get(..wildcard).and_then(|fixed| fixed.rfind('/')).map_or(0, |slash| slash + 1);
    (rule.get(..start).unwrap_or_default(), rule.get(start..))
}

/// Reads `write`, `network` and `sandbox`. `None` if one of them is invalid: an error must not remove a limit.
pub(super) fn read(fields: &mut Fields) -> Option<Confinement> {
    let (write, network, sandbox) = (write(fields), network(fields), sandbox(fields));
    Some(Confinement { write: write?, network: network?, sandbox: sandbox? })
}

fn write(fields: &mut Fields) -> Option<Option<Vec<String>>> {
    let items = match fields.root.get("write") {
        None | Some(Yaml::Null) => return Some(None),
        Some(Yaml::List(items)) => items.clone(),
        Some(other) => {
            let problem = match not_a_list("write".into(), "a list of paths", other) {
                Problem::WrongType { found, .. } => Problem::NotPaths { found },
                problem => problem,
            };
            fields.report(&[Step::Key("write")], problem);
            return None;
        }
    };
    if items.len() > MAX_WRITE {
        fields.report(&[Step::Key("write")], Problem::TooManyPaths { limit: MAX_WRITE });
        return None;
    }
    let mut sound = true;
    let mut rules = Vec::with_capacity(items.len());
    for (index, item) in items.iter().enumerate() {
        match rule(item) {
            Ok(rule) => {
                let at = [Step::Key("write"), Step::Item(index)];
                sound &= fields.check_literal(&at, "write", &rule).is_some();
                rules.push(rule);
            }
            Err(problem) => {
                fields.report(&[Step::Key("write"), Step::Item(index)], problem);
                sound = false;
            }
        }
    }
    sound.then_some(Some(rules))
}

fn rule(item: &Yaml) -> Result<String, Problem> {
    let field = "write";
    let Yaml::String(path) = item else {
        let (expected, found) = (Expected::String, item.kind());
        return Err(Problem::WrongType { field: field.into(), expected, found });
    };
    let path = path.replace('\\', "/");
    if is_blank(&path) {
        return Err(Problem::Blank { field: field.into() });
    }
    if path.contains(char::is_control) {
        return Err(Problem::ControlCharacter { field });
    }
    let (_, glob) = split(&path);
    let glob = glob.unwrap_or_default();
    // The library takes a `!` at the beginning of a glob for its negation.
    if path.starts_with('!') || glob.starts_with('!') {
        return Err(Problem::ExcludedPath { path });
    }
    if is_glob(&path) && fast_glob::validate(&path).is_err() {
        return Err(Problem::BadGlob { field, path });
    }
    if expansions(&path) > MAX_EXPANSIONS {
        return Err(Problem::WideGlob { field, limit: MAX_EXPANSIONS });
    }
    if glob.split(['/', '{', ',', '}']).any(|part| part == "..") {
        return Err(Problem::ParentAfterWildcard { path });
    }
    Ok(path)
}

fn network(fields: &mut Fields) -> Option<Option<bool>> {
    let (found, suggestion) = match fields.root.get("network") {
        None | Some(Yaml::Null) => return Some(None),
        Some(Yaml::Bool(network)) => return Some(Some(*network)),
        Some(Yaml::String(word)) if word == "true" || word == "false" => {
            let (field, expected) = ("network".into(), "`true` or `false`".into());
            let problem = Problem::Quoted { field, expected, value: word.clone() };
            fields.report(&[Step::Key("network")], problem);
            return None;
        }
        Some(Yaml::String(word)) => {
            let meant = match &*word.to_ascii_lowercase() {
                "false" | "off" | "no" | "none" => Some("false"),
                "true" | "on" | "yes" => Some("true"),
                _ => None,
            };
            (format!("`{word}`"), meant)
        }
        Some(other) => (other.kind().to_string(), None),
    };
    let (field, words) = ("network", &["true", "false"]);
    fields.report(&[Step::Key(field)], Problem::NotAChoice { field, words, found, suggestion });
    None
}

fn sandbox(fields: &mut Fields) -> Option<Option<Sandbox>> {
    if matches!(fields.root.get("sandbox"), None | Some(Yaml::Null)) {
        return Some(None);
    }
    let kinds = [Sandbox::Required, Sandbox::Preferred, Sandbox::Off];
    fields.choice("sandbox", &SANDBOXES).map(|index| kinds.get(index).copied())
}

#[cfg(test)]
mod tests;
