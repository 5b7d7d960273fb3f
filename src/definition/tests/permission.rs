//! Given these rules, exactly this decision.

use proptest::prelude::*;

use super::*;
use crate::definition::fixtures::{Files, phase, workflow};
use crate::definition::model::permission::{WritablePath, split};
use crate::definition::model::{below, resolve_fixed};
use crate::definition::read::own_limits;
use crate::definition::read::yaml::Yaml;

fn limited(write: Option<&[&str]>, tools: ToolPolicy) -> Phase {
    let write = write.map(|rules| rules.iter().map(|rule| (*rule).to_owned()).collect());
    let limits = OwnLimits { write, ..OwnLimits::default() };
    Phase { limits, tools, ..phase("a") }
}

fn decide(phase: &Phase, tool: &str, path: Option<&str>, host: &Files) -> Permission {
    let path = || Ok(path.map(ToOwned::to_owned));
    permission((&phase.tools, &Limits::of(phase, &workflow("w", &[]))), tool, false, &path, host).unwrap()
}

/// Checks which of the given paths `edit` and `write` may write with these rules.
#[track_caller]
fn writes(rules: &[&str], allowed: &[&str], refused: &[&str]) {
    let host = Files { linked: vec!["/project/link".into()], ..Files::default() };
    let phase = limited(Some(rules), ToolPolicy::All);
    for (path, expected) in allowed.iter().map(|path| (path, true)).chain(refused.iter().map(|path| (path, false))) {
        for tool in ["edit", "write"] {
            let decision = decide(&phase, tool, Some(path), &host);
            let found = matches!(decision, Permission::Files { .. });
            assert_eq!(found, expected, "{path:?} with {rules:?}: {decision:?}");
            assert_eq!(!found, matches!(decision, Permission::Refused(Refusal::Path { .. })));
        }
    }
}

#[test]
fn the_paths_of_file_tools_are_compared_with_the_rules() {
    writes(&[], &[], &["a", ".", "", "/", "~/a", "/project/a"]);
    writes(
        &["docs/plan.md", "tests/"],
        &[
            "docs/plan.md",
            "./docs/plan.md",
            "@docs/plan.md",
            "/project/docs/plan.md",
            "x/../docs/plan.md",
            "tests/a",
            "tests/a/b",
            "tests/.x",
            "docs/plan.md/below",
        ],
        &[
            "docs/plan.md2",
            "docs/plan",
            "docs",
            "docs/",
            "Docs/plan.md",
            "tests",
            "tests/",
            "tests2/a",
            "tests/../a",
            "x/tests/a",
            "/tests/a",
            "~/tests/a",
            "../tests/a",
            "",
        ],
    );
    writes(&["docs"], &["docs", "docs/a", "docs/a/b"], &["docs2", "docs2/a", "doc", "a/docs"]);
    writes(&["."], &["a", "a/b", ".git/x"], &["../a", "/a", "~/a", "/project2/a", "."]);
    writes(&["/"], &["a", "/etc/passwd", "~/a"], &["/"]);
    writes(
        &["~/.cargo/", "../other/x"],
        &["~/.cargo/a", "../other/x", "/home/.cargo/b"],
        &["~/a", "~/.cargo", ".cargo/a", "../other/y"],
    );
    writes(&["@types/"], &["./@types/a", "/project/@types/a"], &["types/a", "@types/a"]);
}

#[test]
fn globs_are_those_of_gates() {
    writes(&["src/*.rs"], &["src/a.rs", "./src/a.rs"], &["src/a/b.rs", "src/a.js", "a.rs", "src"]);
    writes(&["src/**/*.rs"], &["src/a.rs", "src/a/b.rs"], &["src/a.js", "src/../a.rs", "src"]);
    writes(&["src/**"], &["src/a", "src/a/b"], &["src", "src2/a", "a"]);
    writes(&["*/out/"], &["a/out/x", "a/out/x/y"], &["out/x", "a/b/out/x", "a/x", "../a/out/x"]);
    writes(&["*"], &["a", "b.md"], &["a/b", ".", "../a"]);
    writes(&["*.{md,txt}"], &["a.md", "a.txt"], &["a.rs", "a/b.md"]);
    writes(&["src/./*//./x"], &["src/a/x"], &["src/x"]);
    writes(&["app/[id]/page.ts"], &["app/[id]/page.ts", "app/i/page.ts"], &["app/x/page.ts"]);
    writes(&["../*.md"], &["../a.md"], &["a.md", "../a/b.md"]);
    writes(&["/*.txt"], &["/a.txt"], &["/a/b.txt", "a.txt"]);
}

