//! The names of the environment variables that coop sets for its child, or reads beside its flags.
//! The variables that stand for a flag are declared with the flag, in `cli`.

pub(super) use crate::source::HOOK_PIPE;

/// Set to 1 in every child of a coop.
pub(super) const COOP: &str = "COOP";
/// The Unix socket of the coop around the child; for a server outside of any coop, its socket.
pub(super) const SOCKET: &str = "COOP_SOCKET";
/// The URL of the coop around the child.
pub(super) const URL: &str = "COOP_URL";
/// The session that the child runs in.
pub(super) const SESSION_ID: &str = "COOP_SESSION_ID";
/// The secret by which a hook proves that it comes from inside the session.
pub(super) const HOOK_NONCE: &str = "COOP_HOOK_NONCE";
/// Set to 1 for a coop whose memory a debugger or profiler may read.
pub(super) const DUMPABLE: &str = "COOP_DUMPABLE";
/// After how many milliseconds without a confirmation a nudge presses Enter again.
pub(super) const NUDGE_TIMEOUT: &str = "COOP_NUDGE_TIMEOUT_MS";
