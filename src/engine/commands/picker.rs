//! `/workflow` alone: in a terminal, the dialogs for the workflow and its task; elsewhere, the usage.

use crate::definition::{is_blank, on_one_line};
use crate::text;

use super::start::usage;
use crate::engine::context::Cx;
use crate::engine::effect::{Level, Reply, Request};
use crate::engine::event::Answer;
use crate::engine::state::{Engine, PendingRequest};

impl Engine {
    /// Asks for the workflow to start.
    pub(super) fn choose_workflow(&mut self, cx: &mut Cx) -> Reply {
        let library = &self.definitions.library;
        let (command_names, options): (Vec<String>, Vec<String>) = library
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
        if command_names.is_empty() || !cx.ui.is_terminal() {
            cx.notify(Level::Info, usage(library));
            return Reply::None;
        }
        let title = "Which workflow?".to_owned();
        let request = Request::Select { title, options };
        self.ask(PendingRequest::ChooseWorkflow { command_names }, request)
    }

    pub(in crate::engine) fn answer_choose_workflow(
        &mut self,
        mut command_names: Vec<String>,
        answer: Answer,
        cx: &mut Cx,
    ) -> Reply {
        match answer {
            Answer::Selected(index) if index < command_names.len() => {
                self.enter_task(command_names.swap_remove(index))
            }
            _ => {
                self.not_started(cx);
                Reply::None
            }
        }
    }

    /// Asks for the task.
    pub(super) fn enter_task(&mut self, command_name: String) -> Reply {
        let workflow = self.definitions.library.by_command_name(&command_name);
        let name = workflow.map_or(&command_name, |workflow| &workflow.name);
        let title = format!("{}: what is the task?", text::in_question(name));
        self.ask(PendingRequest::EnterTask { command_name }, Request::Input { title })
    }

    pub(in crate::engine) fn answer_enter_task(
        &mut self,
        command_name: &str,
        answer: Answer,
        cx: &mut Cx,
    ) -> Reply {
        match answer {
            Answer::Entered(task) if !is_blank(&task) => self.start_or_ask(command_name, &task, cx),
            _ => {
                self.not_started(cx);
                Reply::None
            }
        }
    }
}
