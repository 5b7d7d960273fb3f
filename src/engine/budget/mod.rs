//! Budgets: the agent is told near the end of a budget; at the end the run pauses until the user gives more.

pub(super) mod state;

use crate::definition::{Budget, Measure, trim};
use crate::run::{Active, Arrival, Bound, Evidence, Leaving, PauseReason, Spending, leave_over_budget};
use crate::text;

use super::ask::{Then, UsersWord};
use super::briefing::state::{Moved, Mover};
use super::commands::BUDGET_FLAG;
use super::context::Cx;
use super::effect::{Effect, Level, Reply, Request, YesOrNo};
use super::entries::LED_BY_BUDGET;
use super::hold::held_notice;
use super::state::{Agent, Engine, Run, Session, Waiter};
use state::UsageMeter;

/// The value of [`MORE_FLAG`](super::commands::MORE_FLAG) that accepts answers whose cost is not known.
const UNKNOWN: &str = "unknown";

/// The result of [`Engine::widen_budgets`].
pub(super) enum Widened {
    /// No budget is used up any more.
    Yes,
    /// The user was told what is missing.
    No,
    /// The user is asked.
    Asked(Reply),
}

impl Session {
    /// Reads the bound of the command line. With an error nothing may be spent, and the user is told.
    pub fn read_bound(&mut self, text: Option<&str>, cx: &mut Cx) {
        let (bound, error) = match text.map_or(Ok(Budget::default()), bound) {
            Ok(bound) => (bound, None),
            Err(error) => {
                let error = format!("--{}: {error}. Nothing may be spent.", BUDGET_FLAG.name);
                (Budget(std::iter::once((Measure::Turns, 0)).collect()), Some(error))
            }
        };
        if let Some(error) = &error {
            cx.notify(Level::Error, error);
        }
        (self.bound, self.bound_error) = (bound, error);
    }
}

impl Engine {
    /// Pauses the run at the end of a budget, and ends the agent's run; a tool call gets the returned reply. Near the
    /// end of a budget, the agent is told once how much is left.
    pub(super) fn stop_over_budget(&mut self, cx: &mut Cx) -> Option<Reply> {
        let state = self.meter.with_budgets(&self.run, &self.agent, cx)?;
        let budgets = Active::resolve(&state, self.run.library())?.budgets();
        if let Some(reason) = used_up(&budgets) {
            if let Some(moved) = self.leave_over_budget(cx) {
                let refusal = text::left_over_budget(&moved.told);
                self.tell_move(moved, Mover::Budget, cx);
                let is_over = self.agent.ending.is_behind_end();
                return Some(if is_over { Reply::Stop(refusal) } else { Reply::Block(refusal) });
            }
            let refusal = text::budget_refusal(&reason);
            // A gate that waits for the user keeps waiting when the budget gets more: `/workflow :resume` asks for
            // both.
            let is_told = |reason: &PauseReason| reason.is_of_budget() || reason.is_at_exit();
            if !self.run.pause_reason().is_some_and(is_told) {
                self.agent.stop_running_calls(cx);
                self.pause(reason, cx);
            }
            self.agent.end_run();
            return Some(Reply::Stop(refusal));
        }
        let is_near = |budget: &Spending| !budget.is_told() && budget.bounds().any(|bound| bound.is_nearly_used_up());
        let near: Vec<&Spending> = budgets.iter().filter(|budget| is_near(budget)).collect();
        if !near.is_empty() && !self.agent.ending.is_begun() {
            let active = self.run.active()?;
            let own = active.state.current_path.key();
            let goes_on = active.phase.on_budget.is_some() && near.iter().all(|near| near.key == own);
            let told = text::budget_nearly_used_up(&near, goes_on);
            self.change_allowances(cx, |budget| is_near(budget).then_some(Change::Told));
            cx.push(Effect::Steer(told));
        }
        None
    }

