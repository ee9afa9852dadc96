//! A fake model on loopback that follows directives in the prompt and records every request. It
//! does not know which test it serves.

mod anthropic;
mod dialect;
mod gemini;
mod openai;
mod script;
mod serve;
mod tls;

use std::collections::{HashMap, HashSet};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout};

use dialect::{Dialect, ParsedRequest};
use script::Reply;

/// How a response ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The response is not complete yet.
    Open,
    Answered,
    /// The script asked for an error.
    Failed,
    /// The agent closed the connection before the end.
    HungUp,
}

/// One recorded request.
#[derive(Debug, Clone)]
pub struct Request {
    /// Since the start of the fake model.
    pub at: Duration,
    pub line: String,
    /// `None` for requests that no model answers.
    pub dialect: Option<Dialect>,
    pub body: Value,
    pub parsed: ParsedRequest,
    pub outcome: Outcome,
}

impl Request {
    /// Whether the request is part of the agent's conversation.
    pub fn is_turn(&self) -> bool {
        self.dialect.is_some() && self.parsed.side.is_none()
    }
}

/// Everything that a test can read and wait for.
#[derive(Debug, Default)]
struct ModelState {
    requests: Vec<Request>,
    /// The holds at which a reply waits now.
    holding: HashSet<String>,
    released: HashSet<String>,
    /// How many errors each conversation got since its last message.
    failures: HashMap<Vec<String>, usize>,
}

impl ModelState {
    /// The reply to this request, by the script and by how many replies came before.
    fn reply(&mut self, parsed: &ParsedRequest, plan_in_file: bool) -> Reply {
        let prompt = parsed.messages.last().map_or("", String::as_str);
        let failures = self.failures.entry(parsed.messages.clone()).or_default();
        let reply =
            script::replies(prompt, plan_in_file).into_iter().nth(parsed.rounds + *failures);
        let reply = reply.unwrap_or_else(|| vec![script::Step::Say("done".to_owned())]);
        *failures += usize::from(script::fails(&reply));
        reply
    }
}

/// The running fake model. It ends with the test.
pub struct FakeModel {
    pub address: SocketAddr,
    state: Arc<watch::Sender<ModelState>>,
    deadline: Duration,
    servers: Vec<JoinHandle<()>>,
}

impl FakeModel {
    pub fn start(listener: TcpListener, deadline: Duration) -> Self {
        let address = listener.local_addr().expect("an address");
        let state = Arc::new(watch::Sender::new(ModelState::default()));
        let app = serve::app(Arc::clone(&state), Instant::now());
        let server = tokio::spawn(async move {
            axum::serve(listener, app).await.expect("served");
        });
        Self { address, state, deadline, servers: vec![server] }
    }

