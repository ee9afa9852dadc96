//! Reads the lines of Claude's session log. It does not know where the log is or which lines are
//! new.
//!
//! | line | claim |
//! |---|---|
//! | `user`, a prompt | a turn began, with its text |
//! | `user`, a tool's result, a command's echo or a note by Claude | nothing |
//! | `user`, `[Request interrupted…` | the turn is over |
//! | `assistant` with `tool_use` | a turn runs |
//! | `assistant` with `isApiErrorMessage` | the turn ended in an error |
//! | `system/turn_duration` | the turn is over |
//! | any other, and every line of a subagent | nothing |
//!
//! A text of the assistant does not end the turn: the tool that follows it has its own line.

use serde_json::Value;

use super::{api_error, ask};
use crate::driver::agent::Tier;
use crate::driver::evidence::{Claim, Fact, Finding};
use crate::driver::usage::{Tokens, UsageReport};
use crate::timestamp;

/// How the lines start that Claude writes for commands which it runs itself, without a turn.
const ECHOES: [&str; 7] = [
    "<command-name>",
    "<command-message>",
    "<local-command-",
    "<bash-input>",
    "<bash-stdout>",
    "<bash-stderr>",
    "Caveat: ",
];

/// The model name in messages that Claude writes itself.
const SYNTHETIC: &str = "<synthetic>";

pub(super) fn read(line: &Value) -> Vec<Finding> {
    let ignored_flags = ["isSidechain", "isMeta", "isCompactSummary", "isVisibleInTranscriptOnly"];
    if ignored_flags.iter().any(|flag| line[flag] == true) {
        return Vec::new();
    }
    let content = content(line);
    let mut findings = Vec::new();
    let found = match (line["type"].as_str(), line["subtype"].as_str()) {
        (Some("user"), _) => user(line, content),
        (Some("assistant"), _) if line["isApiErrorMessage"] == true => {
            let text = text(content).unwrap_or_default();
            let failed = api_error::in_fields(line, "apiErrorStatus", &text);
            Some(("log:api_error", api_error::claim(failed), text))
        }
        (Some("assistant"), _) => {
            findings.extend(usage(&line["message"]).map(Finding::Fact));
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
    if let Some((cause, claim, seen)) = found {
        let at = line["timestamp"].as_str().and_then(timestamp::parse);
        findings.push(Finding::new(Tier::SessionLog, cause, claim, &seen).at(at));
    }
    findings
}

fn user(line: &Value, content: &Value) -> Option<(&'static str, Claim, String)> {
    if blocks(content, "tool_result").next().is_some() {
        return None;
    }
    let text = text(content)?;
    // Current versions record where a prompt came from; for older ones only the text shows it.
    let written = line["promptSource"].is_string();
    if !written && text.starts_with("[Request interrupted") {
        return Some(("log:interrupted", Claim::TurnEnded, text));
    }
    if !written && ECHOES.iter().any(|echo| text.starts_with(echo)) {
        return None;
    }
    Some(("log:user", Claim::TurnStarted { text: Some(text.clone()) }, text))
}

/// The tokens of one message of the model. Every part of the message has a line, and each repeats
/// them.
fn usage(message: &Value) -> Option<Fact> {
    let used = message["usage"].as_object()?;
    let count = |key: &str| used.get(key).and_then(Value::as_u64).unwrap_or_default();
    let tokens = Tokens {
        input: count("input_tokens"),
        output: count("output_tokens"),
        cache_read: count("cache_read_input_tokens"),
        cache_write: count("cache_creation_input_tokens"),
    };
    let id = message["id"].as_str()?.to_owned();
    Some(Fact::Usage(UsageReport::Message { id, tokens })).filter(|_| message["model"] != SYNTHETIC)
}

/// The content of a line's message.
pub(super) fn content(line: &Value) -> &Value {
    line.pointer("/message/content").unwrap_or(&Value::Null)
}

/// Whether Claude, not the model, wrote this line.
pub(super) fn synthetic(line: &Value) -> bool {
    line.pointer("/message/model").is_some_and(|model| model == SYNTHETIC)
}

/// The text of a message; its content is a string or a list of blocks.
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

/// The tool uses in a message.
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
    use crate::driver::testing::recordings;

    fn claims(line: &Value) -> Vec<Claim> {
        recordings::claims(read(line))
    }

    fn began(text: &str) -> Claim {
        Claim::TurnStarted { text: Some(text.to_owned()) }
    }

    #[test]
    fn text_is_joined_from_blocks() {
        let line = json!({"type": "user", "message": {"content": [
            {"type": "text", "text": "look"}, {"type": "image"},
            {"type": "text", "text": "at this"},
        ]}});
        assert_eq!(claims(&line), [began("look\nat this")]);
    }

    #[test]
    fn an_echo_starts_no_turn_unless_the_user_typed_it() {
        let content = "<command-name>/compact</command-name>";
        let echo = json!({"type": "user", "message": {"content": content}});
        assert_eq!(claims(&echo), []);
        let written = json!({
            "type": "user", "promptSource": "typed", "message": {"content": "<command-name>x"},
        });
        assert_eq!(claims(&written), [began("<command-name>x")]);
        let quoted = json!({
            "type": "user", "promptSource": "typed",
            "message": {"content": "[Request interrupted by user]"},
        });
        assert_eq!(claims(&quoted), [began("[Request interrupted by user]")]);
    }

    #[test]
    fn a_comment_on_a_tool_starts_no_turn() {
        let line = json!({"type": "user", "message": {"content": [
            {"type": "tool_result", "content": "ok"},
            {"type": "text", "text": "and then the other"},
        ]}});
        assert_eq!(read(&line), []);
    }
}
