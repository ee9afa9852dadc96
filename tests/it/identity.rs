//! Who caused an event: each caller's name on every transport, in events and in errors to others.

use coop_client::v1::attach_request::Message as ClientMessage;
use coop_client::{Client, Credentials, v1};
use futures_util::stream;
use serde_json::json;

use crate::support::coop::{Coop, SHELL, Setup};
use crate::support::fake_agent::FakeAgent;
use crate::support::http::Http;
use crate::support::session::{event, refusal};
use crate::support::sse::Sse;
use crate::support::verb;
use crate::support::ws::Socket;
use crate::support::{soon, until};

const TOKENS: &str = "ada-secret admin name=ada\nbob-secret write name=bob\nplain-secret\n";

/// A shell on a port and a Unix socket, with these tokens.
async fn serve(tokens: Option<&str>, flags: &[&str]) -> Coop {
    let mut words = vec!["--port", "0", "--host", "127.0.0.1", "--socket", "coop.sock"];
    words.extend(flags);
    words.extend(tokens.map(|_| ["--auth-token-file", "tokens"]).into_iter().flatten());
    let setup = Setup::new(words.iter().chain(&["--"]).chain(&SHELL));
    if let Some(tokens) = tokens {
        setup.file("tokens", tokens, 0o600);
    }
    setup.start().await
}

async fn grpc(coop: &Coop, token: &str) -> Client {
    coop.grpc_as(Credentials { token: Some(token.to_owned()), ..Default::default() }).await
}

fn unix(coop: &Coop) -> Http {
    Http::unix(coop.home.path().join("coop.sock"))
}

fn own_uid() -> String {
    format!("uid:{}", rustix::process::getuid().as_raw())
}

async fn events(client: &mut Client) -> tonic::Streaming<v1::Event> {
    let request = v1::StreamEventsRequest::default();
    client.stream_events(request).await.expect("a stream").into_inner()
}

#[tokio::test]
async fn every_event_names_the_caller_that_caused_it() {
    let coop = serve(Some(TOKENS), &[]).await;
    let (mut ada, mut bob) = (grpc(&coop, "ada-secret").await, grpc(&coop, "bob-secret").await);
    let plain = coop.http().token("plain-secret");
    let mut log = events(&mut ada).await;
    let by = async |log: &mut tonic::Streaming<v1::Event>, kind: &str| {
        let event = event(log, kind).await;
        (event.by.clone().unwrap_or_default(), event)
    };

    bob.resize(v1::ResizeRequest { cols: 90, rows: 30 }).await.expect("resized");
    assert_eq!(by(&mut log, "resize").await.0, "token:bob");
    assert_eq!(plain.post("/api/v1/resize", json!({"cols": 91, "rows": 30})).await.status, 200);
    assert_eq!(by(&mut log, "resize").await.0, "token");
    let named = unix(&coop).token("ada-secret");
    assert_eq!(named.post("/api/v1/resize", json!({"cols": 92, "rows": 30})).await.status, 200);
    assert_eq!(by(&mut log, "resize").await.0, "token:ada");
    let unnamed = unix(&coop).token("plain-secret");
    assert_eq!(unnamed.post("/api/v1/resize", json!({"cols": 93, "rows": 30})).await.status, 200);
    assert_eq!(by(&mut log, "resize").await.0, own_uid());
    let mut socket = Socket::connect(&coop, "mode=state").await;
    socket.ask(json!({"type": "auth", "token": "bob-secret"})).await.expect("a token");
    socket.ask(json!({"type": "resize", "cols": 94, "rows": 30})).await.expect("resized");
    assert_eq!(by(&mut log, "resize").await.0, "token:bob");

    bob.send_signal(v1::SendSignalRequest { signal: "winch".into() }).await.expect("sent");
    let (caller, signal) = by(&mut log, "signal").await;
    let wanted = v1::event::Payload::Signal(v1::SignalEvent { signal: "SIGWINCH".into() });
    assert_eq!((caller.as_str(), signal.payload), ("token:bob", Some(wanted)));

    assert_eq!(plain.put("/api/v1/env/SECRET", json!({"value": "hush"})).await.status, 200);
    assert_eq!(plain.delete("/api/v1/env/SECRET").await.status, 200);
    for action in ["put", "delete"] {
        let (caller, env) = by(&mut log, "env").await;
        assert!(!format!("{env:?}").contains("hush"), "{env:?}");
        let wanted = v1::EnvEvent { action: action.into(), key: "SECRET".into() };
        let wanted = v1::event::Payload::Env(wanted);
        assert_eq!((caller.as_str(), env.payload), ("token", Some(wanted)));
    }

    for (reason, path) in [("restart", "restart"), ("switch", "switch")] {
        let answer = named.post(&format!("/api/v1/session/{path}"), json!({"force": true})).await;
        assert!(answer.status.is_success(), "{}", answer.text());
        let (caller, restart) = by(&mut log, "restart").await;
        assert_eq!(caller, "token:ada");
        assert!(matches!(
            restart.payload,
            Some(v1::event::Payload::Restart(restart)) if restart.reason == reason
        ));
    }
    bob.shutdown(v1::ShutdownRequest::default()).await.expect_err("not in its scope");
    ada.shutdown(v1::ShutdownRequest { grace_ms: Some(0) }).await.expect("accepted");
    assert_eq!(by(&mut log, "shutdown").await.0, "token:ada");
}

