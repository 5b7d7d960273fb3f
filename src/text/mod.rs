//! Texts for users and models: templates, prompts, messages, questions, drawings.
//!
//! The default texts and the formats are those of the specification, because stored sessions contain them.

mod attention;
mod branches;
mod budget;
mod confinement;
mod context_prompt;
mod description;
mod diagnostics;
mod drawing;
mod entries;
mod exact;
mod fresh_start;
mod gate;
mod graph;
mod inputs;
mod items;
mod limits;
mod messages;
mod models;
mod names;
mod outputs;
mod parallel;
mod pause;
mod preview;
mod questions;
mod report;
mod results;
mod run_dir;
mod run_preview;
mod status_line;
mod status_panel;
mod step_result;
mod steps;
mod template;
mod usage;
mod ways;

pub use attention::{Notification, run_ended, run_waits, unusable_notifications};
pub use branches::{
    BranchNow, branch_lines, branch_name, branch_over, branch_phase, branch_prompt, branch_usage, branches_told,
};
pub use budget::{
    BUDGET, CALL_OVER_BUDGET, bad_bound, budget_nearly_used_up, budget_notice, budget_question, budget_refusal,
    budget_used_up, left_over_budget, no_amount, unknown_accepted, unpriced_model,
};
pub use confinement::{
    RulesOf, cannot_confine, confinement_notice, failure_signs, limits_not_known, refusal, refused, unconfined_notice,
    unknown_limits,
};
pub use context_prompt::{DEFAULT_ADVANCE_REMINDER, DefaultRole, context_prompt, context_reminder, phase_instructions};
pub use description::description;
pub use diagnostics::{check_report, check_summary, diagnostic_notice, diagnostic_text, package_counts};
pub use drawing::{Color, Drawing, Span, draw_content, draw_entry, draw_step_call, draw_step_result};
pub use entries::{
    answer_text_title, at_entry, bad_answer, entry_prompt, entry_question, last_summary, make_different,
    output_file_name, output_not_kept, step_consent, step_failed, step_progress, step_summary,
};
pub use exact::exact;
pub use fresh_start::{NOT_STARTED, STARTS_FRESH, fresh_notice, fresh_summary};
pub use gate::{
    BEHIND_END, GATE_HAD, GATE_OPEN, RECHECKS_LOST, SOME_CHANGES_UNKNOWN, approval_subject, changed_since,
    changes_unknown, gate_failed, gate_progress, gate_tail, in_words, kept_tail, made_again, made_again_for_doubt,
    sample_evidence, still_running, with_values,
};
pub use graph::{boxes, mermaid};
pub use inputs::{
    bad_in_path, bad_input, input_question, item_question, missing_inputs, missing_options, no_input, open_quote,
    repeated_input, start_usage, unknown_input,
};
pub use limits::{NO_LIMITS, changed_limits, limits_in_brief, limits_panel, limits_switched, unusable_limits};
pub use messages::{
    COMMAND_CANCELLED_MESSAGE, DEFAULT_BLOCK_REASON, DEFAULT_CANCELLED_MESSAGE, DEFAULT_COMPLETION_MESSAGE,
    DEFAULT_NOT_DONE_REMINDER, DEFAULT_STOP_MESSAGE, block_reason, command_cancelled_message, completion_message,
    conversation_resumed, initial_message, not_done_reminder, not_trusted, session_name, untrusted,
};
pub use models::no_model;
pub use names::{origin, phase_title, short_name, task_too_long};
pub use outputs::{OUTPUTS_TOO_LONG, call_with, no_output, outputs_wrong, wrong_outputs};
pub use parallel::{agents_note, many_agents_notice, many_agents_question};
pub use pause::{ended_line, held, held_notice, pause_notice, paused, run_name, unfinished_line};
pub use preview::preview;
pub use questions::{
    Dialog, GateSource, Question, approval_question, cancel_question, consent_question, in_question,
    replacement_notice, replacement_question, start_another_question,
};
pub use report::{Circumstances, Outcome, PhaseReport, Report};
pub use results::summary_of;
pub use run_dir::{NO_RUN_DIR, not_started_without_run_dir, run_without_run_dir};
pub use run_preview::RunPreview;
pub use status_line::status_line;
pub use status_panel::{phase_panel, status_panel};
pub use step_result::{PROMPT_FOLLOWS, advanced, done, looped, outdated, outdated_in_script, status, summary_missing};
pub use template::{Variables, resolve};
pub use usage::usage;
pub use ways::{
    no_more_loops, no_outcome_of, no_phase_with_outcomes, no_repeated_group, nothing_to_do, outcome_missing,
    unknown_outcome, unknown_phase, used_up, way,
};
