//! The tables in `docs/reference/` and in the skill are generated from the code, and the messages in the reference occur
//! in the code.
//!
//!     UPDATE_REFERENCE=1 cargo test --test reference
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

use std::path::{Path, PathBuf};
use std::sync::Once;

use pi_workflows::definition::schema::{
    BUDGET_FIELDS, CHECK_FIELDS, ENTRY_FIELDS, Field, INPUT_FIELDS, Kind, LIMITS_FIELDS, OUTPUT_FIELDS, RECORD_FIELDS,
    SETTINGS_FIELDS, TOOLS_FIELDS,
};
use pi_workflows::definition::variables::{MEANINGS, NAMED, PHASE_VARIABLES};
use pi_workflows::definition::{Phase, Workflow};
use pi_workflows::text::{
    DEFAULT_ADVANCE_REMINDER, DEFAULT_BLOCK_REASON, DEFAULT_CANCELLED_MESSAGE, DEFAULT_COMPLETION_MESSAGE,
    DEFAULT_NOT_DONE_REMINDER, DEFAULT_STOP_MESSAGE, DefaultRole,
};
use pi_workflows::watch::{EVENTS, EXIT, EventField, EventKind, Given, HEAD, Sums};

const REFERENCE: &str = "docs/reference";
const DIAGNOSTICS: &str = "docs/reference/diagnostics.md";
const SKILL: &str = "skills/workflow-authoring/SKILL.md";

#[test]
fn the_tables_of_the_reference_are_up_to_date() {
    for page in pages_of_reference() {
        is_up_to_date(&page);
    }
}

/// A table whose mark no page has is never generated, and one in two pages is told twice.
#[test]
fn each_table_of_the_reference_is_in_one_page() {
    let pages: String = pages_of_reference().iter().map(|page| read(page)).collect();
    let tables = tables_of_reference();
    let marks = |name: &str| pages.matches(&format!("<!-- {name} -->\n")).count();
    let misplaced: Vec<&str> = tables.iter().map(|(name, _)| *name).filter(|name| marks(name) != 1).collect();
    assert_eq!(misplaced, [""; 0]);
}

#[test]
fn the_tables_of_the_skill_are_up_to_date() {
    is_up_to_date(SKILL);
}

#[track_caller]
fn is_up_to_date(page: &str) {
    assert_eq!(read(page), generated(page), "run UPDATE_REFERENCE=1 cargo test --test reference");
}

/// Returns a page. With `UPDATE_REFERENCE` every test reads the pages behind the update.
fn read(page: &str) -> String {
    static UPDATE: Once = Once::new();
    UPDATE.call_once(|| {
        let pages = pages_of_reference().into_iter().chain([SKILL.to_owned()]);
        for page in pages.filter(|_| std::env::var_os("UPDATE_REFERENCE").is_some()) {
            std::fs::write(path(&page), generated(&page)).unwrap();
        }
    });
    std::fs::read_to_string(path(page)).unwrap()
}

fn pages_of_reference() -> Vec<String> {
    let names = std::fs::read_dir(path(REFERENCE)).unwrap().map(|entry| entry.unwrap().file_name());
    names.map(|name| format!("{REFERENCE}/{}", name.to_str().unwrap())).collect()
}

fn path(page: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(page)
}

/// Returns a page with its marked parts generated.
fn generated(page: &str) -> String {
    let mut text = std::fs::read_to_string(path(page)).unwrap();
    for (name, content) in if page == SKILL { tables_of_skill() } else { tables_of_reference() } {
        let (begin, end) = (format!("<!-- {name} -->\n"), "<!-- end -->");
        let Some(start) = text.find(&begin).map(|at| at + begin.len()) else {
            assert!(page != SKILL, "no {name}");
            continue;
        };
        let length = text[start..].find(end).unwrap();
        text.replace_range(start..start + length, &format!("\n{content}\n"));
    }
    text
}

fn tables_of_reference() -> Vec<(&'static str, String)> {
    vec![
        ("workflow fields", linked(Workflow::FIELDS, "")),
        ("entry fields", linked(&ENTRY_FIELDS, "phases[].")),
        ("input fields", linked(&INPUT_FIELDS, "inputs.NAME.")),
        ("budget fields", linked(&BUDGET_FIELDS, "budget.")),
        ("phase fields", linked(Phase::FIELDS, "")),
        ("output fields", linked(&OUTPUT_FIELDS, "outputs.NAME.")),
        ("record fields", linked(&RECORD_FIELDS, "fields.NAME.")),
        ("settings fields", linked(&SETTINGS_FIELDS, "")),
        ("limits fields", linked(&LIMITS_FIELDS, "limits.")),
        ("tools fields", linked(&TOOLS_FIELDS, "tools.")),
        ("check fields", linked(&CHECK_FIELDS, "gate[].")),
        ("variables", variables()),
        ("events", events()),
        ("sums of events", sums()),
        ("default texts", default_texts()),
    ]
}

