//! What coop and its guard process say to each other: one request, one reply. It must not know how
//! a message is sent, nor what it leads to.

use std::ffi::OsString;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt as _;
use std::path::PathBuf;

use prost::Message;

use crate::os::{Delivery, Process, ProcessState};
use crate::pty::child::Exit;
use crate::pty::program::{Program, Streams};

#[derive(Clone, PartialEq, Message)]
pub(super) struct Request {
    #[prost(oneof = "Ask", tags = "1, 2, 3, 4, 5, 6, 7")]
    pub(super) ask: Option<Ask>,
}

#[derive(Clone, PartialEq, prost::Oneof)]
pub(super) enum Ask {
    #[prost(message, tag = "1")]
    Start(Start),
    /// The pid of a child that is reaped if it has exited.
    #[prost(int32, tag = "2")]
    Wait(i32),
    #[prost(message, tag = "3")]
    Tree(Tree),
    #[prost(message, tag = "4")]
    HasMember(HasMember),
    #[prost(message, tag = "5")]
    Send(Send),
    /// A file that must not outlive coop.
    #[prost(bytes, tag = "6")]
    RemoveAtEnd(Vec<u8>),
    /// coop has ended its children: what is left of its files goes now, because the names may
    /// belong to another coop later.
    #[prost(bool, tag = "7")]
    RemoveFiles(bool),
}

