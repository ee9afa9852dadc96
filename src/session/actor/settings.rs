//! The settings that a session is created with.

use std::sync::Arc;
use std::time::Duration;

use crate::driver::Driver;
use crate::launch::Conversation;
use crate::session::agent::Profile;
use crate::session::backend::BackendKind;
use crate::session::child_spec::ChildSpec;
use crate::term::Size;

#[derive(Debug, Clone)]
pub struct Settings {
    /// When this coop started; it distinguishes this coop's numbers and ids from another's.
    pub epoch_ms: u64,
    pub backend: BackendKind,
    pub child_spec: ChildSpec,
    /// The conversation that the first child continues.
    pub conversation: Option<Conversation>,
    pub size: Size,
    pub ring_bytes: usize,
    pub scrollback_lines: usize,
    /// How long coop stays after the child's exit; `None` means for ever.
    pub linger: Option<Duration>,
    pub idle_timeout: Option<Duration>,
    /// None if no driver knows the program.
    pub agent: Option<AgentSpec>,
}

/// Makes a driver for each child, and says how coop treats the agent.
#[derive(Clone)]
pub struct AgentSpec {
    pub driver: Arc<dyn Fn() -> Box<dyn Driver> + Send + Sync>,
    pub profile: Profile,
}

impl std::fmt::Debug for AgentSpec {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AgentSpec").field("profile", &self.profile).finish_non_exhaustive()
    }
}
