//! The HTTP server of the fake model: assigns requests to APIs, and streams scripted replies.

use std::io;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use bytes::Bytes;
use http::{Method, Uri, header};
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::Instant;
use tokio_stream::wrappers::ReceiverStream;

use super::dialect::{Dialect, ParsedRequest, ReplyWriter};
use super::script::Step;
use super::{ModelState, Outcome, Request};

#[derive(Clone)]
struct Handler {
    state: Arc<watch::Sender<ModelState>>,
    started: Instant,
}

pub fn app(state: Arc<watch::Sender<ModelState>>, started: Instant) -> Router {
    Router::new()
        .fallback(answer)
        .layer(axum::extract::DefaultBodyLimit::disable())
        .with_state(Handler { state, started })
}

async fn answer(State(handler): State<Handler>, method: Method, uri: Uri, body: Bytes) -> Response {
    let body: Value = serde_json::from_slice(&body).unwrap_or(Value::Null);
    let dialect = Dialect::of(&uri).filter(|_| method == Method::POST);
    let parsed = match dialect {
        Some(dialect) => dialect.read(&body),
        None => ParsedRequest { side: Some("other"), ..ParsedRequest::default() },
    };
    let number = handler.record(&method, &uri, dialect, &body, &parsed);
    let Some(dialect) = dialect else { return other_response(&handler, number, uri.path()) };
    let call = ModelCall { number, dialect, streams: dialect.streams(&uri, &body), body, parsed };
    let (sender, receiver) = mpsc::channel(16);
    let (start_tx, start_rx) = oneshot::channel();
    let running = run_reply(handler.clone(), call, sender.clone(), start_tx);
    tokio::spawn(async move {
        let outcome = tokio::select! {
            outcome = running => outcome,
            () = sender.closed() => Outcome::HungUp,
        };
        handler.state.send_modify(|state| state.requests[number].outcome = outcome);
    });
    // When the agent disconnects, this future and its receiver are dropped, which the task notices.
    let stream = ReceiverStream::new(receiver);
    match start_rx.await {
        Ok(ResponseStart::Stream) => {
            ([(header::CONTENT_TYPE, "text/event-stream")], Body::from_stream(stream))
                .into_response()
        }
        Ok(ResponseStart::Complete(response)) => response,
        Err(_) => http::StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

/// The start of a response.
enum ResponseStart {
    Stream,
    Complete(Response),
}

type BodySender = mpsc::Sender<io::Result<Bytes>>;

/// A request to a model.
struct ModelCall {
    number: usize,
    dialect: Dialect,
    streams: bool,
    body: Value,
    parsed: ParsedRequest,
}

/// Runs the reply, and returns how it ended.
async fn run_reply(
    handler: Handler,
    call: ModelCall,
    sender: BodySender,
    start_tx: oneshot::Sender<ResponseStart>,
) -> Outcome {
    let ModelCall { number, dialect, streams, body, parsed } = call;
    let mut reply = Vec::new();
    if let Some(side) = parsed.side {
        reply.push(Step::Say(side_reply(side, &body)));
    } else {
        handler.state.send_modify(|state| reply = state.reply(&parsed, dialect.plan_in_file()));
    }
    let mut steps = reply.into_iter().peekable();
    while let Some(wait) = steps.next_if(|step| matches!(step, Step::Hold(_) | Step::Slow(_))) {
        handler.wait(&wait).await;
    }
    if let Some(Step::Status { code, retry_after, message }) = steps.peek() {
        let message = message.clone().unwrap_or_else(|| format!("the test says {code}"));
        let mut response = json_response(*code, &dialect.error(*code, &message));
        if let Some(seconds) = retry_after {
            response.headers_mut().insert(header::RETRY_AFTER, seconds.parse().expect("a header"));
        }
        drop(start_tx.send(ResponseStart::Complete(response)));
        return Outcome::Failed;
    }
    if !streams {
        let text: String = steps
            .map(|step| if let Step::Say(text) = step { text } else { String::new() })
            .collect();
        drop(start_tx.send(ResponseStart::Complete(json_response(
            200,
            &dialect.complete_response(number, &text),
        ))));
        return Outcome::Answered;
    }
    drop(start_tx.send(ResponseStart::Stream));
    let mut writer = dialect.writer(number, &body);
    stream_steps(&handler, steps, writer.as_mut(), &sender).await.unwrap_or(Outcome::HungUp)
}

/// Streams the steps; `None` if the agent has disconnected.
async fn stream_steps(
    handler: &Handler,
    steps: impl Iterator<Item = Step>,
    writer: &mut dyn ReplyWriter,
    sender: &BodySender,
) -> Option<Outcome> {
    send(sender, writer.open()).await?;
    for step in steps {
        match step {
            Step::Say(text) => send(sender, writer.say(&text)).await?,
            Step::Think(text) => send(sender, writer.think(&text)).await?,
            Step::Stream { lines, gap } => {
                for number in 1..=lines {
                    send(sender, writer.say(&format!("line {number} of {lines}\n\n"))).await?;
                    tokio::time::sleep(gap).await;
                }
            }
            Step::Tool { name, input } => send(sender, writer.call(&name, &input)).await?,
            Step::Ask(questions) => send(sender, writer.ask(&questions)).await?,
            Step::WritePlan(plan) => send(sender, writer.write_plan(&plan)).await?,
            Step::ShowPlan(plan) => send(sender, writer.show_plan(&plan)).await?,
            Step::Hold(_) | Step::Slow(_) => handler.wait(&step).await,
            Step::Status { .. } => panic!("an error must be the whole reply"),
            Step::Drop => {
                sender.send(Err(io::ErrorKind::ConnectionReset.into())).await.ok()?;
                return Some(Outcome::Failed);
            }
        }
    }
    send(sender, writer.close()).await?;
    Some(Outcome::Answered)
}

async fn send(sender: &BodySender, frames: String) -> Option<()> {
    sender.send(Ok(frames.into())).await.ok()
}

impl Handler {
    fn record(
        &self,
        method: &Method,
        uri: &Uri,
        dialect: Option<Dialect>,
        body: &Value,
        parsed: &ParsedRequest,
    ) -> usize {
        let mut number = 0;
        self.state.send_modify(|state| {
            number = state.requests.len();
            state.requests.push(Request {
                at: self.started.elapsed(),
                line: format!("{method} {uri}"),
                dialect,
                body: body.clone(),
                parsed: parsed.clone(),
                outcome: Outcome::Open,
            });
        });
        number
    }

    async fn wait(&self, step: &Step) {
        match step {
            Step::Hold(name) => {
                self.state.send_modify(|state| {
                    state.holding.insert(name.clone());
                });
                // Removes the name also when the agent disconnects and this future is dropped.
                let _guard = HoldGuard { state: &self.state, name };
                let mut state = self.state.subscribe();
                drop(state.wait_for(|state| state.released.contains(name)).await);
            }
            Step::Slow(time) => tokio::time::sleep(*time).await,
            _ => {}
        }
    }
}

/// Removes a hold's name when its reply no longer waits.
struct HoldGuard<'a> {
    state: &'a watch::Sender<ModelState>,
    name: &'a str,
}

impl Drop for HoldGuard<'_> {
    fn drop(&mut self) {
        self.state.send_modify(|state| {
            state.holding.remove(self.name);
        });
    }
}

/// The reply to a request that is not part of the conversation.
fn side_reply(side: &str, body: &Value) -> String {
    match side {
        "compact" => "<summary>The test has said something.</summary>".to_owned(),
        _ if body.to_string().contains("title") => {
            json!({ "title": "A task of the test" }).to_string()
        }
        _ => "ok".to_owned(),
    }
}

/// The response to a request that is not for a model.
fn other_response(handler: &Handler, number: usize, path: &str) -> Response {
    handler.state.send_modify(|state| state.requests[number].outcome = Outcome::Answered);
    match path.trim_end_matches('/') {
        path if path.ends_with("/count_tokens") => {
            json_response(200, &json!({ "input_tokens": 10 }))
        }
        "" | "/api/hello" | "/v1/oauth/hello" => json_response(200, &json!({ "message": "hello" })),
        _ => json_response(
            404,
            &json!({ "error": { "message": "the fake model has no such path" } }),
        ),
    }
}

fn json_response(code: u16, body: &Value) -> Response {
    let code = http::StatusCode::from_u16(code).expect("a status");
    (code, [(header::CONTENT_TYPE, "application/json")], body.to_string()).into_response()
}
