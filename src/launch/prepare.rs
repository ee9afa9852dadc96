//! Prepares an agent's launch: asks the driver what must be changed about the command, and does
//! the reading, writing and probing that this takes.

use std::ffi::{OsStr, OsString};
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde_json::Value;
use tokio::time::Instant;

use super::shared_dir::SharedDir;
use super::{Conversation, abandoned};
use crate::driver::launch::{
    EvidenceSources, Groom, LaunchPlan, LaunchRequest, SharedDirSpec, Version,
};
use crate::driver::{self, Driver};
use crate::pty::{Launch, LaunchError, Probe, Reaper};
use crate::source::{LogTarget, ReadFrom};

/// How long an agent may take to print its version.
const VERSION_TIMEOUT: Duration = Duration::from_secs(10);
/// How much of the version's output is read.
const VERSION_LIMIT: usize = 4096;
/// How long another process may keep the shared directory locked.
const LOCK_TIMEOUT: Duration = Duration::from_secs(5);
/// The largest file that a command may name for the driver to read.
const FILE_LIMIT: u64 = 16 << 20;

/// What the launches of all children of a session have in common.
#[derive(Debug, Clone)]
pub(crate) struct LaunchContext {
    /// The agent's name, which is usually also the name of its program.
    pub agent: String,
    /// The session's private directory.
    pub dir: PathBuf,
    /// The program that hooks call.
    pub hook: PathBuf,
    pub groom: Groom,
    pub settings: Option<Value>,
    pub mcp: Option<Value>,
}

/// A launch that is ready to be forked.
#[derive(Debug)]
pub(crate) struct PreparedLaunch {
    pub(crate) launch: Launch,
    /// The agent's log, as it is before the agent starts.
    pub(crate) log: Option<LogTarget>,
    /// The directory of the agent's status files.
    pub(crate) registry: Option<PathBuf>,
    /// The agent prints JSON lines about what it does.
    pub(crate) prints_json: bool,
    /// Why the agent's hooks will not reach coop, if they will not.
    pub(crate) hooks_unavailable: Option<String>,
}

impl PreparedLaunch {
    /// The launch of a program that no driver knows.
    pub(super) fn unchanged(launch: Launch) -> Self {
        let (log, registry, prints_json) = (None, None, false);
        Self { launch, log, registry, prints_json, hooks_unavailable: None }
    }
}

/// Prepares each child's launch, and keeps what they share.
pub(super) struct Preparer {
    driver: Box<dyn Driver>,
    context: LaunchContext,
    reaper: Reaper,
    version: Option<(ProgramFile, Option<Version>)>,
    written: Vec<PathBuf>,
    shared_dir: Option<SharedDir>,
}

/// The program file that printed a version.
#[derive(Debug, Clone, PartialEq, Eq)]
struct ProgramFile {
    path: PathBuf,
    modified: Option<SystemTime>,
    length: u64,
}

impl Preparer {
    pub(super) fn new(driver: Box<dyn Driver>, context: LaunchContext, reaper: Reaper) -> Self {
        Self { driver, context, reaper, version: None, written: Vec::new(), shared_dir: None }
    }

    pub(super) async fn prepare(
        &mut self,
        mut launch: Launch,
        conversation: Option<&Conversation>,
    ) -> Result<PreparedLaunch, LaunchError> {
        let version = match self.context.groom {
            Groom::Auto | Groom::Manual => self.version(&launch).await,
            Groom::Pristine => None,
        };
        let LaunchPlan { args, env, files, shared_dir, evidence_sources, mut hooks_unavailable } =
            self.plan(&launch, conversation, version)?;
        for (path, text) in files {
            self.reaper.remove_at_end(&path).await;
            self.write(&path, &text)
                .map_err(|error| LaunchError::Unprepared(format!("{}: {error}", path.display())))?;
            // The next child gets the same files.
            if !self.written.contains(&path) {
                self.written.push(path);
            }
        }
        if let Some(shared) = shared_dir
            && let Err(error) = self.take_shared_dir(&shared).await
        {
            // The agent can be served without its hooks.
            let dir = shared.dir.display();
            hooks_unavailable.get_or_insert(format!("{dir} cannot be made: {error}"));
        }
        launch.args = args;
        launch.env.extend(env);
        if let Some(reason) = &hooks_unavailable {
            tracing::info!(%reason, "the agent's hooks do not reach coop");
        }
        let EvidenceSources { log, registry, stdout: prints_json } = evidence_sources;
        // In a conversation that continues, lines that are already there are about the past.
        let from = if conversation.is_some() { ReadFrom::End } else { ReadFrom::Start };
        let log = log.map(|location| LogTarget::find(location, from));
        Ok(PreparedLaunch { launch, log, registry, prints_json, hooks_unavailable })
    }

