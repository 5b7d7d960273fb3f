//! Tests the built component through its interface, with a host that is not pi.
//!
//! Requires `target/component/pi_workflows.wasm`: `npm run build`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

#[path = "component/host.rs"]
mod host;
#[path = "component/hostile.rs"]
mod hostile;
#[path = "component/stale.rs"]
mod stale;

use host::*;
use wasmtime::component::types::ComponentItem;

/// A workflow of two phases, one of which blocks tools; and a workflow that only other workflows may use.
const FILES: [(&str, &str); 6] = [
    (
        "global/two/workflow.yaml",
        "name: Two\ncommandName: two\ninitialMessage: 'Begin with {firstPhaseName}: {description}'\nphases: [look.md, do.md]\n",
    ),
    (
        "global/two/look.md",
        "---\nid: look\nname: Look\nemoji: 👀\ntools:\n  blacklist: [edit, write]\n---\nLook at *all* of it.\n\nFor: {description}\n",
    ),
    ("global/two/do.md", "---\nid: do\nname: Do\nemoji: 🔨\n---\nDo it after {previousPhaseName}.\n"),
    (
        "project/four/workflow.yaml",
        "name: Four\ncommandName: four\ninitialMessage: Begin\nphases:\n  - subworkflow: two\n  - subworkflow: part\n",
    ),
    ("project/part/workflow.yaml", "name: Part\nshow: workflows\nphases: [../part/one.md]\n"),
    ("project/part/one.md", "---\nid: one\nname: One\nemoji: 1️⃣\n---\nOne.\n"),
];

/// The stored state of a run in its first phase, Look.
const STATE_AT_LOOK: &str = r#"{"active":true,"workflowKey":"two","currentPath":[{"workflowKey":"two","phaseIndex":0}],"globalStepCount":0,"taskId":"wf-1747234567890-000000","taskDescription":"Fix it","startedAt":1747234567890,"completionNotified":false,"cancelled":false,"progress":{"version":1,"seal":{"version":3,"hash":"ec3ffac211556db3d9123c8cbaec71b920d394f3a3127f5bbd96d58cd72be937"},"visits":{"two:0":{"name":"Look","startedAt":1747234567890,"passes":1}}}}"#;
/// The stored state in the second phase, Do.
const STATE_AT_DO: &str = r#"{"active":true,"workflowKey":"two","currentPath":[{"workflowKey":"two","phaseIndex":1}],"globalStepCount":1,"taskId":"wf-1747234567890-000000","taskDescription":"Fix it","startedAt":1747234567890,"completionNotified":false,"cancelled":false,"progress":{"version":1,"seal":{"version":3,"hash":"ec3ffac211556db3d9123c8cbaec71b920d394f3a3127f5bbd96d58cd72be937"},"visits":{"two:0":{"name":"Look","startedAt":1747234567890,"endedAt":1747234567890,"passes":1},"two:1":{"name":"Do","startedAt":1747234567890,"step":1,"passes":1}}}}"#;
/// The stored state at the end of the run.
const STATE_AT_END: &str = r#"{"active":false,"workflowKey":"two","currentPath":[{"workflowKey":"two","phaseIndex":1}],"globalStepCount":2,"taskId":"wf-1747234567890-000000","taskDescription":"Fix it","startedAt":1747234567890,"completionNotified":false,"cancelled":false,"progress":{"version":1,"seal":{"version":3,"hash":"ec3ffac211556db3d9123c8cbaec71b920d394f3a3127f5bbd96d58cd72be937"},"visits":{"two:0":{"name":"Look","startedAt":1747234567890,"endedAt":1747234567890,"passes":1},"two:1":{"name":"Do","startedAt":1747234567890,"step":1,"endedAt":1747234567890,"passes":1}}}}"#;

/// The prompt of the first phase.
const PROMPT_AT_LOOK: &str = "[Workflow path: Two ▸ 👀 Look]

You are working through this workflow, one phase at a time. Do the work of the current phase, and only that. Follow the phase instructions precisely.

**Task:** Fix it
**Task ID:** wf-1747234567890-000000
**Current Phase:** 👀 Look
**Progress:** Step 0 (1/2 phases)

**All steps:**
▸ 1. 👀 Look (current)
  2. 🔨 Do

**What to do in this phase:**
Look at *all* of it.

For: Fix it

**Tools in this phase:** all except edit, write; a call of one of those is refused. workflow_step always works.
**Hand-over:** what later phases must know goes into `summary`, at most 4,000 characters.

When you finish this phase, call the workflow_step tool with action='next' to advance to the next phase. If you need to restart from the beginning, use action='loop'.

