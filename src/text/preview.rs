//! Preview of a workflow for its author: all phases, also nested ones, and the resolved templates.

use crate::definition::{EntryKind, Input, Library, Work, Workflow, on_one_line};
use crate::run::{Active, Branch, NumberedPhase, Outline, RunDir, RunState, enter, jump_to};

use super::exact::folded;
use super::graph::{exits_note, nested_notes, noted, workflow_notes};
use super::inputs::input_lines;
use super::outline::name as phase_name;
use super::outputs::workflow_output_lines;
use super::parallel::agents_note;
use super::ways::when_note;
use super::{
    DefaultRole, block_reason, completion_message, context_prompt, description, initial_message, not_done_reminder,
    phase_instructions, sample_evidence, session_name,
};

/// Maximum number of phases in a preview.
const MAX_STEPS: usize = 200;

/// Returns all phases of a workflow, also nested ones, and each of its templates for a sample task.
pub fn preview(workflow: &Workflow, library: &Library, task: &str) -> String {
    let first = sample_run(workflow, library, task);
    let Some(active) = Active::resolve(&first, library) else { return String::new() };
    let mut parts = vec![head(workflow, library)];
    if !workflow.inputs.is_empty() {
        parts.push(titled("Inputs", &input_lines(workflow).join("\n")));
    }
    if !workflow.outputs.is_empty() {
        parts.push(titled("Outputs, where another workflow nests it", &workflow_output_lines(workflow).join("\n")));
    }
    let all = Outline::phases(&active, 1, MAX_STEPS);
    let branches: Vec<Vec<RunState>> = all.iter().map(|at| in_branches(at, &first, library)).collect();
    let phases = all.iter().zip(&branches);
    let phases = phases.flat_map(|(at, branches)| with_branches(at, &first, branches, library));
    let phases: Vec<Listed> = phases.take(MAX_STEPS).collect();
    let list: Vec<String> = phases.iter().flat_map(|of| listed(of, library, None)).collect();
    parts.push(titled("Phases", &list.join("\n")));
    parts.push(titled("Session name", &session_name(workflow, &first.task_description)));
    parts.push(titled("initialMessage", &initial_message(workflow, library, &first)));
    parts.push(titled("Context prompt of the first phase", &context_prompt(&active, DefaultRole::Worker)));
    for Listed { at, number, state, .. } in &phases {
        if at.phase.work == Work::Branches {
            continue;
        }
        if let Some(active) = Active::resolve(state, library) {
            let title = format!("Instructions of {number}. {}", phase_name(at));
            parts.push(titled(&title, &phase_instructions(&active)));
        }
    }
    let refused = phases
        .iter()
        .filter(|listed| listed.at.phase.is_of_agent())
        .find_map(|listed| block_reason(&Active::resolve(&listed.state, library)?, "edit"));
    parts.extend(refused.map(|reason| titled("blockReasonTemplate, for edit", &reason)));
    parts.push(titled("notDoneReminder, in the first phase", &not_done_reminder(&active)));
    let ended = all.iter().fold(first.clone(), |state, at| {
        let state = jump_to(&state, at.path.clone(), library).begun(at.number);
        let evidence = Active::resolve(&state, library).map(|active| sample_evidence(&active, None));
        state.with_evidence(evidence.unwrap_or_default())
    });
    parts.push(titled("completionMessage", &completion_message(&ended, workflow, library)));
    parts.join("\n\n")
}

/// Maximum columns of a line of an outline: pi leaves a column free on either side of a terminal of 80.
const OUTLINE_WIDTH: usize = 78;

/// Returns the head of a workflow and the list of its phases, also nested ones, in lines that fit a terminal of 80
/// columns. Entries that `run` passed over have the reason.
pub fn outline(workflow: &Workflow, library: &Library, run: Option<&RunState>) -> String {
    let first = sample_run(workflow, library, "");
    let Some(active) = Active::resolve(&first, library) else { return String::new() };
    let all = Outline::phases(&active, 1, MAX_STEPS);
    let branches: Vec<Vec<RunState>> = all.iter().map(|at| in_branches(at, &first, library)).collect();
    let phases = all.iter().zip(&branches).flat_map(|(at, branches)| with_branches(at, &first, branches, library));
    let lines = head(workflow, library).lines().map(str::to_owned).chain([String::new()]).collect::<Vec<_>>();
    let list = phases.take(MAX_STEPS).flat_map(|of| listed(&of, library, run));
    let fit = |line: String| {
        let (text, indent) = (line.trim_start(), line.len() - line.trim_start().len());
        folded(text, &" ".repeat(indent), &" ".repeat(indent + 1), OUTLINE_WIDTH)
    };
    lines.into_iter().chain(list).flat_map(fit).collect::<Vec<_>>().join("\n")
}

