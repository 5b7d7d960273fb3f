//! Workflows, and how they are read from files.
//!
//! [`Library::load`] reads every workflow of every root. It returns the workflows that could be
//! read, and a [`Diagnostic`] for each error.
//!
//! | folder | | uses |
//! | --- | --- | --- |
//! | `model` | the types of a workflow; no parsing | |
//! | `diagnostic` | problems, in words, and their places | `model` |
//! | `read` | from bytes to the model | `model`, `diagnostic` |
//! | `validate` | validation of the model | `model`, `diagnostic` |
//! | `load` | reads all roots, validates, and finds the places | all |
//! | `users_settings` | reads the user's settings and the limits of every session | all |

mod diagnostic;
mod load;
mod model;
mod read;
mod skeleton;
mod users_settings;
mod validate;

#[cfg(test)]
pub(crate) mod fixtures;
#[cfg(test)]
mod tests;

pub use diagnostic::{Diagnostic, Excerpt, Place, Problem, Severity, columns, on_one_line};
pub use model::path_variables::resolve as resolve_path;
pub(crate) use model::written_paths::{relative, stem};
pub use model::{
    Agreement, Aliases, Answer, AnswerText, BUILTIN_ROOT, BoundValue, Bounds, Budget, BudgetBounds, Check, CheckKind,
    Command, Condition, ContextMode, DirEntry, Each, Entry, EntryKind, FileAccess, FileEntry, FileError, FileKind,
    Gate, Given, HiddenCause, Input, KnownModel, LONGEST_WAIT_MS, LeftOut, Library, Limits, MAX_BYTES, MAX_ENTRIES,
    MAX_NESTING, MAX_OFFERED, MAX_OFFERS, Measure, Model, ModelSetting, Need, Offer, OnEvent, Outcome, Output,
    OwnLimits, OwnModel, OwnWork, Package, PackageScope, Parallel, PathVariable, Pattern, Permission, Phase, Question,
    ReadError, Record, Refusal, Results, Root, RuleFile, RuleUse, SAMPLE_RUN_DIR, Sandbox, Settings, Show, Stale, Step,
    Surroundings, Target, Thinking, ToolPolicy, Total, Unavailable, UserLimits, UserMessage, ValueName, ValueType,
    Variable, WAIT_MS, WayBound, Work, Workflow, WorkflowFiles, WorkflowOutput, WriteTarget, as_name, choose,
    expansions, is_carrier, is_group_key, is_key, is_name as is_input_name, is_within, make_different, means_tool,
    nearest, permission, record_of, refusal as path_refusal, runs_commands, short, unescaped,
    variables as path_variables, wait_ms, wider_for_commands, with_emoji, with_names, writes_path,
};
pub(crate) use model::{is_blank, is_glob, is_space, trim};
pub use model::{schema, seal, variables};
pub use read::plain::{PlainFile, read as read_plain};
pub use read::profiles::defined_profiles;
pub use read::sources::rule_place;
pub use skeleton::{Skeleton, skeleton};
pub use users_settings::{FoundLimits, users_limits};
