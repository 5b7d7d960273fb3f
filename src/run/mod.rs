//! A workflow in progress: its state, its transitions, its stored form.
//!
//! **Invariant: transitions are pure.** [`advance`] and [`restart`] return a new state; the old state is unchanged.
//!
//! A file imports only files of the lines above its own, or files before it in its own line:
//!
//! | | |
//! | --- | --- |
//! | values | `path`, `records`, `mark`, `broken`, `run_dir`, `long_task`, `outputs`, `evidence`, `branch`, `pause`, `visit` |
//! | the state | `progress`, then `state` |
//! | questions to it | `values`, `items`, `results`, `active`, `seen`, `choices`, `outline`, `budget` |
//! | what changes it | `visits`, `summary`, `transition`, `gates`, `branches`, `rules` |
//! | its entries in the session | `stored`, `bounds`, `journal`, `restore`, `course` |

mod active;
mod bounds;
mod branch;
mod branches;
mod broken;
mod budget;
mod choices;
mod course;
mod evidence;
mod gates;
mod items;
mod journal;
mod long_task;
mod mark;
mod outline;
mod outputs;
pub(crate) mod path;
mod pause;
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
mod visit;
mod visits;

pub use active::*;
pub use branch::*;
pub use branches::*;
pub use broken::*;
pub use budget::*;
pub use course::*;
pub use evidence::*;
pub use gates::*;
pub use items::*;
pub use journal::*;
pub use long_task::*;
pub use mark::*;
pub use outline::*;
pub use outputs::*;
pub use path::*;
pub use pause::*;
pub use progress::*;
pub use records::*;
pub use restore::*;
pub use results::*;
pub use rules::*;
pub use run_dir::*;
pub use state::*;
pub use summary::*;
pub use transition::*;
pub use visit::*;
pub use visits::*;
