//! coop's hooks in Codex's configuration, with the hash that makes Codex trust them without a
//! dialog. Other hooks, such as those of a repository, stay untrusted: Codex asks about them as
//! usual.
//!
//! Codex runs a hook only if its configuration holds the hook's hash, which its own dialog writes
//! there: SHA-256 over the hook as JSON with sorted keys and no whitespace, under a key made of the
//! hook's source, its event and its position in the lists. This format was found by trusting hooks
//! through the dialog and reading what Codex wrote.

use std::fmt::Write as _;

use super::toml;
use crate::driver::launch::LaunchRequest;

/// Seconds for a hook that only reports. For some events Codex reduces values above 3, which
/// changes the hash.
const REPORT: u64 = 2;
/// Seconds for a hook that waits for coop's decision, which always comes earlier.
const DECISION: u64 = 10;

/// The hooked events, their names in the hash, and the timeout of each hook in seconds.
const EVENTS: [(&str, &str, u64); 9] = [
    ("SessionStart", "session_start", DECISION),
    ("UserPromptSubmit", "user_prompt_submit", REPORT),
    ("PreToolUse", "pre_tool_use", REPORT),
    ("PermissionRequest", "permission_request", REPORT),
    ("PostToolUse", "post_tool_use", REPORT),
    ("PreCompact", "pre_compact", DECISION),
    ("Stop", "stop", DECISION),
    ("Interrupt", "interrupt", REPORT),
    ("SessionEnd", "session_end", REPORT),
];

/// Keys and values for `-c`.
pub(super) fn settings(request: &LaunchRequest) -> Result<Vec<(String, String)>, String> {
    let hook = request.hook_command()?;
    let mut settings = Vec::new();
    let mut trusted = Vec::new();
    for (event, label, seconds) in EVENTS {
        let command = format!("{hook} {event}");
        let handler =
            format!(r#"{{type="command",command={},timeout={seconds}}}"#, toml::string(&command));
        settings.push((format!("hooks.{event}"), format!("[{{hooks=[{handler}]}}]")));
        let key = toml::string(&format!("/<session-flags>/config.toml:{label}:0:0"));
        let hash = toml::string(&hash(label, &command, seconds));
        trusted.push(format!("{key}={{trusted_hash={hash}}}"));
    }
    settings.push(("hooks.state".to_owned(), format!("{{{}}}", trusted.join(","))));
    Ok(settings)
}

/// The hash by which Codex recognises a trusted hook.
fn hash(label: &str, command: &str, seconds: u64) -> String {
    let command = serde_json::Value::from(command);
    let handler =
        format!(r#"{{"async":false,"command":{command},"timeout":{seconds},"type":"command"}}"#);
    let hook = format!(r#"{{"event_name":"{label}","hooks":[{handler}]}}"#);
    let digest = ring::digest::digest(&ring::digest::SHA256, hook.as_bytes());
    let mut hash = String::from("sha256:");
    for byte in digest.as_ref() {
        let written = write!(hash, "{byte:02x}");
        // Writing into a String cannot fail.
        debug_assert!(written.is_ok());
    }
    hash
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_matches_the_one_of_codex() {
        let written = "sha256:6c1a78c8095c62f49b09f3c5c815318b4b8f78ae6e346c9fbdfb99282752128b";
        assert_eq!(hash("stop", "/bin/true a", 10), written);
        let written = "sha256:acaf2f6330984ab5f610111bcbbd1d3acdb97b6f3e57c65ff7e17b087cbabdd5";
        assert_eq!(hash("interrupt", "/bin/true b", 3), written);
    }
}
