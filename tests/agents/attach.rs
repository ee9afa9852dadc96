//! A user types at the agent's terminal while messages arrive from another client: neither gets
//! mixed into the other. The test is the same for every agent.

use std::sync::{Arc, Mutex};

use coop_client::v1::attach_request::Message as Request;
use coop_client::v1::attach_response::Message as Response;
use coop_client::{Client, v1};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_stream::wrappers::ReceiverStream;
use tonic::Streaming;

use crate::harness::{Setup, TestSession, error_code, poll_until, within_deadline};

/// Its first letter does not occur on any agent's screen.
const DRAFT: &str = "жёлтый";

#[tokio::test]
async fn with_claude() {
    a_user_and_messages(Setup::claude()).await;
}

#[tokio::test]
async fn with_codex() {
    a_user_and_messages(Setup::codex()).await;
}

#[tokio::test]
async fn with_gemini() {
    a_user_and_messages(Setup::gemini()).await;
}

async fn a_user_and_messages(setup: Setup) {
    let Some(mut session) = setup.start().await else { return };
    session.wait_state("idle").await;
    let mut user = AttachedUser::attach(&session).await;

    user.draft().await;
    let refused = session.nudge("not over this").await.expect_err("there is a draft");
    assert_eq!(error_code(&refused), "AGENT_BUSY");
    let response: v1::NudgeResponse =
        coop_client::response(&refused, "NudgeResponse").expect("a response");
    assert_eq!(
        (response.delivered, response.reason.as_deref()),
        (false, Some("draft_in_composer"))
    );
    assert!(user.sees(DRAFT).await, "the draft is unchanged");
    user.delete().await;
    send(&mut session, "after the draft").await;

    let mut sent = vec!["after the draft".to_owned()];
    for round in 0..3 {
        let text = format!("meanwhile {round}\nand its second line");
        let typing = async {
            user.draft().await;
            user.delete().await;
        };
        let (nudged, ()) = tokio::join!(session.nudge(&text), typing);
        match nudged {
            Ok(nudged) => {
                assert_eq!(nudged.outcome, "accepted");
                session.wait_state_after(nudged.seq, "idle").await;
            }
            Err(refused) => {
                assert_eq!(error_code(&refused), "AGENT_BUSY", "{refused:?}");
                send(&mut session, &text).await;
            }
        }
        sent.push(text);
    }
    assert_eq!(
        session.api.user_messages(),
        sent,
        "each message once, whole, and nothing of the draft"
    );
    user.assert_saw_everything(&session).await;
}

/// Sends a message while the composer is empty.
async fn send(session: &mut TestSession, text: &str) {
    let nudged = session.nudge(text).await.expect("the composer is empty");
    assert_eq!(nudged.outcome, "accepted");
    session.wait_state_after(nudged.seq, "idle").await;
}

/// A user with a keyboard and a screen, over an attach stream.
struct AttachedUser {
    client: Client,
    keyboard: mpsc::Sender<v1::AttachRequest>,
    /// The offset of the first output byte after the attach.
    offset: u64,
    seen: Arc<Mutex<Seen>>,
    watching: JoinHandle<()>,
}

#[derive(Default)]
struct Seen {
    output: Vec<u8>,
    states: Vec<String>,
}

impl Seen {
    /// How many turns the user saw.
    fn turns(&self) -> usize {
        self.states.windows(2).filter(|pair| *pair == ["working", "idle"]).count()
    }
}

impl AttachedUser {
    async fn attach(session: &TestSession) -> Self {
        let (keyboard, requests) = mpsc::channel(64);
        let open = Request::Open(v1::AttachOpen { state: true, ..Default::default() });
        keyboard.send(v1::AttachRequest { message: Some(open) }).await.expect("there is room");
        let attached =
            within_deadline("a stream", session.client().attach(ReceiverStream::new(requests)))
                .await;
        let mut responses = attached.expect("attached").into_inner();
        let first = within_deadline("a snapshot", responses.message())
            .await
            .expect("no error")
            .expect("a message");
        let Some(Response::Snapshot(snapshot)) = first.message else {
            panic!("{first:?} came first")
        };
        let seen = Arc::default();
        let watching = tokio::spawn(watch(responses, snapshot.offset, Arc::clone(&seen)));
        Self { client: session.client(), keyboard, offset: snapshot.offset, seen, watching }
    }

    async fn press(&self, key: &str) {
        let message = Some(Request::Input(key.as_bytes().to_vec().into()));
        within_deadline("a key to be taken", self.keyboard.send(v1::AttachRequest { message }))
            .await
            .expect("attached");
    }

    async fn sees(&mut self, text: &str) -> bool {
        let request = v1::GetScreenRequest::default();
        let screen = within_deadline("a screen", self.client.get_screen(request))
            .await
            .expect("a screen")
            .into_inner();
        screen.lines.iter().any(|row| row.contains(text))
    }

    /// Types the draft, key by key, until the composer shows all of it.
    async fn draft(&mut self) {
        for key in DRAFT.chars() {
            self.press(&key.to_string()).await;
        }
        poll_until("the draft", async || self.sees(DRAFT).await.then_some(())).await;
    }

    /// Deletes the draft, key by key, until none of it is left.
    async fn delete(&mut self) {
        for _ in DRAFT.chars() {
            self.press("\x7f").await;
        }
        let first = DRAFT.chars().next().expect("it is not empty").to_string();
        poll_until("the draft to go", async || (!self.sees(&first).await).then_some(())).await;
    }

    /// The attach stream carried all output of the agent, byte for byte, and all its states.
    async fn assert_saw_everything(self, session: &TestSession) {
        let request = v1::GetOutputRequest { offset: self.offset, limit: Some(1 << 20) };
        let printed = within_deadline("output", session.client().get_output(request))
            .await
            .expect("output")
            .into_inner();
        assert_eq!(printed.offset, self.offset, "nothing of it was dropped");
        let printed = printed.data;
        poll_until("everything to be seen", async || {
            let seen = self.seen.lock().expect("the lock is not poisoned");
            let everything = seen.output.len() >= printed.len() && seen.turns() >= 4;
            (everything || self.watching.is_finished()).then_some(())
        })
        .await;
        let seen = self.seen.lock().expect("the lock is not poisoned");
        assert!(
            seen.output.starts_with(&printed),
            "{} of {} bytes",
            seen.output.len(),
            printed.len()
        );
        assert!(seen.turns() >= 4, "one for each message: {:?}", seen.states);
        self.watching.abort();
    }
}

async fn watch(
    mut responses: Streaming<v1::AttachResponse>,
    mut offset: u64,
    seen: Arc<Mutex<Seen>>,
) {
    while let Ok(Some(responses)) = responses.message().await {
        let mut seen = seen.lock().expect("the lock is not poisoned");
        match responses.message {
            Some(Response::Output(chunk)) => {
                assert_eq!(chunk.offset, offset, "output has no holes");
                offset += u64::try_from(chunk.data.len()).expect("it is short");
                seen.output.extend_from_slice(&chunk.data);
            }
            Some(Response::State(state)) => seen.states.push(state.next),
            Some(other) => panic!("unexpected message {other:?}"),
            None => {}
        }
    }
}
