//! The client verbs as scripts use them: what they print, where, and their exit codes.

use std::process::Stdio;

use rustix::process::Signal;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};

use crate::support::coop::{Coop, SHELL, Setup};
use crate::support::session::{see, status, type_line};
use crate::support::verb::{Lines, run, text, url, verb};
use crate::support::{soon, until};

#[tokio::test]
async fn typed_text_is_shown() {
    let coop = Coop::shell().await;
    let (url, mut session) = (url(&coop), coop.grpc().await);
    let typed = run(&["input", "-t", &url, "echo", "-n", "$((6 * 7));", "echo", "  more"]).await;
    assert_eq!((typed.status.code(), text(&typed.stdout), text(&typed.stderr)), (Some(0), "", ""));
    see(&mut session, "42more").await;
    let screen = run(&["screen", &url]).await;
    assert_eq!(text(&screen.stdout), "$ echo -n $((6 * 7)); echo   more\n42more\n$\n");
    let screen: Value =
        serde_json::from_slice(&run(&["screen", "--json", &url]).await.stdout).expect("JSON");
    assert_eq!((&screen["lines"][1], &screen["rows"]), (&Value::from("42more"), &Value::from(50)));
    type_line(&mut session, r"printf '\e[31mred\e[0m\n'").await;
    see(&mut session, "red").await;
    let ansi = run(&["screen", "--ansi", &url]).await;
    assert!(text(&ansi.stdout).contains("\x1b[") && text(&ansi.stdout).contains("red"), "{ansi:?}");

    let keys = run(&["keys", "-t", &url, "--json", "a", "b", "C-u"]).await;
    assert_eq!(text(&keys.stdout), "{\"bytes_written\":3}\n");
}

#[tokio::test]
async fn exit_codes_tell_errors_apart() {
    let coop = Coop::with(&["--auth-token", "sesame"], SHELL).await;
    let url = url(&coop);
    for (words, code, says) in [
        (&["screen", "nonsense"][..], 64, "coop: \"nonsense\" is not http://"),
        (&["screen", "--tls-ca", "/nowhere", &url], 64, "No such file"),
        (&["screen", "/nowhere/coop.sock"], 69, "cannot connect"),
        (&["attach", "/nowhere/coop.sock"], 69, "cannot connect"),
        (&["screen", &url], 77, "coop: UNAUTHORIZED: "),
        (&["events", "--token", "wrong", &url], 77, "coop: UNAUTHORIZED: "),
        (&["attach", "--token", "wrong", &url], 77, "coop: UNAUTHORIZED: "),
        (&["keys", "--token", "sesame", "-t", &url, "Bogus"], 1, "coop: BAD_REQUEST: "),
        (&["events", "--token", "sesame", "--types", "bogus", &url], 1, "coop: BAD_REQUEST: "),
        (&["keys", "--token", "sesame", "-t", &url], 64, "required"),
    ] {
        let output = run(words).await;
        assert_eq!(output.status.code(), Some(code), "{words:?}: {output:?}");
        assert_eq!(text(&output.stdout), "", "{words:?}");
        assert!(text(&output.stderr).contains(says), "{words:?}: {output:?}");
    }
}

#[tokio::test]
async fn events_are_printed_as_lines_until_the_end() {
    let mut coop = Coop::shell().await;
    let url = url(&coop);
    let mut lines = verb(&["events", "--types", "exit,shutdown", &url]).spawn().expect("coop runs");
    let mut json = verb(&["events", "--json", &url]).spawn().expect("coop runs");
    run(&["input", "-t", &url, "exit 7"]).await;
    let mut stdout = BufReader::new(lines.stdout.take().expect("a pipe")).lines();
    let line = soon("a line", stdout.next_line()).await.expect("text").expect("a line");
    assert!(line.ends_with(" exit     exited with 7"), "{line}");
    coop.signal(Signal::TERM);
    let line = soon("a line", stdout.next_line()).await.expect("text").expect("a line");
    assert!(line.ends_with(" shutdown signal [coop]"), "{line}");
    assert_eq!(soon("the end", stdout.next_line()).await.expect("text"), None);
    assert_eq!(soon("the end", lines.wait()).await.expect("waited").code(), Some(0));
    coop.ended().await;

    let mut stdout = BufReader::new(json.stdout.take().expect("a pipe")).lines();
    let mut types = Vec::new();
    while let Some(line) = soon("a line", stdout.next_line()).await.expect("text") {
        let event: Value = serde_json::from_str(&line).expect("one object a line");
        types.push(event["type"].as_str().expect("a type").to_owned());
    }
    assert!(!types.iter().any(|kind| kind == "heartbeat"), "not requested: {types:?}");
    assert!(types.iter().any(|kind| kind == "exit"), "{types:?}");
    assert_eq!(soon("the end", json.wait()).await.expect("waited").code(), Some(0));
}

