//! Workflows that the agent proposes.

use super::*;
use crate::protocol::{PROPOSAL_TYPE, PROPOSE_TOOL_NAME};

const OPTIONS: [&str; 4] = ["Not now", "Start it", "Start it with other values", "Never in this session"];
const PROPOSAL: &str = r#"{"workflow":"fix","task":"Repair it","inputs":{"most":3}}"#;

/// The workflows `fix`, which is offered and has the inputs `scope`, `most` (a bound) and `issue` (required), and `other`.
fn session() -> Session {
    let mut session = Session::new(&[("fix", &["a", "b"]), ("other", &["c"])]);
    let yaml = session.files.global.get_mut("fix/workflow.yaml").unwrap();
    yaml.push_str("whenToUse: For faults that a test shows.\nbudget: { turns: input.most }\ninputs:\n  scope: { type: choice, options: [api, web], default: api }\n  most: { type: number, min: 1, max: 9, default: 2 }\n  issue: { type: number, optional: true }\n");
    session.files.tools = vec!["read", "workflow_step"];
    *session.files.active_tools.borrow_mut() = Some(vec!["read".into(), "workflow_step".into()]);
    begin(&mut session);
    session
}

fn begin(session: &mut Session) -> Vec<Effect> {
    session.engine = Engine::default();
    let effects = session.on(Event::Session { stored: None, in_view: None, facts: Facts::default() }).effects;
    // The host registers the tool and shows it.
    if effects.iter().any(|effect| matches!(effect, Effect::OfferTool(_))) {
        session.files.tools.push(PROPOSE_TOOL_NAME);
        session.files.active_tools.borrow_mut().as_mut().unwrap().push(PROPOSE_TOOL_NAME.into());
    }
    effects
}

impl Session {
    fn propose(&mut self, input: &str) -> Output {
        self.on(Event::Propose { input, nested: false })
    }

    /// The result of a proposal without a question.
    #[track_caller]
    fn refused(&mut self, input: &str) -> String {
        match self.propose(input).reply {
            Reply::Tool(ToolResult { text, details }) => {
                assert_eq!(details, json!({ "proposal": "refused" }));
                text
            }
            other => panic!("{other:?}"),
        }
    }

    fn user_answers(&mut self, answer: Answer) -> Output {
        self.on(Event::Answer { ticket: self.last_ticket, answer })
    }

    /// The agent comes to rest.
    fn settles(&mut self, stop: Stop) -> Output {
        let _ = self.on(Event::AgentEnd { stop });
        self.on(Event::AgentSettled)
    }
}

fn tool_text(output: &Output) -> (&str, bool) {
    match &output.reply {
        Reply::Tool(result) => (&result.text, false),
        Reply::LastTool(result) => (&result.text, true),
        other => panic!("{other:?}"),
    }
}

fn stored(output: &Output) -> Vec<String> {
    let entry = |effect: &Effect| match effect {
        Effect::AppendEntry { custom_type: PROPOSAL_TYPE, data } => Some(data["answer"].as_str().unwrap().to_owned()),
        _ => None,
    };
    output.effects.iter().filter_map(entry).collect()
}

fn active_tools(output: &Output) -> Option<Vec<String>> {
    let tools = |effect: &Effect| if let Effect::SetActiveTools(tools) = effect { Some(tools.clone()) } else { None };
    output.effects.iter().find_map(tools)
}

#[test]
fn the_tool_is_registered_only_where_a_workflow_is_offered() {
    let mut session = Session::new(&[("fix", &["a"])]);
    assert_eq!(begin(&mut session), [Effect::SetStatus(None)]);
    let mut session = self::session();
    session.files.tools.pop();
    let effects = begin(&mut session);
    let [Effect::OfferTool(description), Effect::SetStatus(None)] = &effects[..] else { panic!("{effects:?}") };
    let line = "- fix: For faults that a test shows. Inputs: scope (`api` or `web`, optional); most (a number from 1 to 9, optional); issue (number, optional)";
    assert!(description.contains(line), "{description}");
    // The files change: another description; and then no workflow is offered.
    let yaml = session.files.global["fix/workflow.yaml"].replace("For faults", "For all faults");
    session.files.global.insert("fix/workflow.yaml".into(), yaml.clone());
    let effects = session.command("workflow", "").effects;
    assert!(matches!(&effects[..], [Effect::Notify { .. }, Effect::OfferTool(_)]), "{effects:?}");
    session.files.global.insert("fix/workflow.yaml".into(), yaml.replace("whenToUse", "# "));
    let output = session.command("workflow", "");
    assert_eq!(active_tools(&output).unwrap(), ["read", "workflow_step"]);
}

