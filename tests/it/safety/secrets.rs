//! The token is secret: the child's environment, responses and logs do not have it.

use std::os::unix::fs::symlink;

use serde_json::json;
use tokio::io::AsyncReadExt as _;

use crate::support::coop::{Coop, SHELL, Setup};
use crate::support::grpc::{Grpc, web};
use crate::support::until;
use crate::support::ws::Socket;

const TOKEN: &str = "sesame-5f0c31";

async fn with_token() -> Coop {
    let args = ["--port", "0", "--host", "127.0.0.1", "--log-level", "trace", "--"];
    Setup::new(args.iter().chain(&SHELL))
        .env("COOP_AUTH_TOKEN", TOKEN)
        .env("COLOR", "teal")
        .start()
        .await
}

#[tokio::test]
async fn the_childs_environment_has_no_token() {
    let coop = with_token().await;
    let http = coop.http().token(TOKEN);
    let environment = coop.child_environment().await;
    assert_eq!(
        environment["COLOR"], "teal",
        "the child gets the variables that are not coop's own"
    );
    assert!(!environment.contains_key("COOP_AUTH_TOKEN"));
    assert!(!environment.values().any(|value| value.contains(TOKEN)), "{environment:?}");
    let answer = http.get("/api/v1/env").await;
    assert_eq!(answer.json()["vars"]["COLOR"], "teal", "{}", answer.text());
    assert!(!answer.text().contains(TOKEN), "{}", answer.text());

    http.post("/api/v1/input", json!({"text": "env; echo d''one", "enter": true})).await;
    let text = until("the environment on the screen", async || {
        let text = http.get("/api/v1/screen/text?scrollback=true").await.text();
        text.lines().any(|line| line == "done").then_some(text)
    })
    .await;
    assert!(text.contains("COLOR=teal") && text.contains("COOP=1"), "{text}");
    assert!(!text.contains("sesame"), "{text}");
}

#[tokio::test]
async fn the_next_childs_environment_has_no_token() {
    let coop = with_token().await;
    let http = coop.http().token(TOKEN);
    assert_eq!(http.post("/api/v1/session/restart", json!({"force": true})).await.status, 202);
    let environment = coop.child_environment().await;
    assert!(!environment.values().any(|value| value.contains(TOKEN)), "{environment:?}");
}

#[tokio::test]
async fn no_log_has_the_token() {
    let mut coop = with_token().await;
    let mut stderr = coop.process.stderr.take().expect("a pipe");
    let log = tokio::spawn(async move {
        let mut log = String::new();
        stderr.read_to_string(&mut log).await.expect("text");
        log
    });
    let http = coop.http();
    let wrong = format!("{TOKEN}-wrong");
    for token in [TOKEN, &wrong] {
        http.token(token).get("/api/v1/status").await;
        http.get(&format!("/api/v1/status?token={token}")).await;
        http.open(http::Method::GET, &format!("/api/v1/stream/state?token={token}"), "".into())
            .await;
        http.get(&format!("/api/v1/nowhere?token={token}")).await;
        web(&http.token(token), "/coop.v1.Coop/GetStatus", b"").await;
        drop(
            Grpc::tcp(coop.address()).await.token(token).call("/coop.v1.Coop/GetStatus", b"").await,
        );
        drop(Socket::try_connect(&coop, &format!("token={token}"), &[]).await);
        let mut socket = Socket::connect(&coop, "mode=state").await;
        socket.send(json!({"type": "auth", "token": token})).await;
        socket.next().await;
    }
    assert_eq!(http.token(TOKEN).post("/api/v1/shutdown", json!({})).await.status, 200);
    assert!(coop.ended().await.code().is_some());
    let log = log.await.expect("the log");
    assert!(log.contains("\"TRACE\""), "the log has no trace lines: {} bytes", log.len());
    let found: Vec<_> =
        log.lines().filter(|line| line.contains("sesame") || line.contains("token=")).collect();
    assert!(found.is_empty(), "{found:#?}");
}

const TOKEN_FILE: [&str; 8] =
    ["--port", "0", "--host", "127.0.0.1", "--auth-token-file", "tokens", "--", "cat"];

#[tokio::test]
async fn a_token_file_that_every_user_can_read_is_refused() {
    for mode in [0o644, 0o604, 0o666] {
        let setup = Setup::new(TOKEN_FILE);
        setup.file("tokens", TOKEN, mode);
        let (status, stderr) = setup.fail().await;
        assert_eq!(status.code(), Some(64), "{mode:o}: {stderr}");
        assert!(stderr.contains("chmod o-rw tokens"), "{mode:o}: {stderr}");
        assert!(!stderr.contains(TOKEN), "{stderr}");
    }
}

/// Kubernetes mounts a Secret as `root:GROUP 0440` behind a link to `..data`, itself a link.
#[tokio::test]
async fn a_token_file_that_kubernetes_mounts_is_read() {
    let setup = Setup::new(TOKEN_FILE);
    std::fs::create_dir(setup.home().join("..2026_01_01")).expect("a directory");
    setup.file("..2026_01_01/tokens", TOKEN, 0o440);
    symlink("..2026_01_01", setup.home().join("..data")).expect("a link");
    symlink("..data/tokens", setup.home().join("tokens")).expect("a link");
    let coop = setup.start().await;
    assert_eq!(coop.http().get("/api/v1/status").await.status, 401);
    assert_eq!(coop.http().token(TOKEN).get("/api/v1/status").await.status, 200);
}
