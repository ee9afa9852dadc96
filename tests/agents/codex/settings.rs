//! Settings of the orchestrator that may be secrets: codex has them, and no argument shows them.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use serde_json::json;

use super::mcp::all_arguments;
use crate::harness::Setup;

/// The profiles that coop has written into codex's home.
fn profiles(codex: &Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(codex).expect("codex's home").flatten();
    let names = entries.map(|entry| entry.path());
    names.filter(|path| path.to_string_lossy().ends_with(".config.toml")).collect()
}

#[tokio::test]
async fn a_variable_of_the_settings_reaches_commands_and_no_argument_shows_it() {
    let secret = "a-word-4c21";
    let config = json!({"settings": {
        "shell_environment_policy": {"set": {"BIRD_WORD": secret}},
        "tui": {"animations": false},
    }});
    let setup = Setup::codex().file("agent.json", &config.to_string());
    let setup = setup.coop(&["--agent-config", "../home/agent.json"]);
    let Some(mut session) = setup.start().await else { return };
    session.wait_state("idle").await;
    let codex = session.home().join(".codex");
    let written = profiles(&codex);
    assert_eq!(written.len(), 1, "{written:?}");
    let mode = written[0].metadata().expect("a file").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);

    let call = session.shell_call("printf %s \"$BIRD_WORD\" > made");
    let nudged = session.nudge(&format!("{call} #say it is made")).await.expect("taken");
    session.wait_prompt().await;
    assert_eq!(session.accept().await.outcome, "answered");
    session.wait_reply("it is made").await;
    session.wait_state_after(nudged.seq, "idle").await;
    let made = std::fs::read_to_string(session.workspace().join("made")).expect("made");
    assert_eq!(made, secret);
    let arguments = all_arguments();
    assert!(arguments.contains("tui={") && !arguments.contains(secret), "{arguments}");

    session.restart_coop(&Setup::codex()).await;
    session.wait_state("idle").await;
    assert_eq!(profiles(&codex), Vec::<std::path::PathBuf>::new());
}
