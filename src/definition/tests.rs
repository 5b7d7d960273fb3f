//! Given these files, exactly this library and these diagnostics.

use super::diagnostic::workflow::WorkflowProblem;
use super::fixtures::Files;
use super::*;

const FLOW: &str = "name: Flow\ncommandName: flow\ninitialMessage: Go\nphases:\n  - a.md\n";
const PHASE: &str = "---\nid: a\nname: A\nemoji: '*'\n---\nDo it.\n";

/// Loads files of the global root.
fn load(files: &[(&str, &str)]) -> (Library, Vec<String>) {
    let own = |(path, text): &(&str, &str)| ((*path).to_owned(), (*text).to_owned());
    load_files(&Files { global: files.iter().map(own).collect(), ..Files::default() })
}

fn load_files(files: &dyn WorkflowFiles) -> (Library, Vec<String>) {
    let (library, diagnostics) = Library::load(files).unwrap();
    (library, diagnostics.iter().map(Diagnostic::to_string).collect())
}

fn keys(library: &Library) -> Vec<&str> {
    library.iter().map(|workflow| workflow.key.as_str()).collect()
}

/// Checks that a workflow with this `workflow.yaml` is left out, for these reasons.
#[track_caller]
fn refused(yaml: &str, diagnostics: &[&str]) {
    let (library, found) = load(&[("w/workflow.yaml", yaml), ("w/a.md", PHASE)]);
    assert_eq!(found, diagnostics);
    assert_eq!(keys(&library), [""; 0]);
}

/// Checks that a workflow with this phase file is left out, for these reasons.
#[track_caller]
fn phase_refused(phase: &str, diagnostics: &[&str]) {
    let (library, found) = load(&[("w/workflow.yaml", FLOW), ("w/a.md", phase)]);
    assert_eq!(found, diagnostics);
    assert_eq!(keys(&library), [""; 0]);
}

