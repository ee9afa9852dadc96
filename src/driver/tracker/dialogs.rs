//! Which dialog is open: what sources announced, what the screen shows, and the one prompt built
//! from both. It does not know whether a turn is running.
//!
//! | observed | effect |
//! |---|---|
//! | announced, not on screen yet | a prompt that is not ready |
//! | on screen, and announced | that prompt, with its options; ready once the dialog takes keys |
//! | on screen for 300 ms without announcement | a prompt built from the screen alone |
//! | announced after the screen alone made a prompt of it | the same prompt, with more detail |
//! | announced with others, and the screen shows none of their inputs | a prompt without input |
//! | looks the same, and shows the input of another announcement | the prompt of that one |
//! | was on screen, and is missing for a moment | the dialog is closed |
//! | announced, and the screen shows something else for two seconds | the announcement is dropped |
//! | announced by the agent's status, which has changed since | the announcement is dropped |
//! | announced with a summary of the input | the whole input, once a hook or the log has it |

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::announcements::{Announced, Announcements};
use super::matching::{can_be, is_setup, shows_input, summarises};
use super::prompt;
use crate::driver::Habits;
use crate::driver::agent::Tier;
use crate::driver::prompt::{Ask, Prompt, PromptId, PromptKind};
use crate::driver::screen_reading::{Dialog, ScreenReading};

/// How long a dialog on screen waits for the source that should announce it.
const ANNOUNCEMENT_WAIT: Duration = Duration::from_millis(300);
/// How long a dialog must be missing before it counts as closed: a screen can be read in the middle
/// of a redraw.
const CLOSE_DELAY: Duration = Duration::from_millis(150);
/// The same, while the agent itself reports an open dialog.
const CLOSE_DELAY_WHILE_REPORTED: Duration = Duration::from_secs(1);
/// How long an announced dialog may take to appear, while the screen shows something else.
const APPEARANCE_TIMEOUT: Duration = Duration::from_secs(2);
/// How many uses of tools are remembered.
const MAX_TOOL_USES: usize = 8;

/// A dialog that is on screen.
#[derive(Debug)]
struct Shown {
    dialog: Dialog,
    since: Instant,
    /// Since when the screen does not show it any more.
    missing: Option<Instant>,
    prompt: Option<ShownPrompt>,
    /// The agent has said that the turn around it is over, so the dialog is about to close.
    turn_is_over: bool,
}

/// The prompt of a dialog on screen.
#[derive(Debug)]
struct ShownPrompt {
    id: PromptId,
    announced: Option<Announced>,
    /// The screen shows that it is this announcement, and no other.
    certain: bool,
}

impl ShownPrompt {
    /// Takes another announcement if the dialog shows more of that one. The one before is answered
    /// if the dialog showed it.
    fn correct(&mut self, announcements: &mut Announcements, dialog: &Dialog) {
        let Some(announced) = &mut self.announced else { return };
        if let Some(better) = announcements.take_better(&announced.ask, dialog) {
            self.id = better.id.clone();
            let before = std::mem::replace(announced, better);
            if !self.certain {
                announcements.add(before);
            }
        }
        self.certain = announcements.is_certain(&announced.ask, dialog);
    }
}

/// The prompt of the open dialog, and the source that reports it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct CurrentPrompt {
    pub(super) prompt: Arc<Prompt>,
    pub(super) tier: Tier,
    pub(super) cause: &'static str,
}

impl CurrentPrompt {
    /// A summary is no complete input.
    fn new(prompt: Prompt, in_part: bool, tier: Tier, cause: &'static str) -> Self {
        let input_full = prompt.input_full.filter(|_| !in_part);
        Self { prompt: Arc::new(Prompt { input_full, ..prompt }), tier, cause }
    }
}

/// What an announced dialog asks, and whether that is only a summary. The use of the tool has the
/// whole input, if it is the one that the summary is about.
fn with_tool_use<'a>(
    announced: &'a Announced,
    tool_use: Option<&'a Ask>,
) -> (Option<&'a Ask>, bool) {
    let whole = tool_use.filter(|ask| announced.in_part && summarises(&announced.ask, ask));
    match whole {
        Some(ask) => (Some(ask), false),
        None => (Some(&announced.ask), announced.in_part),
    }
}

