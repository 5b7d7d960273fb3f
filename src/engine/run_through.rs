//! A run without a model: what an agent would be told that does each phase and goes on.

use crate::definition::WorkflowFiles;
use crate::text::{DefaultRole, sample_evidence};

use super::step_tool::Caller;
use super::{COMPLETE_TYPE, Effect, Engine, Event, Facts, Level, Moment, Reply};

/// How many steps are played at most.
const MAX_STEPS: usize = 500;

/// Plays `/workflow NAME TASK` and `next` up to the end, and writes down what the agent and the user
/// are told.
///
/// # Errors
///
/// What the user is told where the workflow cannot be started.
pub fn run_through(files: &dyn WorkflowFiles, name: &str, task: &str) -> Result<String, String> {
    let mut play = Play { engine: Engine::default(), files, script: Vec::new() };
    let facts = Facts::default();
    let _ = play.engine.handle(Event::Session { stored: None, in_view: None, facts }, AT, files);
    let arguments = format!("{name} {task}");
    let start = Event::Command { name: "workflow", arguments: &arguments, has_ui: false };
    let output = play.engine.handle(start, AT, files);
    let refused = output.effects.iter().find_map(|effect| match effect {
        Effect::Notify { level: Level::Error, text } => Some(text.clone()),
        _ => None,
    });
    if let Some(refused) = refused {
        return Err(refused);
    }
    for effect in output.effects {
        if let Effect::SendUserMessage(text) = effect {
            play.write("The prompt that starts the agent", &text);
        }
    }
    let role = DefaultRole::default();
    if let Reply::Inject { content, .. } = play.reply(Event::BeforeAgentStart { role }) {
        play.write("Step 1: what the agent is told", &content);
    }
    for step in 2..=MAX_STEPS {
        let answer = play.next(step);
        if !play.engine.is_running() {
            play.write("It calls workflow_step with next, and is told", &answer);
            return Ok(play.end());
        }
        play.write(&format!("Step {step}: it calls workflow_step with next, and is told"), &answer);
    }
    play.write("Not all of it is played", &format!("There are more than {MAX_STEPS} steps."));
    Ok(play.script.join("\n\n"))
}

/// A moment like any other: 2026-01-01T00:00:00Z.
const AT: Moment = Moment { unix_ms: 1_767_225_600_000, random: 0 };

struct Play<'a> {
    engine: Engine,
    files: &'a dyn WorkflowFiles,
    script: Vec<String>,
}

impl Play<'_> {
    fn write(&mut self, title: &str, text: &str) {
        self.script.push(format!("━━ {title} ━━\n\n{}", text.trim_end()));
    }

    fn reply(&mut self, event: Event) -> Reply {
        self.engine.handle(event, AT, self.files).reply
    }

    /// The answer to `next`, as if every gate were passed.
    fn next(&mut self, step: usize) -> String {
        let summary = Some("(what the agent hands over)".to_owned());
        let caller = Caller { summary, nested: false };
        let active = self.engine.active();
        let evidence = active.map(|active| sample_evidence(&active)).unwrap_or_default();
        let at = Moment { unix_ms: AT.unix_ms + step as u64, ..AT };
        match self.engine.advance_by_agent(&caller, evidence, at).reply {
            Reply::Tool(result) => result.text,
            _ => String::new(),
        }
    }

    fn end(mut self) -> String {
        let stop = super::Stop::Completed;
        let effects = self.engine.handle(Event::AgentEnd { stop }, AT, self.files).effects;
        for effect in effects {
            if let Effect::AppendEntry { custom_type: COMPLETE_TYPE, data } = effect {
                let text = data.get("content").and_then(serde_json::Value::as_str);
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
