//! One call through the gateway, for every transport: JSON and metadata in, JSON or raw bytes out.
//! The generated `dispatch` uses the functions of this module.

use std::borrow::Cow;

use bytes::Bytes;
use coop_client::json::{self, Message};
use futures_util::stream::{BoxStream, StreamExt as _};
use http::Extensions;
use serde_json::Value;
use tonic::metadata::MetadataMap;
use tonic::{Request, Response, Status};

use crate::error::{Code, Error};

/// The names that every frame of a WebSocket client may have beside the fields of its request.
pub(super) const FRAME_FIELDS: [&str; 4] = ["type", "event", "request_id", "action"];

/// A request that is not parsed yet.
#[derive(Debug)]
pub(super) struct Call {
    pub input: Input,
    /// Fields from path or query; they override the input.
    pub params: Vec<(&'static str, Value)>,
    pub shape: Shape,
    pub metadata: MetadataMap,
    pub extensions: Extensions,
}

/// The source of the request's fields.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Input {
    /// Every field has its default.
    Empty,
    /// JSON text of the whole request.
    Message(Bytes),
    /// The same, among the names of a WebSocket frame.
    Frame(Bytes),
    /// JSON text of one field of the request.
    Field(&'static str, Bytes),
}

/// The form of the response that the caller can send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// The body of an HTTP response: one field instead of the message, or raw bytes, where the
    /// RPC's rule says so.
    Http,
    /// Always the whole message as JSON.
    Message,
}

/// The response to a call.
pub(super) enum Reply {
    Unary(Payload),
    Stream(BoxStream<'static, Result<Item, Status>>),
}

/// The bytes of a response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Payload {
    /// The field that is the body is unset.
    Empty,
    Json(Bytes),
    /// Sent unchanged, with the method's content type.
    Raw(Bytes),
}

/// One message of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Item {
    /// None on raw streams.
    pub header: Option<EventHeader>,
    pub payload: Payload,
}

/// The name and position of a stream's message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct EventHeader {
    /// The name of the event.
    pub event: Cow<'static, str>,
    /// The number that a reader resumes from.
    pub id: u64,
    /// The epoch of `id`; 0 where only the stream's first message has it.
    pub epoch: u64,
}

impl EventHeader {
    pub(super) fn new(event: impl Into<Cow<'static, str>>, id: u64, epoch: u64) -> Self {
        Self { event: event.into(), id, epoch }
    }
}

impl Call {
    /// A call whose response is the whole message.
    pub(super) fn message(input: Input, metadata: MetadataMap, extensions: Extensions) -> Self {
        Self { input, params: Vec::new(), shape: Shape::Message, metadata, extensions }
    }

    /// Parses the request. An invalid one is BAD_REQUEST with the field's name.
    pub(super) fn request<M: Message>(self) -> Result<Request<M>, Status> {
        let message =
            self.input.read(self.params).map_err(|error| Error::bad_request(error.to_string()))?;
        Ok(Request::from_parts(self.metadata, self.extensions, message))
    }
}

