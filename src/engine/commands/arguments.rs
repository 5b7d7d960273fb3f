//! The arguments of `/workflow NAME`: values of inputs, and the task.

use crate::sorted::Map;

use crate::definition::{Input, ValueType, is_input_name, is_space, trim};
use crate::text;

/// The values of inputs by name, and the task.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Arguments {
    pub values: Map<String, String>,
    pub task: String,
}

/// Reads the values before the task: `NAME=VALUE`, with quotes as in a shell; `--` ends them. That of a list is given
/// once for each of its items. For a workflow without inputs all of the text is the task.
///
/// # Errors
///
/// The notice for an unknown or repeated name, or for a value that is not of the type.
pub fn read(inputs: &[Input], text: &str) -> Result<Arguments, String> {
    let mut arguments = Arguments::default();
    let mut rest = trim(text);
    while !inputs.is_empty() {
        if let Some(task) = rest.strip_prefix("--").filter(|task| begins_blank(task)) {
            rest = task;
            break;
        }
        let Some((name, behind)) = rest.split_once('=').filter(|(name, _)| is_input_name(name)) else {
            break;
        };
        if inputs.iter().all(|input| input.name != name) {
            return Err(text::unknown_input(name, inputs));
        }
        let (value, behind) = word(behind).ok_or_else(|| text::open_quote(name))?;
        add(&mut arguments.values, inputs, name, &value)?;
        rest = trim(behind);
    }
    settle(&mut arguments.values, inputs)?;
    arguments.task = trim(rest).to_owned();
    Ok(arguments)
}

/// Returns a value as it is written in arguments.
pub fn quoted(value: &str) -> String {
    let is_plain = |c: char| !is_space(c) && !matches!(c, '\'' | '"' | '\\');
    if !value.is_empty() && value.chars().all(is_plain) {
        return value.to_owned();
    }
    format!("\"{}\"", value.replace('\\', "\\\\").replace('"', "\\\""))
}

/// Reads values that are apart.
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
    if let ValueType::List { .. } = input.kind {
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
    let is_list = |input: &&Input| matches!(input.kind, ValueType::List { .. });
    for input in inputs.iter().filter(is_list) {
        if let Some(items) = values.get_mut(&input.name) {
            *items = input.kind.value(items).ok_or_else(|| text::bad_input(input, trim(items)))?;
        }
    }
    Ok(())
}

/// Returns the text that [`read`] reads as these values and this task.
pub fn written(inputs: &[Input], values: &Map<String, String>, task: &str) -> String {
    if inputs.is_empty() {
        return task.to_owned();
    }
    let is_list = |name: &str| {
        let input = inputs.iter().find(|input| input.name == name);
        input.is_some_and(|input| matches!(input.kind, ValueType::List { .. }))
    };
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

/// The first word of a text without its quotes, and the text behind it; `None` if a quote is not closed.
fn word(text: &str) -> Option<(String, &str)> {
    let mut word = String::new();
    let mut quote = None;
    let mut characters = text.char_indices();
    while let Some((at, c)) = characters.next() {
        match (quote, c) {
            (None, c) if is_space(c) => return Some((word, text.get(at..)?)),
            (None, '\'' | '"') => quote = Some(c),
            (Some(open), c) if c == open => quote = None,
            (None, '\\') => word.push(characters.next().map_or('\\', |(_, c)| c)),
            (Some('"'), '\\') if is_escaped_in_quotes(text, at) => {
                word.extend(characters.next().map(|(_, c)| c));
            }
            (_, c) => word.push(c),
        }
    }
    quote.is_none().then_some((word, ""))
}

/// Returns true if the character behind the backslash at `at` loses its meaning in double quotes, as in a shell.
fn is_escaped_in_quotes(text: &str, at: usize) -> bool {
    text.get(at + 1..).is_some_and(|rest| rest.starts_with(['"', '\\', '$', '`']))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definition::Bounds;

    fn inputs() -> Vec<Input> {
        let input = |name: &str, kind| Input { name: name.into(), kind, default: None, description: None };
        let options = vec!["api".into(), "web".into()];
        vec![
            input("scope", ValueType::Choice(options)),
            input("issue", ValueType::Number(Bounds::default())),
            input("dry", ValueType::Flag),
            input("note", ValueType::Text),
            input("file", ValueType::List { min: 0, max: 3 }),
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
        reads(r#"note="a \"b\" \\"'c'\ d x"#, &[("note", r#"a "b" \c d"#)], "x");
        reads(r#"note="C:\dir\\" x"#, &[("note", r"C:\dir\")], "x");
        reads("scope=web", &[("scope", "web")], "");
        reads("file=a dry=true file='b c' x", &[("dry", "true"), ("file", "a\nb c")], "x");
        reads("file= x", &[("file", "")], "x");
        reads("file='a\n\n b' file= x", &[("file", "a\nb")], "x");
        reads("a == b", &[], "a == b");
        assert_eq!(read(&[], " scope=web x ").map(|read| read.task), Ok("scope=web x".into()));
    }

    #[test]
    fn written_arguments_are_read_back() {
        let given = [("note", "a \"b\" \\ 'c'\nd=e"), ("issue", "12"), ("file", "a\nb c")];
        let given = given.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let values = values(&inputs(), &given).unwrap();
        for task in ["the task", "scope=web", "-- x", ""] {
            let text = written(&inputs(), &values, task);
            let expected = Arguments { values: values.clone(), task: task.into() };
            assert_eq!(read(&inputs(), &text), Ok(expected), "{text}");
        }
        assert_eq!(written(&[], &Map::new(), "-- x"), "-- x");
    }

    #[test]
    fn wrong_values_are_refused() {
        for (text, expected) in [
            ("scop=web x", "There is no input `scop`. Did you mean `scope`?"),
            ("scope=wep x", "`scope`: expected `api` or `web`, found `wep`. Did you mean `web`?"),
            ("issue=abc x", "`issue`: expected a number, found `abc`."),
            ("dry=yes x", "`dry`: expected `true` or `false`, found `yes`."),
            ("note='a x", "`note`: a quote is not closed."),
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
