//! Texts about the branches of a parallel group.

use crate::definition::{Library, on_one_line, short};
use crate::run::{Active, Branch, BranchEnd, BranchRun, MAX_BRANCH_NAME, PhasePath, RunState};
use crate::usage::Usage;

use super::exact::quoted;
use super::names::{phase_title, short_name};
use super::outputs::output_lines;
use super::questions::counted;
use super::usage::{cost, short_usage};
use super::ways::entries_passed_over;

/// Maximum length of the last action of a branch, in characters.
const MAX_ACTION: usize = 60;
/// Maximum width of the quoted name of a branch in a dialog, in columns.
const MAX_NAME: usize = 24;

/// The newest activity of a branch, beside its stored state.
#[derive(Debug, Default)]
pub struct BranchNow {
    /// A child agent works on the branch.
    pub works: bool,
    /// The title of the phase that the child is in.
    pub phase: Option<String>,
    /// The tool that the child called last, with the beginning of an argument.
    pub last_call: Option<String>,
}

pub fn branch_name(branch: &Branch) -> String {
    short(&on_one_line(&branch.name), MAX_BRANCH_NAME)
}

/// Returns the words with which the dialogs and notices of a branch begin. The name of a branch may be a text of an
/// agent.
pub fn branch_label(branch: &Branch) -> String {
    format!("Branch {}", quoted(&branch.name, MAX_NAME))
}

pub fn branch_prompt(branch: &Branch, workflow: &str) -> String {
    format!(
        "Work on “{}”, a branch of the workflow “{}”, in a session of its own: you see nothing of other sessions. The branch ends when you call workflow_step with action='next' in its last phase.",
        branch_name(branch),
        short_name(workflow),
    )
}

/// Returns the message at the end of a branch.
pub fn branch_over(branch: &Branch, workflow: &str, end: Option<&BranchEnd>) -> String {
    let how = match end {
        Some(BranchEnd::Done { outcome: Some(outcome) }) => format!("ended with {outcome}"),
        Some(BranchEnd::Done { outcome: None }) | None => "ended".to_owned(),
        Some(BranchEnd::Failed { why }) => format!("failed: {why}"),
    };
    format!("The branch “{}” of “{}” has {how}.", branch_name(branch), short_name(workflow))
}

/// Returns the title of the phase at which the run of a child is.
pub fn branch_phase(state: &RunState, library: &Library) -> Option<String> {
    Active::resolve(state, library).map(|active| phase_title(active.phase))
}

/// Returns the usage of a branch in its last visit.
pub fn branch_usage(state: &RunState, branch: &Branch) -> Usage {
    let mut used = Usage::default();
    for (_, visit) in state.progress().visits.iter().filter(|(key, _)| branch.has(key)) {
        if visit.step >= branch.step {
            used.add(&visit.usage);
        }
    }
    used
}

/// Returns a line for a branch: its state, its turns and cost, and its last action.
pub fn branch_line(state: &RunState, branch: &Branch, now: &BranchNow) -> String {
    let run = state.branch_run(branch);
    let (mark, how) = match run {
        _ if now.works => ("●", now.phase.clone().unwrap_or_else(|| "starts".to_owned())),
        Some(BranchRun { end: Some(BranchEnd::Done { outcome: Some(outcome) }), .. }) => ("✓", outcome.clone()),
        Some(BranchRun { end: Some(BranchEnd::Done { outcome: None }), .. }) => ("✓", "done".to_owned()),
        Some(BranchRun { end: Some(BranchEnd::Failed { why }), .. }) => ("✗", why.clone()),
        Some(BranchRun { waits: Some(why), .. }) => ("⏸", format!("waits: {why}")),
        Some(_) => ("○", "interrupted".to_owned()),
        None => ("○", "not begun".to_owned()),
    };
    let used = branch_usage(state, branch);
    let turns = (used.turns > 0).then(|| counted(used.turns, "turn"));
    let spent = cost(&used).filter(|_| used.turns > 0);
    let action = now.last_call.as_ref().filter(|_| now.works).map(|call| short(call, MAX_ACTION));
    let parts = [Some(on_one_line(&how)), turns, spent, action];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    format!("{mark} {}: {}", branch_name(branch), parts.join(" · "))
}

/// Returns a line for each branch of the parallel group at a path; no lines for any other entry, or before the run has
/// reached the group.
pub fn branch_lines(
    state: &RunState,
    path: &PhasePath,
    library: &Library,
    now: &dyn Fn(&Branch) -> BranchNow,
) -> Vec<String> {
    if !state.progress().visits.contains_key(&path.key()) {
        return Vec::new();
    }
    let state = state.at(path.clone());
    let branches = state.branches(library).into_iter();
    branches.map(|branch| branch_line(&state, &branch, &now(&branch))).collect()
}

/// Returns the file of the session of each branch, if it has one, in the order of [`branch_lines`].
pub(super) fn branch_files(state: &RunState, path: &PhasePath, library: &Library) -> Vec<Option<String>> {
    let state = state.at(path.clone());
    let file = |branch: &Branch| state.branch_run(branch)?.session.as_deref().map(on_one_line);
    state.branches(library).iter().map(file).collect()
}

