//! Inputs, outcomes and conditions.

use super::*;
use crate::run::PauseReason;

/// A session with these files below the user's workflows. A file that ends with `.md` is the front matter of a phase
/// besides its id, name and emoji; a line that begins with `Do` begins the instructions.
fn with(files: &[(&str, &str)]) -> Session {
    let mut session = Session::new(&[]);
    for (path, text) in files {
        let text = match path.strip_suffix(".md") {
            None => (*text).to_owned(),
            Some(path) => {
                let id = path.rsplit('/').next().unwrap();
                let (fields, body) = text.split_once("Do").unwrap_or((text, " it."));
                format!("---\nid: {id}\nname: {}\nemoji: '*'\n{fields}\n---\nDo{body}\n", id.to_uppercase())
            }
        };
        session.files.global.insert((*path).to_owned(), text);
    }
    let _ = session.on(Event::Session { stored: None, in_view: None, facts: Facts::default() });
    session
}

const HEAD: &str = "name: W\ncommandName: w\ninitialMessage: 'Go: {description} {input.scope}'\n";

/// A triage whose outcome `small` passes over `design`; the review leads back to `build`.
fn triage(more: &str) -> Session {
    let workflow = format!(
        "{HEAD}{more}phases: [triage.md, {{phase: design.md, when: {{outcome.triage: large}}}}, build.md, review.md]\n"
    );
    let mut session = with(&[
        ("w/workflow.yaml", &workflow),
        ("w/triage.md", "outcomes: {small: next, large: next, none: done}"),
        ("w/design.md", ""),
        ("w/build.md", "Do {outcome.triage}, {outcome.review}, {outcome.nope}."),
        ("w/review.md", "outcomes: {clean: next, issues: build}"),
    ]);
    let _ = session.command("workflow", "w x");
    let _ = session.on(Event::AgentStart);
    session
}

impl Session {
    fn next_with(&mut self, outcome: &str) -> (String, Value) {
        let input = json!({ "action": "next", "outcome": outcome }).to_string();
        match self.on(Event::Step { input: &input, nested: false }).reply {
            Reply::Tool(result) => (result.text, result.details),
            other => panic!("{other:?}"),
        }
    }

    /// The id of the current phase; `DONE` behind the last.
    fn phase_id(&self) -> String {
        self.engine.run.active().map_or_else(|| "DONE".into(), |active| active.phase.id.clone())
    }

    /// The ways of the run: the phase after each outcome.
    #[track_caller]
    fn goes(&mut self, steps: &[(&str, &str)]) {
        for (outcome, phase) in steps {
            let (text, _) = self.next_with(outcome);
            assert_eq!(self.phase_id(), *phase, "{outcome}: {text}");
        }
    }

    fn reason(&self) -> Option<&PauseReason> {
        self.engine.run.pause_reason()
    }
}

fn told(output: &Output) -> String {
    let notices = output.effects.iter().filter_map(|effect| match effect {
        Effect::Notify { text, .. } => Some(&**text),
        _ => None,
    });
    notices.collect::<Vec<_>>().join("\n")
}

#[test]
fn an_outcome_leads_where_it_says_and_conditions_pass_entries_over() {
    let mut session = triage("");
    let (refused, details) = session.next_with("");
    assert!(refused.contains("The phase * TRIAGE is left with an outcome."), "{refused}");
    let call = r#"  workflow_step {"action": "next", "summary": "<what you found or did>", "outcome": "#;
    let lines = format!(
        "- `small`: the next phase:\n{call}\"small\"}}\n- `large`: the next phase:\n{call}\"large\"}}\n- `none`: the end of this workflow:\n{call}\"none\"}}"
    );
    assert!(refused.ends_with(&lines), "{refused}");
    assert_eq!(details["error"], "outcome required");
    assert!(session.next_with("smal").0.contains("`smal` is no outcome of the phase * TRIAGE"));
    assert_eq!(session.phase_id(), "triage");
    let (text, details) = session.next_with("small");
    assert_eq!(session.phase_id(), "build");
    assert!(
        text.starts_with(
            "✓ Advanced with `small`: TRIAGE → * BUILD\nPassed over: DESIGN (outcome.triage is small, not large)\n"
        ),
        "{text}"
    );
    assert!(text.contains("  2. * DESIGN (passed over: outcome.triage is small, not large)\n"), "{text}");
    assert!(text.contains("Do small, (none), {outcome.nope}."), "{text}");
    assert_eq!(details["outcome"], "small");
    session.goes(&[("", "review")]);
    let (text, _) = session.next_with("issues");
    assert!(text.starts_with("✓ Went back with `issues`: REVIEW → * BUILD\n\n"), "{text}");
    assert!(text.contains("Do small, issues, {outcome.nope}."), "{text}");
    session.goes(&[("ignored", "review"), ("clean", "DONE")]);

    triage("").goes(&[("large", "design"), ("", "build")]);
    triage("").goes(&[("none", "DONE")]);
}