workflow_step {\"action\": \"next\", \"summary\": \"<what you found or did>\"}";
/// The prompt of the second phase.
const PROMPT_AT_DO: &str = "[Workflow path: Two ▸ 🔨 Do]

You are working through this workflow, one phase at a time. Do the work of the current phase, and only that. Follow the phase instructions precisely.

**Task:** Fix it
**Task ID:** wf-1747234567890-000000
**Current Phase:** 🔨 Do
**Progress:** Step 1 (2/2 phases)

**All steps:**
  1. 👀 Look
▸ 2. 🔨 Do (current)

**What to do in this phase:**
Do it after Look.

**Hand-over:** what later phases must know goes into `summary`, at most 4,000 characters.

When you finish this phase, call the workflow_step tool with action='next' to advance to the next phase. If you need to restart from the beginning, use action='loop'.

workflow_step {\"action\": \"next\", \"summary\": \"<what you found or did>\"}";

/// The notice at the start of a session with a run.
const HAS_RUN: &str =
    "notify info: The run of \"Two\" has not ended.\nYour next message goes on with it, or /workflow :resume.";

/// Starts a session with a run in the phase Look.
fn at_look() -> Pi {
    Host::with_files(FILES).with_states([STATE_AT_LOOK]).start_session()
}

/// Starts the same session in RPC mode.
fn at_look_by_rpc() -> Pi {
    let host = Host::with_files(FILES).with_states([STATE_AT_LOOK]);
    Host { mode: Mode::Rpc, ..host }.start_session()
}

/// The same without a user interface.
fn at_look_without_ui() -> Pi {
    let host = Host::with_files(FILES).with_states([STATE_AT_LOOK]);
    Host { mode: Mode::Print, has_ui: false, ..host }.start_session()
}

/// Starts the same session in the terminal; the agent has stopped, so the countdown runs.
fn counting_down() -> Pi {
    let mut pi = at_look();
    assert_eq!(pi.event(Event::AgentEnd(Some(StopReason::Stop))), "none");
    assert_eq!(pi.event(Event::AgentBeforeSettle), "none");
    pi.did(&[]);
    assert_eq!(pi.event(Event::AgentSettled), "none");
    pi.did(&[
        "set-widget workflow-countdown above-editor: ⏳ Auto-continuing in 3s... (type anything to interrupt)",
        "watch-terminal true",
        "start-timer 1 1000",
        "set-status workflow: Two > 👀 Look [1/2]",
    ]);
    pi
}

// --- the component ----------------------------------------------------------------------------------

#[test]
fn it_imports_only_the_interface_of_pi() {
    let built = built();
    let component = built.component.component_type();
    let imports: Vec<&str> = component
        .imports(&built.engine)
        .map(|(name, import)| {
            assert!(matches!(import.ty, ComponentItem::ComponentInstance(_)), "{name}");
            name
        })
        .collect();
    assert_eq!(
        imports,
        [
            "pi:extension/types@0.8.0",
            "pi:extension/api@0.8.0",
            "pi:extension/context@0.8.0",
            "pi:extension/session@0.8.0",
            "pi:extension/ui@0.8.0",
            "pi:extension/files@0.8.0",
            "pi:extension/store@0.8.0",
            "pi:extension/timers@0.8.0",
            "pi:extension/folders@0.8.0",
            "pi:extension/children@0.8.0",
            "pi:extension/programs@0.8.0",
        ]
    );
    let exports: Vec<&str> = component.exports(&built.engine).map(|(name, _)| name).collect();
    assert_eq!(exports, ["pi-workflows:tools/workflows@0.1.0", "pi:extension/guest@0.8.0"]);
}

#[test]
fn init_registers_everything() {
    let mut pi = Host::default().try_start(VERSION).unwrap();
    pi.did(&[
        "on session-start",
        "on session-tree",
        "on session-compact",
        "on session-shutdown",
        "on input",
        "on terminal-input",
        "on before-agent-start",
        "on agent-start",
        "on turn-end",
        "on agent-end",
        "on agent-before-settle",
        "on agent-settled",
        "on tool-call",
        "on model-select",
        "on thinking-level-select",
        "on turn-start",
        "on message-start",
        "on child-progress",
        "on child-end",
        "on time-skipped",
        "register-tool workflow_step (Workflow Step), one after another: Show current workflow status, advance to the next phase, loop back to the start of the current scope, or cancel the active workflow. Use this to coordinate any configured workflow.
{\"type\":\"object\",\"required\":[\"action\"],\"properties\":{\"action\":{\"type\":\"string\",\"enum\":[\"next\",\"status\",\"cancel\",\"loop\"],\"description\":\"\\\"next\\\" to advance to the next phase, \\\"status\\\" to check current state, \\\"cancel\\\" to abort the workflow, \\\"loop\\\" to restart the current scope from phase 0\"},\"summary\":{\"type\":\"string\",\"description\":\"Optional summary of what was accomplished in the current phase\"},\"outcome\":{\"type\":\"string\",\"description\":\"With \\\"next\\\": the outcome of the current phase, where its instructions list outcomes\"},\"outputs\":{\"type\":\"object\",\"additionalProperties\":true,\"description\":\"With \\\"next\\\": the outputs of the current phase by name, where its instructions list outputs\"}}}
Advance the active workflow to the next phase
Use workflow_step with action='next' when you finish a phase and want to advance.
Use workflow_step with action='status' to check current workflow state.
Use workflow_step with action='cancel' to abort the current workflow.
Use workflow_step with action='loop' to restart the current scope from the beginning, where the phase's instructions offer it.",
        "register-flag allow-workflow-commands: Run the commands that gates of the project's and of packages' workflows name, without a question",
        "register-flag allow-workflow-inputs: Run the commands that /workflow of this command line gives to inputs, without a question",
        "register-text-flag allow-workflow-value: Run this value as a command, such as that of `check` of the workflow goal, without a question",
        "register-text-flag workflow-budget: What a workflow may take beside its own budgets, such as cost=2,time=30m",
        "register-text-flag accept-workflow-rules: Go on with a run whose rules have changed, if they have this seal",
        "register-text-flag workflow-budget-more: What /workflow :resume adds to a budget that is used up, such as 1.00; \"unknown\" accepts unknown costs",
        "register-text-flag workflow-events: Write the events of a workflow to standard error in print and JSON mode, as JSON lines; \"full\": with texts, in RPC mode too",
        "register-text-flag workflow-wait: How long a run may wait for the ends of limits of the model in all, such as 6h",
        "register-text-flag workflow-silence: The time without new output after which the agent of a run is stopped, such as 2h, or off",
        "register-command workflow: Start a configured workflow. Usage: /workflow {name} {description}",
        "register-command cancel-workflow: Cancel the active workflow and jump to DONE. Bypasses the not-done reminder loop.",
        "register-message-renderer workflow:context",
        "register-message-renderer workflow:complete",
        "register-message-renderer workflow:countdown",
        "register-message-renderer workflow:moved",
        "register-message-renderer workflow:reminder",
        "register-entry-renderer workflow:complete",
        "register-entry-renderer workflow:status",
        "register-entry-renderer workflow:question",
        "register-entry-renderer workflow:check",
        "register-entry-renderer workflow:graph",
        "register-entry-renderer workflow:report",
        "register-entry-renderer workflow:limits",
        "register-entry-renderer workflow:fresh",
    ]);
    assert_eq!(pi.asked(), [] as [&str; 0], "a session is not there yet");
}

#[test]
fn init_refuses_another_version_and_returns_its_own() {
    for version in ["0.1.0", "0.2.0", "0.3.0", "0.4.0", "0.5.0", "0.6.1", "1.0.0", "0.8.0-rc.1", "0.6", ""] {
        match Host::default().try_start(version) {
            Err(InitError::VersionMismatch(own)) => assert_eq!(own, "0.8.0", "{version}"),
            Ok(mut pi) => panic!("{version} is taken, and does {:?}", pi.host().calls),
        }
    }
}

// --- a run ------------------------------------------------------------------------------------------

#[test]
fn a_run_from_the_command_to_its_end() {
    let mut pi = Host::with_files(FILES).start_session();

    assert_eq!(pi.command("workflow", " two  Fix it "), Outcome::Settle);
    pi.did(&[
        &format!("append-entry workflow:state {STATE_AT_LOOK}"),
        "notify info: Rules of this run: some tools only in look.",
        "set-session-name Workflow: Fix it",
        "send-user-message follow-up: Begin with Look: Fix it",
        "set-status workflow: Two > 👀 Look [1/2]",
    ]);

    // pi sends the message; the agent starts with the prompt.
    assert_eq!(pi.event(Event::Input(InputSource::Extension)), "none");
    assert_eq!(pi.event(Event::BeforeAgentStart), format!("inject workflow:context hidden: {PROMPT_AT_LOOK}"));
    assert_eq!(pi.event(Event::AgentStart), "none");
    pi.did(&["watch-clock true"]);
    assert_eq!(
        pi.tool_call("write"),
        "block: [workflow] The tool \"write\" is blocked during the Look phase.\nRefer to the current phase instructions for allowed tools and approaches.\nWhen finished, call workflow_step to advance to the next phase.\nTools in this phase: all except edit, write; a call of one of those is refused. workflow_step always works."
    );
    assert_eq!(pi.tool_call("read"), "none");
    assert_eq!(pi.tool_call("workflow_step"), "none");
    pi.did(&[]);

    // The refused call is counted.
    let refused = r#""passes":1,"usage":{"refusals":{"tools":1}}},"two:1""#;
    let with_refusal = |state: &str| state.replace(r#""passes":1},"two:1""#, refused);
    let (text, details) = pi.step("next");
    assert_eq!(
        text,
        format!(
            "✓ Advanced: Look → 🔨 Do\n\n**Previous:** 👀 Look\n**Current:** 🔨 Do (2/2)\n**Next:** DONE\n\n{PROMPT_AT_DO}"
        )
    );
    assert_eq!(details, r#"{"advanced":true,"from":"Look","to":"Do"}"#);
    pi.did(&[
        &format!("append-entry workflow:state {}", with_refusal(STATE_AT_DO)),
        "set-status workflow: Two > 🔨 Do [2/2]",
    ]);
    assert_eq!(pi.event(Event::TurnEnd(Vec::new())), "none");
    pi.did(&["set-status workflow: Two > 🔨 Do [2/2]"]);
    assert_eq!(pi.tool_call("write"), "none");

    let (text, details) = pi.step("next");
    assert_eq!(text, "✓ Advanced: Do → DONE\n\n🎉 **All phases complete!**");
    assert_eq!(details, r#"{"advanced":true,"from":"Do","to":"DONE"}"#);
    let at_end = with_refusal(STATE_AT_END);
    pi.did(&[&format!("append-entry workflow:state {at_end}"), "watch-clock false", "clear-status workflow"]);

    assert_eq!(pi.event(Event::AgentEnd(Some(StopReason::Stop))), "none");
    pi.did(&[
        "append-entry workflow:complete {\"content\":\"✅ **Two Complete**\\n\\n**Task:** Fix it\\n**Task ID:** wf-1747234567890-000000\\n**Phases completed:** 2\",\"taskId\":\"wf-1747234567890-000000\",\"cancelled\":false,\"workflow\":\"Two\"}",
        &format!(
            "append-entry workflow:state {}",
            at_end.replace(r#""completionNotified":false"#, r#""completionNotified":true"#)
        ),
        "clear-status workflow",
    ]);

    // The end is announced once; then there is no run.
    assert_eq!(pi.event(Event::AgentEnd(Some(StopReason::Stop))), "none");
    assert_eq!(pi.event(Event::BeforeAgentStart), "none");
    assert_eq!(pi.tool_call("write"), "none");
    pi.did(&[]);
    let (text, details) = pi.step("next");
    assert_eq!(text, "No active workflow. Use /workflow {name} {description} to start one.");
    assert_eq!(details, r#"{"active":false}"#);
}

/// Starts a session with a run that the model asks to cancel. Returns the ticket of the pending confirmation.
fn asked_to_cancel() -> (Pi, u64) {
    let mut pi = at_look_by_rpc();
    let (text, details) = pi.step("cancel");
    assert_eq!(
        text,
        "⚠️ **Confirm cancellation** of workflow \"Two\"?\nCall workflow_step with action='cancel' again to confirm. This cannot be undone."
    );
    assert_eq!(details, r#"{"active":true,"cancelPending":true}"#);
    match pi.step_with(r#"{"action":"cancel"}"#) {
        Stepped::Asks { ticket, title, message } => {
            assert_eq!(title, "Cancel the workflow?");
            assert_eq!(message, "Fix it\n\nThe agent wants to cancel this workflow. Cancel it?");
            pi.did(&[r#"set-status workflow:event: {"time":1747234567890,"run":"wf-1747234567890-000000","entry":"two:0","type":"question","state":"asked","about":"cancel"}"#]);
            (pi, ticket)
        }
        stepped => panic!("no question: {stepped:?}"),
    }
}

#[test]
fn the_tool_cancels_when_the_user_agrees() {
    let (mut pi, ticket) = asked_to_cancel();
    let cancelled = Stepped::Says {
        text: "Workflow cancelled: \"Fix it\"".into(),
        details: r#"{"active":false,"cancelled":true}"#.into(),
    };
    assert_eq!(pi.answer_tool(ticket, Answer::Confirmed(true)), cancelled);
    let state = STATE_AT_LOOK
        .replace(r#""active":true"#, r#""active":false"#)
        .replace(r#""cancelled":false"#, r#""cancelled":true"#)
        .replace(r#"67890,"passes""#, r#"67890,"endedAt":1747234567890,"unfinished":true,"passes""#);
    const EVENT: &str =
        r#"set-status workflow:event: {"time":1747234567890,"run":"wf-1747234567890-000000","entry":"two:0","type":"#;
    let usage = r#"{"turns":0,"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"cost":0.0,"unpriced":0,"unreported":0,"workMs":0}"#;
    pi.did(&[
        &format!(r#"{EVENT}"question","state":"over","about":"cancel"}}"#),
        &format!("append-entry workflow:state {state}"),
        &format!(r#"{EVENT}"ended","how":"cancelled","usage":{usage},"from":"two:0","left":"unfinished"}}"#),
        "clear-status workflow",
    ]);

    let (mut pi, ticket) = asked_to_cancel();
    let Stepped::Says { text, .. } = pi.answer_tool(ticket, Answer::NoUi) else {
        panic!("the answer says what happened")
    };
    assert!(text.starts_with("The workflow is paused: the agent wants to cancel it."), "{text}");
}

#[test]
fn all_diagnostics_are_shown_on_demand_and_checked_against_the_tools_of_pi() {
    let mut host = Host::with_files(FILES);
    host.files.insert("project/bad/workflow.yaml".into(), b"name: 7\n".to_vec());
    host.tools.retain(|tool| tool != "write");
    let mut pi = host.start();
    pi.event(Event::SessionStart(SessionReason::Startup));
    pi.host().calls.clear();
    assert_eq!(pi.command("workflow", ":check"), Outcome::Done);
    let calls = std::mem::take(&mut pi.host().calls);
    assert_eq!(calls.len(), 1, "{calls:?}");
    assert!(calls[0].starts_with("append-entry workflow:check "), "{}", calls[0]);
    for part in [
        "~/project/bad/workflow.yaml:1:7: error: `name`: expected a string, found a number",
        "~/global/two/look.md:6:21: warning: unknown tool `write`",
        "2 errors, 2 warnings. 1 workflow is left out.",
    ] {
        assert!(calls[0].contains(part), "{part}\n{}", calls[0]);
    }
    let data = calls[0].strip_prefix("append-entry workflow:check ").unwrap();
    let drawn = pi.draw_entry("workflow:check", data, false);
    for line in [
        "<dim>~/project/bad/workflow.yaml:1:7: <error>error: <text>`name`: expected a string, found a number",
        "<dim>  1 | name: 7",
        "<error>    |       ^",
        "<accent>  help: put the value in quotes",
        "<text>2 errors, 2 warnings. 1 workflow is left out.",
    ] {
        assert!(drawn.lines().any(|drawn| drawn == line), "{line}\n{drawn}");
    }
}

#[test]
fn without_a_run_only_the_users_settings_are_looked_at() {
    let mut pi = Host::with_files(FILES).start_session();
    pi.asked();
    assert_eq!(pi.event(Event::BeforeAgentStart), "none");
    assert_eq!(pi.tool_call("write"), "none");
    for event in [
        Event::Input(InputSource::Interactive),
        Event::TerminalInput(false),
        Event::AgentStart,
        Event::AgentEnd(Some(StopReason::Stop)),
    ] {
        assert_eq!(pi.event(event), "none");
    }
    pi.did(&[]);
    assert_eq!(pi.asked(), ["read-file global/settings.yaml"]);
}

// --- manual control ------------------------------------------------------------------------------

#[test]
fn the_status_is_an_entry_and_without_a_user_interface_a_notice_too() {
    let panel = "⏸ Two > 👀 Look [1/2] (waits for you: send a message, or /workflow :resume)\nTask: Fix it\nwf-1747234567890-000000, started 2025-05-14 12:26:07 UTC−02:30 (0s ago)\n\n▸ 1. 👀 Look  0s\n○ 2. 🔨 Do\n\nAutomatic continuations in this phase: 0. Loops: 0. Transitions: 0.";
    let entry = format!("append-entry workflow:status {}", serde_json::json!({ "content": panel }));
    let mut pi = at_look();
    pi.command("workflow", ":status");
    pi.did(&[&entry]);
    let mut pi = at_look_without_ui();
    pi.command("workflow", ":status");
    pi.did(&[&entry, &format!("notify info: {panel}")]);
}

// --- dialogs ----------------------------------------------------------------------------------------

/// Starts a session with a run and a command that starts another one. Returns the ticket of the pending dialog.
fn asked_to_start_another() -> (Pi, u64) {
    let mut pi = at_look_by_rpc();
    match pi.command("workflow", "four Something else") {
        Outcome::Asks { ticket, title, message } => {
            assert_eq!(title, "Workflow already active");
            assert_eq!(message, "Phase: Look\nTask: Fix it\n\nStart a new one?");
            pi.did(&[r#"set-status workflow:event: {"time":1747234567890,"run":"wf-1747234567890-000000","entry":"two:0","type":"question","state":"asked","about":"start"}"#]);
            (pi, ticket)
        }
        outcome => panic!("no question: {outcome:?}"),
    }
}

#[test]
fn an_answer_without_a_pending_request_is_dropped() {
    let (mut pi, ticket) = asked_to_start_another();
    for other in [0, ticket + 1, u64::MAX] {
        assert_eq!(pi.answer(other, Answer::Confirmed(true)), Outcome::Done);
    }
    let gone =
        Stepped::Says { text: "The session was replaced.".into(), details: r#"{"active":false,"stale":true}"#.into() };
    assert_eq!(pi.answer_tool(ticket + 1, Answer::Confirmed(true)), gone);
    // A dialog of the previous session.
    pi.event(Event::SessionShutdown(SessionReason::New));
    pi.event(Event::SessionStart(SessionReason::New));
    pi.host().calls.clear();
    assert_eq!(pi.answer(ticket, Answer::Confirmed(true)), Outcome::Done);
    pi.did(&[]);
    match pi.command("workflow", "four Something else") {
        Outcome::Asks { ticket: new, .. } => assert_ne!(new, ticket),
        outcome => panic!("no question: {outcome:?}"),
    }
}

// --- the session ------------------------------------------------------------------------------------

#[test]
fn a_session_restores_its_newest_state() {
    let mut pi = Host::with_files(FILES).with_states([STATE_AT_LOOK, STATE_AT_DO]).start();
    let status = "set-status workflow: ⏸ Two > 🔨 Do [2/2] (waits for you)";
    for (event, calls) in [
        (Event::SessionStart(SessionReason::Startup), &[HAS_RUN, status][..]),
        (Event::SessionTree, &[status]),
        (Event::Restarted, &[status]),
        (Event::SessionStart(SessionReason::Fork), &[HAS_RUN, status]),
    ] {
        assert_eq!(pi.event(event), "none");
        pi.did(calls);
        let asked = pi.asked();
        let entries: Vec<&String> = asked.iter().filter(|asked| asked.starts_with("entries")).collect();
        let newest = ["workflow:state 0 1", "workflow:panel 0 1 until workflow:state", "workflow:proposal 0 1"];
        assert_eq!(entries, newest.map(|entry| format!("entries {entry}")).iter().collect::<Vec<_>>());
    }
}

#[test]
fn the_panel_follows_its_newest_entry() {
    let with_panel = STATE_AT_DO.replacen('{', "{\"panel\":true,", 1);
    let panel = |on: bool| ("workflow:panel".to_owned(), format!("{{\"on\":{on}}}"));
    let state = |data: &str| ("workflow:state".to_owned(), data.to_owned());
    for (entries, shown) in [
        (vec![state(&with_panel)], true),
        (vec![state(STATE_AT_DO)], false),
        (vec![state(STATE_AT_DO), panel(true)], true),
        (vec![state(&with_panel), panel(false)], false),
        (vec![panel(true), state(STATE_AT_DO)], false),
        (vec![state(&with_panel), state(STATE_AT_DO)], false),
    ] {
        let mut host = Host::with_files(FILES);
        host.entries.clone_from(&entries);
        let mut pi = host.start();
        pi.event(Event::SessionStart(SessionReason::Startup));
        let drawn = pi.host().calls.iter().any(|call| call.starts_with("set-widget workflow-panel"));
        assert_eq!(drawn, shown, "{entries:?}");
    }
}

#[test]
fn invalid_entries_before_the_state_are_read_page_by_page() {
    let mut junk = vec!["null", "7", "\"text\"", "[]", "{}", r#"{"workflowKey":null}"#, "true"];
    junk.extend(["0"; 16]);
    let host = Host::with_files(FILES).with_states([STATE_AT_LOOK, STATE_AT_DO]).with_states(junk);
    let mut pi = host.start();
    pi.event(Event::SessionStart(SessionReason::Resume));
    pi.did(&[HAS_RUN, "set-status workflow: ⏸ Two > 🔨 Do [2/2] (waits for you)"]);
    assert_eq!(
        pi.asked()[..3],
        ["entries workflow:state 0 1", "entries workflow:state 1 16", "entries workflow:state 17 16"]
    );
}

#[test]
fn a_session_of_invalid_entries_is_read_to_its_end() {
    for count in [0, 3, 16, 17, 20] {
        let mut pi = Host::with_files(FILES).with_states(vec!["{}"; count]).start_session();
        let pages = pi.asked().iter().filter(|asked| asked.starts_with("entries workflow:state")).count();
        assert_eq!(pages, count.div_ceil(16) + 1, "{count} entries");
        assert!(pi.step("status").0.starts_with("No active workflow."));
    }
}

#[test]
fn entries_of_other_extensions_are_not_read() {
    let mut host = Host::with_files(FILES).with_states([STATE_AT_LOOK]);
    host.entries.push(("workflow:complete".into(), STATE_AT_DO.into()));
    host.entries.push(("other:state".into(), STATE_AT_DO.into()));
    let mut pi = host.start();
    pi.event(Event::SessionStart(SessionReason::Startup));
    pi.did(&[HAS_RUN, "set-status workflow: ⏸ Two > 👀 Look [1/2] (waits for you)"]);
}

// --- failures ---------------------------------------------------------------------------------------

#[test]
fn an_entry_that_cannot_be_stored_is_reported_and_the_run_continues() {
    let mut pi = Host::with_files(FILES).start_session();
    pi.host().failing.insert("append-entry", "the disk is full");
    assert_eq!(pi.command("workflow", "two Fix it"), Outcome::Settle);
    pi.did(&[
        &format!("append-entry workflow:state {STATE_AT_LOOK}"),
        "notify error: Workflow: the session does not take the state of the run, so a restart would find an older one: the disk is full",
        "notify info: Rules of this run: some tools only in look.",
        "set-session-name Workflow: Fix it",
        "send-user-message follow-up: Begin with Look: Fix it",
        "set-status workflow: Two > 👀 Look [1/2]",
    ]);
    // Once.
    assert!(pi.step("next").0.starts_with("✓ Advanced: Look → 🔨 Do"));
    pi.did(&[&format!("append-entry workflow:state {STATE_AT_DO}"), "set-status workflow: Two > 🔨 Do [2/2]"]);
    assert_eq!(controlled(&mut pi, ":pause"), (1, 0, 0));
    assert_eq!(controlled(&mut pi, ":status"), (0, 1, 0), "which the user asked for");
    // The first state that is taken is stored twice; then the user is told anew.
    pi.host().failing.clear();
    assert_eq!(controlled(&mut pi, ":resume"), (2, 0, 2));
    assert_eq!(controlled(&mut pi, ":pause"), (1, 0, 3));
    pi.host().failing.insert("append-entry", "the disk is full");
    assert_eq!(controlled(&mut pi, ":resume"), (1, 1, 3));
    assert_eq!(controlled(&mut pi, ":pause"), (1, 0, 3));
}

/// Runs a control. Returns the number of state entries that it tried to store, of the notices that the session did not
/// take one, and of all entries of the session.
fn controlled(pi: &mut Pi, name: &str) -> (usize, usize, usize) {
    pi.host().calls.clear();
    pi.command("workflow", name);
    let calls = std::mem::take(&mut pi.host().calls);
    let count = |start: &str| calls.iter().filter(|call| call.starts_with(start)).count();
    let told = count("notify error: Workflow: the session does not take");
    (count("append-entry workflow:state "), told, pi.host().entries.len())
}

#[test]
fn a_session_that_cannot_be_read_is_reported() {
    let mut host = Host::with_files(FILES).with_states([STATE_AT_LOOK]);
    host.failing.insert("entries", "the disk is broken");
    let mut pi = host.start();
    assert_eq!(pi.event(Event::SessionStart(SessionReason::Resume)), "none");
    pi.did(&[
        "notify error: Workflow: the disk is broken",
        "notify warning: ⏸ The stored run is paused: its stored state cannot be read in full: the session does not give its entries.\nAll tool calls are refused until you end the run: /workflow :cancel or /cancel-workflow.",
        "set-status workflow: ⏸ The stored run (paused: its state cannot be read)",
    ]);
}

#[test]
fn a_failed_command_is_reported() {
    let mut pi = Host::with_files(FILES).start_session();
    pi.host().failing.insert("has-ui", "not now");
    pi.command("workflow", "two Fix it");
    let calls = pi.host().calls.clone();
    assert!(calls.iter().any(|call| call.contains("not now") || call.contains("Begin")), "{calls:?}");
}

#[test]
fn a_countdown_survives_a_failed_call() {
    let mut pi = counting_down();
    pi.host().failing.insert("is-idle", "not now");
    pi.timer(1);
    assert_ne!(pi.host().calls, [] as [&str; 0]);
}

#[test]
fn a_failed_notice_is_not_repeated() {
    let mut pi = at_look();
    pi.host().failing.insert("notify", "no screen");
    assert_eq!(pi.command("workflow", "three"), Outcome::Done);
    pi.did(&["notify error: Unknown workflow: \"three\". Available: two, four", "notify error: Workflow: no screen"]);
}

#[test]
fn a_wait_and_an_end_are_given_to_a_program() {
    let mut host = Host::with_files(FILES);
    host.files.insert("global/settings.yaml".into(), "onEvent: [tell, x]\n".into());
    let mut pi = host.start();
    let given = |pi: &mut Pi| -> Vec<String> {
        let calls = std::mem::take(&mut pi.host().calls).into_iter();
        calls.filter(|call| call.starts_with("run-program")).collect()
    };
    pi.event(Event::SessionStart(SessionReason::Startup));
    let [named] = &given(&mut pi)[..] else { panic!() };
    assert!(named.ends_with(" [\"tell\", \"x\"] "), "the host learns what runs outside of the sandbox: {named}");
    pi.command("workflow", "two Fix it");
    pi.event(Event::AgentStart);
    pi.event(Event::AgentEnd(Some(StopReason::Aborted)));
    pi.event(Event::AgentSettled);
    let [paused] = &given(&mut pi)[..] else { panic!() };
    assert!(paused.starts_with("run-program paused [\"tell\", \"x\"] {\"time\":"), "{paused}");
    assert!(paused.contains("\"entry\":\"two:0\",\"type\":\"paused\"") && !paused.contains("Fix it"), "{paused}");
    assert_eq!(pi.host().blocked.as_deref(), Some("Workflow Two waits for you"));
    pi.command("workflow", ":resume");
    assert_eq!(pi.host().blocked, None);
    pi.step("next");
    pi.event(Event::TurnEnd(Vec::new()));
    pi.step("next");
    let [ended] = &given(&mut pi)[..] else { panic!() };
    assert!(ended.starts_with("run-program ended "), "{ended}");
}

#[test]
fn unreadable_files_are_reported() {
    let mut host = Host::with_files(FILES);
    host.failing.insert("read-file", "input/output error");
    let mut pi = host.start();
    pi.event(Event::SessionStart(SessionReason::Startup));
    pi.did(&[
        "notify error: Every tool call is refused: the user's limits are not known: ~/global/settings.yaml: cannot be read: input/output error. Correct the file, or use /workflow :limits off for this session.",
        "notify error: 3 workflows have errors: /workflow :check",
        "set-status workflow: limits not known",
    ]);
    pi.command("workflow", ":check");
    let calls = std::mem::take(&mut pi.host().calls);
    assert!(calls[0].contains("~/global/two/workflow.yaml: error: cannot be read: input/output error"), "{}", calls[0]);
}

// --- drawing and completing -------------------------------------------------------------------------

#[test]
fn calls_and_results_of_the_tool_are_drawn() {
    let mut pi = Host::default().start();
    assert_eq!(pi.draw_tool_call(r#"{"action":"next"}"#), "<tool-title bold>workflow_step <accent>next");
    let text = "✓ Advanced: Look → 🔨 Do\n\nMore.";
    let all = "<tool-output>✓ Advanced: Look → 🔨 Do\n<tool-output>\n<tool-output>More.";
    assert_eq!(pi.draw_tool_result(text, r#"{"to":"Do"}"#, true), all);
    assert_eq!(pi.draw_tool_result(text, r#"{"to":"DONE"}"#, false), format!("markdown: {text}"));
    assert_eq!(pi.draw_tool_result("", "{}", true), "");
}

#[test]
fn registered_messages_and_entries_are_drawn() {
    let mut pi = Host::default().start();
    for (custom_type, collapsed, expanded) in [
        (
            "workflow:context",
            "<accent>🔄 <dim>[Workflow Context injected]",
            "<accent>🔄 <dim>[Workflow Context injected]\n<dim>One\n<dim>✓ two",
        ),
        (
            "workflow:complete",
            "markdown: One\n✓ two\n\n/workflow :report shows what each phase did and took.",
            "markdown: One\n✓ two",
        ),
        ("workflow:countdown", "<accent>⏳ <dim>One\n✓ two", "<accent>⏳ <dim>One\n✓ two"),
        ("workflow:moved", "<dim>One", "<dim>One\n<dim>✓ two"),
        ("workflow:reminder", "<dim>One", "<dim>One\n<dim>✓ two"),
        ("workflow:status", "<text>One\n<success>✓ two", "<text>One\n<success>✓ two"),
        ("workflow:state", "nothing", "nothing"),
        ("", "nothing", "nothing"),
    ] {
        assert_eq!(pi.draw_message(custom_type, "One\n✓ two", false), collapsed);
        assert_eq!(pi.draw_message(custom_type, "One\n✓ two", true), expanded);
    }
    for custom_type in ["workflow:complete", "workflow:status"] {
        let message = pi.draw_message(custom_type, "One", false);
        assert_eq!(pi.draw_entry(custom_type, r#"{"content":"One","more":1}"#, false), message);
        for odd in ["", "{", "null", "7", "[]", r#""One""#, "{}", r#"{"content":7}"#] {
            assert_eq!(pi.draw_entry(custom_type, odd, true), "nothing", "{odd}");
        }
    }
    assert_eq!(pi.draw_entry("workflow:state", r#"{"content":"One"}"#, true), "nothing");
}

#[test]
fn the_argument_of_the_command_is_completed() {
    let mut pi = Host::with_files(FILES).start_session();
    for (prefix, proposals) in [("t", &[("two", "two", Some("Two: Look at all of it."))][..]), ("\u{0}", &[])] {
        let completions = pi.complete("workflow", prefix);
        let completions: Vec<_> =
            completions.iter().map(|it| (&*it.value, &*it.label, it.description.as_deref())).collect();
        assert_eq!(completions, proposals, "{prefix:?}");
    }
    pi.did(&[]);
}
