//! The exact calls of `workflow_step` that leave a phase. A model copies a call more reliably than it makes a call from
//! a description.

use crate::definition::{Output, Phase, ValueType, is_blank, trim};
use crate::run::Active;

use super::names::{phase_title, short_name};
use super::ways::outcome_line;

/// Maximum number of outcomes that each have a call of their own.
const MAX_CALLS: usize = 4;

/// The summary of an exact call, in place of the agent's own.
const SUMMARY: &str = "<what you found or did>";

/// Returns the calls that leave the phase, one for each outcome in the order of the file; for many outcomes, a list of
/// the outcomes and one call.
pub(super) fn leaving_calls(active: &Active) -> String {
    let phase = active.phase;
    let outcomes = &phase.outcomes;
    if outcomes.is_empty() {
        return next_call(phase, None);
    }
    let is_few = outcomes.len() <= MAX_CALLS;
    let line = |outcome| match is_few {
        true => format!("- {}:\n  {}", outcome_line(active, outcome), next_call(phase, Some(&outcome.name))),
        false => format!("- {}", outcome_line(active, outcome)),
    };
    let mut lines = vec!["**Outcomes:** leave the phase with one of these:".to_owned()];
    lines.extend(outcomes.iter().map(line));
    if !is_few {
        lines.push(next_call(phase, Some("<one of these outcomes>")));
    }
    lines.join("\n")
}

/// Returns the call of `next` with this outcome, and with an example of each output that the phase needs. The keys are
/// in the order of the tool's schema, which grammars force.
fn next_call(phase: &Phase, outcome: Option<&str>) -> String {
    let text = |text: &str| serde_json::Value::from(text).to_string();
    let mut call = format!(r#"workflow_step {{"action": "next", "summary": {}"#, text(SUMMARY));
    if let Some(outcome) = outcome {
        call.push_str(&format!(r#", "outcome": {}"#, text(outcome)));
    }
    let outputs = examples(&phase.outputs);
    if !outputs.is_empty() {
        call.push_str(&format!(r#", "outputs": {{{outputs}}}"#));
    }
    call.push('}');
    call
}

/// Returns an example of each output, or field of a record, that is needed.
fn examples(outputs: &[Output]) -> String {
    let text = |text: &str| serde_json::Value::from(text).to_string();
    let needed = outputs.iter().filter(|output| !output.is_optional).map(|Output { name, kind, .. }| {
        let value = match kind {
            ValueType::Text(_) => text(&placeholder(name)),
            ValueType::Choice(_) => text(&kind.sample(name)),
            ValueType::List { fields, .. } if !fields.is_empty() => format!("[{{{}}}]", examples(fields)),
            ValueType::List { .. } => format!("[{}]", text(&placeholder(name))),
            ValueType::Number(_) | ValueType::Flag | ValueType::Command => kind.sample(name),
        };
        format!("{}: {value}", text(name))
    });
    needed.collect::<Vec<_>>().join(", ")
}

/// The example of a text in an exact call.
fn placeholder(name: &str) -> String {
    format!("<{name}>")
}

/// Returns true if a summary is copied from an exact call, or has the form of its summary: `<…>`.
pub fn is_placeholder(summary: &str) -> bool {
    let inside = trim(summary).strip_prefix('<').and_then(|rest| rest.strip_suffix('>'));
    let is_copy = trim(summary).eq_ignore_ascii_case(trim(SUMMARY.trim_matches(['<', '>'])));
    is_copy || inside.is_some_and(|inside| !inside.contains(['<', '>', '\n']) && !is_blank(inside))
}

/// Returns the end of the refusal of a malformed `next`: the exact calls.
pub(super) fn call_again(active: &Active) -> String {
    let calls = leaving_calls(active);
    match active.phase.outcomes.is_empty() {
        true => format!("\n\nThe exact call:\n{calls}"),
        false => format!("\n\n{calls}"),
    }
}

/// Returns the refusal of a `next` without the outcome that the phase needs, or with an unknown outcome.
pub fn outcome_missing(active: &Active, given: &str) -> String {
    let title = phase_title(active.phase);
    let found = match given {
        "" => format!("The phase {title} is left with an outcome"),
        given => format!("`{}` is no outcome of the phase {title}", short_name(given)),
    };
    format!("⚠️ {found}.{}", call_again(active))
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::definition::Library;
    use crate::definition::fixtures::Files;
    use crate::engine::{STEP_TOOL, prepared};
    use crate::run::{RunState, given_outputs};

    /// The calls that a text shows.
    fn calls(text: &str) -> Vec<Value> {
        let calls = text.lines().filter_map(|line| line.trim().strip_prefix("workflow_step "));
        calls.map(|call| serde_json::from_str(call).unwrap()).collect()
    }

    #[test]
    fn each_call_fits_the_schema_in_the_order_of_its_keys_and_the_phase() {
        let schema = STEP_TOOL.parameters();
        let keys: Vec<&String> = schema["properties"].as_object().unwrap().keys().collect();
        assert_eq!(keys, ["action", "summary", "outcome", "outputs"]);
        let outputs = "outputs:\n  size: { type: choice, options: [small, \"l\\\"arge\"] }\n  risky: { type: flag }\n  rounds: { type: number, min: 2 }\n  why: { type: text }\n  parts: { type: list }\n  more: { type: text, optional: true }\n";
        for (outcomes, count) in [
            ("", 1),
            ("outcomes: { good: next, bad: stop }\n", 2),
            ("outcomes: { a: next, b: next, c: next, d: next, e: stop }\n", 1),
        ] {
            let mut files = Files::default();
            files.global.insert(
                "w/workflow.yaml".into(),
                "name: W\ncommandName: w\ninitialMessage: Go\nphases: [a.md]\n".into(),
            );
            files
                .global
                .insert("w/a.md".into(), format!("---\nid: a\nname: A\nemoji: '*'\n{outputs}{outcomes}---\nDo it.\n"));
            let (library, diagnostics) = Library::load(&files).unwrap();
            assert_eq!(diagnostics, []);
            let state = RunState::new("w", "t", 0, 0);
            let active = Active::resolve(&state, &library).unwrap();
            let calls = calls(&leaving_calls(&active));
            assert_eq!(calls.len(), count);
            for call in calls {
                assert_eq!(prepared(call.clone()), call);
                let given: Vec<&String> = call.as_object().unwrap().keys().collect();
                let order: Vec<&String> = keys.iter().copied().filter(|key| given.contains(key)).collect();
                assert_eq!(given, order);
                assert!(is_placeholder(call["summary"].as_str().unwrap()));
                // The examples of texts are refused, everything else fits.
                assert_eq!(given_outputs(&active.outputs(), &call["outputs"]).unwrap_err().len(), 2, "{call}");
            }
        }
    }

    #[test]
    fn a_summary_in_the_form_of_an_example_is_one() {
        for (summary, is) in [
            ("<what you found or did>", true),
            (" <…> ", true),
            ("What you found or did", true),
            ("<>", false),
            ("<b>bold</b>", false),
            ("Found a < b > c", false),
            ("", false),
        ] {
            assert_eq!(is_placeholder(summary), is, "{summary}");
        }
    }
}
