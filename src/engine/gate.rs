//! Gates: what is checked before a phase is left.
//!
//! Checks are made one after another and stop at the first that fails. What takes its time, a command or a
//! question to the user, is asked of the host; until its answer comes the gate is one of the open
//! questions, and the state is what it was. An answer for a phase that the run has left does nothing.

use std::collections::{BTreeSet, VecDeque};

use serde_json::json;

use crate::definition::WorkflowFiles;
use crate::definition::{
    Check, CheckKind, FileError, FileKind, Gate, OnGateFail, Pattern, expansions,
};
use crate::run::{Active, Evidence, GateAhead, Leaving, PauseReason, RunState, Segment};
use crate::text;

use super::commands::Question;
use super::step_tool::{Caller, RUN_ENDED, handing_over, tool_reply};
use super::{
    APPROVAL_TYPE, Answer, CommandEnd, Effect, Engine, Level, Moment, Mover, Output, Request,
    STATUS_TYPE,
};

/// The root of the project's own files; see the package's manifest.
const PROJECT_FILES: &str = "project-files";
/// The root of workflows whose commands run without a question: the user's own.
const OWN_WORKFLOWS: &str = "global";
/// How many files of a project are looked through for a glob.
const MAX_FILES: usize = 20_000;
/// Bound of the work of all file checks in one call, in about nanoseconds: nothing else is done meanwhile.
const MAX_WORK: usize = 600_000_000;
/// The work of an entry of a folder that is looked through, of a folder, and of a file that is read.
const ENTRY_WORK: usize = 5_000;
const FOLDER_WORK: usize = 50_000;
/// The work of a byte that is read.
const READ_WORK: usize = 10;
/// Folders that a glob does not lead into by itself.
const PASSED_OVER: [&str; 2] = [".git", "node_modules"];

// What a key that was meant for the editor would choose comes first, and does no harm.
const CONSENTS: [&str; 4] =
    ["No", "Yes, once", "Yes, for this session", "Yes, always while they stay the same"];
/// Index of the last of them.
const ALWAYS: usize = 3;
/// Under what a remembered consent to a command is kept.
const CONSENT: &str = "allowed-command";
const APPROVALS: [&str; 3] = ["Not yet", "Yes", "No"];

/// Who wants to leave the phase.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum By {
    /// The agent, by this call of its tool.
    Agent(Caller),
    /// The user, by `/workflow :next`.
    User,
}

/// A gate whose checks are being made.
#[derive(Debug)]
pub(super) struct OpenGate {
    by: By,
    /// Which run it was, and where.
    at: (String, u64, Vec<Segment>),
    /// The gates, in the order in which they are checked.
    gates: Vec<OwnGate>,
    checks: Vec<PlannedCheck>,
    /// How many of them are made.
    done: usize,
    evidence: Vec<Evidence>,
    waits_for: WaitsFor,
    /// Whether the user did something else; the answer does not matter any more.
    withdrawn: bool,
}

/// A gate as it was when it was opened: its files may change meanwhile.
#[derive(Debug)]
struct OwnGate {
    gate: Gate,
    /// The name of the phase or workflow that has it.
    of: String,
    /// See [`GateAhead::key`].
    key: String,
    /// See [`GateAhead::depth`].
    depth: usize,
    /// Whether it is one of the user's own workflows.
    own: bool,
    /// Which attempt this is, from 1.
    attempt: u32,
}

/// A check, and which gate it belongs to.
#[derive(Debug)]
struct PlannedCheck {
    check: Check,
    /// Index into the gates.
    gate: usize,
}

#[derive(Debug, Clone, PartialEq)]
enum WaitsFor {
    /// The remembered consents for these commands in the project of this identity.
    Remembered { commands: Vec<String>, identity: String },
    /// The user's consent to these commands; "always" only where the project's identity is known.
    Consent { commands: Vec<String>, identity: Option<String> },
    /// The end of a command.
    Command,
    /// The user's yes or no.
    Approval,
    /// Why not.
    Reason,
}

/// What a gate came to.
enum Outcome {
    Passed,
    Failed,
    /// Without a result; the text is for the agent or the user.
    Interrupted(String),
    /// It waits for the user.
    Paused(PauseReason),
}

impl OpenGate {
    /// Whether the agent waits for it.
    pub(super) fn is_of_agent(&self) -> bool {
        matches!(self.by, By::Agent(_))
    }