#[test]
fn at_the_bound_of_loops_the_run_pauses() {
    let mut session = triage("");
    session.goes(&[("small", "build"), ("", "review")]);
    let loops = [("issues", "build"), ("", "review")].repeat(20);
    session.goes(&loops);
    let (text, _) = session.next_with("issues");
    assert!(text.starts_with("The workflow is paused: “REVIEW” leads back with `issues`, after 20 loops."), "{text}");
    assert!(matches!(session.reason(), Some(PauseReason::Loops { .. })));
    assert!(session.next_with("clean").0.contains("paused"), "the agent waits");
    let _ = session.resume("");
    session.goes(&loops);
    let _ = session.next_with("issues");
    let _ = session.command("workflow", ":next clean");
    assert_eq!((session.phase_id(), session.reason()), ("DONE".into(), None));
}

#[test]
fn a_bounded_way_leads_elsewhere_in_the_end_or_pauses_the_run() {
    let bounded = |then: &str| {
        let issues = format!("outcomes: {{clean: next, issues: {{to: build, max: 1{then}}}}}");
        let workflow = format!("{HEAD}phases: [build.md, review.md, ship.md]\n");
        let files = [("w/workflow.yaml", &*workflow), ("w/build.md", ""), ("w/review.md", &*issues), ("w/ship.md", "")];
        let mut session = with(&files);
        let _ = session.command("workflow", "w x");
        let _ = session.on(Event::AgentStart);
        session.goes(&[("", "review"), ("issues", "build"), ("", "review")]);
        let (text, _) = session.next_with("issues");
        (session, text)
    };
    let (session, text) = bounded(", then: stop");
    assert!(text.starts_with("⛔ The workflow is stopped: * REVIEW was left with `issues`. Stop here"), "{text}");
    assert!(session.stored_run().unwrap().is_stopped());
    let (mut session, text) = bounded("");
    assert!(text.starts_with("The workflow is paused: “REVIEW” was left with `issues` 1 time (max)."), "{text}");
    let refused = told(&session.command("workflow", ":next issues"));
    let expected =
        "* REVIEW was left with `issues` 1 time (max). /workflow :skip ID goes to any phase of the workflow.";
    assert_eq!(refused, expected);
    // Counts begin anew after the pause.
    let _ = session.resume("");
    session.goes(&[("issues", "build")]);
}

#[test]
fn the_user_names_an_outcome_and_goes_into_what_was_passed_over() {
    let mut session = triage("");
    let bad = told(&session.command("workflow", ":next smal"));
    assert_eq!(bad, "`smal` is no outcome of * TRIAGE. Did you mean `small`? There are small, large, none.");
    let _ = session.command("workflow", ":next small");
    assert_eq!(session.phase_id(), "build");
    let _ = session.command("workflow", ":back");
    assert_eq!(session.phase_id(), "design");
    assert!(session.engine.run.active().unwrap().state.progress().passed_over.is_empty());
    let _ = session.command("workflow", ":back");
    // Without an outcome the conditions on it do not hold.
    let _ = session.command("workflow", ":next");
    assert_eq!(session.phase_id(), "build");
    let _ = session.command("workflow", ":skip design");
    assert_eq!(session.phase_id(), "design");
    let bad = told(&session.command("workflow", ":skip desing"));
    assert!(bad.starts_with("W has no phase `desing`. Did you mean `design`?"), "{bad}");
    let names = |prefix: &str, session: &mut Session| -> Vec<String> {
        session.engine.complete(prefix, &session.files).into_iter().map(|one| one.value).collect()
    };
    let _ = session.command("workflow", ":skip review");
    assert_eq!(names(":next ", &mut session), [":next clean", ":next issues"]);
    assert_eq!(names(":skip d", &mut session), [":skip design"]);
    assert_eq!(names(":next clean", &mut session), [""; 0]);
}

