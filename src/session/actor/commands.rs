//! What somebody asks of the session, and whether they may.

use std::sync::Arc;
use std::time::Duration;

use super::{Actor, Effect, Intent};
use crate::driver::agent::Tier;
use crate::driver::tracker;
use crate::error::{Code, Error};
use crate::pty::Signal;
use crate::session::clock::Now;
use crate::session::command::{Command, Dump, Explanation, Typing, View};
use crate::session::lease::LeaseId;
use crate::session::outbox::Answer;
use crate::session::page::Page;
use crate::session::recipe::Recipe;
use crate::session::snapshot::Process;
use crate::session::typist::Write;
use crate::term::{Size, encode_text};

/// A SIGTERM that is survived this long is followed by the terminal's hang-up.
const HANGUP_AFTER_TERM: Duration = Duration::from_secs(1);

impl Actor {
    pub(super) fn command(&mut self, now: Now, command: Command) {
        match command {
            Command::Nudge { message, lease, answer } => match self.may_talk(now, lease.as_ref()) {
                Ok(()) => self.with_mind(|mind, hands| mind.nudge(now, message, answer, hands)),
                Err(error) => self.board.answer(answer, Err(error)),
            },
            Command::Respond { reply, lease, answer } => match self.may_talk(now, lease.as_ref()) {
                Ok(()) => self.with_mind(|mind, hands| mind.respond(reply, answer, hands)),
                Err(error) => self.board.answer(answer, Err(error)),
            },
            Command::Interrupt { lease, answer } => match self.may_talk(now, lease.as_ref()) {
                Ok(()) => self.with_mind(|mind, hands| mind.interrupt(now, answer, hands)),
                Err(error) => self.board.answer(answer, Err(error)),
            },
            Command::Explain { answer } => {
                let explanation = self.explain();
                self.board.answer(answer, Ok(explanation));
            }
            Command::Type { typing, lease, answer } => {
                match self.writable().and_then(|()| self.lease.check(now, lease.as_ref())) {
                    Ok(()) => {
                        self.board.snapshot.last_input_epoch_ms = Some(now.epoch_ms);
                        self.last_activity = now.steady;
                        self.with_mind(|mind, _| mind.human_typed(now));
                        let write = self.encode(typing);
                        self.typist.submit(now, write, answer, &mut self.board.outbox);
                    }
                    Err(error) => self.board.answer(answer, Err(error)),
                }
            }
            Command::Resize { size, lease, answer } => {
                match self.writable().and_then(|()| self.lease.check(now, lease.as_ref())) {
                    Ok(()) => self.resize(now, size, answer),
                    Err(error) => self.board.answer(answer, Err(error)),
                }
            }
            Command::Signal { signal, answer } => match self.writable() {
                Ok(()) => {
                    // What coop did not start it does not hang up on.
                    if signal == Signal::TERM && !self.backend.is_foreign() {
                        self.hang_up_at = Some(now.steady + HANGUP_AFTER_TERM);
                    }
                    self.effects.push(Effect::Signal { signal, answer });
                }
                Err(error) => self.board.answer(answer, Err(error)),
            },
            Command::AcquireLease { shown, fresh, holder, ttl, answer } => {
                let allowed = self.writable();
                self.board.answer(
                    answer,
                    allowed.and_then(|()| self.lease.acquire(now, shown.as_ref(), fresh, holder, ttl)),
                );
            }
            Command::ReleaseLease { id, answer } => self.board.answer(answer, Ok(self.lease.release(&id))),
            Command::View { answer } => {
                let view = View { screen: self.terminal.screen(), event_seq: self.board.snapshot.event_seq };
                self.board.answer(answer, Ok(view));
            }
            Command::Scrollback { page, answer } => {
                let page = Page::of(&mut self.terminal, page);
                self.board.answer(answer, Ok(page));
            }
            Command::Dump { answer } => {
                let dump = self.dump();
                self.board.answer(answer, Ok(dump));
            }
            Command::Replace { change, reason, grace, answer } => match self.intent {
                Intent::Stop => self.board.answer(answer, Err(Error::shutting_down())),
                Intent::Replace { .. } => {
                    self.board.answer(
                        answer,
                        Err(Error::new(Code::SwitchInProgress, "a restart or switch is under way")),
                    );
                }
                Intent::Serve => {
                    let next = self.recipe.with(change);
                    self.replace(now, next, reason, grace, answer);
                }
            },
            Command::GetEnv { answer } => {
                let env = self.next_recipe().env_text();
                self.board.answer(answer, Ok(Arc::new(env)));
            }
            Command::PutEnv { key, value, answer } => {
                let done = self.next_recipe().put(&key, &value);
                self.board.answer(answer, done);
            }
            Command::DeleteEnv { key, answer } => {
                let removed = self.next_recipe().env.remove(std::ffi::OsStr::new(&key));
                let missing = || Error::new(Code::NotFound, format!("there is no variable {key}"));
                self.board.answer(answer, removed.map(drop).ok_or_else(missing));
            }
            Command::Shutdown { reason, grace, answer } => {
                self.stop(now, reason, grace);
                self.board.answer(answer, Ok(()));
            }
        }
    }

