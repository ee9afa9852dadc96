//! One child on one terminal, and everybody who looks at it.
//!
//! [`actor`] decides, [`shell`] does, [`handle`] asks. Everything else here is one part of
//! the actor's mind. Nothing here knows of protocols.

pub mod actor;
pub mod backend;
mod board;
pub mod clock;
pub mod command;
mod errand;
pub mod event;
pub mod handle;
pub mod lease;
mod life;
pub mod mind;
mod outbox;
pub mod outfit;
pub mod page;
pub mod recipe;
mod share;
pub mod shell;
mod side;
pub mod snapshot;
pub mod talk;
mod typist;

#[cfg(test)]
mod tests;

pub use actor::{Attendance, Conversation, DEFAULT_GRACE, Settings};
pub use backend::Backend;
pub use handle::Session;
