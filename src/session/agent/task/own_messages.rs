//! What coop itself typed into the composer: the messages it pasted last, and whether one of them
//! may still be there. It decides whether a draft is coop's own, and types nothing.
//!
//! | the draft | is coop's own |
//! |---|---|
//! | one of the messages, or two that followed each other | yes |
//! | the end of one, in a composer that shows no more | if no client has typed since |
//! | a part of one that was not submitted | if no client has typed since |
//! | anything else, after a message that was not submitted | if nothing else can have come there |
//!
//! A message is pasted only into an empty composer, so what is there afterwards is coop's own if
//! every key passes through coop, no client has typed since, and no turn was stopped around that
//! time: that can bring back what a user has sent.

use std::time::{Duration, Instant};

use crate::driver::Driver;
use crate::driver::screen_reading::{Composer, ScreenReading};
use crate::error::Error;
use crate::session::by::By;

/// How late an agent may show a paste.
const LATE: Duration = Duration::from_secs(30);
/// How long the composer must be empty before the message counts as gone.
const SETTLED: Duration = Duration::from_secs(1);
/// How long after the key that stops a turn the agent may bring a message back.
const BRINGS_BACK: Duration = Duration::from_secs(10);

/// A message that coop pasted.
#[derive(Debug, Clone)]
pub(in crate::session::agent) struct OwnMessage {
    pub(super) text: String,
    /// When coop pasted it.
    pub(super) typed_at: Instant,
    /// coop pressed the key that stops its turn.
    pub(super) interrupted: bool,
}

#[derive(Debug, Default)]
pub(in crate::session::agent) struct OwnMessages {
    newest: Option<OwnMessage>,
    before: Option<OwnMessage>,
    left: Option<Left>,
    /// When coop last pressed the key that stops a turn.
    interrupted_at: Option<Instant>,
}

/// The newest message was not submitted, and may be in the composer.
#[derive(Debug, Clone, Copy)]
struct Left {
    /// The composer has shown something since the paste.
    shown: bool,
    /// Since when it is empty.
    empty_since: Option<Instant>,
    /// coop tried to delete it, in vain.
    given_up: bool,
}

/// What else may have been typed.
#[derive(Debug, Clone, Copy)]
pub(in crate::session::agent) struct Typed {
    /// When a client last typed.
    by_client: Option<Instant>,
    /// Every key for the terminal passes through coop.
    only_here: bool,
}

impl Typed {
    pub(in crate::session::agent) fn new(client: Option<&(Instant, By)>, only_here: bool) -> Self {
        Self { by_client: client.map(|(at, _)| *at), only_here }
    }
}

impl OwnMessages {
    pub(super) fn newest(&self) -> Option<&OwnMessage> {
        self.newest.as_ref()
    }

    /// coop pastes this message into the empty composer.
    pub(super) fn pasted(&mut self, text: &str, now: Instant) {
        if self.newest.as_ref().is_none_or(|newest| newest.text != text) {
            self.before = self.newest.take();
        }
        let text = text.to_owned();
        self.newest = Some(OwnMessage { text, typed_at: now, interrupted: false });
        self.left = Some(Left { shown: false, empty_since: None, given_up: false });
    }

    /// The newest message has left the composer by itself.
    pub(super) fn submitted(&mut self) {
        self.left = None;
    }

    /// The composer was seen empty after a message was deleted from it.
    pub(super) fn cleared(&mut self) {
        self.left = None;
    }

    /// The key that stops a turn was pressed. It can bring the message back.
    pub(super) fn interrupted(&mut self, now: Instant) {
        self.interrupted_at = Some(now);
        if let Some(newest) = &mut self.newest {
            newest.interrupted = true;
        }
    }

    pub(super) fn given_up(&mut self) {
        if let Some(left) = &mut self.left {
            left.given_up = true;
        }
    }

    /// Whether a message that was not submitted may be in the composer.
    pub(super) fn may_be_left(&self) -> bool {
        self.left.is_some()
    }

    /// The error of a nudge that failed, which says whether its message may be in the composer.
    pub(super) fn mark(&self, error: &Error) -> Error {
        if self.left.is_none() {
            return error.clone();
        }
        let message = format!("{}; its text may be left in the composer", error.message);
        Error { message, ..error.clone() }.with("left_in_composer", true)
    }

    /// Whether it should be deleted now that no task runs.
    pub(in crate::session::agent) fn is_to_be_deleted(&self) -> bool {
        self.left.is_some_and(|left| !left.given_up)
    }

    /// Takes in what the composer shows while no task runs.
    pub(in crate::session::agent) fn see(&mut self, now: Instant, reading: &ScreenReading) {
        let (Some(left), Some(newest)) = (&mut self.left, &self.newest) else { return };
        match &reading.composer {
            Some(composer) if !composer.draft.is_empty() => {
                (left.shown, left.empty_since) = (true, None);
            }
            Some(_) => {
                let empty = now.duration_since(*left.empty_since.get_or_insert(now));
                let was_deleted = left.shown && empty >= SETTLED;
                if was_deleted || now >= newest.typed_at + LATE {
                    self.left = None;
                }
            }
            None => {}
        }
    }

    /// Whether the draft in this composer is coop's own.
    pub(in crate::session::agent) fn hold(
        &self,
        composer: &Composer,
        driver: &dyn Driver,
        typed: Typed,
    ) -> bool {
        let Some(newest) = &self.newest else { return false };
        let client_typed = typed.by_client.is_some_and(|at| at >= newest.typed_at);
        let holds = |text: &str| driver.holds(composer, text) && !(composer.cut && client_typed);
        let left = self.left.is_some() && !client_typed;
        let brought_back = self.interrupted_at.is_some_and(|at| at + BRINGS_BACK > newest.typed_at);
        let alone = typed.only_here && !brought_back;
        let before = self.before.as_ref().map(|before| before.text.as_str());
        let holds_both = |before: &str| {
            driver.holds_both(composer, before, &newest.text) && !(composer.cut && client_typed)
        };
        holds(&newest.text)
            || before.is_some_and(|before| holds(before) || holds_both(before))
            || left && (alone || driver.holds_part(composer, &newest.text))
    }
}
