//! How children come and go: started, replaced, ended, and in the end coop with them.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::{Actor, Attendance, Conversation, Effect, FIRST, Intent};
use crate::driver::agent::{AgentState, Situation, Tier};
use crate::error::{Code, Error};
use crate::pty::{Exit, LaunchError, Signal};
use crate::session::clock::Now;
use crate::session::command::Replaced;
use crate::session::event::{Restart, RestartReason, ShutdownReason, What};
use crate::session::mind::Mind;
use crate::session::outbox::Answer;
use crate::session::recipe::Recipe;
use crate::session::snapshot::{Facts, Process};

/// How long a child may take to go after the hang-up, unless the caller says otherwise.
pub const DEFAULT_GRACE: Duration = Duration::from_secs(10);

impl Actor {
    pub(super) fn started(&mut self, now: Now, pid: i32, prints_json: bool, unheard: Option<String>) {
        self.board.snapshot.process = Process::Running { pid };
        self.last_activity = now.steady;
        let (generation, offset) = (self.life.generation, self.board.shared().output.head().offset());
        let reason = match std::mem::replace(&mut self.intent, Intent::Serve) {
            Intent::Replace { next, reason, answer } => {
                self.recipe = Arc::new(next);
                self.board.answer(answer, Ok(Replaced { generation, pid, offset }));
                reason
            }
            // The first child, or the old command again because the new one could not be started.
            Intent::Serve | Intent::Stop => RestartReason::Restart,
        };
        if generation > FIRST {
            self.board.log(now, What::Restart(Restart { generation, offset, pid, reason }));
        }
        match &self.attendance {
            None => self.board.agent(now, Situation::Unknown, Tier::Process, "child started"),
            Some(Attendance { driver, profile }) => {
                let prefix = format!("{}-{}", self.epoch_ms, generation.0);
                let (command, driver) = (self.recipe.command(), driver());
                let mut mind = Mind::new(now, driver, *profile, command, &prefix, prints_json);
                mind.unheard(unheard);
                self.mind = Some(mind);
                self.board.agent(now, Situation::Starting, Tier::Process, "child started");
            }
        }
    }

    /// What the agent was talked to about, if the next child can go on with it.
    fn conversation(&self) -> Option<Conversation> {
        let facts = &self.board.snapshot.agent.facts;
        let id = facts.conversation.clone()?;
        Some(Conversation { id, log: facts.transcript.clone().map(PathBuf::from) })
    }

    pub(super) fn start_failed(&mut self, error: &LaunchError) {
        let failed = Exit::Code(error.shell_code());
        match std::mem::replace(&mut self.intent, Intent::Serve) {
            Intent::Replace { next, answer, .. } if next != *self.recipe => {
                let message = format!("{error}; the command that ran before was started again");
                self.board.answer(answer, Err(Error::bad_request(message)));
                let launch = self.recipe.launch(self.terminal.size());
                self.effects.push(Effect::Start { launch, conversation: None });
            }
            Intent::Replace { answer, .. } => {
                self.board.answer(answer, Err(Error::bad_request(error.to_string())));
                self.life.failed(failed);
            }
            Intent::Serve | Intent::Stop => self.life.failed(failed),
        }
    }

    pub(super) fn child_exited(&mut self, now: Now, exit: Exit) {
        self.life.exited(now, exit);
        self.hang_up_at = None;
        self.with_mind(|mind, hands| mind.end(now, &Error::exited(), hands));
        self.typist.fail_all(&Error::exited(), &mut self.board.outbox);
    }

    pub(super) fn terminated(&mut self, child_survives: bool) {
        self.life.tree_gone = true;
        if child_survives && self.life.exit.is_none() {
            // It obeys no signal of ours, and closing its terminal is all that is left to do.
            self.life.failed(Exit::Unknown);
        }
    }

    pub(super) fn replace(
        &mut self,
        now: Now,
        next: Recipe,
        reason: RestartReason,
        grace: Duration,
        answer: Answer<Replaced>,
    ) {
        self.intent = Intent::Replace { next, reason, answer };
        self.linger_until = None;
        self.hang_up_at = None;
        let replaced = Error::new(Code::NotReady, "the child is being replaced");
        self.with_mind(|mind, hands| mind.end(now, &replaced, hands));
        self.typist.fail_all(&replaced, &mut self.board.outbox);
        self.board.snapshot.process = Process::Starting;
        self.board.agent(now, Situation::Restarting, Tier::Process, reason.as_str());
        self.effects.push(Effect::Terminate { grace });
    }

