//! The WebSocket: JSON frames over the same calls and streams as every other transport. It knows
//! how frames are named and addressed, and not what an RPC does.
//!
//! The rules beyond the tables of client frames ([`client_frame`]) and of pushes ([`push`]):
//!
//! * `exit`, `restart`, `resize`, `shutdown` and `gap` are pushed to every client, and `exit` only
//!   after the last output. The first `output` frame is empty and has the offset at which live
//!   output begins, so that a client can join a `replay` to it.
//! * A refused call is an `error` frame and the connection stays open, also for NOT_READY while the
//!   child is replaced. The connection is closed with 4401 (the token is missing or wrong), 4503
//!   (coop was shutting down before the client came), 1009 (a frame over the limit) or 1001 (coop
//!   shuts down).
//! * Calls run in the order of their frames; only `ping` is answered at once. Calls that a client
//!   sent before it disconnected are still made.
//! * coop pings every 20 seconds, for proxies that close silent connections, and does not require
//!   a pong.

mod client_frame;
mod connection;
mod frame;
mod frame_meter;
mod frames;
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) mod fuzzing;
mod push;
mod queue;
mod socket;
mod topic;
mod upgrade;
mod worker;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use axum::extract::Request;
use axum::routing::MethodRouter;
use tokio::sync::Semaphore;
use tokio_util::task::TaskTracker;

use super::refusal::{method_not_allowed, refusal};
use crate::service::{Caller, Grant, Service};

/// Returns what a caller's token is good for; None if the token is wrong.
pub type Authenticate = dyn Fn(&Caller, &str) -> Option<Grant> + Send + Sync;

/// What the WebSockets need from the server.
#[derive(Clone)]
pub struct Settings {
    pub authenticate: Arc<Authenticate>,
    /// Limits the sockets that are not authenticated yet.
    pub unauthenticated: Arc<Semaphore>,
    /// Owns the connections, so that a shutdown can wait for them.
    pub tracker: TaskTracker,
}

/// How the server learns whether a client that was upgraded without a token has sent a valid one.
/// It is in the extensions of the upgrade request, and kept until then.
pub trait Authentication: Send + Sync {
    fn succeeded(&self);
    fn failed(&self);
}

/// `GET /ws`.
pub fn route(service: Service, settings: Settings) -> MethodRouter {
    let handler = move |request: Request| {
        let upgraded = upgrade::upgrade(service.clone(), settings.clone(), request);
        async move { upgraded.unwrap_or_else(|error| refusal(&error)) }
    };
    axum::routing::get(handler).fallback(method_not_allowed)
}
