//! A model on loopback that does what the prompt says, and remembers everything it was asked.
//! It must not know which test it serves.

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

use dialect::{Asked, Dialect};
use script::Reply;

/// How an answer went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It is not complete yet.
    Open,
    Answered,
    /// The script wanted an error.
    Failed,
    /// The agent hung up before the end.
    HungUp,
}

/// One request, as it came.
#[derive(Debug, Clone)]
pub struct Request {
    /// Since the fake was started.
    pub at: Duration,
    pub line: String,
    /// `None` for what no model answers.
    pub dialect: Option<Dialect>,
    pub body: Value,
    pub asked: Asked,
    pub fate: Fate,
}

impl Request {
    /// Whether this is the agent's conversation, and nothing that it asks on the side.
    pub fn is_turn(&self) -> bool {
        self.dialect.is_some() && self.asked.side.is_none()
    }
}

/// Everything that a test can see and wait for.
#[derive(Debug, Default)]
struct Board {
    requests: Vec<Request>,
    /// Holds at which a reply waits now.
    holding: HashSet<String>,
    released: HashSet<String>,
    /// How many errors each conversation has had since its last message.
    failures: HashMap<Vec<String>, usize>,
}

impl Board {
    /// What this request gets, by what was asked and what was answered before.
    fn reply(&mut self, asked: &Asked, plan_in_file: bool) -> Reply {
        let prompt = asked.messages.last().map_or("", String::as_str);
        let failures = self.failures.entry(asked.messages.clone()).or_default();
        let reply = script::replies(prompt, plan_in_file).into_iter().nth(asked.rounds + *failures);
        let reply = reply.unwrap_or_else(|| vec![script::Step::Say("done".to_owned())]);
        *failures += usize::from(script::fails(&reply));
        reply
    }
}

/// The running fake. It ends with the test.
pub struct Fake {
    pub address: SocketAddr,
    board: Arc<watch::Sender<Board>>,
    deadline: Duration,
    servers: Vec<JoinHandle<()>>,
}

impl Fake {
    pub fn start(listener: TcpListener, deadline: Duration) -> Self {
        let address = listener.local_addr().expect("an address");
        let board = Arc::new(watch::Sender::new(Board::default()));
        let app = serve::app(Arc::clone(&board), Instant::now());
        let server = tokio::spawn(async move {
            axum::serve(listener, app).await.expect("served");
        });
        Self { address, board, deadline, servers: vec![server] }
    }

