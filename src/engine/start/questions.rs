//! The questions before a run starts. After each answer the run is looked at anew from the first question: the files may
//! change during a dialog.

use crate::definition::{Library, RuleUse, Stale, Workflow, is_blank, path_refusal, trim};
use crate::engine::consent::{ONCE_IN_RUN, dialog, room};
use crate::engine::context::Cx;
use crate::engine::effect::{Level, Request, YesOrNo};
use crate::engine::event::Answer;
use crate::engine::state::{Run, Session};
use crate::engine::tools::lacks_step_tool;
use crate::run::MAX_WHOLE_TASK;
use crate::text::{self, GateSource};

use super::inputs;
use super::state::{Next, Start, StartAsked};
use super::unpriced::Unpriced;

/// Maximum number of agents in a parallel group that start without a question.
const UNASKED: u64 = 8;

/// Kinds of the values in the store that remember a yes.
const REPLACED: &str = "replaced-workflow";
const MANY_AGENTS: &str = "many-agents";

/// A key that was meant for the editor chooses the first option: that option does no harm.
fn no_or_yes(title: text::Title) -> Request {
    Request::yes_or_no(YesOrNo::Choice { title, no: "No", yes: "Yes" })
}

/// Returns the first question before a run that is not answered yet.
pub fn next(start: Start, run: &Run, session: &mut Session, cx: &mut Cx) -> Next {
    if let Some(error) = refusal(&start, run.library(), session, cx) {
        cx.fail(Level::Error, error);
        return Next::Refused;
    }
    if cx.gone {
        return Next::Refused;
    }
    if let Some(next) = inputs::ask_missing(&start, run.library(), cx) {
        return next;
    }
    if !start.replaces_run && run.running().is_some() {
        return ask_to_replace_run(start, run, cx);
    }
    let unpriced = Unpriced::of(&start.command_name, &session.bound, run.library(), cx);
    if unpriced.is_unbounded {
        cx.fail(Level::Error, text::needs_bound(&unpriced.models));
        return Next::Refused;
    }
    let Some(workflow) = run.library().by_command_name(&start.command_name) else { return Next::Ready(start) };
    if let Some((key, identity)) = replacement(workflow, run.library(), session, cx) {
        let title = text::replacement_question(&key, &workflow.key, dialog(2, cx));
        return Next::Ask(no_or_yes(title), StartAsked::Replacement { start, identity, key });
    }
    if let Some((title, about, identity)) = many_agents(workflow, run.library(), session, cx) {
        return Next::Ask(no_or_yes(title), StartAsked::ManyAgents { start, identity, about });
    }
    // Without a user interface the run starts, and pauses at the gate.
    if cx.ui.exists() {
        let preview = text::RunPreview::of(workflow, &start.values, run.library());
        if let Some(asked) = session.unallowed(preview.commands(), Some(&start.allowed), cx) {
            let question = |commands: &[String], dialog| preview.question(commands, dialog);
            let request = asked.dialog(ONCE_IN_RUN, question, cx);
            return Next::Ask(request, StartAsked::Consent(start, asked));
        }
    }
    Next::Ready(start)
}

/// Goes on after an answer.
pub fn answered(asked: StartAsked, answer: Answer, run: &Run, session: &mut Session, cx: &mut Cx) -> Next {
    let taken = match asked {
        StartAsked::Choice { mut start, name, options } => {
            let chosen = answer.chosen().and_then(|index| options.get(index.checked_sub(1)?)).cloned();
            if chosen.as_deref() == Some(inputs::NO_VALUE) && start.to_ask.remove(&name) {
                Next::Ready(start)
            } else {
                inputs::entered(start, &name, chosen, run.library(), cx)
            }
        }
        StartAsked::Text { mut start, name } => {
            let given = answer.entered();
            if given.as_deref().is_some_and(is_blank) && start.to_ask.remove(&name) {
                Next::Ready(start)
            } else {
                inputs::entered(start, &name, given.filter(|text| !is_blank(text)), run.library(), cx)
            }
        }
        StartAsked::Item { mut start, name, items } => {
            let given = answer.entered();
            let is_end = items.is_empty() && given.as_deref().is_some_and(is_blank);
            if is_end && start.to_ask.remove(&name) {
                Next::Ready(start)
            } else {
                inputs::item_entered((start, &name, items), given, run.library(), cx)
            }
        }
        StartAsked::Workflow(mut names) => {
            let chosen = answer.chosen().filter(|index| *index < names.len());
            let Some(command_name) = chosen.map(|index| names.swap_remove(index)) else { return Next::Declined };
            return inputs::ask_task(Start { command_name, ..Start::default() }, run.library());
        }
        StartAsked::Task(start) => {
            let workflow = run.library().by_command_name(&start.command_name);
            let default = workflow.and_then(|workflow| workflow.default_task.clone());
            let task = answer.entered().and_then(|task| if is_blank(&task) { default } else { Some(task) });
            task.map_or(Next::Declined, |task| Next::Ready(Start { task, ..start }))
        }
        StartAsked::Another(start) if answer.yes() == Some(true) => Next::Ready(Start { replaces_run: true, ..start }),
        StartAsked::Another(_) => Next::Declined,
        asked => consented(asked, &answer, (run, session), cx).map_or_else(|| Next::declined(cx), Next::Ready),
    };
    match taken {
        Next::Ready(start) => next(start, run, session, cx),
        other => other,
    }
}

