//! Errands one after the other: who asked for one, which is under way, which wait, and what everybody is told.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;

use super::keys::{Keys, Seen};
use super::{Hands, Mind};
use crate::driver::agent::AgentState;
use crate::driver::launch::Groom;
use crate::driver::prompt::{Answer as PromptAnswer, Prompt};
use crate::error::{Code, Error};
use crate::session::actor::Effect;
use crate::session::clock::Now;
use crate::session::errand::{End, Errand, Interrupt, NudgeErrand, RespondErrand, Scene, Step, nudgeable};
use crate::session::event::{EventSeq, NudgeEvent, RespondEvent, What};
use crate::session::outbox::Answer;
use crate::session::talk::{Interrupted, Message, Mode, NudgeOutcome, Nudged, QUEUE_LIMIT, Reply, Responded};
use crate::session::typist::Write;

/// How many steps an errand may take without anything happening in between; it never takes as many.
const STEPS: usize = 8;

#[derive(Debug)]
pub(super) struct Desk {
    prefix: String,
    count: u64,
    keys: Keys,
    /// The errand that holds the writer.
    running: Option<Running>,
    /// Errands that somebody waits for.
    line: VecDeque<Job>,
    /// Messages that wait for the agent, with nobody waiting for them.
    queue: VecDeque<NudgeJob>,
    /// What coop typed last: if it is in the composer, it is nobody's draft.
    typed: Option<String>,
}

#[derive(Debug)]
enum Job {
    Nudge(NudgeJob),
    Respond(RespondJob),
    Interrupt(Answer<Interrupted>),
}

#[derive(Debug)]
struct NudgeJob {
    id: String,
    message: Message,
    /// Nobody waits any more once it was answered, or queued.
    answer: Option<Answer<Nudged>>,
    queued: bool,
}

#[derive(Debug)]
struct RespondJob {
    prompt: Arc<Prompt>,
    answer: PromptAnswer,
    /// Nobody, if coop answers by itself.
    to: Option<Answer<Responded>>,
}

#[derive(Debug)]
struct Running {
    errand: Errand,
    job: Job,
    before: AgentState,
    wait_until: Option<Instant>,
    submitted: Option<EventSeq>,
    /// When the caller has waited long enough for a witness.
    confirm_at: Option<Instant>,
}

impl Desk {
    pub(super) fn new(prefix: String) -> Self {
        Self {
            prefix,
            count: 0,
            keys: Keys::default(),
            running: None,
            line: VecDeque::new(),
            queue: VecDeque::new(),
            typed: None,
        }
    }

    pub(super) fn busy(&self) -> bool {
        self.running.is_some()
    }

    pub(super) fn heard_turn(&mut self, text: Option<&str>) {
        if let Some(running) = &mut self.running {
            running.errand.heard_turn(text);
        }
    }

    pub(super) fn deadline(&self) -> Option<Instant> {
        let running = self.running.as_ref()?;
        [running.wait_until, running.confirm_at].into_iter().flatten().min()
    }

    fn next_id(&mut self) -> String {
        self.count += 1;
        format!("{}{}", self.prefix, self.count)
    }
}

impl Mind {
    /// Somebody has a message for the agent.
    pub fn nudge(&mut self, now: Now, message: Message, answer: Answer<Nudged>, hands: &mut Hands) {
        let answer = match &message.key {
            None => answer,
            Some(key) => match self.desk.keys.look_up(key, &message.text, answer) {
                Seen::New(answer) => answer,
                Seen::Answered(answer, reply) => return hands.board.answer(answer, Ok(reply)),
                Seen::UnderWay => return,
                Seen::Another(answer) => {
                    let error = Error::bad_request("this idempotency_key was used with another message");
                    return hands.board.answer(answer, Err(error));
                }
            },
        };
        let mut job = NudgeJob { id: self.desk.next_id(), message, answer: Some(answer), queued: false };
        let must_wait = !self.can_take_message() || !self.desk.queue.is_empty();
        if job.message.mode == Mode::Queue && must_wait {
            if self.desk.queue.len() >= QUEUE_LIMIT {
                let text = format!("{QUEUE_LIMIT} messages wait for the agent already");
                return self.nudge_failed(job, &Error::new(Code::WriterBusy, text), hands);
            }
            job.queued = true;
            self.nudge_over(now, &mut job, NudgeOutcome::Queued, None, hands);
            self.desk.queue.push_back(job);
            return;
        }
        self.stand_in_line(Job::Nudge(job), hands);
    }

