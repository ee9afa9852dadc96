//! How Codex is started so that it can be heard: its flags, its hooks, and where it leaves traces. Nothing is read or
//! written here, and the user's own configuration stays as it is: everything goes into the command.
//!
//! `--no-daemon` is always given: otherwise the agent would be a server of the user's that outlives the child.

mod command;
mod hooks;
mod toml;

#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::path::PathBuf;

use serde_json::{Map, Value};

use self::command::{Command, Form};
use crate::driver::launch::{Groom, LogPlace, Order, Outfit, Traces, Version};

/// The first version that this is known to be right for. What an older one makes of the flags is not known.
const OLDEST: Version = Version(0, 166, 0);
/// How the files of conversations end.
const LOG_ENDING: &str = ".jsonl";

pub(super) fn outfit(order: &Order) -> Result<Outfit, String> {
    let command = Command::read(order.program, order.args);
    let unheard = unheard(order, &command);
    let mut traces = Traces { stdout: command.prints_json(), ..Traces::default() };
    if unheard.is_some() {
        traces.log = sessions(order).map(|dir| LogPlace::NewUnder { dir, ending: LOG_ENDING });
    }
    let mut outfit = Outfit { args: order.args.to_vec(), traces, unheard, ..Outfit::default() };
    let older = order.version.is_some_and(|version| version < OLDEST);
    if order.groom == Groom::Pristine || older || command.form() == Form::Other {
        return Ok(outfit);
    }
    let mut flags: Vec<OsString> = Vec::new();
    if command.form() == Form::Interactive && !command.has("no-daemon") && !command.has("remote") {
        flags.push("--no-daemon".into());
    }
    let mut set = |key: &str, value: &str| flags.extend(["-c".into(), format!("{key}={value}").into()]);
    if outfit.unheard.is_none() {
        for (key, value) in hooks::settings(order)? {
            set(&key, &value);
        }
    }
    for (key, value) in flagged(order.wanted_settings()?, "settings")? {
        if key == "hooks" {
            return Err("`hooks` in the settings of the agent config cannot be given to Codex".to_owned());
        }
        set(&key, &value);
    }
    for (name, server) in flagged(order.wanted_servers()?, "MCP servers")? {
        set(&format!("mcp_servers.{name}"), &server);
    }
    outfit.args = match order.resume.filter(|_| command.form() == Form::Interactive) {
        Some(id) => command.resuming(flags, id),
        None => command.with(flags),
    };
    Ok(outfit)
}

/// Why no hook will be heard of, if none will.
fn unheard(order: &Order, command: &Command) -> Option<String> {
    let why = match (order.groom, order.version, command.form()) {
        (Groom::Pristine, _, _) => "the command is run as it was given",
        (Groom::Auto | Groom::Manual, Some(version), _) if version < OLDEST => {
            "hooks are not known to work before version 0.166.0"
        }
        (Groom::Auto | Groom::Manual, _, Form::Other) => "the command starts no agent that has hooks",
        (Groom::Auto | Groom::Manual, _, Form::Interactive | Form::Exec) if command.sets("hooks") => {
            "the command sets hooks of its own, which would replace coop's"
        }
        (Groom::Auto | Groom::Manual, _, Form::Interactive | Form::Exec) if command.has_hooks_off() => {
            "the command switches hooks off"
        }
        (Groom::Auto | Groom::Manual, _, Form::Interactive | Form::Exec) => return None,
    };
    Some(why.to_owned())
}

/// The members of an object of the agent config, as values of flags.
fn flagged(wanted: Option<&Map<String, Value>>, what: &str) -> Result<Vec<(String, String)>, String> {
    let one = |(key, value): (&String, &Value)| {
        let plain =
            !key.is_empty() && key.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
        match toml::inline(value).filter(|_| plain) {
            Some(value) => Ok((key.clone(), value)),
            None => Err(format!("{key:?} of the {what} in the agent config cannot be given to Codex")),
        }
    };
    wanted.into_iter().flatten().map(one).collect()
}

/// Where Codex keeps its conversations.
fn sessions(order: &Order) -> Option<PathBuf> {
    let home = match order.var("CODEX_HOME") {
        Some(home) => order.cwd.join(home),
        None => PathBuf::from(order.var("HOME")?).join(".codex"),
    };
    Some(home.join("sessions"))
}
