//! Workflows, and how they are read from files.
//!
//! [`Library::load`] reads every workflow of every root. It returns the workflows that could be
//! read, and a [`Diagnostic`] for each error.
//!
//! | folder | | uses |
//! | --- | --- | --- |
//! | `model` | what a workflow is; no parsing | |
//! | `diagnostic` | what is wrong, in words, and where | `model` |
//! | `read` | from bytes to the model | `model`, `diagnostic` |
//! | `check` | what is true of the model | `model`, `diagnostic` |
//! | `load` | reads all roots, checks, and finds the places | all |
//! | `user_file` | reads a file of the user's own: the limits of every session, and how the user is notified | all |

mod check;
mod diagnostic;
mod load;
mod model;
mod read;
mod skeleton;
mod user_file;

#[cfg(test)]
pub(crate) mod fixtures;
#[cfg(test)]
mod tests;

pub use diagnostic::description::Severity;
pub use diagnostic::excerpt::{Excerpt, columns, on_one_line};
pub use diagnostic::place::Place;
pub use diagnostic::problem::Problem;
pub use diagnostic::report::Diagnostic;

pub(crate) use model::blank::{is_blank, is_space, trim};
pub use model::bound_values::{BoundValue, BudgetBounds};
pub use model::budget::{Budget, Measure};
pub use model::conditions::Condition;
pub use model::confinement::{Confinement, Sandbox};
pub use model::each::Each;
pub use model::expected_calls::PhaseTest;
pub use model::files::{
    DirEntry, FileError, FileKind, Package, PackageScope, ReadError, Root, Stale, Surroundings, UserMessage,
    WorkflowFiles, WriteTarget,
};
pub use model::gate::{Check, CheckKind, Command, Gate, Pattern, Variable, expansions, label_of};
pub use model::groups::FileEntry;
pub use model::hidden::HiddenCause;
pub use model::inputs::{Given, Input, is_name as is_input_name};
pub use model::library::{LeftOut, Library, MAX_NESTING};
pub use model::limits::{Limits, RuleFile};
pub use model::models::{Aliases, KnownModel, Lack, Model, ModelSetting, Thinking, choose};
pub use model::nearest::nearest;
pub use model::notify::{Notify, Occasion};
pub use model::outcomes::{Outcome, Target, WayBound};
pub use model::outputs::Output;
pub use model::own_work::OwnWork;
pub use model::parallel::{Decide, Need, Parallel};
pub use model::path_variables::{
    PathVariable, refusal as path_refusal, resolve as resolve_path, unescaped, variables as path_variables, with_names,
};
pub use model::paths::{is_group_key, is_key, is_within};
pub(crate) use model::permission::is_glob;
pub use model::permission::{Permission, Reach, Refusal, permission, wider_for_commands};
pub use model::results::Results;
pub use model::rule_inputs::RuleUse;
pub use model::tools::{is_carrier, runs_commands, writes_path};
pub use model::totals::{MAX_BYTES, MAX_ENTRIES, Total};
pub use model::user_limits::UserLimits;
pub use model::value_type::{Bounds, ValueType};
pub use model::values::{SAMPLE_RUN_DIR, ValueName};
pub use model::words::short;
pub use model::work::{Answer, AnswerText, Question, Step, Work};
pub use model::workflow::{
    AutoContinue, ContextInjection, ContextMode, DEFAULT_MAX_LOOPS, Entry, EntryKind, Phase, Show, ToolPolicy, Workflow,
};
pub use model::{schema, seal, variables};
pub use read::plain::{PlainFile, read as read_plain};
pub use read::profiles::defined_profiles;
pub use read::rule_place::rule_place;
pub use skeleton::skeleton;
pub use user_file::{FileOf, Found, UserContent};
