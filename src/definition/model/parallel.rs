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
    /// The rule for the outcome of the group; `None` for a group without an outcome.
    pub decide: Option<Decide>,
}

/// The number of branches that must come to their end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Need {
    All,
    /// At least this number, from 1.
    AtLeast(u32),
}

/// The rule by which the outcomes of the branches that came to their end give the outcome of the group.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Decide {
    /// The first of these outcomes that a branch has; at least one outcome, all different.
    First(Vec<String>),
    /// The outcome that more than half of the branches have.
    Majority,
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

impl Decide {
    /// The word of a file for [`Decide::Majority`].
    pub const MAJORITY: &str = "majority";

    /// Returns the outcome of the group for these outcomes of the branches; `None` if they do not give an outcome.
    pub fn of<'a>(&'a self, outcomes: &[Option<&'a str>]) -> Option<&'a str> {
        let times = |name: &str| outcomes.iter().filter(|other| **other == Some(name)).count();
        match self {
            Self::First(names) => names.iter().map(String::as_str).find(|name| times(name) > 0),
            Self::Majority => outcomes.iter().flatten().copied().find(|name| times(name) * 2 > outcomes.len()),
        }
    }
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
    fn the_outcomes_of_branches_give_that_of_the_group() {
        let first = Decide::First(vec!["issues".into(), "clean".into()]);
        assert_eq!(first.of(&[Some("clean"), Some("issues"), None]), Some("issues"));
        assert_eq!(first.of(&[Some("clean"), Some("other")]), Some("clean"));
        assert_eq!(first.of(&[Some("other"), None]), None);
        assert_eq!(first.of(&[]), None);
        let majority = Decide::Majority;
        assert_eq!(majority.of(&[Some("a"), Some("b"), Some("b")]), Some("b"));
        assert_eq!(majority.of(&[Some("a"), Some("b")]), None, "a tie");
        assert_eq!(majority.of(&[Some("a"), None, None]), None, "fewer than half");
        assert_eq!(majority.of(&[]), None);
    }

    #[test]
    fn no_more_are_needed_than_there_are() {
        assert_eq!((Need::All.of(3), Need::AtLeast(2).of(3), Need::AtLeast(9).of(3)), (3, 2, 3));
    }
}
