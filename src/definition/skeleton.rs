//! A new workflow: the questions about it, and its file.
//!
//! The user's answers are texts in the order of the questions; an empty answer is the default. The file has no
//! diagnostic, not even a warning: an answer that would lead to one is refused with its message.

use super::model::{
    DirEntry, FileError, FileKind, ReadError, Root, Stale, Target, WorkflowFiles, is_command_name, title_case,
};
use super::{Library, is_blank, is_space, on_one_line, trim};

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

/// Maximum lengths of a name and of an answer, in characters.
const MAX_NAME: usize = 200;
const MAX_ANSWER: usize = 1000;
/// Maximum length of a text that an error shows, in characters.
const MAX_SHOWN: usize = 60;
/// Maximum number of phases.
const MAX_PHASES: usize = 50;

const PHASES: &str = "Plan, Do";

/// The phases that can change files. The part before the colon is the short form of the answer.
const LATER: &str = "later: not in the first phase";
const ALWAYS: &str = "always: in each phase";
const NEVER: &str = "never: it only looks";

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
    if answers.iter().any(|answer| answer.chars().count() > MAX_ANSWER) {
        return Err(format!("An answer has at most {MAX_ANSWER} characters."));
    }
    if answers.iter().any(|answer| answer.contains(|c: char| c.is_control() && !is_space(c))) {
        return Err("An answer has no control characters.".to_owned());
    }
    let answer = |index: usize| answers.get(index).map_or("", |answer| trim(answer));
    let phases = phases(answer(1))?;
    let writes = if phases.len() > 1 { &[LATER, ALWAYS, NEVER][..] } else { &[ALWAYS, NEVER] };
    let writes: Vec<String> = writes.iter().map(|option| (*option).to_owned()).collect();
    let when = choice(&writes, answer(3))?.and_then(|index| writes.get(index)).map_or(ALWAYS, |option| option);
    let place = choice(places, answer(4))?.unwrap_or_default();
    let draft = Draft { name, text: file(answer(0), &phases, answer(2), when) };
    let (_, diagnostics) = Library::check(&draft).map_err(|gone| gone.to_string())?;
    if let Some(problem) = diagnostics.first() {
        return Err(format!("That cannot stand in the file: {}", problem.message()));
    }
    let questions = [
        ("What is the workflow for?", Vec::new()),
        ("Which phases? Names with commas between them; without any: Plan, Do", Vec::new()),
        ("Which command must pass at the end? It may be none", Vec::new()),
        ("When may it change files?", writes),
    ];
    let place_question = (places.len() > 1).then(|| ("Where is it written?", places.to_vec()));
    Ok(match questions.into_iter().chain(place_question).nth(answers.len()) {
        Some((title, options)) => Skeleton::Ask { title, options },
        None => Skeleton::Done { text: draft.text, place },
    })
}

/// Returns the beginning of a text in quotes.
fn quoted(text: &str) -> String {
    format!("\"{}\"", on_one_line(&text.chars().take(MAX_SHOWN).collect::<String>()))
}

/// Returns the index of the option that an answer names, of the first one for an empty answer; `None` without options.
fn choice(options: &[String], answer: &str) -> Result<Option<usize>, String> {
    let is_meant = |option: &String| option == answer || option.split(':').next() == Some(answer);
    match options.iter().position(|option| answer.is_empty() || is_meant(option)) {
        None if !answer.is_empty() => Err(format!("{} is none of: {}.", quoted(answer), options.join("; "))),
        index => Ok(index),
    }
}

/// A phase of a new workflow.
struct NewPhase {
    id: String,
    name: String,
}

