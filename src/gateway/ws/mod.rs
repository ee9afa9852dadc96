//! The WebSocket: JSON frames over the very calls and streams that every other transport has.
//! It knows how frames are named and addressed, and no RPC's meaning.
//!
//! What is said here beyond the table of client frames ([`ask`]) and that of pushes ([`push`]):
//!
//! * `exit`, `restart`, `resize`, `shutdown` and `gap` are pushed whatever was subscribed to, and
//!   `exit` only after the last output. The first `output` frame is empty: it says at which offset
//!   the live output begins, so that a `replay` can be joined to it without a seam.
//! * A refused call is an `error` frame and the connection goes on, NOT_READY while a child is
//!   replaced included. The connection itself is closed with 4401 (no token, or a wrong one), 4503
//!   (coop was going already when it came), 1009 (a frame over the limit) or 1001 (coop goes).
//! * Calls run in the order in which they came; `ping` alone is answered at once. What was asked
//!   before a client closed is still done.
//! * Coop pings every 20 seconds, for proxies that cut silent connections, and does not mind a
//!   client that is too busy to answer.

mod ask;
mod connection;
mod frame;
mod push;
mod queue;
mod socket;
mod topic;
mod upgrade;
mod work;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use axum::extract::Request;
use axum::routing::MethodRouter;
use tokio::sync::Semaphore;
use tokio_util::task::TaskTracker;

use super::refusal::{method_not_allowed, refusal};
use crate::service::{Level, Service};

/// How far a token reaches; None if it is no token of ours.
pub type Authenticate = dyn Fn(&str) -> Option<Level> + Send + Sync;

/// What the server lends to its WebSockets.
#[derive(Clone)]
pub struct Settings {
    pub authenticate: Arc<Authenticate>,
    /// The places for sockets that have not shown a token yet.
    pub unauthenticated: Arc<Semaphore>,
    /// Owns the connections, so that a shutdown can wait for them.
    pub tracker: TaskTracker,
}

/// `GET /ws`.
pub fn route(service: Service, settings: Settings) -> MethodRouter {
    let handler = move |request: Request| {
        let upgraded = upgrade::upgrade(service.clone(), settings.clone(), request);
        async move { upgraded.unwrap_or_else(|error| refusal(&error)) }
    };
    axum::routing::get(handler).fallback(method_not_allowed)
}
