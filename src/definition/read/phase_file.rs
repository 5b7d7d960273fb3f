//! Reads a phase: its file, or its entry in a `workflow.yaml`.

use std::sync::LazyLock;

use super::bounded::Bounded;
use super::fields::{Fields, OF_PHASE};
use super::front_matter::Document;
use super::step::default_id;
use super::templates::MAX_UNKNOWN;
use super::yaml::Yaml;
use super::{templates, tools, unread};
use crate::definition::diagnostic::{
    Diagnostic, Mapping, PathPart, PhaseProblem, Place, ToolProblem, UnreadField, VariableProblem,
};
use crate::definition::model::schema::names;
use crate::definition::model::variables::PHASE_VARIABLES;
use crate::definition::model::{ENTRY_FIELDS, Phase, Stale, Surroundings, last_part, nearest, title_case, trim};

const ENTRY: [&str; ENTRY_FIELDS.len()] = names(&ENTRY_FIELDS);

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
    let mut tell = |line, problem: PhaseProblem| {
        let place = Some(Place { line, column: 1 });
        diagnostics.push(Diagnostic::new(file, problem).at(document.text(), place, 0));
    };
    let below = document.below_front_matter();
    let found = match below {
        None if document.is_unclosed() => {
            tell(1, PhaseProblem::UnclosedFrontMatter);
            return Ok(None);
        }
        None => unread::in_text(document.text()),
        Some((_, text)) => unread::below(text),
    };
    if let Some((line, field)) = found {
        let (before, kind) = below.map_or((1, UnreadField::InText), |(line, _)| (line, UnreadField::BelowFields));
        tell(before + line, PhaseProblem::Unread { field, kind });
        if below.is_none() {
            return Ok(None);
        }
    }
    let is_whole = found.is_none();
    let has_body = !document.body().is_empty();
    if !has_body {
        let line = document.lines_before + document.front_matter().lines().count() + 1;
        let place = Some(Place { line, column: 1 });
        diagnostics.push(Diagnostic::new(file, PhaseProblem::NoInstructions).at(document.text(), place, 0));
    }
    if check.is_some() {
        check_instructions(file, &document, files, diagnostics);
    }
    let Some(mut fields) =
        Fields::parse(file, document.front_matter(), document.lines_before, (Mapping::Phase, &OF_PHASE), diagnostics)
    else {
        return Ok(None);
    };
    if check.is_some() {
        fields.check_texts();
    }
    let phase = read_fields(&mut fields, files, check)?;
    if fields.has_errors || !has_body || !is_whole {
        return Ok(None);
    }
    let own = last_part(file);
    let own = own.rsplit_once('.').map_or(own, |(name, _)| name);
    let phase = Phase { instructions: document.into_body(), file: file.to_owned(), ..phase };
    Ok(Some(named(phase, own.to_owned())))
}

/// The fields of an entry with `prompt`, and those of entries of other kinds.
pub(crate) static IN_ENTRY: LazyLock<Vec<&str>> = LazyLock::new(|| ENTRY.into_iter().chain(OF_PHASE).collect());

/// The fields of an entry with `prompt` that no phase file has.
const OF_ENTRY: [&str; 2] = ["prompt", "when"];

/// Reads the phase of an entry with `prompt`, as [`read`]; `at` leads to the entry. Its `when` is read with the entry.
pub(crate) fn read_entry(
    fields: &mut Fields,
    at: Vec<usize>,
    files: &Bounded,
    check: Option<&Surroundings>,
) -> Result<Option<Phase>, Stale> {
    // An entry with an empty `prompt` may be of another kind.
    let is_sure = fields.tree.root.get("prompt") != Some(&Yaml::Null);
    for key in ENTRY.into_iter().filter(|key| is_sure && !OF_PHASE.contains(key) && !OF_ENTRY.contains(key)) {
        if fields.tree.root.get(key).is_some() {
            let problem = PhaseProblem::Beside { field: key.to_owned(), kind: "prompt" };
            fields.report(&[PathPart::Name(key)], problem);
        }
    }
    let prompt = fields.given_text("prompt");
    if let Some((_, field)) = unread::in_text(&prompt) {
        let kind = UnreadField::InPrompt;
        fields.report(&[PathPart::Key("prompt")], PhaseProblem::Unread { field, kind });
    }
    if check.is_some() {
        fields.check_template("prompt", &PHASE_VARIABLES);
    }
    let phase = read_fields(fields, files, check)?;
    if fields.has_errors {
        return Ok(None);
    }
    let (instructions, file, id) = (trim(&prompt).to_owned(), fields.file.to_owned(), default_id("phase", &at));
    Ok(Some(named(Phase { instructions, file, at, ..phase }, id)))
}

/// Reads the fields that a phase file and an entry with `prompt` have in common.
fn read_fields(fields: &mut Fields, files: &Bounded, check: Option<&Surroundings>) -> Result<Phase, Stale> {
    let phase = Phase::read(fields);
    tools::check_case(fields, &|| files.tools(), check)?;
    fields.check_keys();
    fields.check_values(Phase::FIELDS);
    if let Some(surroundings) = check {
        tools::check_names(fields, surroundings);
        check_profiles(fields, surroundings);
    }
    Ok(phase)
}

/// Returns the phase with an id and a name; `id` is the default.
fn named(phase: Phase, id: String) -> Phase {
    let id = if phase.id.is_empty() { id } else { phase.id };
    let name = if phase.name.is_empty() { title_case(&id) } else { phase.name };
    Phase { id, name, ..phase }
}

/// Reports the variables that instructions do not know. A line that is too long is not shown.
fn check_instructions(file: &str, document: &Document, files: &Bounded, diagnostics: &mut Vec<Diagnostic>) {
    let Place { line: first, column } = document.body_place();
    let unknown = templates::unknown(document.body(), &PHASE_VARIABLES);
    let limit = MAX_UNKNOWN.min(files.take_variables(unknown.len()));
    for unknown in unknown.iter().take(limit) {
        let problem = unknown.problem(None, &PHASE_VARIABLES);
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
