//! The frames that a client receives without a request: the service's streams, each with a cursor
//! of its own. Nothing here waits for a slow client, which gets a `gap` instead.

use coop_client::v1::event::Payload;
use coop_client::v1::{self, coop_server::Coop as _};
use coop_client::{EventType, json};
use futures_util::StreamExt as _;
use serde_json::{Map, Value};
use tokio_tungstenite::tungstenite::Utf8Bytes;
use tonic::Request;

use super::frame::{Names, OUTPUT, SCREEN, STATE, frame};
use super::socket::End;
use super::topic::{Topic, Topics};
use crate::error::{Code, Error};
use crate::service::{Caller, ResponseStream, Rpc, Service};

/// The frame of an event: its names, and its topic. A frame without a topic goes to every client.
struct EventFrame {
    names: Names,
    topic: Option<Topic>,
}

impl EventFrame {
    /// The frame of this type of event; None if it is not pushed.
    fn of(kind: EventType) -> Option<Self> {
        let same = Names::same(kind.as_str());
        let (names, topic) = match kind {
            EventType::Gap
            | EventType::Exit
            | EventType::Restart
            | EventType::Resize
            | EventType::Shutdown => (same, None),
            EventType::State => (Names::new("state_change", "transition"), Some(Topic::State)),
            EventType::Prompt => (same, Some(Topic::State)),
            EventType::Nudge => (Names::same("nudge:outcome"), Some(Topic::State)),
            EventType::Respond => (Names::same("prompt:outcome"), Some(Topic::State)),
            EventType::Stop => (Names::same("stop:outcome"), Some(Topic::State)),
            EventType::Start => (Names::same("start:outcome"), Some(Topic::State)),
            EventType::Transcript => (Names::same("transcript:saved"), Some(Topic::Transcripts)),
            EventType::Interrupt => (Names::same("interrupt:outcome"), Some(Topic::State)),
            EventType::Lease | EventType::Signal | EventType::Env => (same, Some(Topic::State)),
            EventType::Usage => (same, Some(Topic::Usage)),
            EventType::Heartbeat => return None,
        };
        Some(Self { names, topic })
    }

    fn is_wanted(&self, topics: &Topics) -> bool {
        self.topic.is_none_or(|topic| topics.contains(topic))
    }
}

/// The streams of one client.
pub(super) struct Pushes {
    service: Service,
    topics: Topics,
    /// The first frame.
    opening: Option<Utf8Bytes>,
    output: Option<ResponseStream<v1::OutputChunk>>,
    /// The offset after the last output that was sent.
    offset: u64,
    screen: Option<ResponseStream<v1::ScreenSnapshot>>,
    events: ResponseStream<v1::Event>,
    held: Option<HeldExit>,
}

/// An exit that waits until the output before it was sent.
struct HeldExit {
    frame: Utf8Bytes,
    until: u64,
}

/// The next push.
pub(super) enum Push {
    Frame(Utf8Bytes),
    /// No more frames follow.
    Over(End),
}

impl Pushes {
    pub(super) async fn open(
        service: Service,
        topics: Topics,
        caller: &Caller,
    ) -> Result<Self, Error> {
        caller.permits(Rpc::StreamEvents.method().scope)?;
        let state = service.get_agent_state(Request::new(v1::GetAgentStateRequest {})).await;
        let state = state.map_err(|status| Error::from(&status))?.into_inner();
        let wanted = EventType::ALL
            .iter()
            .filter(|kind| EventFrame::of(**kind).is_some_and(|frame| frame.is_wanted(&topics)));
        let request = v1::StreamEventsRequest {
            // The events after the state that the client receives first.
            since_seq: state.event_seq,
            types: wanted.map(|kind| kind.as_str().to_owned()).collect(),
            epoch: None,
        };
        let events = service
            .stream_events(Request::new(request))
            .await
            .map_err(|status| Error::from(&status))?
            .into_inner();
        let mut pushes = Self {
            opening: topics
                .contains(Topic::State)
                .then(|| frame(STATE, &[], &json::to_vec(&state))),
            output: None,
            offset: 0,
            screen: None,
            events,
            held: None,
            service,
            topics,
        };
        if pushes.topics.contains(Topic::Output) {
            let from_now_on = v1::StreamOutputRequest { tail: true, ..Default::default() };
            match pushes.open_output(from_now_on).await {
                // The backend has no output; a client that also wants the screen gets only that.
                Err(error)
                    if error.code == Code::Unsupported && pushes.topics.contains(Topic::Screen) => {
                }
                opened => opened?,
            }
        }
        if pushes.topics.contains(Topic::Screen) {
            let screen = pushes
                .service
                .stream_screen(Request::new(v1::StreamScreenRequest::default()))
                .await;
            pushes.screen = Some(screen.map_err(|status| Error::from(&status))?.into_inner());
        }
        Ok(pushes)
    }

