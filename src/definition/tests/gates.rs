//! Gates as they are written.

use super::*;

fn phase_with(lines: &str) -> String {
    PHASE.replacen("emoji: '*'\n", &format!("emoji: '*'\n{lines}"), 1)
}

#[test]
fn a_gate_is_read() {
    let phase = phase_with(
        "gate:\n- run: npm test\n  timeout: 90s\n  name: the tests\n- run: make\n  timeout: 2.5\n- file: .\\docs\\*.md\n  contains: '^## R'\n- run: x\ngateAttempts: 1\n",
    );
    let (library, diagnostics) = load(&[("w/workflow.yaml", FLOW), ("w/a.md", &phase)]);
    assert_eq!(diagnostics, [""; 0]);
    let workflow = library.get("w").unwrap();
    assert_eq!(workflow.root, "global");
    let Some(phase) = workflow.phases[0].as_phase() else { panic!() };
    let Phase { gate: Some(gate), .. } = phase else { panic!() };
    let run = |command: &str, timeout_ms: u32| CheckKind::Run { command: command.into(), timeout: timeout_ms.into() };
    let kinds: Vec<&CheckKind> = gate.checks.iter().map(|check| &check.kind).collect();
    let CheckKind::File { path, contains: Some(pattern) } = kinds[2] else { panic!() };
    assert_eq!((&**path, pattern.to_string()), ("./docs/*.md", "^## R".to_owned()));
    assert!(pattern.is_in("a\n## R") && !pattern.is_in("a ## R"));
    assert_eq!([kinds[0], kinds[1]], [&run("npm test", 90_000), &run("make", 2500)]);
    assert_eq!(*kinds[3], run("x", 600_000));
    let names: Vec<&str> = gate.checks.iter().map(|check| &*check.name).collect();
    assert_eq!(names, ["the tests", "make", "./docs/*.md", "x"]);
    assert_eq!(gate.attempts, 1.into());
}

#[test]
fn a_gate_with_errors_keeps_its_workflow_out() {
    for (lines, diagnostic) in [
        ("gate: x", "4:7: `gate`: expected a list of checks, found a string"),
        ("gate: []", "4:7: `gate` must have from 1 to 50 checks"),
        ("gate: [x]", "4:8: `gate`: expected a check, found a string"),
        ("gate: [{}]", "4:8: expected one of `run` and `file` in a check, found none"),
        (
            "gate: [{run: a, file: b, timeout: 1s, contains: c}]",
            "4:8: expected one of `run` and `file` in a check, found `run` and `file`",
        ),
        ("gate: [{rnu: a, timeout: 1s}]", "4:9: unknown field `rnu` in `gate`"),
        ("gate: [{timeout: 1s}]", "4:8: expected one of `run` and `file` in a check, found none"),
        ("gate: [{run: ' '}]", "4:14: `gate.run` must not be empty"),
        ("gate: [{run: [a]}]", "4:14: `gate.run`: expected a string, found a list"),
        ("gate: [{run: a, lable: b}]", "4:17: unknown field `lable` in `gate`"),
        (
            "gate: [{run: a, timeout: soon}]",
            "4:26: `gate.timeout`: expected a duration like `90s` or `10m`, or a number of seconds, at most a day",
        ),
        (
            "gate: [{run: a, timeout: -1}]",
            "4:26: `gate.timeout`: expected a duration like `90s` or `10m`, or a number of seconds, at most a day",
        ),
        (
            "gate: [{run: a, timeout: 25h}]",
            "4:26: `gate.timeout`: expected a duration like `90s` or `10m`, or a number of seconds, at most a day",
        ),
        ("gate: [{file: a, timeout: 1s}]", "4:8: `timeout` belongs to a check with `run`"),
        ("gate: [{run: a, contains: b}]", "4:8: `contains` belongs to a check with `file`"),
        ("gate: [{file: ../a}]", "4:15: `gate.file`: `../a` is outside the project"),
        ("gate: [{file: /etc/passwd}]", "4:15: `gate.file`: `/etc/passwd` is outside the project"),
        ("gate: [{file: 'C:\\a'}]", "4:15: `gate.file`: `C:/a` is outside the project"),
        ("gate: [{file: 'a[b'}]", "4:15: `gate.file`: not a valid glob: `a[b`"),
        (
            "gate: [{run: a}]\ngateAttempts: 0",
            "5:15: `gateAttempts`: expected a whole number from 1 to 1000, found `0`",
        ),
        ("gate: [{run: }]", "4:9: `gate.run` has no value"),
        ("gate: [{file: a, timeout: }]", "4:18: `gate.timeout` has no value"),
        ("gate: [{run: a, contains: }]", "4:17: `gate.contains` has no value"),
        ("gateAttempts: 2", "4:15: `gateAttempts` needs a `gate`"),
        ("gate:\ngateAttempts: 2", "4:1: `gate` has no value"),
    ] {
        let phase = PHASE.replacen("emoji: '*'\n", &format!("{lines}\nemoji: '*'\n"), 1);
        phase_refused(&phase, &[&format!("~/workflows/w/a.md:{diagnostic}")]);
    }
    let phase = phase_with("gate: [{file: a, contains: '('}]\n");
    let (_, diagnostics) = load(&[("w/workflow.yaml", FLOW), ("w/a.md", &phase)]);
    let begin = "~/workflows/w/a.md:5:28: `gate.contains`: not a valid regular expression: ";
    assert!(diagnostics.len() == 1 && diagnostics[0].starts_with(begin), "{diagnostics:?}");
}

