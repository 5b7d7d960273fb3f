//! Records: items of a list that have fields with types. The text of a record is its JSON, on one line.

use serde_json::{Map, Number, Value};

use super::value_type::{MAX_RECORDS, Output, ValueType};
use super::words::short;

/// The names and values of the fields of a record, in the order in which the file lists the fields.
pub type Record = Map<String, Value>;

/// Maximum length of a found value in a reason, in characters.
const MAX_FOUND: usize = 80;

impl ValueType {
    /// Returns the value of this type that a value of JSON means.
    ///
    /// # Errors
    ///
    /// For a value that is not of the type; for a list of records with the item, the field and the reason in words.
    pub fn given(&self, given: &Value) -> Result<Value, Option<String>> {
        let text = match (self, given) {
            (Self::List { fields, min, max }, Value::Array(items)) if !fields.is_empty() => {
                if !(*min..=*max).contains(&items.len()) {
                    return Err(None);
                }
                let records: Result<Vec<Value>, String> =
                    (1..).zip(items).map(|(number, item)| record(fields, item, number)).collect();
                let records = records.map_err(Some)?;
                let length: usize = records.iter().map(|record| record.to_string().len()).sum();
                return if length <= MAX_RECORDS { Ok(Value::Array(records)) } else { Err(None) };
            }
            (Self::List { .. }, Value::Array(items)) => {
                let items: Option<Vec<&str>> = items.iter().map(Value::as_str).collect();
                let text = items.and_then(|items| self.list(&items)).ok_or(None)?;
                return Ok(text.lines().collect());
            }
            // Models give one value as a list, and a list as its JSON.
            (Self::List { .. }, Value::String(text)) => {
                let items = serde_json::from_str(text).ok().filter(Value::is_array).ok_or(None)?;
                return self.given(&items);
            }
            (_, Value::Array(items)) => match &items[..] {
                [item] if !item.is_array() => return self.given(item),
                _ => return Err(None),
            },
            // A text is no list: nothing says how to split it into items.
            (Self::List { .. }, _) | (_, Value::Null | Value::Object(_)) => return Err(None),
            (_, Value::String(text)) => self.value(text),
            (_, Value::Bool(_) | Value::Number(_)) => self.value(&given.to_string()),
        };
        let text = text.ok_or(None)?;
        Ok(match self {
            Self::Flag => Value::Bool(text == "true"),
            Self::Number(_) => {
                let written = serde_json::from_str(&text).ok();
                Value::Number(written.or_else(|| Number::from_f64(text.parse().ok()?)).ok_or(None)?)
            }
            Self::Text(_) | Self::Choice(_) | Self::Command | Self::List { .. } => Value::String(text),
        })
    }

