//! The files and flags of a user under a fuzzer: a wrong one is an error that says why, and what
//! is read can be used.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::Path;
use std::sync::Arc;

use super::AgentConfig;
use super::agent::{conversation, driver_factory};
use crate::driver::launch::{Groom, LaunchRequest, Version};
use crate::driver::{self, Driver};
use crate::mux::Address;
use crate::server::{Origin, Tokens};
use crate::term::{Size, Terminal};

/// A screen on which common patterns match.
const SCREEN: &[u8] =
    b"\x1b[?2004hbusy\r\nError: no\r\n1. yes\r\n2. no\r\nSure? (y/n)\r\n> a draft";

/// The text of each file and each flag that has a syntax of its own.
pub fn config(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    if let Ok(tokens) = Tokens::parse(&text) {
        assert!(!tokens.is_empty(), "a token file without a token would let every caller in");
    }
    Origin::parse(&text);
    Version::find(&text);
    if let Err(error) = text.parse::<Address>() {
        assert!(!error.to_string().is_empty());
    }
    if let Err(error) = conversation(&text) {
        assert!(!error.to_string().is_empty());
    }
    match AgentConfig::parse(&text) {
        Ok(config) => agent(&config),
        Err(reason) => assert!(!reason.is_empty()),
    }
}

/// The agent's configuration reaches each driver's plan, and the screen.
fn agent(config: &AgentConfig) {
    for name in driver::names() {
        if let Some(maker) = driver::maker(name) {
            plan(&*maker(), name, config);
        }
    }
    let Some(patterns) = config.screen.as_ref() else { return };
    let factory = driver_factory(driver::UNKNOWN, Some(patterns));
    let driver = factory.ok().flatten().map(|factory| factory());
    let driver = driver.expect("patterns make a driver");
    let mut terminal = Terminal::new(Size::new(80, 24).expect("a size"), 0, "");
    terminal.feed(SCREEN);
    driver.read_screen(&terminal.screen());
    assert!(Arc::strong_count(patterns) >= 1);
}

fn plan(driver: &dyn Driver, program: &str, config: &AgentConfig) {
    let env = BTreeMap::from([(OsString::from("HOME"), OsString::from("/home/dev"))]);
    let absent = |_: &Path| Err(io::Error::from(io::ErrorKind::NotFound));
    let planned = driver.plan(&LaunchRequest {
        program: OsStr::new(program),
        args: &[],
        env: &env,
        cwd: Path::new("/work"),
        dir: Path::new("/run/coop/s1"),
        hook: Path::new("/opt/coop"),
        groom: Groom::Auto,
        settings: config.settings.as_ref(),
        mcp: config.mcp.as_ref(),
        version: None,
        resume: None,
        fresh_id: "11111111-2222-4333-8444-555555555555",
        read: &absent,
    });
    if let Err(reason) = planned {
        assert!(!reason.is_empty());
    }
}
