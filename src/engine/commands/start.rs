//! `/workflow NAME TASK`: the checks and dialogs before a run starts, and the start.

use crate::sorted::{Map, Set};

use crate::definition::{Library, RuleUse, Show, Stale, is_blank, is_space, nearest, path_refusal, trim};
use crate::run::{Arrival, MAX_WHOLE_TASK, RunState, begin};
use crate::text;

use super::arguments::{self, Arguments};
use super::rules;
use crate::engine::ask::YesOrNo;
use crate::engine::briefing::state::Mover;
use crate::engine::budget::unpriced::Unpriced;
use crate::engine::context::Cx;
use crate::engine::effect::{Effect, Level, Reply};
use crate::engine::long_task;
use crate::engine::state::{Engine, Waiter};
use crate::engine::tools::lacks_step_tool;

impl Engine {
    pub(super) fn workflow_command(&mut self, arguments: &str, cx: &mut Cx) -> Result<Reply, Stale> {
        if let Some(notice) = self.read_files(|definitions| definitions.reload(cx.host))? {
            cx.notify(Level::Warning, notice);
        }
        let (name, task) = arguments.split_once(is_space).unwrap_or((arguments, ""));
        if name.is_empty() {
            return Ok(self.choose_workflow(cx));
        }
        let library = self.definitions.library();
        let workflow = library.by_command_name(name);
        if is_blank(task) && !cx.ui.is_terminal() {
            let inputs = workflow.map_or(&[][..], |workflow| &workflow.inputs);
            let missing = if workflow.is_none() { untrusted(cx) } else { String::new() };
            cx.fail(Level::Warning, format!("{}{missing}", text::start_usage(name, inputs)));
            return Ok(Reply::None);
        }
        let Some(workflow) = workflow else {
            let text = unknown_workflow(name, library, cx);
            cx.fail(Level::Error, text);
            return Ok(Reply::None);
        };
        if workflow.show == Show::Workflows {
            let text = format!(
                "\"{name}\" is a subworkflow that can only run as part of another workflow. It cannot be started directly."
            );
            cx.fail(Level::Error, text);
            return Ok(Reply::None);
        }
        let Arguments { values, task } = match arguments::read(&workflow.inputs, task) {
            Ok(arguments) => arguments,
            Err(error) => {
                cx.fail(Level::Error, error);
                return Ok(Reply::None);
            }
        };
        if !is_blank(&task) {
            let command_name = name.to_owned();
            return Ok(
                self.start_or_ask(Start { command_name, task, values, allowed: Set::new(), uncounted: false }, cx)
            );
        }
        if cx.ui.is_terminal() {
            return Ok(self.enter_task(name.to_owned(), values));
        }
        cx.fail(Level::Warning, text::start_usage(name, &workflow.inputs));
        Ok(Reply::None)
    }

    /// Starts a run, or asks first if another run is in progress.
    pub(super) fn start_or_ask(&mut self, start: Start, cx: &mut Cx) -> Reply {
        let length = trim(&start.task).len();
        if length > MAX_WHOLE_TASK {
            cx.fail(Level::Error, text::task_too_long(length));
            return Reply::None;
        }
        if let Some(error) = self.session.bound_error.clone() {
            cx.fail(Level::Error, error);
            return Reply::None;
        }
        match lacks_step_tool(cx.host) {
            Ok(false) => {}
            Ok(true) => {
                cx.fail(Level::Error, text::NO_STEP_TOOL);
                return Reply::None;
            }
            Err(Stale) => {
                cx.gone = true;
                return Reply::None;
            }
        }
        if let Some(error) = bad_in_path(&start, self.definitions.library()) {
            cx.fail(Level::Error, error);
            return Reply::None;
        }
        if let Some(reply) = self.enter_missing_input(&start, cx) {
            return reply;
        }
        let Some(state) = self.running() else {
            return self.start_unless_replaced(start, cx);
        };
        let phase = self.shown().map_or("unknown", |active| &active.phase.name);
        let request = if cx.ui.is_terminal() {
            let workflow = text::run_name(state, self.definitions.library());
            let title = text::start_another_question(&workflow, phase, &state.task_description);
            YesOrNo::Choice { title, no: "No, go on with it", yes: "Yes, start the other" }
        } else {
            let message = format!(
                "Phase: {}\nTask: {}\n\nStart a new one?",
                text::in_question(phase),
                text::in_question(&state.task_description)
            );
            YesOrNo::Confirmation { title: "Workflow already active", message }
        };
        self.yes_or_no(Waiter::User, request, |engine, starts, cx| {
            if starts == Some(true) {
                return engine.start_unless_replaced(start, cx);
            }
            engine.not_started(cx)
        })
    }

    /// Nothing is started. If the agent came to rest during the dialog, the run waits for the user.
    pub(super) fn not_started(&mut self, cx: &mut Cx) -> Reply {
        if !self.activity.is_at_rest() && self.pending.is_empty() {
            self.wait_for_user(cx);
        }
        Reply::None
    }

    /// Tells the user that nothing is started.
    pub(super) fn tell_not_started(&mut self, cx: &mut Cx) -> Reply {
        cx.notify(Level::Info, "The workflow is not started.");
        self.not_started(cx)
    }

