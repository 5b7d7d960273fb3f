//! Questions to the user that contain text from workflow files.
//!
//! Each question begins with words of this package. Text from a file is a short quoted name, or is shown in a frame;
//! see [`framed`]. pi cuts a dialog that is too high for the terminal at its bottom, where the options are, so in a
//! terminal a question has few lines, and the rest is shown in the transcript above the dialog.

use std::fmt::{self, Display};
use std::ops::Deref;

use crate::definition::{BUILTIN_ROOT, Command, Workflow};

use super::exact::{BAR, Spaces, exact_line, framed, quoted, wrapped};

/// Columns of a dialog in a terminal of 40 columns; the room in one whose size is not known, and in smaller ones.
const COLUMNS: usize = 38;
/// Lines of a question and its options together in a terminal of 12 lines, likewise.
const LINES: usize = 6;
/// Columns beside a question: a blank on each side.
const BESIDE: usize = 2;
/// Lines that pi shows above and below a question with its options: the frame, the line that says that pi works, the footer,
/// and one line of the transcript.
const AROUND: usize = 14;
/// Maximum columns of a quoted name.
const MAX_NAME: usize = 60;
/// Columns and lines of a question that another program shows.
const WIDE: usize = 78;
const MANY_LINES: usize = 200;

/// The title of a dialog. It begins with words of this package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Title(String);

impl Title {
    /// Creates a title, which begins with these words; there is no other way to create one. In `rest` a name is quoted,
    /// and a text is framed.
    pub fn new(words: &'static str, rest: &str) -> Self {
        Self(format!("{words}{rest}"))
    }

    /// Adds a line, or lines.
    pub(super) fn and(self, more: &str) -> Self {
        Self(format!("{}\n{more}", self.0))
    }
}

impl Deref for Title {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl Display for Title {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self)
    }
}

#[cfg(test)]
impl<T: AsRef<str>> PartialEq<T> for Title {
    fn eq(&self, other: &T) -> bool {
        self.0 == other.as_ref()
    }
}

#[cfg(test)]
impl From<&str> for Title {
    fn from(title: &str) -> Self {
        Self(title.to_owned())
    }
}

impl From<Title> for String {
    fn from(Title(title): Title) -> Self {
        title
    }
}

/// A question for a dialog.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    pub title: Title,
    /// The part that does not fit into the dialog, for the transcript above it.
    pub above: Option<String>,
}

/// The size of a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TerminalSize {
    pub columns: usize,
    pub lines: usize,
}

/// The room for a question in a terminal.
#[derive(Debug, Clone, Copy)]
pub struct Room {
    columns: usize,
    lines: usize,
}

impl Room {
    /// The room beside this number of options, each of which takes one line.
    pub fn beside(options: usize, terminal: Option<TerminalSize>) -> Self {
        let (columns, lines) = terminal.map_or((0, 0), |TerminalSize { columns, lines }| (columns, lines));
        Self {
            columns: columns.saturating_sub(BESIDE).max(COLUMNS),
            lines: lines.saturating_sub(AROUND).max(LINES).saturating_sub(options),
        }
    }

    /// The columns of a quoted name that has `least` columns in the narrowest terminal.
    pub(super) fn name(&self, least: usize) -> usize {
        (self.columns - COLUMNS + least).min(MAX_NAME)
    }
}

#[derive(Debug, Clone, Copy)]
pub enum Dialog {
    Terminal(Room),
    /// Another program.
    Program,
}

impl Dialog {
    /// Returns a name in quotation marks, which has `least` columns in the narrowest terminal.
    pub(super) fn name_of(&self, name: &str, least: usize) -> String {
        match self {
            Self::Terminal(room) => quoted(name, room.name(least)),
            Self::Program => quoted(name, MAX_NAME),
        }
    }
}

/// The source of a workflow that is not the user's own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GateSource {
    Project,
    /// The installed package of this name.
    Package(String),
    /// A value of the run, which needs the user's consent in each workflow.
    Value,
}

impl GateSource {
    /// The source of a workflow; `None` for the user's own and for those of this package, whose commands run without a
    /// question.
    pub fn of(workflow: &Workflow) -> Option<Self> {
        match &*workflow.root {
            "global" | BUILTIN_ROOT => None,
            "project" => Some(Self::Project),
            _ => Some(Self::Package(workflow.package().unwrap_or_default().to_owned())),
        }
    }

