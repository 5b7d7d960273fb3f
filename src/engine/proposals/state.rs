//! The proposals of the agent in a session.

use serde_json::{Value, json};

use crate::definition::Stale;
use crate::engine::context::Cx;
use crate::engine::effect::{Effect, Level, Request};
use crate::engine::start::state::{Start, StartAsked};
use crate::engine::state::Run;
use crate::engine::tools::show_tool;
use crate::protocol::{PROPOSAL_TYPE, PROPOSE_TOOL_NAME};
use crate::run::RunState;
use crate::text;

/// Maximum number of proposals that the user declines before the next are refused, until the user's next message.
const MAX_DECLINED: u32 = 2;
/// Number of refused proposals since the user's last message with which the agent's run ends.
const MAX_REFUSED: u32 = 5;

/// The tool, as it is registered and shown; the answers of the user to proposals.
///
/// **Invariant: a proposal starts nothing.** Only the answer of the user to the dialog about it does.
#[derive(Debug, Default)]
pub struct Proposals {
    /// The number of the reading of the files that `offer` is of.
    reading: u32,
    /// The description of the tool; `None` if no workflow is offered.
    offer: Option<String>,
    /// The description with which this instance has registered the tool.
    registered: Option<String>,
    /// The model is shown the tool, as far as this part knows.
    is_shown: bool,
    /// The tool was taken away from the model, and is given back.
    is_taken: bool,
    /// The agent works on a branch: its session is no user's.
    is_of_branch: bool,
    /// The user wants no proposals in this session.
    are_unwanted: bool,
    declined: u32,
    refused: u32,
    /// The user has a dialog about a proposal.
    pub is_asking: bool,
    /// The name of the workflow that the user was shown last, and its seal.
    pub shown: (String, Option<String>),
    /// The start that the user has allowed, and that waits for the agent to stop.
    pub accepted: Option<Start>,
}

/// A question about a proposal.
#[derive(Debug)]
pub enum ProposalAsked {
    /// One of [`ANSWERS`].
    Preview(Start),
    /// A question before the start.
    Start(StartAsked),
}

/// The options of the question about a proposal. A key that was meant for the editor chooses the first option: that
/// option does no harm.
pub const ANSWERS: [&str; 4] = ["Not now", "Start it", "Start it with other values", "Never in this session"];

/// The next action after a call or an answer.
#[allow(clippy::large_enum_variant, reason = "it is made and used up at once")]
pub enum Next {
    Ask(Request, ProposalAsked),
    /// The result of the call, and the answer in one word. With `ends` the agent's run ends.
    Told {
        text: String,
        answer: &'static str,
        ends: bool,
    },
}

impl Next {
    pub fn told(answer: &'static str, text: impl Into<String>) -> Self {
        Self::Told { text: text.into(), answer, ends: false }
    }
}

impl Proposals {
    /// Takes the answers that the session stores.
    pub fn begin_session(&mut self, run: &Run, cx: &mut Cx) -> Result<(), Stale> {
        (self.declined, self.refused, self.is_asking, self.accepted) = (0, 0, false, None);
        self.is_of_branch = run.state().is_some_and(|state| state.progress().branch.is_some());
        self.are_unwanted = false;
        if self.is_of_branch {
            return Ok(());
        }
        let newest = cx.host.entry(PROPOSAL_TYPE, 0)?;
        let newest: Value = newest.and_then(|data| serde_json::from_str(&data).ok()).unwrap_or_default();
        let field = |name| newest.get(name).and_then(Value::as_str);
        self.are_unwanted = field("answer") == Some("never");
        if field("answer") == Some("start") {
            let name = field("workflow").unwrap_or_default();
            not_started(name, "the agent had not stopped when the session ended", cx);
        }
        Ok(())
    }

    /// The user has sent a message: the agent may ask again.
    pub fn user_spoke(&mut self) {
        (self.declined, self.refused) = (0, 0);
    }

    /// The reason, for the model, why the user is not asked; `None` if a proposal is possible.
    pub fn refusal(&self, nested: bool, run: Option<&RunState>) -> Option<&'static str> {
        if self.is_of_branch {
            Some(text::PROPOSAL_IN_BRANCH)
        } else if run.is_some() {
            Some(text::PROPOSAL_IN_RUN)
        } else if self.are_unwanted {
            Some(text::NO_PROPOSALS)
        } else if nested {
            Some(text::PROPOSAL_NESTED)
        } else if self.is_asking || self.accepted.is_some() {
            Some(text::PROPOSAL_PENDING)
        } else if self.declined >= MAX_DECLINED {
            Some(text::PROPOSALS_OVER)
        } else {
            None
        }
    }

    /// Refuses a proposal; one refusal of many ends the agent's run, unless a workflow is in progress.
    pub fn refuse(&mut self, text: impl Into<String>, run: Option<&RunState>) -> Next {
        self.refused = self.refused.saturating_add(u32::from(run.is_none()));
        let ends = self.accepted.is_some() || run.is_none() && self.refused >= MAX_REFUSED;
        Next::Told { text: text.into(), answer: "refused", ends }
    }

    /// Notes the answer of the user to the proposal of this workflow.
    pub fn answer(&mut self, workflow: &str, answer: &'static str, cx: &mut Cx) {
        match answer {
            "later" => self.declined = self.declined.saturating_add(1),
            "never" => self.are_unwanted = true,
            _ => {}
        }
        store(workflow, answer, cx);
    }

    /// Registers the tool and shows it to the model where a workflow is offered and none is in progress; takes it away
    /// elsewhere, and gives it back. A choice of the user's or of another extension stays.
    pub fn follow(&mut self, run: &Run, cx: &mut Cx) -> Result<(), Stale> {
        let is_free = run.running().is_none() && !self.is_of_branch && !self.are_unwanted;
        if !is_free && !self.is_shown {
            return Ok(());
        }
        if std::mem::replace(&mut self.reading, run.reading()) != run.reading() {
            self.offer = text::offer(run.library());
        }
        let shows = is_free && self.offer.is_some();
        if shows && self.registered != self.offer {
            // After a trap, an earlier instance has registered the tool, and may have taken it away.
            self.is_taken |= self.registered.is_none() && cx.host.tools()?.iter().any(|tool| tool == PROPOSE_TOOL_NAME);
            cx.effects.extend(self.offer.clone().map(Effect::OfferTool));
            self.registered.clone_from(&self.offer);
        }
        if shows != std::mem::replace(&mut self.is_shown, shows) && (!shows || std::mem::take(&mut self.is_taken)) {
            self.is_taken = show_tool(PROPOSE_TOOL_NAME, shows, cx)? && !shows;
        }
        Ok(())
    }
}

/// Tells the user that an accepted proposal is not started, and notes it.
pub fn not_started(workflow: &str, why: &str, cx: &mut Cx) {
    cx.notify(Level::Warning, text::proposal_not_started(workflow, why));
    store(workflow, "not started", cx);
}

fn store(workflow: &str, answer: &str, cx: &mut Cx) {
    let data = json!({ "workflow": workflow, "answer": answer });
    cx.push(Effect::AppendEntry { custom_type: PROPOSAL_TYPE, data });
}
