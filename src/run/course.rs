//! The course of a run in time, read from the entries of its branch: the visits of its phases, and the times of work,
//! of waiting, of gates and of pauses.

use super::broken::{Broken, BrokenReason};
use super::pause::{Pause, PauseReason};
use super::restore::{Restored, restore_with_mark};
use super::state::{RunState, RunStatus};
use super::{evidence::Evidence, path::PhasePath, visit::Visit};

/// A visit of a phase; times in milliseconds since 1970.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CourseVisit {
    /// See [`PhasePath::key`](super::PhasePath::key).
    pub key: String,
    pub name: String,
    /// The number of the visit among the visits of its phase, from 1.
    pub number: u32,
    pub from: u64,
    pub to: u64,
    pub ending: Ending,
    /// The visit is in a branch of a parallel group, whose visit comes before it.
    pub is_of_branch: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    Done,
    Skipped,
    /// The run went back, or began a scope again.
    Again,
    /// The run was cancelled or replaced.
    Ended,
    /// The visit has not ended.
    Current,
}

/// The use of a span of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Doing {
    Work,
    Wait,
    Gate,
    Pause,
}

/// A span of time; times in milliseconds since 1970.
#[derive(Debug, Clone, PartialEq)]
pub struct CourseSpan {
    pub doing: Doing,
    pub from: u64,
    pub to: u64,
    pub reason: Option<PauseReason>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CourseEntry {
    /// The data of a state entry of the run, as JSON.
    State(String),
    /// A message of the agent or a tool: the time before it is work.
    Work,
    /// Any other message: the time before it is waiting.
    Wait,
    Other,
}

/// The course of a run up to the entries that were added. A course holds one state at a time.
#[derive(Debug, Default)]
pub struct Course {
    visits: Vec<CourseVisit>,
    /// The newest state, and the beginning of its visit.
    newest: Option<(Moment, u64)>,
    /// The visits in the branches of that visit, if it is the visit of a parallel group.
    branches: Vec<CourseVisit>,
    status: Option<RunStatus>,
    /// The time of the newest entry.
    last: Option<u64>,
    /// The time of the newest state or message.
    time: Option<u64>,
    /// The time of waiting since the newest state.
    waited: u64,
    spans: Vec<CourseSpan>,
    gates: Vec<CourseSpan>,
    /// The last pause ends at [`OPEN`] if the run is paused.
    pauses: Vec<CourseSpan>,
}

/// The end of a pause that has not ended.
const OPEN: u64 = u64::MAX;

/// The last attempt at the gate of a visit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Gate {
    attempt: u32,
    checks: usize,
    duration_ms: u64,
}

/// The part of a visit that the course needs.
#[derive(Debug, Clone, Copy, Default)]
struct Left {
    ended_at: Option<u64>,
    skipped: bool,
    gate: Gate,
}

/// The part of a state that the course needs.
#[derive(Debug, Clone)]
struct Moment {
    key: String,
    name: String,
    /// Unknown in a state of the reference.
    number: Option<u32>,
    steps: u64,
    started_at: Option<u64>,
    visit: Left,
    /// The waiting of the whole run, in milliseconds.
    wait_ms: u64,
    /// The waiting of all visits of the phase, in milliseconds.
    phase_wait_ms: u64,
    /// The visit where the state before was, as this state has it.
    before: Option<Left>,
}

impl Left {
    fn of(visit: &Visit) -> Self {
        let Visit { ended_at, skipped, ref evidence, .. } = *visit;
        Self { ended_at, skipped, gate: Gate::of(evidence) }
    }
}

impl Gate {
    fn of(evidence: &[Evidence]) -> Self {
        let attempt = evidence.iter().map(|check| check.attempt).max().unwrap_or_default();
        let last = || evidence.iter().filter(|check| check.attempt == attempt);
        let duration_ms = last().fold(0, |sum: u64, check| sum.saturating_add(check.duration_ms));
        Self { attempt, checks: last().count(), duration_ms }
    }
}

