//! What a hook writes into the pipe and coop reads from it: one JSON object a line, and the files beside the pipe.
//! Both ends know it from here; neither knows more of the other.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

/// The longest line that is read.
pub(super) const LINE_LIMIT: usize = 1 << 20;
/// The longest value that is kept of a payload that is too long as a whole.
const SHORT: usize = 4096;
/// Set in a payload that was shortened.
const SHORTENED: &str = "coop_shortened";

/// The pipe's name in the session's directory.
pub(super) const PIPE: &str = "hooks.pipe";
/// How the names of the pipes begin that waiting hooks are answered through.
pub(super) const REPLY: &str = "reply-";

/// The file that whoever writes into the pipe holds a lock on: long lines would mix otherwise.
pub(super) fn lock(pipe: &Path) -> PathBuf {
    beside(pipe, ".lock")
}

/// The file that has one byte for each call that was dropped.
pub(super) fn dropped(pipe: &Path) -> PathBuf {
    beside(pipe, ".dropped")
}

fn beside(pipe: &Path, ending: &str) -> PathBuf {
    let mut name = pipe.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

/// One call.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Line {
    pub(super) nonce: String,
    pub(super) event: String,
    /// The agent's process, as the hook sees it.
    pub(super) pid: i32,
    pub(super) payload: Value,
    /// The name of the pipe, in the session's directory, where the hook waits for an answer.
    pub(super) reply: Option<String>,
}

impl Line {
    /// The line in bytes. It begins with a line end of its own: whoever wrote before may have died within a line.
    pub(super) fn encode(self) -> Vec<u8> {
        let mut fields = Map::new();
        fields.insert("nonce".to_owned(), self.nonce.into());
        fields.insert("event".to_owned(), self.event.into());
        fields.insert("pid".to_owned(), self.pid.into());
        fields.insert("payload".to_owned(), self.payload);
        if let Some(reply) = self.reply {
            fields.insert("reply".to_owned(), reply.into());
        }
        format!("\n{}\n", Value::Object(fields)).into_bytes()
    }

    pub(super) fn decode(line: Value) -> Option<Self> {
        let Value::Object(mut fields) = line else { return None };
        let mut text = |name: &str| match fields.remove(name) {
            Some(Value::String(text)) => Some(text),
            Some(_) | None => None,
        };
        let (nonce, event, reply) = (text("nonce")?, text("event")?, text("reply"));
        let pid = fields.get("pid").and_then(Value::as_i64).and_then(|pid| i32::try_from(pid).ok())?;
        let payload = fields.remove("payload")?;
        Some(Self { nonce, event, pid, payload, reply })
    }
}

/// The payload with nothing but its short values, and a note that it is not whole.
pub(super) fn shorten(payload: Value) -> Value {
    let mut fields = match payload {
        Value::Object(fields) => fields,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => Map::new(),
    };
    fields.retain(|name, value| name.len() <= SHORT && value.to_string().len() <= SHORT);
    fields.insert(SHORTENED.to_owned(), true.into());
    Value::Object(fields)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::source::json_lines::JsonLines;

    fn line(payload: Value, reply: Option<&str>) -> Line {
        let (nonce, event) = ("n".to_owned(), "Stop".to_owned());
        Line { nonce, event, pid: 7, payload, reply: reply.map(str::to_owned) }
    }

    #[test]
    fn both_ends_agree() {
        for line in [line(json!({"text": "a\nb\u{1b}"}), None), line(Value::Null, Some("reply-1-0"))] {
            let read = JsonLines::new(LINE_LIMIT).push(&line.clone().encode());
            assert_eq!(read.into_iter().map(Line::decode).collect::<Vec<_>>(), [Some(line)]);
        }
    }

    #[test]
    fn a_line_after_a_torn_one_is_read() {
        let mut bytes = line(json!({"text": "torn"}), None).encode();
        bytes.truncate(bytes.len() - 4);
        bytes.extend(line(Value::Null, None).encode());
        let read = JsonLines::new(LINE_LIMIT).push(&bytes);
        assert_eq!(read.into_iter().map(Line::decode).collect::<Vec<_>>(), [Some(line(Value::Null, None))]);
    }

    #[test]
    fn other_values_are_no_calls() {
        let whole = json!({"nonce": "n", "event": "e", "pid": 1, "payload": null});
        assert!(Line::decode(whole.clone()).is_some());
        assert_eq!(Line::decode(json!([])), None);
        for (name, value) in [("nonce", json!(1)), ("event", json!(null)), ("pid", json!(1_u64 << 40))] {
            let mut spoilt = whole.clone();
            spoilt[name] = value;
            assert_eq!(Line::decode(spoilt), None, "{name}");
        }
    }

    #[test]
    fn what_is_short_survives() {
        let long = "x".repeat(SHORT);
        let payload = json!({"session_id": "s", "tool_input": {"content": long}, "n": 1});
        assert_eq!(shorten(payload), json!({"session_id": "s", "n": 1, "coop_shortened": true}));
        assert_eq!(shorten(json!([long])), json!({"coop_shortened": true}));
    }
}
