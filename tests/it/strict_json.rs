//! Strict JSON: a name that a request does not have is refused with the nearest known one, on every
//! transport, and changes nothing. The requests of shipped consumers pass as they are.

use bytes::Bytes;
use http::Method;
use serde_json::{Value, json};

use crate::support::coop::{Coop, Setup};
use crate::support::http::Http;
use crate::support::ws::Socket;

/// What coop has counted so far of everything that these tests could change.
async fn counters(http: &Http) -> Value {
    let status = http.get("/api/v1/status").await.json();
    json!([status["bytes_written"], status["pid"], status["generation"], status["state"]])
}

#[tokio::test]
async fn an_unknown_field_is_refused_by_name_and_changes_nothing() {
    let coop = Coop::shell().await;
    let http = coop.http();
    let before = counters(&http).await;
    for (method, path, body, message) in [
        (
            Method::POST,
            "/input",
            json!({"tex": "ls\n"}),
            "field tex: there is no such field, the nearest is text",
        ),
        (
            Method::POST,
            "/input",
            json!({"text": "ls", "entr": true}),
            "field entr: there is no such field, the nearest is enter",
        ),
        (
            Method::POST,
            "/input",
            json!({"text": "ls", "later": null}),
            "field later: there is no such field, the nearest is enter",
        ),
        (
            Method::POST,
            "/input/keys",
            json!({"keys": ["a"], "key": []}),
            "field key: there is no such field, the nearest is keys",
        ),
        (
            Method::POST,
            "/agent/respond",
            json!({"answers": [{"optoin": 1}]}),
            "field answers[0].optoin: there is no such field, the nearest is option",
        ),
        (
            Method::POST,
            "/resize",
            json!({"cols": 90, "rows": 30, "row": 1}),
            "field row: there is no such field, the nearest is rows",
        ),
        (
            Method::POST,
            "/signal",
            json!({"signal": "KILL", "sig": 9}),
            "field sig: there is no such field, the nearest is signal",
        ),
        (
            Method::POST,
            "/session/restart",
            json!({"forced": true}),
            "field forced: there is no such field, the nearest is force",
        ),
        (
            Method::PUT,
            "/session/switch",
            json!({"env": {}}),
            "field env: there is no such field, the nearest is extra_env",
        ),
        (
            Method::PUT,
            "/env/A",
            json!({"val": "1"}),
            "field val: there is no such field, the nearest is value",
        ),
        (
            Method::POST,
            "/shutdown",
            json!({"grace": 1}),
            "field grace: there is no such field, the nearest is grace_ms",
        ),
    ] {
        let path = format!("/api/v1{path}");
        let answer = http.call(method, &path, Bytes::from(body.to_string())).await;
        assert_eq!(
            (answer.status.as_u16(), answer.code().as_str()),
            (400, "BAD_REQUEST"),
            "{path}"
        );
        let text = answer.json()["message"].as_str().expect("a message").to_owned();
        assert!(text.starts_with(message), "{path}: {text}");
    }
    assert_eq!(counters(&http).await, before);
    assert_eq!(http.get("/api/v1/env/A").await.status, 404);
}

#[tokio::test]
async fn an_unknown_parameter_is_refused_by_name() {
    let coop = Coop::shell().await;
    let http = coop.http();
    for (path, message) in [
        (
            "/api/v1/screen?fromat=ansi",
            "parameter fromat: there is no such parameter, the nearest is format",
        ),
        (
            "/api/v1/screen/text?lines=2&scrolback=1",
            "parameter scrolback: there is no such parameter, the nearest is scrollback",
        ),
        ("/api/v1/status?x", "parameter x: there is no such parameter, and no other"),
        (
            "/api/v1/events?since=1",
            "parameter since: there is no such parameter, the nearest is since_seq",
        ),
        (
            "/api/v1/stream/output?offset=1",
            "parameter offset: there is no such parameter, the nearest is from_offset",
        ),
        ("/api/v1/input?text=ls", "parameter text: there is no such parameter, and no other"),
    ] {
        let method = if path.contains("/input") { Method::POST } else { Method::GET };
        let answer = http.call(method, path, Bytes::new()).await;
        assert_eq!(
            (answer.status.as_u16(), answer.code().as_str()),
            (400, "BAD_REQUEST"),
            "{path}"
        );
        assert_eq!(answer.json()["message"], message);
    }
    assert_eq!(http.get("/api/v1/status?token=any").await.status, 200, "on every route");
    assert!(Socket::try_connect(&coop, "mod=raw", &[]).await.is_err());
    assert!(Socket::try_connect(&coop, "mode=raw&token=any", &[]).await.is_ok());
}

