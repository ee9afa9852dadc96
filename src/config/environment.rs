//! The environment: the values that coop reads from it, and the environment of its child.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};

use super::variables::{
    COOP, DUMPABLE, HOOK_NONCE, HOOK_PIPE, NUDGE_TIMEOUT, SESSION_ID, SOCKET, URL,
};
use crate::cli::{Serve, flag_variables};
use crate::os;

/// Where coop listens without a flag or variable that names another path.
const DEFAULT_SOCKET: &str = "/var/run/coop.sock";

/// The flags and variables of the server and of the verbs whose values are secret.
const SECRET_FLAGS: [&str; 2] = ["--auth-token", "--token"];
const SECRET_VARIABLES: [&str; 1] = ["COOP_AUTH_TOKEN"];

/// The environment that coop was started in.
pub type Environment = BTreeMap<OsString, OsString>;

/// Reads the environment, once.
#[expect(clippy::disallowed_methods, reason = "this is the one place that reads the environment")]
pub fn environment() -> Environment {
    std::env::vars_os().collect()
}

/// Hides the token from other processes, the child among them: overwrites it where the kernel shows
/// the arguments and the environment of this process, and closes this process's memory to
/// debuggers. Both must have been read before, and no thread may have been started.
pub fn hide_secrets(environment: &Environment) -> io::Result<()> {
    os::overwrite_secrets(&SECRET_FLAGS, &SECRET_VARIABLES)?;
    if environment.get(OsStr::new(DUMPABLE)).is_some_and(|value| value == "1") {
        return Ok(());
    }
    os::forbid_dumps()
}

/// The path of the running coop binary.
pub(crate) fn coop_binary() -> io::Result<PathBuf> {
    std::env::current_exe()
}

/// The session that this process runs in, if it runs in one.
pub fn surrounding_session(environment: &Environment) -> Option<String> {
    environment.get(OsStr::new(SESSION_ID)).map(|id| id.to_string_lossy().into_owned())
}

/// The coop that a client verb calls if none is named.
pub fn default_target(environment: &Environment) -> String {
    // Inside a session the session's own socket comes first: it needs no certificate.
    let inside = environment.contains_key(OsStr::new(COOP));
    let names = if inside { [SOCKET, URL] } else { [URL, SOCKET] };
    let named = names.iter().find_map(|name| environment.get(OsStr::new(name)));
    match named {
        Some(target) => target.to_string_lossy().into_owned(),
        None => default_socket(environment).to_string_lossy().into_owned(),
    }
}

/// The pipe that a hook of this session writes to, and its nonce; `None` outside of a session.
pub fn hook_pipe(environment: &Environment) -> Option<(PathBuf, String)> {
    let pipe = environment.get(OsStr::new(HOOK_PIPE)).filter(|pipe| !pipe.is_empty())?;
    let nonce = environment.get(OsStr::new(HOOK_NONCE))?.to_str()?;
    Some((pipe.into(), nonce.to_owned()))
}

/// The Unix socket to listen on. Inside another coop the variable names that coop's socket, which
/// must not be replaced.
pub(super) fn socket(serve: &Serve, environment: &Environment) -> Option<PathBuf> {
    let inside = environment.contains_key(OsStr::new(COOP));
    let variable = environment.get(OsStr::new(SOCKET)).filter(|path| !inside && !path.is_empty());
    let named = serve.socket.clone().or_else(|| variable.map(PathBuf::from));
    named.or_else(|| serve.port.is_none().then(|| default_socket(environment)))
}

fn default_socket(environment: &Environment) -> PathBuf {
    let shared = Path::new(DEFAULT_SOCKET);
    let writable = |dir: &Path| rustix::fs::access(dir, rustix::fs::Access::WRITE_OK).is_ok();
    let runtime = environment.get(OsStr::new("XDG_RUNTIME_DIR")).filter(|dir| !dir.is_empty());
    match runtime {
        Some(runtime) if !shared.parent().is_some_and(writable) => {
            Path::new(runtime).join("coop.sock")
        }
        Some(_) | None => shared.to_owned(),
    }
}

/// The candidates for the session's directory, the best first: below the state directory, or, if
/// that cannot be written or its path is too long for a socket, below a temporary one. The session
/// id in the name keeps other users from creating it first.
pub(super) fn state_dirs(environment: &Environment, session_id: &str) -> Vec<PathBuf> {
    let set = |name: &str| {
        environment.get(OsStr::new(name)).filter(|dir| !dir.is_empty()).map(PathBuf::from)
    };
    let state = set("XDG_STATE_HOME").or_else(|| set("HOME").map(|home| home.join(".local/state")));
    let lasting = state.map(|state| state.join("coop/sessions").join(session_id));
    let temporary = [set("XDG_RUNTIME_DIR"), Some(PathBuf::from("/tmp"))];
    let temporary =
        temporary.into_iter().flatten().map(|dir| dir.join(format!("coop-{session_id}")));
    lasting.into_iter().chain(temporary).collect()
}

/// The environment of the child: coop's own, without coop's flags, and with the session's
/// variables.
pub(super) fn of_child(
    environment: &Environment,
    term: &str,
    session_id: &str,
    hook_nonce: &str,
) -> Environment {
    let mut child = environment.clone();
    for variable in flag_variables() {
        child.remove(&variable);
    }
    // Inside another coop this is the pipe of that coop, which does not know this child.
    child.remove(OsStr::new(HOOK_PIPE));
    child.remove(OsStr::new(NUDGE_TIMEOUT));
    child.remove(OsStr::new(DUMPABLE));
    child.insert("TERM".into(), term.into());
    child.insert(COOP.into(), "1".into());
    child.insert(SESSION_ID.into(), session_id.into());
    child.insert(HOOK_NONCE.into(), hook_nonce.into());
    child
}
