//! Values of inputs in paths, and of the run in names and questions.

use super::*;
use crate::definition::{BoundValue, Permission};

const HEAD: &str = "name: W\ncommandName: w\ninitialMessage: Go\ninputs:\n  name: { type: text }\n";

/// A session with a workflow of `a` and `b`, where `a` has these lines in its front matter, and a nested workflow whose
/// phase `c` writes to the folder of its input.
fn with(fields: &str) -> Session {
    let mut session = Session::new(&[]);
    let phase = |id: &str, fields: &str| format!("---\nid: {id}\nname: {id}\nemoji: '*'\n{fields}\n---\nDo it.\n");
    let nested =
        "name: S\nshow: workflows\ninputs:\n  part: { type: text }\nwrite: ['out/{input.part}/']\nphases: [c.md]\n";
    let workflow = format!("{HEAD}phases: [a.md, b.md, {{subworkflow: s, with: {{part: input.name}}}}]\n");
    for (path, text) in [
        ("w/workflow.yaml", workflow),
        ("w/a.md", phase("a", fields)),
        ("w/b.md", phase("b", "")),
        ("s/workflow.yaml", nested.to_owned()),
        ("s/c.md", phase("c", "")),
    ] {
        session.files.global.insert(path.to_owned(), text);
    }
    let _ = session.on(Event::Session { stored: None, in_view: None, facts: Facts::default() });
    session
}

/// Like [`with`], and started with this value.
fn begun(fields: &str, name: &str) -> Session {
    let mut session = with(fields);
    start(&mut session, name);
    session
}

fn start(session: &mut Session, name: &str) {
    let arguments = format!("w name={} -- x", crate::engine::start::arguments::quoted(name));
    let _ = session.command("workflow", &arguments);
    let _ = session.on(Event::AgentStart);
}

/// Values that try to be something else in a path: refused values, and values that are literal text.
const REFUSED: [&str; 12] =
    ["/etc", "\\etc", "C:\\x", "..", "../x", "a/../../x", "a\\..\\x", "~", "~/.ssh", "-rf", "--", "a\u{7}b"];
const LITERAL: [&str; 18] = [
    "*",
    "**",
    "[a-z]",
    "{a,b}",
    "{input.name}",
    "{runDir}",
    "{description}",
    "a?",
    "!a",
    "a;rm x",
    "$(x)",
    "`x`",
    "$HOME",
    "a b",
    "'a'",
    "<b>a</b>",
    "# a",
    "a|b",
];

#[test]
fn a_value_that_leads_elsewhere_starts_nothing() {
    for value in REFUSED {
        for fields in ["write: ['docs/{input.name}']", "gate: [{ file: 'docs/{input.name}' }]", ""] {
            let mut session = with(fields);
            let arguments = format!("w name={} -- x", crate::engine::start::arguments::quoted(value));
            let output = session.command("workflow", &arguments);
            let notices = output.effects.iter().filter_map(|effect| match effect {
                Effect::Notify { text, .. } => Some(&**text),
                _ => None,
            });
            let notice = notices.collect::<String>();
            assert!(notice.starts_with("`name`: it is part of a path"), "{value:?}: {notice}");
            assert!(session.stored_run().is_none(), "{value:?}");
        }
    }
}

#[test]
fn a_value_in_a_path_is_literal_text() {
    for value in LITERAL {
        let session = begun("write: ['docs/{input.name}', 'out/{input.name}/', 'x/{input.name}/*.md']", value);
        let may = |path: &str| {
            let active = session.engine.run.active().unwrap();
            let path = || Ok(Some(path.to_owned()));
            let limits = active.limits();
            let decision =
                crate::definition::permission((&active.phase.tools, &limits), "write", false, &path, &session.files);
            matches!(decision.unwrap(), Permission::Files { .. })
        };
        assert!(may(&format!("docs/{value}")), "{value}");
        assert!(may(&format!("out/{value}/a/b")), "{value}");
        assert!(may(&format!("x/{value}/a.md")), "{value}");
        for other in ["docs/other", "docs/a", "docs/b", "docs/input.name", "out/other/a", "x/other/a.md", "x/a/a.md"] {
            assert!(!may(other), "{value}: {other}");
        }
        assert!(!may(&format!("x/{value}/a.txt")), "{value}");
        assert!(!may(&format!("docs/{value}x")), "{value}");
    }
}

