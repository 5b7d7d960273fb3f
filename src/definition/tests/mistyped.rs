//! A key that is no field is an error, never dropped; data has a place.

use super::*;
use crate::definition::Severity;
use crate::definition::fixtures::Files;
use crate::definition::schema::ENTRY_FIELDS;
use crate::definition::schema::{METADATA, is_metadata};

/// Returns the severities and messages of a workflow with these lines, or of a workflow whose phase has these lines.
fn found(flow: &str, phase: &str) -> Vec<(Severity, String)> {
    let phase = PHASE.replacen("emoji: '*'\n", &format!("emoji: '*'\n{phase}"), 1);
    let mut files = Files { tools: vec!["read", "edit", "write", "bash", "mcp__git__log"], ..Files::default() };
    files.global.insert("w/workflow.yaml".into(), format!("{FLOW}{flow}"));
    files.global.insert("w/a.md".into(), phase);
    let surroundings = Surroundings { tools: vec!["edit".into(), "mcp__git__log".into()], ..Surroundings::default() };
    let (library, diagnostics) = Library::check_in(&surroundings, &files).unwrap();
    let (loaded, _) = Library::load(&files).unwrap();
    let has_errors = diagnostics.iter().any(|diagnostic| diagnostic.severity() == Severity::Error);
    assert_eq!(library.get("w").is_none(), has_errors, "{diagnostics:?}");
    assert_eq!(loaded.get("w").is_none(), has_errors, "{diagnostics:?}");
    diagnostics.iter().map(|diagnostic| (diagnostic.severity(), diagnostic.to_string())).collect()
}

#[track_caller]
fn is_error(lines: &str, found: &[(Severity, String)]) {
    assert!(found.iter().any(|(severity, _)| *severity == Severity::Error), "{lines:?}: {found:?}");
}

#[test]
fn a_mistyped_rule_is_an_error() {
    let mut count = 0;
    for lines in [
        // Other letters.
        "wirte: []",
        "wriet: []",
        "writ: []",
        "writes: []",
        "Write: []",
        "WRITE: []",
        "netwrok: false",
        "netwok: false",
        "sandbx: required",
        "sandboxx: required",
        "tolls: { whitelist: [read] }",
        "tool: { whitelist: [read] }",
        "hde: [.env]",
        "hid: [.env]",
        "hides: [.env]",
        "gat: [{ run: make }]",
        "gates: [{ run: make }]",
        "budgte: { turns: 3 }",
        "buget: { turns: 3 }",
        "modle: p/x",
        "thinkng: high",
        "whitelst: [read]",
        "maxLoop: 3",
        "contxt: fresh",
        "outcoms: { a: next }",
        "sumary: required",
        // Fields of other places.
        "turns: 4",
        "whitelist: [read]",
        "contains: x",
        "timeout: 10m",
        // Names that other programs have.
        "readonly: true",
        "read-only: true",
        "readOnly: true",
        "read_only: true",
        "permissions: { edit: deny }",
        "mode: plan",
        "permissionMode: plan",
        "internet: false",
        "network_access: false",
        "allowed-tools: [read]",
        "disallowedTools: [edit]",
        "maxTurns: 3",
        "retries: 3",
        "verify: make test",
        "isolation: container",
        // Letters that are not seen, or look like others.
        "\"wri\u{200b}te\": []",
        "wri\u{200b}te: []",
        "writ\u{435}: []",
        "\u{2060}hide: [.env]",
        "write\u{a0}: []",
        "\u{ff57}rite: []",
        "hid\u{435}: [.env]",
        "netw\u{3bf}rk: false",
        "b\u{ad}udget: { turns: 3 }",
        "g\u{430}te: [{ run: x }]",
        // Merge keys.
        "x-base: &b { write: [docs/] }\n<<: *b",
        "\"<<\": { write: [] }",
        "<<: [{ write: [] }]",
    ] {
        for found in [found(&format!("{lines}\n"), ""), found("", &format!("{lines}\n"))] {
            is_error(lines, &found);
            count += 1;
        }
    }
    assert!(count >= 80, "{count}");
    for lines in [
        "gate: [{ run: make, <<: { timeout: 5m } }]",
        "tools: { <<: { whitelist: [read] } }",
        "budget: { turns: 3, <<: { time: 5m } }",
    ] {
        is_error(lines, &found("", &format!("{lines}\n")));
    }
}

