//! A random walk with every agent: messages, refusals, a queue, interrupts, permissions, questions,
//! drafts of a user, resizes and restarts, in an order that a seed decides. After each step the
//! agent is idle; at the end each accepted message has reached the model once, a refused one never,
//! and a denied command has not run.
//!
//! `COOP_TEST_WALK="STEPS SEED"` walks further, or repeats a walk.

use std::time::Duration;

use coop_client::v1;

use crate::harness::{Setup, TestSession, error_code, poll_until, within_deadline};
use crate::nudge::trimmed;

const STEPS: usize = 8;
const SIZES: [(i32, i32); 5] = [(200, 50), (80, 24), (132, 43), (60, 20), (100, 30)];
/// Its letters do not occur on any agent's screen.
const DRAFT: &str = "жёл";

#[tokio::test]
async fn with_claude() {
    walk(Setup::claude(), 1).await;
}

#[tokio::test]
async fn with_codex() {
    walk(Setup::codex(), 2).await;
}

#[tokio::test]
async fn with_gemini() {
    walk(Setup::gemini(), 3).await;
}

async fn walk(setup: Setup, seed: u64) {
    let wanted = std::env::var("COOP_TEST_WALK").unwrap_or_default();
    let mut wanted = wanted.split_whitespace().map(|word| word.parse::<u64>().expect("a number"));
    let steps = wanted.next().map_or(STEPS, |steps| usize::try_from(steps).expect("a number"));
    let seed = wanted.next().unwrap_or(seed);
    let Some(session) = setup.idle().await else { return };
    let mut walk = Walk { session, random: Random(seed), number: 0, sent: Vec::new() };
    for step in 0..steps {
        walk.number = step;
        let action = walk.random.one_of(&ACTIONS);
        eprintln!("seed {seed}, step {step}: {action:?}");
        walk.act(action).await;
        walk.session.wait_state("idle").await;
        walk.check();
    }
    // A draft that was left behind would refuse this one.
    walk.message("the end of the walk").await;
    walk.check();
}

#[derive(Debug, Clone, Copy)]
enum Action {
    Message,
    LongMessage,
    Lines,
    Refusal,
    Queue,
    Interrupt,
    InterruptingMessage,
    Permission,
    Draft,
    Resize,
    Restart,
}

/// What may happen; an action that stands here twice happens twice as often.
const ACTIONS: [Action; 18] = [
    Action::Message,
    Action::Message,
    Action::LongMessage,
    Action::Lines,
    Action::Lines,
    Action::Refusal,
    Action::Queue,
    Action::Queue,
    Action::Interrupt,
    Action::Interrupt,
    Action::Interrupt,
    Action::InterruptingMessage,
    Action::Permission,
    Action::Permission,
    Action::Permission,
    Action::Draft,
    Action::Resize,
    Action::Restart,
];

/// What must become of a message.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Fate {
    /// It reaches the model once.
    Once,
    /// It was interrupted, perhaps before it reached the model.
    AtMostOnce,
    Never,
}

struct Walk {
    session: TestSession,
    random: Random,
    /// The current step, which makes every text unique.
    number: usize,
    sent: Vec<(String, Fate)>,
}

impl Walk {
    async fn act(&mut self, action: Action) {
        let n = self.number;
        match action {
            Action::Message => self.message(&format!("short {n}")).await,
            Action::LongMessage => {
                let words = self.random.below(900);
                let text: String = (0..words).map(|word| format!(" word{word}")).collect();
                self.message(&format!("long {n}{text}")).await;
            }
            Action::Lines => {
                let lines = 2 + self.random.below(12);
                let text: String = (0..lines).map(|line| format!("\nline {line} of {n}")).collect();
                self.message(&format!("lines {n}{text}")).await;
            }
            Action::Refusal => self.refusal().await,
            Action::Queue => self.queue().await,
            Action::Interrupt => self.interrupt().await,
            Action::InterruptingMessage => self.interrupting_message().await,
            Action::Permission => self.permission().await,
            Action::Draft => self.draft().await,
            Action::Resize => self.resize().await,
            Action::Restart => self.restart().await,
        }
    }

    /// An idle agent takes a message, and becomes idle again.
    async fn message(&mut self, text: &str) {
        let nudged = self.accepted(text, Fate::Once).await;
        self.session.wait_state_after(nudged.seq, "idle").await;
    }

    async fn accepted(&mut self, text: &str, fate: Fate) -> v1::NudgeResponse {
        let nudged = self.session.nudge(text).await;
        let nudged = nudged.unwrap_or_else(|error| panic!("{text:.60?}: {error:?}"));
        assert_eq!(nudged.outcome, "accepted", "{text:.60?}");
        self.sent.push((text.to_owned(), fate));
        nudged
    }

    /// A turn that waits until its hold is released.
    async fn held_turn(&mut self, fate: Fate) -> (String, v1::NudgeResponse) {
        let hold = format!("hold{}", self.number);
        let streams = self.random.one_of(&["", "#stream 3x0 ", "#think for a moment "]);
        let nudged = self.accepted(&format!("{streams}#hold {hold} #say held"), fate).await;
        self.session.api.wait_held(&hold).await;
        self.session.wait_state("working").await;
        (hold, nudged)
    }

    async fn refused(&mut self, text: &str, reason: &str) {
        let refused = self.session.nudge(text).await.expect_err("it is refused");
        assert_eq!(error_code(&refused), "AGENT_BUSY", "{refused:?}");
        let response: v1::NudgeResponse =
            coop_client::response(&refused, "NudgeResponse").expect("a response");
        assert_eq!((response.delivered, response.reason.as_deref()), (false, Some(reason)));
        self.sent.push((text.to_owned(), Fate::Never));
    }

