//! The server's life from beginning to end: bind, build, spawn, serve, drain. It owns every task.

use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use tokio::net::TcpListener;
use tokio::runtime::Handle;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::oneshot;
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_util::task::TaskTracker;

use crate::config::{Attach, Config};
use crate::log::Outlet;
use crate::pty::attach::{self, AttachError, Found};
use crate::pty::{self, Exit, LaunchError, Reaper};
use crate::server::{self, BindError, Door, Listener, Policy, Server, TlsError, UnixDoor};
use crate::service::{About, Closing, Service};
use crate::session::event::ShutdownReason;
use crate::session::outfit::Wardrobe;
use crate::session::shell::{self, Hearing, Occupant};
use crate::session::{DEFAULT_GRACE, Session, Settings};

/// How long connections may take to hear the end.
const GOODBYE: Duration = Duration::from_millis(250);

/// Why coop did not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error(transparent)]
    Bind(#[from] BindError),
    #[error("TLS cannot be served: {0}")]
    Tls(#[from] TlsError),
    #[error("the state directory {} cannot be used: {reason}", .path.display())]
    StateDir { path: PathBuf, reason: io::Error },
    #[error(transparent)]
    Launch(#[from] LaunchError),
    #[error("--attach: {0}")]
    Attach(#[from] AttachError),
    #[error("coop cannot watch over its children: {0}")]
    Reaper(io::Error),
    #[error("coop does not find itself, so that the agent's hooks could call it: {0}")]
    Itself(io::Error),
    #[error("the session's thread cannot be started: {0}")]
    Thread(io::Error),
    #[error("reflection cannot be served: {0}")]
    Reflection(#[from] tonic_reflection::server::Error),
}

impl StartError {
    /// What coop exits with.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Launch(error) => u8::try_from(error.shell_code()).unwrap_or(1),
            Self::Bind(_) | Self::Tls(_) | Self::StateDir { .. } | Self::Attach(_) => USAGE,
            Self::Reaper(_) | Self::Itself(_) | Self::Thread(_) | Self::Reflection(_) => 1,
        }
    }
}

/// The exit code of wrong usage or configuration.
pub const USAGE: u8 = 64;

/// Serves one session from its start to its end; answers how the child ended.
///
/// The session lives on a thread and a runtime of its own, so that however many readers there are,
/// they wait for their turn among themselves and never before the child.
pub async fn run(mut config: Config, stdout: &Outlet, sessions: &Handle) -> Result<Exit, StartError> {
    let tracker = TaskTracker::new();
    pty::raise_descriptor_limit();
    let reaper = Reaper::install().map_err(StartError::Reaper)?;
    // SIGCHLD must be heard from before the first child on until after the last.
    let mut reaping = JoinSet::new();
    reaping.spawn_on(reaper.run(), sessions);
    let interrupts = Interrupts::listen().map_err(StartError::Reaper)?;

    let doors = Doors::open(&config)?;
    config.tell_child(doors.private.path(), doors.tcp_address());
    let occupant = match config.attach.take() {
        None => Occupant::Child(reaper),
        Some(attach) => {
            Occupant::Foreign(Box::new(find(attach, &mut config.settings, &doors.state_dir).await?))
        }
    };
    let hearing = hearing(&mut config, &doors.state_dir)?;
    let (session, shell) = {
        let _there = sessions.enter();
        shell::start(config.settings.clone(), hearing, occupant)?
    };

    let closing = Closing::default();
    let service = Service::new(session.clone(), about(&config), closing.clone());
    let apps = server::apps(&service, policy(&mut config), &tracker)?;
    let server = Server::new(tracker.clone());
    let state_dir = doors.serve(&server, &apps, stdout);

    // As a task it would share a worker with the reader that feeds it, and they would take turns.
    let (over, ended) = oneshot::channel();
    let there = sessions.clone();
    let thread = std::thread::Builder::new().name("session".to_owned());
    let _ends_with_the_session =
        thread.spawn(move || over.send(there.block_on(shell.run()))).map_err(StartError::Thread)?;
    let exit = live(ended, &session, interrupts).await;

    closing.close();
    server.close();
    tracker.close();
    if timeout(GOODBYE, tracker.wait()).await.is_err() {
        tracing::debug!("some connections did not end in time");
    }
    // What the session left there stays; an empty directory tells nobody anything.
    drop(std::fs::remove_dir(state_dir));
    Ok(exit)
}

/// Lets the session live until it is over, passing on what coop itself is told by signals.
async fn live(mut ended: oneshot::Receiver<Exit>, session: &Session, mut interrupts: Interrupts) -> Exit {
    loop {
        tokio::select! {
            exit = &mut ended => return exit.unwrap_or_else(|_| {
                tracing::error!("the session broke down");
                Exit::Unknown
            }),
            () = interrupts.next() => {
                tracing::info!("a signal asks coop to go");
                // The second time means now. A session that has ended needs no telling.
                drop(session.shut_down(ShutdownReason::Signal, DEFAULT_GRACE).await);
            }
        }
    }
}

/// The signals that ask coop itself to go.
struct Interrupts {
    terminate: Signal,
    interrupt: Signal,
    hangup: Signal,
}

impl Interrupts {
    fn listen() -> io::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            hangup: signal(SignalKind::hangup())?,
        })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
            _ = self.hangup.recv() => {}
        }
    }
}

/// Everything that was bound.
struct Doors {
    tcp: Option<TcpListener>,
    grpc: Option<TcpListener>,
    health: Option<TcpListener>,
    socket: Option<UnixDoor>,
    private: UnixDoor,
    state_dir: PathBuf,
    tls: Option<tokio_rustls::TlsAcceptor>,
}

