//! Claude without coop's hooks, interactive or printing JSON.

use coop_client::v1;
use serde_json::json;

use crate::harness::{Setup, TestSession, poll_until};
use crate::without_hooks;

#[tokio::test]
async fn state_comes_from_log_status_file_title_and_screen() {
    let Some(mut session) = Setup::claude().coop(&["--groom", "pristine"]).idle().await else {
        return;
    };
    without_hooks::messages_permission_and_interrupt_work(&mut session, "Bash").await;
    session.nudge("#status 401 #status 401 #status 401").await.expect("taken");
    let error = session.wait_state("error").await;
    assert_eq!(error.error_category.as_deref(), Some("unauthorized"));
    let votes = session.explain().await.votes;
    assert!(votes.iter().all(|vote| vote.tier != "hooks"), "{votes:?}");
    assert!(votes.iter().any(|vote| vote.tier == "session_log"), "{votes:?}");
}

/// The causes of each change to this state.
fn causes(session: &TestSession, state: &str) -> Vec<String> {
    let states = session.events().into_iter().filter_map(|event| match event.payload {
        Some(v1::event::Payload::State(change)) if change.next == state => {
            Some(change.detection_cause)
        }
        _ => None,
    });
    states.collect()
}

/// What Claude reports in its terminal is known at once: the tool and its command, a question, the
/// end of a turn by Escape, and credentials that the API does not accept.
#[tokio::test]
async fn reports_in_the_terminal_say_what_hooks_would() {
    let Some(mut session) = Setup::claude().coop(&["--groom", "pristine"]).idle().await else {
        return;
    };
    session.round_trip("hello").await;
    session.nudge(&session.shell_call("touch first\ntouch second")).await.expect("taken");
    let prompt = session.wait_prompt().await;
    assert_eq!((prompt.r#type.as_str(), prompt.tool.as_deref()), ("permission", Some("Bash")));
    assert!(prompt.input.is_some_and(|input| input.starts_with("touch first")));
    session.press("\x1b").await;
    session.wait_state("idle").await;
    session.nudge("#ask Which color? / Red / Blue").await.expect("taken");
    let prompt = session.wait_prompt().await;
    assert_eq!(
        (prompt.r#type.as_str(), prompt.question.as_deref()),
        ("question", Some("Which color?"))
    );
    session.press("\x1b").await;
    session.wait_state("idle").await;
    assert_eq!(causes(&session, "prompt"), ["status:permission", "status:question"]);

    session.nudge_until_hold("gate", "#stream 3x0 #hold gate #say never").await;
    session.press("\x1b").await;
    session.wait_state("idle").await;
    poll_until("the report of the interrupt", async || {
        let explained = session.explain().await;
        let [record] = &explained.program_status[..] else { return None };
        assert!(explained.refused_reports.is_empty(), "{explained:?}");
        ((record.app.as_str(), record.state.as_str()) == ("claude-code", "idle")).then_some(())
    })
    .await;

    session.nudge("#status 401 #status 401 #status 401").await.expect("taken");
    let error = session.wait_state("error").await;
    assert_eq!(error.error_category.as_deref(), Some("unauthorized"));
    assert!(!session.workspace().join("first").exists());
}

/// Another Claude in the same folder writes its log first, and its lines are not taken for ours.
#[tokio::test]
async fn the_log_of_another_process_is_not_followed() {
    let Some(mut session) = Setup::claude().coop(&["--groom", "pristine"]).idle().await else {
        return;
    };
    let slug =
        session.workspace().display().to_string().replace(|c: char| !c.is_alphanumeric(), "-");
    let project = session.home().join(".claude/projects").join(slug);
    std::fs::create_dir_all(&project).expect("made");
    let other = json!({
        "type": "assistant",
        "message": { "id": "m", "content": [{ "type": "text", "text": "from elsewhere" }] },
    });
    let log = project.join("00000000-0000-4000-8000-000000000000.jsonl");
    std::fs::write(log, format!("{other}\n")).expect("written");
    session.round_trip("hello").await;
    let said = session.wait_for("a message in the log", |state| state.last_message.clone()).await;
    assert_eq!(said, "echo: hello");

    // A new conversation of the same process has another log.
    let before = session.state().await.agent_session_id.expect("an id");
    session.type_in("/clear").await;
    session
        .wait_for("another conversation", |state| {
            state.agent_session_id.clone().filter(|id| *id != before)
        })
        .await;
    session.wait_state("idle").await;
    session.round_trip("hello again").await;
    session
        .wait_for("a message in the next log", |state| {
            state.last_message.clone().filter(|said| said == "echo: hello again")
        })
        .await;
}

/// Without hooks, title and status file: only the log and the screen are left.
#[tokio::test]
async fn state_comes_from_log_and_screen_alone() {
    let setup = Setup::claude().coop(&["--groom", "pristine", "--only-log-and-screen"]);
    let Some(mut session) = setup.idle().await else { return };
    without_hooks::messages_permission_and_interrupt_work(&mut session, "Bash").await;
    session.nudge("#status 500 #status 500 #status 500").await.expect("taken");
    assert_eq!(session.wait_state("error").await.error_category.as_deref(), Some("server_error"));
    let tiers: Vec<String> =
        session.explain().await.votes.into_iter().map(|vote| vote.tier).collect();
    assert!(tiers.iter().all(|tier| tier == "session_log" || tier == "screen"), "{tiers:?}");
}

#[tokio::test]
async fn printed_json_reports_the_state() {
    let print = |prompt: &str| {
        Setup::claude().args(&["-p", prompt, "--output-format", "stream-json", "--verbose"])
    };
    if without_hooks::printed_json_reports_the_state(print).await.is_some() {
        without_hooks::a_printed_failure_is_an_error(print).await;
    }
}
