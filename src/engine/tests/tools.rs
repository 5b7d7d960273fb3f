//! The tools that the model is shown.

use super::*;
use crate::definition::fixtures::{phase, workflow};
use crate::definition::{Entry, Library, Phase, ToolPolicy};

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

fn only(tools: &[&str]) -> Phase {
    Phase { tools: ToolPolicy::Only(names(tools)), ..phase("a") }
}

/// A session of pi with its default tools, and a workflow of the phase `first`, and of `b` without rules.
fn with(first: Phase) -> Session {
    let mut session = Session::new(&[("w", &["a", "b"])]);
    let mut root = workflow("w", &["a", "b"]);
    root.phases[0] = Entry::phase(first);
    session.engine.run.set_library(Library::new(vec![root], &mut Vec::new()));
    session.files.tools = vec!["read", "bash", "edit", "write", "grep", "find", "ls", "deploy", "workflow_step"];
    session.show(&["read", "bash", "edit", "write", "workflow_step"]);
    session
}

impl Session {
    fn show(&mut self, tools: &[&str]) {
        *self.files.active_tools.borrow_mut() = Some(names(tools));
    }

    fn shown(&self) -> Vec<String> {
        self.files.active_tools.borrow().clone().unwrap()
    }

    /// Performs the effects as pi does, and returns the tools if they were set.
    fn set_by(&mut self, effects: Vec<Effect>) -> Option<Vec<String>> {
        let set = effects.into_iter().find_map(|effect| match effect {
            Effect::SetActiveTools(tools) => Some(tools),
            _ => None,
        })?;
        *self.files.active_tools.borrow_mut() = Some(set.clone());
        Some(set)
    }

    fn start(&mut self) -> Option<Vec<String>> {
        let effects = self.command("workflow", "w x").effects;
        let _ = self.on(Event::AgentStart);
        self.set_by(effects)
    }

    fn advance(&mut self) -> Option<Vec<String>> {
        let (effects, _) = self.step_output("next");
        self.set_by(effects)
    }
}

#[test]
fn a_phase_shows_what_its_whitelist_names_and_gives_it_back() {
    let mut session = with(only(&["read", "grep", "ls", "unknown"]));
    let all = ["read", "bash", "edit", "write", "workflow_step", "grep", "ls"];
    assert_eq!(session.start(), Some(names(&all)));
    assert_eq!(session.advance(), Some(names(&["read", "bash", "edit", "write", "workflow_step"])));
    assert_eq!(session.advance(), None);
}

#[test]
fn a_pattern_of_a_whitelist_shows_all_tools_that_begin_so() {
    let mut session = with(only(&["git__*", "none_*", "l*"]));
    session.files.tools.extend(["git__log", "git__show", "gitea"]);
    let all = ["read", "bash", "edit", "write", "workflow_step", "git__log", "git__show", "ls"];
    assert_eq!(session.start(), Some(names(&all)));
    for (tool, allowed) in [("git__log", true), ("git__later", true), ("ls", true), ("gitea", false), ("grep", false)] {
        let reply = session.on(Event::ToolCall { name: tool, carries_calls: false }).reply;
        assert_eq!(matches!(reply, Reply::Block(_)), !allowed, "{tool}: {reply:?}");
    }
    assert_eq!(session.advance(), Some(names(&["read", "bash", "edit", "write", "workflow_step"])));
}

#[test]
fn the_step_tool_is_shown_wherever_a_run_goes_on_and_given_back() {
    let mut session = with(phase("a"));
    session.show(&["read", "bash"]);
    assert_eq!(session.start(), Some(names(&["read", "bash", "workflow_step"])));
    for set in [&["read"][..], &[]] {
        session.show(set);
        let effects = session.on(Event::BeforeAgentStart { role: DefaultRole::Worker }).effects;
        assert_eq!(session.set_by(effects), Some(names(&[set, &["workflow_step"]].concat())));
        session.show(set);
        let _ = session.on(Event::AgentEnd { stop: Stop::Completed });
        let effects = session.without_ui(Event::BeforeSettle).effects;
        assert_eq!(session.set_by(effects), Some(names(&[set, &["workflow_step"]].concat())));
    }
    session.show(&["grep"]);
    assert_eq!(session.advance(), Some(names(&["grep", "workflow_step"])));
    assert_eq!(session.advance(), Some(names(&["grep"])), "the run is done");
    let effects = session.on(Event::BeforeAgentStart { role: DefaultRole::Worker }).effects;
    assert_eq!(session.set_by(effects), None);
}

