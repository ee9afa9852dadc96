//! The agent's tasks: one runs and holds the writer, the others wait in order.
//!
//! Callers wait for the tasks in `waiting`. Messages in `messages` wait until the agent is idle,
//! and their callers already know that they are queued.

mod own_draft;

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;

use super::idempotency::{IdempotencyKeys, KeyState};
use super::task::{
    AgentView, InterruptTask, NudgeTask, OwnMessages, RespondTask, Step, Task, TaskOutput,
};
use super::{AgentSession, Context};
use crate::driver::agent::AgentState;
use crate::driver::launch::Groom;
use crate::driver::prompt::{Prompt, PromptId};
use crate::error::{Code, Error};
use crate::session::actor::Effect;
use crate::session::by::By;
use crate::session::clock::Now;
use crate::session::outcome::{InterruptReply, NudgeReply, RespondReply};
use crate::session::publisher::Publisher;
use crate::session::replies::ReplySender;
use crate::session::request::{NudgeMode, NudgeRequest, QUEUE_LIMIT, RespondRequest};
use crate::session::typist::WriterHold;

/// How many steps tasks may take in one turn of the actor; a task never takes as many.
const STEPS: usize = 8;

#[derive(Debug)]
pub(super) struct TaskQueue {
    /// Begins the id of every nudge.
    id_prefix: String,
    nudges: u64,
    running: Option<Running>,
    waiting: VecDeque<Box<dyn Task>>,
    messages: VecDeque<Box<dyn Task>>,
    keys: IdempotencyKeys,
    own_messages: OwnMessages,
    /// The prompt that was answered last, and by whom.
    last_answer: Option<(PromptId, By)>,
}

#[derive(Debug)]
struct Running {
    task: Box<dyn Task>,
    writer: WriterHold,
    began: Instant,
    state_before: AgentState,
    wait_until: Option<Instant>,
}

impl TaskQueue {
    pub(super) fn new(id_prefix: String) -> Self {
        Self {
            id_prefix,
            nudges: 0,
            running: None,
            waiting: VecDeque::new(),
            messages: VecDeque::new(),
            keys: IdempotencyKeys::default(),
            own_messages: OwnMessages::default(),
            last_answer: None,
        }
    }

    pub(super) fn is_running(&self) -> bool {
        self.running.is_some()
    }

    pub(super) fn turn_started(&mut self, text: Option<&str>) {
        if let Some(running) = &mut self.running {
            running.task.turn_started(text);
        }
    }

    pub(super) fn deadline(&self) -> Option<Instant> {
        let running = self.running.as_ref()?;
        [running.wait_until, running.task.reply_due()].into_iter().flatten().min()
    }

    /// Cancels the running task and all others.
    pub(super) fn cancel_all(
        &mut self,
        now: Now,
        state: AgentState,
        error: &Error,
        publisher: &mut Publisher,
    ) {
        self.cancel_running(now, state, error, publisher);
        let waiting = std::mem::take(&mut self.waiting);
        let messages = std::mem::take(&mut self.messages);
        for task in waiting.into_iter().chain(messages) {
            task.cancel(now, state, error, &mut self.output(publisher));
        }
    }

    pub(super) fn cancel_running(
        &mut self,
        now: Now,
        state: AgentState,
        error: &Error,
        publisher: &mut Publisher,
    ) {
        if let Some(running) = self.running.take() {
            running.task.cancel(now, state, error, &mut self.output(publisher));
        }
    }

    /// Adds a task that its caller waits for, or refuses it because too many wait.
    fn push(
        &mut self,
        now: Now,
        task: Box<dyn Task>,
        state: AgentState,
        publisher: &mut Publisher,
    ) {
        if self.waiting.len() < QUEUE_LIMIT {
            return self.waiting.push_back(task);
        }
        let error = Error::new(
            Code::WriterBusy,
            format!("{QUEUE_LIMIT} calls already wait for the agent; try again later"),
        );
        task.cancel(now, state, &error, &mut self.output(publisher));
    }

    /// Who answered this prompt, if it was the last that a caller answered.
    fn answered_by(&self, prompt: &str) -> Option<&By> {
        let (answered, by) = self.last_answer.as_ref()?;
        (answered.0 == prompt).then_some(by)
    }

    fn next_nudge_id(&mut self) -> String {
        self.nudges += 1;
        format!("{}{}", self.id_prefix, self.nudges)
    }

    fn output<'a>(&'a mut self, publisher: &'a mut Publisher) -> TaskOutput<'a> {
        TaskOutput {
            publisher,
            keys: &mut self.keys,
            own_messages: &mut self.own_messages,
            last_answer: &mut self.last_answer,
        }
    }
}

