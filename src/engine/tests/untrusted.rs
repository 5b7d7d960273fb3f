//! A project that pi does not trust: its workflows are missing, and the user is told the reason.

use super::*;

const MISSING: &str = ".pi/workflows is not read: pi does not trust this project";
const BY_FLAG: &str =
    "\n.pi/workflows is not read: pi does not trust this project. To trust it: start pi with --approve.";
const IN_TERMINAL: &str = "\n.pi/workflows is not read: pi does not trust this project. To trust it: /trust, then start pi again (or once: pi --approve).";

/// The workflow `own` of the user and `tidy` of the project.
fn session(untrusted: bool) -> Session {
    let mut session = Session::new(&[("own", &["a"]), ("tidy", &["b"])]);
    let global = &mut session.files.global;
    let project = global.extract_if(.., |file, _| file.starts_with("tidy")).collect();
    session.files.project = project;
    session.files.untrusted = untrusted;
    let _ = session.on(Event::Session { stored: None, in_view: None, facts: Facts::default() });
    session
}

fn told(output: Output) -> String {
    let mut told = output.effects.into_iter().filter_map(|effect| match effect {
        Effect::Notify { text, .. } => Some(text),
        _ => None,
    });
    told.next().unwrap()
}

#[test]
fn an_unknown_workflow_names_the_reason() {
    for (ui, why) in [(Ui::Terminal, IN_TERMINAL), (Ui::Program, BY_FLAG), (Ui::None, BY_FLAG)] {
        let mut session = session(true);
        session.ui = ui;
        let unknown = told(session.command("workflow", "tidy the code"));
        assert_eq!(unknown, format!("Unknown workflow: \"tidy\". Available: own{why}"));
        let graph = told(session.command("workflow", ":graph tidy"));
        assert_eq!(graph, format!("Unknown workflow: \"tidy\". Available: own{why}"));
    }
}

#[test]
fn the_list_of_workflows_does_too() {
    let mut session = session(true);
    let list = told(session.command("workflow", ""));
    assert!(list.ends_with(&format!("\n  own — The own{BY_FLAG}")), "{list}");
    assert!(told(session.command("workflow", "tidy")).ends_with(BY_FLAG));
    session.ui = Ui::Terminal;
    let Reply::Ask { request: Request::Select { title, options }, .. } = session.command("workflow", "").reply else {
        panic!()
    };
    assert_eq!((title, options.len()), (text::Title::from(&*format!("Which workflow?{IN_TERMINAL}")), 1));
}

#[test]
fn the_check_and_the_completions_do_too() {
    let mut session = session(true);
    let report = session.command("workflow", ":check").effects;
    let Effect::AppendEntry { data, .. } = &report[0] else { panic!("{report:?}") };
    assert!(data["content"].as_str().unwrap().ends_with(BY_FLAG), "{data}");
    let descriptions = |session: &mut Session| -> Vec<String> {
        let completions = session.engine.complete("", &session.files);
        completions.into_iter().map(|completion| completion.description).collect()
    };
    assert!(descriptions(&mut session).contains(&MISSING.to_owned()));
    session.files.untrusted = false;
    assert!(!descriptions(&mut session).contains(&MISSING.to_owned()));
}

#[test]
fn workflows_of_a_folder_above_are_told_where_a_name_is_unknown_or_there_are_none() {
    let mut session = session(false);
    session.files.above = Some("../../.pi/workflows".into());
    let above = "\n../../.pi/workflows has workflows, which are known where pi is started beside them.";
    let unknown = told(session.command("workflow", "nope x"));
    assert_eq!(unknown, format!("Unknown workflow: \"nope\". Available: own, tidy{above}"));
    let report = |session: &mut Session| format!("{:?}", session.command("workflow", ":check").effects);
    assert!(!report(&mut session).contains("../../"), "this project has workflows");
    session.files.global.clear();
    session.files.project.clear();
    let empty = report(&mut session);
    assert!(empty.contains("../../.pi/workflows has workflows"), "{empty}");
}

#[test]
fn nothing_is_said_where_nothing_is_missing() {
    let mut trusted = session(false);
    assert_eq!(
        told(trusted.command("workflow", "tody x")),
        "Unknown workflow: \"tody\". Available: own, tidy\nDid you mean \"tidy\"?"
    );
    let mut without_folder = session(true);
    without_folder.files.project.clear();
    assert_eq!(told(without_folder.command("workflow", "tidy x")), "Unknown workflow: \"tidy\". Available: own");
    // The user's own workflow is known.
    let mut known = session(true);
    assert!(
        known
            .command("workflow", "own x")
            .effects
            .iter()
            .all(|effect| { !matches!(effect, Effect::Notify { text, .. } if text.contains("trust")) })
    );
}
