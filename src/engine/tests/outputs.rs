//! Outputs of phases.

use super::*;
use crate::definition::ValueName;
use crate::run::{OutputValue, PauseReason};

const HEAD: &str = "name: W\ncommandName: w\ninitialMessage: Go\n";
/// The outputs of `plan`.
const OUTPUTS: &str = "outputs:
  size: { type: choice, options: [small, large] }
  tasks: { type: list, min: 1, max: 3, description: One task a line }
  rounds: { type: number, min: 1, max: 5, optional: true }
  risky: { type: flag, optional: true }
";

/// A session in the first phase of `w`, whose files these are besides `w/plan.md`: each with the front matter of a
/// phase behind its id, name and emoji, and with its text behind `---`.
fn begun(files: &[(&str, &str)]) -> Session {
    let mut session = Session::new(&[]);
    let plan = ("w/plan.md", OUTPUTS);
    for (path, text) in [&plan].into_iter().chain(files) {
        let text = match path.strip_suffix(".md") {
            None => (*text).to_owned(),
            Some(path) => {
                let id = path.rsplit('/').next().unwrap();
                let (fields, body) = text.split_once("---").unwrap_or((text, "Do it."));
                format!("---\nid: {id}\nname: {id}\nemoji: '*'\n{fields}\n---\n{body}\n")
            }
        };
        session.files.global.insert((*path).to_owned(), text);
    }
    let _ = session.on(Event::Session { stored: None, in_view: None, facts: Facts::default() });
    let _ = session.command("workflow", "w x");
    let _ = session.on(Event::AgentStart);
    assert!(session.engine.run.active().is_some(), "{:?}", crate::definition::Library::load(&session.files).unwrap().1);
    session
}

/// `plan`, `design` for what is large, and `build` with these texts.
fn planned(build: &str) -> Session {
    let workflow =
        format!("{HEAD}phases: [plan.md, {{phase: design.md, when: {{output.plan.size: large}}}}, build.md]\n");
    begun(&[("w/workflow.yaml", &workflow), ("w/design.md", ""), ("w/build.md", build)])
}

impl Session {
    fn next_giving(&mut self, outputs: Value) -> (String, Value) {
        let input = json!({ "action": "next", "outputs": outputs }).to_string();
        match self.on(Event::Step { input: &input, nested: false }).reply {
            Reply::Tool(result) => (result.text, result.details),
            other => panic!("{other:?}"),
        }
    }

    fn at(&self) -> String {
        self.engine.run.active().map_or_else(|| "DONE".into(), |active| active.phase.id.clone())
    }

    fn outputs(&self, key: &str) -> Vec<(String, OutputValue)> {
        let handed = self.stored_run().and_then(|run| run.progress().outputs.get(key));
        handed.iter().flat_map(|handed| handed.values.clone()).collect()
    }
}

fn large() -> Value {
    json!({ "size": "large", "tasks": ["a", "b"] })
}

#[test]
fn outputs_are_asked_for_kept_with_their_types_and_shown() {
    let mut session =
        planned("---Size {output.plan.size}, risk {output.plan.risky}:\n{output.plan.tasks}\n{output.plan.nope}");
    let prompt = session.on(Event::BeforeAgentStart { role: DefaultRole::Worker }).reply;
    let Reply::Inject { content, .. } = prompt else { panic!("{prompt:?}") };
    assert!(
        content.contains(
            "**Outputs:** with `next`, give workflow_step an object `outputs` with these:
- `size`: `small` or `large`
- `tasks`: a list of 1 to 3 texts of one line and at most 1000 characters, 16000 in all: One task a line
- `rounds` (optional): a number from 1 to 5
- `risky` (optional): `true` or `false`
"
        ),
        "{content}"
    );
    let given = json!({ "size": " large", "tasks": ["a {description}", "b"], "rounds": "2", "risky": null });
    let (text, _) = session.next_giving(given);
    assert_eq!(session.at(), "design", "{text}");
    assert!(
        text.contains("### * plan\n- rounds: 2\n- size: large\n- tasks:\n  1. a {description}\n  2. b\n"),
        "{text}"
    );
    assert_eq!(
        session.outputs("w:0"),
        [
            ("rounds".to_owned(), OutputValue::Number(2.into())),
            ("size".to_owned(), OutputValue::Text("large".into())),
            ("tasks".to_owned(), OutputValue::List(vec!["a {description}".into(), "b".into()])),
        ]
    );
    let (text, _) = session.step("next");
    assert!(text.contains("Size large, risk (none):\n1. a {description}\n2. b\n{output.plan.nope}"), "{text}");
}