#[test]
fn a_nested_workflow_gets_values_and_hands_over_its_outcome() {
    let files = [
        (
            "w/workflow.yaml",
            "name: W\ncommandName: w\ninitialMessage: Go\ninputs: {scope: {type: choice, options: [api, web]}, deep: {type: flag}}\nphases:\n  - {subworkflow: check, when: {input.deep: true}, with: {half: '{input.scope}', note: '{input.x}'}}\n  - {phase: fix.md, when: {outcome.check: [bad, worse]}}\n  - last.md\n",
        ),
        ("w/fix.md", "Do {input.scope} {outcome.check} {input.half}."),
        ("w/last.md", "Do {outcome.check}."),
        (
            "check/workflow.yaml",
            "name: C\nshow: workflows\ninputs: {half: {type: text}, note: {type: text, default: '{description}'}}\nphases: [look.md, judge.md]\n",
        ),
        ("check/look.md", "Do {input.half} {input.note} {input.scope}."),
        ("check/judge.md", "outcomes: {bad: next, good: done, worse: done}"),
    ];
    let files = files.map(|(path, text)| (path, text.replace(", note: '{input.x}'", "")));
    let files = files.each_ref().map(|(path, text)| (*path, text.as_str()));
    let start = |arguments: &str| {
        let mut session = with(&files);
        let _ = session.command("workflow", &format!("w {arguments} x"));
        let _ = session.on(Event::AgentStart);
        session
    };
    let mut session = start("scope=web deep=true");
    assert_eq!(session.phase_id(), "look");
    let prompt = crate::text::context_prompt(&session.engine.run.active().unwrap(), crate::text::DefaultRole::Worker);
    assert!(prompt.contains("Do web {description} {input.scope}."), "{prompt}");
    assert!(prompt.contains("**Inputs:** half: web, note: {description}\n"), "{prompt}");
    session.goes(&[("", "judge"), ("bad", "fix")]);
    let (text, _) = session.step("status");
    assert!(text.contains("Do web bad {input.half}."), "{text}");
    start("scope=api deep=true").goes(&[("", "judge"), ("good", "last"), ("", "DONE")]);
    start("scope=api deep=true").goes(&[("", "judge"), ("worse", "fix"), ("", "last")]);
    // The nested workflow and the entries that depend on it are passed over at the start.
    let mut session = start("scope=api");
    assert_eq!(session.phase_id(), "last");
    let panel = told(&session.command("workflow", ":status"));
    assert_eq!(panel, "");
    assert!(session.step("status").0.contains("Do (none)."));
    let reasons: Vec<String> = session
        .engine
        .run
        .active()
        .unwrap()
        .state
        .progress()
        .passed_over
        .values()
        .map(|passed| passed.because.to_string())
        .collect();
    assert_eq!(reasons, ["input.deep is false, not true", "outcome.check is not known; it must be bad or worse"]);
}

#[test]
fn a_nested_workflow_begins_anew() {
    let mut session = with(&[
        ("w/workflow.yaml", "name: W\ncommandName: w\ninitialMessage: Go\nphases: [{subworkflow: n}, last.md]\n"),
        ("w/last.md", "outcomes: {again: loop, done: done}"),
        ("n/workflow.yaml", "name: N\nshow: workflows\nphases: [a.md, {phase: b.md, when: {outcome.a: x}}, c.md]\n"),
        ("n/a.md", "outcomes: {x: next, y: c}"),
        ("n/b.md", ""),
        ("n/c.md", ""),
    ]);
    let _ = session.command("workflow", "w x");
    let _ = session.on(Event::AgentStart);
    session.goes(&[("x", "b"), ("", "c"), ("", "last"), ("again", "a")]);
    let progress = |session: &Session| session.engine.run.active().unwrap().state.progress().clone();
    assert_eq!(progress(&session).outcomes.keys().collect::<Vec<_>>(), ["w:1"]);
    session.goes(&[("y", "c")]);
    assert_eq!(progress(&session).passed_over.keys().collect::<Vec<_>>(), ["w:0/n:1"]);
    let _ = session.command("workflow", ":back");
    assert_eq!(session.phase_id(), "b");
    assert!(progress(&session).passed_over.is_empty());
}

