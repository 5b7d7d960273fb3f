//! The branches of a parallel group, through the interface.

use super::host::*;

const FLOW: &str = "name: Two\ncommandName: two\ninitialMessage: Go\nphases:\n- look.md\n- {id: parts, phases: [a.md, b.md], parallel: true}\n";
const GROUP: &str = "two:1/two//1";

fn phase(id: &str) -> String {
    format!("---\nid: {id}\nname: {id}\nemoji: '*'\nwrite: []\n---\nDo {id}.\n")
}

/// A run whose agent has left the phase before the group.
fn at_group(failing: bool) -> (Pi, Stepped) {
    let files = ["look", "a", "b"].map(|id| (format!("global/two/{id}.md"), phase(id)));
    let files = files.iter().map(|(path, text)| (&**path, &**text));
    let mut pi = Host::with_files(files.chain([("global/two/workflow.yaml", FLOW)])).start_session();
    pi.command("workflow", "two Fix it");
    pi.event(Event::TurnEnd);
    if failing {
        pi.host().failing.insert("start-child", "no more");
    }
    pi.host().calls.clear();
    let said = pi.step_with(r#"{"action":"next","summary":"Looked."}"#);
    (pi, said)
}

fn calls(pi: &mut Pi, name: &str) -> Vec<String> {
    let calls = pi.host().calls.iter().filter(|call| call.starts_with(name));
    calls.cloned().collect()
}

/// The end of a child, whose newest state entry is this one.
fn end(key: String, newest: Option<&str>, outcome: ChildOutcome) -> Event {
    let usage = Usage {
        models: Vec::new(),
        tool_calls: 0,
        work_ms: 0,
        wait_ms: 0,
        newest_ms: None,
        warm_ups: 0,
        warm_tokens: 0,
        warm_cost: 0.0,
    };
    let newest = newest.map(Into::into);
    let report = ChildReport { key, session: None, newest, usage, last_call: None };
    Event::ChildEnd(ChildEnd { report, outcome })
}

#[test]
fn children_are_started_and_waited_for_and_their_ends_are_told() {
    let (mut pi, said) = at_group(false);
    let started = calls(&mut pi, "start-child");
    assert_eq!(started.len(), 2, "{started:?}");
    assert!(started[0].starts_with(&format!("start-child {GROUP}:0 a: Work on “a”")), "{started:?}");
    let Stepped::Requests { ticket, request } = said else { panic!("{said:?}") };
    assert_eq!(request, "children ● a: starts\n● b: starts");
    let why = "the provider is gone".to_owned();
    pi.event(end(format!("{GROUP}:0"), None, ChildOutcome::Failed(why)));
    pi.event(end(format!("{GROUP}:1"), Some("{"), ChildOutcome::Settled));
    pi.event(end("nobody".into(), None, ChildOutcome::Settled));
    let shown = calls(&mut pi, "show-children");
    assert_eq!(shown.len(), 2, "{shown:?}");
    assert!(shown[0].contains("✗ a: the provider is gone"), "{shown:?}");
    let Stepped::Says { text, .. } = pi.answer_tool(ticket, Answer::ChildrenEnded(false)) else { panic!() };
    assert!(text.contains("## a: failed: the provider is gone"), "{text}");
    assert!(text.contains("0 of 2 branches came to their end"), "{text}");
}

#[test]
fn a_child_that_cannot_be_started_has_failed() {
    let (mut pi, said) = at_group(true);
    let notices = calls(&mut pi, "notify");
    assert!(notices.iter().any(|notice| notice.contains("a has failed: no more")), "{notices:?}");
    let Stepped::Requests { ticket, .. } = said else { panic!("{said:?}") };
    let said = pi.answer_tool(ticket, Answer::ChildrenEnded(false));
    assert!(format!("{said:?}").contains("0 of 2 branches"), "{said:?}");
}

#[test]
fn the_end_of_the_wait_by_the_user_pauses_the_run() {
    let (mut pi, said) = at_group(false);
    let Stepped::Requests { ticket, .. } = said else { panic!("{said:?}") };
    for index in 0..2 {
        pi.event(end(format!("{GROUP}:{index}"), None, ChildOutcome::Aborted));
    }
    let said = pi.answer_tool(ticket, Answer::ChildrenEnded(true));
    assert!(format!("{said:?}").contains("its branches were interrupted"), "{said:?}");
}
