//! Applies the limits of its caller to a request: open calls, the size of its body, and its share
//! of the budget of unfinished input. The guard and the health port decide what kind of caller it
//! is.

use std::sync::Arc;

use axum::extract::Request;
use coop_client::MESSAGE_LIMIT;
use http::HeaderMap;
use http::header::{AUTHORIZATION, CONTENT_LENGTH};
use tokio::time::{Instant, sleep_until};

use super::connection::{Call, Connection};
use super::guard::{Policy, WS_PATH, knows_a_token};
use super::limits::{EXEMPT_BODY, STRANGER_CALLS};
use crate::error::{Code, Error};
use crate::gateway::Intake;
use crate::gateway::ws::Authentication;

/// The kind of a request.
#[derive(Debug, Clone, Copy)]
pub(super) struct Kind {
    /// Its caller has shown a token, or needs none.
    pub trusted: bool,
    /// The called method needs no token.
    pub exempt: bool,
}

/// Refuses a call of a connection that has too many open and has shown no token; this request may
/// show it. It is decided before a task is made for the call, since a client can send hundreds of
/// calls at once. A connection that tries tokens in this way is ended.
pub(super) fn check_calls(
    policy: &Policy,
    connection: &Connection,
    headers: &HeaderMap,
) -> Result<(), Error> {
    if connection.is_trusted()
        || connection.calls() <= STRANGER_CALLS
        || knows_a_token(policy, headers)
    {
        return Ok(());
    }
    if headers.contains_key(AUTHORIZATION) {
        _ = connection.auth_failed();
        connection.end();
    }
    Err(Error::new(
        Code::TooLarge,
        format!("a connection without a token may have {STRANGER_CALLS} calls open"),
    ))
}

/// Admits a request, and attaches what the transports need to limit its input.
pub(super) fn admit(
    connection: &Arc<Connection>,
    request: &mut Request,
    kind: Kind,
) -> Result<(), Error> {
    if kind.trusted {
        connection.trust();
    }
    let limit = if kind.exempt { EXEMPT_BODY } else { MESSAGE_LIMIT };
    let intake = Intake::new(Arc::clone(connection.budget()), kind.trusted, limit);
    let length = request.headers().get(CONTENT_LENGTH);
    let length = length.and_then(|text| text.to_str().ok()?.parse::<usize>().ok());
    // Other handlers decide themselves whether they read a body at all.
    if kind.exempt && length.is_some_and(|length| length > limit) {
        return Err(intake.too_large());
    }
    if !kind.trusted && request.uri().path() == WS_PATH {
        let socket = Socket { connection: Arc::clone(connection), _call: connection.begin() };
        request.extensions_mut().insert::<Arc<dyn Authentication>>(Arc::new(socket));
    }
    request.extensions_mut().insert(intake);
    Ok(())
}

/// A WebSocket that was upgraded without a token. It counts as a call until it has shown one.
struct Socket {
    connection: Arc<Connection>,
    _call: Option<Call>,
}

impl Authentication for Socket {
    fn succeeded(&self) {
        self.connection.trust();
    }

    fn failed(&self) {
        // The socket is closed, so there is no next attempt to delay.
        _ = self.connection.auth_failed();
    }
}

/// Notes a wrong token, and waits as long as its answer must be delayed.
pub(super) async fn delay_wrong_token(connection: &Connection) {
    sleep_until(Instant::now() + connection.auth_failed()).await;
}
