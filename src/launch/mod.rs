//! Starts children. An agent's launch is prepared first: its version is probed, its files are
//! written, its shared directory is made. All of it happens on one thread that lives as long as
//! coop, so the session never waits for a program, a disk or a lock.
//!
//! The driver decides what a launch looks like. This module must not know what a session does with
//! its child.

mod abandoned;
mod launcher;
mod prepare;
mod shared_dir;

use std::path::PathBuf;

pub(crate) use self::abandoned::remove_abandoned;
pub(crate) use self::launcher::Launcher;
pub(crate) use self::prepare::LaunchContext;
pub(crate) use self::prepare::PreparedLaunch;

/// A conversation of the agent, and the log it is kept in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conversation {
    pub id: String,
    pub log: Option<PathBuf>,
}
