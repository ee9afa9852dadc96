//! The real gemini is stopped, whatever it is doing.

use crate::interrupt;
use crate::world::Setup;

#[tokio::test]
async fn before_anything_has_streamed() {
    interrupt::before_anything_has_streamed(Setup::gemini()).await;
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
async fn at_rest_there_is_nothing_to_stop() {
    interrupt::at_rest_there_is_nothing_to_stop(Setup::gemini()).await;
}
