//! The stores that dead sessions have left, and which of them are too many. It removes nothing.

use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::session_dir::STORE;

/// How long a store is kept after the last change in it.
const AGE: Duration = Duration::from_secs(7 * 24 * 3600);
/// How much the stores of all dead sessions may hold together.
const TOTAL: u64 = 1 << 30;
/// How many files of a store are looked at. A store has few.
const FILES: usize = 10_000;

#[derive(Debug, Default)]
pub(super) struct Stores(Vec<Store>);

#[derive(Debug)]
struct Store {
    /// The session's directory.
    dir: PathBuf,
    bytes: u64,
    changed: SystemTime,
}

impl Stores {
    /// Adds the store of the session with this directory.
    pub(super) fn add(&mut self, dir: PathBuf) {
        let (mut bytes, mut changed) = (0u64, SystemTime::UNIX_EPOCH);
        for metadata in files(&dir.join(STORE)) {
            // What a directory itself takes differs from one file system to the next.
            bytes = bytes.saturating_add(if metadata.is_dir() { 0 } else { metadata.len() });
            changed = changed.max(metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH));
        }
        self.0.push(Store { dir, bytes, changed });
    }

    /// The sessions whose stores are too old, or, oldest first, beyond the total.
    pub(super) fn excess(mut self, now: SystemTime) -> Vec<PathBuf> {
        self.0.sort_by_key(|store| std::cmp::Reverse(store.changed));
        let mut total = 0u64;
        let is_kept = |store: &Store| {
            let age = now.duration_since(store.changed).unwrap_or_default();
            total = total.saturating_add(store.bytes);
            age <= AGE && total <= TOTAL
        };
        let kept = self.0.iter().map(is_kept).take_while(|kept| *kept).count();
        self.0.drain(kept..).map(|store| store.dir).collect()
    }
}

/// The files and directories below this one, itself included.
fn files(root: &Path) -> impl Iterator<Item = Metadata> {
    let mut waiting = vec![root.to_owned()];
    let next = move || {
        let path = waiting.pop()?;
        let metadata = fs::symlink_metadata(&path).ok();
        if metadata.as_ref().is_some_and(Metadata::is_dir) {
            let entries = fs::read_dir(&path).into_iter().flatten().flatten().take(FILES);
            waiting.extend(entries.map(|entry| entry.path()));
        }
        Some(metadata)
    };
    std::iter::from_fn(next).take(FILES).flatten()
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use super::*;

    const DAY: Duration = Duration::from_secs(24 * 3600);

    /// A session with a store of this many bytes, which was changed this long ago.
    fn session(root: &Path, name: &str, bytes: u64, age: Duration) -> PathBuf {
        let dir = root.join(name);
        let store = dir.join(STORE);
        fs::create_dir_all(store.join("recordings")).unwrap();
        let file = File::create(store.join("recordings/1.cast")).unwrap();
        // A sparse file takes no room.
        file.set_len(bytes).unwrap();
        for path in [store.join("recordings/1.cast"), store.join("recordings"), store] {
            File::open(path).unwrap().set_modified(SystemTime::now() - age).unwrap();
        }
        dir
    }

    fn excess(sessions: &[&PathBuf]) -> Vec<PathBuf> {
        let mut stores = Stores::default();
        sessions.iter().for_each(|dir| stores.add((*dir).clone()));
        stores.excess(SystemTime::now())
    }

    #[test]
    fn old_stores_go() {
        let home = tempfile::tempdir().unwrap();
        let new = session(home.path(), "new", 10, DAY * 6);
        let old = session(home.path(), "old", 10, DAY * 8);
        assert_eq!(excess(&[&old, &new]), [old]);
    }

    #[test]
    fn the_oldest_go_beyond_the_total() {
        let home = tempfile::tempdir().unwrap();
        let first = session(home.path(), "first", TOTAL / 2, DAY * 3);
        let second = session(home.path(), "second", TOTAL / 2, DAY * 2);
        let third = session(home.path(), "third", TOTAL / 2, DAY);
        assert_eq!(excess(&[&second, &third]), Vec::<PathBuf>::new());
        assert_eq!(excess(&[&second, &first, &third]), [first]);
    }

    #[test]
    fn an_empty_list_and_a_missing_store_are_no_excess() {
        assert_eq!(excess(&[]), Vec::<PathBuf>::new());
    }
}
