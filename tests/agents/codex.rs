//! The real codex, with nothing but keys and the screen.

use crate::world::{Setup, World};

/// At its empty prompt: the line with model and directory comes last.
async fn idle_codex(setup: Setup) -> Option<World> {
    let mut world = setup.start().await?;
    world.see("mock-model").await;
    Some(world)
}

#[tokio::test]
async fn codex_talks_to_the_fake() {
    let Some(mut world) = idle_codex(Setup::codex()).await else { return };
    world.paste("good morning to everybody").await;
    world.hear("echo: good morning to everybody").await;
    assert_eq!(world.api.user_messages(), ["good morning to everybody"]);
}
