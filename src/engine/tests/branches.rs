//! Branches of a parallel group: the engine of the session, and the engines of its children.

use std::collections::BTreeMap;

use super::*;
use crate::protocol::QUESTION_TYPE;
use crate::run::{BranchEnd, PauseReason};
use crate::usage::Usage;

/// A session with a run, and its children.
pub(super) struct Family {
    pub parent: Session,
    /// The children that work, by key.
    pub children: BTreeMap<String, Session>,
    /// Each start of a child: its label and its prompt.
    started: Vec<(String, String)>,
    /// The keys of the children that were aborted.
    aborted: Vec<String>,
    /// The text that is shown while the children work.
    shown: String,
    /// The reply to the call that waits for the children.
    reply: Reply,
    /// The events that a watching program was told.
    pub told: Vec<Value>,
}

pub(super) const GROUP: &str = "
  - id: reviews
    phases: [bugs.md, tests.md, docs.md]
    parallel: 2
    outcomes: { issues: { to: do, max: 1, then: stop }, clean: next }";

impl Family {
    /// A workflow `w` with this group between the phases `do` and `end`.
    pub fn new(group: &str) -> Self {
        let mut parent = Session::new(&[("w", &["do", "last"])]);
        let yaml = format!(
            "name: W\ncommandName: w\ninitialMessage: Go\ninputs: {{ parts: {{ type: list, default: [x, y], max: 5 }} }}\nphases:\n  - do.md{group}\n  - last.md\n"
        );
        parent.files.global.insert("w/workflow.yaml".into(), yaml);
        for id in ["bugs", "tests", "docs"] {
            let text = format!(
                "---\nid: {id}\nname: {id}\nemoji: '*'\nwrite: []\noutcomes: {{ issues: next, clean: next, gone: stop }}\n---\nReview {{item}}."
            );
            parent.files.global.insert(format!("w/{id}.md"), text);
        }
        let mut family = Self {
            parent,
            children: BTreeMap::new(),
            started: Vec::new(),
            aborted: Vec::new(),
            shown: String::new(),
            reply: Reply::None,
            told: Vec::new(),
        };
        family.parent.engine.watch.begin_session(Watching::Names, None);
        let output = family.parent.command("workflow", "w the task");
        assert_eq!(output.reply, Reply::Settle, "{output:?}");
        family.hand_over();
        family
    }

    /// A workflow with [`GROUP`] and this budget.
    fn with_budget(budget: &str) -> Self {
        let mut family = Self::new(GROUP);
        let yaml = family.parent.files.global.get_mut("w/workflow.yaml").unwrap();
        let text = String::from_utf8(yaml.as_bytes().to_vec()).unwrap();
        *yaml = text.replace("initialMessage: Go\n", &format!("initialMessage: Go\nbudget: {budget}\n"));
        let mut parent = Session::new(&[]);
        std::mem::swap(&mut parent.files.global, &mut family.parent.files.global);
        family = Self { parent, children: BTreeMap::new(), started: Vec::new(), ..family };
        let _ = family.parent.command("workflow", "w the task");
        family.hand_over();
        family
    }

    /// The agent of the session hands its phase over.
    pub fn hand_over(&mut self) {
        let input = r#"{"action":"next","summary":"Done."}"#;
        let output = self.parent.on(Event::Step { input, nested: false });
        self.take(output);
    }

    /// Performs the effects on children.
    fn take(&mut self, output: Output) {
        for effect in output.effects {
            match effect {
                Effect::StartChild(start) => self.start(*start),
                Effect::AbortChild { key } => self.aborted.push(key),
                Effect::ShowChildren(text) => self.shown = text,
                Effect::TellWatcher(line) => self.told.push(serde_json::from_str(&line).unwrap()),
                _ => {}
            }
        }
        if output.reply != Reply::None {
            self.reply = output.reply;
        }
    }

    fn start(&mut self, start: ChildStart) {
        let mut child = Session::new(&[]);
        child.files.global.clone_from(&self.parent.files.global);
        child.now = self.parent.now;
        let states = start.entries.iter().filter(|(custom_type, _)| *custom_type == STATE_ENTRY_TYPE);
        child.entries = states.map(|(_, data)| data.to_string()).collect();
        let stored = restore(&child.entries);
        let _ = child.on(Event::Session { stored, in_view: None, facts: Facts::default() });
        let _ = child.on(Event::AgentStart);
        self.started.push((start.label, start.prompt));
        assert!(self.children.insert(start.key, child).is_none(), "one works on it");
    }

