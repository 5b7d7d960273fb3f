//! The work whose instructions `instructions.mjs` counts: the closure that the given case passes to `measured`.
#![allow(clippy::panic)]

#[path = "../../tests/support/one_level.rs"]
mod one_level;

use std::collections::BTreeMap;
use std::hint::black_box;

use pi_workflows::definition::Library;
use pi_workflows::engine::{Context, Engine, Event, Facts, Ui};
use pi_workflows::run::{Active, RunState, advance, enter, restore};
use pi_workflows::text::{DefaultRole, context_prompt};

use one_level::Files;

/// The number of workflows.
const WORKFLOWS: usize = 100;
/// The number of phases of each workflow.
const PHASES: usize = 4;
/// The number of workflows that nest the next one.
const NESTED: usize = 5;

fn files() -> Files {
    let workflow = |number: usize| {
        let nested = (number + 1 < NESTED).then(|| format!("  - subworkflow: w{}\n", number + 1));
        let mut yaml = format!(
            "name: Workflow {number}\ncommandName: w{number}\ndescription: One of many\ninitialMessage: \"Begin: {{description}}\"\nphases:\n"
        );
        yaml.extend(nested);
        let mut files = BTreeMap::new();
        for phase in 1..=PHASES {
            yaml.push_str(&format!("  - phase-{phase}.md\n"));
            files.insert(format!("phase-{phase}.md"), phase_file(phase).into_bytes());
        }
        files.insert("workflow.yaml".to_owned(), yaml.into_bytes());
        (format!("w{number}"), files)
    };
    Files((0..WORKFLOWS).map(workflow).collect())
}

fn phase_file(phase: usize) -> String {
    let body = "Read what is there before you change it, and say in a line what you found. ".repeat(20);
    format!(
        "---\nid: phase-{phase}\nname: Phase {phase}\nemoji: \"🔹\"\ntools:\n  blacklist: [edit, write]\n---\n\n# Phase {phase}\n\nWork on: {{description}}\n\n{body}\n"
    )
}

/// Runs the work whose instructions are counted.
#[inline(never)]
fn measured<T>(work: impl FnOnce() -> T) {
    black_box(work());
}

fn main() {
    let case = std::env::args().nth(1).unwrap_or_default();
    let files = files();
    let library = Library::load(&files).map(|(library, _)| library).unwrap_or_default();
    let state = enter(&RunState::new("w0", "a task", 0, 0), &library);
    let event = match case.as_str() {
        "parse" => return measured(|| Library::load(&files)),
        "resolve" => return measured(|| Active::resolve(&state, &library).is_some()),
        "advance" => return measured(|| advance(&state, &library)),
        "prompt" => {
            let Some(active) = Active::resolve(&state, &library) else { return };
            return measured(|| context_prompt(&active, DefaultRole::Worker));
        }
        "restore" => {
            let data = serde_json::to_string(&state).unwrap_or_default();
            return measured(|| restore([data]));
        }
        "tool_call" => Event::ToolCall { name: "bash", carries_calls: false },
        "before_agent_start" => Event::BeforeAgentStart { role: DefaultRole::Worker },
        _ => panic!("no such case: {case}"),
    };
    let mut engine = Engine::default();
    let context = Context { unix_ms: 0, random: 0, ui: Ui::None, host: &files };
    let session = Event::Session { stored: Some(state), in_view: None, facts: Facts::default() };
    let _ = engine.handle(session, &context);
    measured(|| engine.handle(event, &context));
}
