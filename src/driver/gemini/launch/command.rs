//! Gemini's command line, as far as coop must understand it. What the flags mean for a session is not known here.

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

/// What Gemini does instead of talking, if it is the first word.
const CHORES: [&str; 6] = ["mcp", "extensions", "extension", "skills", "skill", "hooks"];

/// It will do something else than talk.
pub(super) fn is_chore(command: &Command) -> bool {
    command.first_word().is_some_and(|word| CHORES.contains(&word))
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
