//! The time that a hook costs the waiting agent: from the start of `coop hook` until coop receives
//! the call, and until the process exits, compared with a process that does nothing.

mod support;

use std::io::Write as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use coop::source::{SourceConfig, Sources, observations};
use support::{Percentiles, heading, micros, percentiles, row};

const CALLS: usize = 300;
const SMALL: usize = 500;
const LARGE: usize = 300_000;

fn main() {
    heading(&format!("hook: one process for each call, {CALLS} times"));
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let dir = tempfile::tempdir().expect("a directory");
    let (sender, mut received) = observations(16);
    let config = SourceConfig { dir: dir.path().to_owned(), nonce: "n".to_owned() };
    let sources = runtime.block_on(async { Sources::start(config, sender) }).expect("a pipe");

    let floor = percentiles(
        (0..CALLS).map(|_| run(&mut Command::new("/bin/true"), "", || {}).exited).collect(),
    );
    show("/bin/true, until it exits", &floor, &floor);
    for (name, size) in [("small payload", SMALL), ("300 kB", LARGE)] {
        let payload = serde_json::json!({"session_id": "s", "text": "x".repeat(size)}).to_string();
        let times: Vec<Times> = (0..CALLS)
            .map(|_| {
                let mut hook = Command::new(env!("CARGO_BIN_EXE_coop"));
                hook.args(["hook", "PreToolUse"]).env("COOP_HOOK_PIPE", sources.hook_pipe());
                run(hook.env("COOP_HOOK_NONCE", "n"), &payload, || {
                    runtime.block_on(received.recv()).expect("a call");
                })
            })
            .collect();
        let reached = percentiles(times.iter().map(|times| times.received).collect());
        let exited = percentiles(times.iter().map(|times| times.exited).collect());
        show(&format!("coop hook, {name}, until it is received"), &reached, &floor);
        show(&format!("coop hook, {name}, until it exits"), &exited, &floor);
    }
    let dropped = sources.counters().read().hooks_dropped;
    assert!(dropped == 0, "{dropped} calls were dropped");
}

struct Times {
    received: Duration,
    exited: Duration,
}

fn run(command: &mut Command, payload: &str, receive: impl FnOnce()) -> Times {
    let start = Instant::now();
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().expect("it runs");
    // A program that reads nothing may have exited before the write.
    drop(child.stdin.take().map(|mut stdin| stdin.write_all(payload.as_bytes())));
    receive();
    let received = start.elapsed();
    child.wait().expect("its exit");
    Times { received, exited: start.elapsed() }
}

fn show(name: &str, times: &Percentiles, floor: &Percentiles) {
    let ratio = micros(times.p50) / micros(floor.p50);
    let (p50, p99) = (micros(times.p50), micros(times.p99));
    row(name, &format!("p50 {p50:7.0} us   p99 {p99:7.0} us   {ratio:5.1} x /bin/true"));
}
