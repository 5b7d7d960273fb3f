//! The limits of a phase, in words: for the agent, and for the user.

use std::borrow::Cow;

use crate::definition::{
    HiddenCause, Limits, Phase, Refusal, RuleFile, Sandbox, Workflow, unescaped,
    wider_for_commands,
};
use crate::run::Active;

use super::messages::block_reason;

/// The writable place of confined commands in every phase.
const TEMPORARY: &str = "temporary files ($TMPDIR)";

/// Returns the line of the context prompt with the limits of the phase; `None` without limits.
pub(super) fn limits_line(active: &Active) -> Option<String> {
    let limits = active.limits();
    if limits.write.is_none() && !limits.hold_commands() {
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

/// Returns the paths of `write`.
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

/// Returns the paths, with `./` for `.`, which would be lost before a full stop.
fn shown(write: &[String]) -> Vec<Cow<'_, str>> {
    write.iter().map(|path| if path == "." { "./".into() } else { unescaped(path) }).collect()
}

/// Returns the reason why the current phase refuses a tool call.
pub fn refusal(active: &Active, tool: &str, refusal: &Refusal) -> String {
    let limits = active.limits();
    let file = |file: RuleFile| match file {
        RuleFile::Phase => active.phase.file.clone(),
        RuleFile::Workflow => active.scope.file(),
    };
    let rule = format!(
        "Writable: {} (`write` in {}).",
        paths(limits.write.as_deref().unwrap_or_default()),
        file(limits.write_file)
    );
    let hide = format!("`hide` in {}", file(limits.hide_file));
    let phase = &active.phase.name;
    match refusal {
        Refusal::Tool => block_reason(active, tool).unwrap_or_default(),
        Refusal::MayWrite => format!(
            "[workflow] The tool \"{tool}\" is refused in the {phase} phase: it is not one of pi's own, so it may write any file. {rule} A `tools.whitelist` that names the tool would allow it."
        ),
        Refusal::Path { path, linked_rule: Some(linked), .. } => format!(
            "[workflow] \"{path}\" cannot be written in the {phase} phase. {rule} \"{linked}\" leads through a link, so it allows nothing."
        ),
        Refusal::Path { path, link_target, linked_rule: None } => {
            let leads = link_target.as_ref().map(|target| format!(" (through a link: {target})"));
            let leads = leads.unwrap_or_default();
            format!("[workflow] \"{path}\"{leads} cannot be written in the {phase} phase. {rule}")
        }
        Refusal::Hidden { path, cause } => match cause {
            HiddenCause::Listed { link_target } => {
                let leads =
                    link_target.as_ref().map(|target| format!(" (through a link: {target})"));
                let leads = leads.unwrap_or_default();
                format!("[workflow] \"{path}\"{leads} is hidden in the {phase} phase ({hide}).")
            }
            HiddenCause::Around { rule } => {
                let path = if path.is_empty() { "." } else { path };
                format!(
                    "[workflow] \"{path}\" contains \"{rule}\", which is hidden in the {phase} phase ({hide}), so \"{tool}\" is refused there. Search with `bash`: its commands cannot read what is hidden."
                )
            }
            HiddenCause::Unresolved { reason } => format!(
                "[workflow] \"{path}\" may be hidden in the {phase} phase ({hide}): {}.",
                reason.trim_end_matches('.')
            ),
            HiddenCause::MayRead => format!(
                "[workflow] The tool \"{tool}\" is refused in the {phase} phase: it is not one of pi's own, so it may read hidden files ({hide}). A `tools.whitelist` that names the tool would allow it."
            ),
        },
        Refusal::Unresolved { path, reason } => format!(
            "[workflow] \"{path}\" cannot be written in the {phase} phase: {}. {rule}",
            reason.trim_end_matches('.')
        ),
    }
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
/// The messages of programs that reach into other processes.
const PROCESS_ERRORS: [&str; 2] = ["ptrace", "leaksanitizer"];
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

/// Returns what the output of a command contains that failed because of the limits, in lower case. Other causes give some of these
/// messages too: the notice tells the rules, not the cause.
pub fn failure_signs(network: bool, hidden: &[String]) -> Vec<&'static str> {
    let network: &[&str] = if network { &[] } else { &NETWORK_ERRORS };
    let reading: &[&str] = if hidden.is_empty() { &[] } else { &READ_ERRORS };
    [&WRITE_ERRORS, &PROCESS_ERRORS[..], network, reading].concat()
}

/// Returns the line that is appended to the result of a command that failed because of the limits.
///
/// `writable` has the paths that commands can write as the rules name them; `None` is everything. `hidden` has those of `hide`.
pub fn confinement_notice(writable: Option<&[String]>, network: bool, hidden: &[String]) -> String {
    let write = writable.map(|paths| {
        let paths: Vec<&str> = paths.iter().map(String::as_str).chain([TEMPORARY]).collect();
        format!("can write {} only", paths.join(", "))
    });
    let network = (!network).then(|| "have no network".to_owned());
    let hidden = (!hidden.is_empty())
        .then(|| format!("cannot read or write {}, hidden here", paths(hidden)));
    let rules: Vec<String> = write.into_iter().chain(network).chain(hidden).collect();
    let replacing = if writable.is_some_and(|paths| paths.iter().any(|path| !path.ends_with('/'))) {
        " A listed file cannot be replaced, as `sed -i` does."
    } else {
        ""
    };
    format!(
        "[workflow] Commands run in a sandbox in this phase. They {}. Debuggers, strace and LeakSanitizer do not work in it.{replacing}",
        rules.join(" and ")
    )
}

/// Returns the reason why a command is refused that cannot be confined.
pub fn cannot_confine(reason: &str) -> String {
    format!(
        "[workflow] Commands are refused in this phase: they must run in a sandbox, and this system cannot provide one: {reason}"
    )
}

/// Returns the notice to the user that commands cannot be confined.
pub fn unconfined_notice(sandbox: Sandbox, reason: &str) -> String {
    let result = match sandbox {
        Sandbox::Required => {
            "The agent's commands are refused in phases with `write`, `hide` or `network: false`"
        }
        Sandbox::Preferred | Sandbox::Off => {
            "The agent's commands run without a sandbox (`sandbox: preferred`)"
        }
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