impl Input {
    fn read<M: Message>(self, params: Vec<(&'static str, Value)>) -> Result<M, json::Error> {
        let mut message = M::default();
        match self {
            Self::Empty => {}
            Self::Message(text) if blank(&text) => {}
            Self::Message(text) => json::merge_slice(&mut message, &text, &[])?,
            Self::Frame(text) => json::merge_slice(&mut message, &text, &FRAME_FIELDS)?,
            Self::Field(field, text) if blank(&text) => {
                json::merge_field_slice(&mut message, field, b"{}")?;
            }
            Self::Field(field, text) => json::merge_field_slice(&mut message, field, &text)?,
        }
        for (field, value) in params {
            json::merge_field(&mut message, field, value)?;
        }
        Ok(message)
    }
}

fn blank(text: &[u8]) -> bool {
    text.trim_ascii().is_empty()
}

fn json<M: Message>(message: &M) -> Payload {
    Payload::Json(json::to_vec(message).into())
}

/// The whole message.
pub(super) fn whole<M: Message>(response: Response<M>) -> Result<Reply, Status> {
    Ok(Reply::Unary(json(response.get_ref())))
}

/// One field of the message, itself a message.
pub(super) fn part<M: Message, P: Message>(
    shape: Shape,
    response: Response<M>,
    pick: fn(&M) -> Option<&P>,
) -> Result<Reply, Status> {
    Ok(Reply::Unary(match shape {
        Shape::Message => json(response.get_ref()),
        Shape::Http => pick(response.get_ref()).map_or(Payload::Empty, json),
    }))
}

/// One field of the message, sent unchanged.
pub(super) fn raw<M: Message>(
    shape: Shape,
    response: Response<M>,
    pick: fn(M) -> Bytes,
) -> Result<Reply, Status> {
    Ok(Reply::Unary(match shape {
        Shape::Message => json(response.get_ref()),
        Shape::Http => Payload::Raw(pick(response.into_inner())),
    }))
}

/// A stream of messages, each with the header of its event.
pub(super) fn stream<M: Message, S>(
    response: Response<S>,
    header: fn(&M) -> EventHeader,
) -> Result<Reply, Status>
where
    S: futures_util::Stream<Item = Result<M, Status>> + Send + 'static,
{
    let items = response.into_inner().map(move |message| {
        message.map(|message| Item { header: Some(header(&message)), payload: json(&message) })
    });
    Ok(Reply::Stream(items.boxed()))
}

/// A stream of messages of which one field is sent unchanged.
pub(super) fn raw_stream<M: Message, S>(
    shape: Shape,
    response: Response<S>,
    pick: fn(M) -> Bytes,
) -> Result<Reply, Status>
where
    S: futures_util::Stream<Item = Result<M, Status>> + Send + 'static,
{
    let payload = move |message: M| match shape {
        Shape::Message => json(&message),
        Shape::Http => Payload::Raw(pick(message)),
    };
    let items = response.into_inner().map(move |message| {
        message.map(|message| Item { header: None, payload: payload(message) })
    });
    Ok(Reply::Stream(items.boxed()))
}

/// An RPC that streams both ways has no single request to parse.
pub(super) fn both_ways() -> Result<Reply, Status> {
    Err(Error::new(Code::Unsupported, "this call streams both ways: use gRPC").into())
}

#[cfg(test)]
mod tests {
    use coop_client::v1::{NudgeRequest, PutEnvRequest, StopHookRequest};

    use super::*;

    fn read<M: Message>(input: Input, params: Vec<(&'static str, Value)>) -> Result<M, String> {
        input.read(params).map_err(|error| error.to_string())
    }

    #[test]
    fn a_blank_body_is_an_empty_object() {
        for text in ["", " \r\n", "{}"] {
            let text = Bytes::from_static(text.as_bytes());
            assert_eq!(read(Input::Message(text.clone()), vec![]), Ok(NudgeRequest::default()));
            let hook: StopHookRequest = read(Input::Field("payload", text), vec![]).unwrap();
            assert_eq!(hook.payload, Some(prost_types::Struct::default()));
        }
    }

    #[test]
    fn a_parameter_overrides_the_body() {
        let body = Input::Message(Bytes::from_static(br#"{"key":"A","value":"1"}"#));
        let request: PutEnvRequest = read(body, vec![("key", "B".into())]).unwrap();
        assert_eq!((request.key.as_str(), request.value.as_str()), ("B", "1"));
    }

    #[test]
    fn a_body_for_one_field_is_one_json_value() {
        let two = Input::Field("payload", Bytes::from_static(br#"{},"other":1"#));
        assert!(
            read::<StopHookRequest>(two, vec![]).unwrap_err().starts_with("trailing characters")
        );
        let list = Input::Field("payload", Bytes::from_static(b"[1]"));
        assert!(
            read::<StopHookRequest>(list, vec![])
                .unwrap_err()
                .starts_with("field payload: expected an object")
        );
    }

    #[test]
    fn a_frame_has_its_own_names_beside_the_request_and_no_others() {
        let frame = |text: &'static str| Input::Frame(Bytes::from_static(text.as_bytes()));
        let named =
            frame(r#"{"type":"nudge","event":"x","action":1,"request_id":7,"message":"go"}"#);
        let request: NudgeRequest = read(named, vec![]).unwrap();
        assert_eq!(request.message, "go");
        let mistyped = frame(r#"{"type":"nudge","mesage":"go"}"#);
        assert_eq!(
            read::<NudgeRequest>(mistyped, vec![]).unwrap_err(),
            "field mesage: there is no such field, the nearest is message at line 1 column 24"
        );
        let body = Input::Message(Bytes::from_static(br#"{"type":"nudge","message":"go"}"#));
        assert!(read::<NudgeRequest>(body, vec![]).unwrap_err().starts_with("field type: there"));
    }
}
