//! Reads an entry of `phases` without the model: a command (`run`), or a question (`ask`).

use super::fields::Fields;
use super::yaml::Yaml;
use super::{conditions, gate, outcomes, outputs};
use crate::definition::diagnostic::FieldProblem;
use crate::definition::diagnostic::PathPart;
use crate::definition::model::variables::PHASE_VARIABLES;
use crate::definition::model::{
    Answer, AnswerText, Command, MAX_OUTCOMES, Outcome, OwnWork, Question, Step, Target, VALUE_TYPES_OF_RUN, Work,
    as_name, either, is_blank,
};

/// The names that outcomes of a step can have.
const OUTCOMES: [&str; 2] = [Step::OK, Step::FAILED];

/// Returns the id of an entry without an `id`: its kind and its number, behind the numbers of the groups around it.
pub(crate) fn default_id(kind: &str, at: &[usize]) -> String {
    at.iter().fold(kind.to_owned(), |id, index| format!("{id}-{}", index + 1))
}

/// Reads the entry with these fields; `at` leads to it. An id with errors is empty.
pub(crate) fn read_run(fields: &mut Fields, at: Vec<usize>) -> OwnWork {
    let item = fields.tree.root.clone();
    let line = fields.given_text("run");
    let (id, name) = (fields.text_if_given("id"), fields.text_if_given("name"));
    fields.check_line(&[PathPart::Key("run")], "run", &line);
    let timeout = gate::timeout(fields, &[], "timeout", &item).unwrap_or(gate::DEFAULT_TIMEOUT_MS.into());
    let env = gate::env(fields, &[], "env", &item).unwrap_or_default();
    let outputs = outputs::read(fields, &VALUE_TYPES_OF_RUN);
    let outcomes = own_outcomes(fields);
    let name = name.or_else(|| id.clone()).unwrap_or_else(|| as_name(&line));
    OwnWork {
        id: id.unwrap_or_else(|| default_id("run", &at)),
        name,
        file: fields.file.to_owned(),
        at,
        work: Work::Run(Step { command: Command::new(line, env), timeout }),
        outcomes,
        outputs,
    }
}

/// Reads the question with these fields, as [`read_run`].
pub(crate) fn read_ask(fields: &mut Fields, at: Vec<usize>) -> OwnWork {
    let question = fields.given_text("ask");
    let (id, name) = (fields.text_if_given("id"), fields.text_if_given("name"));
    fields.check_template_at(&[PathPart::Key("ask")], "ask", &question, &PHASE_VARIABLES);
    let (outcomes, answers) = answers(fields).into_iter().unzip();
    let name = name.or_else(|| id.clone()).unwrap_or_else(|| as_name(&question));
    OwnWork {
        name,
        id: id.unwrap_or_else(|| default_id("ask", &at)),
        file: fields.file.to_owned(),
        at,
        work: Work::Ask(Question { text: question, answers }),
        outcomes,
        outputs: Vec::new(),
    }
}

/// The fields of an answer that is a mapping.
const ANSWER: [&str; 6] = ["to", "text", "name", "max", "then", "when"];

/// Reads `outcomes` of a question, each with its answer.
fn answers(fields: &mut Fields) -> Vec<(Outcome, Answer)> {
    let expected = "a mapping like `{ go: next, change: { to: plan, text: required } }`";
    let entries = fields.entries("outcomes", expected, Some(MAX_OUTCOMES));
    if entries.is_empty() {
        // Other cases are reported elsewhere.
        let is_asked = fields.tree.root.get("ask") != Some(&Yaml::Null);
        if is_asked && fields.tree.root.get("outcomes").is_none() {
            let problem = FieldProblem::bad("outcomes", "at least one outcome beside `ask`", "none");
            fields.report(&[PathPart::Key("ask")], problem);
        }
    }
    let answers: Vec<_> = entries.iter().map(|(name, value)| answer(fields, name, value)).collect();
    if !answers.is_empty() && answers.iter().all(|(_, answer)| !answer.when.is_empty()) {
        let problem = FieldProblem::bad("outcomes", "an outcome without `when`, which is always offered", "none");
        fields.report(&[PathPart::Key("outcomes")], problem);
    }
    answers
}

fn answer(fields: &mut Fields, name: &str, value: &Yaml) -> (Outcome, Answer) {
    let outcomes = [PathPart::Key("outcomes")];
    let at = [outcomes[0], PathPart::Key(name)];
    let when = conditions::read(fields, &at, value);
    let mut answer = Answer { outcome: name.to_owned(), name: as_name(name), text: AnswerText::None, when };
    let outcome = outcomes::outcome(fields, &outcomes, (name, value), &ANSWER);
    let outcome = Outcome { of_entry: true, ..outcome };
    let mut bad = |key, expected| {
        outcomes::report_part(fields, &outcomes, (name, value), key, expected);
    };
    match value.get("name") {
        None => {}
        Some(Yaml::String(name)) if !is_blank(name) => answer.name = as_name(name),
        Some(_) => bad("name", "a text".into()),
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
    if value.get("when") == Some(&Yaml::Null) {
        bad("when", "a mapping like `{ input.scope: api }`".into());
    }
    (outcome, answer)
}

/// Reads `outcomes`: `ok` leads to the next entry by default; `failed` is an outcome only with a target.
fn own_outcomes(fields: &mut Fields) -> Vec<Outcome> {
    let item = fields.tree.root.clone();
    let mut given = outcomes::read_of_entry(fields, &[], &item);
    for other in given.iter().filter(|given| !OUTCOMES.contains(&&*given.name)) {
        let name = other.name.clone();
        let problem = FieldProblem::bad("outcomes", format!("{} with `run`", either(&OUTCOMES)), format!("`{name}`"));
        fields.report(&[PathPart::Key("outcomes"), PathPart::Name(&name)], problem);
    }
    if given.iter().all(|given| given.name != Step::OK) {
        given.insert(0, Outcome::new(Step::OK, Target::Next));
    }
    given
}
