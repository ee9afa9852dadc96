//! Reads Codex's hooks. It does not know how a payload arrives or whether its sender is trusted.
//!
//! | event | claim |
//! |---|---|
//! | `UserPromptSubmit` | a turn began, with its text |
//! | `PreToolUse`, `PostToolUse`, `PreCompact` | a turn runs |
//! | `PreToolUse` of `request_user_input`, `PermissionRequest` | a turn runs, see below |
//! | `Stop` | the turn is over, unless it may end in a plan: then the terminal reports the end |
//! | `Interrupt` | the turn is over; a declined dialog interrupts, too |
//! | `SessionStart` | nothing: it comes with the first prompt of a conversation, not before |
//! | `PostCompact`, `SessionEnd`, any other | nothing |
//!
//! The question or permission that a hook reports is kept until the terminal reports the dialog.
//!
//! Codex calls no hook when a turn ends in an error. No hook waits for an answer: while a hook
//! runs, Codex shows no dialog, so waiting would hide the dialog from the user.

use serde_json::Value;

use super::ask;
use super::terminal::Terminal;
use super::turn::Turn;
use crate::driver::agent::Tier;
use crate::driver::evidence::{Claim, Fact, Finding};
use crate::driver::payload::{common_facts, tool};

pub(super) fn read(
    turn: &mut Turn,
    terminal: &Terminal,
    event: &str,
    payload: &Value,
) -> Vec<Finding> {
    turn.hooks = true;
    let mut findings = Vec::new();
    let main = payload["agent_id"].is_null();
    if main && event != "SessionEnd" {
        findings.extend(common_facts(payload).map(Finding::Fact));
    }
    if event == "PreToolUse"
        && let Some((tool, input)) = tool(payload)
    {
        findings.push(Finding::tool_use(ask::of(tool, input)));
    }
    if event == "Stop" && main {
        let said = payload["last_assistant_message"].as_str();
        findings.extend(said.map(|said| Finding::Fact(Fact::Message(said.to_owned()))));
    }
    if let Some((cause, claim, seen)) = claim(turn, terminal, event, payload)
        && (main || matches!(claim, Claim::Asked(_)))
    {
        findings.push(Finding::new(Tier::Hooks, cause, claim, seen));
    }
    findings
}

fn claim<'a>(
    turn: &mut Turn,
    terminal: &Terminal,
    event: &str,
    payload: &'a Value,
) -> Option<(&'static str, Claim, &'a str)> {
    let seen = |key: &str| payload[key].as_str().unwrap_or_default();
    let found = match event {
        "UserPromptSubmit" => {
            turn.begin();
            let text = payload["prompt"].as_str().map(str::to_owned);
            ("hook:UserPromptSubmit", Claim::TurnStarted { text }, seen("prompt"))
        }
        "PreToolUse" if payload["tool_name"] == ask::ASKING_TOOL => {
            let question = ask::question(&payload["tool_input"]);
            let claim = if terminal.asks_a_question() {
                Claim::Asked(Box::new(question))
            } else {
                turn.question = Some(question);
                Claim::Working
            };
            ("hook:PreToolUse", claim, ask::ASKING_TOOL)
        }
        "PreToolUse" => ("hook:PreToolUse", Claim::Working, seen("tool_name")),
        "PostToolUse" => {
            if let Some((tool, input)) = tool(payload) {
                turn.ran(&ask::of(tool, input));
            }
            ("hook:PostToolUse", Claim::Working, seen("tool_name"))
        }
        "PermissionRequest" => {
            let (tool, input) = tool(payload)?;
            let permission = ask::permission(tool, input);
            let claim = if terminal.asks_for_permission() {
                Claim::Asked(Box::new(permission))
            } else {
                turn.permissions.push(permission);
                Claim::Working
            };
            ("hook:PermissionRequest", claim, tool)
        }
        "PreCompact" => ("hook:PreCompact", Claim::Working, seen("trigger")),
        "Stop" if !turn.plan_mode => {
            ("hook:Stop", Claim::TurnEnded, seen("last_assistant_message"))
        }
        "Interrupt" => ("hook:Interrupt", Claim::TurnEnded, ""),
        _ => return None,
    };
    Some(found)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::driver::testing::recordings;

    /// A terminal that has reported this status.
    fn terminal(status: &str) -> Terminal {
        let mut terminal = Terminal::default();
        terminal.status(&mut Turn::default(), &format!("state={status}:app=codex"));
        terminal
    }

    fn claims_at(turn: &mut Turn, terminal: &Terminal, event: &str, payload: &Value) -> Vec<Claim> {
        recordings::claims(read(turn, terminal, event, payload))
    }

    fn claims(turn: &mut Turn, event: &str, payload: &Value) -> Vec<Claim> {
        claims_at(turn, &terminal("working"), event, payload)
    }

    #[test]
    fn a_question_is_announced_once_the_terminal_reports_the_dialog() {
        let question = json!({"tool_name": "request_user_input",
            "tool_input": {"questions": [{"question": "Q?"}]}});
        let permission = json!({"tool_name": "Bash", "tool_input": {"command": "ls"}});
        let mut turn = Turn::default();
        assert_eq!(claims(&mut turn, "PreToolUse", &question), [Claim::Working]);
        assert_eq!(claims(&mut turn, "PermissionRequest", &permission), [Claim::Working]);
        assert_eq!(turn.question.as_ref().map(|ask| ask.message.as_str()), Some("Q?"));
        let other = json!({"tool_name": "Bash", "tool_input": {"command": "rm"}});
        assert_eq!(claims(&mut turn, "PermissionRequest", &other), [Claim::Working]);
        assert_eq!(turn.permissions.len(), 2);
        claims(&mut turn, "PostToolUse", &permission);
        assert_eq!(turn.question, None);
        let left: Vec<_> = turn.permissions.drain(..).filter_map(|ask| ask.input).collect();
        assert_eq!(left, [json!({"command": "rm"})], "the other one may still be asked");
        for (event, payload, status) in [
            ("PreToolUse", &question, "blocked:kind=question"),
            ("PermissionRequest", &permission, "blocked:kind=permission"),
        ] {
            for terminal in [terminal(status), Terminal::default()] {
                let late = claims_at(&mut turn, &terminal, event, payload);
                assert!(matches!(&late[..], [Claim::Asked(_)]), "{event} {late:?}");
            }
        }
    }

    #[test]
    fn stop_does_not_end_a_turn_that_may_end_in_a_plan() {
        let mut turn = Turn::default();
        let stop = json!({"last_assistant_message": "Here."});
        assert_eq!(claims(&mut turn, "Stop", &stop), [Claim::TurnEnded]);
        turn.plan_mode = true;
        assert_eq!(claims(&mut turn, "Stop", &stop), []);
        assert_eq!(claims(&mut turn, "Interrupt", &json!({})), [Claim::TurnEnded]);
    }

    #[test]
    fn an_invalid_payload_gives_no_evidence() {
        for payload in [json!(null), json!(3), json!([]), json!("Stop"), json!({"tool_name": 7})] {
            for event in ["PermissionRequest", "SessionStart", "SessionEnd", "Nonsense", ""] {
                assert_eq!(
                    read(&mut Turn::default(), &Terminal::default(), event, &payload),
                    [],
                    "{event} {payload}"
                );
            }
        }
    }
}
