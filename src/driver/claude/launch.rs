//! How Claude is started so that it can be heard: its settings, its flags, and where it leaves traces. Nothing is read
//! or written here but through the order.

mod command;
mod settings;

#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::driver::launch::command::{Command, Piece};
use crate::driver::launch::{Groom, LogPlace, Order, Outfit, Traces};

/// Longer names of project folders end in a hash that only Claude can make.
const LONGEST_SLUG: usize = 200;
/// How the files of conversations end.
const LOG_ENDING: &str = ".jsonl";

/// Which flags decide what conversation it will be.
const CONVERSATION: [&str; 7] =
    ["session-id", "resume", "continue", "fork-session", "from-pr", "teleport", "cloud"];

pub(super) fn outfit(order: &Order) -> Result<Outfit, String> {
    let mut command = Command::read(&command::SYNTAX, order.program, order.args);
    match order.groom {
        Groom::Pristine => {
            let traces = traces(order, &command, given_id(&command));
            Ok(Outfit { args: order.args.to_vec(), traces, ..Outfit::default() })
        }
        Groom::Auto | Groom::Manual => equipped(order, &mut command),
    }
}

fn equipped(order: &Order, command: &mut Command) -> Result<Outfit, String> {
    let path = order.dir.join("settings.json");
    let settings = settings::layered(order, command)?;
    let mut files = vec![(path.clone(), settings.to_string())];
    let settings_flag = [OsString::from("--settings"), path.into_os_string()];
    let mut flags: Vec<OsString> = Vec::new();
    let replaced: &[&str] = if order.resume.is_some() { &CONVERSATION } else { &[] };
    let id = match order.resume {
        Some(id) => {
            flags.extend(["--resume".into(), id.into()]);
            Some(id.to_owned())
        }
        None if CONVERSATION.iter().any(|flag| command.has(flag)) => given_id(command),
        None => {
            flags.extend(["--session-id".into(), order.fresh_id.into()]);
            Some(order.fresh_id.to_owned())
        }
    };
    let traces = traces(order, command, id);
    if let Some(servers) = order.wanted_servers()? {
        let path = order.dir.join("mcp.json");
        files.push((path.clone(), json!({ "mcpServers": servers }).to_string()));
        flags.extend(["--mcp-config".into(), path.into_os_string()]);
    }
    let mut carried = false;
    for piece in &mut command.pieces {
        // A flag that is taken away leaves the settings in its place: a word after it could otherwise become one more
        // value of the flag before it.
        if piece.name.as_deref().is_some_and(|name| name == "settings" || replaced.contains(&name)) {
            *piece = Piece { name: None, value: None, args: settings_flag.to_vec() };
            carried = true;
        }
    }
    if !carried {
        flags.extend(settings_flag);
    }
    Ok(Outfit { args: command.with(flags), files, traces, ..Outfit::default() })
}

/// The conversation that the command itself names.
fn given_id(command: &Command) -> Option<String> {
    if let Some(id) = command.last("session-id") {
        return Some(id.to_owned());
    }
    let elsewhere = ["fork-session", "continue", "from-pr", "teleport", "cloud"];
    if elsewhere.iter().any(|flag| command.has(flag)) {
        return None;
    }
    // What follows `--resume` can also be words to search for.
    command.last("resume").filter(|value| is_uuid(value)).map(str::to_owned)
}

fn is_uuid(text: &str) -> bool {
    let lengths = text.split('-').map(str::len);
    lengths.eq([8, 4, 4, 4, 12]) && text.bytes().all(|byte| byte == b'-' || byte.is_ascii_hexdigit())
}

fn traces(order: &Order, command: &Command, id: Option<String>) -> Traces {
    let config = config_dir(order);
    // In a worktree of its own making Claude has another project folder.
    let unknown = command.has("no-session-persistence") || command.has("worktree");
    let project = config.as_ref().filter(|_| !unknown).and_then(|config| {
        let slug = slug(order.cwd)?;
        Some(config.join("projects").join(slug))
    });
    let log = project.map(|dir| match id {
        Some(id) => LogPlace::File(dir.join(id + LOG_ENDING)),
        None => LogPlace::NewIn { dir, ending: LOG_ENDING },
    });
    let stdout = command.has("print") && command.last("output-format") == Some("stream-json");
    Traces { log, registry: config.map(|config| config.join("sessions")), stdout }
}

fn config_dir(order: &Order) -> Option<PathBuf> {
    match order.var("CLAUDE_CONFIG_DIR") {
        Some(dir) => Some(order.cwd.join(dir)),
        None => order.var("HOME").map(|home| order.cwd.join(home).join(".claude")),
    }
}

/// The name of a project's folder. Claude counts in UTF-16, as its language does.
fn slug(cwd: &Path) -> Option<String> {
    let mut slug = String::new();
    for char in cwd.to_str()?.chars() {
        if char.is_ascii_alphanumeric() {
            slug.push(char);
        } else {
            slug.extend(std::iter::repeat_n('-', char.len_utf16()));
        }
    }
    Some(slug).filter(|slug| slug.len() <= LONGEST_SLUG)
}

/// A text that is an object, or why it is none.
fn object(text: &str, what: &str) -> Result<serde_json::Map<String, Value>, String> {
    match serde_json::from_str(text) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => Err(format!("{what} is no JSON object")),
        Err(error) => Err(format!("{what} is no JSON: {error}")),
    }
}
