//! An interrupt: stops the agent's turn and reports how that ended.

use std::time::Duration;

use super::turn_stop::{StopStep, TurnStop};
use super::{AgentView, Step, Task, TaskOutput};
use crate::driver::agent::AgentState;
use crate::error::Error;
use crate::session::by::By;
use crate::session::clock::Now;
use crate::session::event::{EventKind, InterruptEvent};
use crate::session::outcome::{InterruptOutcome, InterruptReply};
use crate::session::replies::ReplySender;
use crate::session::typist::Write;

/// How long an interrupt may take.
const WHOLE: Duration = Duration::from_secs(9);

#[derive(Debug)]
pub(in crate::session::agent) struct InterruptTask {
    by: By,
    reply: Option<ReplySender<InterruptReply>>,
    stop: TurnStop,
}

impl InterruptTask {
    /// `submitted`: the interrupt takes the place of a nudge that has pressed Enter.
    pub(in crate::session::agent) fn new(
        now: Now,
        by: By,
        submitted: bool,
        reply: ReplySender<InterruptReply>,
    ) -> Self {
        Self { by, reply: Some(reply), stop: TurnStop::new(now.steady, WHOLE, submitted) }
    }

    fn finish(
        &mut self,
        outcome: InterruptOutcome,
        view: &AgentView,
        output: &mut TaskOutput,
    ) -> Step {
        let (before, after) = (view.state_before, view.state());
        let event = EventKind::Interrupt(InterruptEvent { outcome, before, after });
        let seq = output.publisher.log_by(view.now, &self.by, event);
        if let Some(reply) = self.reply.take() {
            let delivered = self.stop.was_pressed();
            let result = InterruptReply { outcome, delivered, before, after, seq };
            output.publisher.reply(reply, Ok(result));
        }
        Step::Done
    }
}

impl Task for InterruptTask {
    fn step(&mut self, view: &AgentView, output: &mut TaskOutput) -> Step {
        match self.stop.step(view) {
            StopStep::Press(key) => {
                output.own_messages.interrupted(view.now.steady);
                Step::Type(Write::bytes(key))
            }
            StopStep::Wait(until) => Step::Wait(until),
            StopStep::Stopped => self.finish(InterruptOutcome::Stopped, view, output),
            StopStep::NothingToStop => self.finish(InterruptOutcome::NothingToStop, view, output),
            StopStep::StillWorking => self.finish(InterruptOutcome::StillWorking, view, output),
        }
    }

    fn cancel(
        self: Box<Self>,
        _now: Now,
        _state: AgentState,
        error: &Error,
        output: &mut TaskOutput,
    ) {
        if let Some(reply) = self.reply {
            output.publisher.reply(reply, Err(error.clone()));
        }
    }
}
