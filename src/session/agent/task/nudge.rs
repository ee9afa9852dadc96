//! A nudge: types a message into the agent and reports the outcome to the caller. It pastes the
//! message, waits until the composer shows it, presses Enter, and then waits for a witness.
//!
//! A message is never typed into a dialog, over a draft that is not coop's, or in part. Enter is
//! pressed again only while the composer still holds exactly this message. A message that is not
//! submitted is deleted again, or the outcome says that it may be left in the composer. A dialog
//! that opens between the last reading of the screen and the Enter cannot be excluded.

mod deletion;

use std::time::{Duration, Instant};

use bytes::Bytes;

use super::nudge_caller::{NudgeCaller, States};
use super::nudge_phase::{Phase, Submitted};
use super::own_messages::{OwnMessage, OwnMessages};
use super::turn_stop::{StopStep, TurnStop};
use super::{AgentView, Step, Task, TaskOutput, can_interrupt, takes_message};
use crate::driver::agent::{AgentState, Situation};
use crate::error::{Code, Error};
use crate::session::by::By;
use crate::session::clock::Now;
use crate::session::outcome::{NudgeOutcome, NudgeReply, Refusal};
use crate::session::replies::ReplySender;
use crate::session::request::{NudgeMode, NudgeRequest};
use crate::session::typist::Write;

/// How long a whole nudge may take.
const WHOLE: Duration = Duration::from_secs(9);
/// How much of that is left to take the message back.
const TAKE_BACK: Duration = Duration::from_millis(1500);
/// How long a client's keys may take to show. An agent that has just ended a turn is slow.
const CLIENT_ECHO: Duration = Duration::from_secs(1);
/// How long an idle agent may take to redraw its composer; some clear the whole screen first.
const REDRAW: Duration = Duration::from_secs(4);
/// How long an interrupted turn may take to end.
const TURN_END: Duration = Duration::from_secs(4);
const ENTER: Bytes = Bytes::from_static(b"\r");

#[derive(Debug)]
pub(in crate::session::agent) struct NudgeTask {
    request: NudgeRequest,
    caller: NudgeCaller,
    /// The message waited in the message queue, and its caller knows that.
    queued: bool,
    phase: Phase,
    /// The message as it is pasted; empty before the first step.
    text: String,
    /// The message that coop pasted before. An interrupt can bring it back into the composer.
    previous: Option<OwnMessage>,
    witnessed: bool,
    /// A turn ran since Enter was pressed. It may be over before the next reading of the screen.
    turn_seen: bool,
    submitted: Option<Submitted>,
}

/// How a nudge goes on: with a step, or with its end.
enum Next {
    Step(Step),
    Submit,
    End(NudgeOutcome),
    Fail(Error),
}

fn wait(until: Instant) -> Next {
    Next::Step(Step::Wait(until))
}

fn rejected(refusal: Refusal) -> Next {
    Next::End(NudgeOutcome::Rejected(refusal))
}

impl NudgeTask {
    pub(in crate::session::agent) fn new(
        id: String,
        by: By,
        request: NudgeRequest,
        reply: ReplySender<NudgeReply>,
    ) -> Self {
        let interrupt = request.mode == NudgeMode::Interrupt;
        let caller = NudgeCaller::new(id, by, request.idempotency_key.clone(), reply);
        Self {
            request,
            caller,
            queued: false,
            phase: Phase::Begin { interrupt },
            text: String::new(),
            previous: None,
            witnessed: false,
            turn_seen: false,
            submitted: None,
        }
    }

    /// Marks the message as queued until the agent can take it, and replies so to the caller.
    pub(in crate::session::agent) fn queue(
        mut self,
        now: Now,
        state: AgentState,
        output: &mut TaskOutput,
    ) -> Self {
        self.queued = true;
        self.complete(now, NudgeOutcome::Queued, (state, state), output);
        self
    }

    fn next(&mut self, view: &AgentView, own: &mut OwnMessages) -> Next {
        match self.phase {
            Phase::Begin { interrupt } => {
                self.text = view.driver.compose(&self.request.text);
                self.previous = own.newest().cloned();
                self.phase = Phase::Check { interrupt };
                self.check(view, own, interrupt)
            }
            Phase::Check { interrupt } => self.check(view, own, interrupt),
            Phase::StopTurn { stop } => self.stop_turn(view, own, stop),
            Phase::Clear { .. } => self.clear(view, own),
            Phase::AwaitEcho { pasted } => self.await_echo(view, own, pasted),
            Phase::PressEnter { shown } => self.press_enter(view, own, shown),
            Phase::AwaitWitness { entered, rows, again } => {
                self.await_witness(view, entered, rows, again)
            }
            Phase::TakeBack { .. } => self.take_back(view, own),
        }
    }

