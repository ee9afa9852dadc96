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
    world.wait_state("working").await;
    world.api.wait_held("gate").await;
    let votes = world.explain().await.votes;
    let printed = votes.iter().find(|vote| vote.tier == "stdout").expect("what it printed was read");
    assert_eq!(printed.state, "working");
    world.api.release("gate");
    let gone = world.wait_state("exited").await;
    assert!(gone.last_message.is_some_and(|said| said.contains("printed")));
    let status = world.client().get_status(v1::GetStatusRequest {}).await.expect("a status").into_inner();
    assert_eq!(status.exit_code, Some(0));
    drop(world);

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

/// Neither hooks nor title nor status file: the log and the screen are all there is.
#[tokio::test]
async fn log_and_screen_alone_are_enough() {
    let setup = Setup::claude().coop(&["--groom", "pristine", "--only-log-and-screen"]);
    let Some(mut world) = idle(setup).await else { return };
    for round in 0..3 {
        let nudged = world.nudge(&format!("round {round}")).await.expect("taken");
        world.hear(&format!("echo: round {round}")).await;
        world.wait_state_after(nudged.seq, "idle").await;
    }
    world
        .nudge("#tool Bash {\"command\":\"touch made\",\"description\":\"d\"} #say made")
        .await
        .expect("taken");
    let prompt = world.wait_prompt().await;
    assert_eq!(prompt.tool.as_deref(), Some("Bash"));
    assert_eq!(world.accept().await.outcome, "answered");
    world.hear("made").await;
    world.wait_state("idle").await;
    world.nudge("#stream 3x0 #hold gate #say never").await.expect("taken");
    world.api.wait_held("gate").await;
    world.wait_state("working").await;
    assert!(world.interrupt().await.expect("an interrupt").delivered);
    world.wait_state("idle").await;
    world.nudge("#status 500 #status 500 #status 500").await.expect("taken");
    assert_eq!(world.wait_state("error").await.error_category.as_deref(), Some("server_error"));
    let tiers: Vec<String> = world.explain().await.votes.into_iter().map(|vote| vote.tier).collect();
    assert!(tiers.iter().all(|tier| tier == "session_log" || tier == "screen"), "{tiers:?}");
}
