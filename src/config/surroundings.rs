//! The environment: what coop finds there, and what its child does.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use super::agent::NUDGE_TIMEOUT;
use crate::cli::{Serve, variables};
use crate::source::HOOK_PIPE;

/// Where coop listens if it is told nothing.
const DEFAULT_SOCKET: &str = "/var/run/coop.sock";
/// Set in every child of a coop.
const MARK: &str = "COOP";
pub(super) const SOCKET: &str = "COOP_SOCKET";
pub(super) const URL: &str = "COOP_URL";
const SESSION: &str = "COOP_SESSION_ID";
const NONCE: &str = "COOP_HOOK_NONCE";

/// The environment that coop was started in.
pub type Environment = BTreeMap<OsString, OsString>;

/// Reads it, once.
#[expect(clippy::disallowed_methods, reason = "this is the one place that reads the environment")]
pub fn environment() -> Environment {
    std::env::vars_os().collect()
}

/// The coop that a client verb means if none is named.
pub fn default_target(environment: &Environment) -> String {
    // From inside a session its own socket is nearest, and needs no certificate.
    let inside = environment.contains_key(OsStr::new(MARK));
    let names = if inside { [SOCKET, URL] } else { [URL, SOCKET] };
    let named = names.iter().find_map(|name| environment.get(OsStr::new(name)));
    match named {
        Some(target) => target.to_string_lossy().into_owned(),
        None => default_socket(environment).to_string_lossy().into_owned(),
    }
}

/// Where a hook of this session reports, and what it proves itself with; nothing outside of a session.
pub fn hook_pipe(environment: &Environment) -> Option<(PathBuf, String)> {
    let pipe = environment.get(OsStr::new(HOOK_PIPE)).filter(|pipe| !pipe.is_empty())?;
    let nonce = environment.get(OsStr::new(NONCE))?.to_str()?;
    Some((pipe.into(), nonce.to_owned()))
}

/// Inside a coop the variable names that coop's socket, which is never ours to replace.
pub(super) fn socket(serve: &Serve, environment: &Environment) -> Option<PathBuf> {
    let inside = environment.contains_key(OsStr::new(MARK));
    let variable = environment.get(OsStr::new(SOCKET)).filter(|path| !inside && !path.is_empty());
    let named = serve.socket.clone().or_else(|| variable.map(PathBuf::from));
    named.or_else(|| serve.port.is_none().then(|| default_socket(environment)))
}

fn default_socket(environment: &Environment) -> PathBuf {
    let shared = Path::new(DEFAULT_SOCKET);
    let writable = |dir: &Path| rustix::fs::access(dir, rustix::fs::Access::WRITE_OK).is_ok();
    let runtime = environment.get(OsStr::new("XDG_RUNTIME_DIR")).filter(|dir| !dir.is_empty());
    match runtime {
        Some(runtime) if !shared.parent().is_some_and(writable) => Path::new(runtime).join("coop.sock"),
        Some(_) | None => shared.to_owned(),
    }
}

/// The state directory; and where there is none, or it cannot be written, or its path is too long
/// for a socket, a directory that nobody can have made before us.
pub(super) fn state_dirs(environment: &Environment, session_id: &str) -> Vec<PathBuf> {
    let set = |name: &str| environment.get(OsStr::new(name)).filter(|dir| !dir.is_empty()).map(PathBuf::from);
    let state = set("XDG_STATE_HOME").or_else(|| set("HOME").map(|home| home.join(".local/state")));
    let kept = state.map(|state| state.join("coop/sessions").join(session_id));
    let passing = [set("XDG_RUNTIME_DIR"), Some(PathBuf::from("/tmp"))];
    let passing = passing.into_iter().flatten().map(|dir| dir.join(format!("coop-{session_id}")));
    kept.into_iter().chain(passing).collect()
}

/// What the child sees: what coop saw, less coop's own flags, plus where it is.
pub(super) fn of_child(
    environment: &Environment,
    term: &str,
    session_id: &str,
    hook_nonce: &str,
) -> Environment {
    let mut child = environment.clone();
    for variable in variables() {
        child.remove(&variable);
    }
    // Inside another coop this is that one's pipe, which knows nothing of our child.
    child.remove(OsStr::new(HOOK_PIPE));
    child.remove(OsStr::new(NUDGE_TIMEOUT));
    child.insert("TERM".into(), term.into());
    child.insert(MARK.into(), "1".into());
    child.insert(SESSION.into(), session_id.into());
    child.insert(NONCE.into(), hook_nonce.into());
    child
}
