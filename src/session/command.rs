//! The commands that callers send to the session, each with the sender of its reply.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use super::by::By;
use super::child_spec::SpecChange;
use super::event::{EventSeq, Generation, RestartReason, ShutdownReason};
use super::lease::{Granted, LeaseId};
use super::outcome::{InterruptReply, NudgeReply, RespondReply};
use super::program_status::RefusedReport;
use super::replies::ReplySender;
use super::request::{NudgeRequest, RespondRequest};
use super::scrollback_page::{ScrollbackPage, ScrollbackRequest};
use crate::driver::status_report::StatusReport;
use crate::driver::tracker::Vote;
use crate::pty::Signal;
use crate::term::{Key, Modes, Offset, Screen, ScreenSeq, Size};
use bytes::Bytes;

/// A command, and the caller that sent it.
#[derive(Debug)]
pub(super) struct Sent {
    pub(super) by: By,
    pub(super) command: Command,
}

#[derive(Debug)]
pub(super) enum Command {
    Type {
        typing: Typing,
        lease: Option<LeaseId>,
        reply: ReplySender<usize>,
    },
    Resize {
        size: Size,
        lease: Option<LeaseId>,
        reply: ReplySender<()>,
    },
    Signal {
        signal: Signal,
        reply: ReplySender<()>,
    },
    AcquireLease {
        shown: Option<LeaseId>,
        fresh: LeaseId,
        /// The name that the caller gives itself.
        holder: Option<String>,
        ttl: Duration,
        reply: ReplySender<Granted>,
    },
    ReleaseLease {
        id: LeaseId,
        reply: ReplySender<bool>,
    },
    Nudge {
        request: NudgeRequest,
        lease: Option<LeaseId>,
        reply: ReplySender<NudgeReply>,
    },
    Respond {
        request: RespondRequest,
        lease: Option<LeaseId>,
        reply: ReplySender<RespondReply>,
    },
    Interrupt {
        lease: Option<LeaseId>,
        reply: ReplySender<InterruptReply>,
    },
    Explain {
        reply: ReplySender<Explanation>,
    },
    Screen {
        reply: ReplySender<ScreenView>,
    },
    Scrollback {
        request: ScrollbackRequest,
        reply: ReplySender<ScrollbackPage>,
    },
    Dump {
        reply: ReplySender<Dump>,
    },
    Replace {
        change: SpecChange,
        reason: RestartReason,
        grace: Duration,
        reply: ReplySender<Replaced>,
    },
    GetEnv {
        reply: ReplySender<Arc<BTreeMap<String, String>>>,
    },
    PutEnv {
        key: String,
        value: String,
        reply: ReplySender<()>,
    },
    DeleteEnv {
        key: String,
        reply: ReplySender<()>,
    },
    Shutdown {
        reason: ShutdownReason,
        grace: Duration,
        reply: ReplySender<()>,
    },
}

/// What to type.
#[derive(Debug)]
pub enum Typing {
    /// Text as a user would type or paste it.
    Text {
        text: String,
        enter: bool,
    },
    Keys(Vec<Key>),
    /// Bytes, not encoded further.
    Raw(Bytes),
}

/// Why the agent's state is what it is: the reason, and the last vote of every source.
#[derive(Debug, Clone)]
pub struct Explanation {
    pub reason: String,
    pub votes: Vec<Vote>,
    /// What the program reports about itself and its tasks.
    pub status: Vec<StatusReport>,
    pub refused: Vec<RefusedReport>,
}

/// The screen, and the newest event when it was taken.
#[derive(Debug, Clone)]
pub struct ScreenView {
    pub screen: Arc<Screen>,
    pub event_seq: EventSeq,
}

/// Everything another terminal needs to continue from here.
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

/// The child that replaced the previous one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Replaced {
    pub generation: Generation,
    pub pid: i32,
    pub offset: Offset,
}
