//! Agents inside of a shell that goes on without them: keys for the agent never reach the shell.
//! The tests are the same for every agent.

use std::time::Duration;

use crate::harness::{Setup, TestSession, error_code};

#[tokio::test]
async fn a_shell_that_claude_leaves_behind_gets_no_message() {
    an_agent_that_ends_leaves_no_idle_state(Setup::claude(), "/exit").await;
}

#[tokio::test]
async fn a_shell_that_codex_leaves_behind_gets_no_message() {
    an_agent_that_ends_leaves_no_idle_state(Setup::codex(), "/quit").await;
}

#[tokio::test]
async fn a_shell_that_gemini_leaves_behind_gets_no_message() {
    // With its launcher, which starts it again as a child of its own.
    let setup = Setup::gemini().env("GEMINI_CLI_NO_RELAUNCH", "");
    an_agent_that_ends_leaves_no_idle_state(setup, "/quit").await;
}

#[tokio::test]
async fn a_stopped_claude_takes_no_message_until_it_returns() {
    let Some(mut session) = Setup::claude().in_shell().idle().await else { return };
    session.press("\x1a").await;
    let state = session.wait_state("unknown").await;
    assert_eq!(state.detection_cause, "agent process in background");
    refuses_messages(&mut session).await;
    session.wait_text("ready:").await;
    session.press("exit\r").await;
    session.wait_state("idle").await;
    session.round_trip("back again").await;
}

#[tokio::test]
async fn the_editor_of_claude_gets_no_message() {
    let setup = Setup::claude().env("EDITOR", "vim -u NONE -N +startinsert");
    let Some(mut session) = setup.idle().await else { return };
    // Ctrl-G opens the editor, which has the terminal and is in the agent's process group.
    session.press("\x07").await;
    session.wait_text("-- INSERT --").await;
    session.nudge("for the agent").await.expect_err("the editor has the terminal");
    let screen = session.screen().await.join("\n");
    assert!(screen.contains("-- INSERT --") && !screen.contains("for the agent"), "{screen}");
    session.press("\x1b:q!\r").await;
    session.wait_state("idle").await;
    session.round_trip("back again").await;
}

#[tokio::test]
async fn a_pristine_codex_is_found_by_its_terminal() {
    let setup = Setup::codex().coop(&["--groom", "pristine"]);
    an_agent_that_ends_leaves_no_idle_state(setup, "/quit").await;
}

async fn refuses_messages(session: &mut TestSession) {
    let refused = session.nudge("for the agent").await.expect_err("no agent has the terminal");
    assert_eq!(error_code(&refused), "AGENT_BUSY");
    let screen = session.screen().await.join("\n");
    assert!(!screen.contains("for the agent"), "{screen}");
}

async fn an_agent_that_ends_leaves_no_idle_state(setup: Setup, quit: &str) {
    let Some(mut session) = setup.in_shell().idle().await else { return };
    session.press(&format!("\x1b[200~{quit}\x1b[201~")).await;
    session.wait_text(quit).await;
    // Agents drop an Enter that follows a paste too soon; the shell ignores one too many.
    let in_shell = |rows: &[String]| rows.iter().any(|row| row.contains("ready:"));
    session.press_until("\r", Duration::from_secs(2), "the shell", in_shell).await;
    let state = session.wait_state("unknown").await;
    assert_eq!(state.detection_cause, "agent process gone");
    refuses_messages(&mut session).await;
}
