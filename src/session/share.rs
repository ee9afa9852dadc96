//! A directory that sessions of several coops share: made by the first, taken away by the last, and put right by the
//! next one after a crash. What is in it, and for whom, is not known here.
//!
//! Whoever uses it holds a shared lock on a file in it, which the kernel lets go of when its holder is gone, however that
//! happened. Whoever gets the lock alone is the only user, and may replace or remove the directory. Both are done by
//! renaming, so that nobody ever sees half of it.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, OFlags, flock};

use crate::driver::launch::Shared;

/// The file that users hold a lock on.
const LOCK: &str = ".coop-users";
/// How often others may be making or removing it just now.
const TRIES: usize = 32;

/// The right to find the directory there; given back when dropped.
#[derive(Debug)]
pub(super) struct Share {
    dir: PathBuf,
    lock: File,
}

impl Share {
    /// Makes the directory, or joins those who use it.
    pub(super) fn take(shared: &Shared) -> io::Result<Self> {
        for _ in 0..TRIES {
            let lock = match open_lock(&shared.dir) {
                Ok(lock) => lock,
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    if is_foreign(&shared.dir) {
                        return Err(io::Error::new(io::ErrorKind::AlreadyExists, "it is somebody else's"));
                    }
                    make(shared)?;
                    continue;
                }
                Err(error) => return Err(error),
            };
            if flock(&lock, FlockOperation::NonBlockingLockExclusive).is_ok() {
                // Nobody uses it: its users have crashed, or have just been started and wait for their lock.
                if !is_at(&lock, &shared.dir) {
                    continue;
                }
                if !has(shared) {
                    remove(&shared.dir)?;
                    continue;
                }
            }
            flock(&lock, FlockOperation::LockShared)?;
            if is_at(&lock, &shared.dir) {
                return Ok(Self { dir: shared.dir.clone(), lock });
            }
        }
        Err(io::Error::new(io::ErrorKind::ResourceBusy, "others keep replacing it"))
    }

    pub(super) fn dir(&self) -> &Path {
        &self.dir
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        let alone = flock(&self.lock, FlockOperation::NonBlockingLockExclusive).is_ok();
        if alone && is_at(&self.lock, &self.dir) {
            // If it cannot be removed, the next one will find and replace it.
            drop(remove(&self.dir));
        }
    }
}

fn open_lock(dir: &Path) -> io::Result<File> {
    let flags = OFlags::NOFOLLOW | OFlags::CLOEXEC;
    OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(dir.join(LOCK))
}

/// Whether the lock is the one that others find there, too.
fn is_at(lock: &File, dir: &Path) -> bool {
    let (Ok(ours), Ok(theirs)) = (lock.metadata(), dir.join(LOCK).symlink_metadata()) else { return false };
    (ours.dev(), ours.ino()) == (theirs.dev(), theirs.ino())
}

/// Whether the directory is there, and nobody who does as we do has made it.
fn is_foreign(dir: &Path) -> bool {
    // As long as it is open, no other directory can be taken for it.
    let Ok(open) = File::open(dir) else { return false };
    let locked = dir.join(LOCK).symlink_metadata().is_ok();
    let empty = fs::read_dir(dir).is_ok_and(|mut entries| entries.next().is_none());
    let (Ok(ours), Ok(theirs)) = (open.metadata(), dir.metadata()) else { return false };
    !locked && !empty && (ours.dev(), ours.ino()) == (theirs.dev(), theirs.ino())
}

/// Whether everything in it is as it should be.
fn has(shared: &Shared) -> bool {
    let same = |(path, text): &(PathBuf, String)| {
        fs::read(shared.dir.join(path)).is_ok_and(|found| found == text.as_bytes())
    };
    shared.files.iter().all(same)
}

