//! The orchestrator's settings in Codex's configuration. Every user of the machine can read
//! arguments, so only settings that hold no secret become arguments. All others go into a profile,
//! a private file in Codex's home, which the configuration of a trusted repository overrides.

use std::ffi::OsString;
use std::path::PathBuf;

use serde_json::{Map, Value};

use super::{Command, config_flags, home};
use crate::driver::launch::LaunchRequest;

/// The settings whose texts are names, choices and paths. What has no text at all is no secret
/// either.
const PLAIN: [&str; 26] = [
    "agents",
    "approval_policy",
    "approvals_reviewer",
    "features",
    "file_opener",
    "forced_login_method",
    "history",
    "log_dir",
    "model",
    "model_instructions_file",
    "model_provider",
    "model_reasoning_effort",
    "model_reasoning_summary",
    "model_verbosity",
    "notice",
    "oss_provider",
    "personality",
    "plan_mode_reasoning_effort",
    "project_doc_fallback_filenames",
    "project_root_markers",
    "projects",
    "review_model",
    "sandbox_mode",
    "service_tier",
    "tui",
    "web_search",
];

/// The arguments that give Codex the settings, and the profile.
#[derive(Debug, Default)]
pub(super) struct Settings {
    /// Keys and values for `-c`.
    pub(super) plain: Vec<(String, String)>,
    /// The arguments that name the profile.
    pub(super) profile: Vec<OsString>,
    pub(super) files: Vec<(PathBuf, String)>,
}

impl Settings {
    pub(super) fn new(
        wanted: &Map<String, Value>,
        request: &LaunchRequest,
        command: &Command,
    ) -> Result<Self, String> {
        if wanted.contains_key("hooks") {
            return Err(
                "`hooks` in the settings of the agent config cannot be given to Codex".to_owned()
            );
        }
        let is_plain = |key: &str, value: &Value| PLAIN.contains(&key) || !has_text(value);
        let (plain, private): (Map<_, _>, Map<_, _>) =
            wanted.clone().into_iter().partition(|(key, value)| is_plain(key, value));
        let plain = config_flags(&plain, "settings")?;
        let private = config_flags(&private, "settings")?;
        let Some((first, _)) = private.first() else {
            return Ok(Self { plain, ..Self::default() });
        };
        if command.has("profile") {
            return Err(format!(
                "{first:?} of the settings in the agent config may be a secret, which coop gives to \
                 Codex in a profile, and the command has a profile of its own"
            ));
        }
        let home = home(request).ok_or("Codex has no home for the settings in the agent config")?;
        let session = request.dir.file_name().and_then(|name| name.to_str());
        let name = format!("coop-{}", session.unwrap_or(request.fresh_id));
        let lines = private.iter().map(|(key, value)| format!("{key} = {value}\n"));
        let file = (home.join(format!("{name}.config.toml")), lines.collect());
        Ok(Self { plain, profile: ["--profile".into(), name.into()].into(), files: vec![file] })
    }
}

/// Whether a value contains a text, other than the names of its fields.
fn has_text(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
        Value::String(_) => true,
        Value::Array(values) => values.iter().any(has_text),
        Value::Object(fields) => fields.values().any(has_text),
    }
}