    /// Moves the run on from a phase that has used up its budget, if the phase names a target and nothing else stops
    /// the run: every other budget is known and has room, and no question waits for the user. `None` if the run stays,
    /// and pauses.
    pub(super) fn leave_over_budget(&mut self, cx: &mut Cx) -> Option<Moved> {
        let waits = self.run.pause_reason().is_some() || self.pending.is_gate_of_call();
        let up_to_now = self.meter.with_budgets(&self.run, &self.agent, cx).filter(|_| !waits)?;
        let library = self.run.library();
        let active = Active::resolve(&up_to_now, library)?;
        let target = active.phase.on_budget.as_ref()?;
        let own = active.state.current_path.key();
        let budgets = active.budgets();
        let is_used_up = |budget: &&Spending| budget.bounds().any(|bound| bound.is_used_up());
        let is_other = |budget: &Spending| budget.key != own;
        if unknown_cost(&budgets).is_some() || budgets.iter().filter(is_used_up).any(is_other) {
            return None;
        }
        let bound = budgets.iter().find_map(|budget| budget.bounds().find(Bound::is_used_up))?;
        let evidence = Evidence {
            name: text::BUDGET.to_owned(),
            passed: false,
            result: text::budget_used_up(&bound),
            attempt: 1,
            ..Evidence::default()
        };
        let state = self.run.running()?;
        let key = state.current_path.key();
        let earlier = state.progress().visits.get(&key).map(|visit| visit.evidence.clone());
        let all = earlier.into_iter().flatten().chain([evidence]).collect();
        let (new, arrival) = leave_over_budget(&state.with_evidence(all), target, library).ok()?;
        let by = match arrival {
            Arrival::Phase => "The phase has used up its budget, and the workflow goes on",
            Arrival::Done => "The phase has used up its budget, and the workflow ends",
        };
        let moved = self.move_run(new, (arrival, Leaving::OverBudget), by, cx);
        self.pause_unless_begun(LED_BY_BUDGET, cx);
        moved
    }

    /// Updates a pause for a budget after a move of the run: the pause ends, or continues for a budget that applies at
    /// the new place.
    pub(super) fn follow_budget(&mut self, cx: &mut Cx) {
        if !self.run.pause_reason().is_some_and(PauseReason::is_of_budget) {
            return;
        }
        let Some(state) = self.run.running() else { return };
        let new = match budget_used_up(&self.run, &self.agent, &self.meter, cx) {
            None => state.resumed(),
            Some(reason) if self.run.pause_reason() == Some(&reason) => return,
            Some(reason) => state.paused(reason, cx.unix_ms),
        };
        self.transition(new, cx);
    }

    /// Adds the amount that the user gives, by an option or in a dialog, to the used-up budgets. If answers whose cost is
    /// not known are the reason for the pause, accepts these answers. Without the user's word, asks the
    /// user: for the amount, or for a yes to `more`.
    pub(super) fn widen_budgets(
        &mut self,
        more: &str,
        mut word: Option<UsersWord>,
        was_at_rest: bool,
        cx: &mut Cx,
    ) -> Widened {
        // The user can accept only a pause that the user already knows of.
        if let Some(reason @ PauseReason::UnknownCost { .. }) = self.run.pause_reason().cloned() {
            let option = &mut self.session.facts.more;
            let option = || UsersWord::of_option(option, |value| value == UNKNOWN).map(|(word, _)| word);
            if word.take().or_else(option).is_none() {
                return self.ask_for_more(reason, more, was_at_rest, cx);
            }
            if self.change_allowances(cx, |budget| budget.lacks_cost(true).then_some(Change::AcceptUnknown)) {
                cx.notify(Level::Warning, text::UNKNOWN_ACCEPTED);
            }
        }
        let reason = budget_used_up(&self.run, &self.agent, &self.meter, cx);
        let Some(PauseReason::Budget { measure, .. }) = reason else {
            if let Some(reason) = reason
                && (!more.is_empty() || self.run.pause_reason().is_some_and(PauseReason::is_of_budget))
            {
                // The user learns first that there are costs which no amount bounds.
                cx.failed = true;
                self.pause(reason, cx);
                return Widened::No;
            }
            if more.is_empty() {
                return Widened::Yes;
            }
            let how = if self.run.pause_reason().is_some() { " To go on: /workflow :resume" } else { "" };
            cx.fail(Level::Info, format!("No budget of the run is used up.{how}"));
            return Widened::No;
        };
        let Some(reason) = reason else { return Widened::Yes };
        // The shown pause may just have ended, also by the user's command, and the run now waits for this reason.
        let is_other = match self.run.pause_reason() {
            Some(PauseReason::Budget { measure: paused, .. }) => *paused != measure,
            Some(PauseReason::User | PauseReason::Aborted) => true,
            Some(reason) => reason.is_of_budget(),
            None => true,
        };
        if is_other && let Some(state) = self.run.running().cloned() {
            self.agent.activity.stop(cx);
            self.transition(state.paused(reason.clone(), cx.unix_ms), cx);
        }
        let option = UsersWord::of_option(&mut self.session.facts.more, |_| more.is_empty() && word.is_none());
        let (word, more) = match option {
            Some((word, more)) => (Some(word), more),
            None => (word, more.to_owned()),
        };
        if more.is_empty() {
            if !cx.ui.exists() {
                cx.fail(Level::Warning, text::budget_notice(&reason, measure));
                return Widened::No;
            }
            let Some(state) = self.run.running() else { return Widened::Yes };
            let title = text::budget_question(&reason, measure);
            let then = Then::GiveMore { task_id: state.task_id.clone(), reason, was_at_rest };
            return Widened::Asked(self.pending.ask(Waiter::User, Request::Input { title }, then));
        }
        let Some(amount) = amount(measure, &more) else {
            cx.fail(Level::Warning, text::no_amount(&more, measure));
            return Widened::No;
        };
        if word.is_none() {
            return self.ask_for_more(reason, &more, was_at_rest, cx);
        }
        self.change_allowances(cx, |budget| {
            let mut bounds = budget.bounds();
            let bound = bounds.find(|bound| bound.measure == measure && bound.is_used_up())?;
            // The amount counts from now on, and does not pay for the excess.
            let beyond = bound.spent.saturating_sub(bound.limit);
            Some(Change::Add(measure, beyond.saturating_add(amount)))
        });
        // A budget of another measure may be used up too.
        self.widen_budgets("", None, was_at_rest, cx)
    }