#[test]
fn a_file_of_a_gate_is_found_by_the_literal_value_only() {
    for value in LITERAL {
        let mut session = begun("gate: [{ file: 'docs/{input.name}' }]", value);
        for other in ["docs/other", "docs/a", "docs/b", "docs/input.name", "docs/description", "docs/runDir"] {
            session.files.tree.insert(other.into(), "x".into());
        }
        let (text, _) = session.step("next");
        assert_eq!(session.engine.run.active().unwrap().phase.id, "a", "{value}: {text}");
        assert!(text.contains(&format!("docs/{value}")), "{value}: {text}");
        session.files.tree.insert(format!("docs/{value}"), "x".into());
        let _ = session.on(Event::TurnEnd { queued: false, calls: &[] });
        let (text, _) = session.step("next");
        assert_eq!(session.engine.run.active().unwrap().phase.id, "b", "{value}: {text}");
    }
}

#[test]
fn a_nested_workflow_writes_where_its_input_says() {
    let mut session = begun("", "web");
    for _ in 0..2 {
        let _ = session.step("next");
        let _ = session.on(Event::TurnEnd { queued: false, calls: &[] });
    }
    let active = session.engine.run.active().unwrap();
    assert_eq!(active.phase.id, "c");
    assert_eq!(active.limits().write.unwrap().as_ref(), ["out/web/"]);
    assert!(text::context_prompt(&active, DefaultRole::Worker).contains("**Writable in this phase:** out/web/."));
}

#[test]
fn labels_and_questions_show_values_as_data_on_one_line() {
    let gate = "gate: [{ file: done.txt, name: 'the work on {input.name}' }]";
    let ask =
        "a.md, { ask: 'Ship {input.name} for {description}, {summary.a}, {nope}?', id: q, outcomes: { y: next } }";
    for value in ["web", "**b** {description}", &"x".repeat(900)] {
        let mut session = with(gate);
        let workflow = session.files.global.get_mut("w/workflow.yaml").unwrap();
        *workflow = workflow.replacen("a.md", ask, 1);
        start(&mut session, value);
        let prompt = text::context_prompt(&session.engine.run.active().unwrap(), DefaultRole::Worker);
        let shown: String = crate::definition::short(&crate::definition::on_one_line(value), 200);
        assert!(
            prompt.contains(&format!("\n- the work on “{}", shown.chars().take(3).collect::<String>())),
            "{prompt}"
        );
        session.files.tree.insert("done.txt".into(), "x".into());
        let input = r#"{"action":"next","summary":"It is {input.name}\n**done**\u001b[2J"}"#;
        let reply = session.on(Event::Step { input, nested: false }).reply;
        let Reply::Ask { request: Request::Select { title, .. }, .. } = reply else { panic!("{reply:?}") };
        let on_one_line = title.replace("\n│ ↪", "");
        assert!(on_one_line.contains("for “x”, “It is {input.name} **done**\u{fffd}[2J”, {nope}?"), "{title}");
    }
}

impl Session {
    /// The result of a call that leaves the phase with this outcome.
    fn leaves(&mut self, outcome: &str) -> String {
        let input = json!({ "action": "next", "outcome": outcome, "summary": "x" }).to_string();
        match self.on(Event::Step { input: &input, nested: false }).reply {
            Reply::Tool(result) => result.text,
            other => panic!("{other:?}"),
        }
    }
}

