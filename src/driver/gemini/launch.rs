//! Plans the launch of Gemini: its flags, the extension with coop's hooks, and where its log will
//! be. It reads files only through the request, and writes none.
//!
//! Settings take effect only for root: Gemini ignores the file that its variable names unless only
//! root can write that file and every directory above it.

mod command;
mod extension;
mod settings;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

use serde_json::Value;

use crate::driver::launch::command::Command;
use crate::driver::launch::{
    EvidenceSources, Groom, LaunchPlan, LaunchRequest, LogLocation, Version,
};

/// The first version that is known to take an id for a new conversation.
const TAKES_ID: Version = Version(0, 61, 0);
/// The ending of conversation files.
const LOG_EXTENSION: &str = ".jsonl";
/// The flags that select the conversation, and those that start none.
const CONVERSATION: [&str; 2] = ["session-id", "resume"];
const NO_CONVERSATION: [&str; 6] =
    ["list-sessions", "delete-session", "acp", "experimental-acp", "version", "help"];

pub(super) fn plan(request: &LaunchRequest) -> Result<LaunchPlan, String> {
    let mut command = Command::read(&command::SYNTAX, request.program, request.args);
    let evidence_sources = evidence_sources(request, &command);
    match request.groom {
        Groom::Pristine => {
            let hooks_unavailable = Some("the command is run as it was given".to_owned());
            Ok(LaunchPlan {
                args: request.args.to_vec(),
                evidence_sources,
                hooks_unavailable,
                ..LaunchPlan::default()
            })
        }
        Groom::Auto | Groom::Manual if command::starts_no_agent(&command) => {
            let hooks_unavailable = Some("the command starts no agent that has hooks".to_owned());
            Ok(LaunchPlan {
                args: request.args.to_vec(),
                hooks_unavailable,
                ..LaunchPlan::default()
            })
        }
        Groom::Auto | Groom::Manual => {
            let mut env =
                BTreeMap::from([(extension::PROGRAM.into(), request.hook.as_os_str().to_owned())]);
            let files = settings::merged(request, &mut env)?;
            let shared_dir = home(request).map(|home| extension::shared_dir(&home));
            let hooks_unavailable = hooks_unavailable(request, &command);
            let args = with_conversation(request, &mut command);
            Ok(LaunchPlan { args, env, files, shared_dir, evidence_sources, hooks_unavailable })
        }
    }
}

/// Why coop will get no hook calls, if that is so.
fn hooks_unavailable(request: &LaunchRequest, command: &Command) -> Option<String> {
    let why = match home(request) {
        None => "there is no home directory to install them in",
        Some(_) if command.has("extensions") => {
            "the command names the extensions to use, and coop's is not among them"
        }
        Some(_) => return None,
    };
    Some(why.to_owned())
}

fn with_conversation(request: &LaunchRequest, command: &mut Command) -> Vec<OsString> {
    if let Some(id) = request.resume {
        let selects = |name: &str| CONVERSATION.contains(&name);
        command.pieces.retain(|piece| !piece.name.as_deref().is_some_and(selects));
        return command.with(vec!["--resume".into(), id.into()]);
    }
    let has_conversation =
        CONVERSATION.iter().chain(&NO_CONVERSATION).any(|flag| command.has(flag));
    let takes_id = request.version.is_some_and(|version| version >= TAKES_ID);
    if has_conversation || !takes_id {
        return command.with(Vec::new());
    }
    command.with(vec!["--session-id".into(), request.fresh_id.into()])
}

fn evidence_sources(request: &LaunchRequest, command: &Command) -> EvidenceSources {
    let stdout = command.last("output-format") == Some("stream-json");
    let chats = home(request).and_then(|home| {
        let slug = known_slug(request, &home)?;
        Some(home.join("tmp").join(slug).join("chats"))
    });
    // For a resumed conversation and for a new folder, the hooks report the file.
    let log = chats
        .filter(|_| request.resume.is_none() && !command.has("resume"))
        .map(|dir| LogLocation::NewFileIn { dir, ending: LOG_EXTENSION });
    EvidenceSources { log, registry: None, stdout }
}

/// Gemini's directory in the user's home.
fn home(request: &LaunchRequest) -> Option<PathBuf> {
    let home = request.var("GEMINI_CLI_HOME").or_else(|| request.var("HOME"))?;
    Some(request.cwd.join(home).join(".gemini"))
}

/// Gemini's name for this folder, if it has one already.
fn known_slug(request: &LaunchRequest, home: &std::path::Path) -> Option<String> {
    let text = (request.read)(&home.join("projects.json")).ok()?;
    let known: Value = serde_json::from_str(&text).ok()?;
    let slug = known.get("projects")?.get(request.cwd.to_str()?)?.as_str()?;
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    (!slug.is_empty() && !slug.starts_with('.') && slug.chars().all(plain)).then(|| slug.to_owned())
}
