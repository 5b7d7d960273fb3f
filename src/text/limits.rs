//! The limits of a phase, in words: for the agent, and for the user.

use std::borrow::Cow;

use crate::definition::{
    Diagnostic, FileAccess, HiddenCause, Limits, Phase, Refusal, RuleFile, Sandbox, ToolPolicy, UserLimits, Workflow,
    unescaped, wider_for_commands,
};
use crate::run::Active;

use super::tools::block_reason;

/// The writable place of confined commands in every phase.
const TEMPORARY: &str = "temporary files ($TMPDIR)";

/// Returns the line of the context prompt with the limits of the phase; `None` without limits.
pub(super) fn limits_line(active: &Active) -> Option<String> {
    let limits = active.limits();
    if limits.write.is_none() && (limits.network || !limits.hold_commands()) {
        return None;
    }
    let mut line = match &limits.write {
        Some(write) => format!("**Writable in this phase:** {}.", paths(write)),
        None => "**Network in this phase:** none.".to_owned(),
    };
    if !limits.hold_commands() {
        line.push_str(" This holds for commands too: write no other file with them.");
        return Some(line);
    }
    line.push_str(match limits.sandbox {
        Sandbox::Preferred => " Commands run in a sandbox, where this system has one: ",
        Sandbox::Required | Sandbox::Off => " Commands run in a sandbox: ",
    });
    if limits.write.is_some() {
        let wider = wider(&limits);
        if !wider.is_empty() {
            line.push_str(&format!("they can write all of {}; ", wider.join(", ")));
        }
        line.push_str(&format!("everything else is read-only, except {TEMPORARY}; "));
        if !limits.network {
            line.push_str("there is no network; ");
        }
    }
    line.push_str("background processes end with their command.");
    Some(line)
}

/// Returns the line of the context prompt with the hidden paths of the phase; `None` without any.
pub(super) fn hidden_line(active: &Active) -> Option<String> {
    let limits = active.limits();
    (!limits.hide.is_empty()).then(|| {
        format!(
            "**Hidden in this phase:** {}. No tool and no command can read or write them; do not try to get at their content in another way. `grep` is refused around them: search with `bash`.",
            paths(limits.hide)
        )
    })
}

fn paths(write: &[String]) -> String {
    if write.is_empty() { "nothing".into() } else { shown(write).join(", ") }
}

/// Returns the directories that confined commands can write beyond the globs of `write`, each once.
fn wider(limits: &Limits) -> Vec<String> {
    let mut wider: Vec<String> = Vec::new();
    let rules = limits.write.iter().flat_map(|write| write.iter());
    for directory in rules.filter_map(|rule| wider_for_commands(rule)) {
        if limits.hold_commands() && !wider.contains(&directory) {
            wider.push(directory);
        }
    }
    wider
}

/// Returns the paths, with `./` for `.`, because a `.` would be lost before a full stop.
fn shown(write: &[String]) -> Vec<Cow<'_, str>> {
    write.iter().map(|path| if path == "." { "./".into() } else { unescaped(path) }).collect()
}

/// The source of the rules that decide on a tool call.
#[derive(Debug, Clone, Copy)]
pub enum RulesOf<'a> {
    /// The current phase.
    Phase(&'a Active<'a>),
    /// The user, everywhere.
    User(&'a UserLimits),
}

impl<'a> RulesOf<'a> {
    /// Returns words for the place where the rules hold.
    fn place(self) -> String {
        match self {
            Self::Phase(active) => format!("in the {} phase", active.phase.name),
            Self::User(_) => "under the user's limits".to_owned(),
        }
    }

    /// Returns the beginning of a text for the model.
    fn tag(self) -> &'static str {
        match self {
            Self::Phase(_) => "[workflow]",
            Self::User(_) => LIMITS_TAG,
        }
    }

    pub fn limits(self) -> Limits<'a> {
        match self {
            Self::Phase(active) => active.limits(),
            Self::User(user) => user.limits(),
        }
    }

    pub fn tools(self) -> &'a ToolPolicy {
        match self {
            Self::Phase(active) => &active.phase.tools,
            Self::User(user) => &user.tools,
        }
    }

    fn file(self, file: RuleFile) -> String {
        match (self, file) {
            (Self::Phase(active), RuleFile::Own) => active.phase.file.clone(),
            (Self::Phase(active), RuleFile::Workflow) => active.scope.file(),
            (Self::User(user), RuleFile::Own | RuleFile::Workflow) => user.file.clone(),
        }
    }
}

