//! Completions of the arguments of `/workflow`.

use crate::definition::{Input, Workflow, is_space};
use crate::engine::host::Host;
use crate::text;

use super::controls;
use crate::engine::branches::branch_names;
use crate::engine::start::arguments;
use crate::engine::state::{Engine, Run};

/// A completion of the arguments of `/workflow`.
#[derive(Debug, Clone, PartialEq)]
pub struct Completion {
    /// The text that is inserted.
    pub value: String,
    /// The text that is shown for the completion.
    pub label: String,
    /// The description beside it.
    pub description: String,
}

impl Engine {
    /// Returns completions of the arguments of `/workflow`; none where the argument is complete, so that Enter runs the
    /// command. At the beginning of the argument the files are read again.
    pub fn complete(&mut self, prefix: &str, host: &dyn Host) -> Vec<Completion> {
        if prefix.is_empty() {
            // Definitions that cannot be read now stay as they were.
            let _ = self.run.read_files(|definitions| definitions.refresh(host));
        }
        let library = self.run.library();
        let (before, name) = match prefix.split_once(is_space) {
            None => ("", prefix),
            Some((":graph", name)) => (":graph ", name.trim_start_matches(is_space)),
            Some((control @ (":next" | ":skip" | ":stop" | ":retry"), word)) => {
                return ways(&self.run, control, word.trim_start_matches(is_space));
            }
            Some((name, _)) => {
                let workflow = library.by_command_name(name);
                return workflow.map(|workflow| inputs(workflow, prefix)).unwrap_or_default();
            }
        };
        // A list of completions has no other place to say that the project is not trusted.
        let untrusted = host.untrusted().ok().flatten();
        let about = |name: &str, description: &str| match &untrusted {
            Some(folder) if name == controls::CHECK => text::not_trusted(folder),
            Some(_) | None => description.to_owned(),
        };
        let controls =
            controls::controls(prefix, &self.run, self.agent.activity.is_at_rest()).map(|(name, description)| {
                Completion { value: name.to_owned(), label: name.to_owned(), description: about(name, description) }
            });
        let workflows = library
            .for_users()
            .filter_map(|(start_name, workflow)| {
                // The name of its package may be typed although the command name is enough.
                let names = [Some(start_name), workflow.name_with_package()];
                let fits = |typed: &String| typed.starts_with(name);
                Some((names.into_iter().flatten().find(fits)?, workflow))
            })
            .map(|(start_name, workflow)| Completion {
                value: format!("{before}{start_name}"),
                label: start_name,
                description: match text::description(workflow, library) {
                    Some(about) => format!("{}: {about}", text::short_name(&workflow.name)),
                    None => text::short_name(&workflow.name),
                },
            });
        let completions: Vec<Completion> =
            if self.is_running() { controls.chain(workflows).collect() } else { workflows.chain(controls).collect() };
        unless_complete(completions, prefix)
    }
}

/// Completions of `:next` with the outcomes of the phase, of `:skip` with the ids of phases, or of `:stop` and
/// `:retry` with the names of branches.
fn ways(run: &Run, control: &str, word: &str) -> Vec<Completion> {
    let Some(active) = run.active() else { return Vec::new() };
    let completion = |(label, description): (&str, String)| Completion {
        value: format!("{control} {label}"),
        label: label.to_owned(),
        description,
    };
    let branches = branch_names(run);
    let completions: Vec<Completion> = if [":stop", ":retry"].contains(&control) {
        branches.iter().map(|name| completion((name, String::new()))).collect()
    } else if control == ":next" {
        let outcomes = active.phase.outcomes.iter().filter(|outcome| active.offers(&outcome.name));
        let outcomes = outcomes.map(|outcome| (&*outcome.name, text::way(&active.with_bound(outcome))));
        outcomes.map(completion).collect()
    } else {
        let others = active.scope.own_phases().filter(|phase| phase.id != active.phase.id);
        others.map(|phase| completion((&phase.id, text::phase_title(phase)))).collect()
    };
    let begins = |completion: &Completion| completion.label.starts_with(word);
    unless_complete(completions.into_iter().filter(begins).collect(), &format!("{control} {word}"))
}

/// The completions, or none if one of them equals the typed text.
fn unless_complete(completions: Vec<Completion>, prefix: &str) -> Vec<Completion> {
    let is_complete = completions.iter().any(|completion| completion.value == prefix);
    if is_complete { Vec::new() } else { completions }
}

/// Completions of the last word after the name of a workflow: the inputs that have no value yet, or the options of an
/// input. None where the task has begun.
fn inputs(workflow: &Workflow, prefix: &str) -> Vec<Completion> {
    let (before, word) = prefix.rsplit_once(is_space).unwrap_or(("", prefix));
    let mut words = before.split(is_space).skip(1).filter(|word| !word.is_empty());
    let name_of = |word: &str| word.split_once('=').map(|(name, _)| name.to_owned());
    let given: Option<Vec<String>> = words.by_ref().map(name_of).collect();
    let Some(given) = given else { return Vec::new() };
    let completion = |text: String, about: &Input| Completion {
        value: format!("{before} {text}"),
        label: text,
        description: about.description.clone().unwrap_or_else(|| about.kind.expected()),
    };
    let is_list = |input: &Input| input.kind.is_list_of_texts();
    let is_open = |input: &&Input| is_list(input) || !given.contains(&input.name);
    let open = workflow.inputs.iter().filter(is_open);
    let completions: Vec<Completion> = match word.split_once('=') {
        None => open
            .filter(|input| input.name.starts_with(word))
            .map(|input| completion(format!("{}=", input.name), input))
            .collect(),
        Some((name, value)) => open
            .filter(|input| input.name == name)
            .flat_map(|input| {
                let options = input.kind.options().into_iter().filter(|option| option.starts_with(value));
                let option = |option| completion(format!("{name}={}", arguments::quoted(option)), input);
                options.map(option).collect::<Vec<_>>()
            })
            .collect(),
    };
    unless_complete(completions, prefix)
}