    /// Serves the same with TLS, as if it were all these hosts. Answers the certificate, as PEM, of
    /// the authority that the agent must trust.
    pub fn pose_as(&mut self, hosts: &[&str], listener: TcpListener) -> String {
        let (listener, authority) = tls::Secure::new(hosts, listener);
        let app = serve::app(Arc::clone(&self.board), Instant::now());
        self.servers.push(tokio::spawn(async move {
            axum::serve(listener, app).await.expect("served");
        }));
        authority
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub fn requests(&self) -> Vec<Request> {
        self.board.borrow().requests.clone()
    }

    /// What the user said to the model, each message as often as it came and in the order it came.
    pub fn user_messages(&self) -> Vec<String> {
        arrivals(&self.board.borrow().requests)
    }

    /// The last request of the conversation, with everything that the model knows by then.
    pub fn last_turn(&self) -> Request {
        let board = self.board.borrow();
        let last = board.requests.iter().rfind(|request| request.is_turn());
        last.expect("the model was asked").clone()
    }

    /// What the model was told its last tool call brought, as its API writes it down.
    pub fn last_result(&self) -> String {
        self.last_turn().asked.result.expect("a tool was called").to_string()
    }

    /// Waits until the requests are as they should be.
    pub async fn wait_for<T>(&self, what: &str, mut probe: impl FnMut(&[Request]) -> Option<T>) -> T {
        let mut found = None;
        self.wait(what, |board| {
            found = probe(&board.requests);
            found.is_some()
        })
        .await;
        found.expect("it was waited for")
    }

    /// Waits until the model was told exactly these messages.
    pub async fn wait_for_messages(&self, wanted: &[&str]) {
        self.wait_for(&format!("the messages {wanted:?}"), |requests| {
            (arrivals(requests) == wanted).then_some(())
        })
        .await;
    }

    /// Waits until a reply stands at `#hold NAME`.
    pub async fn wait_held(&self, name: &str) {
        self.wait(&format!("a reply at #hold {name}"), |board| board.holding.contains(name)).await;
    }

    /// Lets `#hold NAME` go on, now and from now on.
    pub fn release(&self, name: &str) {
        self.board.send_modify(|board| {
            board.released.insert(name.to_owned());
        });
    }

    async fn wait(&self, what: &str, mut holds: impl FnMut(&Board) -> bool) {
        let mut board = self.board.subscribe();
        let waited = timeout(self.deadline, board.wait_for(|board| holds(board))).await;
        if waited.is_err() {
            panic!("waited {:?} in vain for {what}", self.deadline);
        }
    }

    /// The requests in a few lines, for a test that failed.
    pub fn report(&self) -> String {
        let board = self.board.borrow();
        let lines = board.requests.iter().map(|request| {
            let Request { at, line, asked, fate, .. } = request;
            let last = asked.messages.last().map_or("", String::as_str);
            let last: String = last.chars().take(80).collect();
            let side = asked.side.map(|side| format!(" ({side})")).unwrap_or_default();
            format!("{:>6} ms {line}{side}: {fate:?}, round {}, {last:?}\n", at.as_millis(), asked.rounds)
        });
        lines.collect::<String>() + &format!("held at: {:?}\n", board.holding)
    }
}

impl Drop for Fake {
    fn drop(&mut self) {
        for server in &self.servers {
            server.abort();
        }
    }
}

/// Each message counts when it is new in its conversation, and when a request starts again with it
/// although the one before had not failed.
pub fn arrivals(requests: &[Request]) -> Vec<String> {
    let mut arrived = Vec::new();
    let mut known: HashMap<&str, (&[String], Fate)> = HashMap::new();
    for Request { asked, fate, .. } in requests.iter().filter(|request| request.is_turn()) {
        let Some(first) = asked.messages.first() else { continue };
        let (before, previous) =
            known.insert(first, (&asked.messages, *fate)).unwrap_or((&[], Fate::Answered));
        let common = before.iter().zip(&asked.messages).take_while(|(old, new)| old == new).count();
        let fresh = &asked.messages[common..];
        match asked.messages.last() {
            Some(last) if fresh.is_empty() && asked.rounds == 0 && previous != Fate::Failed => {
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

    /// A request that knows these messages, and has had so many replies to the last of them.
    fn turn(messages: &[&str], rounds: usize, fate: Fate) -> Request {
        let messages = messages.iter().map(|text| (*text).to_owned()).collect();
        Request {
            at: Duration::ZERO,
            line: String::new(),
            dialect: Some(Dialect::Anthropic),
            body: Value::Null,
            asked: Asked { messages, rounds, ..Asked::default() },
            fate,
        }
    }

    #[test]
    fn a_message_arrives_once_however_often_it_is_repeated() {
        let requests = [
            turn(&["a"], 0, Fate::Failed),
            turn(&["a"], 0, Fate::Answered),
            turn(&["a"], 1, Fate::Answered),
            turn(&["a", "b", "c"], 0, Fate::Answered),
        ];
        assert_eq!(arrivals(&requests), ["a", "b", "c"]);
    }

    #[test]
    fn a_message_that_is_sent_again_arrives_again() {
        let requests = [
            turn(&["a"], 0, Fate::HungUp),
            turn(&["a"], 0, Fate::Answered),
            turn(&["a", "a"], 0, Fate::Answered),
        ];
        assert_eq!(arrivals(&requests), ["a", "a", "a"]);
    }

    #[test]
    fn conversations_do_not_mix() {
        let requests = [
            turn(&["above"], 0, Fate::Answered),
            turn(&["below"], 0, Fate::Answered),
            turn(&["above"], 1, Fate::Answered),
            turn(&["above", "more"], 0, Fate::Answered),
        ];
        assert_eq!(arrivals(&requests), ["above", "below", "more"]);
    }

    #[test]
    fn replies_follow_each_other_over_tools_and_errors() {
        let mut board = Board::default();
        let prompt = "#tool T #status 500 #say end";
        let mut asked = turn(&[prompt], 0, Fate::Open).asked;
        assert!(board.reply(&asked, true)[0].is_call());
        asked.rounds = 1;
        assert!(script::fails(&board.reply(&asked, true)));
        assert_eq!(board.reply(&asked, true), [script::Step::Say("end".to_owned())]);
        asked.rounds = 2;
        assert_eq!(board.reply(&asked, true), [script::Step::Say("done".to_owned())]);
    }
}
