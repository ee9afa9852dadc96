//! Real children on real terminals behind real sockets. Every wait is for a frame or an event, and
//! the deadline only says when a test has failed.

mod calls;
mod doors;
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
use tokio_util::task::TaskTracker;

use super::{Settings, route};
use crate::pty::Reaper;
use crate::service::{About, Caller, Closing, Level, Service};
use crate::session;
use crate::session::recipe::Recipe;
use crate::session::shell::{self, Occupant};
use crate::term::Size;

const DEADLINE: Duration = Duration::from_secs(30);
const TOKEN: &str = "let-me-in";

async fn within<T>(what: &str, future: impl Future<Output = T>) -> T {
    match timeout(DEADLINE, future).await {
        Ok(value) => value,
        Err(_) => panic!("{what} did not come"),
    }
}

/// How a bench differs from the usual one.
struct Plan {
    script: &'static str,
    level: Level,
    ring_bytes: usize,
    places: usize,
}

impl Plan {
    fn new(script: &'static str) -> Self {
        Self { script, level: Level::Admin, ring_bytes: 1 << 20, places: 64 }
    }

    async fn start(self) -> Bench {
        let reaper = Reaper::install().expect("a subreaper");
        let settings = session::Settings {
            epoch_ms: 17,
            backend: session::Backend::Native,
            recipe: Recipe {
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
            attendance: None,
        };
        let mut tasks = JoinSet::new();
        tasks.spawn(async move { drop(reaper.run().await) });
        let (session, shell) = shell::start(settings, None, Occupant::Child(reaper)).expect("a child");
        let closing = Closing::default();
        let over = closing.clone();
        tasks.spawn(async move {
            shell.run().await;
            over.close();
        });
        let about = About {
            session_id: "s".into(),
            name: None,
            labels: BTreeMap::new(),
            agent: "unknown".into(),
            backend: session::Backend::Native,
            version: "0",
            started: Instant::now(),
        };
        let service = Service::new(session, about, closing);
        let settings = Settings {
            authenticate: Arc::new(|token| (token == TOKEN).then_some(Level::Write)),
            unauthenticated: Arc::new(Semaphore::new(self.places)),
            tracker: TaskTracker::new(),
        };
        let caller = Caller { from: "a test".into(), level: self.level, inside: false };
        let router =
            Router::new().route("/ws", route(service.clone(), settings.clone())).layer(Extension(caller));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        tasks.spawn(async move { drop(axum::serve(listener, router).await) });
        Bench { address, service, settings, _tasks: tasks }
    }
}

struct Bench {
    address: SocketAddr,
    service: Service,
    settings: Settings,
    _tasks: JoinSet<()>,
}

impl Bench {
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
        // So that a client which does not read is noticed after kilobytes, not megabytes.
        tcp.set_recv_buffer_size(16 << 10).expect("a small buffer");
        let tcp = tcp.connect(self.address).await.expect("a connection");
        within("the upgrade", client_async(request, tcp)).await
    }

    /// What an upgrade that is refused is told.
    async fn refused(&self, query: &str, headers: &[(&'static str, &str)]) -> (u16, String) {
        match self.connect(query, headers).await {
            Err(Broken::Http(response)) => {
                let body: Value = serde_json::from_slice(response.body().as_deref().unwrap_or_default())
                    .unwrap_or_default();
                (response.status().as_u16(), body["code"].as_str().unwrap_or_default().to_owned())
            }
            other => panic!("{other:?}"),
        }
    }

    /// Waits until everything the child printed so far has this in it.
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

    /// The next frame for which this holds; the ones before it are dropped.
    async fn until(&mut self, wanted: impl Fn(&Value) -> bool) -> Value {
        // The pings in between are no sign that it will come.
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

    /// Asks, and waits for the answer with the number it was asked with.
    async fn ask(&mut self, mut frame: Value, id: u64) -> Value {
        frame["request_id"] = id.into();
        self.send(frame).await;
        self.until(|answer| answer["request_id"] == id).await
    }

    /// Every frame up to the close, and why it came.
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
                    Message::Ping(_) | Message::Pong(_) | Message::Binary(_) | Message::Frame(_) => {}
                }
            }
        })
        .await
    }

    /// Closes, and waits until the server has done with the connection.
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