fn wait_of(visit: &Visit) -> u64 {
    visit.usage.wait_ms.saturating_add(visit.earlier.wait_ms)
}

impl Moment {
    /// `is_part`: the state has only the visits that changed since the state before.
    fn of(state: &RunState, before: Option<&Moment>, is_part: bool) -> Self {
        let visits = &state.progress.visits;
        let key = state.last_phase_key();
        let steps = state.global_step_count;
        let known = before.filter(|_| is_part);
        let current = visits.get(&key);
        if let Some(known) = known.filter(|known| current.is_none() && known.key == key) {
            return Self { steps, before: Some(known.visit), ..known.clone() };
        }
        let left = before.and_then(|before| visits.get(&before.key));
        let wait_ms = match known {
            // Only the phase where the run was can have waited.
            Some(known) => left.map_or(known.wait_ms, |left| {
                known.wait_ms.saturating_add(wait_of(left).saturating_sub(known.phase_wait_ms))
            }),
            None => {
                visits.values().fold(state.progress.forgotten.wait_ms, |sum, visit| sum.saturating_add(wait_of(visit)))
            }
        };
        Self {
            name: current.filter(|visit| !visit.name.is_empty()).map_or(&key, |visit| &visit.name).clone(),
            number: current.map(|visit| visit.number),
            steps,
            started_at: current.map(|visit| visit.started_at),
            visit: current.map(Left::of).unwrap_or_default(),
            wait_ms,
            phase_wait_ms: current.map(wait_of).unwrap_or_default(),
            before: left.map(Left::of).or(known.map(|known| known.visit)),
            key,
        }
    }

    /// Returns true if both states are of one visit. The reference stores no visits: each of its transitions counts as
    /// another visit.
    fn is_same_visit(&self, other: &Self) -> bool {
        self.key == other.key && self.number == other.number && (self.number.is_some() || self.steps == other.steps)
    }

    /// Returns the attempt at a gate since the state before, if there was one.
    fn attempt_since(&self, before: &Self) -> Option<Gate> {
        let is_same = self.is_same_visit(before);
        let Gate { attempt, checks, .. } = before.visit.gate;
        let gate = if is_same { Some(self.visit.gate) } else { self.before.map(|left| left.gate) };
        gate.filter(|gate| gate.attempt > 0 && (gate.attempt, gate.checks) != (attempt, checks))
    }
}

impl Course {
    /// Adds the next entry of the branch; `at` is its time, in milliseconds since 1970, if it is known.
    pub fn add(&mut self, entry: CourseEntry, at: Option<u64>) {
        self.last = at;
        match entry {
            CourseEntry::State(data) => {
                if let Some((state, is_part)) = read(data) {
                    self.add_state(&state, is_part, at);
                }
            }
            CourseEntry::Work => self.add_time(Doing::Work, at),
            CourseEntry::Wait => self.add_time(Doing::Wait, at),
            CourseEntry::Other => {}
        }
    }

    /// Returns the visits and the times. `replaced`: another run was started before this run ended.
    pub fn end(mut self, replaced: bool) -> (Vec<CourseVisit>, Vec<CourseSpan>) {
        let last = self.last.unwrap_or_default();
        let visit = self.newest.as_ref().map(|(moment, _)| moment.visit).unwrap_or_default();
        let (ending, to) = match self.status {
            Some(RunStatus::Done { .. }) if visit.skipped => (Ending::Skipped, visit.ended_at.unwrap_or(last)),
            Some(RunStatus::Done { .. } | RunStatus::Stopped { .. }) => (Ending::Done, visit.ended_at.unwrap_or(last)),
            Some(RunStatus::Cancelled { .. }) => (Ending::Ended, last),
            Some(RunStatus::Running) | None if replaced => (Ending::Ended, last),
            Some(RunStatus::Running) | None => (Ending::Current, last),
        };
        self.end_visit(ending, to);
        if let Some(pause) = self.pauses.last_mut().filter(|pause| pause.to == OPEN) {
            pause.to = pause.from.max(self.time.unwrap_or_default());
        }
        self.pauses.retain(|pause| pause.from < pause.to);
        (self.visits, over(over(self.spans, self.gates), self.pauses))
    }

