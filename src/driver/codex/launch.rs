//! Plans the launch of Codex: its flags, its hooks, and where its log will be. It reads and writes
//! no files, and leaves the user's configuration alone: everything goes into the command line,
//! apart from what may be a secret.
//!
//! `--no-daemon` is always added: otherwise the agent would run in the user's server, which
//! outlives the child.

mod command;
mod hooks;
mod servers;
mod settings;
mod toml;

#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::path::PathBuf;

use serde_json::{Map, Value};

use self::command::{Command, Form};
use self::servers::Servers;
use self::settings::Settings;
use crate::driver::launch::{
    EvidenceSources, Groom, LaunchPlan, LaunchRequest, LogLocation, Version,
};

/// The oldest version that these flags are known to work with.
const OLDEST: Version = Version(0, 166, 0);
/// The ending of conversation files.
const LOG_EXTENSION: &str = ".jsonl";

pub(super) fn plan(request: &LaunchRequest) -> Result<LaunchPlan, String> {
    let command = Command::read(request.program, request.args);
    let hooks_unavailable = hooks_unavailable(request, &command);
    let mut evidence_sources =
        EvidenceSources { stdout: command.prints_json(), ..EvidenceSources::default() };
    if hooks_unavailable.is_some() {
        evidence_sources.log =
            sessions(request).map(|dir| LogLocation::NewFileUnder { dir, ending: LOG_EXTENSION });
    }
    let mut plan = LaunchPlan {
        args: request.args.to_vec(),
        evidence_sources,
        hooks_unavailable,
        ..LaunchPlan::default()
    };
    let older = request.version.is_some_and(|version| version < OLDEST);
    if request.groom == Groom::Pristine || older || command.form() == Form::Other {
        return Ok(plan);
    }
    let mut flags: Vec<OsString> = Vec::new();
    if command.form() == Form::Interactive && !command.has("no-daemon") && !command.has("remote") {
        flags.push("--no-daemon".into());
    }
    let mut set =
        |key: &str, value: &str| flags.extend(["-c".into(), format!("{key}={value}").into()]);
    if plan.hooks_unavailable.is_none() {
        for (key, value) in hooks::settings(request)? {
            set(&key, &value);
        }
    }
    let mut servers = Servers::default();
    let mut settings = request.wanted_settings()?.cloned().unwrap_or_default();
    if let Some(Value::Object(wanted)) = settings.get("mcp_servers") {
        servers.add(wanted, request.dir)?;
        settings.remove("mcp_servers");
    }
    if let Some(wanted) = request.wanted_servers()? {
        servers.add(wanted, request.dir)?;
    }
    let settings = Settings::new(&settings, request, &command)?;
    for (key, value) in settings.plain {
        set(&key, &value);
    }
    for (name, server) in config_flags(&servers.definitions, "MCP servers")? {
        set(&format!("mcp_servers.{name}"), &server);
    }
    flags.extend(settings.profile);
    plan.files = [servers.files, settings.files].concat();
    plan.env = servers.env;
    plan.args = match request.resume.filter(|_| command.form() == Form::Interactive) {
        Some(id) => command.resuming(flags, id),
        None => command.with(flags),
    };
    Ok(plan)
}

/// Why coop will get no hook calls, if that is so.
fn hooks_unavailable(request: &LaunchRequest, command: &Command) -> Option<String> {
    let why = match (request.groom, request.version, command.form()) {
        (Groom::Pristine, _, _) => "the command is run as it was given",
        (Groom::Auto | Groom::Manual, Some(version), _) if version < OLDEST => {
            "hooks are not known to work before version 0.166.0"
        }
        (Groom::Auto | Groom::Manual, _, Form::Other) => {
            "the command starts no agent that has hooks"
        }
        (Groom::Auto | Groom::Manual, _, Form::Interactive | Form::Exec)
            if command.sets("hooks") =>
        {
            "the command sets hooks of its own, which would replace coop's"
        }
        (Groom::Auto | Groom::Manual, _, Form::Interactive | Form::Exec)
            if command.has_hooks_off() =>
        {
            "the command switches hooks off"
        }
        (Groom::Auto | Groom::Manual, _, Form::Interactive | Form::Exec) => return None,
    };
    Some(why.to_owned())
}

/// The members of an object in the agent config, as keys and values for `-c`.
fn config_flags(wanted: &Map<String, Value>, what: &str) -> Result<Vec<(String, String)>, String> {
    let one = |(key, value): (&String, &Value)| {
        let plain = !key.is_empty()
            && key.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
        match toml::inline(value).filter(|_| plain) {
            Some(value) => Ok((key.clone(), value)),
            None => {
                Err(format!("{key:?} of the {what} in the agent config cannot be given to Codex"))
            }
        }
    };
    wanted.iter().map(one).collect()
}

/// The directory of Codex's conversation files.
fn sessions(request: &LaunchRequest) -> Option<PathBuf> {
    Some(home(request)?.join("sessions"))
}

/// Codex's own directory.
fn home(request: &LaunchRequest) -> Option<PathBuf> {
    match request.var("CODEX_HOME") {
        Some(home) => Some(request.cwd.join(home)),
        None => Some(PathBuf::from(request.var("HOME")?).join(".codex")),
    }
}
