//! A launch that hangs does not hang the session: while coop waits for an agent's version, its
//! settings file or a lock, it answers calls, reports `starting`, and can be shut down.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, FlockOperation, Mode, flock, mkfifoat};
use rustix::process::Signal;
use serde_json::json;

use crate::support::coop::{Coop, Setup};
use crate::support::session::{lives, pid_in};
use crate::support::until;

/// A setup whose agent is this script, called with these arguments.
fn agent(name: &str, script: &str, args: &[&str]) -> Setup {
    let words = ["--port", "0", "--agent", name, "--", "./bin/agent"];
    let setup = Setup::new(words.iter().chain(args));
    let program = setup.home().join("bin").join(name);
    std::fs::create_dir_all(setup.home().join("bin")).expect("a directory");
    std::fs::write(&program, script).expect("written");
    std::fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).expect("executable");
    std::os::unix::fs::symlink(name, setup.home().join("bin/agent")).expect("a link");
    let path = format!("{}:/usr/local/bin:/usr/bin:/bin", setup.home().join("bin").display());
    setup.env("PATH", &path)
}

fn pipe(setup: &Setup, name: &str) -> PathBuf {
    let path = setup.home().join(name);
    mkfifoat(CWD, &path, Mode::RUSR | Mode::WUSR).expect("a pipe");
    path
}

/// Writes text to a pipe, for which its reader waits.
async fn release(pipe: &Path, text: &str) {
    let (pipe, text) = (pipe.to_owned(), text.to_owned());
    let write = tokio::task::spawn_blocking(move || {
        let mut pipe = OpenOptions::new().write(true).open(pipe).expect("a reader");
        pipe.write_all(text.as_bytes()).expect("written");
    });
    crate::support::soon("the pipe's reader", write).await.expect("written");
}

async fn state(coop: &Coop) -> String {
    let status = coop.http().get("/api/v1/status").await.json();
    status["state"].as_str().expect("a state").to_owned()
}

/// Checks that coop answers every kind of call although no child runs.
async fn answers_while_starting(coop: &Coop) {
    assert_eq!(state(coop).await, "starting");
    let http = coop.http();
    assert_eq!(http.get("/api/v1/health").await.status, 200);
    assert_eq!(http.get("/api/v1/screen").await.status, 200);
    let input = http.post("/api/v1/input", json!({"text": "x"})).await;
    assert_eq!(input.code(), "NOT_READY");
    let restart = http.post("/api/v1/session/restart", json!({})).await;
    assert_eq!(restart.code(), "NOT_READY");
    let environment = http.put("/api/v1/env/A", json!({"value": "1"})).await;
    assert_eq!(environment.status, 200, "{}", environment.text());
    assert_eq!(state(coop).await, "starting", "no call has waited for the launch");
}

async fn starts(coop: &Coop) {
    until("the child", async || (state(coop).await == "running").then_some(())).await;
    let http = coop.http();
    until("its screen", async || {
        http.get("/api/v1/screen/text").await.text().contains("ready").then_some(())
    })
    .await;
}

/// Prints its version once the test writes to the pipe `go`. Its background process keeps its
/// output open.
const SLOW_VERSION: &str = r#"#!/bin/sh
if [ "$1" = --version ]; then
  sleep 1000 & echo $! >"$HOME/sleeper"
  read go <"$HOME/go"
  echo 2.1.325
  exit
fi
echo ready
cat
"#;

const READY: &str = r#"#!/bin/sh
[ "$1" = --version ] && { echo 2.1.325; exit; }
echo ready
cat
"#;

#[tokio::test]
async fn the_session_answers_while_the_version_hangs() {
    let setup = agent("claude", SLOW_VERSION, &[]);
    let go = pipe(&setup, "go");
    let coop = setup.start().await;
    answers_while_starting(&coop).await;
    let sleeper = pid_in(&coop.home.path().join("sleeper")).await;
    release(&go, "go\n").await;
    // The background process keeps the pipe open, so the probe ends at its deadline.
    starts(&coop).await;
    until("the probe's process group to end", async || (!lives(sleeper)).then_some(())).await;
}

#[tokio::test]
async fn a_shutdown_cancels_a_launch_that_hangs() {
    for signal in [None, Some(Signal::TERM)] {
        let setup = agent("claude", SLOW_VERSION, &[]);
        pipe(&setup, "go");
        let mut coop = setup.start().await;
        let sleeper = pid_in(&coop.home.path().join("sleeper")).await;
        match signal {
            Some(signal) => coop.signal(signal),
            None => {
                let reply = coop.http().post("/api/v1/shutdown", json!({})).await;
                assert_eq!(reply.status, 200, "{}", reply.text());
            }
        }
        assert_eq!(coop.ended().await.code(), Some(0), "no child has failed");
        until("the probe's process group to end", async || (!lives(sleeper)).then_some(())).await;
    }
}

/// Ends coop before coop has announced its listeners.
const SIGNALS_COOP: &str = r#"#!/bin/sh
guards_parent() { sed 's/.*) . \([0-9]*\) .*/\1/' /proc/$PPID/stat; }
[ "$1" = --version ] && { kill -TERM $(guards_parent); read go <"$HOME/go"; }
echo ready
"#;

#[tokio::test]
async fn a_signal_before_the_first_child_runs_ends_coop() {
    let setup = agent("claude", SIGNALS_COOP, &[]);
    pipe(&setup, "go");
    let (status, stderr) = setup.fail().await;
    assert_eq!(status.code(), Some(0), "{stderr}");
    assert!(stderr.contains("received SIGTERM, shutting down"), "{stderr}");
}

#[tokio::test]
async fn the_session_answers_while_a_file_cannot_be_read() {
    let setup = agent("claude", READY, &["--settings", "slow.json"]);
    let settings = pipe(&setup, "slow.json");
    let coop = setup.start().await;
    answers_while_starting(&coop).await;
    release(&settings, "{}").await;
    starts(&coop).await;
}

#[tokio::test]
async fn a_shutdown_does_not_wait_for_a_file_that_cannot_be_read() {
    let setup = agent("claude", READY, &["--settings", "slow.json"]);
    pipe(&setup, "slow.json");
    let mut coop = setup.start().await;
    coop.signal(Signal::TERM);
    assert_eq!(coop.ended().await.code(), Some(0));
}

#[tokio::test]
async fn the_session_answers_while_another_process_holds_the_lock() {
    let setup = agent("gemini", &READY.replace("2.1.325", "0.61.0"), &[]);
    let dir = setup.home().join(".gemini/extensions/coop-hooks");
    std::fs::create_dir_all(&dir).expect("a directory");
    let lock = File::create(dir.join(".coop-users")).expect("the lock's file");
    flock(&lock, FlockOperation::LockExclusive).expect("the lock");
    let coop = setup.start().await;
    answers_while_starting(&coop).await;
    drop(lock);
    starts(&coop).await;
}

#[tokio::test]
async fn a_command_that_cannot_run_is_an_error_and_nothing_listens() {
    for (program, code) in [("./missing", 127), ("/dev/null", 126)] {
        let setup = Setup::new(["--port", "0", "--", program]);
        let (status, stderr) = setup.fail().await;
        assert_eq!(status.code(), Some(code), "{stderr}");
        assert!(stderr.contains(program.trim_start_matches("./")), "{stderr}");
    }
}
