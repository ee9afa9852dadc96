//! A program without a driver, with patterns for its screen and without. The program is a shell
//! script that takes one line at a time, works until the test releases it, and asks a question.

use std::fs::File;
use std::io::Write as _;
use std::path::Path;

use coop_client::{Client, v1};
use rustix::fs::{CWD, Mode, mkfifoat};
use serde_json::{Value, json};

use crate::support::coop::{Coop, Setup};
use crate::support::session::see;
use crate::support::{soon, until};

/// Reads lines from its terminal in canonical mode, without bracketed paste.
const SCRIPT: &str = r#"#!/bin/bash
while IFS= read -r -p '> ' task; do
  printf 'busy with %s' "$task"
  read -r ending <"$HOME/endings"
  printf '\r\e[K'
  if [ "$ending" = fail ]; then echo 'Error: no such thing'; continue; fi
  IFS= read -r -p "Delete $task? (y/n) " answer
  printf 'said %s to %s\n' "$answer" "$task"
done
"#;

const PATTERNS: &str = r#"{"screen": {
  "composer": "^> ?(.*)$", "working": ["^busy "], "prompt": ["\\(y/n\\)$"], "error": ["^Error: "], "lines": 2
}}"#;

struct Program {
    coop: Coop,
    client: Client,
    endings: File,
}

fn setup(flags: &[&str], config: &str) -> Setup {
    let words = ["--port", "0"].iter().chain(flags).chain(&["--", "bash", "program"]);
    let setup = Setup::new(words);
    std::fs::write(setup.home().join("program"), SCRIPT).expect("written");
    std::fs::write(setup.home().join("agent.json"), config).expect("written");
    setup
}

fn pipe(path: &Path) -> File {
    mkfifoat(CWD, path, Mode::RUSR | Mode::WUSR).expect("a pipe");
    // Opened for reading and writing, so that opening does not wait for the other side.
    File::options().read(true).write(true).open(path).expect("the pipe")
}

impl Program {
    async fn start(flags: &[&str], config: &str) -> Self {
        let setup = setup(flags, config);
        let endings = pipe(&setup.home().join("endings"));
        let coop = setup.start().await;
        let client = coop.grpc().await;
        Self { coop, client, endings }
    }

    /// Ends the program's work, with a failure or with a question.
    fn end(&mut self, ending: &str) {
        writeln!(self.endings, "{ending}").expect("written");
    }

    async fn state(&mut self) -> v1::GetAgentStateResponse {
        let request = v1::GetAgentStateRequest {};
        soon("a state", self.client.get_agent_state(request)).await.expect("a state").into_inner()
    }

    async fn reaches(&mut self, wanted: &str) -> v1::GetAgentStateResponse {
        until(wanted, async || Some(self.state().await).filter(|state| state.state == wanted)).await
    }

    async fn nudge(&self, message: &str) -> Value {
        self.coop.http().post("/api/v1/agent/nudge", json!({"message": message})).await.json()
    }

    async fn respond(&self, answer: Value) -> Value {
        self.coop.http().post("/api/v1/agent/respond", answer).await.json()
    }
}