/// Returns a run of a workflow at its first phase, with samples for its inputs.
fn sample_run(workflow: &Workflow, library: &Library, task: &str) -> RunState {
    let sample = |input: &Input| (input.name.clone(), input.sample());
    let samples = workflow.inputs.iter().map(sample).collect();
    let first = RunState::new(&workflow.key, task, SAMPLE_TIME, 0).with_inputs(workflow, &samples);
    enter(&first.with_run_dir(RunDir::sample()), library)
}

/// 2026-01-01T00:00:00Z.
const SAMPLE_TIME: u64 = 1_767_225_600_000;

fn head(workflow: &Workflow, library: &Library) -> String {
    let mut lines = vec![format!("{} ({})", workflow.name, workflow.folder)];
    lines.extend(description(workflow, library));
    lines.push(if workflow.command_name.is_empty() {
        format!("Used by other workflows as `subworkflow: {}`.", workflow.key)
    } else {
        let name = library.start_name(workflow);
        let name = name.as_ref().unwrap_or(&workflow.command_name);
        match &workflow.default_task {
            Some(task) => format!("Started by /workflow {name} [TASK]; without a task: {task}"),
            None => format!("Started by /workflow {name} TASK."),
        }
    });
    let offered = workflow.when_to_use.as_ref();
    lines.extend(offered.map(|when| format!("Offered to the agent, which may propose it: {when}")));
    let whole: Vec<String> = workflow_notes(workflow, library).collect();
    if let Some(note) = agents_note(&workflow.key, library) {
        lines.push(format!("A run works with {note}."));
    }
    if !whole.is_empty() {
        lines.push(format!("For the whole run, {}.", whole.join("; ")));
    }
    let lines: Vec<String> = lines.iter().map(|line| on_one_line(line)).collect();
    lines.join("\n")
}

/// A phase of the list, or a phase in a branch of a parallel group.
struct Listed<'a> {
    at: NumberedPhase<'a>,
    /// The number of the phase; in a branch, the number of the group and the number in the branches.
    number: String,
    /// A run at the phase.
    state: RunState,
    /// The depth of the parallel group around the phase; 0 without one.
    around: usize,
}

/// Returns a run at the first entry of each branch of a parallel group, for a repeated group only of the first item;
/// none for another phase.
fn in_branches(at: &NumberedPhase, first: &RunState, library: &Library) -> Vec<RunState> {
    let at_group = jump_to(first, at.path.clone(), library);
    let Some(group) = at_group.parallel_group(library) else { return Vec::new() };
    let item = group.each.as_ref().map(|_| 0);
    let count = if item.is_some() { 1 } else { group.phases.len() };
    let in_branch = |index| {
        let mut path = at.path.clone();
        path.enter(&group.key, item);
        path.set_index(index);
        let key = if item.is_some() { path.scope_key() } else { path.key() };
        let inside = at_group.in_branch(Branch { key, name: String::new(), step: u64::MAX });
        jump_to(&inside, path, library)
    };
    (0..count).map(in_branch).collect()
}

/// Returns a phase, and behind it the phases in its branches; `branches` has a run at the beginning of each branch.
fn with_branches<'a>(
    at: &NumberedPhase<'a>,
    first: &RunState,
    branches: &'a [RunState],
    library: &'a Library,
) -> Vec<Listed<'a>> {
    let state = jump_to(first, at.path.clone(), library);
    let own = Listed { at: at.clone(), number: at.number.to_string(), state, around: 0 };
    let inside = branches.iter().flat_map(|branch| {
        let active = Active::resolve(branch, library);
        let phases = active.map(|active| Outline::phases(&active, 1, MAX_STEPS)).unwrap_or_default();
        phases.into_iter().map(move |at| (at, branch))
    });
    let inside = (1..).zip(inside).map(|(number, (mut inside, branch))| {
        inside.scopes.insert(0, &at.phase.name);
        let state = jump_to(branch, inside.path.clone(), library);
        let number = format!("{}.{number}", at.number);
        Listed { at: inside, number, state, around: at.path.len() }
    });
    std::iter::once(own).chain(inside).collect()
}

/// Returns a phase of the list with its notes, and with the notes of the nested workflows that begin with it. The
/// notes of the workflow itself are above the list.
fn listed(Listed { at, number, state, around }: &Listed, library: &Library, run: Option<&RunState>) -> Vec<String> {
    const INDENT: &str = "     ";
    let name = format!("{number:>3}. {}", phase_name(at));
    let Some(active) = Active::resolve(state, library) else { return vec![name] };
    let mut lines = noted(&name, at.phase, active.scope, library, INDENT);
    // The notes of a nested workflow are listed with its first phase.
    let first_of = |depth: usize| {
        let inner = at.path.get(depth..).unwrap_or_default();
        inner.iter().all(|segment| segment.phase_index == 0)
    };
    for depth in (around + 1..=at.path.len()).filter(|depth| first_of(*depth)) {
        let Some((scope, entry)) = at.path.get(depth - 1).and_then(|segment| {
            let scope = library.get(&segment.workflow_key)?;
            Some((scope, scope.phases.get(segment.phase_index)?))
        }) else {
            continue;
        };
        let of = match &entry.kind {
            EntryKind::Phase(_) => String::new(),
            EntryKind::Workflow { .. } => format!("{}, ", library.entry_name(entry)),
        };
        let passed = run.and_then(|run| run.progress().passed_over.get(&at.path.at_depth(depth).key()));
        let passed = passed.map(|passed| format!("passed over: {}", passed.because));
        let notes = when_note(&entry.when).into_iter().chain(passed).chain(nested_notes(entry, library));
        // The outcomes of a parallel group are listed with its phase.
        let is_listed = library.parallel(entry).is_some();
        let exits = exits_note(entry, scope, library).filter(|_| !is_listed);
        let notes = notes.chain(exits);
        lines.extend(notes.map(|note| on_one_line(&format!("{INDENT}{of}{note}"))));
    }
    lines
}

