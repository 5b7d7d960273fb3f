//! Properties that must hold for any input. Each module has a `check` that panics if one is violated.

pub mod definitions;
pub mod events;
pub mod front_matter;
pub mod stored_state;
pub mod templates;

mod folder;