    fn check(&mut self, view: &AgentView, own: &mut OwnMessages, interrupt: bool) -> Next {
        let now = view.now.steady;
        let client_echo = view.client_typed.map(|(at, _)| *at + CLIENT_ECHO);
        if let Some(echo) = client_echo.filter(|at| *at > now) {
            return wait(echo);
        }
        if interrupt && can_interrupt(view.situation()) {
            return self.stop_turn(view, own, TurnStop::new(now, TURN_END, false));
        }
        self.phase = Phase::Check { interrupt: false };
        if let Some(refusal) = view.refusal() {
            return rejected(refusal);
        }
        let Some(composer) = &view.reading.composer else {
            let redrawn = view.began + REDRAW;
            return if now < redrawn { wait(redrawn) } else { rejected(Refusal::AgentBusy) };
        };
        if !composer.draft.is_empty() {
            return self.begin_clear(view, own);
        }
        match view.keys_for(&self.text) {
            Ok(keys) => {
                own.pasted(&self.text, now);
                self.phase = Phase::AwaitEcho { pasted: now };
                Next::Step(Step::Type(Write::text(keys)))
            }
            Err(error) => Next::Fail(error),
        }
    }

    fn stop_turn(&mut self, view: &AgentView, own: &mut OwnMessages, mut stop: TurnStop) -> Next {
        let step = stop.step(view);
        self.phase = Phase::StopTurn { stop };
        match step {
            StopStep::Press(key) => {
                own.interrupted(view.now.steady);
                self.previous = own.newest().cloned();
                Next::Step(Step::Type(Write::bytes(key)))
            }
            StopStep::Wait(until) => wait(until),
            StopStep::StillWorking => rejected(Refusal::AgentBusy),
            StopStep::Stopped | StopStep::NothingToStop => {
                if takes_message(view.situation()) && view.reading.composer.is_some() {
                    self.check(view, own, false)
                } else if view.now.steady < stop.deadline() {
                    wait(stop.deadline())
                } else {
                    rejected(Refusal::AgentBusy)
                }
            }
        }
    }

    fn await_echo(&mut self, view: &AgentView, own: &mut OwnMessages, pasted: Instant) -> Next {
        if let Some(refusal) = view.refusal() {
            return rejected(refusal);
        }
        let now = view.now.steady;
        if view.composer_holds(&self.text) && view.written {
            if self.previous.take().is_some_and(|previous| view.may_hide(&previous)) {
                // Cleared and pasted again, the message is alone.
                return self.begin_clear(view, own);
            }
            self.phase = Phase::PressEnter { shown: now };
            return self.press_enter(view, own, now);
        }
        // An interrupt can bring the previous message back just before the paste arrives. The
        // composer then holds both, and both are coop's.
        let previous = self.previous.as_ref();
        if previous.is_some_and(|previous| view.composer_holds_both(&previous.text, &self.text)) {
            self.previous = None;
            return self.begin_clear(view, own);
        }
        let last = view.began + WHOLE - TAKE_BACK;
        let deadline = (pasted + echo_timeout(self.text.len())).min(last);
        if now < deadline {
            return wait(deadline);
        }
        let message = "the agent did not show the message in its composer; it was not submitted";
        Next::Fail(Error::new(Code::Timeout, message))
    }

    fn press_enter(&mut self, view: &AgentView, own: &mut OwnMessages, shown: Instant) -> Next {
        if let Some(refusal) = view.refusal() {
            return rejected(refusal);
        }
        if !view.composer_holds(&self.text) {
            self.phase = Phase::AwaitEcho { pasted: shown };
            return self.await_echo(view, own, shown);
        }
        let takes_enter = shown + view.driver.habits().enter_delay;
        if view.now.steady < takes_enter {
            return wait(takes_enter);
        }
        self.phase = Phase::AwaitWitness {
            entered: view.now.steady,
            rows: view.composer_rows(),
            again: false,
        };
        Next::Submit
    }

    fn await_witness(
        &mut self,
        view: &AgentView,
        entered: Instant,
        rows: usize,
        again: bool,
    ) -> Next {
        let now = view.now.steady;
        let in_composer = view.composer_holds(&self.text);
        if self.has_witness(view) {
            return Next::End(NudgeOutcome::Accepted);
        }
        let retry = entered + view.retry_after;
        if in_composer && view.reading.dialog.is_none() {
            // An agent that had no processor for a while reads paste and Enter at once, and takes
            // the Enter for a line break of the message: the composer is a row higher.
            let broke_line = view.composer_rows() > rows && view.written;
            if broke_line || (!again && now >= retry) {
                let (rows, again) = (view.composer_rows(), again || !broke_line);
                self.phase = Phase::AwaitWitness { entered: now, rows, again };
                return Next::Step(Step::Type(Write::text(ENTER)));
            }
        }
        let last = if in_composer { WHOLE - TAKE_BACK } else { WHOLE };
        let end = (retry + view.retry_after).min(view.began + last);
        if now >= end {
            return Next::End(self.outcome_without_witness(view));
        }
        wait(if again || now >= retry { end } else { retry.min(end) })
    }