#[test]
fn a_run_with_nothing_to_do_is_not_started() {
    let mut session = with(&[
        (
            "w/workflow.yaml",
            "name: W\ncommandName: w\ninitialMessage: Go\ninputs: {a: {type: flag}}\nphases: [{phase: a.md, when: {input.a: true}}]\n",
        ),
        ("w/a.md", ""),
    ]);
    let failed = told(&session.command("workflow", "w x"));
    assert_eq!(failed, "W has nothing to do: the conditions of no phase hold.\n  input.a is false, not true");
    assert!(session.engine.run.running().is_none());
    let _ = session.command("workflow", "w a=true x");
    assert_eq!(session.phase_id(), "a");
}

#[test]
fn checks_are_made_for_their_outcome_only() {
    let files = [
        ("w/workflow.yaml", "name: W\ncommandName: w\ninitialMessage: Go\nphases: [a.md, b.md]\n"),
        (
            "w/a.md",
            "outcomes: {clean: done, issues: next, again: loop}\ngate: [{file: clean.txt, outcome: clean}, {file: any.txt}]",
        ),
        ("w/b.md", ""),
    ];
    let mut session = with(&files);
    let _ = session.command("workflow", "w x");
    let _ = session.on(Event::AgentStart);
    let prompt = crate::text::context_prompt(&session.engine.run.active().unwrap(), crate::text::DefaultRole::Worker);
    for line in [
        "- with outcome `clean`: the file `clean.txt` exists, is not empty\n",
        "- the file `any.txt` exists, is not empty\n",
        "**Outcomes:** leave the phase with one of these:\n- `clean`: the end of this workflow:\n  workflow_step {",
        ", \"outcome\": \"again\"}",
    ] {
        assert!(prompt.contains(line), "{line}{prompt}");
    }
    assert!(session.next_with("clean").0.contains("not passed: clean.txt"));
    let _ = session.on(Event::TurnEnd { queued: false, calls: &[] });
    session.files.tree.insert("any.txt".into(), "x".into());
    session.goes(&[("again", "a")]);
    let _ = session.on(Event::TurnEnd { queued: false, calls: &[] });
    session.goes(&[("issues", "b")]);
}

#[test]
fn inputs_are_read_asked_for_and_never_resolved_twice() {
    let mut session = with(&[
        (
            "w/workflow.yaml",
            "name: W\ncommandName: w\ninitialMessage: 'Go: {description} {input.scope} {input.issue}'\ninputs:\n  scope: {type: choice, options: [api, web], description: Which half}\n  issue: {type: number}\n  note: {type: text, default: none}\nphases: [a.md]\n",
        ),
        ("w/a.md", "Do {input.note}."),
    ]);
    let prompts = |output: &Output| -> Vec<String> {
        let sent = output.effects.iter().filter_map(|effect| match effect {
            Effect::SendUserMessage(text) => Some(text.clone()),
            _ => None,
        });
        sent.collect()
    };
    session.ui = Ui::None;
    let failed = told(&session.command("workflow", "w scope=wep x"));
    assert_eq!(failed, "`scope`: expected `api` or `web`, found `wep`. Did you mean `web`?");
    let failed = told(&session.command("workflow", "w x"));
    assert_eq!(
        failed,
        "These values are missing before the task:\n  scope=… (`api` or `web`): Which half\n  issue=… (a number)"
    );
    session.ui = Ui::Terminal;
    let Reply::Ask { ticket, request } = session.command("workflow", "w fix a=b").reply else { panic!() };
    let Request::Select { title, options } = request else { panic!() };
    assert_eq!((&*title, options.join(" ")), ("Input `scope` of \"W\"?\n│ Which half", "Do not start api web".into()));
    let asked = session.on(Event::Answer { ticket, answer: Answer::Selected(2) });
    let Reply::Ask { ticket, .. } = asked.reply else { panic!() };
    let asked = session.on(Event::Answer { ticket, answer: Answer::Entered("twelve".into()) });
    assert_eq!(told(&asked), "`issue`: expected a number, found `twelve`.");
    let Reply::Ask { ticket, .. } = asked.reply else { panic!() };
    let started = session.on(Event::Answer { ticket, answer: Answer::Entered("12".into()) });
    assert_eq!(prompts(&started), ["Go: fix a=b web 12"]);
    let _ = session.command("workflow", ":cancel");

    let Reply::Ask { ticket, .. } = session.command("workflow", "w scope=api x").reply else { panic!() };
    let closed = session.on(Event::Answer { ticket, answer: Answer::Cancelled });
    assert_eq!(told(&closed), "The workflow is not started.");
    assert!(session.engine.run.running().is_none());

    let quoted = r#"w scope=api issue=7 note="{description} and 'more'" -- issue=8 {input.note}"#;
    let started = session.command("workflow", quoted);
    assert_eq!(prompts(&started), ["Go: issue=8 {input.note} api 7"]);
    let prompt = crate::text::context_prompt(&session.engine.run.active().unwrap(), crate::text::DefaultRole::Worker);
    assert!(prompt.contains("Do {description} and 'more'."), "{prompt}");
    assert!(prompt.contains("**Inputs:** scope: api, issue: 7, note: {description} and 'more'\n"), "{prompt}");
}

