//! `/workflow :report`.

use super::*;
use crate::protocol::REPORT_TYPE;
use crate::usage::Usage;

impl Session {
    /// The Markdown of the report that `/workflow :report` appends to the session.
    fn report(&mut self) -> String {
        let effects = self.command("workflow", ":report").effects;
        let [Effect::AppendEntry { custom_type: REPORT_TYPE, data }] = &effects[..] else { panic!("{effects:?}") };
        data["content"].as_str().unwrap().to_owned()
    }

    /// Puts the newest state entry among these effects into the session.
    fn keeps(&mut self, effects: &[Effect]) {
        let states = effects.iter().rev().filter_map(|effect| match effect {
            Effect::AppendEntry { custom_type: "workflow:state", data } => Some(data.to_string()),
            _ => None,
        });
        self.files.states = states.collect();
    }
}

#[test]
fn the_run_in_progress_is_reported_with_what_it_took_up_to_now() {
    let mut session = Session::new(&[("w", &["a", "b"])]);
    let _ = session.command("workflow", "w x");
    let _ = session.on(Event::AgentStart);
    *session.files.usage.borrow_mut() = Usage { turns: 2, input: 20, ..Usage::default() };
    let _ = session.step("next");
    *session.files.usage.borrow_mut() = Usage { turns: 1, input: 5, ..Usage::default() };
    let report = session.report();
    assert!(report.starts_with("# Run of w\n\n- **Outcome:** not finished\n"), "{report}");
    for row in ["| ✓ a | 1 | – | – | 2 | 20 |", "| ▸ b | 1 | – | – | 1 | 5 |", "| 3 | 25 |"] {
        assert!(report.contains(row), "{row} in {report}");
    }
    assert_eq!(session.report(), report, "a report changes nothing");
    let _ = session.command("workflow", ":pause");
    assert!(session.report().contains("- **Outcome:** paused: you asked for it\n"));
    session.files.global.clear();
    let _ = session.command("workflow", ":check");
    let report = session.report();
    let reason = "paused: the files of the workflow “w” cannot be read\n";
    assert!(report.contains(reason) && report.contains("| ▸ b |"), "{report}");
}

#[test]
fn the_last_run_of_the_session_is_reported_after_its_end() {
    let mut session = Session::new(&[("w", &["a"])]);
    let none = notice(Level::Info, "No workflow has run in this session.");
    assert_eq!(session.command("workflow", ":report").effects, none);
    let _ = session.command("workflow", "w x");
    let _ = session.on(Event::AgentStart);
    *session.files.usage.borrow_mut() = Usage { turns: 2, ..Usage::default() };
    let effects = session.step_output("next").0;
    session.keeps(&effects);
    // This usage is no part of the run any more.
    *session.files.usage.borrow_mut() = Usage { turns: 5, ..Usage::default() };
    let report = session.report();
    assert!(report.contains("- **Outcome:** done\n") && report.contains("| ✓ a | 1 |"), "{report}");
    assert!(report.contains("| **In all** |  | – | – | 2 |"), "{report}");
    for state in ["{}", "null"] {
        session.files.states.insert(0, state.to_owned());
    }
    assert_eq!(session.report(), report);
    let end = "No active workflow. The last one:\nw: done, 2025-05-14 14:56:07 UTC+00:00 to 2025-05-14 14:56:07 UTC+00:00 (0s)\nTask: x\n/workflow :report shows it.";
    let none_active = notice(Level::Info, "No active workflow.");
    assert_eq!(session.command("workflow", ":status").effects, notice(Level::Info, end));
    assert_eq!(session.command("workflow", ":pause").effects, none_active);
    for (state, expected) in [
        (r#"{"workflowKey":7,"active":false}"#.to_owned(), none),
        (
            "{".to_owned(),
            notice(
                Level::Warning,
                "The last run of this session cannot be read: an entry is not JSON, or nested too deep.",
            ),
        ),
    ] {
        session.files.states = vec![state];
        assert_eq!(session.command("workflow", ":report").effects, expected);
        assert_eq!(session.command("workflow", ":status").effects, none_active);
    }
}

#[test]
fn without_a_user_interface_the_report_is_a_notice_too() {
    let mut session = Session::new(&[("w", &["a"])]);
    let _ = session.command("workflow", "w x");
    let effects = session.without_ui(Event::Command { name: "workflow", arguments: ":report" }).effects;
    let [Effect::AppendEntry { custom_type: REPORT_TYPE, data }, Effect::Notify { level, text }] = &effects[..] else {
        panic!("{effects:?}")
    };
    assert_eq!((&json!(text), *level), (&data["content"], Level::Info));
}