    async fn refusal(&mut self) {
        let (hold, nudged) = self.held_turn(Fate::Once).await;
        self.refused(&format!("not now {}", self.number), "agent_busy").await;
        self.session.api.release(&hold);
        self.session.wait_state_after(nudged.seq, "idle").await;
    }

    async fn queue(&mut self) {
        let (hold, _) = self.held_turn(Fate::Once).await;
        let count = 1 + self.random.below(3);
        for place in 0..count {
            let message = format!("queued {} {place}", self.number);
            let request = v1::NudgeRequest {
                message: message.clone(),
                mode: "queue".into(),
                ..Default::default()
            };
            let queued = self.session.nudge_with(request).await.expect("queued");
            assert_eq!(queued.outcome, "queued");
            self.sent.push((message, Fate::Once));
        }
        self.session.api.release(&hold);
        self.session.wait_reply(&format!("echo: queued {} {}", self.number, count - 1)).await;
    }

    /// An interrupt at any moment of a turn, also before it has begun.
    async fn interrupt(&mut self) {
        let hold = format!("hold{}", self.number);
        self.accepted(&format!("#hold {hold} #say never"), Fate::AtMostOnce).await;
        // Nothing waits for this time: it only varies how far the turn has come.
        let delay = Duration::from_millis(self.random.below(1500) as u64);
        tokio::time::sleep(delay).await;
        let done = self.session.interrupt().await.expect("an interrupt");
        assert_eq!(done.outcome, "stopped", "after {delay:?}: {done:?}");
    }

    async fn interrupting_message(&mut self) {
        self.held_turn(Fate::AtMostOnce).await;
        let message = format!("instead {}", self.number);
        let request = v1::NudgeRequest {
            message: message.clone(),
            mode: "interrupt".into(),
            ..Default::default()
        };
        let nudged = self.session.nudge_with(request).await.expect("taken");
        assert_eq!(nudged.outcome, "accepted");
        self.sent.push((message, Fate::Once));
        self.session.wait_state_after(nudged.seq, "idle").await;
    }

    /// A command is accepted, denied, or its dialog is closed with Escape or an interrupt.
    async fn permission(&mut self) {
        let file = format!("made{}", self.number);
        let call = self.session.shell_call(&format!("touch {file}"));
        let answer = self.random.one_of(&["accept", "deny", "escape", "interrupt"]);
        let text = format!("{call} #say answered {}", self.number);
        let nudged = self.accepted(&text, Fate::Once).await;
        self.session.wait_prompt().await;
        if self.random.below(2) == 0 {
            self.refused(&format!("over a dialog {}", self.number), "dialog_open").await;
        }
        match answer {
            "accept" => assert_eq!(self.session.accept().await.outcome, "answered"),
            "deny" => assert_eq!(self.session.decline().await.outcome, "answered"),
            "escape" => self.session.press("\x1b").await,
            _ => assert_eq!(self.session.interrupt().await.expect("done").outcome, "stopped"),
        }
        self.session.wait_state_after(nudged.seq, "idle").await;
        let exists = self.session.workspace().join(&file).exists();
        assert_eq!(exists, answer == "accept", "{file} after {answer}");
    }

    /// A user's draft refuses messages and stays as it is, until the user deletes it.
    async fn draft(&mut self) {
        self.session.press(DRAFT).await;
        self.session.wait_text(DRAFT).await;
        self.refused(&format!("over a draft {}", self.number), "draft_in_composer").await;
        self.session.wait_text(DRAFT).await;
        for _ in DRAFT.chars() {
            self.session.press("\x7f").await;
        }
        poll_until("the end of the draft", async || {
            (!self.session.screen().await.iter().any(|row| row.contains('ж'))).then_some(())
        })
        .await;
    }

    /// Another size, at rest or within a turn.
    async fn resize(&mut self) {
        let (cols, rows) = self.random.one_of(&SIZES);
        let resize = v1::ResizeRequest { cols, rows };
        let held = match self.random.below(2) {
            0 => None,
            _ => Some(self.held_turn(Fate::Once).await),
        };
        let resized = self.session.client().resize(resize).await.expect("resized").into_inner();
        assert_eq!((resized.cols, resized.rows), (cols, rows));
        if let Some((hold, nudged)) = held {
            self.session.api.release(&hold);
            self.session.wait_state_after(nudged.seq, "idle").await;
        }
    }

    async fn restart(&mut self) {
        let before = self.session.state().await.event_seq;
        let request = v1::RestartSessionRequest { force: true };
        let mut client = self.session.client();
        within_deadline("a restart", client.restart_session(request)).await.expect("restarted");
        self.session.wait_state_after(before, "idle").await;
    }

    fn check(&self) {
        let arrived = self.session.api.user_messages();
        for (text, fate) in &self.sent {
            let count = arrived.iter().filter(|other| trimmed(other) == trimmed(text)).count();
            let right = match fate {
                Fate::Once => count == 1,
                Fate::AtMostOnce => count <= 1,
                Fate::Never => count == 0,
            };
            assert!(
                right,
                "{text:.60?} must arrive {fate:?}, and arrived {count} times: {arrived:#.60?}"
            );
        }
    }
}

/// A generator that gives the same numbers for the same seed (SplitMix64).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % limit as u64).expect("it is below a usize")
    }

    fn one_of<T: Copy>(&mut self, values: &[T]) -> T {
        values[self.below(values.len())]
    }
}
