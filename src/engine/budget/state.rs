//! The usage of the run since the newest state entry.

use crate::definition::Measure;
use crate::engine::context::Cx;
use crate::engine::state::{Activity, Agent, Run};
use crate::run::{Active, RunState, Spending};
use crate::usage::{Rule, Usage};

/// Counts the usage that pi's entries do not show, and adds it to the usage that they show. A state entry holds the
/// sums up to that entry, so only the usage behind the newest state entry is to be added, also after a crash or a move
/// in the session's tree.
#[derive(Debug, Default)]
pub struct UsageMeter {
    /// Refusals, attempts at gates and dialogs since the newest state entry.
    noted: Usage,
    /// The dialog that a tool call waits for.
    dialog: Option<Dialog>,
    /// The run had ended when the session began: later usage is not part of the run.
    had_ended: bool,
    /// A state of this event already has the usage since the newest state entry: the entries of an event are appended
    /// only after the event.
    is_counted: bool,
    /// The rule by which a tool call was refused in this event.
    newest_refusal: Option<Rule>,
}

#[derive(Debug)]
struct Dialog {
    ticket: u64,
    /// Its beginning, in milliseconds since 1970.
    since: u64,
}

impl UsageMeter {
    pub fn begin_event(&mut self) {
        self.is_counted = false;
        self.newest_refusal = None;
    }

    /// The session moved: the noted usage belongs to the branch that was left.
    pub fn forget(&mut self) {
        (self.noted, self.dialog) = (Usage::default(), None);
    }

    /// The run that the session stores is restored.
    pub fn begin_session(&mut self, has_ended: bool) {
        self.had_ended = has_ended;
    }

    /// Counts a refused tool call.
    pub fn refused(&mut self, rule: Rule) {
        self.noted.refused(rule);
        self.newest_refusal = Some(rule);
    }

