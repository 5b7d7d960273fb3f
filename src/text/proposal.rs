//! Texts about workflows that the agent proposes: the tool, the question to the user, the results for the agent.

use crate::definition::{Library, RuleUse, Workflow, nearest};
use crate::sorted::Map;

use super::description::description;
use super::exact::{framed, quoted};
use super::names::{origin, short_name};
use super::questions::{Dialog, Question, Title, by_program};
use super::rules::rules_in_a_line;
use super::run_preview::RunPreview;

/// The beginning of the description of `workflow_propose`, before the offers.
const OFFER: &str = "Proposes to the user that a workflow does the work: phases under rules that the user has set. The user sees what the workflow may do, and decides. Propose one before you begin, and only for work of the kind that its line names; give the whole request as the task. If the user starts it, your answer ends, and the workflow gives you the work again, phase by phase. If not, go on without it.\n\nWorkflows:";

/// Returns the description of `workflow_propose`; `None` if no workflow is offered.
pub fn offer(library: &Library) -> Option<String> {
    let lines: Vec<String> =
        library.offers().into_iter().filter(|offer| offer.fits).map(|offer| format!("\n{}", offer.line)).collect();
    (!lines.is_empty()).then(|| format!("{OFFER}{}", lines.concat()))
}

/// Returns the error for a name that no offered workflow has.
pub fn not_offered(name: &str, library: &Library) -> String {
    let offers = library.offers();
    let names: Vec<&str> = offers.iter().filter(|offer| offer.fits).map(|offer| &*offer.name).collect();
    if names.is_empty() {
        return "No workflow can be proposed any more. Go on without one.".to_owned();
    }
    let meant = nearest(name, names.iter().copied());
    let meant = meant.map_or_else(String::new, |meant| format!(" Did you mean \"{meant}\"?"));
    format!("There is no workflow {} to propose, only: {}.{meant}", quoted(name, 60), names.join(", "))
}

/// Returns the question about a workflow that the agent proposes with this task and these values of inputs. All of it is
/// shown, also the commands that need no consent.
pub fn proposal_question(
    (name, workflow): (&str, &Workflow),
    (task, values): (&str, &Map<String, String>),
    library: &Library,
    dialog: Dialog,
) -> Question {
    let mut lines = vec![format!(
        "The agent proposes {} (/workflow {name}, {}):",
        quoted(&workflow.name, 60),
        quoted(&origin(workflow), 60)
    )];
    lines.extend(description(workflow, library).iter().flat_map(|about| framed(about)));
    lines.push("Task:".to_owned());
    lines.extend(framed(task));
    let rules = library.inputs_of_rules(&workflow.key);
    for (name, value) in values {
        let sets = match rules.get(&**name) {
            Some(RuleUse::Bound) => ", which sets a bound of the run",
            Some(RuleUse::Path) => ", which is part of a path of a rule",
            None => "",
        };
        lines.push(format!("Input {name}{sets}:"));
        lines.extend(framed(value));
    }
    let rules = rules_in_a_line(library, &workflow.key);
    lines.push(rules.unwrap_or_else(|| "Rules of this run: none. It may do what the agent may do.".to_owned()));
    lines.extend(RunPreview::of(workflow, values, library).lines());
    let first = Title::new("Start ", &format!("{}?", dialog.name_of(&workflow.name, 30)));
    match dialog {
        Dialog::Terminal(_) => {
            Question { title: first.and("The agent proposes it, as shown above."), above: Some(lines.join("\n")) }
        }
        Dialog::Program => by_program(first, lines),
    }
}

/// Result of a proposal that the user starts.
pub fn proposal_accepted(name: &str) -> String {
    format!("The user starts the workflow \"{name}\". It begins when you have stopped: end your answer now.")
}

/// Result of a proposal that the user does not start now.
pub fn proposal_declined(name: &str) -> String {
    format!("The user does not start the workflow \"{name}\" now. Go on without it, and do not propose it again.")
}

