//! The state of the session.

use std::collections::BTreeSet;

use serde_json::json;

use crate::definition::Sandbox;

use crate::engine::effect::Effect;

/// Facts of the session, and the answers of the user that hold for it.
#[derive(Debug, Default)]
pub struct Session {
    /// The project's directory, which remembered answers are bound to.
    pub project: String,
    /// The commands of a project's workflows run without a question.
    pub allow_commands: bool,
    /// The panel above the editor is on.
    pub panel: bool,
    /// The commands that the user allowed for this session.
    pub allowed_commands: BTreeSet<String>,
    /// The commands that the user allowed for the run with this task id.
    pub allowed_in_run: Option<(String, BTreeSet<String>)>,
    /// The keys of the user's workflows that the user lets the project replace in this session.
    pub accepted_replacements: BTreeSet<String>,
    /// The user was told that commands cannot be confined, and what follows from it in phases with these.
    pub told_unconfined: Vec<Sandbox>,
    /// The phases of which the user was told that none of their models can be used, each with its models.
    pub told_models: BTreeSet<String>,
}

impl Session {
    /// Key and value under which an answer is remembered for the project of this identity.
    pub fn remembered(&self, kind: &str, identity: &str, about: &str) -> Remembered {
        let value = json!([self.project, identity, about]).to_string();
        // Two answers may share a key; the value decides.
        Remembered { key: format!("{kind}-{}", fingerprint(&value)), value }
    }
}

/// Returns a short name for a text: its FNV-1a hash. Two texts may share one.
pub fn fingerprint(text: &str) -> String {
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    format!("{hash:016x}")
}

/// An answer of the user that outlives the session.
pub struct Remembered {
    pub key: String,
    pub value: String,
}

impl Remembered {
    /// The effect that stores it.
    pub fn keep(self) -> Effect {
        Effect::Remember { key: self.key, value: self.value }
    }
}
