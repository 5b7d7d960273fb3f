//! The field `budget` of a phase and of a workflow.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Serialize;

use super::diagnostic::Problem;
use super::fields::Fields;
use super::schema::{self, MAX_COST, MAX_COUNT, MAX_TOKENS};
use super::yaml::{Step, Yaml};

/// The keys of `budget`.
const FIELDS: [&str; schema::BUDGET_FIELDS.len()] = schema::names(&schema::BUDGET_FIELDS);
/// The maximum of `time`, in milliseconds.
const MAX_TIME_MS: u64 = 365 * 24 * 3600 * 1000;

/// A quantity that a budget bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Measure {
    /// The cost, in millionths of a US dollar.
    Cost,
    /// Output tokens.
    OutputTokens,
    /// The time at work, in milliseconds.
    Time,
    /// Turns: answers of the model.
    Turns,
}

impl Measure {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Cost, Self::OutputTokens, Self::Time, Self::Turns];

    /// Its key in `budget`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cost => "cost",
            Self::OutputTokens => "outputTokens",
            Self::Time => "time",
            Self::Turns => "turns",
        }
    }

    /// The measure of a key.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|measure| measure.name() == name)
    }

    /// The maximum of a budget.
    pub const fn max(self) -> u64 {
        match self {
            Self::Cost => MAX_COST as u64 * 1_000_000,
            Self::OutputTokens => MAX_TOKENS as u64,
            Self::Time => MAX_TIME_MS,
            Self::Turns => MAX_COUNT as u64,
        }
    }

    /// The values of its key, in words.
    const fn expected(self) -> &'static str {
        match self {
            Self::Cost => "a number of US dollars from 0.000001 to 1000000",
            Self::OutputTokens => "a whole number from 1 to 1000000000",
            Self::Time => {
                "a duration like `45m` or `1h 30m`, or a number of seconds, at most a year"
            }
            Self::Turns => "a whole number from 1 to 1000000",
        }
    }

    /// The number that a text like `$2` or `50k` means.
    fn meant(self, value: &Yaml) -> Option<String> {
        let Yaml::String(text) = value else { return None };
        let text = text.trim().to_ascii_lowercase();
        let text = text.trim_matches(['$', ' ']).trim_end_matches("usd").trim();
        let (digits, factor) = match text.strip_suffix('k') {
            Some(digits) => (digits, 1000.0),
            None => (
                text.strip_suffix('m').unwrap_or(text),
                if text.ends_with('m') { 1e6 } else { 1.0 },
            ),
        };
        let number = Yaml::Number(digits.replace('_', "").parse::<f64>().ok()? * factor);
        self.amount(&number)?;
        number.scalar_text()
    }

    /// The amount that a value of its key means.
    fn amount(self, value: &Yaml) -> Option<u64> {
        let amount = match (self, value) {
            (Self::Cost, Yaml::Number(dollars)) => (dollars * 1e6).round(),
            (Self::OutputTokens | Self::Turns, Yaml::Number(number)) if number.fract() == 0.0 => {
                *number
            }
            (Self::Time, value) => duration(value)?.as_millis() as f64,
            (Self::Cost | Self::OutputTokens | Self::Turns, _) => return None,
        };
        #[allow(clippy::cast_precision_loss, reason = "the maxima are far below 2^53")]
        let max = self.max() as f64;
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "in range")]
        (1.0..=max).contains(&amount).then_some(amount as u64)
    }
}

/// Amounts, each of one measure; what has none is not bounded.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Budget(pub BTreeMap<Measure, u64>);

impl Budget {
    /// Tests if nothing is bounded.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The amount of a measure.
    pub fn get(&self, measure: Measure) -> Option<u64> {
        self.0.get(&measure).copied()
    }
}

/// A duration like `90s` or `1h 30m`, or a number of seconds.
pub(super) fn duration(value: &Yaml) -> Option<Duration> {
    match value {
        Yaml::Number(seconds) => Duration::try_from_secs_f64(*seconds).ok(),
        Yaml::String(text) => humantime::parse_duration(text).ok(),
        _ => None,
    }
}

/// Reads `budget`; `None` after an error.
pub(super) fn read(fields: &mut Fields) -> Option<Budget> {
    let entries = fields.entries("budget", "a mapping", None)?;
    let mut budget = Budget::default();
    let mut sound = true;
    for (key, value) in &entries {
        let Some(measure) = Measure::from_name(key) else {
            let (of, field) = ("budget", key.clone());
            let problem = Problem::UnknownPart { of, field, known: &FIELDS };
            fields.report(&[Step::Key("budget"), Step::Name(key)], problem);
            sound = false;
            continue;
        };
        match measure.amount(value) {
            Some(amount) => {
                budget.0.insert(measure, amount);
            }
            None => {
                sound = false;
                let found = match value {
                    // Reported as a field without a value.
                    Yaml::Null => continue,
                    Yaml::Number(_) | Yaml::String(_) => {
                        format!("`{}`", value.scalar_text().unwrap_or_default())
                    }
                    other => other.kind().to_string(),
                };
                let at = [Step::Key("budget"), Step::Key(measure.name())];
                let field = format!("budget.{}", measure.name());
                let expected = measure.expected().to_owned();
                let suggestion = measure.meant(value);
                if suggestion.as_deref() == value.scalar_text().as_deref() && suggestion.is_some() {
                    let value = suggestion.unwrap_or_default();
                    fields.report(&at, Problem::Quoted { field, expected, value });
                    continue;
                }
                fields.report(&at, Problem::BadValue { field, expected, found, suggestion });
            }
        }
    }
    sound.then_some(budget)
}
