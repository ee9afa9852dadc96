//! Programs that share the terminal with the agent: a shell around it, its editor, a terminal of
//! its own. What is typed for the agent reaches the agent or no program.

use coop_client::v1;
use serde_json::json;

use crate::support::fake_agent::{FakeAgent, IDLE};
use crate::support::{installed, not_tested, soon, until};

/// A shell that goes on when the agent has ended.
const WRAPPER: [&str; 3] = ["bash", "-c", "./claude; PS1=ready: exec bash --norc --noprofile -i"];
const SHELL: [&str; 3] = ["bash", "-c", "PS1=ready: exec bash --norc --noprofile -i"];

impl FakeAgent {
    /// Starts a session: the first hook, the composer, the title.
    async fn begin(&mut self) {
        self.hook("SessionStart", &json!({"session_id": "s", "source": "startup"}));
        self.rest().await;
    }

    /// Ends as an agent does that leaves its last screen behind.
    fn quit(&mut self) {
        self.command("kill $!; wait; stty sane; exit");
    }

    async fn types(&mut self, text: &str) {
        let request = v1::SendInputRequest { text: text.to_owned(), enter: true };
        soon("input", self.client.send_input(request)).await.expect("typed");
    }

    async fn shows(&mut self, wanted: &str) {
        until(&format!("{wanted:?} on screen"), async || {
            self.screen().await.contains(wanted).then_some(())
        })
        .await;
    }

    async fn screen(&mut self) -> String {
        let request = v1::GetScreenRequest::default();
        let screen = soon("a screen", self.client.get_screen(request)).await.expect("a screen");
        screen.into_inner().lines.join("\n")
    }

    async fn written(&mut self) -> u64 {
        let request = v1::GetStatusRequest {};
        let status = soon("a status", self.client.get_status(request)).await.expect("a status");
        status.into_inner().bytes_written
    }

    async fn nudges(&mut self, message: &str) -> Result<v1::NudgeResponse, tonic::Status> {
        let request = v1::NudgeRequest {
            message: message.to_owned(),
            confirm_timeout_ms: Some(0),
            ..v1::NudgeRequest::default()
        };
        soon("a nudge", self.client.nudge(request)).await.map(tonic::Response::into_inner)
    }

    async fn reason(&mut self) -> String {
        let request = v1::ExplainStateRequest {};
        let reply = soon("a reason", self.client.explain_state(request)).await.expect("a reason");
        reply.into_inner().reason
    }

    /// A message, an answer and an interrupt are refused, and nothing is typed.
    async fn takes_no_keys(&mut self) {
        let written = self.written().await;
        let refused = self.nudges("for the agent").await.expect_err("no agent has the terminal");
        assert_eq!(refused.code(), tonic::Code::FailedPrecondition, "{refused:?}");
        let answer = v1::RespondRequest { accept: Some(true), ..v1::RespondRequest::default() };
        soon("an answer", self.client.respond(answer)).await.expect_err("there is no prompt");
        let interrupt = soon("an interrupt", self.client.interrupt(v1::InterruptRequest {})).await;
        assert!(!interrupt.expect("a reply").into_inner().delivered);
        assert_eq!(self.written().await, written);
        assert!(!self.screen().await.contains("for the agent"));
    }
}

#[tokio::test]
async fn a_shell_that_the_agent_leaves_behind_gets_no_message() {
    let mut agent = FakeAgent::wrapped(&WRAPPER).await;
    agent.begin().await;
    assert!(agent.reason().await.contains("is in the terminal's foreground"));
    agent.quit();
    agent.reaches("unknown").await;
    let state = agent.state().await;
    assert_eq!(state.detection_cause, "agent process gone");
    assert_eq!(state.detection_tier, "process");
    agent.shows("ready:").await;
    agent.takes_no_keys().await;
    assert!(agent.reason().await.contains("the agent's process has ended"));

    // The next agent in the same terminal is found, and takes messages again.
    agent.types("./claude").await;
    agent.begin().await;
    agent.nudges("again").await.expect_err("the fake agent does not show what is typed");
    assert!(agent.typed().contains("\x1b[200~again\x1b[201~"));
}

#[tokio::test]
async fn an_agent_in_the_background_takes_no_keys_until_it_returns() {
    let mut agent = FakeAgent::wrapped(&SHELL).await;
    agent.shows("ready:").await;
    agent.types("./claude").await;
    agent.begin().await;
    // As Ctrl-Z does: all processes of its group stop.
    agent.command("kill -STOP 0");
    agent.reaches("unknown").await;
    assert_eq!(agent.state().await.detection_cause, "agent process in background");
    agent.shows("Stopped").await;
    agent.takes_no_keys().await;
    agent.types("fg").await;
    // An agent draws itself again when it continues.
    agent.show(IDLE);
    agent.reaches("idle").await;
}

