//! Drawings of tool calls, results, messages and entries for the transcript.

use std::borrow::Cow;

use serde_json::Value;

use super::exact::wrapped;
use super::step_result::PASSED_OVER;
use crate::definition::short;
use crate::protocol::{
    CHECK_TYPE, COMPLETE_TYPE, CONTEXT_MESSAGE_TYPE, COUNTDOWN_TYPE, FRESH_TYPE, GRAPH_TYPE, LIMITS_TYPE,
    PROPOSE_TOOL_NAME, QUESTION_TYPE,
};
use crate::protocol::{MOVED_MESSAGE_TYPE, REMINDER_MESSAGE_TYPE, REPORT_TYPE, STATUS_TYPE};

#[derive(Debug, Clone, PartialEq)]
pub enum Drawing {
    /// Lines of styled text.
    Lines(Vec<Vec<Span>>),
    Markdown(String),
}

/// Text in one style.
#[derive(Debug, Clone, PartialEq)]
pub struct Span {
    pub text: String,
    pub color: Color,
    pub bold: bool,
}

/// Colours of pi's themes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Color {
    Text,
    Success,
    Warning,
    Error,
    /// Emphasized text.
    Accent,
    Dim,
    ToolTitle,
    ToolOutput,
}

fn span(text: impl Into<String>, color: Color) -> Span {
    Span { text: text.into(), color, bold: false }
}

/// Maximum number of lines of a summary in a collapsed call.
const SUMMARY_LINES: usize = 10;
/// Maximum number of lines of the collapsed subject of a question.
const SUBJECT_LINES: usize = 40;
/// The end of a collapsed message about the end of a run.
const MORE: &str = "/workflow :report shows what each phase did and took.";
/// Maximum number of lines of a collapsed report.
const REPORT_LINES: usize = 60;

/// Draws a call of `workflow_step` with its summary, or of `workflow_propose` with its task. The input may still be
/// incomplete.
pub fn draw_call(tool: &str, input: &str, expanded: bool) -> Drawing {
    let input: Value = serde_json::from_str(input).unwrap_or_default();
    let field = |name| input.get(name).and_then(Value::as_str).unwrap_or_default();
    let (what, outcome, text) = match tool {
        PROPOSE_TOOL_NAME => (short(field("workflow"), MAX_OUTCOME), "", field("task")),
        _ => (field("action").to_owned(), field("outcome"), field("summary")),
    };
    let name = Span { bold: true, ..span(format!("{tool} "), Color::ToolTitle) };
    let mut call = vec![name, span(what, Color::Accent)];
    let outcome = short(outcome, MAX_OUTCOME);
    if !outcome.is_empty() {
        call.push(span(format!(" {outcome}"), Color::Accent));
    }
    let mut lines = vec![call];
    let summary = collapsed(text.trim(), SUMMARY_LINES, expanded);
    lines.extend(summary.lines().map(|line| vec![span(line, Color::ToolOutput)]));
    Drawing::Lines(lines)
}

/// Returns the first `limit` lines of a text and the number of the remaining ones; the whole text if it is expanded.
fn collapsed(text: &str, limit: usize, expanded: bool) -> Cow<'_, str> {
    let count = text.lines().count();
    if expanded || count <= limit + 1 {
        return Cow::Borrowed(text);
    }
    let first: Vec<&str> = text.lines().take(limit).collect();
    Cow::Owned(format!("{}\n… {} more lines", first.join("\n"), count - limit))
}

/// Maximum length of an outcome in the line of a call, in characters.
const MAX_OUTCOME: usize = 80;

/// Draws a result of `workflow_step`: its first line and the line with the passed-over entries, or all lines if
/// `expanded`; as Markdown if the run has ended or a cancellation is pending.
pub fn draw_step_result(text: &str, details: &str, expanded: bool) -> Drawing {
    let details: Value = serde_json::from_str(details).unwrap_or_default();
    let ends = details.get("cancelPending").is_some()
        || details.get("cancelled").is_some()
        || matches!(details.get("to").and_then(Value::as_str), Some("DONE" | "STOPPED"));
    if ends {
        return Drawing::Markdown(text.to_owned());
    }
    let lines = text.lines().enumerate();
    let lines =
        lines.take_while(|(index, line)| expanded || *index == 0 || (*index == 1 && line.starts_with(PASSED_OVER)));
    Drawing::Lines(lines.map(|(_, line)| vec![span(line, Color::ToolOutput)]).collect())
}

