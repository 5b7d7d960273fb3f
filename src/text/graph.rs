//! Diagrams of workflows.

use crate::sorted::Map;

use crate::definition::{Answer, Results, Work, as_name, is_group_key, on_one_line};
use crate::definition::{
    Entry, EntryKind, Gate, Given, Library, Outcome, OwnModel, Phase, Target, ToolPolicy, Workflow,
};
use crate::run::{PhasePath, Segment};

use super::budget::{budget_note, over_budget_note};
use super::limits::limits_note;
use super::outputs::outputs_note;
use super::parallel::{agents_note, parallel_notes};
use super::ways::{short, times, when_note};

/// Maximum number of phases in a diagram.
const MAX_PHASES: usize = 200;

/// Returns a note on the tool policy of a phase; `None` if it allows all tools.
fn tool_note(phase: &Phase) -> Option<String> {
    match &phase.tools {
        _ if !phase.is_of_agent() => None,
        ToolPolicy::All => None,
        ToolPolicy::Except(refused) if refused.is_empty() => None,
        ToolPolicy::Except(refused) => Some(format!("without {}", refused.join(", "))),
        ToolPolicy::Only(allowed) if allowed.is_empty() => Some("no tools".into()),
        ToolPolicy::Only(allowed) => Some(format!("only {}", allowed.join(", "))),
    }
}

/// Returns a note on the model of a phase, an entry or a workflow; `None` without one.
fn model_note(own: &OwnModel) -> Option<String> {
    let names: Vec<String> = own.names.iter().map(|name| short(name)).collect();
    (!names.is_empty()).then(|| format!("model: {}", names.join(" or ")))
}

/// Returns a note on the files in `scripts/` of a workflow; `None` without any, and for a group in it.
fn scripts_note(workflow: &Workflow) -> Option<String> {
    let scripts = workflow.scripts.as_ref().filter(|_| workflow.group.is_none())?;
    Some(scripts.note().to_owned())
}

/// Returns the notes on a workflow or a group as a whole: the items for which it is repeated, its branches, its model, its
/// budget, and its `scripts/`.
pub fn workflow_notes(workflow: &Workflow, library: &Library) -> impl Iterator<Item = String> {
    let each = workflow.each.as_ref().map(|each| format!("for each of {}", short(&each.to_string())));
    let parallel = parallel_notes(workflow, library);
    let model = model_note(&workflow.model);
    let notes = each.into_iter().chain(parallel).chain(model).chain(budget_note(&workflow.budget));
    notes.chain(scripts_note(workflow))
}

/// Returns the notes on a nested workflow or a group: the values that the entry gives to inputs, the model of the entry,
/// the notes on the workflow or group as a whole, and its outputs.
pub fn nested_notes(entry: &Entry, library: &Library) -> Vec<String> {
    let EntryKind::Workflow { key, with, model, .. } = &entry.kind else { return Vec::new() };
    // A group has the inputs of its file.
    let with = if is_group_key(key) { &Map::new() } else { with };
    let given = with.iter().map(|(name, given)| match given {
        Given::Value(value) => format!("{name}={}", short(value)),
        Given::List(items) => format!("{name}=[{}]", short(&items.join(", "))),
        Given::Name(outer) => format!("{name}={{{outer}}}"),
    });
    let given: Vec<String> = given.collect();
    let given = (!given.is_empty()).then(|| format!("with: {}", given.join(", ")));
    let nested = library.get(key).into_iter();
    given
        .into_iter()
        .chain(model_note(model))
        .chain(nested.clone().flat_map(|nested| workflow_notes(nested, library)))
        .chain(nested.filter_map(|nested| outputs_note(&nested.given)))
        .collect()
}

/// Returns a note with the targets of the outcomes of a nested workflow or a group, which is an entry of `scope`.
pub fn exits_note(entry: &Entry, scope: &Workflow, library: &Library) -> Option<String> {
    entry.nested_key()?;
    outcomes_note(entry.outcomes(), entry.id(), scope, library)
}

