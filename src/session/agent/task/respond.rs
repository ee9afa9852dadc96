//! Answers the agent's prompt: through the agent's waiting hook where that can carry the answer,
//! else key by key. Each key is chosen from what the dialog shows at that moment, and its effect
//! is checked before the next.
//!
//! An answer reaches one dialog. What closes it is given a second time only if the same dialog is
//! certainly still open: the next one can look the same.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::{AgentView, Step, Task, TaskOutput};
use crate::driver::NextKey;
use crate::driver::agent::AgentState;
use crate::driver::prompt::{Answer, Prompt};
use crate::driver::screen_reading::Dialog;
use crate::error::{Code, Error};
use crate::session::by::By;
use crate::session::clock::Now;
use crate::session::event::{EventKind, RespondEvent};
use crate::session::outcome::{Channel, RespondOutcome, RespondReply};
use crate::session::replies::ReplySender;
use crate::session::typist::Write;

/// How long the dialog may show no effect of any key.
const NO_PROGRESS: Duration = Duration::from_secs(5);
/// How long the hook's answer may take to close the dialog.
const HOOK_EFFECT: Duration = Duration::from_secs(2);
/// After how long without an effect a key counts as lost. A slow agent must not get a key twice:
/// the second would go to the screen after the dialog.
const KEY_LOST: Duration = Duration::from_secs(2);
/// How often the same key is pressed on the same dialog.
const PRESSES: u32 = 2;
/// Agents drop keys that follow each other faster.
const KEY_INTERVAL: Duration = Duration::from_millis(100);

/// How many keys may be pressed to bring an option onto the screen, and for the whole answer.
const REVEALS: u32 = 40;
const KEYS: u32 = 200;

#[derive(Debug)]
pub(in crate::session::agent) struct RespondTask {
    prompt: Arc<Prompt>,
    /// When the agent came to the prompt.
    opened: Instant,
    answer: Answer,
    by: By,
    /// None if coop itself answers the prompt.
    reply: Option<ReplySender<RespondReply>>,
    /// None before the first step.
    progress: Option<Progress>,
}

#[derive(Debug)]
struct Progress {
    /// When the dialog last changed.
    at: Instant,
    hook_until: Option<Instant>,
    pressed: Option<Pressed>,
    /// How many keys were pressed to bring an option onto the screen, and in all.
    reveals: u32,
    keys: u32,
}

/// A key, and the dialog as it was when the key was pressed.
#[derive(Debug)]
struct Pressed {
    dialog: Dialog,
    at: Instant,
    times: u32,
    /// The key closes the dialog or its page.
    closes: bool,
    /// The key is to bring this option onto the screen.
    reveals: Option<usize>,
}

impl Pressed {
    /// Whether the dialog shows no effect of the key yet.
    fn has_no_effect_on(&self, dialog: &Dialog) -> bool {
        let same_page = self.dialog.same_as(dialog) && self.dialog.page == dialog.page;
        self.dialog == *dialog || self.closes && same_page
    }
}

/// What to do about the keys: press, wait, or stop.
enum Next {
    Step(Step),
    Outcome(RespondOutcome),
    Fail(Error),
    /// The dialog may be another one by now.
    Unknown,
}

impl RespondTask {
    pub(in crate::session::agent) fn new(
        (prompt, opened): (Arc<Prompt>, Instant),
        answer: Answer,
        by: By,
        reply: Option<ReplySender<RespondReply>>,
    ) -> Self {
        Self { prompt, opened, answer, by, reply, progress: None }
    }

