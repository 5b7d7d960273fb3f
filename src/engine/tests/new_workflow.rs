//! `/workflow :new`: the questions, and the workflow that is written.

use super::*;

/// A question: its title, and the options if it has any.
fn asked(output: &Output) -> (String, Vec<String>) {
    match &output.reply {
        Reply::Ask { request: Request::Input { title }, .. } => (title.to_string(), Vec::new()),
        Reply::Ask { request: Request::Select { title, options }, .. } => (title.to_string(), options.clone()),
        other => panic!("{other:?}, {:?}", output.effects),
    }
}

fn answer(session: &mut Session, answer: Answer) -> Output {
    session.on(Event::Answer { ticket: session.last_ticket, answer })
}

fn entered(session: &mut Session, text: &str) -> Output {
    answer(session, Answer::Entered(text.to_owned()))
}

#[test]
fn it_asks_and_writes() {
    for (untrusted, place, root) in [(false, Some(0), "project"), (false, Some(1), "global"), (true, None, "global")] {
        let mut session = Session::new(&[("flat", &["a"])]);
        session.files.untrusted = untrusted;
        assert_eq!(asked(&session.command("workflow", ":new ship")).0, "What is the workflow for?");
        let (title, options) = asked(&entered(&mut session, "Ship: it"));
        assert_eq!((&*title, options.len()), ("How does it work?", 3));
        assert_eq!(asked(&answer(&mut session, Answer::Selected(1))).1, [""; 0]);
        let mut output = entered(&mut session, "make test # all");
        if let Some(place) = place {
            assert_eq!(asked(&output).0, "Where is it written?");
            output = answer(&mut session, Answer::Selected(place));
        }
        let path = format!("~/{root}/ship/workflow.yaml");
        let told = format!("{path} is written.\nTo start it: /workflow ship TASK");
        assert_eq!((output.effects, output.reply), (notice(Level::Info, &told), Reply::None));
        let written = session.files.written.take();
        assert_eq!(written.len(), 1);
        assert_eq!(written[0].0, format!("{root}/ship"));
        for line in ["description: \"Ship: it\"\n", "  - id: work\n", "      - run: \"make test # all\"\n"] {
            assert!(written[0].1.contains(line), "{}", written[0].1);
        }
    }
}

#[test]
fn without_an_answer_nothing_is_written() {
    for (number, no_answer) in
        (0..3).flat_map(|number| [Answer::Cancelled, Answer::NoUi].map(|answer| (number, answer)))
    {
        let mut session = Session::new(&[]);
        let _ = session.command("workflow", ":new ship");
        for question in 0..number {
            let given = if question == 0 { Answer::Entered(String::new()) } else { Answer::Selected(0) };
            let _ = asked(&answer(&mut session, given));
        }
        let output = answer(&mut session, no_answer);
        assert_eq!(output.effects, notice(Level::Info, "No workflow is written."), "{number}");
        assert_eq!((output.reply, session.files.written.take()), (Reply::None, Vec::new()));
    }
}

#[test]
fn a_wrong_answer_is_asked_for_again() {
    let mut session = Session::new(&[]);
    let title = asked(&session.command("workflow", ":new ship")).0;
    for wrong in ["a\0b", "a\nb", &"x".repeat(2000)] {
        let output = entered(&mut session, wrong);
        assert_eq!(asked(&output).0, title, "{wrong}");
        assert!(matches!(&output.effects[..], [Effect::Notify { level: Level::Error, .. }]), "{:?}", output.effects);
    }
    let _ = entered(&mut session, "One");
    assert_eq!(asked(&answer(&mut session, Answer::Selected(0))).0, "Where is it written?");
    session.files.no_run_file = Some("the disk is full".to_owned());
    let output = answer(&mut session, Answer::Selected(0));
    assert_eq!(output.effects, notice(Level::Error, "No workflow is written: the disk is full"));
}

#[test]
fn a_name_that_is_taken_or_wrong_is_refused() {
    let mut session = Session::new(&[("flat", &["a"]), ("other", &["b"])]);
    let global = &mut session.files.global;
    let yaml = global["other/workflow.yaml"].replace("commandName: other", "commandName: own");
    global.insert("other/workflow.yaml".to_owned(), yaml);
    global.insert("bad/workflow.yaml".to_owned(), "name: 7\n".to_owned());
    for (name, folder) in [("flat", "flat"), ("own", "other"), ("other", "other"), ("bad", "bad")] {
        let output = session.command("workflow", &format!(":new {name}"));
        let told = format!("There is a workflow \"{name}\" already: ~/workflows/{folder}");
        assert_eq!((output.effects, output.reply), (notice(Level::Error, &told), Reply::None));
    }
    for name in ["", "../x", "a b", "é", "x/y", ":new", &"x".repeat(300)] {
        let output = session.command("workflow", &format!(":new {name}"));
        let [Effect::Notify { level: Level::Error, text }] = &output.effects[..] else {
            panic!("{:?}", output.effects)
        };
        assert!(text.starts_with("A name is "), "{text}");
        assert_eq!(output.reply, Reply::None);
    }
    let _ = asked(&session.command("workflow", ":new status"));
    session.ui = Ui::None;
    let output = session.command("workflow", ":new ship");
    let told = "/workflow :new asks in pi's user interface. In a terminal: pi-workflows new NAME";
    assert_eq!(output.effects, [&notice(Level::Error, told)[..], &[Effect::SetExitCode(1)]].concat());
}

#[test]
fn a_run_stays_as_it_is() {
    let mut session = Session::new(&[("flat", &["a", "b"])]);
    let _ = session.command("workflow", "flat x");
    let entries = session.entries.clone();
    let _ = session.on(Event::AgentStart);
    let _ = session.command("workflow", ":new ship");
    // The agent stops during the dialog: the run waits for the user.
    let _ = session.stop();
    let output = answer(&mut session, Answer::Cancelled);
    assert_eq!(output.effects[0], notice(Level::Info, "No workflow is written.")[0]);
    assert_eq!(session.status.as_deref(), Some(WAITS));
    assert_eq!(session.entries, entries);
}
