//! Compares two paths of `write`: tells if both may allow the same file.
//!
//! In doubt the answer is yes: the file system, with its links and equivalent names, is not read.

use super::path_variables::{PathVariable, replaced, variables};
use super::permission::split;
use super::values::RUN_DIR_IN_BRACES;

/// The folder of the folders of runs, as its components.
const RUN_DIRS: [&str; 2] = [".pi", "workflow-runs"];

/// The variable of the number of an item, as paths have it.
const ITEM_NUMBER: &str = "{itemNumber}";

/// Returns true if two paths or globs of `write` may allow the same file.
pub(crate) fn may_meet(one: &str, other: &str) -> bool {
    let (Some(one), Some(other)) = (components(one), components(other)) else { return true };
    // A path that ends here may mean a folder with everything below.
    one.iter().zip(&other).all(|(one, other)| may_be_equal(one, other))
}

/// Ends each component of a [`stem`]; no path has this character.
const END_OF_PART: char = '\0';

/// Stands in a [`stem`] for each component with other letters than ASCII: two of them may be the same name.
const NOT_ASCII: &str = "\u{80}";

/// Returns the first components of a path, before the first component with a variable. Two paths can meet only if one
/// stem is the beginning of the other; resolved paths meet exactly then.
pub(crate) fn stem(path: &str) -> String {
    let parts = components(path).unwrap_or_default().into_iter();
    // A brace in a value has a backslash before it.
    let plain = parts.take_while(|part| !part.replace("\\{", "").contains('{'));
    plain.flat_map(|part| [if part.is_ascii() { part } else { NOT_ASCII.into() }, END_OF_PART.into()]).collect()
}

/// Returns what stands with one of the `sorted` stems that begins with this stem, or is the beginning of this stem.
pub(crate) fn relative<'a, T>(stem: &str, sorted: &'a [(String, T)]) -> Option<&'a T> {
    let at = sorted.partition_point(|other| *other.0 < *stem);
    let below = sorted.get(at).filter(|other| other.0.starts_with(stem));
    let equal = |part: &str| sorted.get(sorted.binary_search_by(|of| (*of.0).cmp(part)).ok()?);
    let mut ends = std::iter::once(0).chain(stem.match_indices(END_OF_PART).map(|(at, _)| at + 1));
    below.or_else(|| ends.find_map(|end| equal(stem.get(..end)?))).map(|other| &other.1)
}

/// Returns true if a path of `write` may differ for each item of a group: an item narrows it, or it has the number of the
/// item. Whether it differs for the items of a run is found when their group begins.
pub(crate) fn may_be_of_one_item(path: &str) -> bool {
    let with = |name: &str| {
        let value = |variable: &PathVariable| {
            let other = variable.to_string();
            Some(if variable.is_of_item() { name.to_owned() } else { other })
        };
        replaced(path, value)
    };
    is_of_one_item(path) || is_narrowed(path) && !may_meet(&with("a"), &with("b"))
}

/// Returns true if a path has a value of an item, and before its first variable nothing but a folder of the project.
pub(crate) fn is_narrowed(path: &str) -> bool {
    let folder = path.split('{').next().filter(|folder| folder.ends_with('/'));
    let parts = folder.filter(|folder| split(folder).1.is_none()).and_then(components);
    parts.is_some_and(|parts| !parts.is_empty()) && variables(path).iter().any(PathVariable::is_of_item)
}

/// Returns true if a path of `write` differs for each item of a group: it lies below the folder of the run, and its
/// first component there has the number of the item and otherwise nothing that could be part of another number.
pub(crate) fn is_of_one_item(path: &str) -> bool {
    let below = path.strip_prefix(RUN_DIR_IN_BRACES).and_then(|rest| rest.strip_prefix('/'));
    let Some(below) = below else { return false };
    let mut components = below.split('/');
    let first = components.next().unwrap_or_default();
    let rest = first.replacen(ITEM_NUMBER, "", 1);
    let is_plain = |c: char| c.is_ascii_alphabetic() || matches!(c, '-' | '_' | '.');
    rest.len() < first.len() && rest.chars().all(is_plain) && !components.any(|part| part == "..")
}