    /// The name of the rule by which a tool call was refused in this event.
    pub fn newest_refusal(&self) -> Option<&'static str> {
        self.newest_refusal.map(Rule::name)
    }

    /// Counts an attempt to pass a gate.
    pub fn gate_tried(&mut self, failed: bool) {
        self.noted.gate_attempts = self.noted.gate_attempts.saturating_add(1);
        self.noted.gate_failures = self.noted.gate_failures.saturating_add(u32::from(failed));
    }

    /// A tool call waits for a dialog.
    pub fn begin_dialog(&mut self, ticket: u64, unix_ms: u64) {
        self.dialog = Some(Dialog { ticket, since: unix_ms });
    }

    /// Counts the time of a dialog that a tool call waited for; a dialog that no call waited for changes nothing.
    pub fn end_dialog(&mut self, ended: u64, unix_ms: u64) {
        if let Some(dialog) = self.dialog.take_if(|dialog| dialog.ticket == ended) {
            let waited = unix_ms.saturating_sub(dialog.since);
            self.noted.wait_ms = self.noted.wait_ms.saturating_add(waited);
        }
    }

    /// The clock went on by this time without work, or went back. The time of a dialog is waiting anyway.
    pub fn skip(&mut self, ms: u64, activity: &mut Activity, now: u64) {
        if activity.is_working() && self.dialog.is_none() {
            self.noted.wait_ms = self.noted.wait_ms.saturating_add(ms);
        }
        activity.clock_changed(now);
    }

    /// Returns a new state of a run with the usage since the newest state entry, and begins to count anew. Without a
    /// state of this run before, the run begins with the new state.
    pub fn count(&mut self, new: RunState, run: &Run, agent: &Agent, cx: &mut Cx) -> RunState {
        let before = run.state().filter(|before| before.task_id == new.task_id);
        let new = match before {
            Some(before) if !self.is_counted => new.with_usage(before, &self.used(agent, cx)),
            Some(_) | None => new,
        };
        match before {
            Some(_) => self.is_counted = true,
            None => self.had_ended = false,
        }
        self.noted = Usage::default();
        if let Some(dialog) = &mut self.dialog {
            dialog.since = cx.unix_ms;
        }
        new
    }

    /// Returns the run with its usage up to now.
    pub fn up_to_now(&self, run: &Run, agent: &Agent, cx: &mut Cx) -> Option<RunState> {
        let state = run.state()?.clone();
        Some(if self.is_counted { state } else { state.clone().with_usage(&state, &self.used(agent, cx)) })
    }

    /// The run in progress with its usage up to now, if a budget applies.
    pub fn with_budgets(&self, run: &Run, agent: &Agent, cx: &mut Cx) -> Option<RunState> {
        run.active().filter(Active::has_budget)?;
        self.up_to_now(run, agent, cx)
    }

    /// The time that is left of the budgets of time, in milliseconds; `None` without such a budget.
    pub fn time_left(&self, run: &Run, agent: &Agent, cx: &mut Cx) -> Option<u64> {
        let left = |active: &Active| {
            let budgets = active.budgets();
            let bounds = budgets.iter().flat_map(Spending::bounds).filter(|bound| bound.measure == Measure::Time);
            bounds.map(|bound| bound.limit.saturating_sub(bound.spent)).min()
        };
        left(&run.active().filter(Active::has_budget)?)?;
        left(&Active::resolve(&self.up_to_now(run, agent, cx)?, run.library())?)
    }

    /// The usage since the newest state entry.
    fn used(&self, agent: &Agent, cx: &mut Cx) -> Usage {
        if self.had_ended || cx.gone {
            return Usage::default();
        }
        let told = cx.host.usage_since_state().map(Some);
        let told = cx.unless_gone(told).unwrap_or_default();
        self.sum(told, agent.activity.working_since(), cx.unix_ms)
    }

    /// Adds the noted usage, and the time since the newest entry of pi, to the usage that the entries show.
    fn sum(&self, (mut used, newest): (Usage, Option<u64>), working_since: Option<u64>, now: u64) -> Usage {
        if let Some(newest) = newest {
            let since = now.saturating_sub(newest);
            let work = working_since.map_or(0, |began| since.min(now.saturating_sub(began)));
            used.work_ms = used.work_ms.saturating_add(work);
            used.wait_ms = used.wait_ms.saturating_add(since.saturating_sub(work));
        }
        used.add(&self.noted);
        let open = self.dialog.as_ref().map_or(0, |dialog| now.saturating_sub(dialog.since));
        used.wait_ms = used.wait_ms.saturating_add(open);
        // The time of a dialog is part of the time of the call that waits for the dialog.
        let waited = self.noted.wait_ms.saturating_add(open);
        used.work_ms = used.work_ms.saturating_sub(waited);
        used
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definition::fixtures::Files;
    use crate::engine::{Context, Ui};

    fn times(meter: &UsageMeter, newest: u64, working_since: Option<u64>) -> (u64, u64) {
        let used = meter.sum((Usage::default(), Some(newest)), working_since, 100);
        (used.work_ms, used.wait_ms)
    }

    #[test]
    fn time_is_work_from_the_beginning_of_the_agents_work() {
        let meter = UsageMeter::default();
        assert_eq!(times(&meter, 40, None), (0, 60));
        assert_eq!(times(&meter, 40, Some(70)), (30, 30));
        assert_eq!(times(&meter, 40, Some(0)), (60, 0));
        assert_eq!(times(&meter, 200, Some(0)), (0, 0), "a clock can be set back");
    }

    #[test]
    fn several_states_of_an_event_count_its_usage_once() {
        let usage = Usage { turns: 1, ..Usage::default() };
        let files = Files { usage: usage.into(), ..Files::default() };
        let context = Context { unix_ms: 0, random: 0, ui: Ui::None, host: &files };
        let mut cx = Cx::new(&context);
        let mut meter = UsageMeter::default();
        let mut state = RunState::new("w", "x", 0, 0).begun(0);
        for (event, turns) in [(1, 1), (1, 1), (2, 2)] {
            if event == 2 {
                meter.begin_event();
            }
            let mut run = Run::default();
            run.set_stored(state.clone());
            state = meter.count(state, &run, &Agent::default(), &mut cx);
            assert_eq!(state.usage().turns, turns);
        }
    }

    #[test]
    fn a_dialog_of_a_call_is_no_work() {
        let mut meter = UsageMeter::default();
        meter.begin_dialog(3, 50);
        assert_eq!(times(&meter, 40, Some(0)), (10, 50));
        meter.end_dialog(2, 60);
        assert_eq!(times(&meter, 40, Some(0)), (10, 50), "the end of another dialog");
        meter.end_dialog(3, 80);
        assert_eq!(times(&meter, 40, Some(0)), (30, 30));
        meter.forget();
        assert_eq!(times(&meter, 40, Some(0)), (60, 0));
    }
}
