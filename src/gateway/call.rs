//! One call through the gateway, whatever transport it came by: JSON and metadata in, JSON or raw
//! bytes out. The generated dispatch is written in the words of this module.

use std::borrow::Cow;

use bytes::Bytes;
use coop_client::json::{self, Message};
use futures_util::stream::{BoxStream, StreamExt as _};
use http::Extensions;
use serde_json::Value;
use tonic::metadata::MetadataMap;
use tonic::{Request, Response, Status};

use crate::error::{Code, Error};

/// A request that has not been read yet.
#[derive(Debug)]
pub struct Call {
    pub input: Input,
    /// Fields given beside the input, by path or query; they win over it.
    pub params: Vec<(&'static str, Value)>,
    pub shape: Shape,
    pub metadata: MetadataMap,
    pub extensions: Extensions,
}

/// Where the request's fields come from.
#[derive(Debug, Clone, PartialEq)]
pub enum Input {
    /// Nothing was sent: every field is at its default.
    Empty,
    /// JSON text of the whole request.
    Message(Bytes),
    /// JSON text of one of its fields.
    Field(&'static str, Bytes),
    /// An object that was parsed before. What is no field of the request is ignored.
    Value(Value),
}

/// What the caller can carry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// The body of an HTTP response: one field instead of the message, or raw bytes, where the
    /// RPC's rule says so.
    Http,
    /// Always the whole message as JSON.
    Message,
}

/// The answer to a call.
pub enum Reply {
    Unary(Payload),
    Stream(BoxStream<'static, Result<Item, Status>>),
}

/// What goes out, as bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Payload {
    /// The field that is the body is unset.
    Empty,
    Json(Bytes),
    /// As it is, under the method's content type.
    Raw(Bytes),
}

/// One message of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// None on raw streams.
    pub mark: Option<Mark>,
    pub payload: Payload,
}

/// How a message of a stream is known among the others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mark {
    /// The kind of event.
    pub event: Cow<'static, str>,
    /// The number that a reader resumes from.
    pub id: u64,
    /// The epoch of the number; 0 where only the stream's first message tells it.
    pub epoch: u64,
}

impl Mark {
    pub(super) fn new(event: impl Into<Cow<'static, str>>, id: u64, epoch: u64) -> Self {
        Self { event: event.into(), id, epoch }
    }
}

impl Call {
    /// A call whose answer is wanted as whole messages.
    pub fn message(input: Input, metadata: MetadataMap, extensions: Extensions) -> Self {
        Self { input, params: Vec::new(), shape: Shape::Message, metadata, extensions }
    }

    /// Reads the request; what is wrong with it is BAD_REQUEST with the field's name.
    pub(super) fn request<M: Message>(self) -> Result<Request<M>, Status> {
        let message = self.input.read(self.params).map_err(|error| Error::bad_request(error.to_string()))?;
        Ok(Request::from_parts(self.metadata, self.extensions, message))
    }
}

impl Input {
    fn read<M: Message>(self, params: Vec<(&'static str, Value)>) -> Result<M, json::Error> {
        let mut message = M::default();
        match self {
            Self::Empty => {}
            Self::Message(text) if blank(&text) => {}
            Self::Message(text) => json::merge_slice(&mut message, None, &text)?,
            Self::Field(field, text) if blank(&text) => {
                json::merge_slice(&mut message, Some(field), b"{}")?;
            }
            Self::Field(field, text) => json::merge_slice(&mut message, Some(field), &text)?,
            Self::Value(value) => json::merge(&mut message, value)?,
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

/// One field of the message, sent as it is.
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

/// A stream of messages, each with its mark.
pub(super) fn stream<M: Message, S>(response: Response<S>, mark: fn(&M) -> Mark) -> Result<Reply, Status>
where
    S: futures_util::Stream<Item = Result<M, Status>> + Send + 'static,
{
    let items = response.into_inner().map(move |message| {
        message.map(|message| Item { mark: Some(mark(&message)), payload: json(&message) })
    });
    Ok(Reply::Stream(items.boxed()))
}

/// A stream of which one field is sent as it is.
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
    let items = response
        .into_inner()
        .map(move |message| message.map(|message| Item { mark: None, payload: payload(message) }));
    Ok(Reply::Stream(items.boxed()))
}

/// An RPC that streams both ways has no single request to read.
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
    fn a_parameter_wins_over_the_body() {
        let body = Input::Message(Bytes::from_static(br#"{"key":"A","value":"1"}"#));
        let request: PutEnvRequest = read(body, vec![("key", "B".into())]).unwrap();
        assert_eq!((request.key.as_str(), request.value.as_str()), ("B", "1"));
    }

    #[test]
    fn a_body_for_one_field_is_one_json_value() {
        let two = Input::Field("payload", Bytes::from_static(br#"{},"other":1"#));
        assert!(read::<StopHookRequest>(two, vec![]).unwrap_err().starts_with("trailing characters"));
        let list = Input::Field("payload", Bytes::from_static(b"[1]"));
        assert!(
            read::<StopHookRequest>(list, vec![])
                .unwrap_err()
                .starts_with("field payload: expected an object")
        );
    }

    #[test]
    fn an_object_that_was_parsed_before_may_hold_more_than_the_request() {
        let frame = serde_json::json!({"type": "nudge", "request_id": 7, "message": "go"});
        let request: NudgeRequest = read(Input::Value(frame), vec![]).unwrap();
        assert_eq!(request.message, "go");
    }
}