#[test]
fn the_user_is_shown_everything_and_the_run_starts_when_the_agent_is_at_rest() {
    let mut session = session();
    let output = session.propose(PROPOSAL);
    let Reply::Ask { request: Request::Select { title, options }, .. } = &output.reply else { panic!("{output:?}") };
    assert_eq!(options[..], OPTIONS);
    assert!(
        title.starts_with("Start \"The fix\"?\nThe agent proposes \"The fix\" (/workflow fix, \"~/workflows/fix\"):"),
        "{title}"
    );
    for part in
        ["Task:\n│ Repair it\n", "Input most, which sets a bound of the run:\n│ 3\n", "Rules of this run: a budget."]
    {
        assert!(title.contains(part), "{title}");
    }
    let output = session.user_answers(Answer::Selected(1));
    let (text, ends) = tool_text(&output);
    assert!(text.starts_with("The user starts the workflow \"fix\". It begins when you have stopped") && ends);
    assert_eq!(stored(&output), ["start"]);
    assert!(!session.engine.has_run());
    let call = session.on(Event::ToolCall { name: "bash", carries_calls: false }).reply;
    assert_eq!(call, Reply::Stop(text::BEFORE_START.into()), "the agent does nothing more");
    let output = session.settles(Stop::Completed);
    assert_eq!(stored(&output), ["started"]);
    assert!(output.effects.contains(&Effect::SendUserMessage("Go: Repair it".into())), "{output:?}");
    let run = session.stored_run().unwrap();
    assert!(run.progress().proposed && run.progress().inputs.get("most").unwrap() == "3");
    // The tool is away while the run goes on, and comes back.
    assert_eq!(active_tools(&output).unwrap(), ["read", "workflow_step"]);
    *session.files.active_tools.borrow_mut() = active_tools(&output);
    assert_eq!(session.refused(PROPOSAL), text::PROPOSAL_IN_RUN);
    let output = session.command("cancel-workflow", "");
    let ticket = session.last_ticket;
    let output = if let Reply::Ask { .. } = output.reply {
        session.on(Event::Answer { ticket, answer: Answer::Confirmed(true) })
    } else {
        output
    };
    assert_eq!(active_tools(&output).unwrap(), ["read", "workflow_step", PROPOSE_TOOL_NAME]);
}

#[test]
fn a_tool_that_the_user_has_switched_off_stays_off() {
    let mut session = session();
    *session.files.active_tools.borrow_mut() = Some(vec!["read".into(), "workflow_step".into()]);
    let output = session.command("workflow", "other x");
    assert!(session.engine.has_run() && active_tools(&output).is_none());
    let output = session.command("cancel-workflow", "");
    let output = match output.reply {
        Reply::Ask { ticket, .. } => session.on(Event::Answer { ticket, answer: Answer::Confirmed(true) }),
        _ => output,
    };
    assert!(active_tools(&output).is_none(), "{output:?}");
}

#[test]
fn other_values_are_the_users() {
    let mut session = session();
    let _ = session.propose(PROPOSAL);
    let asked = |output: &Output| match &output.reply {
        Reply::Ask { request: Request::Input { title }, .. } => (title.to_string(), Vec::new()),
        Reply::Ask { request: Request::Select { title, options }, .. } => (title.to_string(), options.clone()),
        other => panic!("{other:?}"),
    };
    let output = session.user_answers(Answer::Selected(2));
    assert_eq!(asked(&output).0, "What is the task for \"The fix\"?");
    let output = session.user_answers(Answer::Entered("Another".into()));
    let (title, options) = asked(&output);
    assert_eq!(title, "Input `scope` of \"The fix\"?");
    assert_eq!(options, ["Do not start", "the default, api", "api", "web"]);
    let output = session.user_answers(Answer::Selected(1));
    assert_eq!(asked(&output).0, "Input `most` (a number from 1 to 9) of \"The fix\"?\nEmpty: the default, 2");
    let output = session.user_answers(Answer::Entered("77".into()));
    assert!(matches!(&output.effects[..], [Effect::Notify { level: Level::Warning, .. }]), "{output:?}");
    let output = session.user_answers(Answer::Entered("4".into()));
    assert_eq!(asked(&output).0, "Input `issue` (a number) of \"The fix\"?\nEmpty: no value");
    let output = session.user_answers(Answer::Entered(" ".into()));
    assert!(tool_text(&output).1);
    let _ = session.settles(Stop::Completed);
    let run = session.stored_run().unwrap();
    assert_eq!(run.task_description, "Another");
    let inputs: Vec<(&str, &str)> = run.progress().inputs.iter().map(|(name, value)| (name, &**value)).collect();
    assert_eq!(inputs, [("most", "4"), ("scope", "api")]);
}

