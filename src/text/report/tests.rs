use pulldown_cmark::{Event, Options, Parser, Tag};
use serde_json::{Value, json};

use std::collections::BTreeMap;

use super::*;
use crate::run::restore;

fn state(data: &Value) -> RunState {
    restore([data.to_string()]).unwrap()
}

/// A run with a nested workflow and a loop, at its last phase.
fn release() -> Value {
    let used = |turns: u32, cost: f64, models: Value| json!({ "turns": turns, "input": 1000 * turns, "cost": cost, "workMs": 61_500, "models": models });
    let mut build = used(2, 0.1, json!({ "a/x": 2 }));
    build["refusals"] = json!({ "tools": 2, "write": 1 });
    build["waitMs"] = 5000.into();
    let mut check = used(1, 0.0, json!({ "a/x": 1, "b/y": 3 }));
    check["unpriced"] = 1.into();
    check["gateAttempts"] = 3.into();
    check["gateFailures"] = 2.into();
    json!({
        "active": true, "workflowKey": "release", "taskId": "wf-1-abc", "taskDescription": "Ship it.\nSoon.",
        "currentPath": [{ "workflowKey": "release", "phaseIndex": 10 }],
        "globalStepCount": 7, "startedAt": 1_747_234_567_890_u64,
        "progress": {
            "version": 1, "seal": { "version": 3, "hash": "abcd" },
            "inputs": { "scope": "web", "issue": "12" },
            "outcomes": { "release:1/review:0": "clean", "release:1": "clean" },
            "passedOver": { "release:3": { "name": "Translate", "step": 6, "kind": "condition", "of": "input.scope", "value": "web", "wanted": ["api"] } },
            "loops": { "/release": 1, "release:1/review": 2 },
            "visits": {
                "release:10": { "name": "Ship", "startedAt": 1_747_234_900_000_u64, "passes": 1 },
                "release:2": { "name": "Notes", "startedAt": 1_747_234_800_000_u64, "endedAt": 1_747_234_900_000_u64, "passes": 1, "skipped": true },
                "release:1/review:0": {
                    "name": "Check", "startedAt": 1_747_234_700_000_u64, "endedAt": 1_747_234_800_000_u64, "passes": 2,
                    "usage": check, "earlier": used(3, 0.0, json!({ "b/y": 3 })),
                    "evidence": [
                        { "name": "the tests", "passed": false, "result": "exit status 1", "durationMs": 2000, "attempt": 3, "tail": "1 failed" },
                        { "name": "Ship?", "passed": true, "result": "the user said yes", "durationMs": 0, "attempt": 1 },
                    ],
                },
                "release:0": {
                    "name": "Build", "startedAt": 1_747_234_567_890_u64, "endedAt": 1_747_234_700_000_u64, "passes": 1, "usage": build,
                    "summary": { "id": "build", "name": "🔨 Build", "text": "It builds.\n\n- twice", "step": 0 },
                },
            },
        },
    })
}

#[test]
fn a_report_has_the_outcome_the_phases_and_what_they_took() {
    let state = state(&release());
    let markdown = Report::of(&state, Circumstances::default()).markdown(|_| Ok(0)).unwrap();
    let expected = r"# Run of release

- **Outcome:** not finished
- **Time:** started 2025-05-14 14:56:07 UTC+00:00
- **Transitions:** 7, **repeated visits:** 1
- **Task ID:** wf-1-abc
- **Inputs:** issue: 12, scope: web
- **Fingerprint:** 3:abcd

**Task:**

```
Ship it.
Soon.
```

| Phase | Visits | At work | Waiting | Turns | Tokens | Cost |
| --- | --- | --- | --- | --- | --- | --- |
| ✓ Build | 1 | 1m 1s | 5s | 2 | 2.0k | \$0.10 |
| ✓ review > Check | 2 | 2m 3s | – | 4 | 4.0k | unknown |
| ⤼ Notes | 1 | – | – | – | – | – |
| ▸ Ship | 1 | – | – | – | – | – |
| **In all** |  | 3m 4s | 5s | 6 | 6.0k | \$0.10 and an unknown part |

| Phase | Outcome | Models | Gate attempts | Refused calls |
| --- | --- | --- | --- | --- |
| ✓ Build |  | a/x |  | tools: 2, write: 1 |
| ✓ review > Check | clean | a/x: 1, b/y: 6 | 3 (2 failed) |  |
| **In all** |  | a/x: 3, b/y: 6 | 3 (2 failed) | tools: 2, write: 1 |

## Skipped by the user

- ⤼ Notes

## Passed over

- ⤼ Translate: input.scope is web, not api

## Gates

**review > Check**

- ✗ the tests: exit status 1, 2s, attempt 3
- ✓ Ship?: you said yes

The end of the output of the tests:

```
1 failed
```

## Summaries

**Build**

```
It builds.

- twice
```";
    assert_eq!(markdown, expected);
}

