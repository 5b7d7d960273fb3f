//! Reads a phase file.

use super::bounded::Bounded;
use super::confinement::PathVariables;
use super::fields::{Fields, texts};
use super::front_matter::Document;
use super::templates::Unknown;
use super::values::written;
use super::yaml::Yaml;
use super::{budget, confinement, expected_calls, gate, models, outcomes, outputs, results, templates, tools};
use crate::definition::diagnostic::anchor::Step;
use crate::definition::diagnostic::field::FieldProblem;
use crate::definition::diagnostic::meant::Mapping;
use crate::definition::diagnostic::phase::PhaseProblem;
use crate::definition::diagnostic::place::Place;
use crate::definition::diagnostic::report::Diagnostic;
use crate::definition::diagnostic::tool::ToolProblem;
use crate::definition::diagnostic::value::{Expected, Needs};
use crate::definition::model::blank::is_blank;
use crate::definition::model::files::{Stale, Surroundings};
use crate::definition::model::nearest::nearest;
use crate::definition::model::outcomes::Target;
use crate::definition::model::schema::{PHASE_FIELDS, names};
use crate::definition::model::variables::PHASE_VARIABLES;
use crate::definition::model::work::Work;
use crate::definition::model::workflow::Phase;

const FIELDS: [&str; PHASE_FIELDS.len()] = names(&PHASE_FIELDS);

const NEEDS: Needs = Needs { what: "a phase", fields: &["id", "name", "emoji"] };

/// Reads a phase from its file, and reports its errors; with `check` its warnings too. `None` after an
/// error.
///
/// # Errors
///
/// If the session is gone.
///
/// Specification: configuration reference, "Phase `.md` File Reference".
pub(crate) fn read(
    file: &str,
    document: Document,
    files: &Bounded,
    check: Option<&Surroundings>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Result<Option<Phase>, Stale> {
    if is_blank(document.front_matter()) {
        let place = Some(Place { line: 1, column: 1 });
        let problem =
            if document.is_unclosed() { PhaseProblem::UnclosedFrontMatter } else { PhaseProblem::NoFrontMatter };
        diagnostics.push(Diagnostic::new(file, problem).at(document.text(), place, 0));
        return Ok(None);
    }
    let has_body = !document.body().is_empty();
    if !has_body {
        let line = document.lines_before + document.front_matter().lines().count() + 1;
        let place = Some(Place { line, column: 1 });
        diagnostics.push(Diagnostic::new(file, PhaseProblem::NoInstructions).at(document.text(), place, 0));
    }
    if check.is_some() {
        check_instructions(file, &document, diagnostics);
    }
    let Some(mut fields) = Fields::parse(
        file,
        document.front_matter(),
        document.lines_before,
        (Mapping::Phase, NEEDS, &FIELDS),
        diagnostics,
    ) else {
        return Ok(None);
    };
    let id = fields.required_text("id");
    let name = fields.required_text("name");
    let emoji = fields.required_text("emoji");
    let tools = tools::read(&mut fields, &|| files.tools(), check)?;
    let confinement = confinement::read(&mut fields, PathVariables::OfRun);
    let budget = budget::read(&mut fields);
    let on_budget = on_budget(&mut fields);
    let profiles = profiles(&mut fields);
    fields.check_rules();
    fields.check_values(&PHASE_FIELDS);
    let summary = fields.given_choice("summary", &["optional", "required"], [false, true]);
    let context = fields.context();
    let interactive = fields.switch("interactive", false);
    let results = results::read(&mut fields);
    let outcomes = outcomes::read(&mut fields);
    let outputs = outputs::read(&mut fields);
    let gate = gate::read(&mut fields);
    let model = models::read_names(&mut fields);
    let thinking = models::read_thinking(&mut fields);
    let tests = expected_calls::read(&mut fields, check);
    if let Some(surroundings) = check {
        fields.check_keys();
        gate::check_attempts(&mut fields);
        tools::check_names(&mut fields, surroundings);
        check_profiles(&mut fields, surroundings);
    }
    if fields.has_errors || !has_body {
        return Ok(None);
    }
    Ok(Some(Phase {
        id,
        name,
        emoji,
        instructions: document.into_body(),
        file: file.to_owned(),
        work: Work::Agent,
        tools,
        confinement,
        budget,
        tests,
        profiles,
        summary_required: summary,
        context,
        on_budget,
        interactive,
        results,
        outcomes,
        outputs,
        gate,
        model,
        thinking,
    }))
}

/// Reads `onBudget`; `None` for a pause, and after an error.
fn on_budget(fields: &mut Fields) -> Option<Target> {
    let field = "onBudget";
    let value = fields.tree.root.get(field).cloned()?;
    let has_budget = !matches!(fields.tree.root.get("budget"), None | Some(Yaml::Null));
    let word = match &value {
        Yaml::String(word) if !is_blank(word) => Some(word),
        _ => None,
    };
    let expected = match word {
        Some(word) if has_budget => return (word != "pause").then(|| Target::of(word)),
        Some(_) => "a `budget` beside it",
        None => "`pause`, `next`, `loop`, `done`, `stop` or the id of an entry",
    };
    // A field without a value is reported as such.
    if value != Yaml::Null {
        let problem = FieldProblem::BadValue {
            field: field.into(),
            expected: expected.into(),
            found: if has_budget { written(&value) } else { "none".into() },
            suggestion: None,
        };
        fields.report(&[Step::Key(field)], problem);
    }
    None
}

/// Reports the variables that instructions do not know.
fn check_instructions(file: &str, document: &Document, diagnostics: &mut Vec<Diagnostic>) {
    let Place { line: first, column } = document.body_place();
    for unknown in templates::unknown(document.body(), &PHASE_VARIABLES) {
        let problem = Unknown::problem(unknown.name, None, &PHASE_VARIABLES);
        let mut diagnostic = Diagnostic::new(file, problem).at(document.body(), Some(unknown.place), first - 1);
        // The first line of the body is shown without the white space before it.
        if let Some(place) = diagnostic.place.as_mut().filter(|place| place.line == first) {
            place.column += column - 1;
        }
        diagnostics.push(diagnostic);
    }
}

/// Reports unknown profiles.
fn check_profiles(fields: &mut Fields, surroundings: &Surroundings) {
    let Some(profiles) = &surroundings.profiles else { return };
    let list = Step::Key("availableProfiles");
    for (index, name) in fields.names_at(&[list]) {
        if !profiles.contains(&name) {
            let suggestion = nearest(&name, profiles.iter().map(String::as_str)).map(Into::into);
            let problem = ToolProblem::UnknownProfile { name, suggestion };
            fields.report(&[list, Step::Item(index)], problem);
        }
    }
}

fn profiles(fields: &mut Fields) -> Option<Vec<String>> {
    let field = "availableProfiles";
    let (item, expected, found) = match fields.tree.root.get(field) {
        None | Some(Yaml::Null) => return None,
        Some(Yaml::List(items)) => match texts(items) {
            Ok(names) => return Some(names),
            Err((index, found)) => (Some(index), "names only", found),
        },
        Some(other) => (None, "a list of names", other.kind()),
    };
    let path = [Some(Step::Key(field)), item.map(Step::Item)];
    let path: Vec<Step> = path.into_iter().flatten().collect();
    let expected = Expected::Other(expected);
    fields.report(&path, FieldProblem::Ignored { field, expected, found });
    None
}
