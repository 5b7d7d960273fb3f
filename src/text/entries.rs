//! Texts about entries without the model.

use crate::definition::{self, Answer, AnswerText, Step, short};
use crate::run::{Active, Tail};

use super::exact::{framed, quoted};
use super::names::{phase_title, short_name};
use super::questions::{Dialog, Question, Title, by_program, in_terminal};
use super::task::task;

/// Maximum length of a step's summary, and of its first line about what it lacks, in characters.
const MAX_SUMMARY: usize = 4000;
const MAX_NOTE: usize = 200;

/// Maximum length of a line of output for the user, in characters.
const MAX_LINE: usize = 500;

/// Maximum length of the id in the name of a file, in characters: the numbers of the items follow, of at most 10
/// groups.
const MAX_FILE_NAME: usize = 36;

/// Returns the text that is shown while the command of a step runs.
pub fn step_progress(of: &str) -> String {
    format!("{} {}", Step::EMOJI, short_name(of))
}

/// Returns the summary of a step: the end of its output, which lacks `missing` bytes already; `file` has all of it, unless it is empty.
pub fn step_summary(output: &str, missing: u64, file: &str) -> String {
    // The line about what is missing has room too.
    let tail = Tail::of(output.trim(), missing, MAX_SUMMARY - MAX_NOTE, usize::MAX);
    if tail.text.is_empty() { "(no output)".to_owned() } else { tail.noted(file) }
}

/// Returns the notice that the whole output of a step is not in a file.
pub fn output_not_kept(of: &str, why: &str) -> String {
    format!("The whole output of “{}” is not kept: {why}", short_name(of))
}

/// Returns the beginning of the name of the file with the output of a step: the id of the step, and the numbers of the
/// items for which the step is repeated.
pub fn output_file_name(active: &Active) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let id = active.phase.id.chars().take(MAX_FILE_NAME);
    let id: String = id.map(|c| if is_plain(c) { c } else { '-' }).collect();
    let items = active.state.current_path.iter().filter_map(|segment| segment.item);
    items.fold(id, |name, item| format!("{name}.{}", item.saturating_add(1)))
}

/// Returns the reason why a step has failed: the end of its command, and the last line of its output.
pub fn step_failed(end: &str, output: &str) -> String {
    last_line(output).map_or_else(|| format!("it failed, {end}"), |line| format!("it failed, {end}: {line}"))
}

/// Returns the last line of an output that is not blank.
pub fn last_line(output: &str) -> Option<String> {
    output.lines().rev().find(|line| !line.trim().is_empty()).map(|line| short(line.trim(), MAX_LINE))
}

/// Returns the refusal of a tool call while the run is at an entry without the model.
pub fn at_entry(active: &Active) -> String {
    let title = phase_title(active.phase);
    format!(
        "The workflow is at {title}, which it does without you. All tool calls are refused until it has moved on; only workflow_step with action='status' answers. Stop here and wait."
    )
}

/// Returns the context prompt for a message of the user while the run is at an entry without the model.
pub fn entry_prompt(active: &Active) -> String {
    let path = active.breadcrumb().join(" > ");
    format!(
        "[Workflow path: {path} ▸ {}]\n\n**Task:** {}\n\n{} Answer the message of the user without tools; the workflow is moved on by the user alone.",
        phase_title(active.phase),
        task(active.state),
        at_entry(active),
    )
}

pub fn entry_question(of: &str, workflow: &str, question: &str, dialog: Dialog) -> Question {
    match dialog {
        Dialog::Terminal(room) => {
            let first = Title::new("Question of ", &quoted(workflow, room.name(26)));
            let above = format!("{} asks:", quoted(of, room.name(26)));
            in_terminal(first, framed(question), room, "The question", &above)
        }
        Dialog::Program => {
            by_program(Title::new("Question of ", &format!("{}:", quoted(workflow, 60))), framed(question))
        }
    }
}

pub fn answer_text_title(answer: &Answer) -> Title {
    let name = quoted(&answer.name, 40);
    let may_be_empty = match answer.text {
        AnswerText::Required => "",
        AnswerText::Optional | AnswerText::None => " It may be empty.",
    };
    Title::new("What should the agent know for ", &format!("{name}?{may_be_empty}"))
}

/// Returns the reason why an outcome with a text is no answer to a question; `None` for an answer.
pub fn bad_answer(question: &definition::Question, outcome: &str, given: &str) -> Option<String> {
    let Some(answer) = question.answers.iter().find(|answer| answer.outcome == outcome) else {
        let names = question.answers.iter().map(|answer| {
            let text = match answer.text {
                AnswerText::None => "",
                AnswerText::Optional => " [TEXT]",
                AnswerText::Required => " TEXT",
            };
            format!("/workflow :answer {}{text}", answer.outcome)
        });
        let names: Vec<String> = names.collect();
        return Some(format!(
            "“{}” is asked. Answer with one of these:\n{}",
            short_name(&question.text),
            names.join("\n")
        ));
    };
    match (answer.text, given.is_empty()) {
        (AnswerText::Required, true) => {
            Some(format!("The answer `{outcome}` needs a text: /workflow :answer {outcome} TEXT"))
        }
        (AnswerText::None, false) => Some(format!("The answer `{outcome}` takes no text: /workflow :answer {outcome}")),
        (AnswerText::Required | AnswerText::Optional, false) | (AnswerText::Optional | AnswerText::None, true) => None,
    }
}
