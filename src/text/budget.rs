//! Texts about budgets.

use super::questions::Title;
use crate::definition::{BoundValue, BudgetBounds, Measure, Phase};
use crate::run::{Active, Bound, PauseReason, Spending};

use super::names::{first_of, short_name};
use super::usage::{dollars, duration};

/// Maximum number of models in a notice.
const MAX_MODELS: usize = 3;

/// Returns the refusal of a tool call at the end of a budget.
pub fn budget_refusal(reason: &PauseReason) -> String {
    format!(
        "The workflow is paused: {reason}. All tool calls are refused until the user allows more. Stop here and wait for the user."
    )
}

/// The name of the evidence that a phase was left for want of budget.
pub const BUDGET: &str = "budget";

/// The refusal of the other tool calls of an answer with which a phase was left for want of budget.
pub const CALL_OVER_BUDGET: &str =
    "[workflow] The phase of this call has used up its budget, and the workflow has gone on. Follow the new phase.";

/// Returns the result in the evidence that a phase was left for want of budget.
pub fn budget_used_up(bound: &Bound) -> String {
    format!("used up ({}), and the phase was left", spent(bound))
}

/// Returns the refusal of a tool call with which a phase is left for want of budget.
pub fn left_over_budget(told: &str) -> String {
    format!("[workflow] {told} This call is refused.")
}

/// Returns a note with the target of a phase that has used up its budget; `None` if the run pauses.
pub(super) fn over_budget_note(phase: &Phase) -> Option<String> {
    phase.on_budget.as_ref().map(|to| format!("budget used up: → {}", to.word()))
}

/// Returns the message for the agent near the end of budgets. With `goes_on`, the run then goes on without the user.
pub fn budget_nearly_used_up(budgets: &[&Spending], goes_on: bool) -> String {
    let mut bounds = Vec::new();
    for budget in budgets {
        for bound in budget.bounds().filter(Bound::is_nearly_used_up) {
            let left = amount(bound.measure, bound.limit.saturating_sub(bound.spent));
            bounds.push(format!("“{}”: {}, {left} left", short_name(budget.of), spent(&bound)));
        }
    }
    let then = match goes_on {
        true => "the workflow goes on without the rest of this phase",
        false => "all tool calls are refused, and the workflow pauses until the user allows more",
    };
    format!("The budget is nearly used up. {}.\nFinish within it: at its end {then}.", bounds.join("; "))
}

/// Returns the title of the dialog that asks for more budget.
pub fn budget_question(reason: &PauseReason, measure: Measure) -> Title {
    let [_, unit, example] = words(measure);
    Title::new("Paused: ", &format!("{reason}.\nHow much more? ({unit}for example {example})"))
}

/// Returns the words for an amount, its unit, and an example.
fn words(measure: Measure) -> [&'static str; 3] {
    match measure {
        Measure::Cost => ["an amount of US dollars", "US dollars, ", "1.00"],
        Measure::Time => ["a duration", "", "20m"],
        Measure::Turns => ["a number of turns", "turns, ", "10"],
    }
}

/// Returns the question before a command adds `more` to a budget, or before answers are accepted whose cost is not known.
pub fn more_question(reason: &PauseReason, more: &str) -> Title {
    let asks = match reason {
        PauseReason::UnknownCost { .. } => "Go on, and do not count such answers?".to_owned(),
        _ => format!("Add {}?", short_name(more)),
    };
    Title::new("Paused: ", &format!("{reason}.\n{asks}"))
}

/// Returns the notice in the place of a dialog: the option that allows more.
pub fn budget_notice(reason: &PauseReason, measure: Measure) -> String {
    let [.., example] = words(measure);
    needs_option(&format!("Paused: {reason}."), example)
}

/// Returns the notice in the place of a question: the option that allows more.
pub fn needs_option(question: &str, more: &str) -> String {
    let first = question.lines().next().unwrap_or_default();
    format!("{first} To allow more, with /workflow :resume: --workflow-budget-more={}", short_name(more))
}

/// The notice that the user has accepted answers of unknown cost.
pub const UNKNOWN_ACCEPTED: &str = "Answers whose cost is not known are not counted in the budget.";

/// Returns the error for a text that is not an amount.
pub fn no_amount(text: &str, measure: Measure) -> String {
    let [kind, ..] = words(measure);
    format!("“{}” is not {kind}. Type for example {}", short_name(text), command(measure))
}

