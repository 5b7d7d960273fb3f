//! The events between two states of a run.

use serde_json::Value;

use crate::definition::{Entry, EntryKind, Library, Work, is_group_key};
use crate::run::{
    Active, Allowance, Branch, BranchEnd, BranchRun, Evidence, MAX_LOOPS, PauseReason, RunState, RunStatus, Visit,
};
use crate::text;

use super::{RunEvent, Sums, readable, text as event_text};

/// Returns the events that have led from one state of a run to a later one, or to its first one, with the sums of the
/// later one; `continued`: the first one was read from the session.
pub fn between(
    old: Option<&RunState>,
    new: &RunState,
    usage: Sums,
    library: &Library,
    continued: bool,
) -> Vec<RunEvent> {
    let mut events = Vec::new();
    match old {
        None => events.push(RunEvent::Started {
            workflow: new.workflow_key.clone(),
            continued,
            since: new.started_at,
            usage,
            task: event_text(&new.task_description),
            inputs: serde_json::to_value(&new.progress().inputs).ok(),
        }),
        Some(old) => {
            checked(old, new, library, &mut events);
            budgets(old, new, &mut events);
            branches(Some(old), new, usage, &mut events);
        }
    }
    match new.status {
        RunStatus::Running => {
            let place = |state: &RunState| (state.global_step_count, state.current_path.key());
            if old.is_none_or(|old| place(old) != place(new)) {
                events.push(entry(old, new, usage, library));
            }
            if old.is_none() {
                branches(None, new, usage, &mut events);
            }
        }
        RunStatus::Done { .. } | RunStatus::Stopped { .. } | RunStatus::Cancelled { .. } => {
            if old.is_some_and(RunState::is_running) {
                events.push(ended(old, new, usage));
            }
        }
    }
    events
}

/// Returns the events of a pause of a run with this reason.
pub fn paused(reason: &PauseReason, state: &RunState) -> Vec<RunEvent> {
    let kind = reason.kind();
    let fields = serde_json::to_value(reason).unwrap_or_default();
    let number = |name| fields.get(name).and_then(Value::as_u64);
    let budget = |state, measure, spent, limit| Some(RunEvent::Budget { state, measure, spent, limit });
    let cause = match reason {
        PauseReason::Budget { measure, spent, limit, .. } => {
            budget("usedUp", Some(measure.name()), Some(*spent), Some(*limit))
        }
        PauseReason::UnknownCost { .. } => budget("unknown", None, None, None),
        PauseReason::Loops { .. } => Some(RunEvent::Limit { bound: kind.clone(), times: MAX_LOOPS.into() }),
        _ => number("times").map(|times| RunEvent::Limit { bound: kind.clone(), times }),
    };
    let why = event_text(&reason.to_string());
    let pause = RunEvent::Paused {
        reason: kind,
        usage: state.into(),
        until: number("until"),
        resumes: number("goesOnAt"),
        why,
    };
    cause.into_iter().chain([pause]).collect()
}

/// The end of a visit to an entry, and the values that it handed over.
struct Left {
    from: Option<String>,
    left: Option<&'static str>,
    outcome: Option<String>,
    summary: Option<String>,
    outputs: Option<Value>,
}

impl Left {
    fn of(old: Option<&RunState>, new: &RunState) -> Self {
        let from = old.map(|old| old.current_path.key());
        let of = from.as_deref();
        let visit = of.and_then(|key| new.progress().visits.get(key));
        let before = old.zip(of).and_then(|(old, key)| old.progress().visits.get(key));
        // A summary of an earlier visit stays with its entry.
        let summary = visit.and_then(|visit| visit.summary.as_ref());
        let summary = summary.filter(|summary| before.is_none_or(|visit| visit.summary.as_ref() != Some(summary)));
        let outputs = of.and_then(|key| new.progress().outputs.get(key));
        Self {
            left: visit.map(|visit| match (visit.skipped, visit.unfinished) {
                (true, _) => "skipped",
                (false, true) => "unfinished",
                (false, false) => "done",
            }),
            outcome: of.and_then(|key| new.progress().outcomes.get(key).cloned()),
            summary: summary.and_then(|summary| event_text(&summary.text)),
            outputs: outputs.and_then(|outputs| serde_json::to_value(&outputs.values).ok()),
            from,
        }
    }
}

