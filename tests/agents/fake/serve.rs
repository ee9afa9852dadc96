//! The fake's HTTP: which request is whose, and how a scripted reply becomes bytes on a connection.

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

use super::dialect::{Asked, Dialect, Voice};
use super::script::Step;
use super::{Board, Fate, Request};

#[derive(Clone)]
struct Desk {
    board: Arc<watch::Sender<Board>>,
    started: Instant,
}

pub fn app(board: Arc<watch::Sender<Board>>, started: Instant) -> Router {
    Router::new()
        .fallback(answer)
        .layer(axum::extract::DefaultBodyLimit::disable())
        .with_state(Desk { board, started })
}

async fn answer(State(desk): State<Desk>, method: Method, uri: Uri, body: Bytes) -> Response {
    let body: Value = serde_json::from_slice(&body).unwrap_or(Value::Null);
    let dialect = Dialect::of(&uri).filter(|_| method == Method::POST);
    let asked = match dialect {
        Some(dialect) => dialect.read(&body),
        None => Asked { side: Some("other"), ..Asked::default() },
    };
    let number = desk.note(&method, &uri, dialect, &body, &asked);
    let Some(dialect) = dialect else { return other(&desk, number, uri.path()) };
    let order = Order { number, dialect, streams: dialect.streams(&uri, &body), body, asked };
    let (say, heard) = mpsc::channel(16);
    let (decide, decided) = oneshot::channel();
    let performance = perform(desk.clone(), order, say.clone(), decide);
    tokio::spawn(async move {
        let fate = tokio::select! {
            fate = performance => fate,
            () = say.closed() => Fate::HungUp,
        };
        desk.board.send_modify(|board| board.requests[number].fate = fate);
    });
    // Dropping the receiver with this future is how the task learns that the agent has gone.
    let stream = ReceiverStream::new(heard);
    match decided.await {
        Ok(Head::Stream) => {
            ([(header::CONTENT_TYPE, "text/event-stream")], Body::from_stream(stream)).into_response()
        }
        Ok(Head::Whole(response)) => response,
        Err(_) => http::StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

/// How a response begins.
enum Head {
    Stream,
    Whole(Response),
}

type Line = mpsc::Sender<io::Result<Bytes>>;

/// A request that a model answers.
struct Order {
    number: usize,
    dialect: Dialect,
    streams: bool,
    body: Value,
    asked: Asked,
}

/// Carries out the reply, and answers how it went.
async fn perform(desk: Desk, order: Order, line: Line, decide: oneshot::Sender<Head>) -> Fate {
    let Order { number, dialect, streams, body, asked } = order;
    let mut reply = Vec::new();
    if let Some(side) = asked.side {
        reply.push(Step::Say(aside(side, &body)));
    } else {
        desk.board.send_modify(|board| reply = board.reply(&asked, dialect.plan_in_file()));
    }
    let mut steps = reply.into_iter().peekable();
    while let Some(wait) = steps.next_if(|step| matches!(step, Step::Hold(_) | Step::Slow(_))) {
        desk.wait(&wait).await;
    }
    if let Some(Step::Status { code, retry_after, words }) = steps.peek() {
        let words = words.clone().unwrap_or_else(|| format!("the test says {code}"));
        let mut response = in_json(*code, &dialect.error(*code, &words));
        if let Some(seconds) = retry_after {
            response.headers_mut().insert(header::RETRY_AFTER, seconds.parse().expect("a header"));
        }
        drop(decide.send(Head::Whole(response)));
        return Fate::Failed;
    }
    if !streams {
        let text: String =
            steps.map(|step| if let Step::Say(text) = step { text } else { String::new() }).collect();
        drop(decide.send(Head::Whole(in_json(200, &dialect.whole(number, &text)))));
        return Fate::Answered;
    }
    drop(decide.send(Head::Stream));
    let mut voice = dialect.voice(number, &body);
    tell(&desk, steps, voice.as_mut(), &line).await.unwrap_or(Fate::HungUp)
}

/// Says the steps one after the other; `None` if nobody listens any more.
async fn tell(
    desk: &Desk,
    steps: impl Iterator<Item = Step>,
    voice: &mut dyn Voice,
    line: &Line,
) -> Option<Fate> {
    send(line, voice.open()).await?;
    for step in steps {
        match step {
            Step::Say(text) => send(line, voice.say(&text)).await?,
            Step::Think(text) => send(line, voice.think(&text)).await?,
            Step::Stream { lines, gap } => {
                for number in 1..=lines {
                    send(line, voice.say(&format!("line {number} of {lines}\n\n"))).await?;
                    tokio::time::sleep(gap).await;
                }
            }
            Step::Tool { name, input } => send(line, voice.call(&name, &input)).await?,
            Step::Ask(questions) => send(line, voice.ask(&questions)).await?,
            Step::WritePlan(plan) => send(line, voice.write_plan(&plan)).await?,
            Step::ShowPlan(plan) => send(line, voice.show_plan(&plan)).await?,
            Step::Hold(_) | Step::Slow(_) => desk.wait(&step).await,
            Step::Status { .. } => panic!("an error must be the whole reply"),
            Step::Drop => {
                line.send(Err(io::ErrorKind::ConnectionReset.into())).await.ok()?;
                return Some(Fate::Failed);
            }
        }
    }
    send(line, voice.close()).await?;
    Some(Fate::Answered)
}

async fn send(line: &Line, frames: String) -> Option<()> {
    line.send(Ok(frames.into())).await.ok()
}

impl Desk {
    fn note(
        &self,
        method: &Method,
        uri: &Uri,
        dialect: Option<Dialect>,
        body: &Value,
        asked: &Asked,
    ) -> usize {
        let mut number = 0;
        self.board.send_modify(|board| {
            number = board.requests.len();
            board.requests.push(Request {
                at: self.started.elapsed(),
                line: format!("{method} {uri}"),
                dialect,
                body: body.clone(),
                asked: asked.clone(),
                fate: Fate::Open,
            });
        });
        number
    }

    async fn wait(&self, step: &Step) {
        match step {
            Step::Hold(name) => {
                self.board.send_modify(|board| {
                    board.holding.insert(name.clone());
                });
                // Also when the agent hangs up and this future is dropped.
                let _gone = Gone { board: &self.board, name };
                let mut board = self.board.subscribe();
                drop(board.wait_for(|board| board.released.contains(name)).await);
            }
            Step::Slow(time) => tokio::time::sleep(*time).await,
            _ => {}
        }
    }
}

/// Takes a hold's name from the board when its reply no longer waits.
struct Gone<'a> {
    board: &'a watch::Sender<Board>,
    name: &'a str,
}

impl Drop for Gone<'_> {
    fn drop(&mut self) {
        self.board.send_modify(|board| {
            board.holding.remove(self.name);
        });
    }
}

/// What an agent gets that asks its model for something else than the conversation.
fn aside(side: &str, body: &Value) -> String {
    match side {
        "compact" => "<summary>The test has said something.</summary>".to_owned(),
        _ if body.to_string().contains("title") => json!({ "title": "A task of the test" }).to_string(),
        _ => "ok".to_owned(),
    }
}

/// What is no model's business, but must be answered.
fn other(desk: &Desk, number: usize, path: &str) -> Response {
    desk.board.send_modify(|board| board.requests[number].fate = Fate::Answered);
    match path.trim_end_matches('/') {
        path if path.ends_with("/count_tokens") => in_json(200, &json!({ "input_tokens": 10 })),
        "" | "/api/hello" | "/v1/oauth/hello" => in_json(200, &json!({ "message": "hello" })),
        _ => in_json(404, &json!({ "error": { "message": "the fake knows no such thing" } })),
    }
}

fn in_json(code: u16, body: &Value) -> Response {
    let code = http::StatusCode::from_u16(code).expect("a status");
    (code, [(header::CONTENT_TYPE, "application/json")], body.to_string()).into_response()
}
