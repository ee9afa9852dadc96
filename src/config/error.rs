//! The errors of a command line that parses but makes no sense, each with what to type instead.

use std::net::IpAddr;
use std::path::PathBuf;

use super::variables::NUDGE_TIMEOUT;
use crate::mux::BadAddress;
use crate::server::BadClientScope;
use crate::term::InvalidSize;

/// Why a command line was rejected.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    #[error(
        "there is no command to run; for example: coop --port 8080 -- bash, \
         or coop --port 8080 --attach tmux:NAME"
    )]
    NoCommand,
    #[error(
        "--host {0} can be reached from other machines, and there is no token.\n\
         Set one:           COOP_AUTH_TOKEN=… coop --host {0} …\n\
         or stay local:     coop --host 127.0.0.1 …\n\
         or take the risk:  coop --host {0} --insecure-no-auth …"
    )]
    Exposed(IpAddr),
    #[error("--host {0:?} is not an address; it takes an IP address or localhost")]
    Host(String),
    #[error("the token is empty; unset it or give it a value")]
    EmptyToken,
    #[error("--auth-token-file {}: {reason}", .path.display())]
    TokenFile { path: PathBuf, reason: String },
    #[error("--tls-cert and --tls-key go together: give both or neither")]
    IncompleteTls,
    #[error("--tls-client-ca needs --tls-cert and --tls-key")]
    ClientCaWithoutTls,
    #[error("--tls-client-scope {text:?}: {reason}")]
    ClientScope { text: String, reason: BadClientScope },
    #[error("--tls-client-scope needs --tls-client-ca, which certificates are checked with")]
    ClientScopeWithoutCa,
    #[error("--allow-origin {0:?} is not an origin; it looks like https://desk.example:8443")]
    BadOrigin(String),
    #[error("--label {0:?} is not KEY=VALUE")]
    Label(String),
    #[error(transparent)]
    Size(#[from] InvalidSize),
    #[error("--{flag} {value} is too large; the largest value is {limit}")]
    TooLarge { flag: &'static str, value: usize, limit: usize },
    #[error("--agent-config {}: {reason}", .path.display())]
    AgentConfig { path: PathBuf, reason: String },
    #[error("--resume {0:?}: name the conversation by its id, or by the file of its log")]
    Resume(String),
    #[error("--resume: this program has no driver; if it is an agent, name it with --agent")]
    NoAgentToResume,
    #[error(
        "--agent-config: screen is for programs without a driver, and {0} has its own; \
         use --agent unknown to run it without"
    )]
    ScreenWithDriver(&'static str),
    #[error("{NUDGE_TIMEOUT} is {0:?}; it takes milliseconds, from 100 to 60000")]
    NudgeTimeout(String),
    #[error("--attach {0:?}: {1}")]
    Attach(String, BadAddress),
    #[error("--attach serves a program that runs already, so it takes no {0}")]
    AttachWith(&'static str),
    #[error("--cwd {}: {reason}", .path.display())]
    Cwd { path: PathBuf, reason: String },
}