impl AgentSession {
    /// Types a message into the agent, or queues or refuses it.
    pub(in crate::session) fn nudge(
        &mut self,
        now: Now,
        by: &By,
        request: NudgeRequest,
        reply: ReplySender<NudgeReply>,
        context: &mut Context,
    ) {
        let publisher = &mut *context.publisher;
        let reply = match &request.idempotency_key {
            None => reply,
            Some(key) => match self.tasks.keys.look_up(key, &request.text, reply) {
                KeyState::New(reply) => reply,
                KeyState::Replied(reply, given) => return publisher.reply(reply, Ok(given)),
                KeyState::InProgress => return,
                KeyState::OtherMessage(reply) => {
                    let message = "this idempotency_key was used with another message";
                    return publisher.reply(reply, Err(Error::bad_request(message)));
                }
            },
        };
        let state = self.tracker.verdict().situation.state();
        let must_wait = !self.can_take_message() || !self.tasks.messages.is_empty();
        let queue = request.mode == NudgeMode::Queue && must_wait;
        let task = NudgeTask::new(self.tasks.next_nudge_id(), by.clone(), request, reply);
        if !queue {
            self.tasks.push(now, Box::new(task), state, publisher);
        } else if self.tasks.messages.len() >= QUEUE_LIMIT {
            let message = format!("{QUEUE_LIMIT} messages already wait for the agent");
            let error = Error::new(Code::WriterBusy, message);
            Box::new(task).cancel(now, state, &error, &mut self.tasks.output(publisher));
        } else {
            let queued = task.queue(now, state, &mut self.tasks.output(publisher));
            self.tasks.messages.push_back(Box::new(queued));
        }
    }

    /// Answers the prompt that the agent is at.
    pub(in crate::session) fn respond(
        &mut self,
        now: Now,
        by: &By,
        request: RespondRequest,
        reply: ReplySender<RespondReply>,
        context: &mut Context,
    ) {
        let publisher = &mut *context.publisher;
        let situation = &self.tracker.verdict().situation;
        let state = situation.state();
        let Some(prompt) = situation.prompt().cloned() else {
            let seq = publisher.snapshot.event_seq;
            return match request.prompt_id {
                Some(id) => {
                    let answered_by = self.tasks.answered_by(&id);
                    publisher.reply(reply, Err(stale_prompt(None, answered_by)));
                }
                None => publisher.reply(reply, Ok(RespondReply::NoPrompt { state, seq })),
            };
        };
        if let Some(id) = request.prompt_id.as_ref().filter(|id| **id != prompt.id.0) {
            let answered_by = self.tasks.answered_by(id);
            return publisher.reply(reply, Err(stale_prompt(Some(&prompt), answered_by)));
        }
        if let Err(reason) = request.answer.check(&prompt) {
            return publisher.reply(reply, Err(Error::bad_request(reason)));
        }
        let opened = publisher.snapshot.agent.since_steady;
        let task = RespondTask::new((prompt, opened), request.answer, by.clone(), Some(reply));
        self.tasks.push(now, Box::new(task), state, publisher);
    }

    /// Stops the agent's turn: before all other tasks, and instead of the one that runs.
    pub(in crate::session) fn interrupt(
        &mut self,
        now: Now,
        by: &By,
        reply: ReplySender<InterruptReply>,
        context: &mut Context,
    ) {
        let state = self.tracker.verdict().situation.state();
        let submitted =
            self.tasks.running.as_ref().is_some_and(|running| running.task.has_submitted());
        let error = Error::new(Code::AgentBusy, format!("an interrupt came first, by {by}"));
        let error = error.with("by", by);
        self.tasks.cancel_running(now, state, &error, context.publisher);
        let task = InterruptTask::new(now, by.clone(), submitted, reply);
        self.tasks.waiting.push_front(Box::new(task));
    }

    /// Answers set-up dialogs that need no decision by the user.
    pub(super) fn groom(&mut self, now: Now, context: &mut Context) {
        let has_tasks = self.tasks.is_running() || !self.tasks.waiting.is_empty();
        if self.profile.groom != Groom::Auto || has_tasks {
            return;
        }
        let situation = &self.tracker.verdict().situation;
        let Some(prompt) = situation.prompt().filter(|prompt| prompt.ready).cloned() else {
            return;
        };
        if self.groomed.as_ref() == Some(&prompt.id) || context.lease.check(now, None).is_err() {
            return;
        }
        let Some(answer) = self.driver.groom(&prompt, &self.command) else { return };
        self.groomed = Some(prompt.id.clone());
        let opened = context.publisher.snapshot.agent.since_steady;
        let task = RespondTask::new((prompt, opened), answer, By::Coop, None);
        self.tasks.waiting.push_back(Box::new(task));
    }