    /// Tests if a nested call opened it.
    pub(super) fn is_of_nested_call(&self) -> bool {
        matches!(&self.by, By::Agent(caller) if caller.nested)
    }

    /// Tests if it waits for an answer of the user.
    pub(super) fn is_for_user(&self) -> bool {
        match self.waits_for {
            WaitsFor::Consent { .. } | WaitsFor::Approval | WaitsFor::Reason => true,
            WaitsFor::Remembered { .. } | WaitsFor::Command => false,
        }
    }
}

impl Engine {
    /// The gates that the run must pass now, opened; `None` if there are none.
    pub(super) fn open_gate(&self, by: By) -> Option<OpenGate> {
        let active = self.active()?;
        let attempts = &active.state.progress.gate_attempts;
        let own = |ahead: GateAhead| OwnGate {
            gate: ahead.gate.clone(),
            of: ahead.of.to_owned(),
            depth: ahead.depth,
            own: ahead.root == OWN_WORKFLOWS,
            attempt: attempts.get(&ahead.key).map_or(1, |attempts| attempts.saturating_add(1)),
            key: ahead.key,
        };
        let gates: Vec<OwnGate> = active.gates_ahead().into_iter().map(own).collect();
        let checks: Vec<PlannedCheck> = gates
            .iter()
            .enumerate()
            .flat_map(|(gate, ahead)| {
                ahead
                    .gate
                    .checks
                    .iter()
                    .map(move |check| PlannedCheck { check: check.clone(), gate })
            })
            .collect();
        if checks.is_empty() {
            return None;
        }
        Some(OpenGate {
            by,
            at: place(active.state),
            gates,
            checks,
            done: 0,
            evidence: Vec::new(),
            waits_for: WaitsFor::Command,
            withdrawn: false,
        })
    }

    /// Whether a gate of the agent's is being checked.
    pub(super) fn agent_waits(&self) -> bool {
        self.questions
            .iter()
            .any(|(_, question)| matches!(question, Question::Gate(gate) if gate.is_of_agent()))
    }

    /// Whether any gate is being checked.
    pub(super) fn gate_is_open(&self) -> bool {
        self.questions.iter().any(|(_, question)| matches!(question, Question::Gate(_)))
    }

    /// Gives up the gate that is being checked: the user did something else.
    pub(super) fn withdraw_gate(&mut self) -> Vec<Effect> {
        let mut effects = Vec::new();
        for (ticket, question) in &mut self.questions {
            if let Question::Gate(gate) = question {
                gate.withdrawn = true;
                effects.push(Effect::Withdraw { ticket: *ticket });
            }
        }
        effects
    }

    /// Begins with a gate: with the consent to its commands, if that is needed.
    pub(super) fn begin_gate(
        &mut self,
        gate: OpenGate,
        at: Moment,
        files: &dyn WorkflowFiles,
    ) -> Output {
        let unknown = self.unknown_commands(&gate);
        if unknown.is_empty() || self.allow_commands {
            return self.check_on(gate, at, files);
        }
        let Some(identity) = files.project_identity() else {
            return self.ask_consent(gate, unknown, None);
        };
        let key = |command: &String| self.remembered(CONSENT, &identity, command).key;
        let keys = unknown.iter().map(key).collect();
        self.wait(
            gate,
            WaitsFor::Remembered { commands: unknown, identity },
            Request::Recall { keys },
        )
    }

