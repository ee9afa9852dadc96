//! What the payloads of hooks have in common, whatever the event: agents took their form over from one another. What an
//! event means is not known here.

use serde_json::Value;

use super::evidence::Fact;

/// What every payload says beside its event.
pub fn circumstances(payload: &Value) -> impl Iterator<Item = Fact> {
    let text = |key: &str| payload[key].as_str().filter(|text| !text.is_empty()).map(str::to_owned);
    let conversation =
        text("session_id").map(|id| Fact::Conversation { id, transcript: text("transcript_path") });
    let mode = text("permission_mode").map(Fact::PermissionMode);
    [conversation, mode, text("cwd").map(Fact::Cwd)].into_iter().flatten()
}

/// The tool that it is about, and the tool's input.
pub fn tool(payload: &Value) -> Option<(&str, &Value)> {
    payload["tool_name"].as_str().map(|tool| (tool, &payload["tool_input"]))
}