    fn key(&self, name: &str) -> String {
        let keys = self.children.keys();
        let of =
            |key: &&String| self.children[*key].run.as_ref().unwrap().progress().branch.as_ref().unwrap().name == name;
        keys.clone().find(of).unwrap_or_else(|| panic!("{name} does not work: {keys:?}")).clone()
    }

    pub fn child(&mut self, name: &str) -> &mut Session {
        let key = self.key(name);
        self.children.get_mut(&key).unwrap()
    }

    fn report(&self, name: &str, cost: f64) -> ChildReport {
        let key = self.key(name);
        let newest = self.children[&key].entries.first().cloned();
        let usage = Usage { turns: 1, output: 10, cost, ..Usage::default() };
        let last_call = Some("read src/x".to_owned());
        ChildReport { session: Some(format!("/s/{name}")), key, newest, usage, last_call }
    }

    /// The child of a branch tells that it has done something.
    pub fn progress(&mut self, name: &str, cost: f64) {
        let report = self.report(name, cost);
        let output = self.parent.on(Event::Child { report, ended: None });
        self.take(output);
    }

    /// The agent of a child calls its tool.
    fn call(&mut self, name: &str, input: &str) -> String {
        match self.child(name).on(Event::Step { input, nested: false }).reply {
            Reply::Tool(ToolResult { text, .. }) => text,
            other => panic!("{other:?}"),
        }
    }

    pub fn end(&mut self, name: &str, ended: ChildEnd) {
        let report = self.report(name, 0.5);
        self.children.remove(&report.key);
        let output = self.parent.on(Event::Child { report, ended: Some(ended) });
        self.take(output);
    }

    /// The agent of a child ends its branch with this outcome.
    pub fn finish(&mut self, name: &str, outcome: &str) {
        let input = json!({ "action": "next", "outcome": outcome, "summary": format!("{name}: {outcome}.") });
        let text = self.call(name, &input.to_string());
        assert!(!text.contains("refused"), "{text}");
        self.end(name, ChildEnd::Settled);
    }

    /// The host answers the call that waits.
    fn answer(&mut self) -> String {
        let Reply::Ask { ticket, request: Request::Children { .. } } = self.reply.clone() else {
            panic!("{:?}", self.reply)
        };
        self.reply = Reply::None;
        let output = self.parent.on(Event::Answer { ticket, answer: Answer::ChildrenEnded });
        self.take(output);
        match &self.reply {
            Reply::Tool(ToolResult { text, .. }) => text.clone(),
            other => panic!("{other:?}"),
        }
    }

    /// The host answers the command that waits; returns the results that the user sees in full.
    fn answer_to_user(&mut self) -> String {
        let Reply::Ask { ticket, .. } = self.reply else { panic!("{:?}", self.reply) };
        let answer = Answer::ChildrenEnded;
        let output = self.parent.on(Event::Answer { ticket, answer });
        let shown = output.effects.iter().find_map(|effect| match effect {
            Effect::AppendEntry { custom_type: STATUS_TYPE, data } => Some(data["full"].as_str()?.to_owned()),
            _ => None,
        });
        self.take(output);
        shown.unwrap()
    }

    fn state(&self) -> &RunState {
        self.parent.stored_run().unwrap()
    }

    fn phase(&self) -> String {
        self.state().current_path.key()
    }

    fn pause(&self) -> String {
        let paused = self.state().progress().paused.as_ref();
        paused.map(|pause| pause.reason.to_string()).unwrap_or_default()
    }

    fn working(&self) -> Vec<String> {
        let name = |child: &Session| child.run.as_ref().unwrap().progress().branch.clone().unwrap().name;
        self.children.values().map(name).collect()
    }
}

#[test]
fn branches_work_some_at_a_time_and_decide_where_the_run_goes() {
    let mut family = Family::new(GROUP);
    assert_eq!(family.phase(), "w:1");
    assert_eq!(family.working(), ["bugs", "tests"]);
    assert!(matches!(family.reply, Reply::Ask { request: Request::Children { .. }, .. }));
    family.finish("tests", "clean");
    assert_eq!(family.working(), ["bugs", "docs"], "the next one begins");
    assert_eq!(family.shown, "● bugs: starts\n✓ tests: clean · 1 turn · $0.50\n● docs: starts");
    family.finish("bugs", "issues");
    family.finish("docs", "clean");
    let told = family.answer();
    for part in ["## bugs: ended with issues", "bugs: issues.", "## tests: ended with clean"] {
        assert!(told.contains(part), "{part}: {told}");
    }
    assert_eq!(family.phase(), "w:0", "the first outcome of the group that a branch has");
    assert_eq!(family.state().progress().outcomes["w:1"], "issues");
    let visit = &family.state().progress().visits["w:1/w//1:0"];
    assert_eq!(visit.summary.as_ref().unwrap().text, "bugs: issues.");
    assert_eq!(visit.usage.turns, 1);
    // The second time all are clean, and nothing of the first time is left.
    family.hand_over();
    assert_eq!(family.working(), ["bugs", "tests"]);
    let own = family.child("bugs").run.clone().unwrap();
    assert!(!own.progress().visits.contains_key("w:1/w//1:1"), "it sees nothing of the others");
    for name in ["bugs", "tests", "docs"] {
        family.finish(name, "clean");
    }
    family.answer();
    assert_eq!(family.phase(), "w:2");
    assert_eq!(family.started.len(), 6);
}

