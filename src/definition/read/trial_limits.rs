//! The limits of a trial of a comparison: those of the user, with more hidden paths.

use serde_json::{Map, Value};

use super::yaml::{self, Yaml};

/// Returns the text of a `limits.yaml` that says what another one says and hides more paths. `~` stands for `home` in
/// it: a trial has a home of its own.
///
/// # Errors
///
/// If the limits are not a mapping of YAML.
pub fn trial_limits(limits: Option<&str>, hide: &[String], home: &str) -> Result<String, String> {
    let mut all = Map::new();
    if let Some(text) = limits {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        match yaml::parse(text).map(|tree| value(&tree.root)) {
            Ok(Value::Object(fields)) => all = fields,
            _ => return Err("limits.yaml is not a mapping of YAML".to_owned()),
        }
    }
    for field in ["write", "hide"] {
        let Some(Value::Array(paths)) = all.get_mut(field) else { continue };
        for path in paths {
            let below = path.as_str().and_then(|text| text.strip_prefix("~/"));
            if let Some(below) = below {
                *path = format!("{home}/{below}").into();
            }
        }
    }
    if !hide.is_empty() {
        let hidden = all.entry("hide").or_insert_with(|| Value::Array(Vec::new()));
        let Value::Array(paths) = hidden else {
            return Err("`hide` in limits.yaml is not a list".to_owned());
        };
        paths.extend(hide.iter().cloned().map(Value::from));
    }
    // JSON is YAML.
    Ok(Value::Object(all).to_string())
}

fn value(yaml: &Yaml) -> Value {
    match yaml {
        Yaml::Null => Value::Null,
        Yaml::Bool(value) => (*value).into(),
        Yaml::Number(value) => (*value).into(),
        Yaml::String(text) => text.as_str().into(),
        Yaml::List(items) => items.iter().map(value).collect(),
        Yaml::Map(entries) => entries.iter().map(|(key, item)| (key.clone(), value(item))).collect(),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn more_is_hidden_and_all_else_stays() {
        let limits = "tools: { blacklist: [bash] }\nhide: [.env, ~/.aws/]\nwrite: [src/]\nnetwork: false\n";
        let wanted = r#"{"tools":{"blacklist":["bash"]},"hide":[".env","/home/u/.aws/","/evals/"],"write":["src/"],"network":false}"#;
        let found: Value =
            serde_json::from_str(&trial_limits(Some(limits), &["/evals/".to_owned()], "/home/u").unwrap()).unwrap();
        assert_eq!(found, serde_json::from_str::<Value>(wanted).unwrap());
        assert_eq!(trial_limits(None, &["/evals/".to_owned()], "/").unwrap(), r#"{"hide":["/evals/"]}"#);
    }

    #[test]
    fn limits_that_cannot_be_read_are_an_error() {
        for limits in ["[", "- a", "", "hide: .env"] {
            assert!(trial_limits(Some(limits), &["/evals/".to_owned()], "/").is_err(), "{limits}");
        }
    }
}
