//! Reads the user's `notify.yaml`.

use super::fields::Fields;
use super::yaml::Yaml;
use crate::definition::diagnostic::{Diagnostic, FieldProblem, Mapping, NotifyProblem, PathPart, Problem, STRING};
use crate::definition::model::schema::names;
use crate::definition::model::{
    MAX_ARGUMENTS, NOTIFY_FIELDS, Notify, OCCASIONS, Occasion, TEXT, TITLE, is_blank, nearest,
};

const FIELDS: [&str; NOTIFY_FIELDS.len()] = names(&NOTIFY_FIELDS);

/// The options behind which interpreters take code.
const CODE_OPTIONS: [&str; 9] = ["-c", "-lc", "-ic", "-e", "-E", "/c", "--eval", "--command", "-Command"];

/// Reads the settings of notifications, and reports the errors in them. `None` after an error.
pub(crate) fn read((file, text): (&str, &str), diagnostics: &mut Vec<Diagnostic>) -> Option<Notify> {
    let of = (Mapping::Other, &FIELDS[..]);
    let mut fields = Fields::parse(file, text, 0, of, diagnostics)?;
    fields.check_keys();
    fields.check_values(&NOTIFY_FIELDS);
    let (on, command) = (occasions(&mut fields), command(&mut fields));
    let terminal = fields.switch("terminal", false);
    if fields.has_errors {
        return None;
    }
    if command.is_none() && !terminal {
        fields.report(&[], NotifyProblem::NoWay);
        return None;
    }
    Some(Notify { on, command, terminal })
}

fn occasions(fields: &mut Fields) -> Vec<Occasion> {
    let Some(items) = fields.list("on", "a list of occasions") else {
        return Occasion::ALL.into();
    };
    let mut occasions = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let word = item.scalar_text().unwrap_or_default();
        match OCCASIONS.iter().position(|known| *known == word) {
            Some(at) => occasions.extend(Occasion::ALL.get(at)),
            None => {
                let found = match item {
                    Yaml::String(_) => format!("`{word}`"),
                    other => other.kind().to_string(),
                };
                let suggestion = nearest(&word, OCCASIONS.iter().copied());
                let problem = NotifyProblem::NotAnOccasion { found, suggestion };
                fields.report(&[PathPart::Key("on"), PathPart::Item(index)], problem);
            }
        }
    }
    occasions
}

fn command(fields: &mut Fields) -> Option<Vec<String>> {
    let items = fields.list("command", "a program and its arguments")?;
    if items.len() > MAX_ARGUMENTS {
        fields.report(&[PathPart::Key("command")], NotifyProblem::TooManyArguments);
        return None;
    }
    let mut arguments: Vec<String> = Vec::with_capacity(items.len());
    for (index, item) in items.iter().enumerate() {
        let before = arguments.last().map(String::as_str);
        let argument = match argument(item, before) {
            Ok(argument) => argument,
            Err(problem) => {
                fields.report(&[PathPart::Key("command"), PathPart::Item(index)], problem);
                item.scalar_text().unwrap_or_default()
            }
        };
        arguments.push(argument);
    }
    Some(arguments)
}

/// Reads an argument behind another argument, or the program.
fn argument(item: &Yaml, before: Option<&str>) -> Result<String, Problem> {
    let Some(argument) = item.scalar_text() else {
        return Err(FieldProblem::wrong_type("command", STRING, item.kind()).into());
    };
    if argument.contains(char::is_control) {
        return Err(NotifyProblem::ControlCharacter.into());
    }
    let variable = [TITLE, TEXT].into_iter().find(|variable| argument.contains(variable));
    let problem = match (before, variable) {
        (None, Some(_)) => NotifyProblem::VariableAsProgram,
        (None, None) if is_blank(&argument) => {
            return Err(FieldProblem::Blank { field: "command".into() }.into());
        }
        (None, None) if is_relative(&argument) => NotifyProblem::RelativeProgram { program: argument },
        (Some(_), Some(variable)) if argument != variable => NotifyProblem::VariableInArgument { variable },
        (Some(option), Some(variable)) if CODE_OPTIONS.contains(&option) => {
            NotifyProblem::VariableAsCode { variable, option: option.to_owned() }
        }
        (_, _) => return Ok(argument),
    };
    Err(problem.into())
}

/// Returns true if a program depends on the folder: a path that does not begin at a root or the home folder.
fn is_relative(program: &str) -> bool {
    let is_path = program.contains(['/', '\\']);
    let has_drive = program.get(1..3).is_some_and(|part| matches!(part, ":/" | ":\\"));
    is_path && !program.starts_with('/') && !program.starts_with("~/") && !has_drive
}
