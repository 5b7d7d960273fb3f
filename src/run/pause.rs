//! Pauses: the run waits for the user.

use serde::Serialize;
use serde_json::Value;

use crate::definition::Measure;

use super::broken::Broken;

/// A pause: the run waits for the user.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Pause {
    pub reason: PauseReason,
    /// Its beginning, in milliseconds since 1970.
    pub at: u64,
}

impl Pause {
    /// The pause after the run has left the phase; `None` if the pause was about that phase, and is over.
    pub(super) fn after_move(self) -> Option<Self> {
        let reason = match self.reason {
            // The user stopped the agent and moved the run: the run waits because the user wants it to.
            PauseReason::Aborted => PauseReason::User,
            reason => Some(reason).filter(PauseReason::outlasts_phase)?,
        };
        Some(Self { reason, ..self })
    }
}

/// The reason why this process does not have the claim of the session; see [`crate::engine::Host::claim`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClaimObstacle {
    /// The process with this number has the claim.
    Living(u32),
    /// A process of another host or container may have it: its number there; 0 if it is not known.
    Unknown(u32),
    /// Another process has had it since pi read the session.
    Changed,
    /// The system did not allow to take it, for this reason.
    Failed(String),
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase", tag = "kind")]
pub enum PauseReason {
    /// The user asked for the pause.
    #[serde(rename = "person")]
    User,
    /// The user stopped the agent.
    Aborted,
    /// The agent wants to cancel the run, and there is no user interface to ask the user.
    Cancel,
    /// The phase is a conversation with the user, and there is no user interface.
    Conversation,
    /// The agent tries again and again to leave the phase while one of its tool calls runs.
    Running,
    /// The agent did nothing in this number of automatic continuations.
    Idle { times: u32 },
    /// This number of tool calls in a row brought nothing new.
    Repeats { times: u32 },
    /// This number of answers in a row was cut off at the model's output limit.
    CutOff { times: u32 },
    /// The phase took this number of automatic continuations.
    Limit { times: u32 },
    /// A gate was not passed in as many attempts as it allows.
    Gate {
        /// The name of the check that failed last.
        name: String,
        times: u32,
    },
    /// An outcome leads back, and the workflow was restarted [`MAX_LOOPS`](super::MAX_LOOPS) times.
    Loops {
        /// The name of the phase.
        of: String,
        outcome: String,
        /// `PhasePath::scope_key` of the scope, if it is not the innermost.
        #[serde(skip_serializing_if = "Option::is_none")]
        scope: Option<String>,
    },
    /// An outcome led to its target as often as it may.
    Way {
        /// The name of the phase.
        of: String,
        outcome: String,
        times: u32,
    },
    /// The agent has tried this number of times to leave the phase with missing or wrong outputs.
    Outputs {
        /// The name of the phase.
        of: String,
        times: u32,
    },
    /// A nested workflow has begun without an output that `with` gives it: the phase was left without it.
    MissingOutput {
        /// The name of the nested workflow.
        of: String,
        input: String,
        /// `output.ID.NAME`.
        output: String,
    },
    /// The agent was stopped this number of times because nothing new came of it.
    Silent {
        times: u32,
        /// The time without new output after which it was stopped, in milliseconds.
        ms: u64,
    },
    /// The user has not answered the question of an entry yet.
    Question { question: String },
    /// The user has not allowed the commands of a gate or a step.
    Commands {
        /// The package that has the commands; `None` for the project.
        #[serde(skip_serializing_if = "Option::is_none")]
        package: Option<String>,
        /// The commands are values of the run, of whatever workflow.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        value: bool,
    },
    /// An entry without the model has not ended: its command failed, was stopped, or may have been interrupted.
    Step {
        /// The name of the entry.
        of: String,
        /// The reason, in words.
        why: String,
    },
    Budget {
        /// The name of the phase or workflow with the budget.
        of: String,
        measure: Measure,
        spent: u64,
        limit: u64,
    },
    /// A budget bounds the cost, and the cost of an answer is not known.
    UnknownCost {
        /// The name of the phase or workflow with the budget.
        of: String,
    },
    /// The files give other rules than the run was started with.
    RulesChanged,
    /// The rules with which the run was started are not known: its state could not be read in full.
    RulesUnknown,
    /// A later version of this package stored the run.
    LaterVersion,
    /// The entries of the run cannot be read in full.
    #[serde(skip)]
    Broken(Broken),
    /// The session belongs to another process.
    #[serde(skip)]
    OtherProcess(ClaimObstacle),
    /// The files of a workflow on the path cannot be read, or are not there.
    FilesUnreadable { workflow: String },
    /// The files have no phase where the run is.
    PhaseGone,
    /// The model failed, and pi's own retries did not help.
    ModelError,
    /// A limit of the model is reached, for example of a subscription.
    Quota {
        /// The end of the limit, in milliseconds since 1970, if the provider told it.
        #[serde(skip_serializing_if = "Option::is_none")]
        until: Option<u64>,
        /// The time at which the run goes on by itself, in milliseconds since 1970; `None` if it waits for the user.
        #[serde(rename = "goesOnAt", skip_serializing_if = "Option::is_none")]
        goes_on_at: Option<u64>,
        /// The difference between the user's local time and UTC at that time, in minutes.
        #[serde(rename = "utcOffset")]
        utc_offset: i16,
    },
    /// A reason that this version does not know, as it was stored.
    #[serde(untagged)]
    Unknown(Value),
}

