//! The JSON Schemas in `schemas/`, but that of tasks, are generated from the field tables of the parser.
//!
//!     UPDATE_SCHEMAS=1 cargo test --test schemas
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

use std::path::Path;

use pi_workflows::definition::schema::{
    Field, GROUP_FIELDS, Kind, MAX_CONDITIONS, MAX_INPUTS, MAX_OPTIONS, MAX_OUTCOMES, MAX_OUTPUTS, METADATA,
    SETTINGS_FIELDS,
};
use pi_workflows::definition::{Phase, WayBound, Workflow};
use pi_workflows::watch::{EVENTS, EXIT, EventField, EventKind, Given, HEAD, Sums};
use serde_json::{Map, Value, json};

#[test]
fn the_schema_of_workflow_yaml_is_up_to_date() {
    is_up_to_date("workflow.json", "A workflow of pi-workflows (workflow.yaml)", top(Workflow::FIELDS));
}

#[test]
fn the_schema_of_phase_files_is_up_to_date() {
    let title = "The front matter of a phase file of pi-workflows";
    is_up_to_date("phase.json", title, top(Phase::FIELDS));
}

#[test]
fn the_schema_of_settings_is_up_to_date() {
    is_up_to_date("settings.json", "The user's settings of pi-workflows (settings.yaml)", top(&SETTINGS_FIELDS));
}

#[test]
fn the_schema_of_events_is_up_to_date() {
    let sums = Sums::FIELDS.iter().map(|(name, about)| {
        let kind = if *name == "cost" { "number" } else { "integer" };
        ((*name).to_owned(), json!({ "type": kind, "minimum": 0, "description": about }))
    });
    let names = Sums::FIELDS.map(|(name, _)| name);
    let sums = json!({ "type": "object", "required": names, "properties": sums.collect::<Map<String, Value>>() });
    let mut schema = Map::new();
    schema.insert("definitions".into(), json!({ "usage": sums }));
    schema.insert("oneOf".into(), EVENTS.iter().chain([&EXIT]).map(event).collect());
    is_up_to_date("event.json", "A line of pi-workflows run --events", schema);
}

/// A line with this event. Later versions may have more fields.
fn event(EventKind { name, about, fields }: &EventKind) -> Value {
    let field = |field: &EventField| {
        let kind = match field.json {
            "" => json!({}),
            "usage" => json!({ "$ref": "#/definitions/usage" }),
            name => json!({ "type": name }),
        };
        let described = json!({ "description": field.about });
        let value = if kind.get("$ref").is_some() { json!({ "allOf": [kind] }) } else { kind };
        let both = [described, value].into_iter().flat_map(|of| of.as_object().cloned().unwrap());
        (field.name.to_owned(), Value::Object(both.collect()))
    };
    let head = if *name == EXIT.name { &HEAD[..1] } else { HEAD };
    let mut properties: Map<String, Value> = head.iter().chain(*fields).map(field).collect();
    properties.insert("type".into(), json!({ "const": name }));
    let required = head.iter().chain(*fields).filter(|field| field.given == Given::Always).map(|field| field.name);
    let required: Vec<&str> = required.chain(["type"]).collect();
    json!({ "type": "object", "description": about.trim(), "required": required, "properties": properties })
}

#[track_caller]
fn is_up_to_date(file: &str, title: &str, schema: Map<String, Value>) {
    let mut all = Map::new();
    all.insert("$schema".into(), "http://json-schema.org/draft-07/schema#".into());
    all.insert("title".into(), title.into());
    all.extend(schema);
    let text = serde_json::to_string_pretty(&all).unwrap() + "\n";
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("schemas").join(file);
    if std::env::var_os("UPDATE_SCHEMAS").is_some() {
        return std::fs::write(&path, &text).unwrap();
    }
    let there = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(there, text, "run UPDATE_SCHEMAS=1 cargo test --test schemas");
}

/// A file with these fields, and with data at its top.
fn top(fields: &[Field]) -> Map<String, Value> {
    let mut schema = object(fields);
    schema.insert("patternProperties".into(), json!({ data(): true }));
    schema
}

fn data() -> String {
    format!("^(x-.*|({})s?)$", METADATA.replace(' ', "|"))
}

#[test]
fn the_schema_of_tasks_has_the_same_data() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("schemas/task.json");
    let schema: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    assert_eq!(schema["patternProperties"], json!({ data(): true }));
}

