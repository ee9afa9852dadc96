//! A message on its way into the agent: pasted, seen in the composer, submitted, witnessed.
//!
//! It is never typed into a dialog, over somebody's draft, or half; and Enter is pressed again only while the composer
//! still holds exactly this message. What no look can exclude is a dialog that opens between the last look and the Enter.

use std::time::{Duration, Instant};

use bytes::Bytes;

use super::{End, Scene, Step};
use crate::driver::agent::{AgentState, Situation};
use crate::driver::prompt::PromptKind;
use crate::error::{Code, Error};
use crate::session::talk::Refusal;

/// How long a whole nudge may take.
const WHOLE: Duration = Duration::from_secs(9);
/// How long somebody's keys may take to show. An agent that has just ended a turn is busy with other things.
const HUMAN_ECHO: Duration = Duration::from_secs(1);
/// How long an idle agent may take to draw its composer anew; one was seen to clear the whole screen first.
const REDRAW: Duration = Duration::from_secs(4);
/// How long a stopped turn may take to end.
const STOPPING: Duration = Duration::from_secs(4);
/// How long the agent may take to show that it clears its composer.
const CLEARING: Duration = Duration::from_millis(400);
const CLEAR_PRESSES: u32 = 5;
/// The longest message that is typed and not pasted. A terminal drops what is beyond 4095 bytes of a line.
const PLAIN: usize = 1024;

/// How long a paste may take to show in the composer; it is seen long before that.
fn echo_deadline(length: usize) -> Duration {
    let longer = Duration::from_millis(length.saturating_sub(256) as u64);
    (Duration::from_secs(2) + longer).min(Duration::from_secs(5))
}

#[derive(Debug)]
pub struct NudgeErrand {
    /// The message as it is pasted.
    text: String,
    /// What coop submitted last: if it is back in the composer, it is ours to clear.
    before: Option<String>,
    stop_first: bool,
    /// After how long without a witness Enter is pressed again.
    retry_after: Duration,
    started: Instant,
    phase: Phase,
    witnessed: bool,
    /// The agent has gone to work since Enter was pressed. It may be done before the next look at its composer.
    turned: bool,
}

#[derive(Debug)]
enum Phase {
    Checking,
    Stopping {
        since: Instant,
    },
    Clearing {
        presses: u32,
        last: Instant,
    },
    Pasted {
        at: Instant,
    },
    /// It stands in the composer, which takes an Enter only a moment later.
    Shown {
        at: Instant,
    },
    Entered {
        at: Instant,
        again: bool,
    },
}

impl NudgeErrand {
    pub fn new(
        now: Instant,
        text: String,
        before: Option<String>,
        stop_first: bool,
        retry_after: Duration,
    ) -> Self {
        let phase = Phase::Checking;
        Self { text, before, stop_first, retry_after, started: now, phase, witnessed: false, turned: false }
    }

    /// The message as it was pasted.
    pub fn text(&self) -> &str {
        &self.text
    }

    pub fn heard_turn(&mut self, text: Option<&str>) {
        if let (Phase::Entered { .. }, Some(text)) = (&self.phase, text) {
            self.witnessed |= same_words(text, &self.text);
        }
    }

    /// The agent is in this situation, perhaps only until the next look.
    pub fn found(&mut self, situation: &Situation) {
        if let Phase::Entered { .. } = self.phase {
            self.turned |= matches!(situation, Situation::Working { .. } | Situation::Prompt(_));
        }
    }

    pub fn step(&mut self, scene: &Scene) -> Step {
        match self.phase {
            Phase::Checking => self.check(scene),
            Phase::Stopping { since } => self.stopping(scene, since),
            Phase::Clearing { presses, last } => self.clear(scene, presses, last),
            Phase::Pasted { at } => self.await_echo(scene, at),
            Phase::Shown { at } => self.enter(scene, at),
            Phase::Entered { at, again } => self.confirm(scene, at, again),
        }
    }

    fn check(&mut self, scene: &Scene) -> Step {
        let echoed = scene.human_at.map(|at| at + HUMAN_ECHO);
        if let Some(echoed) = echoed.filter(|at| *at > scene.now) {
            return Step::Wait(echoed);
        }
        if std::mem::take(&mut self.stop_first) && stoppable(&scene.verdict.situation) {
            self.phase = Phase::Stopping { since: scene.now };
            return Step::Stop(Bytes::from_static(scene.driver.interrupt()));
        }
        if let Some(refusal) = refusal(scene) {
            return Step::Done(End::Refused(refusal));
        }
        let Some(composer) = &scene.sight.composer else {
            let drawn = self.started + REDRAW;
            return if scene.now < drawn {
                Step::Wait(drawn)
            } else {
                Step::Done(End::Refused(Refusal::AgentBusy))
            };
        };
        if !composer.draft.is_empty() {
            let ours = self.before.as_ref().is_some_and(|before| scene.driver.holds(composer, before));
            if !ours {
                return Step::Done(End::Refused(Refusal::DraftInComposer));
            }
            self.phase = Phase::Clearing { presses: 1, last: scene.now };
            return Step::Type(Bytes::from_static(scene.driver.clear()));
        }
        let keys = match scene.paste {
            true => format!("\x1b[200~{}\x1b[201~", self.text),
            false if !scene.driver.types_plainly() => {
                let message = "the agent does not take pastes now, and a message is never typed key by key";
                return Step::Done(End::Failed(Error::new(Code::AgentBusy, message)));
            }
            false if !is_plain(&self.text) => {
                let message = format!(
                    "the program takes no pastes, so a message must be one line without tabs, of at most {PLAIN} bytes"
                );
                return Step::Done(End::Failed(Error::bad_request(message)));
            }
            false => self.text.clone(),
        };
        self.phase = Phase::Pasted { at: scene.now };
        Step::Type(Bytes::from(keys))
    }