#[test]
fn every_field_is_read() {
    let (library, diagnostics) = load(&[
        (
            "w/workflow.yaml",
            "name: W\ncommandName: w-1_x\ninitialMessage: |\n  Go\ndescription: D\nshow: user\nloopable: false\nmodel: fast\nsessionNamePrefix: 'P '\nsessionNameMaxLength: 7\nroleInstruction: R\nadvanceReminder: A\nblockReasonTemplate: B\ncompletionMessage: C\nnotDoneReminder: N\nautoContinue: false\ncontext: fresh\nwrite: [docs/plan.md, 'tests\\**\\*.rs']\nnetwork: false\nsandbox: preferred\nbudget: {cost: 2.50, time: 45m, turns: 40}\nphases: [a.md, {subworkflow: s}, ../_shared/b.md]\n",
        ),
        (
            "w/a.md",
            "\u{feff}---\r\nid: a\r\nname: A\r\nemoji: \"🔍\"\r\ntools: {whitelist: [read, 7]}\r\navailableProfiles: [x]\r\nsummary: required\r\ninteractive: true\r\ncontext: shared\r\nmodel: [strong, 'p/m:x:high']\r\nwrite: []\r\nsandbox: off\r\nbudget: {turns: 7}\r\nonBudget: next\r\n---\r\n\r\n# Do\r\nit\r\n",
        ),
        ("_shared/b.md", "---\nid: b\nname: B\nemoji: b\ntools: {blacklist: []}\n---\nB"),
        ("s/workflow.yaml", "name: S\nshow: workflows\nphases: [../w/a.md]"),
    ]);
    assert_eq!(diagnostics, [""; 0]);
    let a = Phase {
        id: "a".into(),
        name: "A".into(),
        emoji: "🔍".into(),
        instructions: "# Do\nit".into(),
        file: "~/workflows/w/a.md".into(),
        at: vec![],
        work: Work::Agent,
        tools: ToolPolicy::Only(vec!["read".into(), "7".into()]),
        limits: OwnLimits { write: Some(vec![]), hide: None, network: None, sandbox: Some(Sandbox::Off) },
        budget: [(Measure::Turns, 7)].into(),
        profiles: Some(vec!["x".into()]),
        summary_required: true,
        context: Some(ContextMode::Shared),
        on_budget: Some(Target::Next),
        interactive: true,
        results: crate::definition::Results::All,
        outcomes: vec![],
        outputs: vec![],
        gate: None,
        model: OwnModel { names: vec!["strong".into(), "p/m:x:high".into()], of_entry: false },
    };
    let b = Phase {
        id: "b".into(),
        name: "B".into(),
        emoji: "b".into(),
        instructions: "B".into(),
        file: "~/workflows/_shared/b.md".into(),
        at: vec![],
        work: Work::Agent,
        tools: ToolPolicy::Except(vec![]),
        limits: OwnLimits::default(),
        budget: BudgetBounds::default(),
        profiles: None,
        summary_required: false,
        context: None,
        on_budget: None,
        interactive: false,
        outcomes: vec![],
        outputs: vec![],
        gate: None,
        model: OwnModel::default(),
        results: crate::definition::Results::All,
    };
    assert_eq!(
        library.get("w"),
        Some(&Workflow {
            key: "w".into(),
            dir: "/home/workflows/w".into(),
            scripts: None,
            name: "W".into(),
            command_name: "w-1_x".into(),
            when_to_use: None,
            default_task: None,
            initial_message: "Go\n".into(),
            description: Some("D".into()),
            show: Show::User,
            loopable: false,
            session_name_prefix: Some("P ".into()),
            session_name_max_length: Some(7),
            role_instruction: Some("R".into()),
            advance_reminder: Some("A".into()),
            block_reason_template: Some("B".into()),
            completion_message: Some("C".into()),
            not_done_reminder: Some("N".into()),
            limits: OwnLimits {
                write: Some(vec!["docs/plan.md".into(), "tests/**/*.rs".into()]),
                hide: None,
                network: Some(false),
                sandbox: Some(Sandbox::Preferred),
            },
            inputs: vec![],
            outputs: vec![],
            given: vec![],
            model: OwnModel { names: vec!["fast".into()], ..OwnModel::default() },
            budget: [(Measure::Cost, 2_500_000), (Measure::Time, 2_700_000), (Measure::Turns, 40),].into(),
            auto_continue: false,
            context: Some(ContextMode::Fresh),
            phases: vec![Entry::phase(a.clone()), Entry::workflow("s"), Entry::phase(b)],
            parallel: None,
            place: None,
            groups: Vec::new(),
            group: None,
            each: None,
            root: "global".into(),
            folder: "~/workflows/w".into(),
        })
    );
    let s = library.get("s").unwrap();
    assert_eq!((s.show, s.loopable, &*s.command_name), (Show::Workflows, true, ""));
    assert_eq!(s.phases, [Entry::phase(a)]);
}

#[test]
fn all_diagnostics_of_a_file_are_told_with_their_places() {
    refused(
        "name: ' '\ncommandName: a b\ninitialMessage: [x]\nshow: all\nloopable: 'no'\nphases:\n  - a.md\n  - 7\n  - subworkflow: ''\n",
        &[
            "~/workflows/w/workflow.yaml:1:7: `name` must not be empty",
            "~/workflows/w/workflow.yaml:2:14: `commandName`: expected letters, digits, `_` and `-` only, found `a b`",
            "~/workflows/w/workflow.yaml:3:17: `initialMessage`: expected a string, found a list",
            "~/workflows/w/workflow.yaml:4:7: `show`: expected `user` or `workflows`, found `all`",
            "~/workflows/w/workflow.yaml:5:11: `loopable`: expected `true` or `false`, found `no`",
            "~/workflows/w/workflow.yaml:8:5: `phases`: expected a file name, `phase: FILE`, `subworkflow: KEY`, `prompt: TEXT`, `run: COMMAND`, `ask: QUESTION` or `phases: [ENTRY, …]`, found a number",
            "~/workflows/w/workflow.yaml:9:5: `phases`: expected a file name, `phase: FILE`, `subworkflow: KEY`, `prompt: TEXT`, `run: COMMAND`, `ask: QUESTION` or `phases: [ENTRY, …]`, found a mapping",
        ],
    );
}

