//! What was typed becomes what it means. The environment is read here and nowhere else, and
//! whatever cannot be meant is refused before any socket opens.

mod agent;
mod refusal;
mod surroundings;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;

pub use self::agent::AgentConfig;
pub use self::refusal::ConfigError;
pub use self::surroundings::{Environment, default_target, environment, hook_pipe};
use crate::cli::Serve;
use crate::driver::launch::Groom;
use crate::pty::attach::Address;
use crate::server::{BadTokens, Origin, TlsFiles, Tokens};
use crate::session::clock::Now;
use crate::session::recipe::Recipe;
use crate::session::{Attendance, Backend, Conversation, Settings};
use crate::term::Size;

/// The most raw output that may be kept: whoever wants more should read it as it comes.
const RING_LIMIT: usize = 1 << 30;
const SCROLLBACK_LIMIT: usize = 1_000_000;

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

impl Config {
    pub fn new(serve: Serve, environment: &Environment) -> Result<Self, ConfigError> {
        let attach = attach(&serve, environment)?;
        let (program, args) = match serve.command.split_first() {
            Some((program, args)) => (program.clone(), args.to_vec()),
            None if attach.is_some() => (OsString::new(), Vec::new()),
            None => return Err(ConfigError::NoCommand),
        };
        let agent_config =
            serve.agent_config.as_deref().map(AgentConfig::read).transpose()?.unwrap_or_default();
        let agent = agent::called(serve.agent.as_deref(), &program);
        let driver = agent::maker(agent, agent_config.screen.as_ref())?;
        let profile = agent::profile(&serve, environment)?;
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
                env: surroundings::of_child(environment, &serve.term, &session_id, &hook_nonce),
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
        let resume = serve.resume.as_deref().map(agent::conversation).transpose()?;
        if resume.is_some() && settings.attendance.is_none() {
            return Err(ConfigError::NothingToResume);
        }
        Ok(Self {
            tcp: serve.port.map(|port| (host, port)),
            grpc: serve.grpc_port.map(|port| (host, port)),
            health: serve.health_port.map(|port| (IpAddr::V4(Ipv4Addr::UNSPECIFIED), port)),
            socket: surroundings::socket(&serve, environment),
            tls,
            tokens,
            allow_hosts: serve.allow_host,
            allow_origins: origins(serve.allow_origin)?,
            state_dirs: surroundings::state_dirs(environment, &session_id),
            session_id,
            hook_nonce,
            agent,
            attach,
            groom: profile.groom,
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
    pub fn tell_child(&mut self, private_socket: &Path, tcp: Option<SocketAddr>) {
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
        env.insert(surroundings::URL.into(), url);
        env.insert(surroundings::SOCKET.into(), private_socket.into());
    }
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

fn cwd(wanted: Option<&Path>) -> Result<PathBuf, ConfigError> {
    let path = wanted.unwrap_or(Path::new("."));
    let failed =
        |reason: std::io::Error| ConfigError::Cwd { path: path.to_owned(), reason: reason.to_string() };
    path.canonicalize().map_err(failed)
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
