//! A run without pi and without a model: the texts for an agent that completes each phase and goes on.

use std::rc::Rc;

use serde_json::Value;

use crate::sorted::Map;

use super::host::Host;
use crate::definition::{self, Each, Entry, Input, Library, Step, ValueName, Workflow};
use crate::protocol::{COMPLETE_TYPE, STATE_ENTRY_TYPE, WORKFLOW_COMMAND};
use crate::run::{Active, Joined, OutputValue, Outputs, PhasePath, RunState, restore};
use crate::text::{self, DefaultRole, sample_evidence};

use super::context::{Context, Cx, Ui};
use super::effect::{ChildStart, Effect, Level, Output, Reply, Request};
use super::event::{Answer, ChildEnd, ChildReport, CommandEnd, Event, Facts, Ran, Stop};
use super::gate::state::StepCall;
use super::start::arguments;
use super::state::{Engine, Waiter};

/// Maximum number of turns that are played.
const MAX_TURNS: usize = 500;
/// 2026-01-01T00:00:00Z.
const START_MS: u64 = 1_767_225_600_000;

/// The values with which a run is played.
#[derive(Debug, Clone, Copy, Default)]
pub struct Given<'a> {
    /// The values of inputs as a user gives them: each with its name.
    pub inputs: &'a [(String, String)],
    /// The outcomes of phases by their ids: at the first, second, … visit; the last outcome is repeated.
    pub outcomes: &'a [(String, Vec<String>)],
    /// The outputs of phases, each with its name `ID.NAME`; a list is given by one value for each of its items.
    pub outputs: &'a [(String, String)],
    /// The items of repeated groups, each with the id of its group.
    pub items: &'a [(String, String)],
}

/// Plays `/workflow NAME TASK` and `next` up to the end or the first pause, and returns the texts that the agent and
/// the user get. A phase without a given outcome takes its first outcome that does not lead back, or else its first
/// outcome; an output that is not given has a sample value.
///
/// # Errors
///
/// The notice to the user if the workflow cannot be started; or an error for an input, an outcome, an output or a group
/// that the workflow does not have.
pub fn run_through(
    host: &dyn Host,
    library: &Library,
    workflow: &Workflow,
    task: &str,
    Given { inputs, outcomes, outputs, items }: Given,
) -> Result<String, String> {
    let (mut inputs, mut outputs) = (inputs.to_vec(), outputs.to_vec());
    for (id, item) in items {
        match list_of(id, workflow, library)? {
            ValueName::Input(name) => inputs.push((name, item.clone())),
            ValueName::Output { phase, name } => {
                let (phase, name) = given_by(&phase, &name, workflow, library).unwrap_or((&phase, &name));
                outputs.push((format!("{phase}.{name}"), item.clone()));
            }
            // No other value is the list of a repeated group.
            _ => {}
        }
    }
    let values = arguments::values(&workflow.inputs, &inputs)?;
    let is_missing = |input: &&Input| input.is_required() && !values.contains_key(&input.name);
    let missing: Vec<&Input> = workflow.inputs.iter().filter(is_missing).collect();
    if !missing.is_empty() {
        return Err(text::missing_options(&missing));
    }
    let outcomes = planned(outcomes, workflow, library)?;
    let outputs = planned_outputs(&outputs, workflow, library)?;
    let given = Rc::new(Planned { outcomes, outputs });
    let mut play = Play::new(given, Context { unix_ms: START_MS, random: 0, ui: Ui::None, host });
    play.begin_session(None);
    let arguments = arguments::written(&workflow.inputs, &values, task);
    let name = library.start_name(workflow).unwrap_or_else(|| workflow.command_name.clone());
    let arguments = format!("{name} {arguments}");
    let mut warnings = Vec::new();
    for effect in play.effects(Event::Command { name: WORKFLOW_COMMAND, arguments: &arguments }) {
        match effect {
            Effect::Notify { level: Level::Error, text } => return Err(text),
            Effect::Notify { level: Level::Warning, text } => warnings.push(text),
            Effect::SendUserMessage(text) => play.write("The prompt that starts the agent", &text),
            _ => {}
        }
    }
    // A warning alone may refuse the start.
    if play.engine.run.state().is_none() {
        return Err(warnings.join("\n"));
    }
    play.steps();
    Ok(play.end())
}