#[test]
fn a_rule_through_a_link_allows_nothing() {
    writes(&["link/", "link/a", "link/*"], &[], &["link/a", "link/a/b", "link"]);
    // A path through a link is compared by the target of the link, which the host tells.
    writes(&["."], &["link/a"], &[]);
}

#[test]
fn commands_are_confined_where_there_is_a_limit() {
    let host = Files { linked: vec!["/project/link".into()], ..Files::default() };
    let rules = ["docs/plan.md", "tests/", "src/**/*.rs", "*.md", "~/.cargo/", "/", "link/"];
    let bash = |phase: &Phase| decide(phase, "bash", None, &host);
    let confined = |writable: &[&str], named: &[&str], network| {
        let places = writable.iter().zip(named).map(|(path, named)| place(path, named)).collect();
        let writable = (writable != ["/"]).then_some(places);
        let (files, unconfined) = (access(writable, &[]), Sandbox::Required);
        Permission::Confined { files, network, unconfined }
    };
    let mut limited = limited(Some(&rules), ToolPolicy::All);
    let writable = ["/project/docs/plan.md", "/project/tests/", "/project/src/", "/project/", "/home/.cargo/", "/"];
    let named = ["docs/plan.md", "tests/", "src/", "./", "~/.cargo/", "/"];
    assert_eq!(bash(&limited), confined(&writable, &named, true));
    assert_eq!(decide(&limited, "powershell", None, &host), confined(&writable, &named, true));
    limited.limits.write = Some(vec![]);
    assert_eq!(bash(&limited), confined(&[], &[], true));
    limited.limits.network = Some(false);
    assert_eq!(bash(&limited), confined(&[], &[], false));
    limited.limits.write = None;
    assert_eq!(bash(&limited), confined(&["/"], &[], false));
    assert_eq!(decide(&limited, "write", Some("/etc/x"), &host), Permission::Allowed);
    assert_eq!(decide(&limited, "other", None, &host), Permission::Allowed);
    limited.limits.sandbox = Some(Sandbox::Preferred);
    let preferred = Permission::Confined { files: access(None, &[]), network: false, unconfined: Sandbox::Preferred };
    assert_eq!(bash(&limited), preferred);
    limited.limits.sandbox = Some(Sandbox::Off);
    limited.limits.write = Some(vec![]);
    assert_eq!(bash(&limited), Permission::Allowed);
    assert!(matches!(decide(&limited, "edit", Some("a"), &host), Permission::Refused(_)));
    limited.limits = OwnLimits { sandbox: Some(Sandbox::Required), ..OwnLimits::default() };
    assert_eq!(bash(&limited), Permission::Allowed, "there is no limit");
}

#[test]
fn other_tools_need_a_whitelist() {
    let host = Files::default();
    let only = |names: &[&str]| ToolPolicy::Only(names.iter().map(|name| (*name).to_owned()).collect());
    let tool = Permission::Refused(Refusal::Tool);
    let open = limited(Some(&["docs/"]), ToolPolicy::All);
    for name in ["read", "grep", "find", "ls", "workflow_step"] {
        assert_eq!(decide(&open, name, Some("/etc/x"), &host), Permission::Allowed, "{name}");
    }
    for name in ["other", "Write", "BASH", ""] {
        let refused = Permission::Refused(Refusal::MayWrite);
        assert_eq!(decide(&open, name, Some("docs/x"), &host), refused, "{name}");
    }
    let listed = limited(Some(&[]), only(&["other", "write"]));
    assert_eq!(decide(&listed, "other", None, &host), Permission::Allowed);
    assert_eq!(decide(&listed, "read", None, &host), tool);
    assert_eq!(decide(&listed, "bash", None, &host), tool);
    assert_eq!(decide(&listed, "workflow_step", None, &host), Permission::Allowed);
    let refused = Refusal::Path { path: "a".into(), link_target: None, linked_rule: None };
    assert_eq!(decide(&listed, "write", Some("a"), &host), Permission::Refused(refused));
    let except = limited(Some(&["docs/"]), ToolPolicy::Except(vec!["write".into()]));
    assert_eq!(decide(&except, "write", Some("docs/a"), &host), tool);
    assert_eq!(decide(&except, "other", None, &host), Permission::Refused(Refusal::MayWrite));
    // Each carried call gets its own decision.
    let carrier = |phase: &Phase| {
        permission((&phase.tools, &Limits::of(phase, &workflow("w", &[]))), "script", true, &|| Ok(None), &host)
            .unwrap()
    };
    assert_eq!([&open, &listed, &except].map(carrier), [const { Permission::Allowed }; 3]);
    let barred = limited(None, ToolPolicy::Except(vec!["script".into()]));
    assert_eq!(carrier(&barred), tool);
}

