//! What the driver sees on real screens of Codex, and what it must not see on those of others.

use super::Codex;
use crate::driver::fixture::tests::{claims_only_those_of, sees_what_is_expected};

#[test]
fn every_screen_is_seen_for_what_it_is() {
    sees_what_is_expected("codex", &Codex::default());
}

#[test]
fn screens_of_other_agents_are_not_claimed() {
    claims_only_those_of("codex", &Codex::default());
}
