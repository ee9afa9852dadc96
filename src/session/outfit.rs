//! Gets an agent's command ready to be started: it asks the driver what must be changed, and does the reading, writing
//! and asking that this takes. What is changed, and why, only the driver knows.

use std::ffi::{OsStr, OsString};
use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant, SystemTime};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde_json::Value;

use super::actor::Conversation;
use super::share::Share;
use crate::driver::launch::{Groom, Order, Outfit, Traces, Version};
use crate::driver::{self, Driver};
use crate::pty::{Launch, LaunchError};

/// How long an agent may take to say its version.
const VERSION_TIME: Duration = Duration::from_secs(10);
/// The largest file that a command may name for the driver to read.
const FILE_LIMIT: u64 = 16 << 20;

/// What all children of a session are got ready with.
#[derive(Debug, Clone)]
pub struct Wardrobe {
    /// The agent's name, which is also what its program is usually called.
    pub agent: String,
    /// The session's private directory.
    pub dir: PathBuf,
    /// The program that hooks call.
    pub hook: PathBuf,
    pub groom: Groom,
    pub settings: Option<Value>,
    pub mcp: Option<Value>,
}

/// A command that is ready to be started.
pub struct Prepared {
    pub launch: Launch,
    /// Where the agent will leave its traces.
    pub traces: Traces,
    /// Why its hooks will not be heard of, if that is so.
    pub unheard: Option<String>,
}

/// Dresses one child after the other.
#[derive(Debug)]
pub struct Outfitter {
    wardrobe: Wardrobe,
    version: Option<(Stamp, Option<Version>)>,
    written: Vec<PathBuf>,
    shared: Option<Share>,
}

/// Which program it was that said its version.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Stamp {
    path: PathBuf,
    modified: Option<SystemTime>,
    length: u64,
}

impl Outfitter {
    pub fn new(wardrobe: Wardrobe) -> Self {
        Self { wardrobe, version: None, written: Vec::new(), shared: None }
    }

    /// The command as it will really be started, and what is known of the agent before it is.
    pub fn prepare(
        &mut self,
        driver: &dyn Driver,
        mut launch: Launch,
        conversation: Option<&Conversation>,
    ) -> Result<Prepared, LaunchError> {
        let version = match self.wardrobe.groom {
            Groom::Auto | Groom::Manual => self.version(&launch),
            Groom::Pristine => None,
        };
        let env = launch.env.iter().cloned().collect();
        let cwd = launch.cwd.canonicalize().unwrap_or_else(|_| launch.cwd.clone());
        // A conversation that was never written down cannot be gone on with.
        let resume = conversation
            .filter(|conversation| conversation.log.as_ref().is_none_or(|log| log.exists()))
            .map(|conversation| conversation.id.as_str());
        let fresh_id = uuid::Uuid::new_v4().to_string();
        let order = Order {
            program: &launch.program,
            args: &launch.args,
            env: &env,
            cwd: &cwd,
            dir: &self.wardrobe.dir,
            hook: &self.wardrobe.hook,
            groom: self.wardrobe.groom,
            settings: self.wardrobe.settings.as_ref(),
            mcp: self.wardrobe.mcp.as_ref(),
            version,
            resume,
            fresh_id: &fresh_id,
            read: &read,
        };
        let Outfit { args, env, files, shared, traces, mut unheard } =
            driver.outfit(&order).map_err(LaunchError::Unprepared)?;
        for (path, text) in files {
            write_private(&path, &text)
                .map_err(|error| LaunchError::Unprepared(format!("{}: {error}", path.display())))?;
            // The next child has the same files.
            if !self.written.contains(&path) {
                self.written.push(path);
            }
        }
        if let Some(shared) =
            shared.filter(|shared| self.shared.as_ref().is_none_or(|held| held.dir() != shared.dir))
        {
            // An agent can be attended to without: it is heard less well.
            match Share::take(&shared) {
                Ok(held) => self.shared = Some(held),
                Err(error) => {
                    unheard.get_or_insert(format!("{} cannot be made: {error}", shared.dir.display()));
                }
            }
        }
        launch.args = args;
        launch.env.extend(env);
        if let Some(reason) = &unheard {
            tracing::info!(%reason, "no hooks of the agent are heard");
        }
        Ok(Prepared { launch, traces, unheard })
    }

    /// What the agent's program says of itself, asked once for each program.
    fn version(&mut self, launch: &Launch) -> Option<Version> {
        // Who knows what a program does with `--version` that nobody knows.
        if self.wardrobe.agent == driver::UNKNOWN {
            return None;
        }
        let named = |program: &OsStr| Launch { program: program.to_owned(), ..launch.clone() };
        let own = Path::new(&launch.program).file_name() == Some(OsStr::new(&self.wardrobe.agent));
        // In a wrapper, the agent is most likely the one that a shell would find.
        let program = if own { launch.program.clone() } else { OsString::from(&self.wardrobe.agent) };
        let path = named(&program).resolve().ok()?;
        let file = path.metadata().ok()?;
        let stamp = Stamp { path: path.clone(), modified: file.modified().ok(), length: file.len() };
        match &self.version {
            Some((known, version)) if *known == stamp => *version,
            Some(_) | None => {
                let version = ask_version(&path, launch);
                if version.is_none() {
                    tracing::warn!(program = %path.display(), "the agent does not say its version");
                }
                self.version = Some((stamp, version));
                version
            }
        }
    }
}

impl Drop for Outfitter {
    fn drop(&mut self) {
        for path in &self.written {
            drop(std::fs::remove_file(path));
        }
    }
}

fn ask_version(program: &Path, launch: &Launch) -> Option<Version> {
    let mut asked = Command::new(program)
        .arg("--version")
        .env_clear()
        .envs(launch.env.iter().cloned())
        .current_dir(&launch.cwd)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let text = asked.stdout.take().map(|mut stdout| read_in_time(&mut stdout, Instant::now() + VERSION_TIME));
    // Whether it had ended or not, it is not waited for any longer.
    drop(asked.kill());
    drop(asked.wait());
    text.and_then(|text| Version::find(&text))
}

/// Reads to the end, or for as long as there is time, and never much.
fn read_in_time(pipe: &mut std::process::ChildStdout, deadline: Instant) -> String {
    let mut text = Vec::new();
    let mut chunk = [0; 512];
    while text.len() < 4096 {
        let left = deadline.saturating_duration_since(Instant::now());
        let Ok(left) = Timespec::try_from(left) else { break };
        let ready = poll(&mut [PollFd::new(pipe, PollFlags::IN)], Some(&left));
        if !matches!(ready, Ok(count) if count > 0) {
            break;
        }
        match pipe.read(&mut chunk) {
            Ok(0) | Err(_) => break,
            Ok(count) => text.extend_from_slice(chunk.get(..count).unwrap_or_default()),
        }
    }
    String::from_utf8_lossy(&text).into_owned()
}

fn read(path: &Path) -> io::Result<String> {
    let file = File::open(path)?;
    if file.metadata()?.len() > FILE_LIMIT {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, "it is too large"));
    }
    let mut text = String::new();
    file.take(FILE_LIMIT).read_to_string(&mut text)?;
    Ok(text)
}

fn write_private(path: &Path, text: &str) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)?;
    file.write_all(text.as_bytes())
}
