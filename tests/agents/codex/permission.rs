//! Permissions that the real codex asks for: their content, and their answers.

use coop_client::v1;

use crate::harness::{Setup, TestSession, error_code};
use crate::permission::{self, CommandDialog};

/// A model for which codex has its edit tool, without a dialog about a newer model.
const EDITING: [&str; 4] =
    ["-m", "gpt-5.5", "-c", "notice.model_migrations={\"gpt-5.5\"=\"gpt-6-sol\"}"];

#[tokio::test]
async fn a_command_is_shown_in_full_and_allowed() {
    let dialog = CommandDialog { tool: "Bash", yes: "Yes, proceed (y)", via: "keys" };
    permission::a_command_is_shown_in_full_and_allowed(Setup::codex(), dialog).await;
}

#[tokio::test]
async fn a_denied_command_never_runs_and_ends_the_turn() {
    permission::a_denied_command_never_runs_and_ends_the_turn(Setup::codex()).await;
}

#[tokio::test]
async fn two_consecutive_commands_are_two_prompts_and_a_late_answer_is_stale() {
    permission::two_commands_are_two_prompts_and_a_late_answer_is_stale(Setup::codex(), "").await;
}

/// Codex asks for both at once, in any order, and reports neither answer.
#[tokio::test]
async fn two_commands_at_once_are_two_prompts_and_a_late_answer_is_stale() {
    permission::two_commands_are_two_prompts_and_a_late_answer_is_stale(Setup::codex(), "#and")
        .await;
}

/// In a low terminal the dialogs of both commands look the same, so the answer to the first is
/// never given twice.
#[tokio::test]
async fn an_answer_reaches_one_of_two_dialogs_that_look_the_same() {
    let low = ["--cols", "40", "--rows", "12"];
    let Some(mut session) = Setup::codex().coop(&low).idle().await else { return };
    let long = |file: &str| format!("true {}; touch {file}", "a long argument ".repeat(20));
    let [one, two] = ["one", "two"].map(|file| session.shell_call(&long(file)));
    session.nudge(&format!("{one} #and {two} #say both")).await.expect("taken");
    let first = session.wait_prompt().await;
    assert_eq!(first.input_full, None, "it can be either");
    let yes = |prompt: &v1::PromptContext| v1::RespondRequest {
        accept: Some(true),
        prompt_id: Some(prompt.id.clone()),
        ..Default::default()
    };
    let unknown = session.respond(yes(&first)).await.expect_err("the next one looks the same");
    assert_eq!(error_code(&unknown), "TIMEOUT");
    let made = |session: &TestSession| {
        ["one", "two"].iter().filter(|file| session.workspace().join(file).exists()).count()
    };
    assert_eq!(made(&session), 1, "the answer reached one dialog");
    let second = session.wait_prompt_after(&first.id).await;
    let stale = session.respond(yes(&first)).await.expect_err("it is over");
    assert_eq!(error_code(&stale), "STALE_PROMPT");
    assert_eq!(made(&session), 1);
    assert_eq!(session.respond(yes(&second)).await.expect("open").outcome, "answered");
    session.wait_reply("both").await;
    session.wait_state("idle").await;
    assert_eq!(made(&session), 2);
}

#[tokio::test]
async fn a_message_at_a_dialog_is_refused_and_approves_nothing() {
    permission::a_message_at_a_dialog_is_refused_and_approves_nothing(Setup::codex()).await;
}

#[tokio::test]
async fn always_allowing_a_command_stops_its_prompts() {
    let Some(mut session) = Setup::codex().idle().await else { return };
    let calls = [(); 2].map(|()| session.shell_call("touch made"));
    permission::always_allowing_stops_prompts(
        &mut session,
        "Bash",
        calls,
        "Yes, and don't ask again for commands",
    )
    .await;
    assert!(session.workspace().join("made").exists());
}

#[tokio::test]
async fn edits_are_prompts_until_the_file_is_always_allowed() {
    let Some(mut session) = Setup::codex().args(&EDITING).args(&["-s", "read-only"]).idle().await
    else {
        return;
    };
    let patch = |file: &str, line: &str| {
        let patch = format!("*** Begin Patch\n*** Add File: {file}\n+{line}\n*** End Patch\n");
        format!("#tool apply_patch {}", serde_json::json!(patch))
    };
    session.nudge(&patch("denied", "x")).await.expect("taken");
    let prompt = session.wait_prompt().await;
    assert_eq!(
        (prompt.r#type.as_str(), prompt.tool.as_deref()),
        ("permission", Some("apply_patch"))
    );
    assert!(prompt.input_full.is_some_and(|input| input.contains("Add File: denied")));
    session.decline().await;
    session.wait_state("idle").await;
    session.nudge(&format!("{} #say once", patch("once", "x"))).await.expect("taken");
    session.wait_prompt().await;
    session.accept().await;
    session.wait_reply("once").await;
    session.wait_state("idle").await;
    assert!(session.workspace().join("once").exists());
    let calls = [patch("made", "first"), patch("made", "second")];
    permission::always_allowing_stops_prompts(
        &mut session,
        "apply_patch",
        calls,
        "Yes, and don't ask again for these files",
    )
    .await;
    assert!(!session.workspace().join("denied").exists());
    assert!(session.workspace().join("made").exists());
    assert_eq!(
        session.states().iter().filter(|state| *state == "prompt").count(),
        3,
        "{:?}",
        session.states()
    );
}

#[tokio::test]
async fn permissions_work_without_hooks_and_explain_says_so() {
    for setup in [
        Setup::codex().coop(&["--groom", "pristine"]),
        Setup::codex().args(&["-c", "hooks.Stop=[]"]),
    ] {
        let Some(mut session) = setup.idle().await else { return };
        let reason = session.explain().await.reason;
        assert!(reason.contains("the agent's hooks do not reach coop"), "{reason}");
        session
            .nudge(&format!("{} #say done", session.shell_call("touch made")))
            .await
            .expect("taken");
        let prompt = session.wait_prompt().await;
        assert_eq!((prompt.r#type.as_str(), prompt.tool.as_deref()), ("permission", Some("Bash")));
        // The input comes from the log, which may be written after the dialog is drawn.
        let input = |agent: &v1::GetAgentStateResponse| agent.prompt.as_ref()?.input_full.clone();
        let input = session.wait_for("the input of the tool", input).await;
        assert!(input.contains("touch made"), "{input}");
        session.accept().await;
        session.wait_reply("done").await;
        session.wait_state("idle").await;
        session.nudge(&session.shell_call("touch never")).await.expect("taken");
        session.wait_prompt().await;
        session.decline().await;
        session.wait_state("idle").await;
        assert!(
            session.workspace().join("made").exists()
                && !session.workspace().join("never").exists()
        );
    }
}
