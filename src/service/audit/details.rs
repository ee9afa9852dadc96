//! What an audit record says of a request beyond its name: sizes, keys and choices. No text that
//! was typed, no value of a variable and no credential may appear here.

use std::any::Any;
use std::fmt::Write as _;

use coop_client::v1;
use ring::digest;
use serde_json::{Map, Value};

/// The most characters of a text from a request.
const TEXT_LIMIT: usize = 128;

/// The outcome of a call that has no word of its own for it.
const OK: &str = "OK";

/// A text from a request, of limited length.
pub(super) fn shortened(text: &str) -> String {
    text.chars().take(TEXT_LIMIT).collect()
}

/// Adds what the record may say of this request.
pub(super) fn describe(request: &dyn Any, fields: &mut Map<String, Value>) {
    let mut set = |name: &str, value: Value| {
        fields.insert(name.to_owned(), value);
    };
    if let Some(nudge) = request.downcast_ref::<v1::NudgeRequest>() {
        set("bytes", nudge.message.len().into());
        // Tells whether a message that is known otherwise is this one.
        set("sha256", sha256(&nudge.message).into());
        if let Some(key) = &nudge.idempotency_key {
            set("idempotency_key", shortened(key).into());
        }
    } else if let Some(respond) = request.downcast_ref::<v1::RespondRequest>() {
        let texts = respond.answers.iter().filter_map(|answer| answer.text.as_ref());
        let bytes: usize = texts.chain(&respond.text).map(String::len).sum();
        set("bytes", bytes.into());
        if let Some(id) = &respond.prompt_id {
            set("prompt_id", shortened(id).into());
        }
        if let Some(accept) = respond.accept {
            set("accept", accept.into());
        }
        if let Some(option) = respond.option {
            set("option", option.into());
        }
    } else if let Some(input) = request.downcast_ref::<v1::SendInputRequest>() {
        set("bytes", input.text.len().into());
    } else if let Some(input) = request.downcast_ref::<v1::SendInputRawRequest>() {
        set("bytes", input.data.len().into());
    } else if let Some(input) = request.downcast_ref::<v1::SendKeysRequest>() {
        set("keys", input.keys.len().into());
    } else if let Some(size) = request.downcast_ref::<v1::ResizeRequest>() {
        set("cols", size.cols.into());
        set("rows", size.rows.into());
    } else if let Some(signal) = request.downcast_ref::<v1::SendSignalRequest>() {
        set("signal", shortened(&signal.signal).into());
    } else if let Some(env) = request.downcast_ref::<v1::PutEnvRequest>() {
        set("key", shortened(&env.key).into());
        set("bytes", env.value.len().into());
    } else if let Some(env) = request.downcast_ref::<v1::DeleteEnvRequest>() {
        set("key", shortened(&env.key).into());
    } else if let Some(env) = request.downcast_ref::<v1::GetEnvRequest>() {
        set("key", shortened(&env.key).into());
    }
}

/// The word for how a call has ended.
pub(super) fn outcome_of(response: &dyn Any) -> &str {
    let nudge = response.downcast_ref::<v1::NudgeResponse>().map(|nudge| &nudge.outcome);
    let respond = response.downcast_ref::<v1::RespondResponse>().map(|respond| &respond.outcome);
    let interrupt = response.downcast_ref::<v1::InterruptResponse>().map(|done| &done.outcome);
    nudge.or(respond).or(interrupt).map_or(OK, String::as_str)
}

fn sha256(text: &str) -> String {
    let digest = digest::digest(&digest::SHA256, text.as_bytes());
    digest.as_ref().iter().fold(String::new(), |mut hex, byte| {
        // Writing to a string cannot fail.
        _ = write!(hex, "{byte:02x}");
        hex
    })
}