#[test]
fn texts_have_defaults() {
    let (library, diagnostics) = load(&[
        ("fix-it/workflow.yaml", "phases: [01-look.md, ../x/do it.md]\n"),
        ("fix-it/01-look.md", "Look.\n"),
        ("x/do it.md", "---\nname: Do\n---\nDo it.\n"),
        ("part/workflow.yaml", "show: workflows\nphases: [a.md]\n"),
        ("part/a.md", "---\nid: first_one\n---\nDo it.\n"),
    ]);
    assert_eq!(diagnostics, [""; 0]);
    let texts = |key: &str| {
        let workflow = library.get(key).unwrap();
        let phases = workflow.own_phases().map(|phase| [&*phase.id, &phase.name, &phase.emoji].join("|"));
        let own = [&*workflow.name, &workflow.command_name, &workflow.initial_message].join("|");
        [vec![own], phases.collect()].concat()
    };
    assert_eq!(texts("fix-it"), ["Fix It|fix-it|{description}", "01-look|01 Look|", "do it|Do|"]);
    assert_eq!(texts("part"), ["Part||{description}", "first_one|First One|"]);
    assert!(library.by_command_name("fix-it").is_some());
}

#[test]
fn what_is_no_workflow_file_is_told() {
    refused("- a\n", &["~/workflows/w/workflow.yaml:1:1: expected a mapping of fields to values, found a list"]);
    refused("", &["~/workflows/w/workflow.yaml:1:1: missing field `phases`"]);
    refused("name: 'x\n", &["~/workflows/w/workflow.yaml:1:7: not valid YAML: found unexpected end of stream"]);
    refused("name: x\nname: y\n", &["~/workflows/w/workflow.yaml:2:1: duplicate key `name`"]);
    refused(
        "name: W\ncommandName: w\ninitialMessage: Go\n",
        &["~/workflows/w/workflow.yaml:1:1: missing field `phases`"],
    );
    refused(
        "name: W\ncommandName: w\ninitialMessage: Go\nphases: []\n",
        &["~/workflows/w/workflow.yaml:4:9: `phases` must have at least one entry"],
    );
    refused(
        "name: W\ncommandName: w\ninitialMessage: Go\nphases: a.md\n",
        &["~/workflows/w/workflow.yaml:4:9: `phases`: expected a list, found a string"],
    );
}

#[test]
fn a_phase_file_that_is_not_there_is_told_where_it_is_named() {
    for (path, words) in [
        ("b.md", "cannot read the phase file `b.md`: there is no such file"),
        ("../../x.md", "the phase file `../../x.md` is outside the workflows folder"),
        ("/etc/passwd", "the phase file `/etc/passwd` is outside the workflows folder"),
    ] {
        refused(
            &FLOW.replace("- a.md", &format!("- a.md\n  - {path}")),
            &[&format!("~/workflows/w/workflow.yaml:6:5: {words}")],
        );
    }
    refused(
        &FLOW.replace("- a.md", "- a.md\n  - ./a.md"),
        &["~/workflows/w/workflow.yaml:6:5: duplicate phase id `a` in this workflow: in `a.md` and in `./a.md`"],
    );
}