/// The pages with the fields of a mapping, by the field that has it.
const PAGES: [(&str, &str); 7] = [
    ("phases", "workflow-yaml.md#entries-of-phases"),
    ("inputs", "inputs-and-outputs.md#inputs"),
    ("outputs", "inputs-and-outputs.md#outputs"),
    ("gate", "gates.md"),
    ("budget", "budgets.md"),
    ("tools", "phase-files.md#tools"),
    ("tests", "phase-files.md#tests-of-rules"),
];

/// A table of fields whose mappings have their fields on other pages.
fn linked(fields: &[Field], prefix: &str) -> String {
    let link = |table: String, (field, page): (&str, &str)| {
        let row = |line: &str| {
            let is_of_field = line.starts_with(&format!("| `{prefix}{field}` |"));
            let linked = || line.replacen(", see below |", &format!(", see [`{field}`]({page}) |"), 1);
            if is_of_field { linked() } else { line.to_owned() }
        };
        table.lines().map(|line| row(line) + "\n").collect()
    };
    PAGES.into_iter().fold(self::fields(fields, prefix), link)
}

fn tables_of_skill() -> Vec<(&'static str, String)> {
    let of_workflow = fields(Workflow::FIELDS, "")
        + &rows(&ENTRY_FIELDS, "phases[].")
        + &rows(&INPUT_FIELDS, "inputs.NAME.")
        + &rows(&BUDGET_FIELDS, "budget.");
    let of_phase = fields(Phase::FIELDS, "") + &rows(&OUTPUT_FIELDS, "outputs.NAME.") + &rows(&TOOLS_FIELDS, "tools.");
    vec![
        ("workflow fields", of_workflow),
        ("phase fields", of_phase),
        ("check fields", fields(&CHECK_FIELDS, "")),
        ("variables of fields", variables_of_fields()),
    ]
}

fn fields(fields: &[Field], prefix: &str) -> String {
    "| field | value | default | meaning |\n| --- | --- | --- | --- |\n".to_owned() + &rows(fields, prefix)
}

fn rows(fields: &[Field], prefix: &str) -> String {
    let row = |field: &Field| {
        let default = if field.is_required { "required" } else { field.default };
        format!("| `{prefix}{}` | {} | {default} | {} |\n", field.name, value(field), field.about)
    };
    fields.iter().map(row).collect()
}

fn value(field: &Field) -> String {
    match field.kind {
        Kind::OrInput(inner) => {
            format!("{}, or `input.NAME`", value(&Field { kind: *inner, ..*field }))
        }
        Kind::Text | Kind::FreeText => "string".into(),
        Kind::Template(_) => "template".into(),
        Kind::Line(most) => format!("one line, at most {most} characters"),
        Kind::CommandName => "letters, digits, `_`, `-`".into(),
        Kind::OneOf(words) => format!("`{}`", words.join("`, `")),
        Kind::Bool => "`true`, `false`".into(),
        Kind::Number => "number from 0".into(),
        Kind::Names | Kind::Tools | Kind::Options => "list of names".into(),
        Kind::NameOrNames => "name, or list of names".into(),
        Kind::Paths(most) => format!("list of at most {most} paths"),
        Kind::Aliases => "mapping of names to a model, or a list of models".into(),
        Kind::Program(_) => "list of texts, or mapping with `program` and `texts`".into(),
        Kind::Phases(most, _) => format!("list of 1 to {most} entries, see below"),
        Kind::AtOnce(limit) => format!("`true` or `false`, or number, 1 to {limit}"),
        Kind::WordOrCount(word, limit) => format!("`{word}`, or number, 1 to {limit}"),
        Kind::Items => "list of texts, or name of a list".into(),
        Kind::Group(most) => format!("list of 1 to {most} entries"),
        Kind::Outcomes => "mapping of names to targets".into(),
        Kind::WordOrNames(words) => format!("`{}`, or list of names", words.join("`, `")),
        Kind::Conditions => "mapping of names of values to a value or a list".into(),
        Kind::Values => "mapping of names to values".into(),
        Kind::Handed => "mapping of names to names of outputs, see below".into(),
        Kind::Variables => "mapping of names of variables to names of values".into(),
        Kind::Decimal => "number".into(),
        Kind::Literal => "value, or list of values".into(),
        Kind::Mapping { .. } => "mapping, see below".into(),
        Kind::Checks(_) => "list of checks, see below".into(),
        Kind::Count(most) => format!("whole number from 1 to {most}"),
        Kind::Duration(like) => format!("duration like `{like}`, or a number of seconds"),
        Kind::Inputs(_) => "mapping of names to inputs, see below".into(),
        Kind::Outputs(_) => "mapping of names to outputs, see below".into(),
        Kind::Dollars(most) => format!("number above 0, at most {most}"),
    }
}

