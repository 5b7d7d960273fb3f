//! What happens when the agent stops too early: it goes on, or the run pauses for the user.

use crate::definition::AutoContinue;
use crate::run::{PauseReason, RunState};
use crate::text;

use super::commands::Question;
use super::event::Stop;
use super::{Effect, Engine, Level, Moment, Output, Reply, persist};

/// What the agent is doing.
#[derive(Debug, Default)]
pub(super) struct Agent {
    /// It is at work.
    pub running: bool,
    /// It was told to go on, nobody asked it to.
    automatic: bool,
    /// Since then it did more than talk and ask for status.
    pub worked: bool,
    /// The next prompt by an extension is ours.
    own_prompt: bool,
    last_stop: Stop,
}

impl Engine {
    /// A prompt was given: the rest ends, and a user's message ends a pause.
    pub(super) fn input(&mut self, from_user: bool) -> Output {
        let mut effects = self.end_rest();
        let own = std::mem::take(&mut self.agent.own_prompt) && !from_user;
        if !own {
            self.agent.automatic = false;
        }
        let paused = self.run.as_ref().and_then(|state| state.progress.paused.as_ref());
        let needs_resume = paused.is_some_and(|pause| pause.reason.needs_resume());
        if from_user && !needs_resume && self.hold().is_none() {
            effects.extend(self.resume());
        }
        effects.into()
    }

    /// The agent is at work, whoever started it.
    pub(super) fn agent_start(&mut self) -> Output {
        self.agent.running = true;
        self.end_rest().into()
    }

    /// Remembers how the agent stopped; what follows from it is decided when it is at rest.
    pub(super) fn agent_stopped(&mut self, stop: Stop) {
        self.agent.last_stop = stop;
    }

    /// Without a user interface the agent goes on before it comes to rest.
    pub(super) fn before_settle(&mut self, has_ui: bool, at: Moment) -> Output {
        if has_ui || self.agent.last_stop != Stop::Completed {
            return Output::default();
        }
        let mut effects = self.give_up_calls();
        let reply = match self.decide() {
            Decision::Continue(_) => {
                let reminder = self.not_done_in_run();
                self.continued();
                reminder.map_or(Reply::None, Reply::Continue)
            }
            Decision::Pause(reason) => {
                effects.extend(self.pause(reason, has_ui, at));
                Reply::None
            }
            Decision::Wait => Reply::None,
        };
        Output { effects, reply }
    }

    /// Gives up what nested calls of `workflow_step` wait for. The agent has stopped, so the tool that made them
    /// has ended without them, and nobody gets their results.
    fn give_up_calls(&mut self) -> Vec<Effect> {
        let nested = |question: &Question| match question {
            Question::Cancel { nested, .. } => *nested,
            Question::Gate(gate) => gate.is_of_nested_call(),
            Question::StartAnother { .. }
            | Question::Pick { .. }
            | Question::Task { .. }
            | Question::Replacement(_) => false,
        };
        let mut effects = Vec::new();
        self.questions.retain(|(ticket, question)| {
            let kept = !nested(question);
            if !kept {
                effects.push(Effect::Withdraw { ticket: *ticket });
            }
            kept
        });
        effects
    }

    /// The agent is at rest. With a user interface it goes on after a countdown.
    ///
    /// Specification: hook lifecycle, "Case B".
    pub(super) fn agent_settled(&mut self, has_ui: bool, at: Moment) -> Output {
        self.agent.running = false;
        self.untold_move = None;
        let effects = self.give_up_calls();
        let output = self.settle(has_ui, at);
        Output { effects: [effects, output.effects].concat(), reply: output.reply }
    }

    fn settle(&mut self, has_ui: bool, at: Moment) -> Output {
        let waits = self.run.as_ref().is_none_or(|state| state.progress.paused.is_some());
        if waits || self.active().is_none() {
            return Output::default();
        }
        match self.agent.last_stop {
            Stop::Aborted => self.pause(PauseReason::Aborted, has_ui, at).into(),
            Stop::Failed => self.pause(PauseReason::ModelError, has_ui, at).into(),
            Stop::Completed if has_ui => match self.decide() {
                Decision::Continue(bounds) => self.start_countdown(bounds.delay_seconds).into(),
                Decision::Pause(reason) => self.pause(reason, has_ui, at).into(),
                Decision::Wait if self.questions.is_empty() => self.wait_for_user().into(),
                Decision::Wait => Output::default(),
            },
            Stop::Completed => Output::default(),
        }
    }

    /// Whether the agent goes on by itself.
    fn decide(&mut self) -> Decision {
        let (worked, automatic) = (self.agent.worked, self.agent.automatic);
        let Some(active) = self.active() else { return Decision::Wait };
        let Some(bounds) = active.root.auto_continue else { return Decision::Wait };
        if active.state.progress.paused.is_some() || !self.questions.is_empty() {
            return Decision::Wait;
        }
        let Some(progress) = self.run.as_mut().map(|state| &mut state.progress) else {
            return Decision::Wait;
        };
        progress.idle = if worked || !automatic { 0 } else { progress.idle.saturating_add(1) };
        if progress.idle >= bounds.max_idle {
            Decision::Pause(PauseReason::Idle { times: progress.idle })
        } else if progress.continuations >= bounds.max_per_phase {
            Decision::Pause(PauseReason::Limit { times: progress.continuations })
        } else {
            Decision::Continue(bounds)
        }
    }

    /// The agent is told to go on.
    pub(super) fn continued(&mut self) {
        self.agent.own_prompt = true;
        self.agent.automatic = true;
        self.agent.worked = false;
        if let Some(state) = &mut self.run {
            state.progress.continuations = state.progress.continuations.saturating_add(1);
        }
    }

    /// The run waits for the user from now on: stored, shown and told once. Without a user interface
    /// the last line of the process tells it.
    pub(super) fn pause(&mut self, reason: PauseReason, has_ui: bool, at: Moment) -> Vec<Effect> {
        let mut effects = self.stop_countdown();
        let Some(state) = self.run.as_ref().filter(|state| state.active) else { return effects };
        let new = state.paused(reason, at.unix_ms);
        effects.push(persist(&new));
        self.run = Some(new);
        effects.push(self.status());
        effects.extend(
            self.active()
                .and_then(|active| text::pause_notice(&active))
                .filter(|_| has_ui)
                .map(|text| Effect::Notify { level: Level::Warning, text }),
        );
        effects
    }

    /// The run goes on, if it is paused.
    pub(super) fn resume(&mut self) -> Vec<Effect> {
        let paused = |state: &&RunState| state.active && state.progress.paused.is_some();
        let Some(state) = self.run.as_ref().filter(paused) else { return Vec::new() };
        let new = state.resumed();
        let effect = persist(&new);
        self.run = Some(new);
        vec![effect, self.status()]
    }
}

/// What is to happen.
enum Decision {
    /// The agent goes on.
    Continue(AutoContinue),
    /// The run pauses.
    Pause(PauseReason),
    /// Somebody else's turn, or nothing to go on with.
    Wait,
}
