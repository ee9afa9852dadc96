//! Gemini on coop's terminal, driven by keys and the screen only.

use crate::harness::Setup;
use crate::keyboard::{self, AgentUi, Dialog};

const GEMINI: AgentUi = AgentUi {
    setup: Setup::gemini,
    planning: || Setup::gemini().args(&["--approval-mode", "plan"]),
    ready: "Type your message",
    permission: Dialog { text: "Allow execution of", key: "1" },
    question: Dialog { text: "Enter to select", key: "2" },
    plan: Dialog { text: "Ready to start implementation?", key: "2" },
    approved: "done",
    streamed: "line 1 of 3",
    interrupted: "Request cancelled",
};

#[tokio::test]
async fn a_message_is_answered() {
    keyboard::a_message_is_answered(&GEMINI).await;
}

#[tokio::test]
async fn a_long_text_arrives_complete() {
    keyboard::a_long_text_arrives_complete(&GEMINI, "\ttabs").await;
}

#[tokio::test]
async fn a_tool_asks_for_permission() {
    keyboard::a_tool_asks_for_permission(&GEMINI).await;
}

#[tokio::test]
async fn a_question_is_answered() {
    keyboard::a_question_is_answered(&GEMINI).await;
}

#[tokio::test]
async fn a_plan_is_shown() {
    keyboard::a_plan_is_shown(&GEMINI).await;
}

#[tokio::test]
async fn an_interrupt_closes_the_connection_to_the_model() {
    keyboard::an_interrupt_closes_the_connection_to_the_model(&GEMINI).await;
}

#[tokio::test]
async fn an_error_is_retried() {
    keyboard::an_error_is_retried(&GEMINI, 500).await;
}

#[tokio::test]
async fn a_dropped_connection_is_retried() {
    keyboard::a_dropped_connection_is_retried(&GEMINI).await;
}
