//! The decision on a tool call outside of a session, and the rule that makes it.

use super::host::Host;
use crate::definition::{
    FoundLimits, Library, Limits, OwnLimits, Permission, Phase, Refusal, RuleFile, Sandbox, Stale, ToolPolicy,
    UserLimits, Workflow, is_carrier, means_tool, on_one_line, permission, rule_place, runs_commands, users_limits,
    with_names, writes_path,
};
use crate::text;

/// The decision on a tool call.
#[derive(Debug, PartialEq, Eq)]
pub struct May {
    /// The call is allowed, or allowed within limits.
    pub allowed: bool,
    /// `allowed`, `confined` or `refused`, and the reason with the line of the rule, on one line.
    pub text: String,
}

/// Decides on a call of a tool, as in a session: by the user's limits, and by the rules of a phase if there is one.
/// `path` is its argument `path`.
///
/// # Errors
///
/// If the session is gone.
pub fn may(
    phase: Option<(&Phase, &Workflow, &Library)>,
    tool: &str,
    path: Option<&str>,
    host: &dyn Host,
) -> Result<May, Stale> {
    let of_user = match users_limits(host, true)? {
        FoundLimits::Nothing => None,
        FoundLimits::Unusable(diagnostics) => Some((Word::Refused, text::limits_not_known(&diagnostics))),
        FoundLimits::Content(user) => Some(judge(&Rules::of_user(&user), tool, path, host)?),
    };
    let of_phase = match phase {
        Some((phase, workflow, library)) => Some(judge(&Rules::of_phase(phase, workflow, library), tool, path, host)?),
        None => None,
    };
    let (word, reason) = match (of_user, of_phase) {
        (None, None) => (Word::Allowed, "you have no limits".to_owned()),
        (Some(of_user @ (Word::Refused, _)), _) => of_user,
        (_, Some(of_phase @ (Word::Refused, _))) | (None, Some(of_phase)) => of_phase,
        (Some(of_user), None) => of_user,
        (Some((user_word, user_reason)), Some((word, reason))) => {
            (word.max(user_word), format!("{reason}; by your limits: {user_reason}"))
        }
    };
    let text = format!("{}: {reason}", word.as_str());
    Ok(May { allowed: word != Word::Refused, text: on_one_line(&text) })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Word {
    Allowed,
    Confined,
    Refused,
}

impl Word {
    fn as_str(self) -> &'static str {
        match self {
            Self::Allowed => "allowed",
            Self::Confined => "confined",
            Self::Refused => "refused",
        }
    }
}

/// The rules that decide, and their files.
struct Rules<'a> {
    /// The words for a tool that no rule limits, up to the name of the tool.
    none_limits: String,
    tools: &'a ToolPolicy,
    limits: Limits<'a>,
    own: &'a OwnLimits,
    /// The file, and the indices of the entries that lead to the phase in a `workflow.yaml`.
    own_file: (&'a str, &'a [usize]),
    /// The keys that lead to the rules in the user's file.
    keys: &'static [&'static str],
    /// The file with the defaults of the rules.
    defaults_file: String,
}

impl<'a> Rules<'a> {
    fn of_phase(phase: &'a Phase, workflow: &'a Workflow, library: &'a Library) -> Self {
        Self {
            none_limits: format!("no rule of the phase \"{}\" limits", phase.id),
            tools: &phase.tools,
            limits: Limits::of(phase, workflow).with_names().keeping(library.script_folders(&workflow.key)),
            own: &phase.limits,
            own_file: (&phase.file, &phase.at),
            keys: &[],
            defaults_file: workflow.file(),
        }
    }

    fn of_user(user: &'a UserLimits) -> Self {
        Self {
            none_limits: "none of your limits is about".to_owned(),
            tools: &user.tools,
            limits: user.limits(),
            own: &user.limits,
            own_file: (&user.file, &[]),
            keys: &["limits"],
            defaults_file: user.file.clone(),
        }
    }
}

