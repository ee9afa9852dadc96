//! Recordings below `tests/fixtures`, each with an `.expected` file beside it. With
//! `UPDATE_EXPECT=1` the tests write these files instead of comparing them: read the difference.

use std::fs;
use std::path::{Path, PathBuf};

/// The folder with this path below `tests/fixtures`.
pub(crate) fn folder(path: impl AsRef<Path>) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(path)
}

/// The recordings with one of these extensions, by name. A folder without any fails the test.
pub(crate) fn recordings(folder: &Path, extensions: &[&str]) -> Vec<PathBuf> {
    let recorded = |path: &PathBuf| {
        path.extension().is_some_and(|extension| extensions.iter().any(|known| extension == *known))
    };
    let mut recordings: Vec<_> = fs::read_dir(folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|entry| entry.unwrap().path())
        .filter(recorded)
        .collect();
    recordings.sort();
    assert!(!recordings.is_empty(), "no recordings in {}", folder.display());
    recordings
}

/// The file with what a recording must lead to.
fn expectation(recording: &Path) -> PathBuf {
    recording.with_extension("expected")
}

/// What a recording must lead to; nothing for a new one.
pub(crate) fn expected(recording: &Path) -> String {
    fs::read_to_string(expectation(recording)).unwrap_or_default()
}

/// Compares what a recording led to with its `.expected` file, or writes that file. Returns the
/// difference, if there is one.
#[expect(clippy::disallowed_methods, reason = "UPDATE_EXPECT is an option of the tests")]
pub(crate) fn difference(recording: &Path, found: &str) -> Option<String> {
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(expectation(recording), found).unwrap();
        return None;
    }
    let expected = expected(recording);
    let case = recording.display();
    (found != expected).then(|| format!("== {case}\nexpected:\n{expected}\nfound:\n{found}\n"))
}

/// Fails the test unless the recording led to what its `.expected` file says.
pub(crate) fn compare(recording: &Path, found: &str) {
    if let Some(difference) = difference(recording, found) {
        panic!("{difference}");
    }
}
