//! The session's body: it waits for whatever comes next, lets the actor decide, and does what
//! the actor says. No rule of the session stands here.

use std::collections::HashMap;
use std::pin::Pin;

use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use super::actor::{Actor, Conversation, DEFAULT_GRACE, Effect, Input, Settings};
use super::clock::Now;
use super::command::Command;
use super::event::ShutdownReason;
use super::handle::Session;
use super::mind::HookId;
use super::outfit::{Outfitter, Prepared, Wardrobe};
use super::side::{Own, Seat, Side, nearest, never, receive};
use crate::driver::Driver;
use crate::driver::launch::{LogPlace, Traces};
use crate::pty::attach::Found;
use crate::pty::{Exit, Launch, LaunchError, Reaper};
use crate::source::{From, HOOK_PIPE, HookReply, Observation, Plan, Sources};
use crate::term::Size;

/// Commands that may wait for the actor; callers beyond that wait in line.
const COMMANDS: usize = 256;
/// Observations that may wait for the actor.
const OBSERVATIONS: usize = 256;

/// Answers whether the child survives.
type Termination = Pin<Box<dyn Future<Output = bool> + Send>>;

/// A running session.
pub struct Shell {
    actor: Actor,
    commands: mpsc::Receiver<Command>,
    side: Side,
    termination: Option<Termination>,
    hurry: CancellationToken,
    attendant: Option<Attendant>,
}

/// What it takes to hear an agent.
struct Attendant {
    driver: Box<dyn Driver>,
    outfitter: Outfitter,
    sources: Sources,
    observations: mpsc::Receiver<Observation>,
    hooks: HashMap<HookId, HookReply>,
    hooks_so_far: u64,
}

/// Who is in the session's terminal first.
pub enum Occupant {
    /// A child that is still to be started.
    Child(Reaper),
    /// What runs in another program's terminal.
    Foreign(Box<Found>),
}

/// The size of a session at somebody else's terminal.
pub fn size_of(found: &Found) -> Size {
    nearest(found.size)
}

/// Starts the first child, or sits down at another program's terminal. Whoever holds the handle can talk to the session; it
/// lives while [`Shell::run`] does.
pub fn start(
    settings: Settings,
    hearing: Option<Hearing>,
    occupant: Occupant,
) -> Result<(Session, Shell), LaunchError> {
    let now = Now::read();
    let driver = settings.attendance.as_ref().map(|attendance| (attendance.driver)());
    let conversation = hearing.as_ref().and_then(|hearing| hearing.conversation.clone());
    let mut attendant = match (driver, hearing) {
        (Some(driver), Some(hearing)) => Some(Attendant::new(driver, hearing)?),
        (Some(_) | None, _) => None,
    };
    let mut actor = Actor::new(now, settings);
    let side = match occupant {
        Occupant::Child(reaper) => {
            let (own, started) =
                launch(actor.first_launch(), conversation.as_ref(), attendant.as_mut(), reaper)?;
            actor.handle(now, started);
            Side::Own(own)
        }
        Occupant::Foreign(found) => {
            let (size, paint) = (size_of(&found), found.paint.clone());
            actor.handle(now, Input::Started { pid: found.pid, prints_json: false, unheard: None });
            actor.handle(now, Input::Looked { size, paint });
            Side::Foreign(Seat::new(found.keep()))
        }
    };
    let (sender, commands) = mpsc::channel(COMMANDS);
    let session = Session::new(sender, actor.shared(), actor.epoch_ms());
    let hurry = CancellationToken::new();
    Ok((session, Shell { actor, commands, side, termination: None, hurry, attendant }))
}

/// What an agent's hooks and files are heard with.
#[derive(Debug)]
pub struct Hearing {
    pub wardrobe: Wardrobe,
    /// What the session's own hooks prove themselves with.
    pub nonce: String,
    /// What the first child should go on with.
    pub conversation: Option<Conversation>,
}

impl Attendant {
    fn new(driver: Box<dyn Driver>, hearing: Hearing) -> Result<Self, LaunchError> {
        let Hearing { wardrobe, nonce, .. } = hearing;
        let (sender, observations) = mpsc::channel(OBSERVATIONS);
        let plan = Plan { dir: wardrobe.dir.clone(), nonce };
        let failed = |error| LaunchError::Unprepared(format!("the pipe for the agent's hooks: {error}"));
        let sources = Sources::start(plan, sender).map_err(failed)?;
        let outfitter = Outfitter::new(wardrobe);
        Ok(Self { driver, outfitter, sources, observations, hooks: HashMap::new(), hooks_so_far: 0 })
    }

    fn prepare(
        &mut self,
        mut launch: Launch,
        conversation: Option<&Conversation>,
    ) -> Result<Prepared, LaunchError> {
        launch.env.push((HOOK_PIPE.into(), self.sources.hook_pipe().into()));
        let prepared = self.outfitter.prepare(&*self.driver, launch, conversation)?;
        // What is known of the log by then is about what the agent said before.
        if let Some(place) = &prepared.traces.log {
            let from = if conversation.is_some() { From::End } else { From::Start };
            self.sources.follow(place.clone(), from);
        }
        Ok(prepared)
    }

    /// The child runs: its status file can be looked for.
    fn started(&mut self, pid: i32, traces: Traces) {
        // Whatever the child before still has to say is no longer of interest.
        while self.observations.try_recv().is_ok() {}
        if let Some(dir) = traces.registry {
            self.sources.watch_registry(dir, pid);
        }
    }

