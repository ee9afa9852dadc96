//! The shared directories and the files that a killed coop has left outside of its session's
//! directory. Each session notes them there before it makes them; the next coop reads that, removes
//! the files, and those directories that have no user.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use super::prepare::write_private;
use super::shared_dir;

/// The lists of shared directories and of files, in the session's own directory.
const DIRS: &str = "shared-dirs.json";
const FILES: &str = "outside-files.json";
/// A larger list was not written by coop.
const LIST_LIMIT: u64 = 1 << 20;

/// Notes that the session uses this shared directory.
pub(super) fn note(session_dir: &Path, shared_dir: &Path) -> io::Result<()> {
    add(&session_dir.join(DIRS), shared_dir)
}

/// Notes that the session writes this file, which no other session has.
pub(super) fn note_file(session_dir: &Path, file: &Path) -> io::Result<()> {
    add(&session_dir.join(FILES), file)
}

fn add(list: &Path, path: &Path) -> io::Result<()> {
    let mut noted = noted(list);
    if !noted.iter().any(|known| known == path) {
        noted.push(path.to_owned());
        write_private(list, &serde_json::to_string(&noted)?)?;
    }
    Ok(())
}

/// Removes what a dead session has left outside of its own directory.
pub(crate) fn remove_abandoned(session_dir: &Path) {
    for file in noted(&session_dir.join(FILES)) {
        // Most likely it is gone already.
        drop(std::fs::remove_file(file));
    }
    for dir in noted(&session_dir.join(DIRS)) {
        // What is in use, or cannot be removed, is left to the next coop.
        drop(shared_dir::remove_unused(&dir));
        drop(shared_dir::remove_temporary(&dir));
    }
}

fn noted(list: &Path) -> Vec<PathBuf> {
    let read = || -> io::Result<Vec<PathBuf>> {
        let mut text = String::new();
        File::open(list)?.take(LIST_LIMIT).read_to_string(&mut text)?;
        Ok(serde_json::from_str(&text)?)
    };
    read().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_are_noted_once() {
        let dir = tempfile::tempdir().unwrap();
        let list = dir.path().join(DIRS);
        assert_eq!(noted(&list), Vec::<PathBuf>::new());
        for shared in ["/a", "/b", "/a"] {
            note(dir.path(), Path::new(shared)).unwrap();
        }
        assert_eq!(noted(&list), [PathBuf::from("/a"), PathBuf::from("/b")]);
        std::fs::write(&list, "not JSON").unwrap();
        remove_abandoned(dir.path());
    }

    #[test]
    fn noted_files_are_removed_and_others_stay() {
        let (dir, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let [ours, other] = ["ours", "other"].map(|name| elsewhere.path().join(name));
        note_file(dir.path(), &ours).unwrap();
        for file in [&ours, &other] {
            std::fs::write(file, "secret").unwrap();
        }
        remove_abandoned(dir.path());
        assert!(!ours.exists() && other.exists());
    }
}
