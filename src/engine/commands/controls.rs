//! The controls: `/workflow :status` and the like.

use crate::definition::{Stale, is_space, nearest, trim};
use crate::run::PauseReason;

use super::show::{NO_RUN, show_check, show_graph, show_last_end, show_report};
use crate::engine::branches::branch_names;
use crate::engine::context::Cx;
use crate::engine::continuation::tell_pause;
use crate::engine::effect::{Level, Reply};
use crate::engine::hold::held_notice;
use crate::engine::new_workflow;
use crate::engine::quota::{self, state::OVER};
use crate::engine::state::{Engine, Run};

/// Defines the controls, and the list of all controls in the order of the completions.
macro_rules! controls {
    ($($control:ident),+) => {
        /// A subcommand of `/workflow` that shows or controls the run.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(super) enum Control { $($control),+ }

        impl Control {
            const ALL: [Self; [$(Self::$control),+].len()] = [$(Self::$control),+];
        }
    };
}

controls!(
    Status, Pause, Resume, Wait, Answer, Next, Back, Skip, Stop, Retry, Cancel, Graph, Report, Panel, Limits, Check,
    New
);

/// The name of the control that shows the diagnostics.
pub(super) const CHECK: &str = ":check";

struct Properties {
    /// A command name cannot contain a colon, so the name of a control hides no workflow.
    name: &'static str,
    description: &'static str,
    /// The control changes nothing of the run.
    only_shows: bool,
    needs_run: bool,
    while_held: WhileHeld,
}

/// Effect of a control while the rules of the run do not hold.
enum WhileHeld {
    Works,
    Refused,
    /// Refused, unless the files lack the phase too: then the control itself reports the missing phase.
    RefusedUnlessPhaseGone,
}

impl Control {
    fn properties(self) -> Properties {
        let shows = |name, description, needs_run| Properties {
            name,
            description,
            only_shows: true,
            needs_run,
            while_held: WhileHeld::Works,
        };
        let changes = |name, description, while_held| Properties {
            name,
            description,
            only_shows: false,
            needs_run: true,
            while_held,
        };
        match self {
            Self::Status => shows(":status", "Show the phases of the run", true),
            Self::Pause => changes(":pause", "Do not continue automatically", WhileHeld::Refused),
            Self::Resume => changes(":resume", "Go on after a pause or an interrupted countdown", WhileHeld::Works),
            Self::Wait => changes(":wait", "Go on by itself when a limit of the model ends", WhileHeld::Refused),
            Self::Answer => {
                changes(":answer", "Answer the question of the run: an outcome, and a text", WhileHeld::Refused)
            }
            Self::Next => {
                changes(":next", "Go to the next phase, or where an outcome leads", WhileHeld::RefusedUnlessPhaseGone)
            }
            Self::Back => changes(":back", "Go back to the phase before", WhileHeld::RefusedUnlessPhaseGone),
            Self::Skip => {
                changes(":skip", "Pass over the phase, or go to another one", WhileHeld::RefusedUnlessPhaseGone)
            }
            Self::Stop => changes(":stop", "End a branch, which has failed then", WhileHeld::Refused),
            Self::Retry => changes(":retry", "Have a branch be worked on anew", WhileHeld::Refused),
            Self::Cancel => changes(":cancel", "Cancel the run", WhileHeld::Works),
            Self::Graph => shows(":graph", "Show the phases of a workflow with their rules", false),
            Self::Report => shows(":report", "Show what the run took", false),
            Self::Panel => shows(":panel", "Show the phases above the editor, or not", false),
            Self::Limits => shows(":limits", "Show your limits; off and on for this session", false),
            Self::Check => shows(CHECK, "Show what is wrong in the workflow files", false),
            Self::New => shows(":new", "Write a new workflow of this name", false),
        }
    }

    /// Controls that are not listed here take no argument.
    fn takes_argument(self) -> bool {
        matches!(
            self,
            Self::Graph
                | Self::Resume
                | Self::Wait
                | Self::Answer
                | Self::Next
                | Self::Skip
                | Self::Stop
                | Self::Retry
                | Self::Limits
                | Self::New
        )
    }

    /// Returns true if the control changes nothing of the run.
    pub(super) fn only_shows(self) -> bool {
        self.properties().only_shows
    }

    fn is_held(self, has_phase: bool) -> bool {
        match self.properties().while_held {
            WhileHeld::Works => false,
            WhileHeld::Refused => true,
            WhileHeld::RefusedUnlessPhaseGone => has_phase,
        }
    }
}

/// The control that these arguments of `/workflow` call, and its own argument.
pub(super) fn find(arguments: &str) -> Option<(Control, &str)> {
    let (name, argument) = arguments.split_once(is_space).unwrap_or((arguments, ""));
    let control = Control::ALL.into_iter().find(|control| control.properties().name == name)?;
    let argument = trim(argument);
    (argument.is_empty() || control.takes_argument()).then_some((control, argument))
}

