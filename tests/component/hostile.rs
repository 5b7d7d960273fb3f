//! No input of a model, a session or a file makes a call trap. (Every call of [`Pi`] asserts this.)

use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::Config;
use serde_json::{Map, Value, json};

use super::host::*;
use super::{FILES, STATE_AT_LOOK, at_look};

fn config(cases: u32) -> Config {
    // A failure prints its input; do not write it to a file.
    Config { cases, failure_persistence: None, ..Config::default() }
}

/// Any JSON value, and text that resembles one.
fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        Just(json!("next")),
        Just(json!("two")),
    ];
    let key = prop_oneof![
        any::<String>(),
        Just("action".to_owned()),
        Just("workflowKey".to_owned()),
        Just("content".to_owned()),
        Just("__proto__".to_owned()),
    ];
    leaf.prop_recursive(4, 32, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((key.clone(), inner), 0..6).prop_map(|fields| Value::from(Map::from_iter(fields))),
        ]
    })
}

fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => any_json().prop_map(|value| value.to_string()),
        1 => any::<String>(),
        1 => Just("[".repeat(100_000)),
        1 => Just(r#"{"a":"#.repeat(50_000)),
        1 => any_json().prop_map(|value| {
            let text = value.to_string();
            text.chars().take(text.chars().count() / 2).collect()
        }),
    ]
}

/// The data of a state entry: valid, or with one invalid field.
fn any_state() -> impl Strategy<Value = String> {
    let index = select(vec![
        json!(0),
        json!(1),
        json!(2),
        json!(-1),
        json!(0.5),
        json!(4_294_967_295_u64),
        json!(4_294_967_296_u64),
        json!(9_007_199_254_740_991_u64),
        json!(u64::MAX),
        json!(1e300),
    ]);
    let key = select(vec!["two", "four", "part", "gone", ""]);
    let segment = (key, index).prop_map(|(key, index)| json!({ "workflowKey": key, "phaseIndex": index }));
    let path = prop::collection::vec(segment, 0..5);
    let field = select(vec![
        "active",
        "workflowKey",
        "currentPath",
        "currentPhaseIndex",
        "globalStepCount",
        "taskId",
        "taskDescription",
        "startedAt",
        "completionNotified",
        "cancelled",
        "progress",
    ]);
    let change = prop::option::of((field, prop::option::of(any_json())));
    let progress = prop_oneof![
        Just(json!({})),
        Just(json!({ "continuations": u32::MAX, "idle": u32::MAX })),
        Just(json!({ "loops": { "a": u32::MAX, "b": u32::MAX, "/two": u32::MAX } })),
        Just(json!({ "paused": { "reason": { "kind": "idle", "times": u32::MAX }, "at": u64::MAX } })),
        Just(json!({ "visits": { "two:0": { "startedAt": u64::MAX, "endedAt": 0, "passes": u32::MAX } } })),
        any_json(),
    ];
    (path, any::<bool>(), progress, change).prop_map(|(path, active, progress, change)| {
        let mut state: Value = serde_json::from_str(STATE_AT_LOOK).unwrap();
        state["active"] = active.into();
        state["currentPath"] = path.into();
        state["progress"] = progress;
        match change {
            Some((field, Some(value))) => state[field] = value,
            Some((field, None)) => {
                state.as_object_mut().unwrap().shift_remove(field);
            }
            None => {}
        }
        state.to_string()
    })
}

