//! A gate whose checks are being made.

use crate::definition::{Check, CheckKind, Pattern};
use crate::run::{Active, Evidence, Outputs, RunState, Tail};
use crate::text;

use crate::engine::consent::Unallowed;
use crate::engine::environment::OpenCommand;
use crate::engine::state::{Place, Run, Waiter};

/// The party that wants to leave the phase.
#[derive(Debug, Clone, PartialEq)]
pub enum Requester {
    /// The agent, by this call of its tool.
    Agent(StepCall),
    /// The user, by `/workflow :next`.
    User,
}

impl Requester {
    /// The party that waits for the end of the gate.
    pub fn waiter(&self) -> Waiter {
        match self {
            Self::Agent(call) => Waiter::Call { nested: call.nested },
            Self::User => Waiter::User,
        }
    }

    /// The agent's call; `None` for another requester.
    pub fn call(&self) -> Option<&StepCall> {
        match self {
            Self::Agent(call) => Some(call),
            Self::User => None,
        }
    }
}

/// A call of the step tool that moves the run.
#[derive(Debug, Clone, PartialEq)]
pub struct StepCall {
    /// Summary that the phase hands over.
    pub summary: Option<String>,
    /// Outputs that the phase hands over.
    pub outputs: Option<Outputs>,
    /// Another tool made the call: the model does not see the result.
    pub nested: bool,
}

impl StepCall {
    /// The run after its phase has handed over the values of this call.
    pub fn handed_over(&self, active: &Active) -> RunState {
        let mut state = active.state.clone();
        if let Some(summary) = &self.summary {
            state = state.with_summary(active.phase, summary);
        }
        if let Some(outputs) = &self.outputs {
            state = state.with_outputs(active.phase, outputs.clone());
        }
        state
    }
}

/// A request of a gate.
#[derive(Debug)]
pub enum GateAsked {
    /// The consent to these commands.
    Consent(Unallowed),
    /// The result of the command of the current check.
    Command,
}

/// The gate that the run must pass to leave its phase, as it was when opened: the files may change meanwhile.
#[derive(Debug)]
pub struct OpenGate {
    requester: Requester,
    /// The outcome with which the phase is to be left.
    outcome: Option<String>,
    /// The visit of the phase that is to be left.
    pub place: Place,
    /// The name of the phase.
    pub of: String,
    /// The number of this attempt, from 1, and of the attempts after which the run pauses.
    attempt: u32,
    attempts: u32,
    checks: Vec<OpenCheck>,
    /// The results of the checks that are made.
    evidence: Vec<Evidence>,
}

/// A check, with the values of its variables when the gate was opened.
#[derive(Debug)]
pub struct OpenCheck {
    pub name: String,
    pub work: CheckWork,
}

#[derive(Debug)]
pub enum CheckWork {
    Run(OpenCommand),
    File { path: String, contains: Option<Pattern> },
}

impl OpenCheck {
    fn of(check: &Check, active: &Active) -> Self {
        let Check { name, kind, .. } = text::with_values(check, active);
        let work = match kind {
            CheckKind::Run { command, timeout } => CheckWork::Run(OpenCommand::of(command, &timeout, active)),
            CheckKind::File { path, contains } => CheckWork::File { path, contains },
        };
        Self { name, work }
    }
}

impl OpenGate {
    /// The gate that a run must pass to leave its phase with this outcome; `None` if it has no checks.
    pub fn ahead(run: &Run, requester: Requester, outcome: Option<String>) -> Option<Self> {
        let active = run.active()?;
        // The commands of the gate get the values that the call hands over.
        let state = requester.call().map(|call| call.handed_over(&active));
        Self::ahead_of(&state.as_ref().map_or(active, |state| active.with(state)), requester, outcome)
    }

    /// The run with the values that the agent hands over: a failed attempt does not lose these values.
    pub fn handed_over(&self, run: &Run) -> Option<RunState> {
        let active = run.shown()?;
        Some(self.requester.call().map_or_else(|| active.state.clone(), |call| call.handed_over(&active)))
    }

    fn ahead_of(active: &Active, requester: Requester, outcome: Option<String>) -> Option<Self> {
        let checks = active.checks_ahead(outcome.as_deref());
        let gate = active.phase.gate.as_ref().filter(|_| !checks.is_empty())?;
        Some(Self {
            requester,
            outcome,
            place: Place::of(active.state),
            of: active.phase.name.clone(),
            attempt: active.state.progress().gate_attempts.saturating_add(1),
            attempts: active.state.gate_attempts(gate, active.library),
            checks: checks.into_iter().map(|check| OpenCheck::of(check, active)).collect(),
            evidence: Vec::new(),
        })
    }

    /// The party that wants to leave the phase.
    pub fn requester(&self) -> &Requester {
        &self.requester
    }

    /// The outcome with which the phase is to be left.
    pub fn outcome(&self) -> Option<&str> {
        self.outcome.as_deref()
    }

    /// The results of the checks that are made.
    pub fn evidence(&self) -> &[Evidence] {
        &self.evidence
    }

    /// The checks that are to be made; the first is being made.
    fn left(&self) -> &[OpenCheck] {
        self.checks.get(self.evidence.len()..).unwrap_or_default()
    }

    /// The check that is next, or is being made.
    pub fn current(&self) -> Option<&OpenCheck> {
        self.left().first()
    }

    /// The commands to come.
    pub fn commands(&self) -> impl Iterator<Item = &OpenCommand> {
        self.left().iter().filter_map(|check| match &check.work {
            CheckWork::Run(command) => Some(command),
            CheckWork::File { .. } => None,
        })
    }

    /// The number of attempts that are left after the failure of this attempt.
    pub fn attempts_left(&self) -> u32 {
        self.attempts.saturating_sub(self.attempt)
    }

    /// The position of the current check, from 1, and the number of all.
    pub fn position(&self) -> (usize, usize) {
        (self.evidence.len() + 1, self.checks.len())
    }

    /// The source of the first command to come that is one of those that the user is asked for.
    pub fn source_of(&self, asked: &[String]) -> &text::GateSource {
        let is_asked = |text: &str| asked.iter().any(|asked| asked == text);
        let first = self.commands().find(|command| command.agreements().any(|of| is_asked(of.shown)));
        first.and_then(|command| command.source.as_ref()).unwrap_or(&text::GateSource::Project)
    }

    /// Records the result of the current check; the next check becomes current. Returns true if the check has passed.
    pub fn record(&mut self, result: CheckResult) -> bool {
        let CheckResult { passed, result, duration_ms, tail: Tail { text: tail, missing }, file } = result;
        let name = self.current().map_or_else(String::new, |check| check.name.clone());
        let attempt = self.attempt;
        self.evidence.push(Evidence { name, passed, result, duration_ms, attempt, tail, missing, file });
        passed
    }

    /// The evidence in the form that is stored.
    pub fn kept_evidence(&self) -> Vec<Evidence> {
        self.evidence.iter().cloned().map(text::kept).collect()
    }
}

pub struct CheckResult {
    pub passed: bool,
    /// In words.
    pub result: String,
    pub duration_ms: u64,
    /// The end of a command's output.
    pub tail: Tail,
    /// The path of the file with all of the output, if the end is not all; empty if there is none.
    pub file: String,
}

impl CheckResult {
    /// A result without a duration and an output.
    pub fn new(passed: bool, result: impl Into<String>) -> Self {
        Self { passed, result: result.into(), duration_ms: 0, tail: Tail::default(), file: String::new() }
    }
}
