//! The other end of a connection, as the accept loop knows it. Travels with every request.

use std::sync::Arc;

#[derive(Debug, Clone)]
pub struct Peer {
    /// In words, for people.
    pub from: Arc<str>,
    pub door: Door,
}

/// Which listener a connection came in by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Door {
    Tcp {
        /// The peer showed a certificate that the configured authority signed.
        certified: bool,
    },
    Unix,
    /// The session's own socket in its state directory: whoever reaches it is inside.
    Private,
}
