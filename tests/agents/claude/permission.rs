//! Permissions that the real claude asks for: seen with everything they are about, and answered by meaning.

use coop_client::v1;

use crate::world::{Setup, World, refusal};

async fn idle(setup: Setup) -> Option<World> {
    let mut world = setup.start().await?;
    world.wait_state("idle").await;
    Some(world)
}

fn bash(command: &str) -> String {
    format!("#tool Bash {}", serde_json::json!({ "command": command, "description": "a test" }))
}

fn deny(text: Option<&str>) -> v1::RespondRequest {
    v1::RespondRequest { accept: Some(false), text: text.map(str::to_owned), ..Default::default() }
}

#[tokio::test]
async fn a_command_is_shown_whole_and_allowed() {
    let Some(mut world) = idle(Setup::claude()).await else { return };
    let command = format!("touch made # {}", "a long comment ".repeat(40));
    world.nudge(&format!("{} #say all done", bash(&command))).await.expect("taken");
    let prompt = world.wait_prompt().await;
    assert_eq!((prompt.r#type.as_str(), prompt.tool.as_deref()), ("permission", Some("Bash")));
    let input: serde_json::Value = serde_json::from_str(prompt.input_full.as_deref().unwrap()).unwrap();
    assert_eq!(input["command"], command.as_str());
    assert!(prompt.input.is_some_and(|input| input.chars().count() <= 201));
    assert!(prompt.options.len() >= 2 && prompt.options[0] == "Yes", "{:?}", prompt.options);
    assert!(!world.workspace().join("made").exists());
    let answered = world.accept().await;
    assert_eq!((answered.outcome.as_str(), answered.prompt_type.as_str()), ("answered", "permission"));
    world.hear("all done").await;
    world.wait_state("idle").await;
    assert!(world.workspace().join("made").exists());
}

#[tokio::test]
async fn a_denied_command_never_runs() {
    let Some(mut world) = idle(Setup::claude()).await else { return };
    world.nudge(&bash("touch never")).await.expect("taken");
    world.wait_prompt().await;
    assert_eq!(world.respond(deny(None)).await.expect("denied").outcome, "answered");
    world.wait_state("idle").await;
    world.nudge(&format!("{} #say went on", bash("touch never"))).await.expect("taken");
    world.wait_prompt().await;
    let told = world.respond(deny(Some("use another way"))).await.expect("denied");
    assert_eq!(told.outcome, "answered");
    world.hear("went on").await;
    world.wait_state("idle").await;
    let said = world.api.last_turn().body.to_string();
    assert!(said.contains("use another way"), "the model was told why: {said}");
    assert!(!world.workspace().join("never").exists());
}

#[tokio::test]
async fn always_allowing_asks_no_more() {
    let Some(mut world) = idle(Setup::claude()).await else { return };
    let call = |name: &str| {
        format!("#tool Write {}", serde_json::json!({ "file_path": world_path(name), "content": "x" }))
    };
    fn world_path(name: &str) -> String {
        format!("{{workspace}}/{name}")
    }
    let place = world.workspace().display().to_string();
    world.nudge(&format!("{} #say one", call("one").replace("{workspace}", &place))).await.expect("taken");
    let prompt = world.wait_prompt().await;
    assert_eq!(prompt.tool.as_deref(), Some("Write"));
    let always =
        prompt.options.iter().position(|label| label.starts_with("Yes, ")).expect("an option for ever");
    let option = i32::try_from(always + 1).expect("small");
    world.choose(option).await.expect("chosen");
    world.hear("one").await;
    world.wait_state("idle").await;
    let nudged = world
        .nudge(&format!("{} #say two", call("two").replace("{workspace}", &place)))
        .await
        .expect("taken");
    world.hear("two").await;
    world.wait_state_after(nudged.seq, "idle").await;
    assert!(world.workspace().join("one").exists() && world.workspace().join("two").exists());
    assert_eq!(world.states().iter().filter(|state| *state == "prompt").count(), 1, "{:?}", world.states());
}

#[tokio::test]
async fn edits_and_pages_ask_too() {
    let Some(mut world) = idle(Setup::claude()).await else { return };
    let file = world.workspace().join("text");
    std::fs::write(&file, "old words\n").expect("written");
    let read = serde_json::json!({ "file_path": file });
    let edit = serde_json::json!({ "file_path": file, "old_string": "old", "new_string": "new" });
    world.nudge(&format!("#tool Read {read} #tool Edit {edit} #say edited")).await.expect("taken");
    let prompt = world.wait_prompt().await;
    assert_eq!((prompt.r#type.as_str(), prompt.tool.as_deref()), ("permission", Some("Edit")));
    world.accept().await;
    world.hear("edited").await;
    world.wait_state("idle").await;
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "new words\n");

    let fetch = serde_json::json!({ "url": "http://127.0.0.1:9/page", "prompt": "what is there" });
    world.nudge(&format!("#tool WebFetch {fetch} #say fetched")).await.expect("taken");
    let prompt = world.wait_prompt().await;
    assert_eq!((prompt.r#type.as_str(), prompt.tool.as_deref()), ("permission", Some("WebFetch")));
    assert!(prompt.input_full.is_some_and(|input| input.contains("127.0.0.1:9/page")));
    world.respond(deny(None)).await.expect("denied");
    world.wait_state("idle").await;
}

#[tokio::test]
async fn two_in_a_row_are_two_prompts_and_a_late_answer_reaches_neither() {
    let Some(mut world) = idle(Setup::claude()).await else { return };
    world.nudge(&format!("{} {} #say both", bash("touch one"), bash("touch two"))).await.expect("taken");
    let first = world.wait_prompt().await;
    world.accept().await;
    let second = world.wait_prompt_after(&first.id).await;
    let late = v1::RespondRequest { accept: Some(true), prompt_id: Some(first.id), ..Default::default() };
    assert_eq!(refusal(&world.respond(late).await.expect_err("it is over")), "STALE_PROMPT");
    assert!(!world.workspace().join("two").exists());
    let mine = v1::RespondRequest { accept: Some(true), prompt_id: Some(second.id), ..Default::default() };
    world.respond(mine).await.expect("answered");
    world.hear("both").await;
    world.wait_file("two").await;
}

#[tokio::test]
async fn a_message_at_a_dialog_is_refused_and_approves_nothing() {
    let Some(mut world) = idle(Setup::claude()).await else { return };
    world.nudge(&bash("touch never")).await.expect("taken");
    world.wait_prompt().await;
    let refused = world.nudge("just a message").await.expect_err("a dialog has the keyboard");
    assert_eq!(refusal(&refused), "AGENT_BUSY");
    let told: v1::NudgeResponse = coop_client::response(&refused, "NudgeResponse").expect("a response");
    assert_eq!((told.delivered, told.reason.as_deref()), (false, Some("dialog_open")));
    assert_eq!(world.state().await.state, "prompt");
    world.respond(deny(None)).await.expect("denied");
    world.wait_state("idle").await;
    assert!(!world.workspace().join("never").exists());
}

#[tokio::test]
async fn a_person_who_answers_first_is_heard() {
    let Some(mut world) = idle(Setup::claude()).await else { return };
    world.nudge(&format!("{} #say mine", bash("touch made"))).await.expect("taken");
    let prompt = world.wait_prompt().await;
    world.press("1").await;
    world.hear("mine").await;
    world.wait_state("idle").await;
    let late = v1::RespondRequest { accept: Some(false), prompt_id: Some(prompt.id), ..Default::default() };
    assert_eq!(refusal(&world.respond(late).await.expect_err("it is over")), "STALE_PROMPT");
    assert_eq!(refusal(&world.respond(deny(None)).await.expect_err("there is none")), "NO_PROMPT");
}

#[tokio::test]
async fn an_answer_by_keys_works_as_well() {
    let Some(mut world) = idle(Setup::claude().coop(&["--groom", "pristine"])).await else { return };
    world.nudge(&format!("{} #say by keys", bash("touch made"))).await.expect("taken");
    world.wait_prompt().await;
    let answered = world.accept().await;
    assert_eq!((answered.outcome.as_str(), answered.via.as_str()), ("answered", "keys"));
    world.hear("by keys").await;
    world.wait_state("idle").await;
    world.nudge(&format!("{} #say went on", bash("touch never"))).await.expect("taken");
    world.wait_prompt().await;
    let told = world.respond(deny(Some("rather not"))).await.expect("denied");
    assert_eq!((told.outcome.as_str(), told.via.as_str()), ("answered", "keys"));
    world.hear("went on").await;
    assert!(world.api.last_turn().body.to_string().contains("rather not"));
    assert!(!world.workspace().join("never").exists());
}

#[tokio::test]
async fn allowing_with_a_comment_tells_the_model() {
    let Some(mut world) = idle(Setup::claude()).await else { return };
    world.nudge(&format!("{} #say noted", bash("touch made"))).await.expect("taken");
    world.wait_prompt().await;
    let comment = v1::RespondRequest {
        accept: Some(true),
        text: Some("and be quick about it".to_owned()),
        ..Default::default()
    };
    assert_eq!(world.respond(comment).await.expect("answered").outcome, "answered");
    world.hear("noted").await;
    world.wait_file("made").await;
    assert!(world.api.last_turn().body.to_string().contains("be quick about it"));
}