/// A program. The descriptor of its streams comes with the message.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Start {
    #[prost(bytes, tag = "1")]
    path: Vec<u8>,
    #[prost(bytes, tag = "2")]
    name: Vec<u8>,
    #[prost(bytes, repeated, tag = "3")]
    args: Vec<Vec<u8>>,
    /// Names and values in turn.
    #[prost(bytes, repeated, tag = "4")]
    env: Vec<Vec<u8>>,
    #[prost(bytes, tag = "5")]
    cwd: Vec<u8>,
    #[prost(bool, tag = "6")]
    has_terminal: bool,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Tree {
    #[prost(int32, repeated, tag = "1")]
    pub(super) other_children: Vec<i32>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct HasMember {
    #[prost(int32, tag = "1")]
    pub(super) group: i32,
    #[prost(int32, tag = "2")]
    pub(super) session: i32,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Send {
    #[prost(int32, tag = "1")]
    pub(super) pid: i32,
    #[prost(uint64, tag = "2")]
    pub(super) start: u64,
    #[prost(int32, tag = "3")]
    pub(super) signal: i32,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Reply {
    #[prost(oneof = "Answer", tags = "1, 2, 3, 4, 5, 6")]
    pub(super) answer: Option<Answer>,
}

#[derive(Clone, PartialEq, prost::Oneof)]
pub(super) enum Answer {
    /// The number of the error that the request led to.
    #[prost(int32, tag = "1")]
    Failed(i32),
    #[prost(bool, tag = "2")]
    Done(bool),
    #[prost(int32, tag = "3")]
    Started(i32),
    #[prost(message, tag = "4")]
    Waited(Waited),
    #[prost(message, tag = "5")]
    Tree(FoundTree),
    #[prost(enumeration = "Sent", tag = "6")]
    Sent(i32),
}

/// How a child ended, if it has.
#[derive(Clone, Copy, PartialEq, Message)]
pub(super) struct Waited {
    #[prost(bool, tag = "1")]
    reaped: bool,
    #[prost(int32, optional, tag = "2")]
    code: Option<i32>,
    #[prost(int32, optional, tag = "3")]
    signal: Option<i32>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct FoundTree {
    #[prost(message, repeated, tag = "1")]
    processes: Vec<FoundProcess>,
}

#[derive(Clone, Copy, PartialEq, Message)]
struct FoundProcess {
    #[prost(int32, tag = "1")]
    pid: i32,
    #[prost(int32, tag = "2")]
    parent: i32,
    #[prost(int32, tag = "3")]
    group: i32,
    #[prost(int32, tag = "4")]
    session: i32,
    #[prost(int32, tag = "5")]
    foreground: i32,
    #[prost(bool, tag = "6")]
    stopped: bool,
    #[prost(uint64, tag = "7")]
    start: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, prost::Enumeration)]
#[repr(i32)]
pub(super) enum Sent {
    Delivered = 0,
    Gone = 1,
    NotPermitted = 2,
}

impl Start {
    /// Splits a program into the message and the descriptor of its streams.
    pub(super) fn split(program: Program) -> (Self, OwnedFd) {
        let (has_terminal, streams) = match program.streams {
            Streams::Terminal(terminal) => (true, terminal),
            Streams::Output(output) => (false, output),
        };
        let env = program.env.into_iter().flat_map(|(name, value)| [name, value]);
        let start = Self {
            path: program.path.into_os_string().into_vec(),
            name: program.name.into_vec(),
            args: program.args.into_iter().map(OsString::into_vec).collect(),
            env: env.map(OsString::into_vec).collect(),
            cwd: program.cwd.into_os_string().into_vec(),
            has_terminal,
        };
        (start, streams)
    }

    pub(super) fn join(self, streams: OwnedFd) -> Program {
        let mut names_and_values = self.env.into_iter().map(OsString::from_vec);
        let mut env = Vec::new();
        while let (Some(name), Some(value)) = (names_and_values.next(), names_and_values.next()) {
            env.push((name, value));
        }
        Program {
            path: PathBuf::from(OsString::from_vec(self.path)),
            name: OsString::from_vec(self.name),
            args: self.args.into_iter().map(OsString::from_vec).collect(),
            env,
            cwd: PathBuf::from(OsString::from_vec(self.cwd)),
            streams: match self.has_terminal {
                true => Streams::Terminal(streams),
                false => Streams::Output(streams),
            },
        }
    }
}

impl From<Option<Exit>> for Waited {
    fn from(exit: Option<Exit>) -> Self {
        let (code, signal) = (exit.and_then(Exit::code), exit.and_then(Exit::signal));
        Self { reaped: exit.is_some(), code, signal }
    }
}

impl From<Waited> for Option<Exit> {
    fn from(waited: Waited) -> Self {
        waited.reaped.then_some(match (waited.code, waited.signal) {
            (Some(code), _) => Exit::Code(code),
            (None, Some(signal)) => Exit::Signal(signal),
            (None, None) => Exit::Unknown,
        })
    }
}

impl FromIterator<Process> for FoundTree {
    fn from_iter<T: IntoIterator<Item = Process>>(processes: T) -> Self {
        let found = |process: Process| FoundProcess {
            pid: process.pid,
            parent: process.parent,
            group: process.group,
            session: process.session,
            foreground: process.foreground,
            stopped: process.state == ProcessState::Stopped,
            start: process.start,
        };
        Self { processes: processes.into_iter().map(found).collect() }
    }
}

impl From<FoundTree> for Vec<Process> {
    fn from(tree: FoundTree) -> Self {
        let process = |found: FoundProcess| Process {
            pid: found.pid,
            parent: found.parent,
            group: found.group,
            session: found.session,
            foreground: found.foreground,
            // A tree has no zombies.
            state: if found.stopped { ProcessState::Stopped } else { ProcessState::Alive },
            start: found.start,
        };
        tree.processes.into_iter().map(process).collect()
    }
}

impl From<Delivery> for Sent {
    fn from(delivery: Delivery) -> Self {
        match delivery {
            Delivery::Sent => Self::Delivered,
            Delivery::Gone => Self::Gone,
            Delivery::NotPermitted => Self::NotPermitted,
        }
    }
}

impl From<Sent> for Delivery {
    fn from(sent: Sent) -> Self {
        match sent {
            Sent::Delivered => Self::Sent,
            Sent::Gone => Self::Gone,
            Sent::NotPermitted => Self::NotPermitted,
        }
    }
}