fn entry(old: Option<&RunState>, new: &RunState, usage: Sums, library: &Library) -> RunEvent {
    let key = new.current_path.key();
    let visit = new.progress().visits.get(&key);
    let active = Active::resolve(new, library);
    let name = active.as_ref().map_or(&*key, |active| name_of(active, &key));
    let work = active.as_ref().map_or("agent", |active| match &active.phase.work {
        Work::Agent => "agent",
        Work::Run(_) => "run",
        Work::Ask(_) => "ask",
        Work::Branches => "branches",
    });
    let Left { from, left, outcome, summary, outputs } = Left::of(old, new);
    RunEvent::Entry {
        title: readable(&text::place_of_phase(&key, name)),
        work,
        visit: visit.map_or(1, |visit| visit.number),
        step: new.global_step_count,
        usage,
        from,
        left,
        outcome,
        summary,
        outputs,
    }
}

/// Returns the name of the entry at which a run is, or its id or key where the name has a command line or a question. A
/// visit keeps such a name too.
fn name_of<'a>(Active { phase, scope, index, library, .. }: &Active<'a>, key: &'a str) -> &'a str {
    let entry = scope.phases.get(*index);
    match phase.is_named_after_work() {
        true => &phase.id,
        false if entry.is_some_and(|entry| has_text(&phase.name, std::slice::from_ref(entry), library)) => key,
        false => &phase.name,
    }
}

/// Returns true if the name of a group has the text of a command or question in it: without a name it is made of the
/// names of its entries.
fn has_text(name: &str, entries: &[Entry], library: &Library) -> bool {
    entries.iter().any(|entry| match &entry.kind {
        EntryKind::Phase(phase) => phase.is_named_after_work() && name.contains(&phase.name),
        EntryKind::Workflow { key, .. } => {
            is_group_key(key) && library.get(key).is_some_and(|group| has_text(name, &group.phases, library))
        }
    })
}

fn ended(old: Option<&RunState>, new: &RunState, usage: Sums) -> RunEvent {
    let how = match new.status {
        RunStatus::Running => "replaced",
        RunStatus::Done { .. } => "done",
        RunStatus::Stopped { .. } => "stopped",
        RunStatus::Cancelled { .. } => "cancelled",
    };
    let Left { from, left, outcome, summary, outputs } = Left::of(old, new);
    let outcome = outcome.or_else(|| new.stopped_with().map(ToOwned::to_owned));
    RunEvent::Ended { how, usage, from, left, outcome, summary, outputs }
}

impl RunEvent {
    /// The end of a run in whose place another one was started.
    pub fn replaced(state: &RunState) -> Self {
        ended(None, state, state.into())
    }
}

/// The checks that were made at the entry at which the run was.
fn checked(old: &RunState, new: &RunState, library: &Library, events: &mut Vec<RunEvent>) {
    let key = old.current_path.key();
    let of =
        |state: &RunState| state.progress().visits.get(&key).map(|visit| visit.evidence.clone()).unwrap_or_default();
    let (before, after) = (of(old), of(new));
    let is_same = |one: &Evidence, other: &Evidence| {
        (one.attempt, one.duration_ms, &one.name, &one.result)
            == (other.attempt, other.duration_ms, &other.name, &other.result)
    };
    let made = |check: &&Evidence| !before.iter().any(|other| is_same(check, other));
    // The first evidence of an entry without the model is about its own work.
    let work = Active::resolve(old, library).map(|active| active.phase.work.clone());
    let own = usize::from(matches!(work, Some(Work::Run(_) | Work::Ask(_))));
    let own_evidence = after.first().filter(|_| matches!(work, Some(Work::Run(_)))).filter(made);
    events.extend(own_evidence.map(|step| RunEvent::Step {
        passed: step.passed,
        ms: step.duration_ms,
        name: event_text(&step.name),
        result: event_text(&step.result),
        tail: event_text(&step.shown_tail()),
    }));
    let (budget, gate): (Vec<&Evidence>, Vec<&Evidence>) =
        after.iter().skip(own).filter(made).partition(|check| check.name == text::BUDGET && !check.passed);
    if !budget.is_empty() {
        events.push(RunEvent::Budget { state: "left", measure: None, spent: None, limit: None });
    }
    if let Some(last) = gate.last() {
        events.push(RunEvent::Gate {
            passed: gate.iter().all(|check| check.passed),
            attempt: last.attempt,
            checks: u32::try_from(gate.len()).unwrap_or(u32::MAX),
            ms: gate.iter().map(|check| check.duration_ms).fold(0, u64::saturating_add),
            name: event_text(&last.name),
            result: event_text(&last.result),
            tail: event_text(&last.shown_tail()),
        });
    }
}

