//! What a hook costs the agent that waits for it: `coop hook`, from its start until it is heard and until it is gone,
//! beside a process that does nothing.

mod support;

use std::io::Write as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use coop::source::{Plan, Sources};
use support::{Spread, heading, micros, row, spread};
use tokio::sync::mpsc;

const CALLS: usize = 300;
const SMALL: usize = 500;
const LARGE: usize = 300_000;

fn main() {
    heading(&format!("hook: one process for each call, {CALLS} times"));
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let dir = tempfile::tempdir().expect("a directory");
    let (sender, mut observations) = mpsc::channel(16);
    let plan = Plan { dir: dir.path().to_owned(), nonce: "n".to_owned() };
    let sources = runtime.block_on(async { Sources::start(plan, sender) }).expect("a pipe");

    let floor = spread((0..CALLS).map(|_| run(&mut Command::new("/bin/true"), "", || {}).gone).collect());
    show("/bin/true, until it is gone", &floor, &floor);
    for (name, size) in [("small payload", SMALL), ("300 kB", LARGE)] {
        let payload = serde_json::json!({"session_id": "s", "text": "x".repeat(size)}).to_string();
        let times: Vec<Times> = (0..CALLS)
            .map(|_| {
                let mut hook = Command::new(env!("CARGO_BIN_EXE_coop"));
                hook.args(["hook", "PreToolUse"]).env("COOP_HOOK_PIPE", sources.hook_pipe());
                run(hook.env("COOP_HOOK_NONCE", "n"), &payload, || {
                    observations.blocking_recv().expect("a call");
                })
            })
            .collect();
        let heard = spread(times.iter().map(|times| times.heard).collect());
        let gone = spread(times.iter().map(|times| times.gone).collect());
        show(&format!("coop hook, {name}, until it is heard"), &heard, &floor);
        show(&format!("coop hook, {name}, until it is gone"), &gone, &floor);
    }
    let dropped = sources.counters().hooks_dropped;
    assert!(dropped == 0, "{dropped} calls were dropped");
}

struct Times {
    heard: Duration,
    gone: Duration,
}

fn run(command: &mut Command, payload: &str, hear: impl FnOnce()) -> Times {
    let start = Instant::now();
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().expect("it runs");
    // What reads nothing may be gone before it is told anything.
    drop(child.stdin.take().map(|mut stdin| stdin.write_all(payload.as_bytes())));
    hear();
    let heard = start.elapsed();
    child.wait().expect("its end");
    Times { heard, gone: start.elapsed() }
}

fn show(name: &str, times: &Spread, floor: &Spread) {
    let ratio = micros(times.p50) / micros(floor.p50);
    let (p50, p99) = (micros(times.p50), micros(times.p99));
    row(name, &format!("p50 {p50:7.0} us   p99 {p99:7.0} us   {ratio:5.1} x /bin/true"));
}
