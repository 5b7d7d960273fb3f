//! The field `budget` of a phase and of a workflow.

use std::time::Duration;

use super::fields::Fields;
use super::yaml::Yaml;
use crate::definition::diagnostic::{FieldProblem, PathPart};
use crate::definition::model::schema;
use crate::definition::model::{BoundValue, BudgetBounds, Measure};

const FIELDS: [&str; schema::BUDGET_FIELDS.len()] = schema::names(&schema::BUDGET_FIELDS);

/// A duration like `90s` or `1h 30m`, or a number of seconds.
pub(crate) fn duration(value: &Yaml) -> Option<Duration> {
    match value {
        Yaml::Number(seconds, _) => Duration::try_from_secs_f64(*seconds).ok(),
        // `M` would be a month.
        Yaml::String(text) if text.contains('M') => None,
        Yaml::String(text) => humantime::parse_duration(text).ok(),
        _ => None,
    }
}

pub(crate) fn read(fields: &mut Fields) -> BudgetBounds {
    let entries = fields.entries("budget", "a mapping", None);
    fields.check_part(&[PathPart::Key("budget")], "budget", &FIELDS);
    let mut budget = BudgetBounds::default();
    for (key, value) in &entries {
        let Some(measure) = Measure::from_name(key) else { continue };
        let field = format!("budget.{}", measure.name());
        let at = [PathPart::Key("budget"), PathPart::Key(measure.name())];
        if let Some(name) = fields.input_of_bound(&at, &field, value) {
            budget.0.insert(measure, BoundValue::Input(name));
            continue;
        }
        match amount(measure, value) {
            Some(amount) => {
                budget.0.insert(measure, BoundValue::Fixed(amount));
            }
            None => {
                let found = match value {
                    // `check_values` reports a field without a value.
                    Yaml::Null => continue,
                    Yaml::Number(..) | Yaml::String(_) => {
                        format!("`{}`", value.scalar_text().unwrap_or_default())
                    }
                    other => other.kind().to_string(),
                };
                let expected = expected(measure).to_owned();
                let suggestion = meant(measure, value);
                if suggestion.as_deref() == value.scalar_text().as_deref() && suggestion.is_some() {
                    let value = suggestion.unwrap_or_default();
                    fields.report(&at, FieldProblem::Quoted { field, expected, value });
                    continue;
                }
                fields.report(&at, FieldProblem::bad(field, expected, found).suggest(suggestion));
            }
        }
    }
    budget
}

/// Returns the expected values of a measure, in words.
const fn expected(measure: Measure) -> &'static str {
    match measure {
        Measure::Cost => "a number of US dollars from 0.000001 to 1000000",
        Measure::Time => "a duration like `45m` or `1h 30m`, or a number of seconds, at most a year",
        Measure::Turns => "a whole number from 1 to 1000000",
    }
}

/// Returns the number that a text like `$2` or `50k` means.
fn meant(measure: Measure, value: &Yaml) -> Option<String> {
    let Yaml::String(text) = value else { return None };
    let text = text.trim().to_ascii_lowercase();
    if measure == Measure::Time && duration(&Yaml::String(text.clone())).is_some() {
        return Some(text);
    }
    let text = text.trim_matches(['$', ' ']).trim_end_matches("usd").trim();
    let (digits, factor) = match text.strip_suffix('k') {
        Some(digits) => (digits, 1000.0),
        None => (text.strip_suffix('m').unwrap_or(text), if text.ends_with('m') { 1e6 } else { 1.0 }),
    };
    let number = digits.replace('_', "").parse::<f64>().ok()? * factor;
    amount(measure, &Yaml::Number(number, String::new()))?;
    Some(number.to_string())
}

/// Returns the amount that a value of a measure means.
fn amount(measure: Measure, value: &Yaml) -> Option<u64> {
    let number = match (measure, value) {
        (Measure::Cost, Yaml::Number(dollars, _)) => *dollars,
        (Measure::Turns, Yaml::Number(number, _)) if number.fract() == 0.0 => *number,
        (Measure::Time, value) => duration(value)?.as_secs_f64(),
        (Measure::Cost | Measure::Turns, _) => return None,
    };
    measure.amount(number)
}
