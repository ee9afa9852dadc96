//! Interrupts of the real codex in every phase of a turn.

use crate::harness::Setup;
use crate::interrupt;

#[tokio::test]
async fn soon_after_a_message() {
    interrupt::soon_after_a_message(Setup::codex()).await;
}

#[tokio::test]
async fn before_the_reply_starts() {
    interrupt::before_the_reply_starts(Setup::codex()).await;
}

#[tokio::test]
async fn while_text_streams() {
    interrupt::while_text_streams(Setup::codex(), "line 2 of 3").await;
}

#[tokio::test]
async fn at_a_dialog() {
    interrupt::at_a_dialog(Setup::codex()).await;
}

#[tokio::test]
async fn at_a_question() {
    interrupt::at_a_question(Setup::codex()).await;
}

#[tokio::test]
async fn an_idle_agent_is_not_interrupted() {
    interrupt::an_idle_agent_is_not_interrupted(Setup::codex()).await;
}

#[tokio::test]
async fn while_a_command_runs_that_continues_in_the_background() {
    let Some(mut session) = Setup::codex().idle().await else { return };
    let call = serde_json::json!({ "cmd": "touch begun; sleep 120", "yield_time_ms": 30000 });
    session.nudge(&format!("#tool exec_command {call}")).await.expect("taken");
    session.wait_file("begun").await;
    interrupt::interrupts_and_continues(&mut session, "after the command").await;
}
