//! Interrupts of the real gemini in every phase of a turn.

use crate::harness::Setup;
use crate::interrupt;

#[tokio::test]
async fn soon_after_a_message() {
    interrupt::soon_after_a_message(Setup::gemini()).await;
}

#[tokio::test]
async fn before_the_reply_starts() {
    interrupt::before_the_reply_starts(Setup::gemini()).await;
}

#[tokio::test]
async fn while_text_streams() {
    interrupt::while_text_streams(Setup::gemini(), "line 1 of 3").await;
}

#[tokio::test]
async fn while_a_tool_runs() {
    interrupt::while_a_tool_runs(Setup::gemini()).await;
}

#[tokio::test]
async fn at_a_dialog() {
    interrupt::at_a_dialog(Setup::gemini()).await;
}

#[tokio::test]
async fn at_a_question() {
    interrupt::at_a_question(Setup::gemini()).await;
}

#[tokio::test]
async fn an_idle_agent_is_not_interrupted() {
    interrupt::an_idle_agent_is_not_interrupted(Setup::gemini()).await;
}
