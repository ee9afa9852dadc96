//! An answer on its way into a dialog: through the agent's waiting hook where that can carry it, else key by key, each
//! chosen from what the dialog shows at that moment and followed by a look at what it did.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::{End, Scene, Step};
use crate::driver::Move;
use crate::driver::prompt::{Answer, Prompt};
use crate::driver::sight::Dialog;
use crate::error::{Code, Error};
use crate::session::talk::{Channel, RespondOutcome};

/// How long a dialog may show no effect of anything.
const PROGRESS: Duration = Duration::from_secs(5);
/// How long the hook's answer may take to show.
const HOOK: Duration = Duration::from_secs(2);
/// After how long without an effect a key is taken for lost. A slow agent must not get it twice: the second would go
/// to whatever comes after the dialog.
const LOST: Duration = Duration::from_secs(2);
/// How often the same key is pressed on the same dialog.
const PRESSES: u32 = 2;
/// Keys closer together were seen to be dropped.
const APART: Duration = Duration::from_millis(100);

#[derive(Debug)]
pub struct RespondErrand {
    prompt: Arc<Prompt>,
    answer: Answer,
    /// What the waiting hook would be told, if there is one and it can be told.
    by_hook: Option<Value>,
    hook_until: Option<Instant>,
    pressed: Option<Pressed>,
    progress: Instant,
}

/// A key, and the dialog as it was then.
#[derive(Debug)]
struct Pressed {
    dialog: Dialog,
    at: Instant,
    times: u32,
    /// The dialog should go away by it.
    takes: bool,
}

impl Pressed {
    /// Whether the key has had no effect yet on what is shown.
    fn awaits(&self, dialog: &Dialog) -> bool {
        let same_page = self.dialog.same_as(dialog) && self.dialog.page == dialog.page;
        self.dialog == *dialog || self.takes && same_page
    }
}

impl RespondErrand {
    pub fn new(now: Instant, prompt: Arc<Prompt>, answer: Answer, by_hook: Option<Value>) -> Self {
        Self { prompt, answer, by_hook, hook_until: None, pressed: None, progress: now }
    }

    pub fn prompt(&self) -> &Arc<Prompt> {
        &self.prompt
    }

    pub fn step(&mut self, scene: &Scene) -> Step {
        let standing = scene.verdict.situation.prompt().filter(|prompt| prompt.id == self.prompt.id).cloned();
        let Some(prompt) = standing else {
            return Step::Done(self.gone());
        };
        if let Some(output) = self.by_hook.take() {
            self.hook_until = Some(scene.now + HOOK);
            return Step::AnswerHook(output);
        }
        match self.hook_until {
            Some(until) if scene.now < until => return Step::Wait(until),
            Some(until) if self.progress < until => self.progress = until,
            Some(_) | None => {}
        }
        self.press(scene, &prompt)
    }

    fn gone(&self) -> End {
        let outcome = match (&self.pressed, self.hook_until) {
            (None, None) => RespondOutcome::Superseded,
            (Some(_), _) | (_, Some(_)) => RespondOutcome::Answered,
        };
        End::Answered { outcome, via: self.via() }
    }

    fn via(&self) -> Channel {
        if self.pressed.is_none() && self.hook_until.is_some() { Channel::Hook } else { Channel::Keys }
    }

    fn press(&mut self, scene: &Scene, prompt: &Prompt) -> Step {
        let give_up = self.progress + PROGRESS;
        if scene.now >= give_up {
            return Step::Done(self.stuck());
        }
        let Some(dialog) = scene.sight.dialog.as_ref().filter(|_| prompt.ready) else {
            return Step::Wait(give_up);
        };
        let times = match &self.pressed {
            Some(pressed) if pressed.awaits(dialog) => {
                let lost = pressed.at + LOST;
                if scene.now < lost || !scene.written {
                    return Step::Wait(lost.max(scene.now + APART).min(give_up));
                }
                if pressed.times >= PRESSES {
                    return Step::Done(self.stuck());
                }
                pressed.times + 1
            }
            Some(pressed) if scene.now < pressed.at + APART => return Step::Wait(pressed.at + APART),
            Some(_) => {
                self.progress = scene.now;
                1
            }
            None => 1,
        };
        // What is asked is what was answered; the prompt that stands may be about another page of it by now.
        let next = scene.driver.next_move(&self.prompt, &self.answer, dialog);
        let takes = matches!(next, Move::Take(_));
        match next {
            Move::Press(bytes) | Move::Take(bytes) => {
                self.pressed = Some(Pressed { dialog: dialog.clone(), at: scene.now, times, takes });
                Step::Type(bytes)
            }
            Move::Refuse(reason) => Step::Done(End::Failed(Error::bad_request(reason))),
        }
    }

    /// Nothing that was pressed has an effect, or the dialog never took keys.
    fn stuck(&self) -> End {
        match &self.pressed {
            Some(_) => End::Answered { outcome: RespondOutcome::Unconfirmed, via: Channel::Keys },
            None => End::Failed(Error::new(Code::Timeout, "the dialog could not be answered within 5 s")),
        }
    }
}