    /// Somebody has an answer for the prompt that stands.
    pub fn respond(&mut self, reply: Reply, answer: Answer<Responded>, hands: &mut Hands) {
        let verdict = self.tracker.verdict();
        let Some(prompt) = verdict.situation.prompt().cloned() else {
            let state = verdict.situation.state();
            let seq = hands.board.snapshot.event_seq;
            return match reply.prompt_id {
                Some(_) => hands.board.answer(answer, Err(stale(None))),
                None => hands.board.answer(answer, Ok(Responded::NoPrompt { state, seq })),
            };
        };
        if reply.prompt_id.as_ref().is_some_and(|id| *id != prompt.id.0) {
            return hands.board.answer(answer, Err(stale(Some(&prompt))));
        }
        if let Err(reason) = reply.answer.check(&prompt) {
            return hands.board.answer(answer, Err(Error::bad_request(reason)));
        }
        let job = RespondJob { prompt, answer: reply.answer, to: Some(answer) };
        self.stand_in_line(Job::Respond(job), hands);
    }

    /// Somebody wants the turn stopped: before anything else, and instead of what is being typed.
    pub fn interrupt(&mut self, now: Now, answer: Answer<Interrupted>, hands: &mut Hands) {
        if let Some(running) = self.desk.running.take() {
            hands.typist.release(now);
            let error = Error::new(Code::AgentBusy, "an interrupt came first");
            self.give_up(now, running, &error, hands);
        }
        self.desk.line.push_front(Job::Interrupt(answer));
    }

    /// Answers set-up dialogs that nobody needs to be asked about.
    pub(super) fn groom(&mut self, now: Now, hands: &mut Hands) {
        if self.profile.groom != Groom::Auto || self.desk.busy() || !self.desk.line.is_empty() {
            return;
        }
        let verdict = self.tracker.verdict();
        let Some(prompt) = verdict.situation.prompt().filter(|prompt| prompt.ready).cloned() else { return };
        if self.groomed.as_ref() == Some(&prompt.id) || hands.lease.check(now, None).is_err() {
            return;
        }
        let Some(answer) = self.driver.groom(&prompt, &self.command) else { return };
        self.groomed = Some(prompt.id.clone());
        self.desk.line.push_back(Job::Respond(RespondJob { prompt, answer, to: None }));
    }

    /// Lets the errand under way take its steps, and the next one begin.
    pub(super) fn work(&mut self, now: Now, hands: &mut Hands) {
        for _ in 0..STEPS {
            if self.desk.running.is_none() && !self.begin(now, hands) {
                return;
            }
            if !self.step(now, hands) {
                break;
            }
        }
        self.confirm_in_time(now, hands);
    }

    /// The child is gone: whoever waits is told, and what was queued is dropped.
    pub(super) fn drop_errands(&mut self, now: Now, error: &Error, hands: &mut Hands) {
        if let Some(running) = self.desk.running.take() {
            hands.typist.release(now);
            self.give_up(now, running, error, hands);
        }
        for job in std::mem::take(&mut self.desk.line) {
            match job {
                Job::Nudge(job) => self.nudge_failed(job, error, hands),
                Job::Respond(job) => respond_failed(job, error, hands),
                Job::Interrupt(answer) => hands.board.answer(answer, Err(error.clone())),
            }
        }
        for job in std::mem::take(&mut self.desk.queue) {
            let failure = Some(error.message.clone());
            let refused = NudgeOutcome::Rejected(crate::session::talk::Refusal::AgentBusy);
            hands.board.log(now, What::Nudge(NudgeEvent { id: job.id, outcome: refused, failure }));
        }
    }

