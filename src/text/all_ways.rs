//! The list of all ways through a workflow.

use crate::definition::{Library, ValueType, Workflow, is_group_key, on_one_line};
use crate::run::{Limit, OutputValue, PhasePath, Way, WayEnd, WayStep, Ways};

use super::outputs::output_on_one_line;
use super::ways::{short, times};

/// Maximum number of phases of a way that are shown.
const MAX_PHASES: usize = 100;
/// Maximum number of reasons of a way that are shown, and of entries that are passed over for one reason.
const MAX_PASSED: usize = 10;

/// Returns the ways, one paragraph each: the phases by their ids with the outcomes and the outputs that decide, the
/// entries that are passed over with the reasons. `loops` is the bound of the search.
pub fn all_ways(workflow: &Workflow, library: &Library, ways: &Ways, loops: u32) -> String {
    let count = ways.ways.len().saturating_add(ways.others);
    let count = match (count, ways.is_cut) {
        (1, false) => "1 way".to_owned(),
        (count, false) => format!("{count} ways"),
        (count, true) => format!("More than {count} ways"),
    };
    let mut parts = vec![format!("{count} through {}:", on_one_line(&workflow.name))];
    let ways_in_words = ways.ways.iter().zip(1_usize..);
    parts.extend(ways_in_words.map(|(way, number)| in_words(way, number, workflow, library)));
    if ways.others > 0 || ways.is_cut {
        parts.push(format!("Only the first {} are listed.", ways.ways.len()));
    }
    if ways.has_more_loops {
        let times = times(loops);
        parts.push(format!(
            "Outcomes lead back at most {times} in each workflow here; a run may go back more often (maxLoops)."
        ));
    }
    parts.join("\n\n")
}

fn in_words(way: &Way, number: usize, workflow: &Workflow, library: &Library) -> String {
    let mut phases = Vec::new();
    // The entries that are passed over, by the reason.
    let mut passed: Vec<(String, Vec<String>)> = Vec::new();
    for step in &way.steps {
        match step {
            WayStep::Phase { path, outcome, outputs, went_on } => {
                let mut left: Vec<String> = outcome.iter().cloned().collect();
                let outputs = outputs.iter();
                left.extend(outputs.map(|(name, value)| format!("{name}={}", short(&output_on_one_line(value)))));
                left.extend(went_on.map(|limit| match limit {
                    Limit::MaxLoops(_) => "and on after maxLoops".to_owned(),
                    Limit::Max(max) => format!("after {}", times(max)),
                }));
                let left = match left.is_empty() {
                    true => String::new(),
                    false => format!(" ({})", left.join(", ")),
                };
                phases.push(format!("{}{left}", entry(path, library)));
            }
            WayStep::Laps { more } => {
                phases.push(format!("… ({more} loop{} more)", if *more == 1 { "" } else { "s" }));
            }
            WayStep::PassedOver { path, because } => {
                let (reason, entry) = (because.to_string(), entry(path, library));
                match passed.iter_mut().find(|(other, _)| *other == reason) {
                    Some((_, entries)) if entries.contains(&entry) => {}
                    Some((_, entries)) => entries.push(entry),
                    None => passed.push((reason, vec![entry])),
                }
            }
        }
    }
    shorten(&mut phases, MAX_PHASES);
    if phases.is_empty() {
        phases.push("no phase".into());
    }
    phases.push(match way.end {
        WayEnd::Done => "DONE".into(),
        WayEnd::Stopped => "stopped".into(),
        WayEnd::Paused { limit: Some(Limit::MaxLoops(loops)) } => format!("paused (maxLoops: {loops})"),
        WayEnd::Paused { limit: Some(Limit::Max(max)) } => format!("paused (max: {max})"),
        WayEnd::Paused { limit: None } => "paused".into(),
    });
    let passed = passed.into_iter().map(|(reason, mut entries)| {
        shorten(&mut entries, MAX_PASSED);
        format!("passed over: {} ({reason})", entries.join(", "))
    });
    let mut passed: Vec<String> = passed.collect();
    shorten(&mut passed, MAX_PASSED);
    let passed = passed.iter().map(|line| format!("   {line}"));
    let of_input = |name: &str, value: &str| {
        let input = workflow.inputs.iter().find(|input| input.name == name);
        let value = match input.map(|input| &input.kind) {
            Some(kind @ ValueType::List { .. }) => OutputValue::of_text(kind, value),
            Some(_) | None => Some(OutputValue::Text(value.to_owned())),
        };
        value.map(|value| short(&output_on_one_line(&value))).unwrap_or_default()
    };
    let inputs: Vec<String> =
        way.inputs.iter().map(|(name, value)| format!("{name}={}", of_input(name, value))).collect();
    let inputs = if inputs.is_empty() { String::new() } else { format!("{}: ", inputs.join(", ")) };
    let line = on_one_line(&format!("{number}. {inputs}{}", phases.join(" → ")));
    std::iter::once(line).chain(passed).collect::<Vec<String>>().join("\n")
}