    /// The source of a command of a workflow; `None` if the command runs without a question.
    pub fn of_command(command: &Command, workflow: &Workflow) -> Option<Self> {
        let of_value = command.value().map(|_| Self::Value);
        Self::of(workflow).or(of_value).filter(|_| !command.line().is_empty())
    }

    /// Returns the line above the commands of a gate or a step with this quoted name.
    pub(super) fn runs(&self, is_step: bool, of: &str) -> Title {
        let words = if is_step { "Step " } else { "Gate " };
        match self {
            Self::Project => Title::new("Project ", &format!("{} {of} runs:", if is_step { "step" } else { "gate" })),
            Self::Value => Title::new(words, &format!("{of} runs:")),
            Self::Package(name) => Title::new(words, &format!("{of} of the package {} runs:", quoted(name, 60))),
        }
    }

    pub(super) fn word(&self) -> &'static str {
        match self {
            Self::Project => "project",
            Self::Package(_) => "package",
            Self::Value => "the",
        }
    }

    /// Returns the name of the package; `None` for a project.
    pub fn package(&self) -> Option<String> {
        match self {
            Self::Project | Self::Value => None,
            Self::Package(name) => Some(name.clone()),
        }
    }
}

/// Returns the words for the `scripts/` of a workflow whose commands need the user's consent.
pub fn scripts_to_allow(workflow: &Workflow) -> Option<String> {
    workflow.shown_scripts().filter(|_| GateSource::of(workflow).is_some()).map(ToOwned::to_owned)
}

/// Returns a number with its noun: `1 line`, `2 lines`.
pub(super) fn counted(number: impl Display, noun: &str) -> String {
    let number = number.to_string();
    let s = if number == "1" { "" } else { "s" };
    format!("{number} {noun}{s}")
}

/// Returns the question about the commands of a gate or a step of a project or a package.
pub fn consent_question(of: &str, is_step: bool, source: &GateSource, commands: &[String], dialog: Dialog) -> Question {
    let name = dialog.name_of(of, 18);
    let kind = if is_step { "step" } else { "gate" };
    let allow = Title::new("Allow ", &format!("{} {kind} {name}?", source.word()));
    let runs = source.runs(is_step, &name);
    let lines = commands.iter().flat_map(|command| framed(command)).collect();
    match dialog {
        Dialog::Terminal(room) => {
            let number = counted(commands.len(), "command");
            let room = match source {
                GateSource::Project | GateSource::Value => room,
                // The name of the package has no room in the dialog.
                GateSource::Package(_) => Room { lines: 0, ..room },
            };
            in_terminal(allow, lines, room, &number, &runs)
        }
        Dialog::Program => {
            let Question { title, above } = by_program(runs, lines);
            Question { title: title.and("Allow it?"), above }
        }
    }
}

/// Returns the question before the start of a workflow if a project's workflow replaces a global workflow: the started
/// workflow itself, or a workflow nested in it.
pub fn replacement_question(replaced: &str, started: &str, dialog: Dialog) -> Title {
    let replaces = replaces(&dialog.name_of(replaced, 20), &dialog.name_of(started, 20));
    Title::new(REPLACES, &format!("{replaces} Start it?"))
}

/// Returns the notice about a replaced global workflow, for a process without a user interface.
pub fn replacement_notice(replaced: &str, started: &str) -> String {
    format!("{REPLACES}{}", replaces(&quoted(replaced, 60), &quoted(started, 60)))
}

const REPLACES: &str = "This project's ";

fn replaces(replaced: &str, started: &str) -> String {
    if replaced == started {
        format!("{replaced} replaces yours.")
    } else {
        format!("{replaced} replaces yours. It is part of {started}.")
    }
}

/// Returns the question in a terminal about starting another run while one is active.
pub fn start_another_question(workflow: &str, phase: &str, task: &str, room: Room) -> Title {
    let place = [phase, task].map(|line| short_framed(line, room.columns));
    let first = Title::new("Still active: ", &quoted(workflow, room.name(20)));
    first.and(&place.join("\n")).and("It stays unfinished. Start the other?")
}

