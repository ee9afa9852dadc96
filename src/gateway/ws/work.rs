//! The calls of one connection, one after the other, and the lease that lives as long as it does.

use bytes::Bytes;
use coop_client::json;
use coop_client::v1::{self, coop_server::Coop as _};
use http::Extensions;
use serde_json::Value;
use tokio_tungstenite::tungstenite::Utf8Bytes;
use tonic::Request;
use tonic::metadata::{MetadataMap, MetadataValue};

use super::super::call::{Call, Input, Payload, Reply};
use super::super::generated::{Rpc, dispatch};
use super::Settings;
use super::ask::{Action, Ask, Deed, pick};
use super::frame::{Address, NO_FIELDS, Names, OUTPUT, PONG, REPLY, SCREEN, frame, refused};
use super::queue::{Receiver, Sender};
use super::socket::End;
use crate::error::{Code, Error};
use crate::service::{Caller, Level, Service};
use crate::session::Session;
use crate::session::lease::LeaseId;

/// The most bytes of output in one frame of a replay.
const REPLAY_CHUNK: u64 = 64 << 10;

/// Does what a client asks for.
pub struct Worker {
    service: Service,
    settings: Settings,
    caller: Caller,
    lease: HeldLease,
    replies: Sender<Utf8Bytes>,
}

/// The lease that the client shows with its writes. One that was taken here ends here.
struct HeldLease {
    session: Session,
    shown: Option<String>,
    taken: Option<LeaseId>,
}

impl Drop for HeldLease {
    fn drop(&mut self) {
        if let Some(id) = self.taken.take() {
            self.session.drop_lease(id);
        }
    }
}

impl Worker {
    pub fn new(
        service: Service,
        settings: Settings,
        caller: Caller,
        shown_lease: Option<String>,
        replies: Sender<Utf8Bytes>,
    ) -> Self {
        let lease = HeldLease { session: service.session().clone(), shown: shown_lease, taken: None };
        Self { service, settings, caller, lease, replies }
    }

    /// Works until nothing more can be asked, or the client has lost its right to.
    pub async fn run(mut self, mut asks: Receiver<Ask>) -> End {
        while let Some((ask, _room)) = asks.recv().await {
            let Ask { address, deed, text } = ask;
            let done = match deed {
                Ok(Deed::Call(rpc, answer)) => {
                    self.call(rpc, text, Vec::new()).await.map(|json| told(answer, &address, &json))
                }
                Ok(Deed::Replay) => self.replay(&address, &text).await,
                Ok(Deed::Lock(action)) => {
                    self.lock(action, text).await.map(|json| frame(REPLY, &address.fields(), &json))
                }
                Ok(Deed::Auth { token }) => match self.authenticate(&token) {
                    Ok(()) => Ok(frame(REPLY, &address.fields(), NO_FIELDS)),
                    Err(end) => return end,
                },
                Ok(Deed::Ping) => Ok(frame(PONG, &address.fields(), NO_FIELDS)),
                Err(error) => Err(error),
            };
            self.say(done.unwrap_or_else(|error| refused(&error, &address))).await;
        }
        End::Gone
    }

    /// A client that has gone hears nothing, and what it asked for is done all the same.
    async fn say(&self, frame: Utf8Bytes) {
        let size = frame.len();
        _ = self.replies.send(frame, size).await;
    }

    /// A token can only be needed by who does not have every right already.
    fn authenticate(&mut self, token: &str) -> Result<(), End> {
        if self.caller.level < Level::Admin {
            self.caller.level = (self.settings.authenticate)(token).ok_or_else(End::unauthorized)?;
        }
        Ok(())
    }

