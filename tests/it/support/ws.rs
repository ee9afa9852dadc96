//! A WebSocket client that waits for the frame it wants.

use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::Value;
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{WebSocketStream, client_async};

use super::coop::Coop;
use super::soon;

pub struct Socket {
    stream: WebSocketStream<TcpStream>,
}

impl Socket {
    /// Connects to `/ws` with this query.
    pub async fn connect(coop: &Coop, query: &str) -> Self {
        Self::try_connect(coop, query, &[]).await.expect("a WebSocket")
    }

    pub async fn try_connect(
        coop: &Coop,
        query: &str,
        headers: &[(&str, &str)],
    ) -> Result<Self, Error> {
        let address = coop.address();
        let mut request = format!("ws://{address}/ws?{query}").into_client_request()?;
        for (name, value) in headers {
            let name: http::HeaderName = name.parse().expect("a header name");
            request.headers_mut().insert(name, value.parse().expect("a header value"));
        }
        let stream = TcpStream::connect(address).await?;
        let (stream, _) = soon("the upgrade", client_async(request, stream)).await?;
        Ok(Self { stream })
    }

    pub async fn send(&mut self, frame: Value) {
        self.send_message(Message::text(frame.to_string())).await;
    }

    pub async fn send_message(&mut self, message: Message) {
        soon("the frame to be sent", self.stream.send(message)).await.expect("sent");
    }

    /// The next frame; `None` once the connection has ended.
    pub async fn next(&mut self) -> Option<Message> {
        loop {
            match soon("a frame", self.stream.next()).await {
                Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
                Some(Ok(message)) => return Some(message),
                Some(Err(_)) | None => return None,
            }
        }
    }

    /// The next JSON frame of this type; others are skipped.
    pub async fn wait_for(&mut self, kind: &str) -> Value {
        loop {
            match self.next().await {
                Some(Message::Text(text)) => {
                    let frame: Value = serde_json::from_str(&text).expect("JSON");
                    if frame["type"] == kind {
                        return frame;
                    }
                }
                other => panic!("{other:?} came instead of {kind}"),
            }
        }
    }

    /// Sends a frame and waits for its reply or its error.
    pub async fn ask(&mut self, mut frame: Value) -> Result<Value, Value> {
        let id = uuid::Uuid::new_v4().to_string();
        frame["request_id"] = Value::from(id.clone());
        self.send(frame).await;
        loop {
            match self.next().await {
                Some(Message::Text(text)) => {
                    let frame: Value = serde_json::from_str(&text).expect("JSON");
                    if frame["request_id"] == id.as_str() {
                        return if frame["type"] == "error" { Err(frame) } else { Ok(frame) };
                    }
                }
                other => panic!("{other:?} came instead of a reply"),
            }
        }
    }

    /// The code that the socket is closed with.
    pub async fn closed(&mut self) -> u16 {
        loop {
            match self.next().await {
                Some(Message::Close(Some(frame))) => return frame.code.into(),
                Some(Message::Close(None)) | None => panic!("closed without a code"),
                Some(_) => {}
            }
        }
    }
}