    fn stopping(&mut self, scene: &Scene, since: Instant) -> Step {
        if nudgeable(&scene.verdict.situation) && scene.sight.composer.is_some() {
            self.phase = Phase::Checking;
            return self.check(scene);
        }
        if scene.now >= since + STOPPING {
            return Step::Done(End::Refused(Refusal::AgentBusy));
        }
        Step::Wait(since + STOPPING)
    }

    fn clear(&mut self, scene: &Scene, presses: u32, last: Instant) -> Step {
        if scene.sight.composer.as_ref().is_some_and(|composer| composer.draft.is_empty())
            || refusal(scene).is_some()
        {
            self.phase = Phase::Checking;
            return self.check(scene);
        }
        if scene.now < last + CLEARING {
            return Step::Wait(last + CLEARING);
        }
        if presses >= CLEAR_PRESSES {
            return Step::Done(End::Refused(Refusal::DraftInComposer));
        }
        self.phase = Phase::Clearing { presses: presses + 1, last: scene.now };
        Step::Type(Bytes::from_static(scene.driver.clear()))
    }

    fn await_echo(&mut self, scene: &Scene, at: Instant) -> Step {
        if let Some(refusal) = refusal(scene) {
            return Step::Done(End::Refused(refusal));
        }
        if self.in_composer(scene) && scene.written {
            self.phase = Phase::Shown { at: scene.now };
            return self.enter(scene, scene.now);
        }
        // What an interrupt gives back can come into the composer just before the paste does. All of it is ours then.
        let both = self.before.as_ref().map(|before| format!("{before}{}", self.text));
        let holds = |text: &String| {
            scene.sight.composer.as_ref().is_some_and(|composer| scene.driver.holds(composer, text))
        };
        if both.as_ref().is_some_and(holds) {
            self.before = None;
            self.phase = Phase::Clearing { presses: 1, last: scene.now };
            return Step::Type(Bytes::from_static(scene.driver.clear()));
        }
        let deadline = (at + echo_deadline(self.text.len())).min(self.started + WHOLE);
        if scene.now >= deadline {
            let message = "the agent did not show the message in its composer; it was not submitted";
            return Step::Done(End::Failed(Error::new(Code::Timeout, message)));
        }
        Step::Wait(deadline)
    }

    fn enter(&mut self, scene: &Scene, shown: Instant) -> Step {
        if let Some(refusal) = refusal(scene) {
            return Step::Done(End::Refused(refusal));
        }
        if !self.in_composer(scene) {
            self.phase = Phase::Pasted { at: shown };
            return self.await_echo(scene, shown);
        }
        let settled = shown + scene.driver.settle();
        if scene.now < settled {
            return Step::Wait(settled);
        }
        self.phase = Phase::Entered { at: scene.now, again: false };
        Step::Submit(Bytes::from_static(b"\r"))
    }

    fn in_composer(&self, scene: &Scene) -> bool {
        scene.sight.composer.as_ref().is_some_and(|composer| scene.driver.holds(composer, &self.text))
    }

    fn confirm(&mut self, scene: &Scene, at: Instant, again: bool) -> Step {
        let holds = self.in_composer(scene);
        self.found(&scene.verdict.situation);
        if self.witnessed || (self.turned && scene.written && !holds) {
            return Step::Done(End::Accepted);
        }
        let retry = at + self.retry_after;
        if !again && scene.now >= retry && holds && scene.sight.dialog.is_none() {
            self.phase = Phase::Entered { at: scene.now, again: true };
            return Step::Type(Bytes::from_static(b"\r"));
        }
        let end = (at + self.retry_after + self.retry_after).min(self.started + WHOLE);
        if scene.now >= end {
            return Step::Done(if holds { End::Unconfirmed } else { End::Submitted });
        }
        Step::Wait(if again || scene.now >= retry { end } else { retry.min(end) })
    }

    /// What can be said of a message that nobody has witnessed so far.
    pub fn unwitnessed(&self, scene: &Scene) -> End {
        if self.in_composer(scene) { End::Unconfirmed } else { End::Submitted }
    }
}

/// A message can go in: the composer is there to take one.
pub fn nudgeable(situation: &Situation) -> bool {
    matches!(situation.state(), AgentState::Idle | AgentState::Error | AgentState::Parked)
}

/// Why a message cannot go in now.
fn refusal(scene: &Scene) -> Option<Refusal> {
    if scene.sight.dialog.is_some() || scene.verdict.situation.prompt().is_some() {
        Some(Refusal::DialogOpen)
    } else if !nudgeable(&scene.verdict.situation) {
        Some(Refusal::AgentBusy)
    } else {
        None
    }
}

/// There is a turn, and stopping it harms nothing but the turn: a setup dialog would take the key for its own end.
pub fn stoppable(situation: &Situation) -> bool {
    match situation {
        Situation::Working { .. } => true,
        Situation::Prompt(prompt) => prompt.kind != PromptKind::Setup && prompt.subtype.is_none(),
        Situation::Starting
        | Situation::Idle
        | Situation::Error(_)
        | Situation::Parked(_)
        | Situation::Restarting
        | Situation::Exited
        | Situation::Unknown => false,
    }
}

/// Nothing in the text is more than a character when it is typed.
fn is_plain(text: &str) -> bool {
    text.len() <= PLAIN && !text.chars().any(char::is_control)
}

fn same_words(one: &str, other: &str) -> bool {
    one.split_whitespace().eq(other.split_whitespace())
}
