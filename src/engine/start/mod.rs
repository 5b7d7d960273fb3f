//! `/workflow NAME TASK`: the questions before a run starts, and the start.
//!
//! | file | content |
//! | --- | --- |
//! | `arguments` | the values of inputs and the task behind the name of a workflow |
//! | `state` | a run that is to start, and the questions before its start |
//! | `questions` | the questions, one after another |
//! | `inputs` | the questions for the workflow, its task and its inputs |
//! | `unpriced` | models without a price where the cost is bounded |
//! | `notices` | which workflows there are, and the rules of a run |

pub(super) mod arguments;
mod inputs;
mod notices;
pub(super) mod questions;
pub(super) mod state;
mod unpriced;

use crate::definition::{Command, Input, Show, Stale, ValueType, is_blank, is_space};
use crate::run::{Arrival, RunState, begin};
use crate::text;

use super::ask::Then;
use super::briefing::state::Mover;
use super::context::Cx;
use super::effect::{Effect, Level, Reply};
use super::event::Answer;
use super::long_task;
use super::run_dir::with_run_dir;
use super::scripts::read_before_start;
use super::state::{Engine, Waiter};
use arguments::Arguments;
pub(super) use inputs::ask_all;
pub(super) use notices::{above, unknown_workflow, untrusted};
use state::{Next, Start, StartAsked};
use unpriced::Unpriced;

impl Engine {
    pub(super) fn workflow_command(&mut self, arguments: &str, cx: &mut Cx) -> Result<Reply, Stale> {
        if let Some(notice) = self.run.read_files(|definitions| definitions.reload(cx.host))? {
            cx.notify(Level::Error, notice);
        }
        let (name, task) = arguments.split_once(is_space).unwrap_or((arguments, ""));
        if name.is_empty() {
            let next = inputs::ask_workflow(self.run.library(), cx);
            return Ok(self.follow_start(next, cx));
        }
        let library = self.run.library();
        let workflow = library.by_command_name(name);
        let default_task = workflow.and_then(|workflow| workflow.default_task.as_deref());
        if is_blank(task) && default_task.is_none() && !cx.ui.is_terminal() {
            let missing = if workflow.is_none() { untrusted(cx) } else { String::new() };
            cx.fail(Level::Warning, format!("{}{missing}", text::start_usage(name, workflow)));
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
        let Arguments { values, mut task } = match arguments::read(&workflow.inputs, task) {
            Ok(arguments) => arguments,
            Err(error) => {
                cx.fail(Level::Error, error);
                return Ok(Reply::None);
            }
        };
        if is_blank(&task) {
            task = default_task.unwrap_or_default().to_owned();
        }
        let given = |input: &Input| values.get(&input.name).map(|value| Command::given_value(value));
        let commands = workflow.inputs.iter().filter(|input| input.kind == ValueType::Command);
        let allowed = commands.filter(|_| self.session.facts.allow_inputs).filter_map(given).collect();
        let start = Start { command_name: name.to_owned(), task, values, allowed, ..Start::default() };
        let next = if !is_blank(&start.task) {
            questions::next(start, &self.run, &mut self.session, cx)
        } else if cx.ui.is_terminal() {
            inputs::ask_task(start, library)
        } else {
            cx.fail(Level::Warning, text::start_usage(name, Some(workflow)));
            Next::Refused
        };
        Ok(self.follow_start(next, cx))
    }

    /// Goes on with a start after an answer.
    pub(super) fn start_answered(&mut self, asked: StartAsked, answer: Answer, cx: &mut Cx) -> Reply {
        read_before_start(&mut self.run, cx);
        let next = questions::answered(asked, answer, &self.run, &mut self.session, cx);
        self.follow_start(next, cx)
    }

    fn follow_start(&mut self, next: Next, cx: &mut Cx) -> Reply {
        match next {
            Next::Ask(request, asked) => self.pending.ask(Waiter::User, request, Then::Start(asked)),
            Next::Ready(start) => self.begin_run(&start, cx),
            Next::Refused => Reply::None,
            Next::Declined => {
                self.agent.wait_after_dialog(!self.pending.is_empty(), &self.run, cx);
                Reply::None
            }
        }
    }

    /// Starts a run: stores its state, names the session, prompts the agent.
    pub(super) fn begin_run(&mut self, start: &Start, cx: &mut Cx) -> Reply {
        let Start { command_name, task, values, allowed, is_proposed, replaces_run: _, to_ask: _ } = start;
        let library = self.run.library();
        let Some(workflow) = library.by_command_name(command_name) else {
            let text = unknown_workflow(command_name, library, cx);
            cx.fail(Level::Error, text);
            return Reply::None;
        };
        let key = workflow.key.clone();
        let Ok(obstacle) = self.run.claim(false, cx.host) else {
            cx.gone = true;
            return Reply::None;
        };
        if let Some(obstacle) = obstacle {
            cx.fail(Level::Warning, text::not_claimed(&obstacle));
            return Reply::None;
        }
        let library = self.run.library();
        let Some(workflow) = library.get(&key) else { return Reply::None };
        let state = RunState::new(&workflow.key, task, cx.unix_ms, cx.random);
        let state = state.with_inputs(workflow, values).bounded(&self.session.bound);
        let state = state.with_proposed(*is_proposed);
        let (state, arrival) = begin(&state, library);
        if arrival == Arrival::Done {
            cx.fail(Level::Error, text::nothing_to_do(&state, library));
            return Reply::None;
        }
        let state = match with_run_dir(state, library, cx) {
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
        let stopped = self.agent.is_stopping || self.run.running().is_some() && self.agent.stop_running_calls(cx);
        self.agent.activity.stop(cx);
        self.pending.withdraw_gates(cx);
        self.session.allowed_in_run = Some((state.task_id.clone(), allowed.clone()));
        self.run.told_hold = None;
        self.run.ended = None;
        self.agent.cancel_asked = false;
        self.briefing.begin_turn();
        if self.agent.activity.is_working() {
            self.briefing.moved(Mover::User);
        }
        long_task::store(&state, cx);
        self.transition(state, cx);
        notices::tell_rules(self.run.library(), &key, cx);
        let unpriced = Unpriced::of(command_name, &self.session.bound, self.run.library(), cx).models;
        text::uncounted(&unpriced).into_iter().for_each(|notice| cx.notify(Level::Warning, notice));
        cx.push(Effect::SetSessionName(session_name));
        if stopped {
            self.agent.prompt_at_rest = Some(prompt);
            return Reply::Settle;
        }
        if self.agent.activity.is_working() {
            // The prompt goes into the present run of the agent, which got its context prompt when it started.
            prompt = format!("{prompt}\n\n{}", self.briefing.give_prompt(&self.run));
        }
        self.briefing.tell_or_prompt(prompt, &self.agent, cx);
        Reply::Settle
    }
}
