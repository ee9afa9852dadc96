//! The audit log: one JSON line for each write, answer, refusal and failed authentication. It says
//! who called what and how that ended, and never what was typed. It knows no files.

mod details;
mod own_acts;

use std::any::Any;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Instant;

use serde_json::{Map, Value};
use tonic::Request;

use self::details::{describe, outcome_of, shortened};
use super::caller::{Caller, Level};
use super::generated::Rpc;
use crate::error::{Code, Error};
use crate::log::Outlet;
use crate::session::clock::Now;
use crate::timestamp;

/// The header by which a caller names its request.
pub const REQUEST_ID: &str = "x-request-id";
/// How many refusals of callers without credentials are written at once, and how many more each
/// second: a stranger must not be able to push everything else out of the log.
const STRANGER_BURST: u64 = 200;
const STRANGER_RATE: u64 = 10;
/// The outcome of a call whose caller left before it ended.
const ABANDONED: &str = "ABANDONED";

/// Where records go; clones share it. Without a file nothing is recorded.
#[derive(Clone, Default)]
pub struct AuditLog {
    shared: Option<Arc<Shared>>,
}

struct Shared {
    outlet: Outlet,
    /// Records that were not written since the last one that was.
    dropped: AtomicU64,
    warned: AtomicBool,
    strangers: Mutex<Allowance>,
}

/// How many refusals of strangers may still be written.
struct Allowance {
    left: u64,
    at: Instant,
}

impl Allowance {
    fn take(&mut self, now: Instant) -> bool {
        let seconds = now.saturating_duration_since(self.at).as_secs();
        if seconds > 0 {
            self.left = self.left.saturating_add(seconds.saturating_mul(STRANGER_RATE));
            self.left = self.left.min(STRANGER_BURST);
            self.at = now;
        }
        let allowed = self.left > 0;
        self.left = self.left.saturating_sub(1);
        allowed
    }
}

impl AuditLog {
    pub fn new(outlet: Outlet) -> Self {
        let strangers = Mutex::new(Allowance { left: STRANGER_BURST, at: Instant::now() });
        let (dropped, warned) = (AtomicU64::new(0), AtomicBool::new(false));
        Self { shared: Some(Arc::new(Shared { outlet, dropped, warned, strangers })) }
    }

    /// Begins the record of a call, unless it only reads.
    pub(super) fn begin<M: Any>(&self, rpc: Rpc, request: &Request<M>) -> Option<Entry> {
        let method = rpc.method();
        if !method.writes() {
            return None;
        }
        if let Some(trail) = request.extensions().get::<Trail>() {
            trail.0.recorded.store(true, Ordering::Relaxed);
        }
        let mut entry = self.entry(&Caller::of(request.extensions()), method.name)?;
        let id = request.metadata().get(REQUEST_ID).and_then(|id| id.to_str().ok());
        entry.set("request_id", id.map(shortened));
        describe(request.get_ref(), &mut entry.fields);
        Some(entry)
    }

    /// Begins a record of this caller.
    pub(super) fn entry(&self, caller: &Caller, call: &str) -> Option<Entry> {
        let shared = Arc::clone(self.shared.as_ref()?);
        let mut entry = Entry { shared, fields: Map::new(), outcome: ABANDONED.into() };
        entry.set("by", Some(caller.by.to_string()));
        entry.set("peer", Some(&*caller.from));
        entry.set("call", Some(shortened(call)));
        Some(entry)
    }

    /// Records a request that was refused before it reached its handler.
    pub fn refused(&self, caller: &Caller, call: &str, code: Code) {
        let Some(shared) = &self.shared else { return };
        let mut strangers = shared.strangers.lock().unwrap_or_else(PoisonError::into_inner);
        if caller.level == Level::Unauthenticated && !strangers.take(Instant::now()) {
            shared.dropped.fetch_add(1, Ordering::Relaxed);
            return;
        }
        drop(strangers);
        if let Some(entry) = self.entry(caller, call) {
            entry.end(code.as_str());
        }
    }

    /// Waits a moment until everything is written.
    pub fn flush(&self) {
        if let Some(shared) = &self.shared {
            shared.outlet.flush();
        }
    }
}

impl fmt::Debug for AuditLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AuditLog").field("enabled", &self.shared.is_some()).finish()
    }
}

/// What becomes known of a request on its way in, for the record of its refusal. Clones share it.
#[derive(Debug, Clone, Default)]
pub struct Trail(Arc<Found>);

