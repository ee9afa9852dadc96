//! What the screen says. It is read on every look, and is evidence itself:
//!
//! | the screen | says |
//! |---|---|
//! | shows a running turn, and showed none before | a turn runs, unless one has just ended: that is drawn late |
//! | shows a running turn a second after one is said to have failed | another turn runs |
//! | shows an error where nothing else tells of one | the turn ended badly, for as long as it shows that |
//! | shows composer and no turn, three looks at least 250 ms apart, while a turn is said to run | the turn is over, if the agent's idle screen cannot be mistaken |

use std::time::{Duration, Instant};

use super::Tracker;
use super::turn::{End, Turn, Word};
use crate::driver::agent::{AgentState, Tier};
use crate::driver::sight::Sight;

/// How far apart looks must be to count as several.
const LOOK_APART: Duration = Duration::from_millis(250);
/// How many such looks end a turn.
const LOOKS: u32 = 3;
/// How old a turn's last sign of life must be before the screen may end it: what was just said is not drawn yet.
const SETTLED: Duration = Duration::from_secs(1);
/// Why there is an error that only the screen tells of.
const SCREEN_ERROR: &str = "screen:error";

/// A screen on which nothing is recognised. It may be half drawn, so only its age makes it count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Unread {
    pub(super) since: Instant,
    pub(super) option_list: bool,
}

/// Looks at an idle screen in a row.
#[derive(Debug, Default)]
pub(super) struct IdleLooks {
    count: u32,
    last: Option<Instant>,
}

impl Tracker {
    /// Takes in what the screen shows; also what to call when time has passed.
    pub fn look(&mut self, now: Instant, sight: Sight) {
        if self.over() {
            return;
        }
        let began = sight.busy && !self.sight.busy;
        let was_drawn_late = self.drawn_late;
        let shown_error = sight.failed.clone().filter(|_| sight.failed != self.sight.failed);
        self.sight = sight;
        let told = self.waiting.as_ref().is_some_and(|waiting| waiting.tier == Tier::Terminal);
        self.asking.look(now, &self.sight, told);
        self.read(now);
        // A dialog that was there when the turn was said to be over is about to go.
        let word = self.standing.word();
        let unexplained = self.asking.inside_a_turn().is_some_and(|since| since > word.at);
        if unexplained && !matches!(word.turn, Turn::Running { .. }) {
            self.standing.stand(screen_word(Turn::Running { retrying: None }, "screen:dialog", now));
        }
        let word = self.standing.word();
        let settled = now.duration_since(word.at) >= SETTLED;
        // What is drawn right after the end of a turn was drawn before it.
        let just_over = matches!(word.turn, Turn::Over(_)) && !settled;
        self.drawn_late = self.sight.busy && just_over && (began || self.drawn_late);
        let still_drawn = self.sight.busy && was_drawn_late && !just_over;
        if (began || still_drawn) && !just_over {
            self.vote(now, AgentState::Working, "screen:busy", "a running turn");
            self.standing.hear(now, screen_word(Turn::Running { retrying: None }, "screen:busy", now));
        }
        let word = self.standing.word();
        let failed = matches!(word.turn, Turn::Over(End::Failed(_) | End::Parked(_)));
        if failed && self.sight.busy && settled {
            self.standing.stand(screen_word(Turn::Running { retrying: None }, "screen:busy", now));
        }
        if let Some(trouble) = shown_error {
            self.vote(now, AgentState::Error, SCREEN_ERROR, &trouble.detail);
            self.standing.hear(now, screen_word(Turn::Over(End::Failed(trouble)), SCREEN_ERROR, now));
        }
        self.forgive();
        self.standing.keep_time(now);
        self.count_idle_looks(now);
        if self.grace_ends.take_if(|ends| *ends <= now).is_some() {
            let word = Word { turn: Turn::Over(End::Well), tier: Tier::Process, cause: "grace", at: now };
            self.standing.stand(word);
        }
        self.decide(now);
    }

    /// When the same screen says more than it does now.
    pub(super) fn next_look(&self) -> Option<Instant> {
        let idle = self.idle_looks.last.filter(|_| self.looks_idle()).map(|last| last + LOOK_APART);
        let late = self.drawn_late.then_some(self.standing.word().at + SETTLED);
        [idle, late].into_iter().flatten().min()
    }

    /// Notes since when nothing is recognised.
    fn read(&mut self, now: Instant) {
        let Sight { composer, busy, option_list, .. } = &self.sight;
        let recognised = composer.is_some() || *busy || self.asking.on_screen();
        let again = self.unread.filter(|unread| unread.option_list == *option_list);
        let unread = again.unwrap_or(Unread { since: now, option_list: *option_list });
        self.unread = (!recognised).then_some(unread);
    }

    /// An error that only the screen told of has gone from it, so something was done since. Whether that is over, the
    /// next looks say.
    fn forgive(&mut self) {
        let word = self.standing.word();
        let (told, at) = (word.cause == SCREEN_ERROR, word.at);
        let gone = self.sight.failed.is_none() && self.sight.composer.is_some() && !self.sight.busy;
        if told && gone {
            self.standing.stand(screen_word(Turn::Running { retrying: None }, "screen:changed", at));
        }
    }

    /// The screen of an agent that waits for a message.
    fn looks_idle(&self) -> bool {
        let running = matches!(self.standing.word().turn, Turn::Running { .. } | Turn::Unknown);
        let sight = &self.sight;
        running
            && self.habits.sure_idle_screen
            && sight.composer.is_some()
            && !sight.busy
            && !self.asking.on_screen()
            && !sight.option_list
    }

    fn count_idle_looks(&mut self, now: Instant) {
        if !self.looks_idle() {
            self.idle_looks = IdleLooks::default();
            return;
        }
        if self.idle_looks.last.is_none_or(|last| now.duration_since(last) >= LOOK_APART) {
            self.idle_looks = IdleLooks { count: self.idle_looks.count + 1, last: Some(now) };
        }
        let settled = now.duration_since(self.standing.last_sign()) >= SETTLED;
        if self.idle_looks.count >= LOOKS && settled {
            self.vote(now, AgentState::Idle, "screen:composer", "the composer, and no running turn");
            self.standing.stand(screen_word(Turn::Over(End::Well), "screen:composer", now));
            self.asking.forget_before(now);
        }
    }
}

fn screen_word(turn: Turn, cause: &'static str, at: Instant) -> Word {
    Word { turn, tier: Tier::Screen, cause, at }
}
