//! What the session's terminal is kept by, and what that keeps it from doing. It must not know how.

use crate::pty::attach::Host;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Backend {
    /// coop itself, which started the child.
    Native,
    /// Another program, whose terminal coop looks at from outside.
    Attached(Host),
}

/// Methods that need a child of coop's own, or every byte that it prints.
const NEED_A_CHILD: &[&str] = &[
    "GetScrollback",
    "GetOutput",
    "StreamOutput",
    "RestartSession",
    "SwitchSession",
    "GetEnv",
    "PutEnv",
    "DeleteEnv",
];

const TMUX_DEGRADED: &[&str] = &[
    "the screen is looked at once a second and after input; what was there in between is not seen",
    "the exit code is known only if tmux keeps dead panes (remain-on-exit), and not always then",
    "mouse and focus modes are not seen",
    "agents are known by their screen alone: there are no hooks",
    "shutdown leaves the session running",
];

const SCREEN_DEGRADED: &[&str] = &[
    "the screen is looked at once a second and after input; what was there in between is not seen",
    "there are no colours, and characters beyond Latin-1 come out wrong or as U+FFFD",
    "the alternate screen, the cursor's visibility, mouse, focus and paste modes are not seen",
    "whoever is attached to the screen session sees coop's questions in the message line",
    "the size can be changed only while somebody is attached to the screen session",
    "input beyond what the program reads may be lost",
    "the exit code is never known",
    "agents are hardly recognised: there are no hooks, and the marks on their screens come out wrong",
    "shutdown leaves the session running",
];

impl Backend {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Native => "native",
            Self::Attached(host) => host.as_str(),
        }
    }

    pub fn is_foreign(self) -> bool {
        match self {
            Self::Native => false,
            Self::Attached(_) => true,
        }
    }

    /// The methods that do not work.
    pub fn unsupported(self) -> &'static [&'static str] {
        match self {
            Self::Native => &[],
            Self::Attached(_) => NEED_A_CHILD,
        }
    }

    /// What works less well than it would otherwise, for people to read.
    pub fn degraded(self) -> &'static [&'static str] {
        match self {
            Self::Native => &[],
            Self::Attached(Host::Tmux) => TMUX_DEGRADED,
            Self::Attached(Host::Screen) => SCREEN_DEGRADED,
        }
    }
}
