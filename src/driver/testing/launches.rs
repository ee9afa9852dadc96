//! Launch requests for tests, which change some of the fields and check the driver's plan. It
//! knows no agent.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::driver::launch::{Groom, LaunchPlan, LaunchRequest, LogLocation, Version};

/// The id that a new conversation gets.
pub(in crate::driver) const FRESH: &str = "11111111-2222-4333-8444-555555555555";

type Plan = fn(&LaunchRequest) -> Result<LaunchPlan, String>;

/// A launch request, and the driver function that plans it.
pub(in crate::driver) struct LaunchCase {
    pub(in crate::driver) plan: Plan,
    pub(in crate::driver) program: &'static str,
    pub(in crate::driver) args: Vec<OsString>,
    pub(in crate::driver) env: BTreeMap<OsString, OsString>,
    pub(in crate::driver) cwd: PathBuf,
    pub(in crate::driver) groom: Groom,
    pub(in crate::driver) settings: Option<Value>,
    pub(in crate::driver) mcp: Option<Value>,
    pub(in crate::driver) version: Option<Version>,
    pub(in crate::driver) resume: Option<&'static str>,
    pub(in crate::driver) files: BTreeMap<PathBuf, &'static str>,
}

impl LaunchCase {
    pub(in crate::driver) fn new(plan: Plan, program: &'static str, args: &[&str]) -> Self {
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

    pub(in crate::driver) fn plan(&self) -> Result<LaunchPlan, String> {
        let read = |path: &Path| {
            let text = self.files.get(path).map(|text| (*text).to_owned());
            text.ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))
        };
        (self.plan)(&LaunchRequest {
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

    /// The planned arguments, on one line.
    pub(in crate::driver) fn line(&self) -> String {
        let args = self.plan().expect("a plan").args;
        args.iter().map(|arg| arg.to_str().unwrap()).collect::<Vec<_>>().join(" ")
    }

    /// The first of the planned files.
    pub(in crate::driver) fn written(&self) -> Value {
        let files = self.plan().expect("a plan").files;
        serde_json::from_str(&files[0].1).expect("settings are JSON")
    }

    pub(in crate::driver) fn log(&self) -> Option<LogLocation> {
        self.plan().expect("a plan").evidence_sources.log
    }
}
