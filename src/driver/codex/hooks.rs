//! What Codex's hooks mean. How a hook's payload gets here, and whether its sender may be believed, is not known here.
//!
//! | event | claim |
//! |---|---|
//! | `UserPromptSubmit` | a turn began, with its text |
//! | `PreToolUse`, `PostToolUse`, `PreCompact` | a turn runs |
//! | `PreToolUse` of `request_user_input`, `PermissionRequest` | a turn runs; what it asks is kept until the terminal says that it asks |
//! | `Stop` | the turn is over, unless it may end in a plan: then the terminal knows |
//! | `Interrupt` | the turn is over; a declined dialog interrupts, too |
//! | `SessionStart` | nothing: it comes with the first prompt of a conversation, not with its start |
//! | `PostCompact`, `SessionEnd`, any other | nothing |
//!
//! No hook comes when a turn ends in an error. None is waited with for an answer: while a hook runs, Codex shows no
//! dialog, so it would hide it from everybody else.

use serde_json::Value;

use super::ask;
use super::notes::Notes;
use super::terminal::Terminal;
use crate::driver::agent::Tier;
use crate::driver::evidence::{Claim, Fact, Finding};
use crate::driver::payload::{circumstances, tool};

pub(super) fn read(notes: &mut Notes, terminal: &Terminal, event: &str, payload: &Value) -> Vec<Finding> {
    notes.hooks = true;
    let mut findings = Vec::new();
    let main = payload["agent_id"].is_null();
    if main && event != "SessionEnd" {
        findings.extend(circumstances(payload).map(Finding::Fact));
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
    if let Some((cause, claim, seen)) = claim(notes, terminal, event, payload)
        && (main || matches!(claim, Claim::Asked(_)))
    {
        findings.push(Finding::new(Tier::Hooks, cause, claim, seen));
    }
    findings
}

fn claim<'a>(
    notes: &mut Notes,
    terminal: &Terminal,
    event: &str,
    payload: &'a Value,
) -> Option<(&'static str, Claim, &'a str)> {
    let seen = |key: &str| payload[key].as_str().unwrap_or_default();
    let told = match event {
        "UserPromptSubmit" => {
            notes.turn_began();
            let text = payload["prompt"].as_str().map(str::to_owned);
            ("hook:UserPromptSubmit", Claim::TurnStarted { text }, seen("prompt"))
        }
        "PreToolUse" if payload["tool_name"] == ask::ASKING_TOOL => {
            let question = ask::question(&payload["tool_input"]);
            let claim = if terminal.asks_a_question() {
                Claim::Asked(Box::new(question))
            } else {
                notes.question = Some(question);
                Claim::Working
            };
            ("hook:PreToolUse", claim, ask::ASKING_TOOL)
        }
        "PreToolUse" => ("hook:PreToolUse", Claim::Working, seen("tool_name")),
        "PostToolUse" => {
            (notes.question, notes.permission) = (None, None);
            ("hook:PostToolUse", Claim::Working, seen("tool_name"))
        }
        "PermissionRequest" => {
            let (tool, input) = tool(payload)?;
            let permission = ask::permission(tool, input);
            let claim = if terminal.asks_for_permission() {
                Claim::Asked(Box::new(permission))
            } else {
                notes.permission = Some(permission);
                Claim::Working
            };
            ("hook:PermissionRequest", claim, tool)
        }
        "PreCompact" => ("hook:PreCompact", Claim::Working, seen("trigger")),
        "Stop" if !notes.plan_mode => ("hook:Stop", Claim::TurnEnded, seen("last_assistant_message")),
        "Interrupt" => ("hook:Interrupt", Claim::TurnEnded, ""),
        _ => return None,
    };
    Some(told)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::driver::recorded;

    /// A terminal that has said this of itself.
    fn terminal(status: &str) -> Terminal {
        let mut terminal = Terminal::default();
        terminal.status(&mut Notes::default(), &format!("state={status}:app=codex"));
        terminal
    }

    fn claims_at(notes: &mut Notes, terminal: &Terminal, event: &str, payload: &Value) -> Vec<Claim> {
        recorded::claims(read(notes, terminal, event, payload))
    }

    fn claims(notes: &mut Notes, event: &str, payload: &Value) -> Vec<Claim> {
        claims_at(notes, &terminal("working"), event, payload)
    }

    #[test]
    fn what_is_asked_waits_for_the_terminal_to_say_so() {
        let question =
            json!({"tool_name": "request_user_input", "tool_input": {"questions": [{"question": "Q?"}]}});
        let permission = json!({"tool_name": "Bash", "tool_input": {"command": "ls"}});
        let mut notes = Notes::default();
        assert_eq!(claims(&mut notes, "PreToolUse", &question), [Claim::Working]);
        assert_eq!(claims(&mut notes, "PermissionRequest", &permission), [Claim::Working]);
        assert_eq!(notes.question.as_ref().map(|ask| ask.message.as_str()), Some("Q?"));
        assert_eq!(notes.permission.as_ref().and_then(|ask| ask.tool.as_deref()), Some("Bash"));
        claims(&mut notes, "PostToolUse", &permission);
        assert_eq!((notes.question.take(), notes.permission.take()), (None, None));
        for (event, payload, status) in [
            ("PreToolUse", &question, "blocked:kind=question"),
            ("PermissionRequest", &permission, "blocked:kind=permission"),
        ] {
            for terminal in [terminal(status), Terminal::default()] {
                let late = claims_at(&mut notes, &terminal, event, payload);
                assert!(matches!(&late[..], [Claim::Asked(_)]), "{event} {late:?}");
            }
        }
    }

    #[test]
    fn a_turn_that_may_end_in_a_plan_is_not_over_with_its_stop() {
        let mut notes = Notes::default();
        let stop = json!({"last_assistant_message": "Here."});
        assert_eq!(claims(&mut notes, "Stop", &stop), [Claim::TurnEnded]);
        notes.plan_mode = true;
        assert_eq!(claims(&mut notes, "Stop", &stop), []);
        assert_eq!(claims(&mut notes, "Interrupt", &json!({})), [Claim::TurnEnded]);
    }

    #[test]
    fn anything_that_is_no_payload_is_no_evidence() {
        for payload in [json!(null), json!(3), json!([]), json!("Stop"), json!({"tool_name": 7})] {
            for event in ["PermissionRequest", "SessionStart", "SessionEnd", "Nonsense", ""] {
                assert_eq!(
                    read(&mut Notes::default(), &Terminal::default(), event, &payload),
                    [],
                    "{event} {payload}"
                );
            }
        }
    }
}
