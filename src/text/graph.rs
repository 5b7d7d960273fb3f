//! Diagrams of workflows.

use crate::definition::{Entry, Gate, Library, OnGateFail, Phase, ToolPolicy, Workflow};
use crate::definition::{columns, on_one_line};

use super::budget::budget_note;
use super::confinement::limits_note;

/// Maximum number of phases in a diagram.
const MAX_PHASES: usize = 200;

/// Returns a note on the tool policy of a phase; `None` if it allows all tools.
fn tool_note(phase: &Phase) -> Option<String> {
    match &phase.tools {
        ToolPolicy::All => None,
        ToolPolicy::Except(refused) if refused.is_empty() => None,
        ToolPolicy::Except(refused) => Some(format!("without {}", refused.join(", "))),
        ToolPolicy::Only(allowed) if allowed.is_empty() => Some("no tools".into()),
        ToolPolicy::Only(allowed) => Some(format!("only {}", allowed.join(", "))),
    }
}

/// Returns a note with the labels of a gate's checks.
pub fn gate_note(gate: Option<&Gate>) -> Option<String> {
    let labels: Vec<&str> = gate?.checks.iter().map(|check| check.label.as_str()).collect();
    Some(format!("gate: {}", labels.join(", ")))
}

/// Returns a note on where a failure of a gate leads back to; `None` if the run stays. `scope` is the workflow that contains
/// the gate or the phase with the gate.
pub fn failure_note(gate: Option<&Gate>, scope: &Workflow, library: &Library) -> Option<String> {
    let phases = match &gate?.on_fail {
        OnGateFail::Stay => return None,
        OnGateFail::Loop => &scope.phases[..],
        OnGateFail::Phase(id) => scope.phases.get(scope.position(id)?..)?,
    };
    let to = library.first_phase(phases)?;
    Some(format!("on failure: back to {} {}", to.emoji, to.name))
}

/// Returns a phase of `scope` for a list, with its notes: tools after the name, a fresh start, the limits, the budget and the gate below it.
pub fn noted(
    name: &str,
    phase: &Phase,
    scope: &Workflow,
    library: &Library,
    indent: &str,
) -> Vec<String> {
    let tools = tool_note(phase).map(|note| format!("  ({note})")).unwrap_or_default();
    let gate = phase.gate.as_ref();
    let notes = context_note(phase, scope)
        .into_iter()
        .chain(limits_note(phase, scope))
        .chain(budget_note(&phase.budget))
        .chain(gate_note(gate));
    let notes = notes.chain(failure_note(gate, scope, library));
    let notes = notes.map(|note| format!("{indent}{note}"));
    let lines = std::iter::once(format!("{name}{tools}")).chain(notes);
    lines.map(|line| on_one_line(&line)).collect()
}

fn context_note(phase: &Phase, scope: &Workflow) -> Option<String> {
    scope.starts_fresh(phase).then(|| "starts fresh".to_owned())
}

/// Returns the index of the entry at which a loop is drawn: the last phase of a scope that may be looped. In a nested
/// workflow after it the agent can only loop that one. `None` if the loop would lead back to the same phase.
fn loops_from(scope: &Workflow) -> Option<usize> {
    let last = scope.phases.iter().rposition(|entry| matches!(entry, Entry::Phase(_)));
    last.filter(|&index| scope.loopable && index > 0)
}

/// Returns the phases of a workflow on one line, nested workflows by their names.
pub fn phase_names(workflow: &Workflow, library: &Library) -> String {
    let names = workflow.phases.iter().take(MAX_NAMES).map(|entry| match entry {
        Entry::Phase(phase) => format!("{} {}", phase.emoji, phase.name),
        Entry::Workflow(_) => library.entry_name(entry).to_owned(),
    });
    let mut names: Vec<String> = names.collect();
    if workflow.phases.len() > MAX_NAMES {
        names.push("…".into());
    }
    on_one_line(&names.join(" → "))
}