    /// Whether the agent has received the message: a source reports its text, or it has left the
    /// composer and a turn ran since.
    fn has_witness(&mut self, view: &AgentView) -> bool {
        self.situation_seen(view.situation());
        let left_composer = view.written && !view.composer_holds(&self.text);
        self.witnessed || (self.turn_seen && left_composer)
    }

    /// What is known of a submitted message that has no witness so far.
    fn outcome_without_witness(&self, view: &AgentView) -> NudgeOutcome {
        match view.composer_holds(&self.text) {
            true => NudgeOutcome::Unconfirmed,
            false => NudgeOutcome::Submitted,
        }
    }

    /// Logs that Enter is pressed. A caller that waits for no witness gets its reply.
    fn submit(&mut self, view: &AgentView, output: &mut TaskOutput) -> Step {
        let (outcome, before) = (NudgeOutcome::Submitted, view.state_before);
        let seq = self.caller.log(view.now, outcome, output);
        let confirm = self.request.confirm;
        let reply_due = (!confirm.is_zero()).then_some(view.now.steady + confirm);
        self.submitted = Some(Submitted { seq, state_before: before, reply_due });
        if reply_due.is_none() {
            self.caller.reply((before, before), outcome, seq, output);
        }
        Step::Type(Write::bytes(ENTER))
    }

    /// Logs the outcome, and replies with it unless the caller has its reply.
    fn complete(
        &mut self,
        now: Now,
        outcome: NudgeOutcome,
        states: States,
        output: &mut TaskOutput,
    ) {
        if matches!(outcome, NudgeOutcome::Accepted | NudgeOutcome::Submitted) {
            output.own_messages.submitted();
        }
        let logged = self.caller.log(now, outcome, output);
        let seq = self.submitted.as_ref().map_or(logged, |submitted| submitted.seq);
        self.caller.reply(states, outcome, seq, output);
    }

    fn fail(&mut self, now: Now, error: &Error, output: &mut TaskOutput) {
        let error = &output.own_messages.mark(error);
        if self.queued || !matches!(self.phase, Phase::Begin { .. }) {
            self.caller.log_failure(now, error, output);
        }
        self.caller.fail(error, output);
    }
}

impl Task for NudgeTask {
    fn step(&mut self, view: &AgentView, output: &mut TaskOutput) -> Step {
        let next = self.next(view, output.own_messages);
        match self.before_end(view, output.own_messages, next) {
            Next::Step(step) => step,
            Next::Submit => self.submit(view, output),
            Next::End(NudgeOutcome::Rejected(_)) if self.queued => {
                self.phase = Phase::Begin { interrupt: false };
                Step::Requeue
            }
            Next::End(outcome) => {
                self.complete(view.now, outcome, (view.state_before, view.state()), output);
                Step::Done
            }
            Next::Fail(error) => {
                self.fail(view.now, &error, output);
                Step::Done
            }
        }
    }

    fn situation_seen(&mut self, situation: &Situation) {
        if self.submitted.is_some() {
            self.turn_seen |= matches!(situation, Situation::Working { .. } | Situation::Prompt(_));
        }
    }

    fn turn_started(&mut self, text: Option<&str>) {
        if let (Some(_), Some(text)) = (&self.submitted, text) {
            self.witnessed |= text.split_whitespace().eq(self.text.split_whitespace());
        }
    }

    fn has_submitted(&self) -> bool {
        self.submitted.is_some()
    }

    fn reply_due(&self) -> Option<Instant> {
        self.submitted.as_ref().and_then(|submitted| submitted.reply_due)
    }

    fn reply_if_due(&mut self, view: &AgentView, output: &mut TaskOutput) {
        let Some(submitted) = &mut self.submitted else { return };
        if submitted.reply_due.take_if(|due| *due <= view.now.steady).is_some() {
            let (seq, states) = (submitted.seq, (submitted.state_before, view.state()));
            let outcome = self.outcome_without_witness(view);
            self.caller.reply(states, outcome, seq, output);
        }
    }

    fn cancel(
        mut self: Box<Self>,
        now: Now,
        state: AgentState,
        error: &Error,
        output: &mut TaskOutput,
    ) {
        match self.submitted.as_ref().map(|submitted| submitted.state_before) {
            Some(before) => self.complete(now, NudgeOutcome::Submitted, (before, state), output),
            None => self.fail(now, error, output),
        }
    }
}

/// How long a paste may take to show in the composer. An agent that has just ended a turn in a low
/// terminal redraws all of it first, and without a free processor that takes seconds.
fn echo_timeout(length: usize) -> Duration {
    let longer = Duration::from_millis(length.saturating_sub(256) as u64);
    (Duration::from_secs(4) + longer).min(Duration::from_secs(6))
}
