//! Claude on coop's terminal, with nothing but keys and the screen: what the other tests stand on.

use crate::world::Setup;

#[tokio::test]
async fn claude_talks_to_the_fake() {
    let Some(mut world) = Setup::claude().start().await else { return };
    world.see("manual mode on").await;
    world.paste("good morning to everybody").await;
    world.see("echo: good morning to everybody").await;
    assert_eq!(world.api.user_messages(), ["good morning to everybody"]);
}
