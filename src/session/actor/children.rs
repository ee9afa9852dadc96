//! Starts, replaces and terminates the session's children, and ends the session.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::{Actor, AgentSpec, Effect, FIRST, Intent};
use crate::driver::agent::{AgentState, Situation, Tier};
use crate::error::{Code, Error};
use crate::launch::Conversation;
use crate::pty::{Exit, LaunchError, Signal};
use crate::session::agent::{AgentSession, AgentStart};
use crate::session::by::By;
use crate::session::child_spec::ChildSpec;
use crate::session::clock::Now;
use crate::session::command::Replaced;
use crate::session::event::{EventKind, Restart, RestartReason, ShutdownReason};
use crate::session::program_status::ProgramStatus;
use crate::session::replies::ReplySender;
use crate::session::snapshot::{Facts, Process};

/// How long a child may take to exit after the hang-up, unless the caller says otherwise.
pub(crate) const DEFAULT_GRACE: Duration = Duration::from_secs(10);

/// How long a child that coop could not end may take to exit once its terminal is closed. The
/// kernel hangs it up then, also if it belongs to another user.
const HANGUP_TIMEOUT: Duration = Duration::from_secs(2);

/// A child that was to be ended and still runs.
#[derive(Debug, Clone, Copy)]
pub(super) struct Survivor {
    pid: i32,
    pub(super) give_up_at: Instant,
}

impl Actor {
    /// Starts the first child, unless the program in a multiplexer's pane runs already.
    pub(in crate::session) fn start_first(
        &mut self,
        conversation: Option<Conversation>,
    ) -> Vec<Effect> {
        if !self.backend.is_attached() {
            let child_spec = Arc::clone(&self.child_spec);
            self.start(&child_spec, conversation);
        }
        std::mem::take(&mut self.effects)
    }

    fn start(&mut self, spec: &ChildSpec, conversation: Option<Conversation>) {
        self.starting = true;
        self.effects
            .push(Effect::Start { launch: spec.launch(self.terminal.size()), conversation });
    }

    pub(super) fn started(&mut self, now: Now, pid: i32, start: AgentStart) {
        self.starting = false;
        self.publisher.snapshot.process = Process::Running { pid };
        self.last_activity = now.steady;
        let offset = self.publisher.published().output.head().offset();
        let generation = self.life.generation;
        let (reason, by) = match std::mem::replace(&mut self.intent, Intent::Serve) {
            Intent::Replace { next, reason, by, reply } => {
                self.child_spec = Arc::new(next);
                self.publisher.reply(reply, Ok(Replaced { generation, pid, offset }));
                (reason, by)
            }
            // The first child, or the previous command because the new one did not start.
            Intent::Serve => (RestartReason::Restart, By::Coop),
            Intent::Stop { grace } => {
                // The stop came too late to cancel the start.
                self.intent = Intent::Stop { grace };
                self.effects.push(Effect::Terminate { grace });
                return;
            }
        };
        if generation > FIRST {
            let restart = Restart { generation, offset, pid, reason };
            self.publisher.log_by(now, &by, EventKind::Restart(restart));
        }
        let situation = match &self.agent_spec {
            None => Situation::Unknown,
            Some(AgentSpec { driver, profile }) => {
                let id_prefix = self.id_prefix();
                let (command, driver) = (self.child_spec.command(), driver());
                let agent = AgentSession::new(now, driver, *profile, command, &id_prefix, start);
                self.agent = Some(agent);
                Situation::Starting
            }
        };
        self.publisher.set_situation(now, situation, Tier::Process, "child started");
    }

    /// The agent's conversation, which the next child can continue.
    fn conversation(&self) -> Option<Conversation> {
        let facts = &self.publisher.snapshot.agent.facts;
        let id = facts.conversation.clone()?;
        Some(Conversation { id, log: facts.transcript.clone().map(PathBuf::from) })
    }

