//! The idempotency keys of nudges: the message behind each key, and its reply.

use std::collections::{HashMap, VecDeque};

use crate::session::outcome::NudgeReply;
use crate::session::replies::ReplySender;

/// How many keys are kept.
const KEPT: usize = 1024;

#[derive(Debug, Default)]
pub(super) struct IdempotencyKeys {
    known: HashMap<String, Known>,
    order: VecDeque<String>,
}

#[derive(Debug)]
struct Known {
    text: String,
    reply: Option<NudgeReply>,
    /// Callers that sent the key again before the first call had its reply.
    waiting: Vec<ReplySender<NudgeReply>>,
}

/// The state of a key that a caller sent.
pub(super) enum KeyState {
    /// The key is new, and is kept from now on.
    New(ReplySender<NudgeReply>),
    /// The same message already has its reply.
    Replied(ReplySender<NudgeReply>, NudgeReply),
    /// The same message is in progress; this caller gets the reply of the first.
    InProgress,
    /// The key belongs to another message.
    OtherMessage(ReplySender<NudgeReply>),
}

impl IdempotencyKeys {
    pub(super) fn look_up(
        &mut self,
        key: &str,
        text: &str,
        reply: ReplySender<NudgeReply>,
    ) -> KeyState {
        if let Some(known) = self.known.get_mut(key) {
            return match &known.reply {
                _ if known.text != text => KeyState::OtherMessage(reply),
                Some(given) => KeyState::Replied(reply, given.clone()),
                None => {
                    known.waiting.push(reply);
                    KeyState::InProgress
                }
            };
        }
        if self.order.len() >= KEPT
            && let Some(oldest) = self.order.pop_front()
        {
            self.known.remove(&oldest);
        }
        self.order.push_back(key.to_owned());
        let known = Known { text: text.to_owned(), reply: None, waiting: Vec::new() };
        self.known.insert(key.to_owned(), known);
        KeyState::New(reply)
    }

    /// Keeps the reply of a message that was typed or queued. Returns the other waiting callers.
    pub(super) fn keep(&mut self, key: &str, reply: &NudgeReply) -> Vec<ReplySender<NudgeReply>> {
        match self.known.get_mut(key) {
            Some(known) => {
                known.reply.get_or_insert_with(|| reply.clone());
                std::mem::take(&mut known.waiting)
            }
            None => Vec::new(),
        }
    }

    /// Frees the key of a message that was not typed. Returns the other waiting callers.
    pub(super) fn forget(&mut self, key: &str) -> Vec<ReplySender<NudgeReply>> {
        self.order.retain(|kept| kept != key);
        self.known.remove(key).map(|known| known.waiting).unwrap_or_default()
    }
}
