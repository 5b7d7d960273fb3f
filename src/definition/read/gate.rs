//! Reads the fields `gate` and `gateAttempts`.

use super::budget::duration;
use super::fields::{Fields, text};
use super::own_limits::mistaken_path;
use super::values;
use super::yaml::Yaml;
use crate::definition::diagnostic::{FieldProblem, GateProblem, LimitProblem, PathPart, in_yaml};
use crate::definition::model::schema::names;
use crate::definition::model::variables::PHASE_VARIABLES;
use crate::definition::model::{
    BoundValue, CHECK_FIELDS, Check, CheckKind, Command, Gate, MAX_EXPANSIONS, MAX_GATE_ATTEMPTS, MAX_NAME,
    MAX_TIMEOUT_MS, Pattern, ValueName, Variable, as_name, expansions, is_variable, with_names,
};

/// Default time limit of a command, in milliseconds.
pub(super) const DEFAULT_TIMEOUT_MS: u32 = 10 * 60 * 1000;

const DEFAULT_ATTEMPTS: u32 = 3;

const MAX_CHECKS: usize = 50;

/// Maximum number of variables of a command.
const MAX_VARIABLES: usize = 50;

/// The forms of the names of values that a command can get.
const VALUES: [&str; 12] = [
    ValueName::INPUT,
    ValueName::OUTPUT,
    ValueName::OUTCOME,
    ValueName::SUMMARY,
    ValueName::LOG,
    ValueName::ITEM,
    ValueName::ITEM_FIELD,
    ValueName::ITEM_NUMBER,
    ValueName::ITEM_COUNT,
    ValueName::TASK,
    ValueName::RUN_DIR,
    ValueName::WORKFLOW_DIR,
];

const FIELDS: [&str; CHECK_FIELDS.len()] = names(&CHECK_FIELDS);

/// The fields of which a check has exactly one.
const KINDS: [&str; 2] = ["run", "file"];

/// Reads `gate` and `gateAttempts`; `None` without a gate.
pub(crate) fn read(fields: &mut Fields) -> Option<Gate> {
    let attempts = fields.bounded("gateAttempts", DEFAULT_ATTEMPTS, 1..=MAX_GATE_ATTEMPTS);
    let items = match fields.tree.root.get("gate") {
        Some(Yaml::Null) => return None,
        None => {
            if !matches!(fields.tree.root.get("gateAttempts"), None | Some(Yaml::Null)) {
                fields.report(&[PathPart::Key("gateAttempts")], GateProblem::WithoutGate);
            }
            return None;
        }
        Some(Yaml::List(items)) if items.is_empty() || items.len() > MAX_CHECKS => {
            fields.report(&[PathPart::Key("gate")], GateProblem::GateSize { limit: MAX_CHECKS });
            return None;
        }
        Some(Yaml::List(items)) => items.clone(),
        Some(other) => {
            let problem = FieldProblem::bad("gate", "a list of checks", other.kind().to_string());
            let meant = match other {
                Yaml::String(text) if is_question(text) => meant_check(text),
                Yaml::String(text) => {
                    let checks: Vec<String> = lines(text).into_iter().map(meant_check).collect();
                    format!("gate: [{}]", checks.join(", "))
                }
                Yaml::Map(_) => {
                    let problem = FieldProblem::wrong_type("gate", "a list of checks", other.kind());
                    fields.report(&[PathPart::Key("gate")], problem);
                    return None;
                }
                _ => "gate: [{ run: npm test }]".to_owned(),
            };
            fields.report(&[PathPart::Key("gate")], problem.suggest(Some(meant)));
            return None;
        }
    };
    let checks = items.iter().enumerate().filter_map(|(index, item)| check(fields, index, item)).collect();
    Some(Gate { checks, attempts })
}

/// Returns the lines of a text, without blank lines and without the blanks around them.
fn lines(text: &str) -> Vec<&str> {
    text.lines().map(str::trim).filter(|line| !line.is_empty()).collect()
}

fn is_question(text: &str) -> bool {
    text.trim().ends_with('?')
}