/// The outcomes by the ids of their phases, each a phase of the workflow or of a workflow nested in it.
fn planned(
    given: &[(String, Vec<String>)],
    workflow: &Workflow,
    library: &Library,
) -> Result<Map<String, Vec<String>>, String> {
    let mut known: Map<&str, Vec<&str>> = Map::new();
    let phases = library.entries(workflow).filter_map(Entry::as_phase);
    for phase in phases.filter(|phase| !phase.outcomes.is_empty()) {
        let names = phase.outcomes.iter().map(|outcome| &*outcome.name);
        known.entry(&phase.id).or_default().extend(names);
    }
    let mut planned = Map::new();
    for (id, outcomes) in given {
        let Some(names) = known.get(&**id) else {
            let ids: Vec<&str> = known.keys().copied().collect();
            return Err(text::no_phase_with_outcomes(id, &ids));
        };
        if let Some(wrong) = outcomes.iter().find(|outcome| !names.contains(&outcome.as_str())) {
            return Err(text::no_outcome_of(id, wrong, names));
        }
        if planned.insert(id.clone(), outcomes.clone()).is_some() {
            return Err(text::repeated_input(id));
        }
    }
    Ok(planned)
}

/// The list for whose items the group of this id in the file of a workflow is repeated.
fn list_of(id: &str, workflow: &Workflow, library: &Library) -> Result<ValueName, String> {
    let mut groups = Vec::new();
    let mut ahead = vec![workflow];
    while let Some(scope) = ahead.pop() {
        for entry in &scope.phases {
            let Some(group) = entry.group_key().and_then(|key| library.get(key)) else { continue };
            groups.extend(group.each.as_ref().map(|each| (entry.id(), each)));
            ahead.push(group);
        }
    }
    match groups.iter().find(|(other, _)| *other == id) {
        // Of several lists the first gets the items.
        Some((_, Each::Of(lists))) => Ok(lists.first().cloned().unwrap_or(ValueName::Item)),
        Some((_, Each::Items(_))) => Err(format!("The items of `{id}` stand in its file.")),
        None => {
            let ids: Vec<&str> = groups.iter().map(|(id, _)| *id).collect();
            Err(text::no_repeated_group(id, &ids))
        }
    }
}

/// The phase that gives an output of an entry of a workflow, with its own name for it, if the entry nests a workflow.
fn given_by<'a>(id: &str, name: &str, workflow: &'a Workflow, library: &'a Library) -> Option<(&'a str, &'a str)> {
    let entries = library.entries_of_file(workflow);
    let nested =
        entries.iter().filter(|of| of.entry.is_called(id)).find_map(|of| library.get(of.entry.nested_key()?))?;
    let ValueName::Output { phase, name } = &nested.outputs.iter().find(|output| output.name == *name)?.of else {
        return None;
    };
    given_by(phase, name, nested, library).or(Some((phase, name)))
}

/// The outputs by their names `ID.NAME`, each of a phase of the workflow or of a workflow nested in it.
fn planned_outputs(
    given: &[(String, String)],
    workflow: &Workflow,
    library: &Library,
) -> Result<Map<String, String>, String> {
    let mut known: Vec<Input> = Vec::new();
    for phase in library.entries(workflow).filter_map(Entry::as_phase) {
        for definition::Output { name, kind, .. } in &phase.outputs {
            let name = format!("{}.{name}", phase.id);
            if known.iter().all(|other| other.name != name) {
                known.push(Input { name, kind: kind.clone(), default: None, is_optional: false, description: None });
            }
        }
    }
    if let Some((name, _)) = given.iter().find(|(name, _)| known.iter().all(|of| of.name != *name)) {
        return Err(text::no_output(name, &known));
    }
    arguments::values(&known, given)
}

/// The outcomes and outputs with which phases are left.
#[derive(Debug)]
struct Planned {
    /// The outcomes that are given, by the ids of the phases.
    outcomes: Map<String, Vec<String>>,
    /// The outputs that are given, by their names `ID.NAME`.
    outputs: Map<String, String>,
}

struct Play<'a> {
    engine: Engine,
    context: Context<'a>,
    given: Rc<Planned>,
    /// The branch that is played, and the run that has its group; `None` for the run itself.
    branch: Option<(String, RunState)>,
    /// The newest state entry.
    newest: Option<String>,
    /// The number of turns up to now, including the turns of branches.
    turns: usize,
    script: Vec<String>,
}

impl<'a> Play<'a> {
    fn new(given: Rc<Planned>, context: Context<'a>) -> Self {
        let (engine, script) = (Engine::default(), Vec::new());
        Self { engine, context, given, branch: None, newest: None, turns: 0, script }
    }

