//! HTTP/JSON: bodies, parameters, paths and verbs.

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, Request};
use http_body_util::Full;
use serde_json::json;

use super::{Random, Session};
use crate::support::api::{routes, rpcs};
use crate::support::http::{Answer, Http};

fn refused(answer: &Answer, status: u16, code: &str, what: &str) {
    assert_eq!(answer.status, status, "{what}: {}", answer.text());
    assert_eq!(answer.code(), code, "{what}");
    assert_eq!(answer.headers["content-type"], "application/json", "{what}");
    assert_eq!(answer.headers["content-length"], answer.body.len().to_string(), "{what}");
}

#[tokio::test]
async fn bodies_that_are_not_requests_are_refused() {
    let session = Session::start().await;
    let http = session.coop.http();
    let deep =
        |open: &str, close: &str| format!("{}{}", open.repeat(100_000), close.repeat(100_000));
    let cases: Vec<(&str, Vec<u8>)> = vec![
        ("/api/v1/input", b"{".to_vec()),
        ("/api/v1/input", b"{\"text\":\"a\"".to_vec()),
        ("/api/v1/input", b"{\"text\":\"a\"} trailing".to_vec()),
        ("/api/v1/input", b"{\"text\":\"a\",}".to_vec()),
        ("/api/v1/input", b"{'text':'a'}".to_vec()),
        ("/api/v1/input", b"text=a&enter=true".to_vec()),
        ("/api/v1/input", b"null".to_vec()),
        ("/api/v1/input", b"[]".to_vec()),
        ("/api/v1/input", b"\"a\"".to_vec()),
        ("/api/v1/input", b"7".to_vec()),
        ("/api/v1/input", b"\xff\xfe{\x00}\x00".to_vec()),
        ("/api/v1/input", b"{\"text\":\"\xff\"}".to_vec()),
        ("/api/v1/input", b"{\"text\":\"\xed\xa0\x80\"}".to_vec()),
        ("/api/v1/input", br#"{"text":"\ud800"}"#.to_vec()),
        ("/api/v1/input", br#"{"text":7}"#.to_vec()),
        ("/api/v1/input", br#"{"text":["a"]}"#.to_vec()),
        ("/api/v1/input", br#"{"text":{}}"#.to_vec()),
        ("/api/v1/input", br#"{"text":"a","enter":"yes"}"#.to_vec()),
        ("/api/v1/input", br#"{"text":"a","enter":1}"#.to_vec()),
        ("/api/v1/input", br#"{"text":"a","text":"b"}"#.to_vec()),
        ("/api/v1/input", deep("[", "]").into_bytes()),
        ("/api/v1/input", deep("{\"text\":", "}").into_bytes()),
        ("/api/v1/input", "[".repeat(1_000_000).into_bytes()),
        ("/api/v1/input", format!("{{\"text\":{}}}", deep("[", "]")).into_bytes()),
        ("/api/v1/hooks/stop", deep("{\"a\":", "}").into_bytes()),
        ("/api/v1/hooks/stop", b"[1]".to_vec()),
        ("/api/v1/input/raw", br#"{"data":"not base64!"}"#.to_vec()),
        ("/api/v1/input/raw", br#"{"data":"Y"}"#.to_vec()),
        ("/api/v1/input/raw", br#"{"data":[97]}"#.to_vec()),
        ("/api/v1/input/keys", br#"{"keys":"Enter"}"#.to_vec()),
        ("/api/v1/input/keys", br#"{"keys":[1]}"#.to_vec()),
        ("/api/v1/input/keys", br#"{"keys":[null]}"#.to_vec()),
        ("/api/v1/resize", br#"{"cols":"80","rows":{}}"#.to_vec()),
        ("/api/v1/resize", br#"{"cols":80.5,"rows":24}"#.to_vec()),
        ("/api/v1/resize", br#"{"cols":NaN,"rows":24}"#.to_vec()),
        ("/api/v1/resize", br#"{"cols":1e400,"rows":24}"#.to_vec()),
        ("/api/v1/resize", br#"{"cols":4294967376,"rows":24}"#.to_vec()),
        ("/api/v1/signal", br#"{"signal":{"a":1}}"#.to_vec()),
        ("/api/v1/lease", br#"{"ttl_ms":"soon"}"#.to_vec()),
        ("/api/v1/shutdown", br#"{"grace_ms":"now"}"#.to_vec()),
        ("/api/v1/session/restart", br#"{"force":"yes"}"#.to_vec()),
        ("/api/v1/session/switch", br#"{"extra_env":["A=1"]}"#.to_vec()),
        ("/api/v1/session/switch", br#"{"extra_env":{"A":1}}"#.to_vec()),
        ("/api/v1/session/switch", br#"{"command":"bash"}"#.to_vec()),
    ];
    for (path, body) in cases {
        let what = format!("{path} {}", String::from_utf8_lossy(&body[..body.len().min(60)]));
        let answer = http.call(Method::POST, path, body.into()).await;
        refused(&answer, 400, "BAD_REQUEST", &what);
    }
    session.is_unharmed().await;
}

#[tokio::test]
async fn invalid_values_are_refused() {
    let session = Session::start().await;
    let http = session.coop.http();
    for (path, body, says) in [
        ("/api/v1/resize", json!({"cols": 0, "rows": 24}), "1000"),
        ("/api/v1/resize", json!({"cols": 80, "rows": 0}), "1000"),
        ("/api/v1/resize", json!({"cols": -1, "rows": 24}), "1000"),
        ("/api/v1/resize", json!({"cols": 65535, "rows": 65535}), "1000"),
        ("/api/v1/resize", json!({"cols": 1001, "rows": 24}), "1000"),
        ("/api/v1/resize", json!({}), "1000"),
        ("/api/v1/input/keys", json!({"keys": ["Enter", "Nonsense"]}), "Nonsense"),
        ("/api/v1/input/keys", json!({"keys": ["Enter", ""]}), ""),
        ("/api/v1/input/keys", json!({"keys": ["F13"]}), "F13"),
        ("/api/v1/input/keys", json!({"keys": ["Ctrl-"]}), "Ctrl-"),
        ("/api/v1/signal", json!({"signal": "SIGNOTHING"}), "SIGNOTHING"),
        ("/api/v1/signal", json!({"signal": ""}), ""),
        ("/api/v1/signal", json!({"signal": "0"}), "0"),
        ("/api/v1/signal", json!({"signal": "-9"}), "-9"),
        ("/api/v1/signal", json!({"signal": "65"}), "65"),
        ("/api/v1/signal", json!({"signal": "99999999999"}), "99999999999"),
        ("/api/v1/lease", json!({"ttl_ms": 0}), "ttl_ms"),
        ("/api/v1/lease", json!({"ttl_ms": -1}), "ttl_ms"),
        ("/api/v1/lease", json!({"ttl_ms": i32::MAX}), "ttl_ms"),
        ("/api/v1/shutdown", json!({"grace_ms": -1}), "grace_ms"),
        ("/api/v1/shutdown", json!({"grace_ms": i32::MAX}), "grace_ms"),
        ("/api/v1/session/switch", json!({"extra_env": {"A=B": "1"}}), "A=B"),
        ("/api/v1/session/switch", json!({"extra_env": {"": "1"}}), ""),
        ("/api/v1/session/switch", json!({"extra_env": {"A": "\0"}}), "A"),
        ("/api/v1/session/switch", json!({"command": ["a\0b"]}), "NUL"),
    ] {
        let answer = http.post(path, body.clone()).await;
        refused(&answer, 400, "BAD_REQUEST", &format!("{path} {body}"));
        assert!(
            answer.text().contains(says),
            "{path} {body} names what is wrong: {}",
            answer.text()
        );
    }
    for (path, says) in [
        ("/api/v1/screen?format=html", "format"),
        ("/api/v1/screen?format=7", "format"),
        ("/api/v1/screen?cursor=maybe", "cursor"),
        ("/api/v1/screen?cursor=true&cursor=false", "cursor"),
        ("/api/v1/screen/text?lines=-1", "lines"),
        ("/api/v1/screen/text?lines=9999999999", "lines"),
        ("/api/v1/scrollback?last=-1", "last"),
        ("/api/v1/scrollback?limit_bytes=0", "limit_bytes"),
        ("/api/v1/scrollback?from_line=-1", "from_line"),
        ("/api/v1/output?limit=0", "limit"),
        ("/api/v1/output?limit=-1", "limit"),
        ("/api/v1/output?limit=1048577", "limit"),
        ("/api/v1/output?limit=NaN", "limit"),
        ("/api/v1/output?offset=-1", "offset"),
        ("/api/v1/output?offset=18446744073709551615", "18446744073709551615"),
        ("/api/v1/output?offset=18446744073709551616", "offset"),
        ("/api/v1/output?offset=%ff", "offset"),
        ("/api/v1/stream/output?from_offset=99999999999", "99999999999"),
        ("/api/v1/agent/wait", "state"),
        ("/api/v1/agent/wait?state=happy", "happy"),
        ("/api/v1/agent/wait?state=idle&timeout_ms=-1", "timeout_ms"),
        ("/api/v1/agent/wait?state=idle&timeout_ms=600001", "timeout_ms"),
        ("/api/v1/agent/wait?state=idle&stable_ms=-1", "stable_ms"),
        ("/api/v1/events?types=gossip", "gossip"),
        ("/api/v1/events?since_seq=x", "since_seq"),
    ] {
        let answer = http.get(path).await;
        refused(&answer, 400, "BAD_REQUEST", path);
        assert!(answer.text().contains(says), "{path} names what is wrong: {}", answer.text());
    }
    session.is_unharmed().await;
}

#[tokio::test]
async fn unknown_paths_and_verbs_are_refused() {
    let session = Session::start().await;
    let http = session.coop.http();
    for path in [
        "/api/v1/nothing",
        "/api/v1",
        "/api",
        "/api/v1/screen/",
        "/api/v1//screen",
        "/API/v1/screen",
        "/api/v1/%73creen",
        "/api/v1/screen%2ftext",
        "/api/v1/../v1/screen",
        "/%2e%2e/etc/passwd",
        "/../../etc/passwd",
        "/page.js/..",
        "/api/v1/env/a/b",
        "/ws/",
        "/api/v1/screen%00",
        "/%ff%fe",
    ] {
        refused(&http.get(path).await, 404, "NOT_FOUND", path);
    }
    refused(&http.get("/api/v1/env/%ff").await, 400, "BAD_REQUEST", "a path that is not UTF-8");
    refused(
        &http.get("/api/v1/env/..%2f..%2fetc").await,
        404,
        "NOT_FOUND",
        "a variable with slashes",
    );
    refused(&http.get("/api/v1/transcripts/x").await, 400, "BAD_REQUEST", "no number");

    let rpcs = rpcs();
    for path in
        routes(&rpcs).map(|(_, route)| &route.path).collect::<std::collections::BTreeSet<_>>()
    {
        let known: Vec<_> =
            routes(&rpcs).filter(|(_, route)| route.path == *path).map(|(_, r)| &r.verb).collect();
        for verb in [
            Method::GET,
            Method::POST,
            Method::PUT,
            Method::DELETE,
            Method::PATCH,
            Method::OPTIONS,
            Method::TRACE,
        ] {
            if known.contains(&&verb) {
                continue;
            }
            let answer = http.call(verb.clone(), path, "{}".into()).await;
            refused(&answer, 405, "METHOD_NOT_ALLOWED", &format!("{verb} {path}"));
            let allowed = answer.headers["allow"].to_str().expect("text").to_owned();
            for known in &known {
                assert!(allowed.contains(known.as_str()), "{verb} {path}: {allowed}");
            }
        }
    }
    let brew = Method::from_bytes(b"BREW").expect("a method");
    for path in ["/", "/page.js", "/ws", "/api/v1/health"] {
        for verb in [&Method::POST, &brew] {
            refused(
                &http.call(verb.clone(), path, "{}".into()).await,
                405,
                "METHOD_NOT_ALLOWED",
                path,
            );
        }
    }
    refused(&http.get("/ws").await, 400, "BAD_REQUEST", "no upgrade");
    for path in ["/coop.v1.Coop/GetScreen", "/coop.v1.Coop/Nothing", "/grpc.health.v1.Health/Check"]
    {
        refused(&http.get(path).await, 400, "BAD_REQUEST", path);
        let answer = http
            .header("content-type", "application/grpc")
            .call(Method::POST, path, Bytes::new())
            .await;
        refused(&answer, 400, "BAD_REQUEST", "gRPC over HTTP/1.1");
        let answer = http.header("content-type", "application/grpc-web").get(path).await;
        refused(&answer, 405, "METHOD_NOT_ALLOWED", path);
        assert_eq!(answer.headers["allow"], "POST");
    }
    session.is_unharmed().await;
}

#[tokio::test]
async fn bodies_that_are_too_large_are_refused() {
    let session = Session::start().await;
    let http = session.coop.http();
    let large = Bytes::from(format!("{{\"text\":\"{}\"}}", "a".repeat(20_000_000)));
    for path in ["/api/v1/input", "/api/v1/input/raw", "/api/v1/hooks/stop"] {
        refused(&http.call(Method::POST, path, large.clone()).await, 413, "TOO_LARGE", path);
    }
    // A route that reads no body does not check its length.
    let unknown = http.call(Method::POST, "/api/v1/nothing", large.clone()).await;
    refused(&unknown, 404, "NOT_FOUND", "a large body on an unknown path");
    let forbidden = http
        .header("origin", "http://evil.example")
        .call(Method::POST, "/api/v1/input", large.clone())
        .await;
    refused(&forbidden, 403, "FORBIDDEN", "a large body from a page of another origin");
    // Without a content length, coop notices the size only while it reads.
    refused(&chunked(&session, large.clone()).await, 413, "TOO_LARGE", "in chunks");
    let expecting =
        http.header("expect", "100-continue").call(Method::POST, "/api/v1/input", large).await;
    refused(&expecting, 413, "TOO_LARGE", "before it is sent");
    session.is_unharmed().await;
}

/// Posts a body over HTTP/2 in chunks, without a content length.
async fn chunked(session: &Session, body: Bytes) -> Answer {
    use http_body_util::BodyExt as _;
    use hyper_util::rt::{TokioExecutor, TokioIo};
    let stream = tokio::net::TcpStream::connect(session.coop.address()).await.expect("connected");
    let (mut sender, connection) =
        hyper::client::conn::http2::handshake(TokioExecutor::new(), TokioIo::new(stream))
            .await
            .expect("HTTP/2");
    tokio::spawn(connection);
    let frames = http_body_util::StreamBody::new(futures_util::stream::iter(
        body.chunks(60_000)
            .map(|chunk| {
                Ok::<_, std::convert::Infallible>(hyper::body::Frame::data(Bytes::copy_from_slice(
                    chunk,
                )))
            })
            .collect::<Vec<_>>(),
    ));
    let request = Request::post("http://localhost/api/v1/input").body(frames).expect("a request");
    let response =
        crate::support::soon("an answer", sender.send_request(request)).await.expect("a response");
    let (parts, body) = response.into_parts();
    let body = crate::support::soon("the body", body.collect()).await.expect("a body").to_bytes();
    Answer { status: parts.status, headers: parts.headers, body }
}

#[tokio::test]
async fn nulls_empty_bodies_and_any_content_type_are_read() {
    let session = Session::start().await;
    let http = session.coop.http();
    let nulls = json!({"text": null, "enter": null});
    assert_eq!(http.post("/api/v1/input", nulls).await.json()["bytes_written"], 0);
    assert_eq!(
        http.call(Method::POST, "/api/v1/input", Bytes::new()).await.json()["bytes_written"],
        0
    );
    assert_eq!(http.get("/api/v1/screen?&&").await.status, 200);
    let form = http.header("content-type", "application/x-www-form-urlencoded");
    assert_eq!(form.post("/api/v1/input", json!({"text": ""})).await.status, 200, "curl -d");
    let xml = http.header("content-type", "text/xml; charset=utf-16").header("accept", "image/png");
    assert_eq!(xml.post("/api/v1/input", json!({"text": ""})).await.status, 200);
    session.is_unharmed().await;
}

#[tokio::test]
async fn random_bodies_do_no_harm() {
    let session = Session::start().await;
    let http = session.coop.http();
    let mut random = Random(0x5eed_0001);
    let rpcs = rpcs();
    // An empty body would be a valid request to shut down or to replace the child.
    let paths: Vec<_> = routes(&rpcs)
        .filter(|(rpc, _)| {
            !["Shutdown", "RestartSession", "SwitchSession"].contains(&rpc.name.as_str())
        })
        .filter(|(_, route)| route.verb == Method::POST || route.verb == Method::PUT)
        .collect();
    for _ in 0..600 {
        let (_, route) = paths[random.below(paths.len())];
        // With this byte at its end no body is valid by chance, so nothing is typed.
        let body = [random.bytes(), vec![b'!']].concat();
        let answer = http.call(route.verb.clone(), &route.path, body.clone().into()).await;
        refused(
            &answer,
            400,
            "BAD_REQUEST",
            &format!("{route} {:?}", String::from_utf8_lossy(&body)),
        );
    }
    let gets: Vec<_> = routes(&rpcs).filter(|(_, route)| route.verb == Method::GET).collect();
    for _ in 0..300 {
        let (rpc, route) = gets[random.below(gets.len())];
        let query: String = random
            .bytes()
            .iter()
            .map(|byte| format!("%{byte:02x}"))
            .collect::<Vec<_>>()
            .join(["", "=", "&"][random.below(3)]);
        let response =
            http.open(Method::GET, &format!("{}?{query}", route.path), Bytes::new()).await;
        let status = response.status().as_u16();
        assert!(
            status < 500 || (status == 501 && rpc.name.contains("Recording")),
            "{route}?{query}: {status}"
        );
    }
    session.is_unharmed().await;
}

#[tokio::test]
async fn long_addresses_and_many_headers_do_no_harm() {
    let session = Session::start().await;
    let http = session.coop.http();
    let answer = http.get(&format!("/api/v1/screen?token={}", "a".repeat(8000))).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    let answer = http.get(&format!("/api/v1/env/{}", "a".repeat(20_000))).await;
    refused(&answer, 404, "NOT_FOUND", "a long name");
    // Beyond hyper's own limits no handler runs, so the response has only a status.
    for (what, status) in [
        (
            http.open(Method::GET, &format!("/{}", "a".repeat(60_000)), Bytes::new())
                .await
                .status(),
            [404, 414],
        ),
        (many_headers(&http, 90).await, [200, 200]),
        (many_headers(&http, 400).await, [431, 431]),
    ] {
        assert!(status.contains(&what.as_u16()), "{what}");
    }
    let huge = http
        .header("x-huge", &"h".repeat(1_000_000))
        .open(Method::GET, "/api/v1/screen", Bytes::new())
        .await;
    assert_eq!(huge.status(), 431);
    session.is_unharmed().await;
}

async fn many_headers(http: &Http, count: usize) -> http::StatusCode {
    let http = (0..count).fold(http.clone(), |http, at| http.header(&format!("x-{at}"), "y"));
    http.open(Method::GET, "/api/v1/screen", Bytes::new()).await.status()
}

#[tokio::test]
async fn headers_that_are_not_text_do_no_harm() {
    let session = Session::start().await;
    let mut headers = HeaderMap::new();
    for name in
        ["coop-lease", "last-event-id", "authorization", "content-type", "sec-websocket-protocol"]
    {
        headers.insert(
            http::HeaderName::from_static(name),
            HeaderValue::from_bytes(b"\xff\xfe").expect("a value"),
        );
    }
    for (verb, path, expected) in [
        (Method::GET, "/api/v1/screen", 200),
        (Method::POST, "/api/v1/input", 200),
        (Method::GET, "/api/v1/stream/state", 200),
        (Method::GET, "/ws", 400),
    ] {
        let mut request = Request::builder().method(verb).uri(path).header("host", "localhost");
        request.headers_mut().expect("headers").extend(headers.clone());
        let request = request.body(Full::new(Bytes::new())).expect("a request");
        let stream =
            tokio::net::TcpStream::connect(session.coop.address()).await.expect("connected");
        let (mut sender, connection) =
            hyper::client::conn::http1::handshake(hyper_util::rt::TokioIo::new(stream))
                .await
                .expect("HTTP");
        tokio::spawn(connection);
        let response = crate::support::soon("an answer", sender.send_request(request))
            .await
            .expect("a response");
        assert_eq!(response.status(), expected, "{path}");
    }
    session.is_unharmed().await;
}
