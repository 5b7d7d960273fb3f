//! Reads the fields of one YAML mapping, with a diagnostic for each error.

use std::ops::RangeInclusive;
use std::rc::Rc;

use super::templates;
use super::values::input_of_bound;
use super::yaml::{self, Tree, Yaml};
use crate::definition::diagnostic::{
    Diagnostic, FieldProblem, Mapping, PathPart, Place, Problem, STRING, Severity, ValueKind, VariableProblem,
    YamlProblem,
};
use crate::definition::model::schema::names;
use crate::definition::model::{
    BoundValue, ENTRY_FIELDS, Field, Kind, Phase, ValueName, is_blank, is_metadata, nearest, with_names,
};

/// Maximum number of diagnostics of a file with a place: the line of each is counted from the beginning of the text.
pub(crate) const MAX_PLACES: usize = 50;

/// The fields of a phase.
pub(crate) const OF_PHASE: [&str; Phase::FIELDS.len()] = names(Phase::FIELDS);

/// Maximum number of diagnostics of a file; more diagnostics show when others are fixed.
const MAX_REPORTED: usize = 200;

/// The YAML of one file, and the list that its diagnostics go to.
pub(crate) struct Fields<'a> {
    /// The file, as a user would write it.
    pub file: &'a str,
    pub text: &'a str,
    /// Number of lines of the file before the text.
    pub lines_before: usize,
    /// All keys that have a meaning.
    known: &'static [&'static str],
    /// The kind of the file.
    of: Mapping,
    pub tree: Rc<Tree>,
    /// The list to which the diagnostics of the file are added.
    pub diagnostics: &'a mut Vec<Diagnostic>,
    pub has_errors: bool,
    /// Number of diagnostics in the list before the file was read.
    before: usize,
}

