//! The settings that an orchestrator wants Gemini to have. They are laid over those of the machine, whose place they
//! take.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::PathBuf;

use serde_json::{Map, Value};

use crate::driver::launch::Order;

/// The variable that names the machine's settings, and where they are otherwise.
const VARIABLE: &str = "GEMINI_CLI_SYSTEM_SETTINGS_PATH";
const USUAL: &str = "/etc/gemini-cli/settings.json";

/// The file to be written, if anything is wanted; its variable is added.
pub(super) fn layered(
    order: &Order,
    env: &mut BTreeMap<OsString, OsString>,
) -> Result<Vec<(PathBuf, String)>, String> {
    if order.settings.is_none() && order.mcp.is_none() {
        return Ok(Vec::new());
    }
    let mut settings = base(order)?;
    if let Some(wanted) = order.wanted_settings()? {
        lay_over(&mut settings, wanted);
    }
    if let Some(servers) = order.wanted_servers()? {
        lay_over(&mut settings, &Map::from_iter([("mcpServers".to_owned(), servers.clone().into())]));
    }
    let path = order.dir.join("settings.json");
    env.insert(VARIABLE.into(), path.clone().into_os_string());
    Ok(vec![(path, Value::Object(settings).to_string())])
}

fn base(order: &Order) -> Result<Map<String, Value>, String> {
    let path = order.cwd.join(order.var(VARIABLE).unwrap_or(OsStr::new(USUAL)));
    match (order.read)(&path) {
        Ok(text) => match serde_json::from_str(&text) {
            Ok(Value::Object(settings)) => Ok(settings),
            Ok(_) | Err(_) => Err(format!("{} is no JSON object", path.display())),
        },
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Map::new()),
        Err(error) => Err(format!("{} cannot be read: {error}", path.display())),
    }
}

/// Objects are merged, and the later layer wins.
fn lay_over(settings: &mut Map<String, Value>, layer: &Map<String, Value>) {
    for (key, value) in layer {
        match (settings.get_mut(key), value) {
            (Some(Value::Object(under)), Value::Object(over)) => lay_over(under, over),
            (Some(_) | None, _) => {
                settings.insert(key.clone(), value.clone());
            }
        }
    }
}
