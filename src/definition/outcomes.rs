//! The field `outcomes` of a phase: the ways in which it can be left.

use super::diagnostic::Problem;
use super::fields::Fields;
use super::inputs::{is_name, scalar, written};
use super::schema::MAX_OUTCOMES;
use super::yaml::Step;

/// A way in which a phase can be left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// Its name: letters, digits, `_` and `-`.
    pub name: String,
    /// Its target.
    pub target: Target,
}

/// The target of an outcome.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// The next entry of the workflow.
    Next,
    /// The first entry of the workflow.
    Loop,
    /// The end of the workflow.
    Done,
    /// The phase of this id in the same workflow.
    Phase(String),
}

impl Target {
    /// The targets that have a word of their own.
    pub const WORDS: [&str; 3] = ["next", "loop", "done"];

    fn of(word: &str) -> Self {
        match word {
            "next" => Self::Next,
            "loop" => Self::Loop,
            "done" => Self::Done,
            id => Self::Phase(id.to_owned()),
        }
    }

    /// The word or id by which a phase file names it.
    pub fn word(&self) -> &str {
        match self {
            Self::Next => "next",
            Self::Loop => "loop",
            Self::Done => "done",
            Self::Phase(id) => id,
        }
    }
}

/// Reads `outcomes`; `None` after an error. The ids of phases are checked with the workflow.
pub(super) fn read(fields: &mut Fields) -> Option<Vec<Outcome>> {
    let expected = "a mapping like `{ clean: next, issues: implement }`";
    let entries = fields.entries("outcomes", expected, Some(MAX_OUTCOMES))?;
    let outcomes: Vec<Option<Outcome>> = entries
        .iter()
        .map(|(name, target)| {
            let (field, name) = ("outcomes", name.to_string());
            if !is_name(&name) {
                let problem = Problem::BadName { field, name: name.clone() };
                fields.report(&[Step::Key(field), Step::Name(&name)], problem);
                return None;
            }
            let Some(word) = scalar(target).filter(|word| !super::is_blank(word)) else {
                let problem = Problem::BadValue {
                    field: format!("outcomes.{name}"),
                    expected: "`next`, `loop`, `done` or the id of a phase".into(),
                    found: written(target),
                    suggestion: None,
                };
                fields.report(&[Step::Key(field), Step::Key(&name)], problem);
                return None;
            };
            Some(Outcome { name, target: Target::of(&word) })
        })
        .collect();
    outcomes.into_iter().collect()
}
