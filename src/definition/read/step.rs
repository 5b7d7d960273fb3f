//! Reads an entry of `phases` that is a command: `run`.

use super::fields::Fields;
use super::yaml::Yaml;
use super::{gate, outcomes, outputs};
use crate::definition::diagnostic::anchor::Step as At;
use crate::definition::diagnostic::field::FieldProblem;
use crate::definition::diagnostic::value::Expected;
use crate::definition::model::blank::is_blank;
use crate::definition::model::gate::{Command, label_of};
use crate::definition::model::outcomes::{Outcome, Target};
use crate::definition::model::words::either;
use crate::definition::model::own_work::OwnWork;
use crate::definition::model::work::{Step, Work};

/// The names that outcomes of a step can have.
const OUTCOMES: [&str; 2] = [Step::OK, Step::FAILED];

/// Reads the entry whose fields these are; `None` after an error. `place` is its number among the entries, behind those of the
/// groups around it.
pub(crate) fn read(fields: &mut Fields, place: &str) -> Option<OwnWork> {
    let item = fields.tree.root.clone();
    let line = text(fields, "run");
    let (id, label) = (text(fields, "id"), text(fields, "label"));
    if let Some(Some(line)) = &line {
        fields.check_literal(&[At::Key("run")], "run", line)?;
    }
    let timeout = gate::timeout(fields, &[], "timeout", &item);
    let env = gate::env(fields, &[], "env", &item);
    let outputs = outputs::read(fields);
    let given = own_outcomes(fields);
    let (line, id, label) = (line??, id?, label?);
    let (timeout_ms, env) = (timeout?, env?);
    let name = label.or_else(|| id.clone()).unwrap_or_else(|| label_of(&line));
    let command = Command::new(line, env);
    Some(OwnWork {
        id: id.unwrap_or_else(|| format!("run-{place}")),
        name,
        file: fields.file.to_owned(),
        work: Work::Run(Step { command, timeout_ms }),
        outcomes: given?,
        outputs: outputs?,
    })
}

/// Reads `outcomes`: `ok` leads to the next entry, unless another target is given; `failed` is one only with a target.
fn own_outcomes(fields: &mut Fields) -> Option<Vec<Outcome>> {
    let item = fields.tree.root.clone();
    let mut given = outcomes::read_of_entry(fields, &[], &item)?;
    if let Some(other) = given.iter().find(|given| !OUTCOMES.contains(&&*given.name)) {
        let name = other.name.clone();
        let problem = FieldProblem::BadValue {
            field: "outcomes".into(),
            expected: format!("{} with `run`", either(&OUTCOMES)),
            found: format!("`{name}`"),
            suggestion: None,
        };
        fields.report(&[At::Key("outcomes"), At::Name(&name)], problem);
        return None;
    }
    if given.iter().all(|given| given.name != Step::OK) {
        given.insert(0, Outcome { of_entry: true, ..Outcome::new(Step::OK, Target::Next) });
    }
    Some(given)
}

/// Reads a text; the inner `None` without one, the outer one after an error.
fn text(fields: &mut Fields, field: &'static str) -> Option<Option<String>> {
    let problem = match fields.tree.root.get(field) {
        None => return Some(None),
        // Reported as a field without a value.
        Some(Yaml::Null) => return None,
        Some(Yaml::String(text)) if !is_blank(text) => return Some(Some(text.clone())),
        Some(Yaml::String(_)) => FieldProblem::Blank { field: field.into() },
        Some(other) => {
            let (field, found) = (field.into(), other.kind());
            FieldProblem::WrongType { field, expected: Expected::String, found }
        }
    };
    fields.report(&[At::Key(field)], problem);
    None
}
