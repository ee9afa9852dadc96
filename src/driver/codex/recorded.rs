//! What must be made of recordings of the real Codex.

use super::Codex;
use crate::driver::recorded::{check_hooks, check_logs, check_stream, damage_does_no_harm};

#[test]
fn hooks_mean_what_they_should() {
    check_hooks::<Codex>("codex");
}

#[test]
fn log_lines_mean_what_they_should() {
    check_logs::<Codex>("codex");
}

#[test]
fn printed_lines_mean_what_they_should() {
    check_stream::<Codex>("codex");
}

#[test]
fn nothing_that_is_damaged_does_any_harm() {
    damage_does_no_harm::<Codex>("codex", &["hooks", "logs", "stream"]);
}
