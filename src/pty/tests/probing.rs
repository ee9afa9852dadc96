//! Programs that run only for their output.

use super::*;
use std::time::Instant;

fn probe(script: &str, time: Duration) -> Probe {
    Probe {
        program: "/bin/sh".into(),
        args: vec!["-c".into(), script.into()],
        env: vec![("PATH".into(), "/usr/bin:/bin".into()), ("NAME".into(), "tool".into())],
        cwd: PathBuf::from("/"),
        output_limit: 4096,
        deadline: tokio::time::Instant::now() + time,
    }
}

#[tokio::test]
async fn the_output_of_a_program_is_returned() {
    let fixture = Fixture::new().await;
    let script = "read line; echo \"$NAME 1.2.3 in $PWD$line\"; echo no >&2; exit 3";
    let output = within("the output", probe(script, LONG).output(fixture.reaper)).await;
    assert_eq!(output.expect("started"), b"tool 1.2.3 in /\n");
}

#[tokio::test]
async fn a_program_that_does_not_exist_is_an_error() {
    let fixture = Fixture::new().await;
    let missing = Probe { program: "/no/such/program".into(), ..probe("", LONG) };
    let error = missing.output(fixture.reaper).await.expect_err("not started");
    assert_eq!(error.kind(), std::io::ErrorKind::NotFound);
}

#[tokio::test]
async fn output_beyond_the_limit_is_not_read() {
    let fixture = Fixture::new().await;
    let output = within("the output", probe("exec yes", LONG).output(fixture.reaper)).await;
    assert_eq!(output.expect("started").len(), 4096);
}

#[tokio::test]
async fn the_program_leads_a_session_of_its_own() {
    let fixture = Fixture::new().await;
    let script = "echo $$; cat /proc/$$/stat";
    let output = within("the output", probe(script, LONG).output(fixture.reaper)).await;
    let output = String::from_utf8(output.expect("started")).expect("UTF-8");
    let (pid, stat) = output.split_once('\n').expect("two lines");
    let fields: Vec<&str> = stat.split(' ').collect();
    assert_eq!((fields[4], fields[5]), (pid, pid), "group and session");
}

#[tokio::test]
async fn at_the_deadline_the_output_so_far_is_returned_and_the_group_is_killed() {
    let fixture = Fixture::new().await;
    let script = "trap '' HUP TERM; sleep 1000 & echo $$ $!; wait";
    let start = Instant::now();
    let output = probe(script, Duration::from_secs(1)).output(fixture.reaper).await;
    assert!(start.elapsed() >= Duration::from_secs(1));
    let pids = pids(&output.expect("started"));
    assert_eq!(pids.len(), 2);
    for pid in pids {
        fixture.until_gone(pid).await;
    }
}

/// The leader has exited and its exit was swept, so only the held group keeps the number from
/// meaning another process.
#[tokio::test]
async fn a_background_process_that_holds_the_output_open_is_killed_at_the_deadline() {
    let fixture = Fixture::new().await;
    let script = "sleep 1000 & echo $$ $!; exit 0";
    let output = probe(script, Duration::from_secs(1)).output(fixture.reaper).await;
    let pids = pids(&output.expect("started"));
    assert_eq!(pids.len(), 2);
    for pid in pids {
        fixture.until_gone(pid).await;
    }
}

#[tokio::test]
async fn a_background_process_is_killed_when_the_output_ends() {
    let fixture = Fixture::new().await;
    let script = "sleep 1000 >/dev/null & echo $$ $!; exit 0";
    let output = within("the output", probe(script, LONG).output(fixture.reaper)).await;
    for pid in pids(&output.expect("started")) {
        fixture.until_gone(pid).await;
    }
}

#[tokio::test]
async fn dropping_the_future_kills_the_group() {
    let fixture = Fixture::new().await;
    let dir = tempfile::tempdir().expect("a directory");
    let fifo = dir.path().join("pids");
    let made = std::process::Command::new("mkfifo").arg(&fifo).status().expect("mkfifo");
    assert!(made.success());
    let started = tokio::net::unix::pipe::OpenOptions::new().open_receiver(&fifo).expect("a pipe");
    let script = format!("sleep 1000 & echo $$ $! >{}; wait", fifo.display());
    let mut line = Vec::new();
    within("the start", async {
        tokio::select! {
            output = probe(&script, LONG).output(fixture.reaper) => panic!("{output:?}"),
            () = async {
                while !line.ends_with(b"\n") {
                    started.readable().await.expect("a pipe");
                    let mut chunk = [0; 64];
                    if let Ok(count) = started.try_read(&mut chunk) {
                        line.extend_from_slice(&chunk[..count]);
                    }
                    tokio::task::yield_now().await;
                }
            } => {}
        }
    })
    .await;
    let pids = pids(&line);
    assert_eq!(pids.len(), 2);
    for pid in pids {
        fixture.until_gone(pid).await;
    }
}

#[tokio::test]
async fn ending_a_child_does_not_end_a_probe() {
    let fixture = Fixture::new().await;
    let session = fixture.shell("sleep 1000");
    let mut probing = JoinSet::new();
    let script = "read line; sleep 0.3; echo done";
    probing.spawn(probe(script, LONG).output(fixture.reaper));
    fixture.end(&session).await;
    let output = within("the output", probing.join_next()).await.expect("a task");
    assert_eq!(output.expect("no panic").expect("started"), b"done\n");
}

fn pids(output: &[u8]) -> Vec<i32> {
    let text = String::from_utf8_lossy(output);
    text.split_whitespace().map(|pid| pid.parse().expect("a pid")).collect()
}
