//! The key that stops a turn, and a look at whether it did.

use std::time::{Duration, Instant};

use bytes::Bytes;

use super::nudge::stoppable;
use super::{End, Scene, Step};

/// How long the turn may take to end.
const ENDING: Duration = Duration::from_secs(4);
/// After how long a turn that is still shown is stopped again.
const AGAIN: Duration = Duration::from_millis(1500);

#[derive(Debug, Default)]
pub struct Interrupt {
    first: Option<Instant>,
    again: bool,
}

impl Interrupt {
    pub fn step(&mut self, scene: &Scene) -> Step {
        let stop = Bytes::from_static(scene.driver.interrupt());
        let Some(first) = self.first else {
            if !stoppable(&scene.verdict.situation) {
                return Step::Done(End::NothingToStop);
            }
            self.first = Some(scene.now);
            return Step::Stop(stop);
        };
        if !stoppable(&scene.verdict.situation) || scene.now >= first + ENDING {
            return Step::Done(End::Interrupted);
        }
        // The key is pressed twice only while the agent still shows a turn: at rest it would open something.
        if !self.again && scene.now >= first + AGAIN && (scene.sight.busy || scene.sight.dialog.is_some()) {
            self.again = true;
            return Step::Stop(stop);
        }
        let next = if self.again || scene.now >= first + AGAIN { ENDING } else { AGAIN };
        Step::Wait(first + next)
    }
}