#[test]
fn without_a_yes_nothing_starts() {
    for answer in [Answer::Selected(0), Answer::Selected(9), Answer::Cancelled, Answer::NoUi, Answer::Confirmed(true)] {
        let mut session = session();
        let _ = session.propose(PROPOSAL);
        let output = session.user_answers(answer);
        let (text, ends) = tool_text(&output);
        assert!(text.starts_with("The user does not start the workflow \"fix\" now.") && !ends, "{text}");
        assert_eq!(stored(&output), ["later"]);
        assert_eq!(session.settles(Stop::Completed).effects, []);
        assert!(!session.engine.has_run());
    }
}

#[test]
fn a_model_that_proposes_for_ever_is_stopped() {
    let mut session = session();
    for _ in 0..2 {
        let _ = session.propose(PROPOSAL);
        let _ = session.user_answers(Answer::Selected(0));
    }
    for _ in 0..4 {
        assert_eq!(session.refused(PROPOSAL), text::PROPOSALS_OVER);
    }
    let output = session.propose(PROPOSAL);
    assert_eq!(tool_text(&output), (text::PROPOSALS_OVER, true), "the agent's run ends");
    let _ = session.on(Event::Input { from_user: false });
    assert!(matches!(session.propose(PROPOSAL).reply, Reply::LastTool(_)), "a prompt of an extension is no user's");
    let _ = session.on(Event::Input { from_user: true });
    assert!(matches!(session.propose(PROPOSAL).reply, Reply::Ask { .. }));
    assert_eq!(session.refused(PROPOSAL), text::PROPOSAL_PENDING, "one question at a time");
}

#[test]
fn never_holds_for_the_session() {
    let mut session = session();
    let _ = session.propose(PROPOSAL);
    let output = session.user_answers(Answer::Selected(3));
    assert_eq!(tool_text(&output), (text::NO_PROPOSALS, false));
    assert_eq!(stored(&output), ["never"]);
    assert_eq!(active_tools(&output).unwrap(), ["read", "workflow_step"]);
    let _ = session.on(Event::Input { from_user: true });
    assert_eq!(session.refused(PROPOSAL), text::NO_PROPOSALS);
    session.files.proposals = vec![json!({ "workflow": "fix", "answer": "never" }).to_string()];
    assert_eq!(begin(&mut session), [Effect::SetStatus(None)], "pi starts again: no tool");
    assert_eq!(session.refused(PROPOSAL), text::NO_PROPOSALS);
    // At another start no workflow is offered at first.
    let yaml = session.files.global["fix/workflow.yaml"].clone();
    session.files.global.insert("fix/workflow.yaml".into(), yaml.replace("whenToUse", "# "));
    begin(&mut session);
    session.files.global.insert("fix/workflow.yaml".into(), yaml);
    let output = session.command("workflow", "");
    assert!(!output.effects.iter().any(|effect| matches!(effect, Effect::OfferTool(_))), "{output:?}");
    assert_eq!(session.refused(PROPOSAL), text::NO_PROPOSALS);
}

#[test]
fn a_start_that_is_refused_is_told_once() {
    let mut session = session();
    let _ = session.propose(PROPOSAL);
    let _ = session.user_answers(Answer::Selected(1));
    session.files.tools.retain(|tool| *tool != "workflow_step");
    *session.files.active_tools.borrow_mut() = Some(vec!["read".into()]);
    let output = session.settles(Stop::Completed);
    let notices = output.effects.iter().filter(|effect| matches!(effect, Effect::Notify { .. })).count();
    assert_eq!((notices, stored(&output)), (1, vec!["not started".to_owned()]), "{output:?}");
    assert!(!session.engine.has_run());
}

