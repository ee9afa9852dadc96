//! What was typed becomes what it means. The environment is read here and nowhere else, and
//! whatever cannot be meant is refused before any socket opens.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::net::{IpAddr, Ipv4Addr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};

use crate::cli::{self, Serve, variables};
use crate::driver::agent::Tier;
use crate::driver::launch::Groom;
use crate::driver::unknown::{Patterns, Unknown};
use crate::driver::{self, Driver};
use crate::pty::attach::{Address, BadAddress};
use crate::server::{BadTokens, Origin, TlsFiles, Tokens};
use crate::session::clock::Now;
use crate::session::mind::Profile;
use crate::session::recipe::Recipe;
use crate::session::{Attendance, Backend, Conversation, Settings};
use crate::source::HOOK_PIPE;
use crate::term::{InvalidSize, Size};

/// Where coop listens if it is told nothing.
const DEFAULT_SOCKET: &str = "/var/run/coop.sock";
/// Set in every child of a coop.
const MARK: &str = "COOP";
const SOCKET: &str = "COOP_SOCKET";
const URL: &str = "COOP_URL";
const SESSION: &str = "COOP_SESSION_ID";
const NONCE: &str = "COOP_HOOK_NONCE";
/// After how many milliseconds without a witness Enter is pressed again.
const NUDGE_TIMEOUT: &str = "COOP_NUDGE_TIMEOUT_MS";
const NUDGE_TIMEOUT_DEFAULT: Duration = Duration::from_secs(4);
/// How long the id of a conversation is.
const ID: usize = 36;
/// The most raw output that may be kept: whoever wants more should read it as it comes.
const RING_LIMIT: usize = 1 << 30;
const SCROLLBACK_LIMIT: usize = 1_000_000;

/// What makes the driver of each child.
type Maker = Arc<dyn Fn() -> Box<dyn Driver> + Send + Sync>;

/// The environment that coop was started in.
pub type Environment = BTreeMap<OsString, OsString>;

/// Reads it, once.
#[expect(clippy::disallowed_methods, reason = "this is the one place that reads the environment")]
pub fn environment() -> Environment {
    std::env::vars_os().collect()
}

/// Everything the server goes by.
#[derive(Debug)]
pub struct Config {
    pub tcp: Option<(IpAddr, u16)>,
    pub grpc: Option<(IpAddr, u16)>,
    pub health: Option<(IpAddr, u16)>,
    pub socket: Option<PathBuf>,
    pub tls: Option<TlsFiles>,
    pub tokens: Tokens,
    pub allow_hosts: Vec<String>,
    pub allow_origins: Vec<Origin>,
    pub session_id: String,
    pub hook_nonce: String,
    /// Where this session's private directory may be, the best place first.
    pub state_dirs: Vec<PathBuf>,
    pub agent: &'static str,
    /// Another program's terminal, to be served instead of a child's.
    pub attach: Option<Attach>,
    pub groom: Groom,
    pub agent_config: AgentConfig,
    /// What the agent should go on with.
    pub resume: Option<Conversation>,
    pub name: Option<String>,
    pub labels: BTreeMap<String, String>,
    pub settings: Settings,
}

/// Whose terminal to serve, and the environment that its owner is called in.
#[derive(Debug)]
pub struct Attach {
    pub address: Address,
    pub env: Vec<(OsString, OsString)>,
}

/// What an orchestrator wants of the agent.
#[derive(Debug, Default)]
pub struct AgentConfig {
    /// For the agent's own settings.
    pub settings: Option<Value>,
    /// MCP servers by name.
    pub mcp: Option<Value>,
    /// How a program looks that no driver knows.
    pub screen: Option<Arc<Patterns>>,
}

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