    fn stand_in_line(&mut self, job: Job, hands: &mut Hands) {
        if self.desk.line.len() < QUEUE_LIMIT {
            return self.desk.line.push_back(job);
        }
        let error = Error::new(Code::WriterBusy, format!("{QUEUE_LIMIT} others wait for the agent already"));
        match job {
            Job::Nudge(job) => self.nudge_failed(job, &error, hands),
            Job::Respond(job) => respond_failed(job, &error, hands),
            Job::Interrupt(answer) => hands.board.answer(answer, Err(error)),
        }
    }

    /// The composer is there, empty, and has the keyboard.
    fn can_take_message(&self) -> bool {
        let (situation, sight) = (&self.tracker.verdict().situation, self.tracker.sight());
        let empty = sight.composer.as_ref().is_some_and(|composer| composer.draft.is_empty());
        nudgeable(situation) && empty && sight.dialog.is_none()
    }

    /// Begins the next errand, if there is one and its time has come.
    fn begin(&mut self, now: Now, hands: &mut Hands) -> bool {
        let next = match self.desk.line.pop_front() {
            Some(job) => Some(job),
            None if self.can_take_message() && hands.lease.check(now, None).is_ok() => {
                self.desk.queue.pop_front().map(Job::Nudge)
            }
            None => None,
        };
        let Some(job) = next else { return false };
        let errand = match &job {
            Job::Nudge(job) => {
                let text = self.driver.compose(&job.message.text);
                let stop_first = job.message.mode == Mode::Interrupt;
                let before = self.desk.typed.clone();
                let retry_after = self.profile.retry_after;
                Errand::Nudge(NudgeErrand::new(now.steady, text, before, stop_first, retry_after))
            }
            Job::Respond(job) => {
                let waiting = self.hooks.iter().any(|(prompt, _)| *prompt == job.prompt.id);
                let by_hook = if waiting { self.driver.hook_answer(&job.prompt, &job.answer) } else { None };
                let (prompt, answer) = (Arc::clone(&job.prompt), job.answer.clone());
                Errand::Respond(Box::new(RespondErrand::new(now.steady, prompt, answer, by_hook)))
            }
            Job::Interrupt(_) => Errand::Interrupt(Interrupt::default()),
        };
        hands.typist.hold();
        let before = self.tracker.verdict().situation.state();
        self.desk.running =
            Some(Running { errand, job, before, wait_until: None, submitted: None, confirm_at: None });
        true
    }

    /// One step of the errand under way. Answers whether another may follow at once.
    fn step(&mut self, now: Now, hands: &mut Hands) -> bool {
        // What is being drawn decides, once it is there.
        if let (Some(due), Some(running)) =
            (self.look_due.filter(|due| *due > now.steady), &mut self.desk.running)
        {
            running.wait_until = Some(due);
            running.errand.found(&self.tracker.verdict().situation);
            return false;
        }
        self.look(now, hands);
        let Some(mut running) = self.desk.running.take() else { return false };
        let scene = self.scene(now, hands);
        let step = running.errand.step(&scene);
        match step {
            Step::Type(bytes) => {
                self.remember_typed(&running.errand);
                hands.typist.errand(now, Write::text(bytes));
            }
            Step::Submit(bytes) => {
                hands.typist.errand(now, Write::bytes(bytes));
                running.submitted = Some(self.submitted(now, &mut running, hands));
            }
            Step::Stop(bytes) => self.stop_turn(now, bytes, hands),
            Step::AnswerHook(output) => {
                let prompt = match &running.errand {
                    Errand::Respond(respond) => respond.prompt().id.clone(),
                    Errand::Nudge(_) | Errand::Interrupt(_) => return false,
                };
                if let Some(place) = self.hooks.iter().position(|(id, _)| *id == prompt) {
                    let (_, hook) = self.hooks.remove(place);
                    hands.effects.push(Effect::AnswerHook { hook, output });
                }
            }
            Step::Wait(until) => {
                running.wait_until = Some(until);
                self.desk.running = Some(running);
                return false;
            }
            Step::Done(end) => {
                hands.typist.release(now);
                self.finish(now, running, end, hands);
                return true;
            }
        }
        self.desk.running = Some(running);
        true
    }