#[test]
fn missing_unknown_and_wrong_outputs_are_refused_and_the_fifth_pauses() {
    let mut session = planned("");
    let (text, details) = session.next_giving(json!({ "siz": "large", "tasks": "a", "risky": "yes", "rounds": 6 }));
    assert_eq!(
        text,
        r#"⚠️ The phase * plan cannot be left with these outputs:
- missing: `size`: `small` or `large`
- wrong: `tasks`: a list of 1 to 3 texts of one line and at most 1000 characters, 16000 in all: One task a line. Found `a`
- wrong: `rounds` (optional): a number from 1 to 5. Found `6`
- wrong: `risky` (optional): `true` or `false`. Found `yes`
- `siz` is no output of this phase. Did you mean `size`?

The exact call:
workflow_step {"action": "next", "summary": "<what you found or did>", "outputs": {"size": "small", "tasks": ["<tasks>"]}}"#
    );
    assert_eq!(details["error"], "outputs required");
    for wrong in [json!([]), json!("{}"), Value::Null] {
        assert_eq!(session.next_giving(wrong).1["error"], "outputs required");
    }
    assert_eq!(session.engine.run.pause_reason(), None);
    let (text, _) = session.next_giving(json!({ "size": "large", "tasks": [] }));
    assert!(text.ends_with("The workflow is paused: the agent gave missing or wrong outputs of “plan” in 5 calls. Stop here and wait for the user."), "{text}");
    assert!(matches!(session.engine.run.pause_reason(), Some(PauseReason::Outputs { times: 5, .. })));
    // In the pause even the right outputs do not move the run.
    let (text, details) = session.next_giving(large());
    assert!(text.starts_with("The workflow is paused"), "{text}");
    assert_eq!((details["gate"].clone(), session.at()), (json!("paused"), "plan".to_owned()));
    let _ = session.resume("");
    for _ in 0..4 {
        let _ = session.next_giving(json!({}));
    }
    assert_eq!(session.engine.run.pause_reason(), None, "it counts anew");
    let _ = session.next_giving(large());
    assert_eq!(session.at(), "design");
    // A phase without outputs takes none.
    let (text, _) = session.next_giving(json!({ "x": 1 }));
    assert!(text.contains("`x` is no output of this phase. The phase has none."), "{text}");
    let _ = session.next_giving(json!({}));
    assert_eq!(session.at(), "build");
}

#[test]
fn all_outputs_together_are_bounded() {
    let plan = "outputs: { notes: { type: list } }";
    let entries: Vec<String> = (0..60).map(|n| format!("p{n}.md")).collect();
    let workflow = format!("{HEAD}phases: [{}]\n", entries.join(", "));
    let mut files = vec![("w/workflow.yaml".to_owned(), workflow)];
    files.extend((0..60).map(|n| (format!("w/p{n}.md"), plan.to_owned())));
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (&**path, &**text)).collect();
    let mut session = begun(&files);
    let long = json!({ "notes": vec!["ä".repeat(900); 17] });
    let refused = (0..60).find_map(|_| {
        let (text, details) = session.next_giving(long.clone());
        (details["error"] == "outputs required").then_some(text)
    });
    let refused = refused.unwrap();
    assert!(refused.contains("all outputs of the run together are longer than 524288 bytes"), "{refused}");
    assert!(session.at() != "p0" && session.at() != "DONE");
    let _ = session.next_giving(json!({ "notes": [] }));
    assert_eq!(session.stored_run().unwrap().progress().broken, None);
}