#[test]
fn a_path_that_is_not_known_is_refused() {
    /// A host that resolves nothing.
    struct Silent;
    impl WorkflowFiles for Silent {
        fn roots(&self) -> Result<Vec<Root>, Stale> {
            Ok(vec![])
        }
        fn list(&self, _: &str, _: &str) -> Result<Vec<DirEntry>, ReadError> {
            Ok(vec![])
        }
        fn read(&self, _: &str, _: &str) -> Result<Vec<u8>, ReadError> {
            Ok(vec![])
        }
    }
    let phase = limited(Some(&["/", "."]), ToolPolicy::All);
    let decide = |tool, path: Option<&str>| {
        let path = || Ok(path.map(ToOwned::to_owned));
        permission((&phase.tools, &Limits::of(&phase, &workflow("w", &[]))), tool, false, &path, &Silent).unwrap()
    };
    let refused = |path: &str, reason: &str| {
        Permission::Refused(Refusal::Unresolved { path: path.into(), reason: reason.into() })
    };
    assert_eq!(decide("write", Some("a")), refused("a", "the host does not tell"));
    let files = access(Some(vec![]), &[]);
    let nothing = Permission::Confined { files, network: true, unconfined: Sandbox::Required };
    assert_eq!(decide("bash", None), nothing);
    let without = permission(
        (&phase.tools, &Limits::of(&phase, &workflow("w", &[]))),
        "edit",
        false,
        &|| Ok(None),
        &Files::default(),
    );
    assert_eq!(without, Ok(refused("", "the call has no readable `path`")));
}

#[test]
fn a_rule_is_split_before_its_first_wildcard() {
    for (rule, fixed, glob) in [
        ("docs/plan.md", "docs/plan.md", None),
        ("docs/", "docs/", None),
        ("src/**/*.rs", "src/", Some("**/*.rs")),
        ("*.md", "", Some("*.md")),
        ("a/b?/c", "a/", Some("b?/c")),
        ("/[a]/b", "/", Some("[a]/b")),
        ("a{b/c}", "", Some("a{b/c}")),
        ("", "", None),
    ] {
        assert_eq!(split(rule), (fixed, glob), "{rule}");
    }
}

/// A path of parts that lead up, down, to a link and to names that begin alike.
fn path() -> impl Strategy<Value = String> {
    let parts =
        prop::collection::vec(prop::sample::select(vec!["a", "ab", "..", ".", "", "link", "~", "@a", "A"]), 0..6);
    (prop::sample::select(vec!["", "/", "~/", "@", "./"]), parts)
        .prop_map(|(start, parts)| format!("{start}{}", parts.join("/")))
}

