//! Texts for a phase that starts fresh: its first text for the model, and the notice for the user.

use crate::definition::UserMessage;
use crate::run::{Active, Evidence, cut};

use super::gate::{all_evidence_lines, fenced};
use super::items;
use super::names::phase_title;
use super::questions::counted;
use super::ways::short;

/// Maximum length of the user's messages, in characters.
const MAX_MESSAGES: usize = 12_000;
/// Maximum number of lines of evidence, the newest.
const MAX_EVIDENCE: usize = 40;

/// The message with a move to a phase that starts fresh, before or after its fresh start.
pub const STARTS_FRESH: &str =
    "This phase starts with a fresh context and gets its instructions in a message of their own.";

/// The result of a call in a phase that has not yet started fresh: the model does not know the phase, and would not
/// know of the call after the fresh start.
pub const NOT_STARTED: &str =
    "The workflow has moved to a phase that starts with a fresh context, which follows; this call had no effect.";

/// Returns the text that the model reads in place of the earlier conversation. The context prompt follows it, with the
/// task and the results of earlier phases.
///
/// `messages` are the user's own messages since the run began, newest first. The images of the newest `with_images`
/// messages that have images follow the text.
pub fn fresh_summary(active: &Active, messages: &[UserMessage], with_images: usize) -> String {
    let seen = active.seen();
    let active = &active.with(&seen);
    let title = phase_title(active.phase);
    let mut parts = vec![format!(
        "The workflow phase {title} starts with a fresh context: the work of earlier phases is left out on purpose. The task, the results that earlier phases handed over, and the instructions follow."
    )];
    let evidence = all_evidence_lines(active.state, active.library, false);
    if !evidence.is_empty() {
        let shown = evidence.get(evidence.len().saturating_sub(MAX_EVIDENCE)..).unwrap_or_default();
        parts.push(format!("**Checks of the gates so far:**\n{}", shown.join("\n")));
    }
    if let Some(last) = last_failure(active) {
        parts.push(format!("The end of the output of {}:\n{}", last.name, fenced(&last.shown_tail())));
    }
    if !messages.is_empty() {
        parts.push(format!("**The user's own messages since the run began:**\n\n{}", listed(messages, with_images)));
    }
    parts.join("\n\n")
}

/// Returns the evidence of the check that failed last, if it has output.
fn last_failure<'a>(active: &Active<'a>) -> Option<&'a Evidence> {
    let visits = active.state.visits_by(|visit| visit.ended_at.map(|_| visit.step));
    let (_, last) = visits.last()?;
    last.evidence.iter().rev().find(|evidence| !evidence.passed && !evidence.tail.is_empty())
}

/// Returns the messages, oldest first: the newest in full as far as there is room, the older ones shortened or left
/// out.
fn listed(messages: &[UserMessage], mut with_images: usize) -> String {
    let mut room = MAX_MESSAGES;
    let mut shown = Vec::new();
    for UserMessage { text, images, .. } in messages {
        if room == 0 {
            break;
        }
        let mut message = cut(text.trim(), room);
        room = room.saturating_sub(message.chars().count());
        if *images > 0 {
            let (end, left) = match with_images.checked_sub(1) {
                Some(left) => ("below", left),
                None => ("left out", 0),
            };
            with_images = left;
            let images = counted(images, "image");
            message.push_str(&format!("\n({images}, {end})"));
        }
        shown.push(format!("- {}", message.trim_start().replace('\n', "\n  ")));
    }
    let left_out = messages.len() - shown.len();
    if left_out > 0 {
        shown.push(format!("({left_out} earlier not shown)"));
    }
    shown.reverse();
    shown.join("\n")
}

/// Returns the line for the user: the phase, with its item in a repeated group, and the parts that it sees. The host shows
/// nothing of what was before: a line for each item that is over stands above.
pub fn fresh_notice(active: &Active, messages: usize) -> String {
    let mut seen = vec!["the task".to_owned()];
    let results = active.seen().results().len();
    seen.extend((results > 0).then(|| counted(results, "result")));
    seen.extend((messages > 0).then(|| format!("{} of yours", counted(messages, "message"))));
    let item = active.state.item(active.state.current_path.len(), active.library);
    let item = item.map(|item| format!(" for item {} of {}, “{}”,", item.number, item.count, short(&item.text)));
    let line = format!("{}{} starts fresh: {}", phase_title(active.phase), item.unwrap_or_default(), seen.join(", "));
    items::ended(active).into_iter().chain([line]).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(text: &str, images: u32) -> UserMessage {
        UserMessage { id: "1".into(), text: text.into(), images }
    }

    #[test]
    fn the_users_messages_are_listed_oldest_first() {
        let messages = [message("  three\n\nlines\n", 0), message("", 2), message("one", 1)];
        assert_eq!(listed(&messages, 1), "- one\n  (1 image, left out)\n- (2 images, below)\n- three\n  \n  lines");
        assert_eq!(listed(&[], 0), "");
    }

    #[test]
    fn of_long_messages_the_newest_are_shown_in_full() {
        let long = |letter: &str| message(&letter.repeat(7000), 0);
        let messages = [long("c"), long("b"), long("a"), message("oldest", 1)];
        let text = listed(&messages, 1);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 3);
        assert_eq!(lines[0], "(2 earlier not shown)");
        assert!(lines[1].starts_with("- bbb") && lines[1].ends_with("… (cut)"), "{}", lines[1]);
        assert_eq!(lines[2], format!("- {}", "c".repeat(7000)));
        assert!(text.chars().count() < MAX_MESSAGES + 100);

        let all = listed(&[message(&"x".repeat(MAX_MESSAGES), 0), message("older", 0)], 0);
        assert!(all.starts_with("(1 earlier not shown)\n- xxx"));
        let one = listed(&[message(&"é".repeat(2 * MAX_MESSAGES), 0)], 0);
        assert!(one.chars().count() < MAX_MESSAGES + 100);
    }
}