#[test]
fn a_name_is_one_short_line() {
    let name = |lines: &str| {
        let phase = phase_with(lines);
        let (library, diagnostics) = load(&[("w/workflow.yaml", FLOW), ("w/a.md", &phase)]);
        let Some(phase) = library.get("w").unwrap().phases[0].as_phase() else { panic!() };
        let gate = phase.gate.as_ref().unwrap();
        (gate.checks[0].name.clone(), diagnostics)
    };
    let long = "é".repeat(101);
    let cut = format!("{}…", "é".repeat(99));
    let diagnostic = "~/workflows/w/a.md:5:23: `gate.name` is longer than 100 characters; it is shortened";
    assert_eq!(name(&format!("gate: [{{run: x, name: {long}}}]\n")), (cut.clone(), vec![diagnostic.to_owned()]));
    assert_eq!(name(&format!("gate: [{{run: x, name: {}}}]\n", "é".repeat(100))).1, [""; 0]);
    assert_eq!(name("gate: [{run: x, name: \"a\\n\\tb\"}]\n"), ("a b".into(), vec![]));
    // The command itself is no slip, and is shown whole before it runs.
    assert_eq!(name(&format!("gate: [{{run: {long}}}]\n")), (cut, vec![]));
}

#[test]
fn an_expression_and_a_glob_are_bounded() {
    for expression in ["(?:a{1,1000}){1,30}!", "a{100000}", "(?:(?:(?:a{99}){99}){99}){99}", "(?:){99999}"] {
        let phase = phase_with(&format!("gate: [{{file: a, contains: '{expression}'}}]\n"));
        let diagnostic = "~/workflows/w/a.md:5:28: `gate.contains`: not a valid regular expression: compiled regex exceeded size limit";
        phase_refused(&phase, &[diagnostic]);
    }
    let a = |groups: usize| "{a,aa,aaa}".repeat(groups);
    for (glob, wide) in [
        (a(4), false),
        (a(5), true),
        ("{a,aa,aaa,aaaa,aaaaa}".repeat(6), true),
        (format!("{{{}}}", ["a"; 100].join(",")), false),
        (format!("{{{}}}", ["a"; 101].join(",")), true),
        ("{a,{b,{c,{d,{e,{f,{g,h}}}}}}}".into(), true),
        ("src/**/{a,b}/*.{js,ts,tsx}".into(), false),
        // A class is no group, nor does a class end a group.
        (format!("{{[}}],{}}}", ["a"; 100].join(",")), true),
        (format!("{{[!]}}],{}}}", ["a"; 100].join(",")), true),
        (format!("[{{]{}[}}]", ["a"; 101].join(",")), false),
    ] {
        let phase = phase_with(&format!("gate: [{{file: '{glob}'}}]\n"));
        let (library, diagnostics) = load(&[("w/workflow.yaml", FLOW), ("w/a.md", &phase)]);
        assert_eq!(library.get("w").is_none(), wide, "{glob}: {diagnostics:?}");
        let diagnostic = "~/workflows/w/a.md:5:15: `gate.file`: the alternatives expand to more than 100 paths";
        assert!(!wide || diagnostics == [diagnostic], "{diagnostics:?}");
    }
    for expression in ["", "LGTM", "^status: (done|ok)$", r"\d{4}-\d{2}-\d{2}", "^## Decision\\s+\\S"] {
        let phase = phase_with(&format!("gate: [{{file: a, contains: '{expression}'}}]\n"));
        let (_, diagnostics) = load(&[("w/workflow.yaml", FLOW), ("w/a.md", &phase)]);
        assert!(expression.is_empty() || diagnostics.is_empty(), "{diagnostics:?}");
    }
}