    /// Whether this caller may say something to the agent now.
    fn may_talk(&mut self, now: Now, lease: Option<&LeaseId>) -> Result<(), Error> {
        if self.attendance.is_none() {
            return Err(Error::no_driver());
        }
        self.writable().and_then(|()| self.lease.check(now, lease))?;
        self.board.snapshot.last_input_epoch_ms = Some(now.epoch_ms);
        self.last_activity = now.steady;
        Ok(())
    }

    /// How the next child will be made, also if it is being started already.
    fn next_recipe(&mut self) -> &mut Recipe {
        match &mut self.intent {
            Intent::Replace { next, .. } => next,
            Intent::Serve | Intent::Stop => Arc::make_mut(&mut self.recipe),
        }
    }

    /// Whether there is a child to write to.
    fn writable(&self) -> Result<(), Error> {
        match (&self.intent, self.board.snapshot.process) {
            (Intent::Stop, _) => Err(Error::shutting_down()),
            (Intent::Serve, Process::Running { .. }) if self.life.exit.is_none() => Ok(()),
            (Intent::Serve, Process::Running { .. } | Process::Exited(_)) => Err(Error::exited()),
            (Intent::Serve, Process::Starting) => Err(Error::new(Code::NotReady, "the child is not up yet")),
            (Intent::Replace { .. }, _) => Err(Error::new(Code::NotReady, "the child is being replaced")),
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

    fn resize(&mut self, now: Now, size: Size, answer: Answer<()>) {
        if size == self.terminal.size() {
            self.board.answer(answer, Ok(()));
        } else if self.backend.is_foreign() {
            self.effects.push(Effect::AskResize { size, answer });
        } else {
            self.effects.push(Effect::Resize(size));
            self.take_size(now, size);
            self.board.answer(answer, Ok(()));
        }
    }

    fn dump(&mut self) -> Dump {
        Dump {
            bytes: self.terminal.dump(),
            offset: self.board.shared().output.head().offset(),
            modes: self.terminal.modes(),
            size: self.terminal.size(),
            seq: self.terminal.seq(),
            event_seq: self.board.snapshot.event_seq,
            generation: self.life.generation,
        }
    }

    fn explain(&self) -> Explanation {
        if let Some(mind) = &self.mind {
            return mind.explain();
        }
        let agent = &self.board.snapshot.agent;
        let seen = match self.board.snapshot.process.pid() {
            Some(pid) => format!("process {pid} is alive"),
            None => "there is no process".to_owned(),
        };
        let (tier, state) = (Tier::Process, agent.state());
        Explanation {
            reason: "no driver knows this program, so only its process speaks".to_owned(),
            votes: vec![tracker::Vote { tier, state, at: agent.since_steady, cause: agent.cause, seen }],
        }
    }
}
