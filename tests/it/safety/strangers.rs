//! The limits of callers that have shown no token, where one is configured.

use bytes::Bytes;
use futures_util::stream;
use http::{Method, Request};
use http_body::Frame;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, StreamBody};
use hyper::client::conn::http2::{SendRequest, handshake};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tonic::{Code, Status};
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_client::HealthClient;

use crate::support::coop::{Coop, SHELL};
use crate::support::grpc::{Grpc, framed, web, web_status};
use crate::support::h2::{GOAWAY, next_frame, opening};
use crate::support::http::Http;
use crate::support::session::refusal;
use crate::support::soon;

const TOKEN: &str = "a token of enough length";
const HEALTH: &str = "/coop.v1.Coop/GetHealth";
const CHECK: &str = "/grpc.health.v1.Health/Check";

async fn guarded() -> Coop {
    let flags = ["--health-port", "0", "--auth-token", TOKEN, "--host", "127.0.0.1"];
    Coop::with(&flags, SHELL).await
}

fn health(coop: &Coop) -> std::net::SocketAddr {
    let mut address = coop.health.expect("a health port");
    address.set_ip(std::net::Ipv4Addr::LOCALHOST.into());
    address
}

type Body = BoxBody<Bytes, std::convert::Infallible>;

/// A connection for calls whose message does not end.
struct Unfinished {
    sender: SendRequest<Body>,
}

impl Unfinished {
    async fn connect(address: std::net::SocketAddr) -> Self {
        let stream = TcpStream::connect(address).await.expect("connected");
        let (sender, connection) =
            soon("HTTP/2", handshake(TokioExecutor::new(), TokioIo::new(stream)))
                .await
                .expect("HTTP/2");
        tokio::spawn(connection);
        Self { sender }
    }

    /// Calls a method, announces a message of this size, and sends nothing of it.
    fn call(
        &mut self,
        path: &str,
        size: u32,
        token: Option<&str>,
    ) -> impl Future<Output = Status> + use<> {
        let mut prefix = vec![0];
        prefix.extend_from_slice(&size.to_be_bytes());
        let begun = futures_util::StreamExt::chain(
            stream::iter([Ok(Frame::data(Bytes::from(prefix)))]),
            stream::pending(),
        );
        let mut request = Request::post(format!("http://localhost{path}"))
            .header("content-type", "application/grpc");
        if let Some(token) = token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        let body = StreamBody::new(begun).boxed();
        let answer = self.sender.send_request(request.body(body).expect("a request"));
        async move {
            let answer = soon("an answer", answer).await.expect("an answer");
            Status::from_header_map(answer.headers()).expect("an error")
        }
    }
}

#[tokio::test]
async fn a_connection_without_a_token_has_eight_calls() {
    let coop = guarded().await;
    for address in [coop.address(), health(&coop)] {
        let mut connection = Unfinished::connect(address).await;
        let mut calls: Vec<_> = (0..8).map(|_| Box::pin(connection.call(CHECK, 9, None))).collect();
        // The first poll sends the request, and requests arrive in order.
        for call in &mut calls {
            assert!(futures_util::poll!(call.as_mut()).is_pending());
        }
        let refused = connection.call(CHECK, 9, None).await;
        assert_eq!(refused.code(), Code::ResourceExhausted, "{refused}");
        assert_eq!(refusal(&refused).code, "TOO_LARGE");
    }
    // A call with the token ends the limit.
    let mut connection = Unfinished::connect(coop.address()).await;
    let mut calls: Vec<_> = (0..8).map(|_| Box::pin(connection.call(HEALTH, 9, None))).collect();
    for call in &mut calls {
        assert!(futures_util::poll!(call.as_mut()).is_pending());
    }
    let large = connection.call("/coop.v1.Coop/GetStatus", 17 << 20, Some(TOKEN)).await;
    assert_eq!(refusal(&large).code, "TOO_LARGE");
    let ninth = connection.call(HEALTH, 5000, None).await;
    assert!(ninth.message().contains("4096"), "only its size is wrong: {ninth}");
}

