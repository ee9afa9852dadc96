//! An agent without coop's hooks, and an agent that prints: the other sources carry the state alone.

use coop_client::v1;

use crate::world::{Setup, World};

/// Messages, a command that this tool asks about, and an interrupt.
pub async fn all_goes_on(world: &mut World, tool: &str) {
    for round in 0..5 {
        world.echoes(&format!("round {round}")).await;
    }
    world.nudge(&format!("{} #say allowed", world.shell_call("touch made"))).await.expect("taken");
    let prompt = world.wait_prompt().await;
    assert_eq!((prompt.r#type.as_str(), prompt.tool.as_deref()), ("permission", Some(tool)));
    assert_eq!(world.accept().await.outcome, "answered");
    world.hear("allowed").await;
    world.wait_state("idle").await;
    assert!(world.workspace().join("made").exists());
    world.works_at("gate", "#stream 3x0 #hold gate #say never").await;
    assert!(world.interrupt().await.expect("an interrupt").delivered);
    world.wait_state("idle").await;
}

/// Runs one turn that is printed, and answers what was known in the middle of it.
pub async fn what_it_prints_tells_as_well(
    print: impl Fn(&str) -> Setup,
) -> Option<v1::GetAgentStateResponse> {
    let mut world = print("#hold gate #say printed").coop(&["--groom", "pristine"]).start().await?;
    world.api.wait_held("gate").await;
    let working = world.wait_state("working").await;
    let votes = world.explain().await.votes;
    assert!(votes.iter().any(|vote| vote.tier == "stdout" && vote.state == "working"), "{votes:?}");
    world.api.release("gate");
    let gone = world.wait_state("exited").await;
    assert_eq!(gone.last_message.as_deref(), Some("printed"));
    assert!(gone.agent_session_id.is_some(), "{gone:?}");
    let status = world.client().get_status(v1::GetStatusRequest {}).await.expect("a status").into_inner();
    assert_eq!(status.exit_code, Some(0));
    Some(working)
}

pub async fn a_printed_failure_is_an_error(print: impl Fn(&str) -> Setup) {
    let setup = print("#status 401 #status 401").coop(&["--groom", "pristine"]);
    let Some(mut world) = setup.start().await else { return };
    world.wait_state("exited").await;
    let failed = world.events().into_iter().find_map(|event| match event.payload {
        Some(v1::event::Payload::State(state)) if state.next == "error" => Some(state),
        _ => None,
    });
    assert_eq!(failed.expect("an error").error_category.as_deref(), Some("unauthorized"));
}
