//! The extension that carries coop's hooks. Every Gemini of the user loads it, whoever started it: its hooks do nothing
//! unless a coop is around the Gemini that calls them, and say what they have to say to that coop alone.

use std::path::Path;

use serde_json::{Map, Value, json};

use crate::driver::launch::Shared;

/// The variable that names the program which hooks call.
pub(super) const PROGRAM: &str = "COOP_HOOK_PROGRAM";
/// What the extension is called.
const NAME: &str = "coop-hooks";

/// A hook that only tells, in milliseconds.
const TELLS: u64 = 2_000;
/// A hook that waits for coop's word, which never takes longer than this.
const HEARS: u64 = 10_000;

/// The events that coop hears of.
const EVENTS: [(&str, u64); 6] = [
    ("SessionStart", HEARS),
    ("BeforeAgent", TELLS),
    ("AfterAgent", HEARS),
    ("BeforeTool", TELLS),
    ("AfterTool", TELLS),
    ("Notification", TELLS),
];

pub(super) fn shared(home: &Path) -> Shared {
    let about = json!({ "name": NAME, "version": env!("CARGO_PKG_VERSION") });
    let hooks: Map<String, Value> =
        EVENTS.iter().map(|(event, time)| ((*event).to_owned(), hook(event, *time))).collect();
    Shared {
        dir: home.join("extensions").join(NAME),
        files: vec![
            ("gemini-extension.json".into(), about.to_string()),
            ("hooks/hooks.json".into(), json!({ "hooks": hooks }).to_string()),
        ],
    }
}

/// It is the same for all sessions, of whatever coop: what differs is in their environments.
fn hook(event: &str, time: u64) -> Value {
    // Under a coop that runs another agent there is a pipe, too, but it is not for us.
    let ours = format!("[ -n \"$COOP_HOOK_PIPE\" ] && [ -x \"${PROGRAM}\" ]");
    let command = format!("if {ours}; then exec \"${PROGRAM}\" hook {event}; fi");
    json!([{ "hooks": [{ "type": "command", "name": "coop", "command": command, "timeout": time }] }])
}