/// Returns the check that a line means, in YAML: a file, or a command. A question is an entry of its own.
fn meant_check(text: &str) -> String {
    if is_question(text) {
        return format!("- {{ ask: {}, outcomes: {{ go: next, change: loop }} }}", in_yaml(&lines(text).join(" ")));
    }
    let kind = if text.ends_with(".md") && !text.contains(' ') { "file" } else { "run" };
    format!("{{ {kind}: {} }}", in_yaml(text))
}

/// Reads a check; `None` after an error.
fn check(fields: &mut Fields, index: usize, item: &Yaml) -> Option<Check> {
    let here = [PathPart::Key("gate"), PathPart::Item(index)];
    let Yaml::Map(_) = item else {
        let problem = FieldProblem::bad("gate", "a check", item.kind().to_string());
        let meant = if let Yaml::String(text) = item { Some(meant_check(&lines(text).join(" && "))) } else { None };
        fields.report(&here, problem.suggest(meant));
        return None;
    };
    let had_errors = std::mem::take(&mut fields.has_errors);
    let check = read_check(fields, here, item);
    fields.has_errors |= had_errors;
    check
}

/// Reads a check in whose mapping no error was reported so far.
fn read_check(fields: &mut Fields, here: [PathPart; 2], item: &Yaml) -> Option<Check> {
    let at = |field| [here[0], here[1], PathPart::Key(field)];
    fields.check_part(&here, "gate", &FIELDS);
    let mut text = |field: &'static str| match item.get(field) {
        None => Some(None),
        // `check_values` reports a field without a value.
        Some(Yaml::Null) => None,
        Some(value) => match text(&format!("gate.{field}"), value) {
            Ok(text) => Some(Some(text)),
            Err(problem) => {
                fields.report(&at(field), problem);
                None
            }
        },
    };
    let [run, file] = KINDS.map(&mut text);
    let (name, contains) = (text("name"), text("contains"));
    let outcome = text("outcome");
    let timeout = timeout(fields, &here, "gate.timeout", item);
    let env = env(fields, &here, "gate.env", item);
    if let Some(Some(line)) = &run {
        fields.check_line(&at("run"), "gate.run", line);
    }
    if let Some(Some(path)) = &file {
        fields.check_path(&at("file"), "gate.file", path);
    }
    if let Some(Some(name)) = &name {
        fields.check_template_at(&at("name"), "gate.name", name, &PHASE_VARIABLES);
    }
    let (run, file, name, contains) = (run?, file?, name?, contains?);
    let (timeout, outcome, env) = (timeout?, outcome?, env?);
    // Errors that follow from an error reported above are not reported.
    if fields.has_errors {
        return None;
    }
    let kinds: Vec<&'static str> = KINDS.into_iter().filter(|kind| item.get(kind).is_some()).collect();
    if let &[kind] = &kinds[..] {
        let others = [("timeout", "run"), ("env", "run"), ("contains", "file")].into_iter();
        let has = |field| item.get(field).is_some_and(|value| *value != Yaml::Null);
        let mut misplaced = others.filter(|&(field, of)| kind != of && has(field)).peekable();
        let sound = misplaced.peek().is_none();
        for (field, of) in misplaced {
            fields.report(&here, GateProblem::MisplacedCheckField { field, of });
        }
        sound.then_some(())?;
    }
    let (default_name, kind) = match (run, file) {
        (Some(line), None) => {
            let command = Command::new(line.clone(), env);
            (line, CheckKind::Run { command, timeout })
        }
        (None, Some(path)) => {
            let (path, contains) = checked_file(fields, here, &path, contains)?;
            (path.clone(), CheckKind::File { path, contains })
        }
        (None, None) | (Some(_), Some(_)) => {
            fields.report(&here, GateProblem::NotOneKind { kinds });
            return None;
        }
    };
    let long = |name: &String| name.chars().count() > MAX_NAME;
    if name.as_ref().is_some_and(long) {
        fields.report(&at("name"), GateProblem::LongName { limit: MAX_NAME });
    }
    let name = as_name(&name.unwrap_or(default_name));
    Some(Check { name, kind, outcome })
}

