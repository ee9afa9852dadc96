//! What a session is made of.

use std::sync::Arc;
use std::time::Duration;

use crate::driver::Driver;
use crate::session::backend::Backend;
use crate::session::mind::Profile;
use crate::session::recipe::Recipe;
use crate::term::Size;

/// What a session is made of.
#[derive(Debug, Clone)]
pub struct Settings {
    /// When this coop started: it tells its numbers and ids from another's.
    pub epoch_ms: u64,
    pub backend: Backend,
    pub recipe: Recipe,
    pub size: Size,
    pub ring_bytes: usize,
    pub scrollback_lines: usize,
    /// How long to go on after the child's exit; `None` is forever.
    pub linger: Option<Duration>,
    pub idle_timeout: Option<Duration>,
    /// Who attends to the agent; nobody does to a program that no driver knows.
    pub attendance: Option<Attendance>,
}

/// A driver for each child, and how it goes about its work.
#[derive(Clone)]
pub struct Attendance {
    pub driver: Arc<dyn Fn() -> Box<dyn Driver> + Send + Sync>,
    pub profile: Profile,
}

impl std::fmt::Debug for Attendance {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Attendance").field("profile", &self.profile).finish_non_exhaustive()
    }
}
