//! The schema of `workflow_step` beside the rules of the programs that models are reached by.

use super::*;
use crate::engine::STEP_TOOL;

/// A rule: its author, its words, a test if a tool keeps the rule, and a change of a tool that breaks it.
type Rule = (&'static str, &'static str, fn(&Value) -> bool, (&'static str, Value));

/// The keywords that all programs know.
const KEYWORDS: [&str; 7] = ["type", "description", "enum", "items", "properties", "required", "additionalProperties"];

fn rules() -> Vec<Rule> {
    let object = |keys: Value| json!({ "type": "object", "properties": keys });
    vec![
        (
            "OpenAI, Anthropic, Bedrock, Mistral",
            "a name has 1 to 64 letters, digits, `_` and `-`",
            has_name,
            ("/name", json!("a b")),
        ),
        ("Gemini", "a name begins with a letter or `_`", begins_with_letter, ("/name", json!("-a"))),
        ("Bedrock", "a description is not empty", is_described, ("/description", json!(""))),
        ("OpenAI", "a description has at most 1,024 characters", is_short, ("/description", json!("x".repeat(1025)))),
        ("all", "the parameters are an object", is_object, ("/parameters/type", json!("string"))),
        ("OpenAI, Anthropic", "no union at the top", has_no_union, ("/parameters/oneOf", json!([]))),
        (
            "Bedrock (Nova)",
            "at the top only type, properties and required",
            is_plain,
            ("/parameters/description", json!("x")),
        ),
        ("Gemini", "there are properties", has_properties, ("/parameters/properties", json!({}))),
        (
            "Gemini, Ollama",
            "a type is one name",
            has_one_type,
            ("/parameters/properties/summary/type", json!(["string", "null"])),
        ),
        (
            "Gemini, Anthropic, llama.cpp",
            "only keywords that all know, and no references",
            has_known_keywords,
            ("/parameters/properties/summary/$ref", json!("#/x")),
        ),
        (
            "Gemini, Ollama",
            "only texts that are not empty are enumerated",
            has_texts,
            ("/parameters/properties/action/enum", json!(["a", 1])),
        ),
        ("Gemini", "what is required is a property", has_required, ("/parameters/required", json!(["none"]))),
        (
            "Gemini",
            "only an object has properties",
            only_objects_have,
            ("/parameters/properties/summary/properties", json!({})),
        ),
        (
            "OpenAI, Gemini",
            "a list has items",
            lists_have_items,
            ("/parameters/properties/summary", json!({ "type": "array" })),
        ),
        (
            "Gemini, llama.cpp",
            "an object names its properties, or takes any",
            objects_are_open,
            ("/parameters/properties/outputs", json!({ "type": "object" })),
        ),
        (
            "Anthropic",
            "a property has 1 to 64 letters, digits, `_`, `.` and `-`",
            has_property_names,
            ("/parameters", object(json!({ "a b": { "type": "string" } }))),
        ),
        (
            "llama.cpp, llguidance",
            "required properties come first: grammars force the order",
            required_first,
            ("/parameters/required", json!(["action", "outcome"])),
        ),
    ]
}

/// A schema and all in it.
fn nodes(schema: &Value) -> Vec<&Value> {
    let inner = schema["properties"].as_object().into_iter().flat_map(serde_json::Map::values);
    let more = ["items", "additionalProperties"].into_iter().map(|key| &schema[key]).filter(|value| value.is_object());
    std::iter::once(schema).chain(inner.chain(more).flat_map(nodes)).collect()
}

fn all(tool: &Value, holds: impl Fn(&Value) -> bool) -> bool {
    nodes(&tool["parameters"]).into_iter().all(holds)
}

fn texts(list: &Value) -> Vec<&str> {
    list.as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

fn properties(schema: &Value) -> Vec<&String> {
    schema["properties"].as_object().into_iter().flat_map(serde_json::Map::keys).collect()
}

fn is_name(name: &str, more: &str) -> bool {
    (1..=64).contains(&name.len()) && name.chars().all(|c| c.is_ascii_alphanumeric() || more.contains(c))
}

fn has_name(tool: &Value) -> bool {
    tool["name"].as_str().is_some_and(|name| is_name(name, "_-"))
}

fn begins_with_letter(tool: &Value) -> bool {
    tool["name"].as_str().is_some_and(|name| name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_'))
}

fn is_described(tool: &Value) -> bool {
    tool["description"].as_str().is_some_and(|text| !text.is_empty())
}

fn is_short(tool: &Value) -> bool {
    let is_short = |schema: &Value| schema["description"].as_str().is_none_or(|text| text.chars().count() <= 1024);
    is_short(tool) && all(tool, is_short)
}

fn is_object(tool: &Value) -> bool {
    tool["parameters"]["type"] == "object"
}

fn has_no_union(tool: &Value) -> bool {
    ["oneOf", "anyOf", "allOf", "not", "enum"].iter().all(|key| tool["parameters"].get(key).is_none())
}

fn is_plain(tool: &Value) -> bool {
    tool["parameters"].as_object().unwrap().keys().all(|key| ["type", "properties", "required"].contains(&key.as_str()))
}

fn has_properties(tool: &Value) -> bool {
    !properties(&tool["parameters"]).is_empty()
}

fn has_one_type(tool: &Value) -> bool {
    let types = ["object", "array", "string", "number", "integer", "boolean"];
    all(tool, |schema| schema["type"].as_str().is_some_and(|name| types.contains(&name)))
}

fn has_known_keywords(tool: &Value) -> bool {
    all(tool, |schema| schema.as_object().unwrap().keys().all(|key| KEYWORDS.contains(&key.as_str())))
}

fn has_texts(tool: &Value) -> bool {
    all(tool, |schema| match schema["enum"].as_array() {
        Some(values) => {
            schema["type"] == "string" && values.iter().all(|value| value.as_str().is_some_and(|s| !s.is_empty()))
        }
        None => true,
    })
}

fn has_required(tool: &Value) -> bool {
    all(tool, |schema| texts(&schema["required"]).iter().all(|name| schema["properties"].get(name).is_some()))
}

fn only_objects_have(tool: &Value) -> bool {
    all(tool, |schema| {
        schema["type"] == "object" || schema.get("properties").is_none() && schema.get("required").is_none()
    })
}

fn lists_have_items(tool: &Value) -> bool {
    all(tool, |schema| schema["type"] != "array" || schema["items"].is_object())
}

fn objects_are_open(tool: &Value) -> bool {
    all(tool, |schema| {
        schema["type"] != "object" || !properties(schema).is_empty() || schema["additionalProperties"] == true
    })
}

fn has_property_names(tool: &Value) -> bool {
    all(tool, |schema| properties(schema).iter().all(|name| is_name(name, "_.-")))
}

fn required_first(tool: &Value) -> bool {
    all(tool, |schema| {
        let required = texts(&schema["required"]);
        properties(schema).iter().take(required.len()).all(|name| required.contains(&name.as_str()))
    })
}

#[test]
fn the_tool_keeps_the_rules_of_all_providers() {
    let tool = json!({
        "name": STEP_TOOL.name,
        "description": STEP_TOOL.description,
        "parameters": STEP_TOOL.parameters(),
    });
    for (provider, rule, holds, (place, value)) in rules() {
        assert!(holds(&tool), "{provider}: {rule}");
        let mut broken = tool.clone();
        let (parent, key) = place.rsplit_once('/').unwrap();
        broken.pointer_mut(parent).unwrap()[key] = value;
        assert!(!holds(&broken), "a tool that breaks it: {provider}: {rule}");
    }
}
