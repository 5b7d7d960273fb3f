//! Budgets of a phase and of a workflow.

use crate::sorted::Map;
use serde::Serialize;

use super::bound_values::BoundValue;
use super::schema::{MAX_COST, MAX_COUNT};

/// The maximum of `time`, in milliseconds.
const MAX_TIME_MS: u64 = 365 * 24 * 3600 * 1000;

/// A quantity that a budget bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Measure {
    /// The cost, in millionths of a US dollar.
    Cost,
    /// The time at work, in milliseconds.
    Time,
    /// Turns: answers of the model.
    Turns,
}

impl Measure {
    pub const ALL: [Self; 3] = [Self::Cost, Self::Time, Self::Turns];

    /// Returns the key of the measure in `budget`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cost => "cost",
            Self::Time => "time",
            Self::Turns => "turns",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|measure| measure.name() == name)
    }

    /// Returns the amount for a number in the unit of a file: US dollars, seconds or turns. `None` if the
    /// amount is out of bounds. A fraction of a turn is rounded down.
    #[allow(clippy::cast_precision_loss, reason = "the maxima are far below 2^53")]
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "in range")]
    pub fn amount(self, number: f64) -> Option<u64> {
        let amount = match self {
            Self::Cost => (number * 1e6).round(),
            Self::Turns => number.floor(),
            Self::Time => (number * 1e3).round(),
        };
        (1.0..=self.max() as f64).contains(&amount).then_some(amount as u64)
    }

    /// Returns the least and the greatest amount, in the unit of a file.
    #[allow(clippy::cast_precision_loss, reason = "the maxima are far below 2^53")]
    pub fn range(self) -> (f64, f64) {
        let unit = match self {
            Self::Cost => 1e6,
            Self::Time => 1e3,
            Self::Turns => 1.0,
        };
        (1.0 / unit, self.max() as f64 / unit)
    }

    pub const fn max(self) -> u64 {
        match self {
            Self::Cost => MAX_COST as u64 * 1_000_000,
            Self::Time => MAX_TIME_MS,
            Self::Turns => MAX_COUNT as u64,
        }
    }
}

/// Amounts by measure; a measure without an amount is not bounded.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Budget(pub Map<Measure, u64>);

impl Budget {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn get(&self, measure: Measure) -> Option<u64> {
        self.0.get(&measure).copied()
    }
}

/// The bounds of a budget as a file has them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct BudgetBounds(pub Map<Measure, BoundValue<u64>>);

impl BudgetBounds {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the budget; `value_of` returns the value of an input in the unit of the file. A value that is no amount
    /// leaves nothing to spend.
    pub fn resolve(&self, value_of: impl Fn(&str) -> f64) -> Budget {
        let amount = |(measure, bound): (&Measure, &BoundValue<u64>)| match bound {
            BoundValue::Fixed(amount) => (*measure, *amount),
            BoundValue::Input(name) => (*measure, measure.amount(value_of(name)).unwrap_or_default()),
        };
        Budget(self.0.iter().map(amount).collect())
    }
}

impl<const N: usize> From<[(Measure, u64); N]> for BudgetBounds {
    fn from(amounts: [(Measure, u64); N]) -> Self {
        Self(amounts.into_iter().map(|(measure, amount)| (measure, BoundValue::Fixed(amount))).collect())
    }
}
