//! coop with the real agents in it: the real claude, codex and gemini, on a terminal of the real
//! coop, against a model that the test itself plays on loopback.
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
mod bare;
mod claude;
mod codex;
#[allow(dead_code, reason = "what a test can ask of the model does not depend on the tests there are")]
mod fake;
mod gemini;
mod interrupt;
mod life;
mod nudge;
mod permission;
mod question;
mod resume;
mod scenario;
mod talk;
mod usage;
#[allow(dead_code, reason = "what a test can ask of a world does not depend on the tests there are")]
mod world;
