//! The life of one child, from its start until nothing of it is left: what has been heard of its
//! end so far. Pure, like everything the actor thinks with.

use std::time::{Duration, Instant};

use super::clock::Now;
use super::event::Generation;
use crate::pty::Exit;

/// How long the child's background jobs may go on printing after its exit, counted from their
/// last output; they keep the terminal open as long as they like.
const DRAIN_QUIET: Duration = Duration::from_millis(200);
/// And how long at most.
const DRAIN_LIMIT: Duration = Duration::from_secs(2);

/// The current child, or the last one.
#[derive(Debug)]
pub struct Life {
    pub generation: Generation,
    pub exit: Option<Exit>,
    /// Somebody may still print.
    pub output_open: bool,
    /// Nothing of what the child ever started is left.
    pub tree_gone: bool,
    /// The end has been taken note of.
    pub over: bool,
    /// Set by the exit: how long trailing output is waited for.
    drain: Option<Drain>,
}

#[derive(Debug, Clone, Copy)]
struct Drain {
    quiet_at: Instant,
    limit: Instant,
}

impl Drain {
    fn ends_at(self) -> Instant {
        self.quiet_at.min(self.limit)
    }
}

impl Life {
    pub fn new(generation: Generation) -> Self {
        Self { generation, exit: None, output_open: true, tree_gone: false, over: false, drain: None }
    }

    /// The life of the child that comes after this one.
    pub fn next(&self) -> Self {
        Self::new(Generation(self.generation.0 + 1))
    }

    pub fn exited(&mut self, now: Now, exit: Exit) {
        self.exit = Some(exit);
        self.drain = Some(Drain { quiet_at: now.steady + DRAIN_QUIET, limit: now.steady + DRAIN_LIMIT });
    }

    /// It never came to life: there is nobody to wait for.
    pub fn failed(&mut self, exit: Exit) {
        self.exit = Some(exit);
        self.output_open = false;
    }

    /// Somebody printed.
    pub fn printed(&mut self, now: Now) {
        if let Some(drain) = &mut self.drain {
            drain.quiet_at = now.steady + DRAIN_QUIET;
        }
    }

    /// The exit, once it is known and no more output is to be waited for.
    pub fn ended(&self, now: Now) -> Option<Exit> {
        let drained = self.drain.is_some_and(|drain| drain.ends_at() <= now.steady);
        self.exit.filter(|_| drained || !self.output_open)
    }

    /// When the wait for trailing output ends.
    pub fn deadline(&self) -> Option<Instant> {
        self.drain.filter(|_| !self.over).map(Drain::ends_at)
    }
}
