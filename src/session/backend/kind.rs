//! Which kind of backend a session has, and what works less well with it.

use crate::mux::Multiplexer;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BackendKind {
    /// A child that coop starts.
    Native,
    /// A pane of a multiplexer.
    Attached(Multiplexer),
}

const TMUX_DEGRADED: &[&str] = &[
    "the screen is captured once a second and after input; what it shows in between is missed",
    "the exit code is known only if tmux keeps dead panes (remain-on-exit), and not always then",
    "mouse and focus modes are unknown",
    "agents are recognised by their screen alone: there are no hooks",
    "shutdown leaves the session running",
];

const SCREEN_DEGRADED: &[&str] = &[
    "the screen is captured once a second and after input; what it shows in between is missed",
    "there are no colours, and characters beyond Latin-1 come out wrong or as U+FFFD",
    "the alternate screen, the cursor's visibility, mouse, focus and paste modes are unknown",
    "a user who is attached to the screen session sees coop's queries in the message line",
    "the size can be changed only while a user is attached to the screen session",
    "input beyond what the program reads may be lost",
    "the exit code is never known",
    "agents are hardly recognised: there are no hooks, and the marks on their screens come out \
     wrong",
    "shutdown leaves the session running",
];

impl BackendKind {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Native => "native",
            Self::Attached(multiplexer) => multiplexer.as_str(),
        }
    }

    pub fn is_attached(self) -> bool {
        match self {
            Self::Native => false,
            Self::Attached(_) => true,
        }
    }

    /// What works less well than with a child of coop, one sentence each, for users.
    pub fn degraded(self) -> &'static [&'static str] {
        match self {
            Self::Native => &[],
            Self::Attached(Multiplexer::Tmux) => TMUX_DEGRADED,
            Self::Attached(Multiplexer::Screen) => SCREEN_DEGRADED,
        }
    }
}