/// Returns the question in a terminal about the agent's `cancel`.
pub fn cancel_question(workflow: &str, task: &str, room: Room) -> Title {
    let first = Title::new("Cancel ", &format!("{}?", quoted(workflow, room.name(28))));
    first.and(&short_framed(task, room.columns)).and("The agent asks. It ends unfinished.")
}

fn short_framed(line: &str, width: usize) -> String {
    format!("{BAR} {}", exact_line(line, width.saturating_sub(2), Spaces::Single))
}

/// Returns a name or a task on one line of a question.
pub fn in_question(text: &str) -> String {
    exact_line(text, 100, Spaces::Kept)
}

/// Returns the question with the lines of [`framed`] in it, or above it, where the transcript breaks them at its own
/// width.
pub(super) fn in_terminal(first: Title, lines: Vec<String>, room: Room, what: &str, above: &str) -> Question {
    let shown: Vec<String> = lines.iter().flat_map(|line| wrapped(line, room.columns)).collect();
    if shown.len() < room.lines {
        return Question { title: first.and(&shown.join("\n")), above: None };
    }
    let title = first.and(&format!("{what}, {}: shown above", counted(lines.len(), "line")));
    Question { title, above: Some(format!("{above}\n{}", lines.join("\n"))) }
}

pub(super) fn by_program(first: Title, lines: Vec<String>) -> Question {
    let mut above = None;
    let mut shown: Vec<String> = lines.iter().flat_map(|line| wrapped(line, WIDE)).collect();
    if shown.len() > MANY_LINES {
        above = Some(format!("{first}\n{}", lines.join("\n")));
        let more = shown.len() - MANY_LINES;
        shown.truncate(MANY_LINES);
        shown.push(format!("… and {}: all of them stand above this question", counted(more, "more line")));
    }
    Question { title: first.and(&shown.join("\n")), above }
}

#[cfg(test)]
mod tests {
    use super::super::entry_question;
    use super::*;

    /// A small terminal, with this number of options.
    fn terminal(options: usize) -> Dialog {
        Dialog::Terminal(Room::beside(options, Some(TerminalSize { columns: 40, lines: 12 })))
    }

    /// Names and texts with which a file might imitate a question.
    fn hostile() -> Vec<String> {
        let faked = format!("Plan{}\n│ npm test\nAllow it?\n\n→ No\n", "\u{2800}".repeat(60));
        let long = "x".repeat(4000);
        let marks = "│ ↪ ␣×6 \" runs:".to_owned();
        let hidden = "\u{202e}\u{3164}\u{e0041}\u{fe0f}\u{1b}[2J".to_owned();
        let lines = "echo one\necho two\necho three\necho four".to_owned();
        vec![faked, long, marks, hidden, lines, String::new(), "中".repeat(200)]
    }

    #[test]
    fn a_question_in_a_terminal_is_short_and_begins_with_our_words() {
        for name in hostile() {
            for text in hostile() {
                let consent =
                    consent_question(&name, false, &GateSource::Project, std::slice::from_ref(&text), terminal(4));
                let asked = entry_question(&name, &name, &text, terminal(3));
                let four = consent_question(&name, false, &GateSource::Project, &vec![text.clone(); 4], terminal(4));
                for (question, begin, most) in [
                    (&consent, "Allow project gate \"", 2),
                    (&asked, "Question of \"", 3),
                    (&four, "Allow project gate \"", 2),
                ] {
                    let Question { title, above } = question;
                    assert!(title.starts_with(begin), "{title}");
                    assert!(title.lines().count() <= most, "{title}");
                    let above_lines = above.iter().flat_map(|above| above.lines());
                    let shown = above_lines.clone().flat_map(|line| wrapped(line, COLUMNS));
                    for line in title.lines().map(str::to_owned).chain(shown) {
                        assert!(line.chars().count() <= 38, "{line}");
                    }
                    let rest = title.lines().skip(1);
                    assert!(
                        match above {
                            None => rest.clone().all(|line| line.starts_with("│ ")),
                            Some(_) =>
                                rest.clone().all(|line| line.ends_with(": shown above"))
                                    && above_lines.clone().skip(1).all(|l| l.starts_with("│ ")),
                        },
                        "{title}"
                    );
                    assert!(title.matches('│').count() < most, "{title}");
                }
            }
        }
    }