/// Whether a dialog can be followed by another one that looks the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Repeats {
    /// The agent is being set up, and asks once.
    Never,
    /// The next one would be announced, and none is.
    Announced,
    /// The next one is announced, or would not be.
    Unnoticed,
}

#[derive(Debug)]
pub(super) struct DialogTracker {
    /// Every prompt id starts with it; no other child of any coop has the same one.
    id_prefix: String,
    id_count: u64,
    habits: Habits,
    announced: Announcements,
    shown: Option<Shown>,
    /// How long a dialog must be missing before it counts as closed, at this moment.
    close_delay: Duration,
    /// The latest uses of tools, each with the question that its dialog would ask.
    tool_uses: VecDeque<Ask>,
}

impl DialogTracker {
    pub(super) fn new(id_prefix: String, habits: Habits) -> Self {
        Self {
            id_prefix,
            id_count: 0,
            habits,
            announced: Announcements::default(),
            shown: None,
            close_delay: CLOSE_DELAY,
            tool_uses: VecDeque::new(),
        }
    }

    /// Forgets every dialog; ids are not used again.
    pub(super) fn forget_all(&mut self) {
        self.announced.clear();
        self.shown = None;
        self.close_delay = CLOSE_DELAY;
        self.tool_uses.clear();
    }

    /// A source says that a dialog opens. Returns the id of its prompt.
    pub(super) fn announce(
        &mut self,
        now: Instant,
        ask: Ask,
        in_part: bool,
        tier: Tier,
        cause: &'static str,
        at: Instant,
    ) -> PromptId {
        let id = self.next_id();
        let id = self.add_announcement(Announced::new(id, ask, in_part, (tier, cause, at)));
        self.assign_prompt(now);
        id
    }

    fn add_announcement(&mut self, new: Announced) -> PromptId {
        // Two sources, or one hook called twice, may announce the same dialog.
        if let Some(known) = self.announced.of_other_source(&new) {
            return known.merge(new);
        }
        let shown = self
            .shown
            .as_mut()
            .filter(|shown| shown.missing.is_none() && can_be(&new.ask, &shown.dialog));
        match shown.and_then(|shown| shown.prompt.as_mut()) {
            Some(prompt) if prompt.announced.is_none() => {
                let id = prompt.id.clone();
                prompt.announced = Some(Announced { id: id.clone(), ..new });
                id
            }
            Some(ShownPrompt { announced: Some(before), .. }) if before.is_same(&new) => {
                before.merge(new)
            }
            Some(_) | None => {
                let id = new.id.clone();
                self.announced.add(new);
                id
            }
        }
    }

    /// The source reports something else now: what it announced is not going to appear.
    pub(super) fn take_back(&mut self, tier: Tier) {
        self.announced.forget_of(tier);
    }

    pub(super) fn expects(&self, id: &PromptId) -> bool {
        self.announced.expects(id)
    }

    pub(super) fn tool_use(&mut self, ask: Ask) {
        if self.tool_uses.len() == MAX_TOOL_USES {
            self.tool_uses.pop_front();
        }
        self.tool_uses.push_back(ask);
    }

    /// Drops the announcements of a turn that is over: those dialogs will not appear any more.
    pub(super) fn forget_before(&mut self, at: Instant) {
        self.announced.forget_before(at);
    }

    /// The agent itself says that the turn is over: a dialog of that turn that is still drawn does
    /// not prove otherwise.
    pub(super) fn turn_ended(&mut self, at: Instant) {
        if let Some(shown) = self.shown.as_mut().filter(|shown| shown.since <= at) {
            shown.turn_is_over = true;
        }
    }

