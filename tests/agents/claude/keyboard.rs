//! Claude on coop's terminal, driven by keys and the screen only.

use crate::harness::{Setup, TestSession};
use crate::keyboard::{self, AgentUi, Dialog};

const CLAUDE: AgentUi = AgentUi {
    setup: Setup::claude,
    planning: || Setup::claude().only_args(&["--permission-mode", "plan"]),
    ready: "mode on",
    permission: Dialog { text: "Do you want to proceed?", key: "1" },
    question: Dialog { text: "Enter to select", key: "2" },
    plan: Dialog { text: "Would you like to proceed?", key: "2" },
    approved: "done",
    streamed: "line 2 of 3",
    interrupted: "Interrupted",
};

#[tokio::test]
async fn a_message_is_answered() {
    keyboard::a_message_is_answered(&CLAUDE).await;
}

#[tokio::test]
async fn a_long_text_arrives_complete() {
    keyboard::a_long_text_arrives_complete(&CLAUDE, " more").await;
}

#[tokio::test]
async fn a_tool_asks_for_permission() {
    keyboard::a_tool_asks_for_permission(&CLAUDE).await;
}

#[tokio::test]
async fn a_question_is_answered() {
    keyboard::a_question_is_answered(&CLAUDE).await;
}

#[tokio::test]
async fn a_plan_is_shown() {
    keyboard::a_plan_is_shown(&CLAUDE).await;
}

#[tokio::test]
async fn an_interrupt_closes_the_connection_to_the_model() {
    keyboard::an_interrupt_closes_the_connection_to_the_model(&CLAUDE).await;
}

#[tokio::test]
async fn an_error_is_retried() {
    keyboard::an_error_is_retried(&CLAUDE, 529).await;
}

#[tokio::test]
async fn a_dropped_connection_is_retried() {
    keyboard::a_dropped_connection_is_retried(&CLAUDE).await;
}

/// Claude at its empty composer.
async fn ready() -> Option<TestSession> {
    let mut session = Setup::claude().start().await?;
    session.wait_text(CLAUDE.ready).await;
    Some(session)
}

#[tokio::test]
async fn a_held_reply_waits_for_the_test() {
    let Some(mut session) = ready().await else { return };
    session.paste("#stream 3x0 #hold middle #say the rest").await;
    session.api.wait_held("middle").await;
    session.wait_text("line 2 of 3").await;
    session.wait_text("esc to interrupt").await;
    session.api.release("middle");
    session.wait_reply("the rest").await;
}

#[tokio::test]
async fn a_message_to_a_busy_claude_is_queued() {
    let Some(mut session) = ready().await else { return };
    session.paste("#say started #hold gate").await;
    session.api.wait_held("gate").await;
    session.paste("the second message").await;
    session.wait_text("queued messages").await;
    session.api.release("gate");
    session.wait_reply("echo: the second message").await;
    assert_eq!(session.api.user_messages(), ["#say started #hold gate", "the second message"]);
}

#[tokio::test]
async fn a_compacted_conversation_continues() {
    let Some(mut session) = ready().await else { return };
    session.paste("remember this").await;
    session.wait_reply("echo: remember this").await;
    session.paste("/compact").await;
    session.wait_text("Compacted").await;
    session.paste("and this").await;
    session.wait_reply("echo: and this").await;
    assert_eq!(session.api.user_messages(), ["remember this", "and this"]);
    assert!(session.api.requests().iter().any(|request| request.parsed.side == Some("compact")));
}

#[tokio::test]
async fn a_message_to_a_subagent_reaches_the_model() {
    let Some(mut session) = ready().await else { return };
    let task = "#tool Task {\"description\":\"d\",\"prompt\":\"#say from below\",\
                \"subagent_type\":\"general-purpose\"}";
    session.paste(&format!("{task} #say from above")).await;
    session.wait_reply("from above").await;
    session.api.wait_for_messages(&[&format!("{task} #say from above"), "#say from below"]).await;
}

#[tokio::test]
async fn a_second_coop_continues_the_conversation() {
    let Some(mut session) = ready().await else { return };
    session.paste("the first part").await;
    session.wait_reply("echo: the first part").await;
    session.restart_coop(&Setup::claude().args(&["--continue"])).await;
    session.wait_text("manual mode on").await;
    session.paste("the second part").await;
    session.wait_reply("echo: the second part").await;
    assert_eq!(session.api.user_messages(), ["the first part", "the second part"]);
}
