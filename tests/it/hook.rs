//! `coop hook` as an agent runs it, the socket that it calls, and the pipe for other hooks: which
//! calls arrive, which are ignored, and how long a call waits.

use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::process::{Output, Stdio};

use coop::source::{
    HookCall, Observation, Observations, SourceConfig, SourceCounters, Sources, observations,
};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{Child, Command};

use crate::support::{soon, until};

const NONCE: &str = "5e5a3e";

/// The evidence sources of one session, whose hook pipe the test calls.
struct Hooks {
    dir: TempDir,
    sources: Sources,
    observations: Observations,
}

impl Hooks {
    fn new() -> Self {
        let dir = tempfile::tempdir().expect("a directory");
        let (sender, received) = observations(4);
        let config = SourceConfig { dir: dir.path().to_owned(), nonce: NONCE.to_owned() };
        let sources = Sources::start(config, sender).expect("a pipe");
        Self { dir, sources, observations: received }
    }

    fn hook(&self, words: &[&str]) -> Command {
        hook(self.sources.hook_pipe(), words)
    }

    async fn call(&mut self) -> HookCall {
        match soon("a call", self.observations.recv()).await {
            Some(Observation::Hook(call)) => call,
            other => panic!("{other:?}"),
        }
    }

    /// Writes bytes into the pipe that no hook writes.
    fn write_raw(&self, bytes: &[u8]) {
        let mut pipe =
            File::options().write(true).open(self.sources.hook_pipe()).expect("the pipe");
        pipe.write_all(bytes).expect("written");
    }

    async fn counted(&self, what: &str, wanted: impl Fn(SourceCounters) -> bool) {
        until(what, async || wanted(self.sources.counters().read()).then_some(())).await;
    }

    /// Starts a waiting hook; returns it and its call.
    async fn waiting(&mut self) -> (Child, HookCall) {
        let hook = start(self.hook(&["hook", "PermissionRequest", "--wait"]), "{}").await;
        let call = self.call().await;
        assert!(call.reply.as_ref().is_some_and(coop::source::HookReply::is_waiting));
        (hook, call)
    }
}

fn hook(pipe: &Path, words: &[&str]) -> Command {
    in_session(pipe, env!("CARGO_BIN_EXE_coop"), words)
}

fn in_session(pipe: &Path, program: &str, words: &[&str]) -> Command {
    let mut command = Command::new(program);
    command
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("COOP_HOOK_PIPE", pipe)
        .env("COOP_HOOK_NONCE", NONCE)
        .args(words)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    command
}

async fn start(mut command: Command, payload: &str) -> Child {
    let mut child = command.spawn().expect("it runs");
    let mut stdin = child.stdin.take().expect("a pipe");
    // A hook may exit without reading its payload.
    drop(stdin.write_all(payload.as_bytes()).await);
    child
}

async fn end(child: Child) -> Output {
    soon("the hook to end", child.wait_with_output()).await.expect("waited")
}

async fn run(command: Command, payload: &str) -> Output {
    end(soon("the payload to be taken", start(command, payload)).await).await
}

fn assert_silent(output: &Output) {
    assert_eq!(
        (output.status.code(), &output.stdout[..], &output.stderr[..]),
        (Some(0), &b""[..], &b""[..])
    );
}

#[tokio::test]
async fn a_hook_call_arrives_unchanged() {
    let mut hooks = Hooks::new();
    let payload = json!({"session_id": "s", "text": "two\nlines \u{1f600}"});
    assert_silent(
        &run(hooks.hook(&["hook", "Stop"]), &serde_json::to_string_pretty(&payload).unwrap()).await,
    );
    let call = hooks.call().await;
    assert_eq!((call.event.as_str(), call.payload, call.reply.is_some()), ("Stop", payload, false));
    for nothing in ["", "no JSON"] {
        assert_silent(&run(hooks.hook(&["hook", "Stop"]), nothing).await);
        assert_eq!(hooks.call().await.payload, Value::Null);
    }
    assert_eq!(hooks.sources.counters().read(), SourceCounters::default());
}

#[tokio::test]
async fn a_payload_may_be_larger_than_a_socket_buffer() {
    let mut hooks = Hooks::new();
    let payload = json!({"session_id": "s", "content": "x".repeat(900_000)});
    let (command, text) = (hooks.hook(&["hook", "PreToolUse"]), payload.to_string());
    let hook = tokio::spawn(async move { run(command, &text).await });
    assert_eq!(hooks.call().await.payload, payload);
    assert_silent(&soon("the hook", hook).await.expect("it ran"));
}

