//! The confirmation before a project's workflow runs in the place of one of the user's own.

use crate::text;

use crate::engine::context::Cx;
use crate::engine::effect::{Level, Reply, Request};
use crate::engine::event::Answer;
use crate::engine::state::{Engine, PendingRequest, Replacement, ReplacementStep, Start};

/// Kind of the values in the store that remember a yes.
const REMEMBERED: &str = "replaced-workflow";
// The first option is chosen by a key that was meant for the editor: it does no harm.
const OPTIONS: [&str; 2] = ["No", "Yes"];

impl Engine {
    /// Starts a run. If that reaches workflows of the project that replace the user's own, the user is asked
    /// before their first start in this project; without a user interface they are only named.
    pub(super) fn start_unless_replaced(&mut self, start: Start, cx: &mut Cx) -> Reply {
        let keys = self.replacements(&start.command_name);
        if keys.is_empty() {
            return self.start_if_allowed(start, cx);
        }
        if !cx.ui.exists() {
            for key in &keys {
                let text = text::replacement_notice(key, &self.key_of(&start.command_name));
                cx.notify(Level::Warning, text);
            }
            return self.start_if_allowed(start, cx);
        }
        let Some(identity) = cx.files.project_identity() else {
            return self.confirm_replacement(start, None, keys);
        };
        let recalled = |key: &String| self.session.remembered(REMEMBERED, &identity, key).key;
        let request = Request::Recall { keys: keys.iter().map(recalled).collect() };
        let step = ReplacementStep::Recall { keys };
        let replacement = Replacement { start, identity: Some(identity), step };
        self.ask(PendingRequest::Replacement(replacement), request)
    }

    pub(in crate::engine) fn answer_replacement(
        &mut self,
        replacement: Replacement,
        answer: Answer,
        cx: &mut Cx,
    ) -> Reply {
        let Replacement { start, identity, step } = replacement;
        match (step, answer) {
            (ReplacementStep::Recall { keys }, Answer::Recalled(values)) => {
                let mut values = values.into_iter();
                let (known, unknown): (Vec<String>, Vec<String>) =
                    keys.into_iter().partition(|key| {
                        let value = values.next().flatten();
                        identity.as_ref().is_some_and(|identity| {
                            let yes = self.session.remembered(REMEMBERED, identity, key);
                            value == Some(yes.value)
                        })
                    });
                self.session.accepted_replacements.extend(known);
                if unknown.is_empty() {
                    return self.start_if_allowed(start, cx);
                }
                self.confirm_replacement(start, identity, unknown)
            }
            (ReplacementStep::Confirm { key }, Answer::YES) => {
                if let Some(identity) = identity {
                    cx.push(self.session.remembered(REMEMBERED, &identity, &key).keep());
                }
                self.session.accepted_replacements.insert(key);
                self.start_unless_replaced(start, cx)
            }
            _ => {
                cx.notify(Level::Info, "The workflow is not started.");
                self.not_started(cx);
                Reply::None
            }
        }
    }

    /// Asks about the first of these keys.
    fn confirm_replacement(
        &mut self,
        start: Start,
        identity: Option<String>,
        keys: Vec<String>,
    ) -> Reply {
        let key = keys.into_iter().next().unwrap_or_default();
        let title = text::replacement_question(&key, &self.key_of(&start.command_name));
        let options = OPTIONS.map(Into::into).into();
        let step = ReplacementStep::Confirm { key };
        let replacement = Replacement { start, identity, step };
        self.ask(PendingRequest::Replacement(replacement), Request::Select { title, options })
    }

    /// The keys of the project's workflows that a start reaches, that replace the user's own, and that the user
    /// has not accepted in this session.
    fn replacements(&self, command_name: &str) -> Vec<String> {
        let library = self.definitions.library();
        let Some(workflow) = library.by_command_name(command_name) else { return Vec::new() };
        self.unaccepted_replacements(workflow)
    }

    fn key_of(&self, command_name: &str) -> String {
        let workflow = self.definitions.library().by_command_name(command_name);
        workflow.map_or_else(|| command_name.to_owned(), |workflow| workflow.key.clone())
    }
}
