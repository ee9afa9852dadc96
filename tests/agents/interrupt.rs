//! Interrupts in every phase of a turn, for every agent: the agent becomes idle and takes the next
//! message.

use std::time::Duration;

use serde_json::json;

use crate::fake_model::Outcome;
use crate::harness::{Setup, TestSession};
use crate::question::choice;

/// coop's interrupt ends the turn, and the next message arrives alone.
pub async fn interrupts_and_continues(session: &mut TestSession, after: &str) {
    let done = session.interrupt().await.expect("an interrupt");
    assert_eq!((done.delivered, done.outcome.as_str()), (true, "stopped"), "{done:?}");
    session.wait_state("idle").await;
    session.round_trip(after).await;
    assert_eq!(session.api.user_messages().last().map(String::as_str), Some(after));
}

/// An interrupt at any moment after a message was accepted: the turn is over and stays over, and
/// the agent takes the next message.
pub async fn soon_after_a_message(setup: Setup) {
    let Some(mut session) = setup.idle().await else { return };
    for delay_ms in [0, 50, 100, 200, 400, 700, 1000, 1500] {
        let message = format!("#hold h{delay_ms} #say never");
        let nudged = session.nudge(&message).await.expect("taken");
        assert_eq!(nudged.outcome, "accepted");
        // Nothing waits for this time: it only varies how far the turn has come.
        tokio::time::sleep(Duration::from_millis(delay_ms)).await;
        let done = session.interrupt().await.expect("an interrupt");
        let outcome = (done.delivered, done.outcome.as_str(), done.state.as_str());
        assert_eq!(outcome, (true, "stopped", "idle"), "after {delay_ms} ms");
        session.wait_stable("idle", Duration::from_secs(1)).await;
        let requests = session.api.requests();
        let open = requests.iter().filter(|request| request.outcome == Outcome::Open).count();
        assert_eq!(open, 0, "after {delay_ms} ms the model is still asked");
        let after = format!("after {delay_ms} ms");
        session.round_trip(&after).await;
        assert_eq!(session.api.user_messages().last(), Some(&after));
    }
}

pub async fn before_the_reply_starts(setup: Setup) {
    let Some(mut session) = setup.idle().await else { return };
    session.nudge_until_hold("gate", "#hold gate #say never").await;
    interrupts_and_continues(&mut session, "after the silence").await;
}

/// `shown` is the part of a reply, stopped after the third line, that the agent shows.
pub async fn while_text_streams(setup: Setup, shown: &str) {
    let Some(mut session) = setup.idle().await else { return };
    session.nudge_until_hold("gate", "#stream 3x0 #hold gate #say never").await;
    session.wait_text(shown).await;
    assert_eq!(session.state().await.state, "working", "whatever the screen looks like");
    interrupts_and_continues(&mut session, "after the stream").await;
}

pub async fn while_a_tool_runs(setup: Setup) {
    let Some(mut session) = setup.idle().await else { return };
    session.nudge(&session.shell_call("touch here; sleep 1000")).await.expect("taken");
    session.wait_prompt().await;
    session.accept().await;
    session.wait_file("here").await;
    session.wait_state("working").await;
    interrupts_and_continues(&mut session, "after the tool").await;
}

pub async fn at_a_dialog(setup: Setup) {
    let Some(mut session) = setup.idle().await else { return };
    session.nudge(&session.shell_call("touch never")).await.expect("taken");
    session.wait_prompt().await;
    interrupts_and_continues(&mut session, "after the dialog").await;
    assert!(!session.workspace().join("never").exists());
}

pub async fn at_a_question(setup: Setup) {
    let Some(mut session) = setup.idle().await else { return };
    session.allow_questions().await;
    let asked = json!([choice("Which color?", "Color", &["Red", "Green"], false)]);
    session.nudge(&format!("#ask {asked} #say never")).await.expect("taken");
    assert_eq!(session.wait_prompt().await.r#type, "question");
    interrupts_and_continues(&mut session, "after the question").await;
}

pub async fn an_idle_agent_is_not_interrupted(setup: Setup) {
    let Some(mut session) = setup.idle().await else { return };
    let done = session.interrupt().await.expect("an answer");
    assert_eq!((done.delivered, done.outcome.as_str()), (false, "nothing_to_stop"));
    assert_eq!(done.reason.as_deref(), Some("nothing_to_stop"));
    assert_eq!(session.state().await.state, "idle");
    session.round_trip("still here").await;
}
