//! A person at the agent's terminal while messages come from elsewhere: neither gets into the other's words.
//! Whoever sits there must not know which agent it is.

use std::sync::{Arc, Mutex};

use coop_client::v1::attach_request::Message as Asked;
use coop_client::v1::attach_response::Message as Told;
use coop_client::{Client, v1};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_stream::wrappers::ReceiverStream;
use tonic::Streaming;

use crate::world::{Setup, World, refusal, soon, until};

/// Its first letter is nowhere else on any screen.
const DRAFT: &str = "жёлтый";

#[tokio::test]
async fn to_claude() {
    a_person_and_messages(Setup::claude()).await;
}

#[tokio::test]
async fn to_codex() {
    a_person_and_messages(Setup::codex()).await;
}

#[tokio::test]
async fn to_gemini() {
    a_person_and_messages(Setup::gemini()).await;
}

async fn a_person_and_messages(setup: Setup) {
    let Some(mut world) = setup.start().await else { return };
    world.wait_state("idle").await;
    let mut person = Person::attach(&world).await;

    person.draft().await;
    let refused = world.nudge("not over this").await.expect_err("there is a draft");
    assert_eq!(refusal(&refused), "AGENT_BUSY");
    let told: v1::NudgeResponse = coop_client::response(&refused, "NudgeResponse").expect("a response");
    assert_eq!((told.delivered, told.reason.as_deref()), (false, Some("draft_in_composer")));
    assert!(person.sees(DRAFT).await, "it stands as it was");
    person.delete().await;
    send(&mut world, "after the draft").await;

    let mut sent = vec!["after the draft".to_owned()];
    for round in 0..3 {
        let text = format!("meanwhile {round}\nand its second line");
        let typing = async {
            person.draft().await;
            person.delete().await;
        };
        let (nudged, ()) = tokio::join!(world.nudge(&text), typing);
        match nudged {
            Ok(nudged) => {
                assert_eq!(nudged.outcome, "accepted");
                world.wait_state_after(nudged.seq, "idle").await;
            }
            Err(refused) => {
                assert_eq!(refusal(&refused), "AGENT_BUSY", "{refused:?}");
                send(&mut world, &text).await;
            }
        }
        sent.push(text);
    }
    assert_eq!(world.api.user_messages(), sent, "each message once, whole, and nothing of the draft");
    person.has_seen_everything(&world).await;
}

/// A message that nothing stands in the way of.
async fn send(world: &mut World, text: &str) {
    let nudged = world.nudge(text).await.expect("the composer is empty");
    assert_eq!(nudged.outcome, "accepted");
    world.wait_state_after(nudged.seq, "idle").await;
}

/// Somebody with a keyboard and a screen, over a stream of their own.
struct Person {
    client: Client,
    keyboard: mpsc::Sender<v1::AttachRequest>,
    /// Where the output begins that has come since.
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
    /// How often the agent was seen to be done with something.
    fn turns(&self) -> usize {
        self.states.windows(2).filter(|pair| *pair == ["working", "idle"]).count()
    }
}

impl Person {
    async fn attach(world: &World) -> Self {
        let (keyboard, asked) = mpsc::channel(64);
        let open = Asked::Open(v1::AttachOpen { state: true, ..Default::default() });
        keyboard.send(v1::AttachRequest { message: Some(open) }).await.expect("there is room");
        let attached = soon("a stream", world.client().attach(ReceiverStream::new(asked))).await;
        let mut told = attached.expect("attached").into_inner();
        let first = soon("a snapshot", told.message()).await.expect("no error").expect("a message");
        let Some(Told::Snapshot(snapshot)) = first.message else { panic!("{first:?} came first") };
        let seen = Arc::default();
        let watching = tokio::spawn(watch(told, snapshot.offset, Arc::clone(&seen)));
        Self { client: world.client(), keyboard, offset: snapshot.offset, seen, watching }
    }

    async fn press(&self, key: &str) {
        let message = Some(Asked::Input(key.as_bytes().to_vec().into()));
        soon("a key to be taken", self.keyboard.send(v1::AttachRequest { message })).await.expect("attached");
    }

    async fn sees(&mut self, text: &str) -> bool {
        let request = v1::GetScreenRequest::default();
        let screen = soon("a screen", self.client.get_screen(request)).await.expect("a screen").into_inner();
        screen.lines.iter().any(|row| row.contains(text))
    }

    /// Types the draft, key by key, until all of it stands in the composer.
    async fn draft(&mut self) {
        for key in DRAFT.chars() {
            self.press(&key.to_string()).await;
        }
        until("the draft", async || self.sees(DRAFT).await.then_some(())).await;
    }

    /// Takes the draft back, key by key, until nothing of it is left.
    async fn delete(&mut self) {
        for _ in DRAFT.chars() {
            self.press("\x7f").await;
        }
        let first = DRAFT.chars().next().expect("it is not empty").to_string();
        until("the draft to go", async || (!self.sees(&first).await).then_some(())).await;
    }

    /// What came to this person is what the agent has printed, byte for byte, and its states came too.
    async fn has_seen_everything(self, world: &World) {
        let request = v1::GetOutputRequest { offset: self.offset, limit: Some(1 << 20) };
        let printed = soon("output", world.client().get_output(request)).await.expect("output").into_inner();
        assert_eq!(printed.offset, self.offset, "nothing of it was dropped");
        let printed = printed.data;
        until("everything to be seen", async || {
            let seen = self.seen.lock().expect("nobody panics with it");
            let everything = seen.output.len() >= printed.len() && seen.turns() >= 4;
            (everything || self.watching.is_finished()).then_some(())
        })
        .await;
        let seen = self.seen.lock().expect("nobody panics with it");
        assert!(seen.output.starts_with(&printed), "{} of {} bytes", seen.output.len(), printed.len());
        assert!(seen.turns() >= 4, "one for each message: {:?}", seen.states);
        self.watching.abort();
    }
}

async fn watch(mut told: Streaming<v1::AttachResponse>, mut offset: u64, seen: Arc<Mutex<Seen>>) {
    while let Ok(Some(told)) = told.message().await {
        let mut seen = seen.lock().expect("nobody panics with it");
        match told.message {
            Some(Told::Output(chunk)) => {
                assert_eq!(chunk.offset, offset, "output has no holes");
                offset += u64::try_from(chunk.data.len()).expect("it is short");
                seen.output.extend_from_slice(&chunk.data);
            }
            Some(Told::State(state)) => seen.states.push(state.next),
            Some(other) => panic!("{other:?} was not to be told"),
            None => {}
        }
    }
}
