//! Replays recordings of the real Gemini CLI and compares the states that they lead to.

use std::time::Duration;

use crate::driver::Observe as _;
use crate::driver::agent::AgentState;
use crate::driver::gemini::{Gemini, HABITS};
use crate::driver::prompt::PromptKind;
use crate::driver::testing::recordings::{cases, lines};
use crate::driver::testing::replay::{Replay, busy, composer, dialog};

/// The hooks of every recording lead from state to state. The screen shows what Gemini shows at
/// that moment. Moments without a hook (a denial, an interrupt of a tool) are left out, so the
/// state is checked again at the next hook.
#[test]
fn recorded_hooks_lead_from_state_to_state() {
    let (mut turns, mut dialogs) = (0, 0);
    for case in cases("gemini", "hooks") {
        let mut replay = Replay::<Gemini>::new();
        for (number, line) in lines(&case).iter().enumerate() {
            let payload = &line["payload"];
            let event = payload["hook_event_name"].as_str().unwrap();
            replay.pass_until(replay.now + Duration::from_millis(500));
            let (shown, state) = match event {
                "BeforeAgent" | "BeforeTool" | "AfterTool" => (busy(), AgentState::Working),
                "Notification" => {
                    let kind = match payload["details"]["type"].as_str().unwrap() {
                        "ask_user" => PromptKind::Question,
                        "exit_plan_mode" => PromptKind::Plan,
                        _ => PromptKind::Permission,
                    };
                    (dialog(kind, &format!("{number}")), AgentState::Prompt)
                }
                "SessionStart" => (composer(), AgentState::Idle),
                "AfterAgent" if payload["prompt_response"] != "[no response text]" => {
                    (composer(), AgentState::Idle)
                }
                _ => (replay.reading.clone(), replay.state()),
            };
            turns += usize::from(event == "BeforeAgent");
            dialogs += usize::from(event == "Notification");
            let findings = replay.driver.hook(event, payload);
            replay.add_findings(findings, |_| None);
            replay.reading = shown;
            replay.update_screen();
            // The tracker waits a moment before it believes that a turn is over.
            replay.pass_until(replay.now + HABITS.turn_end_delay);
            assert_eq!(replay.state(), state, "{}:{} {event}", case.display(), number + 1);
        }
    }
    assert!(turns > 20 && dialogs > 20, "only {turns} turns and {dialogs} dialogs were recorded");
}
