//! Requests to the user and the host, each with its own type of answer, and the continuations after the answers. Only
//! this file knows [`Answer`].

use super::context::Cx;
use super::effect::{OutputFile, Reply, Request};
use super::event::{Answer, CommandEnd};
use super::state::{Engine, Purpose, Waiter, Waiting};
use crate::run::ProjectState;
use crate::text::Title;

/// The reason for an unknown state of the project's files, if the host's answer is of another type.
const NOT_HERE: &str = "it cannot be told here";

/// The answer to a command.
pub(super) enum Ran {
    Ended {
        end: CommandEnd,
        /// Its duration, in milliseconds.
        duration_ms: u64,
        /// The end of its output, plain text.
        output: String,
        /// Its standard output, if it is returned apart.
        standard_output: Option<String>,
        /// The path of the file with its whole output, or the reason why the file is missing.
        output_file: Option<Result<String, String>>,
    },
    /// The request was cancelled.
    Cancelled,
    /// The host may not run commands.
    NotHere,
}

impl Engine {
    /// Asks the user to choose an option; the answer is its index, or `None` if no option was chosen.
    pub(super) fn select(
        &mut self,
        purpose: impl Into<Purpose>,
        title: Title,
        options: Vec<String>,
        then: impl FnOnce(&mut Self, Option<usize>, &mut Cx) -> Reply + 'static,
    ) -> Reply {
        let request = Request::Select { title, options };
        self.ask(purpose.into(), true, request, |engine, answer, cx| {
            let chosen = match answer {
                Answer::Selected(index) => Some(index),
                _ => None,
            };
            then(engine, chosen, cx)
        })
    }

    /// Asks the user for yes or no, by a choice or a confirmation. The choice offers no first: a key that was meant for
    /// the editor chooses the first option. Anything but a yes counts as no; the answer is `None` if nobody can be
    /// asked.
    pub(super) fn yes_or_no(
        &mut self,
        purpose: impl Into<Purpose>,
        request: YesOrNo,
        then: impl FnOnce(&mut Self, Option<bool>, &mut Cx) -> Reply + 'static,
    ) -> Reply {
        let request = match request {
            YesOrNo::Choice { title, no, yes } => Request::Select { title, options: vec![no.into(), yes.into()] },
            YesOrNo::Confirmation { title, message } => Request::Confirm { title: Title::new(title, ""), message },
        };
        self.ask(purpose.into(), true, request, |engine, answer, cx| {
            let is_yes = match answer {
                Answer::NoUi => None,
                Answer::Selected(1) | Answer::Confirmed(true) => Some(true),
                _ => Some(false),
            };
            then(engine, is_yes, cx)
        })
    }

    /// Asks the user to accept something: only a yes is the user's word.
    pub(super) fn ask_word(
        &mut self,
        purpose: impl Into<Purpose>,
        request: YesOrNo,
        then: impl FnOnce(&mut Self, Option<UsersWord>, &mut Cx) -> Reply + 'static,
    ) -> Reply {
        self.yes_or_no(purpose, request, |engine, yes, cx| {
            then(engine, (yes == Some(true)).then_some(UsersWord(())), cx)
        })
    }

    /// Asks the user how much more a budget allows, a line of text.
    pub(super) fn ask_amount(
        &mut self,
        title: Title,
        then: impl FnOnce(&mut Self, Option<(UsersWord, String)>, &mut Cx) -> Reply + 'static,
    ) -> Reply {
        self.ask_text(Waiter::User, title, |engine, amount, cx| {
            then(engine, amount.map(|amount| (UsersWord(()), amount)), cx)
        })
    }

    /// Asks the user for a line of text; the answer is `None` if the user gives none.
    pub(super) fn ask_text(
        &mut self,
        purpose: impl Into<Purpose>,
        title: Title,
        then: impl FnOnce(&mut Self, Option<String>, &mut Cx) -> Reply + 'static,
    ) -> Reply {
        self.ask(purpose.into(), true, Request::Input { title }, |engine, answer, cx| {
            let text = match answer {
                Answer::Entered(text) => Some(text),
                _ => None,
            };
            then(engine, text, cx)
        })
    }

