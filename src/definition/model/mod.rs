//! The model of a workflow: its types, and look-ups in them. Nothing here parses a file.

pub mod blank;
pub mod bound_values;
pub mod budget;
pub mod conditions;
pub mod confinement;
pub mod each;
pub mod expected_calls;
pub mod files;
pub mod gate;
pub mod groups;
pub mod hidden;
pub mod inputs;
pub mod library;
pub mod limits;
pub mod models;
pub mod nearest;
pub mod notify;
pub mod outcomes;
pub mod outputs;
pub mod own_work;
pub mod parallel;
pub mod path_variables;
pub mod paths;
pub mod permission;
pub mod places;
pub mod results;
pub mod rule_inputs;
pub mod run_dir;
#[cfg_attr(target_arch = "wasm32", expect(dead_code, reason = "the schemas and the reference are made of it natively"))]
pub mod schema;
pub mod seal;
pub mod tools;
pub mod totals;
pub mod user_files;
pub mod user_limits;
pub mod value_type;
pub mod values;
pub mod variables;
pub mod words;
pub mod work;
pub mod workflow;
pub mod written_paths;

pub use bound_values::{BoundValue, BudgetBounds};
pub use budget::{Budget, Measure};
pub use conditions::Condition;
pub use confinement::{Confinement, Sandbox};
pub use each::Each;
pub use expected_calls::PhaseTest;
pub use files::{
    DirEntry, FileError, FileKind, Package, PackageScope, ReadError, Root, Stale, Surroundings, UserMessage,
    WorkflowFiles, WriteTarget,
};
pub use gate::{
    Check, CheckKind, Command, Gate, MAX_LABEL, Pattern, RESERVED_VARIABLES, Variable, expansions, is_variable,
    label_of,
};
pub use groups::FileEntry;
pub use hidden::HiddenCause;
pub use inputs::{Given, Input, is_name};
pub use library::{LeftOut, Library, MAX_NESTING};
pub use limits::{Limits, RuleFile};
pub use models::{Aliases, KnownModel, Lack, Model, ModelSetting, Thinking, choose, find};
pub use nearest::nearest;
pub use notify::{Notify, Occasion, TEXT, TITLE};
pub use outcomes::{Outcome, Target, WayBound};
pub use outputs::Output;
pub use own_work::OwnWork;
pub use parallel::{Decide, Need, Parallel};
pub use path_variables::{PathVariable, refusal, unescaped, variables, with_names};
pub use paths::{is_group_key, is_key, is_within};
pub use permission::{Permission, Reach, Refusal, permission, wider_for_commands};
pub use results::Results;
pub use rule_inputs::{BoundField, RuleUse};
pub use schema::{
    CHECK_FIELDS, ENTRY_FIELDS, Field, Kind, LIMITS_FIELDS, MAX_ARGUMENTS, MAX_CONDITIONS, MAX_COUNT,
    MAX_GATE_ATTEMPTS, MAX_INPUTS, MAX_OPTIONS, MAX_OUTCOMES, MAX_OUTPUTS, MAX_PATHS, MAX_PHASES, MAX_TESTS,
    NOTIFY_FIELDS, Needed, OCCASIONS, OUTPUT_FIELDS, SANDBOXES, TESTS_FIELDS, TOOLS_FIELDS, VALUE_TYPES,
};
pub use tools::{is_carrier, runs_commands, writes_path};
pub use totals::{MAX_BYTES, MAX_ENTRIES, Total};
pub use user_files::UserFile;
pub use user_limits::UserLimits;
pub use value_type::{Bounds, MAX_ITEMS, MAX_VALUE, ValueType};
pub use values::{RUN_DIR_IN_BRACES, SAMPLE_RUN_DIR, ValueName};
pub use words::short;
pub use work::{Answer, AnswerText, Question, Step, Work};
pub use workflow::{
    AutoContinue, ContextInjection, ContextMode, DEFAULT_MAX_LOOPS, Entry, EntryKind, Group, Phase, Show, ToolPolicy,
    Workflow,
};

pub(crate) use blank::{is_blank, is_space, trim};
pub(crate) use gate::MAX_EXPANSIONS;
pub(crate) use groups::entries_of_file;
pub(crate) use library::{Listed, Parts, Replacing};
pub(crate) use models::{ALIASES_FILE, ALIASES_ROOT};
pub(crate) use paths::{group_key, join, last_part, package_of, resolve_folder};
pub(crate) use permission::{is_everything, is_glob, split};
pub(crate) use places::below;
pub(crate) use rule_inputs::{bounds_of_inputs, inputs_of_rules};
pub(crate) use schema::FromField;
pub(crate) use tools::{COMMAND_TOOLS, FILE_TOOLS, READING_TOOLS, is_of_pi, tool_in_another_case};
pub(crate) use user_files::{LIMITS_FILE, NOTIFY_FILE, USERS_ROOT};
pub(crate) use words::{either, list};
pub(crate) use written_paths::{is_of_one_item, may_meet};
