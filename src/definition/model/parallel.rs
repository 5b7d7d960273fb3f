//! Groups whose branches agents work on at the same time.

use super::bound_values::BoundValue;

/// The bounds of a parallel group. Each entry of the group is a branch, or each item if the group is repeated. A child
/// agent works on each branch.
#[derive(Debug, Clone, PartialEq, Hash)]
pub struct Parallel {
    /// The number of branches that run at a time, from 1 to [`Parallel::MOST_AT_ONCE`]. Default: [`Parallel::AT_ONCE`].
    pub at_once: BoundValue<u32>,
    /// The number of branches that must come to their end.
    pub need: Need,
}

/// The number of branches that must come to their end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Need {
    All,
    /// At least this number, from 1.
    AtLeast(u32),
}

impl Parallel {
    /// Maximum number of branches.
    pub const MAX: usize = 64;
    /// Maximum number of branches that run at a time.
    pub const MOST_AT_ONCE: usize = 16;
    /// Default number of branches that run at a time.
    pub const AT_ONCE: u32 = 4;
    /// The symbol of parallel groups in the status line.
    pub const EMOJI: &str = "🔀";
}

impl Need {
    /// Returns the number of branches that must come to their end, out of all branches.
    pub fn of(self, branches: usize) -> usize {
        match self {
            Self::All => branches,
            Self::AtLeast(number) => (number as usize).min(branches),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_are_needed_than_there_are() {
        assert_eq!((Need::All.of(3), Need::AtLeast(2).of(3), Need::AtLeast(9).of(3)), (3, 2, 3));
    }
}
