//! The session's body: it waits for whatever comes next, lets the actor decide, and does what
//! the actor says. No rule of the session stands here.

use std::collections::HashMap;
use std::convert::Infallible;
use std::future::pending;
use std::io;
use std::pin::Pin;

use bytes::Bytes;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use super::actor::{Actor, Conversation, DEFAULT_GRACE, Effect, Input, Settings};
use super::clock::Now;
use super::command::Command;
use super::event::ShutdownReason;
use super::handle::Session;
use super::mind::HookId;
use super::outfit::{Outfitter, Prepared, Wardrobe};
use crate::driver::Driver;
use crate::driver::launch::{LogPlace, Traces};
use crate::error::{Code, Error};
use crate::pty::{
    Child, Control, Exit, Launch, LaunchError, Reader, Reaper, SignalError, WindowSize, Writer,
};
use crate::source::{From, HOOK_PIPE, HookReply, Observation, Plan, Sources};

/// Commands that may wait for the actor; callers beyond that wait in line.
const COMMANDS: usize = 256;
/// Reads of output that may wait for the actor; the child waits beyond that.
const OUTPUT_CHUNKS: usize = 16;
/// Observations that may wait for the actor.
const OBSERVATIONS: usize = 256;

/// Answers whether the child survives.
type Termination = Pin<Box<dyn Future<Output = bool> + Send>>;

/// A running session.
pub struct Shell {
    actor: Actor,
    commands: mpsc::Receiver<Command>,
    reaper: Reaper,
    child: Child,
    /// Told the actor of the child's exit.
    exit_told: bool,
    io: Option<Io>,
    termination: Option<Termination>,
    hurry: CancellationToken,
    attendant: Option<Attendant>,
}

/// The near end of the child's terminal.
struct Io {
    writer: Writer,
    control: Control,
    output: Option<mpsc::Receiver<Bytes>>,
    /// Reads as fast as the actor takes it; ends with this.
    _reader: JoinSet<()>,
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

/// Starts the first child. Whoever holds the handle can talk to the session; it lives while
/// [`Shell::run`] does.
pub fn start(
    settings: Settings,
    hearing: Option<Hearing>,
    reaper: Reaper,
) -> Result<(Session, Shell), LaunchError> {
    let now = Now::read();
    let driver = settings.attendance.as_ref().map(|attendance| (attendance.driver)());
    let mut attendant = match (driver, hearing) {
        (Some(driver), Some(hearing)) => Some(Attendant::new(driver, hearing)?),
        (Some(_) | None, _) => None,
    };
    let mut actor = Actor::new(now, settings);
    let conversation = None;
    let (child, io, started) = launch(actor.first_launch(), conversation, attendant.as_mut(), reaper)?;
    actor.handle(now, started);
    let (sender, commands) = mpsc::channel(COMMANDS);
    let session = Session::new(sender, actor.shared(), actor.epoch_ms());
    let shell = Shell {
        actor,
        commands,
        reaper,
        child,
        exit_told: false,
        io: Some(io),
        termination: None,
        hurry: CancellationToken::new(),
        attendant,
    };
    Ok((session, shell))
}

/// What an agent's hooks and files are heard with.
#[derive(Debug)]
pub struct Hearing {
    pub wardrobe: Wardrobe,
    /// What the session's own hooks prove themselves with.
    pub nonce: String,
}

impl Attendant {
    fn new(driver: Box<dyn Driver>, hearing: Hearing) -> Result<Self, LaunchError> {
        let Hearing { wardrobe, nonce } = hearing;
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
) -> Result<(Child, Io, Input), LaunchError> {
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
    let (sender, output) = mpsc::channel(OUTPUT_CHUNKS);
    let mut reading = JoinSet::new();
    reading.spawn(forward(spawned.reader, sender));
    let io = Io { writer: spawned.writer, control: spawned.control, output: Some(output), _reader: reading };
    Ok((spawned.child, io, Input::Started { pid, prints_json, unheard }))
}

async fn forward(mut reader: Reader, output: mpsc::Sender<Bytes>) {
    loop {
        match reader.read().await {
            Ok(Some(bytes)) => {
                if output.send(bytes).await.is_err() {
                    return;
                }
            }
            Ok(None) => return,
            Err(error) => {
                tracing::warn!(%error, "reading the terminal failed");
                return;
            }
        }
    }
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
                        Done::Finished(exit) => return exit,
                    }
                }
                effects = follow_ups;
            }
        }
    }

    async fn next_input(&mut self) -> Input {
        let deadline = self.actor.deadline();
        let (writer, output) = match &mut self.io {
            Some(io) => (Some(&mut io.writer), io.output.as_mut()),
            None => (None, None),
        };
        let observations = self.attendant.as_mut().map(|attendant| &mut attendant.observations);
        tokio::select! {
            command = self.commands.recv() => Input::Command(command.unwrap_or_else(nobody_is_left)),
            exit = self.child.wait(), if !self.exit_told => {
                self.exit_told = true;
                Input::ChildExited(exit)
            }
            child_survives = finished(&mut self.termination) => Input::Terminated { child_survives },
            written = write(writer, self.actor.next_write()) => match written {
                Ok(count) => Input::Wrote(count),
                Err(error) => {
                    tracing::debug!(%error, "the terminal took no input");
                    Input::WriteFailed
                }
            },
            chunk = receive(output) => match chunk {
                Some(bytes) => Input::Output(bytes),
                None => {
                    if let Some(io) = &mut self.io {
                        io.output = None;
                    }
                    Input::OutputEnded
                }
            },
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
            Effect::Resize(size) => {
                if let Some(io) = &self.io {
                    let size = WindowSize { cols: size.cols(), rows: size.rows() };
                    if let Err(error) = io.control.resize(size) {
                        tracing::warn!(%error, "the terminal did not take its new size");
                    }
                }
            }
            Effect::Signal { signal, answer } => {
                let control = self.io.as_ref().map(|io| &io.control);
                let sent = match control {
                    Some(control) => self.child.signal_foreground(control, signal),
                    None => self.child.signal(signal),
                };
                // The caller may have gone; the signal went out all the same.
                drop(answer.send(sent.map_err(|error| {
                    let code = match error {
                        SignalError::Exited => Code::Exited,
                        SignalError::Refused(_) => Code::Internal,
                    };
                    Error::new(code, error.to_string())
                })));
            }
            Effect::Terminate { grace } => {
                self.hurry = CancellationToken::new();
                let (child, hurry) = (self.child.clone(), self.hurry.clone());
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
            Effect::CloseTerminal => self.io = None,
            Effect::Start { launch: next, conversation } => {
                let attendant = self.attendant.as_mut();
                return Done::With(match launch(next, conversation.as_ref(), attendant, self.reaper) {
                    Ok((child, io, started)) => {
                        (self.child, self.io, self.exit_told) = (child, Some(io), false);
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

async fn write(writer: Option<&mut Writer>, bytes: Option<&[u8]>) -> io::Result<usize> {
    match (writer, bytes) {
        (Some(writer), Some(bytes)) => writer.write(bytes).await,
        (None, _) | (_, None) => never().await,
    }
}

async fn receive<T>(from: Option<&mut mpsc::Receiver<T>>) -> Option<T> {
    match from {
        Some(from) => from.recv().await,
        None => never().await,
    }
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

async fn never<T>() -> T {
    match pending::<Infallible>().await {}
}