/// Returns a note with the names of a gate's checks.
pub fn gate_note(gate: Option<&Gate>) -> Option<String> {
    let names: Vec<&str> = gate?.checks.iter().map(|check| &*check.name).collect();
    Some(format!("gate: {}", names.join(", ")))
}

/// Returns a note on the outcomes of the entry of this id in `scope`, with their targets; `None` without outcomes.
fn outcomes_note(outcomes: &[Outcome], id: &str, scope: &Workflow, library: &Library) -> Option<String> {
    let index = scope.position(id)?;
    let in_words = |target: &Target| {
        let to = scope.target(index, target);
        let entry = to.and_then(|to| library.first_phase(scope.phases.get(to..)?));
        let back = if to.is_some_and(|to| to <= index) { "back to " } else { "" };
        match (target, entry) {
            (Target::Loop | Target::Entry(_), Some(to)) => {
                format!("{back}{}", to.title())
            }
            (target, _) => target.word().to_owned(),
        }
    };
    let lines = outcomes.iter().map(|Outcome { name, target, bound, .. }| {
        let to = in_words(target);
        match bound.as_ref().map(|bound| (times(&bound.max), &bound.then)) {
            None => format!("{name} → {to}"),
            Some((most, None)) => format!("{name} → {to} (at most {most})"),
            Some((most, Some(then))) => {
                format!("{name} → {to} (at most {most}, then {})", in_words(then))
            }
        }
    });
    let lines: Vec<String> = lines.collect();
    (!lines.is_empty()).then(|| format!("outcomes: {}", lines.join(", ")))
}

/// Returns the targets of an outcome, each with the words at its edge.
fn ways(outcome: &Outcome) -> Vec<(String, &Target)> {
    let name = &outcome.name;
    let Some(bound) = &outcome.bound else { return vec![(name.clone(), &outcome.target)] };
    let most = times(&bound.max);
    let first = (format!("{name} (at most {most})"), &outcome.target);
    let then = bound.then.as_ref().map(|then| (format!("{name} after {most}"), then));
    std::iter::once(first).chain(then).collect()
}

/// Returns the notes on a phase of `scope` that a list and a diagram have.
fn phase_notes(phase: &Phase, scope: &Workflow) -> impl Iterator<Item = String> {
    let notes = [
        step_note(phase),
        phase.interactive.then(|| "conversation with the user".to_owned()),
        scope.starts_fresh(phase).then(|| "starts fresh".to_owned()),
        model_note(&phase.model),
        limits_note(phase, scope),
        budget_note(&phase.budget),
        over_budget_note(phase),
        gate_note(phase.gate.as_ref()),
    ];
    notes.into_iter().flatten().chain(answer_notes(phase))
}

/// Returns a phase of `scope` for a list: the tools after the name, the other notes below. In a diagram outcomes are
/// edges.
pub fn noted(name: &str, phase: &Phase, scope: &Workflow, library: &Library, indent: &str) -> Vec<String> {
    let tools = tool_note(phase).map(|note| format!("  ({note})")).unwrap_or_default();
    let outcomes = outcomes_note(&phase.outcomes, &phase.id, scope, library);
    let own = [results_note(phase), outputs_note(&phase.outputs), outcomes];
    let notes = phase_notes(phase, scope).chain(own.into_iter().flatten());
    let notes = notes.map(|note| format!("{indent}{note}"));
    let lines = std::iter::once(format!("{name}{tools}")).chain(notes);
    lines.map(|line| on_one_line(&line)).collect()
}

