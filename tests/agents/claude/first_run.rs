//! Claude on a machine where it has never run.

use crate::world::Setup;

#[tokio::test]
async fn a_fresh_claude_asks_for_a_theme() {
    let Some(mut world) = Setup::claude().fresh().start().await else { return };
    world.see("Choose the text style").await;
    let called = world.api.requests();
    assert!(called.iter().any(|request| request.line.contains("hello")), "{called:?}");
}