/// Maximum number of phases on the line of [`phase_names`].
const MAX_NAMES: usize = 12;

/// Returns a Mermaid flowchart: the phases in order, nested workflows as groups, tool policies, limits and gates as notes, and edges
/// back for the loops that the agent may take and for gates with `onGateFail`.
pub fn mermaid(workflow: &Workflow, library: &Library) -> String {
    let mut chart = Chart::new(library);
    chart.line(&format!("start([{}])", label(&workflow.name)));
    chart.last = Some("start".into());
    chart.scope(workflow, 1);
    if chart.phases >= MAX_PHASES {
        chart.line("more[\"…\"]");
        chart.connect("more");
    }
    chart.line("done([\"DONE\"])");
    chart.connect("done");
    chart.lines.append(&mut chart.edges);
    if chart.notes > 0 {
        chart.lines.push("  classDef note stroke-dasharray: 3 3".into());
    }
    chart.lines.join("\n")
}

struct Chart<'a> {
    library: &'a Library,
    lines: Vec<String>,
    /// Written after the groups, so that they belong to none of them.
    edges: Vec<String>,
    depth: usize,
    phases: usize,
    groups: usize,
    notes: usize,
    /// The node before the next one.
    last: Option<String>,
}

impl<'a> Chart<'a> {
    fn new(library: &'a Library) -> Self {
        let (lines, edges) = (vec!["flowchart TD".to_owned()], Vec::new());
        Self { library, lines, edges, depth: 1, phases: 0, groups: 0, notes: 0, last: None }
    }

    fn line(&mut self, text: &str) {
        self.lines.push(format!("{}{text}", "  ".repeat(self.depth)));
    }

    fn connect(&mut self, node: &str) {
        if let Some(last) = self.last.replace(node.to_owned()) {
            self.edges.push(format!("  {last} --> {node}"));
        }
    }

    fn scope(&mut self, workflow: &'a Workflow, depth: usize) {
        let first = self.phases + 1;
        // The first node of each entry of `phases`.
        let mut nodes = Vec::new();
        for (index, entry) in workflow.phases.iter().enumerate() {
            if self.phases >= MAX_PHASES {
                return;
            }
            nodes.push(self.phases + 1);
            match entry {
                Entry::Phase(phase) => {
                    self.phase(phase, workflow);
                    self.failure(phase.gate.as_ref(), workflow, &nodes);
                    if loops_from(workflow) == Some(index) {
                        self.edges.push(format!("  p{} -. loop .-> p{first}", self.phases));
                    }
                }
                Entry::Workflow(key) => {
                    if let Some(nested) = self.library.get(key) {
                        self.groups += 1;
                        let group = format!("subgraph g{}[{}]", self.groups, label(&nested.name));
                        self.line(&group);
                        self.depth = depth + 1;
                        self.scope(nested, depth + 1);
                        self.depth = depth;
                        self.line("end");
                    }
                }
            }
        }
        if let Some(note) = gate_note(workflow.gate.as_ref()) {
            self.note(&note);
        }
        self.failure(workflow.gate.as_ref(), workflow, &nodes);
    }

    /// Adds the edge from the last phase back to the target of `onGateFail`, if the run does not stay.
    fn failure(&mut self, gate: Option<&Gate>, scope: &Workflow, nodes: &[usize]) {
        let entry = match gate.map(|gate| &gate.on_fail) {
            None | Some(OnGateFail::Stay) => None,
            Some(OnGateFail::Loop) => Some(0),
            Some(OnGateFail::Phase(id)) => scope.position(id),
        };
        if let Some(node) = entry.and_then(|entry| nodes.get(entry)) {
            self.edges.push(format!("  p{} -. gate fails .-> p{node}", self.phases));
        }
    }

