//! How many descriptors there may be: as many as the machine allows for coop, which serves thousands of connections, and as
//! many as coop itself was given for its child, which did not ask for more.

use std::sync::OnceLock;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

static GIVEN: OnceLock<Rlimit> = OnceLock::new();

/// Raises the limit as far as it goes without asking anybody.
pub fn raise_descriptor_limit() {
    let given = GIVEN.get_or_init(|| getrlimit(Resource::Nofile));
    let most = Rlimit { current: given.maximum, maximum: given.maximum };
    if let Err(error) = setrlimit(Resource::Nofile, most) {
        tracing::warn!(%error, "coop keeps the limit of open files that it was given");
    }
}

/// What coop was given, if it has raised its limit since.
pub(super) fn given() -> Option<Rlimit> {
    GIVEN.get().copied()
}