    pub(super) fn start_failed(&mut self, error: LaunchError) {
        self.starting = false;
        let failed = Exit::Code(error.shell_code());
        match std::mem::replace(&mut self.intent, Intent::Serve) {
            Intent::Replace { next, reply, .. } if next != *self.child_spec => {
                // The request was checked before the child was ended, so it is not what is wrong.
                let message = format!(
                    "the child was ended, but the new command could not be started: {error}; \
                     the command that ran before is started again"
                );
                self.publisher.reply(reply, Err(Error::new(Code::Internal, message)));
                let child_spec = Arc::clone(&self.child_spec);
                self.start(&child_spec, None);
            }
            Intent::Replace { reply, .. } => {
                let message =
                    format!("the child was ended, but could not be started again: {error}");
                self.publisher.reply(reply, Err(Error::new(Code::Internal, message)));
                self.life.failed(failed);
            }
            Intent::Serve if self.life.generation == FIRST => {
                self.effects.push(Effect::Finish(Err(error)));
            }
            Intent::Serve => self.life.failed(failed),
            Intent::Stop { grace } => {
                self.intent = Intent::Stop { grace };
                self.never_started();
            }
        }
    }

    /// The session stops, and there is no child to end.
    fn never_started(&mut self) {
        self.life.failed(Exit::Code(0));
        self.life.tree_gone = true;
    }

    pub(super) fn child_exited(&mut self, now: Now, exit: Exit) {
        self.life.exited(now, exit);
        self.hang_up_at = None;
        self.survivor = None;
        self.fail_tasks_and_writes(now, &Error::exited());
    }

    fn fail_tasks_and_writes(&mut self, now: Now, error: &Error) {
        self.with_agent(|agent, context| agent.end(now, error, context));
        self.typist.fail_all(error, &mut self.publisher.replies);
    }

    pub(super) fn terminated(&mut self, now: Now, survivor: Option<i32>) {
        self.life.tree_gone = true;
        let Some(pid) = survivor.filter(|_| self.life.exit.is_none()) else { return };
        match self.intent {
            // coop ends, and closes the terminal with it.
            Intent::Stop { .. } => self.life.failed(Exit::Unknown),
            Intent::Serve | Intent::Replace { .. } => {
                self.effects.push(Effect::CloseTerminal);
                self.life.output_open = false;
                self.survivor = Some(Survivor { pid, give_up_at: now.steady + HANGUP_TIMEOUT });
            }
        }
    }

    /// The child still runs, so it is not replaced.
    fn give_up(&mut self, now: Now, pid: i32) {
        if self.life.exit.is_some() || !matches!(self.intent, Intent::Replace { .. }) {
            return;
        }
        self.life.tree_gone = false;
        self.publisher.snapshot.process = Process::Running { pid };
        let cause = "child could not be ended";
        self.publisher.set_situation(now, Situation::Unknown, Tier::Process, cause);
        if let Intent::Replace { reply, .. } = std::mem::replace(&mut self.intent, Intent::Serve) {
            let message = format!(
                "the child (pid {pid}) could not be ended and still runs: it belongs to another \
                 user, or is stuck in the kernel"
            );
            self.publisher.reply(reply, Err(Error::new(Code::Internal, message)));
        }
    }

    pub(super) fn replace(
        &mut self,
        now: Now,
        by: &By,
        next: ChildSpec,
        (reason, grace): (RestartReason, Duration),
        reply: ReplySender<Replaced>,
    ) {
        self.intent = Intent::Replace { next, reason, by: by.clone(), reply };
        self.linger_until = None;
        self.hang_up_at = None;
        let error = Error::new(Code::NotReady, "the child is being replaced");
        self.fail_tasks_and_writes(now, &error);
        self.publisher.snapshot.process = Process::Starting;
        let cause = reason.as_str();
        self.publisher.set_situation(now, Situation::Restarting, Tier::Process, cause);
        self.effects.push(Effect::Terminate { grace });
    }

    pub(super) fn stop(&mut self, now: Now, by: &By, reason: ShutdownReason, grace: Duration) {
        match std::mem::replace(&mut self.intent, Intent::Stop { grace }) {
            // The second request skips the grace of the first.
            Intent::Stop { .. } if self.starting => self.never_started(),
            Intent::Stop { .. } => self.effects.push(Effect::SkipGrace),
            Intent::Replace { reply, .. } => {
                self.publisher.reply(reply, Err(Error::shutting_down()));
                self.publisher.log_by(now, by, EventKind::Shutdown(reason));
                // The old child is already being terminated; from now on with this grace.
                self.end_child(grace);
            }
            Intent::Serve => {
                self.fail_tasks_and_writes(now, &Error::shutting_down());
                self.publisher.log_by(now, by, EventKind::Shutdown(reason));
                self.linger_until = None;
                if self.backend.is_attached() {
                    // coop did not start this program, and does not end it.
                    self.publisher.end_output();
                    let exit = self.life.exit.unwrap_or(Exit::Code(0));
                    self.effects.push(Effect::Finish(Ok(exit)));
                } else {
                    self.end_child(grace);
                }
            }
        }
    }

