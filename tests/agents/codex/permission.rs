//! Permissions that the real codex asks for: seen with everything they are about, and answered by meaning.

use coop_client::v1;

use crate::world::{Setup, World, refusal};

/// A model that codex gives its tool for edits, and no dialog about a newer one.
const EDITING: [&str; 4] = ["-m", "gpt-5.5", "-c", "notice.model_migrations={\"gpt-5.5\"=\"gpt-6-sol\"}"];

async fn idle(setup: Setup) -> Option<World> {
    let mut world = setup.start().await?;
    world.wait_state("idle").await;
    Some(world)
}

fn command(command: &str) -> String {
    let call = serde_json::json!({
        "cmd": command, "sandbox_permissions": "require_escalated", "justification": "May I?",
    });
    format!("#tool exec_command {call}")
}

fn deny() -> v1::RespondRequest {
    v1::RespondRequest { accept: Some(false), ..Default::default() }
}

#[tokio::test]
async fn a_command_is_shown_whole_and_allowed() {
    let Some(mut world) = idle(Setup::codex()).await else { return };
    let touch = format!("touch made # {}end", "a long comment ".repeat(40));
    world.nudge(&format!("{} #say all done", command(&touch))).await.expect("taken");
    let early = world.wait_state("prompt").await.prompt.expect("a prompt");
    let prompt = world.wait_prompt().await;
    assert_eq!(early.id, prompt.id, "it is the same while it becomes visible");
    assert_eq!((prompt.r#type.as_str(), prompt.tool.as_deref()), ("permission", Some("Bash")));
    let input: serde_json::Value = serde_json::from_str(prompt.input_full.as_deref().unwrap()).unwrap();
    assert_eq!(input["command"], touch.as_str());
    assert!(prompt.options[0].starts_with("Yes, proceed"), "{:?}", prompt.options);
    assert!(!world.workspace().join("made").exists());
    let answered = world.accept().await;
    assert_eq!((answered.outcome.as_str(), answered.via.as_str()), ("answered", "keys"));
    world.hear("all done").await;
    world.wait_state("idle").await;
    assert!(world.workspace().join("made").exists());
    let late = v1::RespondRequest { accept: Some(true), prompt_id: Some(prompt.id), ..Default::default() };
    assert_eq!(refusal(&world.respond(late).await.expect_err("it is over")), "STALE_PROMPT");
}

#[tokio::test]
async fn a_denied_command_never_runs_and_ends_the_turn() {
    let Some(mut world) = idle(Setup::codex()).await else { return };
    let nudged = world.nudge(&command("touch never")).await.expect("taken");
    world.wait_prompt().await;
    let wordy = v1::RespondRequest { text: Some("no".to_owned()), ..deny() };
    assert_eq!(refusal(&world.respond(wordy).await.expect_err("it takes no words")), "BAD_REQUEST");
    assert_eq!(world.respond(deny()).await.expect("denied").outcome, "answered");
    world.wait_state_after(nudged.seq, "idle").await;
    assert!(!world.workspace().join("never").exists());
    world.nudge("and now").await.expect("taken");
    world.hear("echo: and now").await;
}

#[tokio::test]
async fn always_allowing_a_command_asks_no_more() {
    let Some(mut world) = idle(Setup::codex()).await else { return };
    for round in ["one", "two"] {
        let nudged = world.nudge(&format!("{} #say {round}", command("touch made"))).await.expect("taken");
        if round == "one" {
            world.wait_prompt().await;
            world.choose(2).await.expect("chosen");
        }
        world.hear(round).await;
        world.wait_state_after(nudged.seq, "idle").await;
    }
    assert_eq!(world.states().iter().filter(|state| *state == "prompt").count(), 1, "{:?}", world.states());
}

#[tokio::test]
async fn edits_are_asked_about_once_for_each_file() {
    let Some(mut world) = idle(Setup::codex().args(&EDITING).args(&["-s", "read-only"])).await else {
        return;
    };
    let patch = |file: &str, line: &str| {
        let patch = format!("*** Begin Patch\n*** Add File: {file}\n+{line}\n*** End Patch\n");
        format!("#tool apply_patch {}", serde_json::json!(patch))
    };
    world.nudge(&patch("denied", "x")).await.expect("taken");
    let prompt = world.wait_prompt().await;
    assert_eq!((prompt.r#type.as_str(), prompt.tool.as_deref()), ("permission", Some("apply_patch")));
    assert!(prompt.input_full.is_some_and(|input| input.contains("Add File: denied")));
    world.respond(deny()).await.expect("denied");
    world.wait_state("idle").await;
    for round in ["first", "second"] {
        let nudged = world.nudge(&format!("{} #say {round}", patch("made", round))).await.expect("taken");
        if round == "first" {
            world.wait_prompt().await;
            world.choose(2).await.expect("chosen");
        }
        world.hear(round).await;
        world.wait_state_after(nudged.seq, "idle").await;
    }
    assert!(!world.workspace().join("denied").exists());
    assert!(world.workspace().join("made").exists());
    assert_eq!(world.states().iter().filter(|state| *state == "prompt").count(), 2, "{:?}", world.states());
}

#[tokio::test]
async fn two_in_a_row_are_two_prompts() {
    let Some(mut world) = idle(Setup::codex()).await else { return };
    let both = format!("{} {} #say both", command("touch one"), command("touch two"));
    world.nudge(&both).await.expect("taken");
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
async fn without_hooks_it_works_as_well_and_says_so() {
    for setup in
        [Setup::codex().coop(&["--groom", "pristine"]), Setup::codex().args(&["-c", "hooks.Stop=[]"])]
    {
        let Some(mut world) = idle(setup).await else { return };
        let reason = world.explain().await.reason;
        assert!(reason.contains("no hooks are heard"), "{reason}");
        world.nudge(&format!("{} #say done", command("touch made"))).await.expect("taken");
        let prompt = world.wait_prompt().await;
        assert_eq!((prompt.r#type.as_str(), prompt.tool.as_deref()), ("permission", Some("Bash")));
        // The log has the input, and may be written after the dialog is drawn.
        let input = |agent: &v1::GetAgentStateResponse| agent.prompt.as_ref()?.input_full.clone();
        let input = world.wait_for("the input of the tool", input).await;
        assert!(input.contains("touch made"), "{input}");
        world.accept().await;
        world.hear("done").await;
        world.wait_state("idle").await;
        world.nudge(&command("touch never")).await.expect("taken");
        world.wait_prompt().await;
        world.respond(deny()).await.expect("denied");
        world.wait_state("idle").await;
        assert!(world.workspace().join("made").exists() && !world.workspace().join("never").exists());
    }
}