    /// One unary call; answers the JSON of its response.
    async fn call(&self, rpc: Rpc, text: Bytes, params: Vec<(&'static str, Value)>) -> Result<Bytes, Error> {
        let (metadata, extensions) = self.context(rpc)?;
        let call = Call { params, ..Call::message(Input::Message(text), metadata, extensions) };
        match dispatch(&self.service, rpc, call).await {
            Ok(Reply::Unary(Payload::Json(json))) => Ok(json),
            Ok(Reply::Unary(Payload::Empty | Payload::Raw(_)) | Reply::Stream(_)) => {
                Err(Error::new(Code::Internal, "this call has no answer that a frame could carry"))
            }
            Err(status) => Err(Error::from(&status)),
        }
    }

    /// What goes with every call of this client, if it may make it.
    fn context(&self, rpc: Rpc) -> Result<(MetadataMap, Extensions), Error> {
        self.caller.permits(rpc.method().scope)?;
        let mut metadata = MetadataMap::new();
        let lease = self.lease.taken.as_ref().map(|id| &id.0).or(self.lease.shown.as_ref());
        if let Some(lease) = lease.and_then(|id| MetadataValue::try_from(id).ok()) {
            metadata.insert("coop-lease", lease);
        }
        let mut extensions = Extensions::new();
        extensions.insert(self.caller.clone());
        Ok((metadata, extensions))
    }

    async fn lock(&mut self, action: Action, text: Bytes) -> Result<Bytes, Error> {
        match action {
            Action::Acquire => {
                let json = self.call(Rpc::AcquireLease, text, Vec::new()).await?;
                let granted: v1::AcquireLeaseResponse =
                    json::from_slice(&json).map_err(|error| Error::new(Code::Internal, error.to_string()))?;
                self.lease.taken = Some(LeaseId(granted.lease_id));
                Ok(json)
            }
            Action::Release => {
                let held = self.lease.taken.as_ref().map(|id| ("lease_id", Value::from(id.0.as_str())));
                let json = self.call(Rpc::ReleaseLease, text, held.into_iter().collect()).await?;
                self.lease.taken = None;
                Ok(json)
            }
        }
    }

    /// Sends the output that is kept from the offset asked for up to now; answers the last frame.
    /// Bytes that leave the ring meanwhile are counted as skipped in the frame after the hole.
    async fn replay(&self, address: &Address, text: &[u8]) -> Result<Utf8Bytes, Error> {
        let asked: v1::GetOutputRequest =
            json::from_slice(text).map_err(|error| Error::bad_request(error.to_string()))?;
        let mut answer = self.output(asked.offset, asked.limit).await?;
        let end = match asked.limit {
            Some(limit) => answer.total_written.min(answer.offset + u64::from(limit.unsigned_abs())),
            None => answer.total_written,
        };
        // Whoever asks for the oldest byte misses nothing, whatever its number is.
        let mut wanted = if asked.offset == 0 { answer.offset } else { asked.offset };
        while !answer.data.is_empty() {
            let (offset, next_offset, epoch) = (answer.offset, answer.next_offset, answer.epoch);
            let skipped = offset.saturating_sub(wanted);
            let chunk = v1::OutputChunk { data: answer.data, offset, skipped, next_offset, epoch, gap: None };
            self.say(frame(OUTPUT, &address.fields(), &json::to_vec(&chunk))).await;
            wanted = next_offset;
            let left = i32::try_from(end.saturating_sub(next_offset).min(REPLAY_CHUNK)).unwrap_or(i32::MAX);
            answer = v1::GetOutputResponse { data: Bytes::new(), ..answer };
            if left > 0 {
                answer = self.output(next_offset, Some(left)).await?;
            }
        }
        Ok(frame(REPLY, &address.fields(), &json::to_vec(&answer)))
    }

    async fn output(&self, offset: u64, limit: Option<i32>) -> Result<v1::GetOutputResponse, Error> {
        let (metadata, extensions) = self.context(Rpc::GetOutput)?;
        let limit = limit.map(|limit| limit.min(i32::try_from(REPLAY_CHUNK).unwrap_or(i32::MAX)));
        let request = Request::from_parts(metadata, extensions, v1::GetOutputRequest { offset, limit });
        let answer = self.service.get_output(request).await.map_err(|status| Error::from(&status))?;
        Ok(answer.into_inner())
    }
}

/// The frame that answers a call; a screen also has its number under the name it is pushed with.
fn told(names: Names, address: &Address, json: &[u8]) -> Utf8Bytes {
    let mut beside = address.fields();
    if names == SCREEN {
        let sequence = pick(json, &["sequence"]).ok().and_then(|mut fields| fields.remove("sequence"));
        beside.extend(sequence.map(|sequence| ("seq", sequence)));
    }
    frame(names, &beside, json)
}
