//! Completions of what follows `/workflow`.

use crate::definition::{WorkflowFiles, is_space};
use crate::text;

use crate::engine::state::Engine;

/// A proposal for what follows `/workflow`.
#[derive(Debug, Clone, PartialEq)]
pub struct Completion {
    /// The text that is inserted.
    pub value: String,
    /// The text that is shown for it.
    pub label: String,
    /// The description beside it.
    pub description: String,
}

impl Engine {
    /// Returns completions of what follows `/workflow`; none where it is complete, so that Enter runs it. At the beginning
    /// of the argument the files are read again.
    pub fn complete(&mut self, prefix: &str, files: &dyn WorkflowFiles) -> Vec<Completion> {
        if prefix.is_empty() {
            // Definitions that cannot be read now stay as they were.
            let _ = self.definitions.refresh(files);
        }
        let library = &self.definitions.library;
        let (before, name) = match prefix.split_once(is_space) {
            None => ("", prefix),
            Some((":graph", name)) => (":graph ", name.trim_start_matches(is_space)),
            Some(_) => return Vec::new(),
        };
        let controls = self.controls(prefix).map(|(name, description)| Completion {
            value: name.to_owned(),
            label: name.to_owned(),
            description: description.to_owned(),
        });
        let workflows = library
            .for_users()
            .filter(|workflow| workflow.command_name.starts_with(name))
            .map(|workflow| Completion {
                value: format!("{before}{}", workflow.command_name),
                label: workflow.command_name.clone(),
                description: match text::description(workflow, library) {
                    Some(about) => format!("{}: {about}", text::short_name(&workflow.name)),
                    None => text::short_name(&workflow.name),
                },
            });
        let completions: Vec<Completion> = if self.is_running() {
            controls.chain(workflows).collect()
        } else {
            workflows.chain(controls).collect()
        };
        let is_complete = completions.iter().any(|completion| completion.value == prefix);
        if is_complete { Vec::new() } else { completions }
    }
}