    fn phase(&mut self, phase: &Phase, scope: &Workflow) {
        self.phases += 1;
        let node = format!("p{}", self.phases);
        self.line(&format!("{node}[{}]", label(&format!("{} {}", phase.emoji, phase.name))));
        let notes = [
            tool_note(phase),
            context_note(phase, scope),
            limits_note(phase, scope),
            budget_note(&phase.budget),
            gate_note(phase.gate.as_ref()),
        ];
        for note in notes.into_iter().flatten() {
            self.note(&note);
        }
        self.connect(&node);
    }

    /// Adds a note to the last phase.
    fn note(&mut self, text: &str) {
        self.notes += 1;
        self.line(&format!("n{}>{}]:::note", self.notes, label(text)));
        self.edges.push(format!("  p{} -.- n{}", self.phases, self.notes));
    }
}

/// Returns a text in quotes, escaped for Mermaid.
fn label(text: &str) -> String {
    let text = on_one_line(text).replace('#', "#35;").replace('"', "#quot;").replace('<', "#lt;");
    format!("\"{}\"", text.replace('>', "#gt;").replace('`', "#96;"))
}

/// Returns the diagram as boxes of text: a nested workflow is a box within the box.
pub fn boxes(workflow: &Workflow, library: &Library) -> Vec<String> {
    let mut phases = 0;
    let mut lines = framed(&workflow.name, content(workflow, library, &mut phases));
    lines.push("  ↓".into());
    lines.push("  DONE".into());
    lines
}

fn content(workflow: &Workflow, library: &Library, phases: &mut usize) -> Vec<String> {
    let mut lines = Vec::new();
    let loops_from = loops_from(workflow);
    for (index, entry) in workflow.phases.iter().enumerate() {
        if !lines.is_empty() {
            lines.push("↓".to_owned());
        }
        if *phases >= MAX_PHASES {
            lines.push("…".to_owned());
            break;
        }
        match entry {
            Entry::Phase(phase) => {
                *phases += 1;
                let name = format!("{} {}", phase.emoji, phase.name);
                lines.extend(noted(&name, phase, workflow, library, "   "));
                if loops_from == Some(index) && index + 1 < workflow.phases.len() {
                    lines.push(LOOP.to_owned());
                }
            }
            Entry::Workflow(key) => {
                if let Some(nested) = library.get(key) {
                    lines.extend(framed(&nested.name, content(nested, library, phases)));
                }
            }
        }
    }
    let gate = workflow.gate.as_ref();
    let notes = gate_note(gate).into_iter().chain(failure_note(gate, workflow, library));
    lines.extend(notes.map(|note| on_one_line(&note)));
    if loops_from.is_some_and(|index| index + 1 == workflow.phases.len()) {
        lines.push(LOOP.to_owned());
    }
    lines
}

const LOOP: &str = "↺ loop";