    fn add_state(&mut self, state: &RunState, is_part: bool, at: Option<u64>) {
        let before = self.newest.as_ref().map(|(moment, _)| moment);
        let moment = Moment::of(state, before, is_part);
        let before_wait = before.map(|before| before.wait_ms).unwrap_or_default();
        let attempt = before.and_then(|before| moment.attempt_since(before));
        if let Some(now) = at {
            let earliest = self.time.unwrap_or(now);
            let waited = moment.wait_ms.saturating_sub(before_wait.saturating_add(self.waited));
            let is_wait = waited > now.saturating_sub(earliest) / 2;
            self.add_time(if is_wait { Doing::Wait } else { Doing::Work }, at);
            if let Some(gate) = attempt {
                let end = self.gates.last().map_or(0, |gate| gate.to);
                let from = now.saturating_sub(gate.duration_ms).max(end);
                extend(&mut self.gates, Doing::Gate, from, now);
            }
            self.pause(state.progress.paused.as_ref(), now, earliest);
            self.waited = 0;
        }
        self.status = Some(state.status);
        self.note_branches(state, at);
        self.visit(moment, at);
    }

    /// Notes the visits below the phase where the run was: only a parallel group has such, those of its branches.
    fn note_branches(&mut self, state: &RunState, at: Option<u64>) {
        let Some((group, since)) = &self.newest else { return };
        let Some(below) = PhasePath::parse(&group.key).map(|group| group.below()) else { return };
        let visits = state.progress.visits.iter();
        for (key, visit) in visits.filter(|(key, visit)| key.starts_with(&below) && visit.started_at >= *since) {
            let (ending, to) = match visit.ended_at {
                Some(to) if visit.skipped => (Ending::Skipped, Some(to)),
                Some(to) => (Ending::Done, Some(to)),
                None => (Ending::Current, at),
            };
            let from = visit.started_at;
            let to = to.unwrap_or(from).max(from);
            self.branches.retain(|noted| noted.key != *key || noted.number != visit.number);
            let (key, name) = (key.to_owned(), visit.name.clone());
            self.branches.push(CourseVisit { key, name, number: visit.number, from, to, ending, is_of_branch: true });
        }
    }

    /// Goes on to the visit of a state.
    fn visit(&mut self, moment: Moment, at: Option<u64>) {
        let started_at = moment.started_at.filter(|from| *from > 0);
        let mut from = started_at.or(at).unwrap_or_default();
        if let Some((before, since)) = &self.newest {
            if moment.is_same_visit(before) {
                from = *since;
            } else {
                let goes_back = place(&moment.key) <= place(&before.key);
                let left = moment.before.unwrap_or_default();
                let ending = match goes_back {
                    _ if left.skipped => Ending::Skipped,
                    true => Ending::Again,
                    false => Ending::Done,
                };
                let to = left.ended_at.filter(|_| !goes_back).unwrap_or(from);
                self.end_visit(ending, to);
            }
        }
        self.newest = Some((moment, from));
    }

    fn end_visit(&mut self, ending: Ending, to: u64) {
        let Some((Moment { key, name, number, .. }, from)) = self.newest.take() else { return };
        let earlier = || self.visits.iter().filter(|visit| visit.key == key).count();
        let number = number.unwrap_or_else(|| u32::try_from(earlier() + 1).unwrap_or(u32::MAX));
        let to = to.max(from);
        self.visits.push(CourseVisit { key, name, number, from, to, ending, is_of_branch: false });
        // A branch that has not come to its end ends with its group.
        for branch in self.branches.iter_mut().filter(|branch| branch.ending == Ending::Current) {
            (branch.ending, branch.to) = (ending, to.max(branch.from));
        }
        self.visits.append(&mut self.branches);
    }