impl Config {
    pub fn new(serve: Serve, environment: &Environment) -> Result<Self, ConfigError> {
        let attach = attach(&serve, environment)?;
        let (program, args) = match serve.command.split_first() {
            Some((program, args)) => (program.clone(), args.to_vec()),
            None if attach.is_some() => (OsString::new(), Vec::new()),
            None => return Err(ConfigError::NoCommand),
        };
        let agent_config = serve.agent_config.as_deref().map(agent_config).transpose()?.unwrap_or_default();
        let agent = agent(serve.agent.as_deref(), &program);
        let driver = maker(agent, agent_config.screen.as_ref())?;
        let groom = match serve.groom {
            cli::Groom::Auto => Groom::Auto,
            cli::Groom::Manual => Groom::Manual,
            cli::Groom::Pristine => Groom::Pristine,
        };
        let profile = Profile {
            groom,
            grace: Duration::from_secs(serve.idle_grace),
            retry_after: nudge_timeout(environment)?,
            deaf: if serve.only_log_and_screen {
                &[Tier::Hooks, Tier::Terminal, Tier::Registry]
            } else {
                &[]
            },
        };
        let tokens = tokens(&serve)?;
        let tls = tls(&serve)?;
        let closed = !tokens.is_empty() || serve.tls_client_ca.is_some();
        let host = host(&serve, closed)?;
        let exposed = serve.port.is_some() || serve.grpc_port.is_some();
        if exposed && !closed && !host.is_loopback() && !serve.insecure_no_auth {
            return Err(ConfigError::Exposed(host));
        }
        for (flag, value, most) in
            [("ring-size", serve.ring_size, RING_LIMIT), ("scrollback", serve.scrollback, SCROLLBACK_LIMIT)]
        {
            if value > most {
                return Err(ConfigError::TooMuch { flag, value, most });
            }
        }
        let session_id = uuid::Uuid::new_v4().to_string();
        let hook_nonce = uuid::Uuid::new_v4().simple().to_string();
        let settings = Settings {
            epoch_ms: Now::read().epoch_ms,
            backend: match &attach {
                None => Backend::Native,
                Some(attach) => Backend::Attached(attach.address.host),
            },
            recipe: Recipe {
                cwd: cwd(serve.cwd.as_deref())?,
                env: child_environment(environment, &serve.term, &session_id, &hook_nonce),
                program,
                args,
            },
            size: Size::new(serve.cols, serve.rows)?,
            ring_bytes: serve.ring_size,
            scrollback_lines: serve.scrollback,
            linger: serve.linger.map(Duration::from_secs),
            idle_timeout: Some(Duration::from_secs(serve.idle_timeout)).filter(|timeout| !timeout.is_zero()),
            attendance: driver.map(|driver| Attendance { driver, profile }),
        };
        let resume = serve.resume.as_deref().map(conversation).transpose()?;
        if resume.is_some() && settings.attendance.is_none() {
            return Err(ConfigError::NothingToResume);
        }
        Ok(Self {
            tcp: serve.port.map(|port| (host, port)),
            grpc: serve.grpc_port.map(|port| (host, port)),
            health: serve.health_port.map(|port| (IpAddr::V4(Ipv4Addr::UNSPECIFIED), port)),
            socket: socket(&serve, environment),
            tls,
            tokens,
            allow_hosts: serve.allow_host,
            allow_origins: origins(serve.allow_origin)?,
            state_dirs: state_dirs(environment, &session_id),
            session_id,
            hook_nonce,
            agent,
            attach,
            groom,
            agent_config,
            resume,
            name: serve.name,
            labels: labels(serve.label)?,
            settings,
        })
    }

    /// Whether a caller must show something.
    pub fn wants_certificates(&self) -> bool {
        self.tls.as_ref().is_some_and(|tls| tls.client_ca.is_some())
    }

    /// Tells the child how to call home, once that is known.
    pub fn tell_child(&mut self, private_socket: &Path, tcp: Option<std::net::SocketAddr>) {
        let scheme = if self.tls.is_some() { "https" } else { "http" };
        let url = match tcp {
            Some(address) if address.ip().is_unspecified() => {
                format!("{scheme}://127.0.0.1:{}", address.port()).into()
            }
            Some(address) => format!("{scheme}://{address}").into(),
            None => {
                let mut url = OsString::from("unix://");
                url.push(private_socket);
                url
            }
        };
        let env = &mut self.settings.recipe.env;
        env.insert(URL.into(), url);
        env.insert(SOCKET.into(), private_socket.into());
    }
}

