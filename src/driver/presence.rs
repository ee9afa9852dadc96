//! Whether the agent's process has the terminal, so that keys reach it. It does not know how that
//! is found out.

/// Where the agent's process is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Presence {
    /// No process is known to be the agent: it has given no sign yet, or it runs where coop cannot
    /// see it.
    #[default]
    Unbound,
    /// The agent's process has another terminal, such as a pane of a multiplexer.
    Elsewhere,
    /// Its process group is the terminal's foreground group.
    Foreground,
    /// It runs or is stopped, and another process group has the terminal.
    Background,
    /// It has ended, and no other process is known to be the agent.
    Gone,
}

impl Presence {
    /// Why keys would not reach the agent, if they would not.
    pub(crate) fn absence(self) -> Option<&'static str> {
        match self {
            Self::Unbound | Self::Elsewhere | Self::Foreground => None,
            Self::Background => Some("agent process in background"),
            Self::Gone => Some("agent process gone"),
        }
    }

    /// The same for people, as part of a sentence.
    pub(crate) fn explain(self) -> &'static str {
        match self {
            Self::Unbound => {
                "no process is known to be the agent, so it is not checked which process reads the \
                 terminal"
            }
            Self::Elsewhere => {
                "the agent's process has another terminal, so it is not checked which process \
                 reads this one"
            }
            Self::Foreground => "the agent's process is in the terminal's foreground",
            Self::Background => "another process than the agent is in the terminal's foreground",
            Self::Gone => {
                "the agent's process has ended, and no other one is known to be the agent"
            }
        }
    }
}