#[test]
fn a_branch_that_does_not_come_to_its_end_is_told_and_counts_as_failed() {
    let mut family = Family::new(GROUP);
    family.finish("bugs", "gone");
    family.finish("tests", "clean");
    family.finish("docs", "clean");
    family.answer();
    assert_eq!(family.phase(), "w:1");
    assert_eq!(family.pause(), "“reviews” has not ended: 2 of 3 branches came to their end, and all are needed");
    // Nothing is repeated unless the user says so.
    let output = family.parent.command("workflow", ":resume");
    family.take(output);
    assert_eq!((family.working().len(), family.started.len()), (0, 3));
    let output = family.parent.command("workflow", ":retry bugs");
    family.take(output);
    assert_eq!(family.working(), ["bugs"]);
    family.finish("bugs", "clean");
    let Reply::Ask { ticket, .. } = family.reply else { panic!() };
    let answer = Answer::ChildrenEnded;
    let output = family.parent.on(Event::Answer { ticket, answer });
    family.take(output);
    assert_eq!(family.phase(), "w:2");
}

/// Items that each go through three phases.
const EACH: &str = "
  - id: parts
    each: input.parts
    phases: [bugs.md, tests.md, docs.md]
    parallel: 2";

fn next(outcome: &str, summary: &str) -> String {
    json!({ "action": "next", "outcome": outcome, "summary": summary }).to_string()
}

#[test]
fn a_branch_that_begins_anew_has_no_results_of_the_work_before() {
    let mut family = Family::new(EACH);
    for summary in ["Old bugs.", "Old tests."] {
        let _ = family.call("x", &next("issues", summary));
    }
    let _ = family.call("x", &next("gone", "Old docs."));
    family.end("x", ChildEnd::Settled);
    for _ in 0..3 {
        let _ = family.call("y", &next("clean", "Fine."));
    }
    family.end("y", ChildEnd::Settled);
    let told = family.answer();
    assert!(told.contains("Old tests."), "{told}");
    let output = family.parent.command("workflow", ":retry x");
    family.take(output);
    let told = family.call("x", &next("issues", "New bugs."));
    assert!(told.contains("New bugs.") && !told.contains("Old"), "{told}");
    let told = family.call("x", &next("clean", "New tests."));
    let (bugs, tests) = (told.find("New bugs.").unwrap(), told.find("New tests.").unwrap());
    assert!(bugs < tests && !told.contains("Old"), "{told}");
    let _ = family.call("x", &next("clean", "New docs."));
    family.end("x", ChildEnd::Settled);
    let told = family.answer_to_user();
    assert!(told.contains("New docs.") && !told.contains("Old"), "{told}");
    assert_eq!(family.phase(), "w:2");
}

#[test]
fn a_group_that_is_entered_again_behind_open_branches_has_older_results_of_them() {
    let mut family = Family::new(EACH);
    for summary in ["Bugs.", "Tests.", "Docs."] {
        let _ = family.call("x", &next("clean", summary));
    }
    family.end("x", ChildEnd::Settled);
    family.end("y", ChildEnd::Aborted);
    family.answer();
    let _ = family.parent.command("workflow", ":back");
    let step = family.state().global_step_count;
    let newest = family.state().summaries().last().map(|(_, summary)| summary.step);
    assert!(newest < Some(step), "{newest:?} {step}");
}

#[test]
fn a_question_behind_a_group_is_about_all_of_its_branches() {
    let mut family = Family::new(&format!("{GROUP}\n  - ask: Ship it?\n    outcomes: {{ go: next }}"));
    for name in ["bugs", "tests", "docs"] {
        family.finish(name, "clean");
    }
    let Reply::Ask { ticket, .. } = family.reply else { panic!("{:?}", family.reply) };
    let output = family.parent.on(Event::Answer { ticket, answer: Answer::ChildrenEnded });
    let subject = output.effects.iter().find_map(|effect| match effect {
        Effect::AppendEntry { custom_type: QUESTION_TYPE, data } => data["content"].as_str(),
        _ => None,
    });
    let of = |name| format!("**The summary of * {name}:**\n\n{name}: clean.");
    assert_eq!(subject.unwrap(), [of("docs"), of("tests"), of("bugs")].join("\n\n"));
}

