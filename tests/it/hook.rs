//! `coop hook` as an agent runs it, and the pipe that it reports to: what arrives, what does not count, and who waits
//! for whom.

use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::process::{Output, Stdio};

use coop::source::{Counters, HookCall, Observation, Plan, Sources};
use rustix::fs::{CWD, Mode, mkfifoat};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::AsyncWriteExt as _;
use tokio::process::{Child, Command};
use tokio::sync::mpsc;

use crate::support::{soon, until};

const NONCE: &str = "5e5a3e";

struct Line {
    dir: TempDir,
    sources: Sources,
    observations: mpsc::Receiver<Observation>,
}

impl Line {
    fn new() -> Self {
        let dir = tempfile::tempdir().expect("a directory");
        let (sender, observations) = mpsc::channel(4);
        let plan = Plan { dir: dir.path().to_owned(), nonce: NONCE.to_owned() };
        let sources = Sources::start(plan, sender).expect("a pipe");
        Self { dir, sources, observations }
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

    /// Writes into the pipe as no hook would.
    fn scribble(&self, bytes: &[u8]) {
        let mut pipe = File::options().write(true).open(self.sources.hook_pipe()).expect("the pipe");
        pipe.write_all(bytes).expect("written");
    }

    async fn counted(&self, what: &str, wanted: impl Fn(Counters) -> bool) {
        until(what, async || wanted(self.sources.counters()).then_some(())).await;
    }

    /// A waiting hook that has been heard, and its call.
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
    // A hook that does not listen is none the worse for it.
    drop(stdin.write_all(payload.as_bytes()).await);
    child
}

async fn end(child: Child) -> Output {
    soon("the hook to end", child.wait_with_output()).await.expect("waited")
}

async fn run(command: Command, payload: &str) -> Output {
    end(soon("the payload to be taken", start(command, payload)).await).await
}

fn quiet(output: &Output) {
    assert_eq!((output.status.code(), &output.stdout[..], &output.stderr[..]), (Some(0), &b""[..], &b""[..]));
}

#[tokio::test]
async fn a_call_arrives_as_it_was_made() {
    let mut line = Line::new();
    let payload = json!({"session_id": "s", "text": "two\nlines \u{1f600}"});
    quiet(&run(line.hook(&["hook", "Stop"]), &serde_json::to_string_pretty(&payload).unwrap()).await);
    let call = line.call().await;
    assert_eq!((call.event.as_str(), call.payload, call.reply.is_some()), ("Stop", payload, false));
    for nothing in ["", "no JSON"] {
        quiet(&run(line.hook(&["hook", "Stop"]), nothing).await);
        assert_eq!(line.call().await.payload, Value::Null);
    }
    assert_eq!(line.sources.counters(), Counters::default());
}

#[tokio::test]
async fn a_payload_may_be_larger_than_the_pipe() {
    let mut line = Line::new();
    let payload = json!({"session_id": "s", "content": "x".repeat(300_000)});
    let (command, text) = (line.hook(&["hook", "PreToolUse"]), payload.to_string());
    let hook = tokio::spawn(async move { run(command, &text).await });
    assert_eq!(line.call().await.payload, payload);
    quiet(&soon("the hook", hook).await.expect("it ran"));
}

#[tokio::test]
async fn what_is_too_long_arrives_shortened_or_is_counted() {
    let mut line = Line::new();
    let long = json!({"session_id": "s", "content": "x".repeat(2 << 20)}).to_string();
    quiet(&run(line.hook(&["hook", "PreToolUse"]), &long).await);
    assert_eq!(line.call().await.payload, json!({"session_id": "s", "coop_shortened": true}));
    let longer = json!({"content": "x".repeat(9 << 20)}).to_string();
    quiet(&run(line.hook(&["hook", "PreToolUse"]), &longer).await);
    assert_eq!(line.sources.counters().hooks_dropped, 1);
}

#[tokio::test]
async fn many_hooks_at_once_do_not_mix() {
    const HOOKS: usize = 20;
    let mut line = Line::new();
    let mut hooks = tokio::task::JoinSet::new();
    let payload = |n: usize| json!({"n": n, "text": n.to_string().repeat(20_000)});
    for n in 0..HOOKS {
        let command = line.hook(&["hook", "Stop"]);
        hooks.spawn(async move { run(command, &payload(n).to_string()).await });
    }
    let mut seen = Vec::new();
    // On a machine that is busy enough some give up; but none in silence.
    while seen.len() + usize::try_from(line.sources.counters().hooks_dropped).unwrap() < HOOKS {
        let call = tokio::select! {
            call = line.call() => call,
            Some(output) = hooks.join_next() => {
                quiet(&output.expect("it ran"));
                continue;
            }
        };
        let n = usize::try_from(call.payload["n"].as_u64().expect("a number")).unwrap();
        assert_eq!(call.payload, payload(n));
        assert!(!seen.contains(&n), "{n} came twice");
        seen.push(n);
    }
    while let Some(output) = soon("the hooks", hooks.join_next()).await {
        quiet(&output.expect("it ran"));
    }
    assert!(!seen.is_empty());
}

#[tokio::test]
async fn what_is_no_call_is_counted_and_survived() {
    let mut line = Line::new();
    line.scribble(b"words\n{\"nonce\":\"5e5a3e\"}\n\xff\n\n");
    // Somebody died within a line.
    line.scribble(b"{\"nonce\":\"5e5a3e\",\"event\":\"Sto");
    quiet(&run(line.hook(&["hook", "Stop"]), "{}").await);
    assert_eq!(line.call().await.event, "Stop");
    assert_eq!(line.sources.counters().hooks.malformed, 4);
    let pipe = line.sources.hook_pipe().to_owned();
    let flood = tokio::task::spawn_blocking(move || {
        let mut pipe = File::options().write(true).open(pipe).expect("the pipe");
        pipe.write_all(&vec![b'x'; 3 << 20]).expect("written");
    });
    soon("the flood", flood).await.expect("written");
    quiet(&run(line.hook(&["hook", "Stop"]), "{}").await);
    assert_eq!(line.call().await.event, "Stop");
    assert_eq!(line.sources.counters().hooks.too_long, 1);
}

#[tokio::test]
async fn a_hook_that_gives_up_within_its_line_spoils_no_other() {
    let dir = tempfile::tempdir().expect("a directory");
    let (sender, mut observations) = mpsc::channel(1);
    let plan = Plan { dir: dir.path().to_owned(), nonce: NONCE.to_owned() };
    let sources = Sources::start(plan, sender).expect("a pipe");
    // The queue holds one call, the reader another; then the pipe fills up.
    for _ in 0..2 {
        quiet(&run(hook(sources.hook_pipe(), &["hook", "First"]), "{}").await);
    }
    let long = json!({"content": "x".repeat(300_000)}).to_string();
    quiet(&run(hook(sources.hook_pipe(), &["hook", "Second"]), &long).await);
    until("the call to be dropped", async || (sources.counters().hooks_dropped == 1).then_some(())).await;
    let third = hook(sources.hook_pipe(), &["hook", "Third"]);
    let next = tokio::spawn(async move { run(third, "{}").await });
    let mut events = Vec::new();
    while events.last().map(String::as_str) != Some("Third") {
        match soon("a call", observations.recv()).await {
            Some(Observation::Hook(call)) => events.push(call.event),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(events, ["First", "First", "Third"]);
    quiet(&next.await.expect("it ran"));
    assert_eq!(sources.counters().hooks.malformed, 1);
}

#[tokio::test]
async fn calls_of_others_do_not_count() {
    let mut line = Line::new();
    quiet(&run(line.hook(&["hook", "SessionStart"]), "{}").await);
    assert_eq!(line.call().await.event, "SessionStart");
    let mut stranger = line.hook(&["hook", "Stop"]);
    stranger.env("COOP_HOOK_NONCE", "of another session");
    quiet(&run(stranger, "{}").await);
    line.counted("a wrong nonce", |counters| counters.hooks_wrong_nonce == 1).await;

    // `timeout` is no shell, so it stands for an agent that the agent runs.
    let coop = env!("CARGO_BIN_EXE_coop");
    let pipe = line.sources.hook_pipe().to_owned();
    quiet(&run(in_session(&pipe, "timeout", &["60", coop, "hook", "Stop"]), "{}").await);
    let asking = ["60", coop, "hook", "PermissionRequest", "--wait"];
    quiet(&run(in_session(&pipe, "timeout", &asking), "{}").await);
    line.counted("two calls of another process", |counters| counters.hooks_foreign == 2).await;

    // Shells between the agent and its hook are no agents.
    let script = format!("sh -c '{coop} hook Stop; true'; true");
    quiet(&run(in_session(&pipe, "bash", &["-c", &script]), "{}").await);
    assert_eq!(line.call().await.event, "Stop");
}

#[tokio::test]
async fn a_new_agent_takes_the_place_of_one_that_is_gone() {
    let mut line = Line::new();
    let coop = env!("CARGO_BIN_EXE_coop");
    let pipe = line.sources.hook_pipe().to_owned();
    for event in ["One", "Two"] {
        quiet(&run(in_session(&pipe, "timeout", &["60", coop, "hook", event]), "{}").await);
        assert_eq!(line.call().await.event, event);
    }
    assert_eq!(line.sources.counters(), Counters::default());
}

#[tokio::test]
async fn a_waiting_hook_prints_the_answer() {
    let mut line = Line::new();
    let (hook, call) = line.waiting().await;
    let answer = json!({"behavior": "allow", "long": "x".repeat(200_000)});
    assert!(call.reply.expect("it waits").answer(&answer));
    let output = end(hook).await;
    assert_eq!(serde_json::from_slice::<Value>(&output.stdout).expect("JSON"), answer);
    assert_eq!((output.status.code(), output.stderr), (Some(0), Vec::new()));
    assert_eq!(names(line.dir.path()), ["hooks.pipe", "hooks.pipe.dropped", "hooks.pipe.lock"]);
}

#[tokio::test]
async fn a_waiting_hook_is_let_go() {
    let mut line = Line::new();
    let (hook, call) = line.waiting().await;
    drop(call);
    quiet(&end(hook).await);
}

#[tokio::test]
async fn a_waiting_hook_does_not_outlive_coop() {
    let mut line = Line::new();
    let (hook, call) = line.waiting().await;
    drop(line.sources);
    quiet(&end(hook).await);
    until("the reply to be of no use", async || {
        call.reply.as_ref().is_some_and(|reply| !reply.is_waiting()).then_some(())
    })
    .await;
}

#[tokio::test]
async fn a_waiting_hook_that_was_killed_is_noticed() {
    let mut line = Line::new();
    let (mut hook, call) = line.waiting().await;
    hook.kill().await.expect("killed");
    let reply = call.reply.expect("it waited");
    until("coop to notice", async || (!reply.is_waiting()).then_some(())).await;
    assert!(!reply.answer(&json!({})));
}

#[tokio::test]
async fn a_hook_that_nobody_turns_to_gives_up() {
    let dir = tempfile::tempdir().expect("a directory");
    let pipe = dir.path().join("hooks.pipe");
    mkfifoat(CWD, &pipe, Mode::RWXU).expect("a pipe");
    File::create(dir.path().join("hooks.pipe.lock")).expect("a file");
    let _reader = File::options().read(true).write(true).open(&pipe).expect("the pipe");
    quiet(&run(hook(&pipe, &["hook", "PermissionRequest", "--wait"]), "{}").await);
    assert_eq!(names(dir.path()), ["hooks.pipe", "hooks.pipe.lock"]);
}

#[tokio::test]
async fn whatever_is_wrong_the_agent_hears_nothing_of_it() {
    let nowhere = Path::new("/nowhere/hooks.pipe");
    for words in [&["hook", "Stop"][..], &["hook"], &["hook", "PermissionRequest", "--wait"]] {
        quiet(&run(hook(nowhere, words), "{}").await);
        let mut outside = hook(nowhere, words);
        outside.env_remove("COOP_HOOK_PIPE");
        quiet(&run(outside, "{}").await);
    }
    let line = Line::new();
    for words in [&["hook", "--bogus", "x"][..], &["hook", "--wait=5", "Stop"], &["hook", ""]] {
        quiet(&run(line.hook(words), "{}").await);
    }
    let help = run(line.hook(&["hook", "--help"]), "").await;
    assert!(help.status.success() && String::from_utf8_lossy(&help.stdout).contains("EVENT"), "{help:?}");
}

fn names(dir: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(dir).expect("a directory");
    let mut names: Vec<String> =
        entries.map(|entry| entry.expect("an entry").file_name().into_string().expect("text")).collect();
    names.sort();
    names
}
