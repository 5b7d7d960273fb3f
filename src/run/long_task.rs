//! Tasks that are too long to stand in every state entry of their run.

use std::rc::Rc;

use serde::{Serialize, Serializer};

use crate::definition::trim;

/// Maximum length of a task that a run stores with each state, in characters. Of a longer task each state has the
/// beginning; the whole task lies in the folder of the run and in an entry of its own.
pub const MAX_TASK: usize = 10_000;
/// Length of the beginning of a longer task, in characters.
const BEGINNING: usize = 4000;
/// Maximum length of any task, in bytes.
pub const MAX_WHOLE_TASK: usize = 1 << 20;
/// Name of the file with the whole task, in the folder of the run.
pub const TASK_FILE: &str = "task.md";

/// A task of which the run has only the beginning. The run stores the length of the task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LongTask {
    /// In characters.
    pub length: u32,
    /// The whole task; `None` if the session does not have it.
    text: Option<Rc<str>>,
}

impl LongTask {
    /// A task as a state entry stores it.
    pub fn stored(length: u32) -> Self {
        Self { length, text: None }
    }

    pub fn text(&self) -> Option<&str> {
        self.text.as_deref()
    }

    /// Sets the text if it is the whole task.
    pub fn set_text(&mut self, text: &str) {
        if length(text) == Some(self.length) {
            self.text = Some(text.into());
        }
    }
}

impl Serialize for LongTask {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u32(self.length)
    }
}

fn length(text: &str) -> Option<u32> {
    text.chars().count().try_into().ok()
}

/// Returns the part of a task that stands in every state entry of its run, and the whole task if that is longer.
pub(super) fn divided(task: &str) -> (String, Option<LongTask>) {
    let task = trim(task);
    if task.chars().nth(MAX_TASK).is_none() {
        return (task.to_owned(), None);
    }
    let beginning: String = task.chars().take(BEGINNING).collect();
    let length = length(task).unwrap_or(u32::MAX);
    (trim(&beginning).to_owned(), Some(LongTask { length, text: Some(task.into()) }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_beginning_of_a_long_task_is_stored_with_its_length() {
        for (task, beginning, length) in [
            ("a".repeat(MAX_TASK), MAX_TASK, None),
            (format!(" {}\n ", "é".repeat(MAX_TASK)), MAX_TASK, None),
            ("é".repeat(MAX_TASK + 1), BEGINNING, Some(10_001)),
            (format!("{} {}", "a".repeat(BEGINNING - 1), "b".repeat(MAX_TASK)), BEGINNING - 1, Some(14_000)),
        ] {
            let (stored, long) = divided(&task);
            assert_eq!((stored.chars().count(), long.as_ref().map(|long| long.length)), (beginning, length));
            assert_eq!(long.as_ref().and_then(LongTask::text), length.map(|_| trim(&task)));
        }
    }

    #[test]
    fn another_text_is_not_set() {
        let mut long = LongTask::stored(3);
        for text in ["", "ab", "abcd"] {
            long.set_text(text);
            assert_eq!(long.text(), None);
        }
        long.set_text("aéc");
        assert_eq!(long.text(), Some("aéc"));
    }
}
