//! The master side of a pseudo terminal, in three parts that work at the same time from different tasks: bytes out of it,
//! bytes into it, and its settings. It must not know who runs on the other side.

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

/// One read takes at most this much. The kernel seldom has more than 4 KiB ready, and sometimes all of this.
const BUFFER: usize = 16 * 1024;

/// Below this much room a new buffer is begun, so that no read is cut short by the end of an old one.
const LEAST_ROOM: usize = 4 * 1024;

/// How many cells a terminal has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WindowSize {
    pub cols: u16,
    pub rows: u16,
}

/// What the three parts share.
struct Master {
    fd: AsyncFd<OwnedFd>,
    /// How many bytes were read, for a writer that waits for its echo.
    taken: watch::Sender<u64>,
}

impl Master {
    fn terminal(&self) -> BorrowedFd<'_> {
        self.fd.get_ref().as_fd()
    }

    /// Whether what is typed now will be printed by the line discipline. The master shows the settings of the child's side.
    fn echoes(&self) -> bool {
        tcgetattr(self.terminal()).is_ok_and(|settings| settings.local_modes.contains(LocalModes::ECHO))
    }

    /// Whether the child's side has printed something that was not read yet.
    fn has_unread(&self) -> bool {
        let mut ask = [PollFd::from_borrowed_fd(self.terminal(), PollFlags::IN)];
        let asked = poll(&mut ask, Some(&Timespec::default()));
        asked.is_ok() && ask.iter().any(|answer| answer.revents().contains(PollFlags::IN))
    }
}

/// Takes a nonblocking master apart. The terminal hangs up on its child when all three parts are dropped.
pub(super) fn split(master: OwnedFd) -> io::Result<(Reader, Writer, Control)> {
    // SAFETY: an `OwnedFd` is open, names the same file for as long as it lives, and nothing takes it out of the `AsyncFd`.
    let fd = unsafe { AsyncFd::register(master) }.map_err(io::Error::from)?;
    let master = Arc::new(Master { fd, taken: watch::Sender::new(0) });
    let reader = Reader { master: Arc::clone(&master), buffer: BytesMut::new() };
    let writer = Writer { echo: EchoWindow::new(master.taken.subscribe()), master: Arc::clone(&master) };
    Ok((reader, writer, Control { master }))
}

/// What the child prints.
pub struct Reader {
    master: Arc<Master>,
    buffer: BytesMut,
}

impl Reader {
    /// The next bytes, or `None` when no process has the terminal open any more. Cancelling loses nothing.
    ///
    /// The end can come long after the child's exit, because its background jobs keep the terminal open; it can also come
    /// before, when the child closes its terminal and runs on.
    pub async fn read(&mut self) -> io::Result<Option<Bytes>> {
        loop {
            let mut ready = self.master.fd.readable().await?;
            if self.buffer.len() < LEAST_ROOM {
                // The buffer's whole length is room: what is read is split off at its front and never copied.
                self.buffer = BytesMut::zeroed(BUFFER);
            }
            let room = &mut self.buffer;
            match ready.try_io(|master| Ok(rustix::io::read(master.get_ref(), room.as_mut())?)) {
                Ok(Ok(0)) => return Ok(None),
                Ok(Ok(count)) => {
                    self.master.taken.send_modify(|taken| *taken += count as u64);
                    return Ok(Some(self.buffer.split_to(count).freeze()));
                }
                Ok(Err(error)) => match Errno::from_io_error(&error) {
                    // This is how Linux says that the last one closed the other side.
                    Some(Errno::IO) => return Ok(None),
                    Some(Errno::INTR) => {}
                    Some(_) | None => return Err(error),
                },
                Err(_would_block) => {}
            }
        }
    }
}

/// What is typed to the child.
pub struct Writer {
    master: Arc<Master>,
    echo: EchoWindow,
}

impl Writer {
    /// Waits until the terminal takes some of the bytes, and answers how many it took. A cancelled write has written nothing.
    ///
    /// It waits as long as a child in raw mode does not read. In canonical mode the kernel holds one line of at most 4095
    /// bytes and silently drops the rest of a longer one; nobody but the child can change that.
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
                // The last reader left the buffer full. Nobody will ever make room, and the hang-up counts as
                // readiness for ever: to try again would be to spin.
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
    /// Changes the size. The kernel tells the foreground process group by SIGWINCH if it differs from the old one.
    pub fn resize(&self, size: WindowSize) -> io::Result<()> {
        set_window_size(self.master.terminal(), size)
    }

    /// The process group that the terminal's input and its Ctrl-C go to; none after the child's exit.
    pub fn foreground_group(&self) -> Option<Pid> {
        tcgetpgrp(self.master.terminal()).ok()
    }
}

pub(super) fn set_window_size(terminal: BorrowedFd<'_>, size: WindowSize) -> io::Result<()> {
    let size = Winsize { ws_row: size.rows, ws_col: size.cols, ws_xpixel: 0, ws_ypixel: 0 };
    Ok(tcsetwinsize(terminal, size)?)
}
