//! A workflow as a diagram.

use crate::definition::{Entry, Gate, Library, Phase, ToolPolicy, Workflow, columns, on_one_line};

/// How many phases a diagram shows at most.
const MAX_PHASES: usize = 200;

/// What a phase says about tools; `None` if it allows all.
fn tool_note(phase: &Phase) -> Option<String> {
    match &phase.tools {
        ToolPolicy::All => None,
        ToolPolicy::Except(refused) if refused.is_empty() => None,
        ToolPolicy::Except(refused) => Some(format!("without {}", refused.join(", "))),
        ToolPolicy::Only(allowed) if allowed.is_empty() => Some("no tools".into()),
        ToolPolicy::Only(allowed) => Some(format!("only {}", allowed.join(", "))),
    }
}

/// What a gate checks, by the names of its checks.
pub fn gate_note(gate: Option<&Gate>) -> Option<String> {
    let labels: Vec<&str> = gate?.checks.iter().map(|check| check.label.as_str()).collect();
    Some(format!("gate: {}", labels.join(", ")))
}

/// The notes on a phase in a list of phases: tools behind its name, the gate below it.
pub fn noted(name: &str, phase: &Phase, indent: &str) -> Vec<String> {
    let tools = tool_note(phase).map(|note| format!("  ({note})")).unwrap_or_default();
    let gate = gate_note(phase.gate.as_ref()).map(|note| format!("{indent}{note}"));
    let lines = std::iter::once(format!("{name}{tools}")).chain(gate);
    lines.map(|line| on_one_line(&line)).collect()
}

/// The phases of a workflow in a line, nested workflows by their names.
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

/// How many phases a line names.
const MAX_NAMES: usize = 12;

/// A Mermaid flowchart: the phases in their order, nested workflows as groups, tool policies and gates as
/// notes, and the way back where the agent may loop.
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
    /// Written behind the groups, so that none of them takes them in.
    edges: Vec<String>,
    depth: usize,
    phases: usize,
    groups: usize,
    notes: usize,
    /// The node that the next one follows.
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
        for entry in &workflow.phases {
            if self.phases >= MAX_PHASES {
                return;
            }
            match entry {
                Entry::Phase(phase) => self.phase(phase),
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
        if workflow.loopable && self.phases > first {
            self.edges.push(format!("  p{} -. loop .-> p{first}", self.phases));
        }
    }

    fn phase(&mut self, phase: &Phase) {
        self.phases += 1;
        let node = format!("p{}", self.phases);
        self.line(&format!("{node}[{}]", label(&format!("{} {}", phase.emoji, phase.name))));
        for note in tool_note(phase).into_iter().chain(gate_note(phase.gate.as_ref())) {
            self.note(&note);
        }
        self.connect(&node);
    }

    /// Pins a note to the last phase.
    fn note(&mut self, text: &str) {
        self.notes += 1;
        self.line(&format!("n{}>{}]:::note", self.notes, label(text)));
        self.edges.push(format!("  p{} -.- n{}", self.phases, self.notes));
    }
}

/// A text in quotes, as Mermaid reads it.
fn label(text: &str) -> String {
    let text = on_one_line(text).replace('#', "#35;").replace('"', "#quot;").replace('<', "#lt;");
    format!("\"{}\"", text.replace('>', "#gt;").replace('`', "#96;"))
}

/// The same as boxes of text: nested workflows are boxes in the box.
pub fn boxes(workflow: &Workflow, library: &Library) -> Vec<String> {
    let mut phases = 0;
    let mut lines = framed(&workflow.name, content(workflow, library, &mut phases));
    lines.push("  ↓".into());
    lines.push("  DONE".into());
    lines
}

fn content(workflow: &Workflow, library: &Library, phases: &mut usize) -> Vec<String> {
    let mut lines = Vec::new();
    for entry in &workflow.phases {
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
                lines.extend(noted(&format!("{} {}", phase.emoji, phase.name), phase, "   "));
            }
            Entry::Workflow(key) => {
                if let Some(nested) = library.get(key) {
                    lines.extend(framed(&nested.name, content(nested, library, phases)));
                }
            }
        }
    }
    lines.extend(gate_note(workflow.gate.as_ref()).map(|note| on_one_line(&note)));
    if workflow.loopable && workflow.phases.len() > 1 {
        lines.push("↺ loop".to_owned());
    }
    lines
}

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
        let kind = CheckKind::Approve { question: label.into() };
        let checks = vec![Check { label: label.into(), kind }];
        Some(Gate { checks, attempts: 3, on_fail: OnGateFail::Stay })
    }

    fn release() -> Library {
        let mut build = phase("build");
        build.tools = ToolPolicy::Except(vec!["bash".into()]);
        build.gate = gate("the tests");
        let mut review = workflow("review", &["check", "sign"]);
        review.name = "The \"review\"".into();
        let mut root = workflow("release", &["x", "@review", "ship"]);
        root.phases[0] = Entry::Phase(build);
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
}
