//! What Gemini puts in front of its terminal's title. The words after it are the folder's, or a thought, and say
//! nothing.
//!
//! | mark | claim |
//! |---|---|
//! | `◇` | no turn runs. It never stands there while a tool asks, so the turn is over; but it does at set-up dialogs |
//! | `✦`, `⏲` | a turn runs; also while a dialog about quota or model stands, which only the screen knows |
//! | `✋` | a dialog of a tool's stands |

use crate::driver::agent::Tier;
use crate::driver::evidence::{Claim, Finding};

pub(super) fn read(title: &str) -> Vec<Finding> {
    let mut chars = title.chars();
    let (Some(mark), Some(' ')) = (chars.next(), chars.next()) else { return Vec::new() };
    let (claim, cause) = match mark {
        '◇' => (Claim::TurnEnded, "title:ready"),
        '✦' | '⏲' => (Claim::Working, "title:working"),
        '✋' => (Claim::Waiting, "title:action_required"),
        _ => return Vec::new(),
    };
    vec![Finding::new(Tier::Terminal, cause, claim, title)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::recorded;

    fn claims(title: &str) -> Vec<Claim> {
        recorded::claims(read(title))
    }

    #[test]
    fn only_the_mark_in_front_counts() {
        assert_eq!(claims("◇  Ready (ws)          "), [Claim::TurnEnded]);
        assert_eq!(claims("✦  Working… (ws)"), [Claim::Working]);
        assert_eq!(claims("✦  Looking at ◇ marks"), [Claim::Working]);
        assert_eq!(claims("⏲  Working… (ws)"), [Claim::Working]);
        assert_eq!(claims("✋  Action Required (ws)"), [Claim::Waiting]);
        for title in ["", " ", "◇", "Ready ◇", "◇Ready", "Gemini CLI (ws)"] {
            assert_eq!(claims(title), [], "{title:?}");
        }
    }
}