/// The coop that a client verb means if none is named.
pub fn default_target(environment: &Environment) -> String {
    // From inside a session its own socket is nearest, and needs no certificate.
    let inside = environment.contains_key(OsStr::new(MARK));
    let names = if inside { [SOCKET, URL] } else { [URL, SOCKET] };
    let named = names.iter().find_map(|name| environment.get(OsStr::new(name)));
    match named {
        Some(target) => target.to_string_lossy().into_owned(),
        None => default_socket(environment).to_string_lossy().into_owned(),
    }
}

/// Where a hook of this session reports, and what it proves itself with; nothing outside of a session.
pub fn hook_pipe(environment: &Environment) -> Option<(PathBuf, String)> {
    let pipe = environment.get(OsStr::new(HOOK_PIPE)).filter(|pipe| !pipe.is_empty())?;
    let nonce = environment.get(OsStr::new(NONCE))?.to_str()?;
    Some((pipe.into(), nonce.to_owned()))
}

/// What was asked to be served instead of a child. Its owner is called as coop was, less what is coop's own business.
fn attach(serve: &Serve, environment: &Environment) -> Result<Option<Attach>, ConfigError> {
    let Some(text) = &serve.attach else { return Ok(None) };
    let address = text.parse().map_err(|error| ConfigError::Attach(text.clone(), error))?;
    for (flag, given) in [
        ("COMMAND", !serve.command.is_empty()),
        ("--agent-config", serve.agent_config.is_some()),
        ("--resume", serve.resume.is_some()),
        ("--cwd", serve.cwd.is_some()),
    ] {
        if given {
            return Err(ConfigError::AttachAnd(flag));
        }
    }
    let mut env = environment.clone();
    env.retain(|name, _| !name.to_string_lossy().starts_with("COOP"));
    Ok(Some(Attach { address, env: env.into_iter().collect() }))
}

fn tokens(serve: &Serve) -> Result<Tokens, ConfigError> {
    let mut tokens = Tokens::default();
    if let Some(path) = &serve.auth_token_file {
        let failed = |reason: String| ConfigError::TokenFile { path: path.clone(), reason };
        let text = std::fs::read_to_string(path).map_err(|error| failed(error.to_string()))?;
        tokens = Tokens::parse(&text).map_err(|error: BadTokens| failed(error.to_string()))?;
    }
    match serve.auth_token.as_deref().map(str::trim) {
        Some("") => return Err(ConfigError::EmptyToken),
        Some(token) => tokens.extend(Tokens::one(token)),
        None => {}
    }
    Ok(tokens)
}

fn tls(serve: &Serve) -> Result<Option<TlsFiles>, ConfigError> {
    match (&serve.tls_cert, &serve.tls_key, &serve.tls_client_ca) {
        (Some(cert), Some(key), client_ca) => {
            Ok(Some(TlsFiles { cert: cert.clone(), key: key.clone(), client_ca: client_ca.clone() }))
        }
        (None, None, None) => Ok(None),
        (None, None, Some(_)) => Err(ConfigError::ClientCaWithoutTls),
        (Some(_), None, _) | (None, Some(_), _) => Err(ConfigError::HalfTls),
    }
}

fn host(serve: &Serve, closed: bool) -> Result<IpAddr, ConfigError> {
    match serve.host.as_deref() {
        None if closed => Ok(IpAddr::V4(Ipv4Addr::UNSPECIFIED)),
        None | Some("localhost") => Ok(IpAddr::V4(Ipv4Addr::LOCALHOST)),
        Some(text) => {
            let bare = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
            bare.parse().map_err(|_| ConfigError::Host(text.to_owned()))
        }
    }
}

