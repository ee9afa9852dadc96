//! A directory that the sessions of several coops share: made by the first, removed by the
//! last, and repaired by the next one after a crash. It must not know the content.
//!
//! Every user holds a shared lock on a file in the directory; the kernel releases the lock when the
//! process ends, however it ends. A process that gets the lock exclusively is the only user and may
//! replace or remove the directory. Both are done by renaming, so that no other process sees half
//! of it.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{FlockOperation, OFlags, flock};
use rustix::io::Errno;
use tokio::time::{Instant, sleep_until};

use crate::driver::launch::SharedDirSpec;

/// The file that every user holds a lock on.
const LOCK: &str = ".coop-users";
/// How often other processes may replace the directory while it is being taken.
const TRIES: usize = 32;
/// How the names of directories that are being made or deleted begin.
const TEMPORARY: &str = ".coop-";
/// How many entries are read where such directories are.
const ENTRIES: usize = 4096;
/// A temporary directory without a lock is in use at most for a moment.
const TEMPORARY_AGE: Duration = Duration::from_secs(3600);
/// How often a lock that another process holds is tried again.
const LOCK_INTERVAL: Duration = Duration::from_millis(20);

/// Keeps the directory in place until it is dropped.
#[derive(Debug)]
pub(super) struct SharedDir {
    dir: PathBuf,
    lock: File,
}

/// The result of one attempt to take the directory.
enum Attempt {
    Taken(SharedDir),
    /// Another process was faster; the next attempt may succeed.
    Changed,
    /// Another process holds the lock exclusively.
    Locked,
}

impl SharedDir {
    /// Makes the directory, or joins its other users.
    pub(super) async fn take(shared: &SharedDirSpec, deadline: Instant) -> io::Result<Self> {
        let mut changes = 0;
        loop {
            match Self::attempt(shared)? {
                Attempt::Taken(taken) => return Ok(taken),
                Attempt::Changed if changes < TRIES => changes += 1,
                Attempt::Changed => {
                    let message = "other processes keep replacing it";
                    return Err(io::Error::new(io::ErrorKind::ResourceBusy, message));
                }
                Attempt::Locked if Instant::now() < deadline => {
                    sleep_until(Instant::now() + LOCK_INTERVAL).await;
                }
                Attempt::Locked => {
                    let message = "another process holds its lock";
                    return Err(io::Error::new(io::ErrorKind::TimedOut, message));
                }
            }
        }
    }

    fn attempt(shared: &SharedDirSpec) -> io::Result<Attempt> {
        let lock = match open_lock(&shared.dir) {
            Ok(lock) => lock,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                if is_not_made_by_coop(&shared.dir) {
                    let message = "it exists, and coop has not made it";
                    return Err(io::Error::new(io::ErrorKind::AlreadyExists, message));
                }
                make(shared)?;
                return Ok(Attempt::Changed);
            }
            Err(error) => return Err(error),
        };
        if flock(&lock, FlockOperation::NonBlockingLockExclusive).is_ok() {
            // There is no other user: they crashed, or were just started and wait for their lock.
            if !is_at(&lock, &shared.dir) {
                return Ok(Attempt::Changed);
            }
            if !has(shared) {
                remove(&shared.dir)?;
                return Ok(Attempt::Changed);
            }
        }
        match flock(&lock, FlockOperation::NonBlockingLockShared) {
            Ok(()) if is_at(&lock, &shared.dir) => {
                Ok(Attempt::Taken(Self { dir: shared.dir.clone(), lock }))
            }
            Ok(()) => Ok(Attempt::Changed),
            Err(Errno::WOULDBLOCK) => Ok(Attempt::Locked),
            Err(errno) => Err(errno.into()),
        }
    }

    pub(super) fn dir(&self) -> &Path {
        &self.dir
    }
}

impl Drop for SharedDir {
    fn drop(&mut self) {
        let alone = flock(&self.lock, FlockOperation::NonBlockingLockExclusive).is_ok();
        if alone && is_at(&self.lock, &self.dir) {
            // If this fails, the next user replaces the directory.
            drop(remove(&self.dir));
        }
    }
}

/// Removes the directory if no process uses it.
pub(super) fn remove_unused(dir: &Path) -> io::Result<()> {
    let lock = open_lock(dir)?;
    let alone = flock(&lock, FlockOperation::NonBlockingLockExclusive).is_ok();
    if alone && is_at(&lock, dir) { remove(dir) } else { Ok(()) }
}

