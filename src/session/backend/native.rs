//! A child of coop on a pseudo terminal: its start, its bytes, its exit and its termination.

use std::future::ready;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use rustix::process::Pid;
use tokio::runtime::Handle;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::agent_io::{AgentIo, HookSetup};
use super::agent_watch::AgentWatch;
use super::{never, receive};
use crate::driver::Driver;
use crate::driver::presence::Presence;
use crate::error::Error;
use crate::launch::{Conversation, Launcher, PreparedLaunch};
use crate::pty::{
    Child, Control, Launch, LaunchError, Reader, Reaper, Signal, SignalError, Spawned, WindowSize,
    Writer,
};
use crate::session::actor::Input;
use crate::session::agent::AgentStart;
use crate::source::{CounterReader, Observation, Observations};

/// Chunks of output that may wait for the actor; then the child waits.
const OUTPUT_CHUNKS: usize = 16;
/// How long the launcher may take to remove the agent's files at the end.
const CLEAN_UP: Duration = Duration::from_secs(2);

type Pending<T> = BoxFuture<'static, T>;

pub(in crate::session) struct NativeBackend {
    launcher: Launcher,
    agent_io: Option<AgentIo>,
    start: Option<Start>,
    child: Option<RunningChild>,
    /// Resolves to the pid of the child if it survives.
    termination: Option<Pending<Option<i32>>>,
    skip_grace: CancellationToken,
}

/// A start in progress.
enum Start {
    Prepare(Pending<Result<PreparedLaunch, LaunchError>>),
    Spawn {
        spawned: Pending<Result<Spawned, LaunchError>>,
        registry: Option<PathBuf>,
        agent: AgentStart,
    },
    Cancelled,
}

/// What the current step of a start has led to.
enum Progress {
    Prepared(PreparedLaunch),
    Spawned { spawned: Spawned, registry: Option<PathBuf>, agent: AgentStart },
    Failed(LaunchError),
}

/// The current child, or the last one.
struct RunningChild {
    child: Child,
    exit_reported: bool,
    /// None once its terminal is closed.
    io: Option<TerminalIo>,
}

struct TerminalIo {
    writer: Writer,
    control: Control,
    /// None once the output has ended.
    output: Option<mpsc::Receiver<Bytes>>,
    /// Reads the terminal as fast as the actor takes the output.
    _reader: JoinSet<()>,
}

impl NativeBackend {
    pub(super) fn new(
        reaper: Reaper,
        driver: Option<Box<dyn Driver>>,
        hooks: Option<HookSetup>,
    ) -> Result<Self, LaunchError> {
        let (agent, agent_io) = match (driver, hooks) {
            (Some(driver), Some(HookSetup { context, nonce })) => {
                let agent_io = AgentIo::open(context.dir.clone(), nonce, context.agent.clone())?;
                (Some((driver, context)), Some(agent_io))
            }
            (Some(_) | None, _) => (None, None),
        };
        let launcher = Launcher::start(agent, reaper, Handle::current());
        Ok(Self {
            launcher: launcher.map_err(LaunchError::Start)?,
            agent_io,
            start: None,
            child: None,
            termination: None,
            skip_grace: CancellationToken::new(),
        })
    }

    pub(super) async fn next(&mut self, typed: Option<&[u8]>) -> Input {
        loop {
            let Self { start, child, termination, agent_io, .. } = self;
            let (observations, watch) = match agent_io {
                Some(AgentIo { observations, watch, .. }) => (Some(observations), Some(watch)),
                None => (None, None),
            };
            let progress = tokio::select! {
                survivor = finish(termination) => {
                    *termination = None;
                    return Input::Terminated { survivor };
                }
                progress = advance(start) => progress,
                input = child_input(child, typed) => return input,
                () = agent_ended(watch) => return Input::Tick,
                observation = observed(observations) => {
                    return match (observation, agent_io) {
                        (Some(observation), Some(io)) => io.input(observation),
                        // The sources hold a sender, so the channel never ends.
                        (None, _) | (_, None) => Input::Tick,
                    };
                }
            };
            if let Some(input) = self.progressed(progress) {
                return input;
            }
        }
    }

