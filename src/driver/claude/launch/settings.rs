//! Merges Claude's settings: those of the command, those of the orchestrator, and coop's hooks. It
//! does not know which flag passes them.

use std::path::Path;

use serde_json::{Map, Value, json};

use super::object;
use crate::driver::claude::ask::ASKING_TOOLS;
use crate::driver::claude::hooks::TOOL_ASKS;
use crate::driver::launch::command::Command;
use crate::driver::launch::{LaunchRequest, Version};

/// Seconds for a hook that only reports.
const REPORT: u64 = 2;
/// Seconds for a hook that waits for coop's decision, which always comes earlier.
const DECISION: u64 = 10;
/// Seconds for a hook that waits for a user's answer.
const ANSWER: u64 = 86_400;

/// The hooked events, the first version that knows each, and the timeout of its hook in seconds. An
/// event name that a version does not know makes it open a dialog at its start. The versions come
/// from a search for the names in the published programs 1.0.38 to 2.1.325.
const EVENTS: [(&str, Version, u64); 12] = [
    ("PreToolUse", Version(1, 0, 38), REPORT),
    ("PostToolUse", Version(1, 0, 38), REPORT),
    ("Notification", Version(1, 0, 38), REPORT),
    ("Stop", Version(1, 0, 38), DECISION),
    ("PreCompact", Version(1, 0, 48), DECISION),
    ("UserPromptSubmit", Version(1, 0, 53), REPORT),
    ("SessionStart", Version(1, 0, 62), DECISION),
    ("PermissionRequest", Version(2, 0, 45), ANSWER),
    ("PostToolUseFailure", Version(2, 0, 56), REPORT),
    ("PostCompact", Version(2, 1, 76), REPORT),
    ("StopFailure", Version(2, 1, 78), REPORT),
    ("PostToolBatch", Version(2, 1, 118), REPORT),
];

/// The assumed version if it is unknown.
const OLDEST: Version = Version(2, 0, 0);

/// All layers in one object.
pub(super) fn merged(request: &LaunchRequest, command: &Command) -> Result<Value, String> {
    let mut settings = match command.last("settings") {
        Some(given) => base(request, given)?,
        None => Map::new(),
    };
    if let Some(wanted) = request.wanted_settings()? {
        merge(&mut settings, wanted, false);
    }
    let hooks = settings.entry("hooks").or_insert_with(|| json!({}));
    let Some(hooks) = hooks.as_object_mut() else {
        return Err("`hooks` in the settings is not a JSON object".to_owned());
    };
    for (event, mut entries) in own_hooks(request, command.has("print"))? {
        match hooks.entry(&event).or_insert_with(|| json!([])) {
            Value::Array(list) => list.append(&mut entries),
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)
            | Value::Object(_) => {
                return Err(format!("`hooks.{event}` in the settings is not a list"));
            }
        }
    }
    Ok(Value::Object(settings))
}

/// The settings that the command's own flag passes: JSON, or the path of a file.
fn base(request: &LaunchRequest, given: &str) -> Result<Map<String, Value>, String> {
    if given.trim_start().starts_with('{') {
        return object(given, "the value of --settings");
    }
    let path = request.cwd.join(Path::new(given));
    let text = (request.read)(&path).map_err(|error| {
        format!("cannot read {}, which --settings names: {error}", path.display())
    })?;
    object(&text, &format!("{}, which --settings names,", path.display()))
}

/// Merges objects; values of the later layer win, except that hooks of all layers run, in order.
fn merge(settings: &mut Map<String, Value>, layer: &Map<String, Value>, join_lists: bool) {
    for (key, value) in layer {
        match (settings.get_mut(key), value) {
            (Some(Value::Object(under)), Value::Object(over)) => merge(under, over, key == "hooks"),
            (Some(Value::Array(list)), Value::Array(more)) if join_lists => {
                list.extend_from_slice(more);
            }
            (Some(_) | None, _) => {
                settings.insert(key.clone(), value.clone());
            }
        }
    }
}

/// coop's own hooks, by event. With `--print`, Claude has no dialogs and refuses what would need
/// one; a hook that waits for an answer would block the turn with no dialog on screen.
fn own_hooks(request: &LaunchRequest, prints: bool) -> Result<Vec<(String, Vec<Value>)>, String> {
    let hook = request.hook_command()?;
    let call = |event: &str, seconds: u64| {
        let wait = if seconds == ANSWER { " --wait" } else { "" };
        let command = format!("{hook} {event}{wait}");
        json!([{ "type": "command", "command": command, "timeout": seconds }])
    };
    let version = request.version.unwrap_or(OLDEST);
    let known =
        |event: &str| EVENTS.iter().any(|(name, since, _)| *name == event && *since <= version);
    let mut hooks = Vec::new();
    for (event, _, seconds) in EVENTS.iter().filter(|(event, ..)| known(event)) {
        if prints && *event == "PermissionRequest" {
            continue;
        }
        let mut entries = vec![json!({ "hooks": call(event, *seconds) })];
        if *event == "PreToolUse" && !known("PermissionRequest") && !prints {
            entries.push(
                json!({ "matcher": ASKING_TOOLS.join("|"), "hooks": call(TOOL_ASKS, REPORT) }),
            );
        }
        hooks.push(((*event).to_owned(), entries));
    }
    Ok(hooks)
}