#[tokio::test]
async fn a_payload_that_is_too_long_is_shortened_or_counted() {
    let mut hooks = Hooks::new();
    let long = json!({"session_id": "s", "content": "x".repeat(2 << 20)}).to_string();
    assert_silent(&run(hooks.hook(&["hook", "PreToolUse"]), &long).await);
    assert_eq!(hooks.call().await.payload, json!({"session_id": "s", "coop_shortened": true}));
    let longer = json!({"content": "x".repeat(9 << 20)}).to_string();
    assert_silent(&run(hooks.hook(&["hook", "PreToolUse"]), &longer).await);
    assert_eq!(hooks.sources.counters().read().hooks_dropped, 1);
}

#[tokio::test]
async fn many_hooks_at_once_do_not_mix() {
    const HOOKS: usize = 20;
    let mut hooks = Hooks::new();
    let mut running = tokio::task::JoinSet::new();
    let payload = |n: usize| json!({"n": n, "text": n.to_string().repeat(20_000)});
    for n in 0..HOOKS {
        let command = hooks.hook(&["hook", "Stop"]);
        running.spawn(async move { run(command, &payload(n).to_string()).await });
    }
    let mut seen = Vec::new();
    // On a busy machine some hooks give up; each of these is counted.
    while seen.len() + usize::try_from(hooks.sources.counters().read().hooks_dropped).unwrap()
        < HOOKS
    {
        let call = tokio::select! {
            call = hooks.call() => call,
            Some(output) = running.join_next() => {
                assert_silent(&output.expect("it ran"));
                continue;
            }
        };
        let n = usize::try_from(call.payload["n"].as_u64().expect("a number")).unwrap();
        assert_eq!(call.payload, payload(n));
        assert!(!seen.contains(&n), "{n} came twice");
        seen.push(n);
    }
    while let Some(output) = soon("the hooks", running.join_next()).await {
        assert_silent(&output.expect("it ran"));
    }
    assert!(!seen.is_empty());
}

#[tokio::test]
async fn malformed_lines_are_counted_and_skipped() {
    let mut hooks = Hooks::new();
    let stop: &[u8] = b"\n{\"nonce\":\"5e5a3e\",\"event\":\"Stop\",\"payload\":{}}\n";
    hooks.write_raw(b"words\n{\"nonce\":\"5e5a3e\"}\n\xff\n\n");
    // A writer that died in the middle of a line.
    hooks.write_raw(b"{\"nonce\":\"5e5a3e\",\"event\":\"Sto");
    hooks.write_raw(stop);
    assert_eq!(hooks.call().await.event, "Stop");
    assert_eq!(hooks.sources.counters().read().hooks.malformed, 4);
    let pipe = hooks.sources.hook_pipe().to_owned();
    let flood = tokio::task::spawn_blocking(move || {
        let mut pipe = File::options().write(true).open(pipe).expect("the pipe");
        pipe.write_all(&vec![b'x'; 3 << 20]).expect("written");
        pipe.write_all(stop).expect("written");
    });
    soon("the flood", flood).await.expect("written");
    assert_eq!(hooks.call().await.event, "Stop");
    assert_eq!(hooks.sources.counters().read().hooks.too_long, 1);
}

/// Sends these bytes to the hook socket; returns what comes back until the connection is closed.
async fn send_raw(socket: &Path, bytes: &[u8]) -> Vec<u8> {
    let mut stream = tokio::net::UnixStream::connect(socket).await.expect("a connection");
    // A line that is too long is not read to its end.
    drop(stream.write_all(bytes).await);
    drop(stream.shutdown().await);
    let mut reply = Vec::new();
    drop(soon("the end", stream.read_to_end(&mut reply)).await);
    reply
}

#[tokio::test]
async fn malformed_calls_of_the_socket_are_counted_and_refused() {
    let mut hooks = Hooks::new();
    let socket = hooks.dir.path().join("hook.sock");
    for wrong in [&b"words\n"[..], b"{\"nonce\":\"5e5a3e\"}\n", b"\xff\n", b"", b"\n", b"{\"n"] {
        assert_eq!(send_raw(&socket, wrong).await, b"");
    }
    assert_eq!(hooks.sources.counters().read().hooks.malformed, 3);
    assert_eq!(send_raw(&socket, &vec![b'x'; 3 << 20]).await, b"");
    assert_eq!(hooks.sources.counters().read().hooks.too_long, 1);
    let other = b"{\"nonce\":\"x\",\"event\":\"Stop\",\"payload\":1}\n";
    assert_eq!(send_raw(&socket, other).await, b"");
    assert_eq!(hooks.sources.counters().read().hooks_wrong_nonce, 1);
    assert_silent(&run(hooks.hook(&["hook", "Stop"]), "{}").await);
    assert_eq!(hooks.call().await.event, "Stop");
}

