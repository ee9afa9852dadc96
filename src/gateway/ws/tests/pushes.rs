//! Pushed frames.

use std::collections::BTreeSet;

use coop_client::v1::{self, coop_server::Coop as _};
use tonic::Request;

use super::*;
use crate::pty::tests::ALONE;

const ECHO: &str = "stty raw -echo; echo ready; exec cat";

#[tokio::test]
async fn each_mode_and_subscription_gets_only_its_own_frames() {
    let server = Setup::new(ECHO).start().await;
    server.printed("ready").await;
    let cases = [
        ("", &["state", "output", "screen", "resize"][..]),
        ("?mode=all", &["state", "output", "screen", "resize"]),
        ("?mode=raw", &["output", "resize"]),
        ("?mode=screen", &["screen", "resize"]),
        ("?mode=state", &["state", "resize"]),
        ("?subscribe=pty", &["output", "resize"]),
        ("?subscribe=output,state", &["output", "state", "resize"]),
        ("?subscribe=screen", &["screen", "resize"]),
        ("?subscribe=hooks,messages,transcripts,usage", &["resize"]),
        ("?mode=raw&subscribe=state", &["state", "resize"]),
    ];
    let mut clients = Vec::new();
    for (query, _) in &cases {
        clients.push(server.client(query).await);
    }
    let mut actor = server.client("?subscribe=").await;
    assert_eq!(
        actor.request(json!({"type": "input", "text": "hello"}), 1).await["bytes_written"],
        5
    );
    server.printed("hello").await;
    actor.request(json!({"type": "resize", "cols": 90, "rows": 20}), 2).await;
    let mut seen = Vec::new();
    for (client, (_, expected)) in clients.iter_mut().zip(&cases) {
        let mut kinds = BTreeSet::new();
        while !expected.iter().all(|kind| kinds.contains(*kind)) {
            kinds.insert(client.next().await["type"].as_str().expect("a type").to_owned());
        }
        seen.push(kinds);
    }
    server.service.closing().close();
    for ((client, (query, expected)), mut kinds) in clients.iter_mut().zip(&cases).zip(seen) {
        let (rest, code, _) = client.until_closed().await;
        kinds.extend(rest.iter().map(|frame| frame["type"].as_str().expect("a type").to_owned()));
        assert_eq!(kinds, expected.iter().map(|kind| (*kind).to_owned()).collect(), "{query}");
        assert_eq!(code, 1001);
    }
}

#[tokio::test]
async fn frames_have_both_names_and_the_fields_of_their_messages() {
    let server = Setup::new("stty raw -echo; printf 'ready\\r\\n'; exec cat").start().await;
    server.printed("ready\r\n").await;
    let mut client = server.client("?subscribe=state,output").await;
    let state = client.next().await;
    assert_eq!(
        (&state["type"], &state["event"], &state["state"]),
        (&json!("state"), &json!("state"), &json!("unknown"))
    );
    assert_eq!(state["epoch"], 17);
    let start = client.next().await;
    assert_eq!(
        (&start["type"], &start["event"], &start["data"]),
        (&json!("output"), &json!("pty"), &json!(""))
    );
    assert_eq!((number(&start, "epoch"), number(&start, "offset")), (17, 7));
    client.send(json!({"type": "input", "text": "hello"})).await;
    let mut output = Vec::new();
    while output != b"hello" {
        let frame = client.until_type("output").await;
        assert_eq!(number(&frame, "offset"), 7 + output.len() as u64);
        assert_eq!(number(&frame, "skipped"), 0);
        output.extend(data(&frame));
        assert_eq!(number(&frame, "next_offset"), 7 + output.len() as u64);
    }
    let mut screens = server.client("?mode=screen").await;
    let screen = screens.next().await;
    assert_eq!((&screen["type"], &screen["event"]), (&json!("screen"), &json!("screen")));
    assert_eq!(screen["seq"], screen["sequence"]);
    assert_eq!((&screen["lines"][0], &screen["lines"][1]), (&json!("ready"), &json!("hello")));
    assert_eq!(
        (&screen["cursor"], &screen["alt_screen"]),
        (&json!({"row": 1, "col": 5, "hidden": false}), &json!(false))
    );
    screens.send(json!({"type": "input", "text": "!"})).await;
    let next = screens.until(|frame| frame["lines"][1] == "hello!").await;
    assert!(number(&next, "seq") > number(&screen, "seq"));
    client.request(json!({"type": "resize", "cols": 90, "rows": 20}), 1).await;
    let resize = screens.until_type("resize").await;
    assert_eq!(
        (&resize["event"], &resize["cols"], &resize["rows"]),
        (&json!("resize"), &json!(90), &json!(20))
    );
    // Its reply may come before or after the exit.
    client.send(json!({"type": "signal:send", "signal": "SIGKILL"})).await;
    let change = client.until_type("state_change").await;
    assert_eq!(
        (&change["event"], &change["prev"], &change["next"]),
        (&json!("transition"), &json!("unknown"), &json!("exited"))
    );
    assert_eq!(change["prompt"], Value::Null);
    let exit = client.until_type("exit").await;
    assert_eq!(
        (&exit["event"], &exit["code"], &exit["signal"]),
        (&json!("exit"), &Value::Null, &json!(9))
    );
    assert_eq!(number(&exit, "seq"), number(&change, "seq") + 1);
}

