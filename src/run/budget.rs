//! The budgets of a run: the allowed amounts, and the spent amounts.

use crate::definition::{Budget, BudgetBounds, Measure};
use crate::usage::Usage;

use super::{active::Active, path::PhasePath, progress::Allowance, state::RunState};

/// The spent part of a budget, in hundredths, from which on the agent is told how much is left.
const NEARLY: u64 = 80;

/// The key of the bound of the command line among [`Allowance`]s; no path has this key.
const BOUND_KEY: &str = "--";
/// The name of this bound in messages.
const BOUND_NAME: &str = "the command line";

/// A budget that applies in the current phase, with the spent amounts.
#[derive(Debug)]
pub struct Spending<'a> {
    /// [`PhasePath::key`] of the phase, or [`PhasePath::scope_key`] of the workflow, that has the budget.
    pub key: String,
    /// The name of the phase or workflow.
    pub of: &'a str,
    budget: Budget,
    allowance: Option<&'a Allowance>,
    spent: Usage,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bound {
    pub measure: Measure,
    pub spent: u64,
    /// The limit, including the amount that the user has added.
    pub limit: u64,
    /// More may have been spent: some answers are not known.
    pub is_lower_bound: bool,
}

impl Bound {
    /// Returns true if nothing is left.
    pub fn is_used_up(&self) -> bool {
        self.spent >= self.limit
    }

    /// Returns true if little is left.
    pub fn is_nearly_used_up(&self) -> bool {
        self.spent.saturating_mul(100) >= self.limit.saturating_mul(NEARLY)
    }
}

impl Spending<'_> {
    pub fn bounds(&self) -> impl Iterator<Item = Bound> {
        self.budget.0.iter().map(|(measure, limit)| {
            let added = self.allowance.and_then(|allowance| allowance.added.get(*measure));
            let limit = limit.saturating_add(added.unwrap_or_default());
            let (spent, is_lower_bound) = (self.spent.amount(*measure), self.spent.is_lower_bound(*measure));
            Bound { measure: *measure, spent, limit, is_lower_bound }
        })
    }

    /// Returns true if the cost is bounded and not known, and the user has not accepted that: an answer came without
    /// usage, or, if `needs_prices`, of a model without a price.
    pub fn lacks_cost(&self, needs_prices: bool) -> bool {
        let unknown = if needs_prices { self.spent.unpriced } else { self.spent.unreported };
        let is_accepted = self.allowance.is_some_and(|allowance| allowance.unknown_cost);
        unknown > 0 && self.budget.get(Measure::Cost).is_some() && !is_accepted
    }

    /// Returns true if the agent was told that little is left.
    pub fn is_told(&self) -> bool {
        self.allowance.is_some_and(|allowance| allowance.told)
    }
}

impl Usage {
    pub fn amount(&self, measure: Measure) -> u64 {
        match measure {
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
            Measure::Cost => (self.cost * 1e6).round() as u64,
            Measure::Time => self.work_ms,
            Measure::Turns => u64::from(self.turns),
        }
    }

    /// Returns true if a measure of some answers is not known.
    pub fn is_lower_bound(&self, measure: Measure) -> bool {
        match measure {
            Measure::Cost => self.unpriced > 0,
            Measure::Time | Measure::Turns => false,
        }
    }
}

impl<'a> Active<'a> {
    /// Returns true if a budget applies in the current phase.
    pub fn has_budget(&self) -> bool {
        let scopes = self.state.current_path.iter();
        !self.phase.budget.is_empty()
            || !self.state.bound.is_empty()
            || scopes
                .filter_map(|scope| self.library.get(&scope.workflow_key))
                .any(|workflow| !workflow.budget.is_empty())
    }

    /// The budgets that apply in the current phase: the budget of the phase, which counts anew with each visit, the
    /// budgets of the workflows around it, the innermost first, and the budget of the command line. Except for the
    /// first, a budget counts everything that is spent in its workflow or run.
    pub fn budgets(&self) -> Vec<Spending<'a>> {
        let state = self.state;
        let path = &state.current_path;
        let visits = &state.progress.visits;
        let spending = |key: String, of, (budget, depth): (&BudgetBounds, usize), spent| Spending {
            allowance: state.progress.allowances.get(&key),
            key,
            of,
            budget: budget.resolve(|name| state.number(name, depth, self.library)),
            spent,
        };
        let key = path.key();
        let visit = visits.get(&key).map(|visit| visit.usage.clone()).unwrap_or_default();
        let mut budgets = vec![spending(key, &*self.phase.name, (&self.phase.budget, path.len()), visit)];
        for scope in path.scopes().rev() {
            let workflow = scope.last().and_then(|last| self.library.get(&last.workflow_key));
            if let Some(workflow) = workflow {
                let spent = state.spent_in(&scope);
                let budget = (&workflow.budget, scope.len());
                budgets.push(spending(scope.scope_key(), &workflow.name, budget, spent));
            }
        }
        budgets.push(Spending {
            key: BOUND_KEY.to_owned(),
            of: BOUND_NAME,
            budget: state.bound.clone(),
            allowance: state.progress.allowances.get(BOUND_KEY),
            spent: state.usage(),
        });
        budgets.retain(|budget| !budget.budget.is_empty());
        budgets
    }
}

impl RunState {
    /// Returns the run with the bound of the command line. An amount that the user added to an earlier bound does not
    /// count for this bound.
    pub fn bounded(mut self, bound: &Budget) -> Self {
        self.bound = bound.clone();
        self.progress.allowances.remove(BOUND_KEY);
        self
    }

    /// Returns the run with a change of the user's decisions about the budget of this key.
    pub fn with_allowance(self, key: &str, change: impl FnOnce(&mut Allowance)) -> Self {
        self.changed(|progress| change(progress.allowances.get_or_insert(key, Allowance::default)))
    }

    /// The usage of all visits in the innermost scope of a path.
    fn spent_in(&self, scope: &PhasePath) -> Usage {
        if scope.len() <= 1 {
            return self.usage();
        }
        let within = scope.within_scope();
        let mut spent = Usage::default();
        for (_, visit) in self.progress.visits.iter().filter(|(key, _)| key.starts_with(&within)) {
            spent.add(&visit.all_usage());
        }
        spent
    }
}
