//! coop: runs one program on a terminal, and serves it over gRPC, HTTP/JSON and WebSocket.

// `pub` is for what the binary, the tests and the benches use; the rest is `pub(crate)`.
#![warn(unreachable_pub)]

pub mod app;
pub mod cli;
pub mod client;
pub mod config;
pub mod driver;
pub mod error;
#[cfg(test)]
mod fixtures;
#[cfg(any(test, feature = "fuzzing"))]
pub mod fuzzing;
pub mod gateway;
mod launch;
pub mod log;
mod mux;
#[expect(
    unsafe_code,
    reason = "system calls that the safe crates do not have; each block says why it is sound"
)]
mod os;
#[expect(unsafe_code, reason = "code between fork and exec; each block says why it is sound")]
pub mod pty;
mod server;
pub mod service;
mod session;
pub mod source;
pub mod term;
mod timestamp;