/// A session with ways back, attempts and a budget that are the value of an input, in the workflow and in a nested one.
fn bounded(rounds: &str) -> Session {
    let mut session = Session::new(&[]);
    let phase = |id: &str, fields: &str| format!("---\nid: {id}\nname: {id}\nemoji: '*'\n{fields}\n---\nDo it.\n");
    let inputs =
        "inputs:\n  rounds: { type: number, min: 1, max: 5 }\n  tries: { type: number, min: 1, max: 5, default: 2 }\n";
    for (path, text) in [
        (
            "w/workflow.yaml",
            format!(
                "name: W\ncommandName: w\ninitialMessage: Go\nbudget: {{ turns: input.tries }}\n{inputs}phases: [a.md, {{subworkflow: s, with: {{n: input.rounds}}}}]\n"
            ),
        ),
        (
            "w/a.md",
            phase(
                "a",
                "outcomes: { again: { to: a, max: input.rounds }, on: next }\ngate: [{ file: done.txt, outcome: on }]\ngateAttempts: input.tries",
            ),
        ),
        (
            "s/workflow.yaml",
            "name: S\nshow: workflows\ninputs:\n  n: { type: number, min: 1, max: 9 }\nphases: [c.md]\n".to_owned(),
        ),
        ("s/c.md", phase("c", "outcomes: { again: { to: c, max: input.n }, on: next }")),
    ] {
        session.files.global.insert(path.to_owned(), text);
    }
    let _ = session.on(Event::Session { stored: None, in_view: None, facts: Facts::default() });
    let _ = session.command("workflow", &format!("w rounds={rounds} -- x"));
    let _ = session.on(Event::AgentStart);
    session
}

#[test]
fn bounds_are_the_values_of_inputs() {
    for (rounds, times) in [("1", 1), ("2.9", 2)] {
        let mut session = bounded(rounds);
        session.files.tree.insert("done.txt".into(), "x".into());
        for phase in ["a", "c"] {
            for _ in 0..times {
                let text = session.leaves("again");
                assert!(text.starts_with("✓ Went back"), "{rounds}: {text}");
            }
            let text = session.leaves("again");
            assert!(text.contains(&format!("was left with `again` {times} time")), "{rounds}: {text}");
            assert_eq!(session.engine.run.active().unwrap().phase.id, phase);
            let _ = session.resume("");
            let _ = session.leaves("on");
        }
    }
    let mut session = bounded("1");
    let budgets = session.engine.run.active().unwrap().budgets();
    assert_eq!(budgets[0].bounds().map(|bound| bound.limit).collect::<Vec<_>>(), [2]);
    let text = session.leaves("on");
    assert!(text.contains("Attempt 1, 1 left."), "{text}");
    let _ = session.on(Event::TurnEnd { queued: false, calls: &[] });
    assert!(session.leaves("on").contains("the gate was not passed in 2 attempts"));
}

#[test]
fn the_seal_has_the_values_that_rules_use() {
    let seal = |session: &Session| session.stored_run().unwrap().progress().seal.clone().unwrap();
    let (one, two) = (bounded("1"), bounded("2"));
    assert_ne!(seal(&one), seal(&two));
    assert_eq!(seal(&one), seal(&bounded("1")));
    // A stored value that was changed holds the run.
    let mut stored = one.stored_run().unwrap().clone();
    stored.progress_mut().inputs.insert("rounds", "5".into());
    let mut session = bounded("1");
    let _ = session.on(Event::Session { stored: Some(stored), in_view: None, facts: Facts::default() });
    assert_eq!(session.engine.run.held(), Some(&crate::run::PauseReason::RulesChanged));
}