    pub(super) fn start(&mut self, mut launch: Launch, conversation: Option<Conversation>) {
        if let Some(agent_io) = &self.agent_io {
            launch.env.push(agent_io.hook_variable());
        }
        let prepared = self.launcher.prepare(launch, conversation);
        self.start = Some(Start::Prepare(prepared));
    }

    /// Where the agent's process is, if that has changed.
    pub(super) fn changed_presence(&mut self) -> Option<Presence> {
        let watch = &mut self.agent_io.as_mut()?.watch;
        watch.changed_presence(|| foreground_group(self.child.as_ref()))
    }

    /// The terminal shows a sign of the agent: looks for its process in the foreground.
    pub(super) fn find_agent(&mut self) {
        if let Some(agent_io) = &mut self.agent_io
            && let Some(group) = foreground_group(self.child.as_ref())
        {
            agent_io.watch.find(group);
        }
    }

    /// Takes the next step of a start; returns an input when it is complete.
    fn progressed(&mut self, progress: Progress) -> Option<Input> {
        match progress {
            Progress::Prepared(prepared) => {
                let PreparedLaunch { launch, log, registry, prints_json, hooks_unavailable } =
                    prepared;
                if let Some(agent_io) = &mut self.agent_io {
                    agent_io.before_start(log, registry.is_some());
                }
                let agent = AgentStart { prints_json, hooks_unavailable, only_here: true };
                let spawned = self.launcher.spawn(launch);
                self.start = Some(Start::Spawn { spawned, registry, agent });
                None
            }
            Progress::Spawned { spawned, registry, agent } => {
                self.start = None;
                let pid = spawned.child.pid().as_raw_pid();
                if let Some(agent_io) = &mut self.agent_io {
                    agent_io.started(pid, registry);
                }
                self.child = Some(RunningChild::new(spawned));
                Some(Input::Started { pid, agent })
            }
            Progress::Failed(error) => {
                self.start = None;
                Some(Input::StartFailed(error))
            }
        }
    }

    /// Cancels a start that is still being prepared. A fork is waited for, or its child would be
    /// left behind.
    pub(super) fn cancel_start(&mut self) {
        if let Some(Start::Prepare(_)) = self.start {
            self.start = Some(Start::Cancelled);
        }
    }

    pub(super) fn resize(&self, size: WindowSize) {
        if let Some(RunningChild { io: Some(io), .. }) = &self.child
            && let Err(error) = io.control.resize(size)
        {
            tracing::warn!(%error, "the terminal did not take its new size");
        }
    }

    pub(super) fn signal(&self, signal: Signal) -> BoxFuture<'static, Result<(), SignalError>> {
        match &self.child {
            Some(RunningChild { child, io: Some(io), .. }) => {
                child.signal_foreground(&io.control, signal)
            }
            Some(RunningChild { child, io: None, .. }) => child.signal(signal),
            None => Box::pin(ready(Err(SignalError::Exited))),
        }
    }

    pub(super) fn terminate(&mut self, grace: Duration) {
        let Some(RunningChild { child, .. }) = &self.child else {
            self.termination = Some(Box::pin(async { None }));
            return;
        };
        self.skip_grace = CancellationToken::new();
        let (child, skip_grace) = (child.clone(), self.skip_grace.clone());
        self.termination = Some(Box::pin(async move {
            let survives = match child.terminate(grace, skip_grace.cancelled()).await {
                Ok(ended) => {
                    if !ended.survivors.is_empty() {
                        let survivors = &ended.survivors;
                        tracing::error!(?survivors, "processes could not be ended");
                    }
                    ended.survivors.contains(&child.pid())
                }
                Err(error) => {
                    tracing::error!(%error, "the child's processes could not be found");
                    child.exit().is_none()
                }
            };
            survives.then(|| child.pid().as_raw_pid())
        }));
    }

    pub(super) fn skip_grace(&self) {
        self.skip_grace.cancel();
    }

    pub(super) fn close_terminal(&mut self) {
        if let Some(child) = &mut self.child {
            child.io = None;
        }
    }

    pub(super) fn source_counters(&self) -> Option<CounterReader> {
        self.agent_io.as_ref().map(AgentIo::counters)
    }

    pub(super) fn with_agent_io(&mut self, act: impl FnOnce(&mut AgentIo)) {
        if let Some(agent_io) = &mut self.agent_io {
            act(agent_io);
        }
    }

    /// Waits until the agent's files are removed, though not for a disk that does not respond.
    pub(super) async fn close(self) {
        let Self { launcher, start, agent_io, .. } = self;
        drop((start, agent_io));
        if timeout(CLEAN_UP, launcher.close()).await.is_err() {
            tracing::warn!("the agent's files were not removed in time");
        }
    }
}

