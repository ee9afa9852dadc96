//! coop: one child on a terminal, served to programs and people.

pub mod app;
pub mod cli;
pub mod client;
pub mod config;
pub mod driver;
pub mod error;
pub mod gateway;
pub mod log;
#[expect(
    unsafe_code,
    reason = "forking, and calls that the safe crates do not have; each block says why it is sound"
)]
pub mod pty;
pub mod server;
pub mod service;
pub mod session;
pub mod source;
pub mod term;
