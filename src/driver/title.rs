//! Reads terminal titles that start with a symbol for the agent's state, followed by a space. Only
//! the agent's driver knows what its symbols mean.

use super::agent::Tier;
use super::evidence::{Claim, Finding};

/// The finding for the symbol at the start of a title, if `meaning` knows it.
pub(super) fn read(
    title: &str,
    meaning: fn(char) -> Option<(Claim, &'static str)>,
) -> Option<Finding> {
    let mut chars = title.chars();
    let (Some(symbol), Some(' ')) = (chars.next(), chars.next()) else { return None };
    let (claim, cause) = meaning(symbol)?;
    Some(Finding::new(Tier::Terminal, cause, claim, title))
}
