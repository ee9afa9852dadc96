//! The master side of a pseudo terminal, in three parts that different tasks use at the same time:
//! one reads, one writes, one changes the settings. It must not know which program runs on the
//! other side.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::Pid;
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcgetpgrp, tcsetwinsize};
use tokio::io::unix::AsyncFd;
use tokio::sync::watch;

use super::echo::EchoWindow;

/// The most bytes of one read. The kernel seldom has more than 4 KiB ready, and sometimes all of
/// this.
const READ_BUFFER: usize = 16 * 1024;

/// A buffer with less space than this is replaced, so that no read is short because of the buffer.
const MIN_SPACE: usize = 4 * 1024;

/// The size of a terminal in cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WindowSize {
    pub cols: u16,
    pub rows: u16,
}

/// The state that the three parts share.
struct Master {
    fd: AsyncFd<OwnedFd>,
    /// How many bytes were read so far, for a writer that waits for its echo.
    read_count: watch::Sender<u64>,
}

impl Master {
    fn terminal(&self) -> BorrowedFd<'_> {
        self.fd.get_ref().as_fd()
    }

    /// Whether the line discipline echoes input now. The master has the same settings as the
    /// child's side.
    fn echoes(&self) -> bool {
        tcgetattr(self.terminal())
            .is_ok_and(|settings| settings.local_modes.contains(LocalModes::ECHO))
    }

    /// Whether there is output that was not read yet.
    fn has_unread(&self) -> bool {
        let mut polled = [PollFd::from_borrowed_fd(self.terminal(), PollFlags::IN)];
        let result = poll(&mut polled, Some(&Timespec::default()));
        result.is_ok() && polled.iter().any(|polled| polled.revents().contains(PollFlags::IN))
    }
}

/// Splits a nonblocking master. The child gets a hangup when all three parts are dropped.
pub(super) fn split(master: OwnedFd) -> io::Result<(Reader, Writer, Control)> {
    // SAFETY: an `OwnedFd` is open, names the same file for as long as it lives, and nothing takes
    // it out of the `AsyncFd`.
    let fd = unsafe { AsyncFd::register(master) }.map_err(io::Error::from)?;
    let master = Arc::new(Master { fd, read_count: watch::Sender::new(0) });
    let reader = Reader { master: Arc::clone(&master), buffer: BytesMut::new() };
    let writer = Writer {
        echo: EchoWindow::new(master.read_count.subscribe()),
        master: Arc::clone(&master),
    };
    Ok((reader, writer, Control { master }))
}

/// Reads what the child prints.
pub struct Reader {
    master: Arc<Master>,
    buffer: BytesMut,
}

impl Reader {
    /// Returns the next bytes, or `None` when no process has the terminal open any more. Cancelling
    /// loses nothing.
    ///
    /// The end can come long after the child's exit, because its background jobs hold the terminal
    /// open; it can also come before, when the child closes its terminal and continues.
    pub async fn read(&mut self) -> io::Result<Option<Bytes>> {
        loop {
            let mut ready = self.master.fd.readable().await?;
            if self.buffer.len() < MIN_SPACE {
                // The whole buffer is free: the bytes that were read are split off at its front and
                // never copied.
                self.buffer = BytesMut::zeroed(READ_BUFFER);
            }
            let buffer = &mut self.buffer;
            match ready.try_io(|master| Ok(rustix::io::read(master.get_ref(), buffer.as_mut())?)) {
                Ok(Ok(0)) => return Ok(None),
                Ok(Ok(count)) => {
                    self.master.read_count.send_modify(|total| *total += count as u64);
                    return Ok(Some(self.buffer.split_to(count).freeze()));
                }
                Ok(Err(error)) => match Errno::from_io_error(&error) {
                    // On Linux, the last process has closed the other side.
                    Some(Errno::IO) => return Ok(None),
                    Some(Errno::INTR) => {}
                    Some(_) | None => return Err(error),
                },
                Err(_would_block) => {}
            }
        }
    }
}

/// Types input to the child.
pub struct Writer {
    master: Arc<Master>,
    echo: EchoWindow,
}

impl Writer {
    /// Waits until the terminal takes some of the bytes, and returns how many it took. A cancelled
    /// write has written nothing.
    ///
    /// It waits while a child in raw mode does not read. In canonical mode the kernel stores one
    /// line of at most 4095 bytes and silently drops the rest of a longer one; only the child can
    /// change that.
    pub async fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if bytes.is_empty() {
            return Ok(0);
        }
        loop {
            let echoes = self.master.echoes();
            let now = if echoes {
                let room = self.echo.room(|| self.master.has_unread()).await;
                bytes.get(..room).unwrap_or(bytes)
            } else {
                bytes
            };
            let mut ready = self.master.fd.writable().await?;
            let hung_up = ready.ready().is_write_closed();
            match ready.try_io(|master| Ok(rustix::io::write(master.get_ref(), now)?)) {
                Ok(Ok(count)) => {
                    if echoes {
                        self.echo.typed(now.get(..count).unwrap_or(now));
                    }
                    return Ok(count);
                }
                Ok(Err(error)) if error.kind() == io::ErrorKind::Interrupted => {}
                Ok(Err(error)) => return Err(error),
                // The last process closed the terminal and left the buffer full. It stays full, and
                // the hangup counts as readiness, so another try would spin.
                Err(_would_block) if hung_up => return Err(Errno::IO.into()),
                Err(_would_block) => {}
            }
        }
    }
}

/// The terminal's settings; clones are the same terminal.
#[derive(Clone)]
pub struct Control {
    master: Arc<Master>,
}

impl Control {
    /// Changes the size. If it differs from the old one, the kernel sends SIGWINCH to the
    /// foreground process group.
    pub fn resize(&self, size: WindowSize) -> io::Result<()> {
        set_window_size(self.master.terminal(), size)
    }

    /// Returns the foreground process group, which gets the terminal's input and the signal of
    /// Ctrl-C; none after the child's exit.
    pub(crate) fn foreground_group(&self) -> Option<Pid> {
        tcgetpgrp(self.master.terminal()).ok()
    }
}

pub(super) fn set_window_size(terminal: BorrowedFd<'_>, size: WindowSize) -> io::Result<()> {
    let size = Winsize { ws_row: size.rows, ws_col: size.cols, ws_xpixel: 0, ws_ypixel: 0 };
    Ok(tcsetwinsize(terminal, size)?)
}
