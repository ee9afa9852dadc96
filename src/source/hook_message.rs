//! The protocol between `coop hook` and coop, and that of the hook pipe: one JSON object a line.
//! Both ends use this module, and neither knows more of the other.
//!
//! `coop hook` connects to the session's hook socket and sends one line. coop sends [`TAKEN`] back
//! once the call is in its queue, then its answer if the hook waits for one, and closes the
//! connection. Without [`TAKEN`], coop has ignored the call.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

/// The longest line that is read.
pub(super) const LINE_LIMIT: usize = 1 << 20;
/// The longest value that stays in a shortened payload.
const SHORT_VALUE: usize = 4096;
/// The field that marks a shortened payload.
const SHORTENED: &str = "coop_shortened";

/// coop has the call.
pub(super) const TAKEN: u8 = b'\n';

/// The pipe's name in the session's directory.
pub(super) const PIPE: &str = "hooks.pipe";

/// The socket that `coop hook` connects to, beside the pipe. Its name is as long as that of the
/// session's own socket: where that fits, this fits.
pub(super) fn socket(pipe: &Path) -> PathBuf {
    pipe.with_file_name("hook.sock")
}

/// The file with one byte for each call that was dropped.
pub(super) fn dropped_file(pipe: &Path) -> PathBuf {
    let mut name = pipe.as_os_str().to_owned();
    name.push(".dropped");
    name.into()
}

/// One call of a hook.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct HookMessage {
    pub(super) nonce: String,
    pub(super) event: String,
    pub(super) payload: Value,
    /// The hook waits for an answer.
    pub(super) waits: bool,
}

impl HookMessage {
    /// Returns the line in bytes.
    pub(super) fn encode(self) -> Vec<u8> {
        let mut fields = Map::new();
        fields.insert("nonce".to_owned(), self.nonce.into());
        fields.insert("event".to_owned(), self.event.into());
        fields.insert("payload".to_owned(), self.payload);
        if self.waits {
            fields.insert("waits".to_owned(), true.into());
        }
        format!("{}\n", Value::Object(fields)).into_bytes()
    }

    /// Decodes a line. Foreign hooks may call the payload `data`.
    pub(super) fn decode(line: Value) -> Option<Self> {
        let Value::Object(mut fields) = line else { return None };
        let mut text = |name: &str| match fields.remove(name) {
            Some(Value::String(text)) => Some(text),
            Some(_) | None => None,
        };
        let (nonce, event) = (text("nonce")?, text("event")?);
        let waits = fields.get("waits") == Some(&Value::Bool(true));
        let payload = fields.remove("payload").or_else(|| fields.remove("data"))?;
        Some(Self { nonce, event, payload, waits })
    }
}

/// The event as agents spell it: foreign hooks write `pre_tool_use` for `PreToolUse`.
pub(super) fn agent_spelling(event: &str) -> String {
    if !event.chars().all(|c| c.is_ascii_lowercase() || c == '_') {
        return event.to_owned();
    }
    let capitalised = |word: &str| {
        let (first, rest) = word.split_at(word.len().min(1));
        format!("{}{rest}", first.to_ascii_uppercase())
    };
    event.split('_').map(capitalised).collect()
}
/// Returns the payload with its short values only, and marks it as shortened.
pub(super) fn shorten(payload: Value) -> Value {
    let mut fields = match payload {
        Value::Object(fields) => fields,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            Map::new()
        }
    };
    fields
        .retain(|name, value| name.len() <= SHORT_VALUE && value.to_string().len() <= SHORT_VALUE);
    fields.insert(SHORTENED.to_owned(), true.into());
    Value::Object(fields)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::source::json_lines::JsonLines;

    fn message(payload: Value, waits: bool) -> HookMessage {
        HookMessage { nonce: "n".to_owned(), event: "Stop".to_owned(), payload, waits }
    }

    #[test]
    fn an_encoded_message_decodes_to_itself() {
        for message in [message(json!({"text": "a\nb\u{1b}"}), false), message(Value::Null, true)] {
            let read = JsonLines::new(LINE_LIMIT).push(&message.clone().encode());
            assert_eq!(
                read.into_iter().map(HookMessage::decode).collect::<Vec<_>>(),
                [Some(message)]
            );
        }
    }

    #[test]
    fn other_values_are_not_messages() {
        let whole = json!({"nonce": "n", "event": "e", "payload": null});
        assert!(HookMessage::decode(whole.clone()).is_some());
        assert_eq!(HookMessage::decode(json!([])), None);
        for (name, value) in [("nonce", json!(1)), ("event", json!(null))] {
            let mut wrong = whole.clone();
            wrong[name] = value;
            assert_eq!(HookMessage::decode(wrong), None, "{name}");
        }
    }

    #[test]
    fn a_foreign_line_may_have_other_names() {
        let line = json!({"nonce": "n", "event": "stop", "data": {"a": 1}, "pid": 7});
        let message = HookMessage::decode(line).expect("a call");
        assert_eq!((message.payload, message.waits), (json!({"a": 1}), false));
        for (written, meant) in [
            ("pre_tool_use", "PreToolUse"),
            ("stop", "Stop"),
            ("PostToolUse", "PostToolUse"),
            ("Stop_x", "Stop_x"),
            ("_", ""),
            ("", ""),
        ] {
            assert_eq!(agent_spelling(written), meant, "{written}");
        }
    }

    #[test]
    fn only_short_values_stay_in_a_shortened_payload() {
        let long = "x".repeat(SHORT_VALUE);
        let payload = json!({"session_id": "s", "tool_input": {"content": long}, "n": 1});
        assert_eq!(shorten(payload), json!({"session_id": "s", "n": 1, "coop_shortened": true}));
        assert_eq!(shorten(json!([long])), json!({"coop_shortened": true}));
    }
}
