//! What else happens in a session, whichever agent it is: its state stays true.

use coop_client::v1;

use crate::world::{Setup, World};

async fn status(world: &World) -> v1::GetStatusResponse {
    world.client().get_status(v1::GetStatusRequest {}).await.expect("a status").into_inner()
}

/// The agent runs this program, which is itself once more.
pub async fn another_one_inside_changes_nothing(setup: Setup, program: &str) {
    let Some(mut world) = setup.idle().await else { return };
    // What the inner one is told must not be read as told to the outer one.
    let nested = format!("{program} -p $'#hold nested\\n#say from inside' > inner 2>&1");
    let call = format!("{} #say outer done", world.shell_call(&nested));
    let nudged = world.nudge(&call).await.expect("taken");
    let input = world.wait_prompt().await.input_full.expect("the tool's input");
    let input: serde_json::Value = serde_json::from_str(&input).expect("it is JSON");
    assert_eq!(input["command"], nested.as_str());
    world.accept().await;
    world.api.wait_held("nested").await;
    let conversation = world.wait_state("working").await.agent_session_id;
    world.api.release("nested");
    world.hear("outer done").await;
    let idle = world.wait_state_after(nudged.seq, "idle").await;
    assert_eq!(idle.agent_session_id, conversation, "the inner one's is its own");
    let inner = std::fs::read_to_string(world.workspace().join("inner")).expect("it has run");
    assert!(inner.contains("from inside"), "{inner}");
    let states = world.states();
    let prompt = states.iter().rposition(|state| state == "prompt").expect("there was one");
    assert_eq!(states[prompt + 1..], ["working", "idle"], "{states:?}");
}

pub async fn killed_it_is_gone_at_once(setup: Setup) {
    let Some(mut world) = setup.idle().await else { return };
    world.works_at("gate", "#hold gate").await;
    world.signal("KILL").await;
    assert_eq!(world.wait_state("exited").await.detection_tier, "process");
    let status = status(&world).await;
    assert_eq!((status.exit_signal, status.exit_code), (Some(9), None));
    assert_eq!(world.states().last().map(String::as_str), Some("exited"));
}

/// With this command of its own.
pub async fn once_it_quits_it_has_exited(setup: Setup, command: &str) {
    let Some(mut world) = setup.idle().await else { return };
    world.paste(command).await;
    world.wait_state("exited").await;
    assert_eq!(status(&world).await.exit_code, Some(0));
}

pub async fn a_switch_goes_on_with_the_conversation_and_a_restart_begins_anew(setup: Setup) {
    let Some(mut world) = setup.idle().await else { return };
    world.echoes("the first part").await;
    let first = world.state().await.agent_session_id;
    let extra_env = [("EXTRA".to_owned(), "1".to_owned())].into();
    let switch = v1::SwitchSessionRequest { extra_env, ..Default::default() };
    world.client().switch_session(switch).await.expect("switched");
    world.wait_state("idle").await;
    world.echoes("the second part").await;
    assert_eq!(world.state().await.agent_session_id, first);
    let said = world.api.last_turn().body.to_string();
    assert!(said.contains("the first part") && said.contains("the second part"), "{said}");
    world.client().restart_session(v1::RestartSessionRequest::default()).await.expect("restarted");
    world.wait_state("idle").await;
    world.echoes("the third part").await;
    assert_ne!(world.state().await.agent_session_id, first);
}
