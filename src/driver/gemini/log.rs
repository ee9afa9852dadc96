//! Reads the lines of Gemini's chat log. It does not know where the log is or which lines are new.
//!
//! | line | claim |
//! |---|---|
//! | `user` with a text | a turn began, with its text |
//! | `user` with a tool's result | nothing |
//! | `error` that ends a turn | the turn ended in an error |
//! | `info`, `Request cancelled.` | the turn is over |
//! | any other | nothing: the model's line follows each of its responses, not only the last |
//!
//! After a cancelled turn Gemini writes the whole conversation again with new times, from its
//! context to a `$set` of all messages. These lines are skipped.

use serde_json::Value;

use super::api_error;
use crate::driver::agent::Tier;
use crate::driver::evidence::{Claim, Fact, Finding};
use crate::driver::usage::{Tokens, UsageReport};
use crate::timestamp;

/// The start of the first message of a conversation, which Gemini writes itself.
const CONTEXT: &str = "<session_context>";
const CANCELLED: &str = "Request cancelled.";

#[derive(Debug, Default)]
pub(super) struct Log {
    /// Whether the current lines repeat earlier ones.
    repeating: bool,
}

impl Log {
    /// Another source reports that a turn began: all further lines are new.
    pub(super) fn turn_began(&mut self) {
        self.repeating = false;
    }

    pub(super) fn read(&mut self, line: &Value) -> Vec<Finding> {
        let kind = line["type"].as_str();
        let text = text(&line["content"]);
        if line.pointer("/$set/messages").is_some_and(Value::is_array) {
            self.repeating = false;
        } else if kind == Some("user")
            && text.as_ref().is_some_and(|text| text.starts_with(CONTEXT))
        {
            self.repeating = true;
        }
        if self.repeating {
            return Vec::new();
        }
        let text = text.unwrap_or_default();
        let found = match kind {
            Some("user") if !text.is_empty() => {
                Some(("log:user", Claim::TurnStarted { text: Some(text.clone()) }))
            }
            Some("error") if api_error::ends_a_turn(&text) => {
                Some(("log:error", Claim::Failed(api_error::from_text(&text))))
            }
            Some("info") if text == CANCELLED => Some(("log:cancelled", Claim::TurnEnded)),
            Some("gemini") => {
                let message = Some(text).filter(|text| !text.is_empty()).map(Fact::Message);
                return [usage(line), message].into_iter().flatten().map(Finding::Fact).collect();
            }
            _ => None,
        };
        let at = line["timestamp"].as_str().and_then(timestamp::parse);
        let finding = |(cause, claim)| Finding::new(Tier::SessionLog, cause, claim, &text).at(at);
        found.map(finding).into_iter().collect()
    }
}

/// The tokens of one response of the model. Its line is repeated when its tools are done.
fn usage(line: &Value) -> Option<Fact> {
    let used = line["tokens"].as_object()?;
    let count = |key: &str| used.get(key).and_then(Value::as_u64).unwrap_or_default();
    let cache_read = count("cached");
    let tokens = Tokens {
        input: count("input").saturating_sub(cache_read).saturating_add(count("tool")),
        output: count("output").saturating_add(count("thoughts")),
        cache_read,
        cache_write: 0,
    };
    let id = line["id"].as_str()?.to_owned();
    Some(Fact::Usage(UsageReport::Message { id, tokens }))
}

/// The text of a message, whose content is a string or a list of parts. A tool's result has no
/// text.
fn text(content: &Value) -> Option<String> {
    let text = match content.as_str() {
        Some(text) => text.to_owned(),
        None => {
            let parts = content.as_array()?.iter().filter_map(|part| part["text"].as_str());
            parts.collect::<Vec<_>>().join("\n")
        }
    };
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn user(text: &str) -> Value {
        let timestamp = "2026-11-15T23:32:42.116Z";
        json!({ "type": "user", "content": [{ "text": text }], "timestamp": timestamp })
    }

    #[test]
    fn repeated_lines_are_skipped() {
        let mut log = Log::default();
        assert_eq!(log.read(&user("first")).len(), 1);
        assert_eq!(log.read(&user("<session_context> of the folder")), []);
        assert_eq!(log.read(&user("first")), []);
        assert_eq!(log.read(&json!({ "type": "info", "content": "Request cancelled." })), []);
        assert_eq!(log.read(&json!({ "$set": { "lastUpdated": "now" } })), []);
        assert_eq!(log.read(&user("first")), [], "only all messages at once end it");
        log.read(&json!({ "$set": { "messages": [] } }));
        assert_eq!(log.read(&user("second")).len(), 1);
    }

    #[test]
    fn a_turn_from_another_source_ends_the_repetition() {
        let mut log = Log::default();
        log.read(&user("<session_context>"));
        log.turn_began();
        assert_eq!(log.read(&user("new")).len(), 1);
    }
}