#[test]
fn after_a_pause_at_a_gate_the_agent_names_the_outcome_again() {
    let files = [
        ("w/workflow.yaml", "name: W\ncommandName: w\ninitialMessage: Go\nphases: [a.md, b.md, c.md]\n"),
        ("w/a.md", "outcomes: {far: c, near: next}\ngate: [{run: make}]"),
        ("w/b.md", ""),
        ("w/c.md", ""),
    ];
    let mut session = with(&files);
    session.files.project = std::mem::take(&mut session.files.global);
    let _ = session.on(Event::Session { stored: None, in_view: None, facts: Facts::default() });
    let _ = session.without_ui(Event::Command { name: "workflow", arguments: "w x" });
    let _ = session.on(Event::AgentStart);
    let input = r#"{"action":"next","outcome":"far"}"#;
    let ask = |session: &mut Session| match session.on(Event::Step { input, nested: false }).reply {
        Reply::Ask { ticket, .. } => ticket,
        other => panic!("{other:?}"),
    };
    let ticket = ask(&mut session);
    let _ = session.on(Event::Answer { ticket, answer: Answer::Selected(0) });
    assert!(matches!(session.reason(), Some(PauseReason::Commands { .. })));
    let _ = session.on(Event::AgentEnd { stop: Stop::Completed });
    let _ = session.on(Event::AgentSettled);
    let resumed = session.resume("");
    assert!(!matches!(resumed.reply, Reply::Ask { .. }), "without the outcome nothing is asked");
    assert!(resumed.effects.iter().any(|effect| matches!(effect, Effect::SendUserMessage(_))));
    let _ = session.on(Event::AgentStart);
    let ticket = ask(&mut session);
    let Reply::Ask { ticket, .. } = session.on(Event::Answer { ticket, answer: Answer::Selected(1) }).reply else {
        panic!()
    };
    let _ = session.on(Event::Answer { ticket, answer: entries::ran(0, "") });
    assert_eq!(session.phase_id(), "c");
}

#[test]
fn a_loop_does_not_lead_past_its_phase_where_conditions_do_not_hold() {
    let mut session = with(&[
        (
            "w/workflow.yaml",
            "name: W\ncommandName: w\ninitialMessage: Go\nphases: [{subworkflow: n, with: {on: false}}, b.md]\n",
        ),
        ("w/b.md", ""),
        (
            "n/workflow.yaml",
            "name: N\nshow: workflows\ninputs: {on: {type: flag}}\nphases: [{phase: c.md, when: {input.on: true}}]\n",
        ),
        ("n/c.md", ""),
    ]);
    let _ = session.command("workflow", "w x");
    let _ = session.on(Event::AgentStart);
    assert_eq!(session.phase_id(), "b");
    let _ = session.command("workflow", ":back");
    assert_eq!(session.phase_id(), "c");
    let _ = session.on(Event::TurnEnd { queued: false, calls: &[] });
    let refused = session.step("loop");
    assert!(format!("{refused:?}").contains("The conditions of all phases"), "{refused:?}");
    assert_eq!(session.phase_id(), "c");
}

const CHOICE: &str = "name: W\ncommandName: w\ninitialMessage: 'Go {input.scope}'\ninputs: {scope: {type: choice, options: [api, web]}}\nphases: [a.md]\n";

#[test]
fn an_answer_is_the_option_that_was_shown() {
    let mut session = with(&[("w/workflow.yaml", CHOICE), ("w/a.md", "")]);
    let Reply::Ask { ticket, .. } = session.command("workflow", "w x").reply else { panic!() };
    let changed = CHOICE.replace("[api, web]", "[prod, api]");
    session.files.global.insert("w/workflow.yaml".into(), changed);
    let _ = session.command("workflow", ":check");
    let _ = session.engine.complete("", &session.files);
    // The first option is no longer `api`; the second option is gone, and is asked for again.
    let asked = session.on(Event::Answer { ticket, answer: Answer::Selected(2) });
    assert_eq!(told(&asked), "`scope`: expected `prod` or `api`, found `web`.");
    let Reply::Ask { ticket, .. } = asked.reply else { panic!("{asked:?}") };
    let odd = session.on(Event::Answer { ticket, answer: Answer::Entered("api".into()) });
    assert_eq!(told(&odd), "The workflow is not started.");
}