    fn press(&mut self, view: &AgentView, prompt: &Prompt) -> Next {
        let now = view.now.steady;
        let Some(progress) = &mut self.progress else { return Next::Step(Step::Wait(now)) };
        let give_up = progress.at + NO_PROGRESS;
        let given = progress.closing_since();
        let is_same = given.is_none_or(|since| view.tracker.is_still(&self.prompt.id, since));
        if now >= give_up {
            return if is_same { progress.stuck(&self.prompt) } else { Next::Unknown };
        }
        if !is_same && progress.may_be_lost(now) {
            return Next::Step(Step::Wait(give_up));
        }
        let Some(dialog) = view.reading.dialog.as_ref().filter(|_| prompt.ready) else {
            return Next::Step(Step::Wait(give_up));
        };
        let times = match &progress.pressed {
            Some(pressed) if pressed.has_no_effect_on(dialog) => {
                let lost = pressed.at + KEY_LOST;
                if now < lost || !view.written {
                    return Next::Step(Step::Wait(lost.max(now + KEY_INTERVAL).min(give_up)));
                }
                if pressed.times >= PRESSES {
                    return progress.stuck(&self.prompt);
                }
                pressed.times + 1
            }
            Some(pressed) if now < pressed.at + KEY_INTERVAL => {
                return Next::Step(Step::Wait(pressed.at + KEY_INTERVAL));
            }
            Some(_) => {
                progress.at = now;
                1
            }
            None => 1,
        };
        // The answer is for the prompt that the caller saw; the open prompt may show another page.
        let next = view.driver.next_key(&self.prompt, &self.answer, dialog);
        let closes = matches!(next, NextKey::Confirm(_));
        let reveals = match next {
            NextKey::Reveal { option, .. } => Some(option),
            NextKey::Press(_) | NextKey::Confirm(_) | NextKey::Unseen(_) | NextKey::Refuse(_) => {
                None
            }
        };
        if progress.keys >= KEYS {
            return Next::Fail(Error::new(Code::Timeout, format!("{KEYS} keys did not answer it")));
        }
        progress.keys += 1;
        match next {
            NextKey::Reveal { option, .. } if progress.reveals >= REVEALS => {
                Next::Fail(option_not_in_view(&self.prompt, option))
            }
            NextKey::Press(bytes)
            | NextKey::Confirm(bytes)
            | NextKey::Reveal { key: bytes, .. } => {
                progress.reveals += u32::from(reveals.is_some());
                let dialog = dialog.clone();
                progress.pressed = Some(Pressed { dialog, at: now, times, closes, reveals });
                Next::Step(Step::Type(Write::text(bytes)))
            }
            NextKey::Unseen(what) => Next::Fail(not_in_view(&what)),
            NextKey::Refuse(reason) => Next::Fail(Error::bad_request(reason)),
        }
    }

    fn finish(
        &mut self,
        view: &AgentView,
        outcome: RespondOutcome,
        output: &mut TaskOutput,
    ) -> Step {
        let via = self.progress.as_ref().map_or(Channel::Keys, Progress::channel);
        let superseded_by = match outcome {
            RespondOutcome::Superseded => self.answered_by(view, output),
            RespondOutcome::Answered | RespondOutcome::Unconfirmed => {
                *output.last_answer = Some((self.prompt.id.clone(), self.by.clone()));
                None
            }
        };
        let id = self.prompt.id.clone();
        let event = RespondEvent { id, outcome, via, superseded_by: superseded_by.clone() };
        let seq = output.publisher.log_by(view.now, &self.by, EventKind::Respond(event));
        if let Some(reply) = self.reply.take() {
            let (kind, after) = (self.prompt.kind, view.state());
            let given = RespondReply::Given { kind, outcome, via, superseded_by, after, seq };
            output.publisher.reply(reply, Ok(given));
        }
        Step::Done
    }

    /// Who answered the prompt instead: the caller of an earlier answer, or else the client that
    /// typed last since the prompt opened.
    fn answered_by(&self, view: &AgentView, output: &TaskOutput) -> Option<By> {
        let answer = output.last_answer.as_ref().filter(|(prompt, _)| *prompt == self.prompt.id);
        let typed = view.client_typed.filter(|(at, _)| *at >= self.opened);
        answer.map(|(_, by)| by).or(typed.map(|(_, by)| by)).cloned()
    }

    fn fail(&mut self, error: &Error, output: &mut TaskOutput) {
        if let Some(reply) = self.reply.take() {
            output.publisher.reply(reply, Err(error.clone()));
        }
    }
}

