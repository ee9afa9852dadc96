//! The parts of Claude's command line that coop must understand. It does not know what the flags
//! mean for a session.

use crate::driver::launch::command::Syntax;

pub(super) const SYNTAX: Syntax = Syntax {
    programs: &["claude", "claude.exe"],
    trusts_wrappers: true,
    valued: &VALUED,
    maybe_valued: &["resume", "from-pr", "teleport"],
    short: short_flags,
};

const VALUED: [&str; 31] = [
    "agent",
    "agents",
    "append-system-prompt",
    "append-system-prompt-file",
    "autocompact",
    "debug-file",
    "effort",
    "environment",
    "fallback-model",
    "input-format",
    "json-schema",
    "max-budget-usd",
    "max-thinking-tokens",
    "max-turns",
    "model",
    "name",
    "output-format",
    "permission-mode",
    "permission-prompt-tool",
    "permission-prompts",
    "plugin-dir",
    "plugin-url",
    "remote-control-session-name-prefix",
    "session-id",
    "setting-sources",
    "settings",
    "system-prompt",
    "system-prompt-file",
    "system-prompt-snapshot",
    "team-name",
    "teammate-mode",
];

/// Short flags and their names.
const SHORT: [(char, &str); 6] = [
    ('p', "print"),
    ('c', "continue"),
    ('r', "resume"),
    ('n', "name"),
    ('w', "worktree"),
    ('d', "debug"),
];

/// The names of `-p`, `-pc` or `-rID`, and the value of the last one if it is in the same word.
fn short_flags(letters: &str) -> (Vec<&str>, Option<&str>) {
    let mut names = Vec::new();
    let mut letters = letters.chars();
    while let Some(letter) = letters.next() {
        let Some((_, name)) = SHORT.iter().find(|(short, _)| *short == letter) else {
            return (Vec::new(), None);
        };
        names.push(*name);
        if !matches!(*name, "print" | "continue") {
            return (names, Some(letters.as_str()).filter(|value| !value.is_empty()));
        }
    }
    (names, None)
}
