//! Tests with real children, terminals and sockets. They wait for frames and events; the deadline
//! only ends a failed test.

mod authentication;
mod calls;
mod hostile;
mod pushes;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::{Extension, Router};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use tokio::net::{TcpSocket, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::http::Response;
use tokio_tungstenite::tungstenite::{Error as Broken, Message};
use tokio_tungstenite::{WebSocketStream, client_async};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::{Settings, route};
use crate::pty::Reaper;
use crate::service::{About, Caller, Closing, Grant, Level, Service};
use crate::session;
use crate::session::backend::BackendStart;
use crate::session::by::By;
use crate::session::child_spec::ChildSpec;
use crate::session::run::SessionLoop;
use crate::term::Size;

const DEADLINE: Duration = Duration::from_secs(30);
const TOKEN: &str = "let-me-in";

async fn within<T>(what: &str, future: impl Future<Output = T>) -> T {
    match timeout(DEADLINE, future).await {
        Ok(value) => value,
        Err(_) => panic!("{what} did not come"),
    }
}

/// The settings of a test server.
struct Setup {
    script: &'static str,
    level: Level,
    ring_bytes: usize,
    waiting_sockets: usize,
}

impl Setup {
    fn new(script: &'static str) -> Self {
        Self { script, level: Level::Admin, ring_bytes: 1 << 20, waiting_sockets: 64 }
    }

