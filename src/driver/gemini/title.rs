//! Reads the symbol at the start of Gemini's terminal title. The rest of the title names the folder
//! or a thought, and is ignored.
//!
//! | symbol | claim |
//! |---|---|
//! | `◇` | the turn is over; also shown at setup dialogs, but never while a tool asks |
//! | `✦`, `⏲` | a turn runs; also shown at a dialog about quota or model |
//! | `✋` | a dialog of a tool is open |

use crate::driver::evidence::{Claim, Finding};
use crate::driver::title;

pub(super) fn read(title: &str) -> Vec<Finding> {
    title::read(title, meaning).into_iter().collect()
}

fn meaning(symbol: char) -> Option<(Claim, &'static str)> {
    match symbol {
        '◇' => Some((Claim::TurnEnded, "title:ready")),
        '✦' | '⏲' => Some((Claim::Working, "title:working")),
        '✋' => Some((Claim::AtDialog, "title:action_required")),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::testing::recordings::claims;

    #[test]
    fn only_the_symbol_at_the_start_counts() {
        assert_eq!(claims(read("◇  Ready (ws)          ")), [Claim::TurnEnded]);
        assert_eq!(claims(read("✦  Working… (ws)")), [Claim::Working]);
        assert_eq!(claims(read("✦  Looking at ◇ marks")), [Claim::Working]);
        assert_eq!(claims(read("⏲  Working… (ws)")), [Claim::Working]);
        assert_eq!(claims(read("✋  Action Required (ws)")), [Claim::AtDialog]);
        for title in ["", " ", "◇", "Ready ◇", "◇Ready", "Gemini CLI (ws)"] {
            assert_eq!(claims(read(title)), [], "{title:?}");
        }
    }
}
