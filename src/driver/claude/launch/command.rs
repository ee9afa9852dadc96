//! Claude's command line, as far as coop must understand it. What the flags mean for a session is not known here.

use std::ffi::{OsStr, OsString};
use std::path::Path;

/// The flags that take the next argument, whatever it looks like.
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

/// The flags that take the next argument unless it looks like a flag.
const MAYBE_VALUED: [&str; 3] = ["resume", "from-pr", "teleport"];

/// Short flags and their names.
const SHORT: [(char, &str); 6] =
    [('p', "print"), ('c', "continue"), ('r', "resume"), ('n', "name"), ('w', "worktree"), ('d', "debug")];

/// The shells of which a wrapper script may be made.
const SHELLS: [&str; 5] = ["sh", "bash", "dash", "zsh", "ksh"];

/// A command that is Claude, or that hands its last arguments on to it.
#[derive(Debug)]
pub(super) struct Command {
    /// What is not Claude's.
    before: Vec<OsString>,
    pieces: Vec<Piece>,
    /// From a bare `--` on.
    rest: Vec<OsString>,
    /// The bare `--` is Claude's, so that flags must stand before it.
    rest_is_claudes: bool,
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
        let (before, args) = args.split_at_checked(own.unwrap_or(0)).unwrap_or((args, &[]));
        let end = args.iter().position(|arg| arg == "--").unwrap_or(args.len());
        let (args, rest) = args.split_at_checked(end).unwrap_or((args, &[]));
        let (before, rest) = (before.to_vec(), rest.to_vec());
        Self { before, pieces: pieces(args), rest, rest_is_claudes: own.is_some() }
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.named(name).next().is_some()
    }

    /// The value that counts: of a flag given twice, the last.
    pub(super) fn last(&self, name: &str) -> Option<&str> {
        self.named(name).next_back()?.value.as_deref()
    }

    /// Puts other arguments in the place of flags. Answers whether there were any.
    pub(super) fn replace(&mut self, which: impl Fn(&str) -> bool, by: &[OsString]) -> bool {
        let mut any = false;
        for piece in &mut self.pieces {
            if piece.name.as_deref().is_some_and(&which) {
                *piece = Piece { name: None, value: None, args: by.to_vec() };
                any = true;
            }
        }
        any
    }

    /// All arguments, with these flags added where Claude takes them for flags.
    pub(super) fn with(&self, flags: Vec<OsString>) -> Vec<OsString> {
        let mut args = self.before.clone();
        args.extend(self.pieces.iter().flat_map(|piece| piece.args.iter().cloned()));
        if self.rest_is_claudes {
            args.extend(flags);
            args.extend(self.rest.iter().cloned());
        } else {
            args.extend(self.rest.iter().cloned());
            args.extend(flags);
        }
        args
    }

    fn named<'a>(&'a self, name: &str) -> impl DoubleEndedIterator<Item = &'a Piece> {
        self.pieces.iter().filter(move |piece| piece.name.as_deref() == Some(name))
    }
}

/// Where Claude's own arguments begin, if that can be told.
fn own_args(program: &OsStr, args: &[OsString]) -> Option<usize> {
    if is_program(program, &["claude"]) {
        return Some(0);
    }
    if is_program(program, &SHELLS)
        && let Some(at) = args.iter().position(|arg| arg == "-c")
    {
        // The script and its name come first.
        return Some((at + 3).min(args.len()));
    }
    args.iter().position(|arg| is_program(arg, &["claude"])).map(|at| at + 1)
}

fn is_program(path: &OsStr, names: &[&str]) -> bool {
    let name = Path::new(path).file_name().and_then(OsStr::to_str);
    name.is_some_and(|name| names.contains(&name.strip_suffix(".exe").unwrap_or(name)))
}

fn pieces(args: &[OsString]) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut args = args.iter().peekable();
    while let Some(arg) = args.next() {
        let text = arg.to_str().unwrap_or_default();
        let (names, mut value) = match text.strip_prefix("--") {
            Some(long) => match long.split_once('=') {
                Some((name, value)) => (vec![name], Some(value.to_owned())),
                None => (vec![long], None),
            },
            None => short_flags(text),
        };
        let Some((last, others)) = names.split_last() else {
            pieces.push(Piece { name: None, value: None, args: vec![arg.clone()] });
            continue;
        };
        let mut own = vec![arg.clone()];
        if !others.is_empty() {
            let apart = |name: &&str| Piece {
                name: Some((*name).to_owned()),
                value: None,
                args: vec![format!("--{name}").into()],
            };
            pieces.extend(others.iter().map(apart));
            own = vec![format!("--{last}").into()];
            own.extend(value.clone().map(OsString::from));
        }
        let takes = |next: &OsString| {
            VALUED.contains(last) || (MAYBE_VALUED.contains(last) && !next.to_string_lossy().starts_with('-'))
        };
        if value.is_none()
            && let Some(next) = args.next_if(|next| takes(next))
        {
            value = next.to_str().map(str::to_owned);
            own.push(next.clone());
        }
        pieces.push(Piece { name: Some((*last).to_owned()), value, args: own });
    }
    pieces
}

/// The names of `-p`, `-pc` or `-rID`, and the value that the last of them has in the same word.
fn short_flags(text: &str) -> (Vec<&'static str>, Option<String>) {
    let mut names = Vec::new();
    let Some(mut letters) = text.strip_prefix('-').map(str::chars) else { return (names, None) };
    while let Some(letter) = letters.next() {
        let Some((_, name)) = SHORT.iter().find(|(short, _)| *short == letter) else {
            return (Vec::new(), None);
        };
        names.push(*name);
        if !matches!(*name, "print" | "continue") {
            let value = Some(letters.as_str()).filter(|value| !value.is_empty());
            return (names, value.map(str::to_owned));
        }
    }
    (names, None)
}