    fn plan(
        &self,
        launch: &Launch,
        conversation: Option<&Conversation>,
        version: Option<Version>,
    ) -> Result<LaunchPlan, LaunchError> {
        let env = launch.env.iter().cloned().collect();
        let cwd = launch.cwd.canonicalize().unwrap_or_else(|_| launch.cwd.clone());
        // A conversation without a log cannot be continued.
        let resume = conversation
            .filter(|conversation| conversation.log.as_ref().is_none_or(|log| log.exists()))
            .map(|conversation| conversation.id.as_str());
        let fresh_id = uuid::Uuid::new_v4().to_string();
        let request = LaunchRequest {
            program: &launch.program,
            args: &launch.args,
            env: &env,
            cwd: &cwd,
            dir: &self.context.dir,
            hook: &self.context.hook,
            groom: self.context.groom,
            settings: self.context.settings.as_ref(),
            mcp: self.context.mcp.as_ref(),
            version,
            resume,
            fresh_id: &fresh_id,
            read: &read_limited,
        };
        self.driver.plan(&request).map_err(LaunchError::Unprepared)
    }

    /// Writes a file for the agent. One outside of the session's directory is noted there first, so
    /// that the next coop removes it if this one cannot.
    fn write(&self, path: &Path, text: &str) -> io::Result<()> {
        if !path.starts_with(&self.context.dir) {
            abandoned::note_file(&self.context.dir, path)?;
            if let Some(parent) = path.parent() {
                DirBuilder::new().recursive(true).mode(0o700).create(parent)?;
            }
        }
        write_private(path, text)
    }

    async fn take_shared_dir(&mut self, shared: &SharedDirSpec) -> io::Result<()> {
        if self.shared_dir.as_ref().is_none_or(|held| held.dir() != shared.dir) {
            abandoned::note(&self.context.dir, &shared.dir)?;
            let deadline = Instant::now() + LOCK_TIMEOUT;
            self.shared_dir = Some(SharedDir::take(shared, deadline).await?);
        }
        Ok(())
    }

    /// The version that the agent's program prints. Each program file is run for it once.
    async fn version(&mut self, launch: &Launch) -> Option<Version> {
        // An unknown program may do anything when it is given `--version`.
        if self.context.agent == driver::UNKNOWN {
            return None;
        }
        let agent = OsStr::new(&self.context.agent);
        let is_agent = Path::new(&launch.program).file_name() == Some(agent);
        // Inside a wrapper, the agent is most likely the program that a shell would find.
        let program = if is_agent { launch.program.clone() } else { OsString::from(agent) };
        let path = Launch { program, ..launch.clone() }.resolve().ok()?;
        let metadata = path.metadata().ok()?;
        let file = ProgramFile { path, modified: metadata.modified().ok(), length: metadata.len() };
        match &self.version {
            Some((known, version)) if *known == file => *version,
            Some(_) | None => {
                let version = probe_version(&file.path, launch, self.reaper).await;
                if version.is_none() {
                    let program = file.path.display();
                    tracing::warn!(%program, "the agent's program prints no version");
                }
                self.version = Some((file, version));
                version
            }
        }
    }
}

impl Drop for Preparer {
    fn drop(&mut self) {
        for path in &self.written {
            drop(std::fs::remove_file(path));
        }
    }
}

async fn probe_version(program: &Path, launch: &Launch, reaper: Reaper) -> Option<Version> {
    let probe = Probe {
        program: program.to_owned(),
        args: vec!["--version".into()],
        env: launch.env.clone(),
        cwd: launch.cwd.clone(),
        output_limit: VERSION_LIMIT,
        deadline: Instant::now() + VERSION_TIMEOUT,
    };
    let output = probe.output(reaper).await.ok()?;
    Version::find(&String::from_utf8_lossy(&output))
}

fn read_limited(path: &Path) -> io::Result<String> {
    let file = File::open(path)?;
    if file.metadata()?.len() > FILE_LIMIT {
        let message = format!("the file is larger than {FILE_LIMIT} bytes");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
    }
    let mut text = String::new();
    file.take(FILE_LIMIT).read_to_string(&mut text)?;
    Ok(text)
}

pub(super) fn write_private(path: &Path, text: &str) -> io::Result<()> {
    let mut options = OpenOptions::new();
    let mut file = options.write(true).create(true).truncate(true).mode(0o600).open(path)?;
    file.write_all(text.as_bytes())
}
