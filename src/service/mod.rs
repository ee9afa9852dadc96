//! The tonic service: the one object that every transport calls.
//!
//! This file maps each RPC to its handler; the handlers are in the files of their subject. An
//! error becomes a gRPC status here.

mod agent;
mod attach;
mod audit;
mod caller;
mod clients;
mod closing;
mod convert;
#[rustfmt::skip]
#[path = "gen.rs"]
mod generated;
mod lifecycle;
mod rpc;
mod streams;
mod terminal;
mod wire_error;

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::{Duration, Instant};

use coop_client::v1::{self, coop_server::Coop};
use tokio::sync::Semaphore;
use tonic::{Request, Response, Status};

pub use self::audit::{AuditLog, REQUEST_ID, Trail};
pub use self::caller::{Caller, Grant, Level};
pub use self::clients::Clients;
pub use self::closing::Closing;
pub use self::convert::replayed_chunk;
use self::generated::METHODS;
pub use self::generated::Rpc;
pub use self::rpc::{Method, Streaming};
pub use self::streams::ResponseStream;
#[cfg(test)]
pub(crate) use self::streams::SUBSCRIBERS;
pub use self::wire_error::{http_status, request_error, wire};
use crate::error::{Code, Error};
use crate::session::{BackendKind, Session};

/// Facts about this coop process that never change.
#[derive(Debug)]
pub struct About {
    pub session_id: String,
    pub name: Option<String>,
    pub labels: BTreeMap<String, String>,
    pub agent: String,
    pub backend: BackendKind,
    pub version: &'static str,
    pub started: Instant,
}

impl About {
    fn uptime_secs(&self) -> i64 {
        i64::try_from(self.started.elapsed().as_secs()).unwrap_or(i64::MAX)
    }
}

#[derive(Debug, Clone)]
pub struct Service {
    session: Session,
    about: Arc<About>,
    clients: Clients,
    closing: Closing,
    audit: AuditLog,
    subscribers: Arc<Semaphore>,
}

impl Service {
    pub fn new(session: Session, about: About, closing: Closing) -> Self {
        Self {
            session,
            about: Arc::new(about),
            clients: Clients::default(),
            closing,
            audit: AuditLog::default(),
            subscribers: Arc::new(Semaphore::new(streams::SUBSCRIBERS)),
        }
    }

    /// The same service, with an audit log.
    #[must_use]
    pub fn audited(self, audit: AuditLog) -> Self {
        Self { audit, ..self }
    }

    pub fn audit(&self) -> &AuditLog {
        &self.audit
    }

    /// The counter of WebSocket clients.
    pub fn clients(&self) -> &Clients {
        &self.clients
    }

    pub fn closing(&self) -> &Closing {
        &self.closing
    }

    pub fn session(&self) -> &Session {
        &self.session
    }

    /// Refuses an RPC that the session's backend does not support.
    fn check_supported(&self, rpc: Rpc) -> Result<(), Error> {
        match self.about.backend {
            BackendKind::Attached(multiplexer) if rpc.method().native_only => Err(Error::new(
                Code::Unsupported,
                format!(
                    "coop is attached to {} and did not start the program there",
                    multiplexer.as_str()
                ),
            )),
            BackendKind::Attached(_) | BackendKind::Native => Ok(()),
        }
    }

    /// The names of the RPCs that the session's backend does not support.
    fn unsupported(&self) -> Vec<&'static str> {
        let all = METHODS.iter().map(|method| method.rpc);
        all.filter(|rpc| self.check_supported(*rpc).is_err()).map(|rpc| rpc.method().name).collect()
    }
}

/// Checks that a number is within its limits.
fn number(field: &str, value: i32, limits: RangeInclusive<i32>) -> Result<usize, Error> {
    match usize::try_from(value) {
        Ok(number) if limits.contains(&value) => Ok(number),
        Ok(_) | Err(_) => {
            let (least, most) = limits.into_inner();
            Err(Error::bad_request(format!(
                "{field} is {value}; it must be from {least} to {most}"
            )))
        }
    }
}

/// Checks that a time has at most `most` milliseconds.
fn milliseconds(field: &str, value: i32, most: i32) -> Result<Duration, Error> {
    Ok(Duration::from_millis(number(field, value, 0..=most)? as u64))
}

