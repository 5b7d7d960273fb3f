//! The decision on a tool call outside of a session, and the rule that makes it.

use super::host::Host;
use crate::definition::{
    HiddenCause, Limits, Permission, Phase, Refusal, RuleFile, Sandbox, Stale, ToolPolicy,
    Workflow, is_carrier, on_one_line, permission, rule_place, runs_commands, with_names,
    writes_path,
};

/// The decision on a tool call.
#[derive(Debug, PartialEq, Eq)]
pub struct May {
    /// The call is allowed, or allowed within limits.
    pub allowed: bool,
    /// `allowed`, `confined` or `refused`, and the reason with the line of the rule, on one line.
    pub text: String,
}

/// Decides on a call of a tool in a phase, as in a session. `path` is its argument `path`.
///
/// # Errors
///
/// If the session is gone.
pub fn may(
    (phase, workflow): (&Phase, &Workflow),
    tool: &str,
    path: Option<&str>,
    host: &dyn Host,
) -> Result<May, Stale> {
    let limits = Limits::of(phase, workflow).with_names();
    let place = |own: bool, keys: &[&str]| {
        let file = if own { phase.file.clone() } else { workflow.file() };
        rule_place(&file, keys, host)
    };
    let write = || place(limits.write_file == RuleFile::Phase, &["write"]);
    let hide = || place(limits.hide_file == RuleFile::Phase, &["hide"]);
    let network = || place(phase.confinement.network.is_some(), &["network"]);
    let sandbox = || place(phase.confinement.sandbox.is_some(), &["sandbox"]);
    let whitelist = || place(true, &["tools", "whitelist"]);
    let carries_calls = is_carrier(tool);
    let argument = || Ok(path.map(with_names));
    let decision = permission((phase, &limits), tool, carries_calls, &argument, host)?;
    let (word, reason) = match decision {
        Permission::Allowed => {
            let is_limited = limits.write.is_some() || !limits.network;
            let reason = match &phase.tools {
                _ if is_limited && runs_commands(tool) => {
                    format!("sandbox: off, {}", sandbox()?)
                }
                ToolPolicy::Only(names) if names.iter().any(|name| name == tool) => {
                    format!("\"{tool}\" is in tools.whitelist, {}", whitelist()?)
                }
                ToolPolicy::All | ToolPolicy::Except(_) | ToolPolicy::Only(_) => {
                    format!("no rule of the phase \"{}\" limits \"{tool}\"", phase.id)
                }
            };
            ("allowed", reason)
        }
        Permission::Within { .. } if limits.write.is_some() && writes_path(tool) => {
            ("allowed", format!("\"{}\" is in write, {}", path.unwrap_or_default(), write()?))
        }
        Permission::Within { .. } => {
            let path = path.unwrap_or(".");
            ("allowed", format!("\"{path}\" is not in hide, {}", hide()?))
        }
        Permission::Confined { writable, .. } => match (host.can_confine()?, limits.unconfined()) {
            (Ok(()), _) => {
                let mut rules = Vec::new();
                if limits.write.is_some() && limits.hold_commands() {
                    let writable = shown(&writable, host)?;
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
                ("confined", rules.join("; "))
            }
            (Err(reason), Sandbox::Preferred) => (
                "allowed",
                format!("sandbox: preferred, {}; this system has no sandbox: {reason}", sandbox()?),
            ),
            (Err(reason), Sandbox::Required | Sandbox::Off) => {
                let rule = match limits.write {
                    _ if !limits.hide.is_empty() => format!("hide, {}", hide()?),
                    Some(_) => format!("write, {}", write()?),
                    None => format!("network: false, {}", network()?),
                };
                ("refused", format!("{rule}; this system has no sandbox: {reason}"))
            }
        },
        Permission::Refused(refusal) => {
            let reason = match refusal {
                Refusal::Tool => {
                    if matches!(phase.tools, ToolPolicy::Only(_)) {
                        format!("\"{tool}\" is not in tools.whitelist, {}", whitelist()?)
                    } else {
                        let blacklist = place(true, &["tools", "blacklist"])?;
                        format!("\"{tool}\" is in tools.blacklist, {blacklist}")
                    }
                }
                Refusal::MayWrite => {
                    format!(
                        "\"{tool}\" may write any file; no tools.whitelist names it; write, {}",
                        write()?
                    )
                }
                Refusal::Path { path, linked_rule: Some(rule), .. } => {
                    format!(
                        "\"{path}\" is not in write, {}: \"{rule}\" leads through a link, so it allows nothing",
                        write()?
                    )
                }
                Refusal::Path { path, link_target, linked_rule: None } => {
                    let leads = link_target.map(|target| format!("leads to {target}, which "));
                    format!("\"{path}\" {}is not in write, {}", leads.unwrap_or_default(), write()?)
                }
                Refusal::Hidden { path, cause } => {
                    let reason = match cause {
                        HiddenCause::Listed { link_target: None } => {
                            format!("\"{path}\" is hidden")
                        }
                        HiddenCause::Listed { link_target: Some(target) } => {
                            format!("\"{path}\" leads to {target}, which is hidden")
                        }
                        HiddenCause::Around { rule } => {
                            let path = if path.is_empty() { "." } else { &path };
                            format!("\"{path}\" contains \"{rule}\", which is hidden")
                        }
                        HiddenCause::Unresolved { reason } => {
                            format!("\"{path}\" may be hidden: {reason}")
                        }
                        HiddenCause::MayRead => {
                            format!("\"{tool}\" may read hidden files; no tools.whitelist names it")
                        }
                    };
                    format!("{reason}; hide, {}", hide()?)
                }
                Refusal::Unresolved { path, reason } => {
                    format!("\"{path}\" is not in write, {}: {reason}", write()?)
                }
            };
            ("refused", reason)
        }
    };
    Ok(May { allowed: word != "refused", text: on_one_line(&format!("{word}: {reason}")) })
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
