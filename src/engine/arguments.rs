//! The arguments of a call of `workflow_step` or `workflow_propose` in another spelling, as models give them, before pi checks them.

use serde_json::{Map, Value};

use crate::definition::trim;

/// Returns the arguments in the spelling of the tool's schema. Arguments with any other meaning stay as they are, and
/// are refused.
pub fn prepared(input: Value) -> Value {
    let Some(mut fields) = object(&input) else { return input };
    for (name, value) in &mut fields {
        match &**name {
            "action" => *value = text(value).map_or_else(|| value.take(), |text| trim(&text).to_lowercase().into()),
            "outcome" => *value = text(value).map_or_else(|| value.take(), |text| trim(&text).into()),
            "summary" => *value = text(value).map_or_else(|| value.take(), Value::from),
            "outputs" | "inputs" => *value = object(value).map_or_else(|| value.take(), Value::Object),
            _ => {}
        }
    }
    // Models pass `null` for an omitted field.
    fields.retain(|_, value| !value.is_null());
    Value::Object(fields)
}

/// An object, also if it is given as JSON text.
fn object(value: &Value) -> Option<Map<String, Value>> {
    match value {
        Value::Object(fields) => Some(fields.clone()),
        Value::String(text) => serde_json::from_str(text).ok(),
        _ => None,
    }
}

/// A text, also if it is given as a list of paragraphs.
fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Array(parts) => {
            let parts: Option<Vec<&str>> = parts.iter().map(Value::as_str).collect();
            parts.filter(|parts| !parts.is_empty()).map(|parts| parts.join("\n"))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_right_in_another_spelling_is_taken() {
        let right = json!({ "action": "next", "summary": "a", "outcome": "clean", "outputs": { "size": "small" } });
        for other in [
            right.clone(),
            right.to_string().into(),
            json!({ "action": "Next", "summary": ["a"], "outcome": ["clean"], "outputs": "{\"size\":\"small\"}" }),
            json!({ "action": "next ", "summary": "a", "outcome": " clean", "outputs": { "size": "small" } }),
            json!({ "action": ["NEXT"], "summary": "a", "outcome": "clean", "outputs": { "size": "small" }, "x": null }),
        ] {
            assert_eq!(prepared(other.clone()), right, "{other}");
        }
        assert_eq!(prepared(json!({ "action": "next", "summary": ["a", "b"] }))["summary"], "a\nb");
        for wrong in [
            json!(null),
            json!([]),
            json!("next"),
            json!({ "action": 1, "outputs": [1], "summary": [], "outcome": ["a", 1] }),
            json!({ "action": "forward", "outputs": "size: small" }),
        ] {
            assert_eq!(prepared(wrong.clone()), wrong);
        }
    }
}
