//! Where recordings of the real Gemini CLI lead.

use std::time::Duration;

use super::*;
use crate::driver::agent::AgentState;
use crate::driver::prompt::PromptKind;
use crate::driver::recorded::{Bench, busy, cases, composer, dialog, lines};

/// The hooks of every recording lead from state to state. The screen shows what Gemini shows at such a moment; what is on
/// it while no hook comes (a denial, an interrupt of a tool) is left out, so the next turn must do.
#[test]
fn recorded_hooks_lead_from_state_to_state() {
    let (mut turns, mut dialogs) = (0, 0);
    for case in cases("gemini", "hooks") {
        let mut bench = Bench::<Gemini>::new();
        for (number, line) in lines(&case).iter().enumerate() {
            let payload = &line["payload"];
            let event = payload["hook_event_name"].as_str().unwrap();
            bench.pass_until(bench.now + Duration::from_millis(500));
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
                _ => (bench.sight.clone(), bench.state()),
            };
            turns += usize::from(event == "BeforeAgent");
            dialogs += usize::from(event == "Notification");
            let findings = bench.driver.hook(event, payload);
            bench.hear(findings, |_| None);
            bench.sight = shown;
            bench.look();
            // A turn is over a little after its last hook.
            bench.pass_until(bench.now + DONE);
            assert_eq!(bench.state(), state, "{}:{} {event}", case.display(), number + 1);
        }
    }
    assert!(turns > 20 && dialogs > 20, "only {turns} turns and {dialogs} dialogs were recorded");
}
