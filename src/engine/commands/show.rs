//! The controls that show something: status, diagram, report and diagnostics.

use serde_json::json;

use crate::definition::{Library, Stale, Workflow};
use crate::engine::host::Host;
use crate::protocol::{CHECK_TYPE, GRAPH_TYPE, REPORT_TYPE, STATE_ENTRY_TYPE, STATUS_TYPE};
use crate::run::{Active, Broken, RunState, pause_reason, restore};
use crate::text::{self, Circumstances, Report};

use super::moves::unavailable;
use crate::engine::context::Cx;
use crate::engine::effect::{Effect, Level};
use crate::engine::start::{above, unknown_workflow, untrusted};
use crate::engine::state::{Engine, Run};

/// Notice of a control that needs a run.
pub(super) const NO_RUN: &str = "No active workflow.";

impl Engine {
    /// Shows the status of the run.
    pub(super) fn show_status(&self, cx: &mut Cx) {
        let state = self.meter.up_to_now(&self.run, &self.agent, cx);
        let library = self.run.library();
        let Some(active) = state.as_ref().and_then(|state| Active::resolve(state, library)) else {
            cx.fail(Level::Warning, unavailable(&self.run, &self.session, cx.ui));
            return;
        };
        let waits = self.agent.activity.is_waiting();
        let names_models = self.keeper.visit().is_some() && self.run.library().names_models(&active.state.workflow_key);
        let in_use = if names_models { cx.unless_gone(cx.host.model_setting()) } else { None };
        let utc_offset = cx.host.utc_offset(active.state.started_at).map(Some);
        let utc_offset = cx.unless_gone(utc_offset).unwrap_or_default();
        let branch = |branch: &_| self.children.branch_now(branch, library);
        let model = in_use.as_ref();
        let content = text::status_panel(&active, cx.unix_ms, waits, model, utc_offset, &branch);
        show(STATUS_TYPE, content, false, cx);
    }
}

/// Shows the outline of a workflow: the workflow with this name, or the workflow of the run.
pub(super) fn show_graph(run: &Run, name: &str, cx: &mut Cx) -> Result<(), Stale> {
    let (library, _) = Library::load(cx.host)?;
    let mut for_users = library.for_users().map(|(_, workflow)| workflow);
    let workflow = match (name, run.running()) {
        ("", Some(state)) => library.get(&state.workflow_key),
        ("", None) => for_users.next().filter(|_| for_users.next().is_none()),
        _ => library.by_command_name(name).or_else(|| library.get(name)),
    };
    let Some(workflow) = workflow else {
        let text = if name.is_empty() {
            "Usage: /workflow :graph NAME".to_owned()
        } else {
            unknown_workflow(name, &library, cx)
        };
        cx.fail(Level::Error, text);
        return Ok(());
    };
    // While the rules hold, the files have the entries that the run passed over.
    let shown = run.active().map(|active| active.state).filter(|_| name.is_empty());
    let content = text::outline(workflow, &library, shown);
    let data = json!({ "content": content });
    cx.push(Effect::AppendEntry { custom_type: GRAPH_TYPE, data });
    if !cx.ui.exists() {
        cx.notify(Level::Info, content);
    }
    Ok(())
}

/// Shows the report of the run in progress, or of the session's last run.
pub(super) fn show_report(run: &Run, up_to_now: Option<RunState>, cx: &mut Cx) -> Result<(), Stale> {
    let state = match up_to_now {
        Some(state) => state,
        None => {
            let Some(state) = newest_run(cx.host)? else {
                cx.notify(Level::Info, "No workflow has run in this session.");
                return Ok(());
            };
            if let Some(Broken { why, .. }) = &state.progress().broken {
                let text = format!("The last run of this session cannot be read: {why}.");
                cx.fail(Level::Warning, text);
                return Ok(());
            }
            state
        }
    };
    let pause = pause_reason(&state, run.library());
    let known = Circumstances { pause, ..Circumstances::default() };
    let report = Report::of(&state, known).markdown(|time| cx.host.utc_offset(time))?;
    show(REPORT_TYPE, report, false, cx);
    Ok(())
}

/// Reads all files again and shows every diagnostic.
pub(super) fn show_check(run: &mut Run, cx: &mut Cx) -> Result<(), Stale> {
    let (report, has_errors) = run.read_files(|definitions| definitions.check(cx.host))?;
    let above = if run.library().iter().all(Workflow::is_builtin) { above(cx) } else { String::new() };
    let report = format!("{report}{}{above}", untrusted(cx));
    show(CHECK_TYPE, report, has_errors, cx);
    Ok(())
}

fn newest_run(host: &dyn Host) -> Result<Option<RunState>, Stale> {
    let mut gone = Ok(());
    let stored = (0..).map_while(|number| {
        let entry = host.entry(STATE_ENTRY_TYPE, number);
        entry.unwrap_or_else(|stale| {
            gone = Err(stale);
            None
        })
    });
    let newest = restore(stored);
    gone.map(|()| newest)
}

/// Tells that there is no run, and how the session's last run ended.
pub(super) fn show_last_end(cx: &mut Cx) -> Result<(), Stale> {
    let ended = newest_run(cx.host)?.filter(|state| !state.is_running() && state.progress().broken.is_none());
    let Some(state) = ended else {
        cx.notify(Level::Info, NO_RUN);
        return Ok(());
    };
    let report = Report::of(&state, Circumstances::default());
    let end = report.end(|time| cx.host.utc_offset(time))?;
    cx.notify(Level::Info, format!("{NO_RUN} The last one:\n{end}\n/workflow :report shows it."));
    Ok(())
}

/// Shows an entry in the transcript that the model does not get; without a user interface, a notice.
pub(in crate::engine) fn show(custom_type: &'static str, content: String, failed: bool, cx: &mut Cx) {
    cx.show(custom_type, &content);
    match (cx.ui.exists(), failed) {
        (true, _) => {}
        (false, true) => cx.fail(Level::Error, content),
        (false, false) => cx.notify(Level::Info, content),
    }
}