#[test]
fn a_value_that_the_files_refuse_meanwhile_is_asked_for_again() {
    let mut session = with(&[("w/workflow.yaml", CHOICE), ("w/a.md", "")]);
    let _ = session.command("workflow", "w scope=web first");
    let Reply::Ask { ticket, .. } = session.command("workflow", "w scope=web second").reply else { panic!() };
    let changed = CHOICE.replace("[api, web]", "[prod, api]");
    session.files.global.insert("w/workflow.yaml".into(), changed);
    let _ = session.engine.complete("", &session.files);
    let asked = session.on(Event::Answer { ticket, answer: Answer::Selected(1) });
    assert!(matches!(asked.reply, Reply::Ask { .. }), "{asked:?}");
    assert_eq!(session.stored_run().unwrap().task_description, "first");
}

#[test]
fn a_reason_keeps_the_beginning_of_long_values() {
    let long: Vec<String> = (0..50).map(|number| format!("{number}{}", "x".repeat(900))).collect();
    let workflow = format!(
        "{HEAD}inputs: {{scope: {{type: choice, options: &all [api, {}]}}}}\nphases: [a.md, {{phase: b.md, when: {{input.scope: [{}]}}}}, c.md]\n",
        long[..40].join(", "),
        long[..20].join(", "),
    );
    let mut session = with(&[("w/workflow.yaml", &workflow), ("w/a.md", ""), ("w/b.md", ""), ("w/c.md", "")]);
    let _ = session.command("workflow", "w scope=api x");
    let _ = session.on(Event::AgentStart);
    session.goes(&[("", "c")]);
    let state = session.stored_run().unwrap();
    let passed = serde_json::to_string(&state.progress().passed_over).unwrap();
    assert!(passed.len() < 500 && passed.contains("0xxx"), "{passed}");
}

#[test]
fn an_input_that_the_files_got_later_has_its_default() {
    let session = triage("");
    let mut state = session.stored_run().unwrap().clone();
    state.progress_mut().inputs.clear();
    let library = session.engine.run.library();
    assert_eq!(state.inputs(1, library).len(), 0);
    let session = triage("inputs: {scope: {type: choice, options: [api], default: api}}\n");
    assert_eq!(state.inputs(1, session.engine.run.library())["scope"], "api");
}

#[test]
fn of_several_outcomes_the_last_before_the_entry_counts() {
    let mut session = with(&[
        (
            "w/workflow.yaml",
            "name: W\ncommandName: w\ninitialMessage: Go\nphases: [{subworkflow: n}, {phase: a.md, when: {outcome.n: bad}}, {subworkflow: n}, b.md]\n",
        ),
        ("w/a.md", ""),
        ("w/b.md", "outcomes: {again: loop, end: done}"),
        ("n/workflow.yaml", "name: N\nshow: workflows\nphases: [c.md]\n"),
        ("n/c.md", "outcomes: {good: next, bad: next}"),
    ]);
    let _ = session.command("workflow", "w x");
    let _ = session.on(Event::AgentStart);
    session.goes(&[("good", "c"), ("bad", "b"), ("again", "c"), ("good", "c")]);
    assert_eq!(session.stored_run().unwrap().current_path[0].phase_index, 2);
}

