//! The time from a change of an agent's state to its subscribers: from the line in the hook pipe to
//! the StreamState event, compared with a plain call to the same coop; and the cost of an idle
//! agent with a driver.

mod support;

use std::fs::OpenOptions;
use std::io::Write as _;
use std::time::{Duration, Instant};

use coop_client::{Client, v1};
use support::{Coop, heading, micros, percentiles, row};

const ROUNDS: usize = 300;
const IDLE: Duration = Duration::from_secs(5);
/// A child that does nothing, with the title of an idle agent.
const IDLE_AGENT: &str = "printf '\\033]0;\u{2733} Claude Code\\a'; exec cat";

fn main() {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(async {
        heading(&format!("state: from a hook's line to the StreamState event, {ROUNDS} times"));
        let coop = Coop::start_with(&["--agent", "claude"], &["sh", "-c", IDLE_AGENT]);
        let mut client = coop.grpc().await;
        let mut times = Vec::new();
        for _ in 0..ROUNDS {
            let start = Instant::now();
            client.get_status(v1::GetStatusRequest {}).await.expect("a status");
            times.push(start.elapsed());
        }
        let plain = percentiles(times);
        let event = percentiles(changes(&mut client).await);
        for (name, times) in
            [("a plain call over gRPC", &plain), ("from a hook to its event", &event)]
        {
            let ratio = times.p50.as_secs_f64() / plain.p50.as_secs_f64();
            let value = format!(
                "p50 {:6.0} us   p99 {:6.0} us   {ratio:5.1}x",
                micros(times.p50),
                micros(times.p99)
            );
            row(name, &value);
        }
        let before = coop.ticks();
        tokio::time::sleep_until((Instant::now() + IDLE).into()).await;
        let used = (coop.ticks() - before) * 10;
        row(
            &format!("processor time in {} idle seconds with a driver", IDLE.as_secs()),
            &format!("{used} ms"),
        );
        row("RSS with a driver", &format!("{:.1} MiB", coop.memory("VmRSS")));
    });
}

/// Alternates between a permission request and a new turn, each reported by a line in the pipe.
async fn changes(client: &mut Client) -> Vec<Duration> {
    let status = client.get_status(v1::GetStatusRequest {}).await.expect("a status").into_inner();
    let pid = status.pid.expect("a child");
    let environ = std::fs::read(format!("/proc/{pid}/environ")).expect("its environment");
    let environ = String::from_utf8_lossy(&environ).into_owned();
    let variable = |name: &str| {
        let found = environ.split('\0').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='));
        found.expect("it is set").to_owned()
    };
    let (pipe, nonce) = (variable("COOP_HOOK_PIPE"), variable("COOP_HOOK_NONCE"));
    let mut pipe = OpenOptions::new().write(true).open(pipe).expect("the pipe");
    let mut events = client
        .stream_state(v1::StreamStateRequest::default())
        .await
        .expect("a stream")
        .into_inner();
    let mut times = Vec::new();
    for round in 0..=ROUNDS {
        let (event, wanted) = if round % 2 == 0 {
            ("UserPromptSubmit", "working")
        } else {
            ("PermissionRequest", "prompt")
        };
        let payload = serde_json::json!({
            "session_id": "s", "hook_event_name": event, "prompt": "go",
            "tool_name": "Bash", "tool_input": { "command": format!("echo {round}") },
        });
        let line =
            serde_json::json!({ "nonce": nonce, "event": event, "pid": pid, "payload": payload });
        let start = Instant::now();
        pipe.write_all(format!("\n{line}\n").as_bytes()).expect("written");
        loop {
            let event = events.message().await.expect("a stream").expect("an event");
            if event.kind == "transition" && event.next == wanted {
                break;
            }
        }
        // The first round warms up.
        if round > 0 {
            times.push(start.elapsed());
        }
    }
    times
}
