//! The audit log: a line for each write, answer, refusal and failed authentication, and no text
//! that was typed.

use std::os::unix::fs::PermissionsExt as _;

use coop_client::v1::attach_request::Message as ClientMessage;
use coop_client::{Credentials, v1};
use futures_util::{StreamExt as _, stream};
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::support::coop::{Coop, SHELL, Setup};
use crate::support::fake_agent::FakeAgent;
use crate::support::ws::Socket;
use crate::support::{soon, until};

/// Claude asks whether it may trust the folder, and coop answers.
const TRUST: &str = "04-trust-folder";
const TOKENS: &str = "ada-secret admin name=ada\nlook-secret read name=look\n";

async fn serve() -> Coop {
    let words = ["--port", "0", "--host", "127.0.0.1", "--auth-token-file", "tokens"];
    let audit = ["--audit-log", "audit.log", "--"];
    let setup = Setup::new(words.iter().chain(&audit).chain(&SHELL));
    setup.file("tokens", TOKENS, 0o600);
    setup.start().await
}

fn read(coop: &Coop) -> String {
    std::fs::read_to_string(coop.home.path().join("audit.log")).unwrap_or_default()
}

/// The records, once there are so many.
async fn records(coop: &Coop, count: usize) -> Vec<Value> {
    let text = until(&format!("{count} records"), async || {
        Some(read(coop)).filter(|text| text.matches('\n').count() >= count)
    })
    .await;
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

#[tokio::test]
async fn every_write_and_refusal_is_a_line_without_what_was_typed() {
    let coop = serve().await;
    let (ada, look) = (coop.http().token("ada-secret"), coop.http().token("look-secret"));
    let path = coop.home.path().join("audit.log");
    let mode = std::fs::metadata(&path).expect("opened at the start").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);

    // Reads leave no line.
    assert_eq!(look.get("/api/v1/status").await.status, 200);
    assert_eq!(coop.http().get("/api/v1/health").await.status, 200);

    let input = json!({"text": "hush-text", "enter": false});
    let ada_with_id = ada.header("x-request-id", "r-1");
    assert_eq!(ada_with_id.post("/api/v1/input", input.clone()).await.status, 200);
    assert_eq!(ada.put("/api/v1/env/KEY", json!({"value": "hush-value"})).await.status, 200);
    assert_eq!(look.post("/api/v1/input", input.clone()).await.code(), "FORBIDDEN");
    assert_eq!(coop.http().post("/api/v1/input", input).await.code(), "UNAUTHORIZED");
    let wrong = coop.http().token("hush-token");
    assert_eq!(wrong.get("/api/v1/status").await.code(), "UNAUTHORIZED");
    let foreign = ada.header("origin", "https://elsewhere.example");
    assert_eq!(foreign.get("/api/v1/status").await.code(), "FORBIDDEN");
    assert_eq!(ada.post("/api/v1/input", json!({"tex": "hush-text"})).await.code(), "BAD_REQUEST");
    let nudge = json!({"message": "hush-message", "idempotency_key": "k-1"});
    assert_eq!(ada.post("/api/v1/agent/nudge", nudge).await.code(), "NO_DRIVER");
    let lease = ada.post("/api/v1/lease", json!({})).await.json()["lease_id"].clone();
    let lease = lease.as_str().expect("an id");
    assert_eq!(ada.delete(&format!("/api/v1/lease/{lease}")).await.status, 200);

    let mut socket = Socket::connect(&coop, "mode=state&token=look-secret").await;
    let typed = json!({"type": "input", "text": "hush-text"});
    socket.ask(typed.clone()).await.expect_err("not in its scope");
    socket.ask(json!({"type": "auth", "token": "ada-secret"})).await.expect("a token");
    let reply = socket.ask(typed).await.expect("typed");
    let mut guessing = Socket::connect(&coop, "mode=state").await;
    guessing.send(json!({"type": "auth", "token": "hush-token"})).await;
    assert_eq!(guessing.closed().await, 4401);

    let credentials =
        Credentials { token: Some("ada-secret".to_owned()), ..Credentials::default() };
    let mut client = coop.grpc_as(credentials).await;
    client.send_signal(v1::SendSignalRequest { signal: "WINCH".into() }).await.expect("sent");
    let typed = v1::AttachRequest { message: Some(ClientMessage::Input("hush".into())) };
    let messages = stream::iter([typed]).chain(stream::pending());
    let mut attached = client.attach(messages).await.expect("attached").into_inner();
    soon("the screen", attached.message()).await.expect("a message");

    let wanted = [
        ("token:ada", "SendInput", "OK"),
        ("token:ada", "PutEnv", "OK"),
        ("token:look", "SendInput", "FORBIDDEN"),
        ("tcp:127.0.0.1", "SendInput", "UNAUTHORIZED"),
        ("tcp:127.0.0.1", "GetStatus", "UNAUTHORIZED"),
        ("tcp:127.0.0.1", "GetStatus", "FORBIDDEN"),
        ("token:ada", "SendInput", "BAD_REQUEST"),
        ("token:ada", "Nudge", "NO_DRIVER"),
        ("token:ada", "AcquireLease", "OK"),
        ("token:ada", "ReleaseLease", "OK"),
        ("token:look", "SendInput", "FORBIDDEN"),
        ("token:ada", "SendInput", "OK"),
        ("tcp:127.0.0.1", "WebSocket auth", "UNAUTHORIZED"),
        ("token:ada", "SendSignal", "OK"),
        ("token:ada", "Attach", "OK"),
    ];
    let records = records(&coop, wanted.len()).await;
    let found: Vec<_> = records
        .iter()
        .map(|record| {
            let field = |name: &str| record[name].as_str().unwrap_or_default();
            (field("by"), field("call"), field("outcome"))
        })
        .collect();
    assert_eq!(found, wanted);
    for record in &records {
        assert!(record["time"].as_str().is_some_and(|time| time.ends_with('Z')), "{record}");
        assert!(record["peer"].as_str().is_some_and(|peer| peer.contains("127.0.0.1")));
    }
    assert_eq!((&records[0]["request_id"], &records[0]["bytes"]), (&json!("r-1"), &json!(9)));
    assert_eq!(records[1]["key"], "KEY");
    assert_eq!((&records[7]["idempotency_key"], &records[7]["bytes"]), (&json!("k-1"), &json!(12)));
    assert_eq!(records[11]["request_id"], reply["request_id"]);
    assert_eq!((&records[14]["action"], &records[14]["bytes"]), (&json!("input"), &json!(4)));
    let text = read(&coop);
    for secret in ["hush", "ada-secret", "look-secret", lease] {
        assert!(!text.contains(secret), "{secret} in {text}");
    }
}