#[tokio::test]
async fn a_program_with_patterns_takes_nudges_and_responses() {
    let mut program = Program::start(&["--agent-config", "agent.json"], PATTERNS).await;
    let idle = program.reaches("idle").await;
    assert_eq!((idle.agent.as_str(), idle.detection_tier.as_str()), ("unknown", "screen"));

    let refused = program.nudge("two\nlines").await;
    assert_eq!(refused["code"], "BAD_REQUEST", "{refused}");

    let nudged = program.nudge("report.txt").await;
    assert_eq!(
        (&nudged["outcome"], &nudged["delivered"]),
        (&json!("accepted"), &json!(true)),
        "{nudged}"
    );
    see(&mut program.client, "busy with report.txt").await;
    assert_eq!(program.reaches("working").await.error_category, None);
    let busy = program.nudge("another").await;
    assert_eq!(
        (&busy["outcome"], &busy["reason"]),
        (&json!("rejected"), &json!("agent_busy")),
        "{busy}"
    );

    program.end("ask");
    program.reaches("prompt").await;
    let ready = until("the question to take keys", async || {
        program.state().await.prompt.filter(|prompt| prompt.ready)
    });
    let prompt = ready.await;
    assert_eq!(
        (prompt.r#type.as_str(), prompt.options),
        ("permission", vec!["y".to_owned(), "n".to_owned()])
    );
    assert_eq!(prompt.message, "Delete report.txt? (y/n)");
    let asked = program.nudge("another").await;
    assert_eq!(
        (&asked["outcome"], &asked["reason"]),
        (&json!("rejected"), &json!("dialog_open")),
        "{asked}"
    );

    let answered = program.respond(json!({"accept": true})).await;
    assert_eq!(
        (&answered["outcome"], &answered["via"]),
        (&json!("answered"), &json!("keys")),
        "{answered}"
    );
    see(&mut program.client, "said y to report.txt").await;
    program.reaches("idle").await;
}

#[tokio::test]
async fn an_error_is_detected_and_the_next_message_is_taken() {
    let mut program = Program::start(&["--agent-config", "agent.json"], PATTERNS).await;
    program.reaches("idle").await;
    program.nudge("one").await;
    program.reaches("working").await;
    program.end("fail");
    let failed = program.reaches("error").await;
    assert_eq!(failed.error_category.as_deref(), Some("other"));
    assert_eq!(failed.error_detail.as_deref(), Some("Error: no such thing"));

    let nudged = program.nudge("two").await;
    assert_eq!(nudged["outcome"], "accepted", "{nudged}");
    program.reaches("working").await;
    program.end("ask");
    program.reaches("prompt").await;
    let answered = program.respond(json!({"text": "never"})).await;
    assert_eq!(answered["outcome"], "answered", "{answered}");
    see(&mut program.client, "said never to two").await;
    program.reaches("idle").await;
}

#[tokio::test]
async fn a_draft_is_left_alone() {
    let mut program = Program::start(&["--agent-config", "agent.json"], PATTERNS).await;
    program.reaches("idle").await;
    let draft = v1::SendInputRequest { text: "half a".to_owned(), enter: false };
    program.client.send_input(draft).await.expect("typed");
    see(&mut program.client, "> half a").await;
    let nudged = program.nudge("report.txt").await;
    assert_eq!(
        (&nudged["outcome"], &nudged["reason"]),
        (&json!("rejected"), &json!("draft_in_composer")),
        "{nudged}"
    );
    see(&mut program.client, "> half a").await;
}

#[tokio::test]
async fn without_patterns_the_state_is_unknown_and_messages_are_refused() {
    for flags in [&[][..], &["--agent-config", "agent.json"]] {
        let mut program = Program::start(flags, r#"{"settings": {}}"#).await;
        see(&mut program.client, ">").await;
        let state = program.state().await;
        assert_eq!((state.state.as_str(), state.detection_tier.as_str()), ("unknown", "process"));
        assert_eq!(program.nudge("report.txt").await["code"], "NO_DRIVER");
        assert_eq!(program.respond(json!({"accept": true})).await["code"], "NO_DRIVER");
        assert_eq!(program.coop.http().get("/api/v1/session/usage").await.code(), "NO_DRIVER");
        let states = program.client.wait_for_state(v1::WaitForStateRequest {
            state: vec!["idle".to_owned()],
            timeout_ms: Some(1500),
            ..Default::default()
        });
        let waited = soon("the wait to end", states).await.expect("an answer").into_inner();
        assert_eq!((waited.matched, waited.state.as_str()), (false, "unknown"), "{flags:?}");
    }
}

#[tokio::test]
async fn a_bad_pattern_is_refused_at_start() {
    let bad = r#"{"screen": {"working": ["^busy", "(open"]}}"#;
    let (status, stderr) = setup(&["--agent-config", "agent.json"], bad).fail().await;
    assert_eq!(status.code(), Some(64), "{stderr}");
    assert!(
        stderr.contains("--agent-config agent.json: screen.working[1]: \"(open\": "),
        "{stderr}"
    );
}
