//! The paths that the branches of a parallel group can write, with the values of their items.

use crate::definition::{
    EntryKind, Library, PathVariable, Workflow, on_one_line, path_variables, relative, resolve_path, short, stem,
    unescaped,
};
use crate::sorted::{Map, Set};

use super::state::RunState;

/// Maximum length of a path in a reason, in characters.
const MAX_SHOWN: usize = 50;

impl RunState {
    /// Returns the reason why the branches of the parallel group at which the run is cannot work at the same time, in words:
    /// an item gives no path, or two items have a file in common. `None` if no path depends on the items.
    pub fn why_branches_meet(&self, library: &Library) -> Option<String> {
        let group = self.parallel_group(library).filter(|group| group.each.is_some())?;
        let mut paths = Set::new();
        add_paths(group, library, &mut paths);
        let mut variables = Set::new();
        for variable in paths.iter().flat_map(|path| path_variables(path)) {
            variables.insert(variable);
        }
        if !variables.iter().any(PathVariable::is_of_item) {
            return None;
        }
        let shown = |path: &str| format!("`{}`", on_one_line(&short(&unescaped(path), MAX_SHOWN)));
        let branches = self.branches(library);
        // The stems of the paths of the earlier branches, sorted, each with the name of the branch and the path.
        let mut before: Vec<(String, (&str, String))> = Vec::new();
        for (item, branch) in branches.iter().enumerate() {
            let mut inside = self.current_path.clone();
            inside.enter(&group.key, Some(item));
            let (depth, at) = (inside.len(), self.at(inside));
            let values = variables.iter().map(|of| (of.clone(), at.path_value(of, depth, library)));
            let values: Map<PathVariable, Option<String>> = values.collect();
            let mut own = Vec::new();
            for path in &*paths {
                match resolve_path(path, |variable| values.get(variable)?.clone()) {
                    Ok(path) => own.push((stem(&path), (&*branch.name, path))),
                    Err(why) => return Some(format!("{}: {why}, in {}", branch.name, shown(path))),
                }
            }
            let met = own.iter().find_map(|(stem, of)| Some((relative(stem, &before)?, of)));
            if let Some(((one, first), (two, second))) = met {
                return Some(format!("{one} and {two} meet in {} and {}", shown(first), shown(second)));
            }
            before.append(&mut own);
            before.sort();
        }
        None
    }
}

/// Adds the paths of `write` of the agent's phases in a group, also of the groups in it.
fn add_paths<'a>(group: &'a Workflow, library: &'a Library, paths: &mut Set<&'a str>) {
    for entry in &group.phases {
        match &entry.kind {
            EntryKind::Phase(phase) if phase.may_write() => {
                let write = phase.limits.write.as_ref().or(group.limits.write.as_ref());
                paths.extend(write.into_iter().flatten().map(String::as_str));
            }
            EntryKind::Phase(_) => {}
            EntryKind::Workflow { .. } => {
                let inner = entry.group_key().and_then(|key| library.get(key));
                inner.into_iter().for_each(|inner| add_paths(inner, library, paths));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definition::fixtures::Files;
    use crate::run::begin;

    /// The reason for branches of these items with this `write`.
    fn why(items: &str, write: &str) -> Option<String> {
        let entry = format!("{{ id: a, prompt: x, write: {write} }}");
        let yaml = format!(
            "name: W\ncommandName: w\nphases: [{{ parallel: true, each: {items}, phases: [{entry}, {{ phases: [{{ id: b, prompt: x, write: ['{{runDir}}/{{itemNumber}}/'] }}] }}] }}]\n"
        );
        let global = [("w/workflow.yaml".to_owned(), yaml)].into();
        let (library, diagnostics) = Library::load(&Files { global, ..Files::default() }).unwrap();
        assert_eq!(diagnostics, []);
        let run = RunState::new("w", "t", 0, 0).with_run_dir(crate::run::RunDir::sample());
        begin(&run, &library).0.why_branches_meet(&library)
    }

    #[test]
    fn items_with_paths_of_their_own_do_not_meet() {
        for (items, write) in [
            ("[api, web]", "['src/{item}/']"),
            ("[api, web, a/b]", "['src/{item}.md', 'docs/x/{item}/y/']"),
            ("[a, ab, b]", "['src/{item}/**/*.md']"),
            ("[api, api]", "['{runDir}/{itemNumber}/']"),
            ("[x]", "['src/{item}/']"),
        ] {
            assert_eq!(why(items, write), None, "{items} {write}");
        }
    }

    #[test]
    fn two_items_with_a_file_in_common_are_named() {
        for (items, write, reason) in [
            ("[api, web, api]", "['src/{item}/']", "api and api (2) meet in `src/api/` and `src/api/`"),
            ("[api/b, web, api]", "['src/{item}/']", "api/b and api meet in `src/api/b/` and `src/api/`"),
            ("[a, A]", "['src/{item}/']", "a and A meet in `src/a/` and `src/A/`"),
            ("[b/c, c]", "['src/{item}/', 'src/b/{item}/']", "b/c and c meet in `src/b/c/` and `src/b/c/`"),
        ] {
            assert_eq!(why(items, write).as_deref(), Some(reason), "{items} {write}");
        }
        assert!(why("[\u{e4}, \u{f6}]", "['src/{item}/']").is_some(), "in doubt they meet");
    }

    #[test]
    fn a_phase_that_only_reads_has_no_files_in_common() {
        let entry = |tools: &str| format!("['src/{{item}}/'] }}, {{ id: c, prompt: x, write: [docs/]{tools}");
        assert_eq!(why("[a, b]", &entry(", tools: { whitelist: [read] }")), None);
    }

    #[test]
    fn many_items_with_many_paths_are_compared_at_once() {
        let items = (1..=64).map(|item| format!("i{item}")).collect::<Vec<_>>().join(", ");
        for folder in ["src", "gr\u{f6}\u{df}e"] {
            let path = |path: u32| format!("'{folder}/x{path}/{{item}}/'");
            let of_phase = |from: u32| (from..from + 100).map(path).collect::<Vec<_>>().join(", ");
            // A phase has at most 100 paths.
            let phases: Vec<String> = (0..5).map(|phase| of_phase(phase * 100)).collect();
            let others =
                phases.iter().enumerate().map(|(id, paths)| format!("{{ id: p{id}, prompt: x, write: [{paths}] }}"));
            let write = format!(
                "['{folder}/{{item}}/'] }}, {}, {{ id: z, prompt: x, write: ['{folder}/z/{{item}}/']",
                others.collect::<Vec<_>>().join(", ")
            );
            let begin = std::time::Instant::now();
            assert_eq!(why(&format!("[{items}]"), &write), None);
            assert!(begin.elapsed().as_secs() < 20, "{:?}", begin.elapsed());
        }
    }

    #[test]
    fn an_item_that_is_no_name_is_named() {
        for item in ["..", "'{a,b}'"] {
            let reason = why(&format!("[ok, {item}]"), "['src/{item}/']").unwrap();
            assert!(
                reason.contains(": the value of `{item}` ") && reason.ends_with(", in `src/{item}/`"),
                "{item}: {reason}"
            );
        }
        let reason = why(&format!("[ok, '{}']", "\u{202e}".repeat(500)), "['src/{item}/']").unwrap();
        assert!(reason.len() < 500, "{reason}");
    }
}