    fn add_time(&mut self, doing: Doing, at: Option<u64>) {
        let Some(now) = at else { return };
        if let Some(time) = self.time.filter(|time| now > *time) {
            if doing == Doing::Wait {
                self.waited = self.waited.saturating_add(now - time);
            }
            extend(&mut self.spans, doing, time, now);
        }
        self.time = Some(now);
    }

    /// Begins or ends a pause with a state; a pause begins no earlier than the state or message before it.
    fn pause(&mut self, pause: Option<&Pause>, now: u64, earliest: u64) {
        if let Some(open) = self.pauses.last_mut().filter(|pause| pause.to == OPEN) {
            open.to = now.max(open.from);
        }
        let Some(Pause { reason, at }) = pause else { return };
        let end = self.pauses.last().map_or(0, |last| last.to);
        let from = now.min(earliest.max(*at).max(end));
        let reason = Some(reason.clone());
        match self.pauses.last_mut() {
            Some(last) if last.to >= from && last.reason == reason => last.to = OPEN,
            _ => self.pauses.push(CourseSpan { doing: Doing::Pause, from, to: OPEN, reason }),
        }
    }
}

/// The place of a phase in the order of the workflow; an unknown key comes first.
fn place(key: &str) -> Vec<usize> {
    PhasePath::parse(key).map(|path| path.indices()).unwrap_or_default()
}

/// Returns the state in an entry, and if it is a part; `None` if it has no state of a run.
fn read(data: String) -> Option<(RunState, bool)> {
    // A vector, as where the component reads a run: the reader is compiled once.
    let Restored { state, mark: _ } = restore_with_mark(vec![data])?;
    match &state.progress.broken {
        None => Some((state, false)),
        Some(Broken { is_usable: false, .. }) => None,
        Some(Broken { why, .. }) => {
            let is_part = *why == BrokenReason::MissingPart;
            Some((state, is_part))
        }
    }
}

fn extend(spans: &mut Vec<CourseSpan>, doing: Doing, from: u64, to: u64) {
    match spans.last_mut() {
        Some(last) if last.doing == doing && last.to == from => last.to = to,
        _ if from < to => spans.push(CourseSpan { doing, from, to, reason: None }),
        _ => {}
    }
}