/// Removes what processes that made or deleted the directory have left when they were killed.
pub(super) fn remove_temporary(dir: &Path) -> io::Result<()> {
    for entry in fs::read_dir(parent(parent(dir)?)?)?.take(ENTRIES) {
        let entry = entry?;
        let name = entry.file_name();
        let id = name.to_str().and_then(|name| name.strip_prefix(TEMPORARY));
        if id.is_none_or(|id| uuid::Uuid::try_parse(id).is_err()) || !entry.file_type()?.is_dir() {
            continue;
        }
        let age = entry.metadata()?.modified()?.elapsed().unwrap_or_default();
        let abandoned = match open_lock(&entry.path()) {
            Ok(lock) => flock(&lock, FlockOperation::NonBlockingLockExclusive).is_ok(),
            Err(_) => age > TEMPORARY_AGE,
        };
        if abandoned {
            fs::remove_dir_all(entry.path())?;
        }
    }
    Ok(())
}

fn open_lock(dir: &Path) -> io::Result<File> {
    let flags = OFlags::NOFOLLOW | OFlags::CLOEXEC;
    OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(dir.join(LOCK))
}

/// Whether the lock is the file that other processes open there.
fn is_at(lock: &File, dir: &Path) -> bool {
    let (Ok(ours), Ok(theirs)) = (lock.metadata(), dir.join(LOCK).symlink_metadata()) else {
        return false;
    };
    (ours.dev(), ours.ino()) == (theirs.dev(), theirs.ino())
}

/// Whether the directory exists, and coop has not made it.
fn is_not_made_by_coop(dir: &Path) -> bool {
    // While it is open, its inode cannot be reused by another directory.
    let Ok(open) = File::open(dir) else { return false };
    let locked = dir.join(LOCK).symlink_metadata().is_ok();
    let empty = fs::read_dir(dir).is_ok_and(|mut entries| entries.next().is_none());
    let (Ok(ours), Ok(theirs)) = (open.metadata(), dir.metadata()) else { return false };
    !locked && !empty && (ours.dev(), ours.ino()) == (theirs.dev(), theirs.ino())
}

/// Whether the directory has the wanted files.
fn has(shared: &SharedDirSpec) -> bool {
    let same = |(path, text): &(PathBuf, String)| {
        fs::read(shared.dir.join(path)).is_ok_and(|found| found == text.as_bytes())
    };
    shared.files.iter().all(same)
}

/// Makes the directory under another name and renames it, unless it exists by then.
fn make(shared: &SharedDirSpec) -> io::Result<()> {
    let mut private = DirBuilder::new();
    private.recursive(true).mode(0o700);
    private.create(parent(&shared.dir)?)?;
    let temporary = temporary_path(&shared.dir)?;
    private.create(&temporary)?;
    let filled = fill(&temporary, shared)
        .and_then(|lock| fs::rename(&temporary, &shared.dir).map(|()| drop(lock)));
    match filled {
        Ok(()) => Ok(()),
        Err(error) => {
            drop(fs::remove_dir_all(&temporary));
            match error.kind() {
                io::ErrorKind::DirectoryNotEmpty | io::ErrorKind::AlreadyExists => Ok(()),
                _ => Err(error),
            }
        }
    }
}

/// Fills the directory. The lock keeps other processes from removing it before it has its name.
fn fill(dir: &Path, shared: &SharedDirSpec) -> io::Result<File> {
    let mut private = OpenOptions::new();
    private.write(true).create_new(true).mode(0o600);
    let lock = private.open(dir.join(LOCK))?;
    flock(&lock, FlockOperation::NonBlockingLockShared)?;
    for (path, text) in &shared.files {
        let path = dir.join(path);
        fs::create_dir_all(parent(&path)?)?;
        private.open(path)?.write_all(text.as_bytes())?;
    }
    Ok(lock)
}

/// Renames the directory and deletes it.
fn remove(dir: &Path) -> io::Result<()> {
    let temporary = temporary_path(dir)?;
    fs::rename(dir, &temporary)?;
    fs::remove_dir_all(&temporary)
}

/// An unused name beside the directory's parent. In the parent itself, the agent would take it for
/// one of its own directories.
fn temporary_path(dir: &Path) -> io::Result<PathBuf> {
    let place = parent(parent(dir)?)?;
    Ok(place.join(format!("{TEMPORARY}{}", uuid::Uuid::new_v4())))
}