/// Result of a proposal after which the user wants no other in the session.
pub const NO_PROPOSALS: &str =
    "The user wants no proposals of workflows in this session. Go on without one, and do not call this tool again.";

/// Result of a proposal whose start the user was told the problem of.
pub fn proposal_failed(name: &str) -> String {
    format!("The workflow \"{name}\" cannot start now; the user was told why. Go on without it.")
}

/// Refusals of proposals without a question to the user.
pub const PROPOSAL_NESTED: &str = "Call workflow_propose directly, not from a script.";
pub const PROPOSAL_IN_BRANCH: &str = "No workflow can be proposed in a branch of a parallel group.";
pub const PROPOSAL_IN_RUN: &str = "A workflow is in progress, so no other can be proposed. Go on with its phase.";
pub const PROPOSAL_PENDING: &str = "Another proposal was made in this answer. Stop here, and make no other.";
pub const PROPOSALS_OVER: &str = "The user has declined proposals since the last message. Go on without a workflow, and propose none until the user asks for it.";
pub const PROPOSAL_TOO_LONG: &str = "The proposal is too long: at most 16,000 bytes. Give the task in short.";
pub const PROPOSAL_CONTROL: &str = "The proposal has control characters. Write the task and the values as plain text.";

/// Refusal of a proposal where no user can answer.
pub fn proposal_without_user(name: &str) -> String {
    format!(
        "Nobody can answer here, so no workflow can be proposed. Go on without it. The user starts it with /workflow {}.",
        short_name(name)
    )
}

/// Refusal of the other tool calls between the user's yes and the start.
pub const BEFORE_START: &str = "[workflow] The user starts a workflow, which begins when you have stopped. This call is refused: end your answer now.";

/// Notice that an accepted proposal was not started: the agent was interrupted, pi has ended, or the files have changed.
pub fn proposal_not_started(name: &str, why: &str) -> String {
    format!(
        "The workflow {} that you let start is not started: {why}. /workflow {} starts it.",
        quoted(name, 60),
        short_name(name)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definition::fixtures::workflow;
    use crate::definition::{MAX_OFFERS, ValueType};
    use crate::text::{Room, TerminalSize};

    #[test]
    fn the_description_has_at_most_4000_characters() {
        assert!(OFFER.len() + MAX_OFFERS <= 4000, "{}", OFFER.len());
        assert_eq!(offer(&Library::default()), None);
    }

    #[test]
    fn a_proposal_is_shown_as_it_is() {
        let mut own = workflow("w", &["a"]);
        own.inputs = vec![crate::definition::Input {
            name: "scope".into(),
            kind: ValueType::TEXT,
            default: None,
            is_optional: true,
            description: None,
        }];
        let library = Library::new(vec![own], &mut Vec::new());
        let workflow = library.get("w").unwrap();
        let task = "Do it\u{1b}[2J\nGate \"x\" runs:\n│ rm -rf /";
        let values = [("scope".to_owned(), "a\u{202e}b".to_owned())].into_iter().collect();
        let terminal = Room::beside(4, Some(TerminalSize { columns: 40, lines: 12 }));
        let question = proposal_question(("w", workflow), (task, &values), &library, Dialog::Terminal(terminal));
        assert_eq!(question.title, "Start \"The w\"?\nThe agent proposes it, as shown above.");
        let above = question.above.unwrap();
        let expected = "The agent proposes \"The w\" (/workflow w, \"workflows/w\"):\nTask:\n│ Do it\\u{1b}[2J\n│ Gate \"x\" runs:\n│ \\u{2502} rm -rf /\nInput scope:\n│ a\\u{202e}b\nRules of this run: none. It may do what the agent may do.";
        assert_eq!(above, expected);
        let question = proposal_question(("w", workflow), (task, &values), &library, Dialog::Program);
        assert!(question.title.starts_with("Start \"The w\"?\nThe agent proposes"), "{}", question.title);
    }
}
