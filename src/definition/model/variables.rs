//! The variables that a template of each field may have.

use super::values::ValueName;

/// The variables of instructions, `roleInstruction` and `advanceReminder`.
pub const PHASE_VARIABLES: [&str; 18] = [
    "workflowName",
    "workflowKey",
    "description",
    "taskId",
    "phaseId",
    "phaseName",
    "previousPhaseName",
    "nextPhaseName",
    "blockedToolsList",
    "toolName",
    "breadcrumbPath",
    "globalStepCount",
    ValueName::ITEM,
    ValueName::ITEM_NUMBER,
    ValueName::ITEM_COUNT,
    RUN_DIR,
    WORKFLOW_DIR,
    PREVIOUS_SUMMARY,
];

pub const INITIAL_MESSAGE_VARIABLES: [&str; 9] = [
    "workflowName",
    "workflowKey",
    "description",
    "firstPhaseId",
    "firstPhaseName",
    "firstPhaseEmoji",
    "firstPhaseProfiles",
    RUN_DIR,
    WORKFLOW_DIR,
];

pub const BLOCK_REASON_VARIABLES: [&str; 6] =
    ["workflowName", "phaseName", "toolName", "allowedTools", RUN_DIR, WORKFLOW_DIR];

pub const COMPLETION_VARIABLES: [&str; 12] = [
    "workflowName",
    "phaseName",
    "phaseEmoji",
    "outcome",
    "taskDescription",
    "taskId",
    "phaseCount",
    RUN_DIR,
    WORKFLOW_DIR,
    PREVIOUS_SUMMARY,
    "evidence",
    "usage",
];

pub const NOT_DONE_VARIABLES: [&str; 10] = [
    "workflowName",
    "phaseName",
    "phaseEmoji",
    "phaseInstructions",
    "taskDescription",
    "taskId",
    "workflowKey",
    RUN_DIR,
    WORKFLOW_DIR,
    PREVIOUS_SUMMARY,
];

/// The variables that every template knows.
const RUN_DIR: &str = ValueName::RUN_DIR;
const WORKFLOW_DIR: &str = ValueName::WORKFLOW_DIR;

/// A template that knows this variable knows `{summary.ID}` too, for the id of each phase.
pub(crate) const PREVIOUS_SUMMARY: &str = "previousSummary";

/// Meaning of each variable, for the documentation.
pub const MEANINGS: [(&str, &str); 30] = [
    ("workflowName", "name of the workflow that was started"),
    ("workflowKey", "key of the workflow that was started"),
    ("description", "the task"),
    ("taskDescription", "the task"),
    ("taskId", "`wf-…`, unique for each run"),
    ("phaseId", "id of the phase"),
    ("phaseName", "name of the phase; at the end, of the last one"),
    ("phaseEmoji", "emoji of that phase"),
    ("phaseInstructions", "`(as given for this phase)`: the agent has the instructions of the phase in view"),
    ("previousPhaseName", "name of the previous phase in the innermost workflow, or `(start)`"),
    ("nextPhaseName", "name of the next phase in the innermost workflow, or `DONE`"),
    ("blockedToolsList", "the phase's blacklist, or `(none)`"),
    ("toolName", "`workflow_step`; in `blockReasonTemplate` the tool that is refused"),
    ("allowedTools", "`all except: …`, or the whitelist"),
    ("breadcrumbPath", "the names of the nested workflows, with ` > ` between them"),
    ("globalStepCount", "number of transitions so far"),
    ("item", "the item of the innermost group with `each` around the phase, or `(none)`"),
    ("itemNumber", "the number of that item, from 1, or `(none)`"),
    ("itemCount", "the number of items, or `(none)`"),
    (RUN_DIR, "path of the folder of this run, from the project's directory: `.pi/workflow-runs/…`"),
    (
        WORKFLOW_DIR,
        "absolute path of the folder of the workflow that has the text; with a phase file, of the workflow that lists it",
    ),
    ("previousSummary", "the newest summary, or `(none)`"),
    ("phaseCount", "number of entries of `phases`"),
    (
        "evidence",
        "the results of the checks of all gates, one per line; without this variable only those that failed or were skipped are appended",
    ),
    ("outcome", "the outcome with which the run was stopped, or `done` or `cancelled`"),
    ("usage", "turns, tokens, cost and time of the whole run"),
    ("firstPhaseId", "id of the first phase"),
    ("firstPhaseName", "name of the first phase"),
    ("firstPhaseEmoji", "emoji of the first phase"),
    ("firstPhaseProfiles", "profiles of the first phase, or `(none)`"),
];

/// Variables whose names end with a name of the workflow, with their meanings. `summary.ID` is known where
/// `previousSummary` is, every other variable in every template.
#[cfg_attr(target_arch = "wasm32", expect(dead_code, reason = "for the reference"))]
pub const NAMED: [(&str, &str); 6] = [
    (
        "summary.ID",
        "the summary of the phase, step or question with this id, or the newest of the nested workflow with this key or the group with this id, or `(none)`",
    ),
    (
        "input.NAME",
        "the value of the input: in the text of a phase, of the workflow that lists it; in other templates, of the workflow that was started",
    ),
    (
        "output.ID.NAME",
        "the output of the phase, step or nested workflow with this id, of a list numbered lines, or `(none)`",
    ),
    (
        "outcome.ID",
        "the outcome of the phase, step, question or group with this id, or of the nested workflow with this key, or `(none)`",
    ),
    ("item.FIELD", "the field of that item, which is a record, or `(none)`"),
    ("log.ID", "the end of what the step with this id printed, at most 20,000 characters, or `(none)`"),
];

/// Returns the words of a name in braces, with what stands between them in the forms of other programs left out.
pub(crate) fn words_of(name: &str) -> Vec<&str> {
    let words = name.split(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-')));
    words.filter(|word| !word.is_empty()).collect()
}
