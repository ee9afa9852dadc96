//! The command line: the flags of the server and the client verbs. `config` and `client` interpret
//! them.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{CommandFactory as _, Parser, ValueEnum};

use crate::driver;

mod agent;
mod verbs;

pub use agent::{Nudge, QuestionAnswer, Respond, State};
pub use verbs::{At, Client, Identity, Target, Verb};

/// The exit code of wrong usage or configuration.
pub const USAGE: u8 = 64;

/// The verbs that make coop a client. Only the first word can be a verb, so that any program can
/// still be run: `coop -- screen`.
const VERBS: &[&str] = &[
    "attach",
    "screen",
    "input",
    "keys",
    "events",
    "state",
    "nudge",
    "respond",
    "interrupt",
    "explain",
    "shutdown",
    "help",
];

/// Verbs of later versions. They are reserved, so that no script runs programs of these names
/// without `--`.
const LATER_VERBS: &[&str] = &["send", "list"];

const SERVER_EXAMPLES: &str = "\
Client verbs (`coop VERB --help`):
  attach      connects this terminal to the session; Ctrl-] leaves it
  screen      prints the screen
  input       types text
  keys        presses keys
  events      prints events as they happen
  state       prints the agent's state, or waits for another one
  nudge       gives the agent a message
  respond     shows the agent's prompt, or answers it
  interrupt   stops the agent's turn
  explain     explains the agent's state
  shutdown    ends the session

Examples:
  coop --port 8080 -- bash                     any program, on http://127.0.0.1:8080/
  coop --socket /tmp/coop.sock -- vim notes    only on a Unix socket
  COOP_AUTH_TOKEN=… coop --port 8080 -- bash   on every address, for clients with the token
  coop --port 8080 --attach tmux:work          the tmux session `work`, which runs already
  coop screen http://127.0.0.1:8080            print its screen
  coop attach http://127.0.0.1:8080            use it from this terminal
  coop --port 8080 AGENT                       an agent; then, in another shell:
  coop nudge -t http://127.0.0.1:8080 'fix the tests'";

/// Runs one program on a terminal and serves it over gRPC, HTTP/JSON and WebSocket.
#[derive(Debug, Parser)]
#[command(
    name = "coop",
    version,
    override_usage = "coop [OPTIONS] [--] COMMAND [ARGS]...\n       \
                      coop [OPTIONS] --attach tmux:NAME|screen:NAME\n       \
                      coop VERB ...",
    after_help = SERVER_EXAMPLES,
    max_term_width = 100
)]
pub struct Serve {
    /// Serve everything on this TCP port; 0 picks a free one
    #[arg(long, env = "COOP_PORT")]
    pub port: Option<u16>,
    /// Serve everything on this Unix socket too [env: COOP_SOCKET]
    #[arg(long, value_name = "PATH")]
    pub socket: Option<PathBuf>,
    /// Address to listen on [default: 127.0.0.1, or 0.0.0.0 once a token is set]
    #[arg(long, env = "COOP_HOST", value_name = "ADDRESS")]
    pub host: Option<String>,
    /// Serve gRPC and grpc-web alone on this port
    #[arg(long, alias = "port-grpc", env = "COOP_GRPC_PORT", value_name = "PORT")]
    pub grpc_port: Option<u16>,
    /// Serve health probes, without a token, on this port of every address
    #[arg(long, alias = "port-health", env = "COOP_HEALTH_PORT", value_name = "PORT")]
    pub health_port: Option<u16>,

    /// Token that clients must send; safer in the variable or a file than on the command line
    #[arg(long, env = "COOP_AUTH_TOKEN", hide_env_values = true, value_name = "TOKEN")]
    pub auth_token: Option<String>,
    /// File with a `TOKEN [read|respond|write|admin,...] [name=NAME]` on each line
    #[arg(long, env = "COOP_AUTH_TOKEN_FILE", value_name = "FILE")]
    pub auth_token_file: Option<PathBuf>,
    /// Serve TLS on the TCP ports with this certificate chain (PEM)
    #[arg(long, env = "COOP_TLS_CERT", value_name = "FILE")]
    pub tls_cert: Option<PathBuf>,
    /// The certificate's key (PEM)
    #[arg(long, env = "COOP_TLS_KEY", value_name = "FILE")]
    pub tls_key: Option<PathBuf>,
    /// Accept client certificates of this authority (PEM) instead of a token
    #[arg(long, env = "COOP_TLS_CLIENT_CA", value_name = "FILE")]
    pub tls_client_ca: Option<PathBuf>,
    /// What client certificates with this common name may do: read, respond, write or admin, which
    /// is the default; `*` is every other certificate
    #[arg(long, env = "COOP_TLS_CLIENT_SCOPE", value_delimiter = ',', value_name = "CN=SCOPE")]
    pub tls_client_scope: Vec<String>,
    /// Record each write, answer, refusal and failed authentication as a line of JSON in this file
    #[arg(long, env = "COOP_AUDIT_LOG", value_name = "FILE")]
    pub audit_log: Option<PathBuf>,
    /// Another name that clients may call this host by
    #[arg(long, value_name = "NAME")]
    pub allow_host: Vec<String>,
    /// Another web origin whose pages may call, for example https://desk.example
    #[arg(long, value_name = "ORIGIN")]
    pub allow_origin: Vec<String>,
    /// Serve on a reachable address without any token: every client that reaches it can type
    #[arg(long)]
    pub insecure_no_auth: bool,

