//! Interrupts of the real claude in every phase of a turn.

use crate::harness::Setup;
use crate::interrupt;

#[tokio::test]
async fn soon_after_a_message() {
    interrupt::soon_after_a_message(Setup::claude()).await;
}

#[tokio::test]
async fn before_the_reply_starts() {
    interrupt::before_the_reply_starts(Setup::claude()).await;
}

#[tokio::test]
async fn while_text_streams() {
    interrupt::while_text_streams(Setup::claude(), "line 2 of 3").await;
}

#[tokio::test]
async fn while_a_tool_runs() {
    interrupt::while_a_tool_runs(Setup::claude()).await;
}

#[tokio::test]
async fn at_a_dialog() {
    interrupt::at_a_dialog(Setup::claude()).await;
}

#[tokio::test]
async fn at_a_question() {
    interrupt::at_a_question(Setup::claude()).await;
}

#[tokio::test]
async fn an_idle_agent_is_not_interrupted() {
    interrupt::an_idle_agent_is_not_interrupted(Setup::claude()).await;
}

#[tokio::test]
async fn while_it_thinks() {
    let Some(mut session) = Setup::claude().idle().await else { return };
    session.nudge_until_hold("gate", "#think deeply #hold gate #say never").await;
    interrupt::interrupts_and_continues(&mut session, "after the thought").await;
}

/// An Escape at the keyboard has the same effect as coop's interrupt.
#[tokio::test]
async fn by_a_user_at_the_keyboard() {
    let Some(mut session) = Setup::claude().idle().await else { return };
    for (name, text) in
        [("one", "#hold one #say never"), ("two", "#stream 3x0 #hold two #say never")]
    {
        let nudged = session.nudge_until_hold(name, text).await;
        session.press("\x1b").await;
        session.wait_state_after(nudged.seq, "idle").await;
        session.round_trip(&format!("after {name}")).await;
    }
}
