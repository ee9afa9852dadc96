//! Codex on coop's terminal, driven by keys and the screen only.

use crate::harness::Setup;
use crate::keyboard::{self, AgentUi, Dialog};

const CODEX: AgentUi = AgentUi {
    setup: Setup::codex,
    planning: Setup::codex,
    ready: "mock-model",
    permission: Dialog { text: "Would you like to run the following command?", key: "y" },
    question: Dialog { text: "enter to submit answer", key: "2" },
    plan: Dialog { text: "Implement this plan?", key: "1" },
    approved: "echo: Implement the plan.",
    streamed: "line 2 of 3",
    interrupted: "Conversation interrupted",
};

#[tokio::test]
async fn a_message_is_answered() {
    keyboard::a_message_is_answered(&CODEX).await;
}

#[tokio::test]
async fn a_long_text_arrives_complete() {
    keyboard::a_long_text_arrives_complete(&CODEX, "\ttabs").await;
}

#[tokio::test]
async fn a_tool_asks_for_permission() {
    keyboard::a_tool_asks_for_permission(&CODEX).await;
}

#[tokio::test]
async fn a_question_is_answered() {
    keyboard::a_question_is_answered(&CODEX).await;
}

#[tokio::test]
async fn a_plan_is_shown() {
    keyboard::a_plan_is_shown(&CODEX).await;
}

#[tokio::test]
async fn an_interrupt_closes_the_connection_to_the_model() {
    keyboard::an_interrupt_closes_the_connection_to_the_model(&CODEX).await;
}

#[tokio::test]
async fn an_error_is_retried() {
    keyboard::an_error_is_retried(&CODEX, 500).await;
}

#[tokio::test]
async fn a_dropped_connection_is_retried() {
    keyboard::a_dropped_connection_is_retried(&CODEX).await;
}