    /// Asks the user for a yes to what a command gives; without a user interface an option is needed.
    fn ask_for_more(&mut self, reason: PauseReason, more: &str, was_at_rest: bool, cx: &mut Cx) -> Widened {
        let title = text::more_question(&reason, more);
        if !cx.ui.exists() {
            cx.fail(Level::Warning, text::needs_option(&title, if more.is_empty() { UNKNOWN } else { more }));
            return Widened::No;
        }
        let Some(state) = self.run.running() else { return Widened::Yes };
        let (task_id, more) = (state.task_id.clone(), more.to_owned());
        let request = Request::yes_or_no(YesOrNo::Choice { title, no: "No, leave it paused", yes: "Yes, go on" });
        let then = Then::ConfirmMore { task_id, reason, was_at_rest, more };
        Widened::Asked(self.pending.ask(Waiter::User, request, then))
    }

    /// Goes on with what a command gives, after the user's yes.
    pub(super) fn more_confirmed(
        &mut self,
        task_id: &str,
        asked: &PauseReason,
        was_at_rest: bool,
        (word, more): (Option<UsersWord>, &str),
        cx: &mut Cx,
    ) -> Reply {
        let is_same = self.run.active().is_some_and(|active| active.state.task_id == task_id);
        // Meanwhile the run may have come to the end of another budget.
        let now = match asked {
            PauseReason::UnknownCost { .. } => self.run.pause_reason().cloned(),
            _ => budget_used_up(&self.run, &self.agent, &self.meter, cx),
        };
        let is_asked = now.is_some_and(|now| is_about_the_same(&now, asked));
        match word.filter(|_| is_same && is_asked) {
            Some(word) => self.resume_with(more, Some(word), was_at_rest, cx),
            None => Reply::None,
        }
    }

    /// Goes on with the amount that the user entered.
    pub(super) fn give_more(
        &mut self,
        task_id: &str,
        asked: &PauseReason,
        was_at_rest: bool,
        more: Option<(UsersWord, String)>,
        cx: &mut Cx,
    ) -> Reply {
        let is_same = self.run.running().is_some_and(|state| state.task_id == task_id);
        if self.run.held().is_some() && is_same {
            // An amount accepts no rules.
            cx.fail(Level::Warning, held_notice(&self.run, &self.session, cx.ui));
            return Reply::None;
        }
        let Some((word, more)) = more.filter(|(_, more)| is_same && !trim(more).is_empty()) else {
            cx.notify(Level::Info, "Nothing was added to the budget.");
            return Reply::None;
        };
        // Another measure may be used up meanwhile; the amount is not meant for that measure.
        match budget_used_up(&self.run, &self.agent, &self.meter, cx) {
            Some(now) if !is_about_the_same(&now, asked) => self.resume_with("", None, was_at_rest, cx),
            _ => self.resume_with(trim(&more), Some(word), was_at_rest, cx),
        }
    }

