//! Reads the lines of a rollout, Codex's session log. It does not know where the log is or which
//! lines are new.
//!
//! | line | claim |
//! |---|---|
//! | `event_msg/task_started` | a turn runs; it also says whether the turn may end in a plan |
//! | `event_msg/item_completed` `UserMessage` | a turn began, with its text |
//! | `event_msg/item_completed` `Plan` | nothing: the plan is kept until the turn is over |
//! | `response_item` `function_call`, `custom_tool_call` | a turn runs |
//! | `event_msg/task_complete` with `error` | the turn ended in an error |
//! | `event_msg/task_complete`, `event_msg/turn_aborted` | the turn ended, unless hooks report it |
//! | `token_usage_record` | nothing; it has the tokens of one response of the model |
//! | any other | nothing |
//!
//! The log does not show that a tool waits for permission.

use serde_json::{Value, json};

use super::api_error;
use super::ask;
use super::turn::Turn;
use crate::driver::agent::Tier;
use crate::driver::evidence::{Claim, Fact, Finding};
use crate::driver::usage::{Tokens, UsageReport};
use crate::timestamp;

pub(super) fn read(turn: &mut Turn, line: &Value) -> Vec<Finding> {
    let payload = &line["payload"];
    let mut findings = Vec::new();
    let found = match (line["type"].as_str(), payload["type"].as_str()) {
        (Some("session_meta"), _) => {
            findings.extend(conversation(payload).map(Finding::Fact));
            None
        }
        (Some("token_usage_record"), _) => {
            findings.extend(usage(payload).map(Finding::Fact));
            None
        }
        (Some("event_msg"), Some("task_started")) => {
            turn.begin();
            turn.plan_mode = payload["collaboration_mode_kind"] == "plan";
            Some(("log:task_started", Claim::Working, String::new()))
        }
        (Some("event_msg"), Some("item_completed")) => {
            let (fact, found) = item(turn, &payload["item"]);
            findings.extend(fact.map(Finding::Fact));
            found
        }
        (Some("event_msg"), Some("task_complete")) if payload["error"].is_object() => {
            let failed = api_error::of(&payload["error"]);
            turn.api_error = Some(failed.clone());
            let seen = failed.detail.clone();
            Some(("log:error", Claim::Failed(failed), seen))
        }
        (Some("event_msg"), Some("task_complete" | "turn_aborted")) if turn.end_is_reported() => {
            None
        }
        (Some("event_msg"), Some("task_complete")) => {
            Some(("log:task_complete", Claim::TurnEnded, String::new()))
        }
        (Some("event_msg"), Some("turn_aborted")) => {
            let seen = payload["reason"].as_str().unwrap_or_default().to_owned();
            Some(("log:turn_aborted", Claim::TurnEnded, seen))
        }
        (Some("response_item"), Some("function_call" | "custom_tool_call")) => {
            let (tool, input) = tool(payload);
            findings.push(Finding::tool_use(ask::of(&tool, &input)));
            Some(("log:tool_call", Claim::Working, tool))
        }
        _ => None,
    };
    if let Some((cause, claim, seen)) = found {
        let at = line["timestamp"].as_str().and_then(timestamp::parse);
        findings.push(Finding::new(Tier::SessionLog, cause, claim, &seen).at(at));
    }
    findings
}

fn conversation(meta: &Value) -> impl Iterator<Item = Fact> {
    let text = |key: &str| meta[key].as_str().map(str::to_owned);
    let id = text("id").map(|id| Fact::Conversation { id, transcript: None });
    [id, text("cwd").map(Fact::Cwd)].into_iter().flatten()
}

/// The tokens of one response. Codex's count of input tokens includes both cache counts.
fn usage(record: &Value) -> Option<Fact> {
    let used = record["usage"].as_object()?;
    let count = |key: &str| used.get(key).and_then(Value::as_u64).unwrap_or_default();
    let (cache_read, cache_write) =
        (count("cached_input_tokens"), count("cache_write_input_tokens"));
    let input = count("input_tokens").saturating_sub(cache_read).saturating_sub(cache_write);
    let tokens = Tokens { input, output: count("output_tokens"), cache_read, cache_write };
    let id = record["response_id"].as_str()?.to_owned();
    Some(Fact::Usage(UsageReport::Message { id, tokens }))
}

type Found = (&'static str, Claim, String);

fn item(turn: &mut Turn, item: &Value) -> (Option<Fact>, Option<Found>) {
    match item["type"].as_str() {
        Some("UserMessage") => {
            let said = texts(&item["content"]);
            let claim = Claim::TurnStarted { text: Some(said.clone()) };
            (None, Some(("log:user", claim, said)))
        }
        Some("AgentMessage") => (Some(Fact::Message(texts(&item["content"]))), None),
        Some("Plan") => {
            turn.plan = item["text"].as_str().map(str::to_owned);
            (None, None)
        }
        _ => (None, None),
    }
}

/// The tool and its input, under the names that hooks use.
fn tool(payload: &Value) -> (String, Value) {
    let name = payload["name"].as_str().unwrap_or_default();
    let arguments =
        payload["arguments"].as_str().and_then(|text| serde_json::from_str::<Value>(text).ok());
    match (name, arguments) {
        ("exec_command", Some(arguments)) => {
            let command = arguments.get("cmd").cloned().unwrap_or_default();
            let input = match arguments.get("justification") {
                Some(reason) => json!({ "command": command, "description": reason }),
                None => json!({ "command": command }),
            };
            (ask::SHELL.to_owned(), input)
        }
        (name, Some(arguments)) => (name.to_owned(), arguments),
        (name, None) => (name.to_owned(), json!({ "command": payload["input"] })),
    }
}

fn texts(content: &Value) -> String {
    let texts = content.as_array().into_iter().flatten().filter_map(|part| part["text"].as_str());
    texts.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::testing::recordings;

    fn claims(turn: &mut Turn, payload: Value) -> Vec<Claim> {
        let timestamp = "2026-11-15T23:36:14.106Z";
        let line = json!({"timestamp": timestamp, "type": "event_msg", "payload": payload});
        recordings::claims(read(turn, &line))
    }

    #[test]
    fn the_log_reports_the_end_of_a_turn_unless_hooks_do() {
        let complete = || json!({"type": "task_complete", "last_agent_message": "x"});
        assert_eq!(claims(&mut Turn::default(), complete()), [Claim::TurnEnded]);
        assert_eq!(claims(&mut Turn { hooks: true, ..Turn::default() }, complete()), []);
        let mut planning = Turn { hooks: true, plan_mode: true, ..Turn::default() };
        assert_eq!(claims(&mut planning, complete()), [Claim::TurnEnded], "no hook reports it");
        let error = json!({"message": "m", "codex_error_info": "other"});
        let error = json!({"type": "task_complete", "error": error});
        assert!(matches!(&claims(&mut planning, error)[..], [Claim::Failed(_)]));
        assert!(planning.api_error.is_some());
    }

    #[test]
    fn a_tool_has_the_name_that_hooks_use() {
        let call = json!({"type": "response_item", "payload": {
            "type": "function_call", "name": "exec_command",
            "arguments": "{\"cmd\": \"ls\", \"justification\": \"May I?\"}",
        }});
        let wanted = Fact::ToolUse(Box::new(ask::of(
            "Bash",
            &json!({"command": "ls", "description": "May I?"}),
        )));
        assert!(read(&mut Turn::default(), &call).contains(&Finding::Fact(wanted)));
        for strange in [json!(null), json!(7), json!({"type": "event_msg", "payload": []})] {
            assert_eq!(read(&mut Turn::default(), &strange), []);
        }
    }
}