fn titled(title: &str, text: &str) -> String {
    format!("━━ {} ━━\n\n{}", on_one_line(title), text.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definition::fixtures::{phase, workflow};
    use crate::definition::{Bounds, Condition, Entry, Outcome, Target, ValueName, ValueType};

    #[test]
    fn inputs_are_listed() {
        let input = |name: &str, kind, default: Option<&str>, about: Option<&str>| Input {
            name: name.into(),
            kind,
            default: default.map(Into::into),
            is_optional: name == "note",
            description: about.map(Into::into),
        };
        let inputs = vec![
            input("scope", ValueType::Choice(vec!["a".into(), "b".into()]), Some("a"), None),
            input("issue", ValueType::Number(Bounds::default()), None, Some("Its\nnumber")),
            input("note", ValueType::Flag, None, None),
        ];
        let library = Library::new(vec![Workflow { inputs, ..workflow("w", &["a"]) }], &mut Vec::new());
        let text = preview(library.get("w").unwrap(), &library, "the task");
        let list = "━━ Inputs ━━\n\nscope=… (`a` or `b`, default `a`)\nissue=… (a number): Its number\nnote=… (`true` or `false`, optional)\n\n";
        assert!(text.contains(list), "{text}");
        assert!(text.contains("\n**Inputs:** scope: a, issue: 1, note: true\n"), "{text}");
    }

    #[test]
    fn conditions_are_listed_with_the_first_phase_of_their_entry() {
        let mut outer = workflow("w", &["a", "@s"]);
        let of = ValueName::Input("scope".into());
        outer.phases[1].when = vec![Condition { of, values: vec!["api".into(), "web".into()] }];
        let outcome = |name: &str, target| Outcome::new(name, target);
        let mut a = phase("a");
        a.outcomes = vec![outcome("clean", Target::Next), outcome("again", Target::Loop)];
        outer.phases[0] = Entry::phase(a);
        let options = vec!["api".into(), "web".into()];
        let (kind, default, description) = (ValueType::Choice(options), None, None);
        outer.inputs = vec![Input { name: "scope".into(), kind, default, is_optional: false, description }];
        let mut diagnostics = Vec::new();
        let library = Library::new(vec![outer, workflow("s", &["b", "c"])], &mut diagnostics);
        assert_eq!(diagnostics, []);
        let text = preview(library.get("w").unwrap(), &library, "the task");
        let list = "  1. 🔹 A\n     outcomes: clean → next, again → back to 🔹 A\n  2. The s > 🔹 B\n     The s, when: input.scope is api or web\n  3. The s > 🔹 C\n\n";
        assert!(text.contains(list), "{text}");
    }

    #[test]
    fn an_outline_fits_80_columns() {
        let mut a = phase("a");
        a.outcomes = (0..12).map(|number| Outcome::new(format!("outcome-{number}"), Target::Next)).collect();
        let mut root = workflow("w", &["a", "@s"]);
        root.phases[0] = Entry::phase(a);
        let library = Library::new(vec![root, workflow("s", &["b"])], &mut Vec::new());
        let text = outline(library.get("w").unwrap(), &library, None);
        assert!(text.lines().all(|line| line.chars().count() <= OUTLINE_WIDTH), "{text}");
        assert!(
            text.contains("\n  1. 🔹 A\n     outcomes: outcome-0 → next, ") && text.ends_with("\n  2. The s > 🔹 B"),
            "{text}"
        );
    }

    #[test]
    fn everything_is_resolved() {
        let library = Library::new(vec![workflow("w", &["a", "@s"]), workflow("s", &["b"])], &mut Vec::new());
        let text = preview(library.get("w").unwrap(), &library, "the task");
        assert!(!text.replace("workflow_step {", "").contains('{'), "{text}");
        for part in [
            "The w (workflows/w)\n",
            "Started by /workflow w TASK.",
            "  1. 🔹 A\n  2. The s > 🔹 B\n",
            "━━ initialMessage ━━\n\nStart The w: the task",
            "━━ Instructions of 2. The s > 🔹 B ━━\n\nDo b for the task.",
            "━━ completionMessage ━━\n\n✅ **The w Complete**",
        ] {
            assert!(text.contains(part), "{part}\n---\n{text}");
        }
    }
}
