//! The fixed properties of one agent's program: its delays, its keys and what its screen proves.

use std::time::Duration;

/// What distinguishes one agent's program from another. A driver names only what differs from
/// [`Habits::DEFAULT`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Habits {
    /// The key that stops a running turn.
    pub interrupt_key: &'static [u8],
    /// The key that deletes a draft. It is pressed repeatedly, and the screen is read in between.
    pub clear_key: &'static [u8],
    /// How long Enter must wait after the message is visible in the composer.
    pub enter_delay: Duration,
    /// How long a dialog ignores keys after it has become visible.
    pub dialog_key_delay: Duration,
    /// How long the first idle state of a child must last before it is published: the agent may
    /// still be starting things.
    pub first_idle_hold: Duration,
    /// How long the agent may go on after the hook that ends a turn, if no other source confirms
    /// the end. The agent takes what is typed in that time for a part of the turn, or loses it.
    pub turn_end_delay: Duration,
    /// The idle screen looks different from every screen of a running turn, so an idle screen
    /// proves that no turn is running.
    pub idle_screen_is_certain: bool,
    /// The agent proposes a plan after the turn is over, not in the middle of it.
    pub plans_after_turn: bool,
    /// The name with which the agent reports its status (OSC 7501); the reports of other programs
    /// are refused. None lets every program report.
    pub status_app: Option<&'static str>,
    /// A message of one line may be typed without paste brackets while the program has bracketed
    /// paste switched off.
    pub types_plain_text: bool,
}

impl Habits {
    /// The cautious choice for a program of which nothing special is known: Esc interrupts, Ctrl-U
    /// deletes a draft, Enter may follow a message at once, a dialog takes keys after 100 ms, the
    /// first idle state counts at once, a turn ends 300 ms after its hook, an idle screen proves
    /// nothing, plans come within a turn, any program reports its status, and messages are always
    /// pasted.
    pub const DEFAULT: Self = Self {
        interrupt_key: b"\x1b",
        clear_key: b"\x15",
        enter_delay: Duration::ZERO,
        dialog_key_delay: Duration::from_millis(100),
        first_idle_hold: Duration::ZERO,
        turn_end_delay: Duration::from_millis(300),
        idle_screen_is_certain: false,
        plans_after_turn: false,
        status_app: None,
        types_plain_text: false,
    };
}

impl Default for Habits {
    fn default() -> Self {
        Self::DEFAULT
    }
}
