//! Takes back what coop typed and did not submit, once the agent can take keys again: the task that
//! typed it is over. No caller waits for it.

use super::draft_deletion::{DeletionStep, DraftDeletion};
use super::{AgentView, Step, Task, TaskOutput};
use crate::driver::agent::AgentState;
use crate::error::Error;
use crate::session::clock::Now;
use crate::session::typist::Write;

#[derive(Debug)]
pub(in crate::session::agent) struct TakeBackTask(DraftDeletion);

impl TakeBackTask {
    pub(in crate::session::agent) fn new(now: Now) -> Self {
        Self(DraftDeletion::last(now.steady))
    }
}

impl Task for TakeBackTask {
    fn step(&mut self, view: &AgentView, output: &mut TaskOutput) -> Step {
        match self.0.step(view, output.own_messages) {
            DeletionStep::Press(key) => return Step::Type(Write::text(key)),
            DeletionStep::Wait(until) => return Step::Wait(until),
            DeletionStep::Empty if self.0.has_pressed() => output.own_messages.cleared(),
            DeletionStep::Stuck => output.own_messages.given_up(),
            DeletionStep::Empty | DeletionStep::NotNow | DeletionStep::Foreign => {}
        }
        Step::Done
    }

    fn cancel(self: Box<Self>, _: Now, _: AgentState, _: &Error, _: &mut TaskOutput) {}
}
