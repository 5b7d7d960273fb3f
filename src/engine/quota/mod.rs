//! Limits of the model: a run that meets one pauses, and goes on by itself where the user wants it to.

mod failure;
pub(super) mod limit;
pub(super) mod state;
mod told;

use crate::definition::{trim, wait_ms};
use crate::protocol::WORKFLOW_COMMAND;
use crate::run::{PauseReason, RunState};
use crate::text;

use super::commands::{WAIT_FLAG, WAIT_IS_OVER};
use super::context::Cx;
use super::continuation::tell_pause;
use super::effect::{Effect, Level, Reply};
use super::state::{Engine, Run, Session};
pub use failure::ModelFailure;
use state::Quota;

/// The timer of a wait for the end of a limit.
pub(super) const TIMER: u64 = 2;

/// Returns the longest time that a text allows for waits, in milliseconds.
///
/// # Errors
///
/// The message, if the text is no duration.
pub fn max_wait(text: &str) -> Result<u64, String> {
    let ms = humantime::parse_duration(text).ok().and_then(wait_ms);
    ms.ok_or_else(|| format!("“{}” is no time like 6h or 90m, of at most 7 days", text::short_name(text)))
}

impl Session {
    /// Reads the time of the command line that waits may take. With an error the run does not wait, and the user is told.
    pub fn read_wait(&mut self, given: Option<&str>, cx: &mut Cx) {
        self.wait = given.map(|time| {
            max_wait(time).unwrap_or_else(|error| {
                cx.notify(Level::Error, format!("--{}: {error}. The run does not wait.", WAIT_FLAG.name));
                0
            })
        });
    }
}

impl Engine {
    /// Pauses the run at a limit with this end. It goes on by itself if the user wants it to; a branch leaves that to the
    /// run that contains it.
    pub(super) fn pause_at_limit(&mut self, until: Option<u64>, cx: &mut Cx) {
        let Some(state) = self.run.running().cloned() else { return };
        let up_to_now = self.meter.up_to_now(&self.run, &self.agent, cx).unwrap_or_else(|| state.clone());
        let offset = cx.host.utc_offset(until.unwrap_or(cx.unix_ms)).map(Some);
        let offset = cx.unless_gone(offset).unwrap_or_default();
        let max_ms = max_ms(&self.run, &self.session);
        let new = state.at_limit(until, offset, max_ms, &up_to_now, cx.unix_ms);
        if let Some(reason) = new.progress().paused.as_ref().map(|pause| pause.reason.clone()) {
            self.pause_as(&new, reason, cx);
        }
    }

    /// The session begins with a run that may wait: it waits on as far as the user lets it now.
    pub(super) fn restore_wait(&mut self, same_session: bool, cx: &mut Cx) {
        if self.session.wait.is_some() && !same_session {
            // The option is newer than the choice that is stored.
            self.run.change_unstored(|state, _| state.without_chosen_wait());
        }
        let max_ms = max_ms(&self.run, &self.session);
        self.run.change_unstored(|state, _| state.with_restored_wait(max_ms, cx.unix_ms));
    }

    /// The user acts: a wait for the end of a limit ends, and the bounds of such waits begin anew.
    pub(super) fn attend(&mut self, cx: &mut Cx) {
        self.quota.is_due = false;
        let Some(state) = self.run.running() else { return };
        let new = state.attended(cx.unix_ms);
        if state.goes_on_at().is_some() {
            self.transition(new, cx);
        } else if new != *state {
            self.run.change_unstored(|_, _| new);
        }
    }

    /// Goes on at the end of a wait; or lets the run wait at limits, up to a time that the user names, or not (`off`).
    pub(super) fn wait_by_user(&mut self, argument: &str, cx: &mut Cx) -> Reply {
        if std::mem::take(&mut self.quota.is_due) {
            if let Some(state) = self.run.running().map(|state| state.waited(cx.unix_ms)) {
                self.transition(state, cx);
            }
            return self.resume_with("", None, true, cx);
        }
        let max_ms = match trim(argument) {
            "off" => Ok(0),
            "" => Ok(self.session.wait.filter(|ms| *ms > 0).unwrap_or(self.run.library().settings().max_wait_ms)),
            time => max_wait(time),
        };
        let max_ms = match max_ms {
            Ok(max_ms) => max_ms,
            Err(error) => {
                cx.fail(Level::Warning, error);
                return Reply::None;
            }
        };
        let Some(new) = self.run.running().map(|state| state.waiting_up_to(max_ms, cx.unix_ms)) else {
            return Reply::None;
        };
        let is_at_limit = matches!(self.run.pause_reason(), Some(PauseReason::Quota { .. }));
        let goes_on = new.goes_on_at().is_some();
        self.transition(new, cx);
        let notice = text::waits_up_to(max_ms, is_at_limit && !goes_on);
        cx.notify(Level::Info, notice);
        if is_at_limit && max_ms > 0 {
            tell_pause(&self.run, cx);
        }
        Reply::None
    }
}

/// The longest time of all waits of the run since the user acted last; `None` if it does not wait.
fn max_ms(run: &Run, session: &Session) -> Option<u64> {
    let state = run.running().filter(|_| run.agent_of().waits)?;
    let settings = run.library().settings();
    state.progress().quota.max_ms.or(session.wait).or_else(|| settings.waits.then_some(settings.max_wait_ms))
}

impl Quota {
    /// Begins or ends a wait as the state of the run says.
    pub fn follow(&mut self, run: &Run, cx: &mut Cx) {
        let state = run.running().filter(|_| run.held().is_none() && run.agent_of().waits);
        let end = state.and_then(RunState::goes_on_at);
        if end == self.end {
            return;
        }
        if self.end.is_none() || end.is_none() {
            cx.push(Effect::WatchTerminal(end.is_some()));
        }
        self.is_due = false;
        self.end = end;
        match end {
            Some(end) => {
                if let Some(state) = state.filter(|_| !cx.ui.exists()) {
                    cx.notify(Level::Info, text::unfinished_line(state, run.library()));
                }
                cx.push(Effect::StartTimer { id: TIMER, delay_ms: state::tick_ms(end, cx.unix_ms) });
            }
            None => cx.push(Effect::StopTimer { id: TIMER }),
        }
    }

    /// A part of the wait is over. At its end the run goes on by a command of its own, as if the user had given it: it may
    /// be at an entry without the model.
    pub fn tick(&mut self, idle: bool, cx: &mut Cx) {
        let Some(end) = self.end else { return };
        let mut delay_ms = state::tick_ms(end, cx.unix_ms);
        if end <= cx.unix_ms && idle {
            self.is_due = true;
            cx.push(Effect::RunCommand { name: WORKFLOW_COMMAND, arguments: WAIT_IS_OVER });
            // It is given again if it gets lost.
            delay_ms = state::AGAIN_MS;
        }
        cx.update_status();
        cx.push(Effect::StartTimer { id: TIMER, delay_ms });
    }
}