#[tokio::test]
async fn an_editor_of_the_agent_gets_no_message() {
    let mut agent = FakeAgent::idle().await;
    // An editor runs in the agent's own process group; the screen and the keyboard are the
    // editor's, and the agent has switched off its paste mode.
    agent.command(r#"printf '\e[?2004l\e[H\e[2J~\n~\n-- INSERT --'"#);
    agent.shows("-- INSERT --").await;
    let written = agent.written().await;
    agent.nudges("for the agent").await.expect_err("there is no composer");
    assert_eq!((agent.written().await, agent.typed().as_str()), (written, ""));
    agent.command(r"printf '\e[?2004h'");
    agent.show(IDLE);
    agent.reaches("idle").await;
}

#[tokio::test]
async fn an_agent_with_a_terminal_of_its_own_is_not_checked() {
    // As with sudo: the agent has another terminal, which `script` copies to this one.
    let command = ["bash", "-c", "exec script -qfc ./claude /dev/null"];
    is_not_checked(FakeAgent::wrapped(&command).await).await;
}

/// An agent in a terminal of its own gets its messages, though its process group is not in the
/// foreground of coop's terminal.
async fn is_not_checked(mut agent: FakeAgent) {
    agent.begin().await;
    until("the other terminal to be known", async || {
        agent.reason().await.contains("has another terminal").then_some(())
    })
    .await;
    agent.nudges("hello").await.expect_err("the fake agent does not show what is typed");
    until("the message to be typed", async || {
        agent.typed().contains("\x1b[200~hello\x1b[201~").then_some(())
    })
    .await;
    // Killing coop would not end a program that has started another session.
    let shutdown = v1::ShutdownRequest::default();
    soon("the shutdown", agent.client.shutdown(shutdown)).await.expect("shut down");
    soon("the end", agent.coop.process.wait()).await.expect("it ended");
}

#[tokio::test]
async fn an_agent_in_sudo_with_a_terminal_of_its_own_is_not_checked() {
    if !rustix::process::geteuid().is_root() {
        return not_tested("sudo would ask for a password");
    }
    if installed("sudo") {
        // `use_pty` is the default of newer versions, and of Debian.
        let script = r#"exec sudo -nE env HOME="$HOME" ./claude"#;
        is_not_checked(FakeAgent::wrapped(&["bash", "-c", script]).await).await;
    }
}

#[tokio::test]
async fn an_agent_in_tmux_is_not_checked() {
    if installed("tmux") {
        let command = r#"exec tmux -S "$HOME/tmux" -f /dev/null new-session ./claude"#;
        is_not_checked(FakeAgent::wrapped(&["bash", "-c", command]).await).await;
    }
}

#[tokio::test]
async fn a_real_editor_of_the_agent_gets_no_message() {
    if !installed("vim") {
        return;
    }
    let mut agent = FakeAgent::idle().await;
    // The agent waits for its editor, which is in the agent's process group.
    agent.command(r#"printf '\e[?2004l'; kill $!; stty sane; vim -u NONE -N notes </dev/tty"#);
    agent.shows("\"notes\" [New]").await;
    agent.types(":set showmode").await;
    agent.types("iwritten by the user").await;
    agent.shows("-- INSERT --").await;
    let written = agent.written().await;
    agent.nudges("for the agent").await.expect_err("there is no composer");
    assert_eq!(agent.written().await, written);
    assert!(!agent.screen().await.contains("for the agent"));
    agent.types("\x1b:wq").await;
    let notes = agent.coop.home.path().join("notes");
    until("the file", async || {
        let text = std::fs::read_to_string(&notes).ok()?;
        assert!(!text.contains("for the agent"), "{text}");
        text.starts_with("written by the user").then_some(())
    })
    .await;
    // The editor has ended, and the agent draws itself again.
    agent.command(r"printf '\e[?2004h'");
    agent.rest().await;
}

#[tokio::test]
async fn a_line_of_the_hook_pipe_does_not_make_a_process_the_agent() {
    let mut agent = FakeAgent::wrapped(&["bash", "-c", "exec -a other bash ./claude"]).await;
    let payload = json!({"session_id": "first", "source": "startup"});
    agent.hook("SessionStart", &payload);
    until("the conversation", async || {
        (agent.state().await.agent_session_id.as_deref() == Some("first")).then_some(())
    })
    .await;
    let line = r#"{"nonce":"%s","event":"session_start","pid":%d,"data":{"session_id":"x"}}"#;
    agent.command(&format!(r#"printf '{line}\n' "$COOP_HOOK_NONCE" 1 >"$COOP_HOOK_PIPE""#));
    agent.hook("SessionStart", &json!({"session_id": "second", "source": "clear"}));
    until("the next conversation", async || {
        let id = agent.state().await.agent_session_id;
        assert_ne!(id.as_deref(), Some("x"));
        (id.as_deref() == Some("second")).then_some(())
    })
    .await;
}

#[tokio::test]
async fn a_helper_with_the_agents_name_is_not_the_agent() {
    let mut agent = FakeAgent::new(&[], &[]).await;
    agent.command("(exec -a claude sleep 600 3>&-) & helper=$!");
    agent.command("until grep -q 600 /proc/$helper/cmdline; do :; done");
    agent.rest().await;
    until("the process to be known", async || {
        agent.reason().await.contains("is in the terminal's foreground").then_some(())
    })
    .await;
    agent.command("kill $helper; wait $helper; printf '\\e]0;gone\\a'");
    agent.nudges("hello").await.expect_err("the fake agent does not show what is typed");
    assert!(agent.typed().contains("\x1b[200~hello\x1b[201~"));
    assert_eq!(agent.state().await.state, "idle");
}
