//! What Claude's hooks mean. How a hook's payload gets here, and whether its sender may be believed, is not known here.
//!
//! | event | claim |
//! |---|---|
//! | `UserPromptSubmit` | a turn began, with its text; also for a prompt that Claude gives itself |
//! | `PreToolUse`, `PostToolUse`, `PostToolUseFailure`, `PostToolBatch` | a turn runs |
//! | `PermissionRequest` | a dialog opens: permission, question or plan |
//! | `ToolAsks` | the same, see below |
//! | `Notification` `permission_prompt`, `agent_needs_input`, `elicitation_dialog` | some dialog stands, and has for seconds |
//! | `Notification` `idle_prompt` | the turn is over, and has been for a minute |
//! | `Stop` | the turn is over; a background task that goes on opens the next one by its own prompt |
//! | `StopFailure` | the turn ended in an error. Claude does not wait for the limit then: it is never parked |
//! | `PreCompact` | a turn runs |
//! | `PostCompact` `manual` | the turn is over: no `Stop` comes after `/compact` |
//! | `PostCompact` `auto` | a turn runs: it was compacted in the middle |
//! | `SessionStart` `startup`, `resume`, `clear`, `fork` | no turn is running |
//! | `SessionStart` `compact` | nothing: it comes in the middle of every compaction, and does not say of which kind |
//! | `SessionEnd`, `SubagentStart`, `SubagentStop`, any other | nothing |
//!
//! After a rejection or an interrupt no hook comes at all; other sources tell.
//!
//! A subagent's hooks carry an `agent_id`. It was seen to go on after the `Stop` of the turn that started it, so it says
//! nothing of the turn; but a dialog that it opens is a dialog.
//!
//! `PreToolUse` of a tool that always asks is no announcement, because `PermissionRequest` follows it, and one source
//! that announces the same thing twice means two dialogs. Versions before 2.0.45 have no `PermissionRequest`. For
//! them, and where the version is unknown, the launch has `PreToolUse` of these tools call coop once more, under a name
//! that Claude does not have: `ToolAsks`.

use serde_json::Value;

use super::{ask, trouble};
use crate::driver::agent::Tier;
use crate::driver::evidence::{Claim, Fact, Finding};
use crate::driver::payload::{circumstances, tool};

/// The event that stands in for `PermissionRequest` where there is none.
pub(super) const TOOL_ASKS: &str = "ToolAsks";

pub(super) fn read(event: &str, payload: &Value) -> Vec<Finding> {
    let mut findings = Vec::new();
    let main = payload["agent_id"].is_null();
    if main && event != "SessionEnd" {
        findings.extend(circumstances(payload).map(Finding::Fact));
    }
    match event {
        "PreToolUse" => {
            findings.extend(tool(payload).map(|(tool, input)| Finding::tool_use(ask::of(tool, input))));
        }
        "Stop" if main => findings.extend(
            payload["last_assistant_message"]
                .as_str()
                .map(|message| Finding::Fact(Fact::Message(message.to_owned()))),
        ),
        _ => {}
    }
    if let Some((cause, claim, seen)) = claim(event, payload)
        && (main || matches!(claim, Claim::Asked(_) | Claim::Waiting))
    {
        findings.push(Finding::new(Tier::Hooks, cause, claim, seen));
    }
    findings
}