#[tokio::test]
async fn a_pid_in_a_line_of_the_pipe_binds_no_process() {
    let mut hooks = Hooks::new();
    // A process that runs as long as the test claims to be the agent.
    let own = std::process::id();
    let line = json!({"nonce": NONCE, "event": "session_start", "pid": own, "data": {"a": 1}});
    hooks.write_raw(format!("{line}\n").as_bytes());
    let foreign = hooks.call().await;
    assert_eq!((foreign.event.as_str(), &foreign.payload), ("SessionStart", &json!({"a": 1})));
    // `timeout` would be another process if the line had bound this one.
    let coop = env!("CARGO_BIN_EXE_coop");
    let pipe = hooks.sources.hook_pipe().to_owned();
    assert_silent(&run(in_session(&pipe, "timeout", &["60", coop, "hook", "Stop"]), "{}").await);
    assert_eq!(hooks.call().await.event, "Stop");
    assert_eq!(hooks.sources.counters().read(), SourceCounters::default());
}

#[tokio::test]
async fn only_the_user_can_reach_the_socket() {
    use std::os::unix::fs::PermissionsExt as _;
    let hooks = Hooks::new();
    let socket = hooks.dir.path().join("hook.sock");
    let mode = std::fs::metadata(&socket).expect("the socket").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    drop(hooks.sources);
    assert!(!socket.exists());
}

