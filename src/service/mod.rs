//! The tonic service: the one object that every transport calls.
//!
//! This file only routes; what a call means stands in the file of its subject. A refusal
//! becomes a gRPC status here and nowhere else.

mod agent;
mod attach;
mod caller;
mod clients;
mod closing;
mod convert;
mod lifecycle;
mod streams;
mod terminal;

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::{Duration, Instant};

use coop_client::v1::{self, coop_server::Coop};
use tokio::sync::Semaphore;
use tonic::{Request, Response, Status, Streaming};

pub use self::caller::{Caller, Level};
pub use self::clients::{Clients, Connected};
pub use self::closing::Closing;
pub use self::streams::Answers;
use crate::error::{Code, Error};
use crate::session::{Backend, Session};

/// How many streams there may be at once.
pub const SUBSCRIBERS: usize = 4096;

/// What never changes while coop lives.
#[derive(Debug)]
pub struct About {
    pub session_id: String,
    pub name: Option<String>,
    pub labels: BTreeMap<String, String>,
    pub agent: String,
    pub backend: Backend,
    pub version: &'static str,
    pub started: Instant,
}

#[derive(Debug, Clone)]
pub struct Service {
    session: Session,
    about: Arc<About>,
    clients: Clients,
    closing: Closing,
    subscribers: Arc<Semaphore>,
}

impl Service {
    pub fn new(session: Session, about: About, closing: Closing) -> Self {
        Self {
            session,
            about: Arc::new(about),
            clients: Clients::default(),
            closing,
            subscribers: Arc::new(Semaphore::new(SUBSCRIBERS)),
        }
    }

    /// The WebSocket clients, for whoever serves them to count.
    pub fn clients(&self) -> &Clients {
        &self.clients
    }

    pub fn closing(&self) -> &Closing {
        &self.closing
    }

    pub fn session(&self) -> &Session {
        &self.session
    }

    /// Whether the session's backend can do what this method is for.
    fn supports(&self, method: &str) -> Result<(), Error> {
        let backend = self.about.backend;
        if !backend.unsupported().iter().any(|name| is_called(name, method)) {
            return Ok(());
        }
        let host = backend.as_str();
        Err(Error::new(
            Code::Unsupported,
            format!("coop is attached to {host} and did not start what runs there"),
        ))
    }

    fn uptime_secs(&self) -> i64 {
        i64::try_from(self.about.started.elapsed().as_secs()).unwrap_or(i64::MAX)
    }
}

/// Whether a method of the proto, `GetOutput`, is the one that Rust calls `get_output`.
fn is_called(name: &str, method: &str) -> bool {
    let letters = method.bytes().filter(|byte| *byte != b'_');
    name.bytes().map(|byte| byte.to_ascii_lowercase()).eq(letters)
}

/// A number within its stated limits.
fn number(field: &str, value: i32, limits: RangeInclusive<i32>) -> Result<usize, Error> {
    match usize::try_from(value) {
        Ok(number) if limits.contains(&value) => Ok(number),
        Ok(_) | Err(_) => {
            let (least, most) = limits.into_inner();
            Err(Error::bad_request(format!("{field} is {value}; it must be from {least} to {most}")))
        }
    }
}

/// A time of at most `most` milliseconds.
fn milliseconds(field: &str, value: i32, most: i32) -> Result<Duration, Error> {
    Ok(Duration::from_millis(number(field, value, 0..=most)? as u64))
}

fn no_driver(what: &str) -> Error {
    Error::new(
        Code::NoDriver,
        format!("{what} needs a driver for the agent, and coop runs this program without one"),
    )
}

fn no_recording() -> Error {
    Error::new(Code::Unsupported, "this coop does not record terminals")
}

/// Writes the trait's implementation from one line per RPC: what it takes, what it gives, and
/// the method that does it.
macro_rules! implement_coop {
    (
        unary { $($rpc:ident($ask:ident) -> $give:ident: |$service:ident, $request:ident| $answer:expr;)* }
        stream { $($stream_rpc:ident($stream_ask:ty) -> $name:ident<$item:ident>:
            |$stream_service:ident, $stream_request:ident| $stream_answer:expr;)* }
    ) => {
        #[tonic::async_trait]
        impl Coop for Service {
            $(async fn $rpc(&self, $request: Request<v1::$ask>) -> Result<Response<v1::$give>, Status> {
                let $service = self;
                self.supports(stringify!($rpc))?;
                let answer: Result<v1::$give, Error> = $answer;
                Ok(Response::new(answer?))
            })*
            $(
                type $name = Answers<v1::$item>;

                async fn $stream_rpc(
                    &self,
                    $stream_request: Request<$stream_ask>,
                ) -> Result<Response<Self::$name>, Status> {
                    let $stream_service = self;
                    self.supports(stringify!($stream_rpc))?;
                    let answer: Result<Answers<v1::$item>, Error> = $stream_answer;
                    Ok(Response::new(answer?))
                }
            )*
        }
    };
}

