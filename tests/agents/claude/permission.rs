//! Permissions that the real claude asks for: seen with everything they are about, and answered by meaning.

use coop_client::v1;
use serde_json::json;

use crate::permission::{self, Manner, deny_with};
use crate::world::{Setup, refusal};

#[tokio::test]
async fn a_command_is_shown_whole_and_allowed() {
    let manner = Manner { tool: "Bash", yes: "Yes", via: "hook" };
    permission::a_command_is_shown_whole_and_allowed(Setup::claude(), manner).await;
}

#[tokio::test]
async fn two_in_a_row_are_two_prompts_and_a_late_answer_reaches_neither() {
    permission::two_are_two_prompts_and_a_late_answer_reaches_neither(Setup::claude(), "").await;
}

#[tokio::test]
async fn a_message_at_a_dialog_is_refused_and_approves_nothing() {
    permission::a_message_at_a_dialog_is_refused_and_approves_nothing(Setup::claude()).await;
}

#[tokio::test]
async fn always_allowing_asks_no_more() {
    let Some(mut world) = Setup::claude().idle().await else { return };
    let place = world.workspace().to_owned();
    let calls = ["one", "two"]
        .map(|name| format!("#tool Write {}", json!({ "file_path": place.join(name), "content": "x" })));
    permission::allowed_for_good(&mut world, "Write", calls, "Yes, ").await;
    assert!(place.join("one").exists() && place.join("two").exists());
}

#[tokio::test]
async fn edits_and_pages_ask_too() {
    let Some(mut world) = Setup::claude().idle().await else { return };
    permission::an_edit_is_asked_about(&mut world, "Edit", |file| {
        let edit = json!({ "file_path": file, "old_string": "old", "new_string": "new" });
        format!("#tool Read {} #tool Edit {edit}", json!({ "file_path": file }))
    })
    .await;

    let fetch = json!({ "url": "http://127.0.0.1:9/page", "prompt": "what is there" });
    world.nudge(&format!("#tool WebFetch {fetch} #say fetched")).await.expect("taken");
    let prompt = world.wait_prompt().await;
    assert_eq!((prompt.r#type.as_str(), prompt.tool.as_deref()), ("permission", Some("WebFetch")));
    assert!(prompt.input_full.is_some_and(|input| input.contains("127.0.0.1:9/page")));
    world.decline().await;
    world.wait_state("idle").await;
}

#[tokio::test]
async fn a_denied_command_never_runs() {
    let Some(mut world) = Setup::claude().idle().await else { return };
    world.nudge(&world.shell_call("touch never")).await.expect("taken");
    world.wait_prompt().await;
    assert_eq!(world.decline().await.outcome, "answered");
    world.wait_state("idle").await;
    world.nudge(&format!("{} #say went on", world.shell_call("touch never"))).await.expect("taken");
    world.wait_prompt().await;
    let told = world.respond(deny_with("use another way")).await.expect("denied");
    assert_eq!(told.outcome, "answered");
    world.hear("went on").await;
    world.wait_state("idle").await;
    let told = world.api.last_result();
    assert!(told.contains("use another way"), "the model was told why: {told}");
    assert!(!world.workspace().join("never").exists());
}

#[tokio::test]
async fn a_person_who_answers_first_is_heard() {
    let Some(mut world) = Setup::claude().idle().await else { return };
    world.nudge(&format!("{} #say mine", world.shell_call("touch made"))).await.expect("taken");
    let prompt = world.wait_prompt().await;
    world.press("1").await;
    world.hear("mine").await;
    world.wait_state("idle").await;
    let late = v1::RespondRequest { accept: Some(false), prompt_id: Some(prompt.id), ..Default::default() };
    assert_eq!(refusal(&world.respond(late).await.expect_err("it is over")), "STALE_PROMPT");
    let any = v1::RespondRequest { accept: Some(false), ..Default::default() };
    assert_eq!(refusal(&world.respond(any).await.expect_err("there is none")), "NO_PROMPT");
}

#[tokio::test]
async fn an_answer_by_keys_works_as_well() {
    let Some(mut world) = Setup::claude().coop(&["--groom", "pristine"]).idle().await else { return };
    world.nudge(&format!("{} #say by keys", world.shell_call("touch made"))).await.expect("taken");
    world.wait_prompt().await;
    let answered = world.accept().await;
    assert_eq!((answered.outcome.as_str(), answered.via.as_str()), ("answered", "keys"));
    world.hear("by keys").await;
    world.wait_state("idle").await;
    world.nudge(&format!("{} #say went on", world.shell_call("touch never"))).await.expect("taken");
    world.wait_prompt().await;
    let told = world.respond(deny_with("rather not")).await.expect("denied");
    assert_eq!((told.outcome.as_str(), told.via.as_str()), ("answered", "keys"));
    world.hear("went on").await;
    assert!(world.api.last_result().contains("rather not"));
    assert!(!world.workspace().join("never").exists());
}

#[tokio::test]
async fn allowing_with_a_comment_tells_the_model() {
    let Some(mut world) = Setup::claude().idle().await else { return };
    world.nudge(&world.shell_call("touch made")).await.expect("taken");
    world.wait_prompt().await;
    let comment = v1::RespondRequest {
        accept: Some(true),
        text: Some("and be quick about it".to_owned()),
        ..Default::default()
    };
    assert_eq!(world.respond(comment).await.expect("answered").outcome, "answered");
    world.hear("echo: and be quick about it").await;
    world.wait_file("made").await;
}
