//! One child on one terminal, and its callers and readers.
//!
//! [`actor`] decides, [`run`] carries out, [`handle`] is what callers hold. Nothing here knows of
//! protocols.

mod actor;
pub(crate) mod agent;
pub(crate) mod backend;
pub(crate) mod by;
mod child_life;
pub(crate) mod child_spec;
pub(crate) mod clock;
pub(crate) mod command;
pub(crate) mod event;
pub(crate) mod handle;
pub(crate) mod lease;
pub(crate) mod outcome;
pub(crate) mod program_status;
mod publisher;
mod replies;
pub(crate) mod request;
pub(crate) mod run;
pub(crate) mod scrollback_page;
mod signals;
pub(crate) mod snapshot;
mod typist;

#[cfg(test)]
mod tests;

pub(crate) use actor::{AgentSpec, DEFAULT_GRACE, Settings};
pub(crate) use backend::BackendKind;
pub(crate) use handle::Session;
