//! The life of one child, from its start until none of its processes is left. It does no I/O and
//! gets the time as an argument.

use std::time::{Duration, Instant};

use super::clock::Now;
use super::event::Generation;
use crate::pty::Exit;

/// How long output is awaited after the child's exit, counted from the last output. Background
/// jobs may keep the terminal open for ever.
const DRAIN_QUIET: Duration = Duration::from_millis(200);
/// How long output is awaited after the child's exit in any case.
const DRAIN_LIMIT: Duration = Duration::from_secs(2);

/// The current child, or the last one.
#[derive(Debug)]
pub(super) struct ChildLife {
    pub(super) generation: Generation,
    pub(super) exit: Option<Exit>,
    /// A process still has the terminal open.
    pub(super) output_open: bool,
    /// All processes of the child's tree are gone.
    pub(super) tree_gone: bool,
    /// The exit has been announced.
    pub(super) over: bool,
    /// How long trailing output is awaited; set by the exit.
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

impl ChildLife {
    pub(super) fn new(generation: Generation) -> Self {
        Self {
            generation,
            exit: None,
            output_open: true,
            tree_gone: false,
            over: false,
            drain: None,
        }
    }

    /// The life of the next child.
    pub(super) fn next(&self) -> Self {
        Self::new(Generation(self.generation.0 + 1))
    }

    pub(super) fn exited(&mut self, now: Now, exit: Exit) {
        self.exit = Some(exit);
        self.drain =
            Some(Drain { quiet_at: now.steady + DRAIN_QUIET, limit: now.steady + DRAIN_LIMIT });
    }

    /// The child could not be started or ended: there is no output to wait for.
    pub(super) fn failed(&mut self, exit: Exit) {
        self.exit = Some(exit);
        self.output_open = false;
    }

    /// The child, or one of its background jobs, printed.
    pub(super) fn printed(&mut self, now: Now) {
        if let Some(drain) = &mut self.drain {
            drain.quiet_at = now.steady + DRAIN_QUIET;
        }
    }

    /// The exit, once it is known and no more output is awaited.
    pub(super) fn ended(&self, now: Now) -> Option<Exit> {
        let drained = self.drain.is_some_and(|drain| drain.ends_at() <= now.steady);
        self.exit.filter(|_| drained || !self.output_open)
    }

    /// When the wait for trailing output ends.
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.drain.filter(|_| !self.over).map(Drain::ends_at)
    }
}