/// Inside a coop the variable names that coop's socket, which is never ours to replace.
fn socket(serve: &Serve, environment: &Environment) -> Option<PathBuf> {
    let inside = environment.contains_key(OsStr::new(MARK));
    let variable = environment.get(OsStr::new(SOCKET)).filter(|path| !inside && !path.is_empty());
    let named = serve.socket.clone().or_else(|| variable.map(PathBuf::from));
    named.or_else(|| serve.port.is_none().then(|| default_socket(environment)))
}

fn default_socket(environment: &Environment) -> PathBuf {
    let shared = Path::new(DEFAULT_SOCKET);
    let writable = |dir: &Path| rustix::fs::access(dir, rustix::fs::Access::WRITE_OK).is_ok();
    let runtime = environment.get(OsStr::new("XDG_RUNTIME_DIR")).filter(|dir| !dir.is_empty());
    match runtime {
        Some(runtime) if !shared.parent().is_some_and(writable) => Path::new(runtime).join("coop.sock"),
        Some(_) | None => shared.to_owned(),
    }
}

/// The state directory; and where there is none, or it cannot be written, or its path is too long
/// for a socket, a directory that nobody can have made before us.
fn state_dirs(environment: &Environment, session_id: &str) -> Vec<PathBuf> {
    let set = |name: &str| environment.get(OsStr::new(name)).filter(|dir| !dir.is_empty()).map(PathBuf::from);
    let state = set("XDG_STATE_HOME").or_else(|| set("HOME").map(|home| home.join(".local/state")));
    let kept = state.map(|state| state.join("coop/sessions").join(session_id));
    let passing = [set("XDG_RUNTIME_DIR"), Some(PathBuf::from("/tmp"))];
    let passing = passing.into_iter().flatten().map(|dir| dir.join(format!("coop-{session_id}")));
    kept.into_iter().chain(passing).collect()
}

fn agent_config(path: &Path) -> Result<AgentConfig, ConfigError> {
    let failed = |reason: String| ConfigError::AgentConfig { path: path.to_owned(), reason };
    let text = std::fs::read_to_string(path).map_err(|error| failed(error.to_string()))?;
    let mut config: Map<String, Value> = match serde_json::from_str(&text) {
        Ok(Value::Object(config)) => config,
        Ok(_) => return Err(failed("it is no JSON object".to_owned())),
        Err(error) => return Err(failed(error.to_string())),
    };
    let mut object = |key: &str| match config.remove(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Object(object)) => Ok(Some(object)),
        Some(_) => Err(failed(format!("{key} is no JSON object"))),
    };
    let screen = match object("screen")? {
        Some(screen) => Some(Arc::new(Patterns::read(&screen).map_err(failed)?)),
        None => None,
    };
    let (settings, mcp) = (object("settings")?.map(Value::Object), object("mcp")?.map(Value::Object));
    Ok(AgentConfig { settings, mcp, screen })
}

/// What makes the agent's driver: its own, or for any other program the one that goes by patterns.
fn maker(agent: &'static str, screen: Option<&Arc<Patterns>>) -> Result<Option<Maker>, ConfigError> {
    match (driver::maker(agent), screen.cloned()) {
        (Some(_), Some(_)) => Err(ConfigError::ScreenAnd(agent)),
        (Some(own), None) => Ok(Some(Arc::new(own))),
        (None, Some(screen)) => Ok(Some(Arc::new(move || Box::new(Unknown::new(Arc::clone(&screen)))))),
        (None, None) => Ok(None),
    }
}

/// The conversation that a hint names: by its id, or by its log, whose name has the id in it.
fn conversation(hint: &str) -> Result<Conversation, ConfigError> {
    let path = Path::new(hint);
    let name = path.file_stem().and_then(OsStr::to_str).unwrap_or_default();
    let is_id = |text: &&str| uuid::Uuid::try_parse(text).is_ok();
    let starts = name.char_indices().map(|(at, _)| at);
    let id = starts.filter_map(|at| name.get(at..at.checked_add(ID)?)).rfind(is_id);
    let log = path.is_file().then(|| path.to_owned());
    match id {
        Some(id) if log.is_some() || id.len() == hint.len() => Ok(Conversation { id: id.to_owned(), log }),
        Some(_) | None => Err(ConfigError::Resume(hint.to_owned())),
    }
}

