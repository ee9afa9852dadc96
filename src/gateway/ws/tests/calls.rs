//! The calls of a client and their replies.

use super::*;

/// Prints its input unchanged.
const ECHO: &str = "stty raw -echo; echo ready; exec cat";
/// Never reads its input.
const NEVER_READS: &str = "stty raw -echo; echo ready; exec sleep 1000";

#[tokio::test]
async fn every_frame_name_calls_its_rpc() {
    let server = Setup::new(ECHO).start().await;
    let mut client = server.client("?mode=state").await;
    server.printed("ready").await;
    let raw = BASE64_STANDARD.encode(b"\x01\x02\x03");
    let cases = [
        (json!({"type": "input", "text": "hello\r"}), json!({"type": "reply", "bytes_written": 6})),
        (
            json!({"event": "input:send", "text": "hi", "enter": true}),
            json!({"event": "reply", "bytes_written": 3}),
        ),
        (json!({"type": "input_raw", "data": raw}), json!({"type": "reply", "bytes_written": 3})),
        (
            json!({"type": "input:send:raw", "data": raw}),
            json!({"type": "reply", "bytes_written": 3}),
        ),
        (
            json!({"type": "keys", "keys": ["Escape", "C-c"]}),
            json!({"type": "reply", "bytes_written": 2}),
        ),
        (
            json!({"type": "keys:send", "keys": ["enter"]}),
            json!({"type": "reply", "bytes_written": 1}),
        ),
        (
            json!({"type": "resize", "cols": 100, "rows": 30}),
            json!({"type": "reply", "cols": 100, "rows": 30}),
        ),
        (
            json!({"type": "screen_request"}),
            json!({"type": "screen", "event": "screen", "cols": 100, "epoch": 17}),
        ),
        (
            json!({"type": "screen:get", "cursor": false}),
            json!({"type": "screen", "rows": 30, "cursor": null}),
        ),
        (
            json!({"type": "state_request"}),
            json!({"type": "state", "event": "state", "state": "unknown"}),
        ),
        (
            json!({"type": "agent:get"}),
            json!({"type": "state", "agent": "unknown", "prompt": null}),
        ),
        (json!({"type": "nudge", "message": "go"}), json!({"type": "error", "code": "NO_DRIVER"})),
        (json!({"type": "respond", "accept": true}), json!({"type": "error", "code": "NO_DRIVER"})),
        (json!({"type": "transcript:list"}), json!({"type": "error", "code": "NO_DRIVER"})),
        (
            json!({"type": "transcript:get", "number": 1}),
            json!({"type": "error", "code": "NO_DRIVER"}),
        ),
        (json!({"type": "transcript:catchup"}), json!({"type": "error", "code": "NO_DRIVER"})),
        (
            json!({"type": "health:get"}),
            json!({"type": "reply", "status": "running", "ws_clients": 1}),
        ),
        (
            json!({"type": "status:get"}),
            json!({"type": "reply", "state": "running", "exit_code": null}),
        ),
        (json!({"type": "lock", "action": "acquire"}), json!({"type": "reply"})),
        (json!({"type": "lock", "action": "release"}), json!({"type": "reply", "released": true})),
        (json!({"type": "lock", "action": "release"}), json!({"type": "reply", "released": false})),
        (json!({"type": "auth", "token": "any"}), json!({"type": "reply"})),
        (json!({"type": "ping"}), json!({"type": "pong", "event": "pong"})),
        (
            json!({"type": "signal:send", "signal": "WINCH"}),
            json!({"type": "reply", "delivered": true}),
        ),
    ];
    for (id, (frame, expected)) in cases.into_iter().enumerate() {
        let name = frame.get("type").or(frame.get("event")).cloned();
        let reply = client.request(frame.clone(), id as u64).await;
        assert_eq!(reply.get("to"), name.as_ref(), "{frame}");
        for (field, value) in expected.as_object().expect("an object") {
            assert_eq!(&reply[field], value, "{field} of the reply to {frame}: {reply}");
        }
    }
    let screen = client.request(json!({"type": "screen_request"}), 100).await;
    assert_eq!(screen["seq"], screen["sequence"]);
}