    /// Begins a session with this run.
    fn begin_session(&mut self, stored: Option<RunState>) {
        let facts = Facts { allow_commands: true, ..Facts::default() };
        self.effects(Event::Session { stored, in_view: None, facts });
    }

    fn write(&mut self, title: &str, text: &str) {
        let of = self.branch.as_ref().map(|(name, _)| format!("{name}: ")).unwrap_or_default();
        self.script.push(format!("━━ {of}{title} ━━\n\n{}", text.trim_end()));
    }

    /// Handles an event, and notes the state that the event stores.
    fn handle(&mut self, event: Event) -> Output {
        let output = self.engine.handle(event, &self.context);
        self.note_stored(&output.effects);
        output
    }

    fn note_stored(&mut self, effects: &[Effect]) {
        for effect in effects {
            if let Effect::AppendEntry { custom_type: STATE_ENTRY_TYPE, data } = effect {
                self.newest = Some(data.to_string());
            }
        }
    }

    /// The agent goes through the phases up to the end or a pause.
    fn steps(&mut self) {
        let fresh = |turn: usize| format!("Turn {turn} starts fresh: of the session it sees only this");
        let mut turn = 1;
        if self.goes_on() {
            let role = DefaultRole::default();
            if let Reply::Inject { content, .. } = self.handle(Event::BeforeAgentStart { role }).reply {
                self.write("Turn 1: what the agent is told", &content);
            }
            for effect in self.effects(Event::AgentStart) {
                if let Effect::BeginView(summary) = effect {
                    self.write(&fresh(turn), &summary.text);
                }
            }
        }
        while self.goes_on() {
            turn += 1;
            self.turns += 1;
            if self.turns >= MAX_TURNS {
                let why = format!("There are more than {MAX_TURNS} turns.");
                self.write("Not all of it is played", &why);
                return;
            }
            let (with, answer) = self.next();
            let call = format!("calls workflow_step with next{with}, and is told");
            if !self.goes_on() {
                self.write(&format!("It {call}"), &answer);
                break;
            }
            self.write(&format!("Turn {turn}: it {call}"), &answer);
            let turn_end = self.handle(Event::TurnEnd { queued: false, calls: &[] }).reply;
            if let Reply::Compact { summary, prompt: Some(prompt), .. } = turn_end {
                self.write(&fresh(turn), &format!("{}\n\n{prompt}", summary.text));
            }
        }
        if self.engine.is_running() && self.engine.run.pause_reason().is_some() {
            let notice = self.engine.run.active().and_then(|active| text::pause_notice(&active));
            self.write("What the user is told", &notice.unwrap_or_default());
        }
    }

    /// Returns true if the run has not ended, and is not paused.
    fn goes_on(&self) -> bool {
        self.engine.is_running() && self.engine.run.pause_reason().is_none()
    }

    /// Plays the branches that these effects start, and the branches that start after them.
    fn branches(&mut self, effects: &mut Vec<Effect>) {
        let is_start = |effect: &Effect| matches!(effect, Effect::StartChild(_));
        while let Some(at) = effects.iter().position(is_start) {
            if let Effect::StartChild(start) = effects.remove(at) {
                let report = self.branch(*start);
                let ended = Some(ChildEnd::Settled);
                effects.extend(self.handle(Event::Child { report, ended }).effects);
            }
        }
    }

    /// Plays a branch to its end or to a pause.
    fn branch(&mut self, start: ChildStart) -> ChildReport {
        let ChildStart { key, entries, prompt, .. } = start;
        let state = entries.iter().rfind(|(custom_type, _)| *custom_type == STATE_ENTRY_TYPE);
        let newest = state.map(|(_, data)| data.to_string());
        let group = self.engine.run.active().map(|active| active.state.clone());
        let mut play = Play::new(Rc::clone(&self.given), self.context);
        play.turns = self.turns;
        let stored = newest.as_ref().and_then(|newest| restore([newest]));
        let branch = stored.as_ref().and_then(|stored| stored.progress().branch.as_ref());
        play.branch = branch.map(text::branch_name).zip(group);
        play.newest = newest;
        play.begin_session(stored);
        match prompt.strip_prefix(&format!("/{WORKFLOW_COMMAND} ")) {
            Some(arguments) => {
                play.effects(Event::Command { name: WORKFLOW_COMMAND, arguments });
            }
            None => play.write("The prompt that starts its agent", &prompt),
        }
        play.steps();
        self.script.append(&mut play.script);
        (self.turns, self.context.unix_ms) = (play.turns, play.context.unix_ms);
        ChildReport { key, newest: play.newest, ..ChildReport::default() }
    }