/// Returns the rules of a workflow and of all workflows nested in it, one line for each rule, with its place.
pub fn rule_lines(root: &Workflow, library: &Library) -> Vec<String> {
    let mut lines = Vec::new();
    for scope in library.reached(&root.key).unwrap_or_default() {
        let own = model_note(&scope.model)
            .into_iter()
            .chain(budget_note(&scope.budget))
            .chain(scripts_note(scope))
            .map(|note| format!("{}: {note}", scope.key));
        lines.extend(own);
        for entry in &scope.phases {
            let name = match &entry.kind {
                EntryKind::Phase(phase) => {
                    let name = format!("{}/{}", scope.key, phase.id);
                    lines.extend(noted(&name, phase, scope, library, &format!("{name}: ")));
                    name
                }
                EntryKind::Workflow { .. } => {
                    let name = format!("{}/{}", scope.key, library.entry_name(entry));
                    lines.push(name.clone());
                    lines.extend(nested_notes(entry, library).into_iter().map(|note| format!("{name}: {note}")));
                    name
                }
            };
            lines.extend(when_note(&entry.when).map(|note| format!("{name}: {note}")));
        }
    }
    lines
}

fn step_note(phase: &Phase) -> Option<String> {
    let (verb, text) = match &phase.work {
        Work::Agent | Work::Branches => return None,
        Work::Run(step) => ("runs", step.command.line()),
        Work::Ask(question) => ("asks", &*question.text),
    };
    (!phase.is_named_after_work()).then(|| format!("{verb}: {}", as_name(text)))
}

/// Returns a note on each answer of a question that is offered under conditions.
fn answer_notes(phase: &Phase) -> impl Iterator<Item = String> {
    let note = |answer: &Answer| Some(format!("{} only {}", answer.outcome, when_note(&answer.when)?));
    phase.question().into_iter().flat_map(|question| &question.answers).filter_map(note)
}

fn results_note(phase: &Phase) -> Option<String> {
    match &phase.results {
        Results::All => None,
        Results::Of(names) if names.is_empty() => Some("gets no results".to_owned()),
        Results::Of(names) => Some(format!("gets results of {}", names.join(", "))),
    }
}

/// Returns the index of the entry at which a loop is drawn: the last phase of a scope that may be looped. In a nested
/// workflow after this phase, the agent can loop only the nested workflow. `None` if the loop would lead back to the
/// same phase.
fn loops_from(scope: &Workflow) -> Option<usize> {
    let last = scope.phases.iter().rposition(|entry| matches!(&entry.kind, EntryKind::Phase(_)));
    // Branches do not lead to each other.
    last.filter(|&index| scope.loopable && index > 0 && !scope.has_branches_beside())
}

/// Returns a Mermaid flowchart: the phases in order, nested workflows as groups, conditions as rhombuses, tool
/// policies, models, limits, budgets and gates as notes, outcomes as labels of edges, and edges back for the loops that
/// the agent may take.
pub fn mermaid(workflow: &Workflow, library: &Library) -> String {
    let mut chart = Chart::new(workflow, library);
    chart.line(&format!("start([{}])", label(&workflow.name)));
    for note in agents_note(&workflow.key, library).into_iter().chain(workflow_notes(workflow, library)) {
        chart.note("start", &note);
    }
    chart.ends.push(End::of("start"));
    chart.scope(workflow);
    if chart.phases >= MAX_PHASES {
        chart.line("more[\"…\"]");
        chart.connect("more");
    }
    chart.line("done([\"DONE\"])");
    chart.connect("done");
    if chart.has_stop {
        chart.line("stopped([\"⛔ stopped\"])");
    }
    chart.lines.append(&mut chart.edges);
    if chart.notes > 0 {
        chart.lines.push("  classDef note stroke-dasharray: 3 3".into());
    }
    chart.lines.join("\n")
}

/// The tail of an edge to a node that is not drawn yet.
struct End {
    node: String,
    kind: EdgeKind,
}

enum EdgeKind {
    Plain,
    /// Past an entry whose conditions do not hold.
    Otherwise,
    /// With these outcomes, each with its words.
    Outcomes(Vec<(String, String)>),
}

impl End {
    fn of(node: &str) -> Self {
        Self { node: node.to_owned(), kind: EdgeKind::Plain }
    }

    /// Returns the edge without its head.
    fn arrow(&self) -> String {
        match &self.kind {
            EdgeKind::Plain => "-->".into(),
            EdgeKind::Otherwise => "-. otherwise .->".into(),
            EdgeKind::Outcomes(names) => format!("-->|{}|", label(&in_words(names))),
        }
    }

