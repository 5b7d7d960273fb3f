//! Prompts, refusals and messages of a run, and the session's name.

use std::borrow::Cow;
use std::cell::Cell;

use crate::definition::{EntryKind, Library, Phase, Workflow, on_one_line, short};
use crate::run::{Active, PhasePath, RunState, RunStatus, Visit};

use super::names::{first_of, phase_title, short_name};
use super::task::task;
use super::template::{resolve, resolve_with};
use super::variables::{run_variable, value_variable};
use super::{exact, gate, results, usage};

/// Message at the end of a run, without a `completionMessage` of the workflow.
pub const DEFAULT_COMPLETION_MESSAGE: &str = "✅ **{workflowName} Complete**\n\n**Task:** {taskDescription}\n**Task ID:** {taskId}\n**Phases completed:** {phaseCount}";

/// Message at the end of a stopped run, without a `completionMessage` of the workflow.
pub const DEFAULT_STOP_MESSAGE: &str = "⛔ {workflowName} was stopped in {phaseEmoji} {phaseName}: {outcome}\n\n**Task:** {taskDescription}\n**Task ID:** {taskId}";

/// Message after a cancellation, without a `completionMessage` of the workflow.
pub const DEFAULT_CANCELLED_MESSAGE: &str =
    "❌ **{workflowName} Cancelled**\n\n**Task:** {taskDescription}\n**Task ID:** {taskId}";

/// Template of the message of `/cancel-workflow`.
pub const COMMAND_CANCELLED_MESSAGE: &str =
    "❌ **Workflow Cancelled**\n\n**Task:** {taskDescription}\n**Task ID:** {taskId}";

/// The refusal to start a run, and the notice of a run that cannot go on, if pi does not have the step tool.
pub const NO_STEP_TOOL: &str = "pi does not have the tool workflow_step in this session, so no phase of a workflow could be left. Start pi without `--no-tools`, `--exclude-tools` and `--tools`, or name workflow_step in `--tools`.";

/// Prompt for an agent that stopped before DONE, without a `notDoneReminder` of the workflow.
pub const DEFAULT_NOT_DONE_REMINDER: &str = "⚠️ The {workflowName} is still active. Current phase: {phaseEmoji} {phaseName}.\n\nYou must NOT stop yet. The workflow requires you to complete the current phase and call workflow_step to advance.\n\nCurrent phase instructions:\n{phaseInstructions}\n\nContinue working on the current phase and call workflow_step when done.";

/// The prompt in place of [`DEFAULT_NOT_DONE_REMINDER`] from the second automatic continuation in a phase on.
const NEXT_NOT_DONE_REMINDER: &str =
    "⚠️ The {workflowName} is still active in {phaseEmoji} {phaseName}. Complete the phase, and call workflow_step.";

/// Replacement for instructions that the model still has in view.
const INSTRUCTIONS_GIVEN: &str = "(as given for this phase)";

const DEFAULT_SESSION_NAME_PREFIX: &str = "Workflow: ";
const DEFAULT_SESSION_NAME_MAX_LENGTH: usize = 50;
/// Maximum length of the session's name in characters, independent of the workflow's.
const MAX_SESSION_NAME: usize = 200;

/// Returns the reason why the workflows in this folder of the project are missing.
pub fn not_trusted(folder: &str) -> String {
    format!("{} is not read: pi does not trust this project", exact(&on_one_line(folder)))
}

/// Returns the reason of [`not_trusted`], and the way for the user to change it.
pub fn untrusted(folder: &str, in_terminal: bool) -> String {
    let how =
        if in_terminal { "/trust, then start pi again (or once: pi --approve)" } else { "start pi with --approve" };
    format!("{}. To trust it: {how}.", not_trusted(folder))
}

/// Returns the line about a folder of workflows above the project.
pub fn above(folder: &str) -> String {
    format!("{} has workflows, which are known where pi is started beside them.", exact(&on_one_line(folder)))
}