/// Returns the path and the expression of a check of a file; `None` after an error.
fn checked_file(
    fields: &mut Fields,
    here: [PathPart; 2],
    path: &str,
    contains: Option<String>,
) -> Option<(String, Option<Pattern>)> {
    let at = |field| [here[0], here[1], PathPart::Key(field)];
    let path = path.replace('\\', "/");
    if path.starts_with('/') || path.contains(':') || path.split('/').any(|part| part == "..") {
        fields.report(&at("file"), GateProblem::OutsideProject { path });
        return None;
    }
    if let Some((why, help)) = mistaken_path(&path) {
        fields.report(&at("file"), LimitProblem::MistakenPath { field: "gate.file", path, why, help });
        return None;
    }
    let named = with_names(&path);
    if fast_glob::validate(&named).is_err() {
        fields.report(&at("file"), GateProblem::BadGlob { field: "gate.file", path });
        return None;
    }
    if expansions(&named) > MAX_EXPANSIONS {
        fields.report(&at("file"), GateProblem::WideGlob { field: "gate.file", limit: MAX_EXPANSIONS });
        return None;
    }
    let contains = match contains.map(|expression| Pattern::new(&expression)).transpose() {
        Ok(contains) => contains,
        Err(error) => {
            fields.report(&at("contains"), GateProblem::BadExpression { words: error.to_string() });
            return None;
        }
    };
    Some((path, contains))
}

/// Reads `env` of the mapping at a path: a mapping of names of variables to names of values. `of` is the name of the
/// field in diagnostics. `None` after an error.
pub(super) fn env(fields: &mut Fields, path: &[PathPart], of: &'static str, item: &Yaml) -> Option<Vec<Variable>> {
    let here = [path, &[PathPart::Key("env")]].concat();
    let entries = match item.get("env") {
        None => return Some(Vec::new()),
        // `check_values` reports a field without a value.
        Some(Yaml::Null) => return None,
        Some(Yaml::Map(entries)) if (1..=MAX_VARIABLES).contains(&entries.len()) => entries,
        Some(Yaml::Map(_)) => {
            fields.report(&here, GateProblem::EnvSize { of, limit: MAX_VARIABLES });
            return None;
        }
        Some(other) => {
            fields.report(&here, FieldProblem::wrong_type(of, "a mapping", other.kind()));
            return None;
        }
    };
    let mut variables = Vec::new();
    for (name, value) in entries {
        if !is_variable(name) {
            let at = [&here[..], &[PathPart::Name(name)]].concat();
            let value = if let Yaml::String(text) = value { ValueName::parse(text).ok() } else { None };
            fields.report(&at, GateProblem::BadVariable { of, name: name.clone(), value });
            continue;
        }
        let field = format!("{of}.{name}");
        let at = [&here[..], &[PathPart::Key(name)]].concat();
        let Yaml::String(text) = value else {
            fields.report(&at, FieldProblem::wrong_type(field, "the name of a value", value.kind()));
            continue;
        };
        match values::read(&field, text, &VALUES) {
            Ok(value) => variables.push(Variable { name: name.clone(), value }),
            Err(problem) => fields.report(&at, problem),
        }
    }
    (variables.len() == entries.len()).then_some(variables)
}

/// Reads `timeout` of the mapping at a path: a duration like `90s` or `10m`, a number of seconds, or the name of an
/// input; `None` after an error. `of` is the name of the field in diagnostics.
pub(super) fn timeout(
    fields: &mut Fields,
    path: &[PathPart],
    of: &'static str,
    item: &Yaml,
) -> Option<BoundValue<u32>> {
    let value = match item.get("timeout") {
        None | Some(Yaml::Null) => return Some(DEFAULT_TIMEOUT_MS.into()),
        Some(value) => value,
    };
    let at = [path, &[PathPart::Key("timeout")]].concat();
    if let Some(name) = fields.input_of_bound(&at, of, value) {
        return Some(BoundValue::Input(name));
    }
    let milliseconds = duration(value).and_then(|duration| u32::try_from(duration.as_millis()).ok());
    let found = milliseconds.filter(|found| (1..=MAX_TIMEOUT_MS).contains(found));
    if found.is_none() {
        fields.report(&at, GateProblem::BadDuration { of });
    }
    found.map(BoundValue::Fixed)
}