#[tokio::test]
async fn an_unknown_field_of_a_frame_is_refused_by_name() {
    let coop = Coop::shell().await;
    let before = counters(&coop.http()).await;
    let mut socket = Socket::connect(&coop, "mode=state").await;
    for (frame, message) in [
        (
            json!({"type": "input", "tex": "ls\n"}),
            "field tex: there is no such field, the nearest is text",
        ),
        (
            json!({"event": "keys:send", "keys": ["a"], "enter": true}),
            "field enter: there is no such field, the nearest is keys",
        ),
        (
            json!({"type": "screen_request", "formt": "ansi"}),
            "field formt: there is no such field, the nearest is format",
        ),
        (
            json!({"type": "replay", "from": 0}),
            "field from: there is no such field, the nearest is",
        ),
        (
            json!({"type": "lock", "action": "acquire", "ttl": 5}),
            "field ttl: there is no such field, the nearest is ttl_ms",
        ),
        (json!({"type": "ping", "id": 1}), "field id: there is no such field, the nearest is"),
    ] {
        socket.send(frame.clone()).await;
        let error = socket.wait_for("error").await;
        assert_eq!(error["code"], "BAD_REQUEST", "{frame}");
        assert!(error["message"].as_str().expect("a message").starts_with(message), "{error}");
    }
    socket
        .send(json!({"type": "lock", "event": "lock", "action": "acquire", "request_id": 1}))
        .await;
    assert_eq!(socket.wait_for("reply").await["request_id"], 1);
    assert_eq!(counters(&coop.http()).await, before);
}

/// The requests that Gas Town's backend and oddjobs send, with their bodies as they are.
#[tokio::test]
async fn requests_of_shipped_consumers_pass() {
    let coop = Setup::new(["--port", "0", "--", "cat"]).start().await;
    let http = coop.http();
    let nulls = json!({"accept": true, "option": null, "text": null, "answers": null});
    for (method, path, body, status) in [
        (Method::GET, "/health", None, 200),
        (Method::GET, "/status", None, 200),
        (Method::GET, "/screen/text", None, 200),
        (Method::GET, "/agent/state", None, 200),
        (Method::GET, "/session/cwd", None, 200),
        (Method::GET, "/session/usage", None, 404),
        (Method::POST, "/agent/nudge", Some(json!({"message": "go"})), 404),
        (Method::POST, "/agent/respond", Some(nulls), 404),
        (Method::POST, "/input", Some(json!({"text": "a", "enter": true})), 200),
        (Method::POST, "/input/keys", Some(json!({"keys": ["C-u", "Enter"]})), 200),
        (Method::PUT, "/env/A", Some(json!({"value": "1"})), 200),
        (Method::GET, "/env/A", None, 200),
        (Method::PUT, "/session/switch", Some(json!({"extra_env": {}})), 200),
        (Method::POST, "/signal", Some(json!({"signal": "SIGTERM"})), 200),
        (Method::POST, "/shutdown", Some(json!({})), 200),
    ] {
        let body = body.map(|body| Bytes::from(body.to_string())).unwrap_or_default();
        let answer = http.call(method, &format!("/api/v1{path}"), body).await;
        assert_eq!(answer.status.as_u16(), status, "{path}: {}", answer.text());
        assert!(status == 200 || answer.code() == "NO_DRIVER", "{path}: {}", answer.text());
    }
    for query in ["subscribe=state", "subscribe=state&token=any", "subscribe=state,messages"] {
        let coop = Coop::shell().await;
        let mut socket = Socket::connect(&coop, query).await;
        socket.send(json!({"event": "ping", "request_id": "a"})).await;
        assert_eq!(socket.wait_for("pong").await["request_id"], "a", "{query}");
    }
}
