//! Turns the command line and the environment into a checked configuration, before any socket
//! opens. Only this module reads the environment.

mod agent;
mod environment;
mod error;
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) mod fuzzing;
mod variables;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;

use zeroize::Zeroizing;

pub use self::agent::AgentConfig;
pub(crate) use self::environment::coop_binary;
pub use self::environment::{
    Environment, default_target, environment, hide_secrets, hook_pipe, surrounding_session,
};
pub use self::error::ConfigError;
use crate::cli::Serve;
use crate::driver::launch::Groom;
use crate::mux::Address;
use crate::server::{BadTokens, ClientScopes, Origin, TlsFiles, Tokens, read_secret_file};
use crate::session::child_spec::ChildSpec;
use crate::session::clock::Now;
use crate::session::{AgentSpec, BackendKind, Settings};
use crate::term::Size;

/// The most raw output that may be kept. A client that needs more must read it while it is written.
const RING_LIMIT: usize = 1 << 30;
const SCROLLBACK_LIMIT: usize = 1_000_000;

/// The configuration of the server.
#[derive(Debug)]
pub struct Config {
    pub tcp: Option<(IpAddr, u16)>,
    pub grpc: Option<(IpAddr, u16)>,
    pub health: Option<(IpAddr, u16)>,
    pub socket: Option<PathBuf>,
    pub tls: Option<TlsFiles>,
    /// All tokens.
    pub tokens: Tokens,
    /// The token that is not from the file.
    pub fixed_token: Tokens,
    pub token_file: Option<PathBuf>,
    pub audit_log: Option<PathBuf>,
    pub allow_hosts: Vec<String>,
    pub allow_origins: Vec<Origin>,
    pub session_id: String,
    pub hook_nonce: String,
    /// The candidates for the session's private directory, the best first.
    pub state_dirs: Vec<PathBuf>,
    pub agent: &'static str,
    /// The terminal of a multiplexer to serve instead of a child's.
    pub attach: Option<Attach>,
    pub groom: Groom,
    pub agent_config: AgentConfig,
    pub name: Option<String>,
    pub labels: BTreeMap<String, String>,
    pub settings: Settings,
}

/// The multiplexer's session to serve, and the environment that its commands run in.
#[derive(Debug)]
pub struct Attach {
    pub address: Address,
    pub env: Vec<(OsString, OsString)>,
}

impl Config {
    pub fn new(mut serve: Serve, environment: &Environment) -> Result<Self, ConfigError> {
        let attach = attach(&serve, environment)?;
        let (program, args) = match serve.command.split_first() {
            Some((program, args)) => (program.clone(), args.to_vec()),
            None if attach.is_some() => (OsString::new(), Vec::new()),
            None => return Err(ConfigError::NoCommand),
        };
        let agent_config =
            serve.agent_config.as_deref().map(AgentConfig::read).transpose()?.unwrap_or_default();
        let agent = agent::name(serve.agent.as_deref(), &program);
        let driver = agent::driver_factory(agent, agent_config.screen.as_ref())?;
        let profile = agent::profile(&serve, environment)?;
        // The text is overwritten when it is dropped; coop keeps digests only.
        let token = serve.auth_token.take().map(Zeroizing::new);
        let fixed_token = fixed_token(token.as_deref().map(String::as_str))?;
        let mut tokens = token_file(&serve)?;
        tokens.extend(fixed_token.clone());
        let tls = tls(&serve)?;
        let authenticated = !tokens.is_empty() || serve.tls_client_ca.is_some();
        let host = host(&serve, authenticated)?;
        let exposed = serve.port.is_some() || serve.grpc_port.is_some();
        if exposed && !authenticated && !host.is_loopback() && !serve.insecure_no_auth {
            return Err(ConfigError::Exposed(host));
        }
        for (flag, value, limit) in [
            ("ring-size", serve.ring_size, RING_LIMIT),
            ("scrollback", serve.scrollback, SCROLLBACK_LIMIT),
        ] {
            if value > limit {
                return Err(ConfigError::TooLarge { flag, value, limit });
            }
        }
        let session_id = uuid::Uuid::new_v4().to_string();
        let hook_nonce = uuid::Uuid::new_v4().simple().to_string();
        let settings = Settings {
            epoch_ms: Now::read().epoch_ms,
            backend: match &attach {
                None => BackendKind::Native,
                Some(attach) => BackendKind::Attached(attach.address.multiplexer),
            },
            child_spec: ChildSpec {
                cwd: cwd(serve.cwd.as_deref())?,
                env: environment::of_child(environment, &serve.term, &session_id, &hook_nonce),
                program,
                args,
            },
            conversation: serve.resume.as_deref().map(agent::conversation).transpose()?,
            size: Size::new(serve.cols, serve.rows)?,
            ring_bytes: serve.ring_size,
            scrollback_lines: serve.scrollback,
            linger: serve.linger.map(Duration::from_secs),
            idle_timeout: Some(Duration::from_secs(serve.idle_timeout))
                .filter(|timeout| !timeout.is_zero()),
            agent: driver.map(|driver| AgentSpec { driver, profile }),
        };
        if settings.conversation.is_some() && settings.agent.is_none() {
            return Err(ConfigError::NoAgentToResume);
        }
        Ok(Self {
            tcp: serve.port.map(|port| (host, port)),
            grpc: serve.grpc_port.map(|port| (host, port)),
            health: serve.health_port.map(|port| (IpAddr::V4(Ipv4Addr::UNSPECIFIED), port)),
            socket: environment::socket(&serve, environment),
            tls,
            tokens,
            fixed_token,
            token_file: serve.auth_token_file,
            audit_log: serve.audit_log,
            allow_hosts: serve.allow_host,
            allow_origins: origins(serve.allow_origin)?,
            state_dirs: environment::state_dirs(environment, &session_id),
            session_id,
            hook_nonce,
            agent,
            attach,
            groom: profile.groom,
            agent_config,
            name: serve.name,
            labels: labels(serve.label)?,
            settings,
        })
    }

