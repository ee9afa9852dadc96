//! Reads a file of secrets, unless other users of the machine can read or change it. It does not
//! know what the secrets are for.

use std::fs::File;
use std::io::{self, Read as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

/// What the mode grants to users who are neither the owner nor in the group.
const OTHERS: u32 = 0o006;
/// A larger file is not a list of tokens.
const LIMIT: u64 = 1 << 20;

/// The text of the file. Its group may read it, because Kubernetes mounts a Secret as `root:GROUP`
/// with mode 0440; links are followed, because Kubernetes mounts each file behind two of them.
pub(crate) fn read_secret_file(path: &Path) -> io::Result<String> {
    // The mode is that of the open file, which no rename can exchange any more.
    let file = File::open(path)?;
    let metadata = file.metadata()?;
    let mode = metadata.permissions().mode() & 0o7777;
    if metadata.is_file() && mode & OTHERS != 0 {
        let path = path.display();
        let reason = format!(
            "every user of this machine can read or change it (mode {mode:04o}); \
             run: chmod o-rw {path}"
        );
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, reason));
    }
    let mut text = String::new();
    if file.take(LIMIT + 1).read_to_string(&mut text)? as u64 > LIMIT {
        let reason = format!("it has more than {LIMIT} bytes");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, reason));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use std::fs::{Permissions, set_permissions, write};

    use super::*;

    fn file(mode: u32) -> (tempfile::TempDir, std::path::PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("tokens");
        write(&path, "sesame").unwrap();
        set_permissions(&path, Permissions::from_mode(mode)).unwrap();
        (dir, path)
    }

    #[test]
    fn a_file_that_others_can_use_is_refused_also_behind_a_link() {
        for mode in [0o644, 0o604, 0o602, 0o666, 0o444] {
            let (dir, path) = file(mode);
            let link = dir.path().join("link");
            std::os::unix::fs::symlink(&path, &link).unwrap();
            for path in [&path, &link] {
                let error = read_secret_file(path).unwrap_err().to_string();
                assert!(error.contains(&format!("mode {mode:04o}")), "{error}");
                assert!(error.contains("chmod o-rw"), "{error}");
            }
        }
    }

    #[test]
    fn a_file_for_owner_and_group_is_read() {
        for mode in [0o600, 0o400, 0o440, 0o640] {
            let (_dir, path) = file(mode);
            assert_eq!(read_secret_file(&path).unwrap(), "sesame", "{mode:o}");
        }
    }

    #[test]
    fn a_huge_file_is_refused() {
        let (_dir, path) = file(0o600);
        File::create(&path).unwrap().set_len(LIMIT + 1).unwrap();
        assert_eq!(read_secret_file(&path).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
    }
}
