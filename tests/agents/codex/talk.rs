//! Codex on coop's terminal, with nothing but keys and the screen.

use crate::talk::{self, Dialog, Face};
use crate::world::Setup;

const CODEX: Face = Face {
    setup: Setup::codex,
    planning: Setup::codex,
    ready: "mock-model",
    permission: Dialog { words: "Would you like to run the following command?", key: "y" },
    question: Dialog { words: "enter to submit answer", key: "2" },
    plan: Dialog { words: "Implement this plan?", key: "1" },
    approved: "echo: Implement the plan.",
    streamed: "line 2 of 3",
    interrupted: "Conversation interrupted",
};

#[tokio::test]
async fn a_message_is_answered() {
    talk::a_message_is_answered(&CODEX).await;
}

#[tokio::test]
async fn a_long_text_arrives_whole() {
    talk::a_long_text_arrives_whole(&CODEX, "\ttabs").await;
}

#[tokio::test]
async fn a_tool_is_asked_about() {
    talk::a_tool_is_asked_about(&CODEX).await;
}

#[tokio::test]
async fn a_question_is_answered() {
    talk::a_question_is_answered(&CODEX).await;
}

#[tokio::test]
async fn a_plan_is_shown() {
    talk::a_plan_is_shown(&CODEX).await;
}

#[tokio::test]
async fn an_interrupted_reply_is_hung_up_on() {
    talk::an_interrupted_reply_is_hung_up_on(&CODEX).await;
}

#[tokio::test]
async fn an_error_is_tried_again() {
    talk::an_error_is_tried_again(&CODEX, 500).await;
}

#[tokio::test]
async fn a_cut_connection_is_survived() {
    talk::a_cut_connection_is_survived(&CODEX).await;
}