    /// Goes on with a gate.
    pub(super) fn answer_gate(
        &mut self,
        mut gate: OpenGate,
        answer: Answer,
        at: Moment,
        files: &dyn WorkflowFiles,
    ) -> Output {
        let here = |state: &RunState| state.active && place(state) == gate.at;
        if gate.withdrawn || !self.run.as_ref().is_some_and(here) {
            return self.gate_overtaken(&gate);
        }
        if let Some(reason) = self.hold() {
            if let (WaitsFor::Command, Answer::Ran { end, duration_ms, output }) =
                (&gate.waits_for, answer)
            {
                let passed = end == CommandEnd::Exited(0);
                gate.record(passed, end.to_string(), duration_ms, text::gate_tail(&output));
            }
            return self.gate_held(&gate, &reason);
        }
        match (gate.waits_for.clone(), answer) {
            (WaitsFor::Remembered { commands, identity }, Answer::Recalled(values)) => {
                let mut values = values.into_iter();
                let unknown: Vec<String> = commands
                    .into_iter()
                    .filter(|command| {
                        let consent = self.remembered(CONSENT, &identity, command);
                        values.next().flatten() != Some(consent.value)
                    })
                    .collect();
                if unknown.is_empty() {
                    return self.check_on(gate, at, files);
                }
                self.ask_consent(gate, unknown, Some(identity))
            }
            (WaitsFor::Consent { commands, .. }, Answer::Selected(choice @ 1..=2)) => {
                if choice == 2 {
                    self.allowed_commands.extend(commands);
                }
                self.check_on(gate, at, files)
            }
            (
                WaitsFor::Consent { commands, identity: Some(identity) },
                Answer::Selected(ALWAYS),
            ) => {
                let mut effects = Vec::new();
                effects.extend(
                    commands
                        .iter()
                        .map(|command| self.remembered(CONSENT, &identity, command).keep()),
                );
                let output = self.check_on(gate, at, files);
                effects.extend(output.effects);
                Output { effects, reply: output.reply }
            }
            (WaitsFor::Consent { .. } | WaitsFor::Remembered { .. }, _) => {
                self.close_gate(gate, Outcome::Paused(PauseReason::Commands), at)
            }
            (
                WaitsFor::Command,
                Answer::Ran { end: CommandEnd::Cancelled, .. } | Answer::Cancelled,
            ) => {
                let label = gate.current().map_or_else(String::new, |check| check.label.clone());
                let text = format!("The gate was interrupted: {label} was stopped.");
                self.close_gate(gate, Outcome::Interrupted(text), at)
            }
            (WaitsFor::Command, Answer::Ran { end, duration_ms, output }) => {
                let (passed, result) = (end == CommandEnd::Exited(0), end.to_string());
                let tail = if passed { String::new() } else { text::gate_tail(&output) };
                self.checked(gate, passed, result, duration_ms, tail, at, files)
            }
            (WaitsFor::Command, _) => {
                let result = "commands cannot be run here".to_owned();
                self.checked(gate, false, result, 0, String::new(), at, files)
            }
            (WaitsFor::Approval, Answer::Selected(1)) => {
                self.checked(gate, true, "the user said yes".into(), 0, String::new(), at, files)
            }
            (WaitsFor::Approval, Answer::Selected(2)) => {
                let title = "Why not? The agent is told.".to_owned();
                self.wait(gate, WaitsFor::Reason, Request::Input { title })
            }
            (WaitsFor::Approval, _) => {
                let question = match gate.current() {
                    Some(Check { kind: CheckKind::Approve { question }, .. }) => question.clone(),
                    _ => String::new(),
                };
                self.close_gate(gate, Outcome::Paused(PauseReason::Approval { question }), at)
            }
            (WaitsFor::Reason, answer) => {
                let reason = match answer {
                    Answer::Entered(reason) => reason.trim().to_owned(),
                    _ => String::new(),
                };
                let result = if reason.is_empty() {
                    "the user said no".to_owned()
                } else {
                    format!("the user said no: {reason}")
                };
                gate.waits_for = WaitsFor::Approval;
                self.checked(gate, false, result, 0, String::new(), at, files)
            }
        }
    }

    /// Makes the checks that are left, up to the first that fails or takes its time.
    fn check_on(&mut self, mut gate: OpenGate, at: Moment, files: &dyn WorkflowFiles) -> Output {
        let mut work = Work(MAX_WORK);
        loop {
            let Some(check) = gate.current().cloned() else {
                return self.close_gate(gate, Outcome::Passed, at);
            };
            match check.kind {
                CheckKind::Run { command, timeout_ms } => {
                    let progress =
                        text::gate_progress(&check.label, gate.done + 1, gate.checks.len());
                    let request = Request::Exec { command, timeout_ms, progress };
                    return self.wait(gate, WaitsFor::Command, request);
                }
                CheckKind::Approve { question } => return self.ask_approval(gate, &question),
                CheckKind::File { path, contains } => {
                    let (passed, result) =
                        match check_file(files, &path, contains.as_ref(), &mut work) {
                            Ok(found) => (true, found),
                            Err(FileFailure::Gone) => return Output::default(),
                            Err(FileFailure::Because(why)) => (false, why),
                        };
                    gate.record(passed, result, 0, String::new());
                    if !passed {
                        return self.close_gate(gate, Outcome::Failed, at);
                    }
                }
            }
        }
    }

