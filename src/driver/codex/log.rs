//! What the lines of a rollout, Codex's session log, mean. Where the log is, and which of its lines are new, is not
//! known here.
//!
//! | line | claim |
//! |---|---|
//! | `event_msg/task_started` | a turn runs; it also says whether the turn may end in a plan |
//! | `event_msg/item_completed` `UserMessage` | a turn began, with its text |
//! | `event_msg/item_completed` `Plan` | nothing: the plan is kept until the turn is over |
//! | `response_item` `function_call`, `custom_tool_call` | a turn runs |
//! | `event_msg/task_complete` with `error` | the turn ended in an error |
//! | `event_msg/task_complete`, `event_msg/turn_aborted` | the turn is over, unless hooks have told it |
//! | `token_usage_record` | nothing; it tells what one answer of the model has used |
//! | any other | nothing |
//!
//! That a tool waits for a permission is not in the log.

use serde_json::{Value, json};

use super::ask;
use super::notes::Notes;
use super::trouble;
use crate::driver::agent::Tier;
use crate::driver::evidence::{Claim, Fact, Finding};
use crate::driver::stamp;
use crate::driver::usage::{Spent, Tokens};

pub(super) fn read(notes: &mut Notes, line: &Value) -> Vec<Finding> {
    let payload = &line["payload"];
    let mut findings = Vec::new();
    let told = match (line["type"].as_str(), payload["type"].as_str()) {
        (Some("session_meta"), _) => {
            findings.extend(conversation(payload).map(Finding::Fact));
            None
        }
        (Some("token_usage_record"), _) => {
            findings.extend(spent(payload).map(Finding::Fact));
            None
        }
        (Some("event_msg"), Some("task_started")) => {
            notes.turn_began();
            notes.plan_mode = payload["collaboration_mode_kind"] == "plan";
            Some(("log:task_started", Claim::Working, String::new()))
        }
        (Some("event_msg"), Some("item_completed")) => {
            let (fact, told) = item(notes, &payload["item"]);
            findings.extend(fact.map(Finding::Fact));
            told
        }
        (Some("event_msg"), Some("task_complete")) if payload["error"].is_object() => {
            let failed = trouble::of(&payload["error"]);
            notes.trouble = Some(failed.clone());
            let seen = failed.detail.clone();
            Some(("log:error", Claim::Failed(failed), seen))
        }
        (Some("event_msg"), Some("task_complete" | "turn_aborted")) if notes.end_is_told() => None,
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
    if let Some((cause, claim, seen)) = told {
        let at = line["timestamp"].as_str().and_then(stamp::epoch_ms);
        findings.push(Finding::new(Tier::SessionLog, cause, claim, &seen).at(at));
    }
    findings
}

fn conversation(meta: &Value) -> impl Iterator<Item = Fact> {
    let text = |key: &str| meta[key].as_str().map(str::to_owned);
    let id = text("id").map(|id| Fact::Conversation { id, transcript: None });
    [id, text("cwd").map(Fact::Cwd)].into_iter().flatten()
}

/// Both parts of the input that the cache knows are in the input, too.
fn spent(record: &Value) -> Option<Fact> {
    let used = record["usage"].as_object()?;
    let count = |key: &str| used.get(key).and_then(Value::as_u64).unwrap_or_default();
    let (cache_read, cache_write) = (count("cached_input_tokens"), count("cache_write_input_tokens"));
    let input = count("input_tokens").saturating_sub(cache_read).saturating_sub(cache_write);
    let tokens = Tokens { input, output: count("output_tokens"), cache_read, cache_write };
    let id = record["response_id"].as_str()?.to_owned();
    Some(Fact::Spent(Spent::Message { id, tokens }))
}

type Told = (&'static str, Claim, String);

fn item(notes: &mut Notes, item: &Value) -> (Option<Fact>, Option<Told>) {
    match item["type"].as_str() {
        Some("UserMessage") => {
            let said = texts(&item["content"]);
            let claim = Claim::TurnStarted { text: Some(said.clone()) };
            (None, Some(("log:user", claim, said)))
        }
        Some("AgentMessage") => (Some(Fact::Message(texts(&item["content"]))), None),
        Some("Plan") => {
            notes.plan = item["text"].as_str().map(str::to_owned);
            (None, None)
        }
        _ => (None, None),
    }
}

/// The tool and its input, as hooks would name them.
fn tool(payload: &Value) -> (String, Value) {
    let name = payload["name"].as_str().unwrap_or_default();
    let arguments = payload["arguments"].as_str().and_then(|text| serde_json::from_str::<Value>(text).ok());
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
    use crate::driver::recorded;

    fn claims(notes: &mut Notes, payload: Value) -> Vec<Claim> {
        let line = json!({"timestamp": "2026-11-15T23:36:14.106Z", "type": "event_msg", "payload": payload});
        recorded::claims(read(notes, &line))
    }

    #[test]
    fn the_end_of_a_turn_is_told_unless_hooks_have() {
        let complete = || json!({"type": "task_complete", "last_agent_message": "x"});
        assert_eq!(claims(&mut Notes::default(), complete()), [Claim::TurnEnded]);
        assert_eq!(claims(&mut Notes { hooks: true, ..Notes::default() }, complete()), []);
        let mut planning = Notes { hooks: true, plan_mode: true, ..Notes::default() };
        assert_eq!(claims(&mut planning, complete()), [Claim::TurnEnded], "no hook tells it there");
        let error = json!({"type": "task_complete", "error": {"message": "m", "codex_error_info": "other"}});
        assert!(matches!(&claims(&mut planning, error)[..], [Claim::Failed(_)]));
        assert!(planning.trouble.is_some());
    }

    #[test]
    fn a_tool_is_named_as_hooks_name_it() {
        let call = json!({"type": "response_item", "payload": {
            "type": "function_call", "name": "exec_command",
            "arguments": "{\"cmd\": \"ls\", \"justification\": \"May I?\"}",
        }});
        let wanted =
            Fact::ToolUse(Box::new(ask::of("Bash", &json!({"command": "ls", "description": "May I?"}))));
        assert!(read(&mut Notes::default(), &call).contains(&Finding::Fact(wanted)));
        for strange in [json!(null), json!(7), json!({"type": "event_msg", "payload": []})] {
            assert_eq!(read(&mut Notes::default(), &strange), []);
        }
    }
}
