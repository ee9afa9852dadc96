//! The throughput of a flood with an up-to-date screen: the raw PTY, tmux and coop, in turns.

mod support;

use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

use coop::pty::{Launch, Reaper, WindowSize};
use coop_client::v1;
use support::{Coop, heading, mixed, row};

const BYTES: usize = 200 << 20;
const ROUNDS: usize = 3;

fn main() {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let dir = tempfile::tempdir().expect("a directory");
    let file = dir.path().join("flood");
    fs::write(&file, mixed(BYTES)).expect("written");
    let file = file.to_str().expect("text");

    heading(&format!(
        "drain: cat of {} MiB of mixed text and ANSI at 200x50, best of {ROUNDS}",
        BYTES >> 20
    ));
    let mut best = [Duration::MAX; 3];
    let mut peak: f64 = 0.0;
    for _ in 0..ROUNDS {
        best[0] = best[0].min(runtime.block_on(raw_pty(file)));
        best[1] = best[1].min(tmux(file));
        let (time, memory) = runtime.block_on(through_coop(file));
        best[2] = best[2].min(time);
        peak = peak.max(memory);
    }
    let speed = |time: Duration| (BYTES >> 20) as f64 / time.as_secs_f64();
    let [raw, tmux, coop] = best.map(speed);
    row("raw PTY, bytes discarded", &format!("{raw:7.1} MiB/s"));
    row("tmux", &format!("{tmux:7.1} MiB/s"));
    row(
        "coop",
        &format!("{coop:7.1} MiB/s   {:.2} x tmux, {:.2} x raw PTY", coop / tmux, coop / raw),
    );
    row("coop, peak RSS", &format!("{peak:7.1} MiB"));
}

/// Reads all output and discards it.
async fn raw_pty(file: &str) -> Duration {
    let reaper = Reaper::install(None).expect("a reaper");
    let mut reaping = tokio::task::JoinSet::new();
    reaping.spawn(reaper.run());
    let launch = Launch {
        program: "cat".into(),
        args: vec![file.into()],
        env: vec![("PATH".into(), "/usr/bin:/bin".into())],
        cwd: "/".into(),
        size: WindowSize { cols: 200, rows: 50 },
    };
    let start = Instant::now();
    let mut spawned = launch.spawn(&reaper).expect("cat starts");
    let mut total = 0;
    while let Ok(Some(bytes)) = spawned.reader.read().await {
        total += bytes.len();
    }
    assert!(total >= BYTES, "only {total} bytes arrived");
    start.elapsed()
}

fn tmux(file: &str) -> Duration {
    let socket = format!("coop-bench-{}", std::process::id());
    let tmux = |args: &[&str]| {
        let status =
            Command::new("tmux").args(["-L", &socket, "-f", "/dev/null"]).args(args).status();
        assert!(status.expect("tmux runs").success(), "tmux {args:?}");
    };
    let start = Instant::now();
    let script = format!("cat {file}; tmux -L {socket} wait-for -S done; sleep 60");
    tmux(&["new-session", "-d", "-x", "200", "-y", "50", &script]);
    tmux(&["wait-for", "done"]);
    let time = start.elapsed();
    tmux(&["kill-server"]);
    time
}

async fn through_coop(file: &str) -> (Duration, f64) {
    let start = Instant::now();
    let coop = Coop::start(&["cat", file]);
    let mut client = coop.grpc().await;
    let wait = v1::WaitForStateRequest {
        state: vec!["exited".into()],
        timeout_ms: Some(600_000),
        ..Default::default()
    };
    assert!(client.wait_for_state(wait).await.expect("waited").into_inner().matched);
    let time = start.elapsed();
    let status = client.get_status(v1::GetStatusRequest {}).await.expect("a status").into_inner();
    assert!(status.bytes_read >= BYTES as u64, "only {} bytes arrived", status.bytes_read);
    (time, coop.memory("VmHWM"))
}
