//! coop: one child on a terminal, served to programs and people.

pub mod driver;
pub mod error;
pub mod pty;
pub mod service;
pub mod session;
pub mod term;
