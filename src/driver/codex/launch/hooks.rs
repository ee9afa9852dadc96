//! coop's hooks in Codex's configuration, and the proof that lets Codex run them unasked. Other hooks, a repository's
//! above all, stay untrusted: Codex asks about them as ever.
//!
//! Codex runs a hook only if its configuration holds the hash of it, which is what its own dialog writes there: SHA-256
//! over the hook as JSON, keys sorted and no blanks, under a key made of where the hook was configured, its event and
//! its place in the lists. This was found by trusting hooks through the dialog and looking at what was written.

use std::fmt::Write as _;

use super::toml;
use crate::driver::launch::Order;

/// A hook that only tells. Codex shortens what takes longer than 3 seconds at some events, which changes the hash.
const TELLS: u64 = 2;
/// A hook that waits for coop's word, which never takes longer than this.
const HEARS: u64 = 10;

/// The events that coop hears of, what they are called in a hash, and how many seconds the hook may take.
const EVENTS: [(&str, &str, u64); 9] = [
    ("SessionStart", "session_start", HEARS),
    ("UserPromptSubmit", "user_prompt_submit", TELLS),
    ("PreToolUse", "pre_tool_use", TELLS),
    ("PermissionRequest", "permission_request", TELLS),
    ("PostToolUse", "post_tool_use", TELLS),
    ("PreCompact", "pre_compact", HEARS),
    ("Stop", "stop", HEARS),
    ("Interrupt", "interrupt", TELLS),
    ("SessionEnd", "session_end", TELLS),
];

/// Keys and values for `-c`.
pub(super) fn settings(order: &Order) -> Result<Vec<(String, String)>, String> {
    let hook = order.hook_command()?;
    let mut settings = Vec::new();
    let mut trusted = Vec::new();
    for (event, label, seconds) in EVENTS {
        let command = format!("{hook} {event}");
        let handler = format!(r#"{{type="command",command={},timeout={seconds}}}"#, toml::string(&command));
        settings.push((format!("hooks.{event}"), format!("[{{hooks=[{handler}]}}]")));
        let key = toml::string(&format!("/<session-flags>/config.toml:{label}:0:0"));
        let hash = toml::string(&hash(label, &command, seconds));
        trusted.push(format!("{key}={{trusted_hash={hash}}}"));
    }
    settings.push(("hooks.state".to_owned(), format!("{{{}}}", trusted.join(","))));
    Ok(settings)
}

/// What Codex knows a trusted hook by.
fn hash(label: &str, command: &str, seconds: u64) -> String {
    let command = serde_json::Value::from(command);
    let hook = format!(
        r#"{{"event_name":"{label}","hooks":[{{"async":false,"command":{command},"timeout":{seconds},"type":"command"}}]}}"#
    );
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
    fn the_hash_is_the_one_that_codex_writes() {
        let written = "sha256:6c1a78c8095c62f49b09f3c5c815318b4b8f78ae6e346c9fbdfb99282752128b";
        assert_eq!(hash("stop", "/bin/true a", 10), written);
        let written = "sha256:acaf2f6330984ab5f610111bcbbd1d3acdb97b6f3e57c65ff7e17b087cbabdd5";
        assert_eq!(hash("interrupt", "/bin/true b", 3), written);
    }
}
