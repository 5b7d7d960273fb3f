//! The user's limits outside and inside of runs: when they are read, and `/workflow :limits`.

pub(super) mod state;

use serde_json::json;

use crate::definition::{FoundLimits, Stale};
use crate::protocol::{LIMITS_ENTRY_TYPE, LIMITS_TYPE};
use crate::text;

use super::commands::show;
use super::context::Cx;
use super::effect::{Effect, Level};
use state::Limits;

impl Limits {
    /// Reads the user's limits for a session that begins.
    ///
    /// # Errors
    ///
    /// If the session is gone.
    pub fn begin_session(&mut self, same_session: bool, cx: &mut Cx) -> Result<(), Stale> {
        if !same_session {
            self.switch(false);
        }
        self.refresh(true, cx.host)?;
        if let FoundLimits::Unusable(diagnostics) = self.found() {
            cx.notify(Level::Error, text::unusable_limits(diagnostics));
        }
        Ok(())
    }

    /// Reads the user's limits again, and tells the user if the limits have changed.
    ///
    /// # Errors
    ///
    /// If the session is gone.
    pub fn follow(&mut self, cx: &mut Cx) -> Result<(), Stale> {
        if !self.refresh(false, cx.host)? {
            return Ok(());
        }
        match self.found() {
            FoundLimits::Unusable(diagnostics) => {
                cx.notify(Level::Error, text::unusable_limits(diagnostics));
            }
            found => cx.notify(Level::Info, text::changed_limits(found)),
        }
        cx.update_status();
        Ok(())
    }

    /// `/workflow :limits`, `:limits off` and `:limits on`.
    ///
    /// # Errors
    ///
    /// If the session is gone.
    pub fn by_user(&mut self, argument: &str, cx: &mut Cx) -> Result<(), Stale> {
        self.follow(cx)?;
        let off = match argument {
            "" => {
                let content = text::limits_panel(self.found(), self.are_off());
                show(LIMITS_TYPE, content, false, cx);
                return Ok(());
            }
            "off" => true,
            "on" => false,
            _ => {
                cx.fail(Level::Error, "Usage: /workflow :limits, /workflow :limits off, or /workflow :limits on");
                return Ok(());
            }
        };
        if *self.found() == FoundLimits::Nothing {
            cx.notify(Level::Info, text::NO_LIMITS);
            return Ok(());
        }
        if self.switch(off) {
            let data = json!({ "limits": argument });
            cx.push(Effect::AppendEntry { custom_type: LIMITS_ENTRY_TYPE, data });
            cx.update_status();
        }
        cx.notify(Level::Info, text::limits_switched(off));
        Ok(())
    }
}
