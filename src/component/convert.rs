//! Conversions between the types of the engine and the types of the interface.

use serde_json::Value;

use crate::definition::{KnownModel, Model, Thinking};
use crate::engine::{
    Answer, ChildEnd, ChildReport, CommandEnd, Completion, EndedCall, OutputFile, Ran, Reply, Request, ToolResult,
};
use crate::text::{Color, Drawing, Span};
use crate::usage::Usage;

use super::bindings::exports::pi::extension::guest;
use super::bindings::pi::extension::{context, types};

impl From<guest::Answer> for Answer {
    fn from(answer: guest::Answer) -> Self {
        match answer {
            guest::Answer::Confirmed(yes) => Self::Confirmed(yes),
            guest::Answer::Selected(index) => Self::Selected(index as usize),
            guest::Answer::Entered(text) => Self::Entered(text),
            guest::Answer::Ran(result) => Self::Ran(Ran {
                end: match result.end {
                    guest::CommandEnd::Exited(status) => CommandEnd::Exited(status),
                    guest::CommandEnd::TimedOut => CommandEnd::TimedOut,
                    guest::CommandEnd::Cancelled => CommandEnd::Cancelled,
                    guest::CommandEnd::NotStarted(why) => CommandEnd::NotStarted(why),
                },
                duration_ms: result.duration_ms,
                output: result.output,
                cut_bytes: result.cut_bytes,
                standard_output: result.standard_output,
                output_file: result.output_file,
            }),
            guest::Answer::ChildrenEnded(_) => Self::ChildrenEnded,
            guest::Answer::Cancelled => Self::Cancelled,
            guest::Answer::NoUi | guest::Answer::NotGranted => Self::NoUi,
        }
    }
}

impl From<&guest::EndedCall> for EndedCall {
    fn from(call: &guest::EndedCall) -> Self {
        let guest::EndedCall { name, hash, refused, duration_ms, cut_off } = call;
        Self { name: name.clone(), hash: *hash, refused: *refused, duration_ms: *duration_ms, cut_off: *cut_off }
    }
}

impl From<guest::ChildReport> for ChildReport {
    fn from(report: guest::ChildReport) -> Self {
        let guest::ChildReport { key, session, newest, usage, last_call } = report;
        Self { key, session, newest, usage: Usage::from(&usage), last_call }
    }
}

impl From<guest::ChildOutcome> for ChildEnd {
    fn from(outcome: guest::ChildOutcome) -> Self {
        match outcome {
            guest::ChildOutcome::Settled => Self::Settled,
            guest::ChildOutcome::Aborted => Self::Aborted,
            guest::ChildOutcome::Failed(why) => Self::Failed(why),
        }
    }
}

/// A value as JSON text. `Display` would add a second writer to the component, for indented text.
pub(super) fn json(value: &Value) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

impl From<Model> for types::Model {
    fn from(Model { provider, id }: Model) -> Self {
        Self { provider, id }
    }
}

impl From<types::Model> for Model {
    fn from(types::Model { provider, id }: types::Model) -> Self {
        Self { provider, id }
    }
}

impl From<context::KnownModel> for KnownModel {
    fn from(known: context::KnownModel) -> Self {
        let context::KnownModel { model, available, priced, context_window } = known;
        Self { model: model.into(), available, priced, context_window }
    }
}

impl From<Thinking> for types::ThinkingLevel {
    fn from(level: Thinking) -> Self {
        match level {
            Thinking::Off => Self::Off,
            Thinking::Minimal => Self::Minimal,
            Thinking::Low => Self::Low,
            Thinking::Medium => Self::Medium,
            Thinking::High => Self::High,
            Thinking::Xhigh => Self::Xhigh,
            Thinking::Max => Self::Max,
        }
    }
}

/// The thinking level of pi; `None` for a level that only a later version of pi has.
pub(super) fn thinking(level: types::ThinkingLevel) -> Option<Thinking> {
    Some(match level {
        types::ThinkingLevel::Off => Thinking::Off,
        types::ThinkingLevel::Minimal => Thinking::Minimal,
        types::ThinkingLevel::Low => Thinking::Low,
        types::ThinkingLevel::Medium => Thinking::Medium,
        types::ThinkingLevel::High => Thinking::High,
        types::ThinkingLevel::Xhigh => Thinking::Xhigh,
        types::ThinkingLevel::Max => Thinking::Max,
        types::ThinkingLevel::Other => return None,
    })
}

