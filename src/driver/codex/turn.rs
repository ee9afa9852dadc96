//! What one source reports about the current turn and another one needs: a question that is about
//! to be asked, the plan, the error. It makes no claims.

use crate::driver::agent::ApiError;
use crate::driver::prompt::Ask;

#[derive(Debug, Default)]
pub(super) struct Turn {
    /// The turn may end in a plan.
    pub(super) plan_mode: bool,
    /// The plan that the turn proposes.
    pub(super) plan: Option<String>,
    /// The plan was announced, which also reported the end of the turn.
    pub(super) plan_announced: bool,
    /// What the model wants to ask. Outside plan mode no dialog follows.
    pub(super) question: Option<Ask>,
    /// What tools ask permission for, several at a time. Their dialogs follow one after the other,
    /// in any order. No dialog follows if it was allowed before.
    pub(super) permissions: Vec<Ask>,
    /// Why the turn failed.
    pub(super) api_error: Option<ApiError>,
    /// Hooks work in this session.
    pub(super) hooks: bool,
}

impl Turn {
    /// Whether the log must not report the end of the turn. The hook reports it just before the
    /// log, and the terminal just after: if the log confirmed the hook, the terminal's report would
    /// be taken as that of the next turn.
    pub(super) fn end_is_reported(&self) -> bool {
        self.plan_announced || (self.hooks && !self.plan_mode)
    }

    /// A tool has run, so its dialog is over.
    pub(super) fn ran(&mut self, ran: &Ask) {
        self.question = None;
        let command =
            |ask: &Ask| ask.input.as_ref().and_then(|input| input.get("command")).cloned();
        let same = |ask: &Ask| ask.tool == ran.tool && command(ask) == command(ran);
        self.permissions.retain(|ask| !same(ask));
    }

    /// Resets everything that belongs to the previous turn.
    pub(super) fn begin(&mut self) {
        *self = Self { plan_mode: self.plan_mode, hooks: self.hooks, ..Self::default() };
    }
}