fn parent(path: &Path) -> io::Result<&Path> {
    path.parent().ok_or_else(|| io::ErrorKind::InvalidInput.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shared(home: &Path, text: &str) -> SharedDirSpec {
        let files = vec![
            ("about.json".into(), text.to_owned()),
            ("hooks/hooks.json".into(), "{}".to_owned()),
        ];
        SharedDirSpec { dir: home.join("extensions/ours"), files }
    }

    /// Takes the directory on this thread.
    fn take(shared: &SharedDirSpec) -> io::Result<SharedDir> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
        runtime.block_on(SharedDir::take(shared, Instant::now() + Duration::from_secs(30)))
    }

    fn names(dir: &Path) -> Vec<String> {
        let entries = fs::read_dir(dir).expect("a directory");
        let mut names: Vec<_> = entries
            .map(|entry| entry.expect("an entry").file_name().into_string().expect("a name"))
            .collect();
        names.sort();
        names
    }

    #[test]
    fn the_directory_exists_while_it_has_a_user() {
        let home = tempfile::tempdir().expect("a directory");
        let wanted = shared(home.path(), "1");
        let first = take(&wanted).expect("made");
        let second = take(&wanted).expect("joined");
        assert!(has(&wanted));
        drop(first);
        assert!(has(&wanted));
        drop(second);
        assert!(!wanted.dir.exists());
        assert_eq!(names(home.path()), ["extensions"], "no other file is left");
    }

    #[test]
    fn a_directory_left_by_a_crash_is_repaired_and_removed_in_the_end() {
        let home = tempfile::tempdir().expect("a directory");
        make(&shared(home.path(), "of a coop that crashed")).expect("left over");
        let wanted = shared(home.path(), "2");
        let shared_dir = take(&wanted).expect("taken over");
        assert!(has(&wanted));
        drop(shared_dir);
        assert!(!wanted.dir.exists());
    }

    #[test]
    fn a_directory_in_use_is_not_replaced() {
        let home = tempfile::tempdir().expect("a directory");
        let (theirs, ours) = (shared(home.path(), "theirs"), shared(home.path(), "ours"));
        let first = take(&theirs).expect("made");
        let second = take(&ours).expect("joined");
        assert!(has(&theirs));
        drop((first, second));
        assert!(!ours.dir.exists());
    }

    #[test]
    fn a_directory_of_the_users_own_is_left_alone() {
        let home = tempfile::tempdir().expect("a directory");
        let wanted = shared(home.path(), "1");
        fs::create_dir_all(&wanted.dir).expect("made");
        fs::write(wanted.dir.join("mine"), "precious").expect("written");
        assert!(take(&wanted).is_err());
        assert_eq!(names(&wanted.dir), ["mine"]);
    }

    #[test]
    fn many_users_at_once_always_find_it_complete() {
        let home = tempfile::tempdir().expect("a directory");
        let wanted = shared(home.path(), "1");
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..50 {
                        let shared_dir = take(&wanted).expect("taken");
                        assert!(has(&wanted), "it is there, and complete");
                        drop(shared_dir);
                    }
                });
            }
        });
        assert!(!wanted.dir.exists());
        assert_eq!(names(home.path()), ["extensions"]);
    }

    #[test]
    fn what_a_killed_coop_left_is_removed_and_what_is_in_use_is_not() {
        let home = tempfile::tempdir().expect("a directory");
        let wanted = shared(home.path(), "1");
        let user = take(&wanted).expect("made");
        let temporary = |name: &str| home.path().join(format!("{TEMPORARY}{name}"));
        let ids = [0; 3].map(|_: u8| uuid::Uuid::new_v4().to_string());
        let [left, making, begun] = [&ids[0], &ids[1], &ids[2]].map(|id| temporary(id));
        let others = ["not-an-id"].map(temporary);
        for dir in [&left, &making, &begun].into_iter().chain(&others) {
            fs::create_dir(dir).expect("made");
        }
        drop(fill(&left, &wanted).expect("filled"));
        let _lock = fill(&making, &wanted).expect("filled");
        remove_unused(&wanted.dir).expect("looked at");
        remove_temporary(&wanted.dir).expect("looked at");
        assert!(has(&wanted), "it is in use");
        assert!(!left.exists() && making.exists() && begun.exists() && others[0].exists());
        // A killed process does not drop what it holds.
        flock(&user.lock, FlockOperation::Unlock).expect("unlocked");
        remove_unused(&wanted.dir).expect("removed");
        assert!(!wanted.dir.exists());
    }

    #[tokio::test]
    async fn a_lock_that_is_not_released_fails_at_the_deadline() {
        let home = tempfile::tempdir().expect("a directory");
        let wanted = shared(home.path(), "1");
        make(&wanted).expect("made");
        let holder = open_lock(&wanted.dir).expect("the lock's file");
        flock(&holder, FlockOperation::LockExclusive).expect("the lock");
        let deadline = Instant::now() + Duration::from_millis(50);
        let error = SharedDir::take(&wanted, deadline).await.expect_err("the lock is held");
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    }
}
