//! What a caller can ask of the session, each with the place its answer goes to.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use super::event::{EventSeq, Generation, RestartReason, ShutdownReason};
use super::lease::{Granted, LeaseId};
use super::outbox::Answer;
use super::page::{Page, PageRequest};
use super::recipe::Change;
use super::talk::{Interrupted, Message, Nudged, Reply, Responded};
use crate::driver::tracker::Vote;
use crate::pty::Signal;
use crate::term::{Key, Modes, Offset, Screen, ScreenSeq, Size};
use bytes::Bytes;

#[derive(Debug)]
pub enum Command {
    Type {
        typing: Typing,
        lease: Option<LeaseId>,
        answer: Answer<usize>,
    },
    Resize {
        size: Size,
        lease: Option<LeaseId>,
        answer: Answer<()>,
    },
    Signal {
        signal: Signal,
        answer: Answer<()>,
    },
    AcquireLease {
        shown: Option<LeaseId>,
        fresh: LeaseId,
        holder: String,
        ttl: Duration,
        answer: Answer<Granted>,
    },
    ReleaseLease {
        id: LeaseId,
        answer: Answer<bool>,
    },
    Nudge {
        message: Message,
        lease: Option<LeaseId>,
        answer: Answer<Nudged>,
    },
    Respond {
        reply: Reply,
        lease: Option<LeaseId>,
        answer: Answer<Responded>,
    },
    Interrupt {
        lease: Option<LeaseId>,
        answer: Answer<Interrupted>,
    },
    Explain {
        answer: Answer<Explanation>,
    },
    View {
        answer: Answer<View>,
    },
    Scrollback {
        page: PageRequest,
        answer: Answer<Page>,
    },
    Dump {
        answer: Answer<Dump>,
    },
    Replace {
        change: Change,
        reason: RestartReason,
        grace: Duration,
        answer: Answer<Replaced>,
    },
    GetEnv {
        answer: Answer<Arc<BTreeMap<String, String>>>,
    },
    PutEnv {
        key: String,
        value: String,
        answer: Answer<()>,
    },
    DeleteEnv {
        key: String,
        answer: Answer<()>,
    },
    Shutdown {
        reason: ShutdownReason,
        grace: Duration,
        answer: Answer<()>,
    },
}

/// Something to be typed.
#[derive(Debug)]
pub enum Typing {
    /// Text as a person would type or paste it.
    Text {
        text: String,
        enter: bool,
    },
    Keys(Vec<Key>),
    /// Bytes as they are.
    Raw(Bytes),
}

/// Why the agent's state is what it is: the reason, and every source's last word.
#[derive(Debug, Clone)]
pub struct Explanation {
    pub reason: String,
    pub votes: Vec<Vote>,
}

/// The screen, and the event it was seen at.
#[derive(Debug, Clone)]
pub struct View {
    pub screen: Arc<Screen>,
    pub event_seq: EventSeq,
}

/// Everything a terminal needs to go on from here.
#[derive(Debug, Clone)]
pub struct Dump {
    pub bytes: Vec<u8>,
    pub offset: Offset,
    pub modes: Modes,
    pub size: Size,
    pub seq: ScreenSeq,
    pub event_seq: EventSeq,
    pub generation: Generation,
}

/// The child that took the place of the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Replaced {
    pub generation: Generation,
    pub pid: i32,
    pub offset: Offset,
}