fn object(fields: &[Field]) -> Map<String, Value> {
    let properties: Map<String, Value> = fields.iter().map(|field| (field.name.to_owned(), property(field))).collect();
    let mut object = Map::new();
    object.insert("type".into(), "object".into());
    let required: Vec<&str> = fields.iter().filter(|field| field.is_required).map(|field| field.name).collect();
    if !required.is_empty() {
        object.insert("required".into(), required.into());
    }
    object.insert("properties".into(), properties.into());
    object.insert("additionalProperties".into(), false.into());
    let beside = |field: &Field| match field.name {
        "gateAttempts" => Some((field.name.to_owned(), json!(["gate"]))),
        "onBudget" => Some((field.name.to_owned(), json!(["budget"]))),
        _ => None,
    };
    let beside: Map<String, Value> = fields.iter().filter_map(beside).collect();
    if !beside.is_empty() {
        object.insert("dependencies".into(), beside.into());
    }
    object
}

/// Requires these fields. They are declared as properties too, as strict validators demand.
fn requires(names: &[&str]) -> Value {
    let known = names.iter().map(|name| ((*name).to_owned(), true.into()));
    json!({ "required": names, "properties": known.collect::<Map<String, Value>>() })
}

/// A value of one of these kinds. Strict validators allow a list under `type` only to add null.
fn one_of(kinds: &[Value]) -> Value {
    json!({ "anyOf": kinds })
}

/// The pattern of the name of an input, an output or an outcome.
const NAME: &str = "^[A-Za-z0-9_-]{1,60}$";

/// The name of an input that gives a bound.
fn input() -> Value {
    json!({ "type": "string", "pattern": "^(input\\.[A-Za-z0-9_-]+|\\{input\\.[A-Za-z0-9_-]+\\})$" })
}

/// An outcome that is a mapping.
fn way() -> Value {
    json!({
        "type": "object",
        "required": ["to"],
        "properties": {
            "to": scalar(),
            "max": one_of(&[json!({ "type": "integer", "minimum": 1, "maximum": WayBound::LIMIT }), input()]),
            "then": scalar(),
        },
        "dependencies": {
            "then": ["max"],
            "max": { "properties": { "to": { "not": { "enum": ["done", "stop"] } } } },
        },
        "additionalProperties": false,
    })
}

/// A text, a number or a boolean.
fn scalar() -> Value {
    one_of(&["string", "number", "boolean"].map(|kind| json!({ "type": kind })))
}

/// A scalar, or a list of scalars.
fn literal() -> Value {
    one_of(&[scalar(), json!({ "type": "array", "items": scalar() })])
}

fn property(field: &Field) -> Value {
    let mut about = field.about.to_owned();
    if let Kind::Template(variables) = field.kind {
        about.push_str(&format!(" Variables: {{{}}}.", variables.join("}, {")));
    }
    let mut property = Map::new();
    property.insert("description".into(), about.clone().into());
    if !field.default.is_empty() {
        match serde_json::from_str::<Value>(field.default) {
            Ok(default) => property.insert("default".into(), default),
            Err(_) if matches!(field.kind, Kind::OneOf(_)) => property.insert("default".into(), field.default.into()),
            Err(_) => {
                let about = format!("{about} Default: {}.", field.default);
                property.insert("description".into(), about.into())
            }
        };
    }
    let Value::Object(kind) = kind(field) else { panic!("a kind is an object") };
    property.extend(kind);
    property.into()
}

