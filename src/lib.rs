//! coop: one child on a terminal, served to programs and people.

pub mod app;
pub mod cli;
pub mod client;
pub mod config;
pub mod driver;
pub mod error;
pub mod gateway;
pub mod log;
pub mod pty;
pub mod server;
pub mod service;
pub mod session;
pub mod term;