    /// Returns the end without the outcomes that lead elsewhere; `None` if no outcome is left.
    fn without(mut self, elsewhere: &[Outcome]) -> Option<Self> {
        if let EdgeKind::Outcomes(names) = &mut self.kind {
            names.retain(|(name, _)| elsewhere.iter().all(|other| other.name != *name));
            if names.is_empty() {
                return None;
            }
        }
        Some(self)
    }
}

/// Returns the words of outcomes.
fn in_words(names: &[(String, String)]) -> String {
    names.iter().map(|(_, words)| words.as_str()).collect::<Vec<_>>().join(", ")
}

struct Chart<'a> {
    library: &'a Library,
    lines: Vec<String>,
    /// The edges, which are written after the groups so that no edge belongs to a group.
    edges: Vec<String>,
    /// The path to the current entry. Its length is the depth of the lines.
    path: PhasePath,
    phases: usize,
    conditions: usize,
    groups: usize,
    notes: usize,
    has_stop: bool,
    /// The tails of the edges to the next node.
    ends: Vec<End>,
}

impl<'a> Chart<'a> {
    fn new(root: &Workflow, library: &'a Library) -> Self {
        let (lines, path) = (vec!["flowchart TD".to_owned()], PhasePath::start(&root.key));
        let (phases, conditions, groups, notes) = (0, 0, 0, 0);
        let (edges, ends, has_stop) = (Vec::new(), Vec::new(), false);
        Self { library, lines, edges, path, phases, conditions, groups, notes, has_stop, ends }
    }

    fn line(&mut self, text: &str) {
        self.lines.push(format!("{}{text}", "  ".repeat(self.path.len())));
    }

    fn connect(&mut self, node: &str) {
        for end in std::mem::replace(&mut self.ends, vec![End::of(node)]) {
            self.edges.push(format!("  {} {} {node}", end.node, end.arrow()));
        }
    }

    /// Adds the entries of a scope. No entry of a parallel group leads to another entry.
    fn scope(&mut self, workflow: &'a Workflow) {
        let is_beside = workflow.has_branches_beside();
        // The first node of each entry of `phases`.
        let mut nodes = Vec::new();
        // The tails of edges to later entries, by the index of the entry; the number of entries stands for the end of
        // the workflow.
        let mut ahead: Map<usize, Vec<End>> = Map::new();
        for (index, entry) in workflow.phases.iter().enumerate() {
            self.ends.extend(ahead.remove(&index).unwrap_or_default());
            if self.phases >= MAX_PHASES {
                break;
            }
            self.path.set_index(index);
            let node = self.first_node(entry);
            nodes.push(node.clone());
            let otherwise = self.condition(entry);
            match &entry.kind {
                EntryKind::Phase(phase) => {
                    self.phase(phase, workflow);
                    let (outcomes, node) = (&phase.outcomes, format!("p{}", self.phases));
                    if is_beside {
                        let note = outcomes_note(outcomes, &phase.id, workflow, self.library);
                        note.into_iter().for_each(|note| self.note(&node, &note));
                    } else {
                        if let Some(first) = nodes.first().filter(|_| loops_from(workflow) == Some(index)) {
                            self.edges.push(format!("  {node} -. loop .-> {first}"));
                        }
                        if !outcomes.is_empty() {
                            self.ends.clear();
                        }
                        self.outcomes((outcomes, index), &node, workflow, &nodes, &mut ahead);
                    }
                }
                EntryKind::Workflow { key, .. } => {
                    if let Some(nested) = self.library.get(key) {
                        let group = self.nested(entry, nested);
                        if !is_beside {
                            self.outcomes((entry.outcomes(), index), &group, workflow, &nodes, &mut ahead);
                        }
                    }
                }
            }
            self.ends.extend(otherwise);
            if is_beside {
                self.ends.clear();
            }
        }
        self.ends.extend(ahead.into_values().flatten());
    }