    /// Which agent the command is [default: by its name, else unknown]
    #[arg(long, env = "COOP_AGENT", value_parser = PossibleValuesParser::new(driver::names()))]
    pub agent: Option<String>,
    /// JSON with `settings` and `mcp` servers for the agent, or with `screen` patterns for a
    /// program without a driver
    #[arg(long, env = "COOP_AGENT_CONFIG", value_name = "FILE")]
    pub agent_config: Option<PathBuf>,
    /// Continue an earlier conversation of the agent: its id, or the file of its log
    #[arg(long, env = "COOP_RESUME", value_name = "HINT")]
    pub resume: Option<String>,
    /// Serve the program in a session of tmux or GNU screen instead of a command; it outlives coop
    #[arg(long, env = "COOP_ATTACH", value_name = "tmux:NAME|screen:NAME")]
    pub attach: Option<String>,
    /// auto answers the agent's set-up dialogs, manual leaves them to you, pristine installs no
    /// hooks either
    #[arg(long, env = "COOP_GROOM", default_value = "auto")]
    pub groom: Groom,
    /// Use no hooks, titles or status files: for tests of the other sources, in debug builds only
    #[cfg_attr(debug_assertions, arg(long, hide = true))]
    #[cfg_attr(not(debug_assertions), arg(skip))]
    pub only_log_and_screen: bool,
    /// How long a state must look idle before it counts as idle, if no hook or log confirms it
    #[arg(long, env = "COOP_IDLE_GRACE", default_value_t = 60, value_name = "SECS")]
    pub idle_grace: u64,
    /// Shut down after the agent was idle this long (any other program: without output and input);
    /// 0 is never
    #[arg(long, env = "COOP_IDLE_TIMEOUT", default_value_t = 0, value_name = "SECS")]
    pub idle_timeout: u64,
    /// Go on serving this long after the child's exit [default: forever]; 0 exits with it
    #[arg(long, env = "COOP_LINGER", value_name = "SECS")]
    pub linger: Option<u64>,

    /// Columns of the terminal, 1 to 1000
    #[arg(long, env = "COOP_COLS", default_value_t = 200)]
    pub cols: u32,
    /// Rows of the terminal, 1 to 1000
    #[arg(long, env = "COOP_ROWS", default_value_t = 50)]
    pub rows: u32,
    /// Raw output kept for readers that come late
    #[arg(long, env = "COOP_RING_SIZE", default_value_t = 1 << 20, value_name = "BYTES")]
    pub ring_size: usize,
    /// Lines kept above the screen, within 16 MiB
    #[arg(long, env = "COOP_SCROLLBACK", default_value_t = 10_000, value_name = "LINES")]
    pub scrollback: usize,
    /// What the child gets as TERM
    #[arg(long, default_value = "xterm-256color")]
    pub term: String,
    /// Start the child in this directory
    #[arg(long, env = "COOP_CWD", value_name = "DIR")]
    pub cwd: Option<PathBuf>,

    /// A name, shown by status
    #[arg(long)]
    pub name: Option<String>,
    /// A label, shown by status
    #[arg(long, value_name = "KEY=VALUE")]
    pub label: Vec<String>,
    /// Format of the log on stderr
    #[arg(long, env = "COOP_LOG_FORMAT", default_value = "json")]
    pub log_format: LogFormat,
    /// Lowest level that is logged
    #[arg(long, env = "COOP_LOG_LEVEL", default_value = "info")]
    pub log_level: LogLevel,

    /// The program to run, and its arguments
    #[arg(trailing_var_arg = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Groom {
    Auto,
    Manual,
    Pristine,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    Json,
    Text,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LogLevel {
    Error,
    Warn,
    Info,
    Debug,
    Trace,
}

/// Reports a call of one of the agent's hooks to the surrounding coop. Agents run this, not users.
///
/// Reads the payload from stdin. Outside of a session, and on every error, it does nothing and
/// exits with 0.
#[derive(Debug, Parser)]
#[command(name = "coop hook", ignore_errors = true, max_term_width = 100)]
pub struct Hook {
    /// The hook's name
    pub event: Option<String>,
    /// Wait for coop's answer, and print it
    #[arg(long)]
    pub wait: bool,
}

/// What coop runs as.
#[derive(Debug)]
pub enum Invocation {
    Serve(Box<Serve>),
    Client(Verb),
    Hook(Hook),
}

/// Reads the command line.
pub fn parse(words: impl IntoIterator<Item = OsString>) -> Result<Invocation, clap::Error> {
    let words: Vec<OsString> = words.into_iter().collect();
    let first = words.get(1).and_then(|word| word.to_str());
    if first == Some("help") && words.len() == 2 {
        return Err(Serve::command()
            .try_get_matches_from(["coop", "--help"])
            .err()
            .unwrap_or_else(no_help));
    }
    if first.is_some_and(|word| VERBS.contains(&word)) {
        return Client::try_parse_from(words).map(|client| Invocation::Client(client.verb));
    }
    if first == Some("hook") {
        return Hook::try_parse_from(words.into_iter().skip(1)).map(Invocation::Hook);
    }
    if let Some(verb) = first.filter(|word| LATER_VERBS.contains(word)) {
        let message = format!(
            "`coop {verb}` is not in this version; to run a program of that name: coop -- {verb}\n"
        );
        return Err(Serve::command().error(clap::error::ErrorKind::InvalidSubcommand, message));
    }
    Serve::try_parse_from(words).map(|serve| Invocation::Serve(Box::new(serve)))
}

fn no_help() -> clap::Error {
    Serve::command().error(clap::error::ErrorKind::DisplayHelp, "no help")
}

/// The environment variables that stand for flags, which the child must not see.
pub fn flag_variables() -> Vec<OsString> {
    let command = Serve::command();
    command
        .get_arguments()
        .filter_map(|argument| argument.get_env().map(ToOwned::to_owned))
        .collect()
}
