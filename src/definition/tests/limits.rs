//! `write`, `network`, `sandbox` and `tests` as they are written.

use std::borrow::Cow;

use super::*;

fn phase_with(lines: &str) -> String {
    PHASE.replacen("emoji: '*'\n", &format!("emoji: '*'\n{lines}"), 1)
}

fn limits(lines: &str) -> (Option<OwnLimits>, Vec<String>) {
    let (library, diagnostics) = load(&[("w/workflow.yaml", FLOW), ("w/a.md", &phase_with(&format!("{lines}\n")))]);
    let of_phase = |workflow: &Workflow| match &workflow.phases[..] {
        [entry] => entry.as_phase().unwrap().limits.clone(),
        other => panic!("{other:?}"),
    };
    (library.get("w").map(of_phase), diagnostics)
}

#[test]
fn limits_are_read() {
    for (lines, write, network, sandbox) in [
        ("", None, None, None),
        ("write: []", Some(vec![]), None, None),
        ("write: [a]\nnetwork: true", Some(vec!["a"]), Some(true), None),
        ("sandbox: off", None, None, Some(Sandbox::Off)),
        ("sandbox: 'off'", None, None, Some(Sandbox::Off)),
        ("sandbox: required", None, None, Some(Sandbox::Required)),
        ("network: false\nsandbox: preferred", None, Some(false), Some(Sandbox::Preferred)),
        (
            "write: [../a/, '~/.cargo/', /tmp/x, 'a/../b*', 'src\\**\\*.rs', 'app/[id]/x{1,2}', 'a..b*/..c']",
            Some(vec!["../a/", "~/.cargo/", "/tmp/x", "a/../b*", "src/**/*.rs", "app/[id]/x{1,2}", "a..b*/..c"]),
            None,
            None,
        ),
    ] {
        let write = write.map(|write| write.into_iter().map(str::to_owned).collect());
        let expected = OwnLimits { write, network, sandbox, ..OwnLimits::default() };
        assert_eq!(limits(lines), (Some(expected), vec![]), "{lines}");
    }
}

#[test]
fn an_invalid_limit_keeps_its_workflow_out() {
    let many = format!("write: [{}]", ["a"; 101].join(", "));
    let wide = format!("write: ['{}']", "{a,aa,aaa}".repeat(5));
    for (lines, diagnostic) in [
        ("write: docs/", "5:8: `write`: expected a list of paths, found a string"),
        ("write:", "5:1: `write` has no value"),
        ("write: false", "5:8: `write`: expected a list of paths, found a boolean"),
        ("write: {docs: x}", "5:8: `write`: expected a list of paths, found a mapping"),
        ("write: ['']", "5:9: `write` must not be empty"),
        ("write: [a, ' ']", "5:12: `write` must not be empty"),
        ("write: [a, 2024]", "5:12: `write`: expected a string, found a number"),
        ("write: [~]", "5:9: `write`: expected a string, found an empty value"),
        ("write: [[a]]", "5:9: `write`: expected a string, found a list"),
        ("write: [\"a\\0b\"]", "5:9: `write`: a path cannot have control characters"),
        ("write: [\"a\\nb\"]", "5:9: `write`: a path cannot have control characters"),
        ("write: ['a[b']", "5:9: `write`: not a valid glob: `a[b`"),
        ("write: ['a{b']", "5:9: `write`: not a valid glob: `a{b`"),
        (&wide, "5:9: `write`: the alternatives expand to more than 100 paths"),
        (&many, "5:8: `write` must not have more than 100 entries"),
        ("write: ['a/*/../b']", "5:9: `write`: `..` stands behind a wildcard in `a/*/../b`"),
        ("write: ['a/{b,../c}']", "5:9: `write`: `..` stands behind a wildcard in `a/{b,../c}`"),
        ("write: ['a/{..,c}']", "5:9: `write`: `..` stands behind a wildcard in `a/{..,c}`"),
        ("write: ['*\\..\\b']", "5:9: `write`: `..` stands behind a wildcard in `*/../b`"),
        ("write: ['!a']", "5:9: `write`: `!a` begins with `!`, and a path cannot be excluded"),
        ("write: ['a/!*']", "5:9: `write`: `a/!*` begins with `!`, and a path cannot be excluded"),
        ("network:", "5:1: `network` has no value"),
        ("sandbox:", "5:1: `sandbox` has no value"),
        ("network: off", "5:10: `network`: expected `true` or `false`, found `off`"),
        ("network: 0", "5:10: `network`: expected `true` or `false`, found a number"),
        ("sandbox: false", "5:10: `sandbox`: expected `required`, `preferred` or `off`, found `false`"),
        ("sandbox: no", "5:10: `sandbox`: expected `required`, `preferred` or `off`, found `no`"),
        ("sandbox: [off]", "5:10: `sandbox`: expected `required`, `preferred` or `off`, found a list"),
        ("writes: [a]", "5:1: unknown field `writes`"),
        ("Write: [a]", "5:1: unknown field `Write`"),
        ("Network: false", "5:1: unknown field `Network`"),
        ("SANDBOX: off", "5:1: unknown field `SANDBOX`"),
    ] {
        phase_refused(&phase_with(&format!("{lines}\n")), &[&format!("~/workflows/w/a.md:{diagnostic}")]);
        let (at, message) = diagnostic.split_once(':').unwrap();
        let line = at.parse::<usize>().unwrap() + 1;
        refused(&format!("{FLOW}{lines}\n"), &[&format!("~/workflows/w/workflow.yaml:{line}:{message}")]);
    }
}

#[test]
fn limits_of_a_phase_stand_before_those_of_the_workflow() {
    let inner = "name: I\nshow: workflows\nphases: [../w/b.md]\n";
    let flow = format!("{FLOW}  - b.md\n  - subworkflow: i\nwrite: [a]\nnetwork: false\n");
    let own = phase_with("write: []\nnetwork: true\nsandbox: off\n");
    let other = PHASE.replace("id: a", "id: b");
    let (library, diagnostics) =
        load(&[("w/workflow.yaml", &flow), ("w/a.md", &own), ("w/b.md", &other), ("i/workflow.yaml", inner)]);
    assert_eq!(diagnostics, [""; 0]);
    let of = |key: &str, index: usize| {
        let workflow = library.get(key).unwrap();
        let EntryKind::Phase(phase) = &workflow.phases[index].kind else { panic!() };
        let limits = Limits::of(phase, workflow);
        let write = limits.write.clone().map(Cow::into_owned);
        (write, limits.write_file, limits.network, limits.sandbox, limits.confine_commands())
    };
    assert_eq!(of("w", 0), (Some(vec![]), RuleFile::Own, true, Sandbox::Off, false));
    let default = Some(vec!["a".to_owned()]);
    assert_eq!(of("w", 1), (default, RuleFile::Workflow, false, Sandbox::Required, true));
    assert_eq!(of("i", 0), (None, RuleFile::Own, true, Sandbox::Required, false), "not nested");
}