/// Maximum number of lines of a message at the end without its first line repeated as the last line.
const MAX_END: usize = 15;

/// Returns the message at the end of a run: the default with the summaries of the phases, the evidence of the gates and
/// the usage of the run, or the workflow's `completionMessage`. Only the checks that failed or were skipped are added to
/// the workflow's own message, unless it contains `{evidence}`.
///
/// Specification: hook lifecycle, "Case A"; template variables, "Completion & Reminder Variables".
pub fn completion_message(state: &RunState, workflow: &Workflow, library: &Library) -> String {
    let (outcome, default) = match state.status {
        RunStatus::Stopped { .. } => (state.stopped_with().unwrap_or("(none)"), DEFAULT_STOP_MESSAGE),
        RunStatus::Cancelled { .. } => ("cancelled", DEFAULT_CANCELLED_MESSAGE),
        RunStatus::Done { .. } | RunStatus::Running => ("done", DEFAULT_COMPLETION_MESSAGE),
    };
    let evidence = |open_only| gate::all_evidence_lines(state, library, open_only).join("\n");
    let names_evidence = Cell::new(false);
    let entries = Entries::of(state, workflow, library);
    let own = workflow.completion_message.as_deref();
    let last = gate::phase_at(&state.last_phase_key(), library);
    let mut message = resolve_with(own.unwrap_or(default), |name| {
        Some(match name {
            "workflowName" => Cow::Borrowed(&*workflow.name),
            "taskDescription" => task(state),
            "taskId" => Cow::Borrowed(&state.task_id),
            "phaseName" => Cow::Borrowed(last.map_or("(none)", |phase| &phase.name)),
            "phaseEmoji" => Cow::Borrowed(last.map_or("", |phase| &phase.emoji)),
            "outcome" => Cow::Borrowed(outcome),
            "phaseCount" if own.is_none() => Cow::Owned(entries.done.to_string()),
            "phaseCount" => Cow::Owned(workflow.phases.len().to_string()),
            "evidence" => {
                names_evidence.set(true);
                Cow::Owned(evidence(false))
            }
            "usage" => Cow::Owned(usage(&state.usage()).unwrap_or_else(|| "(nothing)".to_owned())),
            _ => run_variable(name, state, 1, library)?,
        })
    });
    if own.is_none() && matches!(state.status, RunStatus::Done { .. } | RunStatus::Running) {
        message.push_str(&entries.lines());
    }
    let mut append = |title: &str, lines: &str| {
        if !lines.is_empty() {
            message.push_str(&format!("\n\n**{title}:**\n{lines}"));
        }
    };
    if own.is_none() {
        // A stopped run is still at the place where it was stopped: its results are listed as seen from outside, like
        // the results of a run that is done.
        let outside = state.current_path.at_depth(if state.is_stopped() { 1 } else { usize::MAX });
        let outside = state.at(outside);
        append("Results", &results::lines(&outside, library).join("\n"));
    }
    if !names_evidence.get() {
        append("Gates", &evidence(own.is_some()));
    }
    if own.is_none() {
        message.push_str(&usage_line(state));
        if let Some(headline) = message.lines().next().filter(|_| message.lines().count() > MAX_END) {
            // The first line is out of view.
            message = format!("{message}\n\n{headline}");
        }
    }
    message
}

/// The entries of the root workflow at the end of a run.
struct Entries {
    done: usize,
    skipped: Vec<String>,
    passed_over: Vec<String>,
}