fn kind(field: &Field) -> Value {
    let may_be_empty = !field.is_required && field.may_be_empty();
    let type_of = |name: &str| if may_be_empty { json!([name, "null"]) } else { json!(name) };
    match field.kind {
        Kind::Template(_) | Kind::FreeText if may_be_empty => {
            json!({ "type": type_of("string"), "pattern": "^$|\\S" })
        }
        // A target: the id of an entry may look like a number.
        Kind::Text if field.name == "onBudget" => one_of(&[
            json!({ "type": "string", "pattern": "\\S" }),
            json!({ "type": "number" }),
            json!({ "type": "boolean" }),
        ]),
        Kind::Text | Kind::Template(_) | Kind::FreeText => {
            json!({ "type": type_of("string"), "pattern": "\\S" })
        }
        Kind::Line(most) => {
            json!({ "type": "string", "maxLength": most, "pattern": "^\\s*[^\\x00-\\x1f\\x7f-\\x9f]*[^\\s\\x00-\\x1f\\x7f-\\x9f]\\s*$" })
        }
        Kind::CommandName => json!({ "type": type_of("string"), "pattern": "^[A-Za-z0-9_-]+$" }),
        Kind::OneOf(words) => {
            json!({ "enum": words })
        }
        Kind::Bool => json!({ "type": type_of("boolean") }),
        Kind::Decimal => json!({ "type": "number" }),
        Kind::Literal => literal(),
        Kind::Number => json!({ "type": type_of("number"), "minimum": 0 }),
        Kind::Names | Kind::Options => json!({ "type": type_of("array"), "items": scalar() }),
        Kind::Tools => {
            let text = json!({ "type": "string", "pattern": "^([A-Za-z0-9_.:/-]+|[A-Za-z0-9_.:/-]*[A-Za-z][A-Za-z0-9_.:/-]*\\*)$" });
            let name = one_of(&[text, json!({ "type": "number" }), json!({ "type": "boolean" })]);
            json!({ "type": "array", "items": name })
        }
        Kind::NameOrNames => {
            let name = json!({ "type": "string", "pattern": "\\S" });
            let names = json!({ "type": "array", "minItems": 1, "items": name });
            one_of(&[name, names])
        }
        Kind::Paths(most) => {
            let path = json!({ "type": "string", "pattern": "^\\S([\\s\\S]*\\S)?$" });
            json!({ "type": "array", "maxItems": most, "items": path })
        }
        Kind::Aliases => {
            let name = json!({ "type": "string", "pattern": "\\S/|/\\S" });
            let names = json!({ "type": "array", "items": name });
            let models = one_of(&[json!({ "type": "null" }), name, names]);
            json!({ "type": "object", "propertyNames": { "pattern": "^[^/]*[^/\\s][^/]*$" }, "additionalProperties": models })
        }
        Kind::Program(fields) => {
            let program = json!({ "type": "array", "minItems": 1, "items": scalar() });
            let mut mapping = object(fields);
            mapping["properties"]["program"]["minItems"] = 1.into();
            one_of(&[program, mapping.into()])
        }
        Kind::Count(most) => {
            json!({ "type": type_of("integer"), "minimum": 1, "maximum": most })
        }
        Kind::Inputs(fields) | Kind::Outputs(fields) => {
            let most = if matches!(field.kind, Kind::Inputs(_)) { MAX_INPUTS } else { MAX_OUTPUTS };
            let mut input = object(fields);
            let options = json!({ "type": "array", "minItems": 1, "maxItems": MAX_OPTIONS });
            input.extend([
                ("if".into(), json!({ "required": ["type"], "properties": { "type": { "const": "choice" } } })),
                ("then".into(), json!({ "required": ["options"], "properties": { "options": options } })),
                ("else".into(), json!({ "properties": { "options": false } })),
            ]);
            if fields.iter().any(|field| field.name == "default") {
                input.insert(
                    "allOf".into(),
                    json!([{
                        "if": { "required": ["type"], "properties": { "type": { "const": "list" } } },
                        "else": { "properties": { "default": scalar() } },
                    }]),
                );
            }
            json!({
                "type": type_of("object"),
                "minProperties": 1,
                "maxProperties": most,
                "propertyNames": { "pattern": NAME },
                "additionalProperties": input,
            })
        }
        Kind::OrInput(inner) => one_of(&[kind(&Field { kind: *inner, ..*field }), input()]),
        Kind::Dollars(most) => {
            json!({ "type": "number", "minimum": 0.000_001, "maximum": most })
        }
        Kind::Duration(_) => one_of(&[
            json!({ "type": "string", "pattern": "^\\s*(\\d+\\s*[A-Za-z]+\\s*)+$" }),
            json!({ "type": "number", "exclusiveMinimum": 0, "maximum": 86400 }),
        ]),
        Kind::Checks(fields) => {
            let mut check = object(fields);
            let kinds = ["run", "file"];
            let one = kinds.map(|name| requires(&[name]));
            check.insert("oneOf".into(), json!(one));
            let of = json!({ "timeout": ["run"], "env": ["run"], "contains": ["file"] });
            check.insert("dependencies".into(), of);
            json!({ "type": type_of("array"), "minItems": 1, "maxItems": 50, "items": check })
        }
        Kind::Outcomes => json!({
            "type": type_of("object"),
            "minProperties": 1,
            "maxProperties": MAX_OUTCOMES,
            "propertyNames": { "pattern": NAME },
            "additionalProperties": { "anyOf": [scalar(), way()] },
        }),
        Kind::WordOrNames(words) => one_of(&[
            json!({ "type": "string", "enum": words }),
            json!({ "type": "array", "minItems": 1, "items": scalar() }),
        ]),
        Kind::Conditions => json!({
            "type": type_of("object"),
            "minProperties": 1,
            "maxProperties": MAX_CONDITIONS,
            "propertyNames": { "pattern": "^(given|(input|output|outcome|item)\\..+)$" },
            "additionalProperties": one_of(&[
                scalar(),
                json!({ "type": "array", "minItems": 1, "maxItems": MAX_OPTIONS, "items": scalar() }),
            ]),
        }),
        Kind::Variables => json!({
            "type": type_of("object"),
            "minProperties": 1,
            "maxProperties": 50,
            "propertyNames": { "pattern": "^[a-z_][a-z0-9_]*$", "maxLength": 60 },
            "additionalProperties": { "type": "string", "pattern": "^(task$|(input|output|outcome|summary)\\.)" },
        }),
        Kind::Handed => json!({
            "type": type_of("object"),
            "minProperties": 1,
            "maxProperties": MAX_OUTPUTS,
            "propertyNames": { "pattern": NAME },
            "additionalProperties": { "type": "string", "pattern": "^output\\..+\\..+$" },
        }),
        Kind::Values => {
            json!({ "type": "object", "minProperties": 1, "additionalProperties": literal() })
        }
        Kind::Phases(most, fields) => {
            let entry = |name: &str| {
                let mut entry = object(fields);
                let of_group = GROUP_FIELDS.into_iter().filter(|field| *field != "phases");
                let of_group = of_group.map(|field| (field, "phases"));
                let kinds = ["phase", "subworkflow", "prompt", "run", "ask", "phases"].into_iter();
                let others = kinds.filter(|other| *other != name);
                let fields = [("with", "subworkflow"), ("timeout", "run"), ("env", "run"), ("outputs", "run")];
                let of_others = fields.into_iter().chain(of_group);
                let of_others = of_others.filter(|(_, of)| *of != name).map(|(field, _)| field);
                for other in others.chain(of_others) {
                    entry["properties"].as_object_mut().unwrap().remove(other);
                }
                if name == "prompt" {
                    let mut phase = object(Phase::FIELDS);
                    let own = phase["properties"].as_object_mut().unwrap();
                    // The `id` has another default here.
                    own.remove("id");
                    entry["properties"].as_object_mut().unwrap().append(own);
                    entry.insert("dependencies".into(), phase["dependencies"].take());
                }
                if name == "ask" {
                    let mut answer = way();
                    answer["properties"]["name"] = json!({ "type": "string", "pattern": "\\S" });
                    answer["properties"]["when"] = entry["properties"]["when"].clone();
                    answer["properties"]["text"] = json!({ "enum": ["required", "optional"] });
                    entry["properties"]["outcomes"]["additionalProperties"]["anyOf"][1] = answer;
                }
                let required = if name == "ask" { json!([name, "outcomes"]) } else { json!([name]) };
                entry.insert("required".into(), required);
                entry
            };
            let file = json!({ "type": "string", "description": "The path of a phase file." });
            json!({
                "type": "array",
                "minItems": 1,
                "maxItems": most,
                "items": {
                    "oneOf": [
                        file,
                        entry("phase"),
                        entry("subworkflow"),
                        entry("prompt"),
                        entry("run"),
                        entry("ask"),
                        entry("phases"),
                    ],
                },
            })
        }
        Kind::AtOnce(limit) => json!({ "oneOf": [
            { "type": "boolean" },
            { "type": "integer", "minimum": 1, "maximum": limit },
        ] }),
        Kind::WordOrCount(word, limit) => json!({ "oneOf": [
            { "const": word },
            { "type": "integer", "minimum": 1, "maximum": limit },
        ] }),
        Kind::Items => json!({ "oneOf": [
            { "type": "string", "pattern": "^(input|output)\\." },
            {
                "type": "array",
                "minItems": 1,
                "maxItems": 100,
                "items": { "anyOf": [
                    { "type": "string", "minLength": 1, "maxLength": 1000 },
                    { "type": "number" },
                    { "type": "boolean" },
                ] },
            },
        ] }),
        Kind::Group(most) => json!({
            "type": "array",
            "minItems": 1,
            "maxItems": most,
            "items": { "$ref": "#/properties/phases/items" },
        }),
        Kind::Mapping { fields, one } => {
            let mut mapping = object(fields);
            mapping.insert("minProperties".into(), 1.into());
            if one {
                mapping.insert("maxProperties".into(), 1.into());
            }
            mapping.into()
        }
    }
}