    fn heard(&mut self, observation: Observation) -> Input {
        match observation {
            Observation::Hook(call) => {
                let waits = call.reply.map(|reply| {
                    self.hooks_so_far += 1;
                    let id = HookId(self.hooks_so_far);
                    self.hooks.insert(id, reply);
                    id
                });
                Input::Hook { event: call.event, payload: call.payload, waits }
            }
            Observation::LogLine(line) => Input::LogLine(line),
            Observation::LogGrew => Input::LogGrew,
            Observation::Registry(file) => Input::Registry(file),
        }
    }
}

fn launch(
    launch: Launch,
    conversation: Option<&Conversation>,
    mut attendant: Option<&mut Attendant>,
    reaper: Reaper,
) -> Result<(Own, Input), LaunchError> {
    let Prepared { launch, traces, unheard } = match &mut attendant {
        Some(attendant) => attendant.prepare(launch, conversation)?,
        None => Prepared { launch, traces: Traces::default(), unheard: None },
    };
    let spawned = launch.spawn(&reaper)?;
    let pid = spawned.child.pid().as_raw_pid();
    let prints_json = traces.stdout;
    if let Some(attendant) = attendant {
        attendant.started(pid, traces);
    }
    Ok((Own::new(reaper, spawned), Input::Started { pid, prints_json, unheard }))
}

impl Shell {
    /// Lives until the session is over; answers how its child ended.
    pub async fn run(mut self) -> Exit {
        loop {
            let input = self.next_input().await;
            let mut effects = self.actor.handle(Now::read(), input);
            while !effects.is_empty() {
                let mut follow_ups = Vec::new();
                for effect in effects {
                    match self.perform(effect) {
                        Done::Quietly => {}
                        Done::With(input) => follow_ups.extend(self.actor.handle(Now::read(), input)),
                        Done::Finished(exit) => {
                            self.side.leave().await;
                            return exit;
                        }
                    }
                }
                effects = follow_ups;
            }
        }
    }

    async fn next_input(&mut self) -> Input {
        let deadline = self.actor.deadline();
        let observations = self.attendant.as_mut().map(|attendant| &mut attendant.observations);
        tokio::select! {
            command = self.commands.recv() => Input::Command(command.unwrap_or_else(nobody_is_left)),
            child_survives = finished(&mut self.termination) => Input::Terminated { child_survives },
            happened = self.side.next(self.actor.next_write()) => happened,
            observation = receive(observations) => match (observation, &mut self.attendant) {
                (Some(observation), Some(attendant)) => attendant.heard(observation),
                // The sources hold a sender as long as they live.
                (None, _) | (_, None) => Input::Tick,
            },
            () = until(deadline) => Input::Tick,
        }
    }

    fn perform(&mut self, effect: Effect) -> Done {
        match effect {
            Effect::Resize(size) => self.side.resize(size, None),
            Effect::AskResize { size, answer } => self.side.resize(size, Some(answer)),
            Effect::Signal { signal, answer } => {
                // The caller may have gone; the signal went out all the same.
                drop(answer.send(self.side.signal(signal)));
            }
            Effect::Terminate { grace } => {
                let Side::Own(Own { child, .. }) = &self.side else { return Done::Quietly };
                self.hurry = CancellationToken::new();
                let (child, hurry) = (child.clone(), self.hurry.clone());
                self.termination = Some(Box::pin(async move {
                    match child.terminate(grace, hurry.cancelled()).await {
                        Ok(ended) => {
                            if !ended.survivors.is_empty() {
                                tracing::error!(survivors = ?ended.survivors, "processes could not be ended");
                            }
                            ended.survivors.contains(&child.pid())
                        }
                        Err(error) => {
                            tracing::error!(%error, "the child's processes could not be found");
                            child.exit().is_none()
                        }
                    }
                }));
            }
            Effect::Hurry => self.hurry.cancel(),
            Effect::CloseTerminal => self.side.close(),
            Effect::Start { launch: next, conversation } => {
                let Side::Own(Own { reaper, .. }) = self.side else { return Done::Quietly };
                let attendant = self.attendant.as_mut();
                return Done::With(match launch(next, conversation.as_ref(), attendant, reaper) {
                    Ok((own, started)) => {
                        self.side = Side::Own(own);
                        started
                    }
                    Err(error) => Input::StartFailed(error),
                });
            }
            Effect::AnswerHook { hook, output } => {
                if let Some(reply) = self.hook(hook)
                    && !reply.answer(&output)
                {
                    tracing::debug!("the agent's hook was gone before its answer");
                }
            }
            Effect::ReleaseHook(hook) => drop(self.hook(hook)),
            Effect::Follow(path) => {
                if let Some(attendant) = &mut self.attendant {
                    attendant.sources.follow(LogPlace::File(path), From::Start);
                }
            }
            Effect::PollSources(wanted) => {
                if let Some(attendant) = &self.attendant {
                    attendant.sources.set_poll(wanted);
                }
            }
            Effect::Finish(exit) => return Done::Finished(exit),
        }
        Done::Quietly
    }
}

impl Shell {
    fn hook(&mut self, hook: HookId) -> Option<HookReply> {
        self.attendant.as_mut().and_then(|attendant| attendant.hooks.remove(&hook))
    }
}

/// How an effect went.
enum Done {
    Quietly,
    With(Input),
    Finished(Exit),
}

/// Nobody can ask for anything any more, so the session has no purpose.
fn nobody_is_left() -> Command {
    let (answer, _) = tokio::sync::oneshot::channel();
    Command::Shutdown { reason: ShutdownReason::Signal, grace: DEFAULT_GRACE, answer }
}

async fn finished(termination: &mut Option<Termination>) -> bool {
    let child_survives = match termination {
        Some(running) => running.await,
        None => never().await,
    };
    *termination = None;
    child_survives
}

async fn until(deadline: Option<std::time::Instant>) {
    match deadline {
        Some(deadline) => sleep_until(Instant::from_std(deadline)).await,
        None => never().await,
    }
}