/// Notes the user's consent to a part of a run that is to start; `None` without consent.
fn consented(asked: StartAsked, answer: &Answer, (run, session): (&Run, &mut Session), cx: &mut Cx) -> Option<Start> {
    let is_yes = answer.chosen() == Some(1);
    match asked {
        StartAsked::Replacement { start, identity, key } if is_yes => {
            session.remember(REPLACED, identity.as_deref(), std::slice::from_ref(&key), cx);
            session.accepted_replacements.insert(key);
            Some(start)
        }
        StartAsked::ManyAgents { start, identity, about } if is_yes => {
            session.remember(MANY_AGENTS, identity.as_deref(), std::slice::from_ref(&about), cx);
            session.accepted_agents.insert(about);
            Some(start)
        }
        StartAsked::Consent(mut start, asked) if session.allow(&asked, answer.chosen(), run, cx) => {
            start.allowed.extend(asked.commands);
            Some(start)
        }
        _ => None,
    }
}

/// The reason, for the user, why a run cannot start.
pub fn refusal(start: &Start, library: &Library, session: &Session, cx: &mut Cx) -> Option<String> {
    let length = trim(&start.task).len();
    if length > MAX_WHOLE_TASK {
        return Some(text::task_too_long(length));
    }
    if let Some(error) = &session.bound_error {
        return Some(error.clone());
    }
    match lacks_step_tool(cx.host) {
        Ok(false) => bad_in_path(start, library),
        Ok(true) => Some(text::NO_STEP_TOOL.to_owned()),
        Err(Stale) => {
            cx.gone = true;
            None
        }
    }
}

/// The error for a value that the workflow uses in a path, and that is not allowed there.
fn bad_in_path(start: &Start, library: &Library) -> Option<String> {
    let workflow = library.by_command_name(&start.command_name)?;
    let used = library.inputs_of_rules(&workflow.key);
    let in_paths = used.iter().filter(|(_, as_what)| **as_what == RuleUse::Path);
    in_paths.into_iter().find_map(|(name, _)| {
        let value = start.values.get(*name)?;
        Some(text::bad_in_path(name, value, path_refusal(value)?))
    })
}

fn ask_to_replace_run(start: Start, run: &Run, cx: &mut Cx) -> Next {
    let active = run.shown();
    let phase = active.as_ref().map_or("unknown", |active| &active.phase.name);
    let task = run.running().map_or("", |state| &state.task_description);
    let question = if cx.ui.is_terminal() {
        let workflow = run.running().map_or_else(String::new, |state| text::run_name(state, run.library()));
        let title = text::start_another_question(&workflow, phase, task, room(2, cx));
        YesOrNo::Choice { title, no: "No, go on with it", yes: "Yes, start the other" }
    } else {
        let message =
            format!("Phase: {}\nTask: {}\n\nStart a new one?", text::in_question(phase), text::in_question(task));
        YesOrNo::Confirmation { title: "Workflow already active", message }
    };
    Next::Ask(Request::yes_or_no(question), StartAsked::Another(start))
}

/// The key of a project's workflow that a run reaches, that replaces a workflow of the user's own, and that the user has
/// not accepted in this project, with the project's identity. Without a user interface the workflows are only named.
fn replacement(
    workflow: &Workflow,
    library: &Library,
    session: &mut Session,
    cx: &mut Cx,
) -> Option<(String, Option<String>)> {
    let keys = session.unaccepted_replacements(workflow, library);
    if !cx.ui.exists() {
        for key in &keys {
            cx.notify(Level::Warning, text::replacement_notice(key, &workflow.key));
        }
        return None;
    }
    let identity = (!keys.is_empty()).then(|| cx.host.project_identity()).flatten();
    let is_remembered = |key: &String| session.remembers(REPLACED, identity.as_deref(), key, cx);
    let (known, unknown): (Vec<String>, Vec<String>) = keys.into_iter().partition(is_remembered);
    session.accepted_replacements.extend(known);
    Some((unknown.into_iter().next()?, identity))
}

/// The question, if a run can reach a parallel group with many agents that is not the user's own, and the user has not
/// said yes to so many in this project; with its subject and the project's identity. Without a user interface the user
/// is only told.
fn many_agents(
    workflow: &Workflow,
    library: &Library,
    session: &Session,
    cx: &mut Cx,
) -> Option<(text::Title, String, Option<String>)> {
    let groups = library.parallel_groups(&workflow.key).into_iter();
    let foreign = groups.filter(|group| GateSource::of(group).is_some());
    let group = foreign.max_by_key(|group| library.most_branches(group))?;
    let most = library.most_branches(group);
    if most <= UNASKED {
        return None;
    }
    let at_once =
        group.parallel.as_ref().map_or(most, |parallel| parallel.at_once.resolve(|name| group.greatest(name)).into());
    let about = format!("{} {most} {at_once}", group.key);
    let identity = cx.host.project_identity();
    if session.accepted_agents.contains(&about) || session.remembers(MANY_AGENTS, identity.as_deref(), &about, cx) {
        return None;
    }
    if !cx.ui.exists() {
        cx.notify(Level::Warning, text::many_agents_notice(&workflow.name, most, at_once));
        return None;
    }
    let dialog = dialog(2, cx);
    Some((text::many_agents_question(&workflow.name, most, at_once, dialog), about, identity))
}
