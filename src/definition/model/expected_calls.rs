//! The `tests` of a phase: tool calls that its rules must allow or refuse. They are no rules.

/// A tool call that the rules of a phase must allow or refuse.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PhaseTest {
    /// The name of the tool, and behind it its path or command, if any.
    pub call: String,
    /// It must be allowed.
    pub allowed: bool,
    /// Its index in its list.
    pub(crate) index: usize,
}

impl PhaseTest {
    /// The tool, and the argument of the call.
    pub fn parts(&self) -> (&str, Option<&str>) {
        match self.call.split_once(char::is_whitespace) {
            Some((tool, argument)) => (tool, Some(argument.trim_start())),
            None => (&self.call, None),
        }
    }
}
