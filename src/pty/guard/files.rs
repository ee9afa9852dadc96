//! The files that must not outlive coop. It must not know what they contain.

use std::fs::{self, DirEntry};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::PathBuf;

/// Files of the session, in the order in which they are removed.
#[derive(Debug, Default)]
pub(super) struct SessionFiles(Vec<SessionFile>);

#[derive(Debug)]
struct SessionFile {
    path: PathBuf,
    /// Device and number of a file that existed when it was named; a later file with the same path
    /// belongs to another coop.
    identity: Option<(u64, u64)>,
}

impl SessionFiles {
    pub(super) fn add(&mut self, path: PathBuf) {
        let metadata = fs::symlink_metadata(&path).ok();
        let identity = metadata.map(|metadata| (metadata.dev(), metadata.ino()));
        self.0.retain(|known| known.path != path);
        self.0.push(SessionFile { path, identity });
    }

    pub(super) fn forget(&mut self) {
        self.0.clear();
    }

    /// Removes what exists, and of a directory only its sockets and pipes, with the files that are
    /// named after them. A directory is removed itself when nothing is left in it.
    pub(super) fn remove(&self) {
        // The directory was named first, and is empty only when the others are gone.
        for file in self.0.iter().rev() {
            file.remove();
        }
    }
}

impl SessionFile {
    fn remove(&self) {
        let Ok(metadata) = fs::symlink_metadata(&self.path) else { return };
        if self.identity.is_some_and(|known| known != (metadata.dev(), metadata.ino())) {
            return;
        }
        // What cannot be removed is left to the next coop, which removes what dead ones left.
        if !metadata.is_dir() {
            drop(fs::remove_file(&self.path));
            return;
        }
        let entries: Vec<_> = fs::read_dir(&self.path).into_iter().flatten().flatten().collect();
        let is_pipe = |entry: &&DirEntry| {
            entry.file_type().is_ok_and(|kind| kind.is_fifo() || kind.is_socket())
        };
        let pipes: Vec<String> = entries.iter().filter(is_pipe).map(name).collect();
        for entry in &entries {
            // `hooks.pipe.lock` belongs to `hooks.pipe`.
            let belongs = |pipe: &String| {
                name(entry).strip_prefix(pipe).is_some_and(|rest| rest.starts_with('.'))
            };
            if is_pipe(&entry) || pipes.iter().any(belongs) {
                drop(fs::remove_file(entry.path()));
            }
        }
        drop(fs::remove_dir(&self.path));
    }
}

fn name(entry: &DirEntry) -> String {
    entry.file_name().to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;

    use super::*;

    #[test]
    fn secrets_sockets_and_pipes_go_and_other_files_stay() {
        let home = tempfile::tempdir().expect("a directory");
        let dir = home.path().join("session");
        fs::create_dir(&dir).expect("created");
        let mut files = SessionFiles::default();
        files.add(dir.clone());
        files.add(dir.join("mcp.json"));
        for name in ["mcp.json", "events", "coop.sock.lock"] {
            fs::write(dir.join(name), "text").expect("written");
        }
        let _socket = UnixListener::bind(dir.join("coop.sock")).expect("bound");
        files.remove();
        let left: Vec<_> = fs::read_dir(&dir).expect("kept").flatten().collect();
        assert_eq!(left.iter().map(fs::DirEntry::file_name).collect::<Vec<_>>(), ["events"]);

        fs::remove_file(dir.join("events")).expect("removed");
        files.remove();
        assert!(!dir.exists(), "an empty directory goes, too");
        files.remove();
    }

    #[test]
    fn the_file_of_a_successor_stays() {
        let home = tempfile::tempdir().expect("a directory");
        let path = home.path().join("coop.sock");
        let first = UnixListener::bind(&path).expect("bound");
        let mut files = SessionFiles::default();
        files.add(path.clone());
        fs::rename(&path, home.path().join("old")).expect("renamed");
        let _second = UnixListener::bind(&path).expect("bound again");
        drop(first);
        files.remove();
        assert!(path.exists());
        files.forget();
        files.remove();
        assert!(path.exists());
    }
}
