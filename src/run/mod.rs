//! A workflow in progress: its state, its transitions, its stored form.
//!
//! **Invariant: transitions are pure.** [`advance`] and [`restart`] return a new state; the old state is unchanged.

mod active;
mod bounds;
mod branches;
mod broken;
mod budget;
mod choices;
mod course;
mod gates;
mod items;
mod journal;
mod long_task;
mod mark;
mod outline;
mod outputs;
pub(crate) mod path;
mod progress;
mod records;
mod restore;
mod results;
mod rules;
mod run_dir;
mod seen;
mod state;
mod stored;
mod summary;
mod transition;
mod values;

pub use active::*;
pub use branches::*;
pub use broken::*;
pub use budget::*;
pub use course::*;
pub use gates::*;
pub use items::*;
pub use journal::*;
pub use long_task::*;
pub use mark::*;
pub use outline::*;
pub use outputs::*;
pub use path::*;
pub use progress::*;
pub use records::*;
pub use restore::*;
pub use results::*;
pub use rules::*;
pub use run_dir::*;
pub use state::*;
pub use summary::*;
pub use transition::*;
