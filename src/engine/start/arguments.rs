//! The arguments of `/workflow NAME`: values of inputs, and the task.

use crate::sorted::Map;

use crate::definition::{Input, is_input_name, is_space, trim};
use crate::text;

/// The values of inputs by name, and the task.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Arguments {
    pub values: Map<String, String>,
    pub task: String,
}

/// Reads the values before the task: `NAME=VALUE`, see [`word`]; `--` ends the values. A list is given by one value for
/// each of its items. For a workflow without inputs, all of the text behind a first `--` is the task.
///
/// # Errors
///
/// The notice for an unknown or repeated name, or for a value that is not of the type.
pub fn read(inputs: &[Input], text: &str) -> Result<Arguments, String> {
    let mut arguments = Arguments::default();
    let mut rest = trim(text);
    loop {
        if let Some(task) = rest.strip_prefix("--").filter(|task| begins_blank(task)) {
            rest = task;
            break;
        }
        let named = rest.split_once('=').filter(|(name, _)| !inputs.is_empty() && is_input_name(name));
        let Some((name, behind)) = named else { break };
        if inputs.iter().all(|input| input.name != name) {
            return Err(text::unknown_input(name, inputs));
        }
        let (value, behind) = word(behind).map_err(|open| text::open_quote(name, open))?;
        add(&mut arguments.values, inputs, name, &value)?;
        rest = trim(behind);
    }
    settle(&mut arguments.values, inputs)?;
    arguments.task = trim(rest).to_owned();
    Ok(arguments)
}

/// Returns a value as it is written in arguments.
pub fn quoted(value: &str) -> String {
    if !value.is_empty() && !value.starts_with(['\'', '"']) && !value.contains(is_space) {
        return value.to_owned();
    }
    let mut quoted = String::from("\"");
    let mut backslashes = 0;
    for c in value.chars() {
        if c == '"' {
            quoted.push_str(&"\\".repeat(backslashes + 1));
        }
        backslashes = if c == '\\' { backslashes + 1 } else { 0 };
        quoted.push(c);
    }
    quoted.push_str(&"\\".repeat(backslashes));
    quoted.push('"');
    quoted
}

/// Reads values that are given as pairs of name and value.
///
/// # Errors
///
/// The message for an unknown or repeated name, or for a value that is not of the type.
pub fn values(inputs: &[Input], given: &[(String, String)]) -> Result<Map<String, String>, String> {
    let mut values = Map::new();
    for (name, value) in given {
        add(&mut values, inputs, name, value)?;
    }
    settle(&mut values, inputs)?;
    Ok(values)
}

fn add(values: &mut Map<String, String>, inputs: &[Input], name: &str, value: &str) -> Result<(), String> {
    let Some(input) = inputs.iter().find(|input| input.name == name) else {
        return Err(text::no_input(name, inputs));
    };
    if input.kind.is_list_of_texts() {
        let items = values.entry(name.to_owned()).or_default();
        items.push_str(value);
        items.push('\n');
        return Ok(());
    }
    let value = input.kind.value(value).ok_or_else(|| text::bad_input(input, value))?;
    match values.insert(name.to_owned(), value) {
        Some(_) => Err(text::repeated_input(name)),
        None => Ok(()),
    }
}

/// Checks the lists when all of their items are there.
fn settle(values: &mut Map<String, String>, inputs: &[Input]) -> Result<(), String> {
    let is_list = |input: &&Input| input.kind.is_list_of_texts();
    for input in inputs.iter().filter(is_list) {
        if let Some(items) = values.get_mut(&input.name) {
            *items = input.kind.value(items).ok_or_else(|| text::bad_input(input, trim(items)))?;
        }
    }
    Ok(())
}

/// Returns the text that [`read`] reads as these values and this task.
pub fn written(inputs: &[Input], values: &Map<String, String>, task: &str) -> String {
    let is_list = |name: &str| inputs.iter().any(|input| input.name == name && input.kind.is_list_of_texts());
    let values = values.iter().flat_map(|(name, value)| {
        let items: Vec<&str> = match is_list(name) && !value.is_empty() {
            true => value.lines().collect(),
            false => vec![value],
        };
        let written = |item| format!("{name}={} ", quoted(item));
        items.into_iter().map(written).collect::<Vec<String>>()
    });
    format!("{}-- {task}", values.collect::<String>())
}

fn begins_blank(text: &str) -> bool {
    text.chars().next().is_none_or(is_space)
}

