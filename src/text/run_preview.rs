//! The preview of a run before it starts: its commands, questions, models and budgets.

use crate::sorted::{Map, Set};

use crate::definition::{
    Agreement, BudgetBounds, CheckKind, Command, EntryKind, Gate, Library, Outcome, Phase, Target, ValueName,
    ValueType, Workflow,
};

use super::budget::budget_note;
use super::exact::{Spaces, exact_line, framed, quoted};
use super::parallel::agents_note;
use super::questions::{Dialog, GateSource, Question, Title, by_program, counted};

/// Columns of a name, of a model and of a budget in a preview.
const WIDTH: usize = 60;

/// Everything that a run can reach: its phases, its nested workflows, and the entries that may be passed over.
#[derive(Debug, Default)]
pub struct RunPreview<'a> {
    name: &'a str,
    /// The key of the workflow, and the values of its inputs.
    key: &'a str,
    values: Map<&'a str, &'a str>,
    gates: Vec<PreviewedGate<'a>>,
    questions: Vec<(&'a str, &'a str)>,
    models: Vec<(&'a str, &'a [String])>,
    budgets: Vec<(&'a str, &'a BudgetBounds)>,
    /// The note on the agents of parallel groups.
    agents: Option<String>,
}

#[derive(Debug)]
struct PreviewedGate<'a> {
    /// The commands, each with its source, if it needs the user's consent.
    commands: Vec<(Option<GateSource>, Previewed)>,
    /// The name of the phase or workflow that has the gate.
    of: &'a str,
    /// The commands are a step, which is an entry of its own.
    is_step: bool,
    /// A condition or an outcome decides if the run reaches the gate.
    is_conditional: bool,
}

/// A command, or the scripts of a workflow.
#[derive(Debug)]
enum Previewed {
    Command(Command),
    Scripts(String),
}

impl Previewed {
    fn agreement(&self) -> Agreement<'_> {
        match self {
            Self::Command(command) => command.agreement(),
            Self::Scripts(scripts) => Agreement::of_files(scripts),
        }
    }
}

impl PreviewedGate<'_> {
    /// Returns its name, and that a run may pass over it.
    fn title(&self) -> String {
        format!("{}{}", quoted(self.of, WIDTH), if self.is_conditional { " (may be passed over)" } else { "" })
    }

    /// Returns the commands that need the user's consent.
    fn asked(&self) -> impl Iterator<Item = Agreement<'_>> {
        self.commands.iter().filter(|(source, _)| source.is_some()).map(|(_, command)| command.agreement())
    }
}

impl<'a> RunPreview<'a> {
    /// Returns the preview of a run of this workflow with these values of inputs. The preview has each workflow once,
    /// however often it is nested.
    pub fn of(workflow: &'a Workflow, given: &'a Map<String, String>, library: &'a Library) -> Self {
        let agents = agents_note(&workflow.key, library);
        let value = |name: &String, default: &'a Option<String>| given.get(name).or(default.as_ref());
        let inputs = workflow.inputs.iter();
        let values = inputs.filter_map(|input| Some((&*input.name, &**value(&input.name, &input.default)?)));
        let values = values.collect();
        let mut preview = Self { name: &workflow.name, key: &workflow.key, values, agents, ..Self::default() };
        let mut certain = Set::new();
        reach(workflow, library, &mut certain);
        preview.add(workflow, library, &certain, &mut Set::new());
        preview
    }

    fn add(&mut self, scope: &'a Workflow, library: &'a Library, certain: &Set<&'a str>, seen: &mut Set<&'a str>) {
        if !seen.insert(&scope.key) {
            return;
        }
        self.models.push((&scope.name, &scope.model.names));
        let scope_is_conditional = !certain.contains(&*scope.key);
        let uncertain = uncertain(scope);
        for (index, entry) in scope.phases.iter().enumerate() {
            match &entry.kind {
                EntryKind::Phase(phase) => {
                    let Phase { name, gate, model, budget, .. } = &**phase;
                    let is_conditional = scope_is_conditional || uncertain.contains(&index);
                    let previewed = |commands, is_step| PreviewedGate { commands, of: name, is_step, is_conditional };
                    let shown = |command| self.shown(command, scope);
                    let with_scripts = |mut run: Vec<(Option<GateSource>, Previewed)>| {
                        let scripts = scope.shown_scripts().filter(|_| !run.is_empty());
                        run.extend(
                            scripts.map(|scripts| (GateSource::of(scope), Previewed::Scripts(scripts.to_owned()))),
                        );
                        run
                    };
                    let gate = gate.as_ref().map(|gate| commands(gate).map(shown).collect());
                    let gate = gate.map(|run| previewed(with_scripts(run), false));
                    let step = phase.step().map(|step| with_scripts(vec![shown(&step.command)]));
                    let step = step.map(|run| previewed(run, true));
                    self.gates.extend(gate.into_iter().chain(step));
                    self.questions.extend(phase.question().map(|question| (&**name, &*question.text)));
                    self.models.push((name, &model.names));
                    self.budgets.push((name, budget));
                }
                EntryKind::Workflow { key, model, .. } => {
                    if let Some(nested) = library.get(key) {
                        self.models.push((library.entry_name(entry), &model.names));
                        self.add(nested, library, certain, seen);
                    }
                }
            }
        }
        self.budgets.push((&scope.name, &scope.budget));
    }