#[derive(Debug, Default)]
struct Found {
    /// The call has a record of its own.
    recorded: AtomicBool,
    caller: OnceLock<Caller>,
}

impl Trail {
    /// Notes the caller of a request, before it is known what the caller may do.
    pub fn identified(extensions: &http::Extensions, caller: &Caller) {
        if let Some(trail) = extensions.get::<Self>() {
            trail.0.caller.get_or_init(|| caller.clone());
        }
    }

    pub fn is_recorded(&self) -> bool {
        self.0.recorded.load(Ordering::Relaxed)
    }

    pub fn caller(&self) -> Option<&Caller> {
        self.0.caller.get()
    }
}

/// The record of a call that is in progress. It is written when the call ends, also if its caller
/// has left: what the call has begun is done all the same.
pub(super) struct Entry {
    shared: Arc<Shared>,
    fields: Map<String, Value>,
    outcome: String,
}

impl Entry {
    pub(super) fn set(&mut self, name: &str, value: Option<impl Into<Value>>) {
        if let Some(value) = value {
            self.fields.insert(name.to_owned(), value.into());
        }
    }

    /// The call has ended with this response or error.
    pub(super) fn finish<M: Any>(self, result: &Result<M, Error>) {
        match result {
            Ok(response) => self.end(outcome_of(response)),
            Err(error) => self.end(error.code.as_str()),
        }
    }

    pub(super) fn end(mut self, outcome: &str) {
        outcome.clone_into(&mut self.outcome);
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        let mut fields = std::mem::take(&mut self.fields);
        let mut set = |name: &str, value: Value| fields.insert(name.to_owned(), value);
        set("time", timestamp::format(Now::read().epoch_ms).into());
        set("outcome", std::mem::take(&mut self.outcome).into());
        let dropped = self.shared.dropped.swap(0, Ordering::Relaxed);
        if dropped > 0 {
            set("dropped", dropped.into());
        }
        let mut line = Value::Object(fields).to_string();
        line.push('\n');
        let warned = &self.shared.warned;
        if self.shared.outlet.offer(line.into_bytes()) {
            warned.store(false, Ordering::Relaxed);
        } else {
            self.shared.dropped.fetch_add(dropped + 1, Ordering::Relaxed);
            if !warned.swap(true, Ordering::Relaxed) {
                tracing::warn!("the audit log is too slow; records are lost, and counted in it");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::session::by::By;

    fn lines(file: &tempfile::NamedTempFile) -> Vec<Value> {
        let text = std::fs::read_to_string(file.path()).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    fn log() -> (AuditLog, tempfile::NamedTempFile) {
        let file = tempfile::NamedTempFile::new().unwrap();
        (AuditLog::new(Outlet::new("audit", file.reopen().unwrap()).unwrap()), file)
    }

    #[test]
    fn a_stranger_cannot_fill_the_log() {
        let (audit, file) = log();
        let stranger = Caller::unauthenticated("1.2.3.4:5".into(), By::Address(None));
        for _ in 0..STRANGER_BURST + 100 {
            audit.refused(&stranger, "GET /", Code::Unauthorized);
        }
        let known = Caller { level: Level::Read, ..stranger };
        audit.refused(&known, "Nudge", Code::Forbidden);
        audit.flush();
        let lines = lines(&file);
        let last = lines.last().unwrap();
        assert_eq!((&last["call"], &last["outcome"]), (&"Nudge".into(), &"FORBIDDEN".into()));
        let counted = last["dropped"].as_u64().unwrap();
        assert_eq!(lines.len() as u64 + counted, STRANGER_BURST + 101);
    }

    #[test]
    fn an_allowance_comes_back_with_time_and_has_a_limit() {
        let start = Instant::now();
        let mut allowance = Allowance { left: 1, at: start };
        assert!(allowance.take(start) && !allowance.take(start));
        let later = start + Duration::from_secs(1);
        assert_eq!((0..STRANGER_RATE * 2).filter(|_| allowance.take(later)).count(), 10);
        let much_later = start + Duration::from_secs(86_400);
        assert!(allowance.take(much_later));
        assert_eq!(allowance.left, STRANGER_BURST - 1);
    }

    #[test]
    fn a_call_whose_caller_leaves_is_recorded() {
        let (audit, file) = log();
        let caller = Caller::unauthenticated("here".into(), By::Uid(7));
        drop(audit.entry(&caller, "Nudge"));
        audit.flush();
        let line = lines(&file).remove(0);
        assert_eq!((&line["by"], &line["outcome"]), (&"uid:7".into(), &ABANDONED.into()));
    }
}
