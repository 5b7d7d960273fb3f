//! The state of the session.

use crate::sorted::Set;

use serde_json::json;

use crate::definition::{Budget, Library, Sandbox, Workflow};

use crate::engine::context::Cx;
use crate::engine::effect::Effect;
use crate::engine::event::Facts;

/// Facts of the session, and the answers of the user that hold for it.
#[derive(Debug, Default)]
pub struct Session {
    /// The facts that it began with. What the command line accepts or adds once is taken when it is used.
    pub facts: Facts,
    /// The bound of the command line for each run. With an error it leaves nothing to spend.
    pub bound: Budget,
    /// The error in the bound of the command line.
    pub bound_error: Option<String>,
    /// The longest time of all waits for limits of the model since the user acted last, in milliseconds; `None` for no wait.
    pub wait: Option<u64>,
    /// The time that the agent may be silent, in milliseconds; 0 for no bound, `None` if the command line does not say it.
    pub silence: Option<u64>,
    /// The commands that the user allowed for this session.
    pub allowed_commands: Set<String>,
    /// The commands that the user allowed for the run with this task id.
    pub allowed_in_run: Option<(String, Set<String>)>,
    /// The keys of the user's workflows that the user lets the project replace in this session.
    pub accepted_replacements: Set<String>,
    /// The numbers of agents of parallel groups to which the user said yes in this session.
    pub accepted_agents: Set<String>,
    /// The sandbox settings for which the user was told that commands cannot be confined, and the consequence.
    pub told_unconfined: Vec<Sandbox>,
    /// The user was told that pi does not have the run's own tool.
    pub told_no_step_tool: bool,
}

impl Session {
    /// The keys of the project's workflows that a workflow reaches in the place of the user's own, and that the user has
    /// not accepted in this session.
    pub fn unaccepted_replacements(&self, workflow: &Workflow, library: &Library) -> Vec<String> {
        let mut keys = library.replacements_in(workflow);
        keys.retain(|key| !self.accepted_replacements.contains(key));
        keys
    }

    /// Returns true if the user gave this answer before in the project with this identity, and the answer was kept.
    pub fn remembers(&self, kind: &str, identity: Option<&str>, about: &str, cx: &Cx) -> bool {
        identity.is_some_and(|identity| {
            let (key, value) = self.kept_form(kind, identity, about);
            cx.host.recall(&key) == Some(value)
        })
    }

    /// Keeps an answer of the user about each of these subjects for the project with this identity, if it has one.
    pub fn remember(&self, kind: &str, identity: Option<&str>, about: &[String], cx: &mut Cx) {
        for (identity, about) in about.iter().filter_map(|about| Some((identity?, about))) {
            let (key, value) = self.kept_form(kind, identity, about);
            cx.push(Effect::Remember { key, value });
        }
    }

    /// The key and the value of a kept answer. Two answers may share a key; the value decides.
    fn kept_form(&self, kind: &str, identity: &str, about: &str) -> (String, String) {
        let value = json!([self.facts.project, identity, about]).to_string();
        (format!("{kind}-{}", fingerprint(&value)), value)
    }
}

/// Returns a short name for a text: its FNV-1a hash. Two texts may share a name.
pub fn fingerprint(text: &str) -> String {
    let hash = text
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
    format!("{hash:016x}")
}