#[test]
fn without_the_step_tool_no_run_starts_or_goes_on() {
    let mut session = with(phase("a"));
    session.files.tools = vec!["read", "bash"];
    session.show(&["read", "bash"]);
    let output = session.command("workflow", "w x");
    let told = |effects: &[Effect]| format!("{effects:?}").contains("name workflow_step in `--tools`");
    assert!(told(&output.effects), "{:?}", output.effects);
    assert!(session.run.is_none());

    // A session that was stored goes on with other options.
    let mut session = with(phase("a"));
    let _ = session.start();
    session.files.tools = vec!["read", "bash"];
    session.show(&["read", "bash"]);
    for is_told in [true, false] {
        let effects = session.on(Event::BeforeAgentStart { role: DefaultRole::Worker }).effects;
        assert_eq!(told(&effects), is_told, "{effects:?}");
        let _ = session.on(Event::AgentEnd { stop: Stop::Completed });
        assert_eq!(session.without_ui(Event::BeforeSettle).reply, Reply::None);
    }
}

#[test]
fn changes_of_others_meanwhile_stay() {
    let mut session = with(only(&["read", "grep"]));
    let _ = session.start();
    session.show(&["read", "edit", "workflow_step", "grep", "find"]);
    assert_eq!(session.advance(), Some(names(&["read", "edit", "workflow_step", "find"])));
}

#[test]
fn a_tool_that_the_user_shows_already_is_not_taken_back() {
    let mut session = with(only(&["read", "grep"]));
    session.show(&["read", "grep", "workflow_step"]);
    assert_eq!(session.start(), None);
    assert_eq!(session.advance(), None);
}

#[test]
fn the_end_of_the_run_gives_back_the_tools() {
    for end in ["next", "cancel"] {
        let mut session = with(only(&["read", "grep"]));
        let before = session.shown();
        assert_eq!(session.start(), Some(names(&["read", "bash", "edit", "write", "workflow_step", "grep"])));
        let effects = match end {
            "next" => session.step_output("next").0,
            _ => session.without_ui(Event::Command { name: "cancel-workflow", arguments: "" }).effects,
        };
        let mut back = session.set_by(effects).unwrap();
        back.sort();
        let mut expected = before.clone();
        expected.sort();
        assert_eq!(back, expected, "{end}");
    }
}

#[test]
fn phases_without_lists_and_hosts_that_do_not_tell_change_nothing() {
    let mut session = with(phase("a"));
    assert_eq!((session.start(), session.advance()), (None, None));
    let mut session = with(only(&["grep"]));
    *session.files.active_tools.borrow_mut() = None;
    assert_eq!((session.start(), session.advance()), (None, None));
}

#[test]
fn the_changes_survive_a_restart() {
    let mut session = with(only(&["read", "grep"]));
    let effects = session.command("workflow", "w x").effects;
    let stored = effects.iter().find_map(|effect| match effect {
        Effect::AppendEntry { data, .. } => Some(data.to_string()),
        _ => None,
    });
    let _ = session.set_by(effects);
    let state = crate::run::restore(stored);
    let engine = std::mem::take(&mut session.engine);
    let facts = Facts { at_work: true, ..Facts::default() };
    let _ = session.on(Event::Session { stored: None, in_view: None, facts });
    session.engine.run.set_library(engine.run.library().clone());
    with_cx(|cx| session.engine.restore_run(state, crate::run::Mark::default(), cx)).unwrap();
    assert_eq!(session.advance(), Some(names(&["read", "bash", "edit", "write", "workflow_step"])));
}
