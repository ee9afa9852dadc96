//! The agent's part of the configuration: which agent it is, its settings and its driver.

use std::ffi::OsStr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};

use super::variables::NUDGE_TIMEOUT;
use super::{ConfigError, Environment};
use crate::cli::{self, Serve};
use crate::driver::agent::Tier;
use crate::driver::launch::Groom;
use crate::driver::unknown::{Patterns, Unknown};
use crate::driver::{self, Driver};
use crate::launch::Conversation;
use crate::session::agent::Profile;

const NUDGE_TIMEOUT_DEFAULT: Duration = Duration::from_secs(4);
/// The length of a conversation's id.
const ID_LENGTH: usize = 36;

/// Makes a driver for each child.
type DriverFactory = Arc<dyn Fn() -> Box<dyn Driver> + Send + Sync>;

/// The content of `--agent-config`.
#[derive(Debug, Default)]
pub struct AgentConfig {
    /// Merged into the agent's own settings.
    pub settings: Option<Value>,
    /// MCP servers by name.
    pub mcp: Option<Value>,
    /// Patterns for the screen of a program that no driver knows.
    pub screen: Option<Arc<Patterns>>,
}

impl AgentConfig {
    pub(super) fn read(path: &Path) -> Result<Self, ConfigError> {
        let failed = |reason: String| ConfigError::AgentConfig { path: path.to_owned(), reason };
        let text = std::fs::read_to_string(path).map_err(|error| failed(error.to_string()))?;
        Self::parse(&text).map_err(failed)
    }

    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let mut config: Map<String, Value> = match serde_json::from_str(text) {
            Ok(Value::Object(config)) => config,
            Ok(_) => return Err("it is not a JSON object".to_owned()),
            Err(error) => return Err(error.to_string()),
        };
        let mut object = |key: &str| match config.remove(key) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::Object(object)) => Ok(Some(object)),
            Some(_) => Err(format!("{key} is not a JSON object")),
        };
        let screen = match object("screen")? {
            Some(screen) => Some(Arc::new(Patterns::read(&screen)?)),
            None => None,
        };
        let (settings, mcp) =
            (object("settings")?.map(Value::Object), object("mcp")?.map(Value::Object));
        Ok(Self { settings, mcp, screen })
    }
}

/// How the session works with the agent.
pub(super) fn profile(serve: &Serve, environment: &Environment) -> Result<Profile, ConfigError> {
    let groom = match serve.groom {
        cli::Groom::Auto => Groom::Auto,
        cli::Groom::Manual => Groom::Manual,
        cli::Groom::Pristine => Groom::Pristine,
    };
    let ignored_tiers: &[Tier] = if serve.only_log_and_screen {
        &[Tier::Hooks, Tier::Terminal, Tier::ProgramStatus, Tier::Registry]
    } else {
        &[]
    };
    let retry_after = nudge_timeout(environment)?;
    Ok(Profile { groom, grace: Duration::from_secs(serve.idle_grace), retry_after, ignored_tiers })
}

/// The agent that `--agent` names, else the one with the name of the program.
pub(super) fn name(named: Option<&str>, program: &OsStr) -> &'static str {
    let basename = Path::new(program).file_name().and_then(OsStr::to_str);
    named.or(basename).and_then(driver::named).unwrap_or(driver::UNKNOWN)
}

/// The factory of the agent's own driver, or, for a program without one, of the driver that reads
/// the screen by patterns.
pub(super) fn driver_factory(
    agent: &'static str,
    screen: Option<&Arc<Patterns>>,
) -> Result<Option<DriverFactory>, ConfigError> {
    match (driver::maker(agent), screen.cloned()) {
        (Some(_), Some(_)) => Err(ConfigError::ScreenWithDriver(agent)),
        (Some(own), None) => Ok(Some(Arc::new(own))),
        (None, Some(screen)) => {
            Ok(Some(Arc::new(move || Box::new(Unknown::new(Arc::clone(&screen))))))
        }
        (None, None) => Ok(None),
    }
}

/// The conversation that a hint names: by its id, or by its log file, the name of which contains
/// the id.
pub(super) fn conversation(hint: &str) -> Result<Conversation, ConfigError> {
    let path = Path::new(hint);
    let name = path.file_stem().and_then(OsStr::to_str).unwrap_or_default();
    let is_id = |text: &&str| uuid::Uuid::try_parse(text).is_ok();
    let starts = name.char_indices().map(|(at, _)| at);
    let id = starts.filter_map(|at| name.get(at..at.checked_add(ID_LENGTH)?)).rfind(is_id);
    let log = path.is_file().then(|| path.to_owned());
    match id {
        Some(id) if log.is_some() || id.len() == hint.len() => {
            Ok(Conversation { id: id.to_owned(), log })
        }
        Some(_) | None => Err(ConfigError::Resume(hint.to_owned())),
    }
}

fn nudge_timeout(environment: &Environment) -> Result<Duration, ConfigError> {
    let Some(text) = environment.get(OsStr::new(NUDGE_TIMEOUT)) else {
        return Ok(NUDGE_TIMEOUT_DEFAULT);
    };
    let text = text.to_string_lossy();
    match text.parse() {
        Ok(ms @ 100..=60_000) => Ok(Duration::from_millis(ms)),
        Ok(_) | Err(_) => Err(ConfigError::NudgeTimeout(text.into_owned())),
    }
}
