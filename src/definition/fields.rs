//! The fields of one YAML mapping, read with a fault for each that is not as it should be.

use super::fault::{Fault, Place, Problem};
use super::is_blank;
use super::yaml::{self, Step, Yaml};

/// For how many faults of a file a place is looked up: each look-up parses the text again.
pub(super) const MAX_PLACES: usize = 50;

/// The YAML of one file, and the list that its faults go to.
pub(super) struct Fields<'a> {
    /// The file, as a person would write it.
    pub file: &'a str,
    /// The YAML text.
    pub text: &'a str,
    /// How many lines of the file stand before it.
    pub lines_before: usize,
    /// What it says.
    pub root: Yaml,
    /// What is wrong with it.
    pub faults: &'a mut Vec<Fault>,
    /// How many of the faults are of other files.
    before: usize,
}

impl<'a> Fields<'a> {
    /// Parses the YAML text of a file. Text that is not YAML, or no mapping, is reported and gives
    /// nothing.
    pub fn parse(
        file: &'a str,
        text: &'a str,
        lines_before: usize,
        what: &'static str,
        faults: &'a mut Vec<Fault>,
    ) -> Option<Self> {
        let before = faults.len();
        let mut fields = Self { file, text, lines_before, root: Yaml::Null, faults, before };
        match yaml::parse(text) {
            Ok(root @ Yaml::Map(_)) => {
                fields.root = root;
                return Some(fields);
            }
            Ok(_) => fields.fault(&[], Problem::NotAMapping { what }),
            Err(error) => fields.fault_at(error.place, Problem::NotYaml(error.words)),
        }
        None
    }

    /// Reports a fault of the node at a path, or of the nearest one above it that exists.
    pub fn fault(&mut self, path: &[Step], problem: Problem) {
        let look_up = self.faults.len() - self.before < MAX_PLACES;
        let place = (0..=path.len())
            .rev()
            .filter(|_| look_up)
            .find_map(|depth| yaml::locate(self.text, path.get(..depth)?));
        self.fault_at(place, problem);
    }

    fn fault_at(&mut self, place: Option<Place>, problem: Problem) {
        let place =
            place.map(|Place { line, column }| Place { line: line + self.lines_before, column });
        self.faults.push(Fault { file: self.file.to_owned(), place, problem });
    }

    /// A text that must be there and not blank.
    pub fn required_text(&mut self, field: &'static str) -> Option<String> {
        let problem = match self.root.get(field) {
            Some(Yaml::String(text)) if !is_blank(text) => return Some(text.clone()),
            Some(Yaml::String(_)) => Problem::Blank { field: field.into() },
            Some(other) => {
                Problem::WrongType { field: field.into(), expected: "a text", found: other.kind() }
            }
            None => Problem::Missing { field: field.into() },
        };
        self.fault(&[Step::Key(field)], problem);
        None
    }

    /// A text that may be left out; anything else in its place is ignored with a warning.
    pub fn optional_text(&mut self, field: &'static str) -> Option<String> {
        match self.root.get(field) {
            Some(Yaml::String(text)) => Some(text.clone()),
            Some(Yaml::Null) | None => None,
            Some(other) => {
                let found = other.kind();
                self.ignore(field, "a text", found);
                None
            }
        }
    }

    /// A field that is one of a few words, the first of which is the default: its index among them.
    pub fn choice(&mut self, field: &'static str, words: &'static [&'static str]) -> Option<usize> {
        let problem = match self.root.get(field) {
            None | Some(Yaml::Null) => return Some(0),
            Some(Yaml::String(value)) => {
                if let Some(index) = words.iter().position(|word| word == value) {
                    return Some(index);
                }
                Problem::NotAChoice { field: field.into(), words, value: value.clone() }
            }
            Some(other) => {
                Problem::WrongType { field: field.into(), expected: "a text", found: other.kind() }
            }
        };
        self.fault(&[Step::Key(field)], problem);
        None
    }

    /// Reports a field that has no effect.
    pub fn ignore(&mut self, field: &'static str, expected: &'static str, found: &'static str) {
        self.fault(&[Step::Key(field)], Problem::Ignored { field: field.into(), expected, found });
    }
}

/// The items of a list as text, as JavaScript's `String` writes them; `None` if one is no scalar.
pub(super) fn texts(items: &[Yaml]) -> Option<Vec<String>> {
    items.iter().map(Yaml::scalar_text).collect()
}