/// The notice for arguments that call no control.
pub(super) fn unknown(arguments: &str) -> String {
    let names = Control::ALL.map(|control| control.properties().name);
    let how = match nearest(arguments, names).filter(|name| *name != arguments) {
        Some(name) => format!("Did you mean {name}?"),
        None => format!("There are {}", names.join(", ")),
    };
    format!("Unknown control: \"{arguments}\". {how}")
}

impl Engine {
    /// Runs a control. `was_at_rest`: the run was in a countdown, or waited for the user.
    ///
    /// # Errors
    ///
    /// If the session is gone.
    pub(super) fn control(
        &mut self,
        control: Control,
        argument: &str,
        was_at_rest: bool,
        cx: &mut Cx,
    ) -> Result<Reply, Stale> {
        if self.run.held().is_some() && control.is_held(self.run.shown().is_some()) {
            cx.fail(Level::Warning, held_notice(&self.run, &self.session, cx.ui));
            return Ok(Reply::None);
        }
        if control.properties().needs_run && self.run.running().is_none() {
            if control == Control::Status {
                show_last_end(cx)?;
            } else {
                cx.notify(Level::Info, NO_RUN);
            }
            return Ok(Reply::None);
        }
        match control {
            Control::Check => show_check(&mut self.run, cx)?,
            Control::Graph => show_graph(&self.run, argument, cx)?,
            Control::Report => {
                let up_to_now = |_| self.meter.up_to_now(&self.run, &self.agent, cx);
                let state = self.run.running().and_then(up_to_now);
                show_report(&self.run, state, cx)?;
            }
            Control::Panel => self.display.switch_panel(&self.run, cx),
            Control::Limits => self.limits.by_user(argument, cx)?,
            Control::New => return new_workflow::begin(argument, &mut self.run, &mut self.pending, cx),
            Control::Status => self.show_status(cx),
            Control::Pause => {
                self.pending.withdraw_gates(cx);
                let tells = |reason: &PauseReason| reason.needs_resume() || matches!(reason, PauseReason::Quota { .. });
                if self.run.pause_reason().is_some_and(tells) {
                    // A message of the user must not end the pause.
                    tell_pause(&self.run, cx);
                } else {
                    self.pause(PauseReason::User, cx);
                }
            }
            Control::Resume => return Ok(self.resume_by_user(argument, was_at_rest, cx)),
            Control::Wait if argument == OVER => {
                if let Some(state) = self.run.running().map(|state| state.waited(cx.unix_ms)) {
                    self.transition(state, cx);
                }
                return Ok(self.resume_with("", None, true, cx));
            }
            Control::Wait => {
                if let Some(new) = quota::wait_by_user(argument, &self.run, &self.session, cx) {
                    let goes_on = new.goes_on_at().is_some();
                    self.transition(new, cx);
                    if goes_on {
                        tell_pause(&self.run, cx);
                    }
                }
            }
            Control::Answer => return Ok(self.answer_by_user(argument, cx)),
            Control::Next => return Ok(self.next_by_user(argument, cx)),
            Control::Back => self.back_by_user(cx),
            Control::Skip => self.skip_by_user(argument, cx),
            Control::Stop => self.stop_branch(argument, cx),
            Control::Retry => {
                if self.retry_branch(argument, cx) {
                    return Ok(self.resume_by_user("", was_at_rest, cx));
                }
            }
            Control::Cancel => self.cancel_by_user(cx),
        }
        Ok(Reply::None)
    }
}

/// The controls that begin with this prefix and make sense now, with their descriptions.
pub(super) fn controls<'a>(
    prefix: &'a str,
    run: &'a Run,
    is_at_rest: bool,
) -> impl Iterator<Item = (&'static str, &'static str)> + 'a {
    Control::ALL
        .into_iter()
        .filter(move |control| is_offered(*control, run, is_at_rest))
        .map(|control| (control.properties().name, control.properties().description))
        .filter(move |(name, _)| name.starts_with(prefix))
}

fn is_offered(control: Control, run: &Run, is_at_rest: bool) -> bool {
    let is_paused = run.pause_reason().is_some();
    let makes_sense = match control {
        Control::Graph
        | Control::Report
        | Control::Panel
        | Control::Limits
        | Control::Check
        | Control::New
        | Control::Status
        | Control::Wait
        | Control::Next
        | Control::Back
        | Control::Skip
        | Control::Cancel => true,
        Control::Pause => !is_paused,
        Control::Answer => run.at_entry().is_some_and(|active| active.phase.question().is_some()),
        Control::Stop | Control::Retry => !branch_names(run).is_empty(),
        Control::Resume => is_paused || is_at_rest || run.held().is_some(),
    };
    makes_sense && (run.running().is_some() || !control.properties().needs_run)
}
