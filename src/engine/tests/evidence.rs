//! Evidence that is still true: the files in which a check has passed, the changes since, and checks that are made
//! again.

use std::collections::VecDeque;

use super::*;
use crate::run::{Changed, CheckedFiles, ProjectState};

/// A session whose project has files that change.
struct Project {
    session: Session,
    /// The name of the state of the project's files; `None` if the host cannot tell it.
    tree: Option<&'static str>,
    /// The commands that ran; each ends with `status`, or fails in the state `broken`.
    commands: Vec<String>,
    status: u32,
    /// The values of their variables.
    values: Vec<String>,
    /// The state of the files after each command to come, which changes while the command runs; after further commands
    /// the state is as before.
    while_running: VecDeque<Option<&'static str>>,
    /// The numbers of earlier states that the host was asked about.
    asked: Vec<usize>,
}

const RECHECKED: &str = "gate: [{run: make test, label: the tests, recheck: true}]\n";
const ONCE: &str = "gate: [{run: make test, label: the tests}]\n";

impl Project {
    /// A run of `flat` (a, b), whose phases have these lines in their front matter.
    fn flat(gates: &[(&str, &str)]) -> Self {
        Self::of(&[("flat", &["a", "b"])], gates, "flat x", |_| {})
    }

    fn of(
        workflows: &[(&str, &[&str])],
        front_matter: &[(&str, &str)],
        task: &str,
        change: impl Fn(&mut Session),
    ) -> Self {
        let mut session = Session::new(workflows);
        for (file, lines) in front_matter {
            let phase = session.files.global.get_mut(*file).unwrap();
            *phase = phase.replacen("emoji: '*'\n", &format!("emoji: '*'\n{lines}"), 1);
        }
        session.files.tells_changes = true;
        change(&mut session);
        let facts = Facts { project: "/p".into(), ..Facts::default() };
        let _ = session.on(Event::Session { stored: None, in_view: None, facts });
        let _ = session.without_ui(Event::Command { name: "workflow", arguments: task });
        let _ = session.on(Event::BeforeAgentStart { role: DefaultRole::Worker });
        let _ = session.on(Event::AgentStart);
        Self {
            session,
            tree: Some("one"),
            commands: Vec::new(),
            status: 0,
            values: Vec::new(),
            while_running: VecDeque::new(),
            asked: Vec::new(),
        }
    }

    /// Answers all requests but questions to the user; returns the last output.
    fn answer(&mut self, mut output: Output) -> Output {
        loop {
            let Reply::Ask { ticket, request } = &output.reply else { return output };
            let answer = match request {
                Request::Exec { command, env, .. } => {
                    self.commands.push(command.clone());
                    self.values.extend(env.iter().map(|(_, value)| value.clone()));
                    let status = if self.tree == Some("broken") { 1 } else { self.status };
                    if let Some(tree) = self.while_running.pop_front() {
                        self.tree = tree;
                    }
                    let output = "it broke\n".into();
                    let end = CommandEnd::Exited(status);
                    Answer::Ran(Ran {
                        cut_bytes: 0,
                        end,
                        duration_ms: 1000,
                        output,
                        standard_output: None,
                        output_file: None,
                    })
                }
                Request::ProjectState { since } => {
                    self.asked.push(since.len());
                    Answer::ProjectState(self.tree.ok_or("it took too long".to_owned()).map(|tree| {
                        let changed = |since: &String| {
                            let (count, paths) =
                                if since == tree { (0, vec![]) } else { (4, vec!["a".into(), "`b`\nc".into()]) };
                            (since.clone(), Changed { count, paths })
                        };
                        ProjectState { tree: tree.into(), since: since.iter().map(changed).collect() }
                    }))
                }
                _ => return output,
            };
            let mut effects = output.effects.clone();
            output = self.session.on(Event::Answer { ticket: *ticket, answer });
            effects.append(&mut output.effects);
            output.effects = effects;
        }
    }

