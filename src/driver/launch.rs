//! How an agent is started so that coop hears of it: what a driver is told, and what it wants.
//!
//! A driver decides; whoever starts the child reads the files it asks for, writes those it wants and watches the places
//! it names.

pub mod command;

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

/// A version of an agent's program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version(pub u32, pub u32, pub u32);

impl Version {
    /// The first thing in a text that looks like three numbers with dots.
    pub fn find(text: &str) -> Option<Self> {
        text.split(|c: char| !c.is_ascii_digit() && c != '.').find_map(|word| {
            let mut numbers = word.split('.').map(str::parse);
            match (numbers.next(), numbers.next(), numbers.next()) {
                (Some(Ok(major)), Some(Ok(minor)), Some(Ok(patch))) => Some(Self(major, minor, patch)),
                _ => None,
            }
        })
    }
}

/// How far coop takes care of an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Groom {
    /// Hooks are installed, and set-up dialogs are answered.
    Auto,
    /// Hooks are installed; every dialog is somebody else's.
    Manual,
    /// The command is run as it was given.
    Pristine,
}

/// What a driver must know before the agent starts.
pub struct Order<'a> {
    /// The command as it was given.
    pub program: &'a OsStr,
    pub args: &'a [OsString],
    pub env: &'a BTreeMap<OsString, OsString>,
    /// Where the agent starts, with every symbolic link resolved.
    pub cwd: &'a Path,
    /// A private directory of this session's, where the driver's files go.
    pub dir: &'a Path,
    /// The program that hooks call: `<hook> hook EVENT`.
    pub hook: &'a Path,
    pub groom: Groom,
    /// What the orchestrator wants in the agent's own settings.
    pub settings: Option<&'a Value>,
    /// The orchestrator's MCP servers, by name.
    pub mcp: Option<&'a Value>,
    /// What the agent's program says of itself, if it could be asked.
    pub version: Option<Version>,
    /// The conversation to go on with: its id.
    pub resume: Option<&'a str>,
    /// A UUID that no conversation has, for the one that begins.
    pub fresh_id: &'a str,
    /// Reads a file that the command names.
    pub read: &'a dyn Fn(&Path) -> io::Result<String>,
}

impl Order<'_> {
    /// A variable that has a value.
    pub fn var(&self, name: &str) -> Option<&OsStr> {
        self.env.get(OsStr::new(name)).map(OsString::as_os_str).filter(|value| !value.is_empty())
    }

    /// What a hook's command begins with, as a shell takes it.
    pub fn hook_command(&self) -> Result<String, String> {
        match self.hook.to_str() {
            Some(program) => Ok(format!("'{}' hook", program.replace('\'', r"'\''"))),
            None => Err(format!("the path {} cannot be written into settings", self.hook.display())),
        }
    }

    /// What the orchestrator wants in the settings, if it wants anything.
    pub fn wanted_settings(&self) -> Result<Option<&Map<String, Value>>, String> {
        object(self.settings, "settings")
    }

    /// The orchestrator's MCP servers, if there are any.
    pub fn wanted_servers(&self) -> Result<Option<&Map<String, Value>>, String> {
        object(self.mcp, "MCP servers")
    }
}

fn object<'a>(wanted: Option<&'a Value>, what: &str) -> Result<Option<&'a Map<String, Value>>, String> {
    match wanted {
        Some(Value::Object(wanted)) => Ok(Some(wanted)),
        Some(_) => Err(format!("the {what} in the agent config are no JSON object")),
        None => Ok(None),
    }
}

/// What a driver wants.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Outfit {
    /// All arguments, the given ones and the driver's.
    pub args: Vec<OsString>,
    /// Variables to add.
    pub env: BTreeMap<OsString, OsString>,
    /// Files to be written before the start.
    pub files: Vec<(PathBuf, String)>,
    /// A directory that must be there while the agent runs, and that is not the session's own.
    pub shared: Option<Shared>,
    pub traces: Traces,
    /// Why the agent's hooks will not be heard of, if that is so.
    pub unheard: Option<String>,
}

/// A directory that several sessions want with the same content. It is there while any of them runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shared {
    pub dir: PathBuf,
    /// What is in it, by paths within it.
    pub files: Vec<(PathBuf, String)>,
}

/// Where an agent leaves traces of what it does.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Traces {
    pub log: Option<LogPlace>,
    /// A directory of status files, one for each process of the agent.
    pub registry: Option<PathBuf>,
    /// It prints JSON lines.
    pub stdout: bool,
}

/// Where the agent's log is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LogPlace {
    /// It may not be there yet.
    File(PathBuf),
    /// The file with this ending that appears in this directory after the start.
    NewIn { dir: PathBuf, ending: &'static str },
    /// The same, in the last of the directories below this one, which are named by the date.
    NewUnder { dir: PathBuf, ending: &'static str },
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
