//! An agent without coop's hooks, interactive or printing JSON: its state comes from the other
//! sources.

use coop_client::v1;

use crate::harness::{Setup, TestSession};

/// Messages, a permission for this tool, and an interrupt.
pub async fn messages_permission_and_interrupt_work(session: &mut TestSession, tool: &str) {
    for round in 0..5 {
        session.round_trip(&format!("round {round}")).await;
    }
    session
        .nudge(&format!("{} #say allowed", session.shell_call("touch made")))
        .await
        .expect("taken");
    let prompt = session.wait_prompt().await;
    assert_eq!((prompt.r#type.as_str(), prompt.tool.as_deref()), ("permission", Some(tool)));
    assert_eq!(session.accept().await.outcome, "answered");
    session.wait_reply("allowed").await;
    session.wait_state("idle").await;
    assert!(session.workspace().join("made").exists());
    session.nudge_until_hold("gate", "#stream 3x0 #hold gate #say never").await;
    assert!(session.interrupt().await.expect("an interrupt").delivered);
    session.wait_state("idle").await;
}

/// Runs one turn in print mode, and returns the state during the turn.
pub async fn printed_json_reports_the_state(
    print: impl Fn(&str) -> Setup,
) -> Option<v1::GetAgentStateResponse> {
    let mut session =
        print("#hold gate #say printed").coop(&["--groom", "pristine"]).start().await?;
    session.api.wait_held("gate").await;
    let working = session.wait_state("working").await;
    let votes = session.explain().await.votes;
    assert!(votes.iter().any(|vote| vote.tier == "stdout" && vote.state == "working"), "{votes:?}");
    session.api.release("gate");
    let gone = session.wait_state("exited").await;
    assert_eq!(gone.last_message.as_deref(), Some("printed"));
    assert!(gone.agent_session_id.is_some(), "{gone:?}");
    let status =
        session.client().get_status(v1::GetStatusRequest {}).await.expect("a status").into_inner();
    assert_eq!(status.exit_code, Some(0));
    Some(working)
}

pub async fn a_printed_failure_is_an_error(print: impl Fn(&str) -> Setup) {
    let setup = print("#status 401 #status 401").coop(&["--groom", "pristine"]);
    let Some(mut session) = setup.start().await else { return };
    session.wait_state("exited").await;
    let failed = session.events().into_iter().find_map(|event| match event.payload {
        Some(v1::event::Payload::State(state)) if state.next == "error" => Some(state),
        _ => None,
    });
    assert_eq!(failed.expect("an error").error_category.as_deref(), Some("unauthorized"));
}
