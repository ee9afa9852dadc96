//! Named pipes, as far as Linux lets them be opened and watched in ways that POSIX leaves open.

use std::io;
use std::path::Path;

use tokio::net::unix::pipe;

/// Opens a named pipe for reading and writing: as long as this process lives, the pipe has a reader
/// and never ends.
pub(crate) fn open_fifo(path: &Path) -> io::Result<pipe::Receiver> {
    pipe::OpenOptions::new().read_write(true).open_receiver(path)
}
