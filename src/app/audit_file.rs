//! The file of the audit log: readable by its owner only, and replaced by a new one when it has
//! grown too large. A write that fails is reported once; the outlet that writes here drops the line
//! and goes on. It does not know what the lines say.

use std::fs::{File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{FileTypeExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

/// The size at which a new file is begun.
const SIZE_LIMIT: u64 = 16 << 20;
/// How many older files are kept, as FILE.1 (the newest) to FILE.4.
const KEPT: u32 = 4;
const MODE: u32 = 0o600;

pub(super) struct AuditFile {
    path: PathBuf,
    file: File,
    size: u64,
    /// `None` for a device, which has no size.
    size_limit: Option<u64>,
    /// The last write ended its line.
    at_line_start: bool,
    /// The last write failed.
    failing: bool,
}

impl AuditFile {
    /// Opens a file, or a device such as `/dev/stderr`; anything else is refused.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        Self::with_limit(path, SIZE_LIMIT)
    }

    fn with_limit(path: &Path, size_limit: u64) -> io::Result<Self> {
        let file = append_to(path)?;
        let metadata = file.metadata()?;
        let size_limit = if metadata.is_file() {
            file.set_permissions(Permissions::from_mode(MODE))?;
            Some(size_limit)
        } else if metadata.file_type().is_char_device() {
            None
        } else {
            return Err(io::Error::other("it is neither a file nor a device"));
        };
        let (path, size) = (path.to_owned(), metadata.len());
        Ok(Self { path, file, size, size_limit, at_line_start: true, failing: false })
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let is_full = |limit| self.size > 0 && self.size + bytes.len() as u64 > limit;
        if self.at_line_start && self.size_limit.is_some_and(is_full) {
            self.rotate()?;
        }
        let written = self.file.write(bytes)?;
        self.size += written as u64;
        self.at_line_start = bytes.get(..written).is_some_and(|bytes| bytes.ends_with(b"\n"));
        Ok(written)
    }

    /// Begins a new file. It is opened before any other is renamed, so that a full disk leaves all
    /// of them where they are.
    fn rotate(&mut self) -> io::Result<()> {
        let new = self.numbered("new");
        let file = append_to(&new)?;
        file.set_len(0)?;
        for number in (1..KEPT).rev() {
            let (from, to) = (self.numbered(number), self.numbered(number + 1));
            match std::fs::rename(from, to) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                Ok(()) | Err(_) => {}
            }
        }
        match std::fs::rename(&self.path, self.numbered(1)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Ok(()) | Err(_) => {}
        }
        std::fs::rename(new, &self.path)?;
        (self.file, self.size) = (file, 0);
        Ok(())
    }

    fn numbered(&self, suffix: impl std::fmt::Display) -> PathBuf {
        let mut path = self.path.clone().into_os_string();
        path.push(format!(".{suffix}"));
        path.into()
    }
}

fn append_to(path: &Path) -> io::Result<File> {
    // A pipe without a reader must not block the start.
    let flags = OFlags::NONBLOCK.bits().cast_signed();
    OpenOptions::new().append(true).create(true).mode(MODE).custom_flags(flags).open(path)
}

impl Write for AuditFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let result = self.append(bytes);
        let path = self.path.display();
        match &result {
            Ok(_) if self.failing => tracing::warn!(%path, "the audit log is written again"),
            Err(error) if !self.failing => {
                tracing::error!(%path, %error, "the audit log cannot be written; lines are lost");
            }
            Ok(_) | Err(_) => {}
        }
        self.failing = result.is_err();
        result
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(path: &Path) -> String {
        std::fs::read_to_string(path).unwrap_or_default()
    }

    #[test]
    fn a_full_file_is_replaced_and_only_some_are_kept() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("audit");
        let mut file = AuditFile::with_limit(&path, 20).unwrap();
        for number in 0..14 {
            writeln!(file, "line {number:04}").unwrap();
        }
        drop(file);
        let mut file = AuditFile::with_limit(&path, 20).unwrap();
        file.write_all(b"line 0014\n").unwrap();
        let mut found: Vec<_> = std::fs::read_dir(dir.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        found.sort();
        assert_eq!(found, ["audit", "audit.1", "audit.2", "audit.3", "audit.4"]);
        for name in found {
            let mode = std::fs::metadata(dir.path().join(&name)).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, MODE, "{name}");
        }
        assert_eq!(text(&path), "line 0014\n");
        assert_eq!(text(&dir.path().join("audit.1")), "line 0012\nline 0013\n");
        assert_eq!(text(&dir.path().join("audit.4")), "line 0006\nline 0007\n");
    }

    #[test]
    fn a_line_that_cannot_be_written_fails_and_the_next_one_is_tried() {
        let mut full = AuditFile::open(Path::new("/dev/full")).unwrap();
        for _ in 0..3 {
            full.write_all(b"lost\n").unwrap_err();
            assert!(full.failing);
        }
        let dir = tempfile::tempdir().unwrap();
        full.file = append_to(&dir.path().join("audit")).unwrap();
        full.write_all(b"kept\n").unwrap();
        assert!(!full.failing);
        assert_eq!(text(&dir.path().join("audit")), "kept\n");
    }

    #[test]
    fn only_files_and_devices_are_opened() {
        let dir = tempfile::tempdir().unwrap();
        assert!(AuditFile::open(dir.path()).is_err());
        assert!(AuditFile::open(&dir.path().join("missing/audit")).is_err());
        let readable = dir.path().join("audit");
        std::fs::write(&readable, "before\n").unwrap();
        std::fs::set_permissions(&readable, Permissions::from_mode(0o644)).unwrap();
        AuditFile::open(&readable).unwrap().write_all(b"after\n").unwrap();
        assert_eq!(text(&readable), "before\nafter\n");
        assert_eq!(std::fs::metadata(&readable).unwrap().permissions().mode() & 0o777, MODE);
    }
}
