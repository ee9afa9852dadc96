//! A second coop resumes the conversation of the first, for every agent.

use crate::harness::Setup;

async fn resumed_by_its_id(setup: fn() -> Setup) {
    let Some(mut session) = setup().idle().await else { return };
    session.round_trip("the first part").await;
    let id = session.state().await.agent_session_id.expect("a conversation has an id");
    session.restart_coop(&setup().coop(&["--resume", &id])).await;
    session.wait_state("idle").await;
    session.round_trip("the second part").await;
    assert_eq!(session.state().await.agent_session_id, Some(id));
    let said = session.api.last_turn().body.to_string();
    assert!(said.contains("the first part") && said.contains("the second part"), "{said}");
}

#[tokio::test]
async fn claude_resumes() {
    resumed_by_its_id(Setup::claude).await;
}

#[tokio::test]
async fn codex_resumes() {
    resumed_by_its_id(Setup::codex).await;
}

#[tokio::test]
async fn gemini_resumes() {
    resumed_by_its_id(Setup::gemini).await;
}
