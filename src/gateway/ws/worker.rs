//! Makes the calls of one connection, one after the other, and holds the connection's lease.

use bytes::Bytes;
use coop_client::v1::{self, coop_server::Coop as _};
use coop_client::{LEASE_HEADER, json};
use http::Extensions;
use serde_json::Value;
use tokio_tungstenite::tungstenite::Utf8Bytes;
use tonic::Request;
use tonic::metadata::{MetadataMap, MetadataValue};

use super::super::call::{Call, FRAME_FIELDS, Input, Payload, Reply};
use super::super::generated::dispatch;
use super::Settings;
use super::client_frame::{Action, ClientFrame, LockAction};
use super::connection::Queued;
use super::frame::{Address, NO_FIELDS, OUTPUT, PONG, REPLY, SCREEN, error_frame, frame};
use super::queue::{Receiver, Sender};
use super::socket::End;
use crate::error::{Code, Error};
use crate::service::{Caller, Level, REQUEST_ID, Rpc, Service, Trail, replayed_chunk};
use crate::session::Session;
use crate::session::lease::LeaseId;

/// The most bytes of output in one frame of a replay.
const REPLAY_CHUNK: u64 = 64 << 10;

/// Carries out what the client's frames request.
pub(super) struct Worker {
    service: Service,
    settings: Settings,
    caller: Caller,
    lease: Lease,
    replies: Sender<Utf8Bytes>,
    /// The id of the frame that is being handled.
    request_id: Option<String>,
}

/// The lease that goes with the client's writes. One that was acquired on this connection is
/// released with it.
struct Lease {
    session: Session,
    /// Named in the header of the upgrade.
    header: Option<String>,
    acquired: Option<LeaseId>,
}

impl Drop for Lease {
    fn drop(&mut self) {
        if let Some(id) = self.acquired.take() {
            self.session.drop_lease(id);
        }
    }
}

impl Worker {
    pub(super) fn new(
        service: Service,
        settings: Settings,
        caller: Caller,
        header_lease: Option<String>,
        replies: Sender<Utf8Bytes>,
    ) -> Self {
        let lease = Lease {
            session: service.session().by(caller.by.clone()),
            header: header_lease,
            acquired: None,
        };
        Self { service, settings, caller, lease, replies, request_id: None }
    }

    /// Works until no more frames can come, or the client sends a wrong token.
    pub(super) async fn run(mut self, mut frames: Receiver<Queued>) -> End {
        loop {
            let next = tokio::select! {
                // A token that was sent in a frame is not the one of the upgrade.
                () = self.caller.revoked.cancelled() => return End::unauthorized(),
                next = frames.recv() => next,
            };
            let Some(((client_frame, _shares), _room)) = next else { return End::Gone };
            let ClientFrame { address, action, text } = client_frame;
            self.request_id = address.request_id.as_ref().map(|id| match id {
                Value::String(text) => text.clone(),
                other => other.to_string(),
            });
            let reply = match action {
                Ok(Action::Call(rpc, names)) => self
                    .call(rpc, text, Vec::new())
                    .await
                    .map(|json| frame(names, &address.fields(), &json)),
                Ok(Action::Screen) => self.screen(&address, &text).await,
                Ok(Action::Replay) => self.replay(&address, &text).await,
                Ok(Action::Lock(action)) => {
                    self.lock(action, text).await.map(|json| frame(REPLY, &address.fields(), &json))
                }
                Ok(Action::Auth { token }) => match self.authenticate(&token) {
                    Ok(()) => Ok(frame(REPLY, &address.fields(), NO_FIELDS)),
                    Err(end) => return end,
                },
                Ok(Action::Ping) => Ok(frame(PONG, &address.fields(), NO_FIELDS)),
                Err(error) => Err(error),
            };
            self.send(reply.unwrap_or_else(|error| error_frame(&error, &address))).await;
        }
    }

    async fn send(&self, frame: Utf8Bytes) {
        let size = frame.len();
        // The client may have disconnected; its calls are made all the same.
        _ = self.replies.send(frame, size).await;
    }

    /// Raises the caller's level. A caller with every right needs no token.
    fn authenticate(&mut self, token: &str) -> Result<(), End> {
        if self.caller.level < Level::Admin {
            let grant = (self.settings.authenticate)(&self.caller, token);
            self.caller.accept(grant.ok_or_else(End::unauthorized)?);
        }
        Ok(())
    }

