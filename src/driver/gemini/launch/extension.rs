//! The extension with coop's hooks. Every Gemini process of the user loads it, with or without
//! coop: its hooks do nothing unless coop started the process, and call only that coop.

use std::path::Path;

use serde_json::{Map, Value, json};

use crate::driver::launch::SharedDirSpec;

/// The variable that names the program which the hooks call.
pub(super) const PROGRAM: &str = "COOP_HOOK_PROGRAM";
/// The name of the extension.
const NAME: &str = "coop-hooks";

/// Milliseconds for a hook that only reports.
const REPORT: u64 = 2_000;
/// Milliseconds for a hook that waits for coop's decision, which always comes earlier.
const DECISION: u64 = 10_000;

/// The hooked events and the timeout of each hook.
const EVENTS: [(&str, u64); 6] = [
    ("SessionStart", DECISION),
    ("BeforeAgent", REPORT),
    ("AfterAgent", DECISION),
    ("BeforeTool", REPORT),
    ("AfterTool", REPORT),
    ("Notification", REPORT),
];

pub(super) fn shared_dir(home: &Path) -> SharedDirSpec {
    let about = json!({ "name": NAME, "version": env!("CARGO_PKG_VERSION") });
    let hooks: Map<String, Value> =
        EVENTS.iter().map(|(event, time)| ((*event).to_owned(), hook(event, *time))).collect();
    SharedDirSpec {
        dir: home.join("extensions").join(NAME),
        files: vec![
            ("gemini-extension.json".into(), about.to_string()),
            ("hooks/hooks.json".into(), json!({ "hooks": hooks }).to_string()),
        ],
    }
}

/// A hook's definition. It is the same for all sessions; what differs is in their environments.
fn hook(event: &str, time: u64) -> Value {
    // A coop that runs another agent sets the pipe too, but not the program.
    let ours = format!("[ -n \"$COOP_HOOK_PIPE\" ] && [ -x \"${PROGRAM}\" ]");
    let command = format!("if {ours}; then exec \"${PROGRAM}\" hook {event}; fi");
    let hook = json!({ "type": "command", "name": "coop", "command": command, "timeout": time });
    json!([{ "hooks": [hook] }])
}
