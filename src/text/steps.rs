//! The list of all steps in the context prompt.

use crate::run::{Active, Outline, Step};

/// Maximum number of listed steps; of a longer workflow, those around the current one are listed.
const MAX_STEPS: usize = 60;

/// Returns all steps, numbered across nested workflows, with a mark at the current one.
pub(super) fn list(active: &Active) -> String {
    let outline = Outline::of(active);
    let most = MAX_STEPS as u64;
    let first = if outline.total <= most {
        1
    } else {
        outline.current.saturating_sub(most / 2).clamp(1, outline.total - most + 1)
    };
    let steps = Outline::steps(active, first, MAX_STEPS);
    let after = outline.total.saturating_sub(first - 1).saturating_sub(steps.len() as u64);
    let mut lines = vec!["**All steps:**".to_owned()];
    if first > 1 {
        lines.push(format!("  … {} before", first - 1));
    }
    lines.extend(steps.iter().map(|step| {
        let current = step.number == outline.current;
        let (mark, note) = if current { ("▸", " (current)") } else { (" ", "") };
        format!("{mark} {}. {}{note}", step.number, name(step))
    }));
    if after > 0 {
        lines.push(format!("  … {after} more"));
    }
    lines.join("\n")
}

/// Returns the name of a step with the names of the nested workflows around it.
pub(super) fn name(step: &Step) -> String {
    let mut name = String::new();
    for scope in &step.scopes {
        name.push_str(scope);
        name.push_str(" > ");
    }
    name.push_str(&step.phase.emoji);
    name.push(' ');
    name.push_str(&step.phase.name);
    name
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definition::fixtures::library;
    use crate::run::{RunState, Segment};

    #[test]
    fn a_long_workflow_is_listed_around_the_current_step() {
        let names: Vec<String> = (1..=100).map(|n| format!("p{n}")).collect();
        let phases: Vec<&str> = names.iter().map(String::as_str).collect();
        let library = library(&[("long", &phases)]);
        for (index, first, last) in [
            (0, "▸ 1. 🔹 P1 (current)", "  … 40 more"),
            (49, "  … 19 before", "  … 21 more"),
            (99, "  … 40 before", "▸ 100. 🔹 P100 (current)"),
        ] {
            let state = RunState {
                current_path: vec![Segment { workflow_key: "long".into(), phase_index: index }],
                ..RunState::new("long", "", 0, 0)
            };
            let list = list(&Active::resolve(&state, &library).unwrap());
            let lines: Vec<&str> = list.lines().collect();
            assert_eq!((lines[1], *lines.last().unwrap()), (first, last));
            assert!(list.contains("(current)"));
        }
    }
}
