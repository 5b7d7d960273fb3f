//! The folder of a run, through the interface.

use super::host::*;

const FLOW: &str = "name: Two\ncommandName: two\ninitialMessage: Go\nphases: [look.md]\n";
const LOOK: &str = "---\nid: look\nname: Look\nemoji: 👀\ngate:\n- file: '{runDir}/report.md'\n- {run: make, env: {DIR: runDir}}\n---\nWrite {runDir}/report.md.\n";
const NAME: &str = "00112233445566778899";

/// A session with a workflow that names the folder.
pub fn session() -> Pi {
    let report = format!("project-files/.pi/workflow-runs/{NAME}/report.md");
    let files = [("global/two/workflow.yaml", FLOW), ("global/two/look.md", LOOK)];
    Host::with_files(files.into_iter().chain([(&*report, "R")])).start_session()
}

fn opened(pi: &mut Pi) -> Vec<String> {
    let calls = pi.host().calls.iter().filter(|call| call.starts_with("open-folder"));
    calls.cloned().collect()
}

#[test]
fn it_is_opened_for_the_run_and_given_to_its_gates() {
    let mut pi = session();
    pi.command("workflow", "two Fix it");
    assert_eq!(opened(&mut pi), ["open-folder wf-1747234567890-000000 "]);
    assert!(pi.host().calls.iter().any(|call| call.contains(&format!("\"runDir\":\"{NAME}\""))));
    pi.event(Event::TurnEnd);
    match pi.step_with(r#"{"action":"next"}"#) {
        Stepped::Requests { request, .. } => assert!(request.contains("make"), "{request}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_run_whose_folder_is_refused_is_not_started() {
    let mut pi = session();
    pi.host().failing.insert("open-folder", ".pi: it is a link");
    pi.host().calls.clear();
    pi.command("workflow", "two Fix it");
    let calls = &pi.host().calls;
    assert!(calls.iter().any(|call| call.contains("cannot be made: .pi: it is a link")), "{calls:?}");
    assert!(!calls.iter().any(|call| call.contains("workflow:state")), "{calls:?}");
}

#[test]
fn a_session_that_takes_up_a_run_names_the_folder_that_it_stored() {
    let mut pi = session();
    pi.command("workflow", "two Fix it");
    for (name, copy_of) in [("ffffffffffffffffffff", "ffffffffffffffffffff"), ("../../etc", "")] {
        let entries = pi.host().entries.clone();
        let forged = entries.iter().map(|(kind, data)| (kind.clone(), data.replace(NAME, name)));
        pi.host().entries = forged.collect();
        pi.host().calls.clear();
        pi.event(Event::SessionStart(SessionReason::Fork));
        assert_eq!(opened(&mut pi), [format!("open-folder wf-1747234567890-000000 {copy_of}")]);
        pi.host().entries = entries;
    }
}
