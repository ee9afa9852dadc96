//! The shared directories that a killed coop has left. Each session notes in its own directory
//! which ones it uses, before it makes them; the next coop reads that, and removes those without a
//! user.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use super::prepare::write_private;
use super::shared_dir;

/// The list of shared directories, in the session's own directory.
const LIST: &str = "shared-dirs.json";
/// A larger list was not written by coop.
const LIST_LIMIT: u64 = 1 << 20;

/// Notes that the session uses this shared directory.
pub(super) fn note(session_dir: &Path, shared_dir: &Path) -> io::Result<()> {
    let mut noted = noted(session_dir);
    if !noted.iter().any(|dir| dir == shared_dir) {
        noted.push(shared_dir.to_owned());
        write_private(&session_dir.join(LIST), &serde_json::to_string(&noted)?)?;
    }
    Ok(())
}

/// Removes what a dead session has left outside of its own directory.
pub(crate) fn remove_abandoned(session_dir: &Path) {
    for dir in noted(session_dir) {
        // What is in use, or cannot be removed, is left to the next coop.
        drop(shared_dir::remove_unused(&dir));
        drop(shared_dir::remove_temporary(&dir));
    }
}

fn noted(session_dir: &Path) -> Vec<PathBuf> {
    let read = || -> io::Result<Vec<PathBuf>> {
        let mut text = String::new();
        File::open(session_dir.join(LIST))?.take(LIST_LIMIT).read_to_string(&mut text)?;
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
        assert_eq!(noted(dir.path()), Vec::<PathBuf>::new());
        for shared in ["/a", "/b", "/a"] {
            note(dir.path(), Path::new(shared)).unwrap();
        }
        assert_eq!(noted(dir.path()), [PathBuf::from("/a"), PathBuf::from("/b")]);
        std::fs::write(dir.path().join(LIST), "not JSON").unwrap();
        remove_abandoned(dir.path());
    }
}
