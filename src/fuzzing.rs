//! What the fuzz targets in `fuzz/` call: one function for each target, which feeds any bytes to
//! one part of coop and asserts what must hold for all of them. Each function is beside the code
//! that it needs to see; this module only lists them, and no build for use contains it.
//!
//! A target that keeps state between two calls would give results that cannot be repeated, so none
//! does.

pub use crate::client::fuzzing::query_filter;
pub use crate::config::fuzzing::config;
pub use crate::driver::fuzzing::screens;
pub use crate::gateway::fuzzing::{json, query};
pub use crate::gateway::ws::fuzzing::{client_frame, websocket};
pub use crate::source::fuzzing::{hook_lines, log_lines, tail};
pub use crate::term::fuzzing::{input, terminal};

#[cfg(test)]
mod tests;
