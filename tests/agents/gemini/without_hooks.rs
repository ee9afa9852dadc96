//! Gemini without coop's hooks, interactive or printing JSON.

use crate::harness::Setup;
use crate::without_hooks;

#[tokio::test]
async fn state_comes_from_title_log_and_screen() {
    let Some(mut session) = Setup::gemini().coop(&["--groom", "pristine"]).idle().await else {
        return;
    };
    assert!(!session.home().join(".gemini/extensions/coop-hooks").exists());
    let reason = session.explain().await.reason;
    assert!(reason.contains("the agent's hooks do not reach coop"), "{reason}");
    without_hooks::messages_permission_and_interrupt_work(&mut session, "run_shell_command").await;
    let votes = session.explain().await.votes;
    assert!(votes.iter().all(|vote| vote.tier != "hooks"), "{votes:?}");
    assert!(votes.iter().any(|vote| vote.tier == "terminal"), "{votes:?}");
}

fn print(prompt: &str) -> Setup {
    Setup::gemini().args(&["-p", prompt, "-o", "stream-json"])
}

#[tokio::test]
async fn printed_json_reports_the_state() {
    let Some(working) = without_hooks::printed_json_reports_the_state(print).await else { return };
    assert_eq!(working.detection_tier, "stdout");
    without_hooks::a_printed_failure_is_an_error(print).await;
}
