//! The parts of Gemini's command line that coop must understand. It does not know what the flags
//! mean for a session.

use crate::driver::launch::command::{Command, Syntax};

pub(super) const SYNTAX: Syntax = Syntax {
    programs: &["gemini", "gemini.js", "gemini-cli"],
    trusts_wrappers: false,
    valued: &[],
    maybe_valued: &VALUED,
    short: short_flag,
};

const VALUED: [&str; 15] = [
    "model",
    "prompt",
    "prompt-interactive",
    "approval-mode",
    "policy",
    "admin-policy",
    "allowed-mcp-server-names",
    "allowed-tools",
    "extensions",
    "resume",
    "session-id",
    "delete-session",
    "include-directories",
    "output-format",
    "worktree",
];

/// Short flags and their names.
const SHORT: [(&str, &str); 13] = [
    ("d", "debug"),
    ("h", "help"),
    ("v", "version"),
    ("m", "model"),
    ("p", "prompt"),
    ("i", "prompt-interactive"),
    ("s", "sandbox"),
    ("y", "yolo"),
    ("e", "extensions"),
    ("l", "list-extensions"),
    ("r", "resume"),
    ("o", "output-format"),
    ("w", "worktree"),
];

/// Subcommands that start no agent.
const NO_AGENT: [&str; 6] = ["mcp", "extensions", "extension", "skills", "skill", "hooks"];

/// Whether the command starts no agent.
pub(super) fn starts_no_agent(command: &Command) -> bool {
    command.first_word().is_some_and(|word| NO_AGENT.contains(&word))
}

/// The name of `-n` or `-n=value`, and the value.
fn short_flag(text: &str) -> (Vec<&str>, Option<&str>) {
    let (letter, value) = match text.split_once('=') {
        Some((letter, value)) => (letter, Some(value)),
        None => (text, None),
    };
    match SHORT.iter().find(|(short, _)| *short == letter) {
        Some((_, name)) => (vec![name], value),
        None => (Vec::new(), None),
    }
}