    /// Changes the allowances of the budgets for which `change` returns a change; returns false if it returns none.
    fn change_allowances(&mut self, cx: &mut Cx, change: impl Fn(&Spending) -> Option<Change>) -> bool {
        let Some(state) = self.meter.with_budgets(&self.run, &self.agent, cx) else { return false };
        let Some(active) = Active::resolve(&state, self.run.library()) else {
            return false;
        };
        let changes: Vec<(String, Change)> = active
            .budgets()
            .into_iter()
            .filter_map(|budget| Some((change(&budget)?, budget.key)))
            .map(|(change, key)| (key, change))
            .collect();
        let Some(mut new) = self.run.running().cloned().filter(|_| !changes.is_empty()) else {
            return false;
        };
        for (key, change) in changes {
            new = new.with_allowance(&key, |allowance| match change {
                Change::AcceptUnknown => allowance.unknown_cost = true,
                Change::Told => allowance.told = true,
                Change::Add(measure, amount) => {
                    let added = allowance.added.0.entry(measure).or_default();
                    *added = added.saturating_add(amount);
                    allowance.told = false;
                }
            });
        }
        self.transition(new, cx);
        true
    }
}

/// The reason for a pause, if a budget of the run is used up.
pub(super) fn budget_used_up(run: &Run, agent: &Agent, meter: &UsageMeter, cx: &mut Cx) -> Option<PauseReason> {
    let state = meter.with_budgets(run, agent, cx)?;
    used_up(&Active::resolve(&state, run.library())?.budgets())
}

/// The reason for a pause at the first budget that is used up, or whose spent amount is not known.
fn used_up(budgets: &[Spending]) -> Option<PauseReason> {
    if let Some(unknown) = unknown_cost(budgets) {
        return Some(PauseReason::UnknownCost { of: text::short_name(unknown.of) });
    }
    budgets.iter().find_map(|budget| {
        let bound = budget.bounds().find(Bound::is_used_up)?;
        let Bound { measure, spent, limit, is_lower_bound: _ } = bound;
        Some(PauseReason::Budget { of: text::short_name(budget.of), measure, spent, limit })
    })
}

/// The first budget whose spent amount is not known. A missing price is no reason if another measure is bounded.
fn unknown_cost<'a, 'b>(budgets: &'a [Spending<'b>]) -> Option<&'a Spending<'b>> {
    let needs_prices = budgets.iter().flat_map(Spending::bounds).all(|bound| bound.measure == Measure::Cost);
    budgets.iter().find(|budget| budget.lacks_cost(needs_prices))
}

/// A change of an [`Allowance`](crate::run::Allowance).
enum Change {
    Told,
    AcceptUnknown,
    Add(Measure, u64),
}

/// Returns true if two reasons are about the same measure of the same budget.
fn is_about_the_same(one: &PauseReason, other: &PauseReason) -> bool {
    match (one, other) {
        (PauseReason::Budget { of, measure, .. }, PauseReason::Budget { of: of_other, measure: other, .. }) => {
            (of, measure) == (of_other, other)
        }
        _ => one == other,
    }
}

/// Reads the bound of the command line, such as `cost=2,time=30m`.
///
/// # Errors
///
/// The message for a text without an amount, with an unknown measure, or with a measure twice.
pub fn bound(text: &str) -> Result<Budget, String> {
    let mut bound = Budget::default();
    for part in text.split(',').map(trim) {
        let pair = part.split_once('=').and_then(|(name, value)| {
            let measure = Measure::from_name(trim(name))?;
            Some((measure, amount(measure, trim(value))?))
        });
        let wrong = || text::bad_bound(part);
        let (measure, amount) = pair.ok_or_else(wrong)?;
        if bound.0.insert(measure, amount).is_some() {
            return Err(wrong());
        }
    }
    Ok(bound)
}

/// The amount that a text of the user means; a `+` before it changes nothing.
fn amount(measure: Measure, text: &str) -> Option<u64> {
    let text = trim(text.strip_prefix('+').unwrap_or(text));
    let amount = match measure {
        Measure::Cost => {
            let dollars: f64 = trim(text.trim_matches('$')).parse().ok()?;
            (dollars * 1e6).round()
        }
        Measure::Time => humantime::parse_duration(text).ok()?.as_millis() as f64,
        Measure::Turns => text.parse::<u32>().ok()?.into(),
    };
    #[allow(clippy::cast_precision_loss, reason = "the maxima are far below 2^53")]
    let range = 1.0..=measure.max() as f64;
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "in range")]
    range.contains(&amount).then_some(amount as u64)
}
