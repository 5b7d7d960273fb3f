//! `/workflow :new NAME`: asks what a new workflow is for, and writes it. The run in progress stays as it is.

pub(super) mod state;

use crate::definition::{Library, Skeleton, Stale, skeleton};
use crate::text::Title;

use super::ask::{Pending, Then};
use super::context::Cx;
use super::effect::{Level, Reply, Request};
use super::event::Answer;
use super::state::{Run, Waiter};
use state::NewWorkflow;

/// The roots where a workflow can be written, with their names for the user.
const PROJECT: (&str, &str) = ("project", "in this project");
const OWN: (&str, &str) = ("global", "in your own folder, for all projects");

/// Begins with the questions about a new workflow of this name.
///
/// # Errors
///
/// If the session is gone.
pub fn begin(name: &str, run: &mut Run, pending: &mut Pending, cx: &mut Cx) -> Result<Reply, Stale> {
    if !cx.ui.exists() {
        cx.fail(Level::Error, "/workflow :new asks in pi's user interface. In a terminal: pi-workflows new NAME");
        return Ok(Reply::None);
    }
    run.read_files(|definitions| definitions.refresh(cx.host))?;
    if let Some(folder) = taken(name, run.library()) {
        cx.fail(Level::Error, format!("There is a workflow \"{name}\" already: {folder}"));
        return Ok(Reply::None);
    }
    let roots: &[_] = if cx.host.is_trusted()? { &[PROJECT, OWN] } else { &[OWN] };
    let new = NewWorkflow { name: name.to_owned(), roots, answers: Vec::new(), options: Vec::new() };
    Ok(follow(new, run, pending, cx))
}

/// Goes on with the answer to a question. Without an answer nothing is written.
pub fn answered(mut new: NewWorkflow, answer: Answer, run: &mut Run, pending: &mut Pending, cx: &mut Cx) -> Reply {
    let chosen = answer.chosen().and_then(|index| new.options.get(index).cloned());
    let Some(answer) = chosen.or_else(|| answer.entered()) else {
        cx.notify(Level::Info, "No workflow is written.");
        return Reply::None;
    };
    new.answers.push(answer);
    follow(new, run, pending, cx)
}

/// Asks the next question, or writes the workflow.
fn follow(mut new: NewWorkflow, run: &mut Run, pending: &mut Pending, cx: &mut Cx) -> Reply {
    let places: Vec<String> = new.roots.iter().map(|(_, place)| (*place).to_owned()).collect();
    let step = loop {
        match skeleton(&new.name, &places, &new.answers) {
            Ok(step) => break step,
            Err(why) => {
                cx.fail(Level::Error, why);
                // Without an answer the name is refused.
                if new.answers.pop().is_none() {
                    return Reply::None;
                }
            }
        }
    };
    let (title, options) = match step {
        Skeleton::Ask { title, options } => (Title::new(title, ""), options),
        Skeleton::Done { text, place } => {
            write(&new, place, &text, run, cx);
            return Reply::None;
        }
    };
    new.options.clone_from(&options);
    let request = if options.is_empty() { Request::Input { title } } else { Request::Select { title, options } };
    pending.ask(Waiter::User, request, Then::New(new))
}

fn write(new: &NewWorkflow, place: usize, text: &str, run: &mut Run, cx: &mut Cx) {
    let Some((root, _)) = new.roots.get(place) else { return };
    let written = cx.host.write_workflow(root, &new.name, text);
    match cx.unless_gone(written.map(Some)) {
        None => {}
        Some(Err(why)) => cx.fail(Level::Error, format!("No workflow is written: {why}")),
        Some(Ok(path)) => {
            cx.gone |= run.read_files(|definitions| definitions.refresh(cx.host)).is_err();
            let text = format!("{path} is written.\nTo start it: /workflow {} TASK", new.name);
            cx.notify(Level::Info, text);
        }
    }
}

/// Returns the folder of the workflow that has this name, also of one with errors.
fn taken(name: &str, library: &Library) -> Option<String> {
    let workflow = library.by_command_name(name).or_else(|| library.get(name));
    let with_errors = || library.left_out().iter().find(|other| other.is_called(name) || other.key == name);
    workflow.map(|workflow| &workflow.folder).or_else(|| Some(&with_errors()?.folder)).cloned()
}
