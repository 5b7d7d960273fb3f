//! The summaries and outputs of the phases so far, for later phases and for the user.

use std::borrow::Cow;

use crate::definition::Library;
use crate::run::{Outputs, PhasePath, RunState, Summary, cut};

use super::outputs::{output_lines, outputs_in_brief};

/// Maximum length of the list in a context prompt, in characters.
const MAX_RESULTS: usize = 12_000;
/// Characters of a part besides its text: line ends, the sign of a shortened text.
const OVERHEAD: usize = 12;
/// Maximum number of lines, and of characters in all, of a summary that is shown to the user.
const MAX_EXCERPT: Length = Length { lines: 8, characters: 600 };
/// The least shown length of each summary in a list, whatever the number of summaries.
const MIN_EXCERPT: Length = Length { lines: 1, characters: 100 };
/// The end of a text of which more is stored.
const CUT: &str = "… (cut: /workflow :report)";

/// A length of a text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Length {
    lines: usize,
    characters: usize,
}

impl Length {
    /// Returns the part of [`MAX_EXCERPT`] for each of this number of summaries.
    fn shared(number: usize) -> Self {
        let part = |most: usize, least: usize| (2 * most / number.max(1)).clamp(least, most);
        Self {
            lines: part(MAX_EXCERPT.lines, MIN_EXCERPT.lines),
            characters: part(MAX_EXCERPT.characters, MIN_EXCERPT.characters),
        }
    }
}

/// A phase of a scope that the run is in, or all phases of a nested workflow that the run is not in.
struct Group<'a> {
    /// Path of the entry: the path of its phases up to the scope that contains the entry.
    path: PhasePath,
    /// Name of the nested workflow; `None` for a phase.
    name: Option<Cow<'a, str>>,
    phases: Vec<(Vec<Cow<'a, str>>, Shown<'a>)>,
}

/// The result of a phase: its summary, and a list item for each of its outputs.
struct Shown<'a> {
    name: &'a str,
    text: String,
    has_outputs: bool,
}

/// Returns the list of results in the context prompt, newest last; `None` without results.
///
/// If the list would be too long, the oldest summaries are shortened or left out.
pub(super) fn results(state: &RunState, library: &Library) -> Option<String> {
    let mut left = MAX_RESULTS;
    let mut left_out = 0;
    let mut sections: Vec<String> = Vec::new();
    for group in groups(state, library, output_lines).iter().rev() {
        let heading = group.name.as_ref().map(|name| format!("### {name}"));
        let mut room = left.saturating_sub(heading.as_deref().map_or(0, length));
        let mut texts = Vec::new();
        for (scopes, shown) in group.phases.iter().rev() {
            let title = match group.name {
                Some(_) => format!("#### {}{}", scope_names(scopes), shown.name),
                None => format!("### {}", shown.name),
            };
            let most = room.saturating_sub(length(&title));
            if most == 0 {
                left_out += 1;
                (room, left) = (0, 0);
                continue;
            }
            let text = cut(&shown.text, most);
            room = room.saturating_sub(length(&title) + length(&text));
            left = room;
            texts.push(format!("{title}\n{text}"));
        }
        texts.extend(heading.filter(|_| !texts.is_empty()));
        sections.extend(texts);
    }
    if sections.is_empty() {
        return None;
    }
    if left_out > 0 {
        sections.push(format!("({left_out} earlier not shown)"));
    }
    sections.push("**Results so far:**".into());
    sections.reverse();
    Some(sections.join("\n\n"))
}

/// Returns the number of characters of [`MAX_RESULTS`] that a title or a summary takes.
fn length(text: &str) -> usize {
    text.chars().count() + OVERHEAD
}

/// Returns the summary of a phase, and below it its outputs.
fn result_text(summary: Option<&Summary>, outputs: Option<&Outputs>, lines: fn(&Outputs) -> String) -> String {
    let parts = summary.map(|summary| summary.text.clone()).into_iter().chain(outputs.map(lines));
    parts.collect::<Vec<String>>().join("\n")
}

/// Returns a list item in Markdown for each phase with a result, oldest first. The more results there are, the less is
/// shown of each result.
pub(super) fn lines(state: &RunState, library: &Library) -> Vec<String> {
    let mut lines = Vec::new();
    let length = Length::shared(state.results().len());
    for group in groups(state, library, outputs_in_brief) {
        lines.extend(group.name.as_ref().map(|name| format!("- {name}")));
        let indent = if group.name.is_some() { "  " } else { "" };
        lines.extend(group.phases.iter().map(|(scopes, shown)| {
            let title = format!("{indent}- {}{}:", scope_names(scopes), shown.name);
            match &excerpt(&shown.text, length)[..] {
                [line] if !shown.has_outputs => format!("{title} {line}"),
                lines => {
                    let lines = lines.iter().map(|line| format!("\n{indent}  {line}"));
                    title + &lines.collect::<String>()
                }
            }
        }));
    }
    lines
}

/// Returns the beginning of a result for the user, without blank lines.
pub(super) fn excerpt_of(summary: Option<&Summary>, outputs: Option<&Outputs>) -> Vec<String> {
    excerpt(&result_text(summary, outputs, outputs_in_brief), MAX_EXCERPT)
}

