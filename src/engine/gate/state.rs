//! A gate whose checks are being made.

use crate::definition::{Agreement, BoundValue, Check, CheckKind, Gate, Workflow};
use crate::run::{Active, CheckPlace, CheckedFiles, Evidence, Outputs, ProjectState, Recheck, RunState, Tail};
use crate::text;

use crate::engine::consent::Unallowed;
use crate::engine::entries::state::OpenReply;
use crate::engine::environment::{Planned, checked_env, environment};
use crate::engine::state::{Place, Run, Waiter};

/// The party that wants to leave the phase.
#[derive(Debug, Clone, PartialEq)]
pub enum Requester {
    /// The agent, by this call of its tool.
    Agent(StepCall),
    /// The user, by `/workflow :next`.
    User,
    /// An entry without the model that has ended; the reply to the call or the command that led there is still open.
    Entry(OpenReply),
}

impl Requester {
    /// The party that waits for the end of the gate.
    pub fn waiter(&self) -> Waiter {
        match self {
            Self::Agent(call) => Waiter::Call { nested: call.nested },
            Self::User => Waiter::User,
            Self::Entry(reply) => reply.waiter,
        }
    }

    /// The agent's call; `None` for another requester.
    pub fn call(&self) -> Option<&StepCall> {
        match self {
            Self::Agent(call) => Some(call),
            Self::User | Self::Entry(_) => None,
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
    /// The state of the project's files.
    Files,
    /// The result of the command of the current check.
    Command,
    /// The user's answer to the question of the current check.
    Approval,
    /// The user's reason for a no.
    Reason,
}

/// The gates that the run must pass to leave its phase, as they were when opened: the files may change meanwhile.
#[derive(Debug)]
pub struct OpenGate {
    requester: Requester,
    /// The outcome with which the phase is to be left.
    outcome: Option<String>,
    /// The visit of the phase that is to be left.
    pub place: Place,
    gates: Vec<GateToPass>,
    checks: Vec<PlannedCheck>,
    /// The number of checks that are made.
    done: usize,
    evidence: Vec<Evidence>,
    /// The run is done when the gates are passed.
    is_at_end: bool,
    seen: FilesSeen,
}

/// The last look at the project's files. The state is `None` if the host cannot tell it.
#[derive(Debug)]
enum FilesSeen {
    /// There was no look, or time has passed since the last look.
    None,
    /// The files are in this state: only checks of files were made since, and these take no time.
    Now {
        files: Option<ProjectState>,
        /// The state includes the changes since all checks.
        of_all: bool,
    },
    /// The files before the last check, which took time.
    Before(Option<ProjectState>),
}

/// A gate of an [`OpenGate`].
#[derive(Debug)]
pub struct GateToPass {
    pub gate: Gate,
    /// The name of the phase with the gate.
    pub of: String,
    /// See [`GateAhead::key`].
    pub key: String,
    /// See [`GateAhead::depth`].
    pub depth: usize,
    /// The words for the `scripts/` of its workflow in a consent.
    scripts: Option<String>,
    /// The number of this attempt, from 1.
    attempt: u32,
}

/// A check, with the index of its gate.
#[derive(Debug, Clone)]
struct PlannedCheck {
    /// With the values of its variables when the gate was opened.
    check: Check,
    gate: usize,
    /// The variables of its command, with their values when the gate was opened, or the reason why the run lacks a
    /// value.
    env: Planned,
    /// The time limit of its command, in milliseconds.
    timeout_ms: u32,
    /// `None` if its command runs without a question, and for other checks.
    source: Option<text::GateSource>,
    /// Its place, if it has `recheck`.
    place: Option<CheckPlace>,
    /// The reason for its repetition, if it has passed before.
    again: Option<String>,
    /// Its result is bound to the project's files: it has `recheck`, or a question to come shows what has changed
    /// since.
    is_bound: bool,
}

impl PlannedCheck {
    fn of(
        check: &Check,
        (gate, depth, scope): (usize, usize, &Workflow),
        place: Option<CheckPlace>,
        active: &Active,
    ) -> Self {
        let check = text::with_values(check, active, depth);
        let (env, timeout_ms, source) = match &check.kind {
            CheckKind::Run { command, timeout } => {
                let timeout_ms = active.state.time_limit(timeout, depth, active.library);
                (environment(command, active, depth), timeout_ms, text::GateSource::of_command(command, scope))
            }
            CheckKind::File { .. } | CheckKind::Approve { .. } => (Vec::new(), 0, None),
        };
        let is_bound = check.recheck;
        Self { check, gate, env, timeout_ms, source, place, again: None, is_bound }
    }

    /// Returns true unless the check is made at once.
    fn takes_time(&self) -> bool {
        match self.check.kind {
            CheckKind::Run { .. } | CheckKind::Approve { .. } => true,
            CheckKind::File { .. } => false,
        }
    }
}

/// Returns the reason, in words, to repeat a check that has passed; `None` if no file has changed since, as far as the
/// current state of the files is known. The file of a check may lie outside of that state.
fn reason_for_repetition(check: &Check, evidence: &Evidence, now: Option<&ProjectState>) -> Option<String> {
    match &evidence.files {
        CheckedFiles::Unknown => Some(text::made_again(None)),
        CheckedFiles::ChangedMeanwhile(changed) => Some(text::made_again_for_doubt(changed)),
        CheckedFiles::Tree(tree) => match now.and_then(|now| now.changed_since(tree)) {
            Some(changed) if changed.count == 0 => {
                matches!(check.kind, CheckKind::File { .. }).then(|| text::MADE_AGAIN.to_owned())
            }
            changed => Some(text::made_again(changed)),
        },
    }
}

impl OpenGate {
    /// The gates that a run must pass to leave its phase with this outcome; `None` if there are none.
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

    /// The gates ahead of the run with this outcome; `None` if the gates have no checks, and no earlier checks count at
    /// the end.
    pub fn ahead_of(active: &Active, requester: Requester, outcome: Option<String>) -> Option<Self> {
        let attempts = &active.state.progress().gate_attempts;
        let (mut gates, mut checks) = (Vec::new(), Vec::new());
        if let Some(ahead) = active.gate_ahead(outcome.as_deref()) {
            let all = (0..).zip(&ahead.gate.checks);
            let made = all.filter(|(_, check)| ahead.checks.iter().any(|of| std::ptr::eq(*of, *check)));
            checks.extend(made.map(|(index, check)| {
                let place = check.recheck.then(|| CheckPlace { gate: ahead.key.clone(), index });
                PlannedCheck::of(check, (0, ahead.depth, ahead.scope), place, active)
            }));
            gates.push(GateToPass {
                gate: ahead.gate.clone(),
                of: ahead.of.to_owned(),
                depth: ahead.depth,
                scripts: text::scripts_to_allow(ahead.scope),
                attempt: attempts.get(&ahead.key).map_or(1, |attempts| attempts.saturating_add(1)),
                key: ahead.key,
            });
        }
        let is_at_end = active.is_done_after(outcome.as_deref());
        let counts_earlier = || {
            let state = active.state;
            !state.checked_trees(&[]).is_empty() || !active.rechecks().is_empty() || state.progress().rechecks_lost
        };
        if checks.is_empty() && !(is_at_end && counts_earlier()) {
            return None;
        }
        let mut asks_later = !is_at_end && active.asks_later();
        for planned in checks.iter_mut().rev() {
            planned.is_bound |= asks_later;
            asks_later |= matches!(planned.check.kind, CheckKind::Approve { .. });
        }
        Some(Self {
            place: Place::of(active.state),
            requester,
            outcome,
            gates,
            checks,
            done: 0,
            evidence: Vec::new(),
            is_at_end,
            seen: FilesSeen::None,
        })
    }

    /// Returns true if the gates have checks of their own.
    pub fn has_checks(&self) -> bool {
        !self.checks.is_empty()
    }

    /// The earlier states of the project's files to ask the host about before the gate goes on; `None` if the host need
    /// not be asked. A check that is bound to files is made on files in a known state; if the check takes time, the
    /// files must be in the same state after it. So the state after a check is also the state before the next check. A
    /// question to the user, and the end of the run, need the changes since all bound checks.
    pub fn files_to_ask(&self, state: &RunState) -> Option<Vec<String>> {
        let needs_all = self.needs_all_changes();
        let before = match &self.seen {
            FilesSeen::Now { files: _, of_all } if *of_all || !needs_all => return None,
            FilesSeen::Before(before) => before.as_ref().map(|before| &before.tree),
            FilesSeen::None | FilesSeen::Now { .. } => None,
        };
        let others = if needs_all { state.checked_trees(&self.evidence) } else { Vec::new() };
        let others = others.into_iter().filter(|tree| Some(tree) != before);
        // The host bounds the number of states.
        let since: Vec<String> = before.cloned().into_iter().chain(others).collect();
        let is_bound = self.checks.get(self.done).is_some_and(|planned| planned.is_bound);
        let is_of_check = is_bound || matches!(self.seen, FilesSeen::Before(_));
        (is_of_check || !since.is_empty()).then_some(since)
    }

    /// Returns true if the next check, or the end, needs the changes since all checks.
    fn needs_all_changes(&self) -> bool {
        match self.current().map(|check| &check.kind) {
            Some(CheckKind::Approve { .. }) => true,
            Some(CheckKind::Run { .. }) => false,
            // Nothing takes time before the end.
            Some(CheckKind::File { .. }) | None => self.is_at_end,
        }
    }

    /// Takes the state of the project's files, and notes it with the check that was made last, if the files were in the
    /// same state before that check.
    pub fn take_files(&mut self, files: Option<ProjectState>) {
        if let (FilesSeen::Before(before), Some(last)) = (&self.seen, self.evidence.last_mut())
            && last.passed
        {
            last.files = CheckedFiles::between(before.as_ref(), files.as_ref());
        }
        for evidence in &mut self.evidence {
            match &files {
                Some(files) => evidence.note_changes(files),
                None => evidence.changed = None,
            }
        }
        self.seen = FilesSeen::Now { files, of_all: self.needs_all_changes() };
    }

    /// Notes that time passes before the next check.
    pub fn wait(&mut self) {
        if let FilesSeen::Now { .. } = self.seen {
            self.seen = FilesSeen::None;
        }
    }

    /// The state of the project's files now, if it is known.
    fn files(&self) -> Option<&ProjectState> {
        match &self.seen {
            FilesSeen::Now { files, of_all: _ } => files.as_ref(),
            FilesSeen::None | FilesSeen::Before(_) => None,
        }
    }

    /// The run with the changes since its checks, as far as they are known.
    pub fn with_changes(&self, state: &RunState) -> RunState {
        let again: Vec<CheckPlace> = self.made_again().cloned().collect();
        self.files().map_or_else(|| state.clone(), |files| state.with_changes(files, &again))
    }

    /// The places of the checks that were made again and have passed.
    fn made_again(&self) -> impl Iterator<Item = &CheckPlace> {
        let made = self.checks.iter().zip(&self.evidence);
        let again = made.filter(|(planned, evidence)| planned.again.is_some() && evidence.passed);
        again.filter_map(|(planned, _)| planned.place.as_ref())
    }

    /// Adds the checks, of earlier phases and of this attempt, that must be made again before the run is done, because
    /// files have changed since, or may have. Returns true if a check was added. A check is added once in an attempt,
    /// however often this is called: a check that changes files itself would be repeated for ever.
    pub fn add_rechecks(&mut self, active: &Active) -> bool {
        if !self.is_at_end {
            return false;
        }
        let before = self.checks.len();
        let files = self.files().cloned();
        for recheck in active.rechecks() {
            let Recheck { gate, check, of, scope, depth, there, evidence, place } = recheck;
            // The check is part of this attempt already.
            if self.checks.iter().any(|planned| planned.place.as_ref() == Some(place)) {
                continue;
            }
            let Some(reason) = reason_for_repetition(check, evidence, files.as_ref()) else { continue };
            let then = active.with(&there);
            let planned = PlannedCheck::of(check, (self.gates.len(), depth, scope), Some(place.clone()), &then);
            self.checks.push(PlannedCheck { again: Some(reason), ..planned });
            let attempts = there.gate_attempts(gate, depth, active.library);
            let attempts = BoundValue::Fixed(attempts);
            let made = active.state.progress().gate_attempts.get(&place.gate);
            self.gates.push(GateToPass {
                gate: Gate { attempts, ..gate.clone() },
                of: of.to_owned(),
                depth,
                scripts: text::scripts_to_allow(scope),
                attempt: made.map_or(1, |made| made.saturating_add(1)),
                key: place.gate.clone(),
            });
        }
        let own = self.own_rechecks(files.as_ref());
        self.checks.extend(own);
        self.checks.len() > before
    }

    /// The checks of this attempt that must be made again.
    fn own_rechecks(&self, files: Option<&ProjectState>) -> Vec<PlannedCheck> {
        let is_again = |place: &CheckPlace| {
            self.checks.iter().any(|planned| planned.again.is_some() && planned.place.as_ref() == Some(place))
        };
        // A repetition right after the first check tells no more if the host cannot tell any changes, or if the check
        // reads one file.
        let last = self.checks.iter().rposition(|planned| planned.again.is_none() && planned.takes_time());
        let made = self.checks.iter().zip(&self.evidence).enumerate();
        let again = made.filter_map(|(index, (planned, evidence))| {
            planned.place.as_ref().filter(|place| evidence.passed && !is_again(place))?;
            let is_known = files.is_some() || evidence.files != CheckedFiles::Unknown;
            if !(is_known && planned.takes_time()) && last.is_none_or(|last| last <= index) {
                return None;
            }
            let again = Some(reason_for_repetition(&planned.check, evidence, files)?);
            Some(PlannedCheck { again, ..planned.clone() })
        });
        again.collect()
    }

    /// Returns true if the run is done when the gates are passed.
    pub fn is_at_end(&self) -> bool {
        self.is_at_end
    }

    /// The party that wants to leave the phase.
    pub fn requester(&self) -> &Requester {
        &self.requester
    }

    /// Returns true if the gate stands behind an entry without the model.
    pub fn is_of_entry(&self) -> bool {
        matches!(self.requester, Requester::Entry(_))
    }

    /// The outcome with which the phase is to be left.
    pub fn outcome(&self) -> Option<&str> {
        self.outcome.as_deref()
    }

    /// The results of the checks that are made.
    pub fn evidence(&self) -> &[Evidence] {
        &self.evidence
    }

    /// The check that is next, or is being made.
    pub fn current(&self) -> Option<&Check> {
        self.checks.get(self.done).map(|planned| &planned.check)
    }

    /// The variables of the command of the current check, with their values.
    ///
    /// # Errors
    ///
    /// The reason, in words, if a value cannot be part of an environment (it has a NUL character, or more than
    /// [`MAX_VARIABLE`] bytes), or if the run lacks its folder.
    pub fn env(&self) -> Result<Vec<(String, String)>, String> {
        checked_env(self.checks.get(self.done).map_or(&[], |planned| &planned.env))
    }

    /// The time limit of the command of the current check, in milliseconds.
    pub fn timeout_ms(&self) -> u32 {
        self.checks.get(self.done).map_or(0, |planned| planned.timeout_ms)
    }

    pub fn current_gate(&self) -> Option<&GateToPass> {
        self.checks.get(self.done).and_then(|planned| self.gates.get(planned.gate))
    }

    /// The check that was made last, with its gate and its evidence.
    pub fn last(&self) -> Option<(&Check, &GateToPass, &Evidence)> {
        let planned = self.checks.get(self.done.checked_sub(1)?)?;
        Some((&planned.check, self.gates.get(planned.gate)?, self.evidence.last()?))
    }

    /// The position of the current check, from 1, and the number of all.
    pub fn position(&self) -> (usize, usize) {
        (self.done + 1, self.checks.len())
    }

    /// The commands to come that need the user's consent, each once: the text that the user must agree
    /// to, the name of the phase with the gate, and the source of the gate.
    pub fn foreign_commands(&self) -> Vec<(Agreement<'_>, &str, &text::GateSource)> {
        let mut commands: Vec<(Agreement, &str, &text::GateSource)> = Vec::new();
        for PlannedCheck { check, gate, source, .. } in self.checks.iter().skip(self.done) {
            if let (CheckKind::Run { command, .. }, Some(gate)) = (&check.kind, self.gates.get(*gate))
                && let Some(source) = source
            {
                let scripts = gate.scripts.as_deref().map(Agreement::of_files);
                for needed in std::iter::once(command.agreement()).chain(scripts) {
                    if commands.iter().all(|(known, ..)| *known != needed) {
                        commands.push((needed, &gate.of, source));
                    }
                }
            }
        }
        commands
    }

    /// The name of the phase whose gate has the first of these foreign commands, and its source.
    pub fn source_of(&self, commands: &[String]) -> (&str, &text::GateSource) {
        let foreign = self.foreign_commands();
        let first = foreign.into_iter().find(|(command, ..)| commands.iter().any(|of| of == command.shown));
        first.map_or(("", &text::GateSource::Project), |(_, of, source)| (of, source))
    }

    /// Returns true if a command to come is a value of the run.
    pub fn has_values(&self) -> bool {
        let is_value =
            |check: &Check| matches!(&check.kind, CheckKind::Run { command, .. } if command.value().is_some());
        self.checks.iter().skip(self.done).any(|planned| is_value(&planned.check))
    }

    /// Records the result of the current check; the next check becomes current.
    pub fn record(&mut self, result: CheckResult) {
        let CheckResult { passed, result, duration_ms, tail: Tail { text: tail, missing }, file } = result;
        let planned = self.checks.get(self.done);
        let recheck = planned.and_then(|planned| planned.place.clone());
        let result = match planned.and_then(|planned| planned.again.as_ref()) {
            Some(again) => format!("{result} ({again})"),
            None => result,
        };
        let label = self.current().map_or_else(String::new, |check| check.label.clone());
        let attempt = self.current_gate().map_or(1, |gate| gate.attempt);
        let takes_time = planned.is_some_and(PlannedCheck::takes_time);
        let is_bound = planned.is_some_and(|planned| planned.is_bound);
        let files = self.files().filter(|_| passed && is_bound && !takes_time);
        let files = files.map(CheckedFiles::of).unwrap_or_default();
        if takes_time {
            self.seen = match std::mem::replace(&mut self.seen, FilesSeen::None) {
                FilesSeen::Now { files, of_all: _ } if is_bound => FilesSeen::Before(files),
                FilesSeen::Now { .. } | FilesSeen::None | FilesSeen::Before(_) => FilesSeen::None,
            };
        }
        let output = Evidence { tail, missing, file, ..Evidence::default() };
        let evidence = Evidence { label, passed, result, duration_ms, attempt, recheck, files, ..output };
        self.evidence.push(evidence);
        self.done += 1;
    }

    /// The evidence in the form that is stored.
    pub fn kept_evidence(&self) -> Vec<Evidence> {
        let again: Vec<&CheckPlace> = self.made_again().collect();
        let made = self.checks.iter().zip(&self.evidence);
        let kept = made.map(|(planned, evidence)| {
            let mut kept = text::kept(evidence.clone());
            if planned.again.is_none() && planned.place.as_ref().is_some_and(|place| again.contains(&place)) {
                kept.note_repetition();
            }
            kept
        });
        kept.collect()
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
