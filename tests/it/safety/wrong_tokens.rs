//! Wrong tokens are slowed down, and logged once for each burst.

use rustix::process::Signal;
use serde_json::json;
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use crate::support::coop::{Coop, SHELL};
use crate::support::h2::{
    END_HEADERS, END_STREAM, GET, HEADERS, fields, frame, opening, read_frame,
};
use crate::support::soon;
use crate::support::ws::Socket;

const TOKEN: &str = "a token of enough length";

#[tokio::test]
async fn a_burst_of_wrong_tokens_has_one_line_in_the_log() {
    let mut coop = Coop::with(&["--auth-token", TOKEN, "--host", "127.0.0.1"], SHELL).await;
    let mut attempts = JoinSet::new();
    for number in 0..60 {
        let http = coop.http().token(&format!("wrong {number}"));
        attempts.spawn(async move { http.get("/api/v1/screen").await.status });
    }
    let mut socket = Socket::connect(&coop, "mode=all").await;
    socket.send(json!({"type": "auth", "token": "wrong"})).await;
    assert_eq!(socket.closed().await, 4401);
    // Callers without a token at all have shown no wrong one.
    assert_eq!(coop.http().get("/api/v1/screen").await.status, 401);
    assert_eq!(coop.http().token(TOKEN).get("/api/v1/screen").await.status, 200);
    assert!(attempts.join_all().await.into_iter().all(|status| status == 401));
    coop.signal(Signal::TERM);
    coop.ended().await;
    let log = coop.log().await;
    assert_eq!(log.matches("a wrong token").count(), 1, "{log}");
    assert!(!log.contains("wrong 7"), "{log}");
}

/// The answers after the first 16 come one after the other, so one that is asked for after a
/// hundred comes after an answer to a request that was sent later.
#[tokio::test]
async fn the_answer_to_a_wrong_token_waits_and_others_do_not() {
    let coop = Coop::with(&["--auth-token", TOKEN, "--host", "127.0.0.1"], SHELL).await;
    let mut attempts = JoinSet::new();
    for number in 0..100 {
        let http = coop.http().token(&format!("wrong {number}"));
        attempts.spawn(async move { http.get("/api/v1/screen").await.status });
    }
    for _ in 0..20 {
        assert_eq!(attempts.join_next().await.expect("an answer").expect("an answer"), 401);
    }
    let mut requests = opening();
    let mut wrong = fields(GET, "/api/v1/screen");
    wrong.extend_from_slice(b"\0\x0dauthorization\x0cBearer wrong");
    frame(&mut requests, HEADERS, END_HEADERS | END_STREAM, 1, &wrong);
    let health = fields(GET, "/api/v1/health");
    frame(&mut requests, HEADERS, END_HEADERS | END_STREAM, 3, &health);
    let mut stream = TcpStream::connect(coop.address()).await.expect("connected");
    stream.write_all(&requests).await.expect("sent");
    let mut answered = Vec::new();
    while answered.len() < 2 {
        let (kind, number, _) = soon("an answer", read_frame(&mut stream)).await;
        if kind == HEADERS {
            answered.push(number);
        }
    }
    assert_eq!(answered, [3, 1]);
    // Nor does a caller with the right one wait for the rest.
    assert_eq!(coop.http().token(TOKEN).get("/api/v1/screen").await.status, 200);
    assert!(attempts.join_all().await.into_iter().all(|status| status == 401));
}
