//! Writes lines to stdout and stderr without ever blocking coop: lines that are not read are
//! dropped.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use tracing_subscriber::fmt::MakeWriter;

use crate::cli::{LogFormat, LogLevel};

/// How many lines may wait for a slow reader.
const WAITING: usize = 1024;
/// How long writing the last lines may take.
const FLUSH_TIMEOUT: Duration = Duration::from_millis(200);

/// A stream that a thread of its own writes to; clones share the thread.
#[derive(Clone)]
pub struct Outlet {
    lines: SyncSender<Message>,
    /// How many lines were lost since the start.
    lost: Arc<AtomicU64>,
}

enum Message {
    Line(Vec<u8>),
    /// Confirmed once everything before it is written.
    Flush(SyncSender<()>),
}

impl Outlet {
    /// The thread lives as long as the process, because a write may block forever.
    pub fn new(name: &'static str, sink: impl Write + Send + 'static) -> io::Result<Self> {
        let (lines, waiting) = sync_channel(WAITING);
        let lost = Arc::new(AtomicU64::new(0));
        let drain = Drain { name, sink, torn: false, lost: Arc::clone(&lost), reported: 0 };
        let _detached: JoinHandle<()> =
            thread::Builder::new().name(name.to_owned()).spawn(|| drain.run(waiting))?;
        Ok(Self { lines, lost })
    }

    pub fn line(&self, text: &str) {
        let mut line = Vec::with_capacity(text.len() + 1);
        line.extend_from_slice(text.as_bytes());
        line.push(b'\n');
        self.send(line);
    }

    /// Waits until everything is written, up to `FLUSH_TIMEOUT`.
    pub fn flush(&self) {
        let (done, flushed) = sync_channel(1);
        if self.lines.try_send(Message::Flush(done)).is_ok() {
            // Lines that are not written in time are lost.
            let _ = flushed.recv_timeout(FLUSH_TIMEOUT);
        }
    }

    fn send(&self, line: Vec<u8>) {
        if !self.offer(line) {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Passes a line on, with its line feed; false if it is lost because the reader is too slow.
    pub(crate) fn offer(&self, line: Vec<u8>) -> bool {
        match self.lines.try_send(Message::Line(line)) {
            Ok(()) => true,
            Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) => false,
        }
    }
}

/// The thread's part of an outlet. A line that cannot be written is lost, and the next one is
/// tried: the disk may have room again, or the pipe a reader.
struct Drain<W> {
    name: &'static str,
    sink: W,
    /// The last line was written in part.
    torn: bool,
    lost: Arc<AtomicU64>,
    /// How many lost lines have been reported.
    reported: u64,
}

impl<W: Write> Drain<W> {
    fn run(mut self, waiting: Receiver<Message>) {
        for message in waiting {
            match message {
                Message::Line(line) => self.line(&line),
                Message::Flush(done) => drop(done.try_send(())),
            }
        }
    }

    fn line(&mut self, line: &[u8]) {
        if self.torn && self.write(b"\n").is_err() || self.write(line).is_err() {
            self.lost.fetch_add(1, Ordering::Relaxed);
            return;
        }
        let lost = self.lost.load(Ordering::Relaxed);
        if lost != self.reported {
            self.reported = lost;
            // Should this line be lost too, the next one that is written reports again.
            tracing::error!(outlet = self.name, lost, "lines could not be written and are lost");
        }
    }

    /// Writes all of it, and remembers whether the stream now ends inside a line.
    fn write(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        let whole = bytes.len();
        while !bytes.is_empty() {
            match self.sink.write(bytes) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(written) => {
                    bytes = bytes.get(written..).unwrap_or_default();
                    self.torn = !bytes.is_empty();
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    self.torn |= bytes.len() < whole;
                    return Err(error);
                }
            }
        }
        self.sink.flush()
    }
}

impl Write for Outlet {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.send(bytes.to_vec());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Outlet {
    type Writer = Outlet;

    fn make_writer(&'a self) -> Outlet {
        self.clone()
    }
}

/// Installs a tracing subscriber that writes to the outlet.
pub fn install(outlet: Outlet, format: LogFormat, level: LogLevel) {
    let level = match level {
        LogLevel::Error => tracing::Level::ERROR,
        LogLevel::Warn => tracing::Level::WARN,
        LogLevel::Info => tracing::Level::INFO,
        LogLevel::Debug => tracing::Level::DEBUG,
        LogLevel::Trace => tracing::Level::TRACE,
    };
    let builder = tracing_subscriber::fmt().with_max_level(level).with_writer(outlet);
    match format {
        LogFormat::Json => builder.json().init(),
        LogFormat::Text => builder.with_ansi(false).init(),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    /// A reader that never reads.
    struct Stuck(Receiver<()>);

    impl Write for Stuck {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            let _ = self.0.recv();
            Err(io::Error::other("done"))
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn writing_does_not_wait_for_a_reader_that_never_reads() {
        let (release, stuck) = sync_channel(0);
        let outlet = Outlet::new("stuck", Stuck(stuck)).unwrap();
        for _ in 0..WAITING * 2 {
            outlet.line("this returns at once");
        }
        drop(release);
    }

    #[test]
    fn lines_are_written_whole_and_in_order() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let outlet = Outlet::new("file", file.reopen().unwrap()).unwrap();
        outlet.line("one");
        outlet.line("two");
        outlet.flush();
        assert_eq!(std::fs::read_to_string(file.path()).unwrap(), "one\ntwo\n");
    }

    /// A disk that is full for a while: it takes `room` more bytes.
    struct Disk {
        room: Arc<AtomicU64>,
        written: Arc<Mutex<Vec<u8>>>,
    }

    impl Write for Disk {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let room = usize::try_from(self.room.load(Ordering::SeqCst)).unwrap().min(bytes.len());
            if room == 0 {
                return Err(io::ErrorKind::StorageFull.into());
            }
            self.room.fetch_sub(room as u64, Ordering::SeqCst);
            self.written.lock().unwrap().extend_from_slice(&bytes[..room]);
            Ok(room)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn lines_that_cannot_be_written_are_lost_and_counted_and_the_next_is_tried() {
        let (room, written) = (Arc::new(AtomicU64::new(6)), Arc::new(Mutex::new(Vec::new())));
        let disk = Disk { room: Arc::clone(&room), written: Arc::clone(&written) };
        let outlet = Outlet::new("disk", disk).unwrap();
        outlet.line("one");
        outlet.line("two is torn");
        outlet.line("three is lost");
        outlet.flush();
        assert_eq!(outlet.lost.load(Ordering::SeqCst), 2);
        room.store(1000, Ordering::SeqCst);
        outlet.line("four");
        outlet.line("five");
        outlet.flush();
        let text = String::from_utf8(written.lock().unwrap().clone()).unwrap();
        assert_eq!(text, "one\ntw\nfour\nfive\n", "each line begins on a line of its own");
    }
}