impl Task for RespondTask {
    fn step(&mut self, view: &AgentView, output: &mut TaskOutput) -> Step {
        let now = view.now.steady;
        let is_first = self.progress.is_none();
        let progress = self.progress.get_or_insert(Progress {
            at: view.began,
            hook_until: None,
            pressed: None,
            reveals: 0,
            keys: 0,
        });
        let open = view.situation().prompt().filter(|prompt| prompt.id == self.prompt.id).cloned();
        let Some(open) = open else {
            let outcome = progress.outcome_when_closed();
            return self.finish(view, outcome, output);
        };
        if is_first
            && view.pending_hooks.waits_for(&self.prompt.id)
            && let Some(hook_output) = view.driver.hook_answer(&self.prompt, &self.answer)
        {
            progress.hook_until = Some(now + HOOK_EFFECT);
            return Step::AnswerHook { prompt: self.prompt.id.clone(), output: hook_output };
        }
        match progress.hook_until {
            Some(until) if now < until => return Step::Wait(until),
            Some(until) if progress.at < until => progress.at = until,
            Some(_) | None => {}
        }
        match self.press(view, &open) {
            Next::Step(step) => step,
            Next::Outcome(outcome) => self.finish(view, outcome, output),
            Next::Fail(error) => {
                self.fail(&error, output);
                Step::Done
            }
            Next::Unknown => {
                self.fail(&not_told_apart(), output);
                Step::DoneWith(self.prompt.id.clone())
            }
        }
    }

    fn cancel(
        mut self: Box<Self>,
        _now: Now,
        _state: AgentState,
        error: &Error,
        output: &mut TaskOutput,
    ) {
        self.fail(error, output);
    }
}

impl Progress {
    fn channel(&self) -> Channel {
        let by_hook = self.pressed.is_none() && self.hook_until.is_some();
        if by_hook { Channel::Hook } else { Channel::Keys }
    }

    /// Since when the dialog should be closed, or its page, by a key or by the hook.
    fn closing_since(&self) -> Option<Instant> {
        match &self.pressed {
            Some(pressed) => pressed.closes.then_some(pressed.at),
            None => self.hook_until.map(|until| until - HOOK_EFFECT),
        }
    }

    /// Whether what should have closed the dialog has had the time to do so.
    fn may_be_lost(&self, now: Instant) -> bool {
        self.pressed.as_ref().is_none_or(|pressed| now >= pressed.at + KEY_LOST)
    }

    fn outcome_when_closed(&self) -> RespondOutcome {
        match (&self.pressed, self.hook_until) {
            (None, None) => RespondOutcome::Superseded,
            (Some(_), _) | (_, Some(_)) => RespondOutcome::Answered,
        }
    }

    /// No key has an effect, or the dialog never took keys.
    fn stuck(&self, prompt: &Prompt) -> Next {
        match &self.pressed {
            Some(Pressed { reveals: Some(option), .. }) => {
                Next::Fail(option_not_in_view(prompt, *option))
            }
            Some(_) => Next::Outcome(RespondOutcome::Unconfirmed),
            None => {
                Next::Fail(Error::new(Code::Timeout, "the dialog could not be answered within 5 s"))
            }
        }
    }
}

/// The dialog has no room for this option, and no key brings it onto the screen.
fn option_not_in_view(prompt: &Prompt, option: usize) -> Error {
    let label = prompt.options.get(option.wrapping_sub(1)).filter(|label| !label.is_empty());
    let label = label.map(|label| format!(" ({label:?})")).unwrap_or_default();
    not_in_view(&format!("option {option}{label}"))
}

fn not_told_apart() -> Error {
    let message = "the answer was given once, and the dialog looks the same; it may be another one \
                   by now, so the answer was not given again";
    Error::new(Code::Timeout, message)
}

fn not_in_view(what: &str) -> Error {
    let message = format!(
        "{what} could not be brought onto the screen, so the dialog was not answered; a larger \
         terminal has room for it"
    );
    Error::new(Code::Timeout, message)
}