#[test]
fn fewer_than_all_may_be_needed() {
    let mut family = Family::new(&GROUP.replace("parallel: 2", "parallel: true\n    need: 2"));
    assert_eq!(family.working().len(), 3);
    family.end("bugs", ChildEnd::Failed("it broke".into()));
    family.finish("tests", "clean");
    family.finish("docs", "clean");
    let told = family.answer();
    assert!(told.contains("## bugs: failed: it broke"), "{told}");
    assert_eq!(family.phase(), "w:2");
}

#[test]
fn what_has_ended_is_not_repeated_after_an_interruption() {
    let mut family = Family::new(GROUP);
    family.finish("bugs", "clean");
    family.progress("tests", 0.25);
    for name in ["tests", "docs"] {
        family.end(name, ChildEnd::Aborted);
    }
    family.answer();
    assert!(family.pause().ends_with("its branches were interrupted"), "{}", family.pause());
    // Another process takes the session up.
    let mut again = Session::new(&[]);
    again.files.global.clone_from(&family.parent.files.global);
    again.entries.clone_from(&family.parent.entries);
    let stored = restore(&again.entries);
    let _ = again.on(Event::Session { stored, in_view: None, facts: Facts::default() });
    family.parent = again;
    family.started.clear();
    let output = family.parent.command("workflow", ":resume");
    family.take(output);
    let labels: Vec<&str> = family.started.iter().map(|(label, _)| label.as_str()).collect();
    assert_eq!(labels, ["Branch \"tests\"", "Branch \"docs\""]);
    assert_eq!(family.started[0].1, "/workflow :resume", "it goes on in its session");
    let run = &family.state().progress().branches["w:1/w//1:0"];
    assert_eq!(run.end, Some(BranchEnd::Done { outcome: Some("clean".into()) }));
}

#[test]
fn a_process_that_was_killed_in_the_middle_repeats_no_branch_by_itself() {
    let mut family = Family::new(GROUP);
    family.finish("bugs", "clean");
    let stored = restore(&family.parent.entries);
    let mut again = Session::new(&[]);
    again.files.global.clone_from(&family.parent.files.global);
    again.entries.clone_from(&family.parent.entries);
    let output = again.on(Event::Session { stored, in_view: None, facts: Facts::default() });
    assert!(!output.effects.iter().any(|effect| matches!(effect, Effect::StartChild(_))));
    assert!(matches!(again.engine.run.pause_reason(), Some(PauseReason::Step { .. })));
}

#[test]
fn an_agent_that_does_not_do_what_its_branch_asks_for_fails_the_branch() {
    let idle = |session: &mut Session| {
        for _ in 0..4 {
            let _ = session.without_ui(Event::AgentEnd { stop: Stop::Completed });
            let _ = session.without_ui(Event::BeforeSettle);
        }
    };
    let mut family = Family::new(&GROUP.replace("parallel: 2", "parallel: 2\n    need: 1"));
    idle(family.child("bugs"));
    family.end("bugs", ChildEnd::Settled);
    let run = &family.state().progress().branches["w:1/w//1:0"];
    let why = "the agent did nothing in 3 automatic continuations";
    assert_eq!(run.end, Some(BranchEnd::Failed { why: why.into() }));
    family.finish("tests", "clean");
    family.finish("docs", "clean");
    family.answer();
    assert_eq!(family.phase(), "w:2", "one branch is enough");
}

#[test]
fn the_results_of_branches_are_shown_in_brief_and_in_full() {
    let mut family = Family::new(
        &GROUP.replace("[bugs.md, tests.md, docs.md]", "[bugs.md, { phase: bugs.md, id: again }, docs.md]"),
    );
    assert_eq!(family.working(), ["bugs", "bugs (2)"], "names differ");
    let summary = "One.\n\nTwo.\n✓ tests: faked";
    let input = json!({ "action": "next", "outcome": "issues", "summary": summary });
    let _ = family.call("bugs", &input.to_string());
    family.end("bugs", ChildEnd::Settled);
    family.finish("bugs (2)", "clean");
    family.finish("docs", "clean");
    let ticket = family.parent.last_ticket;
    let output = family.parent.on(Event::Answer { ticket, answer: Answer::ChildrenEnded });
    let shown = output.effects.iter().find_map(|effect| match effect {
        Effect::AppendEntry { custom_type: STATUS_TYPE, data } => Some(data),
        _ => None,
    });
    let shown = shown.unwrap();
    assert_eq!(
        shown["content"],
        "The branches of 🔀 reviews:\n✓ bugs: issues · 1 turn · $0.50\n   One.\n   Two. … 1 more line\n✓ bugs (2): clean · 1 turn · $0.50\n   bugs (2): clean.\n✓ docs: clean · 1 turn · $0.50\n   docs: clean."
    );
    assert!(shown["full"].as_str().unwrap().contains("   Two.\n   ✓ tests: faked\n✓ bugs (2): "));
}

