//! What must hold for any bytes. Each module has a `check` that panics where it does not hold.

pub mod definitions;
pub mod events;
pub mod front_matter;
pub mod stored_state;
pub mod templates;

mod folder;