#[tokio::test]
async fn a_call_that_needs_no_token_has_a_small_body() {
    let coop = guarded().await;
    let large = vec![0x0a; 4097];
    for http in [coop.http(), coop.http().token(TOKEN), Http::tcp(health(&coop))] {
        let answer = http.call(Method::GET, "/api/v1/health", large.clone().into()).await;
        assert_eq!((answer.status.as_u16(), answer.code().as_str()), (413, "TOO_LARGE"));
        let answer = http.call(Method::GET, "/api/v1/health", large[1..].to_vec().into()).await;
        assert_eq!(answer.status, 200);
    }
    for path in [HEALTH, "/coop.v1.Coop/GetReady", CHECK] {
        let grpc = Grpc::tcp(coop.address()).await;
        let status = grpc.call(path, &large).await.expect_err("too large");
        assert_eq!(status.code(), Code::ResourceExhausted, "{path}: {status}");
        let status = web(&coop.http(), path, &large).await;
        assert_eq!(status.code(), Code::ResourceExhausted, "grpc-web {path}: {status}");
        let text = base64::Engine::encode(
            &base64::engine::general_purpose::STANDARD,
            framed(&vec![0x0a; 5000]),
        );
        let http = coop.http().header("content-type", "application/grpc-web-text");
        let status = web_status(&http.call(Method::POST, path, text.into()).await);
        assert_eq!(status.code(), Code::ResourceExhausted, "grpc-web-text {path}: {status}");
    }
    let probe = Grpc::tcp(health(&coop)).await;
    let status = probe.call(CHECK, &vec![0x0a; 1025]).await.expect_err("too large");
    assert_eq!(refusal(&status).code, "TOO_LARGE");
    assert!(probe.call(CHECK, b"").await.is_ok());
}

#[tokio::test]
async fn a_health_stream_without_a_token_is_for_the_health_port() {
    let coop = guarded().await;
    let watch = async |address: std::net::SocketAddr| {
        let channel = tonic::transport::Channel::from_shared(format!("http://{address}"));
        let channel = channel.expect("a URI").connect().await.expect("connected");
        let request = HealthCheckRequest { service: String::new() };
        soon("an answer", HealthClient::new(channel).watch(request)).await
    };
    let status = watch(coop.address()).await.expect_err("it needs a token");
    assert_eq!(status.code(), Code::Unauthenticated);
    let mut stream = watch(health(&coop)).await.expect("a stream").into_inner();
    soon("the health", stream.message()).await.expect("open").expect("a status");
}

/// Takes ten seconds, the time after which coop ends what strangers leave open.
#[tokio::test]
async fn strangers_have_ten_seconds_and_others_have_not() {
    let coop = guarded().await;
    let request = |token: &str| {
        format!("GET /api/v1/health HTTP/1.1\r\nhost: localhost\r\n{token}\r\n").into_bytes()
    };
    let connect = async |sent: &[u8]| {
        let mut stream = TcpStream::connect(coop.address()).await.expect("connected");
        stream.write_all(sent).await.expect("sent");
        stream
    };
    let authorized = format!("authorization: Bearer {TOKEN}\r\n");
    let mut known = connect(&request(&authorized)).await;
    let mut http1 = connect(&request("")).await;
    let mut half = connect(b"GET /api/v1/health HTTP/1.1\r\nhost: ").await;
    let mut http2 = connect(&opening()).await;
    let mut calls = Unfinished::connect(coop.address()).await;
    let channel = tonic::transport::Channel::from_shared(format!("http://{}", health(&coop)));
    let channel = channel.expect("a URI").connect().await.expect("connected");
    let watched = HealthCheckRequest { service: "ready".to_owned() };
    let mut watch =
        HealthClient::new(channel.clone()).watch(watched).await.expect("a stream").into_inner();

    let late = calls.call(HEALTH, 9, None).await;
    assert_eq!(late.code(), Code::DeadlineExceeded, "{late}");
    loop {
        let (kind, _, payload) = soon("a frame", next_frame(&mut http2)).await.expect("a frame");
        if kind == GOAWAY {
            assert_eq!(payload[4..8], [0; 4], "no error");
            break;
        }
    }
    let mut rest = Vec::new();
    soon("the end", http1.read_to_end(&mut rest)).await.expect("closed");
    assert!(rest.starts_with(b"HTTP/1.1 200 "), "{}", String::from_utf8_lossy(&rest));
    // The connection may also be reset, or told why.
    drop(soon("the end", half.read_to_end(&mut rest)).await);

    known.write_all(&request("connection: close\r\n")).await.expect("still open");
    let mut answers = String::new();
    soon("the answers", known.read_to_string(&mut answers)).await.expect("text");
    assert_eq!(answers.matches("HTTP/1.1 200 ").count(), 2, "{answers}");
    // The connection of a health stream stays open, too.
    assert!(soon("the status", watch.message()).await.expect("open").is_some());
    let check = HealthCheckRequest { service: String::new() };
    assert!(soon("an answer", HealthClient::new(channel).check(check)).await.is_ok());
    coop.http().token(TOKEN).post("/api/v1/shutdown", serde_json::json!({})).await;
    while soon("the end", watch.message()).await.is_ok_and(|status| status.is_some()) {}
}
