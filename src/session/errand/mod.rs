//! Something typed for somebody with an eye on the screen: a message, an answer, an interrupt.
//!
//! An errand is asked for its next step whenever something changed, sees what is so at that moment, and says what to
//! do. It holds the writer from its first step to its last. It does no I/O and knows no agent by name.

mod interrupt;
mod nudge;
mod respond;

pub use interrupt::Interrupt;
pub use nudge::{NudgeErrand, nudgeable};
pub use respond::RespondErrand;

use std::time::Instant;

use bytes::Bytes;
use serde_json::Value;

use super::talk::{Channel, Refusal, RespondOutcome};
use crate::driver::Driver;
use crate::driver::agent::Situation;
use crate::driver::sight::Sight;
use crate::driver::tracker::Verdict;
use crate::error::Error;

/// What is so when an errand decides.
pub struct Scene<'a> {
    pub now: Instant,
    pub driver: &'a dyn Driver,
    pub verdict: &'a Verdict,
    /// What is on screen now, looked at for this very step.
    pub sight: &'a Sight,
    /// The agent takes pastes.
    pub paste: bool,
    /// Everything the errand has typed so far was taken.
    pub written: bool,
    /// When somebody else last typed.
    pub human_at: Option<Instant>,
}

/// What an errand wants next.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    Type(Bytes),
    /// The message goes out with this: from here on it is submitted.
    Submit(Bytes),
    /// The turn is stopped with this.
    Stop(Bytes),
    AnswerHook(Value),
    /// Nothing, until something changes or this moment comes.
    Wait(Instant),
    Done(End),
}

/// How an errand ended.
#[derive(Debug, Clone, PartialEq)]
pub enum End {
    /// An independent witness has the message.
    Accepted,
    /// The message left the composer, and nobody has said more.
    Submitted,
    /// The message may or may not have been taken.
    Unconfirmed,
    Refused(Refusal),
    Answered {
        outcome: RespondOutcome,
        via: Channel,
    },
    Interrupted,
    /// There is nothing to interrupt.
    NothingToStop,
    Failed(Error),
}

/// One of them.
#[derive(Debug)]
pub enum Errand {
    Nudge(NudgeErrand),
    Respond(Box<RespondErrand>),
    Interrupt(Interrupt),
}

impl Errand {
    pub fn step(&mut self, scene: &Scene) -> Step {
        match self {
            Self::Nudge(nudge) => nudge.step(scene),
            Self::Respond(respond) => respond.step(scene),
            Self::Interrupt(interrupt) => interrupt.step(scene),
        }
    }

    /// The agent is in this situation, perhaps only until the next look.
    pub fn found(&mut self, situation: &Situation) {
        match self {
            Self::Nudge(nudge) => nudge.found(situation),
            Self::Respond(_) | Self::Interrupt(_) => {}
        }
    }

    /// A turn began, with this text where it is known.
    pub fn heard_turn(&mut self, text: Option<&str>) {
        match self {
            Self::Nudge(nudge) => nudge.heard_turn(text),
            Self::Respond(_) | Self::Interrupt(_) => {}
        }
    }
}
