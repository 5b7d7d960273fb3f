//! Phase files with any content.

use pi_workflows::definition::{Diagnostic, Entry, Library, Phase};
use pi_workflows::text;

use super::definitions::is_plain;
use super::folder::Folder;

const WORKFLOW: &[u8] = b"name: W\ncommandName: w\ninitialMessage: go\nphases: [p.md]\n";

fn load(phase: &[u8]) -> (Option<Phase>, Vec<Diagnostic>) {
    let folder = Folder::default().with("global/w/workflow.yaml", WORKFLOW).with("global/w/p.md", phase);
    let (library, diagnostics) = Library::check(&folder).expect("nothing is stale");
    let phase = library.get("w").and_then(|workflow| workflow.phases.first().and_then(Entry::as_phase).cloned());
    (phase, diagnostics)
}

/// # Panics
///
/// If a property is violated.
pub fn check(data: &[u8]) {
    let (phase, diagnostics) = load(data);
    assert!(phase.is_some() || !diagnostics.is_empty(), "left out without a word");
    let lines = 1 + String::from_utf8_lossy(data).replace("\r\n", "\n").matches(['\n', '\r']).count();
    for diagnostic in &diagnostics {
        is_plain(&text::diagnostic_text(diagnostic));
        if let Some(place) = diagnostic.place.filter(|_| diagnostic.file.ends_with("p.md")) {
            assert!(place.line >= 1 && place.column >= 1, "{diagnostic:?}");
            assert!(place.line <= lines, "{diagnostic:?} in {lines} lines");
        }
    }
    // The fast reader of YAML does not know comments that are indented; the parser does.
    let text = String::from_utf8_lossy(data);
    if let Some(rest) = text.strip_prefix("---\n")
        && let Some((yaml, rest)) = rest.split_once("\n---")
        && !yaml.contains(['|', '>', '\r'])
    {
        let commented = format!("---\n{yaml}\n # x\n---{rest}");
        assert_eq!(load(commented.as_bytes()).0, phase, "the two readers of YAML differ");
    }
    let Some(phase) = phase else { return };
    // The instructions are the unchanged end of the file.
    let text = String::from_utf8_lossy(data).replace("\r\n", "\n").replace('\r', "\n");
    let text = text.trim_end_matches(|c: char| c == '\u{feff}' || (c.is_whitespace() && c != '\u{85}'));
    assert!(text.ends_with(&phase.instructions), "{:?}", phase.instructions);
    // Line endings make no difference.
    if !data.contains(&b'\r') {
        let dos = String::from_utf8_lossy(data).replace('\n', "\r\n");
        assert_eq!(load(dos.as_bytes()).0.as_ref(), Some(&phase));
    }
}
