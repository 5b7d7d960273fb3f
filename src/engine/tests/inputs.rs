//! Dialogs for inputs that are missing.

use super::*;
use crate::engine::effect::Request;

/// A session whose workflow has a list with these bounds.
fn with_list(bounds: &str) -> Session {
    let mut session = Session::new(&[("w", &["a"])]);
    let file = session.files.global.get_mut("w/workflow.yaml").unwrap();
    file.push_str(&format!("inputs:\n  files: {{ type: list{bounds} }}\n"));
    let _ = session.on(Event::Session { stored: None, in_view: None, facts: Facts::default() });
    session
}

/// Starts the workflow and gives these answers to its dialogs, one after another; returns the last reply and the notice
/// to the user.
fn asked(session: &mut Session, answers: &[&str]) -> (Reply, String) {
    let mut output = session.command("workflow", "w the task");
    for answer in answers {
        let Reply::Ask { ticket, request: Request::Input { .. } } = output.reply else {
            panic!("{answer}: {:?}", output.reply)
        };
        let answer = Answer::Entered((*answer).to_owned());
        output = session.on(Event::Answer { ticket, answer });
    }
    let notices = output.effects.iter().filter_map(|effect| match effect {
        Effect::Notify { text, .. } => Some(&**text),
        _ => None,
    });
    (output.reply, notices.collect())
}

fn value(session: &Session) -> Option<&str> {
    session.stored_run()?.progress().inputs.get("files").map(String::as_str)
}

#[test]
fn the_texts_of_a_list_are_asked_for_one_by_one() {
    for (bounds, answers, expected) in [
        ("", &["a.md", "b c", ""][..], "a.md\nb c"),
        ("", &["  a  ", "   "], "a"),
        (", min: 2", &["a", "b", ""], "a\nb"),
        // The last item ends the list.
        (", max: 2", &["a", "b"], "a\nb"),
        (", min: 1, max: 1", &["a"], "a"),
        ("", &[""], ""),
    ] {
        let mut session = with_list(bounds);
        let (reply, told) = asked(&mut session, answers);
        assert_eq!(value(&session), Some(expected), "{bounds} {answers:?}: {reply:?} {told}");
    }
    let mut session = with_list("");
    let Reply::Ask { request: Request::Input { title }, .. } = asked(&mut session, &["a"]).0 else { panic!() };
    assert!(title.contains("files") && title.ends_with("│ Text 2 of a list; an empty answer ends it."), "{title}");
}

#[test]
fn too_few_texts_are_asked_for_again_and_no_text_or_escape_starts_nothing() {
    let mut session = with_list(", min: 2");
    let (reply, told) = asked(&mut session, &["a", ""]);
    assert!(told.starts_with("`files`: expected a list of 2 to 100 texts"), "{told}");
    assert!(matches!(reply, Reply::Ask { .. }), "{reply:?}");
    assert!(value(&session).is_none());

    let mut session = with_list(", min: 1");
    assert_eq!(asked(&mut session, &[""]).1, "The workflow is not started.");
    let Reply::Ask { ticket, .. } = session.command("workflow", "w the task").reply else { panic!() };
    let _ = session.on(Event::Answer { ticket, answer: Answer::Cancelled });
    assert!(session.stored_run().is_none());
}