impl Doors {
    /// Opens all of them before the first takes its place, so that a coop that cannot start
    /// leaves another one's socket alone.
    fn open(config: &Config) -> Result<Self, StartError> {
        let tls = config.tls.as_ref().map(server::acceptor).transpose()?;
        let tcp = bind(config.tcp)?;
        let grpc = bind(config.grpc)?;
        let health = bind(config.health)?;
        let mut socket = config.socket.as_deref().map(UnixDoor::bind).transpose()?;
        let (state_dir, mut private) = private_place(&config.state_dirs)?;
        private.publish()?;
        if let Some(socket) = &mut socket {
            socket.publish()?;
        }
        Ok(Self { tcp, grpc, health, socket, private, state_dir, tls })
    }

    fn tcp_address(&self) -> Option<std::net::SocketAddr> {
        self.tcp.as_ref().and_then(|listener| listener.local_addr().ok())
    }

    /// Serves on each, and says so on stdout. Answers the state directory, for the end.
    fn serve(self, server: &Server, apps: &server::Apps, stdout: &Outlet) -> PathBuf {
        let announce = |kind: &str, listener: &TcpListener| {
            if let Ok(address) = listener.local_addr() {
                stdout.line(&format!("{kind} listening on {address}"));
            }
        };
        if let Some(listener) = self.tcp {
            announce("HTTP", &listener);
            server.serve(Listener::Tcp { listener, tls: self.tls.clone() }, apps.main.clone());
        }
        if let Some(listener) = self.grpc {
            announce("gRPC", &listener);
            server.serve(Listener::Tcp { listener, tls: self.tls }, apps.grpc.clone());
        }
        if let Some(listener) = self.health {
            announce("Health", &listener);
            server.serve(Listener::Tcp { listener, tls: None }, apps.health.clone());
        }
        if let Some(socket) = self.socket {
            stdout.line(&format!("Unix socket listening on {}", socket.path().display()));
            server.serve(Listener::Unix { socket, door: Door::Unix }, apps.main.clone());
        }
        server.serve(Listener::Unix { socket: self.private, door: Door::Private }, apps.main.clone());
        self.state_dir
    }
}

fn bind(place: Option<(std::net::IpAddr, u16)>) -> Result<Option<TcpListener>, BindError> {
    match place {
        Some((host, port)) => server::tcp(host, port).map(Some),
        None => Ok(None),
    }
}

/// A directory of our own with the session's own socket in it, in the first place that will do.
fn private_place(candidates: &[PathBuf]) -> Result<(PathBuf, UnixDoor), StartError> {
    let mut refused = None;
    for dir in candidates {
        let place = create_private(dir)
            .map_err(|reason| StartError::StateDir { path: dir.clone(), reason })
            .and_then(|()| Ok(UnixDoor::bind(&dir.join("coop.sock"))?));
        match place {
            Ok(private) => return Ok((dir.clone(), private)),
            Err(error) => {
                tracing::warn!(%error, "trying the next place for the session's directory");
                drop(std::fs::remove_dir(dir));
                refused.get_or_insert(error);
            }
        }
    }
    let nowhere = || StartError::StateDir { path: PathBuf::new(), reason: io::ErrorKind::NotFound.into() };
    Err(refused.unwrap_or_else(nowhere))
}

/// Makes the last directory itself, and fails if it is there already: in `/tmp` it could be anybody's.
fn create_private(dir: &Path) -> io::Result<()> {
    let mut private = std::fs::DirBuilder::new();
    private.mode(0o700);
    if let Some(parent) = dir.parent() {
        private.recursive(true).create(parent)?;
    }
    private.recursive(false).create(dir)
}

/// Finds another program's terminal. What runs there is what the session is about, and as large as it is.
async fn find(attach: Attach, settings: &mut Settings, state_dir: &Path) -> Result<Found, AttachError> {
    let found = attach::find(&attach.address, attach.env, state_dir).await?;
    let mut command = found.command.iter().cloned();
    settings.recipe.program = command.next().unwrap_or_default();
    settings.recipe.args = command.collect();
    settings.recipe.cwd = found.cwd.clone();
    settings.size = shell::size_of(&found);
    Ok(found)
}

/// What it takes to hear the agent, if somebody understands it. Hooks are for those that coop starts itself.
fn hearing(config: &mut Config, state_dir: &Path) -> Result<Option<Hearing>, StartError> {
    if config.settings.attendance.is_none() || config.settings.backend.is_foreign() {
        return Ok(None);
    }
    let wardrobe = Wardrobe {
        agent: config.agent.to_owned(),
        dir: state_dir.to_owned(),
        hook: std::env::current_exe().map_err(StartError::Itself)?,
        groom: config.groom,
        settings: config.agent_config.settings.take(),
        mcp: config.agent_config.mcp.take(),
    };
    let (nonce, conversation) = (config.hook_nonce.clone(), config.resume.take());
    Ok(Some(Hearing { wardrobe, nonce, conversation }))
}

fn about(config: &Config) -> About {
    About {
        session_id: config.session_id.clone(),
        name: config.name.clone(),
        labels: config.labels.clone(),
        agent: config.agent.to_owned(),
        backend: config.settings.backend,
        version: env!("CARGO_PKG_VERSION"),
        started: Instant::now(),
    }
}

fn policy(config: &mut Config) -> Policy {
    Policy {
        certificates: config.wants_certificates(),
        tokens: std::mem::take(&mut config.tokens),
        allow_hosts: std::mem::take(&mut config.allow_hosts),
        allow_origins: std::mem::take(&mut config.allow_origins),
        hook_nonce: config.hook_nonce.clone(),
    }
}
