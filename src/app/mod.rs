//! coop from start to end: bind, build, start the session, serve, drain. It owns every task.

mod audit_file;
mod dead_sessions;
mod listeners;
mod session_dir;
mod signals;
mod stores;
mod warnings;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_util::task::TaskTracker;

use self::audit_file::AuditFile;
use self::listeners::Listeners;
use self::signals::ShutdownSignals;
use crate::cli::USAGE;
use crate::config::{self, Attach, Config};
use crate::launch::LaunchContext;
use crate::log::Outlet;
use crate::mux::{self, MuxError, MuxTarget};
use crate::pty::{self, Exit, Guard, LaunchError, Reaper};
use crate::server::{
    self, BindError, Policy, ReflectionError, Reload, Server, Tls, TlsError, TlsReload,
    TokenReload, TokenStore,
};
use crate::service::{About, AuditLog, Closing, Service};
use crate::session::backend::{self, BackendStart, HookSetup};
use crate::session::event::ShutdownReason;
use crate::session::run::SessionLoop;
use crate::session::{DEFAULT_GRACE, Session, Settings};

/// How long connections may take to receive the end of their streams.
const DRAIN: Duration = Duration::from_millis(250);

/// How long the listeners wait for the first child. Usually it runs in a fraction of this, and
/// clients find it running; if its launch hangs, coop serves all the same and says `starting`.
const FIRST_START: Duration = Duration::from_secs(2);

/// How the session ended.
type Ended = oneshot::Receiver<Result<Exit, LaunchError>>;

