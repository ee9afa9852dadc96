//! What one source has told and another one needs: the payload of a question that is about to be asked, the plan of a
//! turn, why it failed. It decides nothing.

use crate::driver::agent::Trouble;
use crate::driver::prompt::Ask;

#[derive(Debug, Default)]
pub(super) struct Notes {
    /// The turn is one that may end in a plan.
    pub(super) plan_mode: bool,
    /// The plan that the turn proposes.
    pub(super) plan: Option<String>,
    /// The plan was announced, so that the end of the turn is no news any more.
    pub(super) plan_announced: bool,
    /// What the model wants to ask. Outside plan mode no dialog comes of it.
    pub(super) question: Option<Ask>,
    /// What a tool wants to be allowed. No dialog comes of it if that was allowed before.
    pub(super) permission: Option<Ask>,
    /// Why the turn failed.
    pub(super) trouble: Option<Trouble>,
    /// Hooks are heard in this session.
    pub(super) hooks: bool,
}

impl Notes {
    /// Whether the log has nothing to add to the end of a turn. A hook tells it just before, and the terminal just
    /// after: if the log confirmed the hook, the terminal's word would come in the middle of the next turn.
    pub(super) fn end_is_told(&self) -> bool {
        self.plan_announced || (self.hooks && !self.plan_mode)
    }
}

impl Notes {
    /// Another turn begins.
    pub(super) fn turn_began(&mut self) {
        *self = Self { plan_mode: self.plan_mode, hooks: self.hooks, ..Self::default() };
    }
}