#[tokio::test]
async fn the_caller_is_named_on_every_transport_that_shows_events() {
    let coop = serve(None, &[]).await;
    let mut socket = Socket::connect(&coop, "mode=state").await;
    socket.wait_for("state").await;
    let size = json!({"cols": 90, "rows": 30});
    assert_eq!(unix(&coop).post("/api/v1/resize", size).await.status, 200);
    assert_eq!(socket.wait_for("resize").await["by"], own_uid().as_str());
    let frame = json!({"type": "signal:send", "signal": "WINCH"});
    socket.ask(frame).await.expect("sent");

    let mut stream = Sse::open(&coop.http(), "/api/v1/events?types=resize,signal").await;
    assert_eq!(stream.wait_for("resize").await.data["by"], own_uid().as_str());
    let signal = stream.wait_for("signal").await.data;
    assert_eq!(
        (&signal["by"], &signal["signal"]["signal"]),
        (&json!("tcp:127.0.0.1"), &json!("SIGWINCH"))
    );

    let mut lines = verb::Lines::of(&["events", &verb::url(&coop)]);
    let line = lines.until(|line| line.contains("signal")).await;
    assert!(line.ends_with("SIGWINCH [tcp:127.0.0.1]"), "{line}");
}

#[tokio::test]
async fn the_holder_of_the_lease_is_named_to_others_and_cannot_take_another_name() {
    let coop = serve(Some(TOKENS), &[]).await;
    let (mut ada, mut bob) = (grpc(&coop, "ada-secret").await, grpc(&coop, "bob-secret").await);
    let mut log = events(&mut ada).await;
    let lease = bob.acquire_lease(v1::AcquireLeaseRequest::default()).await.expect("free");
    let lease = lease.into_inner();
    let typed = v1::SendInputRequest { text: "x".into(), enter: false };
    let busy = ada.send_input(typed.clone()).await.expect_err("bob has the lease");
    let reason = refusal(&busy);
    assert_eq!((reason.code.as_str(), &*reason.metadata["holder"]), ("WRITER_BUSY", "token:bob"));
    assert!(busy.message().starts_with("token:bob holds"), "{busy}");
    ada.release_lease(v1::ReleaseLeaseRequest { lease_id: lease.lease_id }).await.expect("ended");
    for (caller, action) in [("token:bob", "acquired"), ("token:ada", "released")] {
        let event = event(&mut log, "lease").await;
        let Some(v1::event::Payload::Lease(lease)) = event.payload else { panic!("a lease") };
        assert_eq!(event.by.as_deref(), Some(caller));
        assert_eq!((lease.action.as_str(), lease.holder.as_str()), (action, "token:bob"));
    }
    let disguised =
        v1::AcquireLeaseRequest { ttl_ms: Some(1000), holder: Some("token:ada".to_owned()) };
    bob.acquire_lease(disguised).await.expect("free");
    let reason = refusal(&ada.send_input(typed).await.expect_err("bob has the lease"));
    assert_eq!(reason.metadata["by"], "token:bob");
    assert_eq!(event(&mut log, "lease").await.by.as_deref(), Some("token:bob"));
    assert_eq!(event(&mut log, "lease").await.by.as_deref(), Some("coop"), "it has expired");
}

