//! The session's private directory, with the session's own socket in it, and the lock that says
//! that the session lives. It does not know what else the session keeps there.
//!
//! A directory is made and locked under another name and then renamed, so that no other coop ever
//! finds it without its lock.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};

use super::StartError;
use crate::server::UnixSocket;

/// The session's own socket.
const SOCKET: &str = "coop.sock";
/// The file that the session holds a lock on. The kernel releases it when the process ends, however
/// it ends; a program that coop starts does not inherit it.
pub(super) const LOCK: &str = "coop.sock.lock";
/// What is kept of a session after its end. Everything else is removed with the session.
pub(super) const STORE: &str = "store";

/// The directory of this session. Dropping it removes everything in it but the store, and the
/// directory itself if there is none.
#[derive(Debug)]
pub(super) struct SessionDir {
    path: PathBuf,
    /// Held as long as the session lives. Some network file systems have no locks.
    _lock: Option<File>,
}

impl SessionDir {
    /// Creates the directory and its socket at the first candidate that can be used.
    pub(super) fn create(candidates: &[PathBuf]) -> Result<(Self, UnixSocket), StartError> {
        let mut first_error = None;
        for path in candidates {
            let created = Self::create_at(path)
                .map_err(|reason| StartError::StateDir { path: path.clone(), reason })
                .and_then(|dir| Ok((UnixSocket::bind(&path.join(SOCKET))?, dir)));
            match created {
                Ok((socket, dir)) => return Ok((dir, socket)),
                Err(error) => {
                    tracing::warn!(%error, "trying the next candidate for the session's directory");
                    first_error.get_or_insert(error);
                }
            }
        }
        Err(first_error.unwrap_or_else(|| StartError::StateDir {
            path: PathBuf::new(),
            reason: io::ErrorKind::NotFound.into(),
        }))
    }

    fn create_at(path: &Path) -> io::Result<Self> {
        let mut private = DirBuilder::new();
        private.mode(0o700);
        let staging = staging(path).ok_or(io::ErrorKind::InvalidInput)?;
        if let Some(parent) = path.parent() {
            private.recursive(true).create(parent)?;
        }
        // It fails if the directory exists: in `/tmp` it could belong to another user.
        private.recursive(false).create(&staging)?;
        let locked = lock_new(&staging)
            .and_then(|lock| fs::rename(&staging, path).map(|()| lock))
            .map(|lock| Self { path: path.to_owned(), _lock: lock });
        if locked.is_err() {
            drop(fs::remove_dir_all(&staging));
        }
        locked
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for SessionDir {
    fn drop(&mut self) {
        // What cannot be removed now is left to the next coop.
        drop(remove_session(&self.path));
    }
}

/// The name under which a directory is made.
pub(super) fn staging(path: &Path) -> Option<PathBuf> {
    let name = path.file_name()?.to_str()?;
    Some(path.with_file_name(format!(".{name}.new")))
}

/// What there is of a directory, or of one that is being made, before it has a socket; in the
/// order in which it is made.
pub(super) fn traces(path: &Path) -> impl Iterator<Item = PathBuf> {
    let dirs = [staging(path), Some(path.to_owned())].into_iter().flatten();
    dirs.flat_map(|dir| [dir.clone(), dir.join(LOCK)])
}

fn lock_new(dir: &Path) -> io::Result<Option<File>> {
    let mut private = OpenOptions::new();
    let file = private.write(true).create_new(true).mode(0o600).open(dir.join(LOCK))?;
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(Some(file)),
        Err(error) => {
            // No other coop can take the lock either, so none takes this session for dead.
            tracing::warn!(%error, dir = %dir.display(), "the session's directory has no lock");
            Ok(None)
        }
    }
}

/// Removes everything but the store; the lock goes last, and the directory with it unless there is
/// a store.
pub(super) fn remove_session(dir: &Path) -> io::Result<()> {
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let name = entry.file_name();
        if name == LOCK || name == STORE {
            continue;
        }
        // Links are removed, not followed.
        let removed = match entry.file_type()?.is_dir() {
            true => fs::remove_dir_all(entry.path()),
            false => fs::remove_file(entry.path()),
        };
        match removed {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Ok(()) | Err(_) => {}
        }
    }
    // It fails if there is something in the store.
    drop(fs::remove_dir(dir.join(STORE)));
    if dir.join(STORE).symlink_metadata().is_err() {
        drop(fs::remove_file(dir.join(LOCK)));
        drop(fs::remove_dir(dir));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(dir: &Path) -> Vec<String> {
        let entries = fs::read_dir(dir).unwrap().flatten();
        let mut names: Vec<_> =
            entries.map(|entry| entry.file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[tokio::test]
    async fn everything_but_the_store_goes_with_the_session() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("sessions/1");
        let (dir, socket) = SessionDir::create(std::slice::from_ref(&path)).unwrap();
        assert_eq!(dir.path(), path);
        fs::write(path.join("mcp.json"), "secret").unwrap();
        fs::create_dir(path.join(STORE)).unwrap();
        fs::write(path.join(STORE).join("events"), "kept").unwrap();
        drop(socket);
        drop(dir);
        assert_eq!(names(&path), [LOCK, STORE]);
        fs::remove_file(path.join(STORE).join("events")).unwrap();
        remove_session(&path).unwrap();
        assert_eq!(names(&home.path().join("sessions")), Vec::<String>::new());
    }

    #[tokio::test]
    async fn a_candidate_that_fails_leaves_nothing() {
        let home = tempfile::tempdir().unwrap();
        let long = home.path().join("x".repeat(100));
        let good = home.path().join("good");
        let (dir, _socket) = SessionDir::create(&[long.join("1"), good]).unwrap();
        assert_eq!(names(&long), Vec::<String>::new(), "the path is too long for a socket");
        drop(dir);
        let error = SessionDir::create(&[PathBuf::from("/proc/nowhere/1")]).unwrap_err();
        assert!(error.to_string().contains("/proc/nowhere/1"), "{error}");
    }

    #[tokio::test]
    async fn a_living_session_holds_its_lock() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("1");
        let (dir, _socket) = SessionDir::create(std::slice::from_ref(&path)).unwrap();
        let other = File::open(path.join(LOCK)).unwrap();
        assert!(flock(&other, FlockOperation::NonBlockingLockExclusive).is_err());
        drop(dir);
        assert!(flock(&other, FlockOperation::NonBlockingLockExclusive).is_ok());
    }
}