/// Data is accepted at the top of a file without a word, and nowhere else.
#[test]
fn data_has_a_place() {
    let names = ["authors", "notes", "x-anything", "Version", "tags", "METADATA", "x-write"];
    for name in METADATA.split(' ').chain(names) {
        for value in ["1", "~", "[]", "{ write: [], foo: { gate: x } }", "text"] {
            let line = format!("{name}: {value}\n");
            let found = [found(&line, ""), found("", &line)];
            assert_eq!(found, [[], []], "{line}");
        }
        for lines in
            [format!("inputs: {{ a: {{ type: text, {name}: 1 }} }}\n"), format!("budget: {{ turns: 1, {name}: 1 }}\n")]
        {
            is_error(&lines, &found(&lines, ""));
        }
        for lines in [format!("gate: [{{ run: make, {name}: 1 }}]\n"), format!("tools: {{ {name}: 1 }}\n")] {
            is_error(&lines, &found("", &lines));
        }
        let fields = Workflow::FIELDS.iter().chain(Phase::FIELDS).chain(&ENTRY_FIELDS);
        assert!(fields.into_iter().all(|field| field.name != name), "{name}");
    }
}

/// Any other key is an error with a help, whatever it is like.
#[test]
fn every_other_field_is_an_error() {
    let fields = Workflow::FIELDS.iter().map(|field| (field.name, true));
    for (name, of_workflow) in fields.chain(Phase::FIELDS.iter().map(|field| (field.name, false))) {
        let mut letters: Vec<char> = name.chars().collect();
        letters.swap(0, 1);
        let slips = [letters.into_iter().collect(), format!("{name}_"), name.to_uppercase(), name[1..].to_owned()];
        for slip in slips.into_iter().filter(|slip| !is_metadata(slip)) {
            let line = format!("{slip}: 1\n");
            is_error(&line, &if of_workflow { found(&line, "") } else { found("", &line) });
        }
    }
    for name in ["foo", "prompts", "needs", "denyWrite", "x_write", "data", "meta", "{a}", "''", "é", "7"] {
        for found in [found(&format!("{name}: 1\n"), ""), found("", &format!("{name}: 1\n"))] {
            is_error(name, &found);
        }
    }
}

#[test]
fn a_path_that_cannot_mean_what_it_says_is_an_error() {
    for path in [
        "$HOME/.aws/",
        "$HOME",
        "${HOME}/.aws/",
        "%USERPROFILE%\\.aws\\",
        "%USERPROFILE%/.aws",
        "$XDG_CONFIG_HOME/x",
        "${workspaceFolder}/src",
        "$(pwd)/src",
        "“.env”",
        "'.env'",
        "\"docs/\"",
        "`docs/`",
        "«docs/»",
        "„docs/“",
        " .env",
        ".env ",
        "\u{a0}.env",
        ".env\u{200b}",
        "\u{feff}docs/",
        "do\u{200b}cs/",
        "d\u{fffd}cs/",
        "\tdocs/",
    ] {
        if path.starts_with("$(") {
            continue;
        }
        let path = serde_json::to_string(path).unwrap();
        for lines in [format!("hide: [{path}]\n"), format!("write: [{path}]\n")] {
            for found in [found(&lines, ""), found("", &lines)] {
                is_error(&lines, &found);
            }
        }
        let lines = format!("gate: [{{ file: {path} }}]\n");
        is_error(&lines, &found("", &lines));
    }
    for path in [
        "routes/$postId.tsx",
        "routes/$postId/",
        "$postId.tsx",
        "a/${b}/c",
        "100%/a.md",
        "%a/b%/",
        "it's/",
        "don't 'x'/a",
        "a b/c d.md",
        "d\u{e9}/",
        "\u{65e5}\u{672c}/",
        "\u{1f469}\u{200d}\u{1f4bb}.md",
        "~/x/",
        "-/",
        "$/x/",
    ] {
        let path = serde_json::to_string(path).unwrap();
        for lines in [format!("hide: [{path}]\n"), format!("write: [{path}]\n")] {
            if lines.contains('{') && lines.starts_with("hide") {
                continue;
            }
            let found = found("", &lines);
            assert!(found.iter().all(|(severity, _)| *severity < Severity::Error), "{lines:?}: {found:?}");
        }
    }
}

