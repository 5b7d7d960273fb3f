//! The course of a run in time: the visits of its phases, and the times of work, of waiting, of gates and of pauses. It
//! follows the events between the states in the entries of a session's branch, which a watching program gets while the
//! run goes on.

use serde::Serialize;

use crate::definition::Library;
use crate::run::{PhasePath, RunState, Visit, restore_after};

use super::{RunEvent, Sums, between};

/// A visit of a phase; times in milliseconds since 1970.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CourseVisit {
    /// See [`PhasePath::key`].
    pub key: String,
    pub name: String,
    /// The number of the visit among the visits of its phase, from 1.
    pub pass: u32,
    pub from: u64,
    pub to: u64,
    /// `done`, `skipped`, `again` (the run went back, or began a scope again), `ended` (the run was cancelled or replaced),
    /// or `current`.
    pub how: &'static str,
    /// The visit is in a branch of a parallel group, whose visit comes before it.
    pub is_of_branch: bool,
}

/// A span of time; times in milliseconds since 1970.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CourseSpan {
    /// `work`, `wait`, `gate` or `pause`.
    pub kind: &'static str,
    pub from: u64,
    pub to: u64,
    /// The reason for a pause, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// The course of a run up to the entries that were added. A course holds one state at a time.
#[derive(Debug, Default, Serialize)]
pub struct Course {
    visits: Vec<CourseVisit>,
    spans: Vec<CourseSpan>,
    #[serde(skip)]
    newest: Option<RunState>,
    /// The time of the newest state; at the end, that of the end of the run.
    #[serde(skip)]
    pub ended_at: Option<u64>,
    /// The visit in which the run is.
    #[serde(skip)]
    current: Option<CourseVisit>,
    /// The visits in the branches of that visit, if it is the visit of a parallel group.
    #[serde(skip)]
    branches: Vec<CourseVisit>,
    /// The newest time of an entry.
    #[serde(skip)]
    last: Option<u64>,
    /// The time of the newest state or message.
    #[serde(skip)]
    time: Option<u64>,
    /// The time of waiting since the newest state.
    #[serde(skip)]
    waited: u64,
}

impl Course {
    /// Adds the next entry of the branch, which is no state: the time before it is `work` of the agent or of a tool, or that
    /// of a `wait`. `at` is its time, in milliseconds since 1970, if it is known.
    pub fn add(&mut self, before: Option<&'static str>, at: Option<u64>) {
        self.last = at.or(self.last);
        if let Some(kind) = before.filter(|_| !self.has_ended()) {
            self.add_time(kind, at);
        }
    }

    /// Ends the course. `replaced`: another run was started before this run ended.
    pub fn end(&mut self, replaced: bool) {
        if replaced {
            self.ended_at = self.last;
        }
        self.end_visit(if replaced { "ended" } else { "current" }, self.last.unwrap_or_default());
    }

    /// Adds the next entry of the branch with a state of the run, its data as JSON.
    pub fn add_state(&mut self, data: String, at: Option<u64>) {
        self.last = at.or(self.last);
        // The end of a run can be stored again, with another model of the user.
        if self.has_ended() {
            return;
        }
        let Some(state) = restore_after(data, self.newest.as_ref()) else { return };
        self.ended_at = at;
        let before = self.newest.as_ref().map(|old| old.progress().visits.clone()).unwrap_or_default();
        let visits = state.progress().visits.changes_since(&before);
        if let (Some(now), Some(earliest)) = (at, self.time.or(at)) {
            // Only visits that have changed can have waited.
            let waits = |visit: &Visit| visit.all_usage().wait_ms;
            let since = |key: &str, visit| waits(visit).saturating_sub(before.get(key).map_or(0, waits));
            let waited = visits.iter().filter_map(|(key, visit)| Some(since(key, (*visit)?)));
            let waited = waited.fold(0, u64::saturating_add).saturating_sub(self.waited);
            self.add_time(if waited > now.saturating_sub(earliest) / 2 { "wait" } else { "work" }, at);
            self.waited = 0;
        }
        self.note_branches(&visits, at);
        let old = self.newest.take();
        // The course has no sums.
        for event in between(old.as_ref(), &state, Sums::default(), &Library::default(), false) {
            match event {
                RunEvent::Entry { left, visit, .. } => self.enter(&state, old.as_ref(), left, visit, at),
                RunEvent::Ended { how: "cancelled", .. } => self.end_visit("ended", at.unwrap_or_default()),
                RunEvent::Ended { left, .. } => {
                    let how = if left == Some("skipped") { "skipped" } else { "done" };
                    let visit = self.current.as_ref().and_then(|visit| state.progress().visits.get(&visit.key));
                    self.end_visit(how, visit.and_then(|visit| visit.ended_at).or(at).unwrap_or_default());
                }
                RunEvent::Gate { ms, .. } => self.add_gate(ms, at),
                _ => {}
            }
        }
        self.note_branches(&visits, at);
        self.newest = Some(state);
    }

