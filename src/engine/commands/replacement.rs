//! The confirmation before a project's workflow runs in the place of a workflow of the user's own.

use crate::definition::Library;
use crate::text;

use super::start::Start;
use crate::engine::context::Cx;
use crate::engine::effect::{Level, Reply};
use crate::engine::state::{Engine, Waiter};

/// Kind of the values in the store that remember a yes.
const REMEMBERED: &str = "replaced-workflow";
// A key that was meant for the editor chooses the first option: that option does no harm.
const OPTIONS: [&str; 2] = ["No", "Yes"];
const YES: usize = 1;

impl Engine {
    /// Starts a run. If the run can reach workflows of the project that replace the user's own, the user is asked
    /// before their first start in this project; without a user interface the workflows are only named.
    pub(super) fn start_unless_replaced(&mut self, start: Start, cx: &mut Cx) -> Reply {
        if let Some(reply) = self.ask_if_unbounded(&start, cx) {
            return reply;
        }
        let keys = self.replacements(&start.command_name);
        if keys.is_empty() {
            return self.start_unless_many(start, cx);
        }
        if !cx.ui.exists() {
            for key in &keys {
                let text = text::replacement_notice(key, &key_of(&start.command_name, self.definitions.library()));
                cx.notify(Level::Warning, text);
            }
            return self.start_unless_many(start, cx);
        }
        let identity = cx.host.project_identity();
        let is_remembered = |key: &String| self.session.remembers(REMEMBERED, identity.as_deref(), key, cx);
        let (known, unknown): (Vec<String>, Vec<String>) = keys.into_iter().partition(is_remembered);
        self.session.accepted_replacements.extend(known);
        match unknown.into_iter().next() {
            Some(key) => self.confirm_replacement(start, identity, key),
            None => self.start_unless_many(start, cx),
        }
    }

    /// Asks about the workflow with this key, and after a yes goes on with the remaining workflows.
    fn confirm_replacement(&mut self, start: Start, identity: Option<String>, key: String) -> Reply {
        let title = text::replacement_question(&key, &key_of(&start.command_name, self.definitions.library()));
        let options = OPTIONS.map(Into::into).into();
        self.select(Waiter::User, title, options, |engine, chosen, cx| {
            if chosen != Some(YES) {
                return engine.tell_not_started(cx);
            }
            if let Some(identity) = identity {
                engine.session.remember(REMEMBERED, &identity, std::slice::from_ref(&key), cx);
            }
            engine.session.accepted_replacements.insert(key);
            engine.start_unless_replaced(start, cx)
        })
    }

    /// The keys of the project's workflows that a start reaches, that replace the user's own, and that the user
    /// has not accepted in this session.
    fn replacements(&self, command_name: &str) -> Vec<String> {
        let library = self.definitions.library();
        let Some(workflow) = library.by_command_name(command_name) else { return Vec::new() };
        self.unaccepted_replacements(workflow)
    }
}

fn key_of(command_name: &str, library: &Library) -> String {
    let workflow = library.by_command_name(command_name);
    workflow.map_or_else(|| command_name.to_owned(), |workflow| workflow.key.clone())
}