fn claim<'a>(event: &str, payload: &'a Value) -> Option<(&'static str, Claim, &'a str)> {
    let seen = |key: &str| payload[key].as_str().unwrap_or_default();
    let told = match event {
        "UserPromptSubmit" => {
            let text = payload["prompt"].as_str().map(str::to_owned);
            ("hook:UserPromptSubmit", Claim::TurnStarted { text }, seen("prompt"))
        }
        "PreToolUse" => ("hook:PreToolUse", Claim::Working, seen("tool_name")),
        "PostToolUse" => ("hook:PostToolUse", Claim::Working, seen("tool_name")),
        "PostToolUseFailure" => ("hook:PostToolUseFailure", Claim::Working, seen("tool_name")),
        "PostToolBatch" => ("hook:PostToolBatch", Claim::Working, ""),
        "PermissionRequest" | TOOL_ASKS => {
            let (tool, input) = tool(payload)?;
            let cause = if event == TOOL_ASKS { "hook:PreToolUse" } else { "hook:PermissionRequest" };
            (cause, Claim::Asked(Box::new(ask::of(tool, input))), tool)
        }
        "Notification" => match seen("notification_type") {
            "permission_prompt" => ("hook:Notification:permission_prompt", Claim::Waiting, seen("message")),
            "agent_needs_input" => ("hook:Notification:agent_needs_input", Claim::Waiting, seen("message")),
            "elicitation_dialog" => ("hook:Notification:elicitation_dialog", Claim::Waiting, seen("message")),
            "idle_prompt" => ("hook:Notification:idle_prompt", Claim::TurnEnded, seen("message")),
            _ => return None,
        },
        "Stop" => ("hook:Stop", Claim::TurnEnded, seen("last_assistant_message")),
        "StopFailure" => {
            let said = ["last_assistant_message", "error_details"];
            let text = said.map(seen).into_iter().find(|text| !text.is_empty()).unwrap_or_default();
            let failed = trouble::claim(trouble::of(payload["error"].as_str(), None, text));
            ("hook:StopFailure", failed, seen("error"))
        }
        "PreCompact" => ("hook:PreCompact", Claim::Working, seen("trigger")),
        "PostCompact" => match seen("trigger") {
            "manual" => ("hook:PostCompact:manual", Claim::TurnEnded, "manual"),
            "auto" => ("hook:PostCompact:auto", Claim::Working, "auto"),
            _ => return None,
        },
        "SessionStart" => match seen("source") {
            "startup" | "resume" | "clear" | "fork" => {
                ("hook:SessionStart", Claim::NotWorking, seen("source"))
            }
            _ => return None,
        },
        _ => return None,
    };
    Some(told)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::driver::evidence::Evidence;

    fn evidence(event: &str, payload: &Value) -> Vec<Evidence> {
        let evidence = |finding| match finding {
            Finding::Evidence(evidence) => Some(evidence),
            Finding::Fact(_) => None,
        };
        read(event, payload).into_iter().filter_map(evidence).collect()
    }

    #[test]
    fn a_subagent_says_nothing_of_the_turn_but_its_dialogs_are_dialogs() {
        let payload = json!({
            "session_id": "s", "cwd": "/elsewhere", "agent_id": "a1", "tool_name": "Bash",
            "tool_input": {"command": "ls"}, "prompt": "x", "trigger": "manual", "source": "startup",
        });
        let quiet = ["PreToolUse", "PostToolUse", "Stop", "StopFailure", "UserPromptSubmit", "PostCompact"];
        for event in quiet {
            assert_eq!(evidence(event, &payload), [], "{event}");
        }
        let [asked] = &evidence("PermissionRequest", &payload)[..] else { panic!("one dialog") };
        assert!(matches!(&asked.claim, Claim::Asked(ask) if ask.tool.as_deref() == Some("Bash")));
        let cwd = Finding::Fact(Fact::Cwd("/elsewhere".to_owned()));
        assert!(!read("PreToolUse", &payload).contains(&cwd));
    }

    #[test]
    fn a_tool_that_asks_is_announced_once_by_whichever_hook_the_version_has() {
        let payload = json!({"tool_name": "ExitPlanMode", "tool_input": {"plan": "# P"}});
        let asks = |event| evidence(event, &payload).iter().any(|told| matches!(told.claim, Claim::Asked(_)));
        assert!(!asks("PreToolUse"));
        assert!(asks("PermissionRequest"));
        assert!(asks(TOOL_ASKS));
    }

    #[test]
    fn anything_that_is_no_payload_is_no_evidence() {
        for payload in [json!(null), json!(3), json!([]), json!("Stop"), json!({"tool_name": 7})] {
            for event in ["PermissionRequest", "Notification", "SessionStart", "PostCompact", "Nonsense", ""]
            {
                assert_eq!(read(event, &payload), [], "{event} {payload}");
            }
        }
    }
}
