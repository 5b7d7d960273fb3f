//! A phase with `context: fresh`, through the interface: the view, the entries that follow a turn, and the user's
//! messages.

use super::host::*;

/// The text of the initial message has characters that pi does not store.
const FLOW: &str =
    "name: Two\ncommandName: two\ninitialMessage: \"Begin\\a: {description}\\r\\n\"\nphases: [look.md, do.md]\n";
const LOOK: &str = "---\nid: look\nname: Look\nemoji: 👀\n---\nLook.\n";
const DO: &str = "---\nid: do\nname: Do\nemoji: 🔨\ncontext: fresh\n---\nDo.\n";

/// A session with a run in its first phase, and the user's messages in it, newest first.
fn session() -> Pi {
    let files = [("global/two/workflow.yaml", FLOW), ("global/two/look.md", LOOK)];
    let mut pi = Host::with_files(files.into_iter().chain([("global/two/do.md", DO)])).start_session();
    pi.command("workflow", "two Fix it");
    let message = |(id, text, images): (&str, &str, u32)| UserMessage { id: id.into(), text: text.into(), images };
    let messages = [("c", "Look here", 2), ("b", "Begin: Fix it", 0), ("a", "Mind the gap\nand the edge", 0)];
    pi.host().user_messages = messages.map(message).into();
    pi
}

const SUMMARY: &str = "The workflow phase 🔨 Do starts with a fresh context: the work of earlier phases is left out on purpose. The task, the results that earlier phases handed over, and the instructions follow.

**The user's own messages since the run began:**

- Mind the gap
  and the edge
- Look here
  (2 images, below)";

#[test]
fn at_work_a_compaction_that_keeps_nothing_follows_the_turn() {
    let mut pi = session();
    pi.event(Event::AgentStart);
    pi.step_with(r#"{"action":"next","summary":"I looked."}"#);
    pi.host().calls.clear();
    let outcome = pi.event(Event::TurnEnd);
    let rest = outcome.strip_prefix("boundary\ncompaction that keeps nothing: ").expect(&outcome);
    let rest = rest.strip_prefix(SUMMARY).expect(rest);
    let (state, rest) = rest.split_once("\nentry workflow:fresh ").expect(rest);
    assert!(state.starts_with("\nentry workflow:state {") && !state.contains("freshStart"));
    let notice = "🔨 Do starts fresh: the task, 1 result, 2 messages of yours; 84 KB left behind";
    let (entry, rest) = rest.split_once('\n').expect(rest);
    assert_eq!(entry, format!(r#"{{"content":"{notice}"}}"#));
    let images = "workflow:fresh hidden: The images of the user's messages in the summary. c\n";
    let rest = rest.strip_prefix(images).expect(rest);
    assert!(rest.starts_with("workflow:context hidden: [Workflow path: Two ▸ 🔨 Do]\n"), "{rest}");
    assert!(rest.contains("I looked.") && rest.ends_with("\ncontinue"), "{rest}");
    let entries = pi.host().calls.iter().filter(|call| call.starts_with("append-entry"));
    assert_eq!(entries.count(), 0, "they follow the compaction");
    assert_eq!(pi.event(Event::TurnEnd), "none");
}

#[test]
fn at_rest_the_compaction_keeps_the_first_turn() {
    let mut pi = session();
    pi.command("workflow", ":next");
    pi.event(Event::BeforeAgentStart);
    pi.host().calls.clear();
    pi.event(Event::AgentStart);
    let newest = pi.host().entries.len() - 1;
    assert_eq!(pi.host().entries[newest].0, "workflow:fresh");
    let begun = format!("begin-view entry-{newest} c: {SUMMARY}");
    assert!(pi.host().calls.contains(&begun), "{:?}", pi.host().calls);
    let outcome = pi.event(Event::TurnEnd);
    let start = format!("boundary\ncompaction that keeps entry-{newest}: {SUMMARY}\nentry workflow:state ");
    assert!(outcome.starts_with(&start) && !outcome.contains("workflow:context"), "{outcome}");
    assert!(!outcome.ends_with("\ncontinue"));
}

#[test]
fn without_the_fingerprints_every_message_counts() {
    let mut pi = session();
    pi.host().entries.retain(|(custom_type, _)| custom_type == "workflow:state");
    pi.host().entries.push(("workflow:prompt".into(), "[]".into()));
    pi.command("workflow", ":next");
    pi.event(Event::AgentStart);
    let summary = pi.host().calls.iter().find(|call| call.starts_with("begin-view")).cloned();
    assert!(summary.expect("a view").contains("- Begin: Fix it\n"));
}

#[test]
fn the_notice_is_drawn() {
    let data = r#"{"content":"Do starts fresh"}"#;
    let drawn = session().draw_entry("workflow:fresh", data, false);
    assert_eq!(drawn, "<accent>🌱 <dim>Do starts fresh");
}