#[tokio::test]
async fn an_answer_says_what_was_chosen_and_how_it_ended() {
    let mut agent = FakeAgent::new(&["--audit-log", "audit.log"], &[]).await;
    agent.ask().await;
    let http = agent.coop.http();
    let prompt = agent.prompt().await.id;
    let answer = json!({"accept": true, "prompt_id": prompt});
    let (answer, ()) = tokio::join!(http.post("/api/v1/agent/respond", answer), agent.work());
    assert_eq!(answer.status, 200, "{}", answer.text());
    let late = http.post("/api/v1/agent/respond", json!({"option": 1})).await;
    assert_eq!(late.code(), "NO_PROMPT");
    let records = records(&agent.coop, 2).await;
    assert_eq!(
        (&records[0]["outcome"], &records[0]["accept"], &records[0]["prompt_id"]),
        (&json!("answered"), &json!(true), &json!(prompt))
    );
    assert_eq!((&records[1]["outcome"], &records[1]["option"]), (&json!("NO_PROMPT"), &json!(1)));
}

#[tokio::test]
async fn what_coop_does_itself_is_recorded_too() {
    let mut agent = FakeAgent::new(&["--audit-log", "audit.log"], &[]).await;
    agent.show(TRUST);
    agent.reaches("prompt").await;
    until("an answer", async || (!agent.typed().is_empty()).then_some(())).await;
    agent.rest().await;
    agent.coop.signal(Signal::TERM);
    agent.coop.ended().await;
    let records = records(&agent.coop, 2).await;
    for (record, call, outcome) in
        [(&records[0], "respond", "answered"), (&records[1], "shutdown", "signal")]
    {
        assert_eq!(
            (&record["by"], &record["call"], &record["outcome"]),
            (&json!("coop"), &json!(call), &json!(outcome)),
            "{record}"
        );
    }
}

#[tokio::test]
async fn a_full_disk_does_not_stop_the_session() {
    let mut coop = Coop::with(&["--audit-log", "/dev/full"], SHELL).await;
    for cols in 80..110 {
        let size = json!({"cols": cols, "rows": 30});
        assert_eq!(coop.http().post("/api/v1/resize", size).await.status, 200);
    }
    assert_eq!(coop.http().post("/api/v1/shutdown", json!({"grace_ms": 0})).await.status, 200);
    coop.ended().await;
    let log = coop.log().await;
    assert_eq!(log.matches("the audit log cannot be written").count(), 1, "{log}");
}

#[tokio::test]
async fn a_log_that_cannot_be_opened_is_wrong_usage() {
    for path in ["missing/audit.log", ".", "/dev/full/x"] {
        let words = ["--port", "0", "--audit-log", path, "--", "cat"];
        let (status, stderr) = Setup::new(words).fail().await;
        assert_eq!(status.code(), Some(64), "{path}: {stderr}");
        assert!(stderr.contains(&format!("--audit-log {path}")), "{stderr}");
    }
}
