//! Stops the agent's turn: presses the interrupt key until evidence shows that the turn is over.
//! A key that coop pressed is no evidence, because agents ignore it at the start of a turn. It does
//! not know which task wants the turn stopped.

use std::time::{Duration, Instant};

use bytes::Bytes;

use super::{AgentView, can_interrupt};

/// How long the agent may take to show the effect of the key before it is pressed again.
const EFFECT: Duration = Duration::from_millis(1200);
/// An agent that draws this long after the key has read the key.
const KEY_READ: Duration = Duration::from_millis(600);
/// How long a message that was just submitted may take to start its turn.
const TURN_START: Duration = Duration::from_secs(3);

#[derive(Debug, Clone, Copy)]
pub(super) struct TurnStop {
    /// When the turn must be over.
    deadline: Instant,
    /// A message was submitted at the latest now, whose turn may not have been reported yet.
    expected_until: Option<Instant>,
    pressed: Option<Instant>,
}

/// What is to be done next, or how it ended.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum StopStep {
    Press(Bytes),
    Wait(Instant),
    /// The turn was running, and is over.
    Stopped,
    NothingToStop,
    /// The turn still runs though the key was pressed.
    StillWorking,
}

impl TurnStop {
    /// Stops the turn within `limit`. If a message was just submitted, its turn is awaited first.
    pub(super) fn new(now: Instant, limit: Duration, submitted: bool) -> Self {
        Self {
            deadline: now + limit,
            expected_until: submitted.then_some(now + TURN_START),
            pressed: None,
        }
    }

    pub(super) fn deadline(&self) -> Instant {
        self.deadline
    }

    pub(super) fn was_pressed(&self) -> bool {
        self.pressed.is_some()
    }

    pub(super) fn step(&mut self, view: &AgentView) -> StopStep {
        let now = view.now.steady;
        let running = can_interrupt(view.situation());
        let Some(pressed) = self.pressed else {
            return match self.expected_until.filter(|until| now < *until) {
                _ if running => self.press(view),
                Some(until) => StopStep::Wait(until),
                None => StopStep::NothingToStop,
            };
        };
        if !running {
            return StopStep::Stopped;
        }
        if now >= self.deadline {
            return StopStep::StillWorking;
        }
        let again = pressed + EFFECT;
        if now < again {
            return StopStep::Wait(again.min(self.deadline));
        }
        // An idle agent would open a menu for the key, and so would one that was starved of the
        // processor and reads both keys at once. So the key is pressed again only if the agent has
        // drawn a running turn, or still shows its dialog, long after it.
        let drawn_since = view.drawn_at.is_some_and(|at| at >= pressed + KEY_READ);
        let ignored = view.reading.dialog.is_some() || (view.turn_is_shown && drawn_since);
        if ignored { self.press(view) } else { StopStep::Wait(self.deadline) }
    }

    fn press(&mut self, view: &AgentView) -> StopStep {
        self.pressed = Some(view.now.steady);
        StopStep::Press(Bytes::from_static(view.driver.habits().interrupt_key))
    }
}
