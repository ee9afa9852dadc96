//! The settings that Claude is started with: what the command has, what the orchestrator wants, and coop's hooks.
//! Which flag carries them is not known here.

use std::path::Path;

use serde_json::{Map, Value, json};

use super::object;
use crate::driver::claude::ask::ASKING_TOOLS;
use crate::driver::claude::hooks::TOOL_ASKS;
use crate::driver::launch::command::Command;
use crate::driver::launch::{Order, Version};

/// A hook that only tells.
const TELLS: u64 = 2;
/// A hook that waits for coop's word, which never takes longer than this.
const HEARS: u64 = 10;
/// A hook that waits for somebody's answer.
const WAITS: u64 = 86_400;

/// The events that coop hears of, the first version that knows each, and how many seconds its hook may take. A name
/// that a version does not know makes it open a dialog before anything else. The versions were found by looking for
/// the list of names in the published programs, from 1.0.38 to 2.1.325.
const EVENTS: [(&str, Version, u64); 12] = [
    ("PreToolUse", Version(1, 0, 38), TELLS),
    ("PostToolUse", Version(1, 0, 38), TELLS),
    ("Notification", Version(1, 0, 38), TELLS),
    ("Stop", Version(1, 0, 38), HEARS),
    ("PreCompact", Version(1, 0, 48), HEARS),
    ("UserPromptSubmit", Version(1, 0, 53), TELLS),
    ("SessionStart", Version(1, 0, 62), HEARS),
    ("PermissionRequest", Version(2, 0, 45), WAITS),
    ("PostToolUseFailure", Version(2, 0, 56), TELLS),
    ("PostCompact", Version(2, 1, 76), TELLS),
    ("StopFailure", Version(2, 1, 78), TELLS),
    ("PostToolBatch", Version(2, 1, 118), TELLS),
];

/// What an unknown version is taken for.
const OLDEST: Version = Version(2, 0, 0);

/// All layers as one.
pub(super) fn layered(order: &Order, command: &Command) -> Result<Value, String> {
    let mut settings = match command.last("settings") {
        Some(given) => base(order, given)?,
        None => Map::new(),
    };
    if let Some(wanted) = order.wanted_settings()? {
        lay_over(&mut settings, wanted, false);
    }
    let hooks = settings.entry("hooks").or_insert_with(|| json!({}));
    let Some(hooks) = hooks.as_object_mut() else {
        return Err("`hooks` in the settings is no JSON object".to_owned());
    };
    for (event, mut entries) in own_hooks(order, command.has("print"))? {
        match hooks.entry(&event).or_insert_with(|| json!([])) {
            Value::Array(list) => list.append(&mut entries),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => {
                return Err(format!("`hooks.{event}` in the settings is no list"));
            }
        }
    }
    Ok(Value::Object(settings))
}

/// What the command's own flag names: JSON, or a file with it.
fn base(order: &Order, given: &str) -> Result<Map<String, Value>, String> {
    if given.trim_start().starts_with('{') {
        return object(given, "the value of --settings");
    }
    let path = order.cwd.join(Path::new(given));
    let text = (order.read)(&path)
        .map_err(|error| format!("{}, which --settings names, cannot be read: {error}", path.display()))?;
    object(&text, &format!("{}, which --settings names,", path.display()))
}

/// Objects are merged, and a later layer wins; but hooks of several layers are all run, in order.
fn lay_over(settings: &mut Map<String, Value>, layer: &Map<String, Value>, join_lists: bool) {
    for (key, value) in layer {
        match (settings.get_mut(key), value) {
            (Some(Value::Object(under)), Value::Object(over)) => lay_over(under, over, key == "hooks"),
            (Some(Value::Array(list)), Value::Array(more)) if join_lists => list.extend_from_slice(more),
            (Some(_) | None, _) => {
                settings.insert(key.clone(), value.clone());
            }
        }
    }
}

/// coop's own hooks, by event. A Claude that only prints has no dialogs: it refuses what would need one. There, a hook
/// that waits for an answer would hold up a turn that nobody knows to be waiting.
fn own_hooks(order: &Order, prints: bool) -> Result<Vec<(String, Vec<Value>)>, String> {
    let hook = order.hook_command()?;
    let call = |event: &str, seconds: u64| {
        let wait = if seconds == WAITS { " --wait" } else { "" };
        json!([{ "type": "command", "command": format!("{hook} {event}{wait}"), "timeout": seconds }])
    };
    let version = order.version.unwrap_or(OLDEST);
    let known = |event: &str| EVENTS.iter().any(|(name, since, _)| *name == event && *since <= version);
    let mut hooks = Vec::new();
    for (event, _, seconds) in EVENTS.iter().filter(|(event, ..)| known(event)) {
        if prints && *event == "PermissionRequest" {
            continue;
        }
        let mut entries = vec![json!({ "hooks": call(event, *seconds) })];
        if *event == "PreToolUse" && !known("PermissionRequest") && !prints {
            entries.push(json!({ "matcher": ASKING_TOOLS.join("|"), "hooks": call(TOOL_ASKS, TELLS) }));
        }
        hooks.push(((*event).to_owned(), entries));
    }
    Ok(hooks)
}