    async fn open_output(&mut self, request: v1::StreamOutputRequest) -> Result<(), Error> {
        let output = self.service.stream_output(Request::new(request)).await;
        self.output = Some(output.map_err(|status| Error::from(&status))?.into_inner());
        Ok(())
    }

    /// Waits for the next push. Cancelling the wait loses nothing: after an event was taken from
    /// its stream there is no more waiting.
    pub(super) async fn next(&mut self) -> Push {
        loop {
            if let Some(opening) = self.opening.take() {
                return Push::Frame(opening);
            }
            let (offset, no_output) = (self.offset, self.output.is_none());
            if let Some(held) = self.held.take_if(|held| no_output || held.until <= offset) {
                return Push::Frame(held.frame);
            }
            tokio::select! {
                chunk = next_item(&mut self.output) => match chunk {
                    Some(chunk) => {
                        self.offset = chunk.next_offset;
                        return Push::Frame(frame(OUTPUT, &[], &json::to_vec(&chunk)));
                    }
                    None => self.output = None,
                },
                snapshot = next_item(&mut self.screen) => match snapshot {
                    Some(snapshot) => {
                        let seq = [("seq", snapshot.sequence.into())];
                        return Push::Frame(frame(SCREEN, &seq, &json::to_vec(&snapshot)));
                    }
                    None => self.screen = None,
                },
                event = self.events.next(), if self.held.is_none() => match event {
                    Some(Ok(event)) => {
                        if let Some(push) = self.event(&event).await {
                            return push;
                        }
                    }
                    // The event log ends only when coop does.
                    Some(Err(_)) | None => return Push::Over(End::shutdown()),
                },
            }
        }
    }

    async fn event(&mut self, event: &v1::Event) -> Option<Push> {
        // A heartbeat has no payload and is not pushed.
        let payload = event.payload.as_ref()?;
        let frame = event_frame(EventFrame::of(payload.event_type())?.names, event, payload);
        if let Payload::Exit(_) = payload
            && self.output.is_some()
        {
            let until = self.service.session().output().head().offset().0;
            self.held = Some(HeldExit { frame, until });
            return None;
        }
        // The output stream ended with the previous child; the new child's output continues it.
        if let Payload::Restart(_) = payload
            && self.output.is_none()
            && self.topics.contains(Topic::Output)
        {
            let from = v1::StreamOutputRequest { from_offset: self.offset, ..Default::default() };
            if let Err(error) = self.open_output(from).await {
                return Some(Push::Over(End::error(&error)));
            }
        }
        Some(Push::Frame(frame))
    }
}

/// The fields of the payload, and those of the event that the payload does not have.
fn event_frame(names: Names, event: &v1::Event, payload: &Payload) -> Utf8Bytes {
    let mut fields = payload_fields(payload);
    for (name, value) in
        [("seq", event.seq), ("epoch", event.epoch), ("at_epoch_ms", event.at_epoch_ms)]
    {
        fields.entry(name).or_insert_with(|| value.into());
    }
    if let Some(by) = &event.by {
        fields.insert("by".to_owned(), by.as_str().into());
    }
    frame(names, &[], Value::Object(fields).to_string().as_bytes())
}

fn payload_fields(payload: &Payload) -> Map<String, Value> {
    let fields = match payload {
        Payload::Gap(gap) => json::to_value(gap),
        Payload::State(state) => json::to_value(state),
        Payload::Prompt(prompt) => json::to_value(prompt),
        Payload::Nudge(outcome)
        | Payload::Respond(outcome)
        | Payload::Stop(outcome)
        | Payload::Start(outcome) => json::to_value(outcome),
        Payload::Transcript(transcript) => json::to_value(transcript),
        Payload::Usage(usage) => json::to_value(usage),
        Payload::Exit(exit) => json::to_value(exit),
        Payload::Restart(restart) => json::to_value(restart),
        Payload::Resize(size) => json::to_value(size),
        Payload::Shutdown(shutdown) => json::to_value(shutdown),
        Payload::Interrupt(interrupt) => json::to_value(interrupt),
        Payload::Lease(lease) => json::to_value(lease),
        Payload::Signal(signal) => json::to_value(signal),
        Payload::Env(env) => json::to_value(env),
    };
    match fields {
        Value::Object(fields) => fields,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            Map::new()
        }
    }
}

/// The next message of an optional stream. An error counts as the end, because the event stream
/// reports the reason.
async fn next_item<T>(stream: &mut Option<ResponseStream<T>>) -> Option<T> {
    match stream {
        Some(stream) => stream.next().await.and_then(Result::ok),
        None => std::future::pending().await,
    }
}