/// Why coop did not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error(transparent)]
    Bind(#[from] BindError),
    #[error("TLS cannot be served: {0}")]
    Tls(#[from] TlsError),
    #[error("--audit-log {}: {reason}", .path.display())]
    AuditLog { path: PathBuf, reason: io::Error },
    #[error("the state directory {} cannot be used: {reason}", .path.display())]
    StateDir { path: PathBuf, reason: io::Error },
    #[error(transparent)]
    Launch(#[from] LaunchError),
    #[error("--attach: {0}")]
    Attach(#[from] MuxError),
    #[error("coop cannot watch its child processes: {0}")]
    Reaper(io::Error),
    #[error("cannot find the coop binary, which hooks need: {0}")]
    CoopBinary(io::Error),
    #[error("the session's thread cannot be started: {0}")]
    Thread(io::Error),
    #[error("reflection cannot be served: {0}")]
    Reflection(#[from] ReflectionError),
}

impl StartError {
    /// What coop exits with.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Launch(error) => u8::try_from(error.shell_code()).unwrap_or(1),
            Self::Bind(_)
            | Self::Tls(_)
            | Self::AuditLog { .. }
            | Self::StateDir { .. }
            | Self::Attach(_) => USAGE,
            Self::Reaper(_) | Self::CoopBinary(_) | Self::Thread(_) | Self::Reflection(_) => 1,
        }
    }
}

/// Serves one session from its start to its end; returns how the child ended.
///
/// The session has a thread and a runtime of its own, so that many readers wait for each other and
/// never delay the child.
pub async fn run(
    config: Config,
    guard: Option<Guard>,
    stdout: &Outlet,
    session_runtime: &Handle,
) -> Result<Exit, StartError> {
    let reaper = Reaper::install(guard).map_err(StartError::Reaper)?;
    let result = serve(config, reaper, stdout, session_runtime).await;
    reaper.close().await;
    result
}

async fn serve(
    mut config: Config,
    reaper: Reaper,
    stdout: &Outlet,
    session_runtime: &Handle,
) -> Result<Exit, StartError> {
    let tracker = TaskTracker::new();
    warnings::log(&config);
    pty::raise_descriptor_limit();
    // SIGCHLD must be received from before the first child until after the last.
    let mut reaping = JoinSet::new();
    reaping.spawn_on(reaper.run(), session_runtime);
    let mut signals = ShutdownSignals::listen().map_err(StartError::Reaper)?;

    let audit = audit_log(config.audit_log.as_deref())?;
    // Before it is made, so that a SIGKILL at any moment leaves none. One that exists is another's.
    for dir in config.state_dirs.iter().filter(|dir| !dir.exists()) {
        for path in session_dir::traces(dir) {
            reaper.remove_at_end(&path).await;
        }
    }
    // The directory is removed at the end, also if coop cannot start.
    let (listeners, session_dir) = Listeners::bind(&config)?;
    let state_dir = session_dir.path().to_owned();
    // The socket of `--socket` stays if coop is killed: clients that connect again are refused
    // there, and know that coop may come back, and the next coop replaces it.
    reaper.remove_at_end(&state_dir).await;
    config.set_child_address(listeners.private_socket(), listeners.tcp_address());
    let backend = match config.attach.take() {
        None => BackendStart::Native { reaper, hooks: hook_setup(&mut config, &state_dir)? },
        Some(attach) => {
            let target = find_pane(attach, &mut config.settings, &state_dir).await?;
            BackendStart::Attached(Box::new(target))
        }
    };
    let (session, mut session_loop) = {
        let _entered = session_runtime.enter();
        SessionLoop::new(config.settings.clone(), backend)?
    };
    let first_start = session_loop.first_start();
    let ended = spawn_session(session_loop, session_runtime)?;

    let closing = Closing::default();
    let service = Service::new(session.clone(), about(&config), closing.clone());
    let service = service.audited(audit.clone());
    tracker.spawn(service.clone().record_own_acts());
    let policy = policy(&mut config);
    let reload = reload(&mut config, &policy, listeners.tls());
    tracker.spawn(reload.run(tracker.clone(), closing.clone()));
    let apps = server::apps(&service, policy, &tracker)?;
    let server = Server::new(
        tracker.clone(),
        Arc::clone(&apps.policy),
        listeners.count(),
        pty::descriptor_limit(),
    );
    if may_serve(first_start, &session, &mut signals).await {
        listeners.serve(&server, &apps, stdout);
        let (places, session_id) = (config.state_dirs.clone(), config.session_id.clone());
        // Off the way of the start and of every caller.
        tracker.spawn_blocking(move || dead_sessions::clean(&places, &session_id));
    } else {
        // Their sockets are in the directory that is removed below.
        drop(listeners);
    }
    let result = wait_for_end(ended, &session, signals).await;

    closing.close();
    server.close();
    tracker.close();
    if timeout(DRAIN, tracker.wait()).await.is_err() {
        tracing::debug!("some connections did not end in time");
    }
    drop(session_dir);
    audit.flush();
    Ok(result?)
}

/// Opens the audit log, if one is wanted.
fn audit_log(path: Option<&Path>) -> Result<AuditLog, StartError> {
    let Some(path) = path else { return Ok(AuditLog::default()) };
    let failed = |reason| StartError::AuditLog { path: path.to_owned(), reason };
    let file = AuditFile::open(path).map_err(failed)?;
    Ok(AuditLog::new(Outlet::new("audit", file).map_err(failed)?))
}

/// Runs the session on a thread of its own. As a task it would share a worker with the reader that
/// feeds it, and they would take turns.
fn spawn_session(session_loop: SessionLoop, runtime: &Handle) -> Result<Ended, StartError> {
    let (end, ended) = oneshot::channel();
    let runtime = runtime.clone();
    let thread = std::thread::Builder::new().name("session".to_owned());
    // The thread ends with the session, and `ended` receives its result.
    let _session_thread = thread
        .spawn(move || end.send(runtime.block_on(session_loop.run())))
        .map_err(StartError::Thread)?;
    Ok(ended)
}

/// Waits for the first child, for a limited time. Returns false if it cannot be started, or if a
/// signal has begun the shutdown meanwhile.
async fn may_serve(
    first_start: oneshot::Receiver<()>,
    session: &Session,
    signals: &mut ShutdownSignals,
) -> bool {
    tokio::select! {
        started = timeout(FIRST_START, first_start) => !matches!(started, Ok(Err(_))),
        signal = signals.next() => {
            shut_down(session, signal).await;
            false
        }
    }
}

/// Waits until the session is over. A signal begins its shutdown; a second one skips the grace.
async fn wait_for_end(
    mut ended: Ended,
    session: &Session,
    mut signals: ShutdownSignals,
) -> Result<Exit, LaunchError> {
    loop {
        tokio::select! {
            result = &mut ended => return result.unwrap_or_else(|_| {
                tracing::error!("the session's thread panicked");
                Ok(Exit::Unknown)
            }),
            signal = signals.next() => shut_down(session, signal).await,
        }
    }
}

async fn shut_down(session: &Session, signal: &'static str) {
    tracing::info!("received {signal}, shutting down");
    // This fails if the session is over, and then there is nothing to shut down.
    drop(session.shut_down(ShutdownReason::Signal, DEFAULT_GRACE).await);
}

/// Finds the multiplexer's pane. Its program and size become the session's.
async fn find_pane(
    attach: Attach,
    settings: &mut Settings,
    state_dir: &Path,
) -> Result<MuxTarget, MuxError> {
    let target = mux::find(&attach.address, attach.env, state_dir).await?;
    let mut command = target.command.iter().cloned();
    settings.child_spec.program = command.next().unwrap_or_default();
    settings.child_spec.args = command.collect();
    settings.child_spec.cwd = target.cwd.clone();
    settings.size = backend::size_of(&target);
    Ok(target)
}

/// What hooks need. Only an agent that coop starts and a driver knows has hooks.
fn hook_setup(config: &mut Config, state_dir: &Path) -> Result<Option<HookSetup>, StartError> {
    if config.settings.agent.is_none() {
        return Ok(None);
    }
    let context = LaunchContext {
        agent: config.agent.to_owned(),
        dir: state_dir.to_owned(),
        hook: config::coop_binary().map_err(StartError::CoopBinary)?,
        groom: config.groom,
        settings: config.agent_config.settings.take(),
        mcp: config.agent_config.mcp.take(),
    };
    Ok(Some(HookSetup { context, nonce: config.hook_nonce.clone() }))
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
        tokens: Arc::new(TokenStore::new(std::mem::take(&mut config.tokens))),
        allow_hosts: std::mem::take(&mut config.allow_hosts),
        allow_origins: std::mem::take(&mut config.allow_origins),
        hook_nonce: config.hook_nonce.clone(),
    }
}

/// The files whose changes take effect while coop runs.
fn reload(config: &mut Config, policy: &Policy, tls: Option<Tls>) -> Reload {
    let fixed = std::mem::take(&mut config.fixed_token);
    let store = Arc::clone(&policy.tokens);
    Reload {
        tokens: config.token_file.take().map(|path| TokenReload::new(path, fixed, store)),
        tls: config.tls.take().zip(tls).map(|(files, tls)| TlsReload::new(files, tls)),
    }
}