/// The beginning of a text for the model that is about the user's limits.
const LIMITS_TAG: &str = "[limits]";

/// Returns the refused action, which words for the place of the rule can follow, and the reason; for the model and the
/// user.
pub fn refused(refusal: &Refusal, tool: &str) -> (String, Option<String>) {
    let through =
        |target: &Option<String>| target.as_ref().map_or(String::new(), |to| format!(" (through a link: {to})"));
    let not_own = |may: &str| format!("\"{tool}\" is not one of pi's own tools, so it may {may}");
    let because = |reason: &str| Some(reason.trim_end_matches('.').to_owned());
    match refusal {
        Refusal::Tool => (format!("The tool \"{tool}\" is refused"), None),
        Refusal::MayWrite => (not_own("write any file"), None),
        Refusal::Path { path, linked_rule: Some(linked), .. } => (
            format!("\"{path}\" cannot be written"),
            Some(format!("\"{linked}\" leads through a link, so it allows nothing")),
        ),
        Refusal::Path { path, link_target, linked_rule: None } => {
            (format!("\"{path}\"{} cannot be written", through(link_target)), None)
        }
        Refusal::Hidden { path, cause } => match cause {
            HiddenCause::Listed { link_target } => (format!("\"{path}\"{} is hidden", through(link_target)), None),
            HiddenCause::Around { rule } => {
                let path = if path.is_empty() { "." } else { path };
                (format!("\"{path}\" contains \"{rule}\", which is hidden"), None)
            }
            HiddenCause::Unresolved { reason } => (format!("\"{path}\" may be hidden"), because(reason)),
            HiddenCause::MayRead => (not_own("read hidden files"), None),
        },
        Refusal::Kept { path, .. } => {
            (format!("\"{path}\" cannot be written"), Some("a workflow's `scripts/` is part of its rules".to_owned()))
        }
        Refusal::Unresolved { path, reason } => (format!("\"{path}\" cannot be written"), because(reason)),
    }
}

/// Returns the reason why a tool call is refused.
pub fn refusal(of: RulesOf, tool: &str, refusal: &Refusal) -> String {
    let (limits, tag, place) = (of.limits(), of.tag(), of.place());
    let hidden_place = || format!("{place} (`hide` in {})", of.file(limits.hide_file));
    let writable = || {
        let (paths, file) = (paths(limits.write.as_deref().unwrap_or_default()), of.file(limits.write_file));
        format!(" Writable: {paths} (`write` in {file}).")
    };
    let whitelist = " A `tools.whitelist` that names the tool would allow it.";
    let (place, hint) = match refusal {
        Refusal::Tool => match of {
            RulesOf::Phase(active) => return block_reason(active, tool).unwrap_or_default(),
            RulesOf::User(user) => (format!("{place} (`tools` in {})", user.file), String::new()),
        },
        Refusal::MayWrite => (format!(", and is refused {place}"), writable() + whitelist),
        Refusal::Path { .. } | Refusal::Unresolved { .. } => (place, writable()),
        Refusal::Kept { .. } => (place, String::new()),
        Refusal::Hidden { cause, .. } => match cause {
            HiddenCause::Around { .. } => {
                let hint = format!(
                    " \"{tool}\" is refused there. Search with `bash`: its commands cannot read what is hidden."
                );
                (hidden_place(), hint)
            }
            HiddenCause::MayRead => (format!(", and is refused {}", hidden_place()), whitelist.to_owned()),
            HiddenCause::Listed { .. } | HiddenCause::Unresolved { .. } => (hidden_place(), String::new()),
        },
    };
    let (what, why) = refused(refusal, tool);
    let space = if place.starts_with(',') { "" } else { " " };
    let why = why.map_or(String::new(), |why| format!(": {why}"));
    format!("{tag} {what}{space}{place}{why}.{hint}")
}