#[test]
fn all_diagnostics_of_a_phase_file_are_told() {
    let write = "`write` is not read: it is part of the text of the phase";
    for (text, line) in
        [("write: []\nDo it.", 1), ("\n---\nwrite: []\n---\nDo it.", 3), ("--\nwrite: []\n--\nDo it.", 2)]
    {
        phase_refused(text, &[&format!("~/workflows/w/a.md:{line}:1: {write}")]);
    }
    phase_refused("---\nid: a\nname: A\nemoji: '*'\n---\n \n", &["~/workflows/w/a.md:5:1: missing instructions"]);
    phase_refused(
        "---\nid: 7\nemoji: ''\ntools: [edit]\n---\nDo",
        &[
            "~/workflows/w/a.md:2:5: `id`: expected a string, found a number",
            "~/workflows/w/a.md:4:8: `tools`: expected a mapping, found a list",
        ],
    );
    phase_refused(
        &PHASE.replace("emoji", "tools:\n  blacklist: edit\nemoji"),
        &["~/workflows/w/a.md:5:14: `tools.blacklist`: expected a list of tool names, found a string"],
    );
    phase_refused(
        &PHASE.replace("emoji", "tools: {blacklist: [a], whitelist: [b]}\nemoji"),
        &["~/workflows/w/a.md:4:8: `tools` can have a `blacklist` or a `whitelist`, not both"],
    );
    phase_refused(
        &PHASE.replace("id: a", "id: [a"),
        &["~/workflows/w/a.md:2:5: not valid YAML: did not find expected ',' or ']'"],
    );
}

#[test]
fn a_field_without_effect_is_told_and_does_no_harm() {
    let (library, diagnostics) = load(&[
        ("w/workflow.yaml", &format!("{FLOW}sessionNamePrefix: 7\nsessionNameMaxLength: -1\n")),
        ("w/a.md", &PHASE.replace("emoji", "availableProfiles: x\nemoji")),
    ]);
    assert_eq!(
        diagnostics,
        [
            "~/workflows/w/workflow.yaml:6:20: `sessionNamePrefix`: expected a string, found a number; it has no effect",
            "~/workflows/w/workflow.yaml:7:23: `sessionNameMaxLength`: expected a number from 0, found `-1`; it has no effect",
            "~/workflows/w/a.md:4:20: `availableProfiles`: expected a list of names, found a string; it has no effect",
        ]
    );
    assert_eq!(keys(&library), ["w"]);
}

#[test]
fn bounds_that_are_not_understood_are_errors() {
    for (field, diagnostic) in [
        ("autoContinue: 3", "6:15: `autoContinue`: expected `true` or `false`, found a number"),
        ("budget: 3", "6:9: `budget`: expected a mapping, found a number"),
        ("budget: {costs: 3}", "6:10: unknown field `costs` in `budget`"),
        (
            "budget: {cost: 0}",
            "6:16: `budget.cost`: expected a number of US dollars from 0.000001 to 1000000, found `0`",
        ),
        (
            "budget: {cost: $2}",
            "6:16: `budget.cost`: expected a number of US dollars from 0.000001 to 1000000, found `$2`",
        ),
        ("budget: {turns: 1.5}", "6:17: `budget.turns`: expected a whole number from 1 to 1000000, found `1.5`"),
        (
            "budget:\n  time: later",
            "7:9: `budget.time`: expected a duration like `45m` or `1h 30m`, or a number of seconds, at most a year, found `later`",
        ),
        ("budget: {time: }", "6:10: `budget.time` has no value"),
        ("autoContinue: {maxIdle: 3}", "6:15: `autoContinue`: expected `true` or `false`, found a mapping"),
    ] {
        refused(&format!("{FLOW}{field}\n"), &[&format!("~/workflows/w/workflow.yaml:{diagnostic}")]);
    }
    for expected in [false, true] {
        let yaml = format!("{FLOW}autoContinue: {expected}\n");
        let (library, diagnostics) = load(&[("w/workflow.yaml", &yaml), ("w/a.md", PHASE)]);
        assert_eq!((library.get("w").unwrap().auto_continue, diagnostics), (expected, vec![]));
    }
}

fn nested(command: &str, references: &[&str]) -> String {
    let entries: Vec<String> = references.iter().map(|key| format!("{{subworkflow: {key}}}")).collect();
    format!(
        "name: {command}\ncommandName: {command}\ninitialMessage: Go\nphases: [../x/a.md, {}]\n",
        entries.join(", ")
    )
}