    /// Updates the dialog from the screen. `reported` says whether the agent itself reports an open
    /// dialog.
    pub(super) fn update_screen(&mut self, now: Instant, reading: &ScreenReading, reported: bool) {
        self.close_delay = if reported { CLOSE_DELAY_WHILE_REPORTED } else { CLOSE_DELAY };
        match (&reading.dialog, self.shown.take()) {
            (Some(dialog), Some(shown))
                if shown.dialog.same_as(dialog) && !self.announced_again(&shown) =>
            {
                self.shown = Some(Shown { dialog: dialog.clone(), missing: None, ..shown });
            }
            (Some(dialog), before) => {
                let prompt = before.and_then(|shown| self.prompt_of_partial(now, shown, dialog));
                let dialog = dialog.clone();
                let (missing, turn_is_over) = (None, false);
                self.shown = Some(Shown { dialog, since: now, missing, prompt, turn_is_over });
            }
            (None, Some(shown)) => {
                let missing = *shown.missing.as_ref().unwrap_or(&now);
                if now.duration_since(missing) < self.close_delay {
                    self.shown = Some(Shown { missing: Some(missing), ..shown });
                }
            }
            (None, None) => {}
        }
        self.assign_prompt(now);
        let shows_other = reading.dialog.is_none() && (reading.composer.is_some() || reading.busy);
        if shows_other {
            self.announced.drop_overdue(now, APPEARANCE_TIMEOUT);
        }
    }

    /// The prompt of a dialog that was only partly drawn when it was first read, if `dialog` is the
    /// rest of it: no client can have answered it yet, and no other dialog was announced.
    fn prompt_of_partial(
        &self,
        now: Instant,
        shown: Shown,
        dialog: &Dialog,
    ) -> Option<ShownPrompt> {
        let too_early = now.duration_since(shown.since) < self.habits.dialog_key_delay;
        let prompt = shown.prompt.filter(|_| too_early)?;
        let announced =
            prompt.announced.as_ref().filter(|announced| can_be(&announced.ask, dialog))?;
        (!self.announced.newer(announced.at, dialog)).then_some(prompt)
    }

    /// Whether the dialog closed and the same question was announced a second time since.
    fn announced_again(&self, shown: &Shown) -> bool {
        let announced_at = shown
            .prompt
            .as_ref()
            .and_then(|prompt| prompt.announced.as_ref())
            .map(|announced| announced.at);
        shown.missing.is_some()
            && announced_at.is_some_and(|at| self.announced.newer(at, &shown.dialog))
    }

    /// Gives the dialog on screen its prompt.
    fn assign_prompt(&mut self, now: Instant) {
        let Some(shown) = &mut self.shown else { return };
        if let Some(prompt) = &mut shown.prompt {
            return prompt.correct(&mut self.announced, &shown.dialog);
        }
        if let Some(announced) = self.announced.take_for(&shown.dialog) {
            let certain = self.announced.is_certain(&announced.ask, &shown.dialog);
            let id = announced.id.clone();
            shown.prompt = Some(ShownPrompt { id, announced: Some(announced), certain });
        } else if now.duration_since(shown.since) >= ANNOUNCEMENT_WAIT {
            let id = self.next_id();
            if let Some(shown) = &mut self.shown {
                shown.prompt = Some(ShownPrompt { id, announced: None, certain: false });
            }
        }
    }

    /// A key that answers this prompt may have worked, and the dialog on screen may be the next
    /// one: it gets another id, so that no answer to the one before reaches it.
    pub(super) fn renew(&mut self, now: Instant, id: &PromptId) {
        let Some(shown) = self.shown.as_mut() else { return };
        let Some(prompt) = shown.prompt.take_if(|prompt| prompt.id == *id) else { return };
        if let Some(announced) = prompt.announced {
            let (id, passed_over) = (self.next_id(), true);
            self.announced.add(Announced { id, passed_over, ..announced });
        }
        self.assign_prompt(now);
    }

    /// Whether a dialog that looks like this prompt's can follow it; `None` if it is not on screen.
    pub(super) fn repeats(&self, id: &PromptId) -> Option<Repeats> {
        let Shown { dialog, prompt, .. } = self.shown.as_ref()?;
        let prompt = prompt.as_ref().filter(|prompt| prompt.id == *id)?;
        Some(if is_setup(dialog) {
            Repeats::Never
        } else if prompt.announced.is_some() && !self.announced.has_like(dialog) {
            Repeats::Announced
        } else {
            Repeats::Unnoticed
        })
    }

