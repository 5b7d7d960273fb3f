//! The files of a new workflow.

/// Returns the files of a new workflow: path in its folder, and text. The workflow runs without changes.
///
/// # Errors
///
/// If the name is not a command name: ASCII letters, digits, `_` and `-`.
pub fn skeleton(name: &str) -> Result<[(&'static str, String); 3], String> {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    if name.is_empty() || !name.bytes().all(is_part) {
        return Err(format!("A name may have letters, digits, `_` and `-` only, but is \"{name}\"."));
    }
    let words: Vec<String> = name.split(['-', '_']).filter(|word| !word.is_empty()).map(capital).collect();
    let title = if words.is_empty() { name.to_owned() } else { words.join(" ") };
    Ok([
        ("workflow.yaml", WORKFLOW.replace("TITLE", &title).replace("COMMAND", name)),
        ("plan.md", PLAN.to_owned()),
        ("do.md", DO.to_owned()),
    ])
}

fn capital(word: &str) -> String {
    let mut word = word.to_owned();
    if let Some(first) = word.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    word
}

const WORKFLOW: &str = "name: \"TITLE\"
commandName: \"COMMAND\"
description: Plan first, then do it.
initialMessage: \"Work on this, one phase at a time: {description}\"
phases:
  - plan.md
  - do.md
";

const PLAN: &str = "---
id: plan
name: Plan
emoji: \"📝\"
tools:
  blacklist: [edit, write]
---

Find out what has to be done for: {description}

Read what it touches. Change nothing yet.

This phase is over when you have written down the steps, and the command that shows that they worked.
";

const DO: &str = "---
id: do
name: Do
emoji: \"🔨\"
---

Follow the plan for: {description}

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
            let mut files = Files::default();
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