implement_coop! {
    unary {
        get_health(GetHealthRequest) -> GetHealthResponse: |service, _request| Ok(service.health());
        get_ready(GetReadyRequest) -> GetReadyResponse: |service, _request| service.ready();
        get_screen(GetScreenRequest) -> GetScreenResponse: |service, request| service.screen(request.into_inner()).await;
        get_screen_text(GetScreenTextRequest) -> GetScreenTextResponse: |service, request| service.screen_text(request.into_inner()).await;
        get_scrollback(GetScrollbackRequest) -> GetScrollbackResponse: |service, request| service.scrollback(request.into_inner()).await;
        get_output(GetOutputRequest) -> GetOutputResponse: |service, request| service.output(request.get_ref());
        get_status(GetStatusRequest) -> GetStatusResponse: |service, _request| Ok(service.status());

        send_input(SendInputRequest) -> SendInputResponse: |service, request| service.input(request).await;
        send_input_raw(SendInputRawRequest) -> SendInputRawResponse: |service, request| service.input_raw(request).await;
        send_keys(SendKeysRequest) -> SendKeysResponse: |service, request| service.keys(request).await;
        resize(ResizeRequest) -> ResizeResponse: |service, request| service.set_size(request).await;
        send_signal(SendSignalRequest) -> SendSignalResponse: |service, request| service.signal(request.get_ref()).await;
        acquire_lease(AcquireLeaseRequest) -> AcquireLeaseResponse: |service, request| service.take_lease(request).await;
        release_lease(ReleaseLeaseRequest) -> ReleaseLeaseResponse: |service, request| service.end_lease(request.into_inner()).await;

        get_agent_state(GetAgentStateRequest) -> GetAgentStateResponse: |service, _request| Ok(service.agent_state());
        wait_for_state(WaitForStateRequest) -> WaitForStateResponse: |service, request| service.wait(request.get_ref()).await;
        explain_state(ExplainStateRequest) -> ExplainStateResponse: |service, _request| service.explain().await;
        nudge(NudgeRequest) -> NudgeResponse: |service, request| service.nudge(request).await;
        respond(RespondRequest) -> RespondResponse: |service, request| service.respond(request).await;
        interrupt(InterruptRequest) -> InterruptResponse: |service, request| service.interrupt(request).await;

        stop_hook(StopHookRequest) -> StopHookResponse: |_service, _request| Err(no_driver("the stop hook"));
        start_hook(StartHookRequest) -> StartHookResponse: |_service, _request| Err(no_driver("the start hook"));
        resolve_stop(ResolveStopRequest) -> ResolveStopResponse: |_service, _request| Err(no_driver("the stop gate"));
        get_stop_config(GetStopConfigRequest) -> GetStopConfigResponse: |_service, _request| Err(no_driver("the stop gate"));
        put_stop_config(PutStopConfigRequest) -> PutStopConfigResponse: |_service, _request| Err(no_driver("the stop gate"));
        get_start_config(GetStartConfigRequest) -> GetStartConfigResponse: |_service, _request| Err(no_driver("the start hook"));
        put_start_config(PutStartConfigRequest) -> PutStartConfigResponse: |_service, _request| Err(no_driver("the start hook"));

        list_transcripts(ListTranscriptsRequest) -> ListTranscriptsResponse: |_service, _request| Err(no_driver("transcripts"));
        get_transcript(GetTranscriptRequest) -> GetTranscriptResponse: |_service, _request| Err(no_driver("transcripts"));
        catchup_transcripts(CatchupTranscriptsRequest) -> CatchupTranscriptsResponse: |_service, _request| Err(no_driver("transcripts"));
        get_usage(GetUsageRequest) -> GetUsageResponse: |service, _request| service.usage();

        restart_session(RestartSessionRequest) -> RestartSessionResponse: |service, request| service.restart(request.get_ref()).await;
        switch_session(SwitchSessionRequest) -> SwitchSessionResponse: |service, request| service.switch(request.into_inner()).await;
        get_env(GetEnvRequest) -> GetEnvResponse: |service, request| service.env(request.into_inner()).await;
        put_env(PutEnvRequest) -> PutEnvResponse: |service, request| service.set_env(request.into_inner()).await;
        delete_env(DeleteEnvRequest) -> DeleteEnvResponse: |service, request| service.unset_env(request.into_inner()).await;
        get_cwd(GetCwdRequest) -> GetCwdResponse: |service, _request| service.cwd();
        get_recording(GetRecordingRequest) -> GetRecordingResponse: |_service, _request| Err(no_recording());
        put_recording(PutRecordingRequest) -> PutRecordingResponse: |_service, _request| Err(no_recording());
        shutdown(ShutdownRequest) -> ShutdownResponse: |service, request| service.shut_down(request).await;
    }
    stream {
        stream_output(v1::StreamOutputRequest) -> StreamOutputStream<OutputChunk>: |service, request| service.output_stream(request.get_ref());
        stream_screen(v1::StreamScreenRequest) -> StreamScreenStream<ScreenSnapshot>: |service, request| service.screen_stream(request.get_ref());
        attach(Streaming<v1::AttachRequest>) -> AttachStream<AttachResponse>: |service, request| service.attached(request).await;
        stream_state(v1::StreamStateRequest) -> StreamStateStream<AgentStateEvent>: |service, request| service.state_stream(request.get_ref());
        stream_events(v1::StreamEventsRequest) -> StreamEventsStream<Event>: |service, request| service.event_stream(request.get_ref());
        stream_transcript_events(v1::StreamTranscriptEventsRequest) -> StreamTranscriptEventsStream<TranscriptEvent>: |_service, _request| Err(no_driver("transcripts"));
        download_recording(v1::DownloadRecordingRequest) -> DownloadRecordingStream<RecordingChunk>: |_service, _request| Err(no_recording());
    }
}
