//! A workflow in progress: its state, its transitions, its stored form.
//!
//! **Invariant: transitions are pure.** [`advance`] and [`restart`] return a new state; the old one
//! is unchanged.

mod active;
mod bounds;
mod branches;
mod budget;
mod choices;
mod course;
mod gates;
mod items;
mod journal;
mod outline;
mod outputs;
pub(crate) mod path;
mod progress;
mod records;
mod results;
mod rules;
mod run_dir;
mod seen;
mod state;
mod stored;
mod summary;
mod transition;
mod values;

pub use active::Active;
pub use branches::{Branch, BranchEnd, BranchRun, Joined, OVER_BUDGET};
pub use budget::{Allowance, Bound, Spending, Unknown};
pub use course::{Course, Doing, Ending, Entry, Span, Stay};
pub use gates::{Changed, CheckPlace, CheckedFiles, Evidence, GateAhead, ProjectState, Recheck};
pub use items::Item;
pub use journal::{Journal, Mark};
pub use outline::{Outline, Step};
pub use outputs::{HandedOutputs, MAX_OUTPUTS, OutputValue, Outputs, WrongOutput, given_outputs};
pub use path::{PhasePath, Segment};
pub use progress::{
    Broken, Leaving, PassedOver, PassedOverReason, Pause, PauseReason, Pick, Progress, UsersModel, Visit,
};
pub use records::Records;
pub use results::PhaseResult;
pub use rules::{PROGRESS_VERSION, Seal, is_of_later_version, pause_reason, reason_to_hold, stored_pause};
pub use run_dir::RunDir;
pub use state::{MAX_TASK, RunState, RunStatus};
pub use stored::{Restored, Unusable, restore, take_up};
pub use summary::{Summary, cut};
pub use transition::{
    Arrival, LoopError, WayBack, advance, back, begin, enter, go_to, leave, leave_over_budget, restart, skip_item,
    skip_to, way_back,
};