    /// Whether a dialog is on screen, with a prompt or without.
    pub(super) fn on_screen(&self) -> bool {
        self.shown.is_some()
    }

    /// Whether a dialog is open or announced that can be in the middle of a turn. Setup dialogs are
    /// not.
    pub(super) fn is_within_turn(&self, now: Instant) -> bool {
        let shown = self.shown.as_ref().map(|shown| !is_setup(&shown.dialog));
        shown.unwrap_or_else(|| self.current(now).is_some())
    }

    /// Since when a turn must be running, because one of its tools asks.
    pub(super) fn implies_turn_since(&self) -> Option<Instant> {
        let shown =
            self.shown.as_ref().filter(|shown| shown.prompt.is_some() && !shown.turn_is_over)?;
        let within_turn = match shown.dialog.kind {
            PromptKind::Permission => shown.dialog.subtype.is_none(),
            PromptKind::Plan => !self.habits.plans_after_turn,
            PromptKind::Question => true,
            PromptKind::Setup => false,
        };
        within_turn.then_some(shown.since)
    }

    /// The prompt of the open dialog, or of the next one that was announced.
    pub(super) fn current(&self, now: Instant) -> Option<CurrentPrompt> {
        if let Some(Shown { dialog, since, missing, prompt: Some(shown), .. }) = &self.shown {
            let ready =
                missing.is_none() && now.duration_since(*since) >= self.habits.dialog_key_delay;
            let (tier, cause) = match &shown.announced {
                Some(announced) => (announced.tier, announced.cause),
                None => (Tier::Screen, "screen:dialog"),
            };
            // A dialog without announcement is most likely that of the tool in use.
            let tool_use =
                self.tool_uses.iter().rfind(|ask| can_be(ask, dialog) && shows_input(ask, dialog));
            let unknown = shown.announced.as_ref().filter(|_| !shown.certain);
            let unknown = unknown.map(|announced| announced.ask.without_input());
            let (ask, in_part) = match (&unknown, &shown.announced) {
                (Some(unknown), _) => (Some(unknown), false),
                (None, Some(announced)) => with_tool_use(announced, tool_use),
                (None, None) => (tool_use, false),
            };
            let prompt = prompt::build(&shown.id, ask, Some(dialog), ready);
            return Some(CurrentPrompt::new(prompt, in_part, tier, cause));
        }
        let next = self.announced.next().filter(|_| self.shown.is_none())?;
        // The text of a plan is not in a summary, and an earlier one must not be taken for it.
        let tool_use = self.tool_uses.iter().rfind(|ask| ask.kind != PromptKind::Plan);
        let (ask, in_part) = with_tool_use(next, tool_use);
        let prompt = prompt::build(&next.id, ask, None, false);
        Some(CurrentPrompt::new(prompt, in_part, next.tier, next.cause))
    }

    /// When the dialog must be updated even if the screen does not change.
    pub(super) fn deadline(&self, now: Instant) -> Option<Instant> {
        let shown = self.shown.as_ref().and_then(|shown| {
            let closed = shown.missing.map(|missing| missing + self.close_delay);
            let assigned = shown.prompt.is_none().then_some(shown.since + ANNOUNCEMENT_WAIT);
            let ready = Some(shown.since + self.habits.dialog_key_delay).filter(|at| *at > now);
            [closed, assigned, ready].into_iter().flatten().min()
        });
        let dropped = self
            .announced
            .next()
            .map(|announced| announced.at + APPEARANCE_TIMEOUT)
            .filter(|at| *at > now);
        [shown, dropped].into_iter().flatten().min()
    }

    /// An id that no prompt has had.
    pub(super) fn next_id(&mut self) -> PromptId {
        self.id_count += 1;
        PromptId(format!("{}-{}", self.id_prefix, self.id_count))
    }
}
