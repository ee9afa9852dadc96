//! The dialogs that sources announced and that are not on screen yet, and which of them a dialog on
//! screen is. It does not know when a dialog closes.
//!
//! An agent can draw announced dialogs in any order. One that another dialog was drawn before has
//! most likely been answered without being drawn, so it is no prompt by itself any more. But it can
//! still be drawn, until its turn is over.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use super::matching::{can_be, same_ask, shown_length, shows_input, summarises};
use crate::driver::agent::Tier;
use crate::driver::prompt::{Ask, PromptId};
use crate::driver::screen_reading::Dialog;

/// How many dialogs may be announced ahead of the screen.
const MAX_ANNOUNCED: usize = 64;

/// A dialog that a source announced.
#[derive(Debug)]
pub(super) struct Announced {
    pub(super) id: PromptId,
    pub(super) ask: Ask,
    /// The ask has only a summary of the input.
    pub(super) in_part: bool,
    pub(super) tier: Tier,
    pub(super) cause: &'static str,
    pub(super) at: Instant,
    /// A dialog that was announced later has been on screen.
    pub(super) passed_over: bool,
}

impl Announced {
    /// The announcement of a source, with its cause and its time.
    pub(super) fn new(
        id: PromptId,
        ask: Ask,
        in_part: bool,
        (tier, cause, at): (Tier, &'static str, Instant),
    ) -> Self {
        Self { id, ask, in_part, tier, cause, at, passed_over: false }
    }

    /// Takes over what another source says about the same dialog, if it says more. Returns the id
    /// of the prompt, which stays the same.
    pub(super) fn merge(&mut self, other: Announced) -> PromptId {
        let id = self.id.clone();
        if self.in_part && !other.in_part {
            let (at, passed_over) = (self.at, self.passed_over);
            *self = Announced { id: id.clone(), at, passed_over, ..other };
        }
        id
    }

    /// Whether another source has announced the same dialog.
    pub(super) fn is_same(&self, other: &Announced) -> bool {
        self.tier != other.tier
            && match (self.in_part, other.in_part) {
                (false, false) => same_ask(&self.ask, &other.ask),
                (true, _) => summarises(&self.ask, &other.ask),
                (false, true) => summarises(&other.ask, &self.ask),
            }
    }
}

#[derive(Debug, Default)]
pub(super) struct Announcements(VecDeque<Announced>);

impl Announcements {
    pub(super) fn add(&mut self, announced: Announced) {
        if self.0.len() == MAX_ANNOUNCED {
            self.0.pop_front();
        }
        self.0.push_back(announced);
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// The dialog that is expected next.
    pub(super) fn next(&self) -> Option<&Announced> {
        self.0.iter().find(|announced| !announced.passed_over)
    }

    /// The announcement of the same dialog by another source.
    pub(super) fn of_other_source(&mut self, new: &Announced) -> Option<&mut Announced> {
        self.0.iter_mut().find(|known| known.is_same(new))
    }

    /// Drops what this source announced.
    pub(super) fn forget_of(&mut self, tier: Tier) {
        self.0.retain(|announced| announced.tier != tier);
    }

    pub(super) fn expects(&self, id: &PromptId) -> bool {
        self.0.iter().any(|announced| announced.id == *id && !announced.passed_over)
    }

    /// Drops what was announced up to this moment.
    pub(super) fn forget_before(&mut self, at: Instant) {
        self.0.retain(|announced| announced.at > at);
    }

    /// Drops the expected dialogs that have not appeared within this time.
    pub(super) fn drop_overdue(&mut self, now: Instant, limit: Duration) {
        self.0
            .retain(|announced| announced.passed_over || now.duration_since(announced.at) < limit);
    }

    /// Whether a dialog that can look like this one was announced after this moment.
    pub(super) fn newer(&self, at: Instant, dialog: &Dialog) -> bool {
        self.0.iter().any(|other| other.at > at && can_be(&other.ask, dialog))
    }

    /// Whether a dialog was announced that can look like this one.
    pub(super) fn has_like(&self, dialog: &Dialog) -> bool {
        self.0.iter().any(|announced| can_be(&announced.ask, dialog))
    }

    /// Whether the dialog on screen shows more of this question than of any other that was
    /// announced.
    pub(super) fn is_certain(&self, ask: &Ask, dialog: &Dialog) -> bool {
        let shown = shown_length(ask, dialog);
        let others = self.0.iter().filter(|other| can_be(&other.ask, dialog));
        others
            .filter(|other| other.ask.input != ask.input)
            .all(|other| shown_length(&other.ask, dialog) < shown)
    }

    /// The announcement of which the dialog on screen shows more than of this question.
    pub(super) fn take_better(&mut self, ask: &Ask, dialog: &Dialog) -> Option<Announced> {
        let at = self.best(dialog)?;
        let better = self.0.get(at)?;
        let shows_more = shown_length(&better.ask, dialog) > shown_length(ask, dialog);
        shows_more.then(|| self.0.remove(at)).flatten()
    }

    /// The announcement of the dialog on screen.
    pub(super) fn take_for(&mut self, dialog: &Dialog) -> Option<Announced> {
        let at = self.best(dialog)?;
        for earlier in self.0.iter_mut().take(at) {
            earlier.passed_over = true;
        }
        self.0.remove(at)
    }

    /// The position of the announcement of which the dialog shows most; the first of equals.
    fn best(&self, dialog: &Dialog) -> Option<usize> {
        let candidates =
            self.0.iter().enumerate().filter(|(_, announced)| can_be(&announced.ask, dialog));
        let mut best: Option<(usize, (bool, bool, usize))> = None;
        for (at, announced) in candidates {
            let ask = &announced.ask;
            let shown = shown_length(ask, dialog);
            let rank = (shows_input(ask, dialog), shown > 0 || !announced.passed_over, shown);
            if best.is_none_or(|(_, known)| rank > known) {
                best = Some((at, rank));
            }
        }
        best.map(|(at, _)| at)
    }
}