/// Returns the phases of these names, which have commas between them. No two have the same id.
fn phases(names: &str) -> Result<Vec<NewPhase>, String> {
    let mut phases: Vec<NewPhase> = Vec::new();
    let in_list = |names: &str| -> Vec<String> {
        let names = names.split(',').map(|name| name.split_whitespace().collect::<Vec<_>>().join(" "));
        names.filter(|name| !is_blank(name)).collect()
    };
    let given = in_list(names);
    for name in if given.is_empty() { in_list(PHASES) } else { given } {
        let lower = name.to_lowercase();
        let words: Vec<&str> = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
        let id = if words.is_empty() { "phase".to_owned() } else { words.join("-") };
        let is_taken = |id: &String| Target::WORDS.contains(&&**id) || phases.iter().any(|other| other.id == *id);
        let ids = (2..).map(|number| format!("{id}-{number}"));
        let Some(id) = [id.clone()].into_iter().chain(ids).find(|id| !is_taken(id)) else { continue };
        phases.push(NewPhase { id, name });
    }
    match phases.len() {
        ..=MAX_PHASES => Ok(phases),
        more => Err(format!("A new workflow has at most {MAX_PHASES} phases, not {more}.")),
    }
}

/// Returns the text of a `workflow.yaml`.
fn file(description: &str, phases: &[NewPhase], command: &str, writes: &str) -> String {
    const LOOK_ONLY: &str = "write: [] # look only: neither tools nor commands can change a file\n";
    let names: Vec<&str> = phases.iter().map(|phase| &*phase.name).collect();
    let description = if description.is_empty() { names.join(", then ") } else { description.to_owned() };
    let mut text = format!("description: {}\n", scalar(&description));
    if writes == NEVER {
        text.push_str(LOOK_ONLY);
    }
    text.push_str("phases:\n");
    for (index, NewPhase { id, name }) in phases.iter().enumerate() {
        let only_looks = writes == NEVER || writes == LATER && index == 0;
        text.push_str(&format!("  - id: {}\n", scalar(id)));
        if *name != title_case(id) {
            text.push_str(&format!("    label: {}\n", scalar(name)));
        }
        if only_looks && writes != NEVER {
            text.push_str(&format!("    {LOOK_ONLY}"));
        }
        if !command.is_empty() && index + 1 == phases.len() {
            text.push_str(&format!("    gate:\n      - run: {}\n", scalar(command)));
        }
        let how = if only_looks { LOOK } else { CHANGE };
        text.push_str(&format!("    prompt: |\n      {name}: {{description}}\n\n{how}"));
    }
    text
}

const LOOK: &str = "      Read what it touches, and change nothing.

      This phase is over when you have said what you found, and what follows from it.
";

const CHANGE: &str = "      Take one step at a time, from what you know by now.

      At the end run the command that shows that it worked, and say what it said.
";