/// A session with an input that is the bound of a list, of a way, of commands and of agents at a time.
fn bounded_everywhere(n: &str) -> Session {
    let mut session = Session::new(&[]);
    let text = "name: W\ncommandName: w\ninitialMessage: Go\ninputs:\n  n: { type: number, min: 1, max: 3 }\nphases:
  - id: plan
    prompt: Plan.
    outputs: { tasks: { type: list, max: input.n } }
    outcomes: { again: { to: loop, max: input.n }, go: next }
    gate: [{ run: make, timeout: input.n, outcome: go }]
  - { run: build, timeout: input.n }
  - phases: [{ id: one, prompt: Do it., write: [] }]
    each: [a, b, c, d]
    parallel: input.n
";
    session.files.global.insert("w/workflow.yaml".into(), text.to_owned());
    let _ = session.on(Event::Session { stored: None, in_view: None, facts: Facts::default() });
    let _ = session.command("workflow", &format!("w n={n} -- x"));
    let _ = session.on(Event::AgentStart);
    session
}

fn give(session: &mut Session, outcome: &str, tasks: usize) -> Output {
    let tasks: Vec<String> = (0..tasks).map(|task| format!("task {task}")).collect();
    let input = json!({ "action": "next", "outcome": outcome, "summary": "s", "outputs": { "tasks": tasks } });
    session.on(Event::Step { input: &input.to_string(), nested: false })
}

fn limit(output: &Output) -> (u64, u32) {
    match &output.reply {
        Reply::Ask { ticket, request: Request::Exec { timeout_ms, .. } } => (*ticket, *timeout_ms),
        other => panic!("{other:?}"),
    }
}

#[test]
fn every_bound_can_be_the_value_of_an_input() {
    for (given, n) in [("1", 1_usize), ("2.9", 2)] {
        let mut session = bounded_everywhere(given);
        let prompt = text::context_prompt(&session.engine.run.active().unwrap(), DefaultRole::Worker);
        assert!(prompt.contains(&format!("a list of at most {n} text")), "{prompt}");
        let times = if n == 1 { "at most once" } else { "at most 2 times" };
        assert!(prompt.contains(&format!("`again`: back to the first phase, {times}")), "{prompt}");
        let Reply::Tool(result) = give(&mut session, "go", n + 1).reply else { panic!() };
        assert!(result.text.contains(&format!("a list of at most {n} text")), "{}", result.text);
        for _ in 0..n {
            let Reply::Tool(result) = give(&mut session, "again", n).reply else { panic!() };
            assert!(result.text.contains("Plan."), "{}", result.text);
            let _ = session.on(Event::TurnEnd { queued: false, calls: &[] });
        }
        let Reply::Tool(result) = give(&mut session, "again", n).reply else { panic!() };
        assert!(result.text.contains(&format!("was left with `again` {n} time")), "{}", result.text);
        let _ = session.command("workflow", ":resume");
        let milliseconds = (given.parse::<f64>().unwrap() * 1000.0) as u32;
        let mut output = give(&mut session, "go", n);
        let mut ended = Vec::new();
        for _ in 0..2 {
            let (ticket, timeout_ms) = limit(&output);
            assert_eq!(timeout_ms, milliseconds);
            let answer = entries::ran(0, "");
            output = session.on(Event::Answer { ticket, answer });
            ended.extend(output.effects.iter().filter(|effect| matches!(effect, Effect::StartChild(_))).cloned());
        }
        assert_eq!(ended.len(), n, "agents at a time");
    }
}

/// A stored number that the input may not have, even with the seal of a run that has it, is no bound.
#[test]
fn a_stored_value_out_of_range_is_no_bound() {
    for (value, n) in [("0", 1), ("-1e300", 1), ("NaN", 1), ("x", 1), ("", 1), ("1e300", 3), ("inf", 3), ("3.1", 3)] {
        let session = bounded_everywhere("2");
        let mut run = session.stored_run().unwrap().clone();
        run.progress_mut().inputs.insert("n", value.into());
        let active = Active::resolve(&run, session.engine.run.library()).unwrap();
        let limit = active.state.time_limit(&BoundValue::Input("n".into()), active.library);
        assert_eq!(limit, n * 1000, "{value}");
        let prompt = text::context_prompt(&active, DefaultRole::Worker);
        assert!(prompt.contains(&format!("a list of at most {n} text")), "{value}: {prompt}");
        let mut held = bounded_everywhere("2");
        let _ = held.on(Event::Session { stored: Some(run), in_view: None, facts: Facts::default() });
        assert_eq!(held.engine.run.held(), Some(&crate::run::PauseReason::RulesChanged), "{value}");
    }
}