/// Returns the spans, replaced by `others` where these lie. Both lists are in order, and no spans of one list overlap.
fn over(spans: Vec<CourseSpan>, others: Vec<CourseSpan>) -> Vec<CourseSpan> {
    let mut result = Vec::new();
    let mut others = others.into_iter().peekable();
    let mut covered = 0;
    for span in spans {
        let mut from = span.from.max(covered);
        while let Some(other) = others.next_if(|other| other.from < span.to) {
            if other.from > from {
                result.push(CourseSpan { from, to: other.from, ..span.clone() });
            }
            covered = covered.max(other.to);
            from = from.max(covered);
            result.push(other);
        }
        if from < span.to {
            result.push(CourseSpan { from, ..span });
        }
    }
    result.extend(others);
    result
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    const MINUTE: u64 = 60_000;

    fn data(index: usize, visits: &Value, progress: &Value) -> String {
        let mut all = json!({ "version": 1, "visits": visits });
        for (name, value) in progress.as_object().unwrap() {
            all[name] = value.clone();
        }
        let path = [json!({ "workflowKey": "w", "phaseIndex": index })];
        json!({ "active": true, "workflowKey": "w", "currentPath": path, "globalStepCount": index,
            "taskId": "t", "startedAt": 0, "progress": all })
        .to_string()
    }

    /// The kinds of the spans with their minutes.
    fn minutes(spans: &[CourseSpan]) -> Vec<(Doing, u64, u64)> {
        spans.iter().map(|span| (span.doing, span.from / MINUTE, span.to / MINUTE)).collect()
    }

    #[test]
    fn a_part_tells_what_the_state_before_does_not() {
        let mut course = Course::default();
        let at = |minute: u64| Some(minute * MINUTE);
        let visit = |name: &str, from: u64, more: Value| {
            let mut visit = json!({ "name": name, "startedAt": from * MINUTE, "passes": 1 });
            for (name, value) in more.as_object().unwrap() {
                visit[name] = value.clone();
            }
            visit
        };
        let part =
            |number: u64| json!({ "version": 1, "entry": { "number": number, "parts": number - 1, "length": 9 } });
        let first = json!({ "w:0": visit("Look", 1, json!({ "usage": { "waitMs": 7 } })) });
        course.add(CourseEntry::State(data(0, &first, &json!({ "entry": { "number": 1 } }))), at(1));
        course.add(CourseEntry::Work, at(3));
        // The phase waited since; nothing else changed.
        let same = json!({ "w:0": visit("Look", 1, json!({ "usage": { "waitMs": 4 * MINUTE + 7 } })) });
        course.add(CourseEntry::State(data(0, &same, &part(2))), at(7));
        course.add(CourseEntry::State(data(0, &json!({}), &part(3))), at(8));
        let next =
            json!({ "w:0": visit("Look", 1, json!({ "endedAt": 9 * MINUTE })), "w:1": visit("Do", 9, json!({})) });
        course.add(CourseEntry::State(data(1, &next, &part(4))), at(9));
        course.add(CourseEntry::Other, at(10));
        let (visits, spans) = course.end(false);
        let visits: Vec<_> =
            visits.iter().map(|visit| (&*visit.name, visit.from / MINUTE, visit.to / MINUTE, visit.ending)).collect();
        assert_eq!(visits, [("Look", 1, 9, Ending::Done), ("Do", 9, 10, Ending::Current)]);
        let expected = [(Doing::Work, 1, 3), (Doing::Wait, 3, 7), (Doing::Work, 7, 9)];
        assert_eq!(minutes(&spans), expected);
    }

    #[test]
    fn the_visits_of_branches_follow_that_of_their_group() {
        let visit = |name: &str, from: u64, to: Option<u64>, passes: u32| {
            let ended_at = to.map(|minute| minute * MINUTE);
            json!({ "name": name, "startedAt": from * MINUTE, "passes": passes, "endedAt": ended_at })
        };
        let (a, b, c) = ("w:0/w//0:0", "w:0/w//0:1", "w:0/w//0:2");
        let at = |minute: u64| Some(minute * MINUTE);
        let mut course = Course::default();
        for (minute, index, visits) in [
            (1, 0, json!({ "w:0": visit("Group", 1, None, 1) })),
            // The branch C never comes to its end.
            (
                3,
                0,
                json!({ "w:0": visit("Group", 1, None, 1), a: visit("A", 1, Some(3), 1), c: visit("C", 2, None, 1) }),
            ),
            // The last branch ends with the state that leaves the group.
            (
                4,
                1,
                json!({ "w:0": visit("Group", 1, Some(4), 1), a: visit("A", 1, Some(3), 1),
                    b: visit("B", 1, Some(4), 1), "w:1": visit("Do", 4, None, 1) }),
            ),
            // The second round has not ended; the branches of the first one count once.
            (
                5,
                0,
                json!({ "w:0": visit("Group", 5, None, 2), a: visit("A", 1, Some(3), 1), b: visit("B", 1, Some(4), 1) }),
            ),
            (
                7,
                0,
                json!({ "w:0": visit("Group", 5, None, 2), a: visit("A", 5, None, 2), b: visit("B", 1, Some(4), 1) }),
            ),
        ] {
            course.add(CourseEntry::State(data(index, &visits, &json!({}))), at(minute));
        }
        let (visits, _) = course.end(false);
        let visits: Vec<_> = visits
            .iter()
            .map(|visit| {
                assert_eq!(visit.is_of_branch, visit.key.starts_with("w:0/"));
                (&*visit.name, visit.number, visit.from / MINUTE, visit.to / MINUTE, visit.ending)
            })
            .collect();
        let expected = [
            ("Group", 1, 1, 4, Ending::Done),
            ("C", 1, 2, 4, Ending::Done),
            ("A", 1, 1, 3, Ending::Done),
            ("B", 1, 1, 4, Ending::Done),
            ("Do", 1, 4, 5, Ending::Again),
            ("Group", 2, 5, 7, Ending::Current),
            ("A", 2, 5, 7, Ending::Current),
        ];
        assert_eq!(visits, expected);
    }

    #[test]
    fn a_run_that_ends_with_a_group_in_a_nested_workflow_has_each_visit_once() {
        let visit = |step: u64, to: Option<u64>| json!({ "startedAt": 1, "passes": 1, "step": step, "endedAt": to });
        let mut course = Course::default();
        let group = "w:1/s:0";
        for (to, active, path) in [
            (None, true, json!([{ "workflowKey": "w", "phaseIndex": 1 }, { "workflowKey": "s", "phaseIndex": 0 }])),
            (Some(3), false, json!([{ "workflowKey": "w", "phaseIndex": 2 }])),
        ] {
            let visits = json!({ "w:0": visit(0, Some(1)), group: visit(1, to), "w:1/s:0/s//0:0": visit(2, Some(2)),
                "w:1/s:0/s//0:1": visit(3, Some(2)) });
            let mut state: Value = serde_json::from_str(&data(1, &visits, &json!({}))).unwrap();
            (state["active"], state["currentPath"]) = (active.into(), path);
            course.add(CourseEntry::State(state.to_string()), Some(2));
        }
        let (visits, _) = course.end(false);
        let keys: Vec<&str> = visits.iter().map(|visit| &*visit.key).collect();
        assert_eq!(keys, [group, "w:1/s:0/s//0:0", "w:1/s:0/s//0:1"]);
    }

    #[test]
    fn spans_take_the_place_of_others() {
        let span = |doing, from, to| CourseSpan { doing, from, to, reason: None };
        let spans = vec![span(Doing::Work, 0, 10), span(Doing::Wait, 10, 20), span(Doing::Work, 30, 40)];
        let gates =
            vec![span(Doing::Gate, 2, 4), span(Doing::Gate, 4, 5), span(Doing::Gate, 8, 35), span(Doing::Gate, 50, 60)];
        let expected = [
            span(Doing::Work, 0, 2),
            span(Doing::Gate, 2, 4),
            span(Doing::Gate, 4, 5),
            span(Doing::Work, 5, 8),
            span(Doing::Gate, 8, 35),
            span(Doing::Work, 35, 40),
            span(Doing::Gate, 50, 60),
        ];
        assert_eq!(over(spans, gates), expected);
        assert_eq!(over(Vec::new(), Vec::new()), []);
    }

    #[test]
    fn nothing_that_a_state_contains_panics() {
        let huge = json!({ "startedAt": u64::MAX, "passes": u32::MAX, "endedAt": 0, "usage": { "waitMs": u64::MAX },
            "evidence": [{ "label": "", "passed": true, "result": "", "durationMs": u64::MAX, "attempt": 1 }] });
        let visits = json!({ "w:0": huge, "odd": huge });
        let paused = json!({ "paused": { "reason": { "kind": "person" }, "at": u64::MAX } });
        let states =
            [data(0, &visits, &paused), data(1, &visits, &json!({})), "{".to_owned(), data(0, &json!({}), &paused)];
        let mut course = Course::default();
        for at in [None, Some(u64::MAX), Some(0)] {
            for state in &states {
                for entry in
                    [CourseEntry::State(state.clone()), CourseEntry::Work, CourseEntry::Wait, CourseEntry::Other]
                {
                    course.add(entry, at);
                }
            }
        }
        for replaced in [false, true] {
            let (visits, spans) = std::mem::take(&mut course).end(replaced);
            assert_eq!(visits.is_empty() && spans.is_empty(), replaced);
        }
    }
}
