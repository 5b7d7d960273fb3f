//! The variables in templates.

use crate::definition::diagnostic::{Place, VariableProblem};
use crate::definition::model::variables::{MEANINGS, PREVIOUS_SUMMARY};
use crate::definition::model::{ValueName, nearest};
use crate::sorted::Set;

/// A `{name}` that a template does not know, or a variable in the form of another program.
#[derive(Debug, PartialEq)]
pub(crate) struct Unknown<'a> {
    /// The name; of another form all of it, such as `${name}`.
    pub name: &'a str,
    pub line: &'a str,
    /// The place in the template at which it begins.
    pub place: Place,
}

impl Unknown<'_> {
    fn is_of_another_form(&self) -> bool {
        self.name.starts_with(['$', '{'])
    }

    /// Returns it as it is written in the template.
    pub fn written(&self) -> String {
        if self.is_of_another_form() { self.name.to_owned() } else { format!("{{{}}}", self.name) }
    }

    /// Returns the problem of a name. A `summary.ID` or `input.NAME`, `output.ID.NAME` or `outcome.ID` is checked
    /// against the library later.
    pub fn problem(&self, field: Option<&'static str>, known: &'static [&'static str]) -> VariableProblem {
        let name = self.name;
        if self.is_of_another_form() {
            return VariableProblem::OtherForm { written: name.to_owned(), known };
        }
        if let Some(id) = summary_of(name, known) {
            return VariableProblem::UnknownSummary { id: id.to_owned(), suggestion: None };
        }
        let name = name.to_owned();
        match ValueName::parse(&name) {
            Ok(ValueName::Summary(_)) | Err(_) => VariableProblem::UnknownVariable { name, field, known },
            Ok(_) if ValueName::is_begun_by(&name) => VariableProblem::UnknownValue { name, suggestion: None },
            Ok(_) => VariableProblem::UnknownVariable { name, field, known },
        }
    }
}

/// Returns the names in braces that are none of the `known` variables, each once; a `summary.ID` may be among them.
/// Names that look like code of another language (`${name}`, `{{name}}`) are left out, unless a variable was meant.
/// Variables in these forms, and `$ARGUMENTS`, are among them too.
pub(crate) fn unknown<'a>(template: &'a str, known: &[&str]) -> Vec<Unknown<'a>> {
    let mut found: Vec<Unknown> = Vec::new();
    let mut seen = Set::new();
    for (index, line) in template.lines().enumerate() {
        let mut rest = line;
        // The characters of the line before `rest`.
        let mut column = 0;
        let is_word = |(at, _): &(usize, &str)| {
            let behind = line.get(at + ARGUMENTS.len()..).and_then(|behind| behind.chars().next());
            !behind.is_some_and(|c| c.is_alphanumeric() || c == '_')
        };
        if let Some((at, _)) = line.match_indices(ARGUMENTS).find(is_word).filter(|_| seen.insert(ARGUMENTS)) {
            let column = line.get(..at).unwrap_or_default().chars().count() + 1;
            found.push(Unknown { name: ARGUMENTS, line, place: Place { line: index + 1, column } });
        }
        while let Some((passed, behind)) = rest.split_once('{') {
            let before = line.get(..line.len() - behind.len() - 1).unwrap_or_default();
            column += passed.chars().count() + 1;
            rest = behind;
            let brace = behind.char_indices().take(MAX_NAME).find(|(_, c)| matches!(c, '{' | '}'));
            let closed = brace.filter(|(_, c)| *c == '}').and_then(|(at, _)| behind.split_at_checked(at));
            if let Some(length) = closed.and_then(|(name, after)| other_form(before, name, after, known)) {
                let name = line.get(before.len() - 1..).and_then(|rest| rest.get(..length)).unwrap_or_default();
                if seen.insert(name) {
                    found.push(Unknown { name, line, place: Place { line: index + 1, column: column - 1 } });
                }
                continue;
            }
            // A known name between blanks is a variable that is not replaced.
            let spaced = closed.filter(|(name, _)| name.trim() != *name && known.contains(&name.trim()));
            let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-' | '/' | '@');
            let end = behind.find(|c: char| !is_name(c));
            let plain = end.and_then(|end| behind.split_at_checked(end));
            let Some((name, after)) = spaced.or(plain) else { continue };
            let code =
                before.ends_with(['$', '{']) || after.starts_with("}}") || name.contains(['.', '-', ' ', '/', '@']);
            if name.is_empty() || !after.starts_with('}') || known.contains(&name) || seen.contains(name) {
                continue;
            }
            let beginning = name.trim().split('.').next().unwrap_or(name);
            let meant = known.iter().copied().chain(["summary", "input", "output", "outcome"]);
            if !code || name.starts_with("log.") || name.starts_with("item.") || nearest(beginning, meant).is_some() {
                seen.insert(name);
                found.push(Unknown { name, line, place: Place { line: index + 1, column } });
                if found.len() > MAX_UNKNOWN {
                    return found;
                }
            }
        }
    }
    found
}

/// The variables for the task in other programs.
const ARGUMENTS: &str = "$ARGUMENTS";
const NAMES_OF_TASK: [&str; 3] = ["args", "arguments", "task"];

