//! The vocabulary of an agent's state, shared by every driver and by nobody's wire format.

/// What the agent is doing, as far as there is evidence for it.
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
