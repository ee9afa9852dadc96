//! Which processes get a signal.

use super::*;

#[tokio::test]
async fn the_foreground_job_gets_the_signal_and_the_shell_survives() {
    let fixture = Fixture::new().await;
    let mut interactive = launch("bash", &["--norc", "--noprofile", "-i"]);
    interactive.env.push(("PS1".into(), "prompt> ".into()));
    let mut session = fixture.spawn(&interactive);
    session.until("prompt> ").await;
    session
        .type_all(
            b"sh -c 'trap \"echo inter\"\"rupted; exit 3\" INT; \
              echo run\"\"ning; while :; do sleep 1000 & wait $!; done'\n",
        )
        .await;
    session.until("running").await;
    assert_ne!(session.control.foreground_group(), Some(session.child.pid()));
    session.child.signal_foreground(&session.control, Signal::INT).await.expect("sent");
    session.until("interrupted").await;
    session.until("prompt> ").await;
    session.type_all(b"echo status=$?\n").await;
    session.until("\nstatus=").await;
    assert_eq!(session.child.exit(), None);
    fixture.end(&session).await;
}

#[tokio::test]
async fn a_child_in_the_foreground_gets_the_signal_with_its_group() {
    let fixture = Fixture::new().await;
    let mut session = fixture.shell(
        "trap 'echo outer' INT; sh -c 'trap \"echo inner; exit\" INT; echo ready; \
         while :; do sleep 1000 & wait $!; done'; read line",
    );
    session.until("ready").await;
    session.child.signal_foreground(&session.control, Signal::INT).await.expect("sent");
    session.until("inner").await;
    session.until("outer").await;
    fixture.end(&session).await;
}

#[tokio::test]
async fn the_whole_tree_gets_a_signal() {
    let fixture = Fixture::new().await;
    let mut session = fixture.shell(
        "trap 'echo outer; exit 2' USR1
         setsid sh -c 'trap \"echo inner; exit\" USR1; echo ready; \
         while :; do sleep 1000 & wait $!; done' &
         wait $!; sleep 1000 & wait $!",
    );
    session.until("ready").await;
    let reached = session.child.signal_tree("USR1".parse().expect("a signal")).await.expect("sent");
    assert!(reached >= 2, "{reached}");
    assert_eq!(session.exit().await, Exit::Code(2));
    session.until_all(&["inner", "outer"]).await;
    fixture.end(&session).await;
}
