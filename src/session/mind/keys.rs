//! The idempotency keys of messages: what was said under each, and what became of it.

use std::collections::{HashMap, VecDeque};

use crate::session::outbox::Answer;
use crate::session::talk::Nudged;

/// How many keys are kept.
const KEPT: usize = 1024;

#[derive(Debug, Default)]
pub struct Keys {
    known: HashMap<String, Known>,
    order: VecDeque<String>,
}

#[derive(Debug)]
struct Known {
    text: String,
    reply: Option<Nudged>,
    /// Callers who asked again before the first had its reply.
    waiting: Vec<Answer<Nudged>>,
}

/// What a key says about a message.
pub enum Seen {
    /// It is new, and kept from now on.
    New(Answer<Nudged>),
    /// The same message was answered before.
    Answered(Answer<Nudged>, Nudged),
    /// The same message is under way, and the caller waits with the first.
    UnderWay,
    /// The key belongs to another message.
    Another(Answer<Nudged>),
}

impl Keys {
    pub fn look_up(&mut self, key: &str, text: &str, answer: Answer<Nudged>) -> Seen {
        if let Some(known) = self.known.get_mut(key) {
            return match &known.reply {
                _ if known.text != text => Seen::Another(answer),
                Some(reply) => Seen::Answered(answer, reply.clone()),
                None => {
                    known.waiting.push(answer);
                    Seen::UnderWay
                }
            };
        }
        if self.order.len() >= KEPT
            && let Some(oldest) = self.order.pop_front()
        {
            self.known.remove(&oldest);
        }
        self.order.push_back(key.to_owned());
        self.known.insert(key.to_owned(), Known { text: text.to_owned(), reply: None, waiting: Vec::new() });
        Seen::New(answer)
    }

    /// The message was typed, or will be: this is what everybody with its key is told. Answers who else waits.
    pub fn keep(&mut self, key: &str, reply: &Nudged) -> Vec<Answer<Nudged>> {
        match self.known.get_mut(key) {
            Some(known) => {
                known.reply.get_or_insert_with(|| reply.clone());
                std::mem::take(&mut known.waiting)
            }
            None => Vec::new(),
        }
    }

    /// Nothing was typed, so the key may be used again. Answers who else waits.
    pub fn forget(&mut self, key: &str) -> Vec<Answer<Nudged>> {
        self.order.retain(|kept| kept != key);
        self.known.remove(key).map(|known| known.waiting).unwrap_or_default()
    }
}
