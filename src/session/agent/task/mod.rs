//! Tasks: a nudge, an answer to a prompt, an interrupt. Each types while it watches the screen.
//!
//! A task owns its request, its progress and its outcome. It is asked for its next step whenever
//! something changed, sees the agent as it is at that moment, and replies to its caller itself. It
//! does no I/O and knows no agent by name.

mod draft_deletion;
mod interrupt;
mod nudge;
mod nudge_caller;
mod nudge_phase;
mod own_messages;
mod respond;
mod take_back;
mod turn_stop;

pub(super) use interrupt::InterruptTask;
pub(super) use nudge::NudgeTask;
pub(super) use own_messages::{OwnMessages, Typed};
pub(super) use respond::RespondTask;
pub(super) use take_back::TakeBackTask;

use std::time::{Duration, Instant};

use bytes::Bytes;
use serde_json::Value;

use super::idempotency::IdempotencyKeys;
use super::pending_hooks::PendingHooks;
use crate::driver::Driver;
use crate::driver::agent::{AgentState, Situation};
use crate::driver::prompt::{PromptId, PromptKind};
use crate::driver::screen_reading::ScreenReading;
use crate::driver::tracker::{Tracker, Verdict};
use crate::error::{Code, Error};
use crate::session::by::By;
use crate::session::clock::Now;
use crate::session::outcome::Refusal;
use crate::session::publisher::Publisher;
use crate::session::typist::Write;
use crate::term;
use own_messages::OwnMessage;

/// The longest message that is typed instead of pasted. A terminal in canonical mode drops
/// everything beyond 4095 bytes of a line.
const PLAIN_LIMIT: usize = 1024;

/// What a task sees when it decides on its next step.
pub(super) struct AgentView<'a> {
    pub(super) now: Now,
    /// When the task began, and the agent's state then.
    pub(super) began: Instant,
    pub(super) state_before: AgentState,
    pub(super) driver: &'a dyn Driver,
    pub(super) tracker: &'a Tracker,
    pub(super) verdict: &'a Verdict,
    /// What is on screen, read for this step.
    pub(super) reading: &'a ScreenReading,
    /// The agent itself shows that a turn runs: on screen, by a dialog, or in its title.
    pub(super) turn_is_shown: bool,
    /// When the agent last changed its screen.
    pub(super) drawn_at: Option<Instant>,
    /// The agent has switched on bracketed paste.
    pub(super) bracketed_paste: bool,
    /// The kernel has taken everything the task typed so far.
    pub(super) written: bool,
    /// When a client last typed, and who it was.
    pub(super) client_typed: Option<&'a (Instant, By)>,
    /// Every key for the terminal passes through coop.
    pub(super) only_here: bool,
    pub(super) pending_hooks: &'a PendingHooks,
    /// After how long without a witness Enter is pressed again.
    pub(super) retry_after: Duration,
}

impl AgentView<'_> {
    fn situation(&self) -> &Situation {
        &self.verdict.situation
    }

    fn state(&self) -> AgentState {
        self.situation().state()
    }

    /// Why a message cannot be typed now.
    fn refusal(&self) -> Option<Refusal> {
        if self.reading.dialog.is_some() || self.situation().prompt().is_some() {
            Some(Refusal::DialogOpen)
        } else if !takes_message(self.situation()) {
            Some(Refusal::AgentBusy)
        } else {
            None
        }
    }

    /// The message as keys: a paste where the program takes pastes.
    fn keys_for(&self, message: &str) -> Result<Bytes, Error> {
        if self.bracketed_paste {
            Ok(Bytes::from(term::bracket(message)))
        } else if !self.driver.habits().types_plain_text {
            let reason =
                "the agent does not take pastes now, and a message is never typed key by key";
            Err(Error::new(Code::AgentBusy, reason))
        } else if message.len() > PLAIN_LIMIT || message.chars().any(char::is_control) {
            Err(Error::bad_request(format!(
                "the program takes no pastes, so a message must be one line without tabs, of at \
                 most {PLAIN_LIMIT} bytes"
            )))
        } else {
            Ok(Bytes::from(message.to_owned()))
        }
    }

    /// What else than coop's messages may have been typed.
    fn typed(&self) -> Typed {
        Typed::new(self.client_typed, self.only_here)
    }

    /// Whether an interrupt may have brought this message back into the part of the composer that
    /// is not shown.
    fn may_hide(&self, message: &OwnMessage) -> bool {
        let cut = self.reading.composer.as_ref().is_some_and(|composer| composer.cut);
        cut && (message.interrupted || self.client_typed_since(message))
    }

    fn client_typed_since(&self, message: &OwnMessage) -> bool {
        self.client_typed.is_some_and(|(at, _)| *at >= message.typed_at)
    }

    fn composer_rows(&self) -> usize {
        self.reading.composer.as_ref().map_or(0, |composer| composer.rows)
    }

    /// Whether the composer holds exactly this text.
    fn composer_holds(&self, text: &str) -> bool {
        let composer = self.reading.composer.as_ref();
        composer.is_some_and(|composer| self.driver.holds(composer, text))
    }

    /// Whether the composer holds exactly these texts, one after the other.
    fn composer_holds_both(&self, first: &str, second: &str) -> bool {
        let composer = self.reading.composer.as_ref();
        composer.is_some_and(|composer| self.driver.holds_both(composer, first, second))
    }
}

/// Where a task logs and replies.
pub(super) struct TaskOutput<'a> {
    pub(super) publisher: &'a mut Publisher,
    pub(super) keys: &'a mut IdempotencyKeys,
    pub(super) own_messages: &'a mut OwnMessages,
    /// The prompt that was answered last, and by whom.
    pub(super) last_answer: &'a mut Option<(PromptId, By)>,
}

/// What a task does next.
#[derive(Debug)]
pub(super) enum Step {
    Type(Write),
    /// Answer the agent's waiting hook.
    AnswerHook {
        prompt: PromptId,
        output: Value,
    },
    /// Nothing, until something changes or this moment comes.
    Wait(Instant),
    /// Back to the front of the message queue: the agent cannot take the message now.
    Requeue,
    /// The task is over, and its caller has the reply.
    Done,
    /// The same, and the prompt gets another id: the dialog on screen may be the next one.
    DoneWith(PromptId),
}

pub(super) trait Task: std::fmt::Debug + Send {
    fn step(&mut self, view: &AgentView, output: &mut TaskOutput) -> Step;

    /// The agent's situation changed, perhaps only until the next reading of the screen.
    fn situation_seen(&mut self, _situation: &Situation) {}

    /// A turn began, with this text where it is known.
    fn turn_started(&mut self, _text: Option<&str>) {}

    /// Whether the task has submitted a message, whose turn follows.
    fn has_submitted(&self) -> bool {
        false
    }

    /// When the caller has waited long enough, though the task goes on.
    fn reply_due(&self) -> Option<Instant> {
        None
    }

    /// Replies with what is known so far, if the caller has waited long enough.
    fn reply_if_due(&mut self, _view: &AgentView, _output: &mut TaskOutput) {}

    /// The task cannot go on; `state` is the agent's at this moment.
    fn cancel(self: Box<Self>, now: Now, state: AgentState, error: &Error, output: &mut TaskOutput);
}

/// Whether the agent is in a state in which its composer takes a message.
pub(super) fn takes_message(situation: &Situation) -> bool {
    matches!(situation.state(), AgentState::Idle | AgentState::Error | AgentState::Parked)
}

/// Whether there is a turn that can be stopped without harm. A setup dialog would take the
/// interrupt key for its own cancellation.
fn can_interrupt(situation: &Situation) -> bool {
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
