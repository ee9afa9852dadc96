//! One child on one terminal, and everybody who looks at it.
//!
//! [`actor`] decides, [`shell`] does, [`handle`] asks. Everything else here is one part of
//! the actor's mind. Nothing here knows of protocols.

pub mod actor;
mod board;
pub mod clock;
pub mod command;
pub mod event;
pub mod handle;
pub mod lease;
mod life;
mod outbox;
pub mod page;
pub mod recipe;
pub mod shell;
pub mod snapshot;
mod typist;

#[cfg(test)]
mod tests;

pub use actor::{DEFAULT_GRACE, Settings};
pub use handle::Session;
