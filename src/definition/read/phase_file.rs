//! Reads a phase file.

use super::bounded::Bounded;
use super::fields::Fields;
use super::front_matter::Document;
use super::templates::{MAX_UNKNOWN, Unknown};
use super::{expected_calls, templates, tools};
use crate::definition::diagnostic::{
    Diagnostic, Mapping, Needs, PathPart, PhaseProblem, Place, ToolProblem, VariableProblem,
};
use crate::definition::model::schema::names;
use crate::definition::model::variables::PHASE_VARIABLES;
use crate::definition::model::{Phase, Stale, Surroundings, is_blank, nearest};

const FIELDS: [&str; Phase::FIELDS.len()] = names(Phase::FIELDS);

const NEEDS: Needs = Needs { what: "a phase", fields: &["id", "name", "emoji"] };

/// Reads a phase from its file, and reports its errors; with `check` its warnings too. `None` after an
/// error.
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
        check_instructions(file, &document, files, diagnostics);
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
    let phase = Phase::read(&mut fields);
    tools::check_case(&mut fields, &|| files.tools(), check)?;
    fields.check_rules();
    fields.check_values(Phase::FIELDS);
    if let Some(surroundings) = check {
        fields.check_keys();
        tools::check_names(&mut fields, surroundings);
        check_profiles(&mut fields, surroundings);
        expected_calls::check(&mut fields, surroundings);
    }
    if fields.has_errors || !has_body {
        return Ok(None);
    }
    Ok(Some(Phase { instructions: document.into_body(), file: file.to_owned(), ..phase }))
}

/// Reports the variables that instructions do not know. A line that is too long is not shown.
fn check_instructions(file: &str, document: &Document, files: &Bounded, diagnostics: &mut Vec<Diagnostic>) {
    let Place { line: first, column } = document.body_place();
    let unknown = templates::unknown(document.body(), &PHASE_VARIABLES);
    let limit = MAX_UNKNOWN.min(files.take_variables(unknown.len()));
    for unknown in unknown.iter().take(limit) {
        let problem = Unknown::problem(unknown.name, None, &PHASE_VARIABLES);
        let before = unknown.place.line + first - 2;
        let mut diagnostic = Diagnostic::new(file, problem);
        let column_in_body = unknown.place.column;
        if unknown.line.len() <= MAX_LINE {
            diagnostic = diagnostic.at(unknown.line, Some(Place { line: 1, column: column_in_body }), before);
        } else {
            diagnostic.place = Some(Place { line: 1 + before, column: column_in_body });
        }
        // The first line of the body is shown without the white space before it.
        if let Some(place) = diagnostic.place.as_mut().filter(|place| place.line == first) {
            place.column += column - 1;
        }
        diagnostics.push(diagnostic);
    }
    if unknown.len() > limit {
        diagnostics.push(Diagnostic::new(file, VariableProblem::TooMany));
    }
}

/// Maximum length of a line that is shown, in bytes.
const MAX_LINE: usize = 10_000;

fn check_profiles(fields: &mut Fields, surroundings: &Surroundings) {
    let Some(profiles) = &surroundings.profiles else { return };
    let list = PathPart::Key("availableProfiles");
    for (index, name) in fields.names_at(&[list]) {
        if !profiles.contains(&name) {
            let suggestion = nearest(&name, profiles.iter().map(String::as_str)).map(Into::into);
            let problem = ToolProblem::UnknownProfile { name, suggestion };
            fields.report(&[list, PathPart::Item(index)], problem);
        }
    }
}