#[test]
fn a_report_for_programs_has_all_of_it() {
    let state = state(&release());
    let report = serde_json::to_value(Report::of(&state, Circumstances::default())).unwrap();
    let head = |field: &str| report[field].clone();
    assert_eq!(
        [head("taskId"), head("workflow"), head("task"), head("outcome"), head("startedAt")],
        [json!("wf-1-abc"), json!("release"), json!("Ship it.\nSoon."), json!("running"), json!(1_747_234_567_890_u64)]
    );
    assert_eq!([head("fingerprint"), head("repeatedVisits"), head("steps")], [json!("3:abcd"), json!(1), json!(7)]);
    assert!(report.get("endedAt").is_none() && report.get("pause").is_none());
    assert_eq!(report["usage"]["turns"], 6);
    assert_eq!(
        report["phases"][0],
        json!({
            "key": "release:0", "name": "Build", "depth": 0, "passes": 1, "startedAt": 1_747_234_567_890_u64,
            "endedAt": 1_747_234_700_000_u64, "skipped": false, "current": false,
            "usage": { "turns": 2, "input": 2000, "cost": 0.1, "workMs": 61_500, "waitMs": 5000,
                "refusals": { "tools": 2, "write": 1 }, "models": { "a/x": 2 } },
            "models": ["a/x"], "summary": "It builds.\n\n- twice", "evidence": [],
        })
    );
    let phases = report["phases"].as_array().unwrap();
    let place = |phase: &Value| (phase["key"].clone(), phase["depth"].clone(), phase["nestedIn"].clone());
    assert_eq!(
        phases.iter().map(place).collect::<Vec<_>>(),
        [
            (json!("release:0"), json!(0), Value::Null),
            (json!("release:1/review:0"), json!(1), json!("review")),
            (json!("release:2"), json!(0), Value::Null),
            (json!("release:10"), json!(0), Value::Null),
        ]
    );
    assert_eq!(
        phases[1]["evidence"][0],
        json!({
            "name": "the tests", "passed": false, "result": "exit status 1", "durationMs": 2000, "attempt": 3, "tail": "1 failed",
        })
    );
    assert_eq!((&phases[2]["skipped"], &phases[3]["current"]), (&json!(true), &json!(true)));
}