fn no_driver(what: &str) -> Error {
    Error::new(Code::NoDriver, format!("{what} needs a driver, and coop has none for this program"))
}

fn no_recording() -> Error {
    Error::new(Code::Unsupported, "this coop does not record terminals")
}

/// Implements the generated trait from two lines for each RPC: its signature, and the method that
/// handles it. An RPC that the backend does not support is refused here, for every transport.
macro_rules! implement_coop {
    (
        unary { $($rpc:ident: $handler:ident($input:ident) -> $output:ident =
            |$service:ident, $request:ident| $response:expr;)* }
        stream { $($stream_rpc:ident: $stream_handler:ident($stream_input:ty)
            -> $name:ident<$item:ident> =
            |$stream_service:ident, $stream_request:ident| $stream_response:expr;)* }
    ) => {
        #[tonic::async_trait]
        impl Coop for Service {
            $(async fn $handler(
                &self,
                $request: Request<v1::$input>,
            ) -> Result<Response<v1::$output>, Status> {
                let $service = self;
                let entry = self.audit.begin(Rpc::$rpc, &$request);
                let response: Result<v1::$output, Error> = match self.check_supported(Rpc::$rpc) {
                    Ok(()) => $response,
                    Err(error) => Err(error),
                };
                if let Some(entry) = entry {
                    entry.finish(&response);
                }
                Ok(Response::new(response?))
            })*
            $(
                type $name = ResponseStream<v1::$item>;

                async fn $stream_handler(
                    &self,
                    $stream_request: Request<$stream_input>,
                ) -> Result<Response<Self::$name>, Status> {
                    let $stream_service = self;
                    let caller = Caller::of($stream_request.extensions());
                    self.check_supported(Rpc::$stream_rpc)?;
                    let stream: Result<ResponseStream<v1::$item>, Error> = $stream_response;
                    Ok(Response::new(streams::until_revoked(stream?, &caller)))
                }
            )*
        }
    };
}