    /// Adds a nested workflow or a group, and returns its node. A parallel group has edges of its own; its branches
    /// have none.
    fn nested(&mut self, entry: &Entry, nested: &'a Workflow) -> String {
        self.groups += 1;
        let group = format!("g{}", self.groups);
        for note in nested_notes(entry, self.library) {
            self.note(&group, &note);
        }
        if nested.parallel.is_some() {
            self.connect(&group);
        }
        self.line(&format!("subgraph {group}[{}]", label(self.library.entry_name(entry))));
        self.path.enter(&nested.key, None);
        if nested.parallel.is_some() {
            self.ends.clear();
        }
        self.scope(nested);
        self.path.leave();
        self.line("end");
        let outcomes = entry.outcomes();
        let ends = std::mem::take(&mut self.ends).into_iter();
        let leads = |name: &String| outcomes.iter().any(|of| of.name == *name);
        let mut of_branches = nested.phases.iter().flat_map(Entry::outcomes).filter(|of| of.target != Target::Stop);
        self.ends = if nested.parallel.is_none() {
            ends.filter_map(|end| end.without(outcomes)).collect()
        } else if !outcomes.is_empty() && of_branches.all(|of| leads(&of.name)) {
            Vec::new()
        } else {
            vec![End::of(&group)]
        };
        group
    }

    /// Returns the node with which an entry that is not drawn yet begins.
    fn first_node(&self, mut entry: &'a Entry) -> String {
        let mut groups = self.groups;
        while entry.when.is_empty()
            && let EntryKind::Workflow { key, .. } = &entry.kind
            && let Some(nested) = self.library.get(key)
            && let Some(first) = nested.phases.first()
        {
            groups += 1;
            if nested.parallel.is_some() {
                return format!("g{groups}");
            }
            entry = first;
        }
        match entry.when.is_empty() {
            true => format!("p{}", self.phases + 1),
            false => format!("w{}", self.conditions + 1),
        }
    }

    /// Adds the conditions of an entry, and returns the end of the edge past it.
    fn condition(&mut self, entry: &Entry) -> Option<End> {
        let note = when_note(&entry.when)?;
        self.conditions += 1;
        let node = format!("w{}", self.conditions);
        self.line(&format!("{node}{{{}}}", label(&note)));
        self.connect(&node);
        Some(End { node, kind: EdgeKind::Otherwise })
    }

    /// Adds the edges of the outcomes of the entry at `index`, which ends at `node`. Edges that lead back are added at
    /// once, other edges together with the entry to which they lead.
    fn outcomes(
        &mut self,
        (outcomes, index): (&[Outcome], usize),
        node: &str,
        scope: &Workflow,
        nodes: &[String],
        ahead: &mut Map<usize, Vec<End>>,
    ) {
        let mut targets: Vec<(usize, Vec<(String, String)>)> = Vec::new();
        let ways = outcomes.iter().flat_map(|outcome| {
            ways(outcome).into_iter().map(|(words, target)| ((outcome.name.clone(), words), target))
        });
        for (name, target) in ways {
            if *target == Target::Stop && !self.is_in_branch() {
                self.has_stop = true;
                self.edges.push(format!("  {node} -->|{}| stopped", label(&name.1)));
            }
            let Some(to) = scope.target(index, target) else { continue };
            match targets.iter_mut().find(|(other, _)| *other == to) {
                Some((_, names)) => names.push(name),
                None => targets.push((to, vec![name])),
            }
        }
        for (to, names) in targets {
            if to > index {
                let end = End { node: node.to_owned(), kind: EdgeKind::Outcomes(names) };
                ahead.entry(to).or_default().push(end);
            } else if let Some(to) = nodes.get(to) {
                self.edges.push(format!("  {node} -. {} .-> {to}", label(&in_words(&names))));
            }
        }
    }

    /// Returns true within a parallel group, where `stop` is the end of the branch.
    fn is_in_branch(&self) -> bool {
        let group = |scope: &Segment| self.library.get(&scope.workflow_key)?.parallel.as_ref();
        self.path.iter().any(|scope| group(scope).is_some())
    }

