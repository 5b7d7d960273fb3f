//! Names of values of a run, as `when`, `with` and `each` write them.

use std::fmt;
use std::hash::{Hash, Hasher};

use crate::sorted::Set;

use super::nearest::nearest;
use super::value_type::ValueType;

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ValueName {
    /// `input.NAME`: the input of this name.
    Input(String),
    /// `output.ID.NAME`: the output of this name of the phase of this id.
    Output { phase: String, name: String },
    /// `outcome.ID`: the outcome of the phase of this id, or of the nested workflow of this key.
    Outcome(String),
    /// `summary.ID`: the summary of the phase of this id, or of the nested workflow of this key.
    Summary(String),
    /// `log.ID`: the output of the step of this id.
    Log(String),
    /// `item`: the item of the innermost repeated group around the name.
    Item,
    /// `item.FIELD`: the field of this name of that item, which is a record.
    ItemField(String),
    /// `itemNumber`: the number of that item, from 1.
    ItemNumber,
    /// `itemCount`: the number of items.
    ItemCount,
    /// `task`: the task of the run.
    Task,
    /// `runDir`: the folder of the run.
    RunDir,
    /// `workflowDir`: the folder of the workflow that has the name.
    WorkflowDir,
}

/// The variable of the folder of the run, as texts and paths have it.
pub const RUN_DIR_IN_BRACES: &str = "{runDir}";

/// A folder of a run that does not exist, for previews.
pub const SAMPLE_RUN_DIR: &str = ".pi/workflow-runs/0123456789abcdef0123";

/// The first words of the names that consist of several words.
const FIRST_WORDS: [&str; 6] = ["input", "output", "outcome", "summary", "log", "item"];

impl ValueName {
    /// The form of the names of inputs.
    pub const INPUT: &str = "input.NAME";
    /// The form of the names of outputs.
    pub const OUTPUT: &str = "output.ID.NAME";
    /// The form of the names of outcomes.
    pub const OUTCOME: &str = "outcome.ID";
    /// The form of the names of summaries.
    pub const SUMMARY: &str = "summary.ID";
    /// The form of the names of outputs of steps.
    pub const LOG: &str = "log.ID";
    pub const ITEM: &str = "item";
    /// The form of the names of fields of items.
    pub const ITEM_FIELD: &str = "item.FIELD";
    pub const ITEM_NUMBER: &str = "itemNumber";
    pub const ITEM_COUNT: &str = "itemCount";
    pub const TASK: &str = "task";
    pub const RUN_DIR: &str = "runDir";
    pub const WORKFLOW_DIR: &str = "workflowDir";

    /// The names of one word.
    const WORDS: [Self; 6] =
        [Self::Item, Self::ItemNumber, Self::ItemCount, Self::Task, Self::RunDir, Self::WorkflowDir];

    /// Reads a name. If the text is not a name, the error is the name that may be meant.
    pub fn parse(text: &str) -> Result<Self, Option<String>> {
        let some = |of: &str| Some(of.to_owned()).filter(|of| !of.is_empty()).ok_or(None);
        match text.split_once('.') {
            None => match Self::WORDS.into_iter().find(|word| word.form() == text) {
                Some(word) => Ok(word),
                None => Err(nearest(text, Self::WORDS.iter().map(Self::form)).map(Into::into)),
            },
            Some(("input", name)) => Ok(Self::Input(some(name)?)),
            Some(("outcome", id)) => Ok(Self::Outcome(some(id)?)),
            Some(("summary", id)) => Ok(Self::Summary(some(id)?)),
            Some(("log", id)) => Ok(Self::Log(some(id)?)),
            Some(("item", name)) => Ok(Self::ItemField(some(name)?)),
            // The id of a phase may have dots.
            Some(("output", of)) => match of.rsplit_once('.') {
                Some((phase, name)) => Ok(Self::Output { phase: some(phase)?, name: some(name)? }),
                None => Err(None),
            },
            Some((word, of)) => Err(nearest(word, FIRST_WORDS).map(|meant| format!("{meant}.{of}"))),
        }
    }

    /// Returns true for a text of the characters of names only, as no command with an argument has them.
    pub(crate) fn can_be(text: &str) -> bool {
        text.chars().all(Self::has)
    }

    /// Returns true for a character of names.
    pub(crate) fn has(c: char) -> bool {
        c.is_alphanumeric() || matches!(c, '_' | '.' | '/' | '@' | '-')
    }

    /// Returns true if a text begins like a name that consists of several words.
    pub fn is_begun_by(text: &str) -> bool {
        text.split_once('.').is_some_and(|(word, _)| FIRST_WORDS.contains(&word))
    }

