//! The real gemini, with nothing but keys and the screen.

use crate::world::{Setup, World};

/// At its empty prompt.
async fn idle_gemini(setup: Setup) -> Option<World> {
    let mut world = setup.start().await?;
    world.see("Type your message").await;
    Some(world)
}

#[tokio::test]
async fn gemini_talks_to_the_fake() {
    let Some(mut world) = idle_gemini(Setup::gemini()).await else { return };
    world.paste_then_enter("good morning to everybody").await;
    world.hear("echo: good morning to everybody").await;
    assert_eq!(world.api.user_messages(), ["good morning to everybody"]);
}
