//! gRPC and grpc-web: frames, messages and methods.

use base64::Engine as _;
use bytes::Bytes;
use coop_client::v1;
use futures_util::StreamExt as _;
use http::Method;
use prost::Message as _;
use tonic::Code;

use super::{Random, Session};
use crate::support::api::rpcs;
use crate::support::grpc::{Grpc, UNREADABLE, framed, web, web_status};
use crate::support::session::refusal;
use crate::support::soon;

async fn refused(grpc: &Grpc, path: &str, body: Bytes, code: Code, reason: &str) {
    let status = grpc.end(path, body).await.expect_err(reason);
    assert_eq!((status.code(), refusal(&status).code.as_str()), (code, reason), "{path}: {status}");
}

#[tokio::test]
async fn frames_that_are_not_messages_are_refused() {
    let session = Session::start().await;
    let grpc = Grpc::tcp(session.coop.address()).await;
    let bodies: [&[u8]; 9] = [
        b"",
        b"\x00",
        b"\x00\x00\x00\x00",
        b"\x00\x00\x00\x00\x05abc",
        b"\x01\x00\x00\x00\x00",
        b"\x02\x00\x00\x00\x00",
        b"\xff\xff\xff",
        b"\x00\x00\x00\x00\x02\x0a\x05",
        b"\x00\x00\x00\x00\x03\x0a\x01\xff",
    ];
    for body in bodies {
        refused(
            &grpc,
            "/coop.v1.Coop/SendInput",
            Bytes::from_static(body),
            Code::InvalidArgument,
            "BAD_REQUEST",
        )
        .await;
    }
    for rpc in rpcs() {
        refused(&grpc, &rpc.path, framed(UNREADABLE), Code::InvalidArgument, "BAD_REQUEST").await;
        let status = web(&session.coop.http(), &rpc.path, UNREADABLE).await;
        assert_eq!(
            (status.code(), refusal(&status).code.as_str()),
            (Code::InvalidArgument, "BAD_REQUEST"),
            "{}",
            rpc.name
        );
    }
    session.is_unharmed().await;
}

#[tokio::test]
async fn messages_that_are_too_large_are_refused() {
    let session = Session::start().await;
    let grpc = Grpc::tcp(session.coop.address()).await;
    let large = v1::SendInputRequest { text: "a".repeat(20_000_000), enter: false }.encode_to_vec();
    for path in ["/coop.v1.Coop/SendInput", "/coop.v1.Coop/GetHealth", "/coop.v1.Coop/Attach"] {
        refused(&grpc, path, framed(&large), Code::ResourceExhausted, "TOO_LARGE").await;
    }
    // The length alone is enough; coop does not wait for the bytes.
    let announced = Bytes::from_static(b"\x00\xff\xff\xff\xff");
    refused(&grpc, "/coop.v1.Coop/SendInput", announced, Code::ResourceExhausted, "TOO_LARGE")
        .await;
    let status = web(&session.coop.http(), "/coop.v1.Coop/SendInput", &large).await;
    assert_eq!(
        (status.code(), refusal(&status).code.as_str()),
        (Code::ResourceExhausted, "TOO_LARGE")
    );
    session.is_unharmed().await;
}

#[tokio::test]
async fn unknown_methods_are_refused() {
    let session = Session::start().await;
    let grpc = Grpc::tcp(session.coop.address()).await;
    for path in [
        "/coop.v1.Coop/Nothing",
        "/coop.v1.Coop/",
        "/coop.v1.Coop/getscreen",
        "/coop.v1.Coop/GetScreen/More",
        "/coop.v1.Coop/%47etScreen",
        "/coop.v2.Coop/GetScreen",
        "/grpc.health.v1.Health/Nothing",
        "/grpc.reflection.v1.ServerReflection/Nothing",
        "/",
        "/nothing",
        "/api/v1/nothing",
    ] {
        let status = match path {
            "/" => continue,
            _ => grpc.call(path, b"").await.expect_err("no such method"),
        };
        assert_eq!(
            (status.code(), refusal(&status).code.as_str()),
            (Code::Unimplemented, "UNSUPPORTED"),
            "{path}"
        );
        let status = web(&session.coop.http(), path, b"").await;
        assert_eq!(
            (status.code(), refusal(&status).code.as_str()),
            (Code::Unimplemented, "UNSUPPORTED"),
            "web {path}"
        );
    }
    session.is_unharmed().await;
}