#[test]
fn a_run_has_one_outcome() {
    let outcome = |change: fn(&mut Value), known: Circumstances| {
        let mut data = release();
        change(&mut data);
        let state = state(&data);
        let report = Report::of(&state, known);
        let of = serde_json::to_value(&report).unwrap();
        let lines = report.markdown(|_| Ok(0)).unwrap();
        let lines = lines.lines().filter(|line| line.starts_with("- **Outcome") || line.contains("Time:"));
        (of["outcome"].clone(), of["endedAt"].clone(), lines.collect::<Vec<_>>().join("\n"))
    };
    let pause = |pause| Circumstances { pause: Some(pause), ..Circumstances::default() };
    let started = "2025-05-14 14:56:07 UTC+00:00";
    let expected = format!("- **Outcome:** paused: you stopped the agent\n- **Time:** started {started}");
    let paused = outcome(|_| (), pause(PauseReason::Aborted));
    assert_eq!(paused, (json!("paused"), Value::Null, expected));
    let name = "|*x*".to_owned();
    let (_, _, words) = outcome(|_| (), pause(PauseReason::Gate { name, times: 2 }));
    assert!(words.contains(r"the gate was not passed in 2 attempts; last: \|\*x\*"), "{words}");
    let done = outcome(|data| data["active"] = false.into(), pause(PauseReason::User));
    let expected = format!("- **Outcome:** done\n- **Time:** {started} to 2025-05-14 15:01:40 UTC+00:00 (5m 32s)");
    assert_eq!(done, (json!("done"), json!(1_747_234_900_000_u64), expected));
    let cancel = |data: &mut Value| (data["active"], data["cancelled"]) = (false.into(), true.into());
    let ended_at = Some(1_747_234_567_900);
    let known = Circumstances { ended_at, ..Circumstances::default() };
    let expected = format!("- **Outcome:** cancelled\n- **Time:** {started} to 2025-05-14 14:56:07 UTC+00:00 (0s)");
    assert_eq!(outcome(cancel, known), (json!("cancelled"), json!(1_747_234_567_900_u64), expected));
    let known = Circumstances { replaced: true, ..Circumstances::default() };
    let expected = format!("- **Outcome:** replaced by another run before its end\n- **Time:** started {started}");
    assert_eq!(outcome(|_| (), known.clone()), (json!("replaced"), Value::Null, expected));
    assert_eq!(outcome(cancel, known).0, json!("cancelled"));
}

#[test]
fn a_run_of_the_reference_has_a_report() {
    let state = state(&json!({
        "active": false, "workflowKey": "rpir", "currentPath": [{ "workflowKey": "rpir", "phaseIndex": 4 }],
        "globalStepCount": 4, "taskId": "wf-1-a", "taskDescription": "", "startedAt": 0,
    }));
    let expected = r"# Run of rpir

- **Outcome:** done
- **Time:** started 1970-01-01 00:00:00 UTC+00:00
- **Transitions:** 4
- **Task ID:** wf-1-a

| Phase | At work | Waiting | Turns | Tokens | Cost |
| --- | --- | --- | --- | --- | --- |
| **In all** | – | – | – | – | – |

The phases of this run are not recorded.";
    assert_eq!(Report::of(&state, Circumstances::default()).markdown(|_| Ok(0)).unwrap(), expected);
    let used = Usage { turns: 1, input: 20, unpriced: 1, ..Usage::default() };
    let state = state.clone().with_usage(&state, &used);
    let markdown = Report::of(&state, Circumstances::default()).markdown(|_| Ok(0)).unwrap();
    assert!(markdown.contains("| **In all** | – | – | 1 | 20 | unknown |"), "{markdown}");
}

/// Texts that have a meaning in Markdown if they are not escaped.
const HOSTILE: [&str; 12] = [
    "a | b |\n| c | d \\|",
    "</script><script>alert(1)</script><img src=x onerror=alert(1)>",
    "```\n# Owned\n````\n~~~\n",
    "`code` **bold** _em_ ~~del~~ &lt; &#124;",
    "[link](javascript:alert) ![i](http://x/y) [r]\n\n[r]: javascript:x <http://x.y>",
    "\u{1b}[31mred\u{7}\u{9b}31m\r\n\u{0}x",
    "\u{202e}gnp\u{2066}x\u{200f}\u{61c}\u{200e}\u{2028}y",
    "# Heading\n===\n- item\n1. one\n> quote\n    code\n---",
    "\\",
    "$x$ \\(y\\) \\[z\\] $$w$$",
    "   ",
    "x\\\\|y\\`z",
];

/// Returns the number of each kind of element of a Markdown text.
fn elements(markdown: &str) -> BTreeMap<String, usize> {
    let mut found = BTreeMap::new();
    for event in Parser::new_ext(markdown, Options::all()) {
        let name = match event {
            Event::Start(Tag::CodeBlock(_)) => "block".to_owned(),
            Event::Start(tag) => format!("{tag:?}"),
            Event::Text(_) | Event::End(_) => continue,
            Event::SoftBreak | Event::HardBreak => "break".to_owned(),
            other => format!("{other:?}"),
        };
        *found.entry(name).or_default() += 1;
    }
    found
}