    /// Lets the running task take its steps, and the next one begin.
    pub(super) fn run_tasks(&mut self, now: Now, context: &mut Context) {
        for _ in 0..STEPS {
            if !self.tasks.is_running() && !self.begin_task(now, context) {
                return;
            }
            if !self.step_task(now, context) {
                break;
            }
        }
        self.with_running(now, context, |task, view, output| task.reply_if_due(view, output));
    }

    /// Shows the running task the agent as it is now.
    fn with_running<R>(
        &mut self,
        now: Now,
        context: &mut Context,
        act: impl FnOnce(&mut dyn Task, &AgentView, &mut TaskOutput) -> R,
    ) -> Option<R> {
        let TaskQueue { running, keys, own_messages, last_answer, .. } = &mut self.tasks;
        let running = running.as_mut()?;
        let view = AgentView {
            now,
            began: running.began,
            state_before: running.state_before,
            driver: &*self.driver,
            tracker: &self.tracker,
            verdict: self.tracker.verdict(),
            reading: self.tracker.reading(),
            turn_is_shown: self.tracker.shows_turn(),
            drawn_at: self.drawn_at,
            bracketed_paste: context.terminal.modes().bracketed_paste,
            written: context.typist.task_writes_done(),
            client_typed: self.client_typed.as_ref(),
            only_here: self.only_here,
            pending_hooks: &self.pending_hooks,
            retry_after: self.profile.retry_after,
        };
        let publisher = &mut *context.publisher;
        let mut output = TaskOutput { publisher, keys, own_messages, last_answer };
        Some(act(&mut *running.task, &view, &mut output))
    }

    /// Begins the next task. Returns whether there was one.
    fn begin_task(&mut self, now: Now, context: &mut Context) -> bool {
        let next = match self.tasks.waiting.pop_front() {
            Some(task) => Some(task),
            None if self.can_take_message() && context.lease.check(now, None).is_ok() => {
                self.tasks.messages.pop_front()
            }
            None => None,
        };
        let Some(task) = next else { return false };
        self.tasks.running = Some(Running {
            task,
            writer: context.typist.hold(now),
            began: now.steady,
            state_before: self.tracker.verdict().situation.state(),
            wait_until: None,
        });
        true
    }

    /// Takes one step of the running task. Returns whether another may follow at once.
    fn step_task(&mut self, now: Now, context: &mut Context) -> bool {
        // A frame is being drawn: the task decides when all of it is there.
        if let (Some(due), Some(running)) =
            (self.reading_due.filter(|due| *due > now.steady), &mut self.tasks.running)
        {
            running.wait_until = Some(due);
            running.task.situation_seen(&self.tracker.verdict().situation);
            return false;
        }
        self.read_screen(now, context);
        let step = self.with_running(now, context, |task, view, output| task.step(view, output));
        let (Some(step), Some(running)) = (step, &mut self.tasks.running) else { return false };
        match step {
            Step::Type(write) => context.typist.write_for(&running.writer, now, write),
            Step::AnswerHook { prompt, output } => {
                if let Some(hook) = self.pending_hooks.take(&prompt) {
                    context.effects.push(Effect::AnswerHook { hook, output });
                }
            }
            Step::Wait(until) => {
                running.wait_until = Some(until);
                return false;
            }
            Step::Requeue => {
                let requeued = self.tasks.running.take().map(|running| running.task);
                requeued.into_iter().for_each(|task| self.tasks.messages.push_front(task));
            }
            Step::Done => self.tasks.running = None,
            Step::DoneWith(prompt) => {
                self.tasks.running = None;
                self.tracker.renew_prompt(now.steady, &prompt);
            }
        }
        true
    }
}

fn stale_prompt(open: Option<&Arc<Prompt>>, answered_by: Option<&By>) -> Error {
    let message = match (answered_by, open) {
        (Some(by), _) => format!("that prompt was answered by {by}; nothing was typed"),
        (None, Some(_)) => "the agent is at another prompt by now; nothing was typed".to_owned(),
        (None, None) => "that prompt is over; nothing was typed".to_owned(),
    };
    let mut error = Error::new(Code::StalePrompt, message);
    if let Some(prompt) = open {
        error = error.with("prompt_id", &prompt.id.0);
    }
    if let Some(by) = answered_by {
        error = error.with("by", by);
    }
    error
}