#[test]
fn references_that_lead_nowhere_leave_out_all_that_rests_on_them() {
    let (library, diagnostics) = load(&[
        ("a/workflow.yaml", &nested("a", &["b"])),
        ("b/workflow.yaml", &nested("b", &["c"])),
        ("c/workflow.yaml", &nested("c", &["z"])),
        ("d/workflow.yaml", &nested("d", &["E"])),
        ("e/workflow.yaml", &nested("e", &[])),
        ("x/a.md", PHASE),
    ]);
    assert_eq!(keys(&library), ["d", "e"]);
    assert_eq!(library.get("d").unwrap().phases[1], Entry::workflow("e"));
    assert_eq!(
        diagnostics,
        [
            "~/workflows/c/workflow.yaml:4:21: the workflow \"c\" refers to \"z\", which does not exist",
            "~/workflows/b/workflow.yaml:4:21: the workflow \"b\" refers to \"c\", which has errors",
            "~/workflows/a/workflow.yaml:4:21: the workflow \"a\" refers to \"b\", which has errors",
        ]
    );
}

#[test]
fn a_circle_leaves_out_all_of_it() {
    let (library, diagnostics) = load(&[
        ("a/workflow.yaml", &nested("a", &["b"])),
        ("b/workflow.yaml", &nested("b", &["c"])),
        ("c/workflow.yaml", &nested("c", &["b"])),
        ("d/workflow.yaml", &nested("d", &["d"])),
        ("e/workflow.yaml", &nested("e", &[])),
        ("x/a.md", PHASE),
    ]);
    assert_eq!(keys(&library), ["e"]);
    assert_eq!(
        diagnostics,
        [
            "~/workflows/b/workflow.yaml:4:21: the workflows refer to each other in a cycle: b → c → b",
            "~/workflows/c/workflow.yaml:4:21: the workflows refer to each other in a cycle: b → c → b",
            "~/workflows/d/workflow.yaml:4:21: the workflows refer to each other in a cycle: d → d",
            "~/workflows/a/workflow.yaml:4:21: the workflow \"a\" refers to \"b\", which is part of a cycle",
        ]
    );
}

#[test]
fn a_nesting_too_deep_is_left_out() {
    let mut files = Files::default();
    files.global.insert("x/a.md".into(), PHASE.into());
    for level in 0..300 {
        let next = format!("w{:03}", level + 1);
        let references = if level < 299 { vec![next.as_str()] } else { vec![] };
        let yaml = nested(&format!("w{level:03}"), &references);
        files.global.insert(format!("w{level:03}/workflow.yaml"), yaml);
    }
    let (library, diagnostics) = load_files(&files);
    assert_eq!(library.iter().count(), 101);
    assert!(diagnostics[0].ends_with("workflows are nested more than 100 deep"), "{}", diagnostics[0]);
}

#[test]
fn a_project_replaces_global_workflows_by_their_folder() {
    let own =
        |list: &[(&str, &str)]| list.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect();
    let files = Files {
        global: own(&[
            ("a/workflow.yaml", FLOW),
            ("a/a.md", PHASE),
            ("b/workflow.yaml", FLOW),
            ("b/a.md", PHASE),
            ("c/workflow.yaml", FLOW),
            ("c/a.md", PHASE),
        ]),
        project: own(&[
            ("a/workflow.yaml", "name: 7"),
            ("b/workflow.yaml", &FLOW.replace("Flow", "Mine").replace("flow", "mine")),
            ("b/a.md", PHASE),
            ("__proto__/workflow.yaml", FLOW),
            ("__proto__/a.md", PHASE),
        ]),
        ..Files::default()
    };
    let (library, diagnostics) = load_files(&files);
    assert_eq!(keys(&library), ["a", "b", "c", "__proto__"]);
    assert_eq!(library.get("b").unwrap().name, "Mine");
    assert_eq!(library.get("a").unwrap().name, "Flow", "a invalid one replaces nothing");
    assert_eq!(library.by_command_name("flow").unwrap().key, "__proto__");
    assert!(library.get("constructor").is_none());
    let duplicates: Vec<&String> =
        diagnostics.iter().filter(|diagnostic| diagnostic.contains("command name")).collect();
    assert_eq!(
        duplicates,
        [
            "~/workflows/a/workflow.yaml:2:14: duplicate command name \"flow\" of \"a\" and \"__proto__\" (.pi/workflows/__proto__/workflow.yaml); \"__proto__\" is used",
            "~/workflows/c/workflow.yaml:2:14: duplicate command name \"flow\" of \"c\" and \"__proto__\" (.pi/workflows/__proto__/workflow.yaml); \"__proto__\" is used",
        ]
    );
}

