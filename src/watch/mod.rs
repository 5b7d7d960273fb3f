//! The events of a run, for programs that watch it.
//!
//! [`between`] compares two states of a run; the engine adds what no state has: turns, refused calls and questions.
//! [`Course`] makes of them the times that a report shows. The table below is the source of `schemas/event.json` and of the page on events.
//!
//! **Invariant: an event has texts of a user, a model or a command only in the fields behind `texts`**, which
//! [`RunEvent::without_texts`] takes away.

mod between;
mod course;

use serde::Serialize;
use serde_json::{Map, Value};

use crate::definition::short;
use crate::run::RunState;
use crate::usage::Usage;

pub use between::{between, paused};
pub use course::Course;

/// Maximum length of a text in an event, in characters.
const MAX_TEXT: usize = 20_000;

/// Declares the events, each with its name and its fields: those that it always has, those that it `may` have, and its
/// `texts`. The comments describe them for users.
macro_rules! events {
    ($(
        $(#[doc = $about:literal])+
        $variant:ident = $name:literal {
            $($(#[doc = $of:literal])+ $field:ident: $type:ty,)*
        }
        $(may { $($(#[doc = $of_may:literal])+ $may:ident: $may_type:ty,)* })?
        $(texts { $($(#[doc = $of_text:literal])+ $text:ident: $text_type:ty,)* })?
    )*) => {
        #[derive(Debug, Clone, PartialEq, Serialize)]
        #[serde(tag = "type")]
        pub enum RunEvent {
            $(
                $(#[doc = $about])+
                #[serde(rename = $name)]
                $variant {
                    $($(#[doc = $of])+ $field: $type,)*
                    $($($(#[doc = $of_may])+
                    #[serde(skip_serializing_if = "Option::is_none")]
                    $may: Option<$may_type>,)*)?
                    $($($(#[doc = $of_text])+
                    #[serde(skip_serializing_if = "Option::is_none")]
                    $text: Option<$text_type>,)*)?
                },
            )*
        }

        impl RunEvent {
            /// Returns the type of the event.
            pub const fn name(&self) -> &'static str {
                match self {
                    $(Self::$variant { .. } => $name,)*
                }
            }

            /// Returns the event without its texts.
            pub fn without_texts(mut self) -> Self {
                match &mut self {
                    $(Self::$variant { $($($text,)*)? .. } => { $($(*$text = None;)*)? })*
                }
                self
            }
        }

        /// The events with their fields.
        #[cfg(not(target_arch = "wasm32"))]
        pub const EVENTS: &[EventKind] = &[$(EventKind {
            name: $name,
            about: concat!($($about),+),
            fields: &[
                $(EventField::of(stringify!($type), stringify!($field), concat!($($of),+), Given::Always),)*
                $($(EventField::of(stringify!($may_type), stringify!($may), concat!($($of_may),+), Given::Maybe),)*)?
                $($(EventField::of(stringify!($text_type), stringify!($text), concat!($($of_text),+), Given::WithTexts),)*)?
            ],
        }),*];
    };
}

events! {
    /// The run has started, or pi has opened the session of a run that goes on.
    Started = "started" {
        /// The key of its workflow.
        workflow: String,
        /// The run was started earlier, and its session was opened now.
        continued: bool,
        /// The time at which the run was started, in milliseconds since 1970.
        since: u64,
        /// The sums of the run so far.
        usage: Sums,
    } texts {
        /// The task, or the beginning of a long one.
        task: String,
        /// The values of the workflow's inputs.
        inputs: Value,
    }
    /// The run has come to an entry of its workflow; the field `entry` of the line names it.
    Entry = "entry" {
        /// The name of the entry, with the keys of the nested workflows around it and the number of its item. A command
        /// or question without a name has its id.
        title: String,
        /// `agent`, or the kind of entry without the model: `run`, `ask` or `branches`.
        work: &'static str,
        /// The number of this visit of the entry, from 1.
        visit: u32,
        /// The number of moves of the run.
        step: u64,
        /// The sums of the run so far.
        usage: Sums,
    } may {
        /// The entry that the run has left, as `entry` names it.
        from: String,
        /// The end of its visit: `done`, `skipped`, or `unfinished` (a way back, or a budget that is used up).
        left: &'static str,
        /// The outcome with which it was left.
        outcome: String,
    } texts {
        /// The summary that it handed over.
        summary: String,
        /// The outputs that it handed over.
        outputs: Value,
    }
    /// Something happened to a branch of a parallel group.
    Branch = "branch" {
        /// The branch, as `entry` names it.
        branch: String,
        /// `started`, `works` (its agent has moved on), `waits`, `done` or `failed`.
        state: &'static str,
        /// The sums of the run so far.
        usage: Sums,
    } may {
        /// The outcome with which it is done.
        outcome: String,
    } texts {
        /// Its name: that of its entry, or its item.
        name: String,
        /// The reason why it waits or has failed.
        why: String,
    }
    /// A turn of the agent has ended: an answer of the model, and its tool calls.
    Turn = "turn" {
        /// The number of tool calls in it.
        calls: u32,
        /// The number of these calls that were refused.
        refused: u32,
        /// The sums of the run so far.
        usage: Sums,
    }
    /// A tool call was refused.
    Refused = "refused" {
        /// The name of the tool.
        tool: String,
    } may {
        /// The rule that refused it: `tools`, `write`, `hide`, `sandbox`, `gate`, `freshStart`, `budget`, `seal` or `pause`.
        rule: &'static str,
    } texts {
        /// The reason that the model was given.
        why: String,
    }
    /// The checks of a gate were made, all or up to the first that failed.
    Gate = "gate" {
        /// All of them have passed.
        passed: bool,
        /// The number of the attempt to pass the gate, from 1.
        attempt: u32,
        /// The number of checks that were made.
        checks: u32,
        /// The time that they took, in milliseconds.
        ms: u64,
    } texts {
        /// The name of the last check.
        name: String,
        /// Its result.
        result: String,
        /// The end of the output of its command.
        tail: String,
    }
    /// The command of an entry `run` has ended.
    Step = "step" {
        /// It has ended with exit status 0.
        passed: bool,
        /// The time that it took, in milliseconds.
        ms: u64,
    } texts {
        /// The command line, or its name.
        name: String,
        /// Its end.
        result: String,
        /// The end of its output.
        tail: String,
    }
    /// The user is asked something by a dialog, or the dialog is over.
    Question = "question" {
        /// `asked` or `over`.
        state: &'static str,
        /// The occasion: `gate`, `entry`, `start`, `cancel`, `rules`, `claim`, `budget` or `workflow`.
        about: &'static str,
    } texts {
        /// The title of the dialog.
        title: String,
        /// Its options.
        options: Value,
    }
    /// Something happened to a budget.
    Budget = "budget" {
        /// `near` (the agent was told how much is left), `usedUp`, `unknown` (what was spent is not known), `left` (the
        /// run goes on behind the phase), `more` (the user has added to it) or `accepted` (costs that are not known).
        state: &'static str,
    } may {
        /// The measure: `cost` in millionths of a dollar, `time` in milliseconds, or `turns`.
        measure: &'static str,
        /// The amount that was spent.
        spent: u64,
        /// The amount that may be spent.
        limit: u64,
    }
    /// A bound that ends an endless repetition is reached: the run pauses. An agent that is `silent` the first time is
    /// stopped and goes on.
    Limit = "limit" {
        /// The bound, a kind of pause: `idle`, `repeats`, `cutOff`, `limit` (automatic continuations), `gate`, `loops`,
        /// `way`, `outputs` or `silent`.
        bound: String,
        /// The number of times that is the bound.
        times: u64,
    }
    /// The agent has stopped, and the run waits for a message of the user.
    Waiting = "waiting" {
        /// The sums of the run so far.
        usage: Sums,
    }
    /// The run is paused, or its rules do not hold.
    Paused = "paused" {
        /// The kind of the reason, as in the report of the run.
        reason: String,
        /// The sums of the run so far.
        usage: Sums,
    } may {
        /// The end of the model's limit (`quota`), if the provider told it, in milliseconds since 1970.
        until: u64,
        /// The time at which the run goes on by itself, in milliseconds since 1970.
        resumes: u64,
    } texts {
        /// The reason in words.
        why: String,
    }
    /// The pause is over.
    Resumed = "resumed" {
        /// The sums of the run so far.
        usage: Sums,
    }
    /// The run has ended.
    Ended = "ended" {
        /// `done`, `stopped` (by an outcome), `cancelled`, or `replaced` (another run was started).
        how: &'static str,
        /// The sums of the run.
        usage: Sums,
    } may {
        /// The entry that the run was in.
        from: String,
        /// The end of its visit.
        left: &'static str,
        /// The outcome with which it was left.
        outcome: String,
    } texts {
        /// The summary that it handed over.
        summary: String,
        /// The outputs that it handed over.
        outputs: Value,
    }
}

/// Sums of a run: tokens, cost, time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Sums {
    pub turns: u32,
    pub input: u64,
    pub output: u64,
    pub cache_read: u64,
    pub cache_write: u64,
    pub cost: f64,
    pub unpriced: u32,
    pub unreported: u32,
    pub work_ms: u64,
}

#[cfg(not(target_arch = "wasm32"))]
impl Sums {
    /// The fields, with their meanings.
    pub const FIELDS: [(&str, &str); 9] = [
        ("turns", "Answers of the model, in branches too."),
        ("input", "Input tokens."),
        ("output", "Output tokens, with those of reasoning."),
        ("cacheRead", "Tokens read from the prompt cache."),
        ("cacheWrite", "Tokens written to the prompt cache."),
        ("cost", "The cost in US dollars of the answers that have a price."),
        ("unpriced", "Answers whose cost is not known."),
        ("unreported", "Answers whose tokens are not known."),
        ("workMs", "The time in which the agent was at work, in milliseconds."),
    ];
}

impl From<&RunState> for Sums {
    fn from(state: &RunState) -> Self {
        let usage = state.usage();
        let Usage { turns, input, output, cache_read, cache_write, cost, unpriced, unreported, work_ms, .. } = usage;
        Self { turns, input, output, cache_read, cache_write, cost, unpriced, unreported, work_ms }
    }
}

/// A text of an event.
pub fn text(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| readable(&short(text, MAX_TEXT)))
}

/// A text without control characters: a program that watches may show it in a terminal.
fn readable(text: &str) -> String {
    text.replace(|c: char| c.is_control() && c != '\t', "")
}

/// The fields that the line of each event has before `type`.
#[cfg(not(target_arch = "wasm32"))]
pub const HEAD: &[EventField] = &[
    EventField::of("u64", "time", "The time, in milliseconds since 1970.", Given::Always),
    EventField::of("String", "run", "The task id of the run.", Given::Always),
    EventField::of(
        "String",
        "entry",
        "The entry at which the run is: the keys of the workflows and the places of the entries that lead to it.",
        Given::Always,
    ),
];

/// The last line of a file of `pi-workflows run`, which writes the line itself. It has only `time` before `type`.
#[cfg(not(target_arch = "wasm32"))]
pub const EXIT: EventKind = EventKind {
    name: "exit",
    about: "`pi-workflows run` ends; RPC mode has no such event.",
    fields: &[
        EventField::of("u32", "status", "Its exit status.", Given::Always),
        EventField::of("String", "outcome", "The outcome of the run, as in its result.", Given::Always),
        EventField::of("String", "run", "The task id of the run, if one was started.", Given::Maybe),
    ],
};

impl RunEvent {
    /// The line that a watching program gets: the time in milliseconds since 1970, the run, the entry that the run is
    /// at, and the event.
    pub fn line(self, unix_ms: u64, state: &RunState) -> String {
        let mut line = Map::new();
        line.insert("time".into(), unix_ms.into());
        line.insert("run".into(), state.task_id.as_str().into());
        line.insert("entry".into(), state.last_phase_key().into());
        if let Ok(Value::Object(fields)) = serde_json::to_value(self) {
            line.extend(fields);
        }
        Value::from(line).to_string()
    }
}

/// An event as the documentation has it.
#[cfg(not(target_arch = "wasm32"))]
#[derive(Debug)]
pub struct EventKind {
    pub name: &'static str,
    pub about: &'static str,
    pub fields: &'static [EventField],
}

#[cfg(not(target_arch = "wasm32"))]
#[derive(Debug)]
pub struct EventField {
    pub name: &'static str,
    pub about: &'static str,
    /// Its type in JSON; `usage` for [`Sums`], and empty for any value.
    pub json: &'static str,
    pub given: Given,
}

/// Condition under which an event has a field.
#[cfg(not(target_arch = "wasm32"))]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Given {
    Always,
    Maybe,
    /// Only with texts.
    WithTexts,
}

#[cfg(not(target_arch = "wasm32"))]
impl EventField {
    /// Returns a field of this type of Rust.
    const fn of(rust: &'static str, name: &'static str, about: &'static str, given: Given) -> Self {
        let json = match rust.as_bytes() {
            b"String" | b"&'static str" => "string",
            b"bool" => "boolean",
            b"u32" | b"u64" => "integer",
            b"Sums" => "usage",
            _ => "",
        };
        Self { name, about: about.trim_ascii_start(), json, given }
    }
}