/// Returns the length of a variable that is written as `${name}` or `{{name}}`, with the texts before and behind the
/// name and its inner braces. `after` begins with the closing brace.
fn other_form(before: &str, name: &str, after: &str, known: &[&str]) -> Option<usize> {
    let is_double = before.ends_with('{') && after.starts_with("}}");
    let is_known = |name: &str| {
        known.contains(&name) || ValueName::is_begun_by(name) || is_double && NAMES_OF_TASK.contains(&name)
    };
    let is_other = is_double || before.ends_with('$') && name.trim() == name;
    (is_other && is_known(name.trim())).then(|| name.len() + 3 + usize::from(is_double))
}

/// Maximum number of unknown variables of a text that are reported.
pub(crate) const MAX_UNKNOWN: usize = 1000;

/// Maximum length of a name that may have blanks around it, in characters.
const MAX_NAME: usize = 100;

/// Returns the names of variables in a text whose variables are not replaced, each once; with true for `runDir` and for
/// names with several words, such as `input.NAME`. `${name}` and `{{name}}` are code of another language, and so is
/// `{name}` for `jq`.
pub(crate) fn in_literal(text: &str) -> Vec<(&str, bool)> {
    let mut found: Vec<(&str, bool)> = Vec::new();
    let mut seen = Set::new();
    let is_for_jq = text.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| word == "jq");
    for (at, _) in text.match_indices('{') {
        let (Some(before), Some(behind)) = (text.get(..at), text.get(at + 1..)) else { continue };
        let end = behind.find(['{', '}']);
        let Some((name, Some(after))) =
            end.and_then(|end| behind.split_at_checked(end)).map(|(name, rest)| (name, rest.strip_prefix('}')))
        else {
            continue;
        };
        let is_plain = MEANINGS.iter().any(|(known, _)| *known == name);
        let of = |id: &str| {
            !id.is_empty() && id.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '/' | '@' | '.'))
        };
        let named = ValueName::is_begun_by(name) && name.split_once('.').is_some_and(|(_, id)| of(id));
        let is_code = before.ends_with(['$', '{']) || after.starts_with('}') || is_for_jq;
        let named = named || [ValueName::RUN_DIR, ValueName::WORKFLOW_DIR].contains(&name) && !is_code;
        if (named || is_plain && !is_code) && seen.insert(name) {
            found.push((name, named));
        }
    }
    found
}

/// Returns the id of a `summary.ID`, where such variables are known.
fn summary_of<'a>(name: &'a str, known: &[&str]) -> Option<&'a str> {
    let id = name.strip_prefix("summary.").filter(|id| !id.is_empty())?;
    known.contains(&PREVIOUS_SUMMARY).then_some(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_that_are_not_replaced_are_found() {
        for (text, expected) in [
            ("test {input.scope} {input.scope}", &[("input.scope", true)][..]),
            ("{outcome.triage} {summary.look-1}", &[("outcome.triage", true), ("summary.look-1", true)]),
            ("{outcome.kit/review}", &[("outcome.kit/review", true)]),
            ("echo {description} {taskId}", &[("description", false), ("taskId", false)]),
            ("echo ${description} {{description}} {foo} {a,b} {}", &[]),
            ("jq '{description}' package.json", &[]),
            ("jq '{description}' {input.file}", &[("input.file", true)]),
            ("src/{taskId}", &[("taskId", false)]),
            ("ls {runDir} ${runDir}", &[("runDir", true)]),
            ("{input.} {input} {input.a b} {{{ }", &[]),
        ] {
            assert_eq!(in_literal(text), expected, "{text}");
        }
    }

    #[test]
    fn unknown_names_are_found_once_with_their_places() {
        let template = "{description} {desc}\n é{foo}{foo} ${HOME} {{x}} ${descripton} {a b} {}\n{";
        let found: Vec<(&str, usize, usize)> = unknown(template, &["description"])
            .iter()
            .map(|unknown| (unknown.name, unknown.place.line, unknown.place.column))
            .collect();
        assert_eq!(found, [("desc", 1, 15), ("foo", 2, 3), ("descripton", 2, 29)]);
        let names = |template, known: &[&str]| {
            let found = unknown(template, known).into_iter();
            found.map(|unknown| unknown.name.to_owned()).collect::<Vec<_>>()
        };
        let template = "{{description}} ${description} {{ description }} {{args}} ${args} $ARGUMENTS {{x}} ${input.a}";
        assert_eq!(names("$ARGUMENTS_FILE $ARGUMENTS2", &["description"]), [""; 0]);
        assert_eq!(unknown("$ARGUMENTS_FILE $ARGUMENTS[0]", &["description"])[0].place.column, 17);
        assert_eq!(unknown(&"{".repeat(1 << 20), &["description"]), [], "the time grows with the text only");
        let forms = ["$ARGUMENTS", "{{description}}", "${description}", "{{ description }}", "{{args}}", "${input.a}"];
        assert_eq!(names(template, &["description"]), forms);
        let template = "{outcome.@acme/kit/review} {src/main} {@acme/kit} {user/outcome.x}";
        assert_eq!(names(template, &["taskId"]), ["outcome.@acme/kit/review"]);
        let template = "{summary.look-1} {sumary.look} {user.name} {a-b}";
        assert_eq!(names(template, &["previousSummary"]), ["summary.look-1", "sumary.look"]);
        assert_eq!(names(template, &["taskId"]), ["summary.look-1", "sumary.look"]);
    }
}
