//! The list of all phases in the context prompt, under the heading "All steps" of the specification.

use super::ways::passed;
use crate::run::{Active, NumberedPhase, Outline};

/// Maximum number of phases of a complete list; a longer list has the first, the last, and those around the current
/// one.
const MAX_COMPLETE: u64 = 20;
/// Number of phases before the current one, and after it, in a list that is not complete.
const AROUND: u64 = 5;

/// Returns all phases, numbered across nested workflows, with a mark at the current one.
///
/// Of more than 20 phases, lists the first, the last, and the phases around the current one, and counts the others.
pub(super) fn list(active: &Active) -> String {
    let Outline { current, total } = Outline::of(active);
    let mut lines = vec!["**All steps:**".to_owned()];
    let mut listed = 0;
    for (first, last) in ranges(current, total) {
        let left_out = first.saturating_sub(listed).saturating_sub(1);
        if left_out > 0 {
            let side = if first <= current { "earlier" } else { "later" };
            lines.push(format!("  … {left_out} {side} steps"));
        }
        let count = last.saturating_sub(first).saturating_add(1);
        let phases = Outline::phases(active, first, usize::try_from(count).unwrap_or(usize::MAX));
        lines.extend(phases.iter().map(|at| {
            let current = at.number == current;
            let passed = passed(active.state, &at.path).filter(|_| !current);
            let (mark, note) = match (current, passed) {
                (true, _) => ("▸", " (current)".to_owned()),
                (false, Some(passed)) => (" ", format!(" (passed over: {})", passed.because)),
                (false, None) => (" ", String::new()),
            };
            format!("{mark} {}. {}{note}", at.number, name(at))
        }));
        listed = last;
    }
    lines.join("\n")
}

/// Returns the listed ranges of phases, each with its first and its last number. Between two ranges are at least two
/// phases: a single phase is listed, because its name takes no more space than a count.
fn ranges(current: u64, total: u64) -> Vec<(u64, u64)> {
    if total <= MAX_COMPLETE {
        return vec![(1, total)];
    }
    let around = (current.saturating_sub(AROUND).max(1), current.saturating_add(AROUND).min(total));
    let mut ranges = vec![(1_u64, 1_u64)];
    for (first, last) in [around, (total, total)] {
        match ranges.last_mut() {
            Some((_, end)) if first <= end.saturating_add(2) => *end = last,
            _ => ranges.push((first, last)),
        }
    }
    ranges
}

/// Returns the name of a phase with the names of the nested workflows around it.
pub(super) fn name(at: &NumberedPhase) -> String {
    let mut name = String::new();
    for scope in &at.scopes {
        name.push_str(scope);
        name.push_str(" > ");
    }
    name + &at.phase.title()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definition::Library;
    use crate::definition::fixtures::library;
    use crate::run::path::path_to;
    use crate::run::{RunState, enter};
    use proptest::prelude::*;

    fn flat(count: usize) -> Library {
        let names: Vec<String> = (1..=count).map(|n| format!("p{n}")).collect();
        let phases: Vec<&str> = names.iter().map(String::as_str).collect();
        library(&[("long", &phases)])
    }

    fn lines_at(library: &Library, number: usize) -> Vec<String> {
        let state = RunState::new("long", "", 0, 0).at(path_to(&[("long", number - 1)]));
        let list = list(&Active::resolve(&state, library).unwrap());
        list.lines().skip(1).map(str::to_owned).collect()
    }

    #[test]
    fn of_more_steps_those_around_the_current_one_are_listed() {
        let library = flat(100);
        assert_eq!(
            lines_at(&library, 43),
            [
                "  1. 🔹 P1",
                "  … 36 earlier steps",
                "  38. 🔹 P38",
                "  39. 🔹 P39",
                "  40. 🔹 P40",
                "  41. 🔹 P41",
                "  42. 🔹 P42",
                "▸ 43. 🔹 P43 (current)",
                "  44. 🔹 P44",
                "  45. 🔹 P45",
                "  46. 🔹 P46",
                "  47. 🔹 P47",
                "  48. 🔹 P48",
                "  … 51 later steps",
                "  100. 🔹 P100",
            ]
        );
        for (current, count, second, second_last) in [
            (1, 8, "  2. 🔹 P2", "  … 93 later steps"),
            // A single phase is listed.
            (8, 15, "  2. 🔹 P2", "  … 86 later steps"),
            (9, 15, "  … 2 earlier steps", "  … 85 later steps"),
            (92, 15, "  … 85 earlier steps", "  … 2 later steps"),
            (93, 15, "  … 86 earlier steps", "  99. 🔹 P99"),
            (100, 8, "  … 93 earlier steps", "  99. 🔹 P99"),
        ] {
            let lines = lines_at(&library, current);
            assert_eq!((lines.len(), &*lines[1]), (count, second), "{current}");
            assert_eq!(lines[lines.len() - 2], second_last, "{current}");
        }
    }

    #[test]
    fn a_tower_of_doublings_has_a_short_list() {
        let keys: Vec<String> = (0..=90).map(|level| format!("w{level:02}")).collect();
        let entries: Vec<[String; 2]> = keys.iter().skip(1).map(|key| [format!("@{key}"), format!("@{key}")]).collect();
        let refs: Vec<[&str; 2]> = entries.iter().map(|[a, b]| [a.as_str(), b.as_str()]).collect();
        let mut all: Vec<(&str, &[&str])> =
            keys.iter().zip(&refs).map(|(key, refs)| (key.as_str(), refs.as_slice())).collect();
        all.push(("w90", &["leaf"]));
        let library = library(&all);
        let state = enter(&RunState::new("w00", "", 0, 0), &library);
        let list = list(&Active::resolve(&state, &library).unwrap());
        assert_eq!(list.lines().count(), 9);
        assert!(list.contains("\n▸ 1. "));
        assert!(list.contains(&format!("\n  … {} later steps\n", u64::MAX - 7)));
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        /// The ranges are in order and apart, contain the first, the current and the last phase, and are short, however
        /// many phases there are.
        #[test]
        fn the_ranges_of_any_outline_are_short(
            total in prop_oneof![1_u64..60, 1..=u64::MAX, Just(u64::MAX)],
            at in prop_oneof![Just(0), Just(u64::MAX), any::<u64>()],
        ) {
            let current = at % total + 1;
            let ranges = ranges(current, total);
            let listed: u64 = ranges.iter().map(|(first, last)| last - first + 1).sum();
            prop_assert!(listed <= MAX_COMPLETE.min(total));
            prop_assert!(total <= MAX_COMPLETE || listed <= 2 * AROUND + 5);
            for number in [1, current, total] {
                prop_assert!(ranges.iter().any(|(first, last)| (*first..=*last).contains(&number)));
            }
            prop_assert!(ranges.windows(2).all(|pair| pair[0].1 + 2 < pair[1].0));
            prop_assert!(total > MAX_COMPLETE || ranges == [(1, total)]);
        }
    }
}
