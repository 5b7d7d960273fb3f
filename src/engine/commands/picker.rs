//! `/workflow` alone: in a terminal, the dialogs for the workflow and its task; elsewhere, the usage.

use std::collections::{BTreeMap, BTreeSet};

use crate::definition::{Input, InputKind, is_blank, on_one_line};
use crate::text;

use super::start::{untrusted, usage};
use crate::engine::context::Cx;
use crate::engine::effect::{Level, Reply, Request};
use crate::engine::event::Answer;
use crate::engine::state::{Engine, PendingRequest, Start};

impl Engine {
    /// Asks for the workflow to start.
    pub(super) fn choose_workflow(&mut self, cx: &mut Cx) -> Reply {
        let library = self.definitions.library();
        let (command_names, options): (Vec<String>, Vec<String>) = library
            .for_users()
            .map(|(name, workflow)| {
                let mut line = format!("{name} — {}", text::short_name(&workflow.name));
                if let Some(about) = text::description(workflow, library) {
                    line.push_str(&format!(": {about}"));
                }
                line.push_str(&format!("  ({})", text::origin(workflow)));
                (name, text::exact(&on_one_line(&line)))
            })
            .unzip();
        if command_names.is_empty() || !cx.ui.is_terminal() {
            let text = format!("{}{}", usage(library), untrusted(cx));
            cx.notify(Level::Info, text);
            return Reply::None;
        }
        let title = format!("Which workflow?{}", untrusted(cx));
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
                self.enter_task(command_names.swap_remove(index), BTreeMap::new())
            }
            _ => {
                self.not_started(cx);
                Reply::None
            }
        }
    }

    /// Asks for the task.
    pub(super) fn enter_task(
        &mut self,
        command_name: String,
        values: BTreeMap<String, String>,
    ) -> Reply {
        let workflow = self.definitions.library().by_command_name(&command_name);
        let name = workflow.map_or(&command_name, |workflow| &workflow.name);
        let title = format!("{}: what is the task?", text::in_question(name));
        self.ask(PendingRequest::EnterTask { command_name, values }, Request::Input { title })
    }

    pub(in crate::engine) fn answer_enter_task(
        &mut self,
        command_name: String,
        values: BTreeMap<String, String>,
        answer: Answer,
        cx: &mut Cx,
    ) -> Reply {
        match answer {
            Answer::Entered(task) if !is_blank(&task) => self
                .start_or_ask(Start { command_name, task, values, allowed: BTreeSet::new() }, cx),
            _ => {
                self.not_started(cx);
                Reply::None
            }
        }
    }

    /// Asks for the first input of the workflow that has no value and no default, or a value that is not of its type: the
    /// files may change during a dialog. Without a user interface the error lists all of them. `None` if nothing is missing.
    pub(super) fn enter_missing_input(&mut self, start: &Start, cx: &mut Cx) -> Option<Reply> {
        let workflow = self.definitions.library().by_command_name(&start.command_name)?;
        let is_missing = |input: &&Input| match start.values.get(&input.name) {
            Some(value) => input.value(value).is_none(),
            None => input.default.is_none(),
        };
        let missing: Vec<&Input> = workflow.inputs.iter().filter(is_missing).collect();
        let first = missing.first()?;
        if !cx.ui.exists() {
            cx.fail(Level::Error, text::missing_inputs(&missing));
            return Some(Reply::None);
        }
        let title = text::input_question(workflow, first);
        let options: Vec<String> = first.options().into_iter().map(ToOwned::to_owned).collect();
        let request = match first.kind {
            InputKind::Choice(_) | InputKind::Flag => {
                let shown = options.iter().map(|option| text::exact(option));
                let shown = std::iter::once(NOT_STARTED.to_owned()).chain(shown);
                Request::Select { title, options: shown.collect() }
            }
            InputKind::Text | InputKind::Number => Request::Input { title },
        };
        let name = first.name.clone();
        let pending = PendingRequest::EnterInput { start: start.clone(), name, options };
        Some(self.ask(pending, request))
    }

    pub(in crate::engine) fn answer_enter_input(
        &mut self,
        mut start: Start,
        name: &str,
        options: &[String],
        answer: Answer,
        cx: &mut Cx,
    ) -> Reply {
        let workflow = self.definitions.library().by_command_name(&start.command_name);
        let input =
            workflow.and_then(|workflow| workflow.inputs.iter().find(|input| input.name == name));
        let given = match answer {
            Answer::Selected(index) => {
                index.checked_sub(1).and_then(|index| options.get(index)).cloned()
            }
            Answer::Entered(text) if options.is_empty() && !is_blank(&text) => Some(text),
            _ => None,
        };
        let (Some(input), Some(given)) = (input, given) else {
            cx.notify(Level::Info, "The workflow is not started.");
            self.not_started(cx);
            return Reply::None;
        };
        match input.value(&given) {
            Some(value) => {
                start.values.insert(name.to_owned(), value);
            }
            // Asked again.
            None => cx.notify(Level::Warning, text::bad_input(input, &given)),
        }
        self.start_or_ask(start, cx)
    }
}

/// The first option of a choice: a key that was meant for the editor does no harm.
const NOT_STARTED: &str = "Do not start";
