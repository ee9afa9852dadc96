//! Handles the commands of callers: checks each, then carries it out or refuses it.

use std::ffi::OsStr;
use std::sync::Arc;
use std::time::Duration;

use super::{Actor, Effect, Intent};
use crate::driver::agent::{AgentState, Tier};
use crate::driver::tracker;
use crate::error::{Code, Error};
use crate::pty::Signal;
use crate::session::agent::{AgentSession, Context};
use crate::session::by::By;
use crate::session::child_spec::ChildSpec;
use crate::session::clock::Now;
use crate::session::command::{Command, Dump, Explanation, Typing};
use crate::session::event::{EnvAction, EventKind, LeaseAction, LeaseEvent};
use crate::session::lease::LeaseId;
use crate::session::replies::ReplySender;
use crate::session::scrollback_page::ScrollbackPage;
use crate::session::snapshot::Process;
use crate::session::typist::Write;
use crate::term::{Size, encode_text};

/// A child that survives SIGTERM this long gets a hang-up of its terminal.
const HANGUP_AFTER_TERM: Duration = Duration::from_secs(1);

impl Actor {
    pub(super) fn command(&mut self, now: Now, by: &By, command: Command) {
        match command {
            Command::Nudge { request, lease, reply } => {
                self.command_agent(now, lease.as_ref(), reply, |agent, reply, context| {
                    agent.nudge(now, by, request, reply, context);
                });
            }
            Command::Respond { request, lease, reply } => {
                self.command_agent(now, lease.as_ref(), reply, |agent, reply, context| {
                    agent.respond(now, by, request, reply, context);
                });
            }
            Command::Interrupt { lease, reply } => {
                self.command_agent(now, lease.as_ref(), reply, |agent, reply, context| {
                    agent.interrupt(now, by, reply, context);
                });
            }
            Command::Explain { reply } => {
                let explanation = self.explain();
                self.publisher.reply(reply, Ok(explanation));
            }
            Command::Type { typing, lease, reply } => {
                match self.check_writer(now, lease.as_ref()) {
                    Ok(()) => {
                        self.note_input(now);
                        self.with_agent(|agent, _| agent.client_typed(now, by));
                        let write = self.encode(typing);
                        self.typist.submit(now, write, reply, &mut self.publisher.replies);
                    }
                    Err(error) => self.publisher.reply(reply, Err(error)),
                }
            }
            Command::Resize { size, lease, reply } => {
                match self.check_writer(now, lease.as_ref()) {
                    Ok(()) => self.resize(now, by, size, reply),
                    Err(error) => self.publisher.reply(reply, Err(error)),
                }
            }
            Command::Signal { signal, reply } => match self.check_running() {
                Ok(()) => {
                    // coop does not hang up a terminal that it did not open.
                    if signal == Signal::TERM && !self.backend.is_attached() {
                        self.hang_up_at = Some(now.steady + HANGUP_AFTER_TERM);
                    }
                    self.effects.push(Effect::Signal { signal, reply: Some(reply) });
                    self.publisher.log_by(now, by, EventKind::Signal(signal));
                }
                Err(error) => self.publisher.reply(reply, Err(error)),
            },
            Command::AcquireLease { shown, fresh, holder, ttl, reply } => {
                let caller = (by.clone(), holder);
                let granted = self
                    .check_running()
                    .and_then(|()| self.lease.acquire(now, shown.as_ref(), fresh, caller, ttl));
                if let Some(granted) = granted.as_ref().ok().filter(|granted| !granted.renewed) {
                    let expires_at_epoch_ms = granted.expires_at_epoch_ms;
                    let action = LeaseAction::Acquired { expires_at_epoch_ms };
                    self.log_lease(now, by, action, by.clone());
                }
                self.publisher.reply(reply, granted);
            }
            Command::ReleaseLease { id, reply } => {
                let holder = self.lease.release(&id);
                self.publisher.reply(reply, Ok(holder.is_some()));
                if let Some(holder) = holder {
                    self.log_lease(now, by, LeaseAction::Released, holder);
                }
            }
            Command::Screen { reply } => {
                let view = self.publisher.share_screen(now, self.terminal.screen());
                self.publisher.reply(reply, Ok(view));
            }
            Command::Scrollback { request, reply } => {
                let page = ScrollbackPage::of(&mut self.terminal, request);
                self.publisher.reply(reply, Ok(page));
            }
            Command::Dump { reply } => {
                let dump = self.dump();
                self.publisher.reply(reply, Ok(dump));
            }
            Command::Replace { change, reason, grace, reply } => match self.check_replaceable() {
                Ok(()) => {
                    let next = self.child_spec.with(change);
                    self.replace(now, by, next, (reason, grace), reply);
                }
                Err(error) => self.publisher.reply(reply, Err(error)),
            },
            Command::GetEnv { reply } => {
                let env = self.next_child_spec().env_text();
                self.publisher.reply(reply, Ok(Arc::new(env)));
            }
            Command::PutEnv { key, value, reply } => {
                let result = self.next_child_spec().put(&key, &value);
                if result.is_ok() {
                    self.log_env(now, by, EnvAction::Put, key);
                }
                self.publisher.reply(reply, result);
            }
            Command::DeleteEnv { key, reply } => {
                let removed = self.next_child_spec().env.remove(OsStr::new(&key));
                let missing = || Error::new(Code::NotFound, format!("there is no variable {key}"));
                let result = removed.map(drop).ok_or_else(missing);
                if result.is_ok() {
                    self.log_env(now, by, EnvAction::Delete, key);
                }
                self.publisher.reply(reply, result);
            }
            Command::Shutdown { reason, grace, reply } => {
                self.stop(now, by, reason, grace);
                self.publisher.reply(reply, Ok(()));
            }
        }
    }

