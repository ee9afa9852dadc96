//! How Gemini is started so that it can be heard: its flags, the extension that carries coop's hooks, and where it leaves
//! traces. Nothing is read or written here but through the order.
//!
//! Settings can be given only to root: the file that a variable names is skipped unless root alone can write it and
//! every directory above it.

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
use crate::driver::launch::{Groom, LogPlace, Order, Outfit, Traces, Version};

/// The first version that is known to take an id for a new conversation.
const TAKES_ID: Version = Version(0, 61, 0);
/// How the files of conversations end.
const LOG_ENDING: &str = ".jsonl";
/// Which flags decide what conversation it will be, or that there is none.
const CONVERSATION: [&str; 2] = ["session-id", "resume"];
const NO_CONVERSATION: [&str; 6] =
    ["list-sessions", "delete-session", "acp", "experimental-acp", "version", "help"];

pub(super) fn outfit(order: &Order) -> Result<Outfit, String> {
    let mut command = Command::read(&command::SYNTAX, order.program, order.args);
    let traces = traces(order, &command);
    match order.groom {
        Groom::Pristine => {
            let unheard = Some("the command is run as it was given".to_owned());
            Ok(Outfit { args: order.args.to_vec(), traces, unheard, ..Outfit::default() })
        }
        Groom::Auto | Groom::Manual if command::is_chore(&command) => {
            let unheard = Some("the command starts no agent that has hooks".to_owned());
            Ok(Outfit { args: order.args.to_vec(), unheard, ..Outfit::default() })
        }
        Groom::Auto | Groom::Manual => {
            let mut env = BTreeMap::from([(extension::PROGRAM.into(), order.hook.as_os_str().to_owned())]);
            let files = settings::layered(order, &mut env)?;
            let shared = home(order).map(|home| extension::shared(&home));
            let unheard = unheard(order, &command);
            let args = with_conversation(order, &mut command);
            Ok(Outfit { args, env, files, shared, traces, unheard })
        }
    }
}

/// Why no hook will be heard of, if none will.
fn unheard(order: &Order, command: &Command) -> Option<String> {
    let why = match home(order) {
        None => "there is no home directory to install them in",
        Some(_) if command.has("extensions") => {
            "the command names the extensions to use, and coop's is not among them"
        }
        Some(_) => return None,
    };
    Some(why.to_owned())
}

fn with_conversation(order: &Order, command: &mut Command) -> Vec<OsString> {
    if let Some(id) = order.resume {
        let settles = |name: &str| CONVERSATION.contains(&name);
        command.pieces.retain(|piece| !piece.name.as_deref().is_some_and(settles));
        return command.with(vec!["--resume".into(), id.into()]);
    }
    let settled = CONVERSATION.iter().chain(&NO_CONVERSATION).any(|flag| command.has(flag));
    let takes_id = order.version.is_some_and(|version| version >= TAKES_ID);
    if settled || !takes_id {
        return command.with(Vec::new());
    }
    command.with(vec!["--session-id".into(), order.fresh_id.into()])
}

fn traces(order: &Order, command: &Command) -> Traces {
    let stdout = command.last("output-format") == Some("stream-json");
    let chats = home(order).and_then(|home| {
        let slug = known_slug(order, &home)?;
        Some(home.join("tmp").join(slug).join("chats"))
    });
    // Of a conversation that is gone on with, the hooks tell the file; and so they do for a folder that is new.
    let log = chats
        .filter(|_| order.resume.is_none() && !command.has("resume"))
        .map(|dir| LogPlace::NewIn { dir, ending: LOG_ENDING });
    Traces { log, registry: None, stdout }
}

/// Where Gemini keeps what belongs to the user.
fn home(order: &Order) -> Option<PathBuf> {
    let home = order.var("GEMINI_CLI_HOME").or_else(|| order.var("HOME"))?;
    Some(order.cwd.join(home).join(".gemini"))
}

/// What Gemini calls this folder, if it has seen it before.
fn known_slug(order: &Order, home: &std::path::Path) -> Option<String> {
    let text = (order.read)(&home.join("projects.json")).ok()?;
    let known: Value = serde_json::from_str(&text).ok()?;
    let slug = known.get("projects")?.get(order.cwd.to_str()?)?.as_str()?;
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    (!slug.is_empty() && !slug.starts_with('.') && slug.chars().all(plain)).then(|| slug.to_owned())
}
