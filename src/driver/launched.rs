//! How agents are started by tests: an order that a test changes, and what the driver makes of it. It knows no agent.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::launch::{Groom, LogPlace, Order, Outfit, Version};

/// The id of a conversation that begins.
pub(super) const FRESH: &str = "11111111-2222-4333-8444-555555555555";

type Plan = fn(&Order) -> Result<Outfit, String>;

pub(super) struct Bench {
    pub(super) plan: Plan,
    pub(super) program: &'static str,
    pub(super) args: Vec<OsString>,
    pub(super) env: BTreeMap<OsString, OsString>,
    pub(super) cwd: PathBuf,
    pub(super) groom: Groom,
    pub(super) settings: Option<Value>,
    pub(super) mcp: Option<Value>,
    pub(super) version: Option<Version>,
    pub(super) resume: Option<&'static str>,
    pub(super) files: BTreeMap<PathBuf, &'static str>,
}

impl Bench {
    pub(super) fn new(plan: Plan, program: &'static str, args: &[&str]) -> Self {
        Self {
            plan,
            program,
            args: args.iter().map(OsString::from).collect(),
            env: BTreeMap::from([("HOME".into(), "/home/dev".into())]),
            cwd: "/work".into(),
            groom: Groom::Auto,
            settings: None,
            mcp: None,
            version: None,
            resume: None,
            files: BTreeMap::new(),
        }
    }

    pub(super) fn outfit(&self) -> Result<Outfit, String> {
        let read = |path: &Path| {
            let text = self.files.get(path).map(|text| (*text).to_owned());
            text.ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))
        };
        (self.plan)(&Order {
            program: OsStr::new(self.program),
            args: &self.args,
            env: &self.env,
            cwd: &self.cwd,
            dir: Path::new("/run/coop/s1"),
            hook: Path::new("/opt/it's/coop"),
            groom: self.groom,
            settings: self.settings.as_ref(),
            mcp: self.mcp.as_ref(),
            version: self.version,
            resume: self.resume,
            fresh_id: FRESH,
            read: &read,
        })
    }

    /// The arguments, in one line.
    pub(super) fn line(&self) -> String {
        let args = self.outfit().expect("an outfit").args;
        args.iter().map(|arg| arg.to_str().unwrap()).collect::<Vec<_>>().join(" ")
    }

    /// The first of the files that are written.
    pub(super) fn written(&self) -> Value {
        let files = self.outfit().expect("an outfit").files;
        serde_json::from_str(&files[0].1).expect("settings are JSON")
    }

    pub(super) fn log(&self) -> Option<LogPlace> {
        self.outfit().expect("an outfit").traces.log
    }
}
