//! Workflows that the agent proposes with `workflow_propose`: the user is asked, and what the user allows starts when
//! the agent is at rest.
//!
//! | file | content |
//! | --- | --- |
//! | `arguments` | the arguments of a call |
//! | `state` | the tool, and the answers of the user |

mod arguments;
pub(super) mod state;

use serde_json::{Value, json};

use crate::definition::Stale;
use crate::text;

use super::ask::{Pending, Then};
use super::consent::{dialog, title_of};
use super::context::Cx;
use super::effect::{Reply, Request, ToolResult};
use super::event::Answer;
use super::scripts::read_before_start;
use super::start::state::{Next as Before, Start};
use super::start::{ask_all, questions};
use super::state::{Agent, Run, Session, Waiter};
use state::{ANSWERS, Next, ProposalAsked, Proposals, not_started};

/// The reason why a workflow does not start that is no longer the one that the user was shown.
const CHANGED: &str = "its files have changed since";

/// The tool's name for users.
pub const PROPOSE_TOOL_LABEL: &str = "Workflow Propose";

/// The JSON Schema of the arguments of `workflow_propose`.
pub fn propose_parameters() -> Value {
    json!({
        "type": "object",
        "required": ["workflow", "task"],
        "properties": {
            "workflow": { "type": "string", "description": "The name of one of the workflows" },
            "task": { "type": "string", "description": "The user's whole request: the workflow gets nothing else" },
            "inputs": {
                "type": "object",
                "additionalProperties": true,
                "description": "Values of its inputs by name, as far as the request gives them"
            }
        }
    })
}

impl Proposals {
    /// Returns the reply to the call, and ends the agent's run before a start.
    pub fn reply(&self, next: Next, pending: &mut Pending, agent: &mut Agent) -> Reply {
        match next {
            Next::Ask(request, asked) => pending.ask(Waiter::Call { nested: false }, request, Then::Proposal(asked)),
            Next::Told { text, answer, ends } => {
                if self.accepted.is_some() {
                    agent.ending.begin_before_start();
                }
                let result = ToolResult { text, details: json!({ "proposal": answer }) };
                if ends { Reply::LastTool(result) } else { Reply::Tool(result) }
            }
        }
    }

    /// Handles a call of the tool.
    ///
    /// # Errors
    ///
    /// If the session is gone.
    pub fn called(
        &mut self,
        input: &str,
        nested: bool,
        run: &mut Run,
        session: &mut Session,
        cx: &mut Cx,
    ) -> Result<Next, Stale> {
        if let Some(why) = self.refusal(nested, run.running()) {
            return Ok(self.refuse(why, run.running()));
        }
        run.read_files(|definitions| definitions.refresh(cx.host))?;
        let start = match arguments::read(input, run.library()) {
            Ok(start) => start,
            Err(why) => return Ok(self.refuse(why, None)),
        };
        let why = match cx.ui.exists() {
            true => questions::refusal(&start, run.library(), session, cx),
            false => Some(text::proposal_without_user(&start.command_name)),
        };
        let Some(workflow) = run.library().by_command_name(&start.command_name).filter(|_| why.is_none()) else {
            return Ok(self.refuse(why.unwrap_or_default(), None));
        };
        self.is_asking = true;
        self.shown = (start.command_name.clone(), run.library().seal(&workflow.key));
        let dialog = dialog(ANSWERS.len(), cx);
        let question = text::proposal_question(
            (&start.command_name, workflow),
            (&start.task, &start.values),
            run.library(),
            dialog,
        );
        let request = Request::Select { title: title_of(question, cx), options: ANSWERS.map(Into::into).into() };
        Ok(Next::Ask(request, ProposalAsked::Preview(start)))
    }

    /// Goes on with a proposal after an answer.
    pub fn answered(
        &mut self,
        asked: ProposalAsked,
        answer: Answer,
        run: &mut Run,
        session: &mut Session,
        cx: &mut Cx,
    ) -> Next {
        self.is_asking = false;
        read_before_start(run, cx);
        let name = self.shown.0.clone();
        if let Some(why) = self.refusal(false, run.running()) {
            return self.refuse(why, run.running());
        }
        let before = match asked {
            ProposalAsked::Preview(start) => match answer.chosen() {
                Some(1) => questions::next(start, run, session, cx),
                Some(2) => ask_all(start, run.library()),
                Some(3) => {
                    self.answer(&name, "never", cx);
                    return Next::told("never", text::NO_PROPOSALS);
                }
                _ => Before::Declined,
            },
            ProposalAsked::Start(asked) => questions::answered(asked, answer, run, session, cx),
        };
        match before {
            Before::Ask(request, asked) => {
                self.is_asking = true;
                Next::Ask(request, ProposalAsked::Start(asked))
            }
            Before::Ready(_) if self.has_changed(run) => {
                not_started(&name, CHANGED, cx);
                self.refuse(text::proposal_failed(&name), None)
            }
            Before::Ready(start) => {
                self.answer(&name, "start", cx);
                self.accepted = Some(start);
                Next::Told { text: text::proposal_accepted(&name), answer: "start", ends: true }
            }
            Before::Declined => {
                self.answer(&name, "later", cx);
                Next::told("later", text::proposal_declined(&name))
            }
            Before::Refused => self.refuse(text::proposal_failed(&name), None),
        }
    }

    /// Returns true if the workflow that the user was shown is no longer the same.
    fn has_changed(&self, run: &Run) -> bool {
        let (name, seal) = &self.shown;
        let workflow = run.library().by_command_name(name);
        workflow.and_then(|workflow| run.library().seal(&workflow.key)) != *seal
    }

    /// Takes the start that the user has allowed, if nothing has changed since the user's answer; otherwise the user is
    /// told why it is not started.
    pub fn take_start(
        &mut self,
        interrupted: bool,
        run: &mut Run,
        session: &mut Session,
        cx: &mut Cx,
    ) -> Option<Start> {
        let start = self.accepted.take()?;
        read_before_start(run, cx);
        let name = start.command_name.clone();
        let why = if interrupted {
            "the agent was interrupted"
        } else if run.running().is_some() {
            "another workflow was started meanwhile"
        } else if self.has_changed(run) {
            CHANGED
        } else {
            match questions::next(start, run, session, cx) {
                Before::Ready(start) => {
                    self.answer(&name, "started", cx);
                    return Some(start);
                }
                Before::Refused => {
                    // The user was told why.
                    self.answer(&name, "not started", cx);
                    return None;
                }
                Before::Ask(..) | Before::Declined => "there is another question about it",
            }
        };
        not_started(&name, why, cx);
        None
    }
}