#[tokio::test]
async fn inputs_are_written_and_replied_to_in_order() {
    let server = Setup::new(ECHO).start().await;
    let mut client = server.client("?mode=raw").await;
    server.printed("ready").await;
    for (id, text) in (0..50).map(|id| (id, format!("<{id}>"))) {
        client.send(json!({"type": "input", "text": text, "request_id": id})).await;
    }
    let (mut ids, mut seen) = (Vec::new(), Vec::new());
    while ids.len() < 50 || !String::from_utf8_lossy(&seen).contains("<49>") {
        let frame = client.next().await;
        match frame["type"].as_str() {
            Some("reply") => ids.push(number(&frame, "request_id")),
            Some("output") => seen.extend(data(&frame)),
            _ => panic!("{frame}"),
        }
    }
    assert_eq!(ids, (0..50).collect::<Vec<u64>>());
    let typed: String = (0..50).map(|id| format!("<{id}>")).collect();
    assert!(String::from_utf8_lossy(&seen).ends_with(&typed));
}

#[tokio::test]
async fn a_request_id_may_be_any_value_or_absent() {
    let server = Setup::new(ECHO).start().await;
    let mut client = server.client("?subscribe=").await;
    for id in [json!("a\"b"), json!([1, {"x": null}]), json!(1.5), Value::Null, json!(false)] {
        client.send(json!({"type": "health:get", "request_id": id})).await;
        let reply = client.next().await;
        assert_eq!(reply.get("request_id"), Some(&id));
        client.send(json!({"type": "resize", "cols": 0, "rows": 0, "request_id": id})).await;
        let reply = client.next().await;
        assert_eq!((reply.get("request_id"), &reply["code"]), (Some(&id), &json!("BAD_REQUEST")));
    }
    client.send(json!({"type": "ping"})).await;
    assert_eq!(client.next().await, json!({"type": "pong", "event": "pong", "to": "ping"}));
}

#[tokio::test]
async fn a_child_that_never_reads_delays_only_its_input() {
    let server = Setup::new(NEVER_READS).start().await;
    let mut client = server.client("").await;
    let mut other = server.client("?subscribe=").await;
    server.printed("ready").await;
    client.send(json!({"type": "input", "text": "x".repeat(1 << 20), "request_id": "stuck"})).await;
    client.send(json!({"type": "health:get", "request_id": "behind"})).await;
    client.send(json!({"type": "ping", "request_id": "alive"})).await;
    client.send_message(Message::Ping("socket".into())).await;
    other.send(json!({"type": "resize", "cols": 90, "rows": 20})).await;
    let mut seen = Vec::new();
    while !seen.contains(&"behind".to_owned()) {
        let event = match within("a message", client.message()).await {
            Message::Pong(payload) => String::from_utf8_lossy(&payload).into_owned(),
            Message::Text(text) => {
                let frame: Value = serde_json::from_str(&text).expect("JSON");
                match frame["request_id"].as_str() {
                    Some("stuck") => frame["code"].as_str().expect("an error").to_owned(),
                    Some(id) => id.to_owned(),
                    None => frame["type"].as_str().expect("a type").to_owned(),
                }
            }
            other @ (Message::Binary(_)
            | Message::Ping(_)
            | Message::Close(_)
            | Message::Frame(_)) => {
                panic!("{other:?}")
            }
        };
        seen.push(event);
    }
    let at = |event: &str| {
        seen.iter().position(|seen| seen == event).unwrap_or_else(|| panic!("{event} in {seen:?}"))
    };
    for event in ["alive", "socket", "resize", "screen"] {
        assert!(at(event) < at("WRITER_BUSY"), "{event} in {seen:?}");
    }
    assert!(at("WRITER_BUSY") < at("behind"), "calls run in order");
}

#[tokio::test]
async fn a_lock_refuses_other_writers_and_ends_with_its_connection() {
    let server = Setup::new(ECHO).start().await;
    let (mut holder, mut other) =
        (server.client("?subscribe=").await, server.client("?subscribe=").await);
    server.printed("ready").await;
    let taken =
        holder.request(json!({"type": "lock", "action": "acquire", "holder": "ada"}), 1).await;
    assert!(taken["lease_id"].as_str().is_some_and(|id| id.starts_with("17-")), "{taken}");
    assert!(number(&taken, "expires_at_epoch_ms") > 0);
    let refused = other.request(json!({"type": "input", "text": "no"}), 1).await;
    assert_eq!(refused["code"], "WRITER_BUSY");
    assert_eq!(refused["error"]["metadata"]["holder"], "ada");
    assert_eq!(
        other.request(json!({"type": "lock", "action": "acquire"}), 2).await["code"],
        "WRITER_BUSY"
    );
    assert_eq!(
        other.request(json!({"type": "lock", "action": "release"}), 3).await["released"],
        false
    );
    assert_eq!(
        holder.request(json!({"type": "input", "text": "yes"}), 2).await["bytes_written"],
        3
    );
    let renewed = holder.request(json!({"type": "lock", "action": "acquire"}), 3).await;
    assert_eq!(renewed["lease_id"], taken["lease_id"]);
    // A lease in the upgrade's header can be used, and does not end with that connection.
    let lease = taken["lease_id"].as_str().expect("an id");
    let (socket, _) =
        server.connect("?subscribe=", &[("coop-lease", lease)]).await.expect("an upgrade");
    let mut friend = Client { socket };
    assert_eq!(
        friend.request(json!({"type": "input", "text": "me too"}), 1).await["bytes_written"],
        6
    );
    friend.leave().await;
    assert_eq!(
        other.request(json!({"type": "keys", "keys": ["a"]}), 4).await["code"],
        "WRITER_BUSY"
    );
    holder.leave().await;
    assert_eq!(other.request(json!({"type": "input", "text": "now"}), 5).await["bytes_written"], 3);
}