/// Replaces the items beyond a limit by their number.
fn shorten(items: &mut Vec<String>, limit: usize) {
    let left_out = items.len().saturating_sub(limit);
    items.truncate(limit);
    if left_out > 0 {
        items.push(format!("… ({left_out} more)"));
    }
}

/// The id of the phase at a path, or the key of the nested workflow, behind the keys of the nested workflows around it.
fn entry(path: &PhasePath, library: &Library) -> String {
    let keys = path.iter().skip(1).map(|segment| &segment.workflow_key);
    let nested = keys.filter(|key| !is_group_key(key)).map(|key| short(key));
    let own = path.last().and_then(|segment| {
        let entry = library.get(&segment.workflow_key)?.phases.get(segment.phase_index)?;
        Some(short(entry.id()))
    });
    nested.chain(own).collect::<Vec<String>>().join(" > ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definition::fixtures::{phase, workflow};
    use crate::definition::{Entry, Outcome, Target};
    use crate::run::{WayBounds, WayStarts, ways};

    #[test]
    fn a_long_way_is_shortened_and_entries_of_one_reason_share_a_line() {
        let ids: Vec<String> = (0..150).map(|number| format!("p{number}")).collect();
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        let mut root = workflow("w", &ids);
        let mut first = phase("p0");
        let outcome = |name: &str, target| Outcome::new(name, target);
        first.outcomes =
            vec![outcome("none", Target::Done), outcome("all", Target::Next), outcome("again", Target::Loop)];
        root.phases[0] = Entry::phase(first);
        root.max_loops = 1.into();
        let library = Library::new(vec![root], &mut Vec::new());
        let workflow = library.get("w").unwrap();
        let starts = WayStarts::of(workflow, &Default::default(), &library).unwrap();
        let bounds = WayBounds { loops: 1, ways: 3, steps: 1000, work: 1000 };
        let text = all_ways(workflow, &library, &ways(&starts, &library, bounds), 1);
        let parts: Vec<&str> = text.split("\n\n").collect();
        assert_eq!(parts[0], "5 ways through The w:");
        assert_eq!(
            parts[1],
            "1. p0 (none) → DONE\n   passed over: p1, p2, p3, p4, p5, p6, p7, p8, p9, p10, … (139 more) (`none` of p0 leads past it)"
        );
        assert_eq!(parts[3], "3. p0 (again) → p0 (again) → paused (maxLoops: 1)");
        assert_eq!(parts[4], "Only the first 3 are listed.");
        let bounds = WayBounds { ways: 10, ..bounds };
        let text = all_ways(workflow, &library, &ways(&starts, &library, bounds), 1);
        assert!(text.contains("4. p0 (all) → p1 → "), "{text}");
        assert!(text.contains(" → p99 → … (50 more) → DONE\n\n5. "), "{text}");
    }
}
