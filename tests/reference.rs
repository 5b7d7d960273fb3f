//! The tables in `docs/reference.md` are those of the code.
//!
//!     UPDATE_REFERENCE=1 cargo test --test reference
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

use std::path::Path;

use pi_workflows::definition::schema::{
    AUTO_CONTINUE_FIELDS, CHECK_FIELDS, Field, Kind, Needed, PHASE_FIELDS, TOOLS_FIELDS,
    WORKFLOW_FIELDS,
};
use pi_workflows::definition::variables::{MEANINGS, PHASE_VARIABLES};
use pi_workflows::definition::{AutoContinue, DEFAULT_MAX_LOOPS};
use pi_workflows::text::{
    DEFAULT_ADVANCE_REMINDER, DEFAULT_BLOCK_REASON, DEFAULT_CANCELLED_MESSAGE,
    DEFAULT_COMPLETION_MESSAGE, DEFAULT_NOT_DONE_REMINDER, DefaultRole,
};

#[test]
fn the_reference_says_what_the_code_says() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/reference.md");
    let there = std::fs::read_to_string(&path).unwrap();
    let mut text = there.clone();
    for (name, content) in [
        ("workflow fields", fields(&WORKFLOW_FIELDS, "")),
        ("autoContinue fields", fields(&AUTO_CONTINUE_FIELDS, "autoContinue.")),
        ("phase fields", fields(&PHASE_FIELDS, "")),
        ("tools fields", fields(&TOOLS_FIELDS, "tools.")),
        ("check fields", fields(&CHECK_FIELDS, "gate[].")),
        ("variables", variables()),
        ("default texts", default_texts()),
    ] {
        let (begin, end) = (format!("<!-- {name} -->\n"), "<!-- end -->");
        let start = text.find(&begin).unwrap_or_else(|| panic!("no {name}")) + begin.len();
        let length = text[start..].find(end).unwrap();
        text.replace_range(start..start + length, &format!("\n{content}\n"));
    }
    if std::env::var_os("UPDATE_REFERENCE").is_some() {
        std::fs::write(&path, &text).unwrap();
    }
    assert_eq!(there, text, "run UPDATE_REFERENCE=1 cargo test --test reference");
}

fn fields(fields: &[Field], prefix: &str) -> String {
    let mut lines = vec![
        "| field | value | default | meaning |".to_owned(),
        "| --- | --- | --- | --- |".into(),
    ];
    lines.extend(fields.iter().map(|field| {
        let default = match field.needed {
            Needed::Always => "needed",
            Needed::ToStart => "needed, but not with `show: workflows`",
            Needed::Not => field.default,
        };
        format!("| `{prefix}{}` | {} | {default} | {} |", field.name, value(field), field.about)
    }));
    lines.join("\n") + "\n"
}

fn value(field: &Field) -> String {
    match field.kind {
        Kind::Text | Kind::FreeText => "text".into(),
        Kind::Template(_) => "template".into(),
        Kind::CommandName => "letters, digits, `_`, `-`".into(),
        Kind::OneOf(words) => format!("`{}`", words.join("`, `")),
        Kind::Bool => "`true`, `false`".into(),
        Kind::Number => "number from 0".into(),
        Kind::WholeNumber(most) => format!("whole number from 0 to {most}"),
        Kind::Names => "list of names".into(),
        Kind::Phases(most) => format!("list of 1 to {most} entries"),
        Kind::Mapping { switch: true, .. } => "`true`, `false`, or a mapping, see below".into(),
        Kind::Mapping { .. } => "mapping, see below".into(),
        Kind::Checks(_) => "list of checks, see below".into(),
        Kind::Count(most) => format!("whole number from 1 to {most}"),
        Kind::Duration => "`90s`, `10m`, or a number of seconds".into(),
    }
}

fn variables() -> String {
    let mut lines =
        vec!["| variable | known in | stands for |".to_owned(), "| --- | --- | --- |".into()];
    for (name, meaning) in MEANINGS {
        let mut known = Vec::new();
        if PHASE_VARIABLES.contains(&name) {
            known.push("the text of a phase".to_owned());
        }
        for field in &WORKFLOW_FIELDS {
            if matches!(field.kind, Kind::Template(variables) if variables.contains(&name)) {
                known.push(format!("`{}`", field.name));
            }
        }
        assert!(!known.is_empty(), "nobody knows {name}");
        lines.push(format!("| `{{{name}}}` | {} | {meaning} |", known.join(", ")));
    }
    for field in &WORKFLOW_FIELDS {
        let Kind::Template(variables) = field.kind else { continue };
        for name in variables {
            assert!(MEANINGS.iter().any(|(known, _)| known == name), "{name} has no meaning");
        }
    }
    lines.join("\n") + "\n"
}

fn default_texts() -> String {
    let texts = [
        ("`roleInstruction`", DefaultRole::Worker.text()),
        (
            "`roleInstruction`, where a tool `delegate_to_subagents` is registered",
            DefaultRole::Orchestrator.text(),
        ),
        ("`advanceReminder`", DEFAULT_ADVANCE_REMINDER),
        ("`blockReasonTemplate`; below it, which tools the phase allows", DEFAULT_BLOCK_REASON),
        ("`completionMessage`; below it, what the phases handed over", DEFAULT_COMPLETION_MESSAGE),
        ("`completionMessage`, after a cancellation", DEFAULT_CANCELLED_MESSAGE),
        ("`notDoneReminder`", DEFAULT_NOT_DONE_REMINDER),
    ];
    let block = |(name, text): &(&str, &str)| format!("{name}:\n\n```text\n{text}\n```\n");
    texts.iter().map(block).collect::<Vec<_>>().join("\n")
}

#[test]
fn the_defaults_are_those_of_the_code() {
    let default = |fields: &[Field], name: &str| {
        fields.iter().find(|field| field.name == name).unwrap().default.to_owned()
    };
    let bounds = AutoContinue::default();
    for (name, value) in [
        ("delaySeconds", bounds.delay_seconds),
        ("maxPerPhase", bounds.max_per_phase),
        ("maxIdle", bounds.max_idle),
    ] {
        assert_eq!(default(&AUTO_CONTINUE_FIELDS, name), value.to_string());
    }
    assert_eq!(default(&WORKFLOW_FIELDS, "maxLoops"), DEFAULT_MAX_LOOPS.to_string());
}

#[test]
fn the_skill_names_every_field_and_variable() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("skills/workflow-authoring/SKILL.md");
    let skill = std::fs::read_to_string(path).unwrap();
    let names =
        [&WORKFLOW_FIELDS[..], &AUTO_CONTINUE_FIELDS, &PHASE_FIELDS, &TOOLS_FIELDS].concat();
    let names = names.iter().map(|field| field.name).chain(MEANINGS.map(|(name, _)| name));
    let missing: Vec<&str> = names
        .filter(|name| {
            ["`{name}`", "`{name}: ", "`tools.{name}`", "`{{name}}`", "\n{name}: ", "\n{name}:\n"]
                .iter()
                .all(|form| !skill.contains(&form.replace("{name}", name)))
        })
        .collect();
    assert_eq!(missing, [""; 0]);
}