impl<'a> Fields<'a> {
    /// Parses the YAML text of a file. `None` if it is not YAML or not a mapping, which is reported.
    pub fn parse(
        file: &'a str,
        text: &'a str,
        lines_before: usize,
        (of, known): (Mapping, &'static [&'static str]),
        diagnostics: &'a mut Vec<Diagnostic>,
    ) -> Option<Self> {
        let before = diagnostics.len();
        let mut add = |place, problem: YamlProblem| {
            diagnostics.push(Diagnostic::new(file, problem).at(text, place, lines_before));
        };
        match yaml::parse(text).map(|tree| tree.or_empty(matches!(of, Mapping::Workflow | Mapping::Phase))) {
            Ok(tree) if matches!(tree.root, Yaml::Map(_)) => {
                let tree = Rc::new(tree);
                return Some(Self {
                    file,
                    text,
                    lines_before,
                    known,
                    of,
                    tree,
                    diagnostics,
                    has_errors: false,
                    before,
                });
            }
            Ok(tree) => {
                add(tree.place(&[]), YamlProblem::NotAMapping { found: tree.root.kind() });
            }
            Err(error) => add(error.place, error.problem),
        }
        None
    }

    /// Reads the mapping at a path of a parsed file, with its own known keys. `before` is the number of diagnostics in
    /// the list before the file was read. `None` without a mapping there.
    pub fn of_part(
        (file, text, tree): (&'a str, &'a str, &Tree),
        path: &[PathPart],
        (of, known): (Mapping, &'static [&'static str]),
        (diagnostics, before): (&'a mut Vec<Diagnostic>, usize),
    ) -> Option<Self> {
        let tree = Rc::new(tree.part(path).filter(|part| matches!(part.root, Yaml::Map(_)))?);
        Some(Self { file, text, lines_before: 0, known, of, tree, diagnostics, has_errors: false, before })
    }

    /// Reads the mapping at a path as if it were the whole file.
    pub fn within<T>(&mut self, path: &[PathPart], read: impl FnOnce(&mut Self) -> T) -> Option<T> {
        let part = Rc::new(self.tree.part(path)?);
        let whole = std::mem::replace(&mut self.tree, part);
        let value = read(self);
        self.tree = whole;
        Some(value)
    }

    /// Refuses unknown keys of the mapping at a path, a part of the field `of`. Returns true if it has no such key.
    pub fn check_part(&mut self, at: &[PathPart], of: &'static str, known: &'static [&'static str]) -> bool {
        let tree = Rc::clone(&self.tree);
        let mut is_known = true;
        for key in keys(value_at(&tree.root, at)).filter(|key| !known.contains(key)) {
            let problem = FieldProblem::UnknownPart { of, field: key.to_owned(), known };
            self.report(&[at, &[PathPart::Name(key)]].concat(), problem);
            is_known = false;
        }
        is_known
    }

    /// Reports a diagnostic of the node at a path, or of the nearest existing node above it.
    pub fn report(&mut self, path: &[PathPart], problem: impl Into<Problem>) {
        let place = self.place(path);
        self.report_at(place, problem.into());
    }

    fn place(&self, path: &[PathPart]) -> Option<Place> {
        let look_up = self.diagnostics.len() - self.before < MAX_PLACES;
        (0..=path.len()).rev().filter(|_| look_up).find_map(|depth| self.tree.place(path.get(..depth)?))
    }

    fn report_at(&mut self, place: Option<Place>, problem: Problem) {
        let is_first_error = problem.describe().severity == Severity::Error && !self.has_errors;
        self.has_errors |= is_first_error;
        // The first error says why a file is left out.
        if self.diagnostics.len() - self.before >= MAX_REPORTED && !is_first_error {
            return;
        }
        self.diagnostics.push(Diagnostic::new(self.file, problem).at(self.text, place, self.lines_before));
    }

    /// Reports a missing field. An unknown key is taken for the field if its name is similar.
    pub fn missing(&mut self, field: &'static str) {
        let meant = |key: &String| nearest(key, self.known.iter().copied()) == Some(field);
        let instead = self.unknown_keys().into_iter().find(meant);
        let problem = FieldProblem::Missing { field, instead: instead.clone() };
        match &instead {
            Some(key) => self.report(&[PathPart::Name(key)], problem),
            None => self.report(&[], problem),
        }
    }

    /// Refuses rules without a value: such a rule would not hold. The readers take a field without a value for absent.
    pub fn check_values(&mut self, schema: &[Field]) {
        let tree = Rc::clone(&self.tree);
        let mut empty = Vec::new();
        find_empty(schema, &tree.root, &[], "", &mut empty);
        for (path, field) in empty {
            self.report(&path, FieldProblem::Empty { field });
        }
    }

    /// Refuses the unknown keys of the mapping. Data of the author's may stand at the top of a file.
    pub fn check_keys(&mut self) {
        for field in self.unknown_keys() {
            let is_data = self.of != Mapping::Prompt && is_metadata(&field);
            if !is_data && !self.taken_for_another(&field) {
                let (of, known) = (self.of, self.known);
                self.report(&[PathPart::Name(&field)], FieldProblem::UnknownField { of, field: field.clone(), known });
            }
        }
    }

    /// Reports texts without quotes that may mean something else.
    pub fn check_texts(&mut self) {
        for (place, problem) in yaml::check_texts(self.text) {
            self.report_at(Some(place), problem.into());
        }
    }

    fn unknown_keys(&self) -> Vec<String> {
        keys(Some(&self.tree.root)).filter(|key| !self.known.contains(key)).map(ToOwned::to_owned).collect()
    }

    /// Returns true if a key was reported as the name of a missing field.
    fn taken_for_another(&self, key: &str) -> bool {
        self.diagnostics.iter().skip(self.before).any(
            |diagnostic| matches!(&diagnostic.problem, Problem::Field(FieldProblem::Missing { instead: Some(name), .. }) if name == key),
        )
    }

    /// Reports the unknown variables in a template.
    pub fn check_template(&mut self, field: &'static str, known: &'static [&'static str]) {
        let Some(Yaml::String(template)) = self.tree.root.get(field) else { return };
        let template = template.clone();
        self.check_template_at(&[PathPart::Key(field)], field, &template, known);
    }

    /// Reports unknown variables in the template at a path.
    pub fn check_template_at(
        &mut self,
        path: &[PathPart],
        field: &'static str,
        template: &str,
        known: &'static [&'static str],
    ) {
        let unknown = templates::unknown(template, known);
        let all = unknown.iter().map(|unknown| (unknown.written(), unknown.problem(Some(field), known)));
        for (written, problem) in all.collect::<Vec<_>>() {
            let value = self.place(path);
            let place = value.map(|value| self.find(value, &written).unwrap_or(value));
            self.report_at(place, problem.into());
        }
    }

    /// Reports variables in a value whose variables are not replaced. A name that can only be a variable, like
    /// `{input.NAME}`, is an error; a plain name like `{description}` may be meant for a program, and is a warning.
    pub fn check_literal(&mut self, path: &[PathPart], field: &str, text: &str) {
        self.report_variables(path, field, text, false);
    }

    /// Like [`Self::check_literal`] for the line of a command, which must not be the name of a value either.
    pub fn check_line(&mut self, path: &[PathPart], field: &str, line: &str) {
        self.check_literal(path, field, line);
        let (field, line) = (field.to_owned(), line.trim());
        match ValueName::meant(line).filter(|_| ValueName::can_be(line)) {
            // `task` is a program, and a value of the type `command` is a line.
            None | Some(ValueName::Task) => {}
            Some(ValueName::Input(_) | ValueName::Output { .. }) if ValueName::is_begun_by(line) => {}
            Some(name) => {
                let (field, written) = (field.clone(), line.to_owned());
                self.report(path, VariableProblem::NameAsCommand { field, written, name });
            }
        }
        let form = "${{";
        if line.contains(form) && templates::in_literal(line).is_empty() {
            self.report(path, VariableProblem::OtherFormInCommand { field, form });
        }
    }

    /// Reports all variables in a text for the agent or the user, each as an error.
    pub fn check_no_variables(&mut self, path: &[PathPart], field: &str, text: &str) {
        self.report_variables(path, field, text, true);
    }

    fn report_variables(&mut self, path: &[PathPart], field: &str, text: &str, is_error: bool) {
        for (name, named) in templates::in_literal(text) {
            let value = self.place(path);
            let place = value.map(|value| self.find(value, &format!("{{{name}}}")).unwrap_or(value));
            let (field, name) = (field.to_owned(), name.to_owned());
            self.report_at(place, VariableProblem::NotReplaced { field, name, named: named || is_error }.into());
        }
    }

    /// Like [`Self::check_literal`] for a path, in which some variables are replaced.
    pub fn check_path(&mut self, path: &[PathPart], field: &str, text: &str) {
        self.check_literal(path, field, &with_names(text));
    }

    /// Returns true if a text stands without quotes at a path.
    pub fn is_bare(&self, path: &[PathPart], text: &str) -> bool {
        let Some(place) = self.tree.place(path) else { return false };
        let line = self.text.lines().nth(place.line - 1).unwrap_or_default();
        let start = line.char_indices().nth(place.column - 1).map_or(line.len(), |(at, _)| at);
        line.get(start..).is_some_and(|rest| rest.starts_with(text))
    }

    /// Returns the first place of a text, from a place on.
    fn find(&self, from: Place, words: &str) -> Option<Place> {
        self.text.lines().enumerate().skip(from.line - 1).find_map(|(index, line)| {
            let skip = if index + 1 == from.line { from.column - 1 } else { 0 };
            let start = line.char_indices().nth(skip).map_or(line.len(), |(at, _)| at);
            let at = start + line.get(start..)?.find(words)?;
            let column = line.get(..at)?.chars().count() + 1;
            Some(Place { line: index + 1, column })
        })
    }

    /// Returns the items of the list at a path that are scalars, as text, each with its index.
    pub fn names_at(&self, path: &[PathPart]) -> Vec<(usize, String)> {
        let items = value_at(&self.tree.root, path).map(Yaml::items).unwrap_or_default().iter().enumerate();
        items.filter_map(|(index, item)| Some((index, item.scalar_text()?))).collect()
    }

    /// Reads a string, which must not be blank; empty without one, and after an error.
    pub fn given_text(&mut self, field: &'static str) -> String {
        match self.tree.root.get(field).filter(|value| **value != Yaml::Null).map(|value| text(field, value)) {
            Some(Ok(text)) => return text,
            Some(Err(problem)) => self.report(&[PathPart::Key(field)], problem),
            // `check_values` reports a field without a value.
            None => {}
        }
        String::new()
    }

    /// Reads a string as [`Fields::given_text`]; `None` without the field.
    pub fn text_if_given(&mut self, field: &'static str) -> Option<String> {
        self.tree.root.get(field)?;
        Some(self.given_text(field))
    }

    /// Reads an optional string; any other value is ignored with a warning.
    pub fn optional_text(&mut self, field: &'static str) -> Option<String> {
        match self.tree.root.get(field) {
            // Providers refuse a blank message.
            Some(Yaml::String(text)) if !text.is_empty() && is_blank(text) => {
                self.ignore(field, "a text that is not blank", ValueKind::String);
                None
            }
            Some(Yaml::String(text)) => Some(text.clone()),
            Some(Yaml::Null) | None => None,
            Some(other) => {
                let found = other.kind();
                self.ignore(field, STRING, found);
                None
            }
        }
    }

    /// Reads the entries of an optional mapping, at least one and at most `limit` where there is a limit; empty without
    /// the field, and after an error.
    pub fn entries(
        &mut self,
        field: &'static str,
        expected: &'static str,
        limit: Option<usize>,
    ) -> Vec<(String, Yaml)> {
        let problem = match (self.tree.root.get(field), limit) {
            (None | Some(Yaml::Null), _) => return Vec::new(),
            (Some(Yaml::Map(entries)), Some(limit)) if !(1..=limit).contains(&entries.len()) => {
                FieldProblem::EntryCount { field, limit }
            }
            (Some(Yaml::Map(entries)), _) => return entries.clone(),
            (Some(other), _) => FieldProblem::wrong_type(field, expected, other.kind()),
        };
        self.report(&[PathPart::Key(field)], problem);
        Vec::new()
    }

    /// Reads a field that is one of a few words, and returns its index among them. The first is the default, also for a
    /// blank value, which [`Fields::check_values`] reports.
    pub fn choice(&mut self, field: &'static str, words: &'static [&'static str]) -> usize {
        let (found, suggestion) = match self.tree.root.get(field) {
            None | Some(Yaml::Null) => return 0,
            Some(value) if is_blank_text(value) => return 0,
            Some(Yaml::String(value)) => {
                if let Some(index) = words.iter().position(|word| word == value) {
                    return index;
                }
                let meant = meant_choice(field, value);
                (format!("`{value}`"), meant.or_else(|| nearest(value, words.iter().copied())))
            }
            Some(Yaml::Bool(value, _)) => (format!("`{value}`"), meant_choice(field, &value.to_string())),
            Some(other) => (other.kind().to_string(), None),
        };
        self.report(&[PathPart::Key(field)], FieldProblem::NotAChoice { field, words, found, suggestion });
        0
    }

    /// Reads one of `words` as the value at the same index; `None` without the field.
    pub fn given_choice<T: Copy>(
        &mut self,
        field: &'static str,
        words: &'static [&'static str],
        values: &[T],
    ) -> Option<T> {
        let given = !matches!(self.tree.root.get(field), None | Some(Yaml::Null));
        let index = self.choice(field, words);
        values.get(index).copied().filter(|_| given)
    }

    /// Reads a field that is `true` or `false`; the default for a missing field, and after an error.
    pub fn switch(&mut self, field: &'static str, default: bool) -> bool {
        let problem = match self.tree.root.get(field) {
            None | Some(Yaml::Null) => return default,
            Some(Yaml::Bool(value, _)) => return *value,
            Some(other) => no_switch(field, "`true` or `false`", other),
        };
        self.report(&[PathPart::Key(field)], problem);
        default
    }

    /// Reads a field that is `true` or `false`; `None` without the field. After an error the value is arbitrary.
    pub fn given_switch(&mut self, field: &'static str) -> Option<bool> {
        let given = !matches!(self.tree.root.get(field), None | Some(Yaml::Null));
        given.then(|| self.switch(field, true))
    }

    /// Reads a whole number in a range.
    fn whole_number(&mut self, field: &'static str, default: u32, range: RangeInclusive<u32>) -> u32 {
        let path = &[PathPart::Key(field)];
        let found = match self.tree.root.get(field) {
            None | Some(Yaml::Null) => return default,
            Some(Yaml::Number(number, _))
                if number.fract() == 0.0 && (f64::from(*range.start())..=f64::from(*range.end())).contains(number) =>
            {
                return *number as u32;
            }
            Some(Yaml::Number(_, text)) => format!("`{text}`"),
            Some(Yaml::String(text)) if text.trim().parse::<u32>().is_ok() => {
                let value = text.clone();
                let expected = format!("a whole number from {} to {}", range.start(), range.end());
                let problem = if self.is_bare(path, text) {
                    // YAML reads `010` as a text.
                    let number = text.trim().parse::<u32>().ok();
                    FieldProblem::bad(field, expected, format!("`{text}`")).suggest(number.map(|it| it.to_string()))
                } else {
                    FieldProblem::Quoted { field: field.to_owned(), expected, value }
                };
                self.report(path, problem);
                return default;
            }
            Some(other) => other.kind().to_string(),
        };
        self.report(path, FieldProblem::OutOfRange { field, range, found });
        default
    }

    /// Reads a whole number within a range, or the name of an input that has it.
    pub fn bounded(&mut self, field: &'static str, default: u32, range: RangeInclusive<u32>) -> BoundValue<u32> {
        let (at, tree) = ([PathPart::Key(field)], Rc::clone(&self.tree));
        match tree.root.get(field).and_then(|value| self.input_of_bound(&at, field, value)) {
            Some(name) => BoundValue::Input(name),
            None => self.whole_number(field, default, range).into(),
        }
    }

    /// Reads the name of an input, from the value of a bound at a path; `None` if the value is no name. After an error
    /// the name is empty. `field` is the name of the bound in diagnostics.
    pub fn input_of_bound(&mut self, at: &[PathPart], field: &str, value: &Yaml) -> Option<String> {
        let name = input_of_bound(field, value)?;
        Some(name.unwrap_or_else(|problem| {
            self.report(at, problem);
            String::new()
        }))
    }

    /// Reports a field that has no effect.
    pub fn ignore(&mut self, field: &'static str, expected: &'static str, found: ValueKind) {
        self.report(&[PathPart::Key(field)], FieldProblem::Ignored { field, expected, found });
    }
}