/// Draws an entry of this package: `{"content": …}`, with the name of the `workflow` for the end of a run. The lines of
/// a frame ([`framed`](super::exact::framed)) are broken at `width` columns.
pub fn draw_entry(custom_type: &str, data: &Value, expanded: bool, width: usize) -> Option<Drawing> {
    let content = data.get("content")?.as_str()?;
    if custom_type == STATUS_TYPE {
        let content = data.get("full").and_then(Value::as_str).filter(|_| expanded).unwrap_or(content);
        let lines = content.lines().flat_map(|line| wrapped(line, width));
        return Some(Drawing::Lines(lines.map(|line| status_line(&line)).collect()));
    }
    match data.get("workflow").and_then(Value::as_str) {
        // The message of `/cancel-workflow` does not contain the name.
        Some(name) if custom_type == COMPLETE_TYPE => {
            let named = format!("**{name} Cancelled**");
            draw_content(custom_type, &content.replacen("**Workflow Cancelled**", &named, 1), expanded)
        }
        _ => draw_content(custom_type, content, expanded),
    }
}

/// Draws the content of a message or an entry of this package; `None` for another type.
///
/// Specification: hook lifecycle, "Renderer Details".
pub fn draw_content(custom_type: &str, content: &str, expanded: bool) -> Option<Drawing> {
    match custom_type {
        CONTEXT_MESSAGE_TYPE => {
            let mut lines = vec![vec![span("🔄 ", Color::Accent), span("[Workflow Context injected]", Color::Dim)]];
            if expanded {
                lines.extend(content.lines().map(|line| vec![span(line, Color::Dim)]));
            }
            Some(Drawing::Lines(lines))
        }
        QUESTION_TYPE => Some(Drawing::Markdown(collapsed(content, SUBJECT_LINES, expanded).into_owned())),
        REPORT_TYPE => Some(Drawing::Markdown(collapsed(content, REPORT_LINES, expanded).into_owned())),
        COMPLETE_TYPE if expanded => Some(Drawing::Markdown(content.to_owned())),
        COMPLETE_TYPE => {
            // The task id is only useful for programs.
            let shown = content.lines().filter(|line| !line.starts_with("**Task ID:** "));
            Some(Drawing::Markdown(format!("{}\n\n{MORE}", shown.collect::<Vec<_>>().join("\n"))))
        }
        FRESH_TYPE => {
            let (before, line) = content.rsplit_once('\n').map_or(("", content), |(before, line)| (before, line));
            let mut lines: Vec<Vec<Span>> = before.lines().map(status_line).collect();
            lines.push(vec![span("🌱 ", Color::Accent), span(line, Color::Dim)]);
            Some(Drawing::Lines(lines))
        }
        COUNTDOWN_TYPE => Some(Drawing::Lines(vec![vec![span("⏳ ", Color::Accent), span(content, Color::Dim)]])),
        STATUS_TYPE => Some(Drawing::Lines(content.lines().map(status_line).collect())),
        CHECK_TYPE | LIMITS_TYPE => Some(Drawing::Lines(content.lines().map(check_line).collect())),
        GRAPH_TYPE => {
            let line = |line| vec![span(line, Color::Text)];
            Some(Drawing::Lines(content.lines().map(line).collect()))
        }
        MOVED_MESSAGE_TYPE | REMINDER_MESSAGE_TYPE => {
            let lines = if expanded { usize::MAX } else { 1 };
            let line = |line| vec![span(line, Color::Dim)];
            Some(Drawing::Lines(content.lines().take(lines).map(line).collect()))
        }
        _ => None,
    }
}

