//! Limits of the model: a run that meets one pauses, and goes on by itself where the user wants it to.

pub(super) mod limit;
pub(super) mod state;
mod told;

use crate::definition::{WAIT_MS, trim, wait_ms};
use crate::protocol::WORKFLOW_COMMAND;
use crate::run::{PauseReason, RunState};
use crate::text;

use super::commands::WAIT_FLAG;
use super::context::Cx;
use super::effect::{Effect, Level};
use super::state::{Run, Session};
use state::{Quota, WAIT_IS_OVER};
pub use told::ModelFailure;

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

/// Returns the reason of the pause at a limit with this end; the run counts the limit. The run goes on by itself if the
/// user wants it to; a branch leaves that to the run that contains it. `up_to_now`: the run with its usage up to now.
pub(super) fn reason(
    until: Option<u64>,
    up_to_now: Option<RunState>,
    run: &mut Run,
    session: &Session,
    cx: &mut Cx,
) -> PauseReason {
    let offset = cx.host.utc_offset(until.unwrap_or(cx.unix_ms)).map(Some);
    let offset = cx.unless_gone(offset).unwrap_or_default();
    let Some(state) = run.running() else { return PauseReason::ModelError };
    let up_to_now = up_to_now.as_ref().unwrap_or(state);
    let (new, reason) = state.met_limit(until, offset, max_ms(run, session), up_to_now, cx.unix_ms);
    run.change_unstored(|_, _| new);
    reason
}

/// The session begins with a run that may wait: it waits on as far as the user lets it now.
pub(super) fn restore(run: &mut Run, session: &Session, same_session: bool, cx: &Cx) {
    if session.wait.is_some() && !same_session {
        // The option is newer than the choice that is stored.
        run.change_unstored(|state, _| state.without_chosen_wait());
    }
    let max_ms = max_ms(run, session);
    run.change_unstored(|state, _| state.with_restored_wait(max_ms, cx.unix_ms));
}

/// Returns the run that waits at limits up to a time that the user names, or not (`off`), and tells the user so.
pub(super) fn wait_by_user(argument: &str, run: &Run, session: &Session, cx: &mut Cx) -> Option<RunState> {
    let max_ms = match trim(argument) {
        "off" => Ok(0),
        "" => Ok(session.wait.filter(|ms| *ms > 0).or(run.library().settings().wait_ms).unwrap_or(WAIT_MS)),
        time => max_wait(time),
    };
    let max_ms = max_ms.map_err(|error| cx.fail(Level::Warning, error)).ok()?;
    let new = run.running()?.waiting_up_to(max_ms, cx.unix_ms);
    let is_at_limit = matches!(run.pause_reason(), Some(PauseReason::Quota { .. }));
    let notice = text::waits_up_to(max_ms, is_at_limit && new.goes_on_at().is_none());
    cx.notify(Level::Info, notice);
    Some(new)
}

/// The longest time of all waits of the run since the user acted last; `None` if it does not wait.
fn max_ms(run: &Run, session: &Session) -> Option<u64> {
    let state = run.running().filter(|_| run.agent_of().waits)?;
    state.progress().quota.max_ms.or(session.wait).or(run.library().settings().wait_ms)
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
        if self.is_due(cx.unix_ms) && idle {
            cx.push(Effect::RunCommand { name: WORKFLOW_COMMAND, arguments: WAIT_IS_OVER });
            // It is given again if it gets lost.
            delay_ms = state::AGAIN_MS;
        }
        cx.update_status();
        cx.push(Effect::StartTimer { id: TIMER, delay_ms });
    }
}