/// A command that allows more.
pub(super) fn command(measure: Measure) -> String {
    let [.., example] = words(measure);
    format!("/workflow :resume +{example}")
}

/// Returns the error for a wrong bound on the command line.
pub fn bad_bound(found: &str) -> String {
    format!(
        "expected amounts of `cost`, `time` and `turns`, each once, such as `cost=2,time=30m`, found {}",
        if found.is_empty() { "nothing".to_owned() } else { format!("`{}`", short_name(found)) }
    )
}

/// Returns the error at the start of a run that only `cost` bounds, and whose models have no price.
pub fn needs_bound(models: &[String]) -> String {
    format!(
        "`cost` alone bounds the run, and pi has no price for {}. Bound the turns too: `budget: {{ cost: 2.50, turns: 40 }}`, or for this run --workflow-budget=turns=40 (pi-workflows run: --budget turns=40).",
        first_of(models.iter().map(|model| short_name(model)), MAX_MODELS)
    )
}

/// Returns the notice that bounds on the cost do not count these models; `None` without such models.
pub fn uncounted(models: &[String]) -> Option<String> {
    let named = first_of(models.iter().map(|model| short_name(model)), MAX_MODELS);
    (!models.is_empty()).then(|| format!("`cost` does not count answers of {named}: pi has no price."))
}

/// Returns a line for each budget that holds, with the spent amounts.
pub(super) fn budget_lines(active: &Active) -> Vec<String> {
    let line = |budget: Spending| {
        let bounds: Vec<String> = budget.bounds().map(|bound| spent(&bound)).collect();
        format!("Budget of “{}”: {}.", short_name(budget.of), bounds.join(", "))
    };
    active.budgets().into_iter().map(line).collect()
}

/// Returns the amounts of a budget; `None` without amounts.
pub(super) fn budget_note(budget: &BudgetBounds) -> Option<String> {
    let amounts = budget.0.iter().map(|(measure, limit)| match (measure, limit) {
        (Measure::Cost | Measure::Time, BoundValue::Fixed(limit)) => amount(*measure, *limit),
        (Measure::Turns, BoundValue::Fixed(limit)) => format!("{limit} turns"),
        (Measure::Cost, BoundValue::Input(_)) => format!("US dollars: {limit}"),
        (Measure::Time, BoundValue::Input(_)) => format!("seconds: {limit}"),
        (Measure::Turns, BoundValue::Input(_)) => format!("turns: {limit}"),
    });
    let amounts: Vec<String> = amounts.collect();
    (!amounts.is_empty()).then(|| format!("budget: {}", amounts.join(", ")))
}

/// Returns the spent amount and the limit: `$1.25 of $2.50`, `at least $1.25 of $2.50`.
pub(super) fn spent(bound: &Bound) -> String {
    let Bound { measure, spent, limit, is_lower_bound } = *bound;
    let least = if is_lower_bound { "at least " } else { "" };
    let of = |spent: String, limit: String, unit: &str| format!("{least}{spent} of {limit}{unit}");
    match measure {
        Measure::Cost => of(dollars_of(spent), dollars_of(limit), ""),
        Measure::Time => of(seconds(spent), seconds(limit), " at work"),
        Measure::Turns => of(spent.to_string(), limit.to_string(), " turns"),
    }
}

fn amount(measure: Measure, amount: u64) -> String {
    match measure {
        Measure::Cost => dollars_of(amount),
        Measure::Time => seconds(amount),
        Measure::Turns => amount.to_string(),
    }
}

#[allow(clippy::cast_precision_loss, reason = "for display")]
fn dollars_of(millionths: u64) -> String {
    dollars(millionths as f64 / 1e6)
}

fn seconds(ms: u64) -> String {
    duration(ms - ms % 1000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_have_units() {
        let budget = [(Measure::Cost, 2_500_000), (Measure::Time, 2_700_000), (Measure::Turns, 40)];
        let note = budget_note(&budget.into());
        assert_eq!(note.as_deref(), Some("budget: $2.50, 45m, 40 turns"));
        assert_eq!(budget_note(&BudgetBounds::default()), None);
        let lines = budget.map(|(measure, limit)| {
            spent(&Bound { measure, spent: limit / 2, limit, is_lower_bound: measure == Measure::Cost })
        });
        let expected = ["at least $1.25 of $2.50", "22m 30s of 45m at work", "20 of 40 turns"];
        assert_eq!(lines, expected);
    }
}
