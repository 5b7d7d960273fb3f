//! The usage of a run in words.

use std::time::Duration;

use crate::definition::on_one_line;
use crate::usage::Usage;

use super::questions::counted;

/// Returns a duration in words, in seconds, or in milliseconds if it is short.
pub fn duration(ms: u64) -> String {
    let ms = if ms < 1000 { ms } else { ms - ms % 1000 };
    humantime::format_duration(Duration::from_millis(ms)).to_string()
}

/// Returns the answers, tokens, cost and time at work on one line; `None` if there was no answer.
pub fn usage(usage: &Usage) -> Option<String> {
    if usage.turns == 0 {
        return None;
    }
    let mut turns = counted(usage.turns, "turn");
    if usage.models.len() > 1 {
        let models: Vec<String> = usage.models.iter().map(|(model, answers)| format!("{answers} by {model}")).collect();
        turns.push_str(&format!(" ({})", on_one_line(&models.join(", "))));
    }
    Some(format!("{turns}, {} at work", short_usage(usage)?))
}

/// Returns the tokens, the cost and the time at work on one line; `None` if there was no answer.
pub(super) fn short_usage(usage: &Usage) -> Option<String> {
    let work = duration(usage.work_ms - usage.work_ms % 1000);
    let cost = cost(usage).unwrap_or_else(|| "cost unknown".to_owned());
    let tokens = match (usage.unreported, usage.tokens()) {
        (0, known) => format!("{} tokens", count(known)),
        (_, 0) => "tokens unknown".to_owned(),
        (_, known) => format!("{} tokens and an unknown part", count(known)),
    };
    (usage.turns > 0).then(|| format!("{tokens}, {cost}, {work}"))
}

/// Returns the number of all tokens; `None` if it is unknown, because the providers do not tell it.
pub(super) fn tokens(usage: &Usage) -> Option<String> {
    let known = usage.tokens();
    match usage.unreported {
        0 => Some(count(known)),
        _ if known == 0 => None,
        _ => Some(format!("{} and an unknown part", count(known))),
    }
}

/// Returns the requests that kept the prompt cache; `None` if there were none.
pub(super) fn warm_ups(usage: &Usage) -> Option<String> {
    if usage.warm_ups == 0 {
        return None;
    }
    let requests = counted(usage.warm_ups, "request");
    let cost = if usage.warm_cost > 0.0 { dollars(usage.warm_cost) } else { "cost unknown".to_owned() };
    let tokens = count(usage.warm_tokens);
    Some(format!("{requests} of pi, {tokens} tokens, {cost}; they count in no budget"))
}

/// Returns a number of tokens: `950`, `12.3k`, `4.56M`.
pub(super) fn count(tokens: u64) -> String {
    #[allow(clippy::cast_precision_loss, reason = "for display")]
    let tokens_in = |unit: u64| tokens as f64 / unit as f64;
    match tokens {
        0..1_000 => tokens.to_string(),
        1_000..999_950 => format!("{:.1}k", tokens_in(1_000)),
        _ => format!("{:.2}M", tokens_in(1_000_000)),
    }
}

/// Returns an amount of US dollars: `$0.42`, or `$0.0019` if it is less than a cent.
pub(super) fn dollars(amount: f64) -> String {
    if amount > 0.0 && amount < 0.01 {
        let digits = if amount < 0.0001 { 6 } else { 4 };
        format!("${}", format!("{amount:.digits$}").trim_end_matches('0'))
    } else {
        format!("${amount:.2}")
    }
}

/// Returns the cost in US dollars; `None` if it is unknown, because the models have no prices or the answers no usage.
pub(super) fn cost(usage: &Usage) -> Option<String> {
    let known = dollars(usage.cost);
    match usage.unpriced {
        0 => Some(known),
        _ if usage.cost == 0.0 => None,
        _ => Some(format!("{known} and an unknown part")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_turns_tokens_cost_and_time() {
        let line = |turns, input, cost, unpriced, work_ms| {
            usage(&Usage { turns, input, cost, unpriced, work_ms, ..Usage::default() })
        };
        assert_eq!(line(0, 0, 0.0, 0, 0), None);
        let expected = "1 turn, 950 tokens, $0.00, 0s at work";
        assert_eq!(line(1, 950, 0.0, 0, 900).as_deref(), Some(expected));
        let expected = "12 turns, 34.6k tokens, $0.42, 3m 20s at work";
        assert_eq!(line(12, 34_560, 0.424, 0, 200_300).as_deref(), Some(expected));
        let expected = "2 turns, 1.00M tokens, $0.001 and an unknown part, 1s at work";
        assert_eq!(line(2, 999_950, 0.001, 1, 1000).as_deref(), Some(expected));
        let expected = "2 turns, 7 tokens, cost unknown, 1s at work";
        assert_eq!(line(2, 7, 0.0, 2, 1000).as_deref(), Some(expected));
        let unreported = |unreported, output, cost| {
            let unpriced = unreported;
            short_usage(&Usage { turns: 2, unreported, unpriced, output, cost, ..Usage::default() })
        };
        let expected = "tokens unknown, cost unknown, 0s";
        assert_eq!(unreported(2, 0, 0.0).as_deref(), Some(expected));
        let expected = "7 tokens and an unknown part, $0.50 and an unknown part, 0s";
        assert_eq!(unreported(1, 7, 0.5).as_deref(), Some(expected));
        let warm = |warm_ups, warm_cost| {
            super::warm_ups(&Usage { warm_ups, warm_tokens: 50_000, warm_cost, ..Usage::default() })
        };
        assert_eq!(warm(0, 0.0), None);
        let expected = "1 request of pi, 50.0k tokens, $0.02; they count in no budget";
        assert_eq!(warm(1, 0.02).as_deref(), Some(expected));
        assert!(warm(2, 0.0).unwrap().starts_with("2 requests of pi, 50.0k tokens, cost unknown"));
        let models = [("a/x".to_owned(), 1), ("b/y".to_owned(), 2)].into();
        let two = usage(&Usage { turns: 3, models, ..Usage::default() });
        let expected = "3 turns (1 by a/x, 2 by b/y), 0 tokens, $0.00, 0s at work";
        assert_eq!(two.as_deref(), Some(expected));
    }
}