#[tokio::test]
async fn a_call_that_its_hook_has_given_up_does_not_arrive_later() {
    let dir = tempfile::tempdir().expect("a directory");
    let (sender, mut received) = observations(1);
    let config = SourceConfig { dir: dir.path().to_owned(), nonce: NONCE.to_owned() };
    let sources = Sources::start(config, sender).expect("a pipe");
    // The queue holds one call.
    assert_silent(&run(hook(sources.hook_pipe(), &["hook", "First"]), "{}").await);
    let long = json!({"content": "x".repeat(300_000)}).to_string();
    assert_silent(&run(hook(sources.hook_pipe(), &["hook", "Second"]), &long).await);
    until("the call to be dropped", async || {
        (sources.counters().read().hooks_dropped == 1).then_some(())
    })
    .await;
    let third = hook(sources.hook_pipe(), &["hook", "Third"]);
    let next = tokio::spawn(async move { run(third, "{}").await });
    let mut events = Vec::new();
    while events.last().map(String::as_str) != Some("Third") {
        match soon("a call", received.recv()).await {
            Some(Observation::Hook(call)) => events.push(call.event),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(events, ["First", "Third"]);
    assert_silent(&next.await.expect("it ran"));
    assert_eq!(sources.counters().read().hooks.malformed, 0);
}

#[tokio::test]
async fn calls_of_other_processes_are_ignored() {
    let mut hooks = Hooks::new();
    assert_silent(&run(hooks.hook(&["hook", "SessionStart"]), "{}").await);
    assert_eq!(hooks.call().await.event, "SessionStart");
    let mut other_session = hooks.hook(&["hook", "Stop"]);
    other_session.env("COOP_HOOK_NONCE", "of another session");
    assert_silent(&run(other_session, "{}").await);
    hooks.counted("a wrong nonce", |counters| counters.hooks_wrong_nonce == 1).await;

    // `timeout` is not a shell, so coop takes it for another agent, which the agent runs.
    let coop = env!("CARGO_BIN_EXE_coop");
    let pipe = hooks.sources.hook_pipe().to_owned();
    assert_silent(&run(in_session(&pipe, "timeout", &["60", coop, "hook", "Stop"]), "{}").await);
    let waiting = ["60", coop, "hook", "PermissionRequest", "--wait"];
    assert_silent(&run(in_session(&pipe, "timeout", &waiting), "{}").await);
    hooks
        .counted("two calls of another process", |counters| counters.hooks_of_other_processes == 2)
        .await;

    // Coop ignores shells between the agent and its hook.
    let script = format!("sh -c '{coop} hook Stop; true'; true");
    assert_silent(&run(in_session(&pipe, "bash", &["-c", &script]), "{}").await);
    assert_eq!(hooks.call().await.event, "Stop");
}

#[tokio::test]
async fn a_new_agent_replaces_one_that_has_exited() {
    let mut hooks = Hooks::new();
    let coop = env!("CARGO_BIN_EXE_coop");
    let pipe = hooks.sources.hook_pipe().to_owned();
    for event in ["One", "Two"] {
        assert_silent(&run(in_session(&pipe, "timeout", &["60", coop, "hook", event]), "{}").await);
        assert_eq!(hooks.call().await.event, event);
    }
    assert_eq!(hooks.sources.counters().read(), SourceCounters::default());
}

#[tokio::test]
async fn a_waiting_hook_prints_the_answer() {
    let mut hooks = Hooks::new();
    let (hook, call) = hooks.waiting().await;
    let answer = json!({"behavior": "allow", "long": "x".repeat(200_000)});
    assert!(call.reply.expect("it waits").answer(&answer));
    let output = end(hook).await;
    assert_eq!(serde_json::from_slice::<Value>(&output.stdout).expect("JSON"), answer);
    assert_eq!((output.status.code(), output.stderr), (Some(0), Vec::new()));
    assert_eq!(names(hooks.dir.path()), ["hook.sock", "hooks.pipe", "hooks.pipe.dropped"]);
}

#[tokio::test]
async fn a_waiting_hook_is_released() {
    let mut hooks = Hooks::new();
    let (hook, call) = hooks.waiting().await;
    drop(call);
    assert_silent(&end(hook).await);
}

#[tokio::test]
async fn a_waiting_hook_does_not_outlive_coop() {
    let mut hooks = Hooks::new();
    let (hook, call) = hooks.waiting().await;
    drop(hooks.sources);
    assert_silent(&end(hook).await);
    until("the reply to expire", async || {
        call.reply.as_ref().is_some_and(|reply| !reply.is_waiting()).then_some(())
    })
    .await;
}

#[tokio::test]
async fn a_waiting_hook_that_was_killed_is_noticed() {
    let mut hooks = Hooks::new();
    let (mut hook, call) = hooks.waiting().await;
    hook.kill().await.expect("killed");
    let reply = call.reply.expect("it waited");
    until("coop to notice", async || (!reply.is_waiting()).then_some(())).await;
    assert!(!reply.answer(&json!({})));
}

#[tokio::test]
async fn a_coop_that_does_not_respond_does_not_hold_up_the_agent() {
    let dir = tempfile::tempdir().expect("a directory");
    let pipe = dir.path().join("hooks.pipe");
    // It accepts no connection, so the kernel queues one, and the next one has to wait.
    let _stuck = rustix_listener(&dir.path().join("hook.sock"));
    let mut running = tokio::task::JoinSet::new();
    for _ in 0..3 {
        for words in [&["hook", "Stop"][..], &["hook", "PermissionRequest", "--wait"]] {
            let (command, long) = (hook(&pipe, words), json!({"a": "x".repeat(900_000)}));
            running.spawn(async move { run(command, &long.to_string()).await });
        }
    }
    // `soon` fails after far more than the hooks' own timeout.
    while let Some(output) = soon("the hooks", running.join_next()).await {
        assert_silent(&output.expect("it ran"));
    }
    assert_eq!(names(dir.path()), ["hook.sock"]);
}

/// A socket whose queue of connections has no room beyond the first.
fn rustix_listener(path: &Path) -> std::os::fd::OwnedFd {
    use rustix::net::{AddressFamily, SocketAddrUnix, SocketType, bind, listen, socket};
    let listener = socket(AddressFamily::UNIX, SocketType::STREAM, None).expect("a socket");
    bind(&listener, &SocketAddrUnix::new(path).expect("a path")).expect("bound");
    listen(&listener, 0).expect("listening");
    listener
}

#[tokio::test]
async fn a_failing_hook_call_is_silent_and_succeeds() {
    let nowhere = Path::new("/nowhere/hooks.pipe");
    for words in [&["hook", "Stop"][..], &["hook"], &["hook", "PermissionRequest", "--wait"]] {
        assert_silent(&run(hook(nowhere, words), "{}").await);
        let mut outside = hook(nowhere, words);
        outside.env_remove("COOP_HOOK_PIPE");
        assert_silent(&run(outside, "{}").await);
    }
    let hooks = Hooks::new();
    for words in [&["hook", "--bogus", "x"][..], &["hook", "--wait=5", "Stop"], &["hook", ""]] {
        assert_silent(&run(hooks.hook(words), "{}").await);
    }
    let help = run(hooks.hook(&["hook", "--help"]), "").await;
    assert!(
        help.status.success() && String::from_utf8_lossy(&help.stdout).contains("EVENT"),
        "{help:?}"
    );
}

fn names(dir: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(dir).expect("a directory");
    let mut names: Vec<String> = entries
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("text"))
        .collect();
    names.sort();
    names
}
