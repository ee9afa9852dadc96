//! Codex's command line, as far as coop must understand it. What the flags mean for a session is not known here.

use std::ffi::{OsStr, OsString};
use std::path::Path;

/// The flags that take the next argument, whatever it looks like.
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

/// What is no flag of a conversation that goes on, but of the one that it replaces.
const OF_THE_START: [&str; 5] = ["image", "last", "all", "include-non-interactive", "worktree"];

/// Subcommands that start an agent on the terminal, and those that run one turn.
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

/// The shells of which a wrapper script may be made.
const SHELLS: [&str; 5] = ["sh", "bash", "dash", "zsh", "ksh"];

/// What the command is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// An agent on the terminal.
    Interactive,
    /// One turn, and its end.
    Exec,
    Other,
}

/// A command that is Codex, or that hands its arguments on to it.
#[derive(Debug)]
pub(super) struct Command {
    /// What is not Codex's.
    before: Vec<OsString>,
    pieces: Vec<Piece>,
    /// From a bare `--` on.
    rest: Vec<OsString>,
}

/// A flag with its value, or a word; always with the arguments that it is made of.
#[derive(Debug)]
struct Piece {
    name: Option<String>,
    value: Option<String>,
    args: Vec<OsString>,
}

impl Command {
    pub(super) fn read(program: &OsStr, args: &[OsString]) -> Self {
        let own = own_args(program, args);
        let (before, args) = args.split_at_checked(own).unwrap_or((args, &[]));
        let end = args.iter().position(|arg| arg == "--").unwrap_or(args.len());
        let (args, rest) = args.split_at_checked(end).unwrap_or((args, &[]));
        Self { before: before.to_vec(), pieces: pieces(args), rest: rest.to_vec() }
    }

    pub(super) fn form(&self) -> Form {
        match self.words().next() {
            Some(word) if OTHERS.contains(&word) => Form::Other,
            Some(word) if EXEC.contains(&word) => Form::Exec,
            // Any other word is what the agent is to begin with.
            Some(word) if INTERACTIVE.contains(&word) => Form::Interactive,
            Some(_) | None if ["help", "version"].iter().any(|flag| self.has(flag)) => Form::Other,
            Some(_) | None => Form::Interactive,
        }
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.named(name).next().is_some()
    }

    pub(super) fn prints_json(&self) -> bool {
        self.form() == Form::Exec && (self.has("json") || self.has("experimental-json"))
    }

    /// Whether the command sets something in this table of the configuration.
    pub(super) fn sets(&self, table: &str) -> bool {
        self.settings().any(|(key, _)| key.split('.').next() == Some(table))
    }

    pub(super) fn has_hooks_off(&self) -> bool {
        let disabled = self.named("disable").any(|piece| piece.value.as_deref() == Some("hooks"));
        disabled || self.settings().any(|(key, value)| key == "features.hooks" && value.trim() == "false")
    }

    /// All arguments, with these flags before Codex's own.
    pub(super) fn with(&self, flags: Vec<OsString>) -> Vec<OsString> {
        let own = self.pieces.iter().flat_map(|piece| piece.args.iter().cloned());
        self.before.iter().cloned().chain(flags).chain(own).chain(self.rest.iter().cloned()).collect()
    }

    /// The command that goes on with a conversation: its flags, and none of what it began with.
    pub(super) fn resuming(&self, flags: Vec<OsString>, id: &str) -> Vec<OsString> {
        let kept = |piece: &&Piece| piece.name.as_deref().is_some_and(|name| !OF_THE_START.contains(&name));
        let own = self.pieces.iter().filter(kept).flat_map(|piece| piece.args.iter().cloned());
        let resume = ["resume".into(), id.into()];
        self.before.iter().cloned().chain(flags).chain(own).chain(resume).collect()
    }

    fn named<'a>(&'a self, name: &str) -> impl Iterator<Item = &'a Piece> {
        self.pieces.iter().filter(move |piece| piece.name.as_deref() == Some(name))
    }

    fn words(&self) -> impl Iterator<Item = &str> {
        let words = self.pieces.iter().filter(|piece| piece.name.is_none());
        words.filter_map(|piece| piece.args.first()?.to_str())
    }

    fn settings(&self) -> impl Iterator<Item = (&str, &str)> {
        self.named("config").filter_map(|piece| piece.value.as_deref()?.split_once('='))
    }
}

/// Where Codex's own arguments begin.
fn own_args(program: &OsStr, args: &[OsString]) -> usize {
    if is_program(program, &["codex"]) {
        return 0;
    }
    if is_program(program, &SHELLS)
        && let Some(at) = args.iter().position(|arg| arg == "-c")
    {
        // The script and its name come first.
        return (at + 3).min(args.len());
    }
    args.iter().position(|arg| is_program(arg, &["codex"])).map_or(0, |at| at + 1)
}

fn is_program(path: &OsStr, names: &[&str]) -> bool {
    let name = Path::new(path).file_name().and_then(OsStr::to_str);
    name.is_some_and(|name| names.contains(&name.strip_suffix(".js").unwrap_or(name)))
}

fn pieces(args: &[OsString]) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        let (name, mut value) = flag(arg.to_str().unwrap_or_default());
        let mut own = vec![arg.clone()];
        if value.is_none()
            && name.as_deref().is_some_and(|name| VALUED.contains(&name))
            && let Some(next) = args.next()
        {
            value = next.to_str().map(str::to_owned);
            own.push(next.clone());
        }
        pieces.push(Piece { name, value, args: own });
    }
    pieces
}

/// The name of a flag, and the value that it has in the same word.
fn flag(text: &str) -> (Option<String>, Option<String>) {
    if let Some(long) = text.strip_prefix("--") {
        return match long.split_once('=') {
            Some((name, value)) => (Some(name.to_owned()), Some(value.to_owned())),
            None => (Some(long.to_owned()), None),
        };
    }
    let mut letters = match text.strip_prefix('-') {
        Some(letters) if !letters.is_empty() => letters.chars(),
        Some(_) | None => return (None, None),
    };
    let letter = letters.next();
    let short = SHORT.iter().find(|(short, _)| Some(*short) == letter).map(|(_, name)| *name);
    match (short, letter) {
        (Some(name), _) => {
            let value = Some(letters.as_str()).filter(|value| !value.is_empty());
            (Some(name.to_owned()), value.map(|value| value.trim_start_matches('=').to_owned()))
        }
        (None, Some('h')) => (Some("help".to_owned()), None),
        (None, Some('V')) => (Some("version".to_owned()), None),
        (None, _) => (Some(text.trim_start_matches('-').to_owned()), None),
    }
}
