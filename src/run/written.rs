//! The paths that the branches of a parallel group can write, with the values of their items.

use crate::definition::{
    EntryKind, Library, PathVariable, Workflow, WrittenPath, on_one_line, path_variables, resolve_path, short,
    unescaped,
};
use crate::sorted::Set;

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
        let depends = |path: &&str| path_variables(path).iter().any(PathVariable::is_of_item);
        if !paths.iter().any(depends) {
            return None;
        }
        let shown = |path: &str| format!("`{}`", on_one_line(&short(&unescaped(path), MAX_SHOWN)));
        let mut before: Vec<(String, String, WrittenPath)> = Vec::new();
        for (item, branch) in self.branches(library).into_iter().enumerate() {
            let mut inside = self.current_path.clone();
            inside.enter(&group.key, Some(item));
            let (depth, at) = (inside.len(), self.at(inside));
            let mut own = Vec::new();
            for path in &paths {
                match resolve_path(path, |variable| at.path_value(variable, depth, library)) {
                    Ok(path) => own.push((branch.name.clone(), shown(&path), WrittenPath::of(&path))),
                    Err(why) => return Some(format!("{}: {why}, in {}", branch.name, shown(path))),
                }
            }
            let all = own.iter().flat_map(|of| before.iter().map(move |other| (other, of)));
            if let Some((other, of)) = all.into_iter().find(|(other, of)| other.2.may_meet(&of.2)) {
                let (one, two) = (&other.0, &of.0);
                return Some(format!("{one} and {two} meet in {} and {}", other.1, of.1));
            }
            before.append(&mut own);
        }
        None
    }
}

/// Adds the paths of `write` of the agent's phases in a group, also of the groups in it.
fn add_paths<'a>(group: &'a Workflow, library: &'a Library, paths: &mut Set<&'a str>) {
    for entry in &group.phases {
        match &entry.kind {
            EntryKind::Phase(phase) if phase.is_of_agent() => {
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
    fn an_item_that_is_no_name_is_named() {
        for item in [
            "..",
            "a/../b",
            "/etc",
            "a//b",
            "a/",
            ".git",
            "x/.GIT/hooks",
            "'*'",
            "'[a]'",
            "'{a,b}'",
            "'a\\b'",
            "~/x",
            "$HOME",
            "'.'",
        ] {
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
