//! Server-sent events: the frames of a stream's messages, and resuming from `Last-Event-ID`. It
//! does not know what the messages mean.

use std::convert::Infallible;
use std::time::Duration;

use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse as _, Response};
use futures_util::stream::{self, BoxStream, Stream, StreamExt as _};
use serde_json::Value;
use tonic::Status;

use super::call::{Item, Payload};
use super::refusal::envelope;

use crate::error::Error;
use crate::service::{Method, Streaming};

/// The interval of comments on a silent stream, so that proxies do not close it.
const KEEP_ALIVE: Duration = Duration::from_secs(10);

/// How long to wait for the first message before the response headers are sent. Most streams send
/// a message at once.
const OPENING: Duration = Duration::from_millis(250);

/// The position in `Last-Event-ID` of a reader that reconnects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cursor {
    /// The reader has received the end.
    End,
    /// The reader has received everything up to here.
    After(Position),
}

/// A position in a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Position {
    epoch: u64,
    id: u64,
}

impl Cursor {
    /// Reads the cursor from a request's headers. An id that coop did not send is ignored.
    pub(super) fn of(method: &Method, headers: &HeaderMap) -> Option<Self> {
        let text =
            headers.get("last-event-id").filter(|_| method.streaming == Streaming::Server)?;
        Self::parse(text.to_str().ok()?)
    }

    fn parse(text: &str) -> Option<Self> {
        let (epoch, id) = text.trim().split_once('-')?;
        let epoch = epoch.parse().ok()?;
        if id == "end" {
            return Some(Self::End);
        }
        Some(Self::After(Position { epoch, id: id.parse().ok()? }))
    }
}

impl Position {
    /// Fills the request's resume field and epoch. They override the query, because a browser
    /// repeats its first URL with every reconnect.
    pub(super) fn resume(self, method: &Method, fields: &mut Vec<(&'static str, Value)>) {
        if let Some(field) = method.resume_field {
            fields.push((field, self.id.into()));
            fields.push(("epoch", self.epoch.into()));
        }
    }
}

/// Waits for the first message, so that a stream that fails at once becomes an HTTP error.
pub(super) async fn opened(
    mut items: BoxStream<'static, Result<Item, Status>>,
) -> Result<BoxStream<'static, Result<Item, Status>>, Error> {
    match tokio::time::timeout(OPENING, items.next()).await {
        Ok(Some(Err(status))) => Err(Error::from(&status)),
        Ok(Some(Ok(first))) => Ok(stream::once(async { Ok(first) }).chain(items).boxed()),
        Ok(None) => Ok(stream::empty().boxed()),
        Err(_) => Ok(items),
    }
}

/// The stream as server-sent events.
pub(super) async fn response(
    items: BoxStream<'static, Result<Item, Status>>,
) -> Result<Response, Error> {
    let events = events(opened(items).await?).map(|event| Ok::<_, Infallible>(event.into()));
    let keep_alive = KeepAlive::new().interval(KEEP_ALIVE);
    let mut response = Sse::new(events).keep_alive(keep_alive).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    Ok(response)
}

/// One event before it is printed.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Frame {
    id: Option<String>,
    event: String,
    data: String,
}

impl From<Frame> for Event {
    fn from(frame: Frame) -> Self {
        let event = Self::default().event(one_line(&frame.event)).data(frame.data);
        match frame.id {
            Some(id) => event.id(id),
            None => event,
        }
    }
}

/// Removes control characters from an event's name: a line break would end its line.
fn one_line(name: &str) -> String {
    name.chars().filter(|c| !c.is_control()).collect()
}