    /// Whether clients are asked for a certificate.
    pub fn wants_certificates(&self) -> bool {
        self.tls.as_ref().is_some_and(|tls| tls.client_ca.is_some())
    }

    /// Puts coop's address into the child's environment, once it is known.
    pub fn set_child_address(&mut self, private_socket: &Path, tcp: Option<SocketAddr>) {
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
        let env = &mut self.settings.child_spec.env;
        env.insert(variables::URL.into(), url);
        env.insert(variables::SOCKET.into(), private_socket.into());
    }
}

/// The multiplexer's session that `--attach` names. The multiplexer's commands run in coop's own
/// environment without coop's variables.
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
            return Err(ConfigError::AttachWith(flag));
        }
    }
    let mut env = environment.clone();
    env.retain(|name, _| !name.to_string_lossy().starts_with(variables::COOP));
    Ok(Some(Attach { address, env: env.into_iter().collect() }))
}

fn token_file(serve: &Serve) -> Result<Tokens, ConfigError> {
    let Some(path) = &serve.auth_token_file else { return Ok(Tokens::default()) };
    let failed = |reason: String| ConfigError::TokenFile { path: path.clone(), reason };
    let text = read_secret_file(path).map_err(|error| failed(error.to_string()))?;
    let text = Zeroizing::new(text);
    Tokens::parse(&text).map_err(|error: BadTokens| failed(error.to_string()))
}

fn fixed_token(token: Option<&str>) -> Result<Tokens, ConfigError> {
    match token.map(str::trim) {
        Some("") => Err(ConfigError::EmptyToken),
        Some(token) => Ok(Tokens::one(token)),
        None => Ok(Tokens::default()),
    }
}

fn tls(serve: &Serve) -> Result<Option<TlsFiles>, ConfigError> {
    if !serve.tls_client_scope.is_empty() && serve.tls_client_ca.is_none() {
        return Err(ConfigError::ClientScopeWithoutCa);
    }
    let mut client_scopes = ClientScopes::default();
    for text in &serve.tls_client_scope {
        let refused = |reason| ConfigError::ClientScope { text: text.clone(), reason };
        client_scopes.add(text).map_err(refused)?;
    }
    match (&serve.tls_cert, &serve.tls_key, &serve.tls_client_ca) {
        (Some(cert), Some(key), client_ca) => Ok(Some(TlsFiles {
            cert: cert.clone(),
            key: key.clone(),
            client_ca: client_ca.clone(),
            client_scopes,
        })),
        (None, None, None) => Ok(None),
        (None, None, Some(_)) => Err(ConfigError::ClientCaWithoutTls),
        (Some(_), None, _) | (None, Some(_), _) => Err(ConfigError::IncompleteTls),
    }
}

fn host(serve: &Serve, authenticated: bool) -> Result<IpAddr, ConfigError> {
    match serve.host.as_deref() {
        None if authenticated => Ok(IpAddr::V4(Ipv4Addr::UNSPECIFIED)),
        None | Some("localhost") => Ok(IpAddr::V4(Ipv4Addr::LOCALHOST)),
        Some(text) => {
            let unbracketed =
                text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
            unbracketed.parse().map_err(|_| ConfigError::Host(text.to_owned()))
        }
    }
}

fn cwd(wanted: Option<&Path>) -> Result<PathBuf, ConfigError> {
    let path = wanted.unwrap_or(Path::new("."));
    let failed = |reason: std::io::Error| ConfigError::Cwd {
        path: path.to_owned(),
        reason: reason.to_string(),
    };
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
