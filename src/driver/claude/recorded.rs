//! Where recordings of the real Claude lead.

use std::fmt::Write;
use std::time::Duration;

use super::*;
use crate::driver::agent::AgentState;
use crate::driver::prompt::PromptKind;
use crate::driver::recorded::{Bench, busy, cases, compare, composer, dialog, lines};

fn kind_of(tool: &str) -> PromptKind {
    match tool {
        "AskUserQuestion" => PromptKind::Question,
        "ExitPlanMode" => PromptKind::Plan,
        _ => PromptKind::Permission,
    }
}

/// Turns start and end where the hooks of every recording say so. The screen shows what Claude shows at such a
/// moment; what is on it while no hook comes (a rejection, an interrupt) is left out, so the next turn must do.
#[test]
fn recorded_hooks_lead_from_state_to_state() {
    let mut turns = 0;
    for case in cases("claude", "hooks") {
        let mut bench = Bench::<Claude>::new();
        let mut before = None;
        for (number, line) in lines(&case).iter().enumerate() {
            let payload = &line["payload"];
            let event = payload["hook_event_name"].as_str().unwrap();
            let word = |key: &str| payload[key].as_str().unwrap_or_default();
            let at = line["t_ms"].as_u64().unwrap();
            // Recorded hooks can be closer together than a screen is drawn.
            let apart = before.map_or(0, |before| at.saturating_sub(before)).max(500);
            before = Some(at);
            bench.pass_until(bench.now + Duration::from_millis(apart));
            let main = payload["agent_id"].is_null();
            let (shown, state) = match (event, word("trigger"), word("source")) {
                ("UserPromptSubmit" | "PreCompact", _, _) => (busy(), AgentState::Working),
                ("PreToolUse" | "PostToolUse" | "PostToolUseFailure" | "PostToolBatch", _, _) if main => {
                    (busy(), AgentState::Working)
                }
                ("PermissionRequest", _, _) => {
                    let input = payload["tool_input"].to_string();
                    (dialog(kind_of(word("tool_name")), &format!("{number} {input}")), AgentState::Prompt)
                }
                ("Stop", _, _) | ("PostCompact", "manual", _) => (composer(), AgentState::Idle),
                ("SessionStart", _, "startup" | "resume" | "clear" | "fork") => {
                    (composer(), AgentState::Idle)
                }
                ("StopFailure", _, _) => (composer(), AgentState::Error),
                _ => (bench.sight.clone(), bench.state()),
            };
            turns += usize::from(event == "UserPromptSubmit");
            let findings = bench.driver.hook(event, payload);
            bench.hear(findings, |_| None);
            bench.sight = shown;
            bench.look();
            // A dialog is gone only when it has been missing for a moment, and a turn a little after its last hook.
            bench.pass_until(bench.now + Duration::from_millis(300));
            assert_eq!(bench.state(), state, "{}:{} {event}", case.display(), number + 1);
        }
    }
    assert!(turns > 20, "only {turns} turns were recorded");
}

/// All sources of one session, as they were heard, lead to the states in which the person at the keyboard knew the
/// agent to be. The screen follows the title, and shows a dialog from where it was seen until it was answered.
#[test]
fn a_recorded_session_is_followed_by_all_sources_together() {
    for case in cases("claude", "timelines") {
        let mut bench = Bench::<Claude>::new();
        let rows = lines(&case);
        let zero = rows[0]["at"].as_u64().unwrap();
        let start = bench.start;
        let moment = |epoch: u64| start + Duration::from_millis(epoch.saturating_sub(zero));
        let mut tool = String::new();
        for (number, row) in rows.iter().enumerate() {
            bench.pass_until(moment(row["at"].as_u64().unwrap()));
            let payload = &row["hook"];
            let findings = if payload.is_object() {
                let event = payload["hook_event_name"].as_str().unwrap();
                if event == "PermissionRequest" {
                    tool = payload["tool_name"].as_str().unwrap().to_owned();
                }
                bench.driver.hook(event, payload)
            } else if let Some(title) = row["title"].as_str() {
                if bench.sight.dialog.is_none() {
                    bench.sight = match title.chars().next() {
                        Some('✳') => composer(),
                        Some(_) => busy(),
                        None => Sight::default(),
                    };
                }
                bench.driver.signal(&Signal::Title(title.to_owned()))
            } else if row["registry"].is_object() {
                bench.driver.registry(&row["registry"])
            } else if row["log"].is_object() {
                bench.driver.log_line(&row["log"])
            } else if row["dialog"].is_string() {
                bench.sight = dialog(kind_of(&tool), row["dialog"].as_str().unwrap());
                Vec::new()
            } else if row["sent"].is_string() {
                let known = row["state"].as_str().unwrap();
                assert_eq!(bench.state().as_str(), known, "{}:{}", case.display(), number + 1);
                if bench.sight.dialog.is_some() {
                    bench.sight = composer();
                }
                Vec::new()
            } else {
                bench.tracker.exited(bench.now);
                Vec::new()
            };
            bench.hear(findings, |epoch| epoch.map(moment));
            bench.look();
        }
        let mut found = String::new();
        for (at, state) in &bench.published {
            writeln!(found, "{at:>6} {state}").unwrap();
        }
        compare(&case, &found);
    }
}
