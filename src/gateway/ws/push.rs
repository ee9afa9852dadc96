//! What a client is told without asking: the service's streams, each a cursor of its own, dressed
//! as frames. Nothing waits here for a slow client; it misses, and is told how much.

use coop_client::json;
use coop_client::v1::{self, coop_server::Coop as _};
use futures_util::StreamExt as _;
use serde_json::{Map, Value};
use tokio_tungstenite::tungstenite::Utf8Bytes;
use tonic::Request;

use super::super::generated::Rpc;
use super::frame::{Names, OUTPUT, SCREEN, STATE, frame};
use super::socket::End;
use super::topic::{Topic, Topics};
use crate::error::{Code, Error};
use crate::service::{Answers, Caller, Service};

/// Every kind of event that is pushed: its type in the log, its names here, and the topic it
/// belongs to. Those of no topic are pushed to everybody.
const EVENTS: &[(&str, Names, Option<Topic>)] = &[
    ("gap", Names::same("gap"), None),
    ("exit", Names::same("exit"), None),
    ("restart", Names::same("restart"), None),
    ("resize", Names::same("resize"), None),
    ("shutdown", Names::same("shutdown"), None),
    ("state", Names::new("state_change", "transition"), Some(Topic::State)),
    ("prompt", Names::same("prompt"), Some(Topic::State)),
    ("nudge", Names::same("nudge:outcome"), Some(Topic::State)),
    ("respond", Names::same("prompt:outcome"), Some(Topic::State)),
    ("stop", Names::same("stop:outcome"), Some(Topic::State)),
    ("start", Names::same("start:outcome"), Some(Topic::State)),
    ("transcript", Names::same("transcript:saved"), Some(Topic::Transcripts)),
    ("usage", Names::same("usage"), Some(Topic::Usage)),
];

/// The streams of one client.
pub struct Pushes {
    service: Service,
    topics: Topics,
    /// Told before anything else.
    opening: Option<Utf8Bytes>,
    output: Option<Answers<v1::OutputChunk>>,
    /// Where the output goes on.
    offset: u64,
    screen: Option<Answers<v1::ScreenSnapshot>>,
    events: Answers<v1::Event>,
    held: Option<Held>,
}

/// An exit, until the output from before it is told.
struct Held {
    exit: Utf8Bytes,
    until: u64,
}

/// What comes next.
pub enum Push {
    Frame(Utf8Bytes),
    /// Nothing comes any more.
    Over(End),
}

impl Pushes {
    pub async fn open(service: Service, topics: Topics, caller: &Caller) -> Result<Self, Error> {
        caller.permits(Rpc::StreamEvents.method().scope)?;
        let state = service.get_agent_state(Request::new(v1::GetAgentStateRequest {})).await;
        let state = state.map_err(|status| Error::from(&status))?.into_inner();
        let wanted = EVENTS.iter().filter(|(_, _, topic)| topic.is_none_or(|topic| topics.contains(topic)));
        let asked = v1::StreamEventsRequest {
            // Exactly the events that the state does not know of yet.
            since_seq: state.event_seq,
            types: wanted.map(|(kind, _, _)| (*kind).to_owned()).collect(),
            epoch: None,
        };
        let events = service
            .stream_events(Request::new(asked))
            .await
            .map_err(|status| Error::from(&status))?
            .into_inner();
        let mut pushes = Self {
            opening: topics.contains(Topic::State).then(|| frame(STATE, &[], &json::to_vec(&state))),
            output: None,
            offset: 0,
            screen: None,
            events,
            held: None,
            service,
            topics,
        };
        if pushes.topics.contains(Topic::Output) {
            let now = v1::StreamOutputRequest { tail: true, ..Default::default() };
            match pushes.open_output(now).await {
                // Who wants the screen as well gets everything there is.
                Err(error) if error.code == Code::Unsupported && pushes.topics.contains(Topic::Screen) => {}
                opened => opened?,
            }
        }
        if pushes.topics.contains(Topic::Screen) {
            let screen = pushes.service.stream_screen(Request::new(v1::StreamScreenRequest::default())).await;
            pushes.screen = Some(screen.map_err(|status| Error::from(&status))?.into_inner());
        }
        Ok(pushes)
    }

    async fn open_output(&mut self, asked: v1::StreamOutputRequest) -> Result<(), Error> {
        let output = self.service.stream_output(Request::new(asked)).await;
        self.output = Some(output.map_err(|status| Error::from(&status))?.into_inner());
        Ok(())
    }

    /// Waits for the next push. Cancelling the wait loses nothing: what is done with an event that
    /// was taken out of its stream never waits.
    pub async fn next(&mut self) -> Push {
        loop {
            if let Some(opening) = self.opening.take() {
                return Push::Frame(opening);
            }
            let (offset, silent) = (self.offset, self.output.is_none());
            if let Some(held) = self.held.take_if(|held| silent || held.until <= offset) {
                return Push::Frame(held.exit);
            }
            tokio::select! {
                chunk = following(&mut self.output) => match chunk {
                    Some(chunk) => {
                        self.offset = chunk.next_offset;
                        return Push::Frame(frame(OUTPUT, &[], &json::to_vec(&chunk)));
                    }
                    None => self.output = None,
                },
                snapshot = following(&mut self.screen) => match snapshot {
                    Some(snapshot) => {
                        let seq = [("seq", snapshot.sequence.into())];
                        return Push::Frame(frame(SCREEN, &seq, &json::to_vec(&snapshot)));
                    }
                    None => self.screen = None,
                },
                event = self.events.next(), if self.held.is_none() => match event {
                    Some(Ok(event)) => {
                        if let Some(pushed) = self.event(&event).await {
                            return pushed;
                        }
                    }
                    // The log of events only ends with coop.
                    Some(Err(_)) | None => return Push::Over(End::shutdown()),
                },
            }
        }
    }

    async fn event(&mut self, event: &v1::Event) -> Option<Push> {
        let (kind, names, _) = EVENTS.iter().find(|(kind, _, _)| *kind == event.r#type)?;
        let told = told(*names, event);
        match *kind {
            "exit" if self.output.is_some() => {
                let until = self.service.session().output().head().offset().0;
                self.held = Some(Held { exit: told, until });
                return None;
            }
            // The output ended with the child before; the new one's goes on from there.
            "restart" if self.output.is_none() && self.topics.contains(Topic::Output) => {
                let on = v1::StreamOutputRequest { from_offset: self.offset, ..Default::default() };
                if let Err(error) = self.open_output(on).await {
                    return Some(Push::Over(End::refused(&error)));
                }
            }
            _ => {}
        }
        Some(Push::Frame(told))
    }
}

/// The fields of the event's payload, and those of the event that the payload does not have.
fn told(names: Names, event: &v1::Event) -> Utf8Bytes {
    let Value::Object(mut event) = json::to_value(event) else { return frame(names, &[], b"") };
    let kind = event.remove("type");
    let payload = kind.as_ref().and_then(Value::as_str).and_then(|kind| event.remove(kind));
    let mut fields = match payload {
        Some(Value::Object(fields)) => fields,
        Some(_) | None => Map::new(),
    };
    for (name, value) in event {
        fields.entry(name).or_insert(value);
    }
    frame(names, &[], Value::Object(fields).to_string().as_bytes())
}

/// The next message of a stream that may not be there. An error ends it like its end does: the
/// stream of events says why.
async fn following<T>(stream: &mut Option<Answers<T>>) -> Option<T> {
    match stream {
        Some(stream) => stream.next().await.and_then(Result::ok),
        None => std::future::pending().await,
    }
}