fn framed(title: &str, content: Vec<String>) -> Vec<String> {
    let width = |text: &str| -> usize { text.chars().map(columns).sum() };
    let title = on_one_line(title);
    let inner = content.iter().map(|line| width(line)).max().unwrap_or(0).max(width(&title) + 1);
    let bar = |count: usize| "─".repeat(count);
    let mut lines = vec![format!("┌ {title} {}┐", bar(inner - width(&title)))];
    lines.extend(
        content.iter().map(|line| format!("│ {line}{} │", " ".repeat(inner - width(line)))),
    );
    lines.push(format!("└{}┘", bar(inner + 2)));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definition::fixtures::{phase, workflow};
    use crate::definition::{Check, CheckKind, OnGateFail};

    fn gate(label: &str) -> Option<Gate> {
        back(label, OnGateFail::Stay)
    }

    fn back(label: &str, on_fail: OnGateFail) -> Option<Gate> {
        let kind = CheckKind::Approve { question: label.into() };
        let checks = vec![Check { label: label.into(), kind }];
        Some(Gate { checks, attempts: 3, on_fail })
    }

    fn release() -> Library {
        let mut build = phase("build");
        build.tools = ToolPolicy::Except(vec!["bash".into()]);
        build.gate = gate("the tests");
        let mut review = workflow("review", &["check", "sign"]);
        review.name = "The \"review\"".into();
        let mut root = workflow("release", &["x", "@review", "ship"]);
        root.phases[0] = Entry::Phase(build.into());
        root.loopable = false;
        root.gate = gate("Ship it?");
        Library::new(vec![root, review], &mut Vec::new())
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
  p3 --> p4
  p4 -.- n3
  p4 --> done
  classDef note stroke-dasharray: 3 3"
        );
    }

    #[test]
    fn boxes_are_closed() {
        let library = release();
        assert_eq!(
            boxes(library.get("release").unwrap(), &library).join("\n"),
            "┌ The release ─────────────┐
│ 🔹 Build  (without bash) │
│    gate: the tests       │
│ ↓                        │
│ ┌ The \"review\" ─┐        │
│ │ 🔹 Check      │        │
│ │ ↓             │        │
│ │ 🔹 Sign       │        │
│ │ ↺ loop        │        │
│ └───────────────┘        │
│ ↓                        │
│ 🔹 Ship                  │
│ gate: Ship it?           │
└──────────────────────────┘
  ↓
  DONE"
        );
    }

    /// Edges back, and nested workflows as first and last entries.
    fn ways() -> Library {
        let mut root = workflow("r", &["a", "b", "@s"]);
        let mut b = phase("b");
        b.gate = back("x", OnGateFail::Phase("a".into()));
        root.phases[1] = Entry::Phase(b.into());
        root.gate = back("y", OnGateFail::Loop);
        let mut nested = workflow("s", &["@t", "c", "d"]);
        nested.gate = back("z", OnGateFail::Phase("c".into()));
        let mut d = phase("d");
        d.gate = back("w", OnGateFail::Loop);
        nested.phases[2] = Entry::Phase(d.into());
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
    n3>\"gate: z\"]:::note
  end
  n4>\"gate: y\"]:::note
  done([\"DONE\"])
  start --> p1
  p2 -.- n1
  p1 --> p2
  p2 -. gate fails .-> p1
  p2 -. loop .-> p1
  p2 --> p3
  p3 --> p4
  p5 -.- n2
  p4 --> p5
  p5 -. gate fails .-> p3
  p5 -. loop .-> p3
  p5 -.- n3
  p5 -. gate fails .-> p4
  p5 -.- n4
  p5 -. gate fails .-> p1
  p5 --> done
  classDef note stroke-dasharray: 3 3"
        );
        assert_eq!(
            boxes(library.get("r").unwrap(), &library).join("\n"),
            "┌ The r ──────────────────────────┐
│ 🔹 A                            │
│ ↓                               │
│ 🔹 B                            │
│    gate: x                      │
│    on failure: back to 🔹 A     │
│ ↺ loop                          │
│ ↓                               │
│ ┌ The s ──────────────────────┐ │
│ │ ┌ The t ─┐                  │ │
│ │ │ 🔹 E   │                  │ │
│ │ └────────┘                  │ │
│ │ ↓                           │ │
│ │ 🔹 C                        │ │
│ │ ↓                           │ │
│ │ 🔹 D                        │ │
│ │    gate: w                  │ │
│ │    on failure: back to 🔹 E │ │
│ │ gate: z                     │ │
│ │ on failure: back to 🔹 C    │ │
│ │ ↺ loop                      │ │
│ └─────────────────────────────┘ │
│ gate: y                         │
│ on failure: back to 🔹 A        │
└─────────────────────────────────┘
  ↓
  DONE"
        );
        for key in ["n", "o"] {
            let workflow = library.get(key).unwrap();
            assert!(!mermaid(workflow, &library).contains("loop"), "{key}");
            assert!(!boxes(workflow, &library).join("\n").contains("loop"), "{key}");
        }
    }
}
