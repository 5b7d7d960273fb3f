//! The user's own messages in a session. Prompts that this package sends in the user's place are recognised by a mark.

use serde_json::{Value, json};

use crate::definition::{Stale, UserMessage};
use crate::protocol::{BRANCH_ENTRY_TYPE, PROMPT_ENTRY_TYPE};
use crate::sorted::Set;

use super::context::Cx;
use super::state::fingerprint;

/// Field of the entry that marks a prompt.
const FINGERPRINT: &str = "fingerprint";
/// Maximum number of characters of a prompt that its fingerprint is made of: the host cuts long texts.
const MAX_PROMPT: usize = 16_384;

/// The user's own messages since the run began, newest first.
pub(super) fn users_own(task_id: &str, cx: &Cx) -> Result<Vec<UserMessage>, Stale> {
    let mut messages = cx.host.user_messages(task_id)?;
    if !messages.is_empty() {
        let marks = cx.host.entries(PROMPT_ENTRY_TYPE)?;
        let mark = |data: &String| -> Option<String> {
            let data: Value = serde_json::from_str(data).ok()?;
            Some(data.get(FINGERPRINT)?.as_str()?.to_owned())
        };
        let marks: Set<String> = marks.iter().filter_map(mark).collect();
        messages.retain(|message| !marks.contains(&prompt_fingerprint(&message.text)));
    }
    let given = given_messages(cx)?.into_iter();
    messages.extend(given.map(|text| UserMessage { id: String::new(), text, images: 0 }));
    Ok(messages)
}

/// The messages of the user that the run of this branch was given at its beginning, newest first.
fn given_messages(cx: &Cx) -> Result<Vec<String>, Stale> {
    let given = cx.host.entries(BRANCH_ENTRY_TYPE)?;
    let given: Option<Value> = given.last().and_then(|data| serde_json::from_str(data).ok());
    let messages = given.as_ref().and_then(|given| given.get("messages")?.as_array());
    let texts = messages.into_iter().flatten().filter_map(Value::as_str);
    Ok(texts.map(ToOwned::to_owned).collect())
}

/// Returns the data of the entry that marks a prompt.
pub(super) fn prompt_mark(text: &str) -> Value {
    json!({ FINGERPRINT: prompt_fingerprint(text) })
}

/// Returns the fingerprint by which a prompt is recognised in the session. The host removes control characters, cuts
/// long texts and may trim them.
fn prompt_fingerprint(text: &str) -> String {
    let visible = text.chars().filter(|char| !char.is_control() && !char.is_whitespace());
    fingerprint(&visible.take(MAX_PROMPT).collect::<String>())
}