fn nudge_timeout(environment: &Environment) -> Result<Duration, ConfigError> {
    let Some(text) = environment.get(OsStr::new(NUDGE_TIMEOUT)) else { return Ok(NUDGE_TIMEOUT_DEFAULT) };
    let text = text.to_string_lossy();
    match text.parse() {
        Ok(ms @ 100..=60_000) => Ok(Duration::from_millis(ms)),
        Ok(_) | Err(_) => Err(ConfigError::NudgeTimeout(text.into_owned())),
    }
}

fn cwd(wanted: Option<&Path>) -> Result<PathBuf, ConfigError> {
    let path = wanted.unwrap_or(Path::new("."));
    let failed =
        |reason: std::io::Error| ConfigError::Cwd { path: path.to_owned(), reason: reason.to_string() };
    path.canonicalize().map_err(failed)
}

/// What the child sees: what coop saw, less coop's own flags, plus where it is.
fn child_environment(
    environment: &Environment,
    term: &str,
    session_id: &str,
    hook_nonce: &str,
) -> Environment {
    let mut child = environment.clone();
    for variable in variables() {
        child.remove(&variable);
    }
    // Inside another coop this is that one's pipe, which knows nothing of our child.
    child.remove(OsStr::new(HOOK_PIPE));
    child.remove(OsStr::new(NUDGE_TIMEOUT));
    child.insert("TERM".into(), term.into());
    child.insert(MARK.into(), "1".into());
    child.insert(SESSION.into(), session_id.into());
    child.insert(NONCE.into(), hook_nonce.into());
    child
}

/// The agent that was named, else the one that the program is called like.
fn agent(named: Option<&str>, program: &OsStr) -> &'static str {
    let basename = Path::new(program).file_name().and_then(OsStr::to_str);
    named.or(basename).and_then(driver::named).unwrap_or(driver::UNKNOWN)
}

fn origins(texts: Vec<String>) -> Result<Vec<Origin>, ConfigError> {
    texts.into_iter().map(|text| Origin::parse(&text).ok_or(ConfigError::BadOrigin(text))).collect()
}

