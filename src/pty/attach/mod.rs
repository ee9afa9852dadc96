//! A terminal that another program keeps: a pane of tmux, or a window of GNU screen, looked at and typed into by that
//! program's own commands. It must not know who asks, and it never ends what it did not start.

mod call;
mod keeper;
mod picture;
mod screen;
mod tmux;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use bytes::Bytes;

use self::call::{Program, Trouble};
use self::picture::Picture;
use self::screen::Screen;
use self::tmux::Tmux;
use super::master::WindowSize;
use super::process::{Identity, Process};

pub use self::keeper::{Foreign, News, WriteError};

/// The longest name that is looked for.
const NAME_LIMIT: usize = 256;

/// The programs whose terminals can be served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Host {
    Tmux,
    Screen,
}

impl Host {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Tmux => "tmux",
            Self::Screen => "screen",
        }
    }

    /// What starts a session of that name, for a person to type.
    fn how_to_start(self) -> &'static str {
        match self {
            Self::Tmux => "tmux new-session -d -s",
            Self::Screen => "screen -d -m -S",
        }
    }
}

/// Which session of which program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    pub host: Host,
    pub name: String,
}

/// Text that names no session.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "it takes tmux:NAME or screen:NAME, and a name has 1 to {NAME_LIMIT} bytes and no control characters"
)]
pub struct BadAddress;

impl FromStr for Address {
    type Err = BadAddress;

    fn from_str(text: &str) -> Result<Self, BadAddress> {
        let (host, name) = text.split_once(':').ok_or(BadAddress)?;
        let host = match host {
            "tmux" => Host::Tmux,
            "screen" => Host::Screen,
            _ => return Err(BadAddress),
        };
        if name.is_empty() || name.len() > NAME_LIMIT || name.contains(char::is_control) {
            return Err(BadAddress);
        }
        Ok(Self { host, name: name.to_owned() })
    }
}

/// Why a session cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum AttachError {
    #[error("{} is not installed, or not in PATH", .0.as_str())]
    NotInstalled(Host),
    #[error("{}", no_session(.address, .there_are))]
    NoSession { address: Address, there_are: Vec<String> },
    #[error("there are several screen sessions called {name}; name one of them: {}", .ids.join(", "))]
    Ambiguous { name: String, ids: Vec<String> },
    #[error("what runs in {}:{} has exited", .0.host.as_str(), .0.name)]
    Exited(Address),
    #[error("{} gave no sensible answer: {reason}", .host.as_str())]
    Failed { host: Host, reason: String },
}

fn no_session(address: &Address, there_are: &[String]) -> String {
    let Address { host, name } = address;
    let (host, start) = (host.as_str(), host.how_to_start());
    let prefixed: Vec<String> = there_are.iter().map(|name| format!("{host}:{name}")).collect();
    if prefixed.is_empty() {
        format!("there is no {host} session; start one: {start} {name}")
    } else {
        format!("there is no {host} session {name}; there are {}", prefixed.join(", "))
    }
}

impl AttachError {
    fn of(host: Host, trouble: Trouble) -> Self {
        match trouble {
            Trouble::NotInstalled => Self::NotInstalled(host),
            Trouble::Gone(_) | Trouble::Slow | Trouble::Refused(_) => {
                Self::Failed { host, reason: trouble.to_string() }
            }
        }
    }
}

/// A session that was found, as it looked then.
pub struct Found {
    pub pid: i32,
    pub size: WindowSize,
    /// What draws it on a terminal of that size.
    pub paint: Bytes,
    /// What runs in it, as far as the kernel tells.
    pub command: Vec<OsString>,
    pub cwd: PathBuf,
    mux: Mux,
    process: Identity,
    picture: Picture,
}