/// Returns a text as YAML on one line: in quotes, unless it is certainly a text without them.
fn scalar(text: &str) -> String {
    let is_word = |c: char| c.is_ascii_alphanumeric() || " _-./,".contains(c);
    let is_plain = text.starts_with(|c: char| c.is_ascii_alphabetic())
        && !text.ends_with(' ')
        && text.chars().all(is_word)
        && !["null", "true", "false", "yes", "no", "on", "off", "y", "n"].contains(&&*text.to_ascii_lowercase());
    if is_plain {
        return text.to_owned();
    }
    let mut quoted = String::from('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            '\n' => quoted.push_str("\\n"),
            // Line breaks of YAML, and characters that YAML refuses or drops.
            c if c.is_control() || ('\u{2028}'..='\u{202e}').contains(&c) || c == '\u{feff}' => {
                quoted.push_str(&format!("\\u{:04x}", u32::from(c)));
            }
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

/// The file of a new workflow before it is written.
struct Draft<'a> {
    name: &'a str,
    text: String,
}

const FILE: &str = "workflow.yaml";

impl WorkflowFiles for Draft<'_> {
    fn roots(&self) -> Result<Vec<Root>, Stale> {
        Ok(vec![Root { name: "project".to_owned(), path: String::new(), location: String::new(), package: None }])
    }

    fn list(&self, _root: &str, path: &str) -> Result<Vec<DirEntry>, ReadError> {
        let (name, kind) = match path {
            "" => (self.name, FileKind::Directory),
            path if path == self.name => (FILE, FileKind::File),
            _ => return Err(FileError::NotFound.into()),
        };
        Ok(vec![DirEntry { name: name.to_owned(), kind, target: None }])
    }

    fn read(&self, _root: &str, path: &str) -> Result<Vec<u8>, ReadError> {
        let is_own = path.strip_prefix(self.name) == Some("/workflow.yaml");
        is_own.then(|| self.text.clone().into_bytes()).ok_or_else(|| FileError::NotFound.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definition::fixtures::Files;
    use crate::definition::{CheckKind, Diagnostic, Workflow};

    fn answered(answers: &[&str]) -> Result<Skeleton, String> {
        let answers: Vec<String> = answers.iter().map(|answer| (*answer).to_owned()).collect();
        skeleton("ship-it", &["here".to_owned()], &answers)
    }

    /// Returns the file for these answers, and the workflow that pi makes of it; `check` has no diagnostic.
    #[track_caller]
    fn written(answers: &[&str]) -> (String, Workflow) {
        let Ok(Skeleton::Done { text, place: 0 }) = answered(answers) else {
            panic!("{answers:?}: {:?}", answered(answers))
        };
        let mut files = Files { tools: vec!["edit", "write", "bash"], ..Files::default() };
        files.global.insert("ship-it/workflow.yaml".to_owned(), text.clone());
        let (library, diagnostics) = Library::check(&files).unwrap();
        assert_eq!(diagnostics.iter().map(Diagnostic::to_string).collect::<Vec<_>>(), [""; 0], "{text}");
        (text, library.by_command_name("ship-it").unwrap().clone())
    }

    #[test]
    fn the_file_of_no_answers() {
        let (text, workflow) = written(&["", "", "", ""]);
        let expected = "description: Plan, then Do
phases:
  - id: plan
    write: [] # look only: neither tools nor commands can change a file
    prompt: |
      Plan: {description}

      Read what it touches, and change nothing.

      This phase is over when you have said what you found, and what follows from it.
  - id: do
    prompt: |
      Do: {description}

      Take one step at a time, from what you know by now.

      At the end run the command that shows that it worked, and say what it said.
";
        assert_eq!(text, expected);
        assert_eq!(workflow.name, "Ship It");
    }

    #[test]
    fn each_answer_loads_back_as_it_was_given() {
        let texts = [
            "Ship a change",
            "a: b",
            "Fix #12",
            " # x",
            "- a",
            "? a",
            "true",
            "NULL",
            "~",
            "12",
            "0x1f",
            "1e3",
            ".inf",
            "2026-01-01",
            "\"",
            "'",
            "\\",
            "\\n",
            "a\nb",
            "a\n\n  b\n",
            "a\tb",
            "a\r\nb",
            "{",
            "[a, b]",
            "&a",
            "*a",
            "!!str a",
            "|",
            ">",
            "%a",
            "@a",
            "`a`",
            "a\u{2028}b",
            "e\u{301}",
            "日本語",
            "🚢",
            "--- a",
            "...",
            "<<",
            "=",
            "a ",
            "a:",
            "yes",
            "n",
        ];
        for text in texts {
            let (file, workflow) = written(&[text, "", text, ""]);
            assert_eq!(workflow.description.as_deref(), Some(trim(text)), "{file}");
            let gate = workflow.phases[1].as_phase().unwrap().gate.clone().unwrap();
            let CheckKind::Run { command, .. } = &gate.checks[0].kind else { panic!("{file}") };
            assert_eq!(command.line(), trim(text), "{file}");
        }
    }

    #[test]
    fn phases_have_ids_of_their_names() {
        for (names, expected) in [
            ("", "plan=Plan do=Do"),
            (" , ,", "plan=Plan do=Do"),
            ("Write the tests,Ship", "write-the-tests=Write the tests ship=Ship"),
            ("Plan,plan, PLAN ,Plan 2", "plan=Plan plan-2=plan plan-3=PLAN plan-2-2=Plan 2"),
            ("Stop,done,Next", "stop-2=Stop done-2=done next-2=Next"),
            ("Prüfen, 測試,🚢,!!", "prüfen=Prüfen 測試=測試 phase=🚢 phase-2=!!"),
            ("a\nb,\u{2028}c\td", "a-b=a b c-d=c d"),
            ("no,7,#x,a: b,- y,'q'", "no=no 7=7 x=#x a-b=a: b y=- y q='q'"),
        ] {
            let (text, workflow) = written(&["", names, "", "always"]);
            let phases = workflow.own_phases().map(|phase| format!("{}={}", phase.id, phase.name));
            assert_eq!(phases.collect::<Vec<_>>().join(" "), expected, "{text}");
            let phases: Vec<_> = workflow.own_phases().collect();
            assert!(
                phases
                    .iter()
                    .all(|phase| phase.instructions.starts_with(&format!("{}: {{description}}\n\n", phase.name)))
            );
        }
    }

    #[test]
    fn phases_that_only_look_write_nothing() {
        for (phases, writes, expected) in [
            ("A, B, C", "", &[true, false, false]),
            ("A, B, C", "later", &[true, false, false]),
            ("A, B, C", LATER, &[true, false, false]),
            ("A, B, C", "always", &[false; 3]),
            ("A, B, C", "never", &[true; 3]),
        ] {
            let (text, workflow) = written(&["", phases, "", writes]);
            let only_look =
                workflow.own_phases().map(|phase| phase.limits.write.as_ref().or(workflow.limits.write.as_ref()));
            assert_eq!(only_look.map(|write| write.is_some()).collect::<Vec<_>>(), expected, "{text}");
        }
    }

    #[test]
    fn a_wrong_answer_is_refused() {
        let long = "x".repeat(MAX_ANSWER + 1);
        let many = vec!["x"; MAX_PHASES + 1].join(",");
        for answers in [
            &[&*long][..],
            &["", &many],
            &["", "Plan {x}"],
            &["", "Run $ARGUMENTS"],
            &["", "{{description}}"],
            &["a\0b"],
            &["a\u{85}b"],
            &["", "a\u{7}b"],
            &["", "", "a\0b"],
            &["", "", "", "perhaps"],
            &["", "One", "", "later"],
            &["", "", "", "", "there"],
        ] {
            assert!(answered(answers).is_err(), "{answers:?}: {:?}", answered(answers));
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
        let asked = |places: &[&str], answers: &[&str]| {
            let places: Vec<String> = places.iter().map(|place| (*place).to_owned()).collect();
            let answers: Vec<String> = answers.iter().map(|answer| (*answer).to_owned()).collect();
            match skeleton("x", &places, &answers) {
                Ok(Skeleton::Ask { options, .. }) => format!("ask {}", options.len()),
                Ok(Skeleton::Done { place, .. }) => format!("done {place}"),
                Err(why) => why,
            }
        };
        let both = ["a", "b"];
        assert_eq!(asked(&both, &[]), "ask 0");
        assert_eq!(asked(&both, &["x"]), "ask 0");
        assert_eq!(asked(&both, &["", "One"]), "ask 0");
        assert_eq!(asked(&both, &["", "One", ""]), "ask 2");
        assert_eq!(asked(&both, &["", "", ""]), "ask 3");
        assert_eq!(asked(&both, &["", "", "", ""]), "ask 2");
        assert_eq!(asked(&both, &["", "", "", "", "b"]), "done 1");
        assert_eq!(asked(&both, &["", "", "", "", ""]), "done 0");
        assert_eq!(asked(&["a"], &["", "", "", ""]), "done 0");
        assert_eq!(asked(&[], &["", "", "", ""]), "done 0");
    }
}
