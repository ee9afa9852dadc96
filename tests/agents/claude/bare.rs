//! Claude without coop's hooks, and claude that prints: the other sources carry the state alone.

use coop_client::v1;

use crate::world::{Setup, World};

async fn idle(setup: Setup) -> Option<World> {
    let mut world = setup.start().await?;
    world.wait_state("idle").await;
    Some(world)
}

#[tokio::test]
async fn without_hooks_log_status_file_title_and_screen_tell() {
    let Some(mut world) = idle(Setup::claude().coop(&["--groom", "pristine"])).await else { return };
    for round in 0..5 {
        let nudged = world.nudge(&format!("round {round}")).await.expect("taken");
        assert_eq!(nudged.outcome, "accepted");
        world.hear(&format!("echo: round {round}")).await;
        world.wait_state_after(nudged.seq, "idle").await;
    }
    world.nudge("#stream 3x0 #hold gate #say never").await.expect("taken");
    world.api.wait_held("gate").await;
    world.wait_state("working").await;
    assert!(world.interrupt().await.expect("an interrupt").delivered);
    world.wait_state("idle").await;
    world.nudge("#status 401 #status 401 #status 401").await.expect("taken");
    let error = world.wait_state("error").await;
    assert_eq!(error.error_category.as_deref(), Some("unauthorized"));
    let votes = world.explain().await.votes;
    assert!(votes.iter().all(|vote| vote.tier != "hooks"), "{votes:?}");
    assert!(votes.iter().any(|vote| vote.tier == "session_log"), "{votes:?}");
}

#[tokio::test]
async fn what_claude_prints_tells_as_well() {
    let print =
        |prompt: &str| Setup::claude().args(&["-p", prompt, "--output-format", "stream-json", "--verbose"]);
    let Some(mut world) = print("#hold gate #say printed").coop(&["--groom", "pristine"]).start().await
    else {
        return;
    };
    let working = world.wait_state("working").await;
    assert_eq!(working.detection_tier, "stdout");
    world.api.release("gate");
    let gone = world.wait_state("exited").await;
    assert!(gone.last_message.is_some_and(|said| said.contains("printed")));
    assert!(world.states().contains(&"idle".to_owned()), "{:?}", world.states());
    let status = world.client().get_status(v1::GetStatusRequest {}).await.expect("a status").into_inner();
    assert_eq!(status.exit_code, Some(0));

    let Some(mut world) = print("#status 401 #status 401").coop(&["--groom", "pristine"]).start().await
    else {
        return;
    };
    world.wait_state("exited").await;
    let failed = world.events().into_iter().find_map(|event| match event.payload {
        Some(v1::event::Payload::State(state)) if state.next == "error" => Some(state),
        _ => None,
    });
    assert_eq!(failed.expect("an error").error_category.as_deref(), Some("unauthorized"));
}