impl Entries {
    fn of(state: &RunState, root: &Workflow, library: &Library) -> Self {
        let visits = &state.progress().visits;
        let passes: u64 = visits.values().map(|visit| u64::from(visit.number)).sum();
        // The reference records no visits.
        let knows_all = passes >= state.global_step_count && !visits.is_empty();
        let mut entries = Self { done: 0, skipped: Vec::new(), passed_over: Vec::new() };
        for (index, entry) in root.phases.iter().enumerate() {
            let path = PhasePath::start(&root.key).with_index(index);
            let (key, below) = (path.key(), path.below());
            let name = match &entry.kind {
                EntryKind::Phase(phase) => phase_title(phase),
                EntryKind::Workflow { .. } => short_name(library.entry_name(entry)),
            };
            let own: Vec<&Visit> = visits
                .iter()
                .filter(|(other, _)| **other == key || other.starts_with(&below))
                .map(|(_, visit)| visit)
                .collect();
            let is_skipped = if own.is_empty() { knows_all } else { own.iter().all(|visit| visit.skipped) };
            if state.progress().passed_over.contains_key(&key) {
                entries.passed_over.push(name);
            } else if is_skipped {
                entries.skipped.push(name);
            } else {
                entries.done += 1;
            }
        }
        entries
    }

    /// Returns the lines that follow the number of done entries.
    fn lines(&self) -> String {
        let line = |title: &str, names: &[String]| match names {
            [] => String::new(),
            names => format!("\n**{title}:** {}", first_of(names.iter().cloned(), MAX_NAMED)),
        };
        line("Skipped", &self.skipped) + &line("Passed over", &self.passed_over)
    }
}

/// Maximum number of entries that the message at the end names as skipped, and as passed over.
const MAX_NAMED: usize = 10;

/// Returns the message of `/cancel-workflow`.
///
/// Specification: template variables, "Cancelled Message".
pub fn command_cancelled_message(state: &RunState) -> String {
    let values = [("taskDescription", task(state)), ("taskId", Cow::Borrowed(&*state.task_id))];
    resolve(COMMAND_CANCELLED_MESSAGE, &values) + &usage_line(state)
}

/// Returns the last line of a message at the end of a run: its usage. Empty if the model has not answered.
fn usage_line(state: &RunState) -> String {
    usage(&state.usage()).map_or_else(String::new, |took| format!("\n\n**Usage:** {took}"))
}

/// Returns the prompt for an agent that stopped before DONE, without the instructions, which the model has in view or
/// gets beside the prompt. The default text is not repeated in the same phase.
///
/// Specification: hook lifecycle, "Case B".
pub fn not_done_reminder(active: &Active) -> String {
    let seen = active.seen();
    let active = &active.with(&seen);
    let is_first = active.state.progress().continuations == 0;
    let default = if is_first { DEFAULT_NOT_DONE_REMINDER } else { NEXT_NOT_DONE_REMINDER };
    resolve_with(active.root.not_done_reminder.as_deref().unwrap_or(default), |name| {
        Some(match name {
            "workflowName" => Cow::Borrowed(&*active.root.name),
            "phaseName" => Cow::Borrowed(&active.phase.name),
            "phaseEmoji" => Cow::Borrowed(&active.phase.emoji),
            "phaseInstructions" => INSTRUCTIONS_GIVEN.into(),
            "taskDescription" => task(active.state),
            "taskId" => Cow::Borrowed(&active.state.task_id),
            "workflowKey" => Cow::Borrowed(&active.state.workflow_key),
            _ => run_variable(name, active.state, 1, active.library)?,
        })
    })
}

/// Returns the prompt for an agent in a conversation that the user resumes without a message.
pub fn conversation_resumed(phase: &Phase) -> String {
    format!(
        "The user resumed the workflow, without a message for you. Go on with the conversation in {}.",
        phase_title(phase)
    )
}

