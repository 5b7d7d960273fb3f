//! Notifications outside of pi: a run waits or has ended.

/// The content of the user's `notify.yaml`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notify {
    /// The occasions of which the user is told; at least one.
    pub on: Vec<Occasion>,
    /// The program of the notification and its arguments, if any.
    pub command: Option<Vec<String>>,
    /// The terminal shows the notification.
    pub terminal: bool,
}

/// An occasion of which a user can be told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Occasion {
    Waits,
    Done,
    Stopped,
}

impl Occasion {
    pub const ALL: [Self; 3] = [Self::Waits, Self::Done, Self::Stopped];

    /// Returns the name of the occasion in the file.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Waits => "waits",
            Self::Done => "done",
            Self::Stopped => "stopped",
        }
    }
}

/// The argument that stands for the title of a notification.
pub const TITLE: &str = "{title}";
/// The argument that stands for the text of a notification.
pub const TEXT: &str = "{text}";

impl Notify {
    /// Returns the program and its arguments for a notification; `None` without a program.
    pub fn command_for(&self, title: &str, text: &str) -> Option<Vec<String>> {
        let value = |argument: &String| match &**argument {
            TITLE => title.to_owned(),
            TEXT => text.to_owned(),
            _ => argument.clone(),
        };
        Some(self.command.as_ref()?.iter().map(value).collect())
    }
}
