//! `/workflow` alone in a terminal: which workflow, and what task?

use crate::definition::{WorkflowFiles, is_blank, on_one_line};
use crate::text;

use super::commands::Question;
use super::{Engine, Moment, Output, Request};

impl Engine {
    /// Asks which workflow to start; `None` if there is none.
    pub(super) fn pick(&mut self) -> Option<Output> {
        let library = &self.library;
        let (names, options): (Vec<String>, Vec<String>) = library
            .for_users()
            .map(|workflow| {
                let mut line =
                    format!("{} — {}", workflow.command_name, text::short_name(&workflow.name));
                if let Some(about) = text::description(workflow, library) {
                    line.push_str(&format!(": {about}"));
                }
                line.push_str(&format!("  ({})", workflow.folder));
                (workflow.command_name.clone(), text::exact(&on_one_line(&line)))
            })
            .unzip();
        if names.is_empty() {
            return None;
        }
        let title = "Which workflow?".to_owned();
        Some(self.ask(Question::Pick { names }, Request::Select { title, options }))
    }

    /// Asks for the task of the workflow that was chosen.
    pub(super) fn picked(&mut self, command_name: String) -> Output {
        let workflow = self.library.by_command_name(&command_name);
        let name = workflow.map_or(&command_name, |workflow| &workflow.name);
        let title = format!("{}: what is the task?", text::in_question(name));
        self.ask(Question::Task { command_name }, Request::Input { title })
    }

    /// Starts what was chosen, if a task was given.
    pub(super) fn tasked(
        &mut self,
        command_name: &str,
        task: &str,
        at: Moment,
        files: &dyn WorkflowFiles,
    ) -> Output {
        if is_blank(task) {
            return self.not_started();
        }
        self.start_or_ask(command_name, task, at, files)
    }
}