/// Returns the prompt that starts a run.
///
/// Specification: template variables, "`initialMessage` Variables".
pub fn initial_message(workflow: &Workflow, library: &Library, state: &RunState) -> String {
    let first = Active::resolve(state, library).map(|active| active.phase);
    let of_first = |field: fn(&Phase) -> &str| Cow::Borrowed(first.map_or("", field));
    let profiles =
        first.and_then(|phase| phase.profiles.as_ref()).map_or("(none)".to_owned(), |profiles| profiles.join(", "));
    resolve_with(&workflow.initial_message, |name| {
        Some(match name {
            "workflowName" => Cow::Borrowed(&*workflow.name),
            "workflowKey" => Cow::Borrowed(&*workflow.key),
            "description" => task(state),
            "firstPhaseId" => of_first(|phase| &phase.id),
            "firstPhaseName" => of_first(|phase| &phase.name),
            "firstPhaseEmoji" => of_first(|phase| &phase.emoji),
            "firstPhaseProfiles" => Cow::Borrowed(&*profiles),
            _ => value_variable(name, state, 1, library)?,
        })
    })
}

/// Returns the session's name: the prefix, and the task shortened to the workflow's length.
///
/// The length counts UTF-16 code units, like the reference; no character is divided.
pub fn session_name(workflow: &Workflow, task: &str) -> String {
    let prefix = workflow.session_name_prefix.as_deref().unwrap_or(DEFAULT_SESSION_NAME_PREFIX);
    let limit = workflow.session_name_max_length.unwrap_or(DEFAULT_SESSION_NAME_MAX_LENGTH);
    let mut length = 0;
    let cut = task.char_indices().find(|(_, c)| {
        length += c.len_utf16();
        length > limit
    });
    let name = match cut.and_then(|(at, _)| task.get(..at)) {
        Some(beginning) => format!("{prefix}{beginning}…"),
        None => format!("{prefix}{task}"),
    };
    // pi replaces line ends in the name.
    if name.chars().nth(MAX_SESSION_NAME).is_some() { short(&name, MAX_SESSION_NAME) } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definition::fixtures::{phase, workflow};
    use crate::definition::{EntryKind, Input, ToolPolicy, ValueType};
    use crate::definition::{schema, variables};
    use crate::run::{Evidence, Leaving, advance, begin};
    use crate::text::{DefaultRole, block_reason, context_prompt};

    /// Returns all of these variables in braces.
    fn all(variables: &[&str]) -> Option<String> {
        Some(format!("<{{{}}}>", variables.join("} {")))
    }

    #[test]
    fn a_stopped_run_says_where_and_with_which_outcome() {
        let root = workflow("w", &["a", "b"]);
        let library = Library::new(vec![root.clone()], &mut Vec::new());
        let state = RunState::new("w", "task", 0, 0).stopped("rejected");
        let message = completion_message(&state, &root, &library);
        assert!(message.starts_with("⛔ The w was stopped in 🔹 A: rejected\n\n**Task:** task\n"), "{message}");
        assert!(!message.contains("Complete"), "{message}");
        let own = Some("{outcome} in {phaseEmoji} {phaseName}".to_owned());
        let root = Workflow { completion_message: own, ..root };
        for (state, expected) in [
            (state.clone(), "rejected in 🔹 A"),
            (RunState::new("w", "task", 0, 0).cancelled(), "cancelled in 🔹 A"),
            (RunState::new("w", "task", 0, 0), "done in 🔹 A"),
        ] {
            assert_eq!(completion_message(&state, &root, &library), expected);
        }
        // At the end of a run in a nested workflow.
        let root = Workflow { phases: workflow("w", &["@s"]).phases, ..root };
        let library = Library::new(vec![root.clone(), workflow("s", &["b"])], &mut Vec::new());
        let state = begin(&RunState::new("w", "task", 0, 0), &library).0.begun(0);
        let done = advance(&state, &library).0.moved_from(&state, Leaving::Done, 0);
        assert_eq!(completion_message(&done, &root, &library), "done in 🔹 B");
    }

    #[test]
    fn every_variable_of_a_field_is_resolved() {
        let mut root = workflow("w", &["a"]);
        for field in Workflow::FIELDS {
            let schema::Kind::Template(variables) = field.kind else { continue };
            match field.name {
                "initialMessage" => root.initial_message = all(variables).unwrap_or_default(),
                "roleInstruction" => root.role_instruction = all(variables),
                "advanceReminder" => root.advance_reminder = all(variables),
                "blockReasonTemplate" => root.block_reason_template = all(variables),
                "completionMessage" => root.completion_message = all(variables),
                "notDoneReminder" => root.not_done_reminder = all(variables),
                other => panic!("{other} is resolved nowhere"),
            }
        }
        let EntryKind::Phase(phase) = &mut root.phases[0].kind else { panic!() };
        let phase = std::rc::Rc::make_mut(phase);
        phase.instructions = all(&variables::PHASE_VARIABLES).unwrap();
        phase.tools = ToolPolicy::Only(vec![]);
        let library = Library::new(vec![root.clone()], &mut Vec::new());
        let state = RunState::new("w", "task", 0, 0);
        let active = Active::resolve(&state, &library).unwrap();
        for text in [
            initial_message(&root, &library, &RunState::new("w", "task", 0, 0)),
            context_prompt(&active, DefaultRole::Worker),
            block_reason(&active, "edit").unwrap(),
            completion_message(&state, &root, &library),
            not_done_reminder(&active),
        ] {
            let own = text.split("\n\nworkflow_step {").next().unwrap();
            assert!(own.contains('<') && !own.contains('{'), "{text}");
        }
    }

    #[test]
    fn every_template_knows_inputs_and_outcomes() {
        let template = || Some("<{input.note} {input.other} {outcome.a} {outcome.other}>".to_owned());
        let input =
            Input { name: "note".into(), kind: ValueType::TEXT, default: None, is_optional: false, description: None };
        let mut root = Workflow {
            inputs: vec![input],
            initial_message: template().unwrap(),
            role_instruction: template(),
            advance_reminder: template(),
            block_reason_template: template(),
            completion_message: template(),
            not_done_reminder: template(),
            ..workflow("w", &["a", "b"])
        };
        let EntryKind::Phase(phase) = &mut root.phases[1].kind else { panic!() };
        let phase = std::rc::Rc::make_mut(phase);
        phase.instructions = template().unwrap();
        phase.tools = ToolPolicy::Only(vec![]);
        let library = Library::new(vec![root.clone()], &mut Vec::new());
        let mut state = RunState::new("w", "task", 0, 0);
        state.current_path[0].phase_index = 1;
        state.progress_mut().inputs.insert("note", "{description}".into());
        let active = Active::resolve(&state, &library).unwrap();
        let expected = "<{description} {input.other} (none) {outcome.other}>";
        let prompt = context_prompt(&active, DefaultRole::Worker);
        assert_eq!(prompt.matches(expected).count(), 3, "{prompt}");
        for text in [
            initial_message(&root, &library, &state),
            block_reason(&active, "edit").unwrap(),
            completion_message(&state, &root, &library),
            not_done_reminder(&active),
        ] {
            assert!(text.starts_with(expected), "{text}");
        }
    }

    fn check(name: &str, passed: bool) -> Evidence {
        Evidence {
            name: name.into(),
            passed,
            result: if passed { "it holds" } else { "it is empty" }.into(),
            duration_ms: 0,
            attempt: 1,
            tail: String::new(),
            ..Evidence::default()
        }
    }

    #[test]
    fn a_message_of_the_workflow_is_exact_but_for_gates_that_were_not_passed() {
        let mut workflow = workflow("w", &["a"]);
        let library = Library::new(vec![workflow.clone()], &mut Vec::new());
        let begun = RunState::new("w", "task", 0, 0).begun(0).with_summary(&phase("a"), "It works");
        let passed = begun.with_evidence(vec![check("the tests", true), check("the plan", true)]);
        let failed = begun.with_evidence(vec![check("the tests", true), check("the plan", false)]);
        let good = "- 🔹 A: ✓ the tests: it holds\n- 🔹 A: ✓ the plan: it holds";
        let open = "- 🔹 A: ✗ the plan: it is empty";
        let all = format!("- 🔹 A: ✓ the tests: it holds\n{open}");
        for (own, begun_as, passed_as, failed_as) in [
            ("Done.", "Done.".into(), "Done.".into(), format!("Done.\n\n**Gates:**\n{open}")),
            ("{evidence}\nDone.", "\nDone.".into(), format!("{good}\nDone."), format!("{all}\nDone.")),
        ] {
            workflow.completion_message = Some(own.into());
            for (state, expected) in [(&begun, begun_as), (&passed, passed_as), (&failed, failed_as)] {
                let mut state = state.clone();
                state.progress_mut().visits.get_mut("w:0").unwrap().usage.turns = 3;
                assert_eq!(completion_message(&state, &workflow, &library), expected);
            }
        }
    }

    #[test]
    fn a_long_end_begins_and_ends_with_its_headline() {
        let ids = ["a", "b", "c", "d", "e"];
        let workflow = workflow("w", &ids);
        let library = Library::new(vec![workflow.clone()], &mut Vec::new());
        let end = |summary: &str, count: usize| {
            let mut state = RunState::new("w", "task", 0, 0).begun(0);
            for (index, id) in ids.iter().take(count).enumerate() {
                state.current_path[0].phase_index = index;
                state = state.begun(0).with_summary(&phase(id), summary);
            }
            completion_message(&state, &workflow, &library)
        };
        let long = "A line of a summary that says a lot about very little.\n".repeat(60);
        let text = end(&long, 5);
        let (first, last) = (text.lines().next().unwrap(), text.lines().next_back().unwrap());
        assert_eq!((first, last), ("✅ **The w Complete**", "✅ **The w Complete**"));
        assert_eq!(text.matches("… (cut: /workflow :report)").count(), 5, "{text}");
        assert!(text.lines().count() <= 30, "{text}");
        for text in [end("It works", 5), end(&long, 0), end(&"x".repeat(4000), 1)] {
            assert_eq!(text.matches("✅").count(), 1, "{text}");
        }
        assert!(end(&"x".repeat(600), 1).contains(&format!("A: {}", "x".repeat(600))));
    }

    #[test]
    fn the_default_reminder_is_one_line_from_the_second_time_on() {
        let mut root = workflow("w", &["a"]);
        let mut state = RunState::new("w", "task", 0, 0);
        for (own, times, lines) in
            [(None, 0, 8), (None, 1, 1), (None, 9, 1), (Some("Go\non"), 0, 2), (Some("Go\non"), 9, 2)]
        {
            root.not_done_reminder = own.map(Into::into);
            state.progress_mut().continuations = times;
            let library = Library::new(vec![root.clone()], &mut Vec::new());
            let text = not_done_reminder(&Active::resolve(&state, &library).unwrap());
            assert_eq!(text.lines().count(), lines, "{text}");
        }
        state.progress_mut().continuations = 1;
        root.not_done_reminder = None;
        let library = Library::new(vec![root], &mut Vec::new());
        assert_eq!(
            not_done_reminder(&Active::resolve(&state, &library).unwrap()),
            "⚠️ The The w is still active in 🔹 A. Complete the phase, and call workflow_step."
        );
    }

    #[test]
    fn a_session_name_is_cut_with_a_sign() {
        let mut workflow = workflow("w", &["a"]);
        assert_eq!(session_name(&workflow, "Do it"), "Workflow: Do it");
        assert_eq!(session_name(&workflow, &"x".repeat(50)), format!("Workflow: {}", "x".repeat(50)));
        assert_eq!(session_name(&workflow, &"x".repeat(51)), format!("Workflow: {}…", "x".repeat(50)));
        workflow.session_name_prefix = Some("W ".into());
        workflow.session_name_max_length = Some(3);
        assert_eq!(session_name(&workflow, "ab🔍c"), "W ab…");
        assert_eq!(session_name(&workflow, "a🔍"), "W a🔍");
        workflow.session_name_max_length = Some(0);
        assert_eq!(session_name(&workflow, "a"), "W …");
    }
}
