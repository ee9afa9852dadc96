//! The orchestrator's settings for Gemini, merged over the machine's settings, which they replace.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::PathBuf;

use serde_json::{Map, Value};

use crate::driver::launch::LaunchRequest;

/// The variable that names the file with the machine's settings, and the default path.
const VARIABLE: &str = "GEMINI_CLI_SYSTEM_SETTINGS_PATH";
const DEFAULT_PATH: &str = "/etc/gemini-cli/settings.json";

/// The settings file to write, if there are settings; adds its variable to the environment.
pub(super) fn merged(
    request: &LaunchRequest,
    env: &mut BTreeMap<OsString, OsString>,
) -> Result<Vec<(PathBuf, String)>, String> {
    if request.settings.is_none() && request.mcp.is_none() {
        return Ok(Vec::new());
    }
    let mut settings = base(request)?;
    if let Some(wanted) = request.wanted_settings()? {
        merge(&mut settings, wanted);
    }
    if let Some(servers) = request.wanted_servers()? {
        merge(&mut settings, &Map::from_iter([("mcpServers".to_owned(), servers.clone().into())]));
    }
    let path = request.dir.join("settings.json");
    env.insert(VARIABLE.into(), path.clone().into_os_string());
    Ok(vec![(path, Value::Object(settings).to_string())])
}

fn base(request: &LaunchRequest) -> Result<Map<String, Value>, String> {
    let path = request.cwd.join(request.var(VARIABLE).unwrap_or(OsStr::new(DEFAULT_PATH)));
    match (request.read)(&path) {
        Ok(text) => match serde_json::from_str(&text) {
            Ok(Value::Object(settings)) => Ok(settings),
            Ok(_) | Err(_) => Err(format!("{} is not a JSON object", path.display())),
        },
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Map::new()),
        Err(error) => Err(format!("cannot read {}: {error}", path.display())),
    }
}

/// Merges objects; values of the later layer win.
fn merge(settings: &mut Map<String, Value>, layer: &Map<String, Value>) {
    for (key, value) in layer {
        match (settings.get_mut(key), value) {
            (Some(Value::Object(under)), Value::Object(over)) => merge(under, over),
            (Some(_) | None, _) => {
                settings.insert(key.clone(), value.clone());
            }
        }
    }
}
