//! Runs the fuzz targets (`fuzz/`) on their corpora, with stable Rust.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::fs;
use std::path::Path;

#[path = "../fuzz/src/lib.rs"]
mod targets;

#[track_caller]
fn replay(target: &str, check: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus").join(target);
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    assert!(files.len() >= 3, "{files:?}");
    for file in files {
        let data = fs::read(&file).unwrap();
        // Truncated files are additional inputs.
        let ends = [data.len(), data.len() / 2, data.len() / 3];
        for end in ends {
            let outcome = std::panic::catch_unwind(|| check(&data[..end]));
            assert!(outcome.is_ok(), "the first {end} bytes of {}", file.display());
        }
    }
}

#[test]
fn definitions() {
    replay("definitions", targets::definitions::check);
}

#[test]
fn front_matter() {
    replay("front_matter", targets::front_matter::check);
}

#[test]
fn templates() {
    replay("templates", targets::templates::check);
}

#[test]
fn stored_state() {
    replay("stored_state", targets::stored_state::check);
    // Newer entries that name no workflow, before the one that does.
    let state = r#"{"active":true,"workflowKey":"flat","currentPath":[{"workflowKey":"flat","phaseIndex":0}],"globalStepCount":0,"taskId":"t","taskDescription":"d","startedAt":5}"#;
    targets::stored_state::check(("{}\n".repeat(12_000) + state).as_bytes());
}

#[test]
fn events() {
    replay("events", targets::events::check);
}
