//! The lines that an agent writes under a fuzzer: hook messages, and the log with the file below
//! it. It knows no agent.

use std::io::{self, Write as _};
use std::path::Path;
use std::sync::{Arc, LazyLock};

use serde_json::Value;
use tokio::runtime::{Builder, Runtime};

use super::Observation;
use super::counters::AtomicCounters;
use super::hook_message::{HookMessage, LINE_LIMIT, shorten};
use super::json_lines::{JsonLines, RejectedLines};
use super::queue::observations;
use super::tail::{LogTarget, Tail};
use crate::driver::fuzzing::drivers;
use crate::term::fuzzing::pieces;

/// A limit that short test cases reach.
const SHORT_LIMIT: usize = 64;
/// The most bytes of a value that stays in a shortened payload, with its name.
const SHORT_PAYLOAD: usize = 4096;
/// The most observations that one test case can lead to.
const QUEUE: usize = 1 << 16;

/// Two bytes that say how the others are cut, and the others.
fn cut(data: &[u8]) -> Option<(u16, &[u8])> {
    let (cuts, bytes) = data.split_first_chunk()?;
    Some((u16::from_be_bytes(*cuts), bytes))
}

fn read<'a>(limit: usize, parts: impl Iterator<Item = &'a [u8]>) -> (Vec<Value>, RejectedLines) {
    let mut lines = JsonLines::new(limit);
    let values = parts.flat_map(|part| lines.push(part)).collect();
    (values, lines.take_rejected())
}

/// The values of the lines, which are the same however the bytes are cut.
fn values(data: &[u8]) -> Vec<Value> {
    let Some((cuts, bytes)) = cut(data) else { return Vec::new() };
    let [_, whole] = [SHORT_LIMIT, LINE_LIMIT].map(|limit| {
        let whole = read(limit, std::iter::once(bytes));
        assert_eq!(whole, read(limit, pieces(bytes, cuts)), "values depend on the cuts");
        let lines = bytes.split(|byte| *byte == b'\n').count();
        let counted = whole.1.malformed + whole.1.too_long;
        assert!(whole.0.len() as u64 + counted <= lines as u64, "a line counts twice");
        whole.0
    });
    whole
}

/// The lines that hooks write into the pipe.
pub fn hook_lines(data: &[u8]) {
    for value in values(data) {
        let payload = value.get("payload").cloned().unwrap_or_default();
        let named = value.get("event").or_else(|| payload.get("hook_event_name"));
        let event = named.and_then(Value::as_str).unwrap_or_default().to_owned();
        for mut driver in drivers() {
            driver.hook(&event, &payload);
        }
        if let Value::Object(fields) = shorten(payload) {
            let long = |(name, value): (&String, &Value)| {
                name.len().max(value.to_string().len()) > SHORT_PAYLOAD
            };
            assert!(!fields.iter().any(long), "a long value stays");
        }
        if let Some(message) = HookMessage::decode(value) {
            let (again, rejected) = read(usize::MAX, std::iter::once(&*message.clone().encode()));
            assert_eq!(rejected, RejectedLines::default());
            let again: Vec<_> = again.into_iter().map(HookMessage::decode).collect();
            assert_eq!(again, [Some(message)], "a message changes on its way");
        }
    }
}

/// The lines of a log, of a program's own output and of a status file.
pub fn log_lines(data: &[u8]) {
    let values = values(data);
    for mut driver in drivers() {
        for value in &values {
            driver.log_line(value);
            driver.stdout_line(value);
            driver.registry(value);
        }
    }
}

/// A log file that is written in pieces, and truncated or replaced between two of them where a
/// piece begins with a control character. The tail returns every line of every file that it saw.
pub fn tail(data: &[u8]) {
    let Some((cuts, bytes)) = cut(data) else { return };
    static RUNTIME: LazyLock<Runtime> =
        LazyLock::new(|| Builder::new_current_thread().build().expect("a runtime"));
    let directory = directory();
    let path = directory.join("log.jsonl");
    // The state of a case before must not be seen.
    remove(&path);
    let (sender, mut received) = observations(QUEUE);
    let counters = Arc::new(AtomicCounters::default());
    let mut tail = Tail::new(LogTarget::whole_file(path.clone()), counters, sender);
    let (mut wanted, mut file) = (Vec::new(), Vec::new());
    for piece in pieces(bytes, cuts) {
        match piece.first() {
            Some(1) => {
                wanted.extend(read(LINE_LIMIT, std::iter::once(&*file)).0);
                file.clear();
                std::fs::write(&path, b"").expect("a file is truncated");
            }
            Some(2) => {
                wanted.extend(read(LINE_LIMIT, std::iter::once(&*file)).0);
                file.clear();
                remove(&path);
            }
            Some(_) | None => {}
        }
        // A file that is as long again as before its truncation has not been truncated for a
        // reader that was not there, so every change is read.
        _ = RUNTIME.block_on(tail.read_new_lines());
        file.extend_from_slice(piece);
        append(&path, piece).expect("the log is written");
        _ = RUNTIME.block_on(tail.read_new_lines());
    }
    wanted.extend(read(LINE_LIMIT, std::iter::once(&*file)).0);
    let mut found = Vec::new();
    while let Some(observation) = received.try_recv() {
        if let Observation::LogLine(value) = observation {
            found.push(value);
        }
    }
    assert_eq!(found, wanted);
}

/// A directory of this thread.
fn directory() -> std::path::PathBuf {
    let path = Path::new("/tmp").join(format!("coop-fuzz-tail-{}", std::process::id()));
    std::fs::create_dir_all(&path).expect("a directory");
    path
}

fn remove(path: &Path) {
    match std::fs::remove_file(path) {
        Ok(()) => {}
        Err(error) => assert_eq!(error.kind(), io::ErrorKind::NotFound, "{error}"),
    }
}

fn append(path: &Path, bytes: &[u8]) -> io::Result<()> {
    std::fs::OpenOptions::new().append(true).create(true).open(path)?.write_all(bytes)
}