#[tokio::test]
async fn calls_sent_before_a_close_are_made() {
    let server = Setup::new(ECHO).start().await;
    let mut client = server.client("").await;
    server.printed("ready").await;
    for text in ["one ", "two ", "three"] {
        client.send(json!({"type": "input", "text": text})).await;
    }
    client.leave().await;
    server.printed("one two three").await;
}

#[tokio::test]
async fn a_token_permits_only_its_scope() {
    let server = Setup { level: Level::Read, ..Setup::new(ECHO) }.start().await;
    let mut client = server.client("?mode=state").await;
    server.printed("ready").await;
    assert_eq!(client.next().await["type"], "state");
    assert_eq!(client.request(json!({"type": "screen_request"}), 1).await["type"], "screen");
    assert_eq!(client.request(json!({"type": "replay", "offset": 0}), 2).await["type"], "output");
    for frame in [
        json!({"type": "input", "text": "x"}),
        json!({"type": "lock", "action": "acquire"}),
        json!({"type": "nudge", "message": "x"}),
        json!({"type": "shutdown"}),
    ] {
        assert_eq!(client.request(frame.clone(), 3).await["code"], "FORBIDDEN", "{frame}");
    }
    // A token with a larger scope extends what this connection may do.
    assert_eq!(client.request(json!({"type": "auth", "token": TOKEN}), 4).await["to"], "auth");
    assert_eq!(client.request(json!({"type": "input", "text": "x"}), 5).await["bytes_written"], 1);
    assert_eq!(client.request(json!({"type": "shutdown"}), 6).await["code"], "FORBIDDEN");
    client.send(json!({"type": "auth", "token": "wrong"})).await;
    assert_eq!(client.until_closed().await.1, 4401);
}

#[tokio::test]
async fn a_replay_sends_the_kept_output_in_frames_and_its_end() {
    let script = "stty raw -echo; head -c 300000 /dev/zero | tr '\\0' x; printf END; exec cat";
    let server = Setup { ring_bytes: 200_000, ..Setup::new(script) }.start().await;
    let mut client = server.client("?subscribe=").await;
    server.printed("END").await;
    let total = 300_003;
    for (offset, skipped) in [(0, 0), (1, 100_002), (total - 3, 0), (total, 0)] {
        client.send(json!({"type": "replay", "offset": offset, "request_id": offset})).await;
        let (mut bytes, mut missed, mut next) = (Vec::new(), 0, 0);
        let reply = loop {
            let frame = client.next().await;
            assert_eq!((&frame["request_id"], &frame["to"]), (&json!(offset), &json!("replay")));
            if frame["type"] == "reply" {
                break frame;
            }
            let part = data(&frame);
            assert!(part.len() <= 64 << 10);
            missed += number(&frame, "skipped");
            next = number(&frame, "next_offset");
            bytes.extend(part);
        };
        assert_eq!(number(&reply, "next_offset"), total, "{reply}");
        assert_eq!(missed, skipped, "from {offset}");
        if offset < total {
            assert_eq!(next, total);
            assert!(bytes.ends_with(b"END"));
            assert_eq!(bytes.len() as u64, (total - offset).min(200_000));
        } else {
            assert!(bytes.is_empty());
        }
    }
    let few =
        client.request(json!({"type": "replay:get", "offset": total - 3, "limit": 2}), 7).await;
    assert_eq!(data(&few), b"EN");
    assert_eq!(number(&client.until_type("reply").await, "next_offset"), total - 1);
    for (offset, limit) in [
        (json!(total + 1), json!(null)),
        (json!("x"), json!(null)),
        (json!(-1), json!(null)),
        (json!(0), json!(0)),
    ] {
        let frame = json!({"type": "replay", "offset": offset, "limit": limit});
        assert_eq!(client.request(frame, 8).await["code"], "BAD_REQUEST", "{offset} {limit}");
    }
}
