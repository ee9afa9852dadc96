//! The vocabulary of an agent's state, which all drivers share. It knows no wire format.

use std::sync::Arc;

use super::prompt::Prompt;

/// The name of the agent's state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AgentState {
    /// Launched; no source has reported anything yet.
    Starting,
    /// Thinking, streaming or running a tool.
    Working,
    /// At its composer, ready for a message.
    Idle,
    /// At a dialog that a client or the user must answer.
    Prompt,
    /// The turn ended in an error.
    Error,
    /// The agent waits until a usage limit is lifted.
    Parked,
    /// The child is being replaced.
    Restarting,
    /// The child has exited.
    Exited,
    /// No driver knows the program; never shown as idle.
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

/// The agent's state with its details.
#[derive(Debug, Clone, PartialEq)]
pub enum Situation {
    Starting,
    Working {
        /// The error after which the agent retries a request, while it does.
        retrying: Option<ApiError>,
    },
    Idle,
    Prompt(Arc<Prompt>),
    Error(ApiError),
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

    /// The error of the state, if it has one.
    pub fn api_error(&self) -> Option<&ApiError> {
        match self {
            Self::Working { retrying } => retrying.as_ref(),
            Self::Error(api_error) => Some(api_error),
            Self::Parked(parked) => Some(&parked.api_error),
            Self::Starting
            | Self::Idle
            | Self::Prompt(_)
            | Self::Restarting
            | Self::Exited
            | Self::Unknown => None,
        }
    }
}

/// An error that the agent reported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiError {
    pub category: ErrorCategory,
    /// The agent's own text.
    pub detail: String,
}

/// The agent waits until a limit is lifted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parked {
    pub api_error: ApiError,
    /// Set only if the agent itself gave a time.
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

/// The kind of source that evidence comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Tier {
    Hooks,
    /// What the agent sends to its own terminal: title and progress.
    Terminal,
    /// The agent's own report of its status, in its terminal, too (OSC 7501).
    ProgramStatus,
    /// The status file that an agent keeps for its process.
    Registry,
    SessionLog,
    Stdout,
    Process,
    Screen,
}

impl Tier {
    pub const ALL: [Tier; 8] = [
        Self::Hooks,
        Self::Terminal,
        Self::ProgramStatus,
        Self::Registry,
        Self::SessionLog,
        Self::Stdout,
        Self::Process,
        Self::Screen,
    ];

    /// The name on the wire, where the terminal is one source.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Hooks => "hooks",
            Self::Terminal | Self::ProgramStatus => "terminal",
            Self::Registry => "registry",
            Self::SessionLog => "session_log",
            Self::Stdout => "stdout",
            Self::Process => "process",
            Self::Screen => "screen",
        }
    }

    /// A smaller rank is more reliable; among equal ranks the newest claim wins.
    pub fn rank(self) -> u8 {
        match self {
            Self::Hooks | Self::Terminal | Self::ProgramStatus | Self::Registry => 1,
            Self::SessionLog => 2,
            Self::Stdout => 3,
            Self::Process => 4,
            Self::Screen => 5,
        }
    }

    /// Whether the agent shows a change here a moment after its hooks and its log report it.
    pub(crate) fn trails(self) -> bool {
        matches!(self, Self::Terminal | Self::ProgramStatus | Self::Registry)
    }

    /// Whether both arrive in one stream, so that neither can overtake the other.
    pub(crate) fn same_stream(self, other: Self) -> bool {
        self == other || (self.is_terminal() && other.is_terminal())
    }

    /// Whether it is a part of what the agent sends to its own terminal.
    pub(crate) fn is_terminal(self) -> bool {
        matches!(self, Self::Terminal | Self::ProgramStatus)
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