fn labels(pairs: Vec<String>) -> Result<BTreeMap<String, String>, ConfigError> {
    let split = |pair: String| match pair.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        Some(_) | None => Err(ConfigError::Label(pair)),
    };
    pairs.into_iter().map(split).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::{Invocation, parse};
    use crate::pty::attach::Host;

    fn config_in(environment: &[(&str, &str)], line: &str) -> Result<Config, ConfigError> {
        let words = ["coop"].into_iter().chain(line.split_whitespace()).map(OsString::from);
        let Invocation::Serve(serve) = parse(words).unwrap() else { panic!("{line} is a verb") };
        let environment = environment.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect();
        Config::new(*serve, &environment)
    }

    fn config(line: &str) -> Result<Config, ConfigError> {
        config_in(&[("HOME", "/home/ada")], line)
    }

    #[test]
    fn nobody_else_is_let_in_without_a_token() {
        let outside = IpAddr::V4(Ipv4Addr::UNSPECIFIED);
        assert_eq!(config("--host 0.0.0.0 --port 1 bash").unwrap_err(), ConfigError::Exposed(outside));
        assert_eq!(config("--host 0.0.0.0 --grpc-port 1 bash").unwrap_err(), ConfigError::Exposed(outside));
        assert!(config("--host 0.0.0.0 --port 1 --insecure-no-auth bash").is_ok());
        assert!(config("--host 0.0.0.0 --port 1 --auth-token t bash").is_ok());
        assert_eq!(config("--port 1 bash").unwrap().tcp.unwrap().0, IpAddr::V4(Ipv4Addr::LOCALHOST));
        assert_eq!(config("--port 1 --auth-token t bash").unwrap().tcp.unwrap().0, outside);
        assert!(config("--host ::1 --port 1 bash").is_ok());
        assert_eq!(config("--port 1 --auth-token= bash").unwrap_err(), ConfigError::EmptyToken);
    }

    #[test]
    fn a_nested_coop_leaves_its_parents_socket_alone() {
        let outer = [("COOP_SOCKET", "/run/outer.sock")];
        assert_eq!(config_in(&outer, "--port 1 bash").unwrap().socket, Some("/run/outer.sock".into()));
        let inner = [("COOP_SOCKET", "/run/outer.sock"), ("COOP", "1")];
        assert_eq!(config_in(&inner, "--port 1 bash").unwrap().socket, None);
        assert_eq!(
            config_in(&inner, "--socket /run/inner.sock bash").unwrap().socket,
            Some("/run/inner.sock".into())
        );
    }

    #[test]
    fn the_child_sees_what_it_should_and_no_token() {
        let outer = [("COOP_AUTH_TOKEN", "secret"), ("COOP_PORT", "1"), ("COLOR", "yes"), ("TERM", "dumb")];
        let mut config = config_in(&outer, "--port 0 --term vt220 bash").unwrap();
        config.tell_child(Path::new("/state/coop.sock"), Some(([0, 0, 0, 0], 8080).into()));
        let env = &config.settings.recipe.env;
        let get = |name: &str| env.get(OsStr::new(name)).map(|value| value.to_string_lossy().into_owned());
        assert_eq!(get("COOP_AUTH_TOKEN"), None);
        assert_eq!(get("COOP_PORT"), None);
        assert_eq!(get("COLOR").as_deref(), Some("yes"));
        assert_eq!(get("TERM").as_deref(), Some("vt220"));
        assert_eq!(get("COOP").as_deref(), Some("1"));
        assert_eq!(get("COOP_URL").as_deref(), Some("http://127.0.0.1:8080"));
        assert_eq!(get("COOP_SOCKET").as_deref(), Some("/state/coop.sock"));
        assert_eq!(get("COOP_SESSION_ID").as_deref(), Some(config.session_id.as_str()));
        assert!(!env.values().any(|value| value == "secret"));
    }

    #[test]
    fn without_tcp_the_child_calls_home_over_the_socket() {
        let mut config = config("--socket /run/a.sock bash").unwrap();
        config.tell_child(Path::new("/state/coop.sock"), None);
        assert_eq!(config.settings.recipe.env[OsStr::new("COOP_URL")], "unix:///state/coop.sock");
    }

    #[test]
    fn a_conversation_is_named_by_its_id_or_its_log() {
        let id = "3eb55c84-6e34-4744-af17-3e759a9a6542";
        let dir = tempfile::tempdir().unwrap();
        let log = dir.path().join(format!("rollout-2026-11-17T03-00-00-{id}.jsonl"));
        std::fs::write(&log, "").unwrap();
        let agent = driver::names().next().unwrap();
        let resume =
            |hint: &str| config(&format!("--agent {agent} --resume {hint} x")).map(|config| config.resume);
        assert_eq!(resume(id).unwrap(), Some(Conversation { id: id.to_owned(), log: None }));
        let found = resume(log.to_str().unwrap()).unwrap();
        assert_eq!(found, Some(Conversation { id: id.to_owned(), log: Some(log) }));
        for hint in ["latest", "nobody", &format!("/nowhere/{id}.jsonl"), &format!("x{id}")] {
            assert_eq!(resume(hint).unwrap_err(), ConfigError::Resume(hint.to_owned()));
        }
        assert_eq!(config(&format!("--resume {id} bash")).unwrap_err(), ConfigError::NothingToResume);
    }

    #[test]
    fn the_commands_own_options_are_its_own() {
        let recipe = config("--port 1 ls --port 2 -la").unwrap().settings.recipe;
        assert_eq!(recipe.command(), ["ls", "--port", "2", "-la"]);
        let recipe = config("--port 1 -- -odd --x").unwrap().settings.recipe;
        assert_eq!(recipe.command(), ["-odd", "--x"]);
        assert!(parse(["coop", "--bogus", "bash"].map(OsString::from)).is_err());
    }

    #[test]
    fn what_cannot_be_meant_is_refused() {
        for (line, says) in [
            ("--port 1", "no command"),
            ("--host nowhere --port 1 bash", "no address"),
            ("--cols 0 bash", "from 1 to 1000"),
            ("--rows 1001 bash", "from 1 to 1000"),
            ("--tls-cert a bash", "go together"),
            ("--tls-client-ca a bash", "needs --tls-cert"),
            ("--allow-origin desk bash", "is no origin"),
            ("--label x bash", "KEY=VALUE"),
            ("--ring-size 9999999999 bash", "the most is"),
            ("--cwd /nowhere bash", "No such file"),
            ("--agent-config /nowhere bash", "No such file"),
            ("--attach tmux:x bash", "no COMMAND"),
            ("--attach tmux:x --cwd /", "no --cwd"),
            ("--attach zellij:x", "tmux:NAME or screen:NAME"),
            ("--attach tmux:", "tmux:NAME or screen:NAME"),
            ("--auth-token-file /nowhere bash", "No such file"),
        ] {
            let error = config(line).unwrap_err().to_string();
            assert!(error.contains(says), "{line}: {error}");
        }
    }

    #[test]
    fn whose_terminal_is_served_is_called_with_no_secret_of_ours() {
        let outer = [("COOP_AUTH_TOKEN", "secret"), ("COOP_ATTACH", "tmux:x"), ("TMUX_TMPDIR", "/run/t")];
        let config = config_in(&outer, "--port 1 --attach screen:my.own").unwrap();
        let Attach { address, env } = config.attach.unwrap();
        assert_eq!(address, Address { host: Host::Screen, name: "my.own".to_owned() });
        assert_eq!(env, [("TMUX_TMPDIR".into(), "/run/t".into())]);
        assert_eq!(config.settings.backend, Backend::Attached(Host::Screen));
        assert_eq!(config.agent, "unknown");
    }

    #[test]
    fn patterns_are_for_programs_without_a_driver() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let with = |json: &str, agent: &str| {
            std::fs::write(file.path(), json).unwrap();
            config(&format!("--agent-config {} --agent {agent} bash", file.path().display()))
        };
        let (good, bad) =
            (r#"{"screen": {"composer": "^> "}}"#, r#"{"screen": {"prompt": ["fine", "(open"]}}"#);
        assert!(with(good, driver::UNKNOWN).unwrap().settings.attendance.is_some());
        assert!(with("{}", driver::UNKNOWN).unwrap().settings.attendance.is_none());
        let own = driver::names().find(|name| *name != driver::UNKNOWN).unwrap();
        assert_eq!(with(good, own).unwrap_err(), ConfigError::ScreenAnd(own));
        assert!(with("{}", own).unwrap().settings.attendance.is_some());
        let error = with(bad, driver::UNKNOWN).unwrap_err().to_string();
        let place = format!("--agent-config {}: screen.prompt[1]: \"(open\": ", file.path().display());
        assert!(error.starts_with(&place), "{error}");
        let error = with(r#"{"screen": []}"#, driver::UNKNOWN).unwrap_err().to_string();
        assert!(error.ends_with("screen is no JSON object"), "{error}");
    }

    #[test]
    fn the_agent_is_known_by_its_name() {
        assert_eq!(config("bash").unwrap().agent, "unknown");
        for name in driver::names() {
            assert_eq!(config(&format!("/opt/bin/{name} -p")).unwrap().agent, name);
            assert_eq!(config(&format!("--agent {name} bash")).unwrap().agent, name);
        }
    }
}