/// Draws a line of the report of `check`: the severity is coloured, the place is dim.
fn check_line(line: &str) -> Vec<Span> {
    for (mark, color) in [(": error: ", Color::Error), (": warning: ", Color::Warning)] {
        if let Some((place, message)) = line.split_once(mark) {
            let severity = mark.get(2..).unwrap_or(mark);
            return vec![span(format!("{place}: "), Color::Dim), span(severity, color), span(message, Color::Text)];
        }
    }
    let color = match line.trim_start() {
        help if help.starts_with("help: ") => Color::Accent,
        mark if mark.starts_with("| ") => Color::Error,
        _ if line.starts_with(' ') => Color::Dim,
        _ => Color::Text,
    };
    vec![span(line, color)]
}

/// Draws a line of the status panel, in the colour of its mark.
fn status_line(line: &str) -> Vec<Span> {
    let color = match line.chars().next() {
        Some('✓') => Color::Success,
        Some('▸') => Color::Accent,
        Some('○' | '⤼') => Color::Dim,
        _ => Color::Text,
    };
    vec![span(line, color)]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(drawing: &Drawing) -> String {
        match drawing {
            Drawing::Lines(lines) => {
                let line = |spans: &Vec<Span>| spans.iter().map(|s| s.text.as_str()).collect::<String>();
                lines.iter().map(line).collect::<Vec<_>>().join("\n")
            }
            Drawing::Markdown(text) => text.clone(),
        }
    }

    #[test]
    fn a_call_may_be_incomplete() {
        for (input, drawn) in [
            (r#"{"action":"next"}"#, "workflow_step next"),
            (r#"{"acti"#, "workflow_step "),
            ("null", "workflow_step "),
            (r#"{"action":7}"#, "workflow_step "),
        ] {
            assert_eq!(plain(&draw_call("workflow_step", input, false)), drawn);
        }
    }

    #[test]
    fn a_call_shows_its_summary() {
        let call = |lines: usize, expanded| {
            let lines: Vec<String> = (1..=lines).map(|line| format!("line {line}")).collect();
            let input = serde_json::json!({ "action": "next", "summary": lines.join("\n") });
            plain(&draw_call("workflow_step", &input.to_string(), expanded))
        };
        assert_eq!(call(2, false), "workflow_step next\nline 1\nline 2");
        assert!(call(11, false).ends_with("line 10\nline 11"));
        assert!(call(12, false).ends_with("line 10\n… 2 more lines"));
        assert!(call(12, true).ends_with("line 11\nline 12"));
    }

    #[test]
    fn a_result_shows_what_happened() {
        let text = "✓ Advanced: A → B\n\nDo B.";
        assert_eq!(plain(&draw_step_result(text, r#"{"to":"B"}"#, false)), "✓ Advanced: A → B");
        assert_eq!(plain(&draw_step_result(text, r#"{"to":"B"}"#, true)), text);
        assert_eq!(plain(&draw_step_result(text, r#"{"to":"DONE"}"#, false)), text);
        assert_eq!(plain(&draw_step_result(text, "", false)), "✓ Advanced: A → B");
    }

    #[test]
    fn only_our_types_are_drawn() {
        assert_eq!(draw_content("other", "x", false), None);
        let drawn = draw_content(CONTEXT_MESSAGE_TYPE, "secret", false).unwrap();
        assert_eq!(plain(&drawn), "🔄 [Workflow Context injected]");
        let drawn = draw_content(COMPLETE_TYPE, "✅ **Done**", false);
        assert_eq!(drawn, Some(Drawing::Markdown(format!("✅ **Done**\n\n{MORE}"))));
        let content = "✅ **Done**\n\n**Task:** x\n**Task ID:** wf-1\n**Phases completed:** 2";
        let drawn = draw_content(COMPLETE_TYPE, content, false);
        let shown = format!("✅ **Done**\n\n**Task:** x\n**Phases completed:** 2\n\n{MORE}");
        assert_eq!(drawn, Some(Drawing::Markdown(shown)));
        let drawn = draw_content(COMPLETE_TYPE, content, true);
        assert_eq!(drawn, Some(Drawing::Markdown(content.into())));
    }
}