#[test]
fn only_a_user_in_a_session_without_a_run_is_asked() {
    let mut session = session();
    let output = session.without_ui(Event::Propose { input: PROPOSAL, nested: false });
    assert!(tool_text(&output).0.starts_with("Nobody can answer here"), "{output:?}");
    let output = session.on(Event::Propose { input: PROPOSAL, nested: true });
    assert_eq!(tool_text(&output), (text::PROPOSAL_NESTED, false));
    let mut family = branches::Family::new(branches::GROUP);
    let child = family.children.values_mut().next().unwrap();
    assert_eq!(child.refused(PROPOSAL), text::PROPOSAL_IN_BRANCH);
}

#[test]
fn what_has_changed_since_the_yes_does_not_start() {
    type Change = fn(&mut Session);
    let changes: [(Change, Stop, &str); 5] = [
        (|_| (), Stop::Aborted, "the agent was interrupted"),
        (
            |session| drop(session.command("workflow", "other x")),
            Stop::Completed,
            "another workflow was started meanwhile",
        ),
        (
            |session| {
                let yaml = session.files.global.get_mut("fix/workflow.yaml").unwrap();
                yaml.push_str("budget: { turns: 900 }\n");
                let _ = session.command("workflow", "");
            },
            Stop::Completed,
            "its files have changed since",
        ),
        (
            |session| drop(session.files.global.insert("fix/scripts/a.sh".into(), "true\n".into())),
            Stop::Completed,
            "its files have changed since",
        ),
        (
            |session| {
                session.files.global.remove("fix/workflow.yaml");
                let _ = session.command("workflow", "");
            },
            Stop::Completed,
            "its files have changed since",
        ),
    ];
    for (change, stop, why) in changes {
        let mut session = session();
        let _ = session.propose(PROPOSAL);
        let _ = session.user_answers(Answer::Selected(1));
        change(&mut session);
        let output = session.settles(stop);
        let told = text::proposal_not_started("fix", why);
        assert!(output.effects.contains(&Effect::Notify { level: Level::Warning, text: told }), "{why}: {output:?}");
        assert_eq!(stored(&output), ["not started"]);
        assert!(session.stored_run().is_none_or(|run| run.workflow_key == "other"));
    }
}

#[test]
fn a_closing_answer_that_the_user_interrupts_starts_nothing() {
    for (interrupted, started) in [(true, None), (false, Some("fix"))] {
        let mut session = session();
        let _ = session.propose(PROPOSAL);
        let _ = session.user_answers(Answer::Selected(1));
        for _ in 0..2 {
            let _ = session.on(Event::TurnEnd { queued: false, calls: &[] });
        }
        if !interrupted {
            assert!(session.on(Event::TurnStart).effects.contains(&Effect::Abort));
        }
        let output = session.settles(Stop::Aborted);
        let told = text::proposal_not_started("fix", "the agent was interrupted");
        let is_told = output.effects.contains(&Effect::Notify { level: Level::Warning, text: told });
        assert_eq!(is_told, interrupted, "{output:?}");
        assert_eq!(session.stored_run().map(|run| &*run.workflow_key), started);
    }
}

#[test]
fn a_refusal_in_a_run_ends_no_work() {
    let mut session = session();
    for _ in 0..5 {
        let _ = session.propose("{}");
    }
    let _ = session.command("workflow", "other x");
    assert_eq!(tool_text(&session.propose(PROPOSAL)), (text::PROPOSAL_IN_RUN, false));
}

#[test]
fn what_has_changed_while_the_user_was_asked_does_not_start() {
    let mut session = session();
    let _ = session.propose(PROPOSAL);
    session.files.global.get_mut("fix/workflow.yaml").unwrap().push_str("budget: { turns: 900 }\n");
    let output = session.user_answers(Answer::Selected(1));
    assert_eq!(tool_text(&output), (text::proposal_failed("fix").as_str(), false));
    let told = text::proposal_not_started("fix", "its files have changed since");
    assert!(output.effects.contains(&Effect::Notify { level: Level::Warning, text: told }), "{output:?}");
    let _ = session.settles(Stop::Completed);
    assert_eq!(session.stored_run(), None);
}

