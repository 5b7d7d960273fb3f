//! Given these files, exactly this report.
//!
//! `tests/diagnostics/NAME.input` has cases: the files of each, and what is known of pi. `NAME.expected` has their
//! reports. This command writes all reports anew:
//!
//!     UPDATE_DIAGNOSTICS=1 cargo test --lib diagnostics

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::*;
use crate::definition::fixtures::Files;
use crate::definition::{
    DirEntry, FileKind, FoundLimits, KnownModel, Library, Model, ReadError, Root, Stale, Surroundings, WorkflowFiles,
    WriteTarget, users_limits,
};

/// Begins a case, or a part of one.
const MARK: &str = "===== ";

/// The files of a case, and the tools, profiles and models of pi.
struct Case {
    files: Files,
    tools: Vec<String>,
    /// There may be tools that are not known.
    more_tools: bool,
    /// The names of subagent profiles, where they are known.
    profiles: Option<Vec<String>>,
    /// The global folder has an entry that is neither a file nor a folder.
    link: bool,
}

impl WorkflowFiles for Case {
    fn roots(&self) -> Result<Vec<Root>, Stale> {
        self.files.roots()
    }

    fn list(&self, root: &str, path: &str) -> Result<Vec<DirEntry>, ReadError> {
        let mut entries = self.files.list(root, path)?;
        if self.link && root == "global" && path.is_empty() {
            entries.push(DirEntry { name: "zz".into(), kind: FileKind::Other, target: None });
        }
        Ok(entries)
    }

    fn read(&self, root: &str, path: &str) -> Result<Vec<u8>, ReadError> {
        self.files.read(root, path)
    }

    fn resolve_write(&self, path: &str) -> Result<Result<WriteTarget, String>, Stale> {
        self.files.resolve_write(path)
    }

    fn tools(&self) -> Result<Vec<String>, Stale> {
        Ok(self.tools.clone())
    }

    fn surroundings(&self) -> Result<Surroundings, Stale> {
        let (tools, more_tools) = (self.tools.clone(), self.more_tools);
        let (profiles, models) = (self.profiles.clone(), self.files.models.clone());
        Ok(Surroundings { tools, more_tools, profiles, models, ..Surroundings::default() })
    }
}

impl Case {
    /// Reads a case:
    ///
    /// | part | content |
    /// | --- | --- |
    /// | `===== pi OBJECT` | none: the object has `tools`, `moreTools`, `profiles`, `models`, `link` and `linked` |
    /// | `===== ROOT/PATH` | a file, up to the next part |
    /// | `===== head ROOT/PATH` | the rest of a file after the usual first lines |
    /// | `===== short ROOT/PATH` | the lines of a file between the usual first lines and the usual last ones |
    /// | `===== json ROOT/PATH` | a file as a string of JSON, for characters that an editor does not show or keep |
    /// | `===== same ROOT/PATH …` | none: these files are as in the newest earlier case that has them |
    ///
    /// `===== case` begins a case, and `===== also` a case that has the files of the case before it where it gives no other.
    fn read(text: &str) -> Self {
        let tools = ["read", "edit", "bash"].map(str::to_owned).into();
        let files = Files::default();
        let mut case = Self { files, tools, more_tools: false, profiles: None, link: false };
        for part in text.split(MARK).skip(1) {
            let (title, content) = part.split_once('\n').unwrap();
            if let Some(pi) = title.strip_prefix("pi ") {
                case.know(&serde_json::from_str(pi).unwrap());
            } else if let Some(path) = title.strip_prefix("json ") {
                case.add(path, serde_json::from_str(content).unwrap());
            } else {
                case.add(title, content.to_owned());
            }
        }
        case
    }

    fn add(&mut self, path: &str, text: String) {
        let (root, path) = path.split_once('/').unwrap();
        let files = match root {
            "global" => &mut self.files.global,
            "project" => &mut self.files.project,
            other => panic!("no root {other:?}"),
        };
        files.insert(path.to_owned(), text);
    }

