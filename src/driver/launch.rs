//! The launch of an agent: the request that a driver gets, and the plan that it returns.
//!
//! A driver only decides. The session's launcher reads and writes the files, and watches the
//! locations that the plan names.

pub(crate) mod command;

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

/// A version of an agent's program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version(pub u32, pub u32, pub u32);

impl Version {
    /// The first three numbers with dots in a text.
    pub fn find(text: &str) -> Option<Self> {
        text.split(|c: char| !c.is_ascii_digit() && c != '.').find_map(|word| {
            let mut numbers = word.split('.').map(str::parse);
            match (numbers.next(), numbers.next(), numbers.next()) {
                (Some(Ok(major)), Some(Ok(minor)), Some(Ok(patch))) => {
                    Some(Self(major, minor, patch))
                }
                _ => None,
            }
        })
    }
}

/// How much coop does for an agent by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Groom {
    /// Installs hooks, and answers set-up dialogs.
    Auto,
    /// Installs hooks, and answers no dialog.
    Manual,
    /// Runs the command unchanged.
    Pristine,
}

/// What a driver knows before the agent starts.
pub struct LaunchRequest<'a> {
    /// The command of the user.
    pub program: &'a OsStr,
    pub args: &'a [OsString],
    pub env: &'a BTreeMap<OsString, OsString>,
    /// The working directory, with every symbolic link resolved.
    pub cwd: &'a Path,
    /// The private directory of this session, for the driver's files.
    pub dir: &'a Path,
    /// The program that hooks call: `<hook> hook EVENT`.
    pub hook: &'a Path,
    pub groom: Groom,
    /// The orchestrator's additions to the agent's own settings.
    pub settings: Option<&'a Value>,
    /// The orchestrator's MCP servers, by name.
    pub mcp: Option<&'a Value>,
    /// The version that the agent's program reports, if it could be run.
    pub version: Option<Version>,
    /// The id of the conversation to continue.
    pub resume: Option<&'a str>,
    /// A new UUID, for the id of a new conversation.
    pub fresh_id: &'a str,
    /// Reads a file that the command names.
    pub read: &'a dyn Fn(&Path) -> io::Result<String>,
}

impl LaunchRequest<'_> {
    /// The value of an environment variable, unless it is empty.
    pub fn var(&self, name: &str) -> Option<&OsStr> {
        self.env.get(OsStr::new(name)).map(OsString::as_os_str).filter(|value| !value.is_empty())
    }

    /// The beginning of a hook's command, quoted for a shell.
    pub fn hook_command(&self) -> Result<String, String> {
        match self.hook.to_str() {
            Some(program) => Ok(format!("'{}' hook", program.replace('\'', r"'\''"))),
            None => {
                Err(format!("the path {} cannot be written into settings", self.hook.display()))
            }
        }
    }

    /// The orchestrator's settings, if there are any.
    pub fn wanted_settings(&self) -> Result<Option<&Map<String, Value>>, String> {
        object(self.settings, "settings")
    }

    /// The orchestrator's MCP servers, if there are any.
    pub fn wanted_servers(&self) -> Result<Option<&Map<String, Value>>, String> {
        object(self.mcp, "MCP servers")
    }
}

fn object<'a>(
    wanted: Option<&'a Value>,
    what: &str,
) -> Result<Option<&'a Map<String, Value>>, String> {
    match wanted {
        Some(Value::Object(wanted)) => Ok(Some(wanted)),
        Some(_) => Err(format!("the {what} in the agent config are not a JSON object")),
        None => Ok(None),
    }
}

/// How the agent is to be started.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LaunchPlan {
    /// All arguments: those of the user and those of the driver.
    pub args: Vec<OsString>,
    /// Environment variables to add.
    pub env: BTreeMap<OsString, OsString>,
    /// Files to write before the start.
    pub files: Vec<(PathBuf, String)>,
    /// A directory outside of the session that must exist while the agent runs.
    pub shared_dir: Option<SharedDirSpec>,
    pub evidence_sources: EvidenceSources,
    /// Why the agent will not call hooks, if it will not.
    pub hooks_unavailable: Option<String>,
}

/// A directory with fixed content that several sessions share. It exists while any of them runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedDirSpec {
    pub dir: PathBuf,
    /// Its files, by their paths relative to it.
    pub files: Vec<(PathBuf, String)>,
}

/// Where an agent reports what it does, beside hooks and screen.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EvidenceSources {
    pub log: Option<LogLocation>,
    /// A directory of status files, one for each process of the agent.
    pub registry: Option<PathBuf>,
    /// The agent prints JSON lines.
    pub stdout: bool,
}

/// The location of the agent's log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LogLocation {
    /// This file, which may not exist yet.
    File(PathBuf),
    /// The file with this ending that appears in the directory after the start.
    NewFileIn { dir: PathBuf, ending: &'static str },
    /// The same, in the latest of its subdirectories, which are named by the date.
    NewFileUnder { dir: PathBuf, ending: &'static str },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_found_and_compared() {
        assert_eq!(Version::find("2.1.325 (An Agent)"), Some(Version(2, 1, 325)));
        assert_eq!(Version::find("agent-cli 0.166.0"), Some(Version(0, 166, 0)));
        assert_eq!(Version::find("no number, 1.2"), None);
        assert!(Version(2, 1, 9) < Version(2, 1, 10));
    }
}
