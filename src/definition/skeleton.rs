//! A new workflow: the questions about it, and its file, which is one of three templates.
//!
//! The user's answers are texts in the order of the questions; an empty answer is the default.

use serde_json::json;

use super::model::is_command_name;
use super::{on_one_line, trim};

/// The next step towards a new workflow.
#[derive(Debug, PartialEq, Eq)]
pub enum Skeleton {
    /// A question.
    Ask {
        title: &'static str,
        /// The answers to choose from, the default first; without them the answer is a line of text.
        options: Vec<String>,
    },
    /// The text of its `workflow.yaml`, and the index of the place where it is written.
    Done { text: String, place: usize },
}

/// The templates and their names, the default first. Answers take the place of the description and of the command.
const TEMPLATES: [(&str, &str); 3] = [
    ("look", include_str!("templates/look/workflow.yaml")),
    ("check", include_str!("templates/check/workflow.yaml")),
    ("panel", include_str!("templates/panel/workflow.yaml")),
];
const COMMAND: &str = "npm test";

/// Maximum lengths of a name and of an answer, in characters.
const MAX_NAME: usize = 200;
const MAX_ANSWER: usize = 1000;
/// Maximum length of a text that an error shows, in characters.
const MAX_SHOWN: usize = 60;

/// Returns the next question about a new workflow of this name, or its file when all questions are answered.
/// `places`: where it can be written, for users.
///
/// # Errors
///
/// The reason, for the user, why the name or an answer is refused.
pub fn skeleton(name: &str, places: &[String], answers: &[String]) -> Result<Skeleton, String> {
    if !is_command_name(name) || name.len() > MAX_NAME {
        return Err(format!("A name is 1 to {MAX_NAME} letters, digits, `_` or `-`, not {}.", quoted(name)));
    }
    let is_line = |answer: &String| answer.chars().count() <= MAX_ANSWER && !answer.contains(char::is_control);
    if !answers.iter().all(is_line) {
        return Err(format!("An answer is one line of at most {MAX_ANSWER} characters, without control characters."));
    }
    let answer = |index: usize| answers.get(index).map_or("", |answer| trim(answer));
    let kinds = TEMPLATES.map(|(name, text)| format!("{name}: {}", about(text)));
    let (_, template) = TEMPLATES.get(choice(&kinds, answer(1))?).unwrap_or(&TEMPLATES[0]);
    let mut questions = vec![("What is the workflow for?", Vec::new()), ("How does it work?", kinds.to_vec())];
    let has_command = template.contains(COMMAND);
    if has_command {
        questions.push(("Which command must pass at the end? Without any: npm test", Vec::new()));
    }
    let place = choice(places, answer(questions.len()))?;
    questions.extend((places.len() > 1).then(|| ("Where is it written?", places.to_vec())));
    if let Some((title, options)) = questions.into_iter().nth(answers.len()) {
        return Ok(Skeleton::Ask { title, options });
    }
    let text = if has_command { filled(template, COMMAND, answer(2)) } else { (*template).to_owned() };
    Ok(Skeleton::Done { text: filled(&text, about(template), answer(0)), place })
}

/// Returns the description of a template, which is its first line.
fn about(template: &str) -> &str {
    template.lines().next().and_then(|line| line.strip_prefix("description: ")).unwrap_or_default()
}

/// Returns a text with an answer, in quotes, in the place of a value.
fn filled(text: &str, value: &str, answer: &str) -> String {
    if answer.is_empty() { text.to_owned() } else { text.replacen(value, &json!(answer).to_string(), 1) }
}

/// Returns the beginning of a text in quotes.
fn quoted(text: &str) -> String {
    format!("\"{}\"", on_one_line(&text.chars().take(MAX_SHOWN).collect::<String>()))
}