    /// Has the host run a command.
    pub(super) fn exec(
        &mut self,
        purpose: impl Into<Purpose>,
        command: Command,
        then: impl FnOnce(&mut Self, Ran, &mut Cx) -> Reply + 'static,
    ) -> Reply {
        let Command { line: command, env, timeout_ms, progress, apart, output_file } = command;
        let request = Request::Exec { command, env, timeout_ms, progress, apart, output_file };
        self.ask(purpose.into(), false, request, |engine, answer, cx| {
            let ran = match answer {
                Answer::Ran { end, duration_ms, output, standard_output, output_file } => {
                    Ran::Ended { end, duration_ms, output, standard_output, output_file }
                }
                Answer::Cancelled => Ran::Cancelled,
                _ => Ran::NotHere,
            };
            then(engine, ran, cx)
        })
    }

    /// Waits until no child works. The answer is true if no child was interrupted, and `None` if the host has no
    /// children.
    pub(super) fn wait_for_children(
        &mut self,
        purpose: impl Into<Purpose>,
        progress: String,
        then: impl FnOnce(&mut Self, Option<bool>, &mut Cx) -> Reply + 'static,
    ) -> Reply {
        self.ask(purpose.into(), false, Request::Children { progress }, |engine, answer, cx| {
            let whole = match answer {
                Answer::ChildrenEnded { interrupted } => Some(!interrupted),
                Answer::Cancelled => Some(false),
                _ => None,
            };
            then(engine, whole, cx)
        })
    }

    /// Asks the host for the state of the project's files, and for the changes since each of these earlier states; the
    /// answer is `None` if the request was cancelled.
    pub(super) fn project_state(
        &mut self,
        purpose: impl Into<Purpose>,
        since: Vec<String>,
        then: impl FnOnce(&mut Self, Option<Result<ProjectState, String>>, &mut Cx) -> Reply + 'static,
    ) -> Reply {
        self.ask(purpose.into(), false, Request::ProjectState { since }, |engine, answer, cx| {
            let state = match answer {
                Answer::ProjectState(state) => Some(state),
                Answer::Cancelled => None,
                _ => Some(Err(NOT_HERE.to_owned())),
            };
            then(engine, state, cx)
        })
    }

    fn ask(
        &mut self,
        purpose: Purpose,
        is_for_user: bool,
        request: Request,
        then: impl FnOnce(&mut Self, Answer, &mut Cx) -> Reply + 'static,
    ) -> Reply {
        let waiting = Waiting { purpose, is_for_user, then: Box::new(then) };
        Reply::Ask { ticket: self.pending.insert(waiting), request }
    }

    /// Continues with the answer to a request; an unknown ticket has no effect.
    pub(super) fn answered(&mut self, ticket: u64, answer: Answer, cx: &mut Cx) -> Reply {
        match self.pending.remove(ticket) {
            Some(waiting) => {
                let reply = (waiting.then)(self, answer, cx);
                self.follow_entries(reply, waiting.purpose.waiter, cx)
            }
            None => Reply::None,
        }
    }
}

/// The user's own word, by a dialog or an option of the command line: without it no changed rules are accepted and no
/// budget is widened. A command or a message is not the user's word: pi does not tell who sends it.
pub(super) struct UsersWord(());

impl UsersWord {
    /// Takes an option of the command line if its value is meant; an option is taken once.
    pub fn of_option(option: &mut Option<String>, is_meant: impl FnOnce(&str) -> bool) -> Option<(Self, String)> {
        let is_meant = option.as_deref().is_some_and(is_meant);
        let value = option.take_if(|_| is_meant)?;
        Some((Self(()), value))
    }
}

/// A question for yes or no.
pub(super) enum YesOrNo {
    /// A choice, in a terminal.
    Choice { title: Title, no: &'static str, yes: &'static str },
    /// A confirmation, in a program.
    Confirmation { title: &'static str, message: String },
}

/// A command that the host is to run.
pub(super) struct Command {
    pub line: String,
    /// Variables of its environment, with their values.
    pub env: Vec<(String, String)>,
    /// Its time limit, in milliseconds.
    pub timeout_ms: u32,
    /// The text that is shown while it runs.
    pub progress: String,
    /// Its standard output is returned apart.
    pub apart: bool,
    /// The file for its whole output.
    pub output_file: Option<OutputFile>,
}
