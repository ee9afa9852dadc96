//! Why the verdict is what it is, for people.

use super::turn::Turn;
use super::{Tracker, Verdict, Vote};
use crate::driver::agent::Situation;

impl Tracker {
    /// Every source's last word, and why the verdict is what it is.
    pub fn explain(&self) -> (String, Vec<Vote>) {
        let Verdict { situation, tier, cause } = &self.verdict;
        let state = situation.state().as_str();
        let reason = match situation {
            Situation::Exited => "the process ended, and nothing comes after that".to_owned(),
            Situation::Prompt(prompt) if prompt.ready => format!("a dialog is on screen ({cause})"),
            Situation::Prompt(_) => format!("a dialog was announced ({cause}) and is not taking keys yet"),
            Situation::Idle if self.sight.composer.is_some() => {
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
            Situation::Working { .. } if matches!(self.standing.word().turn, Turn::Over(_)) => {
                format!("{cause}; the turn is said to be over, but the screen does not show it yet")
            }
            Situation::Starting
            | Situation::Working { .. }
            | Situation::Error(_)
            | Situation::Parked(_)
            | Situation::Restarting
            | Situation::Unknown => {
                format!("{} has the newest word that counts: {state} ({cause})", tier.as_str())
            }
        };
        (reason, self.votes.values().cloned().collect())
    }
}