implement_coop! {
    unary {
        GetHealth: get_health(GetHealthRequest) -> GetHealthResponse =
            |service, _request| Ok(service.health());
        GetReady: get_ready(GetReadyRequest) -> GetReadyResponse =
            |service, _request| service.ready();
        GetScreen: get_screen(GetScreenRequest) -> GetScreenResponse =
            |service, request| service.screen(request.into_inner()).await;
        GetScreenText: get_screen_text(GetScreenTextRequest) -> GetScreenTextResponse =
            |service, request| service.screen_text(request.into_inner()).await;
        GetScrollback: get_scrollback(GetScrollbackRequest) -> GetScrollbackResponse =
            |service, request| service.scrollback(request.into_inner()).await;
        GetOutput: get_output(GetOutputRequest) -> GetOutputResponse =
            |service, request| service.output(request.get_ref());
        GetStatus: get_status(GetStatusRequest) -> GetStatusResponse =
            |service, _request| Ok(service.status());

        SendInput: send_input(SendInputRequest) -> SendInputResponse =
            |service, request| service.input(request).await;
        SendInputRaw: send_input_raw(SendInputRawRequest) -> SendInputRawResponse =
            |service, request| service.input_raw(request).await;
        SendKeys: send_keys(SendKeysRequest) -> SendKeysResponse =
            |service, request| service.keys(request).await;
        Resize: resize(ResizeRequest) -> ResizeResponse =
            |service, request| service.set_size(request).await;
        SendSignal: send_signal(SendSignalRequest) -> SendSignalResponse =
            |service, request| service.signal(&request).await;
        AcquireLease: acquire_lease(AcquireLeaseRequest) -> AcquireLeaseResponse =
            |service, request| service.take_lease(request).await;
        ReleaseLease: release_lease(ReleaseLeaseRequest) -> ReleaseLeaseResponse =
            |service, request| service.end_lease(request).await;

        GetAgentState: get_agent_state(GetAgentStateRequest) -> GetAgentStateResponse =
            |service, _request| Ok(service.agent_state());
        WaitForState: wait_for_state(WaitForStateRequest) -> WaitForStateResponse =
            |service, request| service.wait(request.get_ref()).await;
        ExplainState: explain_state(ExplainStateRequest) -> ExplainStateResponse =
            |service, _request| service.explain().await;
        Nudge: nudge(NudgeRequest) -> NudgeResponse =
            |service, request| service.nudge(request).await;
        Respond: respond(RespondRequest) -> RespondResponse =
            |service, request| service.respond(request).await;
        Interrupt: interrupt(InterruptRequest) -> InterruptResponse =
            |service, request| service.interrupt(request).await;

        StopHook: stop_hook(StopHookRequest) -> StopHookResponse =
            |_service, _request| Err(no_driver("the stop hook"));
        StartHook: start_hook(StartHookRequest) -> StartHookResponse =
            |_service, _request| Err(no_driver("the start hook"));
        ResolveStop: resolve_stop(ResolveStopRequest) -> ResolveStopResponse =
            |_service, _request| Err(no_driver("the stop gate"));
        GetStopConfig: get_stop_config(GetStopConfigRequest) -> GetStopConfigResponse =
            |_service, _request| Err(no_driver("the stop gate"));
        PutStopConfig: put_stop_config(PutStopConfigRequest) -> PutStopConfigResponse =
            |_service, _request| Err(no_driver("the stop gate"));
        GetStartConfig: get_start_config(GetStartConfigRequest) -> GetStartConfigResponse =
            |_service, _request| Err(no_driver("the start hook"));
        PutStartConfig: put_start_config(PutStartConfigRequest) -> PutStartConfigResponse =
            |_service, _request| Err(no_driver("the start hook"));

        ListTranscripts: list_transcripts(ListTranscriptsRequest) -> ListTranscriptsResponse =
            |_service, _request| Err(no_driver("transcripts"));
        GetTranscript: get_transcript(GetTranscriptRequest) -> GetTranscriptResponse =
            |_service, _request| Err(no_driver("transcripts"));
        CatchupTranscripts: catchup_transcripts(CatchupTranscriptsRequest)
            -> CatchupTranscriptsResponse =
            |_service, _request| Err(no_driver("transcripts"));
        GetUsage: get_usage(GetUsageRequest) -> GetUsageResponse =
            |service, _request| service.usage();

        RestartSession: restart_session(RestartSessionRequest) -> RestartSessionResponse =
            |service, request| service.restart(&request).await;
        SwitchSession: switch_session(SwitchSessionRequest) -> SwitchSessionResponse =
            |service, request| service.switch(request).await;
        GetEnv: get_env(GetEnvRequest) -> GetEnvResponse =
            |service, request| service.env(request.into_inner()).await;
        PutEnv: put_env(PutEnvRequest) -> PutEnvResponse =
            |service, request| service.set_env(request).await;
        DeleteEnv: delete_env(DeleteEnvRequest) -> DeleteEnvResponse =
            |service, request| service.unset_env(request).await;
        GetCwd: get_cwd(GetCwdRequest) -> GetCwdResponse =
            |service, _request| service.cwd();
        GetRecording: get_recording(GetRecordingRequest) -> GetRecordingResponse =
            |_service, _request| Err(no_recording());
        PutRecording: put_recording(PutRecordingRequest) -> PutRecordingResponse =
            |_service, _request| Err(no_recording());
        Shutdown: shutdown(ShutdownRequest) -> ShutdownResponse =
            |service, request| service.shut_down(request).await;
    }
    stream {
        StreamOutput: stream_output(v1::StreamOutputRequest) -> StreamOutputStream<OutputChunk> =
            |service, request| service.output_stream(request.get_ref());
        StreamScreen: stream_screen(v1::StreamScreenRequest) -> StreamScreenStream<ScreenSnapshot> =
            |service, request| service.screen_stream(request.get_ref());
        Attach: attach(tonic::Streaming<v1::AttachRequest>) -> AttachStream<AttachResponse> =
            |service, request| service.attached(request).await;
        StreamState: stream_state(v1::StreamStateRequest) -> StreamStateStream<AgentStateEvent> =
            |service, request| service.state_stream(request.get_ref());
        StreamEvents: stream_events(v1::StreamEventsRequest) -> StreamEventsStream<Event> =
            |service, request| service.event_stream(request.get_ref());
        StreamTranscriptEvents: stream_transcript_events(v1::StreamTranscriptEventsRequest)
            -> StreamTranscriptEventsStream<TranscriptEvent> =
            |_service, _request| Err(no_driver("transcripts"));
        DownloadRecording: download_recording(v1::DownloadRecordingRequest)
            -> DownloadRecordingStream<RecordingChunk> =
            |_service, _request| Err(no_recording());
    }
}
