//! What the lines of Claude's session log mean. Where the log is, and which of its lines are new, is not known here.
//!
//! | line | claim |
//! |---|---|
//! | `user`, written by somebody | a turn began, with its text |
//! | `user`, a tool's result, a command's echo or Claude's own note | nothing |
//! | `user`, `[Request interrupted…` | the turn is over |
//! | `assistant` with `tool_use` | a turn runs |
//! | `assistant` with `isApiErrorMessage` | the turn ended in an error |
//! | `system/turn_duration` | the turn is over |
//! | any other, and every line of a subagent's | nothing |
//!
//! A text of the assistant's is no end of a turn: the tool that it is about to use has a line of its own.

use serde_json::Value;

use super::{ask, trouble};
use crate::driver::agent::Tier;
use crate::driver::evidence::{Claim, Fact, Finding};
use crate::driver::stamp;
use crate::driver::usage::{Spent, Tokens};

/// What the lines begin with that Claude writes for commands which it runs itself, without a turn.
const ECHOES: [&str; 7] = [
    "<command-name>",
    "<command-message>",
    "<local-command-",
    "<bash-input>",
    "<bash-stdout>",
    "<bash-stderr>",
    "Caveat: ",
];

/// The model of what Claude says itself.
const SYNTHETIC: &str = "<synthetic>";

pub(super) fn read(line: &Value) -> Vec<Finding> {
    let aside = ["isSidechain", "isMeta", "isCompactSummary", "isVisibleInTranscriptOnly"];
    if aside.iter().any(|flag| line[flag] == true) {
        return Vec::new();
    }
    let content = content(line);
    let mut findings = Vec::new();
    let told = match (line["type"].as_str(), line["subtype"].as_str()) {
        (Some("user"), _) => user(line, content),
        (Some("assistant"), _) if line["isApiErrorMessage"] == true => {
            let text = text(content).unwrap_or_default();
            let failed = trouble::in_fields(line, "apiErrorStatus", &text);
            Some(("log:api_error", trouble::claim(failed), text))
        }
        (Some("assistant"), _) => {
            findings.extend(spent(&line["message"]).map(Finding::Fact));
            findings.extend(tools(content));
            let said = if synthetic(line) { None } else { text(content) };
            findings.extend(said.map(|said| Finding::Fact(Fact::Message(said))));
            used(content).next().map(|(tool, _)| ("log:tool_use", Claim::Working, tool.to_owned()))
        }
        (Some("system"), Some("turn_duration")) => {
            Some(("log:turn_duration", Claim::TurnEnded, "turn_duration".to_owned()))
        }
        _ => None,
    };
    if let Some((cause, claim, seen)) = told {
        let at = line["timestamp"].as_str().and_then(stamp::epoch_ms);
        findings.push(Finding::new(Tier::SessionLog, cause, claim, &seen).at(at));
    }
    findings
}

fn user(line: &Value, content: &Value) -> Option<(&'static str, Claim, String)> {
    if blocks(content, "tool_result").next().is_some() {
        return None;
    }
    let text = text(content)?;
    // Today's Claude says where a prompt came from; before that, only the words tell.
    let written = line["promptSource"].is_string();
    if !written && text.starts_with("[Request interrupted") {
        return Some(("log:interrupted", Claim::TurnEnded, text));
    }
    if !written && ECHOES.iter().any(|echo| text.starts_with(echo)) {
        return None;
    }
    Some(("log:user", Claim::TurnStarted { text: Some(text.clone()) }, text))
}

/// What a message of the model's has used. Each of its parts has a line, which says so again.
fn spent(message: &Value) -> Option<Fact> {
    let used = message["usage"].as_object()?;
    let count = |key: &str| used.get(key).and_then(Value::as_u64).unwrap_or_default();
    let tokens = Tokens {
        input: count("input_tokens"),
        output: count("output_tokens"),
        cache_read: count("cache_read_input_tokens"),
        cache_write: count("cache_creation_input_tokens"),
    };
    let id = message["id"].as_str()?.to_owned();
    Some(Fact::Spent(Spent::Message { id, tokens })).filter(|_| message["model"] != SYNTHETIC)
}

/// What a line's message consists of.
pub(super) fn content(line: &Value) -> &Value {
    line.pointer("/message/content").unwrap_or(&Value::Null)
}

/// Claude wrote this line itself; no model said it.
pub(super) fn synthetic(line: &Value) -> bool {
    line.pointer("/message/model").is_some_and(|model| model == SYNTHETIC)
}

/// The text of a message, whose content is a text or a list of blocks.
pub(super) fn text(content: &Value) -> Option<String> {
    let text = match content.as_str() {
        Some(text) => text.to_owned(),
        None => {
            let texts = blocks(content, "text").filter_map(|block| block["text"].as_str());
            texts.collect::<Vec<_>>().join("\n")
        }
    };
    Some(text).filter(|text| !text.trim().is_empty())
}

/// The tools that a message uses.
pub(super) fn tools(content: &Value) -> impl Iterator<Item = Finding> {
    used(content).map(|(tool, input)| Finding::tool_use(ask::of(tool, input)))
}

fn used(content: &Value) -> impl Iterator<Item = (&str, &Value)> {
    blocks(content, "tool_use").filter_map(|block| Some((block["name"].as_str()?, &block["input"])))
}

fn blocks<'a>(content: &'a Value, kind: &'static str) -> impl Iterator<Item = &'a Value> {
    content.as_array().into_iter().flatten().filter(move |block| block["type"] == kind)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::driver::recorded;

    fn claims(line: &Value) -> Vec<Claim> {
        recorded::claims(read(line))
    }

    fn began(text: &str) -> Claim {
        Claim::TurnStarted { text: Some(text.to_owned()) }
    }

    #[test]
    fn text_is_joined_from_blocks() {
        let line = json!({"type": "user", "message": {"content": [
            {"type": "text", "text": "look"}, {"type": "image"}, {"type": "text", "text": "at this"},
        ]}});
        assert_eq!(claims(&line), [began("look\nat this")]);
    }

    #[test]
    fn an_echo_is_no_turn_unless_somebody_really_wrote_it() {
        let echo = json!({"type": "user", "message": {"content": "<command-name>/compact</command-name>"}});
        assert_eq!(claims(&echo), []);
        let written = json!({
            "type": "user", "promptSource": "typed", "message": {"content": "<command-name>x"},
        });
        assert_eq!(claims(&written), [began("<command-name>x")]);
        let quoted = json!({
            "type": "user", "promptSource": "typed", "message": {"content": "[Request interrupted by user]"},
        });
        assert_eq!(claims(&quoted), [began("[Request interrupted by user]")]);
    }

    #[test]
    fn a_comment_on_a_tool_does_not_begin_a_turn() {
        let line = json!({"type": "user", "message": {"content": [
            {"type": "tool_result", "content": "ok"}, {"type": "text", "text": "and then the other"},
        ]}});
        assert_eq!(read(&line), []);
    }
}