#[tokio::test]
async fn an_attached_terminal_without_a_name_is_the_terminal() {
    let coop = serve(Some(TOKENS), &[]).await;
    let mut log = events(&mut grpc(&coop, "ada-secret").await).await;
    for (token, cols, by) in [("plain-secret", 90, "terminal"), ("bob-secret", 91, "token:bob")] {
        let resize = ClientMessage::Resize(v1::ResizeRequest { cols, rows: 30 });
        let messages = stream::iter([v1::AttachRequest { message: Some(resize) }]);
        let mut client = grpc(&coop, token).await;
        let mut attached = client.attach(messages).await.expect("attached").into_inner();
        soon("the screen", attached.message()).await.expect("a message");
        assert_eq!(event(&mut log, "resize").await.by.as_deref(), Some(by));
    }
}

#[tokio::test]
async fn messages_answers_and_interrupts_name_their_callers() {
    let mut agent = FakeAgent::new(&["--socket", "coop.sock"], &[]).await;
    let unix = unix(&agent.coop);
    let mut log = events(&mut agent.client.clone()).await;
    let hook_answer = agent.ask().await;
    let tcp = agent.coop.http();
    let accept = json!({"accept": true});
    let first = unix.post("/api/v1/agent/respond", accept.clone());
    let second = async {
        // The first answer is with the agent, which has not closed its dialog.
        until("the first answer", async || {
            std::fs::read(&hook_answer).is_ok_and(|answer| !answer.is_empty()).then_some(())
        })
        .await;
        let second = tcp.post("/api/v1/agent/respond", accept);
        let (answer, ()) = tokio::join!(second, agent.work());
        answer
    };
    let (first, second) = tokio::join!(first, second);
    assert_eq!(first.json()["outcome"], "answered", "{}", first.text());
    let second = second.json();
    assert_eq!(
        (&second["outcome"], &second["superseded_by"]),
        (&json!("superseded"), &json!(own_uid())),
        "{second}"
    );
    assert_eq!(event(&mut log, "respond").await.by, Some(own_uid()));
    let superseded = event(&mut log, "respond").await;
    assert_eq!(superseded.by.as_deref(), Some("tcp:127.0.0.1"));
    assert!(matches!(
        superseded.payload,
        Some(v1::event::Payload::Respond(outcome)) if outcome.superseded_by == Some(own_uid())
    ));

    let interrupted = unix.post("/api/v1/agent/interrupt", json!({}));
    let stops = async {
        agent.is_typed("\x1b").await;
        agent.rest().await;
    };
    let (answer, ()) = tokio::join!(interrupted, stops);
    assert_eq!(answer.status, 200, "{}", answer.text());
    let interrupt = event(&mut log, "interrupt").await;
    assert_eq!(interrupt.by, Some(own_uid()));
    let wanted = v1::InterruptEvent {
        outcome: "stopped".into(),
        state_before: "working".into(),
        state: "idle".into(),
    };
    assert_eq!(interrupt.payload, Some(v1::event::Payload::Interrupt(wanted)));

    agent.work().await;
    let busy = agent.coop.http().post("/api/v1/agent/nudge", json!({"message": "hi"})).await;
    assert_eq!(busy.code(), "AGENT_BUSY");
    assert_eq!(event(&mut log, "nudge").await.by.as_deref(), Some("tcp:127.0.0.1"));
}