impl RunningChild {
    fn new(spawned: Spawned) -> Self {
        let (sender, output) = mpsc::channel(OUTPUT_CHUNKS);
        let mut reader = JoinSet::new();
        reader.spawn(forward(spawned.reader, sender));
        let io = TerminalIo {
            writer: spawned.writer,
            control: spawned.control,
            output: Some(output),
            _reader: reader,
        };
        Self { child: spawned.child, exit_reported: false, io: Some(io) }
    }

    async fn next(&mut self, typed: Option<&[u8]>) -> Input {
        let (writer, output) = match &mut self.io {
            Some(io) => (Some(&mut io.writer), io.output.as_mut()),
            None => (None, None),
        };
        tokio::select! {
            exit = self.child.wait(), if !self.exit_reported => {
                self.exit_reported = true;
                Input::ChildExited(exit)
            }
            written = write(writer, typed) => match written {
                Ok(count) => Input::Wrote(count),
                Err(error) => {
                    tracing::debug!(%error, "the terminal refused input");
                    Input::WriteFailed(Error::exited())
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
        }
    }
}

fn foreground_group(child: Option<&RunningChild>) -> Option<i32> {
    child?.io.as_ref()?.control.foreground_group().map(Pid::as_raw_pid)
}

async fn observed(observations: Option<&mut Observations>) -> Option<Observation> {
    match observations {
        Some(observations) => observations.recv().await,
        None => never().await,
    }
}

async fn agent_ended(watch: Option<&mut AgentWatch>) {
    match watch {
        Some(watch) => watch.ended().await,
        None => never().await,
    }
}

async fn child_input(child: &mut Option<RunningChild>, typed: Option<&[u8]>) -> Input {
    match child {
        Some(child) => child.next(typed).await,
        None => never().await,
    }
}

async fn finish<T>(pending: &mut Option<Pending<T>>) -> T {
    match pending {
        Some(running) => running.await,
        None => never().await,
    }
}

/// Waits for the current step of a start.
async fn advance(start: &mut Option<Start>) -> Progress {
    match start {
        None => never().await,
        Some(Start::Cancelled) => Progress::Failed(LaunchError::Cancelled),
        Some(Start::Prepare(prepared)) => match prepared.await {
            Ok(prepared) => Progress::Prepared(prepared),
            Err(error) => Progress::Failed(error),
        },
        Some(Start::Spawn { spawned, registry, agent }) => match spawned.await {
            Ok(spawned) => Progress::Spawned {
                spawned,
                registry: registry.take(),
                agent: std::mem::take(agent),
            },
            Err(error) => Progress::Failed(error),
        },
    }
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

async fn write(writer: Option<&mut Writer>, bytes: Option<&[u8]>) -> io::Result<usize> {
    match (writer, bytes) {
        (Some(writer), Some(bytes)) => writer.write(bytes).await,
        (None, _) | (_, None) => never().await,
    }
}
