//! The variables in templates.

use crate::definition::diagnostic::{Place, VariableProblem};
use crate::definition::model::variables::{MEANINGS, PREVIOUS_SUMMARY, words_of};
use crate::definition::model::{ValueName, nearest};
use crate::sorted::Set;

/// A `{name}` that a template does not know, or a variable in the form of another program.
#[derive(Debug, PartialEq)]
pub(crate) struct Unknown<'a> {
    /// The name; of another form all of it, such as `${name}`.
    pub name: &'a str,
    form: Form,
    pub line: &'a str,
    /// The place in the template at which it begins.
    pub place: Place,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Form {
    /// A name in braces.
    Name,
    /// A known name in the form of another program.
    Other,
    /// It may mean a value, by words of this program or of the workflow.
    Guess,
    /// A known name that has a value for each item of a group only.
    Item,
    /// A command or a file of another program, which is text here.
    Text,
}

impl Unknown<'_> {
    /// Returns it as it is written in the template.
    pub fn written(&self) -> String {
        match self.form {
            Form::Name | Form::Item => format!("{{{}}}", self.name),
            Form::Other | Form::Guess | Form::Text => self.name.to_owned(),
        }
    }

    /// Returns the problem of a name. What a name of several words means is looked up in the library later.
    pub fn problem(&self, field: Option<&'static str>, known: &'static [&'static str]) -> VariableProblem {
        let name = self.name.to_owned();
        match self.form {
            Form::Other => return VariableProblem::OtherForm { written: name, known },
            Form::Guess => return VariableProblem::Guessed { written: name, suggestion: None },
            Form::Item => return VariableProblem::NoItem { name },
            Form::Text => return VariableProblem::OnlyText { written: name },
            Form::Name => {}
        }
        match ValueName::parse(&name) {
            // A template that does not know `previousSummary` knows no other summary.
            Ok(ValueName::Summary(_)) if !known.contains(&PREVIOUS_SUMMARY) => {
                VariableProblem::UnknownVariable { name, field, known }
            }
            Ok(_) if ValueName::is_begun_by(&name) => VariableProblem::UnknownValue { name, suggestion: None },
            Ok(_) | Err(_) => VariableProblem::UnknownVariable { name, field, known },
        }
    }
}

/// Returns the names in braces that are none of the `known` variables, each once; a `summary.ID` may be among them.
/// Names that look like code of another language (`${name}`, `{{name}}`) are left out, unless a variable was meant.
/// Variables in these forms, `$ARGUMENTS`, and lines for other programs are among them too.
pub(crate) fn unknown<'a>(template: &'a str, known: &[&str]) -> Vec<Unknown<'a>> {
    let mut found: Vec<Unknown> = Vec::new();
    let mut seen = Set::new();
    let (mut guesses, mut fence) = (0, None);
    for (index, line) in template.lines().enumerate() {
        fence = match fence {
            Some(open) => Some(open).filter(|open| !closes(line, *open)),
            None => opening(line),
        };
        for (at, name, form) in for_other_programs(line, fence.is_some()) {
            if found.len() < MAX_UNKNOWN && seen.insert(name) {
                let column = line.get(..at).unwrap_or_default().chars().count() + 1;
                found.push(Unknown { name, form, line, place: Place { line: index + 1, column } });
            }
        }
        // The characters of the line before `counted`.
        let (mut column, mut counted) = (1, 0);
        for (at, _) in line.match_indices('{') {
            let Some((start, name, form)) = in_braces(line, at, known) else { continue };
            guesses += usize::from(form == Form::Guess);
            if form == Form::Guess && guesses > MAX_GUESSES || !seen.insert(name) {
                continue;
            }
            column += line.get(counted..start).unwrap_or_default().chars().count();
            counted = start.max(counted);
            found.push(Unknown { name, form, line, place: Place { line: index + 1, column } });
            if found.len() > MAX_UNKNOWN {
                return found;
            }
        }
    }
    found
}

/// Returns the character and the length of the fence of code that a line opens, also in an item of a list or a quote.
fn opening(line: &str) -> Option<(char, usize)> {
    let line = line.trim_start_matches(|c: char| c.is_ascii_digit() || c.is_whitespace() || "-*+.)>".contains(c));
    let mark = line.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let rest = line.trim_start_matches(mark);
    let length = line.len() - rest.len();
    (length >= 3 && !(mark == '`' && rest.contains('`'))).then_some((mark, length))
}

/// Returns true if a line closes this fence.
fn closes(line: &str, (mark, length): (char, usize)) -> bool {
    let line = line.trim_start_matches([' ', '\t', '>']).trim_end();
    line.len() >= length && line.chars().all(|c| c == mark)
}

