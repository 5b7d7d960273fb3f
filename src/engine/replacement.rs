//! The question before a project's workflow runs in the place of one of the user's own.

use crate::definition::WorkflowFiles;
use crate::text;

use super::commands::Question;
use super::{Answer, Effect, Engine, Level, Moment, Output, Request};

/// Under what a remembered yes is kept.
const REPLACEMENT: &str = "replaced-workflow";
// What a key that was meant for the editor would choose comes first, and does no harm.
const OPTIONS: [&str; 2] = ["No", "Yes"];
const YES: usize = 1;

/// A start that waits for the user's yes.
#[derive(Debug)]
pub(super) struct Replacement {
    command_name: String,
    task: String,
    /// The project's identity, where it is known.
    identity: Option<String>,
    waits_for: WaitsFor,
}

#[derive(Debug)]
enum WaitsFor {
    /// The remembered answers for these keys.
    Remembered(Vec<String>),
    /// The user's answer for this key.
    Answer(String),
}

impl Replacement {
    pub(super) fn is_for_user(&self) -> bool {
        matches!(self.waits_for, WaitsFor::Answer(_))
    }
}

impl Engine {
    /// Starts a run. If that reaches workflows of the project that replace the user's own, the user is asked
    /// before their first start in this project; without a user interface they are only named.
    pub(super) fn start_unless_replaced(
        &mut self,
        command_name: &str,
        task: &str,
        at: Moment,
        files: &dyn WorkflowFiles,
    ) -> Output {
        let keys = self.replacements(command_name);
        if keys.is_empty() {
            return self.start(command_name, task, at);
        }
        if !self.has_ui {
            let mut effects: Vec<Effect> = keys
                .iter()
                .map(|key| Effect::Notify {
                    level: Level::Warning,
                    text: text::replacement_notice(key, &self.key_of(command_name)),
                })
                .collect();
            let output = self.start(command_name, task, at);
            effects.extend(output.effects);
            return Output { effects, reply: output.reply };
        }
        let (command_name, task) = (command_name.to_owned(), task.to_owned());
        let Some(identity) = files.project_identity() else {
            return self.ask_replacement(command_name, task, None, keys);
        };
        let recalled = |key: &String| self.remembered(REPLACEMENT, &identity, key).key;
        let request = Request::Recall { keys: keys.iter().map(recalled).collect() };
        let waits_for = WaitsFor::Remembered(keys);
        let replacement = Replacement { command_name, task, identity: Some(identity), waits_for };
        self.ask(Question::Replacement(replacement), request)
    }

    pub(super) fn answer_replacement(
        &mut self,
        replacement: Replacement,
        answer: Answer,
        at: Moment,
        files: &dyn WorkflowFiles,
    ) -> Output {
        let Replacement { command_name, task, identity, waits_for } = replacement;
        match (waits_for, answer) {
            (WaitsFor::Remembered(keys), Answer::Recalled(values)) => {
                let mut values = values.into_iter();
                let (known, unknown): (Vec<String>, Vec<String>) =
                    keys.into_iter().partition(|key| {
                        let value = values.next().flatten();
                        identity.as_ref().is_some_and(|identity| {
                            value == Some(self.remembered(REPLACEMENT, identity, key).value)
                        })
                    });
                self.accepted_replacements.extend(known);
                if unknown.is_empty() {
                    return self.start(&command_name, &task, at);
                }
                self.ask_replacement(command_name, task, identity, unknown)
            }
            (WaitsFor::Answer(key), Answer::Selected(YES)) => {
                let kept =
                    identity.map(|identity| self.remembered(REPLACEMENT, &identity, &key).keep());
                self.accepted_replacements.insert(key);
                let output = self.start_unless_replaced(&command_name, &task, at, files);
                let mut effects = Vec::from_iter(kept);
                effects.extend(output.effects);
                Output { effects, reply: output.reply }
            }
            _ => {
                let text = "The workflow is not started.".to_owned();
                let mut effects = vec![Effect::Notify { level: Level::Info, text }];
                effects.extend(self.not_started().effects);
                effects.into()
            }
        }
    }

    /// Asks for the first of these keys.
    fn ask_replacement(
        &mut self,
        command_name: String,
        task: String,
        identity: Option<String>,
        keys: Vec<String>,
    ) -> Output {
        let key = keys.into_iter().next().unwrap_or_default();
        let title = text::replacement_question(&key, &self.key_of(&command_name));
        let options = OPTIONS.map(Into::into).into();
        let waits_for = WaitsFor::Answer(key);
        let replacement = Replacement { command_name, task, identity, waits_for };
        self.ask(Question::Replacement(replacement), Request::Select { title, options })
    }

    /// The keys of the project's workflows that a start reaches, that replace the user's own, and that the user
    /// has not accepted in this session.
    fn replacements(&self, command_name: &str) -> Vec<String> {
        let Some(workflow) = self.library.by_command_name(command_name) else { return Vec::new() };
        let mut keys = self.library.replacements_in(workflow);
        keys.retain(|key| !self.accepted_replacements.contains(key));
        keys
    }

    fn key_of(&self, command_name: &str) -> String {
        let workflow = self.library.by_command_name(command_name);
        workflow.map_or_else(|| command_name.to_owned(), |workflow| workflow.key.clone())
    }
}