    /// Returns the first word of names that a word means, also in the plural.
    pub(crate) fn first_word(word: &str) -> Option<&'static str> {
        let word = word.to_ascii_lowercase();
        let is_plural = |one: &str| word.strip_prefix(one) == Some("s") || word == "summaries" && one == "summary";
        FIRST_WORDS.into_iter().find(|one| word == **one || is_plural(one))
    }

    /// Reads a name whose first word may be in the plural.
    pub(crate) fn meant(text: &str) -> Option<Self> {
        let several = text.split_once('.').and_then(|(word, of)| Some(format!("{}.{of}", Self::first_word(word)?)));
        Self::parse(several.as_deref().unwrap_or(text)).ok()
    }

    /// Returns the party that gives the value, in words.
    pub fn giver(&self) -> &'static str {
        match self {
            Self::Input(_) => "the start of the run or, by `with`, the agent",
            Self::Output { .. } | Self::Outcome(_) | Self::Summary(_) => "the agent",
            Self::Item | Self::ItemField(_) => "the file, the start of the run or the agent",
            Self::Log(_) => "a command",
            Self::Task => "the user",
            Self::ItemNumber | Self::ItemCount | Self::RunDir | Self::WorkflowDir => "pi-workflows",
        }
    }

    /// Returns the form of the name, one of the constants.
    pub fn form(&self) -> &'static str {
        match self {
            Self::Input(_) => Self::INPUT,
            Self::Output { .. } => Self::OUTPUT,
            Self::Outcome(_) => Self::OUTCOME,
            Self::Summary(_) => Self::SUMMARY,
            Self::Log(_) => Self::LOG,
            Self::Item => Self::ITEM,
            Self::ItemField(_) => Self::ITEM_FIELD,
            Self::ItemNumber => Self::ITEM_NUMBER,
            Self::ItemCount => Self::ITEM_COUNT,
            Self::Task => Self::TASK,
            Self::RunDir => Self::RUN_DIR,
            Self::WorkflowDir => Self::WORKFLOW_DIR,
        }
    }
}

impl fmt::Display for ValueName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Input(name) => write!(f, "input.{name}"),
            Self::Output { phase, name } => write!(f, "output.{phase}.{name}"),
            Self::Outcome(id) => write!(f, "outcome.{id}"),
            Self::Summary(id) => write!(f, "summary.{id}"),
            Self::Log(id) => write!(f, "log.{id}"),
            Self::ItemField(name) => write!(f, "item.{name}"),
            Self::Item | Self::ItemNumber | Self::ItemCount | Self::Task | Self::RunDir | Self::WorkflowDir => {
                f.write_str(self.form())
            }
        }
    }
}

/// A condition: a value of the run is one of these, or the run has the value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Condition {
    /// The value of the run: one of [`Self::FORMS`].
    pub of: ValueName,
    /// The values for which the condition holds; none if it holds for every value.
    pub values: Vec<String>,
}

/// The order of the values has no meaning.
impl Hash for Condition {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (&self.of, self.values.iter().map(String::as_str).collect::<Set<&str>>()).hash(state);
    }
}

impl Condition {
    /// The forms of the names that a condition may have.
    pub const FORMS: [&str; 4] = [ValueName::INPUT, ValueName::OUTPUT, ValueName::OUTCOME, ValueName::ITEM_FIELD];
    /// The key of the conditions that hold for every value, in the place of a name.
    pub const GIVEN: &str = "given";
    /// The forms of the names that such a condition may have.
    pub const GIVEN_FORMS: [&str; 2] = [ValueName::INPUT, ValueName::OUTPUT];

    /// Returns true if the condition holds for every value that the run has.
    pub fn is_of_any(&self) -> bool {
        self.values.is_empty()
    }

    /// Returns true if the condition holds for a value of this type; an empty list is no value.
    pub fn holds_for(&self, kind: &ValueType, value: &str) -> bool {
        if self.is_of_any() { !value.is_empty() } else { kind.is_one_of(value, &self.values) }
    }
}

/// An output of a workflow, without its type.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct WorkflowOutput {
    /// Its name: letters, digits, `_` and `-`.
    pub name: String,
    /// The value, one of [`Self::FORMS`], as it is at the end of the workflow.
    pub of: ValueName,
}

impl WorkflowOutput {
    /// The forms of names that an output may have.
    pub const FORMS: [&str; 1] = [ValueName::OUTPUT];
}

/// The source of the items of a group.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Each {
    /// The items stand in the file; at least one.
    Items(Vec<String>),
    /// Lists of the run, joined; at least one, each one of [`Self::FORMS`].
    Of(Vec<ValueName>),
}

impl Each {
    /// The forms of names that `each` may have.
    pub const FORMS: [&str; 2] = [ValueName::INPUT, ValueName::OUTPUT];
}

/// The names of the lists, or the items.
impl fmt::Display for Each {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Items(items) => write!(f, "[{}]", items.join(", ")),
            Self::Of(names) => match &names[..] {
                [name] => name.fmt(f),
                names => write!(f, "[{}]", names.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_they_are_written() {
        for text in [
            "input.x",
            "output.plan.size",
            "output.a.b.c",
            "outcome.a.b",
            "summary.p",
            "log.a",
            "item.x",
            "task",
            "runDir",
            "workflowDir",
            "item",
            "itemCount",
        ] {
            assert_eq!(ValueName::parse(text).map(|name| name.to_string()), Ok(text.into()));
        }
        let of = ValueName::Output { phase: "a.b".into(), name: "c".into() };
        assert_eq!(ValueName::parse("output.a.b.c"), Ok(of));
    }

    #[test]
    fn other_texts_are_no_names() {
        for (text, meant) in [
            ("", None),
            ("x", None),
            ("taks", Some("task")),
            ("rundir", Some("runDir")),
            ("run-dir", Some("runDir")),
            ("workflow_dir", Some("workflowDir")),
            ("inputs.x", Some("input.x")),
            ("ouput.plan.size", Some("output.plan.size")),
            ("output.plan", None),
            ("output..size", None),
            ("output.plan.", None),
            ("input.", None),
            ("plan.size", None),
        ] {
            assert_eq!(ValueName::parse(text), Err(meant.map(Into::into)), "{text}");
        }
    }
}
