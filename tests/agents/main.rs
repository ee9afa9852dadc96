//! Tests of coop with the real claude, codex and gemini on its terminal, against a fake model on
//! loopback.
#![allow(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::print_stderr,
    reason = "tests drive whole processes, and fail by panicking and by saying why"
)]

mod attach;
mod claude;
mod codex;
mod draft;
#[allow(dead_code, reason = "helpers stay although no current test uses them")]
mod fake_model;
mod foreground;
mod gemini;
#[allow(dead_code, reason = "helpers stay although no current test uses them")]
mod harness;
mod interrupt;
mod keyboard;
mod lifecycle;
mod nudge;
mod permission;
mod question;
mod resume;
mod scenario;
mod sizes;
mod usage;
mod walk;
mod without_hooks;
