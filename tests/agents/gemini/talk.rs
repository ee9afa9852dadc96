//! Gemini on coop's terminal, with nothing but keys and the screen.

use crate::talk::{self, Dialog, Face};
use crate::world::Setup;

const GEMINI: Face = Face {
    setup: Setup::gemini,
    planning: || Setup::gemini().args(&["--approval-mode", "plan"]),
    ready: "Type your message",
    permission: Dialog { words: "Allow execution of", key: "1" },
    question: Dialog { words: "Enter to select", key: "2" },
    plan: Dialog { words: "Ready to start implementation?", key: "2" },
    approved: "done",
    streamed: "line 1 of 3",
    interrupted: "Request cancelled",
};

#[tokio::test]
async fn a_message_is_answered() {
    talk::a_message_is_answered(&GEMINI).await;
}

#[tokio::test]
async fn a_long_text_arrives_whole() {
    talk::a_long_text_arrives_whole(&GEMINI, "\ttabs").await;
}

#[tokio::test]
async fn a_tool_is_asked_about() {
    talk::a_tool_is_asked_about(&GEMINI).await;
}

#[tokio::test]
async fn a_question_is_answered() {
    talk::a_question_is_answered(&GEMINI).await;
}

#[tokio::test]
async fn a_plan_is_shown() {
    talk::a_plan_is_shown(&GEMINI).await;
}

#[tokio::test]
async fn an_interrupted_reply_is_hung_up_on() {
    talk::an_interrupted_reply_is_hung_up_on(&GEMINI).await;
}

#[tokio::test]
async fn an_error_is_tried_again() {
    talk::an_error_is_tried_again(&GEMINI, 500).await;
}

#[tokio::test]
async fn a_cut_connection_is_survived() {
    talk::a_cut_connection_is_survived(&GEMINI).await;
}