/// Makes it elsewhere and puts it in its place, unless another one is there by then.
fn make(shared: &Shared) -> io::Result<()> {
    let mut private = DirBuilder::new();
    private.recursive(true).mode(0o700);
    private.create(parent(&shared.dir)?)?;
    let aside = aside(&shared.dir)?;
    private.create(&aside)?;
    let filled = fill(&aside, shared).and_then(|()| fs::rename(&aside, &shared.dir));
    match filled {
        Ok(()) => Ok(()),
        Err(error) => {
            drop(fs::remove_dir_all(&aside));
            match error.kind() {
                io::ErrorKind::DirectoryNotEmpty | io::ErrorKind::AlreadyExists => Ok(()),
                _ => Err(error),
            }
        }
    }
}

fn fill(dir: &Path, shared: &Shared) -> io::Result<()> {
    let mut private = OpenOptions::new();
    private.write(true).create_new(true).mode(0o600);
    for (path, text) in &shared.files {
        let path = dir.join(path);
        fs::create_dir_all(parent(&path)?)?;
        private.open(path)?.write_all(text.as_bytes())?;
    }
    private.open(dir.join(LOCK)).map(drop)
}

/// Takes it out of its place and then apart.
fn remove(dir: &Path) -> io::Result<()> {
    let aside = aside(dir)?;
    fs::rename(dir, &aside)?;
    fs::remove_dir_all(&aside)
}

/// A name that nobody has, beside the directory's parent: in the parent itself others would take it for one of theirs.
fn aside(dir: &Path) -> io::Result<PathBuf> {
    let place = parent(parent(dir)?)?;
    Ok(place.join(format!(".coop-{}", uuid::Uuid::new_v4())))
}

fn parent(path: &Path) -> io::Result<&Path> {
    path.parent().ok_or_else(|| io::ErrorKind::InvalidInput.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shared(home: &Path, text: &str) -> Shared {
        let files =
            vec![("about.json".into(), text.to_owned()), ("hooks/hooks.json".into(), "{}".to_owned())];
        Shared { dir: home.join("extensions/ours"), files }
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
    fn it_is_there_while_anybody_uses_it() {
        let home = tempfile::tempdir().expect("a directory");
        let wanted = shared(home.path(), "1");
        let first = Share::take(&wanted).expect("made");
        let second = Share::take(&wanted).expect("joined");
        assert!(has(&wanted));
        drop(first);
        assert!(has(&wanted));
        drop(second);
        assert!(!wanted.dir.exists());
        assert_eq!(names(home.path()), ["extensions"], "nothing is left over");
    }

    #[test]
    fn what_a_crash_left_is_put_right_and_removed_in_the_end() {
        let home = tempfile::tempdir().expect("a directory");
        make(&shared(home.path(), "of a coop that crashed")).expect("left over");
        let wanted = shared(home.path(), "2");
        let share = Share::take(&wanted).expect("taken over");
        assert!(has(&wanted));
        drop(share);
        assert!(!wanted.dir.exists());
    }

    #[test]
    fn what_others_use_is_not_replaced() {
        let home = tempfile::tempdir().expect("a directory");
        let (theirs, ours) = (shared(home.path(), "theirs"), shared(home.path(), "ours"));
        let they = Share::take(&theirs).expect("made");
        let we = Share::take(&ours).expect("joined");
        assert!(has(&theirs));
        drop((they, we));
        assert!(!ours.dir.exists());
    }

    #[test]
    fn a_directory_of_the_users_own_is_left_alone() {
        let home = tempfile::tempdir().expect("a directory");
        let wanted = shared(home.path(), "1");
        fs::create_dir_all(&wanted.dir).expect("made");
        fs::write(wanted.dir.join("mine"), "precious").expect("written");
        assert!(Share::take(&wanted).is_err());
        assert_eq!(names(&wanted.dir), ["mine"]);
    }

    #[test]
    fn many_at_once_never_miss_it() {
        let home = tempfile::tempdir().expect("a directory");
        let wanted = shared(home.path(), "1");
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..50 {
                        let share = Share::take(&wanted).expect("taken");
                        assert!(has(&wanted), "it is there, and whole");
                        drop(share);
                    }
                });
            }
        });
        assert!(!wanted.dir.exists());
        assert_eq!(names(home.path()), ["extensions"]);
    }
}