    #[test]
    fn a_short_command_stands_in_the_question() {
        let commands = ["npm test".to_owned()];
        let question = |dialog| consent_question("Plan", false, &GateSource::Project, &commands, dialog);
        let title = Title::from("Allow project gate \"Plan\"?\n│ npm test");
        assert_eq!(question(terminal(4)), Question { title, above: None });
        let title = Title::from("Project gate \"Plan\" runs:\n│ npm test\nAllow it?");
        assert_eq!(question(Dialog::Program), Question { title, above: None });
    }

    #[test]
    fn what_does_not_fit_stands_above() {
        let commands = ["a\nb".to_owned(), "x".repeat(40)];
        let question = consent_question("Plan", false, &GateSource::Project, &commands, terminal(4));
        assert_eq!(question.title, "Allow project gate \"Plan\"?\n2 commands, 3 lines: shown above");
        let above = format!("Project gate \"Plan\" runs:\n│ a\n│ b\n│ {}", "x".repeat(40));
        assert_eq!(question.above, Some(above));
        let question = entry_question("Plan", "Flow", "a\nb\nc", terminal(3));
        assert_eq!(question.title, "Question of \"Flow\"\nThe question, 3 lines: shown above");
        assert_eq!(question.above.as_deref(), Some("\"Plan\" asks:\n│ a\n│ b\n│ c"));
    }

    #[test]
    fn a_question_has_the_room_of_the_terminal() {
        let beside =
            |options, columns, lines| Dialog::Terminal(Room::beside(options, Some(TerminalSize { columns, lines })));
        let name = "The plan of everything that is to be done";
        let consent = |dialog| {
            let commands = ["npm test".to_owned(), format!("npm run {}", "x".repeat(50))];
            consent_question(name, false, &GateSource::Project, &commands, dialog)
        };
        let allow = format!("Allow project gate \"{name}\"?");
        let shown = format!("│ npm test\n│ npm run {}", "x".repeat(50));
        assert_eq!(consent(beside(4, 100, 30)), Question { title: Title(format!("{allow}\n{shown}")), above: None });
        let low = consent(beside(4, 100, 12));
        assert_eq!(low.title, format!("{allow}\n2 commands, 2 lines: shown above"));
        assert!(low.above.is_some());
        for (columns, lines) in [(0, 0), (20, 5), (40, 12), (39, 24)] {
            let title = consent(beside(4, columns, lines)).title;
            assert!(title.starts_with("Allow project gate \"The plan of ev…\"?\n"), "{columns}: {title}");
        }
        let question = "Is it right?\n\n- the plan\n- the tests\n";
        let asked = |dialog| entry_question("Ask", "Flow", question, dialog).title.to_string();
        assert_eq!(asked(beside(3, 80, 24)), "Question of \"Flow\"\n│ Is it right?\n│ \n│ - the plan\n│ - the tests");
        assert_eq!(asked(beside(3, 80, 20)), "Question of \"Flow\"\nThe question, 4 lines: shown above");
    }

    #[test]
    fn a_program_shows_all_within_bounds() {
        let lines = |count: usize| by_program(Title::new("Ask", ""), vec![String::new(); count]).title.to_string();
        assert!(lines(MANY_LINES + 1).ends_with("\n… and 1 more line: all of them stand above this question"));
        assert!(lines(MANY_LINES + 2).ends_with("\n… and 2 more lines: all of them stand above this question"));
        let same = hostile().into_iter().zip(hostile());
        for (name, text) in same.chain(hostile().into_iter().rev().zip(hostile())) {
            let commands = vec![text.clone(); 300];
            for Question { title, above } in [
                consent_question(&name, false, &GateSource::Project, &commands, Dialog::Program),
                entry_question(&name, &name, &text.repeat(300), Dialog::Program),
            ] {
                let begins = ["Project gate \"", "Question of \""];
                assert!(begins.iter().any(|begin| title.starts_with(begin)), "{title}");
                assert!(title.lines().count() <= MANY_LINES + 3);
                assert_eq!(above.is_some(), title.contains(": all of them stand above"));
            }
        }
    }
}