#[derive(Debug, Clone)]
enum Call {
    Happens(Event),
    Wants {
        tool: String,
    },
    Steps {
        input: String,
    },
    Commands {
        name: &'static str,
        arguments: String,
    },
    Answers(u64, Answer),
    AnswersTool(u64, Answer),
    Completes {
        prefix: String,
    },
    Ticks(u64),
    Draws {
        custom_type: String,
        text: String,
        expanded: bool,
    },
    /// The files are removed.
    Clears,
    /// A function of the host starts to fail.
    Breaks(&'static str),
    /// The session ends soon.
    Ends {
        calls: usize,
    },
}

fn any_call() -> impl Strategy<Value = Call> {
    let action = prop_oneof![
        Just(r#"{"action":"next"}"#.to_owned()),
        Just(r#"{"action":"loop"}"#.to_owned()),
        Just(r#"{"action":"cancel"}"#.to_owned()),
        Just(r#"{"action":"status"}"#.to_owned()),
        any_json().prop_map(|value| value.to_string()),
    ];
    let arguments = prop_oneof![
        Just("two Fix it".to_owned()),
        Just("four Fix it".to_owned()),
        Just("part Fix it".to_owned()),
        select(vec![":status", ":pause", ":resume", ":next", ":back", ":skip", ":cancel", ":"]).prop_map(str::to_owned),
        Just(String::new()),
        any::<String>(),
    ];
    let tool = prop_oneof![Just("write".to_owned()), Just("read".to_owned()), any::<String>()];
    let custom_type = prop_oneof![
        Just("workflow:context".to_owned()),
        Just("workflow:complete".to_owned()),
        Just("workflow:countdown".to_owned()),
        any::<String>(),
    ];
    let command = select(vec!["workflow", "workflow", "cancel-workflow", "other"]);
    let answer = || select(vec![Answer::Confirmed(true), Answer::Confirmed(false), Answer::Cancelled, Answer::NoUi]);
    let function = select(vec!["append-entry", "set-status", "notify", "entries", "read-file", "roots"]);
    prop_oneof![
        6 => select(events()).prop_map(Call::Happens),
        2 => tool.prop_map(|tool| Call::Wants { tool }),
        6 => action.prop_map(|input| Call::Steps { input }),
        4 => (command, arguments.clone())
            .prop_map(|(name, arguments)| Call::Commands { name, arguments }),
        2 => (0..5_u64, answer()).prop_map(|(ticket, answer)| Call::Answers(ticket, answer)),
        1 => (0..5_u64, answer()).prop_map(|(ticket, answer)| Call::AnswersTool(ticket, answer)),
        1 => arguments.prop_map(|prefix| Call::Completes { prefix }),
        3 => (0..3_u64).prop_map(Call::Ticks),
        1 => (custom_type, any_text(), any::<bool>())
            .prop_map(|(custom_type, text, expanded)| Call::Draws { custom_type, text, expanded }),
        1 => Just(Call::Clears),
        1 => function.prop_map(Call::Breaks),
        1 => (0..6_usize).prop_map(|calls| Call::Ends { calls }),
    ]
}

fn events() -> Vec<Event> {
    vec![
        Event::SessionStart(SessionReason::Startup),
        Event::SessionTree,
        Event::SessionShutdown(SessionReason::New),
        Event::Restarted,
        Event::Input(InputSource::Interactive),
        Event::TerminalInput(false),
        Event::BeforeAgentStart,
        Event::AgentStart,
        Event::TurnEnd(Vec::new()),
        Event::AgentEnd(None),
        Event::AgentEnd(Some(StopReason::Aborted)),
        Event::AgentEnd(Some(StopReason::Stop)),
        Event::AgentBeforeSettle,
        Event::AgentSettled,
    ]
}

fn make(pi: &mut Pi, call: Call) {
    match call {
        Call::Happens(event) => {
            pi.event(event);
        }
        Call::Wants { tool } => {
            pi.tool_call(&tool);
        }
        Call::Steps { input } => {
            if let Stepped::Says { text, details } = pi.step_with(&input) {
                assert_ne!(text, "");
                assert!(serde_json::from_str::<Value>(&details).is_ok(), "not JSON: {details}");
            }
        }
        Call::Commands { name, arguments } => {
            pi.command(name, &arguments);
        }
        Call::Answers(ticket, answer) => {
            pi.answer(ticket, answer);
        }
        Call::AnswersTool(ticket, answer) => {
            pi.answer_tool(ticket, answer);
        }
        Call::Completes { prefix } => {
            pi.complete("workflow", &prefix);
        }
        Call::Ticks(id) => pi.timer(id),
        Call::Draws { custom_type, text, expanded } => draw(pi, &custom_type, &text, expanded),
        Call::Clears => pi.host().files.clear(),
        Call::Breaks(function) => {
            pi.host().failing.insert(function, "broken");
        }
        Call::Ends { calls } => pi.host().calls_until_stale = Some(calls),
    }
    for (_, data) in &pi.host().entries {
        assert!(serde_json::from_str::<Value>(data).is_ok(), "not JSON: {data}");
    }
    // Another session starts immediately.
    if pi.host().stale {
        pi.host().stale = false;
        pi.host().calls_until_stale = None;
    }
}

fn draw(pi: &mut Pi, custom_type: &str, text: &str, expanded: bool) {
    pi.draw_tool_call(text);
    pi.draw_tool_result(text, text, expanded);
    pi.draw_message(custom_type, text, expanded);
    pi.draw_entry(custom_type, text, expanded);
}

/// Every call for an existing run.
fn ask_everything(pi: &mut Pi) {
    for event in events().split_off(4) {
        pi.event(event);
    }
    pi.tool_call("write");
    for action in ["status", "loop", "next", "next", "loop", "next", "cancel", "cancel"] {
        pi.step_with(&format!(r#"{{"action":"{action}"}}"#));
    }
    for control in [":status", ":report", ":pause", ":resume", ":back", ":skip", ":next"] {
        pi.command("workflow", control);
    }
    pi.timer(1);
    pi.command("cancel-workflow", "");
}

proptest! {
    #![proptest_config(config(100))]

    #[test]
    fn tool_input_of_any_kind(input in any_text(), running in any::<bool>()) {
        let mut pi = if running { at_look() } else { Host::with_files(FILES).start_session() };
        make(&mut pi, Call::Steps { input });
    }

    #[test]
    fn input_of_a_file_tool_of_any_kind(
        input in prop_oneof![
            any_text(),
            any_json().prop_map(|path| json!({ "path": path }).to_string()),
        ],
        tool in select(vec!["edit", "write", "bash"]),
    ) {
        let mut pi = super::stale::at_plan();
        pi.host().tool_input = input;
        let outcome = pi.tool_call(tool);
        assert_eq!(outcome.starts_with("confine "), tool == "bash", "{outcome}");
    }

    #[test]
    fn states_of_any_kind(states in prop::collection::vec(prop_oneof![any_state(), any_text()], 0..6)) {
        let mut pi = Host::with_files(FILES).with_states(states).start();
        pi.event(Event::SessionStart(SessionReason::Resume));
        ask_everything(&mut pi);
    }

    #[test]
    fn reports_of_states_of_any_kind(
        state in prop_oneof![any_state(), any_text()],
        counts in any::<(u32, u64, u64, f64)>(),
        ended_ms in any::<Option<u64>>(),
        replaced in any::<bool>(),
    ) {
        let (answers, tokens, time, cost) = counts;
        let model = |model: &str| ModelUsage {
            model: Some(model.into()),
            answers,
            input: tokens,
            output: tokens,
            cache_read: tokens,
            cache_write: tokens,
            reasoning: tokens,
            cost,
            unpriced: answers,
            unreported: answers,
        };
        let since = Usage {
            models: vec![model("a"), model("|"), ModelUsage { model: None, ..model("") }],
            tool_calls: answers,
            work_ms: time,
            wait_ms: time,
            newest_ms: ended_ms,
            warm_ups: answers,
            warm_tokens: tokens,
            warm_cost: cost,
        };
        let mut pi = Host::default().start();
        let run = StoredRun { states: vec![state], since: Some(since), replaced };
        match pi.report(&run) {
            Ok(report) => {
                assert!(report.markdown.starts_with("# Run of "), "{}", report.markdown);
                assert!(serde_json::from_str::<Value>(&report.json).is_ok(), "{}", report.json);
            }
            Err(words) => assert!(words.starts_with("The run cannot be read: "), "{words}"),
        }
    }

    #[test]
    fn drawings_of_any_kind(text in any_text(), expanded in any::<bool>()) {
        let mut pi = Host::default().start();
        for custom_type in ["workflow:context", "workflow:complete", "workflow:countdown", "other"] {
            draw(&mut pi, custom_type, &text, expanded);
        }
    }

    #[test]
    fn calls_in_any_order(calls in prop::collection::vec(any_call(), 0..40)) {
        let mut pi = Host::with_files(FILES).start();
        for call in calls {
            make(&mut pi, call);
        }
    }

    #[test]
    fn files_of_any_kind(
        yaml in prop_oneof![
            prop::collection::vec(any::<u8>(), 0..200),
            any_json().prop_map(|value| value.to_string().into_bytes()),
            any::<String>().prop_map(String::into_bytes),
        ],
        at in any::<prop::sample::Index>(),
        path in "[a-z.]{1,3}(/[a-z.]{1,3}){0,12}",
    ) {
        let mut host = Host::with_files(FILES);
        let paths: Vec<String> = host.files.keys().cloned().collect();
        let sound = host.files[at.get(&paths)].clone();
        // A whole file, its beginning, and one more file.
        host.files.insert(at.get(&paths).clone(), yaml.clone());
        host.files.insert("global/half/workflow.yaml".into(), [&sound[..sound.len() / 2], &yaml].concat());
        host.files.insert(format!("global/{path}/workflow.yaml"), yaml);
        let mut pi = host.with_states([STATE_AT_LOOK]).start();
        pi.event(Event::SessionStart(SessionReason::Startup));
        pi.complete("workflow", "");
        pi.command("workflow", "two Fix it");
        ask_everything(&mut pi);
    }
}

// --- hostile files of the maximum size --------------------------------------------------------------

const LARGEST: usize = 1024 * 1024;

/// Uses the text as a `workflow.yaml`, and as a phase file's front matter and body: none of them prevents the other
/// workflows from loading, and none takes long (see `PATIENCE`).
#[track_caller]
fn does_no_harm(text: &str) {
    let header = "---\nid: one\nname: One\nemoji: 1️⃣\n";
    let workflow = "name: Hurt\ncommandName: hurt\ninitialMessage: x\nphases: [one.md]\n";
    for (yaml, phase) in [
        (text.to_owned(), format!("{header}---\nOne.\n")),
        (format!("{workflow}more: {text}"), format!("{header}---\nOne.\n")),
        (workflow.into(), format!("---\n{text}\n---\nOne.\n")),
        (workflow.into(), format!("{header}---\n{text}")),
    ] {
        let mut host = Host::with_files(FILES);
        host.files.insert("global/hurt/workflow.yaml".into(), yaml.into_bytes());
        host.files.insert("global/hurt/one.md".into(), phase.into_bytes());
        let mut pi = host.start();
        pi.event(Event::SessionStart(SessionReason::Startup));
        pi.complete("workflow", "");
        assert_eq!(pi.command("workflow", "two Fix it"), Outcome::Settle);
    }
}

#[test]
fn a_bomb_of_aliases() {
    let bomb = (0..30).fold("a0: &a0 [x, x, x, x, x, x, x, x, x]\n".to_owned(), |yaml, level| {
        let alias = format!("*a{level}");
        let next = level + 1;
        yaml + &format!("a{next}: &a{next} [{}]\n", [alias.as_str(); 9].join(", "))
    });
    does_no_harm(&bomb);
}

#[test]
fn a_tower_of_lists() {
    does_no_harm(&"[".repeat(LARGEST));
}

#[test]
fn a_tower_of_lists_that_is_closed() {
    does_no_harm(&("[".repeat(LARGEST / 2) + &"]".repeat(LARGEST / 2)));
}

#[test]
fn a_tower_of_mappings() {
    does_no_harm(&"{".repeat(LARGEST));
}

#[test]
fn a_tower_of_items() {
    does_no_harm(&"- ".repeat(LARGEST / 2));
}

#[test]
fn a_tower_of_quotations() {
    does_no_harm(&"> ".repeat(LARGEST / 2));
}

#[test]
fn a_tower_of_emphasis() {
    does_no_harm(&"*a _b ".repeat(LARGEST / 6));
}

#[test]
fn nothing_but_line_ends() {
    does_no_harm(&"\n".repeat(LARGEST));
}

#[test]
fn more_fields_than_anybody_needs() {
    let fields = (0..LARGEST / 16).map(|number| format!("key{number}: 1\n"));
    does_no_harm(&fields.collect::<String>());
}

#[test]
fn more_diagnostics_than_anybody_reads() {
    let entries = "  - 7\n".repeat(LARGEST / 16);
    does_no_harm(&format!("name: Hurt\ncommandName: hurt\ninitialMessage: x\nphases:\n{entries}"));
}

#[test]
fn more_phases_than_there_are_files() {
    let entries = "  - gone.md\n".repeat(LARGEST / 16);
    does_no_harm(&format!("name: Hurt\ncommandName: hurt\ninitialMessage: x\nphases:\n{entries}"));
}

#[test]
fn links_that_lead_in_circles() {
    let mut host = Host::with_files(FILES);
    for n in 1..=5 {
        host.links.insert(format!("global/l{n}"), "global".into());
    }
    let mut pi = host.start();
    pi.event(Event::SessionStart(SessionReason::Startup));
    assert_eq!(pi.command("workflow", "two Fix it"), Outcome::Settle);
    pi.command("workflow", ":check");
    let lists = |asked: &&String| asked.starts_with("list-directory");
    let lists = pi.host().questions.iter().filter(lists).count();
    assert!(lists < 40, "{lists} folders were looked through");
}

#[test]
fn a_project_folder_that_is_a_link_out_of_the_project() {
    let mut host = Host::with_files(FILES);
    host.files.insert("project/w/workflow.yaml".into(), b"7".to_vec());
    host.outside.push("project");
    let mut pi = host.start();
    pi.event(Event::SessionStart(SessionReason::Startup));
    let told = "notify error: ~/project: cannot be read: a link leads out of the project: /workflow :check";
    assert!(pi.host().calls.iter().any(|call| call == told), "{:?}", pi.host().calls);
    assert_eq!(pi.command("workflow", "two Fix it"), Outcome::Settle);
}
