//! The other end of a connection, attached to every request by the accept loop.

use std::sync::Arc;

use super::connection::Connection;
use crate::service::Level;
use crate::session::by::By;

#[derive(Debug, Clone)]
pub(super) struct Peer {
    /// Where it comes from, for logs and messages.
    pub from: Arc<str>,
    pub transport: Transport,
    /// Who it is, as far as the connection tells.
    pub by: By,
    pub connection: Arc<Connection>,
}

/// The kind of listener that accepted the connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Transport {
    Tcp {
        /// What the peer's certificate permits, if the configured authority signed it.
        certificate: Option<Level>,
    },
    Unix,
    /// The session's own socket in its state directory: a client there is inside the session.
    Private,
}