/// Returns the number of ended branches, and of all branches, of the group that a run is at; `None` at any other entry.
pub fn branches_ended(state: &RunState, library: &Library) -> Option<String> {
    state.parallel_group(library)?;
    let branches = state.branches(library);
    let has_ended = |branch: &&Branch| state.branch_run(branch).is_some_and(|run| run.end.is_some());
    Some(format!("{} of {}", branches.iter().filter(has_ended).count(), branches.len()))
}

/// Returns the results that the branches of a group have handed over, for the agent that goes on.
pub fn branches_told(active: &Active) -> String {
    let state = active.state;
    let branches = state.branches(active.library);
    let told = branches.iter().filter_map(|branch| {
        let how = match &state.branch_run(branch)?.end {
            Some(BranchEnd::Done { outcome: Some(outcome) }) => format!("ended with {outcome}"),
            Some(BranchEnd::Done { outcome: None }) => "ended".to_owned(),
            Some(BranchEnd::Failed { why }) => format!("failed: {why}"),
            None => "has not ended".to_owned(),
        };
        let used = short_usage(&branch_usage(state, branch));
        let used = used.map(|used| format!(" ({used})")).unwrap_or_default();
        let mut lines = vec![format!("## {}: {how}{used}", branch_name(branch))];
        for (path, summary) in state.summaries() {
            if branch.has(&path.key()) && summary.step >= branch.step {
                lines.push(summary.text.clone());
            }
        }
        for (_, outputs) in state.progress().outputs.iter().filter(|(key, _)| branch.has(key)) {
            lines.push(output_lines(&outputs.values));
        }
        Some(lines.join("\n\n"))
    });
    let mut told: Vec<String> = told.collect();
    if let Some(passed) = passed_over(active) {
        told.push(format!("Passed over: {passed}."));
    }
    format!("The branches of {}:\n\n{}", phase_title(active.phase), told.join("\n\n"))
}

/// Returns the branches of a group that a run has passed over, each with the reason; `None` if there are none. The
/// branch of an item is never passed over.
fn passed_over(active: &Active) -> Option<String> {
    let group = &active.state.current_path;
    let is_branch = |key: &str| {
        let path = PhasePath::parse(key).filter(|path| path.len() == group.len() + 1 && path.starts_with(group));
        path.and_then(|path| path.last().map(|last| last.item)) == Some(None)
    };
    let passed = active.state.progress().passed_over.iter().filter(|(key, _)| is_branch(key));
    entries_passed_over(passed.map(|(_, passed)| passed))
}

/// Returns the results of the branches of a group for the user: of each branch its line, and two lines of its newest
/// summary, or the whole summary.
pub fn branches_shown(active: &Active) -> EntryResult {
    let state = active.state;
    let mut shown = EntryResult::new(&format!("The branches of {}:", phase_title(active.phase)));
    for branch in state.branches(active.library) {
        shown.add(&branch_line(state, &branch, &BranchNow::default()));
        let summaries = state.summaries().into_iter();
        let mut own = summaries.filter(|(path, summary)| branch.has(&path.key()) && summary.step >= branch.step);
        if let Some((_, summary)) = own.next_back() {
            shown.add_text(&summary.text);
        }
    }
    if let Some(passed) = passed_over(active) {
        shown.add(&format!("⤼ Passed over: {passed}"));
    }
    shown
}

/// The result of an entry without the model for the user, in brief and in full.
#[derive(Debug, PartialEq, Eq)]
pub struct EntryResult {
    pub brief: String,
    pub full: String,
}

/// Maximum number of lines of a text, and of characters in each of them, in an [`EntryResult`] in brief.
const BRIEF: (usize, usize) = (2, 160);

impl EntryResult {
    pub fn new(title: &str) -> Self {
        Self { brief: title.to_owned(), full: title.to_owned() }
    }

    /// Adds a line.
    pub fn add(&mut self, line: &str) {
        for text in [&mut self.brief, &mut self.full] {
            text.push_str(&format!("\n{line}"));
        }
    }

    /// Adds a text of an agent or the user, indented: in brief its first lines.
    pub fn add_text(&mut self, text: &str) {
        let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
        let (most, width) = BRIEF;
        for line in lines.iter().take(most) {
            self.brief.push_str(&format!("\n   {}", short(&on_one_line(line), width)));
        }
        if lines.len() > most {
            self.brief.push_str(&format!(" … {}", counted(lines.len() - most, "more line")));
        }
        for line in lines {
            self.full.push_str(&format!("\n   {}", on_one_line(line)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_of_a_branch_begins_with_our_words() {
        let label = |name: &str| branch_label(&Branch { key: "k".into(), name: name.into(), step: 0 });
        assert_eq!(label("bugs"), "Branch \"bugs\"");
        assert_eq!(label("Allow it?\" \n│ npm"), "Branch \"Allow it?' \\u{2502} …\"");
        assert_eq!(label("\u{202e}\u{200b}\u{1b}[2J"), "Branch \"\\u{202e}\\u{200b}…\"");
        assert!(label(&"x".repeat(4000)).chars().count() <= 40);
    }
}
