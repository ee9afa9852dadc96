//! The parts of Codex's command line that coop must understand. It does not know what the flags
//! mean for a session.

use std::ffi::{OsStr, OsString};

use crate::driver::launch::command::{self, Piece, Syntax};

const SYNTAX: Syntax = Syntax {
    programs: &["codex", "codex.js"],
    trusts_wrappers: true,
    valued: &VALUED,
    maybe_valued: &[],
    short: short_flag,
};

const VALUED: [&str; 19] = [
    "config",
    "enable",
    "disable",
    "remote",
    "remote-auth-token-env",
    "image",
    "model",
    "local-provider",
    "profile",
    "sandbox",
    "cd",
    "add-dir",
    "ask-for-approval",
    "thread-source",
    "output-schema",
    "output-last-message",
    "color",
    "base",
    "commit",
];

/// Short flags with a value, and their names.
const SHORT: [(char, &str); 8] = [
    ('c', "config"),
    ('i', "image"),
    ('m', "model"),
    ('p', "profile"),
    ('s', "sandbox"),
    ('C', "cd"),
    ('a', "ask-for-approval"),
    ('o', "output-last-message"),
];

/// Flags that apply only to the start of a conversation, and are dropped when it is resumed.
const ONLY_AT_START: [&str; 5] = ["image", "last", "all", "include-non-interactive", "worktree"];

/// Subcommands that start an interactive agent, those that run one turn, and the rest.
const INTERACTIVE: [&str; 2] = ["resume", "fork"];
const EXEC: [&str; 3] = ["exec", "e", "review"];
const OTHERS: [&str; 24] = [
    "agents",
    "login",
    "logout",
    "mcp",
    "plugin",
    "app-server",
    "remote-control",
    "completion",
    "update",
    "doctor",
    "sandbox",
    "debug",
    "apply",
    "a",
    "queue",
    "archive",
    "delete",
    "migrate-rollouts",
    "migrate-nfs-db",
    "unarchive",
    "cloud",
    "exec-server",
    "features",
    "help",
];

/// What the command is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// An interactive agent on the terminal.
    Interactive,
    /// A single turn.
    Exec,
    Other,
}

#[derive(Debug)]
pub(super) struct Command(command::Command);

impl Command {
    pub(super) fn read(program: &OsStr, args: &[OsString]) -> Self {
        Self(command::Command::read(&SYNTAX, program, args))
    }

    pub(super) fn form(&self) -> Form {
        match self.0.first_word() {
            Some(word) if OTHERS.contains(&word) => Form::Other,
            Some(word) if EXEC.contains(&word) => Form::Exec,
            // Any other word is the first prompt.
            Some(word) if INTERACTIVE.contains(&word) => Form::Interactive,
            Some(_) | None if ["help", "version"].iter().any(|flag| self.has(flag)) => Form::Other,
            Some(_) | None => Form::Interactive,
        }
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.0.has(name)
    }

    pub(super) fn prints_json(&self) -> bool {
        self.form() == Form::Exec && (self.has("json") || self.has("experimental-json"))
    }

    /// Whether the command sets something in this table of the configuration.
    pub(super) fn sets(&self, table: &str) -> bool {
        self.settings().any(|(key, _)| key.split('.').next() == Some(table))
    }

    pub(super) fn has_hooks_off(&self) -> bool {
        let disabled = self.0.named("disable").any(|piece| piece.value.as_deref() == Some("hooks"));
        disabled
            || self
                .settings()
                .any(|(key, value)| key == "features.hooks" && value.trim() == "false")
    }

    /// All arguments, with these flags before those of the command.
    pub(super) fn with(&self, flags: Vec<OsString>) -> Vec<OsString> {
        let mut args = self.with_pieces(flags, |_| true);
        args.extend(self.0.rest.iter().cloned());
        args
    }

    /// The arguments that resume a conversation: the command's flags without its first prompt.
    pub(super) fn resuming(&self, flags: Vec<OsString>, id: &str) -> Vec<OsString> {
        let kept = |piece: &Piece| {
            piece.name.as_deref().is_some_and(|name| !ONLY_AT_START.contains(&name))
        };
        let mut args = self.with_pieces(flags, kept);
        args.extend(["resume".into(), id.into()]);
        args
    }

    fn with_pieces(&self, flags: Vec<OsString>, kept: impl Fn(&Piece) -> bool) -> Vec<OsString> {
        let own = self
            .0
            .pieces
            .iter()
            .filter(|piece| kept(piece))
            .flat_map(|piece| piece.args.iter().cloned());
        self.0.before.iter().cloned().chain(flags).chain(own).collect()
    }

    fn settings(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.named("config").filter_map(|piece| piece.value.as_deref()?.split_once('='))
    }
}

/// The name of a one-dash flag, and its value if it is in the same word.
fn short_flag(text: &str) -> (Vec<&str>, Option<&str>) {
    let mut letters = text.chars();
    let Some(letter) = letters.next() else { return (Vec::new(), None) };
    match SHORT.iter().find(|(short, _)| *short == letter) {
        Some((_, name)) => {
            let value = Some(letters.as_str()).filter(|value| !value.is_empty());
            (vec![name], value.map(|value| value.trim_start_matches('=')))
        }
        None if letter == 'h' => (vec!["help"], None),
        None if letter == 'V' => (vec!["version"], None),
        None => (vec![text], None),
    }
}
