//! Permissions that the real gemini asks for: seen with everything they are about, and answered by meaning.

use coop_client::v1;
use serde_json::json;

use super::{idle, shell};
use crate::world::{Setup, refusal};

fn deny() -> v1::RespondRequest {
    v1::RespondRequest { accept: Some(false), ..Default::default() }
}

#[tokio::test]
async fn a_command_is_shown_whole_and_allowed() {
    let Some(mut world) = idle(Setup::gemini()).await else { return };
    let command = format!("touch made # {}", "a long comment ".repeat(40));
    world.nudge(&format!("{} #say all done", shell(&command))).await.expect("taken");
    let prompt = world.wait_prompt().await;
    assert_eq!((prompt.r#type.as_str(), prompt.tool.as_deref()), ("permission", Some("run_shell_command")));
    let input: serde_json::Value = serde_json::from_str(prompt.input_full.as_deref().unwrap()).unwrap();
    assert_eq!(input["command"], command.as_str());
    assert_eq!(prompt.options.first().map(String::as_str), Some("Allow once"));
    assert!(!world.workspace().join("made").exists());
    let answered = world.accept().await;
    assert_eq!((answered.outcome.as_str(), answered.via.as_str()), ("answered", "keys"));
    world.hear("all done").await;
    world.wait_state("idle").await;
    assert!(world.workspace().join("made").exists());
}

#[tokio::test]
async fn a_denied_command_never_runs_and_ends_the_turn() {
    let Some(mut world) = idle(Setup::gemini()).await else { return };
    let nudged = world.nudge(&format!("{} #say never", shell("touch never"))).await.expect("taken");
    world.wait_prompt().await;
    let comment = v1::RespondRequest { text: Some("use another way".to_owned()), ..deny() };
    assert_eq!(refusal(&world.respond(comment).await.expect_err("no comments")), "BAD_REQUEST");
    assert_eq!(world.respond(deny()).await.expect("denied").outcome, "answered");
    world.wait_state_after(nudged.seq, "idle").await;
    super::still_answers(&mut world, "after the denial").await;
    assert!(!world.workspace().join("never").exists());
}

#[tokio::test]
async fn allowing_for_the_session_asks_no_more() {
    let Some(mut world) = idle(Setup::gemini()).await else { return };
    let place = world.workspace().to_owned();
    let write = |name: &str| {
        format!("#tool write_file {} #say {name}", json!({ "file_path": place.join(name), "content": "x\n" }))
    };
    world.nudge(&write("one")).await.expect("taken");
    let prompt = world.wait_prompt().await;
    assert_eq!((prompt.r#type.as_str(), prompt.tool.as_deref()), ("permission", Some("write_file")));
    let session = prompt.options.iter().position(|label| label == "Allow for this session").expect("there");
    world.choose(i32::try_from(session + 1).expect("small")).await.expect("chosen");
    world.hear("one").await;
    world.wait_state("idle").await;
    let nudged = world.nudge(&write("two")).await.expect("taken");
    world.hear("two").await;
    world.wait_state_after(nudged.seq, "idle").await;
    assert!(place.join("one").exists() && place.join("two").exists());
    assert_eq!(world.states().iter().filter(|state| *state == "prompt").count(), 1, "{:?}", world.states());
}

#[tokio::test]
async fn an_edit_asks_too() {
    let Some(mut world) = idle(Setup::gemini()).await else { return };
    let file = world.workspace().join("text");
    std::fs::write(&file, "old words\n").expect("written");
    let edit = json!({ "file_path": file, "instruction": "i", "old_string": "old", "new_string": "new" });
    world.nudge(&format!("#tool replace {edit} #say edited")).await.expect("taken");
    let prompt = world.wait_prompt().await;
    assert_eq!((prompt.r#type.as_str(), prompt.tool.as_deref()), ("permission", Some("replace")));
    assert!(prompt.input_full.is_some_and(|input| input.contains("new_string")));
    world.accept().await;
    world.hear("edited").await;
    world.wait_state("idle").await;
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "new words\n");
}

#[tokio::test]
async fn two_at_once_are_two_prompts_and_a_late_answer_reaches_neither() {
    let Some(mut world) = idle(Setup::gemini()).await else { return };
    let both = format!("{} #and {} #say both", shell("touch one"), shell("touch two"));
    world.nudge(&both).await.expect("taken");
    let asks_for = |prompt: &v1::PromptContext, file: &str| {
        prompt.input_full.as_ref().is_some_and(|input| input.contains(file))
    };
    // It asks for whichever of them it gets to first.
    let first = world.wait_prompt().await;
    let (one, two) = if asks_for(&first, "touch one") { ("one", "two") } else { ("two", "one") };
    assert!(asks_for(&first, &format!("touch {one}")), "{first:?}");
    world.accept().await;
    let second = world.wait_prompt_after(&first.id).await;
    assert!(asks_for(&second, &format!("touch {two}")), "{second:?}");
    let late = v1::RespondRequest { accept: Some(true), prompt_id: Some(first.id), ..Default::default() };
    assert_eq!(refusal(&world.respond(late).await.expect_err("it is over")), "STALE_PROMPT");
    assert!(!world.workspace().join(two).exists());
    let mine = v1::RespondRequest { accept: Some(true), prompt_id: Some(second.id), ..Default::default() };
    world.respond(mine).await.expect("answered");
    world.hear("both").await;
    world.wait_file(two).await;
}

#[tokio::test]
async fn a_message_at_a_dialog_is_refused_and_approves_nothing() {
    let Some(mut world) = idle(Setup::gemini()).await else { return };
    world.nudge(&shell("touch never")).await.expect("taken");
    world.wait_prompt().await;
    let refused = world.nudge("1").await.expect_err("a dialog has the keyboard");
    assert_eq!(refusal(&refused), "AGENT_BUSY");
    assert_eq!(world.state().await.state, "prompt");
    world.respond(deny()).await.expect("denied");
    world.wait_state("idle").await;
    assert!(!world.workspace().join("never").exists());
}
