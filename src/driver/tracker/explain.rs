//! Explains the verdict to people.

use super::{Tracker, Verdict, Vote};
use crate::driver::agent::Situation;

impl Tracker {
    /// The reason for the verdict, and the latest vote of every source.
    pub(crate) fn explain(&self) -> (String, Vec<Vote>) {
        let Verdict { situation, tier, cause } = &self.verdict;
        let state = situation.state().as_str();
        let reason = match situation {
            Situation::Unknown if self.presence.absence().is_some() => {
                self.presence.explain().to_owned()
            }
            Situation::Exited => "the process ended, which is final".to_owned(),
            Situation::Prompt(prompt) if prompt.ready => format!("a dialog is on screen ({cause})"),
            Situation::Prompt(_) => {
                format!("a dialog was announced ({cause}) and is not taking keys yet")
            }
            Situation::Idle if self.reading.composer.is_some() => {
                format!(
                    "{} said that no turn is running ({cause}), and the composer is on screen",
                    tier.as_str()
                )
            }
            Situation::Idle => {
                format!(
                    "{} said that no turn is running ({cause}), and the screen shows no dialog",
                    tier.as_str()
                )
            }
            Situation::Working { .. } if self.turn.current().turn.is_over() => {
                format!("{cause}; the turn is said to be over, but the screen does not show it yet")
            }
            Situation::Starting
            | Situation::Working { .. }
            | Situation::Error(_)
            | Situation::Parked(_)
            | Situation::Restarting
            | Situation::Unknown => {
                format!("{} made the newest claim that counts: {state} ({cause})", tier.as_str())
            }
        };
        let reason = match situation {
            Situation::Exited | Situation::Unknown => reason,
            Situation::Starting
            | Situation::Working { .. }
            | Situation::Idle
            | Situation::Prompt(_)
            | Situation::Error(_)
            | Situation::Parked(_)
            | Situation::Restarting => format!("{reason}; {}", self.presence.explain()),
        };
        (reason, self.votes.values().cloned().collect())
    }
}
