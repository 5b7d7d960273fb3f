//! The `tests` of a phase: tool calls that its rules must allow or refuse. A check runs them; they are no rules.

use super::confinement::{Limits, Permission, Refusal, permission};
use super::diagnostic::{Decision, Diagnostic, Problem};
use super::fields::Fields;
use super::files::{Stale, Surroundings, WorkflowFiles, is_of_pi};
use super::references::{Anchor, Unplaced};
use super::schema::{MAX_TESTS, TESTS_FIELDS, names};
use super::yaml::{Step, Yaml};
use super::{EntryKind, Library, Phase, Workflow, is_blank};

const LISTS: [&str; TESTS_FIELDS.len()] = names(&TESTS_FIELDS);

/// A tool call that the rules of a phase must allow or refuse.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PhaseTest {
    /// The name of the tool, and behind it its path or command, if any.
    pub call: String,
    /// It must be allowed.
    pub allowed: bool,
    /// Its index in its list.
    index: usize,
}

impl PhaseTest {
    /// The tool, and the argument of the call.
    pub fn parts(&self) -> (&str, Option<&str>) {
        match self.call.split_once(char::is_whitespace) {
            Some((tool, argument)) => (tool, Some(argument.trim_start())),
            None => (&self.call, None),
        }
    }

    fn anchor(&self) -> Anchor {
        let [allowed, refused] = LISTS;
        let list = if self.allowed { allowed } else { refused };
        Anchor::Phase(vec![Step::Key("tests"), Step::Key(list), Step::Item(self.index)])
    }
}

/// Reads `tests`; with `check` it reports its errors, which leave nothing out.
pub(super) fn read(fields: &mut Fields, check: Option<&Surroundings>) -> Vec<PhaseTest> {
    let mut tests = Vec::new();
    let mut problems: Vec<(Vec<Step>, Problem)> = Vec::new();
    let value = fields.root.get("tests").cloned();
    match &value {
        None => {}
        Some(Yaml::Map(entries)) if !entries.is_empty() => {
            for (key, _) in entries.iter().filter(|(key, _)| !LISTS.contains(&&**key)) {
                let problem = Problem::UnknownTests { field: key.clone(), known: &LISTS };
                problems.push((vec![Step::Key("tests"), Step::Name(key)], problem));
            }
            for list in LISTS {
                read_list(entries, list, &mut tests, &mut problems);
            }
        }
        Some(other) => {
            let expected = "a mapping with `allowed` or `refused`";
            let problem =
                Problem::BadTests { field: "tests".into(), expected, found: other.kind() };
            problems.push((vec![Step::Key("tests")], problem));
        }
    }
    if tests.len() > MAX_TESTS {
        tests.truncate(MAX_TESTS);
        problems.push((vec![Step::Key("tests")], Problem::TooManyTests { limit: MAX_TESTS }));
    }
    let Some(surroundings) = check else { return tests };
    for test in &tests {
        let (tool, _) = test.parts();
        if !is_of_pi(tool)
            && surroundings.lacks_tool(tool)
            && let Anchor::Phase(at) = test.anchor()
        {
            let (name, suggestion) = (tool.to_owned(), surroundings.nearest_tool(tool));
            problems.push((at, Problem::UnknownTool { name, suggestion }));
        }
    }
    for (at, problem) in problems {
        fields.report(&at, problem);
    }
    tests
}

fn read_list(
    entries: &[(String, Yaml)],
    list: &'static str,
    tests: &mut Vec<PhaseTest>,
    problems: &mut Vec<(Vec<Step>, Problem)>,
) {
    let at = [Step::Key("tests"), Step::Key(list)];
    let mut bad = |at: &[Step<'static>], expected, found| {
        let problem = Problem::BadTests { field: format!("tests.{list}"), expected, found };
        problems.push((at.to_vec(), problem));
    };
    let items = match entries.iter().find(|(key, _)| key == list).map(|(_, value)| value) {
        None => return,
        Some(Yaml::List(items)) if !items.is_empty() => items,
        Some(other) => return bad(&at, "a list of at least one tool call", other.kind()),
    };
    for (index, item) in items.iter().enumerate() {
        match item {
            Yaml::String(call) if !is_blank(call) => {
                let (call, allowed) = (call.trim().to_owned(), list == "allowed");
                tests.push(PhaseTest { call, allowed, index });
            }
            other => bad(&[at[0], at[1], Step::Item(index)], "`TOOL ARGUMENT`", other.kind()),
        }
    }
}

/// Runs the tests of all phases, in each workflow that lists them.
///
/// # Errors
///
/// If the session is gone.
pub(super) fn run(
    library: &Library,
    host: &dyn WorkflowFiles,
    unplaced: &mut Vec<Unplaced>,
) -> Result<(), Stale> {
    for workflow in library.iter() {
        for entry in &workflow.phases {
            let EntryKind::Phase(phase) = &entry.kind else { continue };
            for test in &phase.tests {
                let problem = wrong(test, phase, workflow, host)?;
                unplaced.extend(problem.map(|problem| Unplaced {
                    diagnostic: Diagnostic::new(&phase.file, problem),
                    anchor: test.anchor(),
                }));
            }
        }
    }
    Ok(())
}

/// The problem of a test that fails.
fn wrong(
    test: &PhaseTest,
    phase: &Phase,
    workflow: &Workflow,
    host: &dyn WorkflowFiles,
) -> Result<Option<Problem>, Stale> {
    let (tool, argument) = test.parts();
    let path = || Ok(argument.map(ToOwned::to_owned));
    let limits = Limits::of(phase, workflow);
    let by = limits.write_file;
    let (allowed, decision) = match permission((phase, workflow), tool, false, &path, host)? {
        Permission::Allowed => (true, Decision::Allowed),
        Permission::WithinPaths(_) => (true, Decision::Writable { by }),
        Permission::Confined { .. } => (true, Decision::Confined),
        Permission::Refused(Refusal::Tool) => (false, Decision::Tools),
        Permission::Refused(Refusal::MayWrite) => (false, Decision::MayWrite { by }),
        Permission::Refused(Refusal::Path { .. } | Refusal::Unresolved { .. }) => {
            (false, Decision::Path { by })
        }
    };
    let problem = || Problem::WrongTest {
        call: test.call.clone(),
        workflow: workflow.key.clone(),
        decision,
        writable: limits.write.map(|rules| match rules {
            [] => "no entry".to_owned(),
            rules => rules.join(", "),
        }),
    };
    Ok((allowed != test.allowed).then(problem))
}