/// Returns the value at a path.
fn value_at<'y>(root: &'y Yaml, path: &[PathPart]) -> Option<&'y Yaml> {
    path.iter().try_fold(root, |value, part| match part {
        PathPart::Key(key) | PathPart::Name(key) => value.get(key),
        PathPart::Item(index) => value.items().get(*index),
    })
}

/// Returns the keys of a mapping; none of any other value.
pub(crate) fn keys(value: Option<&Yaml>) -> impl Iterator<Item = &str> {
    let entries = if let Some(Yaml::Map(entries)) = value { &entries[..] } else { &[] };
    entries.iter().map(|(key, _)| &**key)
}

/// Returns the value of a field that is a string and not blank, or its problem.
pub(crate) fn text(field: &str, value: &Yaml) -> Result<String, FieldProblem> {
    match value {
        Yaml::String(text) if is_blank(text) => Err(FieldProblem::Blank { field: field.into() }),
        Yaml::String(text) => Ok(text.clone()),
        other => Err(FieldProblem::wrong_type(field, STRING, other.kind())),
    }
}

/// Returns the problem of a value in the place of `true` or `false`.
pub(super) fn no_switch(field: &str, expected: &'static str, found: &Yaml) -> FieldProblem {
    match found {
        Yaml::String(word) if word == "true" || word == "false" => {
            FieldProblem::Quoted { field: field.to_owned(), expected: expected.to_owned(), value: word.clone() }
        }
        Yaml::String(word) => FieldProblem::bad(field, expected, format!("`{word}`")),
        other => FieldProblem::wrong_type(field, expected, other.kind()),
    }
}

