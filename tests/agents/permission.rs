//! Permissions that an agent asks for, for every agent: their content, and their answers.

use std::path::Path;

use coop_client::v1;

use crate::harness::{Setup, TestSession, error_code};

fn yes_to(prompt: v1::PromptContext) -> v1::RespondRequest {
    v1::RespondRequest { accept: Some(true), prompt_id: Some(prompt.id), ..Default::default() }
}

pub fn deny_with(text: &str) -> v1::RespondRequest {
    v1::RespondRequest { accept: Some(false), text: Some(text.to_owned()), ..Default::default() }
}

/// The prompt is closed: an answer to it is refused, and reaches no other prompt.
async fn assert_stale(session: &mut TestSession, prompt: v1::PromptContext) {
    assert_eq!(
        error_code(&session.respond(yes_to(prompt)).await.expect_err("it is over")),
        "STALE_PROMPT"
    );
}

/// How an agent asks for permission to run a command.
pub struct CommandDialog {
    pub tool: &'static str,
    /// The label of the first option.
    pub yes: &'static str,
    /// How coop enters an answer.
    pub via: &'static str,
}

pub async fn a_command_is_shown_in_full_and_allowed(setup: Setup, dialog: CommandDialog) {
    let Some(mut session) = setup.idle().await else { return };
    let command = format!("touch made # {}end", "a long comment ".repeat(40));
    session.nudge(&format!("{} #say all done", session.shell_call(&command))).await.expect("taken");
    let early = session.wait_state("prompt").await.prompt.expect("a prompt");
    let prompt = session.wait_prompt().await;
    assert_eq!(early.id, prompt.id, "the prompt keeps its id while it becomes visible");
    assert_eq!((prompt.r#type.as_str(), prompt.tool.as_deref()), ("permission", Some(dialog.tool)));
    assert!(is_about(&prompt, &command), "{:?}", prompt.input_full);
    assert!(
        prompt.input.as_deref().is_some_and(|input| input.chars().count() <= 201),
        "{:?}",
        prompt.input
    );
    assert!(prompt.options.len() >= 2 && prompt.options[0] == dialog.yes, "{:?}", prompt.options);
    assert!(!session.workspace().join("made").exists());
    let answered = session.accept().await;
    assert_eq!(
        (answered.outcome.as_str(), answered.prompt_type.as_str()),
        ("answered", "permission")
    );
    assert_eq!(answered.via, dialog.via);
    session.wait_reply("all done").await;
    session.wait_state("idle").await;
    assert!(session.workspace().join("made").exists());
    assert_stale(&mut session, prompt).await;
}

/// A denial that takes no text.
pub async fn a_denied_command_never_runs_and_ends_the_turn(setup: Setup) {
    let Some(mut session) = setup.idle().await else { return };
    let call = format!("{} #say never", session.shell_call("touch never"));
    let nudged = session.nudge(&call).await.expect("taken");
    session.wait_prompt().await;
    let refused =
        session.respond(deny_with("use another way")).await.expect_err("it takes no text");
    assert_eq!(error_code(&refused), "BAD_REQUEST");
    assert_eq!(session.decline().await.outcome, "answered");
    session.wait_state_after(nudged.seq, "idle").await;
    session.round_trip("after the denial").await;
    assert!(!session.workspace().join("never").exists());
}

/// Allows the first of these calls with the option that starts like this; the second call opens no
/// prompt.
pub async fn always_allowing_stops_prompts(
    session: &mut TestSession,
    tool: &str,
    calls: [String; 2],
    option: &str,
) {
    let asked =
        |session: &TestSession| session.states().iter().filter(|state| *state == "prompt").count();
    let before = asked(session);
    let [first, second] = calls;
    let nudged = session.nudge(&format!("{first} #say one of two")).await.expect("taken");
    let prompt = session.wait_prompt().await;
    assert_eq!((prompt.r#type.as_str(), prompt.tool.as_deref()), ("permission", Some(tool)));
    let at = prompt.options.iter().position(|label| label.starts_with(option));
    let at = at.unwrap_or_else(|| panic!("{option:?} is none of {:?}", prompt.options));
    session.choose(i32::try_from(at + 1).expect("small")).await.expect("chosen");
    session.wait_reply("one of two").await;
    session.wait_state_after(nudged.seq, "idle").await;
    let nudged = session.nudge(&format!("{second} #say both of two")).await.expect("taken");
    session.wait_reply("both of two").await;
    session.wait_state_after(nudged.seq, "idle").await;
    assert_eq!(asked(session), before + 1, "{:?}", session.states());
}

/// The model edits a file: this call of this tool replaces `old` by `new`.
pub async fn an_edit_is_a_prompt(
    session: &mut TestSession,
    tool: &str,
    call: impl Fn(&Path) -> String,
) {
    let file = session.workspace().join("text");
    std::fs::write(&file, "old words\n").expect("written");
    session.nudge(&format!("{} #say edited", call(&file))).await.expect("taken");
    let prompt = session.wait_prompt().await;
    assert_eq!((prompt.r#type.as_str(), prompt.tool.as_deref()), ("permission", Some(tool)));
    assert!(prompt.input_full.is_some_and(|input| input.contains("new_string")));
    session.accept().await;
    session.wait_reply("edited").await;
    session.wait_state("idle").await;
    assert_eq!(std::fs::read_to_string(&file).expect("it is there"), "new words\n");
}

/// Two commands, with this text between them in the model's script. The agent chooses the order of
/// two commands in one reply.
pub async fn two_commands_are_two_prompts_and_a_late_answer_is_stale(setup: Setup, between: &str) {
    let Some(mut session) = setup.idle().await else { return };
    let [one, two] = ["touch one", "touch two"].map(|command| session.shell_call(command));
    session.nudge(&format!("{one} {between} {two} #say both")).await.expect("taken");
    let first = accept_first(&mut session).await;
    let file = if is_about(&first, "touch one") { "two" } else { "one" };
    let second = session.wait_prompt_after(&first.id).await;
    assert!(
        is_about(&second, &format!("touch {file}")) && !is_about(&first, &format!("touch {file}"))
    );
    assert_stale(&mut session, first).await;
    assert!(!session.workspace().join(file).exists());
    session.respond(yes_to(second)).await.expect("answered");
    session.wait_reply("both").await;
    session.wait_file("one").await;
    session.wait_file("two").await;
}

/// Accepts the first of two dialogs that open at once. Gemini can draw the second for a moment
/// before it draws the first instead: an answer to that one is superseded or stale, and no key was
/// pressed.
async fn accept_first(session: &mut TestSession) -> v1::PromptContext {
    let shown = session.wait_prompt().await;
    match session.respond(yes_to(shown.clone())).await {
        Ok(reply) if reply.outcome == "answered" => return shown,
        Ok(reply) => assert_eq!(reply.outcome, "superseded"),
        Err(status) => assert_eq!(error_code(&status), "STALE_PROMPT"),
    }
    let instead = session.wait_prompt_after(&shown.id).await;
    let reply = session.respond(yes_to(instead.clone())).await.expect("a prompt is open");
    assert_eq!(reply.outcome, "answered");
    instead
}

fn is_about(prompt: &v1::PromptContext, command: &str) -> bool {
    let input = prompt.input_full.as_deref().expect("the tool's input");
    let input: serde_json::Value = serde_json::from_str(input).expect("it is JSON");
    input["command"] == command
}

pub async fn a_message_at_a_dialog_is_refused_and_approves_nothing(setup: Setup) {
    let Some(mut session) = setup.idle().await else { return };
    session.nudge(&session.shell_call("touch never")).await.expect("taken");
    session.wait_prompt().await;
    let refused = session.nudge("1").await.expect_err("a dialog has the keyboard");
    assert_eq!(error_code(&refused), "AGENT_BUSY");
    let response: v1::NudgeResponse =
        coop_client::response(&refused, "NudgeResponse").expect("a response");
    assert_eq!((response.delivered, response.reason.as_deref()), (false, Some("dialog_open")));
    assert_eq!(session.state().await.state, "prompt");
    session.decline().await;
    session.wait_state("idle").await;
    assert!(!session.workspace().join("never").exists());
}
