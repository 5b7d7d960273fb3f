//! The report of a run that a session stores, outside of pi.

use serde_json::{Value, json};

use super::STATE_AT_DO;
use super::host::*;

/// The report of a state, and of nothing else.
fn report(state: &str) -> Result<RunReport, String> {
    let run = StoredRun { states: vec![state.into()], since: None, ended_ms: None, replaced: false };
    let mut pi = Host::default().start();
    let report = pi.report(&run);
    pi.did(&[]);
    report
}

#[test]
fn a_stored_run_is_reported_without_its_files() {
    let since = Usage {
        models: vec![
            ModelUsage {
                model: Some("provider/model".into()),
                answers: 2,
                input: 1000,
                output: 200,
                cache_read: 30,
                cache_write: 4,
                reasoning: 100,
                cost: 0.5,
                unpriced: 0,
                unreported: 1,
            },
            ModelUsage {
                model: None,
                answers: 1,
                input: 6,
                output: 0,
                cache_read: 0,
                cache_write: 0,
                reasoning: 0,
                cost: 0.25,
                unpriced: 0,
                unreported: 0,
            },
        ],
        tool_calls: 3,
        work_ms: 65_000,
        wait_ms: 2000,
        newest_ms: None,
        warm_ups: 2,
        warm_tokens: 9,
        warm_cost: 0.125,
    };
    let mut run = StoredRun {
        states: vec![STATE_AT_DO.into()],
        since: Some(since),
        ended_ms: Some(1_747_234_569_890),
        replaced: true,
    };
    let mut pi = Host::default().start();
    let RunReport { markdown, json } = pi.report(&run).unwrap();
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(
        (&json["workflow"], &json["outcome"], &json["endedAt"]),
        (&json!("two"), &json!("replaced"), &json!(1_747_234_569_890_u64))
    );
    let usage = json!({
        "turns": 2, "input": 1006, "output": 200, "cacheRead": 30, "cacheWrite": 4, "reasoning": 100, "cost": 0.75, "unreported": 1,
        "warmUps": 2, "warmTokens": 9, "warmCost": 0.125,
        "toolCalls": 3, "workMs": 65_000, "waitMs": 2000, "models": { "provider/model": 2 },
    });
    assert_eq!(json["usage"], usage);
    assert!(markdown.starts_with("# Run of two\n\n- **Outcome:** replaced by another run"));
    let total = "| **In all** |  | 1m 5s | 2s | 2 | 1.2k and an unknown part | \\$0.75 |";
    assert!(markdown.contains(total), "{markdown}");
    run.replaced = false;
    let json: Value = serde_json::from_str(&pi.report(&run).unwrap().json).unwrap();
    assert_eq!((&json["outcome"], &json["endedAt"]), (&json!("running"), &Value::Null));
    assert_eq!(pi.asked(), [] as [&str; 0]);
}

#[test]
fn a_state_that_is_not_a_run_is_an_error() {
    let with = |field: &str, value: Value| {
        let mut state: Value = serde_json::from_str(STATE_AT_DO).unwrap();
        state[field] = value;
        state.to_string()
    };
    let later = "a later version of pi-workflows stored it.";
    for (state, expected) in [
        (String::new(), "entries of the session after its newest one are missing."),
        (" ".to_owned(), "an entry is not JSON, or nested too deep."),
        ("{".to_owned(), "an entry is not JSON, or nested too deep."),
        ("[".repeat(100_000), "an entry is not JSON, or nested too deep."),
        ("{}".to_owned(), "its state is incomplete."),
        (with("workflowKey", json!(7)), "an entry is malformed."),
        (with("currentPath", json!([])), "an entry is malformed."),
        (with("x", json!("x".repeat(5 << 20))), "an entry is longer than 4194304 bytes."),
        (with("progress", json!({ "version": 99 })), later),
        (with("progress", json!({ "version": "new" })), later),
        (with("progress", json!({ "version": 1, "seal": { "version": 99 } })), later),
    ] {
        let error = report(&state).err().unwrap();
        let start: String = state.chars().take(200).collect();
        assert_eq!(error, format!("The run cannot be read: {expected}"), "{start}");
    }
    // The readable part of a run that is held is reported.
    let held = report(&with("taskDescription", json!("x".repeat(2 << 20)))).unwrap();
    let why = "its stored state cannot be read in full: a text in it is longer than 1048576 bytes";
    assert!(held.markdown.contains(&format!("**Outcome:** paused: {why}\n")), "{}", held.markdown);
}

#[test]
fn long_texts_make_a_short_report() {
    let visit = |text: &str| json!({ "startedAt": 1, "passes": 1, "name": text, "summary": { "id": text, "name": text, "text": text, "step": 1 } });
    let mut state: Value = serde_json::from_str(STATE_AT_DO).unwrap();
    let text = "`|<".repeat(100_000);
    state["taskDescription"] = json!(text);
    state["progress"] =
        json!({ "version": 1, "visits": { "two:0": visit(&text), "x": visit(&text), (text.clone()): visit("y") } });
    let report = report(&state.to_string()).unwrap();
    assert!(report.markdown.len() < 50_000, "{}", report.markdown.len());
    let json: Value = serde_json::from_str(&report.json).unwrap();
    assert_eq!(json["task"], json!(text));
}

#[test]
fn very_many_visits_are_reported_in_time() {
    let visits: Value = (0..5000)
        .rev()
        .map(|index| (format!("two:0/two:{index}"), json!({ "startedAt": 1, "passes": 1 })))
        .collect::<serde_json::Map<_, _>>()
        .into();
    let mut state: Value = serde_json::from_str(STATE_AT_DO).unwrap();
    state["progress"] = json!({ "version": 1, "visits": visits });
    let report: Value = serde_json::from_str(&report(&state.to_string()).unwrap().json).unwrap();
    let phases = report["phases"].as_array().unwrap();
    assert_eq!((phases.len(), &phases[4999]["key"]), (5000, &json!("two:0/two:4999")));
}