    #[allow(clippy::too_many_arguments, reason = "what became of a check, and what goes on needs")]
    fn checked(
        &mut self,
        mut gate: OpenGate,
        passed: bool,
        result: String,
        duration_ms: u64,
        tail: String,
        at: Moment,
        files: &dyn WorkflowFiles,
    ) -> Output {
        gate.record(passed, result, duration_ms, tail);
        if passed {
            self.check_on(gate, at, files)
        } else {
            self.close_gate(gate, Outcome::Failed, at)
        }
    }

    fn wait(&mut self, mut gate: OpenGate, waits_for: WaitsFor, request: Request) -> Output {
        gate.waits_for = waits_for;
        self.ask(Question::Gate(Box::new(gate)), request)
    }

    fn close_gate(&mut self, gate: OpenGate, outcome: Outcome, at: Moment) -> Output {
        self.gate_had |= gate.is_of_agent();
        if matches!(outcome, Outcome::Failed | Outcome::Interrupted(_)) {
            self.keep_summary(&gate.by);
        }
        match outcome {
            Outcome::Passed => {
                let evidence = gate.kept_evidence();
                match gate.by {
                    By::Agent(caller) => self.advance_by_agent(&caller, evidence, at),
                    By::User => self.advance_by_user(evidence, at),
                }
            }
            Outcome::Failed => self.gate_failed(&gate, at),
            Outcome::Interrupted(text) => self.answer_to(&gate.by, Vec::new(), text, "interrupted"),
            Outcome::Paused(reason) => {
                if let Some(state) = self.run.as_ref().filter(|_| !gate.evidence.is_empty()) {
                    self.run = Some(state.with_evidence(gate.kept_evidence()));
                }
                self.pause_at_gate(&gate.by, reason, at)
            }
        }
    }

    /// The rules of the run do not hold any more: its phase is not left, whatever the checks came to.
    fn gate_held(&mut self, gate: &OpenGate, reason: &PauseReason) -> Output {
        self.gate_had |= gate.is_of_agent();
        self.keep_summary(&gate.by);
        let new = self.run.as_ref().map(|state| state.with_evidence(gate.kept_evidence()));
        let effects = new.iter().map(super::persist).collect();
        self.run = new;
        self.answer_to(&gate.by, effects, text::held(reason), "paused")
    }

    /// What the agent handed over is not lost with the attempt.
    fn keep_summary(&mut self, by: &By) {
        if let By::Agent(Caller { summary: Some(summary), .. }) = by
            && let Some(active) = self.shown()
        {
            self.run = Some(handing_over(&active, Some(summary)));
        }
    }

    /// The run waits for the user before its phase is left.
    pub(super) fn pause_at_gate(&mut self, by: &By, reason: PauseReason, at: Moment) -> Output {
        self.keep_summary(by);
        let text = format!(
            "✗ The gate is not passed yet, and the workflow is paused: {reason}. Stop here and wait for the user."
        );
        let effects = self.pause(reason, self.has_ui, at);
        self.answer_to(by, effects, text, "paused")
    }