fn budgets(old: &RunState, new: &RunState, events: &mut Vec<RunEvent>) {
    let none = Allowance::default();
    for (key, now) in new.progress().allowances.changes_since(&old.progress().allowances) {
        let Some(now) = now else { continue };
        let before = old.progress().allowances.get(key).unwrap_or(&none);
        let states = [
            (now.told && !before.told, "near"),
            (now.added != before.added, "more"),
            (now.unknown_cost && !before.unknown_cost, "accepted"),
        ];
        let states = states.into_iter().filter(|(is_new, _)| *is_new);
        events.extend(states.map(|(_, state)| RunEvent::Budget { state, measure: None, spent: None, limit: None }));
    }
}

fn branches(old: Option<&RunState>, new: &RunState, usage: Sums, events: &mut Vec<RunEvent>) {
    if new.progress().branches.is_empty() {
        return;
    }
    let visits = old.map(|old| old.progress().visits.clone()).unwrap_or_default();
    let turns = |visit: Option<&Visit>| visit.map(|visit| visit.all_usage().turns).unwrap_or_default();
    let changes = new.progress().visits.changes_since(&visits).into_iter();
    let worked: Vec<&str> =
        changes.filter(|(key, now)| turns(*now) != turns(visits.get(key))).map(|(key, _)| key).collect();
    for (key, run) in new.progress().branches.iter() {
        let before = old.and_then(|old| old.progress().branches.get(key));
        let branch = Branch { key: key.to_owned(), name: String::new(), step: 0 };
        let is_new = before.is_none_or(|before| (&before.given, before.started_at) != (&run.given, run.started_at));
        let ends = |of: &BranchRun| (of.end.clone(), of.waits.clone());
        let (state, outcome, why) = match ends(run) {
            now if !is_new && before.map(ends).as_ref() == Some(&now) => {
                if now.0.is_some() || !worked.iter().any(|key| branch.has(key)) {
                    continue;
                }
                ("works", None, None)
            }
            (Some(BranchEnd::Done { outcome }), _) => ("done", outcome, None),
            (Some(BranchEnd::Failed { why }), _) => ("failed", None, event_text(&why)),
            (None, Some(why)) => ("waits", None, event_text(&why)),
            (None, None) if is_new => ("started", None, None),
            (None, None) => ("works", None, None),
        };
        let (branch, name) = (branch.key, event_text(&run.name));
        events.push(RunEvent::Branch { branch, state, usage, outcome, name, why });
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::run::restore;

    #[test]
    fn a_branch_that_goes_on_after_a_wait_or_has_answers_works() {
        let told = |old: Option<&RunState>, new: &RunState| -> Vec<String> {
            let events = between(old, new, Sums::default(), &Library::default(), false).into_iter();
            events
                .filter_map(|event| if let RunEvent::Branch { state, .. } = event { Some(state.into()) } else { None })
                .collect()
        };
        let mut before: Option<RunState> = None;
        for (waits, turns, expected) in [
            (None, 0, &["started"][..]),
            (Some("it asks"), 1, &["waits"]),
            (Some("it asks"), 1, &[]),
            (None, 1, &["works"]),
            (None, 2, &["works"]),
            (None, 2, &[]),
        ] {
            let branches = json!({ "w:0/w//0:0": { "name": "A", "given": "1", "startedAt": 1, "waits": waits } });
            let visits = json!({ "w:0/w//0:0": { "startedAt": 1, "passes": 1, "usage": { "turns": turns } } });
            let path = [json!({ "workflowKey": "w", "phaseIndex": 0 })];
            let state = json!({ "active": true, "workflowKey": "w", "currentPath": path, "taskId": "t", "startedAt": 0,
                "progress": { "version": 1, "branches": branches, "visits": visits } });
            let state = restore([state.to_string()]).unwrap();
            assert_eq!(told(before.as_ref(), &state), expected);
            before = Some(state);
        }
    }
}