    fn end_child(&mut self, grace: Duration) {
        let effect = if self.starting { Effect::CancelStart } else { Effect::Terminate { grace } };
        self.effects.push(effect);
    }

    /// Acts on every deadline that has passed.
    pub(super) fn handle_deadlines(&mut self, now: Now) {
        self.typist.handle_deadlines(now, &mut self.publisher.replies);
        let hang_up = self.hang_up_at.take_if(|at| *at <= now.steady).is_some();
        if hang_up && self.life.exit.is_none() {
            self.effects.push(Effect::Signal { signal: Signal::HUP, reply: None });
        }
        if let Some(survivor) = self.survivor.take_if(|left| left.give_up_at <= now.steady) {
            self.give_up(now, survivor.pid);
        }
        if self.linger_until.take_if(|at| *at <= now.steady).is_some() {
            self.stop(now, &By::Coop, ShutdownReason::ChildExit, DEFAULT_GRACE);
        }
        if self.idle_deadline().is_some_and(|at| at <= now.steady) {
            self.stop(now, &By::Coop, ShutdownReason::IdleTimeout, DEFAULT_GRACE);
        }
    }

    /// When the idle timeout ends the session. Without a driver, idle means no input and no output.
    pub(super) fn idle_deadline(&self) -> Option<Instant> {
        let running = matches!(self.intent, Intent::Serve) && self.life.exit.is_none();
        let timeout = self.idle_timeout.filter(|_| running)?;
        let agent = &self.publisher.snapshot.agent;
        match (&self.agent, agent.state()) {
            (None, _) => Some(self.last_activity + timeout),
            (Some(_), AgentState::Idle) => Some(agent.since_steady + timeout),
            (Some(_), _) => None,
        }
    }

    /// Takes the next step of ending or replacing a child, once the previous one is complete.
    pub(super) fn settle(&mut self, now: Now) {
        let Some(exit) = self.life.ended(now) else { return };
        if !self.life.over {
            self.announce_exit(now, exit);
        }
        if !self.life.tree_gone {
            return;
        }
        match &self.intent {
            Intent::Serve => {}
            Intent::Stop { .. } => self.effects.push(Effect::Finish(Ok(exit))),
            Intent::Replace { next, reason, .. } => {
                let next = next.clone();
                let conversation = match reason {
                    // A switch changes the credentials, and the conversation goes on.
                    RestartReason::Switch => self.conversation(),
                    RestartReason::Restart => None,
                };
                self.prepare_next_child();
                self.start(&next, conversation);
            }
        }
    }

    /// The child has exited and its output is in. The exit of a replaced child is not announced.
    fn announce_exit(&mut self, now: Now, exit: Exit) {
        self.life.over = true;
        self.effects.push(Effect::CloseTerminal);
        if matches!(self.intent, Intent::Replace { .. }) {
            return;
        }
        self.publisher.snapshot.process = Process::Exited(exit);
        self.publisher.set_situation(now, Situation::Exited, Tier::Process, "child exited");
        let generation = self.life.generation;
        self.publisher.log(now, EventKind::Exit { exit, generation });
        self.publisher.end_output();
        if matches!(self.intent, Intent::Serve) {
            self.linger_until = self.linger.map(|linger| now.steady + linger);
            self.handle_deadlines(now);
        }
    }

    fn prepare_next_child(&mut self) {
        self.life = self.life.next();
        self.agent = None;
        self.program = ProgramStatus::default();
        self.publisher.snapshot.agent.facts = Arc::new(Facts::default());
        self.publisher.snapshot.agent.grace_ends = None;
        self.publisher.snapshot.generation = self.life.generation;
        self.terminal.reset_for_new_child();
        self.publisher.published().output.reopen();
    }
}