/// Returns the first word of a text without its quotes, and the text behind the word. As in pi, a quote opens only at
/// the beginning, and a backslash within quotes is a plain character unless the backslashes stand before a quote: in
/// `\\"` the quote closes the word, in `\"` the quote is part of the word.
///
/// # Errors
///
/// The quote that no quote before a blank closes.
fn word(text: &str) -> Result<(String, &str), char> {
    let Some(open) = text.chars().next().filter(|c| matches!(c, '\'' | '"')) else {
        let (word, behind) = text.split_at(text.find(is_space).unwrap_or(text.len()));
        return Ok((word.to_owned(), behind));
    };
    let (mut word, mut backslashes) = (String::new(), 0_usize);
    for (at, c) in text.char_indices().skip(1) {
        if c == open {
            word.truncate(word.len() - backslashes.div_ceil(2));
            if backslashes % 2 == 0 {
                let behind = text.get(at + 1..).filter(|behind| begins_blank(behind));
                return behind.map(|behind| (word, behind)).ok_or(open);
            }
        }
        backslashes = if c == '\\' { backslashes + 1 } else { 0 };
        word.push(c);
    }
    Err(open)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definition::{Bounds, ValueType};

    fn inputs() -> Vec<Input> {
        let input =
            |name: &str, kind| Input { name: name.into(), kind, default: None, is_optional: false, description: None };
        let options = vec!["api".into(), "web".into()];
        vec![
            input("scope", ValueType::Choice(options)),
            input("issue", ValueType::Number(Bounds::default())),
            input("dry", ValueType::Flag),
            input("note", ValueType::TEXT),
            input("file", ValueType::List { min: 0, max: 3, fields: vec![] }),
        ]
    }

    #[track_caller]
    fn reads(text: &str, values: &[(&str, &str)], task: &str) {
        let values = values.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        assert_eq!(read(&inputs(), text), Ok(Arguments { values, task: task.into() }), "{text}");
    }

    #[test]
    fn values_come_before_the_task() {
        reads("the task", &[], "the task");
        reads("scope=web issue=12 the task", &[("issue", "12"), ("scope", "web")], "the task");
        reads("the task with a=b", &[], "the task with a=b");
        reads("dry=true\tfix a=b", &[("dry", "true")], "fix a=b");
        reads("dry=true -- scope=web", &[("dry", "true")], "scope=web");
        reads("-- ", &[], "");
        reads("--verbose is ignored", &[], "--verbose is ignored");
        reads("note='a \"b\"' x", &[("note", "a \"b\"")], "x");
        reads("note=it's what's needed", &[("note", "it's")], "what's needed");
        reads("note=5\"disk dry=true x", &[("note", "5\"disk"), ("dry", "true")], "x");
        reads("note=a\"b c\" x", &[("note", "a\"b")], "c\" x");
        reads(r#"note="a \"b\" 'c'\ d" x"#, &[("note", r#"a "b" 'c'\ d"#)], "x");
        reads(r"note='it\'s \n \\ here' x", &[("note", r"it's \n \\ here")], "x");
        reads(r#"note="\\server\dir\\" x"#, &[("note", r"\\server\dir\")], "x");
        reads(r"note=C:\dir\ x", &[("note", r"C:\dir\")], "x");
        reads("file='' x", &[("file", "")], "x");
        reads("note=\u{2019}tis x", &[("note", "\u{2019}tis")], "x");
        reads("scope=web", &[("scope", "web")], "");
        reads("file=a dry=true file='b c' x", &[("dry", "true"), ("file", "a\nb c")], "x");
        reads("file= x", &[("file", "")], "x");
        reads("file='a\n\n b' file= x", &[("file", "a\nb")], "x");
        reads("a == b", &[], "a == b");
        for (text, task) in [(" scope=web x ", "scope=web x"), ("-- a=b -- c", "a=b -- c"), ("--a -- b", "--a -- b")] {
            assert_eq!(read(&[], text).map(|read| read.task), Ok(task.into()));
        }
    }

    #[test]
    fn written_arguments_are_read_back() {
        for note in ["a \"b\" \\ 'c'\nd=e", "'tis", "\"", r#"a \"b\\"#, r"C:\a\", "it's", r#"\\" "#] {
            let given = [("note", note), ("issue", "12"), ("file", "a\nb c")];
            let given = given.map(|(name, value)| (name.to_owned(), value.to_owned()));
            let values = values(&inputs(), &given).unwrap();
            for task in ["the task", "scope=web", "-- x", ""] {
                let text = written(&inputs(), &values, task);
                let expected = Arguments { values: values.clone(), task: task.into() };
                assert_eq!(read(&inputs(), &text), Ok(expected), "{text}");
            }
        }
        assert_eq!(read(&[], &written(&[], &Map::new(), "-- x")).map(|read| read.task), Ok("-- x".into()));
    }

    #[test]
    fn wrong_values_are_refused() {
        for (text, expected) in [
            ("scop=web x", "There is no input `scop`. Did you mean `scope`?"),
            ("scope=wep x", "`scope`: expected `api` or `web`, found `wep`. Did you mean `web`?"),
            ("issue=abc x", "`issue`: expected a number, found `abc`."),
            ("dry=yes x", "`dry`: expected `true` or `false`, found `yes`."),
            (
                "note='a x",
                "`note`: no `'` before a blank closes the quote at its beginning. Within it, `\\'` is a `'`.",
            ),
            (
                "note='tis what's x",
                "`note`: no `'` before a blank closes the quote at its beginning. Within it, `\\'` is a `'`.",
            ),
            (
                "note=\"a\"b\" x",
                "`note`: no `\"` before a blank closes the quote at its beginning. Within it, `\\\"` is a `\"`.",
            ),
            ("issue=1 issue=2 x", "`issue` is given twice."),
            (
                "file=1 file=2 file=3 file=4 x",
                "`file`: expected a list of at most 3 texts of one line and at most 1000 characters, 16000 in all, found `1 2 3 4`.",
            ),
        ] {
            assert_eq!(read(&inputs(), text), Err(expected.into()), "{text}");
        }
    }
}