#[tokio::test]
async fn invalid_values_are_refused() {
    let session = Session::start().await;
    let grpc = Grpc::tcp(session.coop.address()).await;
    let cases: [(&str, Vec<u8>); 12] = [
        ("Resize", v1::ResizeRequest { cols: 0, rows: 24 }.encode_to_vec()),
        ("Resize", v1::ResizeRequest { cols: i32::MIN, rows: i32::MAX }.encode_to_vec()),
        (
            "SendKeys",
            v1::SendKeysRequest { keys: vec!["Enter".into(), "Nonsense".into()] }.encode_to_vec(),
        ),
        ("SendSignal", v1::SendSignalRequest { signal: "KILLER".into() }.encode_to_vec()),
        ("GetScreen", v1::GetScreenRequest { format: 77, ..Default::default() }.encode_to_vec()),
        ("GetScreen", v1::GetScreenRequest { format: -1, ..Default::default() }.encode_to_vec()),
        ("StreamScreen", v1::StreamScreenRequest { format: 99 }.encode_to_vec()),
        ("GetOutput", v1::GetOutputRequest { offset: u64::MAX, limit: None }.encode_to_vec()),
        ("GetOutput", v1::GetOutputRequest { offset: 0, limit: Some(i32::MIN) }.encode_to_vec()),
        (
            "StreamOutput",
            v1::StreamOutputRequest { from_offset: u64::MAX, ..Default::default() }.encode_to_vec(),
        ),
        (
            "AcquireLease",
            v1::AcquireLeaseRequest { ttl_ms: Some(i32::MIN), holder: None }.encode_to_vec(),
        ),
        ("Shutdown", v1::ShutdownRequest { grace_ms: Some(-1) }.encode_to_vec()),
    ];
    for (name, message) in cases {
        refused(
            &grpc,
            &format!("/coop.v1.Coop/{name}"),
            framed(&message),
            Code::InvalidArgument,
            "BAD_REQUEST",
        )
        .await;
    }
    session.is_unharmed().await;
}

#[tokio::test]
async fn invalid_attach_requests_are_answered_in_the_stream() {
    use v1::attach_request::Message as ClientMessage;
    use v1::attach_response::Message as ServerMessage;
    let session = Session::start().await;
    let mut client = session.coop.grpc().await;
    let size = |cols, rows| ClientMessage::Resize(v1::ResizeRequest { cols, rows });
    let asked = [
        size(0, 0),
        size(-5, 65535),
        ClientMessage::Lease(v1::AttachLease { acquire: true, ttl_ms: Some(-1) }),
    ];
    let count = asked.len();
    let requests = asked.map(|asked| v1::AttachRequest { message: Some(asked) });
    let requests = futures_util::stream::iter(requests).chain(futures_util::stream::pending());
    let mut answers = client.attach(requests).await.expect("attached").into_inner();
    let mut refused = 0;
    while refused < count {
        let answer = soon("an answer", answers.message())
            .await
            .expect("the stream continues")
            .expect("the stream continues");
        match answer.message.expect("a message") {
            ServerMessage::Error(error) => {
                assert_eq!(error.code, "BAD_REQUEST", "{}", error.message);
                refused += 1;
            }
            ServerMessage::Snapshot(_) | ServerMessage::Output(_) => {}
            other => panic!("{other:?}"),
        }
    }
    session.is_unharmed().await;
}

#[tokio::test]
async fn malformed_grpc_web_is_refused() {
    let session = Session::start().await;
    let http = session.coop.http();
    let path = "/coop.v1.Coop/SendInput";
    let text = http.header("content-type", "application/grpc-web-text");
    for body in ["!!!not base64!!!", "AAAA", "A", "====", "AAAAAAU="] {
        let answer = text.call(Method::POST, path, body.into()).await;
        let status = web_status(&answer);
        assert_eq!(
            (status.code(), refusal(&status).code.as_str()),
            (Code::InvalidArgument, "BAD_REQUEST"),
            "{body}"
        );
    }
    let whole = base64::engine::general_purpose::STANDARD.encode(framed(UNREADABLE));
    let status = web_status(&text.call(Method::POST, path, whole.into()).await);
    assert_eq!(refusal(&status).code, "BAD_REQUEST");
    for kind in [
        "application/grpc-web+json",
        "application/grpc-webb",
        "application/grpc",
        "application/grpc+json",
    ] {
        let answer = http.header("content-type", kind).call(Method::POST, path, framed(b"")).await;
        assert_eq!(
            (answer.status.as_u16(), answer.code().as_str()),
            (400, "BAD_REQUEST"),
            "{kind}"
        );
    }
    session.is_unharmed().await;
}

#[tokio::test]
async fn random_messages_do_no_harm() {
    let session = Session::start().await;
    let grpc = Grpc::tcp(session.coop.address()).await;
    let mut random = Random(0x5eed_0002);
    // These change the session when they are valid.
    let dangerous = [
        "Shutdown",
        "RestartSession",
        "SwitchSession",
        "SendSignal",
        "Resize",
        "AcquireLease",
        "Attach",
    ];
    let harmless: Vec<_> =
        rpcs().into_iter().filter(|rpc| !dangerous.contains(&rpc.name.as_str())).collect();
    for _ in 0..800 {
        let rpc = &harmless[random.below(harmless.len())];
        let mut message = random.bytes();
        // With this end no message is valid, so nothing is ever typed.
        message.extend_from_slice(&UNREADABLE.repeat(40));
        let body = if random.below(4) == 0 { Bytes::from(message) } else { framed(&message) };
        let status = grpc.end(&rpc.path, body.clone()).await.expect_err("unreadable");
        let expected = [Code::InvalidArgument, Code::ResourceExhausted].contains(&status.code());
        assert!(expected, "{} {body:?}: {status}", rpc.name);
        refusal(&status);
    }
    session.is_unharmed().await;
}