    /// Lets the agent carry out a command, if there is an agent and this caller may write.
    fn command_agent<T: Send + 'static>(
        &mut self,
        now: Now,
        lease: Option<&LeaseId>,
        reply: ReplySender<T>,
        act: impl FnOnce(&mut AgentSession, ReplySender<T>, &mut Context),
    ) {
        let driver = self.agent_spec.as_ref().ok_or_else(Error::no_driver);
        match driver.map(drop).and_then(|()| self.check_writer(now, lease)) {
            Ok(()) => {
                self.note_input(now);
                self.with_agent(|agent, context| act(agent, reply, context));
            }
            Err(error) => self.publisher.reply(reply, Err(error)),
        }
    }

    fn log_lease(&mut self, now: Now, by: &By, action: LeaseAction, holder: By) {
        self.publisher.log_by(now, by, EventKind::Lease(LeaseEvent { action, holder }));
    }

    fn log_env(&mut self, now: Now, by: &By, action: EnvAction, key: String) {
        self.publisher.log_by(now, by, EventKind::Env { action, key });
    }

    fn note_input(&mut self, now: Now) {
        self.publisher.snapshot.last_input_epoch_ms = Some(now.epoch_ms);
        self.last_activity = now.steady;
    }

    /// The spec of the next child, even if that child is already being started.
    fn next_child_spec(&mut self) -> &mut ChildSpec {
        match &mut self.intent {
            Intent::Replace { next, .. } => next,
            Intent::Serve | Intent::Stop { .. } => Arc::make_mut(&mut self.child_spec),
        }
    }

    /// Whether there is a child, and this caller may write to it.
    fn check_writer(&mut self, now: Now, lease: Option<&LeaseId>) -> Result<(), Error> {
        self.check_running().and_then(|()| self.lease.check(now, lease))
    }

    fn check_running(&self) -> Result<(), Error> {
        match (&self.intent, self.publisher.snapshot.process) {
            (Intent::Stop { .. }, _) => Err(Error::shutting_down()),
            (Intent::Serve, Process::Running { .. }) if self.life.exit.is_none() => Ok(()),
            (Intent::Serve, Process::Running { .. } | Process::Exited(_)) => Err(Error::exited()),
            (Intent::Serve, Process::Starting) => {
                Err(Error::new(Code::NotReady, "the child is not up yet"))
            }
            (Intent::Replace { .. }, _) => {
                Err(Error::new(Code::NotReady, "the child is being replaced"))
            }
        }
    }

    fn check_replaceable(&self) -> Result<(), Error> {
        match &self.intent {
            Intent::Stop { .. } => Err(Error::shutting_down()),
            Intent::Replace { .. } => {
                Err(Error::new(Code::SwitchInProgress, "a restart or switch is under way"))
            }
            Intent::Serve if self.starting => {
                Err(Error::new(Code::NotReady, "the child is not up yet"))
            }
            Intent::Serve => Ok(()),
        }
    }

    fn encode(&self, typing: Typing) -> Write {
        let modes = self.terminal.modes();
        match typing {
            Typing::Text { text, enter } => {
                Write::text(encode_text(&text, enter, modes.bracketed_paste).into())
            }
            Typing::Keys(keys) => {
                let mut bytes = Vec::new();
                for key in keys {
                    key.encode(modes.application_cursor, &mut bytes);
                }
                Write::bytes(bytes.into())
            }
            Typing::Raw(bytes) => Write::bytes(bytes),
        }
    }

    fn resize(&mut self, now: Now, by: &By, size: Size, reply: ReplySender<()>) {
        if size == self.terminal.size() {
            self.publisher.reply(reply, Ok(()));
        } else if self.backend.is_attached() {
            self.requested_size = Some((size, by.clone()));
            self.effects.push(Effect::RequestResize { size, reply });
        } else {
            self.effects.push(Effect::Resize(size));
            self.take_size(now, size, Some(by));
            self.publisher.reply(reply, Ok(()));
        }
    }

    fn dump(&mut self) -> Dump {
        Dump {
            bytes: self.terminal.dump(),
            offset: self.publisher.published().output.head().offset(),
            modes: self.terminal.modes(),
            size: self.terminal.size(),
            seq: self.terminal.seq(),
            event_seq: self.publisher.snapshot.event_seq,
            generation: self.life.generation,
        }
    }

    fn explain(&self) -> Explanation {
        if let Some(agent) = &self.agent {
            return agent.explain();
        }
        let agent = &self.publisher.snapshot.agent;
        let detail = match self.publisher.snapshot.process.pid() {
            Some(pid) => format!("process {pid} is alive"),
            None => "there is no process".to_owned(),
        };
        let (tier, at) = (Tier::Process, agent.since_steady);
        let reported = self.program.vote(&agent.situation, agent.cause);
        let (state, cause, source) = match &reported {
            Some(_) => (AgentState::Unknown, "child started", "its own reports count"),
            None => (agent.state(), agent.cause, "the process is the only source"),
        };
        let process = tracker::Vote { tier, state, at, cause, detail };
        Explanation {
            reason: format!("no driver knows this program, so {source}"),
            votes: reported.into_iter().chain([process]).collect(),
            status: self.program.records().cloned().collect(),
            refused: self.program.refused().to_vec(),
        }
    }
}