    /// The effects of an event, and of the steps to which the run comes.
    fn effects(&mut self, event: Event) -> Vec<Effect> {
        let Output { mut effects, reply } = self.handle(event);
        self.answer(reply, &mut effects);
        effects
    }

    /// Answers the requests of steps, up to the last reply.
    fn answer(&mut self, mut reply: Reply, effects: &mut Vec<Effect>) -> Reply {
        for _ in 0..MAX_TURNS {
            let Reply::Ask { ticket, request } = reply else { return reply };
            if let Request::Children { .. } = request {
                reply = self.answer_when_branches_ended(ticket, effects);
                continue;
            }
            let Some(active) = self.engine.run.at_entry() else { return Reply::Ask { ticket, request } };
            let outcome = self.outcome(&active).unwrap_or_default();
            let title = text::phase_title(active.phase);
            let mut told = format!("{title}: {outcome}");
            let given = self.given_outcome(&active).filter(|given| !active.offers(given));
            if let Some(given) = given.filter(|given| active.phase.outcomes.iter().any(|other| other.name == **given)) {
                told.push_str(&format!("\n`{given}` is not offered: its conditions do not hold."));
            }
            let answer = match (active.question(), &request) {
                (_, Request::Input { .. }) => Answer::Entered("(the text of the user)".into()),
                (Some(question), _) => {
                    let index = question.answers.iter().position(|answer| answer.outcome == outcome);
                    self.write("Without the agent", &told);
                    Answer::Selected(index.map_or(0, |index| index + 1))
                }
                (None, Request::Exec { .. }) => {
                    let given = serde_json::to_string(&self.outputs(&active)).unwrap_or_default();
                    self.write("Without the agent", &told);
                    Answer::Ran(Ran {
                        cut_bytes: 0,
                        end: CommandEnd::Exited(u32::from(outcome != Step::OK)),
                        duration_ms: 1000,
                        output: "(the output of the command)".to_owned(),
                        standard_output: Some(given),
                        output_file: None,
                    })
                }
                // A value of the run as the command: the option after “No” is yes.
                (None, _) => Answer::Selected(1),
            };
            self.context.unix_ms += 1;
            let next = self.handle(Event::Answer { ticket, answer });
            effects.extend(next.effects);
            reply = next.reply;
        }
        reply
    }

    /// Answers the wait for the branches, which are played one after the other.
    fn answer_when_branches_ended(&mut self, ticket: u64, effects: &mut Vec<Effect>) -> Reply {
        self.branches(effects);
        let told = self.engine.run.active().and_then(|active| {
            let title = text::phase_title(active.phase);
            match active.state.joined(active.library) {
                Joined::Done(Some(outcome)) => Some(format!("{title}: {outcome}")),
                Joined::Done(None) => Some(format!("{title}: its branches have ended")),
                // The user is told the reason.
                Joined::Stuck(_) | Joined::Open => None,
            }
        });
        if let Some(told) = told {
            self.write("Without the agent", &told);
        }
        self.context.unix_ms += 1;
        let answer = Answer::ChildrenEnded;
        let next = self.handle(Event::Answer { ticket, answer });
        effects.extend(next.effects);
        next.reply
    }

    /// The outcome that is given for this visit of the current phase; it may belong to another phase with its id.
    fn given_outcome(&self, active: &Active) -> Option<&String> {
        let group = self.branch.as_ref().map(|(_, group)| group);
        let visit = visits(active.state, group).saturating_sub(1);
        let visit = usize::try_from(visit).unwrap_or(usize::MAX);
        let given = self.given.outcomes.get(&active.phase.id)?;
        given.get(visit).or_else(|| given.last())
    }

    /// The outcome of the current phase.
    fn outcome(&self, active: &Active) -> Option<String> {
        let outcomes = active.phase.outcomes.iter().map(|outcome| &outcome.name);
        let names: Vec<&String> = outcomes.filter(|name| active.offers(name)).collect();
        let names = || names.iter().copied();
        let group = self.branch.as_ref().map(|(_, group)| group);
        let given = self.given_outcome(active);
        // The given outcome may belong to another phase with this id.
        let given = given.filter(|given| names().any(|name| name == *given));
        // An outcome that ends a branch may become the outcome of the group.
        let group = group.and_then(|group| Active::resolve(group, active.library));
        let group_leads_on = |name: &String| {
            group.as_ref().is_none_or(|group| {
                let has = group.phase.outcomes.iter().any(|other| other.name == *name);
                !has || group.leads_on(name)
            })
        };
        let leads_on = |name: &&String| active.leads_on(name) && group_leads_on(name);
        given.or_else(|| names().find(leads_on)).or_else(|| names().next()).cloned()
    }

