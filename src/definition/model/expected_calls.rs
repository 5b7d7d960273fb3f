//! The `tests` of a phase: tool calls that the rules of the phase must allow or refuse. Tests are not rules themselves.

/// A tool call that the rules of a phase must allow or refuse.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PhaseTest {
    /// The name of the tool, followed by the path or command of the call, if any.
    pub call: String,
    /// The rules must allow the call; otherwise they must refuse the call.
    pub allowed: bool,
    /// The index of the call in its list.
    pub(crate) index: usize,
}

impl PhaseTest {
    /// Returns the tool, and the argument of the call.
    pub fn parts(&self) -> (&str, Option<&str>) {
        match self.call.split_once(char::is_whitespace) {
            Some((tool, argument)) => (tool, Some(argument.trim_start())),
            None => (&self.call, None),
        }
    }
}
