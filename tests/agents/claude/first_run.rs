//! Claude on a machine where it has never run.

use crate::world::Setup;

#[tokio::test]
async fn a_fresh_claude_is_led_to_its_prompt_by_keys() {
    let Some(mut world) = Setup::claude().fresh().coop(&["--groom", "manual"]).start().await else { return };
    world.enter("Choose the text style").await;
    world.see("Do you want to use this API key?").await;
    world.pick("\x1b[A", "Yes").await;
    world.enter("Security notes:").await;
    world.pick("\x1b[B", "Yes, I trust this folder").await;
    world.see("manual mode on").await;
    world.paste("hello from the first run").await;
    world.hear("echo: hello from the first run").await;
    assert_eq!(world.api.user_messages(), ["hello from the first run"]);
    let called = world.api.requests();
    assert!(called.iter().any(|request| request.line.contains("/api/hello")), "{called:?}");
}
