//! A second coop goes on with the conversation of the first, whichever agent it is.

use crate::world::Setup;

async fn resumed_by_its_id(setup: fn() -> Setup) {
    let Some(mut world) = setup().idle().await else { return };
    world.echoes("the first part").await;
    let id = world.state().await.agent_session_id.expect("a conversation has an id");
    world.start_again(&setup().coop(&["--resume", &id])).await;
    world.wait_state("idle").await;
    world.echoes("the second part").await;
    assert_eq!(world.state().await.agent_session_id, Some(id));
    let said = world.api.last_turn().body.to_string();
    assert!(said.contains("the first part") && said.contains("the second part"), "{said}");
}

#[tokio::test]
async fn claude_goes_on() {
    resumed_by_its_id(Setup::claude).await;
}

#[tokio::test]
async fn codex_goes_on() {
    resumed_by_its_id(Setup::codex).await;
}

#[tokio::test]
async fn gemini_goes_on() {
    resumed_by_its_id(Setup::gemini).await;
}