/// Returns the index of the option that an answer names, of the first one for an empty answer.
fn choice(options: &[String], answer: &str) -> Result<usize, String> {
    let is_meant = |option: &String| option == answer || option.split(':').next() == Some(answer);
    match options.iter().position(is_meant) {
        None if !answer.is_empty() => Err(format!("{} is none of: {}.", quoted(answer), options.join("; "))),
        index => Ok(index.unwrap_or_default()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definition::fixtures::Files;
    use crate::definition::{CheckKind, Diagnostic, Library, Workflow};

    fn answered(places: &[&str], answers: &[&str]) -> Result<Skeleton, String> {
        let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        skeleton("ship-it", &owned(places), &owned(answers))
    }

    /// Returns the file for these answers, and the workflow that pi makes of it; `check` has no diagnostic.
    #[track_caller]
    fn written(answers: &[&str]) -> (String, Workflow) {
        let Ok(Skeleton::Done { text, place: 0 }) = answered(&["here"], answers) else {
            panic!("{answers:?}: {:?}", answered(&["here"], answers))
        };
        let mut files = Files { tools: vec!["edit", "write", "bash"], ..Files::default() };
        files.global.insert("ship-it/workflow.yaml".to_owned(), text.clone());
        let (library, diagnostics) = Library::check(&files).unwrap();
        assert_eq!(diagnostics.iter().map(Diagnostic::to_string).collect::<Vec<_>>(), [""; 0], "{text}");
        (text, library.by_command_name("ship-it").unwrap().clone())
    }

    #[test]
    fn without_answers_a_file_is_its_template() {
        for (name, template) in TEMPLATES {
            let (text, workflow) = written(&["", name, "", ""]);
            assert_eq!((&*text, workflow.description.as_deref()), (template, Some(about(template))));
        }
        assert_eq!(written(&["", "", ""]).0, TEMPLATES[0].1);
    }

    #[test]
    fn each_answer_loads_back_as_it_was_given() {
        let texts = [
            "a: b",
            " # x",
            "true",
            "~",
            "12",
            "\"",
            "'",
            "\\",
            "\\n",
            "{x} {{y}} $ARGUMENTS $1",
            "[a, b]",
            "&a",
            "!!str a",
            "|",
            "npm test",
            "a\u{2028}b",
            "\u{feff}a\u{feff}b",
            "\u{202e}",
            "e\u{301}",
            "日本語",
            "🚢",
            "--- a",
            "<<",
            "a ",
            "yes",
        ];
        for text in texts {
            let (file, workflow) = written(&[text, "check", text]);
            assert_eq!(workflow.description.as_deref(), Some(trim(text)), "{file}");
            let gate = workflow.phases[0].as_phase().unwrap().gate.clone().unwrap();
            let CheckKind::Run { command, .. } = &gate.checks[0].kind else { panic!("{file}") };
            assert_eq!(command.line(), trim(text), "{file}");
        }
    }

    #[test]
    fn a_wrong_answer_is_refused() {
        let long = "x".repeat(MAX_ANSWER + 1);
        for answers in [
            &[&*long][..],
            &["a\0b"],
            &["a\u{85}b"],
            &["a\nb"],
            &["", "perhaps"],
            &["", "look", "there"],
            &["", "check", "a\tb"],
            &["", "check", "", "there"],
        ] {
            assert!(answered(&["here"], answers).is_err(), "{answers:?}");
        }
        for name in ["", "a b", "../x", "é", ":new", "a/b", "a.b", "x\ny", &"x".repeat(MAX_NAME + 1)] {
            assert!(skeleton(name, &[], &[]).is_err(), "{name}");
        }
        for name in ["null", "7", "_-", "status", &"x".repeat(MAX_NAME)] {
            assert!(skeleton(name, &[], &[]).is_ok(), "{name}");
        }
    }

    #[test]
    fn questions_have_an_order() {
        let asked = |places: &[&str], answers: &[&str]| match answered(places, answers) {
            Ok(Skeleton::Ask { options, .. }) => format!("ask {}", options.len()),
            Ok(Skeleton::Done { place, .. }) => format!("done {place}"),
            Err(why) => why,
        };
        let both = ["a", "b"];
        assert_eq!(asked(&both, &[]), "ask 0");
        assert_eq!(asked(&both, &["x"]), "ask 3");
        assert_eq!(asked(&both, &["", "panel"]), "ask 2");
        assert_eq!(asked(&both, &["", "check"]), "ask 0");
        assert_eq!(asked(&both, &["", "check", ""]), "ask 2");
        assert_eq!(asked(&both, &["", "", "b"]), "done 1");
        assert_eq!(asked(&both, &["", "check", "", ""]), "done 0");
        assert_eq!(asked(&["a"], &["", ""]), "done 0");
        assert_eq!(asked(&[], &["", "check", ""]), "done 0");
    }
}