    /// The outputs of the current phase.
    fn outputs(&self, active: &Active) -> Outputs {
        let value = |definition::Output { name, kind, is_optional, .. }: &definition::Output| {
            let given = self.given.outputs.get(&format!("{}.{name}", active.phase.id)).cloned();
            // The given output may belong to another phase with this id.
            let given = given.filter(|given| kind.value(given).is_some());
            let text = given.or_else(|| (!is_optional).then(|| kind.sample(name)))?;
            Some((name.clone(), OutputValue::of_text(kind, &text)?))
        };
        active.outputs().iter().filter_map(value).collect()
    }

    /// The outcome and the result of `next`, as if every gate were passed.
    fn next(&mut self) -> (String, String) {
        self.context.unix_ms += 1;
        let active = self.engine.run.active();
        let outputs = active.as_ref().map(|active| self.outputs(active)).filter(|of| !of.is_empty());
        let summary = Some("(what the agent hands over)".into());
        let call = StepCall { summary, outputs, nested: false };
        let outcome = active.as_ref().and_then(|active| self.outcome(active));
        let evidence = active.map(|active| {
            let left = call.handed_over(&active);
            sample_evidence(&active.with(&left), outcome.as_deref())
        });
        let evidence = evidence.unwrap_or_default();
        let mut cx = Cx::new(&self.context);
        let reply = self.engine.advance_by_agent(&call, outcome.as_deref(), evidence, &mut cx);
        let reply = self.engine.follow_entries(reply, Waiter::Call { nested: false }, &mut cx);
        let mut effects = cx.effects;
        self.note_stored(&effects);
        let text = match self.answer(reply, &mut effects) {
            Reply::Tool(result) => result.text,
            _ => String::new(),
        };
        (text::call_with(outcome.as_deref(), call.outputs.as_ref()), text)
    }

    fn end(mut self) -> String {
        if self.engine.is_running() {
            return self.script.join("\n\n");
        }
        for effect in self.effects(Event::AgentEnd { stop: Stop::Completed }) {
            if let Effect::AppendEntry { custom_type: COMPLETE_TYPE, data } = effect {
                let text = data.get("content").and_then(Value::as_str);
                self.write("What the user is shown at the end", text.unwrap_or_default());
            }
        }
        self.script.join("\n\n")
    }
}