/// The state of a stream of events.
enum Stage {
    Open { items: BoxStream<'static, Result<Item, Status>>, epoch: u64 },
    Ended,
}

/// Each message as an event, then `end`, or `error` if the stream failed.
fn events(items: BoxStream<'static, Result<Item, Status>>) -> impl Stream<Item = Frame> + Send {
    stream::unfold(Stage::Open { items, epoch: 0 }, |stage| async {
        let Stage::Open { mut items, epoch } = stage else { return None };
        match items.next().await {
            Some(Ok(item)) => {
                // Some streams have their epoch in the first message only.
                let epoch = item.header.as_ref().map_or(0, |header| header.epoch).max(epoch);
                Some((message(item, epoch), Stage::Open { items, epoch }))
            }
            Some(Err(status)) => Some((failure(&status), Stage::Ended)),
            None => Some((end(epoch), Stage::Ended)),
        }
    })
}

fn message(item: Item, epoch: u64) -> Frame {
    let data = match item.payload {
        Payload::Json(text) | Payload::Raw(text) => String::from_utf8_lossy(&text).into_owned(),
        Payload::Empty => String::new(),
    };
    match item.header {
        Some(header) => Frame {
            id: Some(format!("{epoch}-{}", header.id)),
            event: header.event.into_owned(),
            data,
        },
        None => Frame { id: None, event: "message".to_owned(), data },
    }
}

fn failure(status: &Status) -> Frame {
    let data = Value::Object(envelope(&Error::from(status))).to_string();
    Frame { id: None, event: "error".to_owned(), data }
}

fn end(epoch: u64) -> Frame {
    Frame { id: Some(format!("{epoch}-end")), event: "end".to_owned(), data: "{}".to_owned() }
}

#[cfg(test)]
mod tests {
    use super::super::call::EventHeader;
    use super::*;
    use crate::service::Rpc;

    fn item(id: u64, epoch: u64) -> Result<Item, Status> {
        let header = Some(EventHeader::new("output", id, epoch));
        Ok(Item { header, payload: Payload::Json("{\"a\":1}".into()) })
    }

    #[test]
    fn only_ids_of_coop_are_cursors() {
        assert_eq!(Cursor::parse("17-42"), Some(Cursor::After(Position { epoch: 17, id: 42 })));
        assert_eq!(Cursor::parse("17-end"), Some(Cursor::End));
        for text in [
            "",
            "42",
            "-",
            "17-",
            "-42",
            "x-42",
            "17-x",
            "17-4-2",
            "17--end",
            "99999999999999999999-1",
        ] {
            assert_eq!(Cursor::parse(text), None, "{text}");
        }
    }

    #[test]
    fn only_a_stream_has_a_cursor() {
        let headers = HeaderMap::from_iter([(
            "last-event-id".parse().unwrap(),
            HeaderValue::from_static("17-end"),
        )]);
        assert_eq!(Cursor::of(Rpc::StreamEvents.method(), &headers), Some(Cursor::End));
        assert_eq!(Cursor::of(Rpc::GetHealth.method(), &headers), None);
    }

    #[test]
    fn a_cursor_fills_the_resume_field_and_overrides_the_query() {
        let position = Position { epoch: 17, id: 42 };
        let mut fields = vec![("from_offset", Value::from(1))];
        position.resume(Rpc::StreamOutput.method(), &mut fields);
        assert_eq!(fields[1..], [("from_offset", Value::from(42)), ("epoch", Value::from(17))]);
        let mut fields = Vec::new();
        position.resume(Rpc::StreamScreen.method(), &mut fields);
        assert_eq!(fields, []);
    }

    #[tokio::test]
    async fn the_epoch_of_the_first_message_is_in_all_ids() {
        let items = stream::iter([item(0, 17), item(9, 0)]).boxed();
        let frames: Vec<_> =
            events(items).map(|frame| (frame.id.unwrap_or_default(), frame.event)).collect().await;
        let expected = [("17-0", "output"), ("17-9", "output"), ("17-end", "end")];
        assert_eq!(frames, expected.map(|(id, event)| (id.to_owned(), event.to_owned())));
    }

    #[tokio::test]
    async fn a_failed_stream_sends_error_and_no_end() {
        let items = stream::iter([item(1, 17), Err(Error::exited().into())]).boxed();
        let frames: Vec<_> = events(items).collect().await;
        assert_eq!(frames.len(), 2);
        assert_eq!((frames[1].id.clone(), frames[1].event.as_str()), (None, "error"));
        assert!(frames[1].data.contains("\"code\":\"EXITED\""), "{}", frames[1].data);
    }

    #[tokio::test(start_paused = true)]
    async fn only_a_failure_before_the_first_message_is_an_http_error() {
        let failing = stream::iter([Err(Error::exited().into())]).boxed();
        assert_eq!(opened(failing).await.err(), Some(Error::exited()));
        let working = stream::iter([item(1, 17), Err(Error::exited().into())]).boxed();
        assert_eq!(opened(working).await.ok().unwrap().count().await, 2);
        let silent = stream::pending().boxed();
        assert!(opened(silent).await.is_ok());
    }

    #[test]
    fn a_name_cannot_contain_line_breaks() {
        assert_eq!(one_line("a\nid: 1\r"), "aid: 1");
    }
}
