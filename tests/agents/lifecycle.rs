//! Events in the lifecycle of a session, for every agent, and the state they lead to.

use coop_client::v1;

use crate::harness::{Setup, TestSession};

async fn status(session: &TestSession) -> v1::GetStatusResponse {
    session.client().get_status(v1::GetStatusRequest {}).await.expect("a status").into_inner()
}

/// The agent runs another instance of its own program.
pub async fn a_nested_agent_does_not_change_the_state(setup: Setup, program: &str) {
    let Some(mut session) = setup.idle().await else { return };
    // The inner prompt must not be read as directives for the outer one.
    let nested = format!("{program} -p $'#hold nested\\n#say from inside' > inner 2>&1");
    let call = format!("{} #say outer done", session.shell_call(&nested));
    let nudged = session.nudge(&call).await.expect("taken");
    let input = session.wait_prompt().await.input_full.expect("the tool's input");
    let input: serde_json::Value = serde_json::from_str(&input).expect("it is JSON");
    assert_eq!(input["command"], nested.as_str());
    session.accept().await;
    session.api.wait_held("nested").await;
    let conversation = session.wait_state("working").await.agent_session_id;
    session.api.release("nested");
    session.wait_reply("outer done").await;
    let idle = session.wait_state_after(nudged.seq, "idle").await;
    assert_eq!(idle.agent_session_id, conversation, "the inner agent has its own conversation");
    let inner = std::fs::read_to_string(session.workspace().join("inner")).expect("it has run");
    assert!(inner.contains("from inside"), "{inner}");
    let states = session.states();
    let prompt = states.iter().rposition(|state| state == "prompt").expect("there was one");
    assert_eq!(states[prompt + 1..], ["working", "idle"], "{states:?}");
}

pub async fn a_killed_agent_has_exited(setup: Setup) {
    let Some(mut session) = setup.idle().await else { return };
    session.nudge_until_hold("gate", "#hold gate").await;
    session.signal("KILL").await;
    assert_eq!(session.wait_state("exited").await.detection_tier, "process");
    let status = status(&session).await;
    assert_eq!((status.exit_signal, status.exit_code), (Some(9), None));
    assert_eq!(session.states().last().map(String::as_str), Some("exited"));
}

/// The agent quits by this command.
pub async fn an_agent_that_quits_has_exited(setup: Setup, command: &str) {
    let Some(mut session) = setup.idle().await else { return };
    session.paste(command).await;
    session.wait_state("exited").await;
    assert_eq!(status(&session).await.exit_code, Some(0));
}

pub async fn a_switch_continues_the_conversation_and_a_restart_starts_a_new_one(setup: Setup) {
    let Some(mut session) = setup.idle().await else { return };
    session.round_trip("the first part").await;
    let first = session.state().await.agent_session_id;
    let extra_env = [("EXTRA".to_owned(), "1".to_owned())].into();
    let switch = v1::SwitchSessionRequest { extra_env, ..Default::default() };
    session.client().switch_session(switch).await.expect("switched");
    session.wait_state("idle").await;
    session.round_trip("the second part").await;
    assert_eq!(session.state().await.agent_session_id, first);
    let said = session.api.last_turn().body.to_string();
    assert!(said.contains("the first part") && said.contains("the second part"), "{said}");
    session
        .client()
        .restart_session(v1::RestartSessionRequest::default())
        .await
        .expect("restarted");
    session.wait_state("idle").await;
    session.round_trip("the third part").await;
    assert_ne!(session.state().await.agent_session_id, first);
}