    /// Returns a command of a workflow as the user agrees to it, with its source, if the command needs the user's consent and
    /// its line is known before the start.
    fn shown(&self, command: &Command, scope: &Workflow) -> (Option<GateSource>, Previewed) {
        let is_own = scope.key == self.key || scope.group.as_ref().is_some_and(|group| group.file == self.key);
        let value = |name: &ValueName| match name {
            ValueName::Input(name) if is_own => ValueType::Command.value(self.values.get(&**name)?),
            _ => None,
        };
        let known = command.value().map_or_else(|| command.clone(), |name| command.with_line(value(name)));
        let source = GateSource::of_command(&known, scope);
        (source, Previewed::Command(if known.line().is_empty() { command.clone() } else { known }))
    }

    /// Returns the commands that need the user's consent.
    pub fn commands(&self) -> impl Iterator<Item = Agreement<'_>> {
        self.gates.iter().flat_map(PreviewedGate::asked)
    }

    /// Returns the question about the start, with the commands `asked` of [`RunPreview::commands`], each shown in full.
    pub fn question(&self, asked: &[String], dialog: Dialog) -> Question {
        let mut commands = 0;
        let mut lines = Vec::new();
        let mut left: Set<&str> = asked.iter().map(String::as_str).collect();
        // The commands stand last, directly above the dialog.
        let mut above = self.others();
        for gate in &self.gates {
            let new: Vec<&str> = gate.asked().map(|of| of.shown).filter(|command| left.remove(command)).collect();
            let source = gate.commands.iter().find_map(|(source, _)| source.as_ref());
            let Some(source) = source.filter(|_| !new.is_empty()) else { continue };
            above.push(source.runs(gate.is_step, &gate.title()).into());
            for command in new {
                commands += 1;
                lines.extend(framed(command));
                above.extend(framed(command));
            }
        }
        let has_steps = self.gates.iter().any(|gate| gate.is_step && gate.asked().next().is_some());
        let runs = if has_steps { "It runs" } else { "Its gates run" };
        match dialog {
            Dialog::Terminal(_) => {
                let first = Title::new("Start ", &format!("{}? {runs}", dialog.name_of(self.name, 16)));
                let (commands, lines) = (counted(commands, "command"), counted(lines.len(), "line"));
                let title = first.and(&format!("{commands}, {lines}: shown above"));
                let head = format!("Start {}:", quoted(self.name, WIDTH));
                Question { title, above: Some(format!("{head}\n{}", above.join("\n"))) }
            }
            Dialog::Program => {
                by_program(Title::new("Start ", &format!("{}? {runs} commands:", quoted(self.name, WIDTH))), above)
            }
        }
    }

    /// Returns the questions, models, budgets and all commands.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = self.others();
        for gate in self.gates.iter().filter(|gate| !gate.commands.is_empty()) {
            lines.push(format!("{} {} runs:", if gate.is_step { "Step" } else { "Gate" }, gate.title()));
            lines.extend(gate.commands.iter().flat_map(|(_, command)| framed(command.agreement().shown)));
        }
        lines
    }

    /// Returns the questions, models and budgets.
    fn others(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for (of, question) in &self.questions {
            lines.push(format!("{} asks you:", quoted(of, WIDTH)));
            lines.extend(framed(question));
        }
        lines.extend(self.agents.as_ref().map(|note| format!("{}: {note}", quoted(self.name, WIDTH))));
        for (of, models) in self.models.iter().filter(|(_, models)| !models.is_empty()) {
            let models = exact_line(&models.join(", "), WIDTH, Spaces::Single);
            lines.push(format!("Model of {}:\n│ {models}", quoted(of, WIDTH)));
        }
        for (of, budget) in &self.budgets {
            let note = budget_note(budget);
            lines.extend(note.map(|note| format!("{}: {note}", quoted(of, WIDTH))));
        }
        lines
    }
}

fn commands(gate: &Gate) -> impl Iterator<Item = &Command> {
    gate.checks.iter().filter_map(|check| match &check.kind {
        CheckKind::Run { command, .. } => Some(command),
        CheckKind::File { .. } => None,
    })
}

/// Returns the indices of the entries that a condition or an outcome may pass over.
fn uncertain(scope: &Workflow) -> Set<usize> {
    let mut uncertain = Set::new();
    for (index, entry) in scope.phases.iter().enumerate() {
        if !entry.when.is_empty() {
            uncertain.insert(index);
        }
        let over_budget = entry.as_phase().and_then(|phase| phase.on_budget.as_ref());
        for target in entry.outcomes().iter().flat_map(Outcome::targets).chain(over_budget) {
            let end = match target {
                Target::Next | Target::Loop | Target::Stop => continue,
                // Each branch of a parallel group has an end of its own.
                Target::Done | Target::End | Target::Entry(_) if scope.has_branches_beside() => continue,
                Target::Done | Target::End => scope.phases.len(),
                Target::Entry(id) => scope.position(id).unwrap_or(0),
            };
            uncertain.extend(index + 1..end);
        }
    }
    uncertain
}

/// Collects the keys of the workflows that no condition or outcome on the way keeps a run from.
fn reach<'a>(scope: &'a Workflow, library: &'a Library, certain: &mut Set<&'a str>) {
    if !certain.insert(&scope.key) {
        return;
    }
    let uncertain = uncertain(scope);
    let certain_entries = scope.phases.iter().enumerate().filter(|(index, _)| !uncertain.contains(index));
    for (_, entry) in certain_entries {
        if let EntryKind::Workflow { key, .. } = &entry.kind
            && let Some(nested) = library.get(key)
        {
            reach(nested, library, certain);
        }
    }
}
