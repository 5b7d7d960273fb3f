//! Reads the value of a field by its type.

use super::fields::{Fields, texts};
use super::own_limits::PathVariables;
use super::values::{scalar, written};
use super::yaml::Yaml;
use super::{budget, gate, inputs, models, outcomes, outputs, own_limits, results, tools};
use crate::definition::diagnostic::{FieldProblem, PathPart};
use crate::definition::model::WorkflowOutput;
use crate::definition::model::{
    BudgetBounds, ContextMode, Entry, Field, FromField, Gate, Input, Kind, Outcome, Output, OwnLimits, OwnModel,
    Results, Show, Target, ToolPolicy, VALUE_TYPES, is_blank, is_command_name, trim,
};

macro_rules! by_type {
    ($($type:ty => $read:expr,)*) => {$(
        impl FromField<Fields<'_>> for $type {
            fn from_field(fields: &mut Fields, field: &'static Field) -> Self {
                let read: fn(&mut Fields, &'static Field) -> Self = $read;
                read(fields, field)
            }
        }
    )*};
}

by_type! {
    String => text,
    Option<String> => |fields, field| match field.kind {
        Kind::Line(most) => line(fields, field.name, most),
        _ => fields.optional_text(field.name),
    },
    bool => |fields, field| match field.kind {
        Kind::OneOf(_) => choice(fields, field, [false, true]).unwrap_or_default(),
        _ => fields.switch(field.name, field.default == "true"),
    },
    Option<usize> => |fields, _| max_length(fields),
    Option<Vec<String>> => |fields, _| profiles(fields),
    BudgetBounds => |fields, _| budget::read(fields),
    OwnLimits => |fields, _| own_limits::read(fields, PathVariables::OfRun),
    Option<ContextMode> => |fields, field| choice(fields, field, [ContextMode::Shared, ContextMode::Fresh]),
    Option<Gate> => |fields, _| gate::read(fields),
    Option<Target> => |fields, _| on_budget(fields),
    OwnModel => |fields, _| models::read(fields),
    Results => |fields, _| results::read(fields),
    Show => |fields, field| choice(fields, field, [Self::User, Self::Workflows]).unwrap_or_default(),
    ToolPolicy => |fields, _| tools::read(fields),
    // Entries are read together with the files that they name.
    Vec<Entry> => |_, _| Vec::new(),
    Vec<Input> => |fields, _| inputs::read(fields),
    Vec<Outcome> => |fields, _| outcomes::read(fields),
    Vec<Output> => |fields, _| outputs::read(fields, &VALUE_TYPES),
    Vec<WorkflowOutput> => |fields, _| outputs::read_of_workflow(fields),
}

/// Reads one of the words of a field as the value at the index of the word; `None` without the field.
fn choice<T: Copy, const N: usize>(fields: &mut Fields, field: &'static Field, values: [T; N]) -> Option<T> {
    let Kind::OneOf(words) = field.kind else { return None };
    fields.given_choice(field.name, words, &values)
}

/// Reads a text; empty without one: the reader of the file knows the default.
fn text(fields: &mut Fields, field: &'static Field) -> String {
    let name = field.name;
    if matches!(field.kind, Kind::FreeText) {
        return fields.optional_text(name).unwrap_or_default();
    }
    let is_empty = match fields.tree.root.get(name) {
        Some(Yaml::Null) => true,
        Some(Yaml::String(text)) => text.is_empty(),
        _ => false,
    };
    if is_empty && field.may_be_empty() {
        return String::new();
    }
    let text = fields.given_text(name);
    if matches!(field.kind, Kind::CommandName) && !text.is_empty() && !is_command_name(&text) {
        fields.report(&[PathPart::Key(name)], FieldProblem::BadCommandName { value: text.clone() });
    }
    text
}

/// Reads a text of one line with at most `most` characters; `None` without one, and after an error.
fn line(fields: &mut Fields, name: &'static str, most: usize) -> Option<String> {
    let text = trim(&fields.given_text(name)).to_owned();
    let length = text.chars().count();
    let found = if text.chars().any(char::is_control) {
        "a line end or another control character".to_owned()
    } else if length > most {
        format!("{length} characters")
    } else {
        return Some(text).filter(|text| !text.is_empty());
    };
    let expected = format!("one line of at most {most} characters");
    fields.report(&[PathPart::Key(name)], FieldProblem::bad(name, expected, found));
    None
}

fn max_length(fields: &mut Fields) -> Option<usize> {
    let field = "sessionNameMaxLength";
    let value = fields.tree.root.get(field)?;
    let problem = match value {
        Yaml::Null => return None,
        Yaml::Number(value, _) if *value >= 0.0 => return Some(*value as usize),
        Yaml::Number(..) => {
            let found = value.scalar_text().unwrap_or_default();
            FieldProblem::NegativeLength { field, found }
        }
        Yaml::Bool(..) | Yaml::String(_) | Yaml::List(_) | Yaml::Map(_) => {
            let expected = "a number from 0";
            FieldProblem::Ignored { field, expected, found: value.kind() }
        }
    };
    fields.report(&[PathPart::Key(field)], problem);
    None
}

/// Reads `onBudget`; `None` for a pause, and after an error.
fn on_budget(fields: &mut Fields) -> Option<Target> {
    let field = "onBudget";
    let value = fields.tree.root.get(field).cloned()?;
    let has_budget = !matches!(fields.tree.root.get("budget"), None | Some(Yaml::Null));
    let word = scalar(&value).filter(|word| !is_blank(word));
    let expected = match word {
        Some(word) if has_budget => return (word != "pause").then(|| Target::of(&word)),
        Some(_) => "a `budget` beside it",
        None => "`pause`, `next`, `loop`, `done`, `stop` or the id of an entry",
    };
    // `check_values` reports a field without a value.
    if value != Yaml::Null {
        let problem = FieldProblem::bad(field, expected, if has_budget { written(&value) } else { "none".into() });
        fields.report(&[PathPart::Key(field)], problem);
    }
    None
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
    let path = [Some(PathPart::Key(field)), item.map(PathPart::Item)];
    let path: Vec<PathPart> = path.into_iter().flatten().collect();
    fields.report(&path, FieldProblem::Ignored { field, expected, found });
    None
}
