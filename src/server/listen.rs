//! Binding: every listener is open before anything is unlinked or started, and what was bound is
//! cleaned up at the end.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use tokio::net::{TcpListener, TcpSocket, UnixListener};

/// What the kernel has room for, with its closing NUL.
const PATH_LIMIT: usize = 107;

#[derive(Debug, thiserror::Error)]
pub enum BindError {
    #[error("cannot listen on {address}: {reason}")]
    Tcp { address: SocketAddr, reason: io::Error },
    #[error("cannot listen on {}: {reason}", .path.display())]
    Unix { path: PathBuf, reason: io::Error },
    #[error("{} is in use: another program answers there", .0.display())]
    InUse(PathBuf),
    #[error("{} exists and is no socket; it was left alone", .0.display())]
    NotASocket(PathBuf),
}

/// How many may knock at once before they are let in. The kernel lets who finds no room there wait
/// for a second before it knocks again.
const BACKLOG: u32 = 1024;

pub fn tcp(host: IpAddr, port: u16) -> Result<TcpListener, BindError> {
    let address = SocketAddr::new(host, port);
    listen(address).map_err(|reason| BindError::Tcp { address, reason })
}

fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    // A port that a coop has just left is free, whatever its last connections still wait for.
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

/// A Unix listener under its final name once [`publish`](Self::publish)ed; the file goes with it.
#[derive(Debug)]
pub struct UnixDoor {
    listener: UnixListener,
    path: PathBuf,
    /// Until published: the name it was bound under.
    bound_as: Option<PathBuf>,
}

impl UnixDoor {
    /// Opens the socket beside its place. A file of a dead coop that stands there is left until
    /// everything else is bound; one that somebody still answers on refuses.
    pub fn bind(path: &Path) -> Result<Self, BindError> {
        check_place(path)?;
        let failed = |reason| BindError::Unix { path: path.to_owned(), reason };
        let bound_as = path.with_file_name(format!(".coop-{}", std::process::id()));
        if path.as_os_str().len().max(bound_as.as_os_str().len()) > PATH_LIMIT {
            let reason = format!("the path of a socket may have {PATH_LIMIT} bytes, and this one has more");
            return Err(failed(io::Error::new(io::ErrorKind::InvalidInput, reason)));
        }
        // A name that ends in our own pid can only be a leftover of a dead process that had it.
        drop(std::fs::remove_file(&bound_as));
        let listener = UnixListener::bind(&bound_as).map_err(failed)?;
        let door = Self { listener, path: path.to_owned(), bound_as: Some(bound_as.clone()) };
        std::fs::set_permissions(&bound_as, std::fs::Permissions::from_mode(0o600)).map_err(failed)?;
        Ok(door)
    }

    /// Puts the socket in its place, over a stale one, in one step.
    pub fn publish(&mut self) -> Result<(), BindError> {
        if let Some(bound_as) = self.bound_as.take() {
            std::fs::rename(&bound_as, &self.path)
                .map_err(|reason| BindError::Unix { path: self.path.clone(), reason })?;
        }
        Ok(())
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn listener(&self) -> &UnixListener {
        &self.listener
    }
}

impl Drop for UnixDoor {
    fn drop(&mut self) {
        // Gone already is as good.
        drop(std::fs::remove_file(self.bound_as.as_ref().unwrap_or(&self.path)));
    }
}

/// A file in the way is stale only if connecting to it is refused.
fn check_place(path: &Path) -> Result<(), BindError> {
    use std::os::unix::fs::FileTypeExt as _;
    let metadata = match std::fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(reason) => return Err(BindError::Unix { path: path.to_owned(), reason }),
        Ok(metadata) => metadata,
    };
    if !metadata.file_type().is_socket() {
        return Err(BindError::NotASocket(path.to_owned()));
    }
    match std::os::unix::net::UnixStream::connect(path) {
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => Ok(()),
        Ok(_) => Err(BindError::InUse(path.to_owned())),
        Err(reason) => Err(BindError::Unix { path: path.to_owned(), reason }),
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
        let mut door = UnixDoor::bind(&path).unwrap();
        assert!(std::os::unix::net::UnixStream::connect(&path).is_err(), "not published yet");
        door.publish().unwrap();
        assert!(std::os::unix::net::UnixStream::connect(&path).is_ok());
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        drop(door);
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
    }

    #[tokio::test]
    async fn a_living_socket_and_a_plain_file_are_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("coop.sock");
        let _alive = std::os::unix::net::UnixListener::bind(&path).unwrap();
        assert!(matches!(UnixDoor::bind(&path), Err(BindError::InUse(_))));
        let file = dir.path().join("notes");
        std::fs::write(&file, "mine").unwrap();
        assert!(matches!(UnixDoor::bind(&file), Err(BindError::NotASocket(_))));
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "mine");
    }

    #[tokio::test]
    async fn a_failed_start_leaves_the_old_socket_in_its_place() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("coop.sock");
        drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
        drop(UnixDoor::bind(&path).unwrap());
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
        assert!(path.exists());
    }
}