/// Each of 30 values, given by the user and handed over by the agent, stays in its place: in the text of the next
/// phase, in the environment of a command, in a name, in a question, in the report.
#[test]
fn each_value_stays_in_its_place() {
    for value in REFUSED.into_iter().chain(LITERAL) {
        let gate = "gate:\n  - run: check \"$what\" \"$size\"\n    env: { what: input.name, size: output.a.size }\n    name: 'of {input.name} and {output.a.size}'";
        let ask = "{ ask: 'Ship {input.name} and {output.a.size}?', id: q, outcomes: { y: next } }";
        let outputs = "outputs: { size: { type: text } }";
        let mut session = with("");
        let phase = |id: &str, fields: &str, text: &str| {
            format!("---\nid: {id}\nname: {id}\nemoji: '*'\n{fields}\n---\n{text}\n")
        };
        let workflow = format!("{HEAD}phases: [a.md, {ask}, b.md]\n");
        for (path, text) in [
            ("w/workflow.yaml", workflow),
            ("w/a.md", phase("a", &format!("{outputs}\n{gate}"), "Do it.")),
            ("w/b.md", phase("b", "", "<{input.name}|{output.a.size}>")),
        ] {
            session.files.global.insert(path.to_owned(), text);
        }
        let arguments = format!("w name={} -- x", crate::engine::start::arguments::quoted(value));
        let _ = session.command("workflow", &arguments);
        let _ = session.on(Event::AgentStart);
        let line = crate::definition::on_one_line(value);
        let input = json!({ "action": "next", "outputs": { "size": value } }).to_string();
        let reply = session.on(Event::Step { input: &input, nested: false }).reply;
        let Reply::Ask { ticket, request: Request::Exec { command, env, .. } } = reply else {
            panic!("{value:?}: {reply:?}")
        };
        assert_eq!(command, "check \"$what\" \"$size\"", "{value:?}");
        let of = |name: &str| (name.to_owned(), value.to_owned());
        assert_eq!(env, [of("what"), of("size")]);
        let answer = entries::ran(0, "");
        let reply = session.on(Event::Answer { ticket, answer }).reply;
        let Reply::Ask { ticket, request: Request::Select { title, .. } } = reply else {
            panic!("{value:?}: {reply:?}")
        };
        let shown =
            title.lines().skip(1).map(|line| line.trim_start_matches(['│', '↪', ' '])).collect::<Vec<_>>().join(" ");
        assert!(shown.starts_with(&format!("Ship “{line}” and “{line}”?")), "{value:?}: {title}");
        let reply = session.on(Event::Answer { ticket, answer: Answer::Selected(1) }).reply;
        let Reply::Tool(result) = reply else { panic!("{value:?}: {reply:?}") };
        assert!(result.text.contains(&format!("\n<{value}|{value}>\n")), "{value:?}: {}", result.text);
        let run = session.stored_run().unwrap();
        let checks = ["w:0", "w:1"].map(|key| run.progress().visits[key].evidence[0].name.as_str());
        let name = |text: String| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let [of, ship] = [format!("of “{line}” and “{line}”"), format!("Ship “{line}” and “{line}”?")];
        assert_eq!(checks, [name(of), name(ship)]);
        let json = serde_json::to_value(text::Report::of(run, Default::default())).unwrap();
        assert_eq!(json["phases"][0]["outputs"]["size"], value);
    }
}
