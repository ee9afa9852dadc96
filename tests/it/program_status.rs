//! A program without a driver that reports its status (OSC 7501): a shell script that prints the
//! next report whenever the test gives it one.

use std::fs::File;
use std::io::Write as _;

use base64::Engine as _;
use coop_client::{Client, v1};
use rustix::fs::{CWD, Mode, mkfifoat};
use serde_json::{Value, json};

use crate::support::coop::{Coop, Setup};
use crate::support::session::see;
use crate::support::{soon, until};

/// Asks the terminal, shows its answer, and then prints each line that it gets as a sequence.
const SCRIPT: &str = r#"#!/bin/bash
stty -echo -icanon
printf '\e]7501;?\e\\'
IFS= read -r -d '\' answer
printf 'answer %q\n' "$answer"
while IFS= read -r report; do printf '\e]7501;%s\e\\' "$report"; done <"$HOME/reports"
"#;

struct Program {
    coop: Coop,
    client: Client,
    reports: File,
}

impl Program {
    async fn start() -> Self {
        let setup = Setup::new(["--port", "0", "--", "bash", "program"]);
        std::fs::write(setup.home().join("program"), SCRIPT).expect("written");
        let path = setup.home().join("reports");
        mkfifoat(CWD, &path, Mode::RUSR | Mode::WUSR).expect("a pipe");
        // Opened for reading and writing, so that opening does not wait for the other side.
        let reports = File::options().read(true).write(true).open(&path).expect("the pipe");
        let coop = setup.start().await;
        let client = coop.grpc().await;
        Self { coop, client, reports }
    }

    fn report(&mut self, report: &str) {
        writeln!(self.reports, "{report}").expect("written");
    }

    async fn state(&mut self) -> v1::GetAgentStateResponse {
        let request = v1::GetAgentStateRequest {};
        soon("a state", self.client.get_agent_state(request)).await.expect("a state").into_inner()
    }

    async fn reaches(&mut self, wanted: &str) -> v1::GetAgentStateResponse {
        until(wanted, async || Some(self.state().await).filter(|state| state.state == wanted)).await
    }

    async fn explain(&self) -> Value {
        self.coop.http().get("/api/v1/agent/explain").await.json()
    }
}

fn message(text: &str) -> String {
    format!("msg={}", base64::engine::general_purpose::STANDARD.encode(text))
}

#[tokio::test]
async fn a_program_without_a_driver_has_the_state_that_it_reports() {
    let mut program = Program::start().await;
    let supported = "states=idle,working,done,blocked,error:kinds=permission,question,auth";
    see(&mut program.client, &format!(r"answer $'\E]7501;?:{supported}\E'")).await;
    assert_eq!(program.state().await.state, "unknown");

    program.report("state=working:app=make:progress=40");
    let working = program.reaches("working").await;
    assert_eq!(
        (working.detection_tier.as_str(), working.detection_cause.as_str()),
        ("terminal", "status:working")
    );

    program.report(&format!("state=blocked:app=make:kind=permission:{}", message("Deploy it?")));
    let prompt = program.reaches("prompt").await.prompt.expect("a prompt");
    assert_eq!((prompt.r#type.as_str(), prompt.message.as_str()), ("permission", "Deploy it?"));
    assert!(prompt.options_fallback && !prompt.ready);

    program.report(&format!("state=error:app=make:{}", message("It fell over")));
    let failed = program.reaches("error").await;
    assert_eq!(failed.error_detail.as_deref(), Some("It fell over"));

    program.report("state=done:app=make");
    program.reaches("idle").await;
    for (path, body) in [("nudge", json!({"message": "x"})), ("respond", json!({"accept": true}))] {
        let refused = program.coop.http().post(&format!("/api/v1/agent/{path}"), body).await;
        assert_eq!(refused.code(), "NO_DRIVER");
    }

    program.report("state=clear");
    program.reaches("unknown").await;
}

#[tokio::test]
async fn tasks_have_records_and_invalid_reports_are_shown() {
    let mut program = Program::start().await;
    program.report("state=dancing:app=make");
    program.report("state=idle:id=a//b");
    program.report("state=working:app=make:id=build/tests:progress=7:title=VGVzdHM=");
    program.report("state=done:app=make:id=build/docs");
    program.reaches("working").await;
    let records = until("the records", async || {
        let records = program.explain().await["program_status"].clone();
        (records.as_array().map(Vec::len) == Some(2)).then_some(records)
    });
    let records = records.await;
    assert_eq!(records[0]["id"], "build/tests");
    assert_eq!(
        (&records[0]["state"], &records[0]["progress"], &records[0]["title"]),
        (&json!("working"), &json!(7), &json!("Tests"))
    );
    let explained = program.explain().await;
    let refused: Vec<&Value> =
        explained["refused_reports"].as_array().expect("a list").iter().collect();
    let [dancing, invalid] = refused[..] else { panic!("{explained}") };
    assert_eq!(dancing["report"], "state=dancing:app=make");
    assert_eq!(
        (&dancing["reason"], &invalid["reason"]),
        (&json!("its state is unknown"), &json!("its id is invalid"))
    );

    program.report("state=clear:id=build");
    program.reaches("unknown").await;
    assert_eq!(program.explain().await["program_status"], json!([]));
}
