//! The controls: `/workflow :status` and the like.

use crate::definition::{Stale, is_space, nearest, trim};
use crate::run::PauseReason;

use crate::engine::context::Cx;
use crate::engine::effect::{Level, Reply};
use crate::engine::state::Engine;

/// A subcommand of `/workflow` that shows or controls the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Control {
    Status,
    Pause,
    Resume,
    Next,
    Back,
    Skip,
    Cancel,
    Graph,
    Panel,
    Check,
}

/// Name and description of every control. A command name cannot contain a colon, so no workflow is hidden by these.
const CONTROLS: [(Control, &str, &str); 10] = [
    (Control::Status, ":status", "Show the phases of the run"),
    (Control::Pause, ":pause", "Do not continue automatically"),
    (Control::Resume, ":resume", "Go on after a pause or an interrupted countdown"),
    (Control::Next, ":next", "Go to the next phase"),
    (Control::Back, ":back", "Go back to the phase before"),
    (Control::Skip, ":skip", "Pass over the phase"),
    (Control::Cancel, ":cancel", "Cancel the run"),
    (Control::Graph, ":graph", "Show a workflow as a diagram"),
    (Control::Panel, ":panel", "Show the phases above the editor, or not"),
    (Control::Check, ":check", "Show what is wrong in the workflow files"),
];

impl Control {
    /// Tests if it changes nothing of the run.
    pub(super) fn only_shows(self) -> bool {
        match self {
            Self::Status | Self::Graph | Self::Panel | Self::Check => true,
            Self::Pause | Self::Resume | Self::Next | Self::Back | Self::Skip | Self::Cancel => {
                false
            }
        }
    }

    /// Tests if it is refused while the rules of the run do not hold. One that moves the run is not if there is no phase
    /// to move from: it says so itself.
    fn is_held(self, has_phase: bool) -> bool {
        match self {
            Self::Pause => true,
            Self::Next | Self::Back | Self::Skip => has_phase,
            Self::Status
            | Self::Resume
            | Self::Cancel
            | Self::Graph
            | Self::Panel
            | Self::Check => false,
        }
    }

    /// Tests if it needs a run.
    fn needs_run(self) -> bool {
        match self {
            Self::Check | Self::Graph | Self::Panel => false,
            Self::Status
            | Self::Pause
            | Self::Resume
            | Self::Next
            | Self::Back
            | Self::Skip
            | Self::Cancel => true,
        }
    }
}

/// The control that these arguments of `/workflow` call, and its own argument. Only `:graph` takes one.
pub(super) fn find(arguments: &str) -> Option<(Control, &str)> {
    let (name, argument) = arguments.split_once(is_space).unwrap_or((arguments, ""));
    let (control, ..) = CONTROLS.iter().find(|(_, other, _)| *other == name)?;
    let argument = trim(argument);
    (argument.is_empty() || *control == Control::Graph).then_some((*control, argument))
}

/// The notice for arguments that call no control.
pub(super) fn unknown(arguments: &str) -> String {
    let names = CONTROLS.map(|(_, name, _)| name);
    let meant = match nearest(arguments, names) {
        Some(name) if name == arguments => String::new(),
        Some(name) => format!(" Did you mean {name}?"),
        None => String::new(),
    };
    format!("Unknown control: \"{arguments}\".{meant} There are {}", names.join(", "))
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
        if let Some(reason) = self.hold().filter(|_| control.is_held(self.shown().is_some())) {
            cx.fail(Level::Warning, self.held_notice(&reason));
            return Ok(Reply::None);
        }
        if control.needs_run() && !self.has_run() {
            cx.notify(Level::Info, "No active workflow.");
            return Ok(Reply::None);
        }
        match control {
            Control::Check => self.show_check(cx)?,
            Control::Graph => self.show_graph(argument, cx)?,
            Control::Panel => self.switch_panel(cx),
            Control::Status => self.show_status(cx),
            Control::Pause => {
                self.withdraw_gate(cx);
                self.pause(PauseReason::User, cx);
            }
            Control::Resume => return Ok(self.resume_by_user(was_at_rest, cx)),
            Control::Next => return Ok(self.next_by_user(cx)),
            Control::Back => self.back_by_user(cx),
            Control::Skip => self.skip_by_user(cx),
            Control::Cancel => self.cancel_by_user(cx),
        }
        Ok(Reply::None)
    }

    /// The controls that begin with this prefix and make sense now, with their descriptions.
    pub(super) fn controls(
        &self,
        prefix: &str,
    ) -> impl Iterator<Item = (&'static str, &'static str)> {
        CONTROLS
            .iter()
            .filter(move |(_, name, _)| name.starts_with(prefix))
            .filter(|(control, ..)| self.offers(*control))
            .map(|(_, name, description)| (*name, *description))
    }

    fn offers(&self, control: Control) -> bool {
        let is_paused = self.pause_reason().is_some();
        let waits = self.agent.is_at_rest() || self.hold().is_some();
        let makes_sense = match control {
            Control::Graph
            | Control::Panel
            | Control::Check
            | Control::Status
            | Control::Next
            | Control::Back
            | Control::Skip
            | Control::Cancel => true,
            Control::Pause => !is_paused,
            Control::Resume => is_paused || waits,
        };
        makes_sense && (self.has_run() || !control.needs_run())
    }
}