#[test]
fn library_folders_are_searched_and_the_nearest_of_a_name_wins() {
    let (library, diagnostics) = load(&[
        ("_shared/review/workflow.yaml", &nested("deep", &[])),
        ("_shared/more/test/workflow.yaml", &nested("test", &[])),
        ("_shared/more/x/a.md", PHASE),
        ("_shared/x/a.md", PHASE),
        ("review/workflow.yaml", &nested("near", &[])),
        ("x/a.md", PHASE),
        ("1/2/3/4/5/6/7/8/9/10/workflow.yaml", FLOW),
    ]);
    assert_eq!(keys(&library), ["review", "test"]);
    assert_eq!(library.get("review").unwrap().command_name, "near");
    assert_eq!(
        diagnostics,
        [
            "~/workflows/_shared/review: duplicate workflow \"review\"; the one in ~/workflows/review is used",
            "~/workflows/1/2/3/4/5/6/7/8/9: the folders below this one are not searched: they are too deep",
        ]
    );
}

mod builtin;
mod context;
mod empty;
mod fuel;
mod gates;
mod groups;
mod inline;
mod limits;
mod mistyped;
mod models;
mod numbers;
mod other_programs;
mod packages;
mod parallel;
mod permission;
mod scripts;
mod totals;
mod unread;
mod ways;
mod workflow_outputs;

#[test]
fn many_circles_take_little() {
    let mut files = Files::default();
    for index in 0..600 {
        let text = format!(
            "name: N\ncommandName: c{index}\ninitialMessage: x\nphases: [{{subworkflow: w0}}, {{subworkflow: w{}}}]\n",
            index + 1
        );
        files.global.insert(format!("w{index}/workflow.yaml"), text);
    }
    let (library, diagnostics) = Library::load(&files).unwrap();
    assert_eq!(library.iter().count(), 0);
    let cycles = diagnostics
        .iter()
        .filter(|diagnostic| matches!(diagnostic.problem, Problem::Workflow(WorkflowProblem::Cycle { .. })));
    assert_eq!(cycles.count(), 600, "each in one");
    assert!(diagnostics.iter().all(|diagnostic| diagnostic.message().len() < 200));
}

/// Nothing recurses deeper than workflows may be nested.
#[test]
fn a_long_chain_of_workflows_takes_little_of_the_stack() {
    let check = || {
        let mut files = Files::default();
        for number in 0..400 {
            let next = number + 1;
            let yaml = format!(
                "name: W\ncommandName: w{number}\ninitialMessage: Go\nphases:\n  - subworkflow: w{next}\n  - phase: a.md\n    when: {{ outcome.w{next}: x }}\n",
            );
            files.global.insert(format!("w{number}/workflow.yaml"), yaml);
            files.global.insert(format!("w{number}/a.md"), PHASE.to_owned());
        }
        let (library, diagnostics) = Library::check(&files).unwrap();
        assert_eq!(library.iter().count(), 0);
        let too_deep = diagnostics.iter().filter(|one| one.message().contains("nested more than 100 deep"));
        assert_eq!(too_deep.count(), 299);
    };
    let thread = std::thread::Builder::new().stack_size(512 << 10).spawn(check).unwrap();
    thread.join().unwrap();
}
