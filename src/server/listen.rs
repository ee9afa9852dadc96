//! Binds the listeners: all of them are open before anything is unlinked or started, and a Unix
//! socket's file is removed at the end.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, fchmod};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, connect, socket_with};
use tokio::net::{TcpListener, TcpSocket, UnixListener, UnixSocket as UnopenedSocket};

/// The longest path of a Unix socket, without its terminating NUL.
const PATH_LIMIT: usize = 107;

#[derive(Debug, thiserror::Error)]
pub enum BindError {
    #[error("cannot listen on {address}: {reason}")]
    Tcp { address: SocketAddr, reason: io::Error },
    #[error("cannot listen on {}: {reason}", .path.display())]
    Unix { path: PathBuf, reason: io::Error },
    #[error("{} is in use: another program answers there", .0.display())]
    InUse(PathBuf),
    #[error("{} exists and is not a socket; it was left alone", .0.display())]
    NotASocket(PathBuf),
}

/// How many connections may wait to be accepted. A client that finds the queue full retries after a
/// second.
const BACKLOG: u32 = 1024;

pub(crate) fn tcp(host: IpAddr, port: u16) -> Result<TcpListener, BindError> {
    let address = SocketAddr::new(host, port);
    listen(address).map_err(|reason| BindError::Tcp { address, reason })
}

fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    // A port whose last connections are in TIME_WAIT is free.
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

/// A Unix listener, under its final name once [`publish`](Self::publish)ed. Dropping it removes the
/// file.
#[derive(Debug)]
pub(crate) struct UnixSocket {
    listener: UnixListener,
    path: PathBuf,
    /// The temporary name, until it is published.
    bound_as: Option<PathBuf>,
    /// The file's device and inode, which another coop's socket at the same path does not have.
    file: (u64, u64),
}

impl UnixSocket {
    /// Opens the socket under a temporary name beside its final one. The stale file of a dead coop
    /// is kept until everything else is bound; a socket that still accepts connections is an error.
    pub(crate) fn bind(path: &Path) -> Result<Self, BindError> {
        check_stale(path)?;
        let failed = |reason| BindError::Unix { path: path.to_owned(), reason };
        // A process in another container may have our pid, and share the directory.
        let number = uuid::Uuid::new_v4().as_fields().0;
        let bound_as = path.with_file_name(format!(".coop-{number:08x}"));
        if path.as_os_str().len().max(bound_as.as_os_str().len()) > PATH_LIMIT {
            let reason = format!("a socket's path may have at most {PATH_LIMIT} bytes");
            return Err(failed(io::Error::new(io::ErrorKind::InvalidInput, reason)));
        }
        let listener = bind_private(&bound_as).map_err(failed)?;
        let file = identity(&bound_as).map_err(failed)?;
        let socket =
            Self { listener, path: path.to_owned(), bound_as: Some(bound_as.clone()), file };
        // Where a descriptor's mode is not that of its file, the file gets it now.
        std::fs::set_permissions(&bound_as, std::fs::Permissions::from_mode(0o600))
            .map_err(failed)?;
        Ok(socket)
    }

