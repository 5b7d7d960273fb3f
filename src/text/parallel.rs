//! Texts about parallel groups: the number of agents at the same time, and the branches that the group waits for.

use crate::definition::{BoundValue, Each, Library, Need, Parallel, Workflow};

use super::exact::quoted;
use super::questions::{Dialog, Title, counted};

/// Returns the notes on a parallel group: its branches, and the number of branches that are needed; none for another
/// workflow.
pub(super) fn parallel_notes(group: &Workflow, library: &Library) -> Vec<String> {
    let Some(Parallel { at_once, need }) = &group.parallel else { return Vec::new() };
    let most = library.most_branches(group);
    let is_certain = match &group.each {
        None => group.phases.iter().all(|entry| entry.when.is_empty()),
        Some(Each::Items(_)) => true,
        Some(Each::Of(_)) => false,
    };
    let up_to = if is_certain { "" } else { "up to " };
    let a_time = match at_once {
        BoundValue::Fixed(at_once) => at_a_time(most, u64::from(*at_once)),
        BoundValue::Input(_) => format!(", {at_once} at a time"),
    };
    let need = match need {
        Need::All => None,
        Need::AtLeast(number) => Some(format!("needs {number} of them")),
    };
    let agents = format!("at once: {up_to}{}{a_time}", counted(most, "agent"));
    std::iter::once(agents).chain(need).collect()
}

/// Returns a note on the agents of a run of the workflow of this key; `None` if only one agent works at a time.
pub fn agents_note(key: &str, library: &Library) -> Option<String> {
    let most = library.most_agents(key);
    (most > 1).then(|| format!("up to {} in parallel groups", counted(most, "agent")))
}

/// Returns the question before the start of a workflow of a project or a package that has a parallel group with this
/// number of agents.
pub fn many_agents_question(workflow: &str, most: u64, at_once: u64, dialog: Dialog) -> Title {
    Title::new("Start ", &format!("{}? {}", dialog.name_of(workflow, 20), may_start("It", most, at_once)))
}

/// Returns the notice about the agents of a parallel group, for a process without a user interface.
pub fn many_agents_notice(workflow: &str, most: u64, at_once: u64) -> String {
    may_start(&quoted(workflow, 60), most, at_once)
}

fn may_start(workflow: &str, most: u64, at_once: u64) -> String {
    format!("{workflow} may start {}{}.", counted(most, "agent"), at_a_time(most, at_once))
}

fn at_a_time(most: u64, at_once: u64) -> String {
    if at_once < most { format!(", {at_once} at a time") } else { String::new() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definition::fixtures::Files;
    use crate::text::{mermaid, preview};

    /// A workflow with a panel of three branches, one of them a group of two phases, and a group for each of some
    /// items.
    fn library() -> Library {
        let mut files = Files::default();
        let yaml = "name: Panel
commandName: panel
initialMessage: Go
phases:
  - do.md
  - id: reviews
    name: Reviews
    parallel: 2
    need: 2
    phases:
      - bugs.md
      - { phase: tests.md, when: { outcome.do: large } }
      - { phases: [read.md, docs.md], id: pages }
    outcomes: { issues: { to: do, max: 3, then: stop }, clean: next }
  - { phases: [one.md], name: Research, each: [x, y, z], parallel: true }
  - last.md
";
        files.global.insert("w/workflow.yaml".into(), yaml.into());
        for id in ["do", "bugs", "tests", "read", "docs", "one", "last"] {
            let fields = match id {
                "do" => "outcomes: { large: next, small: next }\n",
                "bugs" | "tests" => {
                    "tools: { whitelist: [read] }\noutcomes: { issues: next, clean: done, broken: stop }\n"
                }
                _ => "tools: { whitelist: [read] }\n",
            };
            let text = format!("---\nid: {id}\nname: The {id}\nemoji: '*'\n{fields}---\nDo {id} of {{item}}.\n");
            files.global.insert(format!("w/{id}.md"), text);
        }
        let (library, diagnostics) = Library::load(&files).unwrap();
        assert_eq!(diagnostics, []);
        library
    }

    #[test]
    fn the_edges_of_a_parallel_group_are_its_own() {
        let library = library();
        let chart = mermaid(library.get("w").unwrap(), &library);
        for edge in [
            "p1 -->|\"large, small\"| g1",
            "g1 -. \"issues (at most 3 times)\" .-> p1",
            "g1 -->|\"issues after 3 times\"| stopped",
            "g1 -->|\"clean\"| g3",
            "g3 --> p7",
            "w1 --> p3",
            "p4 --> p5",
            "g1 -.- n3",
        ] {
            assert!(chart.lines().any(|line| line.trim() == edge), "{edge}\n{chart}");
        }
        for branch in ["p2", "p3", "p5", "p6"] {
            let leaves = |line: &str| {
                let to = line.trim().strip_prefix(branch).and_then(|rest| rest.split("> ").nth(1));
                to.is_some_and(|to| !to.starts_with('n') && to != "p4")
            };
            assert!(!chart.lines().any(leaves), "{branch}\n{chart}");
        }
    }

    #[test]
    fn a_preview_lists_the_phases_of_branches() {
        let library = library();
        let preview = preview(library.get("w").unwrap(), &library, "Task");
        for line in [
            "A run works with up to 3 agents in parallel groups.",
            "  2. 🔀 Reviews",
            "     Reviews, at once: up to 3 agents, 2 at a time",
            "2.1. Reviews > * The bugs  (only read)",
            "     when: outcome.do is large",
            "2.4. Reviews > pages > * The docs  (only read)",
            "     Research, at once: 3 agents",
            "3.1. Research > * The one  (only read)",
            "━━ Instructions of 2.3. Reviews > pages > * The read ━━",
            "Do one of x.",
            "[workflow] The tool \"edit\" is blocked during the The bugs phase.",
        ] {
            assert!(preview.lines().any(|other| other == line), "{line}\n{preview}");
        }
        assert!(!preview.contains("Instructions of 2. "), "{preview}");
        assert_eq!(preview.lines().filter(|line| line.contains("outcomes: issues → back")).count(), 1);
    }

    #[test]
    fn the_agents_of_the_largest_group_are_counted() {
        let library = library();
        assert_eq!(
            (library.most_agents("w"), agents_note("w", &library).as_deref()),
            (3, Some("up to 3 agents in parallel groups"))
        );
        let alone = crate::definition::fixtures::library(&[("r", &["a"])]);
        assert_eq!((alone.most_agents("r"), agents_note("r", &alone)), (1, None));
        assert_eq!(
            many_agents_question("Big", 12, 4, Dialog::Program),
            "Start \"Big\"? It may start 12 agents, 4 at a time."
        );
        assert_eq!(many_agents_question("Big", 12, 12, Dialog::Program), "Start \"Big\"? It may start 12 agents.");
    }
}