fn excerpt(text: &str, length: Length) -> Vec<String> {
    let mut left = length.characters;
    let mut excerpt: Vec<String> = Vec::new();
    let lines = text.lines().map(str::trim_end).filter(|line| !line.is_empty());
    for (index, line) in lines.enumerate() {
        let cut = line.char_indices().nth(left).map(|(at, _)| at);
        if index == length.lines || left == 0 {
            match excerpt.last_mut() {
                Some(last) => last.push_str(CUT),
                None => excerpt.push(CUT.to_owned()),
            }
            break;
        }
        let shown = line.get(..cut.unwrap_or(line.len())).unwrap_or_default();
        left = left.saturating_sub(shown.chars().count());
        if cut.is_some() {
            excerpt.push(format!("{shown}{CUT}"));
            break;
        }
        excerpt.push(shown.to_owned());
    }
    excerpt
}

pub(super) fn previous(state: &RunState) -> Option<&str> {
    state.summaries().pop().map(|(_, summary)| &*summary.text)
}

fn groups<'a>(state: &'a RunState, library: &'a Library, lines: fn(&Outputs) -> String) -> Vec<Group<'a>> {
    let mut groups: Vec<Group> = Vec::new();
    for (path, result) in state.results() {
        let depth = state.shared(&path).min(path.len() - 1);
        let item = |path: &PhasePath| path.get(depth).and_then(|segment| segment.item);
        // Results of another item of the group stand below the name of the group.
        let depth = depth - usize::from(depth > 0 && item(&path) != item(&state.current_path));
        let outer = path.at_depth(depth + 1);
        let mut names = path.iter().skip(depth + 1).map(|segment| {
            let name = library.get(&segment.workflow_key);
            let name = name.map_or("(a workflow that is gone)", |workflow| &workflow.name);
            match segment.item {
                Some(item) => Cow::Owned(format!("{name} [{}]", item + 1)),
                None => Cow::Borrowed(name),
            }
        });
        let name = names.next();
        let text = result_text(result.summary, result.outputs, lines);
        let phase = (names.collect(), Shown { name: result.name, text, has_outputs: result.outputs.is_some() });
        match groups.iter().position(|group| group.path == outer && group.name == name) {
            // The newest result of a group decides its position.
            Some(index) => {
                let mut group = groups.remove(index);
                group.phases.push(phase);
                groups.push(group);
            }
            None => groups.push(Group { path: outer, name, phases: vec![phase] }),
        }
    }
    groups
}

fn scope_names(scopes: &[Cow<str>]) -> String {
    scopes.iter().map(|scope| format!("{scope} > ")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definition::fixtures::library;
    use crate::run::{Active, Leaving, advance};

    fn hand_over(state: RunState, library: &Library, text: &str) -> RunState {
        let phase = Active::resolve(&state, library).unwrap().phase.clone();
        let state = state.with_summary(&phase, text);
        advance(&state, library).0.moved_from(&state, Leaving::Done, 0)
    }

    #[test]
    fn nested_phases_are_one_group_for_their_parent() {
        let library = library(&[("r", &["a", "@s", "z"]), ("s", &["b", "@t", "c"]), ("t", &["a"])]);
        let mut state = RunState::new("r", "", 0, 0).begun(0);
        let mut seen = Vec::new();
        for text in ["one", "two", "three", "four"] {
            seen.push(results(&state, &library).unwrap_or_default());
            state = hand_over(state, &library, text);
        }
        assert_eq!(
            seen,
            [
                "",
                "**Results so far:**\n\n### 🔹 A\none",
                "**Results so far:**\n\n### 🔹 A\none\n\n### 🔹 B\ntwo",
                "**Results so far:**\n\n### 🔹 A\none\n\n### 🔹 B\ntwo\n\n### The t\n\n#### 🔹 A\nthree",
            ]
        );
        assert_eq!(
            results(&state, &library).unwrap(),
            "**Results so far:**\n\n### 🔹 A\none\n\n### The s\n\n#### 🔹 B\ntwo\n\n#### The t > 🔹 A\nthree\n\n#### 🔹 C\nfour"
        );
        assert_eq!(
            lines(&state, &library),
            ["- 🔹 A: one", "- The s", "  - 🔹 B: two", "  - The t > 🔹 A: three", "  - 🔹 C: four"]
        );
        let summary = |id| state.summaries_of(id, &library).first().map(|summary| &*summary.text);
        let summaries = ["a", "c", "s", "t", "x", "r"].map(summary);
        let expected = [Some("one"), Some("four"), Some("four"), Some("three"), None, None];
        assert_eq!((summaries, previous(&state)), (expected, Some("four")));
    }

    #[test]
    fn the_oldest_are_shortened_first() {
        let library = library(&[("r", &["a", "b", "c", "d", "e", "f"])]);
        let mut state = RunState::new("r", "", 0, 0).begun(0);
        for text in ["1", "2", "3", "4", "5"] {
            state = hand_over(state, &library, &text.repeat(4000));
        }
        let text = results(&state, &library).unwrap();
        assert!(text.starts_with("**Results so far:**\n\n(2 earlier not shown)\n\n### 🔹 C\n3"));
        assert!(text.contains("3… (cut)\n\n### 🔹 D\n4") && text.ends_with(&"5".repeat(4000)));
        let head = "**Results so far:**\n\n(2 earlier not shown)\n\n".chars().count();
        let length = text.chars().count() - head;
        assert!((11_900..=MAX_RESULTS).contains(&length), "{length}");
    }
}
