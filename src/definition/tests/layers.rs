//! The modules of `definition` import downwards only, and not in a circle.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

/// The folders, the lowest first. Those of one line do not know each other.
const LAYERS: [&[&str]; 4] = [&["model"], &["diagnostic"], &["read", "check"], &["load"]];

fn layer(module: &str) -> usize {
    LAYERS.iter().position(|layer| layer.contains(&module)).unwrap_or_else(|| panic!("{module}"))
}

/// The code of a module without its tests and comments.
fn code(path: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("src/definition").join(path);
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let code = text.split("#[cfg(test)]").next().unwrap();
    code.lines().filter(|line| !line.trim_start().starts_with("//")).map(|l| format!("{l}\n")).collect()
}

/// The names directly behind each occurrence of a prefix: one, or those of a list in braces.
fn named<'a>(code: &'a str, prefix: &str) -> BTreeSet<&'a str> {
    let name = |text: &'a str| {
        let text = text.trim_start();
        let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        &text[..end.unwrap_or(text.len())]
    };
    let behind = code.match_indices(prefix).map(|(at, _)| &code[at + prefix.len()..]);
    let names = behind.flat_map(|rest| match rest.strip_prefix('{') {
        Some(list) => list.split('}').next().unwrap().split(',').map(name).collect(),
        None => vec![name(rest)],
    });
    names.collect()
}

/// The modules of a folder.
fn modules(folder: &str) -> Vec<String> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("src/definition").join(folder);
    let names = fs::read_dir(path).unwrap().map(|entry| entry.unwrap().file_name());
    let names = names.filter_map(|name| name.to_str()?.strip_suffix(".rs").map(ToOwned::to_owned));
    names.filter(|name| name != "mod").collect()
}

#[test]
fn no_import_runs_upwards() {
    for folder in LAYERS[..3].iter().flat_map(|layer| layer.iter()) {
        for module in modules(folder) {
            let code = code(&format!("{folder}/{module}.rs"));
            assert!(!code.contains("super::super"), "{folder}/{module}: name the folder");
            for other in named(&code, "crate::definition::") {
                assert!(layer(other) < layer(folder), "{folder}/{module} imports {other}");
            }
        }
    }
}

#[test]
fn no_modules_of_a_folder_import_each_other_in_a_circle() {
    for folder in LAYERS[..3].iter().flat_map(|layer| layer.iter()) {
        let all = modules(folder);
        let mut imports: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
        for module in &all {
            let code = code(&format!("{folder}/{module}.rs"));
            let names = named(&code, "super::").into_iter().map(ToOwned::to_owned);
            imports.insert(module, names.filter(|name| all.contains(name)).collect());
        }
        // Whoever imports nothing that is left is no part of a circle.
        while let Some(leaf) = imports.iter().find(|(_, names)| names.is_empty()) {
            let leaf = (*leaf.0).to_owned();
            imports.remove(&*leaf);
            imports.values_mut().for_each(|names| names.retain(|name| *name != leaf));
        }
        assert!(imports.is_empty(), "in {folder}: {imports:?}");
    }
}