    fn has_ended(&self) -> bool {
        self.newest.as_ref().is_some_and(|newest| !newest.is_running())
    }

    /// Notes the visits below the phase where the run is, of those that have changed: only a parallel group has such,
    /// those of its branches.
    fn note_branches(&mut self, visits: &[(&str, Option<&Visit>)], at: Option<u64>) {
        let Some(group) = &self.current else { return };
        let Some(below) = PhasePath::parse(&group.key).map(|group| group.below()) else { return };
        for (key, visit) in visits.iter().filter(|(key, _)| key.starts_with(&below)) {
            let Some(visit) = visit.filter(|visit| visit.started_at >= group.from) else { continue };
            let how = match visit.ended_at {
                Some(_) if visit.skipped => "skipped",
                Some(_) => "done",
                None => "current",
            };
            let from = visit.started_at;
            let to = visit.ended_at.or(at).unwrap_or(from).max(from);
            self.branches.retain(|noted| noted.key != *key || noted.pass != visit.number);
            let (key, name) = ((*key).to_owned(), visit.name.clone());
            self.branches.push(CourseVisit { key, name, pass: visit.number, from, to, how, is_of_branch: true });
        }
    }

    /// Goes on to the visit of a state. `left` and `pass` are those of its event.
    fn enter(&mut self, state: &RunState, old: Option<&RunState>, left: Option<&str>, pass: u32, at: Option<u64>) {
        let key = state.current_path.key();
        let visit = state.progress().visits.get(&key);
        let from = visit.map(|visit| visit.started_at).filter(|from| *from > 0).or(at).unwrap_or_default();
        let goes_back = old.is_some_and(|old| state.current_path.indices() <= old.current_path.indices());
        let how = match left {
            Some("skipped") => "skipped",
            _ if goes_back => "again",
            _ => "done",
        };
        self.end_visit(how, from);
        let name = visit.map(|visit| &visit.name).filter(|name| !name.is_empty()).unwrap_or(&key).clone();
        let pass = match visit {
            Some(_) => pass,
            // The reference stores no numbers of visits.
            None => u32::try_from(self.visits.iter().filter(|visit| visit.key == key).count() + 1).unwrap_or(u32::MAX),
        };
        self.current = Some(CourseVisit { key, name, pass, from, to: from, how: "current", is_of_branch: false });
    }

    fn end_visit(&mut self, how: &'static str, to: u64) {
        let Some(visit) = self.current.take() else { return };
        let to = to.max(visit.from);
        self.visits.push(CourseVisit { to, how, ..visit });
        // A branch that has not come to its end ends with its group.
        for branch in self.branches.iter_mut().filter(|branch| branch.how == "current") {
            (branch.how, branch.to) = (how, to.max(branch.from));
        }
        self.visits.append(&mut self.branches);
    }

    /// Adds the time up to now, which is a pause if the run was paused.
    fn add_time(&mut self, kind: &'static str, at: Option<u64>) {
        let Some(now) = at else { return };
        if let Some(from) = self.time.filter(|time| now > *time) {
            if kind == "wait" {
                self.waited = self.waited.saturating_add(now - from);
            }
            let pause = self.newest.as_ref().and_then(|state| state.progress().paused.as_ref());
            let reason = pause.map(|pause| pause.reason.to_string());
            let kind = if pause.is_some() { "pause" } else { kind };
            match self.spans.last_mut() {
                Some(last) if last.kind == kind && last.to == from && last.reason == reason => last.to = now,
                _ => self.spans.push(CourseSpan { kind, from, to: now, reason }),
            }
        }
        self.time = at;
    }