/// Returns the variable that another meaning than a known name has in the braces at a byte of a line: the byte at which
/// it begins, its name as in [`Unknown`] and its form.
fn in_braces<'a>(line: &'a str, at: usize, known: &[&str]) -> Option<(usize, &'a str, Form)> {
    let (before, behind) = (line.get(..at)?, line.get(at + 1..)?);
    let brace = behind.char_indices().take(MAX_NAME).find(|(_, c)| matches!(c, '{' | '}'));
    let (name, after) = brace.filter(|(_, c)| *c == '}').and_then(|(end, _)| behind.split_at_checked(end))?;
    if name.trim().is_empty() {
        return None;
    }
    // Both pairs of braces, and a `$` before them.
    let is_double = before.ends_with('{') && after.starts_with("}}");
    let outer = if is_double { before.strip_suffix('{')? } else { before };
    let has_dollar = outer.ends_with('$');
    let start = outer.len() - usize::from(has_dollar);
    let whole = line.get(start..at + 1 + name.len() + 1 + usize::from(is_double))?;
    let plain = name.trim();
    let is_known = known.contains(&plain) || ValueName::is_begun_by(plain);
    if is_known || is_double && NAMES_OF_TASK.contains(&plain) {
        if is_double || has_dollar && plain == name {
            return Some((start, whole, Form::Other));
        }
        if known.contains(&name) {
            return ITEMS.contains(&name).then_some((at, name, Form::Item));
        }
    }
    let is_name = name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-' | '/' | '@'));
    let is_code = is_double || has_dollar || before.ends_with('{') || after.starts_with("}}");
    let beginning = plain.split('.').next().unwrap_or(plain);
    if is_name && ValueName::first_word(beginning).is_none_or(|word| word == beginning) {
        let meant = known.iter().copied().chain(["summary", "input", "output", "outcome"]);
        let may_be_code = is_code || name.contains(['.', '-', '/', '@']);
        if !may_be_code || ["log", "item"].contains(&beginning) || nearest(beginning, meant).is_some() {
            return Some((at, name, Form::Name));
        }
    } else if !is_code && is_known {
        // A known name between blanks is a variable that is not replaced.
        return Some((at, name, Form::Name));
    }
    let words = words_of(name);
    let is_path = words.len() > 1 && plain.chars().all(|c| c.is_alphanumeric() || "_.-/[]'\"".contains(c));
    let is_guess = is_path && plain.contains(['.', '[']) || is_double && !name.contains(['(', ';', ':', ',']);
    (is_guess && words.len() <= MAX_WORDS).then_some((start, whole, Form::Guess))
}

/// Returns what other programs replace in a line, each with its byte, its text and its form: `$ARGUMENTS`; beside it, or
/// alone in the line, `$1`, a command or a file.
fn for_other_programs(line: &str, is_fenced: bool) -> Vec<(usize, &str, Form)> {
    let mut found = Vec::new();
    let is_word = |(at, _): &(usize, &str)| {
        let behind = line.get(at + ARGUMENTS.len()..).and_then(|behind| behind.chars().next());
        !behind.is_some_and(|c| c.is_alphanumeric() || c == '_')
    };
    let arguments = line.match_indices(ARGUMENTS).find(is_word);
    found.extend(arguments.map(|(at, name)| (at, name, Form::Other)));
    let item = line.trim().trim_start_matches(['-', '*', ' ']);
    if is_fenced || item.is_empty() {
        return found;
    }
    let alone = || Some(line.split_at_checked(line.find(item)?)?.0.len());
    if let Some(form) = form_for_others(item) {
        found.extend(alone().map(|at| (at, item, form)));
    } else if arguments.is_some() {
        let words = item.split_whitespace().map(|word| word.trim_end_matches([',', ';', '.', ':']));
        let of_others = words.filter_map(|word| Some((line.find(word)?, word, form_for_others(word)?)));
        found.extend(of_others);
    }
    found
}

/// Returns the form of a text that is only `$1`, a command or a file in the form of other programs.
fn form_for_others(text: &str) -> Option<Form> {
    let is_path = |path: &str| {
        let ending = path.rsplit_once('.').map_or("", |(_, ending)| ending);
        (1..=5).contains(&ending.len())
            && (path.contains('/') || ENDINGS.contains(&ending))
            && path.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | '~'))
    };
    if let Some(number) = text.strip_prefix('$') {
        return matches!(number.as_bytes(), [b'1'..=b'9']).then_some(Form::Other);
    }
    let command = text.strip_prefix("!`").and_then(|command| command.strip_suffix('`'));
    let is_command = command.is_some_and(|command| !command.is_empty() && !command.contains('`'));
    (is_command || text.strip_prefix('@').is_some_and(is_path)).then_some(Form::Text)
}

/// The endings of files that are known without a folder.
const ENDINGS: [&str; 26] = [
    "md", "mdx", "txt", "rst", "json", "jsonc", "yaml", "yml", "toml", "csv", "xml", "html", "css", "js", "mjs", "cjs",
    "jsx", "ts", "tsx", "py", "rs", "go", "rb", "java", "sh", "sql",
];