    fn know(&mut self, pi: &Value) {
        let texts = |value: &Value| {
            let items = value.as_array().unwrap().iter();
            items.map(|item| item.as_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        for (key, value) in pi.as_object().unwrap() {
            match &**key {
                "tools" => self.tools = texts(value),
                "moreTools" => self.more_tools = value.as_bool().unwrap(),
                "profiles" => self.profiles = Some(texts(value)),
                "link" => self.link = value.as_bool().unwrap(),
                "linked" => self.files.linked = texts(value),
                "models" => {
                    self.files.models = Some(texts(value).iter().map(|name| model(name)).collect());
                }
                other => panic!("{other:?} is not known of pi"),
            }
        }
    }

    fn report(&self) -> String {
        let (library, diagnostics) = Library::check(self).unwrap();
        check_report(&library, &diagnostics)
    }
}

fn model(name: &str) -> KnownModel {
    let (provider, id) = name.split_once('/').unwrap();
    let model = Model { provider: provider.to_owned(), id: id.to_owned() };
    KnownModel { model, available: false, priced: true, context_window: 0 }
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/diagnostics")
}

/// The names and the cases of all inputs, with the files in the place of each `same`.
fn inputs() -> Vec<(String, Vec<String>)> {
    let names = fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().file_name());
    let names = names.filter_map(|name| Some(name.to_str()?.strip_suffix(".input")?.to_owned()));
    let mut inputs: Vec<_> = names.map(|name| (name.clone(), with_same_files(cases(&name, "input")))).collect();
    inputs.sort();
    inputs
}

/// Fills in the files of earlier cases, and the usual lines of files.
fn with_same_files(cases: Vec<String>) -> Vec<String> {
    let (mut files, mut before) = (BTreeMap::new(), BTreeMap::new());
    let whole = cases.iter().map(|case| {
        let (mut whole, mut own) = (String::new(), BTreeMap::new());
        if !case.starts_with("also\n") {
            before.clear();
        }
        for part in case.split(MARK).skip(1) {
            let (title, content) = part.split_once('\n').unwrap();
            let (kind, paths) =
                title.split_once(' ').filter(|(kind, _)| !kind.contains('/')).unwrap_or(("file", title));
            match kind {
                "pi" => whole += &format!("{MARK}{part}"),
                "same" => own.extend(paths.split(' ').map(|path| {
                    let part = files.get(path).unwrap_or_else(|| panic!("no earlier case has {path}"));
                    (path.to_owned(), String::clone(part))
                })),
                "json" => _ = own.insert(paths.to_owned(), part.to_owned()),
                _ => _ = own.insert(paths.to_owned(), format!("{paths}\n{}", with_usual_lines(kind, paths, content))),
            }
        }
        before.extend(own);
        files.extend(before.clone());
        before.values().fold(whole, |whole, part| whole + MARK + part)
    });
    whole.collect()
}

fn with_usual_lines(kind: &str, path: &str, content: &str) -> String {
    let id = path.rsplit_once('/').unwrap().1.trim_end_matches(".md");
    let (head, end) = match id {
        "workflow.yaml" => ("name: Flow\ncommandName: flow\ninitialMessage: Go\n".to_owned(), "phases:\n  - a.md\n"),
        _ => {
            let name = id[..1].to_uppercase() + &id[1..];
            (format!("---\nid: {id}\nname: {name}\nemoji: '*'\n"), "---\nDo it.\n")
        }
    };
    match kind {
        "short" => head + content + end,
        "head" => head + content,
        _ => content.to_owned(),
    }
}

fn cases(name: &str, ending: &str) -> Vec<String> {
    let text = fs::read_to_string(folder().join(format!("{name}.{ending}"))).unwrap_or_default();
    let text = text.replace(&format!("{MARK}also\n"), &format!("{MARK}case\nalso\n"));
    text.split(&format!("{MARK}case\n")).skip(1).map(ToOwned::to_owned).collect()
}

#[test]
fn reports_are_those_that_are_expected() {
    for (name, inputs) in inputs() {
        let reports = inputs.iter().map(|input| format!("{}\n", Case::read(input).report()));
        let reports: Vec<String> = reports.collect();
        if std::env::var_os("UPDATE_DIAGNOSTICS").is_some() {
            let text: String = reports.iter().map(|report| format!("{MARK}case\n{report}")).collect();
            fs::write(folder().join(format!("{name}.expected")), text).unwrap();
            continue;
        }
        let expected = cases(&name, "expected");
        for (number, (report, input)) in reports.iter().zip(&inputs).enumerate() {
            let expected = expected.get(number).map_or("", String::as_str);
            assert_eq!(
                report,
                expected,
                "\ncase {} of {name}:\n{input}\n{report}\n\
                 If it is right: UPDATE_DIAGNOSTICS=1 cargo test --lib diagnostics",
                number + 1
            );
        }
        assert_eq!(reports.len(), expected.len(), "{name}");
    }
}

/// Only a check warns; what leaves a workflow out, leaves it out of every load.
#[test]
fn a_load_has_the_errors_of_a_check() {
    let errors = |diagnostics: Vec<Diagnostic>| -> Vec<String> {
        let errors = diagnostics.iter().filter(|one| one.severity() == Severity::Error);
        let mut errors: Vec<String> = errors.map(diagnostic_text).collect();
        errors.sort();
        errors
    };
    let mut count = 0;
    for (name, inputs) in inputs() {
        for input in inputs {
            let case = Case::read(&input);
            let (loaded, found) = Library::load(&case).unwrap();
            let (checked, expected) = Library::check(&case).unwrap();
            let of_limits = match users_limits(&case, true).unwrap() {
                FoundLimits::Unusable(diagnostics) => diagnostics,
                FoundLimits::Nothing | FoundLimits::Content(_) => Vec::new(),
            };
            let found = of_limits.into_iter().chain(found).collect();
            assert_eq!(errors(found), errors(expected), "{name}:\n{input}");
            let keys =
                |library: &Library| -> Vec<String> { library.iter().map(|workflow| workflow.key.clone()).collect() };
            assert_eq!(keys(&loaded), keys(&checked), "{name}:\n{input}");
            count += 1;
        }
    }
    assert!(count > 150, "{count}");
}

/// Slips of authors and models in a field or a value are reported with a place.
#[test]
fn slips_are_told() {
    let reports = cases("slips_of_authors_and_models", "expected").concat();
    let told = reports.lines().filter(|line| line.contains(": error: ") || line.contains(": warning: "));
    let mut count = 0;
    for line in told {
        let place = line.strip_prefix("~/workflows/w/").and_then(|rest| rest.split(':').nth(1));
        assert!(place.is_some_and(|line| line.parse::<usize>().is_ok()), "{line}");
        count += 1;
    }
    assert!(count > 150, "{count}");
}

/// Each YAML that a help shows in the place of something is taken as it is written: then the file has one problem less,
/// and no other.
#[test]
fn help_that_is_taken_as_it_is_written_loads() {
    let (mut count, mut bad) = (0, Vec::new());
    for (name, inputs) in inputs() {
        for input in inputs {
            let case = Case::read(&input);
            let (_, found) = Library::check(&case).unwrap();
            let before: Vec<String> = found.iter().map(told).collect();
            for diagnostic in &found {
                let Some(shown) = diagnostic.help().as_deref().and_then(shown) else { continue };
                count += 1;
                let tries = ways_to_take(&case, diagnostic, &shown);
                let same = |found: &[Diagnostic]| found.iter().filter(|one| told(one) == told(diagnostic)).count();
                let first = same(&found);
                let loads = |files: &Files| {
                    let case = Case {
                        files: files.clone(),
                        tools: case.tools.clone(),
                        profiles: case.profiles.clone(),
                        ..case
                    };
                    let (_, found) = Library::check(&case).unwrap();
                    // A file or a workflow of the author is to be made, and a field that is there twice to be removed.
                    let known = ["duplicate key", "cannot read the phase file", "the workflow \""];
                    let is_known = |one: &Diagnostic| known.iter().any(|words| one.message().starts_with(words));
                    let errors = found.iter().filter(|one| one.severity() != Severity::Warning);
                    errors.filter(|one| !is_known(one)).all(|one| before.contains(&told(one))) && same(&found) < first
                };
                if !tries.iter().any(loads) {
                    bad.push(format!("{name}: {}", diagnostic_text(diagnostic)));
                }
            }
        }
    }
    assert!(count > 100, "{count}");
    assert!(bad.is_empty(), "{} of {count}:\n{}", bad.len(), bad.join("\n"));
}

/// The problem without its place, which moves with the lines before it.
fn told(diagnostic: &Diagnostic) -> String {
    format!("{}: {}", diagnostic.file, diagnostic.message())
}

/// Returns the YAML that a help shows in the place of the marked text; `None` if it belongs in another place, or has
/// names in capitals, which stand for others.
fn shown(help: &str) -> Option<String> {
    let after = ["did you mean ", "put the text in quotes: ", "put the text in quotes, as ", "write "];
    let rest = after.iter().find_map(|words| help.strip_prefix(words)).filter(|rest| rest.starts_with('`'))?;
    if rest.contains(", in ") || rest.contains(" beside `") {
        return None;
    }
    let (first, example) = rest.split_once(", as in ").map_or((rest, None), |(first, example)| (first, Some(example)));
    let parts: Vec<&str> = example.unwrap_or(first).split('`').skip(1).step_by(2).collect();
    let shown = if example.is_some() { parts.join("\n") } else { (*parts.first()?).to_owned() };
    let is_name = |word: &str| word.len() > 1 && word.chars().all(|c| c.is_ascii_uppercase());
    (!shown.split(|c: char| !c.is_alphanumeric()).any(is_name)).then_some(shown)
}

/// Returns the files with the YAML in the place of the marked text, of the rest of its line, or of its whole entry.
fn ways_to_take(case: &Case, diagnostic: &Diagnostic, shown: &str) -> Vec<Files> {
    let (Some(place), Some(excerpt)) = (diagnostic.place, &diagnostic.excerpt) else { return Vec::new() };
    let (root, path) =
        match diagnostic.file.strip_prefix("~/.pi/agent/workflows/").or(diagnostic.file.strip_prefix("~/workflows/")) {
            Some(path) => ("global", path),
            None => ("project", diagnostic.file.trim_start_matches(".pi/workflows/")),
        };
    let files = if root == "global" { &case.files.global } else { &case.files.project };
    let Some(text) = files.get(path) else { return Vec::new() };
    let lines: Vec<&str> = text.split('\n').collect();
    let Some(line) = lines.get(place.line - 1) else { return Vec::new() };
    let at = |column: usize| line.char_indices().nth(column).map_or(line.len(), |(at, _)| at);
    let (start, end) = (at(place.column - 1), at(place.column - 1 + excerpt.marked));
    let (before, after) = (&line[..start], &line[end..]);
    let indent = line.len() - line.trim_start_matches([' ', '-']).len();
    let deeper = lines.iter().skip(place.line).take_while(|next| {
        next.trim().is_empty() || next.len() - next.trim_start().len() > line.len() - line.trim_start().len()
    });
    let below = deeper.count();
    let key = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '"' | '\'' | ' ' | ':');
    let key_start = before.rfind(|c: char| !key(c)).map_or(indent, |at| at + 1).max(indent.min(start));
    // The value that the message says was found.
    let message = diagnostic.message();
    let found = message.rsplit_once("found `").or_else(|| message.split_once("refers to \"")).map(|(_, found)| found);
    let found = found.and_then(|found| Some(found.split_once(['`', '"'])?.0)).unwrap_or("\0");
    let whole = shown.replace('\n', &format!("\n{}", " ".repeat(indent)));
    let tries = [
        (line.replacen(found, shown, 1), 0),
        (line.replacen(&format!("'{found}'"), shown, 1), 0),
        (line.replacen(&format!("\"{found}\""), shown, 1), 0),
        // The other way that the help for a comment names.
        (line.replacen('#', "# ", 1), 0),
        (format!("{}{whole}", &line[..indent]), below),
        (format!("{before}{shown}{}", &line[start..][in_flow(&line[start..])..]), 0),
        (format!("{}{shown}{}", &line[..key_start], &line[start..][in_flow(&line[start..])..]), 0),
        (format!("{} {shown}{}", &line[..key_start], &line[start..][in_flow(&line[start..])..]), 0),
        (format!("{before}{shown}{after}"), 0),
        (format!("{}{shown}", &line[..indent]), 0),
        (format!("{}{shown}", &line[..indent]), below),
        (format!("{before}{shown}"), below),
        (format!("{}{shown}{after}", &line[..key_start]), 0),
        (format!("{} {shown}{after}", &line[..key_start]), 0),
    ];
    let with = tries.into_iter().map(|(new, below)| {
        let mut all: Vec<&str> = lines[..place.line - 1].to_vec();
        all.push(&new);
        all.extend(&lines[place.line + below..]);
        let mut files = case.files.clone();
        let of_root = if root == "global" { &mut files.global } else { &mut files.project };
        of_root.insert(path.to_owned(), all.join("\n"));
        files
    });
    with.collect()
}

/// Returns the length of a value, with its key, in a flow collection.
fn in_flow(text: &str) -> usize {
    let (mut quote, mut depth) = (None, 0);
    let end = text.char_indices().find(|&(_, c)| {
        match (quote, c) {
            (Some(open), _) if open == c => quote = None,
            (None, '"' | '\'') => quote = Some(c),
            (None, '[' | '{') => depth += 1,
            (None, ']' | '}') => depth -= 1,
            _ => {}
        }
        quote.is_none() && (depth < 0 || depth == 0 && c == ',')
    });
    end.map_or(text.len(), |(at, _)| at)
}
