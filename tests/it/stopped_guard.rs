//! The guard process is stopped, as the agent's user can do: the session answers meanwhile, and
//! coop still ends what it started.

use coop_client::v1;
use rustix::process::{Pid, Signal, kill_process};

use crate::support::coop::Coop;
use crate::support::session::{child_pid, event, lives, pid_in, see, type_line};
use crate::support::{soon, until};

fn stat(pid: i32) -> Option<Vec<String>> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    Some(stat.rsplit_once(") ")?.1.split(' ').map(str::to_owned).collect())
}

/// The guard process of this coop: the parent of its child.
async fn guard(coop: &Coop) -> Pid {
    let child = child_pid(&mut coop.grpc().await).await;
    let parent = stat(child).expect("the child runs")[1].parse().expect("a pid");
    assert_eq!(stat(parent).expect("it runs")[1], coop.pid().to_string(), "a child of coop");
    Pid::from_raw(parent).expect("a pid")
}

async fn stop(guard: Pid) {
    kill_process(guard, Signal::STOP).expect("stopped");
    until("the guard to be stopped", async || (stat(guard.as_raw_pid())?[0] == "T").then_some(()))
        .await;
}

#[tokio::test]
async fn the_session_answers_while_the_guard_is_stopped() {
    let coop = Coop::run(["bash", "--norc", "-i"]).await;
    let mut client = coop.grpc().await;
    // A signal for a job in the foreground needs the guard, which knows the processes.
    type_line(&mut client, "sh -c 'trap \"echo inter\"\"rupted\" INT; echo run\"\"ning; cat; cat'")
        .await;
    see(&mut client, "running").await;
    let guard = guard(&coop).await;
    let mut events = client.stream_events(v1::StreamEventsRequest::default()).await;
    let events = events.as_mut().expect("events").get_mut();
    stop(guard).await;

    let mut signaller = coop.grpc().await;
    let signal = v1::SendSignalRequest { signal: "INT".to_owned() };
    let mut sent = std::pin::pin!(signaller.send_signal(signal));
    tokio::select! {
        _ = event(events, "signal") => {}
        answer = &mut sent => panic!("sent without the guard: {answer:?}"),
    }
    let resize = v1::ResizeRequest { cols: 91, rows: 23 };
    tokio::select! {
        biased;
        answer = &mut sent => panic!("sent without the guard: {answer:?}"),
        resized = soon("a size", client.resize(resize)) => drop(resized.expect("resized")),
    }
    kill_process(guard, Signal::CONT).expect("continued");
    soon("the signal", sent).await.expect("sent");
    see(&mut client, "interrupted").await;
    assert!(lives(guard.as_raw_pid()), "the guard is still there");
}

#[tokio::test]
async fn a_coop_whose_guard_stays_stopped_ends_the_tree() {
    let dir = tempfile::tempdir().expect("a directory");
    let file = dir.path().join("pid").to_string_lossy().into_owned();
    let script = "trap '' HUP; setsid sleep 1000 & echo $! > \"$0\"; sleep 1000";
    let mut coop = Coop::run(["sh", "-c", script, &file]).await;
    let daemon = pid_in(file.as_ref()).await;
    let child = child_pid(&mut coop.grpc().await).await;
    let guard = guard(&coop).await;
    stop(guard).await;
    let request = v1::ShutdownRequest { grace_ms: Some(0) };
    soon("the shutdown", coop.grpc().await.shutdown(request)).await.expect("accepted");
    coop.ended().await;
    for pid in [child, daemon, guard.as_raw_pid()] {
        assert!(!lives(pid), "{pid} is left");
    }
}