    /// Counts the failure, keeps what is known of it, and does what the gate says.
    fn gate_failed(&mut self, gate: &OpenGate, at: Moment) -> Output {
        let failed = gate.checks.get(gate.done.saturating_sub(1)).map_or(0, |planned| planned.gate);
        let (Some(active), Some(definition), Some(last)) =
            (self.active(), gate.gates.get(failed), gate.evidence.last())
        else {
            return Output::default();
        };
        let OwnGate { gate: Gate { attempts, on_fail, .. }, of, key, depth, .. } = definition;
        let (new, times) = active.state.with_evidence(gate.kept_evidence()).gate_failed(key);
        let left = attempts.saturating_sub(times);
        let stays = *on_fail == OnGateFail::Stay;
        let mut text = text::gate_failed(of, last, stays.then_some(left));
        let label = last.label.clone();
        let check = gate.checks.get(gate.done.saturating_sub(1)).map(|planned| &planned.check.kind);
        let is_no = gate.by == By::User && matches!(check, Some(CheckKind::Approve { .. }));
        let outcome = |outcome| if is_no { "declined" } else { outcome };
        let back = new.after_gate_failure(on_fail, *depth, active.library);
        let before = active.state.clone();
        if let Err(error) = &back {
            text.push_str(&format!(
                "\n\nIt should lead back now, but that is not possible: {error}"
            ));
        }
        if (stays && left == 0) || back.is_err() {
            self.run = Some(new);
            let reason = PauseReason::Gate { label, times };
            let effects = self.pause(reason.clone(), self.has_ui, at);
            text.push_str(&format!(
                "\n\nThe workflow is paused: {reason}. Stop here and wait for the user."
            ));
            return self.answer_to(&gate.by, effects, text, "paused");
        }
        match back {
            Ok(Some(back)) => {
                let mut back = back.moved_from(&before, Leaving::Again, at.unix_ms);
                if back.current_path == before.current_path {
                    back = back.with_evidence(gate.kept_evidence());
                }
                let mut effects = vec![super::persist(&back)];
                self.run = Some(back);
                effects.push(self.status());
                let to = self
                    .active()
                    .map(|active| format!("{} {}", active.phase.emoji, active.phase.name));
                let to = to.unwrap_or_default();
                text.push_str(&format!("\n\nThe workflow goes back to {to}."));
                let paused = self.run.as_ref().is_some_and(|state| state.progress.paused.is_some());
                if gate.by == By::User && paused && !self.agent.running {
                    self.note = Some(text.clone());
                } else {
                    let prompt = self.prompt_in_result(gate.is_of_nested_call());
                    text.push_str(&format!("\n\n{prompt}"));
                }
                if gate.by == By::User && self.agent.running {
                    self.untold_move = Some(Mover::User);
                }
                self.answer_to(&gate.by, effects, text, outcome("back"))
            }
            _ => {
                let effects = vec![super::persist(&new)];
                self.run = Some(new);
                text.push_str("\n\nFix that, then call workflow_step with action='next' again.");
                self.answer_to(&gate.by, effects, text, outcome("failed"))
            }
        }
    }

    /// Tells who wanted to leave the phase what came of it. The agent is told too of what the user
    /// learned by `/workflow :next`: it is the one to fix it.
    fn answer_to(&self, by: &By, mut effects: Vec<Effect>, text: String, gate: &str) -> Output {
        match by {
            By::Agent(_) => {
                let details = json!({ "active": true, "gate": gate });
                Output { effects, reply: tool_reply(text, details) }
            }
            By::User => {
                let told = matches!(gate, "failed" | "back" | "declined");
                let paused = self.run.as_ref().is_some_and(|state| state.progress.paused.is_some());
                if told && !self.agent.running && !paused {
                    effects.push(Effect::SendUserMessage(text));
                    return effects.into();
                }
                // Of a pause there is a notice, or the last line of the process. A no is known to who said it.
                if !matches!(gate, "paused" | "declined") {
                    let text = text.lines().next().unwrap_or_default().to_owned();
                    effects.push(Effect::Notify { level: Level::Warning, text });
                }
                if told && self.agent.running {
                    effects.push(Effect::Steer(text));
                }
                effects.into()
            }
        }
    }

    /// The run is no longer where the gate was opened.
    fn gate_overtaken(&self, gate: &OpenGate) -> Output {
        let text = match self.active() {
            Some(active) if place(active.state) == gate.at => text::paused(&active)
                .unwrap_or_else(|| "The user stopped the checks of the gate.".to_owned()),
            Some(active) => text::outdated(&active),
            None => RUN_ENDED.to_owned(),
        };
        match gate.by {
            By::Agent(_) => self.answer_to(&gate.by, Vec::new(), text, "overtaken"),
            By::User => Output::default(),
        }
    }

    /// The commands of a gate that nobody has allowed in this session: those of workflows that are not the
    /// user's own.
    fn unknown_commands(&self, gate: &OpenGate) -> Vec<String> {
        let mut commands = Vec::new();
        for PlannedCheck { check, gate: index } in &gate.checks {
            let own = gate.gates.get(*index).is_some_and(|gate| gate.own);
            if let CheckKind::Run { command, .. } = &check.kind
                && !own
                && !self.allowed_commands.contains(command)
                && !commands.contains(command)
            {
                commands.push(command.clone());
            }
        }
        commands
    }

