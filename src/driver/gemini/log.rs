//! What the lines of Gemini's chat log mean. Where the log is, and which of its lines are new, is not known here.
//!
//! | line | claim |
//! |---|---|
//! | `user` with a text | a turn began, with its text |
//! | `user` with a tool's result | nothing |
//! | `error` that ends a turn | the turn ended in an error |
//! | `info`, `Request cancelled.` | the turn is over |
//! | any other | nothing: a line of the model's comes after each of its calls, the last or not |
//!
//! After a cancelled turn the whole conversation is written once more, from its context on to a `$set` of all messages,
//! with new times: that is no news.

use serde_json::Value;

use super::trouble;
use crate::driver::agent::Tier;
use crate::driver::evidence::{Claim, Fact, Finding};
use crate::driver::stamp;
use crate::driver::usage::{Spent, Tokens};

/// What the first message of a conversation begins with, which nobody typed.
const CONTEXT: &str = "<session_context>";
const CANCELLED: &str = "Request cancelled.";

#[derive(Debug, Default)]
pub(super) struct Log {
    /// The lines are those of before.
    repeating: bool,
}

impl Log {
    /// A turn began, by another source: whatever is written from now on is new.
    pub(super) fn turn_began(&mut self) {
        self.repeating = false;
    }

    pub(super) fn read(&mut self, line: &Value) -> Vec<Finding> {
        let kind = line["type"].as_str();
        let text = text(&line["content"]);
        if line.pointer("/$set/messages").is_some_and(Value::is_array) {
            self.repeating = false;
        } else if kind == Some("user") && text.as_ref().is_some_and(|text| text.starts_with(CONTEXT)) {
            self.repeating = true;
        }
        if self.repeating {
            return Vec::new();
        }
        let text = text.unwrap_or_default();
        let told = match kind {
            Some("user") if !text.is_empty() => {
                Some(("log:user", Claim::TurnStarted { text: Some(text.clone()) }))
            }
            Some("error") if trouble::ends_a_turn(&text) => {
                Some(("log:error", Claim::Failed(trouble::from_text(&text))))
            }
            Some("info") if text == CANCELLED => Some(("log:cancelled", Claim::TurnEnded)),
            Some("gemini") => {
                let message = Some(text).filter(|text| !text.is_empty()).map(Fact::Message);
                return [spent(line), message].into_iter().flatten().map(Finding::Fact).collect();
            }
            _ => None,
        };
        let at = line["timestamp"].as_str().and_then(stamp::epoch_ms);
        let finding = |(cause, claim)| Finding::new(Tier::SessionLog, cause, claim, &text).at(at);
        told.map(finding).into_iter().collect()
    }
}

/// What an answer of the model's has used. It is written again when its tools are done.
fn spent(line: &Value) -> Option<Fact> {
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
    Some(Fact::Spent(Spent::Message { id, tokens }))
}

/// The text of a message, whose content is a text or a list of parts; what a tool answered is none.
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
        json!({ "type": "user", "content": [{ "text": text }], "timestamp": "2026-11-15T23:32:42.116Z" })
    }

    #[test]
    fn what_is_written_once_more_is_no_news() {
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
    fn a_turn_that_another_source_tells_of_ends_the_repetition() {
        let mut log = Log::default();
        log.read(&user("<session_context>"));
        log.turn_began();
        assert_eq!(log.read(&user("new")).len(), 1);
    }
}