    /// Adds the time of a gate, which has ended now, in place of work and waiting.
    fn add_gate(&mut self, ms: u64, at: Option<u64>) {
        let Some(now) = at else { return };
        let mut from = now.saturating_sub(ms);
        while let Some(last) = self.spans.last_mut().filter(|last| from < last.to && last.to <= now) {
            if matches!(last.kind, "gate" | "pause") {
                from = last.to;
            } else if last.from < from {
                last.to = from;
            } else {
                self.spans.pop();
            }
        }
        if from < now {
            self.spans.push(CourseSpan { kind: "gate", from, to: now, reason: None });
        }
    }
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
    fn minutes(spans: &[CourseSpan]) -> Vec<(&str, u64, u64)> {
        spans.iter().map(|span| (span.kind, span.from / MINUTE, span.to / MINUTE)).collect()
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
        course.add_state(data(0, &first, &json!({ "entry": { "number": 1 } })), at(1));
        course.add(Some("work"), at(3));
        // The phase waited since; nothing else changed.
        let same = json!({ "w:0": visit("Look", 1, json!({ "usage": { "waitMs": 4 * MINUTE + 7 } })) });
        course.add_state(data(0, &same, &part(2)), at(7));
        course.add_state(data(0, &json!({}), &part(3)), at(8));
        let next =
            json!({ "w:0": visit("Look", 1, json!({ "endedAt": 9 * MINUTE })), "w:1": visit("Do", 9, json!({})) });
        course.add_state(data(1, &next, &part(4)), at(9));
        course.add(None, at(10));
        course.end(false);
        let Course { visits, spans, .. } = course;
        let visits: Vec<_> =
            visits.iter().map(|visit| (&*visit.name, visit.from / MINUTE, visit.to / MINUTE, visit.how)).collect();
        assert_eq!(visits, [("Look", 1, 9, "done"), ("Do", 9, 10, "current")]);
        let expected = [("work", 1, 3), ("wait", 3, 7), ("work", 7, 9)];
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
            course.add_state(data(index, &visits, &json!({})), at(minute));
        }
        course.end(false);
        let visits = course.visits;
        let visits: Vec<_> = visits
            .iter()
            .map(|visit| {
                assert_eq!(visit.is_of_branch, visit.key.starts_with("w:0/"));
                (&*visit.name, visit.pass, visit.from / MINUTE, visit.to / MINUTE, visit.how)
            })
            .collect();
        let expected = [
            ("Group", 1, 1, 4, "done"),
            ("A", 1, 1, 3, "done"),
            ("C", 1, 2, 4, "done"),
            ("B", 1, 1, 4, "done"),
            ("Do", 1, 4, 5, "again"),
            ("Group", 2, 5, 7, "current"),
            ("A", 2, 5, 7, "current"),
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
            course.add_state(state.to_string(), Some(2));
        }
        course.end(false);
        let visits = course.visits;
        let keys: Vec<&str> = visits.iter().map(|visit| &*visit.key).collect();
        assert_eq!(keys, [group, "w:1/s:0/s//0:0", "w:1/s:0/s//0:1"]);
    }

    #[test]
    fn a_course_ends_where_the_run_has_ended_or_at_the_last_known_time() {
        let visits =
            |to: Option<u64>| json!({ "w:0": { "name": "Look", "startedAt": MINUTE, "passes": 1, "endedAt": to }});
        for (is_cancelled, how, end) in [(true, "ended", 3), (false, "current", 7)] {
            let mut course = Course::default();
            course.add_state(data(0, &visits(None), &json!({})), Some(MINUTE));
            for (minute, is_stored) in [(3, true), (5, false), (7, true)] {
                let mut state: Value = serde_json::from_str(&data(0, &visits(None), &json!({}))).unwrap();
                (state["active"], state["cancelled"]) = ((!is_cancelled).into(), is_cancelled.into());
                match is_stored {
                    true => course.add_state(state.to_string(), Some(minute * MINUTE)),
                    false => course.add(Some("work"), Some(minute * MINUTE)),
                }
            }
            course.add(None, None);
            course.end(false);
            let visit = course.visits.first().unwrap();
            assert_eq!((visit.how, visit.to / MINUTE), (how, end));
            assert_eq!((course.ended_at, course.spans.last().unwrap().to), (Some(end * MINUTE), end * MINUTE));
        }
    }

    #[test]
    fn nothing_that_a_state_contains_panics() {
        let huge = json!({ "startedAt": u64::MAX, "passes": u32::MAX, "endedAt": 0, "usage": { "waitMs": u64::MAX },
            "evidence": [{ "name": "", "passed": true, "result": "", "durationMs": u64::MAX, "attempt": 1 }] });
        let visits = json!({ "w:0": huge, "odd": huge });
        let paused = json!({ "paused": { "reason": { "kind": "person" }, "at": u64::MAX } });
        let states =
            [data(0, &visits, &paused), data(1, &visits, &json!({})), "{".to_owned(), data(0, &json!({}), &paused)];
        let mut course = Course::default();
        for at in [None, Some(u64::MAX), Some(0)] {
            for state in &states {
                course.add_state(state.clone(), at);
                for before in [Some("work"), Some("wait"), None] {
                    course.add(before, at);
                }
            }
        }
        for replaced in [false, true] {
            let mut course = std::mem::take(&mut course);
            course.end(replaced);
            assert_eq!(course.visits.is_empty() && course.spans.is_empty(), replaced);
        }
    }
}