#[test]
fn odd_stored_values_do_not_open_anything() {
    let odd = [
        json!(null),
        json!(7),
        json!("x"),
        json!([]),
        json!({ "w:0": 7, "w:1": null }),
        json!({ "w:99999999999999999999": "small", "w:0/n:1": "large", "/": "", "": "x", "w:-1": "y" }),
        json!({ "triage": "large", "w:0": "no such", "w:3": "issues" }),
        json!({ "w:1": { "kind": "other", "step": 1 }, "w:2": { "kind": "outcome" } }),
        json!({ "w:1": { "kind": "condition", "step": -1, "of": "x", "wanted": 7 } }),
        json!({ "w:1": { "kind": "condition", "step": 1, "of": "x\n- [x] y", "wanted": [7, "a\u{1b}[31m\nb"] } }),
    ];
    let reasons = [
        json!({ "kind": "loops" }),
        json!({ "kind": "loops", "of": "x\ny", "outcome": "z", "times": -1 }),
        json!({ "kind": "loops", "of": "x\ny", "outcome": "z\n", "times": 3 }),
    ];
    let newest = serde_json::to_value(triage("").stored_run().unwrap()).unwrap();
    let fields = ["inputs", "outcomes", "passedOver", "loops"];
    let mut stored = Vec::new();
    for (field, value) in fields.iter().flat_map(|field| odd.iter().map(move |odd| (field, odd))) {
        let mut state = newest.clone();
        state["progress"][field] = value.clone();
        stored.push(state);
    }
    for reason in reasons {
        let mut state = newest.clone();
        state["progress"]["paused"] = json!({ "reason": reason, "at": 1 });
        stored.push(state);
    }
    for state in stored {
        let mut session = triage("");
        let text = state.to_string();
        let stored = crate::run::restore([&*text]);
        let facts = Facts::default();
        let _ = session.on(Event::Session { stored, in_view: None, facts });
        for command in [":status", ":report", ":graph", ":panel", ":back", ":resume"] {
            let output = session.command("workflow", command);
            assert!(!format!("{output:?}").contains("\u{1b}"), "{text}");
        }
        assert_eq!(session.phase_id(), "triage", "{text}");
        let _ = session.on(Event::AgentStart);
        session.goes(&[("small", "build"), ("", "review"), ("issues", "build")]);
        let _ = session.command("workflow", ":back");
        assert_eq!(session.phase_id(), "design", "{text}");
    }
}

#[test]
fn a_gate_of_old_rules_is_not_passed_after_new_ones_are_accepted() {
    let workflow = "name: W\ncommandName: w\ninitialMessage: Go\nphases: [a.md, b.md]\n";
    let gate = "gate: [{run: make}]\n";
    let mut session =
        with(&[("w/workflow.yaml", workflow), ("w/a.md", &format!("outcomes: {{x: next}}\n{gate}")), ("w/b.md", "")]);
    let _ = session.command("workflow", "w x");
    let _ = session.on(Event::AgentStart);
    let input = r#"{"action":"next","outcome":"x"}"#;
    let Reply::Ask { ticket, .. } = session.on(Event::Step { input, nested: false }).reply else { panic!() };
    // Now the outcome leads to the end.
    let changed = session.files.global["w/a.md"].replace("x: next", "x: done");
    session.files.global.insert("w/a.md".into(), changed);
    let _ = session.command("workflow", ":check");
    let _ = session.engine.complete("", &session.files);
    let _ = session.command("workflow", ":status");
    assert_eq!(session.engine.run.held(), Some(&PauseReason::RulesChanged));
    let _ = session.resume("");
    let _ = session.resume("");
    assert_eq!(session.engine.run.held(), None);
    let _ = session.on(Event::Answer { ticket, answer: entries::ran(0, "") });
    assert_eq!(session.phase_id(), "a");
}

/// A plan, a workflow of one phase, and an end that is passed over.
fn nested_before_what_is_passed_over() -> Session {
    let workflow = format!(
        "{HEAD}inputs: {{scope: {{type: choice, options: [small, large], default: small}}}}\nphases: [plan.md, {{subworkflow: n}}, check.md, {{phase: last.md, when: {{input.scope: large}}}}]\n"
    );
    let nested = "name: N\ncommandName: n\ninitialMessage: x\nphases: [b.md]\n";
    let mut session = with(&[
        ("w/workflow.yaml", &workflow),
        ("w/plan.md", ""),
        ("w/check.md", ""),
        ("w/last.md", ""),
        ("n/workflow.yaml", nested),
        ("n/b.md", ""),
    ]);
    let started = session.command("workflow", "w x");
    assert!(session.engine.run.active().is_some(), "{started:?}");
    let _ = session.on(Event::AgentStart);
    session
}

