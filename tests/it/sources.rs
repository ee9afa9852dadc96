//! The project's own files, for the tests that read them.

use std::fs;
use std::path::Path;

/// One file of the project.
pub struct Source {
    /// The path below the directory that was read, as in `session/run.rs`.
    pub path: String,
    pub text: String,
}

pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Every file below a directory of the project, in the order of the paths.
pub fn files(directory: &str) -> Vec<Source> {
    read(directory, |_| true)
}

/// Every Rust file below a directory of the project, in the order of the paths.
pub fn rust_files(directory: &str) -> Vec<Source> {
    read(directory, |path| path.ends_with(".rs"))
}

fn read(directory: &str, wanted: fn(&str) -> bool) -> Vec<Source> {
    let mut paths = Vec::new();
    list(&root().join(directory), "", &mut paths);
    paths.retain(|path| wanted(path));
    paths.sort();
    let read = |path: String| {
        let bytes = fs::read(root().join(directory).join(&path)).expect("a file");
        Source { path, text: String::from_utf8_lossy(&bytes).into_owned() }
    };
    paths.into_iter().map(read).collect()
}

fn list(directory: &Path, prefix: &str, paths: &mut Vec<String>) {
    for entry in fs::read_dir(directory).expect("a directory") {
        let entry = entry.expect("an entry");
        let path = format!("{prefix}{}", entry.file_name().to_str().expect("a name in UTF-8"));
        if entry.path().is_dir() {
            list(&entry.path(), &format!("{path}/"), paths);
        } else {
            paths.push(path);
        }
    }
}

impl Source {
    /// Whether the file is called `tests.rs`, or is in a directory called `tests`.
    pub fn is_test(&self) -> bool {
        self.path.split(['/', '.']).any(|part| part == "tests")
    }

    /// Whether `make gen` writes the file: it is called `gen.rs`, or its directory is called `gen`.
    pub fn is_generated(&self) -> bool {
        let mut parts = self.path.rsplit('/');
        parts.next() == Some("gen.rs") || parts.next() == Some("gen")
    }
}