/// Returns the components of a path up to the first one that may be anything, such as a wildcard: commands are not held
/// to globs. `None` if nothing is known of the path.
fn components(path: &str) -> Option<Vec<String>> {
    let (fixed, _) = split(path);
    let is_elsewhere = fixed.starts_with(['/', '~', '\\']) || fixed.get(1..2) == Some(":");
    if is_elsewhere {
        return None;
    }
    let mut found: Vec<String> = Vec::new();
    for part in fixed.split('/') {
        let is_long = |variable: &PathVariable| matches!(variable, PathVariable::Input(_)) || variable.is_of_item();
        match part {
            "" | "." => {}
            ".." => {
                found.pop()?;
            }
            RUN_DIR_IN_BRACES => found.extend(RUN_DIRS.into_iter().chain([part]).map(Into::into)),
            // The value of an input or an item may have several components.
            part if variables(part).iter().any(is_long) => break,
            // A file system that folds names takes `ß` for `ss` and `ſ` for `s`.
            part => found.push(part.to_uppercase().to_lowercase()),
        }
    }
    Some(found)
}

/// Returns true if two components may be the same name.
fn may_be_equal(one: &str, other: &str) -> bool {
    // The part before the first variable.
    let literal = |name: &'_ str| name.find('{').map(|at| name.get(..at).unwrap_or_default().to_owned());
    match (literal(one), literal(other)) {
        // Composed and decomposed letters may be the same.
        (None, None) => one == other || !one.is_ascii() && !other.is_ascii(),
        (Some(_), Some(_)) if one == other => true,
        (Some(before), None) => other.starts_with(&before),
        (None, Some(before)) => one.starts_with(&before),
        (Some(one), Some(other)) => one.starts_with(&other) || other.starts_with(&one),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_meet_unless_a_component_tells_them_apart() {
        for (one, other) in [
            ("docs/a.md", "docs/b.md"),
            ("docs/", "src/"),
            ("./docs/", "src"),
            ("docs/*.md", "src/**"),
            ("{runDir}/a/", "{runDir}/b/"),
            ("{runDir}/a.md", "src/"),
            ("{runDir}/{itemNumber}/a", "{runDir}/{itemNumber}/b"),
            ("{runDir}/a{itemNumber}/", "{runDir}/b{itemNumber}/"),
            ("docs/{input.x}", "src/{input.x}"),
            ("docs/x/../a/", "docs/x/"),
        ] {
            assert!(!may_meet(one, other) && !may_meet(other, one), "{one} {other}");
            assert!(may_meet(one, one) && may_meet(other, other), "{one} {other}");
        }
        for (one, other) in [
            ("docs/", "docs/b.md"),
            ("docs", "docs/b/c.md"),
            ("Docs/", "docs/b.md"),
            ("./", "src/"),
            ("docs/*.md", "docs/*.rs"),
            ("**", "src/"),
            ("*.md", "src/a.rs"),
            ("docs/{input.x}", "docs/b.md"),
            ("{input.x}", "src/"),
            ("{runDir}/", ".pi/workflow-runs/"),
            ("{runDir}/a", ".pi/workflow-runs/0123/a/"),
            ("{runDir}/a", ".pi/"),
            ("{runDir}/{itemNumber}/", "{runDir}/1/"),
            ("{runDir}/1{itemNumber}/", "{runDir}/{itemNumber}1/"),
            ("/tmp/x", "src/"),
            ("~/x", "~/y"),
            ("../x", "src/"),
            ("docs/../src/", "src/a"),
            ("d\u{e9}/", "de\u{301}/"),
            ("stra\u{df}e/", "STRASSE/a"),
            ("\u{17f}rc/", "src/"),
            ("\u{17f}rc-{itemNumber}/", "src-1/"),
        ] {
            assert!(may_meet(one, other) && may_meet(other, one), "{one} {other}");
            let stems = [stem(one), stem(other)];
            assert!(stems[0].starts_with(&stems[1]) || stems[1].starts_with(&stems[0]), "{stems:?}");
        }
    }

    #[test]
    fn an_item_has_what_its_number_names() {
        for path in ["{runDir}/{itemNumber}/", "{runDir}/{itemNumber}.md", "{runDir}/a-{itemNumber}_b/c/*.md"] {
            assert!(is_of_one_item(path), "{path}");
        }
        for path in [
            "{runDir}/",
            "{runDir}",
            "{runDir}/a/{itemNumber}/",
            "{itemNumber}/",
            "{runDir}/1{itemNumber}/",
            "{runDir}/{itemNumber}{itemNumber}/",
            "{runDir}/{itemNumber}*/",
            "{runDir}/{itemNumber}{input.x}/",
            "{runDir}/{itemNumber}/../2/",
            "{runDir}/../{itemNumber}/",
            "docs/{itemNumber}/",
        ] {
            assert!(!is_of_one_item(path), "{path}");
        }
    }
}