/// Looks for a session. `env` is what the other program is called with, `dir` a private place for its files.
pub async fn find(
    address: &Address,
    env: Vec<(OsString, OsString)>,
    dir: &Path,
) -> Result<Found, AttachError> {
    let program = Program { name: address.host.as_str(), env };
    let mut mux = match address.host {
        Host::Tmux => Mux::Tmux(Tmux::find(program, &address.name).await?),
        Host::Screen => Mux::Screen(Screen::find(program, &address.name, dir).await?),
    };
    let picture = mux.look().await.map_err(|trouble| match trouble {
        Trouble::Gone(_) => AttachError::Exited(address.clone()),
        Trouble::NotInstalled | Trouble::Slow | Trouble::Refused(_) => AttachError::of(address.host, trouble),
    })?;
    let pid = mux.pid();
    let process = Process::read(pid).ok_or_else(|| AttachError::Exited(address.clone()))?.identity();
    let (size, paint) = (picture.size, picture.paint(None));
    let (command, cwd) =
        (command_of(pid), std::fs::read_link(format!("/proc/{pid}/cwd")).unwrap_or_default());
    Ok(Found { pid, size, paint, command, cwd, mux, process, picture })
}

fn command_of(pid: i32) -> Vec<OsString> {
    use std::os::unix::ffi::OsStringExt as _;
    let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let line = line.strip_suffix(b"\0").unwrap_or(&line);
    line.split(|byte| *byte == 0).map(|word| OsString::from_vec(word.to_vec())).collect()
}

/// The two programs behind one face. Nothing is asked of them before the last answer is in.
enum Mux {
    Tmux(Tmux),
    Screen(Screen),
}

impl Mux {
    fn pid(&self) -> i32 {
        match self {
            Self::Tmux(tmux) => tmux.pid(),
            Self::Screen(screen) => screen.pid(),
        }
    }

    fn name(&self) -> &'static str {
        match self {
            Self::Tmux(_) => Host::Tmux.as_str(),
            Self::Screen(_) => Host::Screen.as_str(),
        }
    }

    async fn look(&mut self) -> Result<Picture, Trouble> {
        match self {
            Self::Tmux(tmux) => tmux.look().await,
            Self::Screen(screen) => screen.look().await,
        }
    }

    /// Types some of the bytes; answers how many.
    async fn write(&mut self, bytes: &[u8]) -> Result<usize, Trouble> {
        match self {
            Self::Tmux(tmux) => tmux.write(bytes).await,
            Self::Screen(screen) => screen.write(bytes).await,
        }
    }

    /// Asks for a size. Whether it was given, the next look tells.
    async fn resize(&mut self, size: WindowSize) -> Result<(), Trouble> {
        match self {
            Self::Tmux(tmux) => tmux.resize(size).await,
            Self::Screen(screen) => screen.resize(size).await,
        }
    }

    /// Leaves the session as if nobody had been there.
    async fn leave(&mut self) {
        match self {
            Self::Tmux(tmux) => tmux.leave().await,
            Self::Screen(screen) => screen.leave(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_named_by_its_program_and_its_name() {
        let address = |host, name: &str| Ok(Address { host, name: name.to_owned() });
        assert_eq!("tmux:work".parse::<Address>(), address(Host::Tmux, "work"));
        assert_eq!("screen:-S".parse::<Address>(), address(Host::Screen, "-S"));
        assert_eq!("tmux:a:b.c".parse::<Address>(), address(Host::Tmux, "a:b.c"));
        let long = format!("tmux:{}", "x".repeat(NAME_LIMIT + 1));
        for text in ["", "tmux", "tmux:", "screen:", "zellij:x", "work", "tmux:a\nb", "tmux:\u{9b}x", &long] {
            assert_eq!(text.parse::<Address>(), Err(BadAddress), "{text:?}");
        }
    }

    #[test]
    fn who_asks_for_nobody_is_told_who_is_there() {
        let address: Address = "tmux:werk".parse().unwrap();
        let none = AttachError::NoSession { address: address.clone(), there_are: vec![] };
        assert_eq!(none.to_string(), "there is no tmux session; start one: tmux new-session -d -s werk");
        let some = AttachError::NoSession { address, there_are: vec!["work".into(), "play".into()] };
        assert_eq!(some.to_string(), "there is no tmux session werk; there are tmux:work, tmux:play");
    }

    #[test]
    fn a_command_is_read_off_its_process() {
        let own = command_of(rustix::process::getpid().as_raw_pid());
        assert_eq!(own, std::env::args_os().collect::<Vec<_>>());
        assert_eq!(command_of(0), [""]);
    }
}
