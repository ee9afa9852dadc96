//! The vocabulary of an agent's state, shared by every driver and by nobody's wire format.

use std::sync::Arc;

use super::prompt::Prompt;

/// The name of what the agent is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AgentState {
    /// Launched, and nothing seen yet.
    Starting,
    /// Thinking, streaming or running a tool.
    Working,
    /// At its composer, ready for a message.
    Idle,
    /// At a dialog that somebody must answer.
    Prompt,
    /// The turn ended in an error.
    Error,
    /// The agent itself waits for a limit to pass.
    Parked,
    /// The child is being replaced.
    Restarting,
    /// The child is gone.
    Exited,
    /// Nobody can tell; never shown as idle.
    Unknown,
}

impl AgentState {
    pub const ALL: [AgentState; 9] = [
        Self::Starting,
        Self::Working,
        Self::Idle,
        Self::Prompt,
        Self::Error,
        Self::Parked,
        Self::Restarting,
        Self::Exited,
        Self::Unknown,
    ];

    /// The name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Starting => "starting",
            Self::Working => "working",
            Self::Idle => "idle",
            Self::Prompt => "prompt",
            Self::Error => "error",
            Self::Parked => "parked",
            Self::Restarting => "restarting",
            Self::Exited => "exited",
            Self::Unknown => "unknown",
        }
    }

    /// The state with this name on the wire, in any case.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str().eq_ignore_ascii_case(name))
    }
}

/// What the agent is doing, with everything that belongs to it.
#[derive(Debug, Clone, PartialEq)]
pub enum Situation {
    Starting,
    Working {
        /// Why the agent is trying its API again, while it does.
        retrying: Option<Trouble>,
    },
    Idle,
    Prompt(Arc<Prompt>),
    Error(Trouble),
    Parked(Parked),
    Restarting,
    Exited,
    Unknown,
}

impl Situation {
    pub fn state(&self) -> AgentState {
        match self {
            Self::Starting => AgentState::Starting,
            Self::Working { .. } => AgentState::Working,
            Self::Idle => AgentState::Idle,
            Self::Prompt(_) => AgentState::Prompt,
            Self::Error(_) => AgentState::Error,
            Self::Parked(_) => AgentState::Parked,
            Self::Restarting => AgentState::Restarting,
            Self::Exited => AgentState::Exited,
            Self::Unknown => AgentState::Unknown,
        }
    }

    pub fn prompt(&self) -> Option<&Arc<Prompt>> {
        match self {
            Self::Prompt(prompt) => Some(prompt),
            Self::Starting
            | Self::Working { .. }
            | Self::Idle
            | Self::Error(_)
            | Self::Parked(_)
            | Self::Restarting
            | Self::Exited
            | Self::Unknown => None,
        }
    }

    /// What is wrong, in a state that has something wrong with it.
    pub fn trouble(&self) -> Option<&Trouble> {
        match self {
            Self::Working { retrying } => retrying.as_ref(),
            Self::Error(trouble) => Some(trouble),
            Self::Parked(parked) => Some(&parked.trouble),
            Self::Starting
            | Self::Idle
            | Self::Prompt(_)
            | Self::Restarting
            | Self::Exited
            | Self::Unknown => None,
        }
    }
}

/// An error of the agent's, as it told it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trouble {
    pub category: ErrorCategory,
    /// The agent's own words.
    pub detail: String,
}

/// The agent waits for a limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parked {
    pub trouble: Trouble,
    /// Only if the agent itself gave a time.
    pub resume_at_epoch_ms: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorCategory {
    Unauthorized,
    OutOfCredits,
    RateLimited,
    NoInternet,
    ServerError,
    Other,
}

impl ErrorCategory {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Unauthorized => "unauthorized",
            Self::OutOfCredits => "out_of_credits",
            Self::RateLimited => "rate_limited",
            Self::NoInternet => "no_internet",
            Self::ServerError => "server_error",
            Self::Other => "other",
        }
    }
}

/// Where evidence comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Tier {
    Hooks,
    /// What the agent tells its own terminal: title, progress, program status.
    Terminal,
    /// The status file that an agent keeps for its process.
    Registry,
    SessionLog,
    Stdout,
    Process,
    Screen,
}

impl Tier {
    pub const ALL: [Tier; 7] = [
        Self::Hooks,
        Self::Terminal,
        Self::Registry,
        Self::SessionLog,
        Self::Stdout,
        Self::Process,
        Self::Screen,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Hooks => "hooks",
            Self::Terminal => "terminal",
            Self::Registry => "registry",
            Self::SessionLog => "session_log",
            Self::Stdout => "stdout",
            Self::Process => "process",
            Self::Screen => "screen",
        }
    }

    /// Smaller is more to be trusted; equal ranks are peers, among which the newest edge wins.
    pub fn rank(self) -> u8 {
        match self {
            Self::Hooks | Self::Terminal | Self::Registry => 1,
            Self::SessionLog => 2,
            Self::Stdout => 3,
            Self::Process => 4,
            Self::Screen => 5,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip() {
        for state in AgentState::ALL {
            assert_eq!(AgentState::parse(state.as_str()), Some(state));
        }
        assert_eq!(AgentState::parse("IDLE"), Some(AgentState::Idle));
        assert_eq!(AgentState::parse("waiting"), None);
    }
}