fn rule() -> impl Strategy<Value = String> {
    let end = prop::sample::select(vec!["", "/", "/*", "/**", "/a*/b", "/{a,ab}", "/[ab]", "/*/"]);
    (path(), end).prop_map(|(path, end)| format!("{path}{end}"))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// A path that is allowed lies below the fixed part of a rule that leads through no link, and in a path to which
    /// commands are held.
    #[test]
    fn nothing_outside_of_the_rules_is_allowed(
        rules in prop::collection::vec(rule(), 0..4),
        path in path(),
    ) {
        let host = Files { linked: vec!["/project/link".into()], ..Files::default() };
        let limits = OwnLimits { write: Some(rules.clone()), ..OwnLimits::default() };
        let phase = Phase { limits, ..phase("a") };
        if let Permission::Files(FileAccess { writable: Some(writable), .. }) = decide(&phase, "write", Some(&path), &host) {
            let target = host.resolve_write(&path).unwrap().unwrap().path;
            let of_rule = |rule: &String| {
                let base = resolve_fixed(split(rule).0, &host).unwrap().unwrap();
                !base.linked && below(&target, &base.path).is_some()
            };
            prop_assert!(rules.iter().any(of_rule), "{target}");
            let held = |base: &WritablePath| below(&target, &base.path).is_some_and(|rest| !rest.is_empty() || !base.path.ends_with('/'));
            prop_assert!(writable.iter().any(held), "{target}");
            let Permission::Confined { files: of_commands, network: true, .. } =
                decide(&phase, "bash", None, &host)
            else {
                panic!()
            };
            // A name leads to its path.
            for WritablePath { path, named } in &writable {
                let leads = resolve_fixed(named, &host).unwrap().unwrap().path;
                prop_assert_eq!(path.trim_end_matches('/'), leads.trim_end_matches('/'), "{}", named);
            }
            prop_assert_eq!(of_commands.writable, Some(writable));
        }
    }

    /// Two sets of rules together allow only calls that each set allows.
    #[test]
    fn both_sets_of_rules_hold(
        rules in [prop::collection::vec(rule(), 0..4), prop::collection::vec(rule(), 0..4)],
        path in path(),
    ) {
        let host = Files::default();
        let [one, other] = rules.map(|rules| {
            let limits = OwnLimits { write: Some(rules), ..OwnLimits::default() };
            Phase { limits, ..phase("a") }
        });
        for tool in ["write", "bash"] {
            let [one, other] = [&one, &other].map(|phase| decide(phase, tool, Some(&path), &host));
            let both = one.clone().and(other.clone());
            let paths = |decision: &Permission| match decision {
                Permission::Files(files) | Permission::Confined { files, .. } => Some(files.paths()),
                Permission::Allowed | Permission::Refused(_) => None,
            };
            let (Some(one), Some(other)) = (paths(&one), paths(&other)) else {
                prop_assert!(matches!(both, Permission::Refused(_)));
                continue;
            };
            let both = paths(&both).unwrap();
            let is_in = |path: &str, list: &[String]| {
                list.iter().any(|base| path == base || base.ends_with('/') && path.starts_with(base.as_str()))
            };
            // A path is in both exactly if it is in each.
            for path in one.iter().chain(&other).chain(&both) {
                prop_assert_eq!(is_in(path, &both), is_in(path, &one) && is_in(path, &other), "{}", path);
            }
        }
    }

    /// A rule that can be read decides on any path.
    #[test]
    fn any_rule_is_read_or_refused(text in ".{0,40}", path in ".{0,20}") {
        if let Ok(read) = own_limits::rule(&Yaml::String(text)) {
            prop_assert!(!read.contains(['\\', '\0', '\n']));
            let limits = OwnLimits { write: Some(vec![read]), ..OwnLimits::default() };
            let phase = Phase { limits, ..phase("a") };
            let _ = decide(&phase, "write", Some(&path), &Files::default());
        }
    }
}

fn place(path: &str, named: &str) -> WritablePath {
    WritablePath { path: path.into(), named: named.into() }
}

fn access(writable: Option<Vec<WritablePath>>, hidden: &[&str]) -> FileAccess {
    let hidden = hidden.iter().map(|&path| path.to_owned()).collect();
    FileAccess { writable, hidden, keeps_agent_folder: false, kept: vec![] }
}

/// Returns a phase that hides these paths.
fn hiding(rules: &[&str], tools: ToolPolicy) -> Phase {
    let hide = Some(rules.iter().map(|rule| (*rule).to_owned()).collect());
    let limits = OwnLimits { hide, ..OwnLimits::default() };
    Phase { limits, tools, ..phase("a") }
}