fn events() -> String {
    let field = |field: &EventField| {
        let given = match field.given {
            Given::Always => "",
            Given::Maybe => " maybe",
            Given::WithTexts => " with texts",
        };
        let json = if field.json.is_empty() { "JSON" } else { field.json };
        format!("| | `{}` | {json}{given} | {} |\n", field.name, field.about)
    };
    let event = |event: &EventKind| {
        let fields: String = event.fields.iter().map(field).collect();
        format!("| `{}` | | | {} |\n{fields}", event.name, event.about.trim())
    };
    let events: String = EVENTS.iter().chain([&EXIT]).map(event).collect();
    let head: String = HEAD.iter().map(field).collect();
    format!("| event | field | value | meaning |\n| --- | --- | --- | --- |\n| each | | | |\n{head}{events}")
}

fn sums() -> String {
    let rows: String = Sums::FIELDS.iter().map(|(name, about)| format!("| `{name}` | {about} |\n")).collect();
    format!("| `usage` | meaning |\n| --- | --- |\n{rows}")
}

/// The only template that is not a field.
const PHASE_TEXT: &str = "the text of a phase";

fn variables() -> String {
    let mut lines = vec!["| variable | known in | stands for |".to_owned(), "| --- | --- | --- |".into()];
    for (name, meaning) in MEANINGS {
        let mut known = Vec::new();
        if PHASE_VARIABLES.contains(&name) {
            known.push(PHASE_TEXT.to_owned());
        }
        for field in Workflow::FIELDS {
            if matches!(field.kind, Kind::Template(variables) if variables.contains(&name)) {
                known.push(format!("`{}`", field.name));
            }
        }
        assert!(!known.is_empty(), "{name} is unknown in every template");
        lines.push(format!("| `{{{name}}}` | {} | {meaning} |", known.join(", ")));
    }
    for (name, meaning) in NAMED {
        let known = if name == "summary.ID" { "as `{previousSummary}`" } else { "every template" };
        lines.push(format!("| `{{{name}}}` | {known} | {meaning} |"));
    }
    for field in Workflow::FIELDS {
        let Kind::Template(variables) = field.kind else { continue };
        for name in variables {
            assert!(MEANINGS.iter().any(|(known, _)| known == name), "{name} has no meaning");
        }
    }
    lines.join("\n") + "\n"
}

/// The variables of each template. Templates with the same variables share a row.
fn variables_of_fields() -> String {
    let mut templates: Vec<(Vec<&str>, Vec<String>)> = vec![(PHASE_VARIABLES.to_vec(), vec![PHASE_TEXT.into()])];
    for field in Workflow::FIELDS {
        let Kind::Template(variables) = field.kind else { continue };
        let name = format!("`{}`", field.name);
        match templates.iter_mut().find(|(known, _)| known == variables) {
            Some((_, names)) => names.push(name),
            None => templates.push((variables.to_vec(), vec![name])),
        }
    }
    let row = |(variables, names): &(Vec<&str>, Vec<String>)| {
        let mut variables: Vec<String> = variables.iter().map(|name| format!("`{{{name}}}`")).collect();
        if variables.iter().any(|name| name == "`{previousSummary}`") {
            variables.push("`{summary.ID}`".into());
        }
        variables.extend(["`{input.NAME}`".into(), "`{output.ID.NAME}`".into()]);
        variables.extend(["`{outcome.ID}`".into(), "`{log.ID}`".into(), "`{item.FIELD}`".into()]);
        format!("| {} | {} |\n", names.join(", "), variables.join(" "))
    };
    "| template | variables |\n| --- | --- |\n".to_owned() + &templates.iter().map(row).collect::<String>()
}

fn default_texts() -> String {
    let texts = [
        ("`roleInstruction`", DefaultRole::Worker.text()),
        ("`roleInstruction`, where a tool `delegate_to_subagents` is registered", DefaultRole::Orchestrator.text()),
        ("`advanceReminder`", DEFAULT_ADVANCE_REMINDER),
        ("`blockReasonTemplate`; below it, which tools the phase allows", DEFAULT_BLOCK_REASON),
        (
            "`completionMessage`; below it, the beginnings of the summaries, the results of the gates and what the run took, and \
             after a long message its first line again",
            DEFAULT_COMPLETION_MESSAGE,
        ),
        ("`completionMessage`, after a cancellation", DEFAULT_CANCELLED_MESSAGE),
        ("`completionMessage`, of a stopped run", DEFAULT_STOP_MESSAGE),
        ("`notDoneReminder`", DEFAULT_NOT_DONE_REMINDER),
    ];
    let block = |(name, text): &(&str, &str)| format!("{name}:\n\n```text\n{text}\n```\n");
    texts.iter().map(block).collect::<Vec<_>>().join("\n")
}

