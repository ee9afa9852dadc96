//! Wrong tokens are slowed down, and logged once for each burst.

use rustix::process::Signal;
use serde_json::json;
use tokio::task::JoinSet;

use crate::support::coop::{Coop, SHELL};
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