    fn next(&mut self) -> Output {
        let _ = self.session.on(Event::TurnEnd { queued: false, calls: &[] });
        let output = self.session.on(Event::Step { input: r#"{"action":"next","summary":"S"}"#, nested: false });
        self.answer(output)
    }

    /// Calls `next`, and returns the text of the result.
    fn says(&mut self) -> String {
        match self.next().reply {
            Reply::Tool(result) => result.text,
            other => panic!("{other:?}"),
        }
    }

    fn control(&mut self, arguments: &str) -> Output {
        let output = self.session.command("workflow", arguments);
        self.answer(output)
    }

    /// The evidence of the visit of this key, as `TREE PASSED RESULT CHANGED`.
    fn evidence(&self, key: &str) -> Vec<String> {
        let state = self.session.run.as_ref().unwrap();
        let visit = state.progress().visits.get(key).unwrap();
        let line = |of: &crate::run::Evidence| {
            let changed = of.changed.as_ref().map_or(0, |changed| changed.count);
            let files = match &of.files {
                CheckedFiles::Unknown => "",
                CheckedFiles::Tree(tree) => tree,
                CheckedFiles::ChangedMeanwhile(_) => "meanwhile",
            };
            format!("{files} {} {} {changed}", of.passed, of.result)
        };
        visit.evidence.iter().map(line).collect()
    }

    /// The text that `:status` shows.
    fn status(&mut self) -> String {
        match &self.control(":status").effects[..] {
            [.., Effect::AppendEntry { data, .. }] => data["content"].as_str().unwrap().to_owned(),
            other => panic!("{other:?}"),
        }
    }

    /// Goes on in another session.
    fn restart(&mut self, stored: Option<RunState>) {
        let facts = Facts { project: "/p".into(), ..Facts::default() };
        let _ = self.session.on(Event::Session { stored, in_view: None, facts });
        let _ = self.session.on(Event::BeforeAgentStart { role: DefaultRole::Worker });
        let _ = self.session.on(Event::AgentStart);
    }

    /// The message at the end of the run.
    fn end(&mut self) -> String {
        let effects = self.session.on(Event::AgentEnd { stop: Stop::Completed }).effects;
        let Effect::AppendEntry { data, .. } = &effects[0] else { panic!("{effects:?}") };
        data["content"].as_str().unwrap().to_owned()
    }
}

/// The changes since another state.
const CHANGES: &str = "4 files changed since (a, `b` c and 2 more)";

#[test]
fn a_check_is_bound_to_the_files_where_it_is_made_again_or_a_question_follows() {
    let bound = |gates: &[(&str, &str)]| {
        let mut project = Project::of(&[("flat", &["a", "b"])], gates, "flat x", |session| {
            session.files.global.get_mut("flat/workflow.yaml").unwrap().push_str("loopable: false\n");
            session.files.tree.insert("a.md".into(), "text".into());
        });
        assert!(project.says().starts_with("✓ Advanced: a → * b"));
        (project.evidence("flat:0"), project.asked)
    };
    let again =
        "gate: [{run: one, recheck: true}, {run: two}, {run: three, recheck: true}, {file: a.md, recheck: true}]\n";
    let (evidence, asked) = bound(&[("flat/a.md", again)]);
    let [one, two, file] = ["one true exit status 0 0", " true exit status 0 0", "one true it holds 0"];
    assert_eq!(evidence, [one, two, one, file]);
    assert_eq!(asked, [0, 1, 0, 1], "the state after a check is the one before the next");
    let (evidence, asked) = bound(&[("flat/a.md", ONCE), ("flat/b.md", "gate: [{approve: Ship it?}]\n")]);
    assert_eq!((&*evidence, &*asked), (&[one.to_owned()][..], &[0, 1][..]));
    let (evidence, asked) = bound(&[("flat/a.md", ONCE), ("flat/b.md", ONCE)]);
    assert_eq!((&*evidence, &*asked), (&[two.to_owned()][..], &[][..]), "no other gate looks at the files");

    let mut project = Project::flat(&[("flat/a.md", RECHECKED)]);
    project.status = 1;
    assert!(project.says().starts_with("✗ The gate of a is not passed"));
    assert_eq!(project.evidence("flat:0"), [" false exit status 1 0"]);
    assert_eq!(project.asked, [0], "before it");
}

/// A change that an agent makes at the same time, as by a second call of the same message, or in the background.
#[test]
fn files_that_change_while_a_check_is_made_are_not_those_that_it_has_read() {
    let mut project = Project::flat(&[("flat/a.md", RECHECKED)]);
    project.while_running = [Some("other")].into();
    project.says();
    assert_eq!(project.evidence("flat:0"), ["meanwhile true exit status 0 0"]);
    let shown = project.status();
    assert!(
        shown.contains("✓ the tests: exit status 0, 1s, 4 files changed meanwhile (a, `b` c and 2 more)"),
        "{shown}"
    );
    project.status = 1;
    let said = project.says();
    assert!(
        said.contains("the tests: exit status 1 (made again: 4 files changed meanwhile (a, `b` c and 2 more))"),
        "{said}"
    );
    project.status = 0;
    assert!(project.says().contains("→ DONE"));
    assert_eq!(project.commands.len(), 3);
    assert!(!project.end().contains("2 more), 4 files"), "of the first time nothing is said any more");
}

#[test]
fn a_state_that_is_known_on_one_side_of_a_check_only_is_unknown() {
    for (before, after) in [(None, Some("one")), (Some("one"), None)] {
        let mut project = Project::flat(&[("flat/a.md", RECHECKED)]);
        (project.tree, project.while_running) = (before, [after].into());
        project.says();
        assert_eq!(project.evidence("flat:0"), [" true exit status 0 0"]);
        project.tree = Some("one");
        let shown = project.status();
        assert!(shown.contains("since some of the checks with `recheck` is not known"), "{shown}");
        assert!(!shown.contains("changed meanwhile") && !shown.contains("changed since ("), "{shown}");
        project.says();
        assert_eq!(project.commands.len(), 2, "{before:?} {after:?}");
        assert!(project.evidence("flat:1")[0].contains("made again: not known which files have changed since"));
    }
}

/// A test that writes a snapshot.
#[test]
fn a_check_that_changes_files_itself_is_made_again_once() {
    let trees = ["t1", "t2", "t3", "t4", "t5", "t6"].map(Some);
    for gates in [&[("flat/a.md", RECHECKED)][..], &[("flat/b.md", RECHECKED)]] {
        let mut project = Project::flat(gates);
        project.while_running = trees.into();
        project.says();
        assert!(project.says().contains("→ DONE"), "{gates:?}");
        assert_eq!(project.commands.len(), 2, "{gates:?}");
        let again = "meanwhile true exit status 0 (made again: 4 files changed meanwhile (a, `b` c and 2 more)) 0";
        assert_eq!(project.evidence("flat:1").last().unwrap(), again, "{gates:?}");
        assert!(project.end().ends_with(", 1s, 4 files changed meanwhile (a, `b` c and 2 more)"));
    }
    let both = [("flat/a.md", RECHECKED), ("flat/b.md", "gate: [{run: x, recheck: true}, {run: y, recheck: true}]\n")];
    let mut project = Project::flat(&both);
    project.while_running = trees.into();
    project.says();
    assert!(project.says().contains("→ DONE"));
    assert_eq!(project.commands, ["make test", "x", "y", "make test", "x", "y"]);
}

#[test]
fn a_check_of_the_last_phase_is_made_again_if_files_change_after_it() {
    let made = |gate: &str, trees: &[Option<&'static str>], tells_changes: bool| {
        let mut project = Project::flat(&[("flat/b.md", gate)]);
        project.session.files.tree.insert("a.md".into(), "text".into());
        project.says();
        (project.while_running, project.session.files.tells_changes) = (trees.to_vec().into(), tells_changes);
        let mut output = project.next();
        while let Reply::Ask { ticket, request: Request::Select { .. } } = output.reply {
            project.tree = project.while_running.pop_front().unwrap_or(project.tree);
            output = project.session.on(Event::Answer { ticket, answer: Answer::Selected(1) });
            output = project.answer(output);
        }
        let Reply::Tool(result) = output.reply else { panic!("{gate}") };
        assert!(result.text.contains("→ DONE"), "{gate}: {}", result.text);
        (project.commands.join(" "), project.evidence("flat:1"))
    };
    let (one, built) = (Some("one"), Some("built"));
    let (commands, evidence) = made("gate: [{run: test, recheck: true}, {run: build}]\n", &[one, built], true);
    assert_eq!(commands, "test build test");
    let again = format!("built true exit status 0 (made again: {CHANGES}) 0");
    assert_eq!(evidence, ["one true exit status 0 0", " true exit status 0 0", &again]);
    let asked = "gate: [{run: test, recheck: true}, {approve: Ship?}]\n";
    assert_eq!(made(asked, &[one, built], true).0, "test test");
    assert_eq!(made("gate: [{file: a.md, recheck: true}, {run: build}]\n", &[built], true).1.len(), 3);
    // Nothing changes.
    assert_eq!(made("gate: [{run: test, recheck: true}, {run: build}]\n", &[], true).0, "test build");
    assert_eq!(made(asked, &[], true).0, "test");
    // The state of the files is not known.
    assert_eq!(made("gate: [{run: test, recheck: true}, {run: build}]\n", &[], false).0, "test build test");
    let last = made("gate: [{run: build}, {run: test, recheck: true}, {file: a.md}]\n", &[], false).0;
    assert_eq!(last, "build test", "a second time tells no more");
}

#[test]
fn a_check_that_is_made_again_in_its_own_gate_may_fail() {
    let gate = "gate: [{run: test, recheck: true}, {run: build}]\n";
    let mut project = Project::flat(&[("flat/b.md", gate)]);
    project.says();
    project.while_running = [Some("one"), Some("broken")].into();
    let said = project.says();
    let failed = format!("✗ The gate of b is not passed: test: exit status 1 (made again: {CHANGES})");
    assert!(said.starts_with(&failed), "{said}");
    assert!(project.session.run.as_ref().unwrap().is_running());
}

#[test]
fn the_end_waits_for_the_user_where_results_of_rechecks_were_dropped() {
    let lose = |project: &mut Project, lost: bool| {
        let run = project.session.run.as_ref().unwrap();
        let mut stored = serde_json::to_value(run).unwrap();
        stored["progress"]["rechecksLost"] = lost.into();
        project.restart(crate::run::restore([stored.to_string()]));
    };
    let mut project = Project::flat(&[]);
    project.says();
    lose(&mut project, true);
    let output = project.next();
    let shown = format!("{:?}", output.effects);
    assert!(shown.contains("/workflow :skip ends the run without them."), "{shown}");
    let Reply::Tool(ToolResult { text: said, .. }) = output.reply else { panic!("{:?}", output.reply) };
    assert!(
        said.contains(
            "paused: the gate was not passed in 1 attempt; last: rechecks whose results are no longer stored"
        ),
        "{said}"
    );
    let _ = project.control(":resume");
    assert!(project.says().contains("paused"));
    let _ = project.control(":skip");
    assert!(!project.session.run.as_ref().unwrap().is_running());

    let mut project = Project::flat(&[]);
    project.says();
    lose(&mut project, false);
    assert!(project.says().contains("→ DONE"));
}

#[test]
fn a_recheck_is_made_again_if_files_have_changed() {
    for (tree, commands) in [("one", 1), ("two", 2)] {
        let mut project = Project::flat(&[("flat/a.md", RECHECKED)]);
        assert!(project.says().contains("- once more, if files have changed since it passed: the tests"));
        project.tree = Some(tree);
        // The end is no second gate of an answer.
        let output = project.session.on(Event::Step { input: r#"{"action":"next","summary":"S"}"#, nested: false });
        let output = project.answer(output);
        assert!(matches!(output.reply, Reply::Tool(result) if result.text.contains("→ DONE")), "{tree}");
        assert_eq!(project.commands.len(), commands, "{tree}");
        assert_eq!(project.evidence("flat:0"), ["one true exit status 0 0"], "it is made again, so it is true");
        let again = format!("two true exit status 0 (made again: {CHANGES}) 0");
        assert_eq!(project.evidence("flat:1"), [again; 1][..commands - 1], "{tree}");
    }
}

/// git may ignore the file of a check: then no state tells that the file has changed.
#[test]
fn a_check_of_a_file_is_made_again_whatever_is_known_of_other_files() {
    let mut project = Project::flat(&[("flat/a.md", "gate: [{file: dist/a.js, label: the build, recheck: true}]\n")]);
    project.session.files.tree.insert("dist/a.js".into(), "built".into());
    assert!(project.says().contains("- once more: the build"));
    let built = project.session.files.tree.remove("dist/a.js").unwrap();
    let said = project.says();
    assert!(said.starts_with("✗ The gate of a is not passed: the build: "), "{said}");
    project.session.files.tree.insert("dist/a.js".into(), built);
    assert!(project.says().contains("→ DONE"));
    assert_eq!(project.evidence("flat:1"), ["one true it holds (made again) 0"]);

    for (gate, made) in [("[{file: a, recheck: true}, {run: rm}]", 3), ("[{run: rm}, {file: a, recheck: true}]", 2)] {
        let mut project = Project::flat(&[("flat/b.md", &format!("gate: {gate}\n"))]);
        project.session.files.tree.insert("a".into(), "text".into());
        project.says();
        assert!(project.says().contains("→ DONE"), "{gate}");
        assert_eq!(project.evidence("flat:1").len(), made, "{gate}");
    }
}

#[test]
fn what_is_not_known_is_made_again() {
    type Change = fn(&mut Project);
    let unknown: [(&str, Change); 3] = [
        ("the files take too long at the end", |project| project.tree = None),
        ("the host cannot tell it at the end", |project| project.session.files.tells_changes = false),
        ("git has gone, and its states with it", |project| {
            let mut run = project.session.run.clone().unwrap();
            run.progress_mut().visits.get_mut("flat:0").unwrap().evidence[0].files = CheckedFiles::Unknown;
            project.restart(Some(run));
        }),
    ];
    for (name, change) in unknown {
        let mut project = Project::flat(&[("flat/a.md", RECHECKED)]);
        project.says();
        change(&mut project);
        assert!(project.says().contains("→ DONE"), "{name}");
        assert_eq!(project.commands.len(), 2, "{name}");
        let evidence = project.evidence("flat:1");
        assert!(evidence[0].contains("made again: not known which files have changed since"), "{name}");
    }
}

#[test]
fn a_recheck_that_fails_keeps_the_run_in_its_last_phase() {
    let mut project = Project::flat(&[("flat/a.md", RECHECKED)]);
    project.says();
    (project.tree, project.status) = (Some("two"), 2);
    for left in [2, 1] {
        let said = project.says();
        assert!(
            said.starts_with("✗ The gate of a is not passed: the tests: exit status 2 (made again: 4 files changed"),
            "{said}"
        );
        assert!(said.contains(&format!(", {left} left.")) && said.contains("it broke"), "{said}");
    }
    let said = project.says();
    assert!(said.contains("The workflow is paused: "), "{said}");
    assert_eq!(project.evidence("flat:0"), ["one true exit status 0 0"]);
    project.status = 0;
    let _ = project.control(":resume");
    assert!(project.says().contains("→ DONE"));
    assert_eq!(project.commands.len(), 5);
}

#[test]
fn checks_of_workflows_that_have_ended_are_made_again_with_their_values() {
    let nested = |session: &mut Session| {
        let outer = session.files.global.get_mut("flat/workflow.yaml").unwrap();
        *outer = outer.replacen("{subworkflow: sub}", "{subworkflow: sub, with: { what: parser }}", 1);
        let inner = session.files.global.get_mut("sub/workflow.yaml").unwrap();
        inner.push_str("inputs: { what: { type: text, default: x } }\n");
    };
    let gate = "gate:\n  - { run: 'test \"$WHAT\"', env: { WHAT: input.what }, recheck: true }\n  - run: once\n";
    let workflows: [(&str, &[&str]); 2] = [("flat", &["a", "@sub", "c"]), ("sub", &["b"])];
    let mut project = Project::of(&workflows, &[("sub/b.md", gate)], "flat x", nested);
    project.says();
    project.says();
    (project.tree, project.status) = (Some("two"), 1);
    let said = project.says();
    assert!(said.starts_with("✗ The gate of b is not passed"), "{said}");
    project.status = 0;
    assert!(project.says().contains("→ DONE"));
    assert_eq!(project.commands, ["test \"$WHAT\"", "once", "test \"$WHAT\"", "test \"$WHAT\""]);
    assert_eq!(project.values, ["parser", "parser", "parser"]);
}

#[test]
fn own_checks_come_first_and_are_not_made_twice() {
    let lint = "gate: [{run: lint, recheck: true}]\n";
    let mut project = Project::flat(&[("flat/a.md", RECHECKED), ("flat/b.md", lint)]);
    project.says();
    project.tree = Some("two");
    assert!(project.says().contains("→ DONE"));
    assert_eq!(project.commands, ["make test", "lint", "make test"]);
}

#[test]
fn the_user_and_steps_end_a_run_with_it_too() {
    let mut project = Project::flat(&[("flat/a.md", RECHECKED)]);
    project.says();
    (project.tree, project.status) = (Some("two"), 1);
    let _ = project.control(":next");
    assert!(project.session.run.as_ref().unwrap().is_running());
    let _ = project.control(":skip");
    assert!(!project.session.run.as_ref().unwrap().is_running());
    assert_eq!(project.commands.len(), 2, "a user who skips is not kept");

    let step = |session: &mut Session| {
        let yaml = session.files.global.get_mut("flat/workflow.yaml").unwrap();
        *yaml = yaml.replacen("b.md", "{ run: format, id: b }", 1);
    };
    for (tree, commands) in [(Some("one"), &["make test", "format"][..]), (None, &["make test", "format", "make test"])]
    {
        let mut project = Project::of(&[("flat", &["a", "b"])], &[("flat/a.md", RECHECKED)], "flat x", step);
        project.tree = tree;
        let said = project.says();
        assert!(said.contains("DONE"), "{said}");
        assert_eq!(project.commands, commands, "the step may have changed files");
    }
}

#[test]
fn consent_is_asked_for_what_is_made_again() {
    let of_project = |session: &mut Session| {
        session.files.project = std::mem::take(&mut session.files.global);
    };
    let mut project = Project::of(&[("flat", &["a", "b"])], &[("flat/a.md", RECHECKED)], "flat x", of_project);
    let choose = |project: &mut Project, output: Output| {
        let Reply::Ask { ticket, request: Request::Select { title, .. } } = output.reply else { panic!("{output:?}") };
        assert!(title.contains("make test"), "{title}");
        let output = project.session.on(Event::Answer { ticket, answer: Answer::Selected(1) });
        project.answer(output)
    };
    let output = project.next();
    let _ = choose(&mut project, output);
    project.tree = Some("two");
    let output = project.next();
    let output = choose(&mut project, output);
    assert!(matches!(output.reply, Reply::Tool(result) if result.text.contains("→ DONE")));
    assert_eq!(project.commands.len(), 2);
}

#[test]
fn an_approval_the_status_and_the_end_show_what_has_changed_since() {
    let gates = [("flat/a.md", ONCE), ("flat/b.md", "gate: [{approve: Ship it?}]\n")];
    let mut project = Project::of(&[("flat", &["a", "b"])], &gates, "flat x", |session| {
        session.files.global.get_mut("flat/workflow.yaml").unwrap().push_str("completionMessage: Done.\n");
    });
    let _ = project.status();
    assert_eq!(project.asked, [0; 0], "there is no evidence yet");
    project.says();
    assert!(!project.status().contains("changed since"));
    project.tree = Some("two");
    let shown = project.status();
    assert!(shown.contains(&format!("✓ the tests: exit status 0, 1s, {CHANGES}")), "{shown}");
    assert_eq!(project.evidence("flat:0"), ["one true exit status 0 0"], "it is not stored");
    project.tree = None;
    let why = "Which files have changed since the checks is not known: ";
    assert!(project.status().ends_with(&format!("{why}it took too long.")));
    project.session.files.tells_changes = false;
    assert!(project.status().ends_with(&format!("{why}it is no git work tree.")));

    (project.tree, project.session.files.tells_changes) = (Some("two"), true);
    let output = project.next();
    let subject = output.effects.iter().find_map(|effect| match effect {
        Effect::AppendEntry { custom_type: crate::protocol::APPROVAL_TYPE, data } => data["content"].as_str(),
        _ => None,
    });
    let line = format!("- * a: ✓ the tests: exit status 0, 1s, {CHANGES}");
    assert!(
        subject.unwrap().starts_with(&format!("**Files have changed since these checks:**\n{line}")),
        "{subject:?}"
    );
    let Reply::Ask { ticket, .. } = output.reply else { panic!("{output:?}") };
    let output = project.session.on(Event::Answer { ticket, answer: Answer::Selected(1) });
    let output = project.answer(output);
    assert!(matches!(output.reply, Reply::Tool(result) if result.text.contains("→ DONE")));
    assert_eq!(project.evidence("flat:0"), ["one true exit status 0 4"]);
    assert_eq!(project.evidence("flat:1"), [" true the user said yes 0"]);
    assert!(project.end().contains(&format!("**Gates:**\n{line}")), "a message of the workflow has them too");
}

#[test]
fn an_interruption_while_the_host_looks_keeps_the_run() {
    let mut project = Project::flat(&[("flat/a.md", RECHECKED)]);
    project.says();
    for answer in [Answer::Cancelled, Answer::NoUi] {
        let _ = project.session.on(Event::TurnEnd { queued: false, calls: &[] });
        let output = project.session.on(Event::Step { input: r#"{"action":"next"}"#, nested: false });
        let Reply::Ask { ticket, request: Request::ProjectState { .. } } = output.reply else { panic!("{output:?}") };
        let is_cancelled = answer == Answer::Cancelled;
        let output = project.session.on(Event::Answer { ticket, answer });
        assert_eq!(matches!(&output.reply, Reply::Tool(result) if result.text.contains("interrupted")), is_cancelled);
        if !is_cancelled {
            let _ = project.answer(output);
        }
    }
    assert_eq!(project.commands.len(), 2, "an answer of another kind tells nothing");
    assert!(!project.session.run.as_ref().unwrap().is_running());
}
