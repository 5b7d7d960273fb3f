//! A run without pi and without a model: the texts that an agent gets which does each phase and goes on.

use serde_json::Value;

use crate::definition::WorkflowFiles;
use crate::protocol::{COMPLETE_TYPE, WORKFLOW_COMMAND};
use crate::text::{DefaultRole, sample_evidence};

use super::context::{Context, Cx, Ui};
use super::effect::{Effect, Level, Reply};
use super::event::{Event, Facts, Stop};
use super::state::{Caller, Engine};

/// Maximum number of steps that are played.
const MAX_STEPS: usize = 500;
/// 2026-01-01T00:00:00Z.
const START_MS: u64 = 1_767_225_600_000;

/// Plays `/workflow NAME TASK` and `next` up to the end, and returns what the agent and the user are told.
///
/// # Errors
///
/// The notice to the user if the workflow cannot be started.
pub fn run_through(files: &dyn WorkflowFiles, name: &str, task: &str) -> Result<String, String> {
    let context = Context { unix_ms: START_MS, random: 0, ui: Ui::None, files };
    let mut play = Play { engine: Engine::default(), context, script: Vec::new() };
    let facts = Facts::default();
    play.effects(Event::Session { stored: None, in_view: None, facts });
    let arguments = format!("{name} {task}");
    for effect in play.effects(Event::Command { name: WORKFLOW_COMMAND, arguments: &arguments }) {
        match effect {
            Effect::Notify { level: Level::Error, text } => return Err(text),
            Effect::SendUserMessage(text) => play.write("The prompt that starts the agent", &text),
            _ => {}
        }
    }
    let role = DefaultRole::default();
    let start = Event::BeforeAgentStart { role };
    if let Reply::Inject { content, .. } = play.engine.handle(start, &play.context).reply {
        play.write("Step 1: what the agent is told", &content);
    }
    for effect in play.effects(Event::AgentStart) {
        if let Effect::BeginView(summary) = effect {
            play.write("Step 1 starts fresh: of the session it sees only this", &summary.text);
        }
    }
    for step in 2..=MAX_STEPS {
        let answer = play.next();
        if !play.engine.is_running() {
            play.write("It calls workflow_step with next, and is told", &answer);
            return Ok(play.end());
        }
        play.write(&format!("Step {step}: it calls workflow_step with next, and is told"), &answer);
        let turn_end = play.engine.handle(Event::TurnEnd, &play.context).reply;
        if let Reply::Compact { summary, prompt: Some(prompt) } = turn_end {
            let title = format!("Step {step} starts fresh: of the session it sees only this");
            play.write(&title, &format!("{}\n\n{prompt}", summary.text));
        }
    }
    play.write("Not all of it is played", &format!("There are more than {MAX_STEPS} steps."));
    Ok(play.script.join("\n\n"))
}

struct Play<'a> {
    engine: Engine,
    context: Context<'a>,
    script: Vec<String>,
}

impl Play<'_> {
    fn write(&mut self, title: &str, text: &str) {
        self.script.push(format!("━━ {title} ━━\n\n{}", text.trim_end()));
    }

    fn effects(&mut self, event: Event) -> Vec<Effect> {
        self.engine.handle(event, &self.context).effects
    }

    /// The result of `next`, as if every gate were passed.
    fn next(&mut self) -> String {
        self.context.unix_ms += 1;
        let caller = Caller { summary: Some("(what the agent hands over)".into()), nested: false };
        let active = self.engine.active();
        let evidence = active.map(|active| sample_evidence(&active)).unwrap_or_default();
        let mut cx = Cx::new(&self.context);
        match self.engine.advance_by_agent(&caller, evidence, &mut cx) {
            Reply::Tool(result) => result.text,
            _ => String::new(),
        }
    }

    fn end(mut self) -> String {
        for effect in self.effects(Event::AgentEnd { stop: Stop::Completed }) {
            if let Effect::AppendEntry { custom_type: COMPLETE_TYPE, data } = effect {
                let text = data.get("content").and_then(Value::as_str);
                self.write("What the user is shown at the end", text.unwrap_or_default());
            }
        }
        self.script.join("\n\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definition::fixtures::Files;

    fn files() -> Files {
        let mut files = Files::default();
        for (path, text) in [
            (
                "w/workflow.yaml",
                "name: W\ncommandName: w\ninitialMessage: 'Go: {description}'\nphases: [a.md, {subworkflow: s}]\n",
            ),
            ("w/a.md", "---\nid: a\nname: A\nemoji: '*'\n---\nDo a.\n"),
            ("s/workflow.yaml", "name: S\nshow: workflows\nphases: [b.md]\n"),
            ("s/b.md", "---\nid: b\nname: B\nemoji: '*'\n---\nDo b for {description}.\n"),
        ] {
            files.global.insert(path.into(), text.into());
        }
        files
    }

    #[test]
    fn gates_are_passed_with_evidence() {
        let mut files = files();
        let gate = "gate:\n  - run: npm test\n  - file: docs/*.md\n  - approve: Ship it?\n";
        let a = files.global.get_mut("w/a.md").unwrap();
        *a = a.replace("emoji", &format!("{gate}emoji"));
        let s = files.global.get_mut("s/workflow.yaml").unwrap();
        s.push_str("gate: [{run: make, label: the build}]\n");
        let lines = "- * A: ✓ npm test: exit status 0, 1s
- * A: ✓ docs/*.md: it holds
- * A: ✓ Ship it?: you said yes
- * B: ✓ the build: exit status 0, 1s";
        let script = run_through(&files, "w", "the task").unwrap();
        assert!(script.ends_with(&format!("\n\n**Gates:**\n{lines}")), "{script}");
        let w = files.global.get_mut("w/workflow.yaml").unwrap();
        w.push_str("completionMessage: \"All of it:\\n{evidence}\"\n");
        let script = run_through(&files, "w", "the task").unwrap();
        assert!(script.ends_with(&format!("\n\nAll of it:\n{lines}")), "{script}");
    }

    #[test]
    fn a_fresh_phase_is_told_everything_again() {
        let mut files = files();
        files.global.get_mut("w/workflow.yaml").unwrap().push_str("context: fresh\n");
        let script = run_through(&files, "w", "the task").unwrap();
        let (before, fresh) = script.split_once("━━ Step 2 starts fresh: ").unwrap();
        assert!(!before.contains("Do b for the task."));
        assert!(
            fresh.contains("starts with a fresh context") && fresh.contains("Do b for the task.")
        );
        assert!(fresh.contains("(what the agent hands over)") && !fresh.contains("Do a."));
    }

    #[test]
    fn every_phase_is_played() {
        let script = run_through(&files(), "w", "the task").unwrap();
        let titles: Vec<&str> = script.lines().filter(|line| line.starts_with("━━")).collect();
        assert_eq!(
            titles,
            [
                "━━ The prompt that starts the agent ━━",
                "━━ Step 1: what the agent is told ━━",
                "━━ Step 2: it calls workflow_step with next, and is told ━━",
                "━━ It calls workflow_step with next, and is told ━━",
                "━━ What the user is shown at the end ━━",
            ]
        );
        assert!(script.contains("Go: the task") && script.contains("Do b for the task."));
        let refused = run_through(&files(), "x", "the task").unwrap_err();
        assert!(refused.starts_with("Unknown workflow: \"x\""), "{refused}");
    }
}
