//! Removes what dead sessions have left: sockets, pipes, secret files, shared directories, and old
//! stores. A session is dead if the lock on its directory can be taken; no pid says so, since it
//! may be one of another boot, machine or container, and no process is ended.

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rustix::fs::{FlockOperation, OFlags, flock};
use rustix::process::geteuid;
use uuid::Uuid;

use super::session_dir::{LOCK, STORE, remove_session};
use super::stores::Stores;
use crate::{launch, server};

/// How many entries of a directory are read, and how many sessions are examined, at one start.
const ENTRIES: usize = 16_384;
const SESSIONS: usize = 4_096;
/// A directory that is being made has its final name long before this.
const STAGING_AGE: Duration = Duration::from_secs(3600);

/// Where sessions have their directories, and how the names of these begin.
#[derive(Debug)]
struct Place {
    root: PathBuf,
    prefix: String,
}

/// Whether a directory belongs to a living session.
enum Life {
    /// It lives, or it is not known to be dead.
    Alive,
    /// It is dead, and cannot come back while its lock is held.
    Dead { _lock: Option<File> },
}

/// Removes what the dead sessions beside these candidates of the own session have left.
pub(super) fn clean(candidates: &[PathBuf], session_id: &str) {
    let mut stores = Stores::default();
    for path in candidates {
        let name = path.file_name().and_then(OsStr::to_str);
        let prefix = name.and_then(|name| name.strip_suffix(session_id));
        if let (Some(root), Some(prefix)) = (path.parent(), prefix) {
            let place = Place { root: root.to_owned(), prefix: prefix.to_owned() };
            place.clean(&mut stores);
        }
    }
    for dir in stores.excess(SystemTime::now()) {
        if let Life::Dead { .. } = life(&dir) {
            report(&dir, fs::remove_dir_all(&dir));
        }
    }
}

impl Place {
    fn clean(&self, stores: &mut Stores) {
        let entries = fs::read_dir(&self.root).into_iter().flatten().flatten().take(ENTRIES);
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        let ours = names.filter(|name| self.is_session(name) || self.is_staging(name));
        for name in ours.take(SESSIONS) {
            let dir = self.root.join(&name);
            if self.is_staging(&name) {
                remove_old_staging(&dir);
            } else if let Life::Dead { .. } = life(&dir) {
                launch::remove_abandoned(&dir);
                report(&dir, remove_session(&dir));
                if dir.join(STORE).is_dir() {
                    stores.add(dir);
                }
            }
        }
    }

    fn is_session(&self, name: &str) -> bool {
        name.strip_prefix(&self.prefix).is_some_and(|id| Uuid::try_parse(id).is_ok())
    }

    /// The name under which a session's directory is made.
    fn is_staging(&self, name: &str) -> bool {
        let final_name = name.strip_prefix('.').and_then(|name| name.strip_suffix(".new"));
        final_name.is_some_and(|name| self.is_session(name))
    }
}

fn life(dir: &Path) -> Life {
    let is_ours =
        |metadata: &fs::Metadata| metadata.is_dir() && metadata.uid() == geteuid().as_raw();
    if !fs::symlink_metadata(dir).is_ok_and(|metadata| is_ours(&metadata)) {
        return Life::Alive;
    }
    match open_lock(dir) {
        Ok(lock) => match flock(&lock, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) if is_at(&lock, dir) => Life::Dead { _lock: Some(lock) },
            Ok(()) | Err(_) => Life::Alive,
        },
        // A living session never lacks its lock, unless another program removes it.
        Err(error) if error.kind() == io::ErrorKind::NotFound && !answers(dir) => {
            Life::Dead { _lock: None }
        }
        Err(_) => Life::Alive,
    }
}

fn open_lock(dir: &Path) -> io::Result<File> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    OpenOptions::new()
        .read(true)
        .write(true)
        .custom_flags(flags.bits().cast_signed())
        .open(dir.join(LOCK))
}

/// Whether the lock is the file that other processes open there.
fn is_at(lock: &File, dir: &Path) -> bool {
    let (Ok(ours), Ok(theirs)) = (lock.metadata(), dir.join(LOCK).symlink_metadata()) else {
        return false;
    };
    (ours.dev(), ours.ino()) == (theirs.dev(), theirs.ino())
}

/// Whether a process may listen on a socket in the directory.
fn answers(dir: &Path) -> bool {
    let Ok(entries) = fs::read_dir(dir) else { return true };
    entries.into_iter().any(|entry| match entry {
        Ok(entry) if entry.file_type().is_ok_and(|kind| kind.is_socket()) => {
            !matches!(server::refuses_connections(&entry.path()), Ok(true))
        }
        Ok(_) => false,
        Err(_) => true,
    })
}

