//! The fields that the hook payloads of all agents share. It does not know what an event means.

use serde_json::Value;

use super::evidence::Fact;

/// The facts that every payload has, independent of its event.
pub(super) fn common_facts(payload: &Value) -> impl Iterator<Item = Fact> {
    let text = |key: &str| payload[key].as_str().filter(|text| !text.is_empty()).map(str::to_owned);
    let conversation =
        text("session_id").map(|id| Fact::Conversation { id, transcript: text("transcript_path") });
    let mode = text("permission_mode").map(Fact::PermissionMode);
    [conversation, mode, text("cwd").map(Fact::Cwd)].into_iter().flatten()
}

/// The tool that the payload is about, and its input.
pub(super) fn tool(payload: &Value) -> Option<(&str, &Value)> {
    payload["tool_name"].as_str().map(|tool| (tool, &payload["tool_input"]))
}