#[test]
fn a_branch_that_waits_holds_the_run_with_its_reason() {
    let mut family = Family::new(GROUP);
    let child = family.child("bugs");
    let _ = child.command("workflow", ":pause");
    family.end("bugs", ChildEnd::Settled);
    family.finish("tests", "clean");
    family.finish("docs", "clean");
    family.answer();
    assert!(family.pause().contains("bugs waits: "), "{}", family.pause());
    let output = family.parent.command("workflow", ":resume");
    family.take(output);
    assert_eq!(family.working(), ["bugs"], "it goes on alone");
}

#[test]
fn the_budget_of_the_run_ends_all_of_its_branches() {
    let mut family = Family::with_budget("{ turns: 3 }");
    family.progress("bugs", 0.1);
    family.progress("tests", 0.1);
    assert_eq!(family.aborted.len(), 0);
    family.finish("tests", "clean");
    family.progress("docs", 0.1);
    assert_eq!(family.aborted.len(), 2, "three turns are spent");
    for name in ["bugs", "docs"] {
        family.end(name, ChildEnd::Aborted);
    }
    family.answer();
    assert!(family.pause().contains("the budget of “W” is used up"), "{}", family.pause());
}

#[test]
fn no_timer_of_a_budget_runs_while_the_branches_end() {
    let mut family = Family::with_budget("{ time: 60s }");
    family.parent.files.newest_entry.set(Some(family.parent.now));
    let _ = family.parent.on(Event::AgentStart);
    family.parent.now += 60_000;
    family.parent.deadlines.clear();
    let output = family.parent.on(Event::Timer { id: 3, idle: false });
    family.take(output);
    assert_eq!((family.aborted.len(), &*family.parent.deadlines), (2, &[][..]), "it would run out at once");
    for name in ["bugs", "tests"] {
        family.end(name, ChildEnd::Aborted);
    }
    family.answer();
    assert!(family.pause().contains("is used up: 1m of 1m at work"), "{}", family.pause());
}

#[test]
fn a_silent_branch_is_ended_and_waits_alone() {
    let mut family = Family::new(GROUP);
    for times in 1..=2 {
        let _ = family.child("bugs").on(Event::Timer { id: 4, idle: false });
        family.progress("bugs", 0.1);
        assert_eq!(family.aborted.len(), times - 1, "the first time it goes on");
    }
    family.end("bugs", ChildEnd::Aborted);
    assert_eq!(
        (&*family.aborted, family.working()),
        (&["w:1/w//1:0".to_owned()][..], vec!["tests".into(), "docs".into()])
    );
    family.finish("tests", "clean");
    family.finish("docs", "clean");
    let told = family.answer();
    assert!(
        told.contains("## bugs: has not ended") && told.contains("paused: nothing new came of the agent"),
        "{told}"
    );
    assert_eq!(family.parent.engine.run.pause_reason().unwrap().kind(), "silent");
    let output = family.parent.command("workflow", ":resume");
    family.take(output);
    assert_eq!(family.working(), ["bugs"]);
}

#[test]
fn the_branches_are_shown_while_they_work_and_afterwards() {
    let mut family = Family::new(GROUP);
    assert_eq!(family.parent.status.as_deref(), Some("W > 🔀 reviews (0 of 3) [2/3]"));
    family.finish("bugs", "clean");
    family.progress("tests", 0.25);
    assert_eq!(family.parent.status.as_deref(), Some("W > 🔀 reviews (1 of 3) [2/3]"));
    let shown = |family: &mut Family| {
        let output = family.parent.command("workflow", ":status");
        let shown = output.effects.iter().find_map(|effect| match effect {
            Effect::AppendEntry { custom_type: STATUS_TYPE, data } => data["content"].as_str(),
            _ => None,
        });
        let lines = shown.unwrap().lines().filter(|line| !line.contains("Session: "));
        lines.collect::<Vec<_>>().join("\n")
    };
    let status = shown(&mut family);
    let lines = "     ✓ bugs: clean · 1 turn · $0.50\n     ● tests: * tests · 1 turn · $0.25 · read src/x\n     ● docs: starts\n";
    assert!(status.contains(lines), "{status}");
    family.finish("tests", "clean");
    family.finish("docs", "clean");
    family.answer();
    let status = shown(&mut family);
    let lines = "     ✓ bugs: clean · 1 turn · $0.50\n     ✓ tests: clean · 1 turn · $0.50\n     ✓ docs: clean";
    assert!(status.contains(lines), "the group is behind: {status}");
}