    /// Asks whether these commands may run.
    fn ask_consent(
        &mut self,
        gate: OpenGate,
        commands: Vec<String>,
        identity: Option<String>,
    ) -> Output {
        let asks = |planned: &&PlannedCheck| matches!(&planned.check.kind, CheckKind::Run { command, .. } if commands.contains(command));
        let of = gate.checks.iter().find(asks).and_then(|planned| gate.gates.get(planned.gate));
        let of = of.map_or("", |gate| &gate.of);
        let number = if identity.is_some() { CONSENTS.len() } else { ALWAYS };
        let options = CONSENTS.iter().take(number).map(|&option| option.into()).collect();
        let question = text::consent_question(of, &commands, self.dialog(number));
        self.select(gate, WaitsFor::Consent { commands, identity }, question, options)
    }

    /// Asks for the user's yes.
    fn ask_approval(&mut self, gate: OpenGate, question: &str) -> Output {
        let of = gate.checks.get(gate.done).and_then(|planned| gate.gates.get(planned.gate));
        let of = of.map_or("", |gate| &gate.of);
        let workflow = self.active().map_or("", |active| &active.root.name);
        let dialog = self.dialog(APPROVALS.len());
        let question = text::approval_question(of, workflow, question, dialog);
        let subject = self.approval_subject(&gate);
        let options = APPROVALS.map(Into::into).into();
        let mut output = self.select(gate, WaitsFor::Approval, question, options);
        // Above what the question has no room for.
        output.effects.splice(0..0, subject);
        output
    }

    /// The entry with what is to be approved: the summary at hand, and the checks so far. The model does not get it.
    fn approval_subject(&self, gate: &OpenGate) -> Option<Effect> {
        let active = self.active().filter(|_| self.has_ui)?;
        let summaries = active.state.summaries();
        let summary = match &gate.by {
            By::Agent(Caller { summary: Some(summary), .. }) => Some(&**summary),
            By::Agent(_) | By::User => summaries
                .last()
                .filter(|_| active.state.has_handed_over())
                .map(|(_, summary)| &*summary.text),
        };
        let content = text::approval_subject(active.phase, &gate.evidence, summary)?;
        let data = json!({ "content": content });
        Some(Effect::AppendEntry { custom_type: APPROVAL_TYPE, data })
    }

    /// The dialog for a question with this number of options.
    fn dialog(&self, options: usize) -> text::Dialog {
        if self.terminal { text::Dialog::Terminal { options } } else { text::Dialog::Program }
    }

    /// Asks, with what the question has no room for in an entry before it, which the model does not get.
    fn select(
        &mut self,
        gate: OpenGate,
        waits_for: WaitsFor,
        question: text::Question,
        options: Vec<String>,
    ) -> Output {
        let text::Question { title, above } = question;
        let entry = above.map(|content| Effect::AppendEntry {
            custom_type: STATUS_TYPE,
            data: json!({ "content": content }),
        });
        let output = self.wait(gate, waits_for, Request::Select { title, options });
        Output { effects: Vec::from_iter(entry), reply: output.reply }
    }
}

impl OpenGate {
    fn current(&self) -> Option<&Check> {
        self.checks.get(self.done).map(|planned| &planned.check)
    }

    fn record(&mut self, passed: bool, result: String, duration_ms: u64, tail: String) {
        let label = self.current().map_or_else(String::new, |check| check.label.clone());
        let gate = self.checks.get(self.done).and_then(|planned| self.gates.get(planned.gate));
        let attempt = gate.map_or(1, |gate| gate.attempt);
        self.evidence.push(Evidence { label, passed, result, duration_ms, attempt, tail });
        self.done += 1;
    }

    fn kept_evidence(&self) -> Vec<Evidence> {
        let kept = |evidence: &Evidence| Evidence {
            tail: text::kept_tail(&evidence.tail),
            ..evidence.clone()
        };
        self.evidence.iter().map(kept).collect()
    }
}

fn place(state: &RunState) -> (String, u64, Vec<Segment>) {
    (state.task_id.clone(), state.global_step_count, state.current_path.clone())
}

enum FileFailure {
    /// The session is gone.
    Gone,
    Because(String),
}

impl From<FileError> for FileFailure {
    fn from(error: FileError) -> Self {
        match error {
            FileError::Stale => Self::Gone,
            error => Self::Because(error.to_string()),
        }
    }
}

/// The work that the checks of one call have left.
struct Work(usize);

impl Work {
    /// Takes what one step needs, before it is done.
    fn take(&mut self, work: usize) -> Result<(), FileFailure> {
        self.0 = self.0.checked_sub(work).ok_or_else(|| FileFailure::Because(TOO_MUCH.into()))?;
        Ok(())
    }
}