#[test]
fn the_skill_names_every_field_and_variable() {
    let skill = read(SKILL);
    let names =
        [Workflow::FIELDS, &ENTRY_FIELDS, &INPUT_FIELDS, &BUDGET_FIELDS, Phase::FIELDS, &OUTPUT_FIELDS, &TOOLS_FIELDS]
            .concat();
    let names = names.iter().map(|field| field.name).chain(MEANINGS.map(|(name, _)| name));
    let names = names.chain(NAMED.map(|(name, _)| name));
    let missing: Vec<&str> = names
        .filter(|name| {
            let forms = [
                "{name}",
                "phases[].{name}",
                "inputs.NAME.{name}",
                "budget.{name}",
                "tools.{name}",
                "tests.{name}",
                "{{name}}",
            ];
            forms.iter().all(|form| !skill.contains(&format!("`{}`", form.replace("{name}", name))))
        })
        .collect();
    assert_eq!(missing, [""; 0]);
}

/// The first column of the tables of errors and warnings contains messages, with `…` for variable parts.
#[test]
fn the_messages_of_the_reference_are_those_of_the_code() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = read(DIAGNOSTICS);
    let code = code_of_diagnostics(root);
    let tables = page.split_once("\n## Errors\n").unwrap().1;
    let messages: Vec<&str> = tables.lines().filter_map(|line| line.strip_prefix("| ")?.split(" | ").next()).collect();
    assert!(messages.len() > 40, "{}", messages.len());
    let mut unknown = Vec::new();
    for message in messages.iter().flat_map(|cell| code_spans(cell)) {
        let pieces = message.split('…').map(|piece| piece.trim_matches([' ', ':', ',', ';', '(']));
        unknown.extend(pieces.filter(|piece| !code.contains(piece)).map(str::to_owned));
    }
    assert_eq!(unknown, [""; 0]);
}

/// The source of all diagnostics.
fn code_of_diagnostics(root: &Path) -> String {
    let files = std::fs::read_dir(root.join("src/definition/diagnostic")).unwrap();
    files.map(|file| std::fs::read_to_string(file.unwrap().path()).unwrap()).collect()
}

/// Each message of the code is in one of the tables.
#[test]
fn the_messages_of_the_code_are_in_the_reference() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = read(DIAGNOSTICS);
    let code = code_of_diagnostics(root);
    let tables = page.split_once("\n## Errors\n").unwrap().1;
    let cells = tables.lines().filter_map(|line| line.strip_prefix("| ")?.split(" | ").next());
    let documented: Vec<Vec<&str>> = cells
        .flat_map(code_spans)
        .map(|span| span.split('…').map(|piece| piece.trim_matches([' ', ':', ',', ';', '('])))
        .map(|pieces| pieces.filter(|piece| !piece.is_empty()).collect())
        .filter(|pieces: &Vec<&str>| !pieces.is_empty())
        .collect();
    let is_documented = |message: &str| {
        documented
            .iter()
            .any(|pieces| pieces.iter().try_fold(message, |rest, piece| Some(rest.split_once(piece)?.1)).is_some())
    };
    assert!(!is_documented("a message that no table has"));
    let found = messages(&code);
    assert!(found.len() > 100, "{}", found.len());
    let missing: Vec<&str> = found.iter().map(String::as_str).filter(|message| !is_documented(message)).collect();
    assert_eq!(missing, [""; 0]);
}

/// The messages in the source: the texts that `error`, `warning` and `failure` are given.
fn messages(code: &str) -> Vec<String> {
    let mut found = Vec::new();
    for call in ["error(", "warning(", "failure("] {
        for (at, _) in code.match_indices(call) {
            let text = code[at + call.len()..].trim_start();
            let text = text.strip_prefix("format!(").unwrap_or(text).trim_start();
            let Some(text) = text.strip_prefix('"') else { continue };
            let mut message = String::new();
            let mut characters = text.chars();
            while let Some(c) = characters.next().filter(|c| *c != '"') {
                message.push(if c == '\\' { characters.next().unwrap_or(c) } else { c });
            }
            found.push(message);
        }
    }
    found
}

/// Returns the code spans of a line of Markdown.
fn code_spans(line: &str) -> Vec<&str> {
    let mut spans = Vec::new();
    let mut rest = line;
    while let Some(start) = rest.find('`') {
        let ticks = if rest[start..].starts_with("``") { "``" } else { "`" };
        let inner = &rest[start + ticks.len()..];
        let Some(end) = inner.find(ticks) else { break };
        spans.push(inner[..end].trim());
        rest = &inner[end + ticks.len()..];
    }
    spans
}