#[test]
fn a_start_that_a_killed_process_has_left_is_told_once() {
    let mut session = session();
    session.files.proposals = vec![json!({ "workflow": "fix", "answer": "start" }).to_string()];
    let effects = begin(&mut session);
    let told = |effect: &Effect| matches!(effect, Effect::Notify { text, .. } if text.starts_with("The workflow \"fix\" that you let start is not started"));
    assert!(effects.iter().any(told), "{effects:?}");
    for stored in ["started", "not started", "later", "?"] {
        session.files.proposals = vec![json!({ "workflow": "fix", "answer": stored }).to_string()];
        assert!(!begin(&mut session).iter().any(told), "{stored}");
    }
    session.files.proposals = vec!["[".into()];
    assert!(!begin(&mut session).iter().any(told));
}

#[test]
fn a_run_that_begins_with_a_question_asks_it_when_the_agent_is_at_rest() {
    let mut session = session();
    let yaml = session.files.global.get_mut("fix/workflow.yaml").unwrap();
    *yaml = yaml.replace("phases: [", "phases: [{ ask: Which way?, outcomes: { left: next, right: stop } }, ");
    let _ = session.propose(PROPOSAL);
    let _ = session.user_answers(Answer::Selected(1));
    let output = session.settles(Stop::Completed);
    let Reply::Ask { request: Request::Select { .. }, .. } = &output.reply else { panic!("{output:?}") };
    let output = session.user_answers(Answer::Selected(1));
    assert!(session.engine.has_run(), "{output:?}");
}

#[test]
fn a_call_that_is_not_understood_is_refused_with_the_reason() {
    let mut session = session();
    let long = json!({ "workflow": "fix", "task": "x".repeat(100_000) }).to_string();
    for (input, part) in [
        ("", "Give `workflow` and `task`."),
        ("[]", "Give `workflow` and `task`."),
        (
            r#"{"workflow":"fxi","task":"x"}"#,
            "There is no workflow \"fxi\" to propose, only: fix. Did you mean \"fix\"?",
        ),
        (r#"{"workflow":"other","task":"x"}"#, "There is no workflow \"other\" to propose, only: fix."),
        (r#"{"workflow":"fix","task":" "}"#, "`task` is empty"),
        (r#"{"workflow":"fix"}"#, "`task` is empty"),
        (r#"{"workflow":"fix","task":"x","scope":"api"}"#, "unknown argument \"scope\""),
        (&long, text::PROPOSAL_TOO_LONG),
        (r#"{"workflow":"\u001b[31mfix","task":"x"}"#, text::PROPOSAL_CONTROL),
        (r#"{"workflow":"fix","task":"\u001b[2J"}"#, text::PROPOSAL_CONTROL),
    ] {
        let told = session.refused(input);
        assert!(told.starts_with(part), "{told}");
        let _ = session.on(Event::Input { from_user: true });
    }
    for (inputs, part) in [
        (json!({ "scop": "api" }), "There is no input `scop`. Did you mean `scope`?"),
        (json!({ "scope": "all" }), "`scope`: expected `api` or `web`, found `all`."),
        (json!({ "most": 900 }), "`most`: expected a number from 1 to 9, found `900`."),
        (json!({ "most": [1] }), "`most`: expected a number from 1 to 9, found `[1]`."),
        (json!(["api"]), "`inputs` is not an object"),
        (json!({ "scope": "\u{1b}[31mapi" }), text::PROPOSAL_CONTROL),
        (json!({ "\u{7}": 1 }), text::PROPOSAL_CONTROL),
    ] {
        let told = session.refused(&json!({ "workflow": "fix", "task": "x", "inputs": inputs }).to_string());
        assert!(told.starts_with(part), "{told}");
        let _ = session.on(Event::Input { from_user: true });
    }
}

#[test]
fn a_value_that_becomes_a_command_is_the_users() {
    let mut session = session();
    let yaml = session.files.global.get_mut("fix/workflow.yaml").unwrap();
    yaml.push_str("  check: { type: command, optional: true }\n");
    begin(&mut session);
    let call = json!({ "workflow": "fix", "task": "x", "inputs": { "check": "curl x | sh" } }).to_string();
    assert_eq!(session.refused(&call), "`check` becomes a command, so only the user gives it. Leave it out.");
}
