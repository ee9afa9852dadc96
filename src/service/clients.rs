//! The number of WebSocket clients. Each connection counts itself.

use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};

/// The counter; clones share it.
#[derive(Debug, Clone, Default)]
pub struct Clients {
    count: Arc<AtomicI32>,
}

/// One counted client; dropping it uncounts it.
#[derive(Debug)]
pub struct Connected {
    clients: Clients,
}

impl Clients {
    pub fn count(&self) -> i32 {
        self.count.load(Ordering::Relaxed)
    }

    #[must_use]
    pub fn connect(&self) -> Connected {
        self.count.fetch_add(1, Ordering::Relaxed);
        Connected { clients: self.clone() }
    }
}

impl Drop for Connected {
    fn drop(&mut self) {
        self.clients.count.fetch_sub(1, Ordering::Relaxed);
    }
}