/// The number of visits of the current phase, including the current visit, for all items of the groups around it.
/// `group` is the run that has the parallel group of the branch; other branches of the group may have ended.
fn visits(state: &RunState, group: Option<&RunState>) -> u32 {
    let entries = |path: &PhasePath| -> Vec<(String, usize)> {
        path.iter().map(|segment| (segment.workflow_key.clone(), segment.phase_index)).collect()
    };
    let own = entries(&state.current_path);
    let is_own = |key: &str| PhasePath::parse(key).is_some_and(|path| entries(&path) == own);
    let known = state.progress().visits.iter();
    let others = group.into_iter().flat_map(|group| group.progress().visits.iter());
    let others = others.filter(|(key, _)| !state.progress().visits.contains_key(key));
    known.chain(others).filter(|(key, _)| is_own(key)).map(|(_, visit)| visit.number).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definition::fixtures::Files;

    fn files() -> Files {
        let mut files = Files::default();
        for (path, text) in [
            (
                "w/workflow.yaml",
                "name: W\ncommandName: w\ninitialMessage: 'Go: {description}'\nphases: [a.md, {subworkflow: s}]\n",
            ),
            ("w/a.md", "---\nid: a\nname: A\nemoji: '*'\n---\nDo a.\n"),
            ("s/workflow.yaml", "name: S\nshow: workflows\nphases: [b.md]\n"),
            ("s/b.md", "---\nid: b\nname: B\nemoji: '*'\n---\nDo b for {description}.\n"),
        ] {
            files.global.insert(path.into(), text.into());
        }
        files
    }

    fn play(files: &Files, inputs: &[(&str, &str)], outcomes: &[(&str, &str)]) -> Result<String, String> {
        let (library, diagnostics) = Library::load(files).unwrap();
        assert!(diagnostics.is_empty(), "{diagnostics:?}");
        let inputs = inputs.iter().map(|(name, value)| ((*name).into(), (*value).into()));
        let outcomes =
            outcomes.iter().map(|(id, names)| ((*id).to_owned(), names.split(',').map(ToOwned::to_owned).collect()));
        let inputs: Vec<(String, String)> = inputs.collect();
        let outcomes: Vec<(String, Vec<String>)> = outcomes.collect();
        let workflow = library.get("w").unwrap();
        let given = Given { inputs: &inputs, outcomes: &outcomes, ..Given::default() };
        run_through(files, &library, workflow, "the task", given)
    }

    fn titles(script: &str) -> Vec<&str> {
        let titles = script.lines().filter_map(|line| line.strip_prefix("━━ "));
        titles.filter_map(|title| title.strip_suffix(" ━━")).collect()
    }

    /// A triage, a design for what is large, and a review that leads back.
    fn branching() -> Files {
        let mut files = Files::default();
        let phase = |id: &str, outcomes: &str| {
            format!("---\nid: {id}\nname: {id}\nemoji: '*'\n{outcomes}---\nDo {id} for {{input.scope}}.\n")
        };
        for (path, text) in [
            (
                "w/workflow.yaml",
                "name: W
commandName: w
initialMessage: Go
inputs:
  scope: { type: choice, options: [api, web] }
  dry: { type: flag }
phases:
  - triage.md
  - { phase: design.md, when: { outcome.triage: large } }
  - { phase: scan.md, when: { input.scope: api } }
  - review.md
"
                .to_owned(),
            ),
            ("w/triage.md", phase("triage", "outcomes: { small: next, large: next }\n")),
            ("w/design.md", phase("design", "")),
            ("w/scan.md", phase("scan", "")),
            ("w/review.md", phase("review", "outcomes: { issues: { to: triage, max: 2 }, clean: next }\n")),
        ] {
            files.global.insert(path.to_owned(), text);
        }
        files
    }

    #[test]
    fn the_outcomes_that_are_given_lead_the_way() {
        let files = branching();
        let web = [("scope", "web")];
        let script = play(&files, &web, &[]).unwrap();
        assert_eq!(
            titles(&script),
            [
                "The prompt that starts the agent",
                "Turn 1: what the agent is told",
                "Turn 2: it calls workflow_step with next and the outcome small, and is told",
                "It calls workflow_step with next and the outcome clean, and is told",
                "What the user is shown at the end",
            ]
        );
        assert!(script.contains("Do triage for web."), "{script}");
        let outcomes = [("triage", "small,large"), ("review", "issues")];
        let script = play(&files, &web, &outcomes).unwrap();
        assert_eq!(
            titles(&script)[2..],
            [
                "Turn 2: it calls workflow_step with next and the outcome small, and is told",
                "Turn 3: it calls workflow_step with next and the outcome issues, and is told",
                "Turn 4: it calls workflow_step with next and the outcome large, and is told",
                "Turn 5: it calls workflow_step with next, and is told",
                "Turn 6: it calls workflow_step with next and the outcome issues, and is told",
                "Turn 7: it calls workflow_step with next and the outcome large, and is told",
                "Turn 8: it calls workflow_step with next, and is told",
                "It calls workflow_step with next and the outcome issues, and is told",
                "What the user is told",
            ]
        );
        let end = "⏸ W is paused in * review: “review” was left with `issues` 2 times (max).\nYour next message resumes it, or /workflow :resume.";
        assert!(script.ends_with(end), "{script}");
    }

    #[test]
    fn wrong_inputs_and_outcomes_are_refused() {
        let files = branching();
        let web = ("scope", "web");
        for (inputs, outcomes, error) in [
            (vec![], vec![], "Inputs without a value: --input scope=… (`api` or `web`)"),
            (vec![("scop", "web")], vec![], "There is no input `scop`. Did you mean `scope`?"),
            (vec![("x", "web")], vec![], "There is no input `x`, only `scope`, `dry`."),
            (vec![("scope", "wep")], vec![], "`scope`: expected `api` or `web`, found `wep`. Did you mean `web`?"),
            (vec![web, web], vec![], "`scope` is given twice."),
            (
                vec![web],
                vec![("tirage", "small")],
                "There is no phase `tirage` with outcomes. Did you mean `triage`? There are review, triage.",
            ),
            (
                vec![web],
                vec![("design", "small")],
                "There is no phase `design` with outcomes. There are review, triage.",
            ),
            (
                vec![web],
                vec![("triage", "smal")],
                "`smal` is no outcome of `triage`. Did you mean `small`? There are small, large.",
            ),
            (vec![web], vec![("triage", "small"), ("triage", "small")], "`triage` is given twice."),
        ] {
            assert_eq!(play(&files, &inputs, &outcomes), Err(error.to_owned()));
        }
    }

    #[test]
    fn gates_are_passed_with_evidence() {
        let mut files = files();
        let gate = "gate:\n  - run: npm test\n  - file: docs/*.md\n";
        let a = files.global.get_mut("w/a.md").unwrap();
        *a = a.replace("emoji", &format!("{gate}emoji"));
        let b = files.global.get_mut("s/b.md").unwrap();
        *b = b.replace("emoji", "gate: [{run: make, name: the build}]\nemoji");
        let lines = "- * A: ✓ npm test: exit status 0, 1s
- * A: ✓ docs/*.md: it holds
- * B: ✓ the build: exit status 0, 1s";
        let script = play(&files, &[], &[]).unwrap();
        let end = format!("\n\n**Gates:**\n{lines}");
        assert!(script.ends_with(&end), "{script}");
        let w = files.global.get_mut("w/workflow.yaml").unwrap();
        w.push_str("completionMessage: \"All of it:\\n{evidence}\"\n");
        let script = play(&files, &[], &[]).unwrap();
        assert!(script.ends_with(&format!("\n\nAll of it:\n{lines}")), "{script}");
    }

    #[test]
    fn values_of_the_run_are_played_as_commands() {
        let mut files = files();
        let workflow = "name: W\ncommandName: w\ninitialMessage: Go\ninputs: {check: {type: command}}\nphases: [{run: input.check, id: given}, a.md]\n";
        files.global.insert("w/workflow.yaml".into(), workflow.into());
        let script = play(&files, &[("check", "npm test")], &[]).unwrap();
        assert!(script.contains("given: ok") && script.contains("**W Complete**"), "{script}");
    }

    #[test]
    fn a_fresh_phase_is_told_everything_again() {
        let mut files = files();
        files.global.get_mut("w/workflow.yaml").unwrap().push_str("context: fresh\n");
        let script = play(&files, &[], &[]).unwrap();
        let (before, fresh) = script.split_once("━━ Turn 2 starts fresh: ").unwrap();
        assert!(!before.contains("Do b for the task."));
        assert!(fresh.contains("starts with a fresh context") && fresh.contains("Do b for the task."));
        assert!(fresh.contains("(what the agent hands over)") && !fresh.contains("Do a."));
    }

    #[test]
    fn every_phase_is_played() {
        let script = play(&files(), &[], &[]).unwrap();
        let titles: Vec<&str> = script.lines().filter(|line| line.starts_with("━━")).collect();
        assert_eq!(
            titles,
            [
                "━━ The prompt that starts the agent ━━",
                "━━ Turn 1: what the agent is told ━━",
                "━━ Turn 2: it calls workflow_step with next, and is told ━━",
                "━━ It calls workflow_step with next, and is told ━━",
                "━━ What the user is shown at the end ━━",
            ]
        );
        assert!(script.contains("Go: the task") && script.contains("Do b for the task."));
        let (library, _) = Library::load(&files()).unwrap();
        let workflow = library.get("w").unwrap();
        let gone = Files::default();
        let refused = run_through(&gone, &library, workflow, "the task", Given::default()).unwrap_err();
        assert!(refused.starts_with("Unknown workflow: \"w\""), "{refused}");
    }

    /// A plan that gives a list, and a group that is repeated for its items.
    fn items() -> Files {
        let mut files = files();
        let workflow = "name: W\ncommandName: w\ninitialMessage: Go\ninputs: {l: {type: list, default: [p]}}\nphases: [a.md, {phases: [{subworkflow: s}], each: output.a.t}, {phases: [{subworkflow: s, id: s2}], each: input.l}]\n";
        files.global.insert("w/workflow.yaml".into(), workflow.into());
        let a = files.global.get_mut("w/a.md").unwrap();
        *a = a.replace("emoji", "outputs: {t: {type: list}}\nemoji");
        let b = files.global.get_mut("s/b.md").unwrap();
        *b = b.replace("emoji", "outcomes: {good: next, bad: next}\nemoji");
        files
    }

    #[test]
    fn the_outcomes_of_a_phase_are_those_of_its_visits_in_all_items() {
        let script = play(&items(), &[], &[("b", "bad,good")]).unwrap();
        let told = script.lines().filter_map(|line| line.split(" and the outcome ").nth(1));
        let told: Vec<&str> = told.filter_map(|line| line.split(',').next()).collect();
        assert_eq!(told, ["bad", "good", "bad"], "the last one is that of another entry");
    }

    /// Two reviews at the same time, which lead back once.
    fn panel() -> Files {
        let mut files = files();
        let workflow = "name: W
commandName: w
initialMessage: Go
phases:
  - a.md
  - id: reviews
    phases: [bugs.md, { subworkflow: s }]
    parallel: true
    outcomes: { issues: { to: a, max: 1 }, clean: next }
  - last.md
";
        files.global.insert("w/workflow.yaml".into(), workflow.into());
        let phase = |id: &str, fields: &str| format!("---\nid: {id}\nname: {id}\nemoji: '*'\n{fields}---\nDo {id}.\n");
        let outcomes = "write: []\noutcomes: { issues: next, clean: next }\n";
        files.global.insert("w/bugs.md".into(), phase("bugs", outcomes));
        files.global.insert("w/last.md".into(), phase("last", ""));
        files.global.insert(
            "s/workflow.yaml".into(),
            "name: S\nshow: workflows\nphases: [{ run: make, id: made }, b.md]\n".into(),
        );
        files.global.insert("s/b.md".into(), phase("b", outcomes));
        files
    }

    #[test]
    fn the_branches_of_a_parallel_group_are_played_one_after_the_other() {
        let script = play(&panel(), &[], &[]).unwrap();
        let branches = [
            "bugs: The prompt that starts its agent",
            "bugs: Turn 1: what the agent is told",
            "bugs: Turn 1 starts fresh: of the session it sees only this",
            "bugs: It calls workflow_step with next and the outcome clean, and is told",
            "S: Without the agent",
            "S: Turn 1: what the agent is told",
            "S: It calls workflow_step with next and the outcome clean, and is told",
            "Without the agent",
            "Turn 2: it calls workflow_step with next, and is told",
        ];
        assert_eq!(titles(&script)[2..11], branches, "{script}");
        assert!(script.contains("🔀 reviews: clean\n"), "one that leads on is taken: {script}");
        assert!(script.contains("## bugs: ended with clean") && script.contains("Do last."), "{script}");
    }

    #[test]
    fn the_outcomes_of_branches_decide_that_of_their_group() {
        let script = play(&panel(), &[], &[("b", "issues,clean")]).unwrap();
        let told = script.lines().filter(|line| line.starts_with("🔀 reviews: "));
        assert_eq!(told.collect::<Vec<_>>(), ["🔀 reviews: issues", "🔀 reviews: clean"], "{script}");
        let script = play(&panel(), &[], &[("b", "issues")]).unwrap();
        let told = script.lines().filter(|line| line.starts_with("🔀 reviews: "));
        assert_eq!(told.count(), 2);
        assert!(script.contains("━━ What the user is told ━━") && !script.contains("Do last."), "{script}");
    }

    #[test]
    fn an_answer_that_is_not_offered_is_not_played() {
        let mut files = files();
        let workflow = "name: W
commandName: w
initialMessage: Go
inputs: { kind: { type: choice, options: [api, web] } }
phases:
  - ask: And now?
    id: pick
    outcomes: { ship: { to: next, when: { input.kind: api } }, again: next, stop: stop }
  - a.md
";
        files.global.insert("w/workflow.yaml".into(), workflow.into());
        for (kind, told) in [
            ("api", "❓ pick: ship\n"),
            ("web", "❓ pick: again\n`ship` is not offered: its conditions do not hold.\n"),
        ] {
            let script = play(&files, &[("kind", kind)], &[("pick", "ship")]).unwrap();
            assert!(script.contains(told), "{script}");
        }
    }

    #[test]
    fn each_item_of_a_parallel_group_is_played() {
        let mut files = items();
        let workflow = files.global.get_mut("w/workflow.yaml").unwrap();
        *workflow = "name: W\ncommandName: w\ninitialMessage: Go\nphases: [a.md, {phases: [{subworkflow: s}], id: g, each: output.a.t, parallel: 2}]\n".into();
        let a = files.global.get_mut("w/a.md").unwrap();
        *a = a.replace("{type: list}", "{type: list, max: 9}");
        let b = files.global.get_mut("s/b.md").unwrap();
        *b = b.replace("emoji", "write: []\nemoji");
        let script = play(&files, &[], &[("b", "bad,good")]).unwrap();
        let ends = script.lines().filter(|line| line.starts_with("## "));
        let ends: Vec<&str> = ends.filter_map(|line| line.split(": ").nth(1)).collect();
        assert_eq!(ends, ["ended with bad", "ended with good"], "{script}");
    }
}