    /// Renames the socket to its final name, replacing a stale one in one step.
    pub(crate) fn publish(&mut self) -> Result<(), BindError> {
        if let Some(bound_as) = self.bound_as.take() {
            std::fs::rename(&bound_as, &self.path)
                .map_err(|reason| BindError::Unix { path: self.path.clone(), reason })?;
        }
        Ok(())
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn listener(&self) -> &UnixListener {
        &self.listener
    }
}

impl Drop for UnixSocket {
    fn drop(&mut self) {
        let path = self.bound_as.as_ref().unwrap_or(&self.path);
        // The file may be gone already, or belong to the next coop.
        if identity(path).is_ok_and(|file| file == self.file) {
            drop(std::fs::remove_file(path));
        }
    }
}

/// Binds a socket that is its owner's alone from the first moment, whatever the umask is: the
/// kernel gives the file the mode of the descriptor.
fn bind_private(path: &Path) -> io::Result<UnixListener> {
    let socket = UnopenedSocket::new_stream()?;
    fchmod(&socket, Mode::RUSR | Mode::WUSR)?;
    socket.bind(path)?;
    socket.listen(BACKLOG)
}

/// The device and the inode of the file at the path.
fn identity(path: &Path) -> io::Result<(u64, u64)> {
    let metadata = std::fs::symlink_metadata(path)?;
    Ok((metadata.dev(), metadata.ino()))
}

/// Checks that the path is free, or a stale socket: one that refuses connections.
fn check_stale(path: &Path) -> Result<(), BindError> {
    use std::os::unix::fs::FileTypeExt as _;
    let metadata = match std::fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(reason) => return Err(BindError::Unix { path: path.to_owned(), reason }),
        Ok(metadata) => metadata,
    };
    if !metadata.file_type().is_socket() {
        return Err(BindError::NotASocket(path.to_owned()));
    }
    match refuses_connections(path) {
        Ok(true) => Ok(()),
        Ok(false) => Err(BindError::InUse(path.to_owned())),
        Err(reason) => Err(BindError::Unix { path: path.to_owned(), reason }),
    }
}

/// Whether no process listens on this Unix socket any more. It does not wait for one that listens
/// and does not accept.
pub(crate) fn refuses_connections(path: &Path) -> io::Result<bool> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    match connect(&socket, &SocketAddrUnix::new(path)?) {
        Ok(()) | Err(Errno::AGAIN) => Ok(false),
        Err(Errno::CONNREFUSED) => Ok(true),
        Err(errno) => Err(errno.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_stale_file_is_replaced_and_removed_at_the_end() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("coop.sock");
        drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
        let mut socket = UnixSocket::bind(&path).unwrap();
        assert!(std::os::unix::net::UnixStream::connect(&path).is_err(), "not published yet");
        socket.publish().unwrap();
        assert!(std::os::unix::net::UnixStream::connect(&path).is_ok());
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        drop(socket);
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
    }

    #[tokio::test]
    async fn a_socket_in_use_and_a_plain_file_are_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("coop.sock");
        let _alive = std::os::unix::net::UnixListener::bind(&path).unwrap();
        assert!(matches!(UnixSocket::bind(&path), Err(BindError::InUse(_))));
        let file = dir.path().join("notes");
        std::fs::write(&file, "mine").unwrap();
        assert!(matches!(UnixSocket::bind(&file), Err(BindError::NotASocket(_))));
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "mine");
    }

    #[tokio::test]
    async fn a_socket_whose_queue_is_full_is_in_use() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("coop.sock");
        let socket = UnopenedSocket::new_stream().unwrap();
        socket.bind(&path).unwrap();
        let _listener = socket.listen(0).unwrap();
        let _waiting = std::os::unix::net::UnixStream::connect(&path).unwrap();
        assert!(matches!(UnixSocket::bind(&path), Err(BindError::InUse(_))));
    }

    #[tokio::test]
    async fn a_socket_is_private_from_the_moment_it_is_bound() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("coop.sock");
        let _listener = bind_private(&path).unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[tokio::test]
    async fn the_socket_of_a_successor_is_not_removed() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("coop.sock");
        let mut first = UnixSocket::bind(&path).unwrap();
        first.publish().unwrap();
        std::fs::remove_file(&path).unwrap();
        let mut second = UnixSocket::bind(&path).unwrap();
        second.publish().unwrap();
        drop(first);
        assert!(std::os::unix::net::UnixStream::connect(&path).is_ok());
        drop(second);
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
    }

    #[tokio::test]
    async fn a_failed_start_keeps_the_old_socket() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("coop.sock");
        drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
        drop(UnixSocket::bind(&path).unwrap());
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
        assert!(path.exists());
    }
}