#[tokio::test]
async fn events_continue_after_a_lost_connection() {
    let directory = tempfile::TempDir::new().expect("a temporary directory");
    let socket = directory.path().join("coop.sock").to_string_lossy().into_owned();
    let shell = || Setup::new(["--socket", socket.as_str(), "--"].into_iter().chain(SHELL));
    let mut before = shell().start().await;
    let mut events = Lines::of(&["events", "--types", "state,shutdown", &socket]);
    let line = events.next().await;
    assert!(line.contains(" state    "), "{line}");
    before.signal(Signal::KILL);
    before.ended().await;
    let after = shell().start().await;
    // The events of the new coop have other numbers, so the verb prints a gap.
    let line = events.until(|line| line.contains(" gap ")).await;
    assert!(line.starts_with("- ") && line.ends_with("are missing (epoch)"), "{line}");
    after.signal(Signal::TERM);
    events.until(|line| line.ends_with(" shutdown signal [coop]")).await;
    events.until(|line| line.contains(" -> exited ")).await;
    let (code, stderr) = events.end().await;
    assert_eq!(code, Some(0), "{stderr}");
    assert!(stderr.starts_with("coop: trying again: "), "{stderr}");
}

#[tokio::test]
async fn a_closed_stdout_ends_the_verb_without_an_error() {
    let coop = Coop::shell().await;
    let mut events = verb(&["events", &url(&coop)]).spawn().expect("coop runs");
    let mut stdout = BufReader::new(events.stdout.take().expect("a pipe"));
    let mut line = String::new();
    soon("a line", stdout.read_line(&mut line)).await.expect("text");
    drop(stdout);
    let output = soon("the end", events.wait_with_output()).await.expect("waited");
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), ""));
}

#[tokio::test]
async fn attach_types_all_input_from_a_pipe() {
    let coop = Coop::shell().await;
    let mut session = coop.grpc().await;
    let mut attach =
        verb(&["attach", &url(&coop)]).stdin(Stdio::piped()).spawn().expect("coop runs");
    let mut stdin = attach.stdin.take().expect("a pipe");
    stdin.write_all(b"echo $((6 * 7)) piped\n").await.expect("written");
    drop(stdin);
    let output = soon("the end", attach.wait_with_output()).await.expect("waited");
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), ""));
    see(&mut session, "42 piped").await;
    assert_eq!(status(&mut session).await.state, "running");
}

#[tokio::test]
async fn shutdown_returns_when_coop_has_exited() {
    let mut coop = Coop::run(["sh", "-c", "trap '' HUP; sleep 1000"]).await;
    let pid = coop.pid();
    let shutdown = run(&["shutdown", "--grace", "1", "--json", &url(&coop)]).await;
    assert_eq!(
        (shutdown.status.code(), text(&shutdown.stdout)),
        (Some(0), "{\"accepted\":true}\n")
    );
    // The port is closed; the process itself may take a moment to exit.
    assert_eq!(run(&["screen", &url(&coop)]).await.status.code(), Some(69));
    coop.ended().await;
    until("the process to exit", async || {
        (!std::path::Path::new(&format!("/proc/{pid}")).exists()).then_some(())
    })
    .await;
}