/// Returns the reason why a tool call is refused while the user's limits are not known.
pub fn unknown_limits(diagnostics: &[Diagnostic]) -> String {
    format!("{LIMITS_TAG} Every tool call is refused: {}", limits_not_known(diagnostics))
}

/// Returns the first of the errors in the user's limits, in a line.
pub fn limits_not_known(diagnostics: &[Diagnostic]) -> String {
    let first = diagnostics.first().map(ToString::to_string).unwrap_or_default();
    format!("the user's limits are not known: {first}")
}

/// The messages of programs that are refused to write.
const WRITE_ERRORS: [&str; 9] = [
    "read-only file system",
    "erofs",
    "operation not permitted",
    "device or resource busy",
    "ebusy",
    "cross-device",
    "inter-device",
    "exdev",
    "could not write index",
];
/// The messages of programs that reach into other processes, or that make a sandbox of their own.
const PROCESS_ERRORS: [&str; 4] = ["ptrace", "leaksanitizer", "--no-sandbox", "sandbox helper"];
/// The messages of programs without a network.
const NETWORK_ERRORS: [&str; 11] = [
    "network is unreachable",
    "name resolution",
    "could not resolve",
    "enetunreach",
    "eai_again",
    "enotfound",
    "no such host",
    "couldn't connect",
    "could not connect",
    "connection refused",
    "econnrefused",
];

/// The errors of programs that are refused to read.
const READ_ERRORS: [&str; 2] = ["permission denied", "eacces"];

/// Returns texts in lower case that the output of a command contains if the command failed because of the limits. Some
/// of these texts have other causes too: the notice tells the rules, not the cause.
pub fn failure_signs(network: bool, hidden: &[String]) -> Vec<&'static str> {
    let network: &[&str] = if network { &[] } else { &NETWORK_ERRORS };
    let reading: &[&str] = if hidden.is_empty() { &[] } else { &READ_ERRORS };
    [&WRITE_ERRORS, &PROCESS_ERRORS[..], network, reading].concat()
}

/// Returns the line that is appended to the result of a command that failed because of the limits.
///
/// `rules` are the rules that confine the command.
pub fn confinement_notice(rules: &[RulesOf], files: &FileAccess, network: bool) -> String {
    let writable = files.writable.as_ref().map(|places| {
        let mut named: Vec<&str> = Vec::new();
        for place in places {
            if !named.contains(&&*place.named) {
                named.push(&place.named);
            }
        }
        named
    });
    let write = writable.as_ref().map(|paths| {
        let paths: Vec<&str> = paths.iter().copied().chain([TEMPORARY]).collect();
        format!("can write {} only", paths.join(", "))
    });
    let hidden: Vec<String> = rules.iter().flat_map(|of| of.limits().hide.to_vec()).collect();
    let (has_network, network) = (network, (!network).then(|| "have no network".to_owned()));
    let hidden = (!hidden.is_empty()).then(|| format!("cannot read or write {}, hidden here", paths(&hidden)));
    let is_reached = |folder: &&String| {
        files.writable.as_ref().is_none_or(|places| places.iter().any(|place| folder.starts_with(&place.path)))
    };
    let kept: Vec<&str> = files.kept.iter().filter(is_reached).map(String::as_str).collect();
    let kept = (!kept.is_empty()).then(|| format!("cannot write {}, part of the rules", kept.join(", ")));
    let agent_folder =
        (files.keeps_agent_folder && writable.is_none()).then(|| "cannot write pi's agent folder".to_owned());
    let limits: Vec<String> = write.into_iter().chain(network).chain(hidden).chain(kept).chain(agent_folder).collect();
    let replacing = if writable.is_some_and(|paths| paths.iter().any(|path| !path.ends_with('/'))) {
        " A listed file cannot be replaced, as `sed -i` does."
    } else {
        ""
    };
    let sockets = if has_network {
        " Unix sockets, which Chromium needs, do not work in it either: run `node --import tsx FILE` instead of `tsx FILE`."
    } else {
        " Chromium needs `--no-sandbox`."
    };
    format!(
        "{} Commands run in a sandbox {}. They {}. Debuggers, strace and LeakSanitizer do not work in it.{sockets}{replacing}",
        tag_of(rules),
        place_of(rules),
        limits.join(" and ")
    )
}