/// Decides by one set of rules, and returns the reason with the line of the rule.
fn judge(
    Rules { none_limits, tools, limits, own, own_file, keys, defaults_file }: &Rules,
    tool: &str,
    path: Option<&str>,
    host: &dyn Host,
) -> Result<(Word, String), Stale> {
    let place = |own: bool, field: &[&str]| {
        rule_place(if own { *own_file } else { (defaults_file, &[][..]) }, &[*keys, field].concat(), host)
    };
    let write = || place(limits.write_file == RuleFile::Own, &["write"]);
    let hide = || place(limits.hide_file == RuleFile::Own, &["hide"]);
    let network = || place(own.network.is_some(), &["network"]);
    let sandbox = || place(own.sandbox.is_some(), &["sandbox"]);
    let whitelist = || place(true, &["tools", "whitelist"]);
    let carries_calls = is_carrier(tool);
    let argument = || Ok(path.map(with_names));
    let decision = permission((tools, limits), tool, carries_calls, &argument, host)?;
    Ok(match decision {
        Permission::Allowed => {
            let is_limited = limits.write.is_some() || !limits.network;
            let reason = match tools {
                _ if is_limited && runs_commands(tool) => {
                    format!("sandbox: off, {}", sandbox()?)
                }
                ToolPolicy::Only(entries) if entries.iter().any(|entry| means_tool(entry, tool)) => {
                    format!("\"{tool}\" is in tools.whitelist, {}", whitelist()?)
                }
                ToolPolicy::All | ToolPolicy::Except(_) | ToolPolicy::Only(_) => {
                    format!("{none_limits} \"{tool}\"")
                }
            };
            (Word::Allowed, reason)
        }
        Permission::Files(_) if limits.write.is_some() && writes_path(tool) => {
            (Word::Allowed, format!("\"{}\" is in write, {}", path.unwrap_or_default(), write()?))
        }
        Permission::Files(_) if limits.hide.is_empty() => (Word::Allowed, format!("{none_limits} \"{tool}\"")),
        Permission::Files(_) => {
            let path = path.unwrap_or(".");
            (Word::Allowed, format!("\"{path}\" is not in hide, {}", hide()?))
        }
        Permission::Confined { files, network: reached, unconfined } => {
            match (host.can_confine(reached)?, unconfined) {
                (Ok(()), _) => {
                    let mut rules = Vec::new();
                    if limits.write.is_some() && limits.hold_commands() {
                        let writable = shown(&files.paths(), host)?;
                        rules.push(format!("writable: {writable}, and $TMPDIR, {}", write()?));
                    }
                    if !limits.hide.is_empty() {
                        rules.push(format!("hidden: {}, {}", limits.hide.join(", "), hide()?));
                    }
                    rules.push(if limits.network || !limits.hold_commands() {
                        "with network".to_owned()
                    } else {
                        format!("no network, {}", network()?)
                    });
                    if !files.kept.is_empty() {
                        rules.push(format!("{} stays as it is", files.kept.join(", ")));
                    }
                    rules.extend(files.keeps_agent_folder.then(|| "pi's agent folder stays as it is".to_owned()));
                    (Word::Confined, rules.join("; "))
                }
                (Err(reason), Sandbox::Preferred) => {
                    (Word::Allowed, format!("sandbox: preferred, {}; this system has no sandbox: {reason}", sandbox()?))
                }
                (Err(reason), Sandbox::Required | Sandbox::Off) => {
                    let rule = match limits.write {
                        _ if !limits.hide.is_empty() => format!("hide, {}", hide()?),
                        Some(_) => format!("write, {}", write()?),
                        None if !limits.network => format!("network: false, {}", network()?),
                        None => format!("pi's agent folder stays as it is, {}", own_file.0),
                    };
                    (Word::Refused, format!("{rule}; this system has no sandbox: {reason}"))
                }
            }
        }
        Permission::Refused(Refusal::Tool) => {
            let reason = if matches!(tools, ToolPolicy::Only(_)) {
                format!("\"{tool}\" is not in tools.whitelist, {}", whitelist()?)
            } else {
                format!("\"{tool}\" is in tools.blacklist, {}", place(true, &["tools", "blacklist"])?)
            };
            (Word::Refused, reason)
        }
        Permission::Refused(refusal) => {
            let rule = match &refusal {
                Refusal::Hidden { .. } => format!("hide, {}", hide()?),
                Refusal::Kept { folder, .. } => format!("{folder} stays as it is"),
                _ => format!("write, {}", write()?),
            };
            let (what, why) = text::refused(&refusal, tool);
            let why = why.map_or(String::new(), |why| format!(": {why}"));
            (Word::Refused, format!("{what}{why}; {rule}"))
        }
    })
}

/// The writable paths, relative to the working directory where they are below it.
fn shown(writable: &[String], host: &dyn Host) -> Result<String, Stale> {
    let directory = host.resolve_write(".")?.map(|target| format!("{}/", target.path));
    let relative = |path: &String| match &directory {
        Ok(directory) if path == directory => "./".to_owned(),
        Ok(directory) => path.strip_prefix(directory).unwrap_or(path).to_owned(),
        Err(_) => path.clone(),
    };
    let paths: Vec<String> = writable.iter().map(relative).collect();
    Ok(if paths.is_empty() { "nothing".to_owned() } else { paths.join(", ") })
}
