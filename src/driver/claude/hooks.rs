//! Reads Claude's hooks. It does not know how a payload arrives or whether its sender is trusted.
//!
//! | event | claim |
//! |---|---|
//! | `UserPromptSubmit` | a turn began, with its text; also for a prompt that Claude gives itself |
//! | `PreToolUse`, `PostToolUse`, `PostToolUseFailure`, `PostToolBatch` | a turn runs |
//! | `PermissionRequest` | a dialog opens: permission, question or plan |
//! | `ToolAsks` | the same, see below |
//! | `Notification` `permission_prompt` | some dialog has been open for seconds |
//! | `Notification` `agent_needs_input`, `elicitation_dialog` | the same |
//! | `Notification` `idle_prompt` | the turn is over, and has been for a minute |
//! | `Stop` | the turn is over; a background task that continues starts its own turn later |
//! | `StopFailure` | the turn ended in an error; a usage limit parks the agent |
//! | `PreCompact` | a turn runs |
//! | `PostCompact` `manual` | the turn is over: no `Stop` comes after `/compact` |
//! | `PostCompact` `auto` | a turn runs: it was compacted in the middle |
//! | `SessionStart` `startup`, `resume`, `clear`, `fork` | no turn is running |
//! | `SessionStart` `compact` | nothing: manual and automatic compactions call it alike |
//! | `SessionEnd`, `SubagentStart`, `SubagentStop`, any other | nothing |
//!
//! Claude calls no hook after a rejection or an interrupt; other sources report those.
//!
//! A subagent's hooks carry an `agent_id`. Subagents have been observed to continue after the
//! `Stop` of the turn that started them, so their hooks say nothing about the turn; but a dialog
//! that a subagent opens is a dialog.
//!
//! `PreToolUse` of a tool that always asks does not announce its dialog, because
//! `PermissionRequest` follows, and two announcements by one source mean two dialogs. Versions
//! before 2.0.45 have no `PermissionRequest`. For those, and for an unknown version, the launch
//! configures a second hook on `PreToolUse` of these tools, under a name that Claude does not use:
//! `ToolAsks`.

use serde_json::Value;

use super::{api_error, ask};
use crate::driver::agent::Tier;
use crate::driver::evidence::{Claim, Fact, Finding};
use crate::driver::payload::{common_facts, tool};

/// The event that replaces `PermissionRequest` in versions without it.
pub(super) const TOOL_ASKS: &str = "ToolAsks";

pub(super) fn read(event: &str, payload: &Value) -> Vec<Finding> {
    let mut findings = Vec::new();
    let main = payload["agent_id"].is_null();
    if main && event != "SessionEnd" {
        findings.extend(common_facts(payload).map(Finding::Fact));
    }
    match event {
        "PreToolUse" => {
            findings
                .extend(tool(payload).map(|(tool, input)| Finding::tool_use(ask::of(tool, input))));
        }
        "Stop" if main => findings.extend(
            payload["last_assistant_message"]
                .as_str()
                .map(|message| Finding::Fact(Fact::Message(message.to_owned()))),
        ),
        _ => {}
    }
    if let Some((cause, claim, seen)) = claim(event, payload)
        && (main || matches!(claim, Claim::Asked(_) | Claim::AtDialog))
    {
        findings.push(Finding::new(Tier::Hooks, cause, claim, seen));
    }
    findings
}

fn claim<'a>(event: &str, payload: &'a Value) -> Option<(&'static str, Claim, &'a str)> {
    let seen = |key: &str| payload[key].as_str().unwrap_or_default();
    let found = match event {
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
            let cause =
                if event == TOOL_ASKS { "hook:PreToolUse" } else { "hook:PermissionRequest" };
            (cause, Claim::Asked(Box::new(ask::of(tool, input))), tool)
        }
        "Notification" => match seen("notification_type") {
            "permission_prompt" => {
                ("hook:Notification:permission_prompt", Claim::AtDialog, seen("message"))
            }
            "agent_needs_input" => {
                ("hook:Notification:agent_needs_input", Claim::AtDialog, seen("message"))
            }
            "elicitation_dialog" => {
                ("hook:Notification:elicitation_dialog", Claim::AtDialog, seen("message"))
            }
            "idle_prompt" => ("hook:Notification:idle_prompt", Claim::TurnEnded, seen("message")),
            _ => return None,
        },
        "Stop" => ("hook:Stop", Claim::TurnEnded, seen("last_assistant_message")),
        "StopFailure" => {
            let said = ["last_assistant_message", "error_details"];
            let text = said.map(seen).into_iter().find(|text| !text.is_empty()).unwrap_or_default();
            let failed = api_error::claim(api_error::of(payload["error"].as_str(), None, text));
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
    Some(found)
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
    fn hooks_of_a_subagent_are_ignored_except_its_dialogs() {
        let payload = json!({
            "session_id": "s", "cwd": "/elsewhere", "agent_id": "a1", "tool_name": "Bash",
            "tool_input": {"command": "ls"}, "prompt": "x", "trigger": "manual",
            "source": "startup",
        });
        let quiet =
            ["PreToolUse", "PostToolUse", "Stop", "StopFailure", "UserPromptSubmit", "PostCompact"];
        for event in quiet {
            assert_eq!(evidence(event, &payload), [], "{event}");
        }
        let [asked] = &evidence("PermissionRequest", &payload)[..] else { panic!("one dialog") };
        assert!(matches!(&asked.claim, Claim::Asked(ask) if ask.tool.as_deref() == Some("Bash")));
        let cwd = Finding::Fact(Fact::Cwd("/elsewhere".to_owned()));
        assert!(!read("PreToolUse", &payload).contains(&cwd));
    }

    #[test]
    fn a_tool_that_asks_is_announced_once_in_every_version() {
        let payload = json!({"tool_name": "ExitPlanMode", "tool_input": {"plan": "# P"}});
        let asks = |event| {
            evidence(event, &payload).iter().any(|one| matches!(one.claim, Claim::Asked(_)))
        };
        assert!(!asks("PreToolUse"));
        assert!(asks("PermissionRequest"));
        assert!(asks(TOOL_ASKS));
    }

    #[test]
    fn an_invalid_payload_gives_no_evidence() {
        for payload in [json!(null), json!(3), json!([]), json!("Stop"), json!({"tool_name": 7})] {
            for event in
                ["PermissionRequest", "Notification", "SessionStart", "PostCompact", "Nonsense", ""]
            {
                assert_eq!(read(event, &payload), [], "{event} {payload}");
            }
        }
    }
}