#[tokio::test]
async fn after_an_exit_the_connection_stays_open_and_writes_are_refused() {
    let server = Setup::new("read line; printf 'last words'; exit 7").start().await;
    let mut client = server.client("").await;
    client.send(json!({"type": "input", "text": "go\r"})).await;
    let mut output = Vec::new();
    let exit = loop {
        let frame = client.next().await;
        match frame["type"].as_str() {
            Some("output") => output.extend(data(&frame)),
            Some("exit") => break frame,
            _ => {}
        }
    };
    assert!(
        String::from_utf8_lossy(&output).ends_with("last words"),
        "all output comes before the exit"
    );
    assert_eq!((&exit["code"], &exit["signal"]), (&json!(7), &Value::Null));
    for frame in [
        json!({"type": "input", "text": "x"}),
        json!({"type": "keys", "keys": ["a"]}),
        json!({"type": "resize", "cols": 10, "rows": 10}),
        json!({"type": "lock", "action": "acquire"}),
        json!({"type": "signal:send", "signal": "TERM"}),
    ] {
        let refused = client.request(frame.clone(), 1).await;
        assert_eq!(
            (&refused["type"], &refused["code"]),
            (&json!("error"), &json!("EXITED")),
            "{frame}"
        );
    }
    assert_eq!(client.request(json!({"type": "status:get"}), 2).await["exit_code"], 7);
    assert_eq!(client.request(json!({"type": "state_request"}), 3).await["state"], "exited");
    let screen = client.request(json!({"type": "screen_request"}), 4).await;
    assert!(screen["lines"].to_string().contains("last words"));
}

#[tokio::test]
async fn a_reader_continues_with_the_next_child() {
    let _alone = ALONE.lock().await;
    let server = Setup::new("printf 'child %s' \"$GENERATION\"; exec cat").start().await;
    let mut client = server.client("?mode=raw").await;
    server.printed("child ").await;
    let mut next = 0;
    for (generation, dead) in [(2, false), (3, true)] {
        if dead {
            let kill = v1::SendSignalRequest { signal: "KILL".to_owned() };
            server.service.send_signal(Request::new(kill)).await.expect("sent");
            client.until_type("exit").await;
        }
        let extra_env = BTreeMap::from([("GENERATION".to_owned(), generation.to_string())]);
        let switch = v1::SwitchSessionRequest { extra_env, force: true, ..Default::default() };
        let switched = server
            .service
            .switch_session(Request::new(switch))
            .await
            .expect("a new child")
            .into_inner();
        let text = format!("child {generation}");
        let (mut restarted, mut output) = (false, Vec::new());
        while !restarted || !String::from_utf8_lossy(&output).ends_with(&text) {
            let frame = client.next().await;
            match frame["type"].as_str() {
                Some("restart") => {
                    assert_eq!(
                        (number(&frame, "generation"), &frame["reason"]),
                        (generation, &json!("switch"))
                    );
                    assert_eq!(number(&frame, "offset"), switched.offset);
                    restarted = true;
                }
                Some("output") => {
                    assert!(
                        next == 0 || number(&frame, "offset") == next,
                        "no byte is missing or sent twice"
                    );
                    next = number(&frame, "next_offset");
                    output.extend(data(&frame));
                }
                _ => panic!("{frame}"),
            }
        }
    }
}

#[tokio::test]
async fn a_slow_reader_gets_the_number_of_skipped_bytes() {
    let script = "stty raw -echo; printf ready; read go; head -c 12000000 /dev/zero | tr '\\0' x; printf END";
    let server = Setup { ring_bytes: 64 << 10, ..Setup::new(script) }.start().await;
    server.printed("ready").await;
    let mut slow = server.client("?mode=raw").await;
    let start = slow.next().await;
    let mut other = server.client("?subscribe=").await;
    other.send(json!({"type": "input_raw", "data": BASE64_STANDARD.encode("go\n")})).await;
    let exit = other.until_type("exit").await;
    assert_eq!(exit["code"], 0);
    let total = server.service.session().output().head().offset().0;
    let (mut at, mut read, mut skipped, mut last) = (number(&start, "offset"), 0, 0, Vec::new());
    loop {
        let frame = slow.next().await;
        if frame["type"] == "exit" {
            break;
        }
        let part = data(&frame);
        assert!(part.len() <= 64 << 10);
        assert_eq!(number(&frame, "offset"), at + number(&frame, "skipped"));
        at = number(&frame, "next_offset");
        skipped += number(&frame, "skipped");
        read += part.len() as u64;
        last = part;
    }
    assert!(skipped > 0, "the socket's buffers took it all: print more");
    assert_eq!(number(&start, "offset") + read + skipped, total);
    assert!(last.ends_with(b"END"), "the exit comes after the last byte");
}