    async fn start(self) -> TestServer {
        let reaper = Reaper::install(None).expect("a subreaper");
        let settings = session::Settings {
            epoch_ms: 17,
            backend: session::BackendKind::Native,
            conversation: None,
            child_spec: ChildSpec {
                program: "sh".into(),
                args: vec!["-c".into(), self.script.into()],
                cwd: "/".into(),
                env: BTreeMap::from([("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into())]),
            },
            size: Size::new(80, 24).expect("a size"),
            ring_bytes: self.ring_bytes,
            scrollback_lines: 1000,
            linger: None,
            idle_timeout: None,
            agent: None,
        };
        let mut tasks = JoinSet::new();
        tasks.spawn(async move { drop(reaper.run().await) });
        let start = BackendStart::Native { reaper, hooks: None };
        let (session, mut session_loop) = SessionLoop::new(settings, start).expect("a session");
        let first_start = session_loop.first_start();
        let closing = Closing::default();
        let over = closing.clone();
        tasks.spawn(async move {
            session_loop.run().await.expect("a child");
            over.close();
        });
        first_start.await.expect("a child");
        let about = About {
            session_id: "s".into(),
            name: None,
            labels: BTreeMap::new(),
            agent: "unknown".into(),
            backend: session::BackendKind::Native,
            version: "0",
            started: Instant::now(),
        };
        let service = Service::new(session, about, closing);
        let settings = Settings {
            authenticate: Arc::new(|_caller, token| {
                (token == TOKEN).then(|| Grant {
                    level: Level::Write,
                    by: By::Token(None),
                    revoked: CancellationToken::new(),
                })
            }),
            unauthenticated: Arc::new(Semaphore::new(self.waiting_sockets)),
            tracker: TaskTracker::new(),
        };
        let caller = Caller {
            level: self.level,
            ..Caller::unauthenticated("a test".into(), By::Address(None))
        };
        let router = Router::new()
            .route("/ws", route(service.clone(), settings.clone()))
            .layer(Extension(caller));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        tasks.spawn(async move { drop(axum::serve(listener, router).await) });
        TestServer { address, service, settings, _tasks: tasks }
    }
}

struct TestServer {
    address: SocketAddr,
    service: Service,
    settings: Settings,
    _tasks: JoinSet<()>,
}

impl TestServer {
    async fn client(&self, query: &str) -> Client {
        let (socket, _) = self.connect(query, &[]).await.expect("an upgrade");
        Client { socket }
    }

    async fn connect(
        &self,
        query: &str,
        headers: &[(&'static str, &str)],
    ) -> Result<(WebSocketStream<TcpStream>, Response<Option<Vec<u8>>>), Broken> {
        let mut request = format!("ws://{}/ws{query}", self.address).into_client_request()?;
        for (name, value) in headers {
            request.headers_mut().insert(*name, value.parse().expect("a header"));
        }
        let tcp = TcpSocket::new_v4().expect("a socket");
        // A small buffer, so that a client that does not read blocks after kilobytes.
        tcp.set_recv_buffer_size(16 << 10).expect("a small buffer");
        let tcp = tcp.connect(self.address).await.expect("a connection");
        within("the upgrade", client_async(request, tcp)).await
    }

    /// The status and code of an upgrade that is refused.
    async fn refused(&self, query: &str, headers: &[(&'static str, &str)]) -> (u16, String) {
        match self.connect(query, headers).await {
            Err(Broken::Http(response)) => {
                let body: Value =
                    serde_json::from_slice(response.body().as_deref().unwrap_or_default())
                        .unwrap_or_default();
                (response.status().as_u16(), body["code"].as_str().unwrap_or_default().to_owned())
            }
            other => panic!("{other:?}"),
        }
    }

    /// Waits until the child has printed this text.
    async fn printed(&self, text: &str) {
        let log = self.service.session().output();
        let mut reader = log.reader(log.oldest());
        let mut seen = Vec::new();
        within(text, async {
            while !seen.windows(text.len()).any(|part| part == text.as_bytes()) {
                seen.extend_from_slice(&reader.next(1 << 16).await.expect("more output").data);
            }
        })
        .await;
    }
}

struct Client {
    socket: WebSocketStream<TcpStream>,
}

impl Client {
    async fn send(&mut self, frame: Value) {
        self.send_message(Message::text(frame.to_string())).await;
    }

    async fn send_message(&mut self, message: Message) {
        within("room to send", self.socket.send(message)).await.expect("sent");
    }

    async fn message(&mut self) -> Message {
        self.socket.next().await.expect("an open socket").expect("a whole message")
    }

    /// The next frame.
    async fn next(&mut self) -> Value {
        self.until(|_| true).await
    }

    /// The next frame that satisfies the predicate; earlier ones are dropped.
    async fn until(&mut self, wanted: impl Fn(&Value) -> bool) -> Value {
        // The deadline is for the frame: pings do not extend it.
        within("the frame", async {
            loop {
                let frame = match self.message().await {
                    Message::Text(text) => serde_json::from_str(&text).expect("JSON"),
                    Message::Ping(_) | Message::Pong(_) => continue,
                    other @ (Message::Binary(_) | Message::Close(_) | Message::Frame(_)) => {
                        panic!("{other:?} instead of a frame")
                    }
                };
                if wanted(&frame) {
                    return frame;
                }
            }
        })
        .await
    }

    async fn until_type(&mut self, kind: &str) -> Value {
        self.until(|frame| frame["type"] == kind).await
    }

    /// Sends a frame with this request id, and waits for its reply.
    async fn request(&mut self, mut frame: Value, id: u64) -> Value {
        frame["request_id"] = id.into();
        self.send(frame).await;
        self.until(|reply| reply["request_id"] == id).await
    }

    /// Every frame up to the close, and the close's code and reason.
    async fn until_closed(&mut self) -> (Vec<Value>, u16, String) {
        let mut frames = Vec::new();
        within("the close", async {
            loop {
                match self.message().await {
                    Message::Text(text) => frames.push(serde_json::from_str(&text).expect("JSON")),
                    Message::Close(Some(close)) => {
                        return (frames, close.code.into(), close.reason.to_string());
                    }
                    Message::Close(None) => panic!("a close without a reason"),
                    Message::Ping(_)
                    | Message::Pong(_)
                    | Message::Binary(_)
                    | Message::Frame(_) => {}
                }
            }
        })
        .await
    }

    /// Closes the connection, and waits until the server has closed it too.
    async fn leave(mut self) {
        self.socket.close(None).await.expect("closed");
        within("the end", async { while let Some(Ok(_)) = self.socket.next().await {} }).await;
    }
}

/// The bytes of an output frame.
fn data(frame: &Value) -> Vec<u8> {
    BASE64_STANDARD.decode(frame["data"].as_str().expect("data")).expect("base64")
}

fn number(frame: &Value, field: &str) -> u64 {
    frame[field].as_u64().unwrap_or_else(|| panic!("{field} in {frame}"))
}