    pub(super) fn stop(&mut self, now: Now, reason: ShutdownReason, grace: Duration) {
        match std::mem::replace(&mut self.intent, Intent::Stop) {
            // Asked twice, nobody wants to wait any longer.
            Intent::Stop => self.effects.push(Effect::Hurry),
            Intent::Replace { answer, .. } => {
                self.board.answer(answer, Err(Error::shutting_down()));
                self.board.log(now, What::Shutdown(reason));
                // The old child is going already; from now on with this grace.
                self.effects.push(Effect::Terminate { grace });
            }
            Intent::Serve => {
                self.with_mind(|mind, hands| mind.end(now, &Error::shutting_down(), hands));
                self.typist.fail_all(&Error::shutting_down(), &mut self.board.outbox);
                self.board.log(now, What::Shutdown(reason));
                self.linger_until = None;
                if self.backend.is_foreign() {
                    // What coop did not start goes on without it.
                    self.board.end_output();
                    self.effects.push(Effect::Finish(self.life.exit.unwrap_or(Exit::Code(0))));
                } else {
                    self.effects.push(Effect::Terminate { grace });
                }
            }
        }
    }

    /// Acts on every deadline that has passed.
    pub(super) fn keep_time(&mut self, now: Now) {
        self.typist.keep_time(now, &mut self.board.outbox);
        if self.hang_up_at.take_if(|at| *at <= now.steady).is_some() && self.life.exit.is_none() {
            let (answer, _nobody_waits) = tokio::sync::oneshot::channel();
            self.effects.push(Effect::Signal { signal: Signal::HUP, answer });
        }
        if self.linger_until.take_if(|at| *at <= now.steady).is_some() {
            self.stop(now, ShutdownReason::ChildExit, DEFAULT_GRACE);
        }
        if self.idle_deadline().is_some_and(|at| at <= now.steady) {
            self.stop(now, ShutdownReason::IdleTimeout, DEFAULT_GRACE);
        }
    }

    /// Without a driver, idle means that nothing came in or out.
    pub(super) fn idle_deadline(&self) -> Option<Instant> {
        let running = matches!(self.intent, Intent::Serve) && self.life.exit.is_none();
        let timeout = self.idle_timeout.filter(|_| running)?;
        let agent = &self.board.snapshot.agent;
        match (&self.mind, agent.state()) {
            (None, _) => Some(self.last_activity + timeout),
            (Some(_), AgentState::Idle) => Some(agent.since_steady + timeout),
            (Some(_), _) => None,
        }
    }

    /// Takes the next step of ending or replacing a child, once everything it waits for is in.
    pub(super) fn settle(&mut self, now: Now) {
        let Some(exit) = self.life.ended(now) else { return };
        if !self.life.over {
            self.announce(now, exit);
        }
        if !self.life.tree_gone {
            return;
        }
        match &self.intent {
            Intent::Serve => {}
            Intent::Stop => self.effects.push(Effect::Finish(exit)),
            Intent::Replace { next, reason, .. } => {
                let launch = next.launch(self.terminal.size());
                let conversation = match reason {
                    // Other credentials, the same work.
                    RestartReason::Switch => self.conversation(),
                    RestartReason::Restart => None,
                };
                self.begin_life();
                self.effects.push(Effect::Start { launch, conversation });
            }
        }
    }

    /// The child has exited and its output is in. A child that is being replaced goes quietly.
    fn announce(&mut self, now: Now, exit: Exit) {
        self.life.over = true;
        self.effects.push(Effect::CloseTerminal);
        if matches!(self.intent, Intent::Replace { .. }) {
            return;
        }
        self.board.snapshot.process = Process::Exited(exit);
        self.board.agent(now, Situation::Exited, Tier::Process, "child exited");
        self.board.log(now, What::Exit { exit, generation: self.life.generation });
        self.board.end_output();
        if matches!(self.intent, Intent::Serve) {
            self.linger_until = self.linger.map(|linger| now.steady + linger);
            self.keep_time(now);
        }
    }

    fn begin_life(&mut self) {
        self.life = self.life.next();
        self.mind = None;
        self.board.snapshot.agent.facts = Arc::new(Facts::default());
        self.board.snapshot.agent.grace_ends = None;
        self.board.snapshot.generation = self.life.generation;
        self.terminal.reset_for_new_child();
        self.board.shared().output.reopen();
    }
}
