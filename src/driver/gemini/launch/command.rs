//! Gemini's command line, as far as coop must understand it. What the flags mean for a session is not known here.

use std::ffi::{OsStr, OsString};
use std::path::Path;

/// The flags that take the next argument, by their long names.
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

/// The shells of which a wrapper script may be made.
const SHELLS: [&str; 5] = ["sh", "bash", "dash", "zsh", "ksh"];

/// A command that is Gemini, or that hands its last arguments on to it.
#[derive(Debug)]
pub(super) struct Command {
    /// What is not Gemini's.
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
        let own = own_args(program, args).unwrap_or(args.len());
        let (before, args) = args.split_at_checked(own).unwrap_or((args, &[]));
        let end = args.iter().position(|arg| arg == "--").unwrap_or(args.len());
        let (args, rest) = args.split_at_checked(end).unwrap_or((args, &[]));
        Self { before: before.to_vec(), pieces: pieces(args), rest: rest.to_vec() }
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.named(name).next().is_some()
    }

    /// The value that counts: of a flag given twice, the last.
    pub(super) fn last(&self, name: &str) -> Option<&str> {
        self.named(name).next_back()?.value.as_deref()
    }

    /// It will do something else than talk.
    pub(super) fn is_chore(&self) -> bool {
        let mut words = self.pieces.iter().filter(|piece| piece.name.is_none());
        let first = words.next().and_then(|piece| piece.args.first()).and_then(|word| word.to_str());
        first.is_some_and(|word| CHORES.contains(&word))
    }

    pub(super) fn remove(&mut self, names: &[&str]) {
        self.pieces.retain(|piece| !piece.name.as_deref().is_some_and(|name| names.contains(&name)));
    }

    /// All arguments, with these flags added where Gemini takes them for flags.
    pub(super) fn with(&self, flags: Vec<OsString>) -> Vec<OsString> {
        let own = self.pieces.iter().flat_map(|piece| piece.args.iter().cloned());
        self.before.iter().cloned().chain(own).chain(flags).chain(self.rest.iter().cloned()).collect()
    }

    fn named<'a>(&'a self, name: &str) -> impl DoubleEndedIterator<Item = &'a Piece> {
        self.pieces.iter().filter(move |piece| piece.name.as_deref() == Some(name))
    }
}

/// Where Gemini's own arguments begin, if that can be told.
fn own_args(program: &OsStr, args: &[OsString]) -> Option<usize> {
    if is_program(program, &["gemini"]) {
        return Some(0);
    }
    if is_program(program, &SHELLS)
        && let Some(at) = args.iter().position(|arg| arg == "-c")
    {
        // The script and its name come first.
        return Some((at + 3).min(args.len()));
    }
    args.iter().position(|arg| is_program(arg, &["gemini", "gemini.js", "gemini-cli"])).map(|at| at + 1)
}

fn is_program(path: &OsStr, names: &[&str]) -> bool {
    let name = Path::new(path).file_name().and_then(OsStr::to_str);
    name.is_some_and(|name| names.contains(&name))
}

fn pieces(args: &[OsString]) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut args = args.iter().peekable();
    while let Some(arg) = args.next() {
        let text = arg.to_str().unwrap_or_default();
        let Some((name, value)) = flag(text) else {
            pieces.push(Piece { name: None, value: None, args: vec![arg.clone()] });
            continue;
        };
        let (mut value, mut own) = (value.map(str::to_owned), vec![arg.clone()]);
        let takes = |next: &&OsString| VALUED.contains(&name) && !next.to_string_lossy().starts_with('-');
        if value.is_none()
            && let Some(next) = args.next_if(takes)
        {
            value = next.to_str().map(str::to_owned);
            own.push(next.clone());
        }
        pieces.push(Piece { name: Some(name.to_owned()), value, args: own });
    }
    pieces
}

/// The long name of `--name`, `--name=value`, `-n` or `-n=value`, and the value.
fn flag(text: &str) -> Option<(&str, Option<&str>)> {
    let (text, short) = match text.strip_prefix("--") {
        Some(long) => (long, false),
        None => (text.strip_prefix('-')?, true),
    };
    let (name, value) = match text.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (text, None),
    };
    if !short {
        return (!name.is_empty()).then_some((name, value));
    }
    SHORT.iter().find(|(letter, _)| *letter == name).map(|(_, long)| (*long, value))
}