fn remove_old_staging(dir: &Path) {
    let is_old = |metadata: fs::Metadata| {
        let age = metadata.modified().ok().and_then(|time| time.elapsed().ok());
        metadata.uid() == geteuid().as_raw() && age.is_some_and(|age| age > STAGING_AGE)
    };
    if fs::symlink_metadata(dir).is_ok_and(is_old) {
        report(dir, fs::remove_dir_all(dir));
    }
}

fn report(dir: &Path, removed: io::Result<()>) {
    let dir = dir.display();
    match removed {
        Ok(()) => tracing::debug!(%dir, "removed what a dead session has left"),
        Err(error) => tracing::warn!(%dir, %error, "cannot remove what a dead session has left"),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;

    use super::*;
    use crate::app::session_dir::{SessionDir, staging};

    fn id() -> String {
        Uuid::new_v4().to_string()
    }

    /// A dead session with these files.
    fn dead(root: &Path, files: &[&str]) -> PathBuf {
        let dir = root.join(id());
        fs::create_dir(&dir).unwrap();
        for file in files {
            let path = dir.join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "text").unwrap();
        }
        dir
    }

    fn clean_at(root: &Path) {
        let id = id();
        clean(&[root.join(&id)], &id);
    }

    #[tokio::test]
    async fn a_living_session_is_left_alone_and_a_dead_one_is_removed() {
        let home = tempfile::tempdir().unwrap();
        let alive = home.path().join(id());
        let (_dir, mut socket) = SessionDir::create(std::slice::from_ref(&alive)).unwrap();
        socket.publish().unwrap();
        fs::write(alive.join("mcp.json"), "secret").unwrap();
        let dead = dead(home.path(), &[LOCK, "mcp.json", "deep/er"]);
        let _listener = UnixListener::bind(dead.join("coop.sock")).unwrap();
        clean_at(home.path());
        assert!(alive.join("mcp.json").exists() && alive.join("coop.sock").exists());
        assert!(!dead.exists());
    }

    #[test]
    fn the_store_of_a_dead_session_stays_without_everything_else() {
        let home = tempfile::tempdir().unwrap();
        let dead = dead(home.path(), &[LOCK, "mcp.json", "store/events", "store/1.jsonl"]);
        clean_at(home.path());
        clean_at(home.path());
        assert!(dead.join("store/events").exists() && dead.join("store/1.jsonl").exists());
        assert!(!dead.join("mcp.json").exists());
    }

    #[test]
    fn a_directory_without_a_lock_is_removed_unless_its_socket_answers() {
        let home = tempfile::tempdir().unwrap();
        let (gone, kept) = (dead(home.path(), &["mcp.json"]), dead(home.path(), &["mcp.json"]));
        drop(UnixListener::bind(gone.join("coop.sock")).unwrap());
        let _listener = UnixListener::bind(kept.join("coop.sock")).unwrap();
        clean_at(home.path());
        assert!(!gone.exists());
        assert!(kept.join("mcp.json").exists());
    }

    #[test]
    fn a_session_that_is_being_made_and_other_names_are_left_alone() {
        let home = tempfile::tempdir().unwrap();
        let making = staging(&home.path().join(id())).unwrap();
        let others = ["notes", "coop-x", "..", ".x.new"].map(|name| home.path().join(name));
        for dir in [&making].into_iter().chain(&others) {
            fs::create_dir_all(dir).unwrap();
        }
        clean_at(home.path());
        assert!(making.exists() && others.iter().all(|dir| dir.exists()));
        let long_ago = SystemTime::now() - STAGING_AGE - Duration::from_secs(60);
        File::open(&making).unwrap().set_modified(long_ago).unwrap();
        clean_at(home.path());
        assert!(!making.exists());
    }

    #[test]
    fn a_link_is_not_followed() {
        let home = tempfile::tempdir().unwrap();
        let elsewhere = tempfile::tempdir().unwrap();
        fs::write(elsewhere.path().join(LOCK), "").unwrap();
        fs::write(elsewhere.path().join("mine"), "").unwrap();
        std::os::unix::fs::symlink(elsewhere.path(), home.path().join(id())).unwrap();
        let dead = dead(home.path(), &[LOCK]);
        std::os::unix::fs::symlink(elsewhere.path(), dead.join("link")).unwrap();
        clean_at(home.path());
        assert!(!dead.exists());
        assert!(elsewhere.path().join("mine").exists());
    }
}
