//! The files of a new workflow.

use super::model::is_command_name;

/// Returns the files of a new workflow: path in its folder, and text. The workflow runs without changes.
///
/// # Errors
///
/// If the name is not a command name: ASCII letters, digits, `_` and `-`.
pub fn skeleton(name: &str) -> Result<[(&'static str, String); 3], String> {
    if !is_command_name(name) {
        return Err(format!("A name may have letters, digits, `_` and `-` only, but is \"{name}\"."));
    }
    Ok([("workflow.yaml", WORKFLOW.to_owned()), ("plan.md", PLAN.to_owned()), ("do.md", DO.to_owned())])
}

const WORKFLOW: &str = "description: Plan first, then do it.
phases:
  - plan.md
  - do.md
";

const PLAN: &str = "---
write: [] # look only: neither tools nor commands can change a file
---

Find out what has to be done for: {description}

Read what it touches. Change nothing yet.

This phase is over when you have written down the steps, and the command that shows that they worked.
";

const DO: &str = "Follow the plan for: {description}

Take one step at a time. At the end run the command that shows that it worked, and say what it said.
";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definition::fixtures::Files;
    use crate::definition::{Diagnostic, Library};

    #[test]
    fn a_skeleton_checks_clean() {
        for (name, title) in [("ship-it", "Ship It"), ("7", "7"), ("_-", "_-"), ("null", "Null")] {
            let mut files = Files { tools: vec!["edit", "write", "bash"], ..Files::default() };
            for (path, text) in skeleton(name).unwrap() {
                files.global.insert(format!("{name}/{path}"), text);
            }
            let (library, diagnostics) = Library::check(&files).unwrap();
            assert_eq!(diagnostics.iter().map(Diagnostic::to_string).collect::<Vec<_>>(), [""; 0]);
            assert_eq!(library.by_command_name(name).unwrap().name, title);
        }
        for name in ["", "a b", "../x", "é"] {
            assert!(skeleton(name).is_err(), "{name}");
        }
    }
}
