//! Replays recordings of the real Claude and compares the states that they lead to.

use std::fmt::Write;
use std::time::Duration;

use crate::driver::Observe as _;
use crate::driver::agent::AgentState;
use crate::driver::claude::Claude;
use crate::driver::prompt::PromptKind;
use crate::driver::screen_reading::ScreenReading;
use crate::driver::testing::recordings::{cases, lines};
use crate::driver::testing::replay::{Replay, busy, composer, dialog};
use crate::fixtures;
use crate::term::Signal;

fn kind_of(tool: &str) -> PromptKind {
    match tool {
        "AskUserQuestion" => PromptKind::Question,
        "ExitPlanMode" => PromptKind::Plan,
        _ => PromptKind::Permission,
    }
}

/// The hooks of every recording start and end turns. The screen shows what Claude shows at that
/// moment. Moments without a hook (a rejection, an interrupt) are left out, so the state is checked
/// again at the next hook.
#[test]
fn recorded_hooks_lead_from_state_to_state() {
    let mut turns = 0;
    for case in cases("claude", "hooks") {
        let mut replay = Replay::<Claude>::new();
        let mut before = None;
        for (number, line) in lines(&case).iter().enumerate() {
            let payload = &line["payload"];
            let event = payload["hook_event_name"].as_str().unwrap();
            let word = |key: &str| payload[key].as_str().unwrap_or_default();
            let at = line["t_ms"].as_u64().unwrap();
            // Recorded hooks can follow each other faster than the screen is drawn.
            let apart = before.map_or(0, |before| at.saturating_sub(before)).max(500);
            before = Some(at);
            replay.pass_until(replay.now + Duration::from_millis(apart));
            let main = payload["agent_id"].is_null();
            let (shown, state) = match (event, word("trigger"), word("source")) {
                ("UserPromptSubmit" | "PreCompact", _, _) => (busy(), AgentState::Working),
                ("PreToolUse" | "PostToolUse" | "PostToolUseFailure" | "PostToolBatch", _, _)
                    if main =>
                {
                    (busy(), AgentState::Working)
                }
                ("PermissionRequest", _, _) => {
                    let input = payload["tool_input"].to_string();
                    (
                        dialog(kind_of(word("tool_name")), &format!("{number} {input}")),
                        AgentState::Prompt,
                    )
                }
                ("Stop", _, _) | ("PostCompact", "manual", _) => (composer(), AgentState::Idle),
                ("SessionStart", _, "startup" | "resume" | "clear" | "fork") => {
                    (composer(), AgentState::Idle)
                }
                ("StopFailure", _, _) => (composer(), AgentState::Error),
                _ => (replay.reading.clone(), replay.state()),
            };
            turns += usize::from(event == "UserPromptSubmit");
            let findings = replay.driver.hook(event, payload);
            replay.add_findings(findings, |_| None);
            replay.reading = shown;
            replay.update_screen();
            // The tracker waits a moment before it believes that a dialog is gone or a turn is
            // over.
            replay.pass_until(replay.now + Duration::from_millis(300));
            assert_eq!(replay.state(), state, "{}:{} {event}", case.display(), number + 1);
        }
    }
    assert!(turns > 20, "only {turns} turns were recorded");
}

/// The reports of a session without hooks lead to the states that they report, each within 200 ms.
/// The screen shows the dialog, the running turn or the composer a moment after the report.
#[test]
fn recorded_reports_of_the_status_lead_to_their_states_at_once() {
    for case in cases("claude", "status") {
        let mut replay = Replay::<Claude>::new();
        let rows = lines(&case);
        let (start, zero) = (replay.start, rows[0]["t_ms"].as_u64().unwrap());
        let mut reports = 0;
        for (number, row) in rows.iter().enumerate() {
            let at = row["t_ms"].as_u64().unwrap() - zero;
            replay.pass_until(start + Duration::from_millis(at));
            let report = row["text"].as_str().unwrap().strip_prefix("7501;state=");
            let Some(report) = report.filter(|_| row["from"] == "claude") else { continue };
            let (shown, state) = match report.split(':').next().unwrap() {
                "idle" | "done" => (composer(), AgentState::Idle),
                "working" => (busy(), AgentState::Working),
                _ if report.contains("kind=auth") => (composer(), AgentState::Error),
                _ if report.contains("kind=question") => {
                    (dialog(PromptKind::Question, "Which colour do you want?"), AgentState::Prompt)
                }
                _ => (dialog(PromptKind::Permission, "touch /tmp/x"), AgentState::Prompt),
            };
            reports += 1;
            let signal = Signal::ProgramStatus(format!("state={report}"));
            let findings = replay.driver.signal(&signal);
            replay.add_findings(findings, |_| None);
            replay.pass_until(replay.now + Duration::from_millis(30));
            replay.reading = shown;
            replay.update_screen();
            // A turn may be shorter than this.
            let next =
                rows.get(number + 1).map_or(at + 200, |row| row["t_ms"].as_u64().unwrap() - zero);
            replay.pass_until(start + Duration::from_millis(next.min(at + 200)));
            assert_eq!(replay.state(), state, "{}:{}", case.display(), number + 1);
        }
        assert!(reports > 10, "only {reports} reports were recorded");
    }
}

/// All sources of one session, in the recorded order, lead to the states that the user at the
/// keyboard noted. The screen follows the title, and shows a dialog from its first appearance to
/// its answer.
#[test]
fn a_recorded_session_with_all_sources_leads_to_the_noted_states() {
    for case in cases("claude", "timelines") {
        let mut replay = Replay::<Claude>::new();
        let rows = lines(&case);
        let zero = rows[0]["at"].as_u64().unwrap();
        let start = replay.start;
        let moment = |epoch: u64| start + Duration::from_millis(epoch.saturating_sub(zero));
        let mut tool = String::new();
        for (number, row) in rows.iter().enumerate() {
            replay.pass_until(moment(row["at"].as_u64().unwrap()));
            let payload = &row["hook"];
            let findings = if payload.is_object() {
                let event = payload["hook_event_name"].as_str().unwrap();
                if event == "PermissionRequest" {
                    tool = payload["tool_name"].as_str().unwrap().to_owned();
                }
                replay.driver.hook(event, payload)
            } else if let Some(title) = row["title"].as_str() {
                if replay.reading.dialog.is_none() {
                    replay.reading = match title.chars().next() {
                        Some('✳') => composer(),
                        Some(_) => busy(),
                        None => ScreenReading::default(),
                    };
                }
                replay.driver.signal(&Signal::Title(title.to_owned()))
            } else if row["registry"].is_object() {
                replay.driver.registry(&row["registry"])
            } else if row["log"].is_object() {
                replay.driver.log_line(&row["log"])
            } else if row["dialog"].is_string() {
                replay.reading = dialog(kind_of(&tool), row["dialog"].as_str().unwrap());
                Vec::new()
            } else if row["sent"].is_string() {
                let known = row["state"].as_str().unwrap();
                assert_eq!(replay.state().as_str(), known, "{}:{}", case.display(), number + 1);
                if replay.reading.dialog.is_some() {
                    replay.reading = composer();
                }
                Vec::new()
            } else {
                replay.tracker.exited(replay.now);
                Vec::new()
            };
            replay.add_findings(findings, |epoch| epoch.map(moment));
            replay.update_screen();
        }
        let mut found = String::new();
        for (at, state) in &replay.published {
            writeln!(found, "{at:>6} {state}").unwrap();
        }
        fixtures::compare(&case, &found);
    }
}