impl PauseReason {
    /// Returns the name of the reason in stored states, or of a reason that is not stored: `unreadable` for a state that
    /// cannot be read in full, and `otherProcess`.
    pub fn kind(&self) -> String {
        match self {
            Self::Broken(_) => return "unreadable".to_owned(),
            Self::OtherProcess(_) => return "otherProcess".to_owned(),
            _ => {}
        }
        let stored = serde_json::to_value(self).unwrap_or_default();
        stored.get("kind").and_then(Value::as_str).unwrap_or_default().to_owned()
    }

    /// Returns true if the run waits for its user: another process that has it does not, and a limit may end by itself.
    pub fn is_for_user(&self) -> bool {
        !matches!(self, Self::OtherProcess(_) | Self::Quota { goes_on_at: Some(_), .. })
    }

    /// Returns true if the phase cannot be left as the agent or the user wants.
    pub fn is_at_exit(&self) -> bool {
        matches!(
            self,
            Self::Gate { .. }
                | Self::Loops { .. }
                | Self::Way { .. }
                | Self::Outputs { .. }
                | Self::Question { .. }
                | Self::Commands { .. }
        )
    }

    pub fn is_of_budget(&self) -> bool {
        matches!(self, Self::Budget { .. } | Self::UnknownCost { .. })
    }

    /// Returns true if the agent must not leave the phase before the user resumes the run.
    pub fn keeps_phase(&self) -> bool {
        self.is_at_exit() || self.needs_resume()
    }

    /// Returns true if only `/workflow :resume` ends the pause, not a message of the user.
    pub fn needs_resume(&self) -> bool {
        self.is_of_rules()
            || self.is_of_budget()
            || matches!(self, Self::MissingOutput { .. } | Self::Step { .. } | Self::Unknown(_))
    }

    /// Returns true if the rules of a run are the reason: the pause ends when the files give the rules again, or the user
    /// accepts the new rules.
    pub fn is_of_rules(&self) -> bool {
        matches!(
            self,
            Self::RulesChanged
                | Self::RulesUnknown
                | Self::LaterVersion
                | Self::Broken(_)
                | Self::FilesUnreadable { .. }
                | Self::PhaseGone
        )
    }

    /// Returns true if the pause stays when the run leaves its phase.
    fn outlasts_phase(&self) -> bool {
        self.is_of_rules() || self.is_of_budget() || matches!(self, Self::User | Self::Unknown(_))
    }

    /// Returns true if the agent does not do what its phase asks for, however often it is asked.
    pub fn is_of_model(&self) -> bool {
        matches!(
            self,
            Self::Idle { .. } | Self::Repeats { .. } | Self::CutOff { .. } | Self::Limit { .. } | Self::Outputs { .. }
        )
    }

    /// Returns true if the user can accept the files as they are now.
    pub fn can_be_accepted(&self) -> bool {
        match self {
            Self::Broken(broken) => broken.is_usable,
            other => matches!(other, Self::RulesChanged | Self::RulesUnknown | Self::LaterVersion),
        }
    }
}
