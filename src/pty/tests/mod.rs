//! Real programs on real terminals. Every wait is for an event; a deadline only makes a test fail.

mod ending;
mod probing;
mod signalling;
mod starting;
mod typing;

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use tokio::sync::{Mutex, MutexGuard};
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::terminate::Termination;
use super::*;
use crate::os::{Process, ProcessState};

/// An orphan can belong to any child of the process, so tests that end trees run one at a time.
pub(crate) static ALONE: Mutex<()> = Mutex::const_new(());

const DEADLINE: Duration = Duration::from_secs(30);
const INTERVAL: Duration = Duration::from_millis(20);
const LONG: Duration = Duration::from_secs(3600);

async fn within<T>(what: &str, future: impl Future<Output = T>) -> T {
    match timeout(DEADLINE, future).await {
        Ok(value) => value,
        Err(_) => panic!("{what} did not come"),
    }
}

struct Fixture {
    reaper: Reaper,
    _reaping: JoinSet<std::io::Result<std::convert::Infallible>>,
    _alone: MutexGuard<'static, ()>,
}

impl Fixture {
    async fn new() -> Self {
        let alone = ALONE.lock().await;
        let reaper = Reaper::install(None).expect("a subreaper");
        let mut reaping = JoinSet::new();
        reaping.spawn(reaper.run());
        Self { reaper, _reaping: reaping, _alone: alone }
    }

    fn spawn(&self, launch: &Launch) -> Session {
        let spawned = launch.spawn(&self.reaper).expect("a child");
        Session {
            child: spawned.child,
            reader: spawned.reader,
            writer: spawned.writer,
            control: spawned.control,
            seen: Vec::new(),
        }
    }

    fn shell(&self, script: &str) -> Session {
        self.spawn(&launch("sh", &["-c", script]))
    }

    /// Ends a session at once.
    async fn end(&self, session: &Session) {
        let ended = session.child.terminate(LONG, std::future::ready(()));
        let ended = within("the end", ended).await.expect("ended");
        assert_eq!(ended.survivors, []);
    }

    async fn until_gone(&self, pid: i32) {
        self.until(|| Process::read(pid).is_none()).await;
    }

    /// Waits for something that an exit or a stop of a descendant causes. coop hears only of those
    /// that are its own children, so the tree is also read at an interval.
    async fn until(&self, happened: impl Fn() -> bool) {
        let mut sweeps = self.reaper.sweeps();
        within("the change in the tree", async {
            while !happened() {
                _ = timeout(INTERVAL, sweeps.changed()).await;
            }
        })
        .await;
    }
}

fn launch(program: &str, args: &[&str]) -> Launch {
    Launch {
        program: program.into(),
        args: args.iter().map(OsString::from).collect(),
        env: vec![("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into())],
        cwd: PathBuf::from("/"),
        size: WindowSize { cols: 80, rows: 24 },
    }
}

struct Session {
    child: Child,
    reader: Reader,
    writer: Writer,
    control: Control,
    seen: Vec<u8>,
}

impl Session {
    /// Reads until the text has been printed, and returns everything up to its end.
    async fn until(&mut self, text: &str) -> String {
        let found = within(text, async {
            loop {
                let at = self.seen.windows(text.len()).position(|part| part == text.as_bytes());
                if let Some(at) = at {
                    return at + text.len();
                }
                match self.reader.read().await.expect("readable") {
                    Some(bytes) => self.seen.extend_from_slice(&bytes),
                    None => {
                        panic!("ended before {text:?}: {:?}", String::from_utf8_lossy(&self.seen))
                    }
                }
            }
        })
        .await;
        String::from_utf8_lossy(&self.seen.drain(..found).collect::<Vec<u8>>()).into_owned()
    }

    /// Reads until all of the texts have been printed, in any order, and returns everything so
    /// far.
    async fn until_all(&mut self, texts: &[&str]) -> String {
        within("all of the texts", async {
            loop {
                let output = String::from_utf8_lossy(&self.seen).into_owned();
                if texts.iter().all(|text| output.contains(text)) {
                    return output;
                }
                let bytes = self.reader.read().await.expect("readable");
                self.seen.extend_from_slice(&bytes.expect("an open terminal"));
            }
        })
        .await
    }

    /// The number printed as `NAME=NUMBER` on a line.
    async fn number(&mut self, name: &str) -> i32 {
        self.until(&format!("{name}=")).await;
        let line = self.until("\r\n").await;
        line.trim().parse().expect("a number")
    }

    async fn rest(&mut self) -> Vec<u8> {
        within("the end of the output", async {
            while let Some(bytes) = self.reader.read().await.expect("readable") {
                self.seen.extend_from_slice(&bytes);
            }
        })
        .await;
        std::mem::take(&mut self.seen)
    }

    async fn type_all(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let count = within("room for input", self.writer.write(bytes)).await.expect("writable");
            bytes = &bytes[count..];
        }
    }

    async fn exit(&self) -> Exit {
        within("the exit", self.child.wait()).await
    }
}