const TOO_MUCH: &str =
    "it is too much work: narrow `file` or `contains`, or check it by a command (`run`)";

/// The file that a check demands, or why there is none.
fn check_file(
    files: &dyn WorkflowFiles,
    path: &str,
    contains: Option<&Pattern>,
    work: &mut Work,
) -> Result<String, FileFailure> {
    let parts: Vec<&str> = path.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
    let is_glob = |part: &&str| part.contains(['*', '?', '[', '{']);
    let glob = parts.join("/");
    // A name may look like a glob, say `[id].ts`.
    let literally = check_content(files, &glob, contains, work).map(|()| "it holds".to_owned());
    let Some(first) = parts.iter().position(is_glob) else { return literally };
    if literally.is_ok() {
        return literally;
    }
    let deepest = if parts.contains(&"**") { usize::MAX } else { parts.len() };
    let glob_work = expansions(&glob).saturating_mul(glob.len());
    let mut left = MAX_FILES;
    let start = parts.get(..first).unwrap_or_default().join("/");
    // Each folder once, by its path without links, however many links lead to it.
    let mut visited = BTreeSet::from([start.clone()]);
    let mut folders = VecDeque::from([(start.clone(), start)]);
    let mut why = format!("no file matches {glob}");
    while let Some((folder, real)) = folders.pop_front() {
        work.take(FOLDER_WORK)?;
        let entries = match files.list(PROJECT_FILES, &folder) {
            Ok(entries) => entries,
            Err(FileError::Stale) => return Err(FileFailure::Gone),
            Err(FileError::NoSuchRoot) => return Err(FileError::NoSuchRoot.into()),
            Err(FileError::TooMany(_)) => return Err(too_many()),
            Err(_) => continue,
        };
        for entry in entries {
            left = left.saturating_sub(1);
            if left == 0 {
                return Err(too_many());
            }
            let path = below(&folder, &entry.name);
            work.take(ENTRY_WORK.saturating_add(glob_work.saturating_mul(path.len())))?;
            match entry.kind {
                FileKind::Directory
                    if path.split('/').count() < deepest
                        && (!PASSED_OVER.contains(&&*entry.name)
                            || parts.contains(&&*entry.name)) =>
                {
                    let real = entry.target.unwrap_or_else(|| below(&real, &entry.name));
                    if visited.insert(real.clone()) {
                        folders.push_back((path, real));
                    }
                }
                FileKind::File if fast_glob::glob_match(&glob, &path) => {
                    match check_content(files, &path, contains, work) {
                        Ok(()) => return Ok(format!("{path} holds")),
                        Err(FileFailure::Gone) => return Err(FileFailure::Gone),
                        Err(FileFailure::Because(words)) => why = format!("{path}: {words}"),
                    }
                }
                _ => {}
            }
        }
    }
    Err(FileFailure::Because(why))
}

fn too_many() -> FileFailure {
    FileFailure::Because(format!("more than {MAX_FILES} files would have to be looked through"))
}

fn below(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}

fn check_content(
    files: &dyn WorkflowFiles,
    path: &str,
    contains: Option<&Pattern>,
    work: &mut Work,
) -> Result<(), FileFailure> {
    work.take(FOLDER_WORK)?;
    let bytes = match files.read(PROJECT_FILES, path) {
        // It is there, and not empty; nobody wants to know more.
        Err(FileError::TooLarge(_)) if contains.is_none() => return Ok(()),
        Err(FileError::OutsideRoot) => {
            return Err(FileFailure::Because("it lies outside the project".into()));
        }
        bytes => bytes?,
    };
    work.take(bytes.len().saturating_mul(READ_WORK))?;
    let text = String::from_utf8_lossy(&bytes);
    if text.trim().is_empty() {
        return Err(FileFailure::Because("it is empty".into()));
    }
    work.take(text.len().saturating_mul(contains.map_or(0, Pattern::work)))?;
    match contains {
        Some(pattern) if !pattern.is_in(&text) => {
            Err(FileFailure::Because(format!("it does not contain /{pattern}/")))
        }
        _ => Ok(()),
    }
}

/// Whether a run whose gate waits for the user goes on by checking it again.
pub(super) fn waits_for_user(active: &Active) -> bool {
    matches!(
        active.state.progress.paused.as_ref().map(|pause| &pause.reason),
        Some(PauseReason::Approval { .. } | PauseReason::Commands)
    )
}
