//! Reads the symbol at the start of Claude's terminal title. The rest of the title names the
//! conversation and is ignored.

use crate::driver::evidence::{Claim, Finding};
use crate::driver::title;

/// The symbol between turns and at dialogs.
const RESTING: char = '✳';
/// The symbols that alternate while a turn runs.
const SPINNER: [char; 2] = ['◐', '◑'];

pub(super) fn read(title: &str) -> Vec<Finding> {
    title::read(title, meaning).into_iter().collect()
}

fn meaning(symbol: char) -> Option<(Claim, &'static str)> {
    match symbol {
        RESTING => Some((Claim::NotWorking, "title:resting")),
        symbol if SPINNER.contains(&symbol) => Some((Claim::Working, "title:spinner")),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::testing::recordings::claims;

    #[test]
    fn only_the_symbol_at_the_start_counts() {
        assert_eq!(claims(read("✳ Claude Code")), [Claim::NotWorking]);
        assert_eq!(claims(read("◐ Claude Code")), [Claim::Working]);
        assert_eq!(claims(read("◑ a conversation with ✳ in it")), [Claim::Working]);
        assert_eq!(claims(read("Claude Code ✳")), []);
        assert_eq!(claims(read("✳")), []);
        assert_eq!(claims(read("◐◑ art")), []);
        assert_eq!(claims(read("")), []);
    }
}
