//! Splits the command line of an agent, or of a wrapper around one, into flags with values and
//! other words. It does not know what a flag means.

use std::ffi::{OsStr, OsString};
use std::path::Path;

/// The shells that may run a wrapper script.
const SHELLS: [&str; 5] = ["sh", "bash", "dash", "zsh", "ksh"];

/// How an agent reads its command line. Flags go by their long names, without dashes.
#[derive(Debug)]
pub(crate) struct Syntax {
    /// The names of its program.
    pub programs: &'static [&'static str],
    /// Whether the arguments of an unknown program count as the agent's own.
    pub trusts_wrappers: bool,
    /// The flags that always take the next argument.
    pub valued: &'static [&'static str],
    /// The flags that take the next argument unless it looks like a flag.
    pub maybe_valued: &'static [&'static str],
    /// The flags in an argument with a single dash, and the value of the last one in the same
    /// argument. An argument without flags is a word.
    pub short: for<'a> fn(&'a str) -> (Vec<&'a str>, Option<&'a str>),
}

#[derive(Debug)]
pub(crate) struct Command {
    /// The arguments before the agent's own.
    pub before: Vec<OsString>,
    pub pieces: Vec<Piece>,
    /// The arguments from a bare `--` on.
    pub rest: Vec<OsString>,
    /// The bare `--` is the agent's, so flags must be inserted before it.
    rest_is_own: bool,
}

/// A flag with its value, or a word, with the arguments that it comes from.
#[derive(Debug)]
pub(crate) struct Piece {
    pub name: Option<String>,
    pub value: Option<String>,
    pub args: Vec<OsString>,
}

impl Command {
    pub(crate) fn read(syntax: &Syntax, program: &OsStr, args: &[OsString]) -> Self {
        let own = own_args(syntax.programs, program, args);
        let begin = own.unwrap_or(if syntax.trusts_wrappers { 0 } else { args.len() });
        let (before, args) = args.split_at_checked(begin).unwrap_or((args, &[]));
        let end = args.iter().position(|arg| arg == "--").unwrap_or(args.len());
        let (args, rest) = args.split_at_checked(end).unwrap_or((args, &[]));
        let pieces = pieces(syntax, args);
        Self { before: before.to_vec(), pieces, rest: rest.to_vec(), rest_is_own: own.is_some() }
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.named(name).next().is_some()
    }

    /// The value of a flag; the last one if the flag is given twice.
    pub(crate) fn last(&self, name: &str) -> Option<&str> {
        self.named(name).next_back()?.value.as_deref()
    }

    pub(crate) fn named<'a>(&'a self, name: &str) -> impl DoubleEndedIterator<Item = &'a Piece> {
        self.pieces.iter().filter(move |piece| piece.name.as_deref() == Some(name))
    }

    /// The first argument that is neither a flag nor a flag's value.
    pub(crate) fn first_word(&self) -> Option<&str> {
        self.pieces.iter().find(|piece| piece.name.is_none())?.args.first()?.to_str()
    }

    /// All arguments, with these flags added after the agent's own, where the agent reads flags.
    pub(crate) fn with(&self, flags: Vec<OsString>) -> Vec<OsString> {
        let own = self.pieces.iter().flat_map(|piece| &piece.args);
        let mut args: Vec<_> = self.before.iter().chain(own).cloned().collect();
        let end = args.len();
        args.extend(self.rest.iter().cloned());
        let at = if self.rest_is_own { end } else { args.len() };
        args.splice(at..at, flags);
        args
    }
}

/// The index of the agent's first own argument, if it can be found.
fn own_args(names: &[&str], program: &OsStr, args: &[OsString]) -> Option<usize> {
    if is_program(program, names) {
        return Some(0);
    }
    if is_program(program, &SHELLS)
        && let Some(at) = args.iter().position(|arg| arg == "-c")
    {
        // The script and its `$0` come first.
        return Some((at + 3).min(args.len()));
    }
    args.iter().position(|arg| is_program(arg, names)).map(|at| at + 1)
}

fn is_program(path: &OsStr, names: &[&str]) -> bool {
    Path::new(path).file_name().and_then(OsStr::to_str).is_some_and(|name| names.contains(&name))
}

fn pieces(syntax: &Syntax, args: &[OsString]) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut args = args.iter().peekable();
    while let Some(arg) = args.next() {
        let (names, value) = flags(syntax, arg.to_str().unwrap_or_default());
        let Some((last, others)) = names.split_last() else {
            pieces.push(Piece { name: None, value: None, args: vec![arg.clone()] });
            continue;
        };
        let mut value = value.map(str::to_owned);
        let mut own = vec![arg.clone()];
        if !others.is_empty() {
            // Flags in one argument are split, so that each can be removed alone.
            let apart = |name: &&str| Piece {
                name: Some((*name).to_owned()),
                value: None,
                args: vec![format!("--{name}").into()],
            };
            pieces.extend(others.iter().map(apart));
            own = vec![format!("--{last}").into()];
            own.extend(value.clone().map(OsString::from));
        }
        let takes = |next: &&OsString| {
            syntax.valued.contains(last)
                || (syntax.maybe_valued.contains(last) && !next.to_string_lossy().starts_with('-'))
        };
        if value.is_none()
            && let Some(next) = args.next_if(takes)
        {
            value = next.to_str().map(str::to_owned);
            own.push(next.clone());
        }
        pieces.push(Piece { name: Some((*last).to_owned()), value, args: own });
    }
    pieces
}

/// The flags in one argument, and the value of the last one in the same argument.
fn flags<'a>(syntax: &Syntax, arg: &'a str) -> (Vec<&'a str>, Option<&'a str>) {
    match (arg.strip_prefix("--"), arg.strip_prefix('-')) {
        (Some(long), _) => match long.split_once('=') {
            Some((name, value)) => (vec![name], Some(value)),
            None => (vec![long], None),
        },
        (None, Some(letters)) => (syntax.short)(letters),
        (None, None) => (Vec::new(), None),
    }
}
