//! Reads the fields `write`, `hide`, `network` and `sandbox`.

use super::fields::{Fields, not_a_list, text};
use super::yaml::Yaml;
use crate::definition::diagnostic::{FieldProblem, GateProblem, LimitProblem, PathPart, Problem};
use crate::definition::model::{
    MAX_EXPANSIONS, MAX_PATHS, OwnLimits, SANDBOXES, Sandbox, expansions, is_glob, is_invisible, is_space, split, trim,
    variables as path_variables, with_names,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PathVariables {
    OfRun,
    /// No variables: there may be no run.
    None,
}

/// Reads `write`, `hide`, `network` and `sandbox`; `variables` are the variables of `write`.
pub(crate) fn read(fields: &mut Fields, variables: PathVariables) -> OwnLimits {
    let kinds = [Sandbox::Required, Sandbox::Preferred, Sandbox::Off];
    OwnLimits {
        write: paths(fields, ("write", variables), rule),
        hide: paths(fields, ("hide", PathVariables::None), hidden),
        network: fields.given_switch("network"),
        sandbox: fields.given_choice("sandbox", &SANDBOXES, &kinds),
    }
}

/// Reads a list of paths; `None` without the field.
fn paths(
    fields: &mut Fields,
    (field, variables): (&'static str, PathVariables),
    rule: fn(&Yaml) -> Result<String, Problem>,
) -> Option<Vec<String>> {
    let items = match fields.tree.root.get(field) {
        None | Some(Yaml::Null) => return None,
        Some(Yaml::List(items)) => items.clone(),
        Some(other) => {
            let problem = match not_a_list(field.into(), "a list of paths", other) {
                FieldProblem::WrongType { found, .. } => LimitProblem::NotPaths { field, found }.into(),
                problem => Problem::from(problem),
            };
            fields.report(&[PathPart::Key(field)], problem);
            return None;
        }
    };
    if items.len() > MAX_PATHS {
        let problem = LimitProblem::TooManyPaths { field, limit: MAX_PATHS };
        fields.report(&[PathPart::Key(field)], problem);
        return None;
    }
    let mut rules = Vec::with_capacity(items.len());
    for (index, item) in items.iter().enumerate() {
        match rule(item) {
            Ok(rule) => {
                let at = [PathPart::Key(field), PathPart::Item(index)];
                match variables {
                    PathVariables::OfRun => fields.check_path(&at, field, &rule),
                    PathVariables::None if field == "write" => {
                        fields.check_path(&at, field, &rule);
                        for variable in path_variables(&rule) {
                            fields.report(&at, LimitProblem::VariableOfRun { variable: variable.to_string() });
                        }
                    }
                    PathVariables::None => fields.check_literal(&at, field, &rule),
                }
                rules.push(rule);
            }
            Err(problem) => fields.report(&[PathPart::Key(field), PathPart::Item(index)], problem),
        }
    }
    Some(rules)
}

fn hidden(item: &Yaml) -> Result<String, Problem> {
    let path = path("hide", item)?;
    if is_glob(&path) || path.starts_with('!') {
        return Err(LimitProblem::HiddenGlob { path }.into());
    }
    Ok(path)
}

pub(crate) fn rule(item: &Yaml) -> Result<String, Problem> {
    let field = "write";
    let path = path(field, item)?;
    let (_, glob) = split(&path);
    let glob = glob.unwrap_or_default();
    // The glob library takes a `!` at the beginning of a glob for a negation.
    if path.starts_with('!') || glob.starts_with('!') {
        return Err(LimitProblem::ExcludedPath { path }.into());
    }
    let named = with_names(&path);
    if is_glob(&named) && fast_glob::validate(&named).is_err() {
        return Err(GateProblem::BadGlob { field, path }.into());
    }
    if expansions(&named) > MAX_EXPANSIONS {
        return Err(GateProblem::WideGlob { field, limit: MAX_EXPANSIONS }.into());
    }
    if glob.split(['/', '{', ',', '}']).any(|part| part == "..") {
        return Err(LimitProblem::ParentAfterWildcard { path }.into());
    }
    Ok(path)
}

/// Reads a path with `/`.
fn path(field: &'static str, item: &Yaml) -> Result<String, Problem> {
    let path = text(field, item)?.replace('\\', "/");
    if let Some((why, help)) = mistaken_path(&path) {
        return Err(LimitProblem::MistakenPath { field, path, why, help }.into());
    }
    if path.contains(char::is_control) {
        return Err(LimitProblem::ControlCharacter { field }.into());
    }
    Ok(path)
}

/// Returns the reason why a path cannot mean what it says, and a help; `None` for a good path. A `$` within a path is
/// an ordinary character.
pub(crate) fn mistaken_path(path: &str) -> Option<(&'static str, String)> {
    const NAME: &str = "write the path itself: variables of the shell have no value here";
    let bare = trim(path);
    if bare != path || path.starts_with(is_invisible) || path.ends_with(is_invisible) {
        let bare = path.trim_matches(|c| is_space(c) || is_invisible(c));
        return Some(("has blanks around it", format!("did you mean `{bare}`?")));
    }
    if let Some(inner) = without_quotes(path) {
        return Some(("has quotes around it, which are a part of the name", format!("did you mean `{inner}`?")));
    }
    if path.contains('\u{fffd}') {
        return Some(("is not valid UTF-8", "save the file as UTF-8".into()));
    }
    if path.contains(is_invisible) {
        return Some(("has a character that is not seen", "write the path without it".into()));
    }
    let first = path.split('/').next().unwrap_or_default();
    let is_name = |name: &str| {
        let mut letters = name.chars();
        letters.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
            && letters.all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '(' | ')'))
    };
    let braces = first.strip_prefix("${").and_then(|rest| rest.strip_suffix('}'));
    let percents = first.strip_prefix('%').and_then(|rest| rest.strip_suffix('%'));
    let variable = braces.or_else(|| first.strip_prefix('$')).or(percents);
    if variable.is_some_and(is_name) {
        let help = match variable {
            Some("HOME" | "USERPROFILE") => "`~/` is your home directory".into(),
            Some("PWD" | "CD") => "a path is relative to the project's directory".into(),
            _ => NAME.into(),
        };
        return Some(("begins with a variable, which is not replaced", help));
    }
    None
}

/// Returns a text without the quotes around it; `None` without quotes.
fn without_quotes(text: &str) -> Option<&str> {
    const OPENING: [char; 11] = ['"', '\'', '`', '“', '”', '„', '‘', '’', '‚', '«', '»'];
    let inner = text.strip_prefix(OPENING)?.strip_suffix(OPENING)?;
    Some(inner)
}
