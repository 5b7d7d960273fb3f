//! The example workflows: each of them loads without a diagnostic, and runs to its end.

use std::collections::BTreeSet;

use super::host::*;

/// The examples that a user can start.
const FOR_PEOPLE: [&str; 9] =
    ["audit", "backlog", "bugfix", "panel", "pull-request", "quick", "release", "rpir", "until-clean"];

/// Those of them with parallel groups, whose child agents only pi can run: `tests/pi/examples.test.mjs` does.
const WITH_CHILDREN: [&str; 1] = ["panel"];

/// The examples that other workflows nest.
const SHARED: [&str; 3] = ["implement-review", "quality-check", "test-suite"];

/// An upper bound of the steps of an example.
const MANY: usize = 50;

fn examples() -> Host {
    Host::with_folder("workflows-examples")
}

#[test]
fn there_are_no_others() {
    let host = examples();
    let keys: BTreeSet<&str> =
        host.files.keys().filter_map(|path| path.strip_suffix("/workflow.yaml")?.rsplit('/').next()).collect();
    assert_eq!(keys, BTreeSet::from_iter([&FOR_PEOPLE[..], &SHARED].concat()));
}

#[test]
fn a_user_can_start_some_of_them() {
    let mut pi = examples().start_session();
    let mut offered: Vec<String> = pi.complete("workflow", "").into_iter().map(|completion| completion.value).collect();
    offered.retain(|value| !value.starts_with(':'));
    assert_eq!(offered, FOR_PEOPLE);
}

#[test]
fn each_runs_from_the_command_to_its_end() {
    for name in FOR_PEOPLE.into_iter().filter(|name| !WITH_CHILDREN.contains(name)) {
        let mut pi = examples().start_session();
        assert_eq!(pi.command("workflow", &format!("{name} The task at hand")), Outcome::Settle);
        to_the_end(&mut pi, name);
    }
}

/// A session can contain a run of a shared workflow, if the workflow was not shared when the run started.
#[test]
fn each_runs_from_its_stored_state_to_its_end() {
    let keys = [&FOR_PEOPLE[..], &SHARED].concat();
    for key in keys.into_iter().filter(|key| !WITH_CHILDREN.contains(key)) {
        let state = format!(
            r#"{{"active":true,"workflowKey":"{key}","currentPath":[{{"workflowKey":"{key}","phaseIndex":0}}],"globalStepCount":0,"taskId":"t","taskDescription":"The task at hand","startedAt":1,"completionNotified":false,"cancelled":false}}"#
        );
        let mut pi = examples().with_states([state]).start_session();
        to_the_end(&mut pi, key);
    }
}

/// The first outcome that the prompt of a phase lists; empty without outcomes.
fn first_outcome(prompt: &str) -> &str {
    let behind = prompt.split("**Outcomes:**").nth(1).and_then(|list| list.split('`').nth(5));
    behind.unwrap_or_default()
}

#[track_caller]
fn to_the_end(pi: &mut Pi, name: &str) {
    let mut prompt = pi.event(Event::BeforeAgentStart);
    assert!(prompt.starts_with("inject workflow:context hidden: [Workflow path: "), "{prompt}");
    for _ in 0..MANY {
        assert!(prompt.contains("**Task:** The task at hand"), "{prompt}");
        for variable in ["description}", "Name}", "Emoji}", "List}", "toolName}", "taskId}"] {
            assert!(!prompt.contains(variable), "{name} leaves {{…{variable} in {prompt}");
        }
        assert_eq!(pi.tool_call("workflow_step"), "none");
        pi.host().calls.clear();
        let outcome = first_outcome(&prompt);
        let outputs = match prompt.contains("**Outputs:**") {
            true => r#","outputs":{"tasks":["one","two"]}"#,
            false => "",
        };
        let next = format!(r#"{{"action":"next","summary":"Found out.","outcome":"{outcome}"{outputs}}}"#);
        let next = pi.step_with(&next);
        let next = pi.agreeing(next);
        let Stepped::Says { text, .. } = next else { panic!("{name}: {next:?}") };
        if text.contains("→ DONE") {
            assert_eq!(pi.host().calls.last().map(String::as_str), Some("clear-status workflow"));
            pi.host().calls.clear();
            pi.event(Event::AgentEnd(Some(StopReason::Stop)));
            let calls = &pi.host().calls;
            assert!(calls[0].starts_with("append-entry workflow:complete "), "{name}: {calls:?}");
            return;
        }
        let status = pi.host().calls.last().cloned().unwrap_or_default();
        assert!(status.starts_with("set-status workflow: "), "{name}: {status}");
        let turn_end = pi.event(Event::TurnEnd);
        let is_fresh = text.contains("This phase starts with a fresh context");
        assert_eq!(is_fresh, turn_end.starts_with("boundary\ncompaction "), "{name}: {turn_end}");
        let (text, before) = if is_fresh { (turn_end, "hidden: ") } else { (text, "\n\n") };
        assert!(text.contains(&format!("{before}[Workflow path: ")), "{name}: {text}");
        let reminder = pi.event(Event::BeforeAgentStart);
        assert!(reminder.starts_with("inject workflow:reminder hidden: "), "{name}: {reminder}");
        assert!(reminder.contains(" stand above and still hold. "), "{name}: {reminder}");
        prompt = text;
    }
    panic!("{name} does not end after {MANY} steps");
}