    /// Returns the stored form of a list of records that a text means: a list of JSON, or one record on each line.
    pub(super) fn records(&self, text: &str) -> Option<String> {
        let lines = || text.lines().filter(|line| !line.trim().is_empty()).map(serde_json::from_str);
        let items = match serde_json::from_str::<Value>(text) {
            Ok(list @ Value::Array(_)) => list,
            Ok(_) | Err(_) => Value::Array(lines().collect::<Result<_, _>>().ok()?),
        };
        match self.given(&items).ok()? {
            Value::Array(records) => Some(records.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")),
            _ => None,
        }
    }

    /// Returns a sample of a record, for a preview.
    pub(super) fn sample_of_record(fields: &[Output], of_text: &dyn Fn(&str) -> String) -> String {
        let value = |field: &Output| {
            let text = match &field.kind {
                ValueType::Text(_) => of_text(&field.name),
                kind => kind.sample(&field.name),
            };
            let value = match &field.kind {
                ValueType::List { .. } => text.lines().collect(),
                kind => kind.given(&Value::String(text)).unwrap_or_default(),
            };
            (field.name.clone(), value)
        };
        Value::Object(fields.iter().map(value).collect()).to_string()
    }
}

/// Returns the record that a value of JSON means.
///
/// # Errors
///
/// The item, the field and the reason in words.
fn record(fields: &[Output], given: &Value, number: usize) -> Result<Value, String> {
    let Value::Object(given) = given else {
        return Err(format!("item {number} must be an object, found `{}`", short(&given.to_string(), MAX_FOUND)));
    };
    if let Some(name) = given.keys().find(|name| fields.iter().all(|field| field.name != **name)) {
        return Err(format!("item {number} has `{}`, which is no field", short(name, MAX_FOUND)));
    }
    let mut record = Record::new();
    for Output { name, kind, is_optional, .. } in fields {
        // Models pass `null` for an omitted field.
        let Some(value) = given.get(name).filter(|value| !value.is_null()) else {
            if *is_optional {
                continue;
            }
            return Err(format!("item {number} lacks `{name}`, {}", kind.expected()));
        };
        let Ok(value) = kind.given(value) else {
            let found = short(&value.to_string(), MAX_FOUND);
            return Err(format!("item {number}: `{name}` must be {}, found `{found}`", kind.expected()));
        };
        record.insert(name.clone(), value);
    }
    Ok(Value::Object(record))
}

/// Returns the record with this text; `None` for the text of no record.
pub fn record_of(text: &str) -> Option<Record> {
    match serde_json::from_str(text).ok()? {
        Value::Object(record) => Some(record),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn kind() -> ValueType {
        let field = |name: &str, kind, is_optional| Output {
            name: name.into(),
            kind,
            is_optional,
            max_items: None,
            description: None,
        };
        let fields = vec![
            field("title", ValueType::Text(12), false),
            field("files", ValueType::List { min: 0, max: 2, fields: vec![] }, true),
            field("size", ValueType::Choice(vec!["small".into(), "large".into()]), true),
            field("n", ValueType::Number(Default::default()), true),
            field("ok", ValueType::Flag, true),
        ];
        ValueType::List { min: 0, max: 3, fields }
    }

    #[test]
    fn records_keep_the_types_and_the_order_of_their_fields() {
        let given = json!([{ "ok": "true", "n": "2.5", "size": ["small"], "files": ["a", " b "], "title": " x " }, { "title": "y", "files": null }]);
        let records = kind().given(&given).unwrap();
        let text = r#"[{"title":"x","files":["a","b"],"size":"small","n":2.5,"ok":true},{"title":"y"}]"#;
        assert_eq!(records.to_string(), text);
        let lines =
            "{\"title\":\"x\",\"files\":[\"a\",\"b\"],\"size\":\"small\",\"n\":2.5,\"ok\":true}\n{\"title\":\"y\"}";
        for written in [text, lines, &format!("\n{lines}\n"), &text.replace(',', ",\n ")] {
            assert_eq!(kind().value(written).as_deref(), Some(lines), "{written}");
        }
        assert_eq!(kind().value(""), Some(String::new()));
        assert_eq!(kind().value(&kind().sample("x")), Some(kind().sample("x")));
        assert_eq!(record_of(lines.lines().last().unwrap()).unwrap()["title"], json!("y"));
        assert_eq!(record_of("[1]"), None);
    }

    #[test]
    fn hostile_values_are_refused_with_the_item_and_the_field() {
        let deep = "[".repeat(200) + &"]".repeat(200);
        for (given, why) in [
            (json!([{}]), "item 1 lacks `title`, a text of 1 to 12 characters"),
            (
                json!([{ "title": "a" }, { "title": "" }]),
                "item 2: `title` must be a text of 1 to 12 characters, found `\"\"`",
            ),
            (json!([{ "title": " \u{feff} " }]), "item 1: `title` must be"),
            (json!([{ "title": "x".repeat(13) }]), "item 1: `title` must be"),
            (json!([{ "title": {} }]), "item 1: `title` must be"),
            (json!([{ "title": [] }]), "item 1: `title` must be"),
            (json!([{ "title": ["a", "b"] }]), "item 1: `title` must be"),
            (json!([{ "title": [["a"]] }]), "item 1: `title` must be"),
            (json!([{ "title": null }]), "item 1 lacks `title`"),
            (json!([{ "Title": "a" }]), "item 1 has `Title`, which is no field"),
            (json!([{ "title": "a", "__proto__": {} }]), "item 1 has `__proto__`, which is no field"),
            (json!([{ "title": "a", "constructor": 1 }]), "item 1 has `constructor`"),
            (json!([{ "title": "a", "x".repeat(500): 1 }]), "item 1 has `xxx"),
            (json!([{ "title": "a", "files": "b" }]), "item 1: `files` must be a list"),
            (json!([{ "title": "a", "files": ["b\nc"] }]), "item 1: `files` must be"),
            (json!([{ "title": "a", "files": ["b", "c", "d"] }]), "item 1: `files` must be"),
            (json!([{ "title": "a", "files": [{}] }]), "item 1: `files` must be"),
            (json!([{ "title": "a", "files": { "0": "b" } }]), "item 1: `files` must be"),
            (
                json!([{ "title": "a", "size": "Small" }]),
                "item 1: `size` must be `small` or `large`, found `\"Small\"`",
            ),
            (json!([{ "title": "a", "size": 1 }]), "item 1: `size` must be"),
            (json!([{ "title": "a", "n": "NaN" }]), "item 1: `n` must be a number"),
            (json!([{ "title": "a", "n": "1e999" }]), "item 1: `n` must be"),
            (json!([{ "title": "a", "n": true }]), "item 1: `n` must be"),
            (json!([{ "title": "a", "ok": "yes" }]), "item 1: `ok` must be"),
            (json!([{ "title": "a", "ok": 0 }]), "item 1: `ok` must be"),
            (json!(["a"]), "item 1 must be an object, found `\"a\"`"),
            (json!([[]]), "item 1 must be an object"),
            (json!([null]), "item 1 must be an object"),
            (json!([{ "title": "a" }, 7]), "item 2 must be an object, found `7`"),
            (json!([deep]), "item 1 must be an object, found `\"[[["),
        ] {
            let wrong = kind().given(&given).unwrap_err();
            assert!(wrong.as_ref().is_some_and(|wrong| wrong.starts_with(why)), "{given}: {wrong:?}");
            assert_eq!(kind().value(&given.to_string()), None, "{given}");
        }
        let many = json!([{ "title": "a" }, { "title": "b" }, { "title": "c" }, { "title": "d" }]);
        for given in [many, json!({ "title": "a" }), json!("x"), json!(deep), json!(1), json!(null), json!(true)] {
            assert_eq!(kind().given(&given), Err(None), "{given}");
        }
        for text in [&*deep, "{", "[{\"title\":\"a\"}", "null", "7", "{\"title\":\"a\"}\nx", "title: a", "\u{0}"] {
            assert_eq!(kind().value(text), None, "{text}");
        }
    }
}
