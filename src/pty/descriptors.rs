//! The limit of open descriptors: coop, which serves thousands of connections, takes as many as the
//! system allows, while its child gets the limit that coop itself was started with.

use std::sync::OnceLock;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

static ORIGINAL: OnceLock<Rlimit> = OnceLock::new();

/// Raises the limit as far as an ordinary process may.
pub fn raise_descriptor_limit() {
    let original = ORIGINAL.get_or_init(|| getrlimit(Resource::Nofile));
    let raised = Rlimit { current: original.maximum, maximum: original.maximum };
    if let Err(error) = setrlimit(Resource::Nofile, raised) {
        tracing::warn!(%error, "cannot raise the limit of open files");
    }
}

/// How many descriptors coop may have open; `None` if there is no limit.
pub fn descriptor_limit() -> Option<u64> {
    getrlimit(Resource::Nofile).current
}

/// The limit that coop was started with, if it has raised its own.
pub(super) fn original_limit() -> Option<Rlimit> {
    ORIGINAL.get().copied()
}
