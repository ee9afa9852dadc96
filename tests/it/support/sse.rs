//! Server-sent events as a browser reads them.

use bytes::{Bytes, BytesMut};
use http::{Method, Response};
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use serde_json::Value;

use super::http::Http;
use super::soon;

/// One open stream.
pub struct Sse {
    body: Incoming,
    unread: BytesMut,
}

#[derive(Debug, Clone)]
pub struct Message {
    pub event: String,
    pub id: Option<String>,
    pub data: Value,
}

impl Message {
    pub fn id(&self) -> String {
        self.id.clone().unwrap_or_else(|| panic!("{self:?} has no id"))
    }
}

impl Sse {
    pub async fn open(http: &Http, path: &str) -> Self {
        let response: Response<Incoming> = http.open(Method::GET, path, Bytes::new()).await;
        assert_eq!(response.status(), 200, "{path}");
        let kind = response.headers()["content-type"].to_str().expect("text");
        assert!(kind.starts_with("text/event-stream"), "{kind}");
        Self { body: response.into_body(), unread: BytesMut::new() }
    }

    /// The next event; keep-alive comments are skipped. `None` once the response is over.
    pub async fn next(&mut self) -> Option<Message> {
        loop {
            if let Some(end) = self.unread.windows(2).position(|two| two == b"\n\n") {
                let block = self.unread.split_to(end + 2);
                if let Some(message) = parse(&String::from_utf8_lossy(&block)) {
                    return Some(message);
                }
                continue;
            }
            let frame = soon("an event", self.body.frame()).await?.expect("a whole response");
            self.unread.extend_from_slice(frame.data_ref().expect("data"));
        }
    }

    /// The next event of this kind; others are skipped.
    pub async fn wait_for(&mut self, event: &str) -> Message {
        loop {
            let message =
                self.next().await.unwrap_or_else(|| panic!("the stream ended without {event}"));
            if message.event == event {
                return message;
            }
        }
    }
}

fn parse(block: &str) -> Option<Message> {
    let field = |name: &str| {
        let lines = block.lines().filter_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
        lines.map(str::to_owned).reduce(|all, line| format!("{all}\n{line}"))
    };
    let data = field("data")?;
    let data = serde_json::from_str(&data).unwrap_or_else(|error| panic!("{error}: {data}"));
    Some(Message { event: field("event").expect("every event has a name"), id: field("id"), data })
}
