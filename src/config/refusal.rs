//! What cannot be meant, and what to type instead.

use std::net::IpAddr;
use std::path::PathBuf;

use super::agent::NUDGE_TIMEOUT;
use crate::pty::attach::BadAddress;
use crate::term::InvalidSize;

/// What is wrong with what was typed.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    #[error(
        "there is no command to run; for example: coop --port 8080 -- bash, or coop --port 8080 --attach tmux:NAME"
    )]
    NoCommand,
    #[error(
        "--host {0} can be reached by others, and there is no token.\n\
         Set one:           COOP_AUTH_TOKEN=… coop --host {0} …\n\
         or stay local:     coop --host 127.0.0.1 …\n\
         or take the risk:  coop --host {0} --insecure-no-auth …"
    )]
    Exposed(IpAddr),
    #[error("--host {0:?} is no address; it takes an IP address or localhost")]
    Host(String),
    #[error("the token is empty; unset it or give it a value")]
    EmptyToken,
    #[error("--auth-token-file {}: {reason}", .path.display())]
    TokenFile { path: PathBuf, reason: String },
    #[error("--tls-cert and --tls-key go together")]
    HalfTls,
    #[error("--tls-client-ca needs --tls-cert and --tls-key")]
    ClientCaWithoutTls,
    #[error("--allow-origin {0:?} is no origin; it looks like https://desk.example:8443")]
    BadOrigin(String),
    #[error("--label {0:?} is no KEY=VALUE")]
    Label(String),
    #[error(transparent)]
    Size(#[from] InvalidSize),
    #[error("--{flag} is {value}; the most is {most}")]
    TooMuch { flag: &'static str, value: usize, most: usize },
    #[error("--agent-config {}: {reason}", .path.display())]
    AgentConfig { path: PathBuf, reason: String },
    #[error("--resume {0:?}: name the conversation by its id, or by the file of its log")]
    Resume(String),
    #[error("--resume: no driver knows this program; name one with --agent if it is an agent")]
    NothingToResume,
    #[error(
        "--agent-config: screen is for programs that no driver knows, and {0} has its own; --agent unknown goes without"
    )]
    ScreenAnd(&'static str),
    #[error("{NUDGE_TIMEOUT} is {0:?}; it takes milliseconds, from 100 to 60000")]
    NudgeTimeout(String),
    #[error("--attach {0:?}: {1}")]
    Attach(String, BadAddress),
    #[error("--attach serves what runs already, so it goes with no {0}")]
    AttachAnd(&'static str),
    #[error("--cwd {}: {reason}", .path.display())]
    Cwd { path: PathBuf, reason: String },
}