#[test]
fn file_tools_do_not_reach_what_is_hidden() {
    let host = Files { linked: vec!["/project/link".into()], ..Files::default() };
    let phase = hiding(&["tests/acceptance/", ".env", "~/.ssh/", "@a"], ToolPolicy::All);
    let is_hidden = |tool: &str, path: Option<&str>| match decide(&phase, tool, path, &host) {
        Permission::Refused(Refusal::Hidden { .. }) => true,
        Permission::Files(FileAccess { writable, hidden, .. }) => {
            assert_eq!(writable, None);
            assert_eq!(hidden, ["tests/acceptance/", ".env", "~/.ssh/", "./@a"]);
            false
        }
        other => panic!("{other:?}"),
    };
    for path in [
        "tests/acceptance",
        "tests/acceptance/a",
        "./x/../tests/acceptance/b/c",
        "/project/.env",
        "@.env",
        "~/.ssh/id",
        "@@a",
    ] {
        for tool in ["read", "edit", "write", "grep", "find", "ls"] {
            assert!(is_hidden(tool, Some(path)), "{tool} {path}");
        }
    }
    for path in ["tests/x", "tests/acceptance2/a", ".env.example", "src", "~/ssh", "a"] {
        for tool in ["read", "edit", "write", "grep", "find", "ls"] {
            assert!(!is_hidden(tool, Some(path)), "{tool} {path}");
        }
    }
    // Names are no secret, so only `grep` is kept away from the folders around it.
    for path in [Some("tests"), Some("."), Some("/"), Some("~"), None] {
        assert!(is_hidden("grep", path), "{path:?}");
        for tool in ["find", "ls"] {
            assert!(!is_hidden(tool, path), "{tool} {path:?}");
        }
    }
    assert!(is_hidden("read", None) && is_hidden("write", Some("a\0")));
}

#[test]
fn tools_that_may_read_anything_need_a_whitelist() {
    let host = Files::default();
    let may_read = Permission::Refused(Refusal::Hidden { path: String::new(), cause: HiddenCause::MayRead });
    let phase = hiding(&[".env"], ToolPolicy::All);
    assert_eq!(decide(&phase, "deploy", None, &host), may_read);
    let listed = hiding(&[".env"], ToolPolicy::Only(vec!["deploy".into()]));
    assert_eq!(decide(&listed, "deploy", None, &host), Permission::Allowed);
    let nothing = hiding(&[], ToolPolicy::All);
    for tool in ["deploy", "bash", "read", "grep"] {
        assert_eq!(decide(&nothing, tool, None, &host), Permission::Allowed, "{tool}");
    }
}

#[test]
fn commands_are_confined_by_hide_whatever_sandbox_says() {
    let host = Files::default();
    let mut phase = hiding(&[".env"], ToolPolicy::All);
    let confined = |writable: Option<&WritablePath>, network| Permission::Confined {
        files: access(writable.map(|place| vec![place.clone()]), &[".env"]),
        network,
        unconfined: Sandbox::Required,
    };
    let docs = place("/project/docs/", "docs/");
    assert_eq!(decide(&phase, "bash", None, &host), confined(None, true));
    phase.limits.write = Some(vec!["docs/".into()]);
    phase.limits.network = Some(false);
    for sandbox in [None, Some(Sandbox::Required), Some(Sandbox::Preferred)] {
        phase.limits.sandbox = sandbox;
        assert_eq!(decide(&phase, "bash", None, &host), confined(Some(&docs), false));
    }
    phase.limits.sandbox = Some(Sandbox::Off);
    assert_eq!(decide(&phase, "bash", None, &host), confined(None, true));
    // `write` still holds for file tools.
    let outside = decide(&phase, "write", Some("src/x"), &host);
    assert!(matches!(outside, Permission::Refused(Refusal::Path { .. })), "{outside:?}");
    assert_eq!(decide(&phase, "write", Some("docs/x"), &host), Permission::Files(access(Some(vec![docs]), &[".env"])));
}

#[test]
fn a_phase_has_the_hidden_paths_of_its_workflow_unless_it_has_its_own() {
    let host = Files::default();
    let mut workflow = workflow("w", &[]);
    workflow.limits.hide = Some(vec![".env".into()]);
    let hidden = |phase: &Phase| {
        let path = || Ok(Some(".env".to_owned()));
        let decision = permission((&phase.tools, &Limits::of(phase, &workflow)), "read", false, &path, &host).unwrap();
        matches!(decision, Permission::Refused(Refusal::Hidden { .. }))
    };
    assert!(hidden(&phase("a")));
    assert!(!hidden(&hiding(&["tests/"], ToolPolicy::All)));
    assert!(!hidden(&hiding(&[], ToolPolicy::All)));
}
