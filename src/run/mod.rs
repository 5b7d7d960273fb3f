//! A workflow in progress: its state, its transitions, its stored form.
//!
//! **Invariant: transitions are pure.** [`advance`] and [`restart`] return a new state; the old state is unchanged.
//!
//! A file imports only files of the lines above its own, or files before it in its own line:
//!
//! | | |
//! | --- | --- |
//! | values | `path`, `records`, `mark`, `tail`, `broken`, `run_dir`, `long_task`, `outputs`, `evidence`, `branch`, `pause`, `visit`, `quota` |
//! | the state | `progress`, then `state` |
//! | questions to it | `items`, `values`, `results`, `active`, `seen`, `outline`, `budget`, `written` |
//! | what changes it | `waits`, `visits`, `summary`, `transition`, `gates`, `branches`, `rules` |
//! | its entries in the session | `stored`, `bounds`, `journal`, `restore` |

mod active;
mod bounds;
mod branch;
mod branches;
mod broken;
mod budget;
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
mod quota;
mod records;
mod restore;
mod results;
mod rules;
mod run_dir;
mod seen;
mod state;
mod stored;
mod summary;
mod tail;
mod transition;
mod values;
mod visit;
mod visits;
mod waits;
mod written;

pub use self::{
    active::*, branch::*, branches::*, broken::*, budget::*, evidence::*, items::*, journal::*, long_task::*, mark::*,
    outline::*, outputs::*, path::*, pause::*, progress::*, quota::*, records::*, restore::*, results::*, rules::*,
    run_dir::*, state::*, summary::*, tail::*, transition::*, visit::*, visits::*,
};