impl From<ToolResult> for types::ToolResult {
    fn from(result: ToolResult) -> Self {
        Self { text: result.text, details: json(&result.details) }
    }
}

impl From<Completion> for guest::Completion {
    fn from(completion: Completion) -> Self {
        Self { label: completion.label, value: completion.value, description: Some(completion.description) }
    }
}

impl From<Drawing> for types::Drawing {
    fn from(drawing: Drawing) -> Self {
        match drawing {
            Drawing::Lines(lines) => {
                Self::Lines(lines.into_iter().map(|line| line.into_iter().map(Into::into).collect()).collect())
            }
            Drawing::Markdown(text) => Self::Markdown(text),
        }
    }
}

impl From<Span> for types::Span {
    fn from(span: Span) -> Self {
        let color = match span.color {
            Color::Text => types::Color::Text,
            Color::Success => types::Color::Success,
            Color::Warning => types::Color::Warning,
            Color::Error => types::Color::Error,
            Color::Accent => types::Color::Accent,
            Color::Dim => types::Color::Dim,
            Color::ToolTitle => types::Color::ToolTitle,
            Color::ToolOutput => types::Color::ToolOutput,
        };
        Self { text: span.text, color, bold: span.bold }
    }
}

/// `is_last`: the agent has nothing more to do.
pub(super) fn tool_outcome(reply: Reply, is_last: bool) -> guest::ToolOutcome {
    match reply {
        Reply::LastTool(result) => guest::ToolOutcome::Last(result.into()),
        Reply::Tool(result) if is_last => guest::ToolOutcome::Last(result.into()),
        Reply::Tool(result) => guest::ToolOutcome::Done(result.into()),
        Reply::Ask { ticket, request } => guest::ToolOutcome::Pending(pending(ticket, request)),
        // The session ended during the call; the result is not read.
        Reply::None
        | Reply::Block(_)
        | Reply::Stop(_)
        | Reply::Confine { .. }
        | Reply::Drop
        | Reply::Inject { .. }
        | Reply::Continue(_)
        | Reply::Compact { .. }
        | Reply::Settle => {
            let details = serde_json::json!({ "active": false, "stale": true });
            let text = "The session was replaced.".to_owned();
            guest::ToolOutcome::Done(ToolResult { text, details }.into())
        }
    }
}

pub(super) fn command_outcome(reply: Reply) -> guest::CommandOutcome {
    match reply {
        Reply::Settle => guest::CommandOutcome::Settle,
        Reply::Ask { ticket, request } => guest::CommandOutcome::Pending(pending(ticket, request)),
        Reply::None
        | Reply::Block(_)
        | Reply::Stop(_)
        | Reply::Confine { .. }
        | Reply::Drop
        | Reply::Inject { .. }
        | Reply::Continue(_)
        | Reply::Compact { .. }
        | Reply::Tool(_)
        | Reply::LastTool(_) => guest::CommandOutcome::Done,
    }
}

pub(super) fn pending(ticket: u64, request: Request) -> guest::Pending {
    let request = match request {
        Request::Confirm { title, message } => {
            guest::Request::Confirm(guest::Confirmation { title: title.into(), message })
        }
        Request::Select { title, options } => guest::Request::Select(guest::Selection { title: title.into(), options }),
        Request::Input { title } => {
            guest::Request::Input(guest::TextInput { title: title.into(), placeholder: String::new() })
        }
        Request::Children { progress } => guest::Request::Children(progress),
        Request::Exec { command: line, env, timeout_ms, progress, apart, output_file } => {
            let output_file = output_file.map(|OutputFile { key, name }| guest::OutputFile { key, name });
            guest::Request::Exec(guest::CommandLine { line, timeout_ms, progress, env, apart, output_file })
        }
    };
    guest::Pending { ticket, request }
}
