//! Notifications of the user outside of pi.

use crate::definition::{FileOf, Found, Notify, Occasion, Stale};
use crate::engine::effect::{Effect, OutsideNotification};
use crate::engine::host::Host;
use crate::text::{Notification, unusable_notifications};

/// The user's `notify.yaml`, with the wait and the end to notify.
#[derive(Debug, Default)]
pub struct Attention {
    file: FileOf<Notify>,
    /// The wait that was seen last; `None` while nothing waits.
    wait: Option<Wait>,
    /// The user was notified of the wait outside of pi, or is to be.
    is_told: bool,
    /// pi shows that the run waits.
    is_blocked: bool,
    /// A session begins: the user is there, and knows what waits.
    is_quiet: bool,
    /// An end that the user is still to be told.
    ended: Option<(Occasion, Notification)>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wait {
    /// The text for the user.
    pub notification: Notification,
    /// The ticket of the user's dialog for the wait; `None` without a dialog.
    pub dialog: Option<u64>,
}

impl Attention {
    /// A session begins. The user is not notified of a wait that exists at its beginning.
    pub fn reset(&mut self) {
        let file = std::mem::take(&mut self.file);
        *self = Self { file, is_quiet: true, ..Self::default() };
    }

    /// A run has ended.
    pub fn end(&mut self, occasion: Occasion, notification: Notification) {
        self.ended = Some((occasion, notification));
    }

    /// Reads `notify.yaml` again, and returns the warning if it has errors that the user was not told of.
    ///
    /// # Errors
    ///
    /// If the session is gone.
    pub fn refresh(&mut self, host: &dyn Host) -> Result<Option<String>, Stale> {
        let is_new = self.file.refresh(host)?;
        Ok(match self.file.found() {
            Found::Unusable(diagnostics) if is_new => diagnostics.first().map(unusable_notifications),
            Found::Unusable(_) | Found::Nothing | Found::Content(_) => None,
        })
    }

    /// Appends the effects of a wait, or of its end, in their order. Returns true if `notify.yaml` is to be read and
    /// [`Attention::tell`] called.
    pub fn follow(&mut self, wait: Option<Wait>, shows_blocked: bool, effects: &mut Vec<Effect>) -> bool {
        let is_quiet = std::mem::take(&mut self.is_quiet);
        let is_blocked = shows_blocked && wait.as_ref().is_some_and(|wait| wait.dialog.is_none());
        if std::mem::replace(&mut self.is_blocked, is_blocked) != is_blocked {
            let title = wait.as_ref().map(|wait| wait.notification.title.clone());
            effects.push(Effect::SetBlocked(title.filter(|_| is_blocked)));
        }
        let is_new = wait != self.wait;
        self.wait = wait;
        if is_new && std::mem::take(&mut self.is_told) {
            effects.push(Effect::WithdrawNotification(Occasion::Waits));
        }
        (is_new && self.wait.is_some() && !is_quiet) || self.ended.is_some()
    }

    /// Notifies the user outside of pi of the wait, and of an end.
    pub fn tell(&mut self, effects: &mut Vec<Effect>) {
        let ended = self.ended.take();
        let Found::Content(notify) = self.file.found() else { return };
        let waits = self.wait.as_ref().filter(|_| !self.is_told);
        let waits = waits.map(|wait| (Occasion::Waits, wait.notification.clone()));
        for (occasion, Notification { title, text }) in ended.into_iter().chain(waits) {
            if !notify.on.contains(&occasion) {
                continue;
            }
            self.is_told |= occasion == Occasion::Waits;
            let command = notify.command_for(&title, &text);
            let terminal = notify.terminal;
            effects.push(Effect::NotifyOutside(OutsideNotification { occasion, title, text, command, terminal }));
        }
    }
}
