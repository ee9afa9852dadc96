//! Lines to stdout and stderr that never make coop wait: if nobody reads them, they are dropped.

use std::io::{self, Write};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use tracing_subscriber::fmt::MakeWriter;

use crate::cli::{LogFormat, LogLevel};

/// How many lines may wait for a slow reader.
const WAITING: usize = 1024;
/// How long the last lines may take at the end.
const LAST_WORDS: Duration = Duration::from_millis(200);

/// A stream that is written to by a thread of its own; clones write to the same.
#[derive(Clone)]
pub struct Outlet {
    lines: SyncSender<Message>,
}

enum Message {
    Line(Vec<u8>),
    /// Answered once everything before it is written.
    Flush(SyncSender<()>),
}

impl Outlet {
    /// The thread lives as long as the process: it may be stuck in a write that never ends.
    pub fn new(name: &str, sink: impl Write + Send + 'static) -> io::Result<Self> {
        let (lines, waiting) = sync_channel(WAITING);
        let _detached: JoinHandle<()> =
            thread::Builder::new().name(name.to_owned()).spawn(|| drain(waiting, sink))?;
        Ok(Self { lines })
    }

    pub fn line(&self, text: &str) {
        let mut line = Vec::with_capacity(text.len() + 1);
        line.extend_from_slice(text.as_bytes());
        line.push(b'\n');
        self.send(line);
    }

    /// Waits until all is written, but not for long.
    pub fn flush(&self) {
        let (done, flushed) = sync_channel(1);
        if self.lines.try_send(Message::Flush(done)).is_ok() {
            // Whether it was written or nobody reads: there is nothing more to do.
            let _ = flushed.recv_timeout(LAST_WORDS);
        }
    }

    fn send(&self, line: Vec<u8>) {
        match self.lines.try_send(Message::Line(line)) {
            // Nobody reads, or the stream is broken: the line is lost, and nothing waits for it.
            Ok(()) | Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) => {}
        }
    }
}

fn drain(waiting: Receiver<Message>, mut sink: impl Write) {
    for message in waiting {
        match message {
            Message::Line(line) => {
                if sink.write_all(&line).and_then(|()| sink.flush()).is_err() {
                    return;
                }
            }
            Message::Flush(done) => drop(done.try_send(())),
        }
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

/// Sends what is traced to the outlet.
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
    fn nobody_waits_for_a_reader_that_never_reads() {
        let (release, stuck) = sync_channel(0);
        let outlet = Outlet::new("stuck", Stuck(stuck)).unwrap();
        for _ in 0..WAITING * 2 {
            outlet.line("this returns at once");
        }
        drop(release);
    }

    #[test]
    fn lines_come_out_whole_and_in_order() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let outlet = Outlet::new("file", file.reopen().unwrap()).unwrap();
        outlet.line("one");
        outlet.line("two");
        outlet.flush();
        assert_eq!(std::fs::read_to_string(file.path()).unwrap(), "one\ntwo\n");
    }
}
