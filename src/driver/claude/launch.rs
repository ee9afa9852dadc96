//! Plans the launch of Claude: its settings, its flags, and where its log and status files will be.
//! It reads files only through the request, and writes none.

mod command;
mod settings;

#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::driver::launch::command::{Command, Piece};
use crate::driver::launch::{EvidenceSources, Groom, LaunchPlan, LaunchRequest, LogLocation};

/// Claude shortens longer names of project folders and adds a hash that coop cannot compute.
const LONGEST_SLUG: usize = 200;
/// The ending of conversation files.
const LOG_EXTENSION: &str = ".jsonl";

/// The flags that select the conversation.
const CONVERSATION: [&str; 7] =
    ["session-id", "resume", "continue", "fork-session", "from-pr", "teleport", "cloud"];

pub(super) fn plan(request: &LaunchRequest) -> Result<LaunchPlan, String> {
    let mut command = Command::read(&command::SYNTAX, request.program, request.args);
    match request.groom {
        Groom::Pristine => {
            let evidence_sources = evidence_sources(request, &command, given_id(&command));
            Ok(LaunchPlan {
                args: request.args.to_vec(),
                evidence_sources,
                ..LaunchPlan::default()
            })
        }
        Groom::Auto | Groom::Manual => plan_with_hooks(request, &mut command),
    }
}

fn plan_with_hooks(request: &LaunchRequest, command: &mut Command) -> Result<LaunchPlan, String> {
    let path = request.dir.join("settings.json");
    let settings = settings::merged(request, command)?;
    let mut files = vec![(path.clone(), settings.to_string())];
    let settings_flag = [OsString::from("--settings"), path.into_os_string()];
    let mut flags: Vec<OsString> = Vec::new();
    let replaced: &[&str] = if request.resume.is_some() { &CONVERSATION } else { &[] };
    let id = match request.resume {
        Some(id) => {
            flags.extend(["--resume".into(), id.into()]);
            Some(id.to_owned())
        }
        None if CONVERSATION.iter().any(|flag| command.has(flag)) => given_id(command),
        None => {
            flags.extend(["--session-id".into(), request.fresh_id.into()]);
            Some(request.fresh_id.to_owned())
        }
    };
    let evidence_sources = evidence_sources(request, command, id);
    if let Some(servers) = request.wanted_servers()? {
        let path = request.dir.join("mcp.json");
        files.push((path.clone(), json!({ "mcpServers": servers }).to_string()));
        flags.extend(["--mcp-config".into(), path.into_os_string()]);
    }
    let mut replaced_in_place = false;
    for piece in &mut command.pieces {
        // The settings take the place of a removed flag: otherwise the next word could become one
        // more value of the flag before it.
        if piece.name.as_deref().is_some_and(|name| name == "settings" || replaced.contains(&name))
        {
            *piece = Piece { name: None, value: None, args: settings_flag.to_vec() };
            replaced_in_place = true;
        }
    }
    if !replaced_in_place {
        flags.extend(settings_flag);
    }
    Ok(LaunchPlan { args: command.with(flags), files, evidence_sources, ..LaunchPlan::default() })
}

/// The conversation that the command names.
fn given_id(command: &Command) -> Option<String> {
    if let Some(id) = command.last("session-id") {
        return Some(id.to_owned());
    }
    let elsewhere = ["fork-session", "continue", "from-pr", "teleport", "cloud"];
    if elsewhere.iter().any(|flag| command.has(flag)) {
        return None;
    }
    // `--resume` also takes search words.
    command.last("resume").filter(|value| is_uuid(value)).map(str::to_owned)
}

/// Whether the text is a UUID with its hyphens, the only form of a conversation's id.
fn is_uuid(text: &str) -> bool {
    text.len() == uuid::fmt::Hyphenated::LENGTH && uuid::Uuid::try_parse(text).is_ok()
}

fn evidence_sources(
    request: &LaunchRequest,
    command: &Command,
    id: Option<String>,
) -> EvidenceSources {
    let config = config_dir(request);
    // In a worktree that it creates itself, Claude uses another project folder.
    let unknown = command.has("no-session-persistence") || command.has("worktree");
    let project = config.as_ref().filter(|_| !unknown).and_then(|config| {
        let slug = slug(request.cwd)?;
        Some(config.join("projects").join(slug))
    });
    let log = project.map(|dir| match id {
        Some(id) => LogLocation::File(dir.join(id + LOG_EXTENSION)),
        None => LogLocation::NewFileIn { dir, ending: LOG_EXTENSION },
    });
    let stdout = command.has("print") && command.last("output-format") == Some("stream-json");
    EvidenceSources { log, registry: config.map(|config| config.join("sessions")), stdout }
}

fn config_dir(request: &LaunchRequest) -> Option<PathBuf> {
    match request.var("CLAUDE_CONFIG_DIR") {
        Some(dir) => Some(request.cwd.join(dir)),
        None => request.var("HOME").map(|home| request.cwd.join(home).join(".claude")),
    }
}

/// The name of a project's folder. Claude counts characters in UTF-16, as JavaScript does.
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

/// Parses a text that must be a JSON object.
fn object(text: &str, what: &str) -> Result<serde_json::Map<String, Value>, String> {
    match serde_json::from_str(text) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => Err(format!("{what} is not a JSON object")),
        Err(error) => Err(format!("{what} is not valid JSON: {error}")),
    }
}