/// Returns the problem of a value in the place of a list.
pub(crate) fn not_a_list(field: String, expected: &'static str, found: &Yaml) -> FieldProblem {
    match found {
        Yaml::String(text) if !is_blank(text) => FieldProblem::NotAList { field, expected, text: text.clone() },
        found => FieldProblem::wrong_type(field, expected, found.kind()),
    }
}

/// Returns the word that another word means as the value of a field.
fn meant_choice(field: &str, word: &str) -> Option<&'static str> {
    match (field, &*word.to_ascii_lowercase()) {
        ("summary", "true" | "yes" | "always") | ("sandbox", "true" | "on" | "yes") => Some("required"),
        ("summary", "false" | "no") => Some("optional"),
        ("sandbox", "false" | "no" | "none") => Some("off"),
        ("context", "new" | "clean" | "empty" | "isolated" | "none") => Some("fresh"),
        _ => None,
    }
}

/// Finds the rules without a value in a mapping with these fields, each with its path and its name.
fn find_empty<'a>(
    fields: &[Field],
    mapping: &'a Yaml,
    at: &[PathPart<'a>],
    prefix: &str,
    empty: &mut Vec<(Vec<PathPart<'a>>, String)>,
) {
    let Yaml::Map(entries) = mapping else { return };
    for (key, value) in entries {
        let Some(field) = fields.iter().find(|field| field.name == key) else { continue };
        let name = format!("{prefix}{key}");
        if !field.is_required && is_empty(field, value) {
            empty.push(([at, &[PathPart::Name(key)]].concat(), name));
            continue;
        }
        let at = [at, &[PathPart::Key(key)]].concat();
        let items = value.items().iter().enumerate();
        let items = items.map(|(index, item)| ([&at[..], &[PathPart::Item(index)]].concat(), item));
        match field.kind {
            Kind::Mapping { fields, .. } => {
                find_empty(fields, value, &at, &format!("{name}."), empty);
            }
            Kind::Phases(_, fields) => {
                items.for_each(|(at, item)| find_empty(fields, item, &at, "", empty));
            }
            Kind::Group(_) => {
                items.for_each(|(at, item)| find_empty(&ENTRY_FIELDS, item, &at, "", empty));
            }
            Kind::Checks(fields) => {
                let prefix = format!("{name}.");
                items.for_each(|(at, item)| find_empty(fields, item, &at, &prefix, empty));
            }
            Kind::Inputs(fields) | Kind::Outputs(fields) => {
                let Yaml::Map(inputs) = value else { continue };
                for (input, value) in inputs {
                    let at = [&at[..], &[PathPart::Key(input)]].concat();
                    find_empty(fields, value, &at, &format!("{name}.{input}."), empty);
                }
            }
            // Other kinds have no mappings.
            _ => {}
        }
    }
}

/// Returns true if a rule has no value. An empty list of tools or paths is a value: it allows or refuses nothing.
fn is_empty(field: &Field, value: &Yaml) -> bool {
    match (field.kind, value) {
        (_, Yaml::Null) => !field.may_be_empty(),
        (Kind::Mapping { .. } | Kind::Values, Yaml::Map(entries)) => entries.is_empty(),
        (Kind::NameOrNames, Yaml::List(items)) => items.is_empty(),
        (Kind::NameOrNames | Kind::OneOf(_) | Kind::WordOrNames(_), value) => is_blank_text(value),
        _ => false,
    }
}

pub(crate) fn is_blank_text(value: &Yaml) -> bool {
    matches!(value, Yaml::String(text) if is_blank(text))
}

/// Returns the items of a list as text, as the file has them; or the kind of the first item that is no
/// scalar, with its index.
pub(crate) fn texts(items: &[Yaml]) -> Result<Vec<String>, (usize, ValueKind)> {
    let text = |(index, item): (usize, &Yaml)| item.scalar_text().ok_or((index, item.kind()));
    items.iter().enumerate().map(text).collect()
}
