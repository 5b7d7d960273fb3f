//! Gates, through the interface: the requests to the host, and the effects of its answers.

use super::host::*;

const FLOW: &str = "name: Two\ncommandName: two\ninitialMessage: Go\nphases: [look.md, do.md]\n";
const LOOK: &str =
    "---\nid: look\nname: Look\nemoji: 👀\ngate:\n- file: plan.md\n- run: make\n- approve: Ship?\n---\nLook.\n";
const DO: &str = "---\nid: do\nname: Do\nemoji: 🔨\n---\nDo.\n";
const PLAN: (&str, &str) = ("project-files/plan.md", "A plan.");

fn session(root: &str, plan: bool) -> Pi {
    let files = [("workflow.yaml", FLOW), ("look.md", LOOK), ("do.md", DO)];
    let paths: Vec<String> = files.iter().map(|(name, _)| format!("{root}/two/{name}")).collect();
    let files = paths.iter().map(String::as_str).zip(files.map(|(_, text)| text));
    Host::with_files(files.chain(plan.then_some(PLAN))).start_session()
}

fn next(pi: &mut Pi) -> Stepped {
    pi.event(Event::TurnEnd);
    pi.step_with(r#"{"action":"next"}"#)
}

#[track_caller]
fn requested(said: Stepped, expected: &str) -> u64 {
    match said {
        Stepped::Requests { ticket, request } if request == expected => ticket,
        other => panic!("{other:?}"),
    }
}

#[track_caller]
fn says(said: Stepped, words: &str) {
    match said {
        Stepped::Says { text, .. } => assert!(text.contains(words), "{text}"),
        other => panic!("{other:?}"),
    }
}

const MAKE: &str = "exec Gate 2/3: make, 600000: make";

#[test]
fn checks_are_made_one_after_another() {
    let mut pi = session("global", false);
    pi.command("workflow", "two Fix it");
    assert_eq!(pi.host().guarded, Some(true));
    says(next(&mut pi), "✗ The gate of Look is not passed: plan.md: there is no such file.");

    let mut pi = session("global", true);
    pi.command("workflow", "two Fix it");
    let ticket = requested(next(&mut pi), MAKE);
    assert!(pi.tool_call("edit").starts_with("block: [workflow] The gate of the current phase"));
    says(pi.answer_tool(ticket, ended(2)), "make: exit status 2 after 1s. Attempt 1, 2 left.");
    let ticket = requested(next(&mut pi), MAKE);
    let ticket = requested(pi.answer_tool(ticket, ended(0)), "select Approve \"Look\"?\n│ Ship?: Not yet | Yes | No");
    says(pi.answer_tool(ticket, Answer::Selected(1)), "✓ Advanced: Look → 🔨 Do\n");
}

#[test]
fn commands_of_a_project_are_allowed_first() {
    let mut pi = session("project", true);
    let Outcome::Requests { ticket, request } = pi.command("workflow", "two Fix it") else { panic!() };
    assert_eq!(
        request,
        "select Start \"Two\"? Its gates run\n1 command, 1 line: shown above: No | Yes, for this run | Yes, for this session | Yes, always while they stay the same"
    );
    pi.answer(ticket, Answer::Selected(3));
    let kept: Vec<String> = pi.host().stored.values().cloned().collect();
    assert_eq!(kept.len(), 1);
    assert!(kept[0].ends_with(r#","make"]"#), "{kept:?}");
    let ticket = requested(next(&mut pi), MAKE);
    says(pi.answer_tool(ticket, ended(1)), "exit status 1");
    requested(next(&mut pi), MAKE);
}

#[test]
fn an_answer_that_does_not_fit_is_no_yes() {
    for answer in [
        Answer::Confirmed(true),
        Answer::Selected(7),
        Answer::Entered("yes".into()),
        Answer::NotGranted,
        Answer::NoUi,
        Answer::Cancelled,
    ] {
        let mut pi = session("global", true);
        pi.command("workflow", "two Fix it");
        let ticket = requested(next(&mut pi), MAKE);
        let said = pi.answer_tool(ticket, answer.clone());
        assert!(matches!(&said, Stepped::Says { text, .. } if !text.starts_with('✓')), "{said:?}");
        let ticket = match next(&mut pi) {
            Stepped::Requests { ticket, .. } => ticket,
            other => panic!("{other:?}"),
        };
        let said = pi.answer_tool(ticket, ended(0));
        let ticket = requested(said, "select Approve \"Look\"?\n│ Ship?: Not yet | Yes | No");
        let said = pi.answer_tool(ticket, answer);
        assert!(matches!(&said, Stepped::Says { text, .. } if !text.starts_with('✓')), "{said:?}");
    }
}