    fn phase(&mut self, phase: &Phase, scope: &Workflow) {
        self.phases += 1;
        let node = format!("p{}", self.phases);
        self.line(&format!("{node}[{}]", label(&phase.title())));
        for note in tool_note(phase).into_iter().chain(phase_notes(phase, scope)) {
            self.note(&node, &note);
        }
        self.connect(&node);
    }

    fn note(&mut self, node: &str, text: &str) {
        self.notes += 1;
        self.line(&format!("n{}>{}]:::note", self.notes, label(text)));
        self.edges.push(format!("  {node} -.- n{}", self.notes));
    }
}

/// Returns a text in quotes, escaped for Mermaid.
fn label(text: &str) -> String {
    let text = on_one_line(text).replace('#', "#35;").replace('"', "#quot;").replace('<', "#lt;");
    format!("\"{}\"", text.replace('>', "#gt;").replace('`', "#96;"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definition::fixtures::{Files, phase, workflow};
    use crate::definition::{Check, CheckKind};

    fn gate(name: &str) -> Option<Gate> {
        let kind = CheckKind::File { path: name.into(), contains: None };
        let checks = vec![Check { name: name.into(), kind, outcome: None }];
        Some(Gate { checks, attempts: 3.into() })
    }

    fn release() -> Library {
        let mut build = phase("build");
        build.tools = ToolPolicy::Except(vec!["bash".into()]);
        build.gate = gate("the tests");
        let mut review = workflow("review", &["check", "sign"]);
        review.name = "The \"review\"".into();
        let mut root = workflow("release", &["x", "@review", "ship"]);
        root.phases[0] = Entry::phase(build);
        root.loopable = false;
        let mut ship = phase("ship");
        ship.gate = gate("Ship it?");
        root.phases[2] = Entry::phase(ship);
        Library::new(vec![root, review], &mut Vec::new())
    }

    #[test]
    fn a_conversation_has_a_note() {
        let mut talk = phase("talk");
        talk.interactive = true;
        let mut root = workflow("w", &["x", "b"]);
        root.phases[0] = Entry::phase(talk.clone());
        let library = Library::new(vec![root], &mut Vec::new());
        let root = library.get("w").unwrap();
        let chart = mermaid(root, &library);
        assert_eq!(chart.matches("conversation with the user").count(), 1, "{chart}");
        let lines = noted("1. Talk", &talk, root, &library, "  ");
        assert_eq!(lines, ["1. Talk", "  conversation with the user"]);
    }

    #[test]
    fn a_flowchart_has_groups_notes_and_loops() {
        let library = release();
        assert_eq!(
            mermaid(library.get("release").unwrap(), &library),
            "flowchart TD
  start([\"The release\"])
  p1[\"🔹 Build\"]
  n1>\"without bash\"]:::note
  n2>\"gate: the tests\"]:::note
  subgraph g1[\"The #quot;review#quot;\"]
    p2[\"🔹 Check\"]
    p3[\"🔹 Sign\"]
  end
  p4[\"🔹 Ship\"]
  n3>\"gate: Ship it?\"]:::note
  done([\"DONE\"])
  p1 -.- n1
  p1 -.- n2
  start --> p1
  p1 --> p2
  p2 --> p3
  p3 -. loop .-> p2
  p4 -.- n3
  p3 --> p4
  p4 --> done
  classDef note stroke-dasharray: 3 3"
        );
    }

    /// Edges back, and nested workflows as first and last entries.
    fn ways() -> Library {
        let mut root = workflow("r", &["a", "b", "@s"]);
        let mut b = phase("b");
        b.gate = gate("x");
        root.phases[1] = Entry::phase(b);
        let mut nested = workflow("s", &["@t", "c", "d"]);
        let mut d = phase("d");
        d.gate = gate("w");
        nested.phases[2] = Entry::phase(d);
        let only_nested = workflow("n", &["@t", "@t"]);
        let behind_one = workflow("o", &["a", "@t"]);
        let all = vec![root, nested, workflow("t", &["e"]), only_nested, behind_one];
        Library::new(all, &mut Vec::new())
    }

    #[test]
    fn a_loop_is_drawn_only_where_it_can_be_taken() {
        let library = ways();
        assert_eq!(
            mermaid(library.get("r").unwrap(), &library),
            "flowchart TD
  start([\"The r\"])
  p1[\"🔹 A\"]
  p2[\"🔹 B\"]
  n1>\"gate: x\"]:::note
  subgraph g1[\"The s\"]
    subgraph g2[\"The t\"]
      p3[\"🔹 E\"]
    end
    p4[\"🔹 C\"]
    p5[\"🔹 D\"]
    n2>\"gate: w\"]:::note
  end
  done([\"DONE\"])
  start --> p1
  p2 -.- n1
  p1 --> p2
  p2 -. loop .-> p1
  p2 --> p3
  p3 --> p4
  p5 -.- n2
  p4 --> p5
  p5 -. loop .-> p3
  p5 --> done
  classDef note stroke-dasharray: 3 3"
        );
        for key in ["n", "o"] {
            let workflow = library.get(key).unwrap();
            assert!(!mermaid(workflow, &library).contains("loop"), "{key}");
        }
    }

    #[test]
    fn models_budgets_and_given_inputs_are_notes() {
        let mut files = Files::default();
        for (path, text) in [
            (
                "w/workflow.yaml",
                "name: W
commandName: w
initialMessage: Go
budget: { cost: 2.5, turns: 40 }
inputs:
  issue: { type: text }
phases:
  - plan.md
  - subworkflow: s
    with: { of: '{input.issue}', scope: '<api>' }
",
            ),
            (
                "s/workflow.yaml",
                "name: S
show: workflows
budget: { time: 20m }
inputs:
  of: { type: text }
  scope: { type: text }
  deep: { type: flag }
phases: [look.md]
loopable: false
",
            ),
            (
                "w/plan.md",
                "---
id: plan
name: Plan
emoji: '*'
model: [best:high, anthropic/claude]
budget: { turns: 5 }
---
Do it.
",
            ),
            ("s/look.md", "---\nid: look\nname: Look\nemoji: '*'\nmodel: ':off'\n---\nDo it.\n"),
            ("settings.yaml", "models: { best: [anthropic/claude] }\n"),
        ] {
            files.global.insert(path.to_owned(), text.to_owned());
        }
        let (library, diagnostics) = Library::load(&files).unwrap();
        let w = library.get("w").unwrap_or_else(|| panic!("{diagnostics:?}"));
        assert_eq!(
            mermaid(w, &library),
            "flowchart TD
  start([\"W\"])
  n1>\"budget: $2.50, 40 turns\"]:::note
  p1[\"* Plan\"]
  n2>\"model: best:high or anthropic/claude\"]:::note
  n3>\"budget: 5 turns\"]:::note
  n4>\"with: of={input.issue}, scope=#lt;api#gt;\"]:::note
  n5>\"budget: 20m\"]:::note
  subgraph g1[\"S\"]
    p2[\"* Look\"]
    n6>\"model: :off\"]:::note
  end
  done([\"DONE\"])
  start -.- n1
  p1 -.- n2
  p1 -.- n3
  start --> p1
  g1 -.- n4
  g1 -.- n5
  p2 -.- n6
  p1 --> p2
  p2 --> done
  classDef note stroke-dasharray: 3 3"
        );
    }

    /// Outcomes that lead on, past entries, back and to the end; entries with conditions, also a nested workflow.
    fn branches() -> Library {
        let phase = |id: &str, outcomes: &str| {
            let name = id.to_uppercase();
            let front = format!("id: {id}\nname: {name}\nemoji: '*'\n{outcomes}");
            format!("---\n{front}---\nDo {id}.\n")
        };
        let mut files = Files::default();
        for (path, text) in [
            (
                "fix/workflow.yaml",
                "name: Fix
commandName: fix
initialMessage: Go
inputs:
  scope: { type: choice, options: [api, web], default: api }
phases:
  - triage.md
  - { phase: design.md, when: { outcome.triage: large } }
  - implement.md
  - { subworkflow: scan, when: { input.scope: api, outcome.triage: [large, small] } }
  - review.md
  - ship.md
"
                .to_owned(),
            ),
            (
                "scan/workflow.yaml",
                "name: Scan\nshow: workflows\nphases: [look.md, note.md]\nloopable: false\n".to_owned(),
            ),
            ("fix/triage.md", phase("triage", "outcomes: { small: next, large: next, none: done }\n")),
            ("fix/design.md", phase("design", "")),
            ("fix/implement.md", phase("implement", "")),
            (
                "fix/review.md",
                phase("review", "outcomes: { clean: next, bad: implement, poor: implement, redo: loop }\n"),
            ),
            ("fix/ship.md", phase("ship", "")),
            ("scan/look.md", phase("look", "outcomes: { ok: done, odd: next }\n")),
            ("scan/note.md", phase("note", "")),
        ] {
            files.global.insert(path.to_owned(), text);
        }
        let (library, diagnostics) = Library::load(&files).unwrap();
        assert!(diagnostics.is_empty(), "{diagnostics:?}");
        library
    }

    #[test]
    fn an_outcome_that_the_entry_of_a_group_leads_elsewhere_does_not_lead_to_the_next_entry() {
        let mut files = Files::default();
        let workflow = "name: W\ncommandName: w\ninitialMessage: Go\nphases:\n  - id: g\n    outcomes: { ok: c, redo: loop }\n    phases: [a.md]\n  - b.md\n  - c.md\n";
        files.global.insert("w/workflow.yaml".into(), workflow.into());
        for (id, lines) in [("a", "outcomes: { ok: next, redo: done, odd: next }\n"), ("b", ""), ("c", "")] {
            let text = format!("---\nid: {id}\nname: {id}\nemoji: '*'\n{lines}---\nDo it.\n");
            files.global.insert(format!("w/{id}.md"), text);
        }
        let (library, _) = Library::load(&files).unwrap();
        let chart = mermaid(library.get("w").unwrap(), &library);
        let edges: Vec<&str> = chart.lines().filter(|line| line.contains('|') || line.contains("-.")).collect();
        let expected =
            ["  g1 -. \"redo\" .-> p1", "  p1 -->|\"odd\"| p2", "  g1 -->|\"ok\"| p3", "  p3 -. loop .-> p1"];
        assert_eq!(edges, expected, "{chart}");
    }

    #[test]
    fn outcomes_are_labels_and_conditions_have_an_edge_past_the_entry() {
        let library = branches();
        let fix = library.get("fix").unwrap();
        assert_eq!(
            mermaid(fix, &library),
            "flowchart TD
  start([\"Fix\"])
  p1[\"* TRIAGE\"]
  w1{\"when: outcome.triage is large\"}
  p2[\"* DESIGN\"]
  p3[\"* IMPLEMENT\"]
  w2{\"when: input.scope is api, outcome.triage is large or small\"}
  subgraph g1[\"Scan\"]
    p4[\"* LOOK\"]
    p5[\"* NOTE\"]
  end
  p6[\"* REVIEW\"]
  p7[\"* SHIP\"]
  done([\"DONE\"])
  start --> p1
  p1 -->|\"small, large\"| w1
  w1 --> p2
  p2 --> p3
  w1 -. otherwise .-> p3
  p3 --> w2
  w2 --> p4
  p4 -->|\"odd\"| p5
  p5 --> p6
  p4 -->|\"ok\"| p6
  w2 -. otherwise .-> p6
  p6 -. \"bad, poor\" .-> p3
  p6 -. \"redo\" .-> p1
  p6 -->|\"clean\"| p7
  p7 -. loop .-> p1
  p7 --> done
  p1 -->|\"none\"| done"
        );
    }
}
