//! The confirmation before a workflow of a project or a package starts many agents at once.

use crate::definition::{Library, Workflow};
use crate::text::{self, GateSource};

use super::start::Start;
use crate::engine::context::Cx;
use crate::engine::effect::{Level, Reply};
use crate::engine::state::{Engine, Waiter};

/// Maximum number of agents in a parallel group that start without a question.
const UNASKED: u64 = 8;

/// Kind of the values in the store that remember a yes.
const REMEMBERED: &str = "many-agents";
// A key that was meant for the editor chooses the first option: that option does no harm.
const OPTIONS: [&str; 2] = ["No", "Yes"];
const YES: usize = 1;

impl Engine {
    /// Starts a run. If the run can reach a parallel group with many agents that is not the user's own, the user is
    /// asked before the first start with so many agents in this project; without a user interface the user is only
    /// told.
    pub(super) fn start_unless_many(&mut self, start: Start, cx: &mut Cx) -> Reply {
        let library = self.definitions.library();
        let workflow = library.by_command_name(&start.command_name);
        let many = workflow.and_then(|workflow| Some((workflow, foreign_group(workflow, library)?)));
        let Some((workflow, group)) = many else { return self.start_if_allowed(start, cx) };
        let most = library.most_branches(group);
        let at_once = group.parallel.as_ref().map_or(most, |parallel| parallel.at_once.into());
        let about = format!("{} {most} {at_once}", group.key);
        let title = text::many_agents_question(&workflow.name, most, at_once);
        let identity = cx.host.project_identity();
        let is_known = self.session.accepted_agents.contains(&about)
            || self.session.remembers(REMEMBERED, identity.as_deref(), &about, cx);
        if is_known {
            return self.start_if_allowed(start, cx);
        }
        if !cx.ui.exists() {
            cx.notify(Level::Warning, text::many_agents_notice(&workflow.name, most, at_once));
            return self.start_if_allowed(start, cx);
        }
        self.select(Waiter::User, title, OPTIONS.map(Into::into).into(), |engine, chosen, cx| {
            if chosen != Some(YES) {
                return engine.tell_not_started(cx);
            }
            if let Some(identity) = identity {
                engine.session.remember(REMEMBERED, &identity, std::slice::from_ref(&about), cx);
            }
            engine.session.accepted_agents.insert(about);
            // The files may have been read again meanwhile.
            engine.start_unless_replaced(start, cx)
        })
    }
}

/// The parallel group with the most agents that a run of a workflow can reach, if it has many agents and is not the
/// user's own.
fn foreign_group<'a>(workflow: &'a Workflow, library: &'a Library) -> Option<&'a Workflow> {
    let groups = library.parallel_groups(&workflow.key).into_iter();
    let foreign = groups.filter(|group| GateSource::of(group).is_some());
    let most = foreign.max_by_key(|group| library.most_branches(group))?;
    (library.most_branches(most) > UNASKED).then_some(most)
}