    /// Serves the same over TLS, under the names of these hosts. Returns the certificate, as PEM,
    /// of the authority that the agent must trust.
    pub fn serve_tls_as(&mut self, hosts: &[&str], listener: TcpListener) -> String {
        let (listener, authority) = tls::TlsListener::new(hosts, listener);
        let app = serve::app(Arc::clone(&self.state), Instant::now());
        self.servers.push(tokio::spawn(async move {
            axum::serve(listener, app).await.expect("served");
        }));
        authority
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub fn requests(&self) -> Vec<Request> {
        self.state.borrow().requests.clone()
    }

    /// The user's messages that reached the model, in order, each as often as it arrived.
    pub fn user_messages(&self) -> Vec<String> {
        arrivals(&self.state.borrow().requests)
    }

    /// The last request of the conversation, with the whole conversation in it.
    pub fn last_turn(&self) -> Request {
        let state = self.state.borrow();
        let last = state.requests.iter().rfind(|request| request.is_turn());
        last.expect("the model was asked").clone()
    }

    /// The result of the last tool call, as its API encodes it.
    pub fn last_result(&self) -> String {
        self.last_turn().parsed.result.expect("a tool was called").to_string()
    }

    /// Waits until `probe` finds what it looks for in the requests.
    pub async fn wait_for<T>(
        &self,
        what: &str,
        mut probe: impl FnMut(&[Request]) -> Option<T>,
    ) -> T {
        let mut found = None;
        self.wait(what, |state| {
            found = probe(&state.requests);
            found.is_some()
        })
        .await;
        found.expect("it was waited for")
    }

    /// Waits until exactly these messages have reached the model.
    pub async fn wait_for_messages(&self, wanted: &[&str]) {
        self.wait_for(&format!("the messages {wanted:?}"), |requests| {
            (arrivals(requests) == wanted).then_some(())
        })
        .await;
    }

    /// Waits until a reply is at `#hold NAME`.
    pub async fn wait_held(&self, name: &str) {
        self.wait(&format!("a reply at #hold {name}"), |state| state.holding.contains(name)).await;
    }

    /// Releases `#hold NAME`, now and for all later replies.
    pub fn release(&self, name: &str) {
        self.state.send_modify(|state| {
            state.released.insert(name.to_owned());
        });
    }

    async fn wait(&self, what: &str, mut holds: impl FnMut(&ModelState) -> bool) {
        let mut state = self.state.subscribe();
        let waited = timeout(self.deadline, state.wait_for(|state| holds(state))).await;
        if waited.is_err() {
            panic!("timed out after {:?} waiting for {what}", self.deadline);
        }
    }

    /// The requests in a few lines, for the report of a failed test.
    pub fn report(&self) -> String {
        let state = self.state.borrow();
        let lines = state.requests.iter().map(|request| {
            let Request { at, line, parsed, outcome, .. } = request;
            let last = parsed.messages.last().map_or("", String::as_str);
            let last: String = last.chars().take(80).collect();
            let side = parsed.side.map(|side| format!(" ({side})")).unwrap_or_default();
            format!(
                "{:>6} ms {line}{side}: {outcome:?}, round {}, {last:?}\n",
                at.as_millis(),
                parsed.rounds
            )
        });
        lines.collect::<String>() + &format!("held at: {:?}\n", state.holding)
    }
}

impl Drop for FakeModel {
    fn drop(&mut self) {
        for server in &self.servers {
            server.abort();
        }
    }
}

/// Claude adds a line break to an interrupted message when it repeats it.
fn same(old: &str, new: &str) -> bool {
    old.trim_end() == new.trim_end()
}

/// A message counts when it is new in its conversation, and when a request repeats it although the
/// previous one did not fail.
pub fn arrivals(requests: &[Request]) -> Vec<String> {
    let mut arrived = Vec::new();
    let mut known: HashMap<&str, (&[String], Outcome)> = HashMap::new();
    for Request { parsed, outcome, .. } in requests.iter().filter(|request| request.is_turn()) {
        let Some(first) = parsed.messages.first() else { continue };
        let (before, previous) =
            known.insert(first, (&parsed.messages, *outcome)).unwrap_or((&[], Outcome::Answered));
        let common =
            before.iter().zip(&parsed.messages).take_while(|(old, new)| same(old, new)).count();
        let fresh = &parsed.messages[common..];
        match parsed.messages.last() {
            Some(last) if fresh.is_empty() && parsed.rounds == 0 && previous != Outcome::Failed => {
                arrived.push(last.clone());
            }
            _ => arrived.extend_from_slice(fresh),
        }
    }
    arrived
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A request with these messages, and this many replies to the last one.
    fn turn(messages: &[&str], rounds: usize, outcome: Outcome) -> Request {
        let messages = messages.iter().map(|text| (*text).to_owned()).collect();
        Request {
            at: Duration::ZERO,
            line: String::new(),
            dialect: Some(Dialect::Anthropic),
            body: Value::Null,
            parsed: ParsedRequest { messages, rounds, ..ParsedRequest::default() },
            outcome,
        }
    }

    #[test]
    fn a_message_arrives_once_however_often_it_is_repeated() {
        let requests = [
            turn(&["a"], 0, Outcome::Failed),
            turn(&["a"], 0, Outcome::Answered),
            turn(&["a"], 1, Outcome::Answered),
            turn(&["a", "b", "c"], 0, Outcome::Answered),
        ];
        assert_eq!(arrivals(&requests), ["a", "b", "c"]);
    }

    #[test]
    fn a_message_that_is_sent_again_arrives_again() {
        let requests = [
            turn(&["a"], 0, Outcome::HungUp),
            turn(&["a"], 0, Outcome::Answered),
            turn(&["a", "a"], 0, Outcome::Answered),
        ];
        assert_eq!(arrivals(&requests), ["a", "a", "a"]);
    }

    #[test]
    fn a_line_break_at_the_end_makes_no_other_message() {
        let requests =
            [turn(&["a", "b"], 0, Outcome::HungUp), turn(&["a", "b\n", "c"], 0, Outcome::Answered)];
        assert_eq!(arrivals(&requests), ["a", "b", "c"]);
    }

    #[test]
    fn conversations_do_not_mix() {
        let requests = [
            turn(&["above"], 0, Outcome::Answered),
            turn(&["below"], 0, Outcome::Answered),
            turn(&["above"], 1, Outcome::Answered),
            turn(&["above", "more"], 0, Outcome::Answered),
        ];
        assert_eq!(arrivals(&requests), ["above", "below", "more"]);
    }

    #[test]
    fn replies_follow_each_other_over_tools_and_errors() {
        let mut state = ModelState::default();
        let prompt = "#tool T #status 500 #say end";
        let mut parsed = turn(&[prompt], 0, Outcome::Open).parsed;
        assert!(state.reply(&parsed, true)[0].is_call());
        parsed.rounds = 1;
        assert!(script::fails(&state.reply(&parsed, true)));
        assert_eq!(state.reply(&parsed, true), [script::Step::Say("end".to_owned())]);
        parsed.rounds = 2;
        assert_eq!(state.reply(&parsed, true), [script::Step::Say("done".to_owned())]);
    }
}