    /// Starts a run: stores its state, names the session, prompts the agent.
    pub(super) fn start(&mut self, start: &Start, cx: &mut Cx) -> Reply {
        if let Some(reply) = self.enter_missing_input(start, cx) {
            return reply;
        }
        // The files may have changed since.
        if let Some(error) = bad_in_path(start, self.definitions.library()) {
            cx.fail(Level::Error, error);
            return Reply::None;
        }
        if let Some(reply) = self.ask_if_unbounded(start, cx) {
            return reply;
        }
        let Start { command_name, task, values, allowed, uncounted } = start;
        let unpriced = Unpriced::of(command_name, &self.session.bound, self.definitions.library(), cx).models;
        let library = self.definitions.library();
        let Some(workflow) = library.by_command_name(command_name) else {
            let text = unknown_workflow(command_name, library, cx);
            cx.fail(Level::Error, text);
            return Reply::None;
        };
        let state = RunState::new(&workflow.key, task, cx.unix_ms, cx.random);
        let mut state = state.with_inputs(workflow, values).bounded(&self.session.bound);
        (state.progress.unpriced, state.progress.uncounted) = (unpriced, *uncounted);
        let (state, arrival) = begin(&state, library);
        if arrival == Arrival::Done {
            cx.fail(Level::Error, text::nothing_to_do(&state, library));
            return Reply::None;
        }
        let state = match self.with_run_dir(state, cx) {
            Ok(Some(state)) => state.sealed(library).begun(cx.unix_ms),
            Ok(None) => return Reply::None,
            Err(Stale) => {
                cx.gone = true;
                return Reply::None;
            }
        };
        let mut prompt = text::initial_message(workflow, library, &state);
        let session_name = text::session_name(workflow, &state.task_description);
        let key = workflow.key.clone();
        // Without a run, running calls belong to no phase that is left.
        let stopped = self.agent.is_stopping || self.running().is_some() && self.stop_running_calls(cx);
        self.activity.stop(cx);
        self.pending.withdraw_gates(cx);
        self.session.allowed_in_run = Some((state.task_id.clone(), allowed.clone()));
        self.run.told_hold = None;
        self.run.ended = None;
        self.agent.cancel_asked = false;
        self.briefing.begin_turn();
        if self.activity.is_working() {
            self.briefing.moved(Mover::User);
        }
        long_task::store(&state, cx);
        let uncounted = text::uncounted(&state.progress.unpriced);
        self.transition(state, cx);
        rules::tell(self.definitions.library(), &key, cx);
        uncounted.into_iter().for_each(|notice| cx.notify(Level::Warning, notice));
        cx.push(Effect::SetSessionName(session_name));
        if stopped {
            self.agent.prompt_at_rest = Some(prompt);
            return Reply::Settle;
        }
        if self.activity.is_working() {
            // The prompt goes into the present run of the agent, which got its context prompt when it started.
            prompt = format!("{prompt}\n\n{}", self.give_prompt());
        }
        self.tell_or_prompt(prompt, cx);
        Reply::Settle
    }
}

/// The error for a value that the workflow uses in a path, and that is not allowed there.
fn bad_in_path(start: &Start, library: &Library) -> Option<String> {
    let workflow = library.by_command_name(&start.command_name)?;
    let used = library.inputs_of_rules(&workflow.key);
    let in_paths = used.iter().filter(|(_, as_what)| **as_what == RuleUse::Path);
    in_paths.into_iter().find_map(|(name, _)| {
        let value = start.values.get(*name)?;
        Some(text::bad_in_path(name, value, path_refusal(value)?))
    })
}

#[derive(Debug, Clone)]
pub(super) struct Start {
    pub command_name: String,
    pub task: String,
    /// The values of inputs, by name.
    pub values: Map<String, String>,
    /// The commands that the user has allowed for this run.
    pub allowed: Set<String>,
    /// The user starts the run although nothing that is counted bounds it.
    pub uncounted: bool,
}

/// The usage of `/workflow`, with the workflows that can be started.
pub(super) fn usage(library: &Library) -> String {
    let workflows: Vec<String> = library
        .for_users()
        .map(|(name, workflow)| format!("  {name} — {}", text::short_name(&workflow.name)))
        .collect();
    format!("Usage: /workflow {{name}} {{description}}\n\nAvailable workflows:\n{}", workflows.join("\n"))
}

/// The reason why the project's workflows are missing and how to change it, on a line of its own; empty if nothing is
/// missing.
pub(super) fn untrusted(cx: &mut Cx) -> String {
    let folder = cx.unless_gone(cx.host.untrusted());
    folder.map_or_else(String::new, |folder| format!("\n{}", text::untrusted(&folder, cx.ui.is_terminal())))
}

/// The reason why a name in a folder of workflows is passed over.
const LEADS_OUT: &str =
    "(a link that leads nowhere, or out of its folder: only workflows in your own folder can lie elsewhere)";

/// The notice for a command name that no workflow has.
pub(super) fn unknown_workflow(name: &str, library: &Library, cx: &mut Cx) -> String {
    if library.left_out().iter().any(|left_out| left_out.is_called(name)) {
        return format!("The workflow \"{name}\" has errors: /workflow :check shows them.");
    }
    let names: Vec<String> = library.for_users().map(|(name, _)| name).collect();
    let available = if names.is_empty() { "(none)".to_owned() } else { names.join(", ") };
    let meant = nearest(name, names.iter().map(String::as_str))
        .map_or(String::new(), |meant| format!("\nDid you mean \"{meant}\"?"));
    let skipped = library.skipped().iter().map(|place| format!("\nNot read: {place} {LEADS_OUT}"));
    format!(
        "Unknown workflow: \"{name}\". Available: {available}{meant}{}{}",
        skipped.collect::<String>(),
        untrusted(cx)
    )
}