    fn scene(&self, now: Now, hands: &Hands) -> Scene<'_> {
        Scene {
            now: now.steady,
            driver: &*self.driver,
            verdict: self.tracker.verdict(),
            sight: self.tracker.sight(),
            paste: hands.terminal.modes().bracketed_paste,
            written: hands.typist.errand_done(),
            human_at: self.human_at,
        }
    }

    fn stop_turn(&mut self, now: Now, key: Bytes, hands: &mut Hands) {
        hands.typist.errand(now, Write::bytes(key));
        self.tracker.interrupted(now.steady);
    }

    fn remember_typed(&mut self, errand: &Errand) {
        match errand {
            Errand::Nudge(nudge) => self.desk.typed = Some(nudge.text().to_owned()),
            Errand::Respond(_) | Errand::Interrupt(_) => {}
        }
    }

    /// The message goes out. Who waits for no more than that is told.
    fn submitted(&mut self, now: Now, running: &mut Running, hands: &mut Hands) -> EventSeq {
        let Job::Nudge(job) = &mut running.job else { return hands.board.snapshot.event_seq };
        let outcome = NudgeOutcome::Submitted;
        let event = NudgeEvent { id: job.id.clone(), outcome, failure: None };
        let seq = hands.board.log(now, What::Nudge(event));
        if job.message.confirm.is_zero() {
            let reply =
                Nudged { id: job.id.clone(), before: running.before, after: running.before, outcome, seq };
            tell(&mut self.desk.keys, job, &reply, hands);
        } else {
            running.confirm_at = Some(now.steady + job.message.confirm);
        }
        seq
    }

    /// Who has waited long enough for a witness is told what is known; the errand goes on.
    fn confirm_in_time(&mut self, now: Now, hands: &mut Hands) {
        let Some(mut running) = self.desk.running.take() else { return };
        if running.confirm_at.take_if(|at| *at <= now.steady).is_some()
            && let (Errand::Nudge(nudge), Job::Nudge(job)) = (&running.errand, &mut running.job)
        {
            let outcome = match nudge.unwitnessed(&self.scene(now, hands)) {
                End::Unconfirmed => NudgeOutcome::Unconfirmed,
                _ => NudgeOutcome::Submitted,
            };
            let seq = running.submitted.unwrap_or(hands.board.snapshot.event_seq);
            let after = self.tracker.verdict().situation.state();
            let reply = Nudged { id: job.id.clone(), before: running.before, after, outcome, seq };
            tell(&mut self.desk.keys, job, &reply, hands);
        }
        self.desk.running = Some(running);
    }

    fn finish(&mut self, now: Now, running: Running, end: End, hands: &mut Hands) {
        let Running { job, before, submitted, .. } = running;
        let after = self.tracker.verdict().situation.state();
        let head = hands.board.snapshot.event_seq;
        match (job, end) {
            (Job::Nudge(mut job), End::Accepted) => {
                self.nudge_over(now, &mut job, NudgeOutcome::Accepted, Some((before, submitted)), hands);
            }
            (Job::Nudge(mut job), End::Submitted) => {
                self.nudge_over(now, &mut job, NudgeOutcome::Submitted, Some((before, submitted)), hands);
            }
            (Job::Nudge(mut job), End::Unconfirmed) => {
                self.nudge_over(now, &mut job, NudgeOutcome::Unconfirmed, Some((before, submitted)), hands);
            }
            // Its turn comes again.
            (Job::Nudge(job), End::Refused(_)) if job.queued => self.desk.queue.push_front(job),
            (Job::Nudge(mut job), End::Refused(reason)) => {
                self.nudge_over(now, &mut job, NudgeOutcome::Rejected(reason), Some((before, None)), hands);
            }
            (Job::Respond(job), End::Answered { outcome, via }) => {
                let kind = job.prompt.kind;
                let event = RespondEvent { id: job.prompt.id.clone(), outcome, via };
                let seq = hands.board.log(now, What::Respond(event));
                if let Some(to) = job.to {
                    hands.board.answer(to, Ok(Responded::Given { kind, outcome, via, after, seq }));
                }
            }
            (Job::Interrupt(answer), End::Interrupted) => {
                let done = Interrupted { delivered: true, before, after, seq: head };
                hands.board.answer(answer, Ok(done));
            }
            (Job::Interrupt(answer), End::NothingToStop) => {
                let done = Interrupted { delivered: false, before, after, seq: head };
                hands.board.answer(answer, Ok(done));
            }
            (Job::Nudge(job), End::Failed(error)) => self.nudge_failed_with_event(now, job, &error, hands),
            (Job::Respond(job), End::Failed(error)) => respond_failed(job, &error, hands),
            (Job::Interrupt(answer), End::Failed(error)) => hands.board.answer(answer, Err(error)),
            (Job::Nudge(_) | Job::Respond(_) | Job::Interrupt(_), _) => {
                debug_assert!(false, "an errand ended as no errand of its kind does");
            }
        }
    }

    /// The errand is cut off before its end.
    fn give_up(&mut self, now: Now, running: Running, error: &Error, hands: &mut Hands) {
        let Running { job, before, submitted, .. } = running;
        match (job, submitted) {
            (Job::Nudge(mut job), Some(_)) => {
                let outcome = NudgeOutcome::Submitted;
                self.nudge_over(now, &mut job, outcome, Some((before, submitted)), hands);
            }
            (Job::Nudge(job), None) => self.nudge_failed_with_event(now, job, error, hands),
            (Job::Respond(job), _) => respond_failed(job, error, hands),
            (Job::Interrupt(answer), _) => hands.board.answer(answer, Err(error.clone())),
        }
    }

    /// Something became of a message: the log has it, and whoever waits is told.
    fn nudge_over(
        &mut self,
        now: Now,
        job: &mut NudgeJob,
        outcome: NudgeOutcome,
        begun: Option<(AgentState, Option<EventSeq>)>,
        hands: &mut Hands,
    ) {
        let event = NudgeEvent { id: job.id.clone(), outcome, failure: None };
        let logged = hands.board.log(now, What::Nudge(event));
        let after = self.tracker.verdict().situation.state();
        let (before, submitted) = begun.unwrap_or((after, None));
        let reply = Nudged { id: job.id.clone(), before, after, outcome, seq: submitted.unwrap_or(logged) };
        tell(&mut self.desk.keys, job, &reply, hands);
    }

    fn nudge_failed_with_event(&mut self, now: Now, job: NudgeJob, error: &Error, hands: &mut Hands) {
        let refused = NudgeOutcome::Rejected(crate::session::talk::Refusal::AgentBusy);
        let failure = Some(error.message.clone());
        hands.board.log(now, What::Nudge(NudgeEvent { id: job.id.clone(), outcome: refused, failure }));
        self.nudge_failed(job, error, hands);
    }

    fn nudge_failed(&mut self, job: NudgeJob, error: &Error, hands: &mut Hands) {
        let others = job.message.key.as_deref().map(|key| self.desk.keys.forget(key)).unwrap_or_default();
        for answer in job.answer.into_iter().chain(others) {
            hands.board.answer(answer, Err(error.clone()));
        }
    }
}

/// Tells everybody who waits for this message. A message that was not typed leaves its key free.
fn tell(keys: &mut Keys, job: &mut NudgeJob, reply: &Nudged, hands: &mut Hands) {
    let others = match (&job.message.key, reply.outcome) {
        (Some(key), NudgeOutcome::Rejected(_)) => keys.forget(key),
        (Some(key), _) => keys.keep(key, reply),
        (None, _) => Vec::new(),
    };
    for answer in job.answer.take().into_iter().chain(others) {
        hands.board.answer(answer, Ok(reply.clone()));
    }
}

fn respond_failed(job: RespondJob, error: &Error, hands: &mut Hands) {
    if let Some(to) = job.to {
        hands.board.answer(to, Err(error.clone()));
    }
}

fn stale(standing: Option<&Arc<Prompt>>) -> Error {
    match standing {
        Some(prompt) => Error::new(Code::StalePrompt, "another prompt stands now; nothing was typed")
            .with("prompt_id", &prompt.id.0),
        None => Error::new(Code::StalePrompt, "that prompt is over; nothing was typed"),
    }
}