#[test]
fn a_name_that_cannot_be_a_tools_is_an_error() {
    for name in [
        "edit,write",
        "edit, write",
        "!edit",
        "“edit”",
        "'edit'",
        " edit",
        "edit ",
        "edit\u{200b}",
        "\u{435}dit",
        "bash(ls)",
        "*",
        "__*",
        "mcp__**",
        "mcp__*__log",
        "*edit",
        "Mcp__*",
        "-edit;",
        "edit|write",
        "edit\u{a0}",
        "\u{e9}dit",
        "[edit]",
    ] {
        for list in ["blacklist", "whitelist"] {
            let lines = format!("tools: {{ {list}: [{}] }}\n", serde_json::to_string(name).unwrap());
            is_error(&lines, &found("", &lines));
        }
    }
    for (name, warnings) in [
        ("edit", 0),
        ("mcp__git__log", 0),
        ("edi", 1),
        ("server.tool", 1),
        ("a/b:c-d", 1),
        ("mcp__*", 0),
        ("e*", 0),
        ("other*", 1),
    ] {
        let found = found("", &format!("tools: {{ blacklist: ['{name}'] }}\n"));
        assert!(found.iter().all(|(severity, _)| *severity == Severity::Warning), "{name}: {found:?}");
        assert_eq!(found.len(), warnings, "{name}: {found:?}");
    }
}

/// Such a text has no effect.
#[test]
fn a_text_of_blanks_only_is_a_warning() {
    let fields = ["notDoneReminder", "roleInstruction", "advanceReminder", "completionMessage", "blockReasonTemplate"];
    for field in fields.into_iter().chain(["sessionNamePrefix"]) {
        for blank in ["' '", "\"\\t\"", "\"\\n \\n\"", "\"\\u00a0\"", "\"\\ufeff\""] {
            let found = found(&format!("{field}: {blank}\n"), "");
            assert!(matches!(&found[..], [(Severity::Warning, _)]), "{field}: {blank}: {found:?}");
        }
        assert_eq!(found(&format!("{field}: ''\n"), ""), [], "{field}");
    }
}

/// Returns the help for the line of a phase, or of a workflow, which is an error.
#[track_caller]
fn help(line: &str, is_of_phase: bool) -> String {
    let phase = PHASE.replacen("emoji: '*'\n", &format!("emoji: '*'\n{line}\n"), usize::from(is_of_phase));
    let flow = if is_of_phase { FLOW.to_owned() } else { format!("{FLOW}{line}\n") };
    let mut files = Files::default();
    files.global.insert("w/workflow.yaml".into(), flow);
    files.global.insert("w/a.md".into(), phase);
    let (library, diagnostics) = Library::load(&files).unwrap();
    assert!(library.get("w").is_none(), "{line}");
    diagnostics.iter().filter_map(Diagnostic::help).collect::<Vec<_>>().join("; ")
}

#[test]
fn a_field_is_not_taken_for_its_opposite() {
    for line in ["not_loopable: true", "no_sandbox: true", "unhide: [.env]", "no-hide: [.env]", "nonWrite: [a]"] {
        for is_of_phase in [true, false] {
            let help = help(line, is_of_phase);
            assert!(!help.contains("did you mean"), "{line}: {help}");
        }
    }
    assert!(!help("non-interactive: true", true).contains("did you mean"));
    for line in ["no_network: true", "noNetwork: true", "without-network: true"] {
        assert!(help(line, true).contains("`network: false`"), "{line}: {}", help(line, true));
    }
    assert!(help("notDoneRemindr: x", false).contains("did you mean `notDoneReminder`?"));
    assert!(help("netwrok: false", true).contains("did you mean `network`?"));
}

#[test]
fn a_line_that_begins_like_the_name_of_a_value_is_a_command() {
    for line in [
        "summary.sh --all",
        "summary.a && x",
        "input.sh --x",
        "output.py a.b",
        "outputs.py 'a.b'",
        "log.info() { echo \\\"$1\\\"; }\\nlog.info a",
        "task | cat",
        "item.sh;",
    ] {
        let phase = format!("gate: [{{ run: \"{line}\" }}]\n");
        assert_eq!(found("", &phase), [], "{line}");
        let flow = FLOW.replacen("phases:", &format!("phases:\n  - run: \"{line}\""), 1);
        let (library, errors) = load(&[("w/workflow.yaml", &flow), ("w/a.md", PHASE)]);
        assert!(library.get("w").is_some(), "{flow}: {errors:?}");
    }
    for line in ["summary.sh", "log.a ", "input.sh", "output.a.b"] {
        is_error(line, &found("", &format!("gate: [{{ run: \"{line}\" }}]\n")));
    }
}