#[test]
fn the_end_says_what_was_done_skipped_and_passed_over() {
    let mut session = nested_before_what_is_passed_over();
    let _ = session.step("next");
    let _ = session.step("next");
    let (text, _) = session.step("next");
    assert_eq!(
        text,
        "✓ Advanced: CHECK → DONE\nPassed over: LAST (input.scope is small, not large)\n\n🎉 **All phases complete!**"
    );
    let end = format!("{:?}", session.stop());
    assert!(end.contains(r"**Phases completed:** 3\n**Passed over:** * LAST"), "{end}");

    let mut session = nested_before_what_is_passed_over();
    for control in [":next", ":next", ":back", ":skip", ":next"] {
        let _ = session.command("workflow", control);
    }
    let end = format!("{:?}", session.stop());
    let expected = r"**Phases completed:** 2\n**Skipped:** N\n**Passed over:** * LAST";
    assert!(end.contains(expected), "{end}");
}

#[test]
fn a_phase_that_the_run_is_before_again_is_not_finished() {
    let mut session = nested_before_what_is_passed_over();
    let _ = session.step("next");
    let _ = session.step("next");
    let marks = |session: &mut Session| {
        let status = format!("{:?}", session.command("workflow", ":status").effects);
        ["PLAN", "B", "CHECK"].map(|name| {
            let title = format!("* {name}");
            let mut lines = status.split("\\n").filter(|line| line.contains(&title));
            lines.find_map(|line| line.chars().next().filter(|mark| "▸✓○⤼".contains(*mark)))
        })
    };
    assert_eq!(marks(&mut session), ['✓', '✓', '▸'].map(Some));
    let _ = session.command("workflow", ":back");
    let _ = session.command("workflow", ":back");
    assert_eq!(session.phase_id(), "plan");
    assert_eq!(marks(&mut session), ['▸', '○', '○'].map(Some));
    let report = format!("{:?}", session.command("workflow", ":report").effects);
    assert!(!report.contains('✓') && report.contains("○ CHECK"), "{report}");
    // The workflow was left in the middle, and is not entered again.
    let _ = session.command("workflow", ":skip check");
    let _ = session.command("workflow", ":back");
    assert_eq!(session.phase_id(), "b");
    let report = format!("{:?}", session.command("workflow", ":report").effects);
    assert!(report.contains("○ CHECK"), "{report}");
}

/// An entry, an answer and an output that depend on optional values.
#[test]
fn a_condition_can_ask_for_an_optional_value() {
    let files = |session: &mut Session| {
        let text = "name: W
commandName: w
initialMessage: Go
inputs:
  note: { type: text, optional: true }
  files: { type: list, optional: true }
phases:
  - { id: noted, prompt: One., when: { given: input.note } }
  - { id: listed, prompt: Two., when: { given: [input.note, input.files] } }
  - { id: plan, prompt: Plan., outputs: { risk: { type: text, optional: true } } }
  - { id: risky, prompt: Three., when: { given: output.plan.risk } }
  - ask: And now?
    outcomes: { a: { to: next, when: { given: input.note } }, b: next }
";
        session.files.global.insert("w/workflow.yaml".into(), text.to_owned());
        let _ = session.on(Event::Session { stored: None, in_view: None, facts: Facts::default() });
    };
    for (given, outputs, way, answers) in [
        ("", json!({}), vec!["plan"], 1),
        ("files=", json!({ "risk": null }), vec!["plan"], 1),
        ("files=a", json!({ "risk": "some" }), vec!["plan", "risky"], 1),
        ("note=given", json!({}), vec!["noted", "plan"], 2),
        ("note=x files=a files=b", json!({ "risk": "given" }), vec!["noted", "listed", "plan", "risky"], 2),
    ] {
        let mut session = Session::new(&[]);
        files(&mut session);
        let _ = session.command("workflow", &format!("w {given} -- x"));
        let _ = session.on(Event::AgentStart);
        let mut entered = Vec::new();
        let options = loop {
            let id = session.engine.run.active().unwrap().phase.id.clone();
            let outputs = if id == "plan" { outputs.clone() } else { json!({}) };
            let input = json!({ "action": "next", "outputs": outputs }).to_string();
            entered.push(id);
            let reply = session.on(Event::Step { input: &input, nested: false }).reply;
            let _ = session.on(Event::TurnEnd { queued: false, calls: &[] });
            if let Reply::Ask { request: Request::Select { options, .. }, .. } = reply {
                break options.len() - 1;
            }
        };
        assert_eq!((&entered, options), (&way.into_iter().map(str::to_owned).collect(), answers), "{given}");
        let first = session.stored_run().unwrap().progress().passed_over.values().next().cloned();
        let is_first = first.is_some_and(|passed| passed.because.to_string() == "input.note is not given");
        assert_eq!(is_first, !given.contains("note"), "{given}");
    }
}