/// The variables for the task in other programs.
const ARGUMENTS: &str = "$ARGUMENTS";
const NAMES_OF_TASK: [&str; 3] = ["args", "arguments", "task"];

/// The variables that only the entries of a group with `each` have.
const ITEMS: [&str; 3] = [ValueName::ITEM, ValueName::ITEM_NUMBER, ValueName::ITEM_COUNT];

/// Maximum number of names of a text that are looked up in the workflow.
const MAX_GUESSES: usize = 100;

/// Maximum number of words of such a name.
const MAX_WORDS: usize = 8;

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
        let Some((spaced, Some(after))) =
            end.and_then(|end| behind.split_at_checked(end)).map(|(name, rest)| (name, rest.strip_prefix('}')))
        else {
            continue;
        };
        let is_plain = MEANINGS.iter().any(|(known, _)| *known == spaced);
        let of = |id: &str| {
            !id.is_empty() && id.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '/' | '@' | '.'))
        };
        let name = spaced.trim();
        let is_value = |(word, id): (&str, &str)| ValueName::first_word(word).is_some() && of(id);
        let named = name.split_once('.').is_some_and(is_value);
        let is_code = before.ends_with(['$', '{']) || after.starts_with('}') || is_for_jq;
        let named = named || [ValueName::RUN_DIR, ValueName::WORKFLOW_DIR].contains(&name) && !is_code;
        if (named || is_plain && !is_code) && seen.insert(name) {
            found.push((name, named));
        }
    }
    found
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
    fn texts_that_may_mean_a_value_are_found() {
        let template = "{a.b} ${{ a.b }} {{ a | b }} {{a}} {a['b'].c} {{#if a}} ${a.b} {a.b}";
        let found: Vec<(&str, usize)> =
            unknown(template, &[]).iter().map(|unknown| (unknown.name, unknown.place.column)).collect();
        let expected = [("{a.b}", 1), ("${{ a.b }}", 7), ("{{ a | b }}", 18), ("{{a}}", 30), ("{a['b'].c}", 36)];
        assert_eq!(found, [&expected[..], &[("{{#if a}}", 47), ("${a.b}", 57)]].concat());
        for code in ["${a}", "{a: 1}", "{{ f(a) }}", "{{ a: 1 }}", "{}", "{{ }}", "{a b}", "{(a.b)}"] {
            assert_eq!(unknown(code, &[]), [], "{code}");
        }
        let many: String = (0..200).map(|index| format!("{{a.b{index}}}\n")).collect();
        assert_eq!(unknown(&many, &[]).len(), MAX_GUESSES);
    }

    #[test]
    fn lines_for_other_programs_are_found() {
        let written = |text| unknown(text, &[]).iter().map(Unknown::written).collect::<Vec<_>>();
        for (text, expected) in [
            ("- !`git diff`", &["!`git diff`"][..]),
            ("  $1", &["$1"]),
            ("@src/a.ts", &["@src/a.ts"]),
            ("See @a.md, $ARGUMENTS", &["$ARGUMENTS", "@a.md"]),
            ("pay $1, ask @anna, run !`ls`, see @a.md", &[]),
            ("```sh\n$1\n```\n$2", &["$2"]),
            ("- ```sh\n  $1\n  ```\n$2", &["$2"]),
            ("```ls```\n$1\n```sh\n$2\n```", &["$1"]),
            ("````md\n```sh\n$1\n```\n$2\n````\n$3", &["$3"]),
            ("~~~\n```\n$1\n~~~\n$2", &["$2"]),
            ("1. ```\n$1\n```sh\n$2\n````\n$3", &["$3"]),
            ("```\n$1", &[]),
            ("@v1.2\n@1.2.3\n@app.route\n@README.md\n@src/x.zzz\n@~/a.b", &["@README.md", "@src/x.zzz", "@~/a.b"]),
            ("@anna\n@acme/kit\n!`a` and `b`\n$10\n!``", &[]),
        ] {
            assert_eq!(written(text), expected, "{text}");
        }
    }

    #[test]
    fn unknown_names_are_found_once_with_their_places() {
        let template = "{description} {desc}\n é{foo}{foo} ${HOME} {{x}} ${descripton} {a b} {}\n{";
        let found: Vec<(&str, usize, usize)> = unknown(template, &["description"])
            .iter()
            .filter(|unknown| unknown.form != Form::Guess)
            .map(|unknown| (unknown.name, unknown.place.line, unknown.place.column))
            .collect();
        assert_eq!(found, [("desc", 1, 15), ("foo", 2, 3), ("descripton", 2, 29)]);
        let names = |template, known: &[&str]| {
            let found = unknown(template, known).into_iter().filter(|unknown| unknown.form != Form::Guess);
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
