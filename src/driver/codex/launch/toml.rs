//! Converts JSON values to TOML on one line, as Codex's `-c` takes them.

use serde_json::Value;

/// A JSON value in TOML, or `None` if it contains a null, which TOML does not have.
pub(super) fn inline(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::Bool(value) => Some(value.to_string()),
        Value::Number(value) => Some(value.to_string()),
        Value::String(text) => Some(string(text)),
        Value::Array(values) => {
            let values: Option<Vec<_>> = values.iter().map(inline).collect();
            Some(format!("[{}]", values?.join(",")))
        }
        Value::Object(members) => {
            let member = |(key, value): (&String, &Value)| {
                Some(format!("{}={}", string(key), inline(value)?))
            };
            let members: Option<Vec<_>> = members.iter().map(member).collect();
            Some(format!("{{{}}}", members?.join(",")))
        }
    }
}

/// TOML escapes the same characters as JSON, and one more.
pub(super) fn string(text: &str) -> String {
    Value::from(text).to_string().replace('\u{7f}', "\\u007f")
}