#[test]
fn a_phase_that_is_left_without_its_outputs_has_none() {
    let mut session = planned("---{output.plan.size}");
    let _ = session.next_giving(large());
    let _ = session.command("workflow", ":back");
    assert_eq!(session.at(), "plan");
    assert_eq!(session.outputs("w:0").len(), 2, "those of the visit before, until it is left");
    let _ = session.on(Event::AgentEnd { stop: Stop::Completed });
    let _ = session.command("workflow", ":next");
    assert_eq!((session.at(), session.outputs("w:0")), ("build".to_owned(), vec![]));
    let _ = session.command("workflow", ":back");
    let _ = session.command("workflow", ":back");
    assert_eq!(session.at(), "plan");
    let _ = session.command("workflow", ":skip");
    assert_eq!((session.at(), session.outputs("w:0")), ("build".to_owned(), vec![]));
}

#[test]
fn outputs_go_along_where_a_gate_waits_and_a_later_call_need_not_repeat_them() {
    let workflow = format!("{HEAD}phases: [plan.md, build.md]\n");
    let plan = format!("{OUTPUTS}gate: [{{file: there.txt}}, {{run: check, env: {{size: output.plan.size}}}}]");
    let files = [("w/workflow.yaml", &*workflow), ("w/plan.md", &plan), ("w/build.md", "")];
    let mut session = begun(&files);
    let (text, _) = session.next_giving(large());
    assert!(text.contains("there.txt") && session.at() == "plan", "{text}");
    assert_eq!(session.outputs("w:0").len(), 2, "they are not lost with the attempt");
    session.files.tree.insert("there.txt".into(), "x".into());
    let _ = session.on(Event::TurnEnd { queued: false, calls: &[] });
    // The command gets the outputs that the phase has handed over.
    let asked = session.on(Event::Step { input: r#"{"action":"next"}"#, nested: false }).reply;
    let Reply::Ask { ticket, request: Request::Exec { env, .. } } = asked else { panic!("{asked:?}") };
    assert_eq!(env, [("size".to_owned(), "large".to_owned())]);
    let answer = entries::ran(0, "");
    let _ = session.on(Event::Answer { ticket, answer });
    assert_eq!((session.at(), session.outputs("w:0").len()), ("build".to_owned(), 2));
}

/// `plan` and a nested workflow whose input `n` gets an output.
fn nesting(input: &str) -> Session {
    let workflow = format!(
        "{HEAD}phases: [plan.md, {{subworkflow: s, with: {{n: output.plan.rounds, all: output.plan.tasks}}}}, last.md]\n"
    );
    let nested = format!(
        "name: S\nshow: workflows\ninputs:\n  n: {{ type: number{input} }}\n  all: {{ type: list, max: 9, default: [] }}\nphases: [b.md]\n"
    );
    begun(&[
        ("w/workflow.yaml", &workflow),
        ("w/last.md", ""),
        ("s/workflow.yaml", &nested),
        ("s/b.md", "results: none\n---n {input.n}, all:\n{input.all}\n{output.plan.size}"),
    ])
}

#[test]
fn a_nested_workflow_gets_outputs_as_inputs_also_where_its_phase_sees_no_results() {
    let mut session = nesting("");
    let mut outputs = large();
    outputs["rounds"] = json!(3);
    let (text, _) = session.next_giving(outputs);
    assert!(text.contains("n 3, all:\n1. a\n2. b\n(none)"), "{text}");
    assert!(!text.contains("size: large"), "{text}");
}

#[test]
fn a_nested_workflow_without_its_output_waits_for_the_user() {
    let mut session = nesting("");
    let (text, _) = session.next_giving(large());
    assert_eq!(session.at(), "b");
    assert!(text.ends_with("The workflow is paused: “S” needs `output.plan.rounds` for its input `n`, and the phase was left without it. Stop here and wait for the user."), "{text}");
    assert!(!text.contains("n (none)"), "{text}");
    assert_eq!(session.step("next").1["gate"], "paused");
    let _ = session.on(Event::AgentEnd { stop: Stop::Completed });
    // The user goes back, and the agent gives the output.
    let _ = session.command("workflow", ":back");
    assert_eq!((session.at(), session.engine.run.pause_reason()), ("plan".to_owned(), None));
    let _ = session.on(Event::BeforeAgentStart { role: DefaultRole::Worker });
    let _ = session.on(Event::AgentStart);
    let mut outputs = large();
    outputs["rounds"] = json!(3);
    let _ = session.next_giving(outputs);
    assert_eq!((session.at(), session.engine.run.pause_reason()), ("b".to_owned(), None));

    // Or the user goes on without the output.
    let mut session = nesting("");
    let _ = session.on(Event::AgentEnd { stop: Stop::Completed });
    let _ = session.command("workflow", ":next");
    assert!(matches!(session.engine.run.pause_reason(), Some(PauseReason::MissingOutput { .. })));
    let _ = session.resume("");
    assert_eq!((session.at(), session.engine.run.pause_reason()), ("b".to_owned(), None));
    let (text, _) = session.step("status");
    assert!(text.contains("n (none), all:\n(none)"), "{text}");

    let mut session = nesting(", default: 7");
    let (text, _) = session.next_giving(large());
    assert!(text.contains("n 7, all:\n1. a"), "{text}");
}

/// A run whose agent does `do` for each of these tasks, and `twice` two times in each; behind it comes this. Each
/// outcome of `do` stands with its outputs.
fn done_for_each(behind: &str, end: &str, given: &[(&str, Value)]) -> Session {
    let workflow = format!(
        "{HEAD}inputs: {{ more: {{ type: list, default: [z] }}, note: {{ type: text, optional: true }} }}\nphases:\n  - plan.md\n  - id: work\n    each: output.plan.tasks\n    when: {{ output.plan.size: large }}\n    phases: [do.md, {{ each: [x, y], phases: [twice.md] }}]\n{behind}"
    );
    let outputs = "outputs: { found: { type: list, max: 2 }, ok: { type: flag }, n: { type: number, optional: true }, title: { type: text, optional: true } }\noutcomes: { good: next, bad: next }";
    let mut session = begun(&[
        ("w/workflow.yaml", &workflow),
        ("w/do.md", &format!("{outputs}\n---own {{output.do.ok}} {{outcome.do}} {{summary.do}}")),
        ("w/twice.md", "outputs: { word: { type: text } }\n---{output.do.found} {output.twice.word}"),
        ("w/last.md", &format!("---{end}")),
        ("s/workflow.yaml", "name: S\nshow: workflows\ninputs: { all: { type: list, max: 6 } }\nphases: [b.md]\n"),
        ("s/b.md", "---all {input.all}"),
    ]);
    let tasks: Vec<String> = (1..=given.len()).map(|number| format!("task {number}")).collect();
    let size = if tasks.is_empty() { "small" } else { "large" };
    let tasks = if tasks.is_empty() { vec!["none".into()] } else { tasks };
    let _ = session.next_giving(json!({ "size": size, "tasks": tasks }));
    for (number, (outcome, outputs)) in (1..).zip(given) {
        let (text, _) = session.step("status");
        assert!(text.contains("own (none) (none) (none)"), "the values of another item: {text}");
        let summary = format!("summary {number}");
        let input = json!({ "action": "next", "outcome": outcome, "outputs": outputs, "summary": summary });
        let reply = session.on(Event::Step { input: &input.to_string(), nested: false }).reply;
        let Reply::Tool(result) = reply else { panic!("{reply:?}") };
        assert!(result.text.contains(&format!("found {number}")), "its own values: {}", result.text);
        for word in ["x", "y"] {
            let _ = session.next_giving(json!({ "word": format!("{number}{word}") }));
        }
    }
    session
}

fn found(number: usize, ok: bool) -> Value {
    json!({ "found": [format!("found {number}"), "more"], "ok": ok, "n": number, "title": format!("two\nlines {number}") })
}

#[test]
fn outside_of_a_repeated_group_a_value_is_the_list_of_what_its_items_gave() {
    let end = "A {output.do.found} B {output.do.ok} C {output.do.n} D {output.do.title} E {outcome.do} F {summary.do} G {output.twice.word} H {input.note} I {itemNumber}";
    let mut session = done_for_each("  - last.md\n", end, &[("good", found(1, true)), ("bad", found(2, false))]);
    assert_eq!(session.at(), "last");
    let (text, _) = session.step("status");
    let expected = "A 1. found 1\n2. more\n3. found 2\n4. more B 1. true\n2. false C 1. 1\n2. 2 D 1. two lines 1\n2. two lines 2 E 1. good\n2. bad F summary 1\n\nsummary 2 G 1. 1x\n2. 1y\n3. 2x\n4. 2y H (none) I (none)";
    assert!(text.contains(expected), "{text}");
    let library = session.engine.run.library();
    let state = session.stored_run().unwrap();
    for (name, text) in [
        ("output.do.found", "found 1\nmore\nfound 2\nmore"),
        ("output.do.n", "1\n2"),
        ("outcome.do", "good\nbad"),
        ("summary.do", "summary 1\n\nsummary 2"),
        ("output.twice.word", "1x\n1y\n2x\n2y"),
    ] {
        let value = state.value(&ValueName::parse(name).unwrap(), 1, library).unwrap();
        assert_eq!(value.text(), text, "{name}");
    }
}

#[test]
fn of_a_group_that_was_passed_over_a_list_is_empty() {
    let end = "A {output.do.found} B {outcome.do} C {summary.do} D {output.do.ok}";
    let mut session = done_for_each("  - last.md\n", end, &[]);
    assert_eq!(session.at(), "last");
    let (text, _) = session.step("status");
    assert!(text.contains("A (none) B (none) C (none) D (none)"), "{text}");
}

#[test]
fn a_condition_on_what_items_gave_holds_if_all_gave_it() {
    let ways = "  - { phase: last.md, id: ok, when: { output.do.ok: true } }\n  - { phase: last.md, id: bad, when: { outcome.do: bad } }\n  - { phase: last.md, id: number, when: { output.do.n: [1, 2.0] } }\n  - { phase: last.md, id: else }\n";
    for (given, at) in [
        (vec![("good", found(1, true)), ("good", found(2, true))], "ok"),
        (vec![("bad", found(1, true)), ("bad", found(2, false))], "bad"),
        (vec![("bad", found(1, true)), ("good", found(2, false))], "number"),
        (vec![("bad", found(1, true)), ("good", found(2, false)), ("good", found(3, false))], "else"),
        (vec![], "else"),
    ] {
        let session = done_for_each(ways, "Do it.", &given);
        assert_eq!(session.at(), at, "{given:?}");
    }
}

#[test]
fn what_items_gave_is_a_list_for_a_nested_workflow_and_another_group() {
    let behind = "  - { subworkflow: s, with: { all: output.do.found } }\n  - { each: [output.do.found, input.more], phases: [last.md] }\n";
    let given = [("good", found(1, true)), ("bad", found(2, false))];
    let mut session = done_for_each(behind, "{itemNumber}/{itemCount} {item}", &given);
    assert!(session.step("status").0.contains("all 1. found 1\n2. more\n3. found 2\n4. more"));
    let _ = session.step("next");
    let mut seen = Vec::new();
    while session.at() == "last" {
        let (text, _) = session.step("status");
        seen.push(text.lines().find(|line| line.contains("/5 ")).unwrap().to_owned());
        let _ = session.step("next");
    }
    assert_eq!(seen, ["1/5 found 1", "2/5 more", "3/5 found 2", "4/5 more", "5/5 z"]);
}
