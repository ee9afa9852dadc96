//! The session loop: waits for the next thing that happens, lets the actor decide, and carries out
//! what the actor returns. It never waits for anything else, and no rule of the session is here.

use std::convert::Infallible;
use std::future::pending;

use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, sleep_until};

use super::actor::{Actor, DEFAULT_GRACE, Effect, Input, Settings};
use super::agent::AgentStart;
use super::backend::{Backend, BackendStart, size_of};
use super::by::By;
use super::clock::Now;
use super::command::{Command, Sent};
use super::event::ShutdownReason;
use super::handle::Session;
use super::signals::PendingSignals;
use crate::launch::Conversation;
use crate::pty::{Exit, LaunchError};

/// Commands that may wait for the actor; further callers wait.
const COMMANDS: usize = 256;

/// A session that has not run yet.
pub(crate) struct SessionLoop {
    actor: Actor,
    commands: mpsc::Receiver<Sent>,
    backend: Backend,
    signals: PendingSignals,
    conversation: Option<Conversation>,
    first_start: Option<oneshot::Sender<()>>,
}

impl SessionLoop {
    /// A session and the handle to it. The session lives while [`run`](Self::run) does. Must be
    /// called on the runtime that the session will run on.
    pub(crate) fn new(
        settings: Settings,
        start: BackendStart,
    ) -> Result<(Session, Self), LaunchError> {
        let now = Now::read();
        let conversation = settings.conversation.clone();
        let driver = settings.agent.as_ref().map(|agent| (agent.driver)());
        let mut actor = Actor::new(now, settings);
        if let BackendStart::Attached(target) = &start {
            let (size, paint) = (size_of(target), target.redraw.clone());
            let agent = AgentStart::default();
            actor.handle(now, Input::Started { pid: target.pid, agent });
            actor.handle(now, Input::Captured { size, paint });
        }
        let backend = Backend::new(start, driver)?;
        let (sender, commands) = mpsc::channel(COMMANDS);
        let counters = backend.source_counters();
        let session = Session::new(sender, actor.published(), counters, actor.epoch_ms());
        let signals = PendingSignals::default();
        Ok((session, Self { actor, commands, backend, signals, conversation, first_start: None }))
    }

    /// Resolves when the first child has started; its sender is dropped if it cannot be started.
    pub(crate) fn first_start(&mut self) -> oneshot::Receiver<()> {
        let (sender, receiver) = oneshot::channel();
        self.first_start = Some(sender);
        receiver
    }

    /// Runs until the session is over; returns how its child ended, or why the first child could
    /// not be started.
    pub(crate) async fn run(mut self) -> Result<Exit, LaunchError> {
        let mut effects = self.actor.start_first(self.conversation.take());
        if effects.is_empty() {
            // The program in the multiplexer's pane runs already.
            self.report_first_start();
        }
        loop {
            for effect in effects {
                if let Some(result) = self.perform(effect) {
                    self.backend.close().await;
                    return result;
                }
            }
            // The foreground is read right before each write: what is typed for the agent must not
            // reach another program.
            if self.actor.next_write().is_some()
                && let Some(presence) = self.backend.changed_presence()
            {
                effects = self.actor.handle(Now::read(), Input::Presence(presence));
                continue;
            }
            let input = self.next_input().await;
            if matches!(input, Input::Started { .. }) {
                self.report_first_start();
            }
            let now = Now::read();
            effects = match self.backend.changed_presence() {
                Some(presence) => self.actor.handle(now, Input::Presence(presence)),
                None => Vec::new(),
            };
            effects.extend(self.actor.handle(now, input));
        }
    }

    fn report_first_start(&mut self) {
        // Sending fails if coop no longer waits for the start.
        let _ = self.first_start.take().map(|first_start| first_start.send(()));
    }

    async fn next_input(&mut self) -> Input {
        let deadline = self.actor.deadline();
        let Self { actor, commands, backend, signals, .. } = self;
        let typed = actor.next_write();
        let others = async {
            tokio::select! {
                command = commands.recv() => {
                    Input::Command(command.unwrap_or_else(shut_down_without_callers))
                }
                input = backend.next(typed) => input,
                () = until(deadline) => Input::Tick,
            }
        };
        // The caller of a signal gets its reply before the exit that the signal causes.
        tokio::select! {
            biased;
            input = signals.next() => input,
            input = others => input,
        }
    }

    /// Carries out an effect. Returns the session's result if this was its last.
    fn perform(&mut self, effect: Effect) -> Option<Result<Exit, LaunchError>> {
        match effect {
            Effect::Resize(size) => self.backend.resize(size),
            Effect::RequestResize { size, reply } => self.backend.request_resize(size, reply),
            Effect::Signal { signal, reply } => {
                self.signals.push(|| self.backend.signal(signal), reply);
            }
            Effect::Terminate { grace } => self.backend.terminate(grace),
            Effect::SkipGrace => self.backend.skip_grace(),
            Effect::CloseTerminal => self.backend.close_terminal(),
            Effect::Start { launch, conversation } => self.backend.start(launch, conversation),
            Effect::CancelStart => self.backend.cancel_start(),
            Effect::AnswerHook { hook, output } => self.backend.answer_hook(hook, &output),
            Effect::ReleaseHook(hook) => self.backend.release_hook(hook),
            Effect::FollowLog(path) => self.backend.follow_log(path),
            Effect::FollowConversation(id) => self.backend.follow_conversation(&id),
            Effect::FindAgent => self.backend.find_agent(),
            Effect::PollSources(wanted) => self.backend.poll_sources(wanted),
            Effect::Finish(result) => return Some(result),
        }
        None
    }
}

/// All handles are gone, so no caller can ever use the session again.
fn shut_down_without_callers() -> Sent {
    let (reply, _) = oneshot::channel();
    let (reason, grace) = (ShutdownReason::Signal, DEFAULT_GRACE);
    Sent { by: By::Coop, command: Command::Shutdown { reason, grace, reply } }
}

async fn until(deadline: Option<std::time::Instant>) {
    match deadline {
        Some(deadline) => sleep_until(Instant::from_std(deadline)).await,
        None => match pending::<Infallible>().await {},
    }
}
