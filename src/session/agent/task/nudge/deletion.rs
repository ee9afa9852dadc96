//! The parts of a nudge that delete a draft of coop's own: one that is in the way of the message,
//! and the message itself if it is not submitted.

use super::super::draft_deletion::{DeletionStep, DraftDeletion};
use super::super::nudge_phase::{Ending, Phase};
use super::super::own_messages::OwnMessages;
use super::super::{AgentView, Step};
use super::{Next, NudgeTask, WHOLE, rejected, wait};
use crate::session::outcome::{NudgeOutcome, Refusal};
use crate::session::typist::Write;

impl NudgeTask {
    /// Deletes coop's own draft, and then pastes the message.
    pub(super) fn begin_clear(&mut self, view: &AgentView, own: &mut OwnMessages) -> Next {
        self.phase = Phase::Clear { deletion: DraftDeletion::new(view.now.steady) };
        self.clear(view, own)
    }

    pub(super) fn clear(&mut self, view: &AgentView, own: &mut OwnMessages) -> Next {
        let Phase::Clear { deletion } = &mut self.phase else { return wait(view.now.steady) };
        match deletion.step(view, own) {
            DeletionStep::Press(key) => Next::Step(Step::Type(Write::text(key))),
            DeletionStep::Wait(until) => wait(until),
            DeletionStep::Empty => {
                own.cleared();
                self.check(view, own, false)
            }
            DeletionStep::NotNow => self.check(view, own, false),
            DeletionStep::Foreign | DeletionStep::Stuck => rejected(Refusal::DraftInComposer),
        }
    }

    /// Deletes the message that was not submitted, and then ends.
    pub(super) fn take_back(&mut self, view: &AgentView, own: &mut OwnMessages) -> Next {
        if self.submitted.is_some() && self.has_witness(view) {
            return Next::End(NudgeOutcome::Accepted);
        }
        let Phase::TakeBack { deletion, ending } = &mut self.phase else {
            return wait(view.now.steady);
        };
        match deletion.step(view, own) {
            DeletionStep::Press(key) => return Next::Step(Step::Type(Write::text(key))),
            DeletionStep::Wait(until) => return wait(until),
            // What never showed may still come.
            DeletionStep::Empty if deletion.has_pressed() => own.cleared(),
            DeletionStep::Stuck => own.given_up(),
            DeletionStep::Empty | DeletionStep::NotNow | DeletionStep::Foreign => {}
        }
        match ending.clone() {
            Ending::Outcome(outcome) => Next::End(outcome),
            Ending::Failure(error) => Next::Fail(error),
        }
    }

    /// Takes the message back if it is not submitted by an end like this.
    pub(super) fn before_end(
        &mut self,
        view: &AgentView,
        own: &mut OwnMessages,
        next: Next,
    ) -> Next {
        let ending = match next {
            Next::End(outcome @ NudgeOutcome::Rejected(_)) if !self.queued => {
                Ending::Outcome(outcome)
            }
            Next::End(outcome @ NudgeOutcome::Unconfirmed) => Ending::Outcome(outcome),
            Next::Fail(error) => Ending::Failure(error),
            Next::End(_) | Next::Step(_) | Next::Submit => return next,
        };
        let was_tried = matches!(self.phase, Phase::TakeBack { .. } | Phase::Clear { .. });
        let is_over = was_tried || !own.may_be_left();
        match (is_over, ending) {
            (true, Ending::Outcome(outcome)) => Next::End(outcome),
            (true, Ending::Failure(error)) => Next::Fail(error),
            (false, ending) => {
                let deletion = DraftDeletion::last(view.now.steady).until(view.began + WHOLE);
                self.phase = Phase::TakeBack { deletion, ending };
                self.take_back(view, own)
            }
        }
    }
}
