//! Reads an entry of `phases` without the model: a command (`run`), or a question (`ask`).

use super::fields::Fields;
use super::partly::{Partly, Whole};
use super::yaml::Yaml;
use super::{gate, outcomes, outputs};
use crate::definition::diagnostic::anchor::Step as At;
use crate::definition::diagnostic::field::FieldProblem;
use crate::definition::diagnostic::value::Expected;
use crate::definition::model::blank::is_blank;
use crate::definition::model::gate::{Command, label_of};
use crate::definition::model::outcomes::{Outcome, Target};
use crate::definition::model::own_work::OwnWork;
use crate::definition::model::schema::MAX_OUTCOMES;
use crate::definition::model::variables::PHASE_VARIABLES;
use crate::definition::model::words::either;
use crate::definition::model::work::{Answer, AnswerText, Question, Step, Work};

/// The names that outcomes of a step can have.
const OUTCOMES: [&str; 2] = [Step::OK, Step::FAILED];

/// A step of which nothing could be read. Its id is empty, as no other is.
pub(crate) fn unread(file: &str) -> OwnWork {
    let command = Command::new(String::new(), Vec::new());
    OwnWork {
        id: String::new(),
        name: String::new(),
        file: file.to_owned(),
        work: Work::Run(Step { command, timeout_ms: gate::DEFAULT_TIMEOUT_MS }),
        outcomes: Vec::new(),
        outputs: Vec::new(),
    }
}

/// Reads the entry whose fields these are. `place` is its number among the entries, behind those of the groups around
/// it. An id that is not known is empty.
pub(crate) fn read_run(fields: &mut Fields, place: &str) -> Partly<OwnWork> {
    let mut whole = Whole::default();
    let item = fields.tree.root.clone();
    let line = whole.take(text(fields, "run"), None).unwrap_or_default();
    let (id, label) = (text(fields, "id"), whole.take(text(fields, "label"), None));
    whole.take(fields.check_literal(&[At::Key("run")], "run", &line), ());
    let timeout = gate::timeout(fields, &[], "timeout", &item);
    let env = gate::env(fields, &[], "env", &item);
    let outputs = outputs::read(fields);
    let given = own_outcomes(fields);
    let id = whole.take(id, Some(String::new()));
    let name = label.or_else(|| id.clone()).unwrap_or_else(|| label_of(&line));
    let command = Command::new(line, whole.part(env));
    let timeout_ms = whole.take(timeout, gate::DEFAULT_TIMEOUT_MS);
    let own = OwnWork {
        id: id.unwrap_or_else(|| format!("run-{place}")),
        name,
        file: fields.file.to_owned(),
        work: Work::Run(Step { command, timeout_ms }),
        outcomes: whole.part(given),
        outputs: whole.part(outputs),
    };
    whole.of(own)
}

/// Reads the question whose fields these are, as [`read_run`].
pub(crate) fn read_ask(fields: &mut Fields, place: &str) -> Partly<OwnWork> {
    let mut whole = Whole::default();
    let question = whole.take(text(fields, "ask"), None).unwrap_or_default();
    let (id, label) = (text(fields, "id"), whole.take(text(fields, "label"), None));
    fields.check_template_at(&[At::Key("ask")], "ask", &question, &PHASE_VARIABLES);
    let (outcomes, answers) = whole.part(answers(fields)).into_iter().unzip();
    let default = || Some(format!("ask-{place}"));
    let name = label.or_else(|| id.clone().flatten()).unwrap_or_else(|| label_of(&question));
    let own = OwnWork {
        name,
        id: whole.take(id.map(|id| id.or_else(default)), None).unwrap_or_default(),
        file: fields.file.to_owned(),
        work: Work::Ask(Question { text: question, answers }),
        outcomes,
        outputs: Vec::new(),
    };
    whole.of(own)
}

/// The fields of an answer that is a mapping.
const ANSWER: [&str; 5] = ["to", "text", "label", "max", "then"];

/// Reads `outcomes` of a question, each with its answer.
fn answers(fields: &mut Fields) -> Partly<Vec<(Outcome, Answer)>> {
    let expected = "a mapping like `{ go: next, change: { to: plan, text: required } }`";
    let entries = fields.entries("outcomes", expected, Some(MAX_OUTCOMES)).ok_or_else(Vec::new)?;
    if entries.is_empty() {
        // The others are reported as fields without a value.
        let is_asked = fields.tree.root.get("ask") != Some(&Yaml::Null);
        if is_asked && fields.tree.root.get("outcomes").is_none() {
            let problem = FieldProblem::BadValue {
                field: "outcomes".into(),
                expected: "at least one outcome beside `ask`".into(),
                found: "none".into(),
                suggestion: None,
            };
            fields.report(&[At::Key("ask")], problem);
        }
        return Err(Vec::new());
    }
    let mut whole = Whole::default();
    let answers = entries.iter().map(|(name, value)| whole.part(answer(fields, name, value))).collect();
    whole.of(answers)
}

fn answer(fields: &mut Fields, name: &str, value: &Yaml) -> Partly<(Outcome, Answer)> {
    let outcomes = [At::Key("outcomes")];
    let mut whole = Whole::default();
    let mut answer = Answer { outcome: name.to_owned(), label: label_of(name), text: AnswerText::None };
    let outcome = whole.part(outcomes::outcome(fields, &outcomes, (name, value), &ANSWER));
    let outcome = Outcome { of_entry: true, ..outcome };
    let mut bad = |key, expected| {
        outcomes::report_part(fields, &outcomes, (name, value), key, expected);
        whole.take(None, ());
    };
    match value.get("label") {
        None => {}
        Some(Yaml::String(label)) if !is_blank(label) => answer.label = label_of(label),
        Some(_) => bad("label", "a text".into()),
    }
    match value.get("text") {
        None => {}
        Some(Yaml::String(word)) if word == AnswerText::WORDS[0] => {
            answer.text = AnswerText::Required;
        }
        Some(Yaml::String(word)) if word == AnswerText::WORDS[1] => {
            answer.text = AnswerText::Optional;
        }
        Some(_) => bad("text", either(&AnswerText::WORDS)),
    }
    whole.of((outcome, answer))
}

/// Reads `outcomes`: `ok` leads to the next entry, unless another target is given; `failed` is one only with a target.
fn own_outcomes(fields: &mut Fields) -> Partly<Vec<Outcome>> {
    let item = fields.tree.root.clone();
    let mut whole = Whole::default();
    let mut given = whole.part(outcomes::read_of_entry(fields, &[], &item));
    for other in given.iter().filter(|given| !OUTCOMES.contains(&&*given.name)) {
        let name = other.name.clone();
        let problem = FieldProblem::BadValue {
            field: "outcomes".into(),
            expected: format!("{} with `run`", either(&OUTCOMES)),
            found: format!("`{name}`"),
            suggestion: None,
        };
        fields.report(&[At::Key("outcomes"), At::Name(&name)], problem);
        whole.take(None, ());
    }
    if given.iter().all(|given| given.name != Step::OK) {
        given.insert(0, Outcome { of_entry: true, ..Outcome::new(Step::OK, Target::Next) });
    }
    whole.of(given)
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