#[test]
fn no_text_can_be_anything_but_text() {
    let report = |text: &str, has_models: bool| {
        let mut data = release();
        let summary = json!({ "id": text, "name": text, "text": text, "step": 0 });
        (data["workflowKey"], data["taskId"]) = (text.into(), text.into());
        data["taskDescription"] = text.into();
        data["progress"]["seal"]["hash"] = text.into();
        let part: String = text.chars().take(1000).collect();
        data["progress"]["inputs"] = json!({ &part: part });
        data["progress"]["outcomes"] = json!({ "release:0": format!("x{part}") });
        let passed = json!({ "name": part, "step": 1, "kind": "outcome", "of": part, "outcome": part });
        data["progress"]["passedOver"] = json!({ "release:3": passed });
        for visit in data["progress"]["visits"].as_object_mut().unwrap().values_mut() {
            (visit["name"], visit["summary"]) = (text.into(), summary.clone());
            visit["skipped"] = true.into();
            visit["usage"] =
                json!({ "turns": 2, "gateAttempts": 1, "refusals": { text: 1, "x": 1 }, "models": { text: 1 } });
            visit["earlier"] = if has_models { json!({ "models": { "m": 1 } }) } else { Value::Null };
            visit["evidence"] =
                json!([{ "name": text, "passed": false, "result": text, "durationMs": 0, "attempt": 1, "tail": text }]);
        }
        let state = state(&data);
        let pause = Some(PauseReason::Gate { name: text.to_owned(), times: 1 });
        Report::of(&state, Circumstances { pause, ..Circumstances::default() }).markdown(|_| Ok(0)).unwrap()
    };
    let expected = [false, true].map(|has_models| elements(&report("plain", has_models)));
    let cells = expected.each_ref().map(|of| (of["TableRow"], of["TableCell"]));
    assert_eq!(cells, [(10, 66), (10, 72)]);
    let long = "|`".repeat(50_000);
    for text in HOSTILE.into_iter().chain([&*long]) {
        let one = report(text, false);
        let markdown = report(text, true);
        assert_eq!([elements(&one), elements(&markdown)], expected, "{text:?}\n{one}\n{markdown}");
        let options = Options::all() - Options::ENABLE_SMART_PUNCTUATION;
        let heading = Parser::new_ext(&markdown, options).skip(1).map_while(|event| match event {
            Event::Text(text) => Some(text.into_string()),
            _ => None,
        });
        let shown = format!("Run of {}", plain(&short(text.trim(), MAX_NAME)));
        assert_eq!(heading.collect::<String>().trim(), shown.trim());
        let hidden = |c: char| {
            c.is_control() && c != '\n'
                || matches!(c, '\u{200e}' | '\u{200f}' | '\u{61c}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
        };
        assert!(!one.contains(hidden) && !markdown.contains(hidden), "{text:?}");
        assert!(markdown.len() < 60_000, "{}", markdown.len());
    }
}

#[test]
fn of_very_many_phases_the_first_are_shown() {
    let mut data = release();
    let visit = json!({ "startedAt": 1, "passes": 1, "evidence": vec![
        json!({ "name": "l", "passed": true, "result": "r", "durationMs": 0, "attempt": 1 }); 3
    ] });
    let visits = (0..300).map(|index| (format!("release:{index}"), visit.clone()));
    data["progress"]["visits"] = visits.chain([("no place".to_owned(), visit.clone())]).collect();
    let state = state(&data);
    let report = Report::of(&state, Circumstances::default());
    let markdown = report.markdown(|_| Ok(0)).unwrap();
    assert!(markdown.contains("| ○ release:199 |") && !markdown.contains("| ○ release:200 |"));
    assert!(markdown.contains("\n\n… 101 more phases\n\n"));
    assert_eq!(markdown.matches("- ✓ l: r").count(), MAX_ROWS);
    assert_eq!(report.phases.len(), 301);
    assert_eq!(report.phases.last().unwrap().key, "no place");
}