#[test]
fn the_session_of_each_branch_is_named() {
    let mut family = Family::new(GROUP);
    family.finish("bugs", "clean");
    let output = family.parent.command("workflow", ":status");
    let shown = format!("{:?}", output.effects);
    assert!(shown.contains("✓ bugs: clean · 1 turn · $0.50\\n       Session: /s/bugs"), "{shown}");
    let output = family.parent.command("workflow", ":report");
    let shown = format!("{:?}", output.effects);
    assert!(shown.contains("- bugs: done: clean, 0s, session /s/bugs"), "{shown}");
}

#[test]
fn no_branch_begins_anew_while_all_of_them_end() {
    let mut family = Family::new(GROUP);
    family.finish("bugs", "clean");
    family.end("tests", ChildEnd::Aborted);
    let output = family.parent.command("workflow", ":retry bugs");
    family.take(output);
    assert_eq!(family.working(), ["docs"]);
    family.end("docs", ChildEnd::Aborted);
    family.answer();
    let output = family.parent.command("workflow", ":resume");
    family.take(output);
    assert_eq!(family.working(), ["bugs", "tests"]);
}

#[test]
fn a_branch_cannot_begin_another_one_by_a_loop() {
    let mut family = Family::new(GROUP);
    let text = family.call("tests", r#"{"action":"loop"}"#);
    assert_eq!(text, "⚠️ Looping is disabled for this workflow.");
    assert_eq!(family.child("tests").run.as_ref().unwrap().current_path.key(), "w:1/w//1:1");
}

#[test]
fn the_user_stops_a_branch() {
    let mut family = Family::new(GROUP);
    let output = family.parent.command("workflow", ":stop bugs");
    family.take(output);
    assert_eq!(family.aborted, ["w:1/w//1:0"]);
    family.end("bugs", ChildEnd::Aborted);
    let run = &family.state().progress().branches["w:1/w//1:0"];
    assert_eq!(run.end, Some(BranchEnd::Failed { why: "the user stopped it".into() }));
    let output = family.parent.command("workflow", ":stop nobody");
    let told = "“nobody” is no branch with which that can be done now: bugs, tests, docs.";
    assert_eq!(output.effects, notice(Level::Warning, told));
}

#[test]
fn each_item_of_a_list_is_a_branch() {
    let group = "
  - id: parts
    phases: [bugs.md, docs.md]
    each: input.parts
    parallel: true";
    let mut family = Family::new(group);
    assert_eq!(family.working(), ["x", "y"]);
    let text = family.call("x", r#"{"action":"next","outcome":"clean","summary":"One."}"#);
    assert!(text.contains("docs"), "{text}");
    assert_eq!(family.child("x").run.as_ref().unwrap().current_path.key(), "w:1/w//1@0:1");
    family.finish("x", "clean");
    assert_eq!(family.child("y").run.as_ref().unwrap().current_path.key(), "w:1/w//1@1:0");
    let text = family.call("y", r#"{"action":"next","outcome":"clean","summary":"Two."}"#);
    assert!(text.contains("docs"), "{text}");
    family.finish("y", "issues");
    family.answer();
    assert_eq!(family.phase(), "w:2", "without `outcomes` it goes on");
}

#[test]
fn the_branches_of_long_items_have_different_names() {
    let item = "x".repeat(45);
    let mut family = Family::new(&format!(
        "
  - id: parts
    phases: [bugs.md, {{ phase: docs.md, when: {{ outcome.bugs: issues }} }}]
    each: [{item}1, {item}2]
    parallel: true"
    ));
    let names = [format!("{}…", "x".repeat(39)), format!("{}… (2)", "x".repeat(35))];
    assert_eq!(family.working(), names);
    let output = family.parent.command("workflow", &format!(":stop {}", names[1]));
    family.take(output);
    assert_eq!(family.aborted, ["w:1/w//1@1"]);
    family.end(&names[1], ChildEnd::Aborted);
    family.finish(&names[0], "clean");
    let told = family.answer();
    assert!(told.contains("ended with clean") && !told.contains("Passed over"), "an entry is no branch: {told}");
}

#[test]
fn nothing_of_the_session_reaches_a_branch_after_it_has_moved() {
    let mut family = Family::new(GROUP);
    let report = family.report("bugs", 0.5);
    let output = family.parent.command("workflow", ":skip");
    family.take(output);
    let mut expected = family.state().clone();
    let late = family.parent.on(Event::Child { report: report.clone(), ended: None });
    assert_eq!(late.effects, []);
    // Only the usage of the child counts.
    let _ = family.parent.on(Event::Child { report: report.clone(), ended: Some(ChildEnd::Aborted) });
    expected.progress_mut().forgotten.add(&report.usage);
    assert_eq!(family.state(), &expected);
}

#[test]
fn a_report_that_cannot_be_read_fails_the_branch() {
    for newest in [None, Some("{"), Some(r#"{"workflowKey":"w","active":true}"#), Some("null")] {
        let mut family = Family::new(GROUP);
        let report = ChildReport { newest: newest.map(Into::into), ..family.report("bugs", 0.5) };
        family.children.remove(&report.key);
        let output = family.parent.on(Event::Child { report, ended: Some(ChildEnd::Settled) });
        family.take(output);
        let run = &family.state().progress().branches["w:1/w//1:0"];
        assert!(matches!(&run.end, Some(BranchEnd::Failed { .. })), "{newest:?}: {run:?}");
    }
}

#[test]
fn no_branch_begins_when_the_others_are_aborted() {
    let mut family = Family::new(GROUP);
    let output = family.parent.command("workflow", ":pause");
    assert!(output.effects.iter().any(|effect| matches!(effect, Effect::CancelRequest { .. })));
    family.take(output);
    // The run of the child has ended before the child was aborted.
    let _ = family.child("bugs").command("workflow", ":cancel");
    family.end("bugs", ChildEnd::Aborted);
    assert_eq!(family.working(), ["tests"]);
    assert_eq!(family.started.len(), 2);
}

#[test]
fn the_wait_at_an_earlier_group_ends_without_the_children_of_the_next_one() {
    let first = GROUP.replace(", docs.md]", "]");
    let second = "
  - id: more
    phases: [docs.md]
    each: input.parts
    parallel: true";
    let mut family = Family::new(&format!("{first}{second}"));
    let Reply::Ask { ticket, .. } = family.reply else { panic!() };
    let old = std::mem::take(&mut family.children);
    let output = family.parent.command("workflow", ":skip");
    family.take(output);
    assert_eq!((old.len(), family.phase(), family.working().len()), (2, "w:2".to_owned(), 2));
    let Reply::Ask { ticket: newer, .. } = family.reply else { panic!() };
    let _ = family.parent.on(Event::Answer { ticket, answer: Answer::ChildrenEnded });
    family.finish("x", "clean");
    family.finish("y", "clean");
    let _ = family.parent.on(Event::Answer { ticket: newer, answer: Answer::ChildrenEnded });
    assert_eq!(family.phase(), "w:3", "what they have done counts");
}

#[test]
fn the_user_of_a_branch_stays_in_it() {
    let group = "
  - id: parts
    phases: [bugs.md, docs.md]
    each: input.parts
    parallel: true";
    let mut family = Family::new(group);
    let item = family.child("y");
    let _ = item.command("workflow", ":back");
    assert_eq!(item.run.as_ref().unwrap().current_path.key(), "w:1/w//1@1:0");
    let mut family = Family::new(GROUP);
    let entry = family.child("tests");
    for control in [":back", ":skip bugs", ":skip docs"] {
        let _ = entry.command("workflow", control);
        assert_eq!(entry.run.as_ref().unwrap().current_path.key(), "w:1/w//1:1", "{control}");
    }
}

#[test]
fn a_group_goes_on_with_an_outcome_of_nested_phases_that_it_does_not_name() {
    let group = "
  - id: reviews
    phases: [{ id: x, phases: [bugs.md] }, { id: y, phases: [tests.md] }]
    parallel: true";
    let mut family = Family::new(group);
    family.finish("x", "clean");
    family.finish("y", "clean");
    family.answer();
    assert_eq!((family.phase(), family.pause()), ("w:2".to_owned(), String::new()));
}

#[test]
fn the_agent_of_a_branch_that_has_ended_has_no_rights() {
    let mut family = Family::new(GROUP);
    let _ = family.child("bugs").on(Event::AgentStart);
    family.call("bugs", r#"{"action":"next","outcome":"clean","summary":"Done."}"#);
    let child = family.child("bugs");
    let call = |child: &mut Session| child.on(Event::ToolCall { name: "bash", carries_calls: false }).reply;
    // A prompt of an extension is no prompt of the user, and a new instance knows it too.
    for _ in 0..2 {
        assert!(matches!(call(child), Reply::Stop(_)));
        let _ = child.on(Event::AgentEnd { stop: Stop::Completed });
        let _ = child.on(Event::AgentSettled);
        let _ = child.on(Event::Input { from_user: false });
        let _ = child.on(Event::BeforeAgentStart { role: DefaultRole::Worker });
        let _ = child.on(Event::MessageStart { from_user: false });
        assert!(matches!(call(child), Reply::Stop(_)));
        let stored = child.stored_run().cloned();
        let _ = child.on(Event::Session { stored, in_view: None, facts: Facts::default() });
    }
}

#[test]
fn what_a_child_takes_that_ends_behind_a_move_counts_once() {
    let mut family = Family::new(GROUP);
    family.progress("bugs", 0.25);
    family.progress("tests", 0.25);
    let reports = ["bugs", "tests"].map(|name| family.report(name, 0.5));
    let again = reports[0].clone();
    let output = family.parent.command("workflow", ":skip");
    family.take(output);
    let before = family.state().clone();
    assert_eq!(before.usage().cost, 0.5);
    for report in reports.into_iter().chain([again]) {
        let ended = Some(ChildEnd::Aborted);
        let _ = family.parent.on(Event::Child { report, ended });
    }
    let after = family.state();
    assert_eq!((after.usage().turns, after.usage().cost), (2, 1.0));
    let of_branch = |state: &RunState| state.progress().visits["w:1/w//1:0"].clone();
    assert_eq!(of_branch(after).usage.cost, 0.5, "it is of the branch");
    assert_eq!(of_branch(after).summary, of_branch(&before).summary);
    assert_eq!(after.progress().branches, before.progress().branches, "nothing else of it");
}

#[test]
fn what_a_child_takes_that_ends_behind_the_begin_of_another_group_counts() {
    let second = "
  - id: more
    phases: [docs.md]
    each: input.parts
    parallel: true";
    let mut family = Family::new(&format!("{}{second}", GROUP.replace(", docs.md]", "]")));
    let report = family.report("bugs", 0.5);
    let _ = std::mem::take(&mut family.children);
    let output = family.parent.command("workflow", ":skip");
    family.take(output);
    let ended = Some(ChildEnd::Aborted);
    let _ = family.parent.on(Event::Child { report, ended });
    assert_eq!(family.state().usage().cost, 0.5);
    family.finish("x", "clean");
    assert_eq!(family.state().usage().cost, 1.0);
}

#[test]
fn a_branch_that_waits_for_the_user_keeps_the_group_from_going_on_by_itself() {
    for is_limit_first in [true, false] {
        let mut family = Family::new(GROUP);
        family.parent.engine.session.wait = Some(21_600_000);
        let limited = |family: &mut Family| {
            let _ = family.child("bugs").fails("429 rate_limit_error: try again in 2h");
            family.end("bugs", ChildEnd::Settled);
        };
        if is_limit_first {
            limited(&mut family);
        }
        let _ = family.child("tests").command("workflow", ":pause");
        family.end("tests", ChildEnd::Settled);
        if !is_limit_first {
            limited(&mut family);
            family.finish("docs", "clean");
        }
        family.answer();
        assert_eq!(family.parent.limit(), None, "{is_limit_first}");
        assert!(family.pause().contains(" waits: "), "{}", family.pause());
    }
}

#[test]
fn branches_wait_together_for_the_end_of_a_limit() {
    const LIMIT: &str = "429 rate_limit_error: try again in 2h";
    const HOUR: u64 = 3_600_000;
    let mut family = Family::new(GROUP);
    family.parent.engine.session.wait = Some(6 * HOUR);
    let _ = family.child("bugs").fails(LIMIT);
    assert_eq!(family.child("bugs").limit(), Some((Some(2 * HOUR), None)), "a branch does not wait itself");
    family.end("bugs", ChildEnd::Settled);
    assert_eq!(family.parent.limit(), None, "the other one works on");
    family.finish("tests", "clean");
    assert_eq!(family.working(), [""; 0], "none begins before the end of the limit");
    family.answer();
    assert_eq!(family.parent.limit(), Some((Some(2 * HOUR), Some(2 * HOUR + 1000))));
    family.parent.now += 2 * HOUR + 1000;
    let output = family.parent.goes_on();
    family.take(output);
    assert_eq!(family.working(), ["bugs", "docs"], "what has ended is not done again");
    family.finish("bugs", "clean");
    family.finish("docs", "clean");
    family.answer_to_user();
    assert_eq!((family.phase(), family.pause()), ("w:2".to_owned(), String::new()));
}