fn tag_of(rules: &[RulesOf]) -> &'static str {
    rules.last().map_or(LIMITS_TAG, |of| of.tag())
}

/// Returns words for the place where rules hold, for an agent in their phase.
fn place_of(rules: &[RulesOf]) -> &'static str {
    let of_user = rules.iter().any(|of| matches!(of, RulesOf::User(_)));
    match (of_user, rules.len()) {
        (true, 1) => "under the user's limits",
        (true, _) => "in this phase, under the user's limits too",
        (false, _) => "in this phase",
    }
}

/// Returns the reason why a command is refused that cannot be confined.
pub fn cannot_confine(rules: &[RulesOf], reason: &str) -> String {
    let (tag, place) = (tag_of(rules), place_of(rules));
    format!(
        "{tag} Commands are refused {place}: they must run in a sandbox, and this system cannot provide one: {reason}"
    )
}

/// Returns the notice to the user that commands cannot be confined.
pub fn unconfined_notice(sandbox: Sandbox, reason: &str) -> String {
    let result = match sandbox {
        Sandbox::Required => "The agent's commands are refused in phases with `write`, `hide` or `network: false`",
        Sandbox::Preferred | Sandbox::Off => "The agent's commands run without a sandbox (`sandbox: preferred`)",
    };
    format!("{result}, because this system cannot confine them: {reason}")
}

/// Returns a note on the limits of a phase of `scope` for a list of phases; `None` without limits.
pub(super) fn limits_note(phase: &Phase, scope: &Workflow) -> Option<String> {
    let limits = Limits::of(phase, scope);
    let write = limits.write.as_deref().map(|write| {
        let wider = wider(&limits);
        let commands = match &wider[..] {
            [] => String::new(),
            wider => format!(" (commands: all of {})", wider.join(", ")),
        };
        format!("writes {}{commands}", paths(write))
    });
    let hidden = (!limits.hide.is_empty()).then(|| format!("hides {}", paths(limits.hide)));
    let network = (!limits.network).then(|| "no network".to_owned());
    let rules: Vec<String> = write.into_iter().chain(hidden).chain(network).collect();
    let sandbox = match limits.sandbox {
        Sandbox::Required => "",
        Sandbox::Preferred => ", sandbox preferred",
        Sandbox::Off => ", no sandbox",
    };
    (!rules.is_empty()).then(|| format!("{}{sandbox}", rules.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_sign(output: &str, network: bool) -> bool {
        let output = output.to_lowercase();
        failure_signs(network, &[]).iter().any(|sign| output.contains(sign))
    }

    #[test]
    fn outputs_of_commands_that_fail_because_of_limits() {
        for output in [
            "sh: cannot create x: Read-only file system",
            "Error: EROFS: read-only file system, open 'x'",
            "mv: inter-device move failed: '/tmp/a' to 'docs/plan.md'; unable to remove target",
            "rm: cannot remove 'docs/plan.md': Device or resource busy",
            "fatal: Could not write index",
            "==7==LeakSanitizer has encountered a fatal error.",
            "strace: ptrace(PTRACE_TRACEME, ...): Operation not permitted",
        ] {
            assert!(is_sign(output, true) && is_sign(output, false), "{output}");
        }
        for output in [
            "curl: (6) Could not resolve host: example.org",
            "curl: (7) Failed to connect to localhost port 5432: Couldn't connect to server",
            "getaddrinfo EAI_AGAIN example.org",
            "connect ECONNREFUSED 127.0.0.1:80",
        ] {
            assert!(is_sign(output, false) && !is_sign(output, true), "{output}");
        }
        assert!(!is_sign("assertion failed", false));
    }

    #[test]
    fn signs_are_in_lower_case() {
        let hidden = [".env".to_owned()];
        assert!(failure_signs(false, &hidden).contains(&"permission denied"));
        assert!(!failure_signs(false, &[]).contains(&"permission denied"));
        assert!(failure_signs(false, &hidden).iter().all(|sign| *sign == sign.to_lowercase()));
    }
}