    /// Makes a unary call and returns its response as JSON.
    async fn call(
        &self,
        rpc: Rpc,
        text: Bytes,
        params: Vec<(&'static str, Value)>,
    ) -> Result<Bytes, Error> {
        let (metadata, mut extensions) = self.context(rpc)?;
        let trail = Trail::default();
        extensions.insert(trail.clone());
        let call = Call { params, ..Call::message(Input::Frame(text), metadata, extensions) };
        match dispatch(&self.service, rpc, call).await {
            Ok(Reply::Unary(Payload::Json(json))) => Ok(json),
            Ok(Reply::Unary(Payload::Empty | Payload::Raw(_)) | Reply::Stream(_)) => {
                Err(Error::new(Code::Internal, "the response of this call does not fit a frame"))
            }
            Err(status) => {
                let error = Error::from(&status);
                // A frame that could not be read never became a call.
                if !trail.is_recorded() && rpc.method().writes() {
                    self.service.audit().refused(&self.caller, rpc.method().name, error.code);
                }
                Err(error)
            }
        }
    }

    /// The metadata and extensions of a call, if the caller may make it.
    fn context(&self, rpc: Rpc) -> Result<(MetadataMap, Extensions), Error> {
        let method = rpc.method();
        if let Err(error) = self.caller.permits(method.scope) {
            self.service.audit().refused(&self.caller, method.name, error.code);
            return Err(error);
        }
        let mut metadata = MetadataMap::new();
        let lease = self.lease.acquired.as_ref().map(|id| &id.0).or(self.lease.header.as_ref());
        if let Some(lease) = lease.and_then(|id| MetadataValue::try_from(id).ok()) {
            metadata.insert(LEASE_HEADER, lease);
        }
        if let Some(id) = self.request_id.as_ref().and_then(|id| MetadataValue::try_from(id).ok()) {
            metadata.insert(REQUEST_ID, id);
        }
        let mut extensions = Extensions::new();
        extensions.insert(self.caller.clone());
        Ok((metadata, extensions))
    }

    fn request<M>(&self, rpc: Rpc, message: M) -> Result<Request<M>, Error> {
        let (metadata, extensions) = self.context(rpc)?;
        Ok(Request::from_parts(metadata, extensions, message))
    }

    async fn lock(&mut self, action: LockAction, text: Bytes) -> Result<Bytes, Error> {
        match action {
            LockAction::Acquire => {
                let json = self.call(Rpc::AcquireLease, text, Vec::new()).await?;
                let granted: v1::AcquireLeaseResponse = json::from_slice(&json)
                    .map_err(|error| Error::new(Code::Internal, error.to_string()))?;
                self.lease.acquired = Some(LeaseId(granted.lease_id));
                Ok(json)
            }
            LockAction::Release => {
                let held =
                    self.lease.acquired.as_ref().map(|id| ("lease_id", Value::from(id.0.as_str())));
                let json = self.call(Rpc::ReleaseLease, text, held.into_iter().collect()).await?;
                self.lease.acquired = None;
                Ok(json)
            }
        }
    }

    /// The screen as a frame like the pushed ones, with the screen's number as `seq`.
    async fn screen(&self, address: &Address, text: &[u8]) -> Result<Utf8Bytes, Error> {
        let request: v1::GetScreenRequest = parse(text)?;
        let request = self.request(Rpc::GetScreen, request)?;
        let response = self.service.get_screen(request).await;
        let screen = response.map_err(|status| Error::from(&status))?.into_inner();
        let mut fields = address.fields();
        fields.push(("seq", screen.sequence.into()));
        Ok(frame(SCREEN, &fields, &json::to_vec(&screen)))
    }

    /// Sends the kept output from the requested offset up to now, and returns the last frame.
    /// Bytes that leave the ring meanwhile count as skipped in the frame after the hole.
    async fn replay(&self, address: &Address, text: &[u8]) -> Result<Utf8Bytes, Error> {
        let request: v1::GetOutputRequest = parse(text)?;
        let mut response = self.output(request.offset, request.limit).await?;
        let end = match request.limit {
            Some(limit) => {
                response.total_written.min(response.offset + u64::from(limit.unsigned_abs()))
            }
            None => response.total_written,
        };
        // Offset 0 means the oldest byte, so nothing is skipped before it.
        let mut wanted = if request.offset == 0 { response.offset } else { request.offset };
        while !response.data.is_empty() {
            let skipped = response.offset.saturating_sub(wanted);
            let chunk = replayed_chunk(&mut response, skipped);
            self.send(frame(OUTPUT, &address.fields(), &json::to_vec(&chunk))).await;
            wanted = response.next_offset;
            let left =
                i32::try_from(end.saturating_sub(wanted).min(REPLAY_CHUNK)).unwrap_or(i32::MAX);
            if left > 0 {
                response = self.output(wanted, Some(left)).await?;
            }
        }
        Ok(frame(REPLY, &address.fields(), &json::to_vec(&response)))
    }

    async fn output(
        &self,
        offset: u64,
        limit: Option<i32>,
    ) -> Result<v1::GetOutputResponse, Error> {
        let limit = limit.map(|limit| limit.min(i32::try_from(REPLAY_CHUNK).unwrap_or(i32::MAX)));
        let request = self.request(Rpc::GetOutput, v1::GetOutputRequest { offset, limit })?;
        let response =
            self.service.get_output(request).await.map_err(|status| Error::from(&status))?;
        Ok(response.into_inner())
    }
}

/// Parses the request in a frame's text.
fn parse<M: json::Message>(text: &[u8]) -> Result<M, Error> {
    let mut message = M::default();
    json::merge_slice(&mut message, text, &FRAME_FIELDS)
        .map_err(|error| Error::bad_request(error.to_string()))?;
    Ok(message)
}
