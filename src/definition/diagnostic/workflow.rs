//! Workflows beside each other: references, ways and names.

use super::description::{Description, error, failure, warning};
use crate::definition::model::{MAX_OFFERED, MAX_OFFERS};

#[derive(Debug, Clone, PartialEq)]
pub enum WorkflowProblem {
    UnknownWorkflow { workflow: String, reference: String, suggestion: Option<String> },
    CommandNameAsReference { workflow: String, reference: String, key: String },
    BrokenWorkflow { workflow: String, reference: String },
    MissingInput { reference: String, name: String, expected: String },
    Cycle { keys: Vec<String> },
    InCycle { workflow: String, reference: String },
    NestedTooDeep { limit: usize },
    TooManyEntries { limit: usize },
    TooLarge,
    UncheckedCalls,
    NoEnd { outcome: String, workflow: String },
    PackageCommandName { name: String, package: String, first: String, first_file: String },
    DuplicateCommandName { name: String, first: String, second: String, first_file: String },
    SimilarCommandName { names: [String; 2], keys: [String; 2] },
    DuplicateWorkflow { key: String, first: String },
    Replaces { key: String, other: String },
    NotForUsers { field: &'static str },
    TooManyOffers,
}

impl WorkflowProblem {
    pub(crate) fn describe(&self) -> Description {
        match self {
            Self::UnknownWorkflow { workflow, reference, suggestion } => error(format!(
                "the workflow \"{workflow}\" refers to \"{reference}\", which does not exist"
            ))
            .suggest(suggestion.as_ref()),
            Self::CommandNameAsReference { workflow, reference, key } => error(format!(
                "the workflow \"{workflow}\" refers to \"{reference}\", which is the `commandName` of \"{key}\" and not a key"
            ))
            .suggest(Some(format!("subworkflow: {key}"))),
            Self::BrokenWorkflow { workflow, reference } => error(format!(
                "the workflow \"{workflow}\" refers to \"{reference}\", which has errors"
            ))
            .help(format!("fix \"{reference}\" first")),
            Self::MissingInput { reference, name, expected } => error(format!(
                "the nested workflow \"{reference}\" needs a value of `{name}`: {expected}"
            ))
            .help(format!("add `with: {{ {name}: … }}` beside `subworkflow`")),
            Self::Cycle { keys } => error(format!(
                "the workflows refer to each other in a cycle: {}",
                keys.join(" → ")
            ))
            .help("remove one of these references"),
            Self::InCycle { workflow, reference } => error(format!(
                "the workflow \"{workflow}\" refers to \"{reference}\", which is part of a cycle"
            ))
            .help("fix the cycle first"),
            Self::NestedTooDeep { limit } => {
                error(format!("workflows are nested more than {limit} deep"))
            }
            Self::TooManyEntries { limit } => error(format!(
                "a workflow with conditions or outcomes must have fewer than {limit} entries, with those of nested workflows"
            )),
            Self::TooLarge => error("too large to check: its entries, values and paths would take too long to compare")
                .help("split it into workflows of their own, or use fewer values and paths"),
            Self::UncheckedCalls => failure("too large to check: files of gates and texts would take too long to compare")
                .help("use fewer patterns or variables"),
            Self::NoEnd { outcome, workflow } => warning(format!(
                "no way leads from the outcome `{outcome}` to the end of {workflow}"
            )),
            Self::DuplicateCommandName { name, first, second, first_file } => warning(format!(
                "duplicate command name \"{name}\" of \"{second}\" and \"{first}\" ({first_file}); \"{first}\" is used"
            ))
            .help(OWN_COMMAND_NAME),
            Self::PackageCommandName { name, package, first, first_file } => warning(format!(
                "`/workflow {name}` starts \"{first}\" ({first_file}), not this workflow of the package \"{package}\""
            ))
            .help(format!("`/workflow {package}/{name}` starts this one")),
            Self::SimilarCommandName { names: [first, second], keys: [one, other] } => {
                warning(format!(
                    "the command names \"{first}\" of \"{one}\" and \"{second}\" of \"{other}\" differ in case only"
                ))
                .help(OWN_COMMAND_NAME)
            }
            Self::DuplicateWorkflow { key, first } => {
                warning(format!("duplicate workflow \"{key}\"; the one in {first} is used"))
                    .help("give each workflow's folder a name of its own")
            }
            Self::Replaces { key, other } => {
                warning(format!("this workflow replaces the other \"{key}\" ({other})"))
            }
            Self::NotForUsers { field } => warning(format!("`{field}` has no effect: only other workflows start this one"))
                .help("remove it, or `show: workflows`"),
            Self::TooManyOffers => {
                warning(format!(
                    "`whenToUse` has no effect: the agent is offered at most {MAX_OFFERED} workflows, with {MAX_OFFERS} characters in all"
                ))
                .help("shorten it, or remove it from others")
            }
        }
    }
}

const OWN_COMMAND_NAME: &str = "give each workflow a `commandName` of its own";
