//! What Claude puts in front of its terminal's title. The words after it are the conversation's and say nothing.

use crate::driver::agent::Tier;
use crate::driver::evidence::{Claim, Finding};

/// What stands there between turns, and at dialogs.
const RESTING: char = '✳';
/// What alternates there while a turn runs.
const SPINNER: [char; 2] = ['◐', '◑'];

pub(super) fn read(title: &str) -> Vec<Finding> {
    let mut chars = title.chars();
    let (Some(mark), Some(' ')) = (chars.next(), chars.next()) else { return Vec::new() };
    let (claim, cause) = match mark {
        RESTING => (Claim::NotWorking, "title:resting"),
        mark if SPINNER.contains(&mark) => (Claim::Working, "title:spinner"),
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
        assert_eq!(claims("✳ Claude Code"), [Claim::NotWorking]);
        assert_eq!(claims("◐ Claude Code"), [Claim::Working]);
        assert_eq!(claims("◑ a conversation with ✳ in it"), [Claim::Working]);
        assert_eq!(claims("Claude Code ✳"), []);
        assert_eq!(claims("✳"), []);
        assert_eq!(claims("◐◑ art"), []);
        assert_eq!(claims(""), []);
    }
}
