//! Permissions that the real codex asks for: seen with everything they are about, and answered by meaning.

use coop_client::v1;

use crate::permission::{self, Manner};
use crate::world::Setup;

/// A model that codex gives its tool for edits, and no dialog about a newer one.
const EDITING: [&str; 4] = ["-m", "gpt-5.5", "-c", "notice.model_migrations={\"gpt-5.5\"=\"gpt-6-sol\"}"];

#[tokio::test]
async fn a_command_is_shown_whole_and_allowed() {
    let manner = Manner { tool: "Bash", yes: "Yes, proceed (y)", via: "keys" };
    permission::a_command_is_shown_whole_and_allowed(Setup::codex(), manner).await;
}

#[tokio::test]
async fn a_denied_command_never_runs_and_ends_the_turn() {
    permission::a_denied_command_never_runs_and_ends_the_turn(Setup::codex()).await;
}

#[tokio::test]
async fn two_in_a_row_are_two_prompts_and_a_late_answer_reaches_neither() {
    permission::two_are_two_prompts_and_a_late_answer_reaches_neither(Setup::codex(), "").await;
}

#[tokio::test]
async fn a_message_at_a_dialog_is_refused_and_approves_nothing() {
    permission::a_message_at_a_dialog_is_refused_and_approves_nothing(Setup::codex()).await;
}

#[tokio::test]
async fn always_allowing_a_command_asks_no_more() {
    let Some(mut world) = Setup::codex().idle().await else { return };
    let calls = [(); 2].map(|()| world.shell_call("touch made"));
    permission::allowed_for_good(&mut world, "Bash", calls, "Yes, and don't ask again for commands").await;
    assert!(world.workspace().join("made").exists());
}

#[tokio::test]
async fn edits_are_asked_about_once_for_each_file() {
    let Some(mut world) = Setup::codex().args(&EDITING).args(&["-s", "read-only"]).idle().await else {
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
    world.decline().await;
    world.wait_state("idle").await;
    world.nudge(&format!("{} #say once", patch("once", "x"))).await.expect("taken");
    world.wait_prompt().await;
    world.accept().await;
    world.hear("once").await;
    world.wait_state("idle").await;
    assert!(world.workspace().join("once").exists());
    let calls = [patch("made", "first"), patch("made", "second")];
    permission::allowed_for_good(
        &mut world,
        "apply_patch",
        calls,
        "Yes, and don't ask again for these files",
    )
    .await;
    assert!(!world.workspace().join("denied").exists());
    assert!(world.workspace().join("made").exists());
    assert_eq!(world.states().iter().filter(|state| *state == "prompt").count(), 3, "{:?}", world.states());
}

#[tokio::test]
async fn without_hooks_it_works_as_well_and_says_so() {
    for setup in
        [Setup::codex().coop(&["--groom", "pristine"]), Setup::codex().args(&["-c", "hooks.Stop=[]"])]
    {
        let Some(mut world) = setup.idle().await else { return };
        let reason = world.explain().await.reason;
        assert!(reason.contains("no hooks are heard"), "{reason}");
        world.nudge(&format!("{} #say done", world.shell_call("touch made"))).await.expect("taken");
        let prompt = world.wait_prompt().await;
        assert_eq!((prompt.r#type.as_str(), prompt.tool.as_deref()), ("permission", Some("Bash")));
        // The log has the input, and may be written after the dialog is drawn.
        let input = |agent: &v1::GetAgentStateResponse| agent.prompt.as_ref()?.input_full.clone();
        let input = world.wait_for("the input of the tool", input).await;
        assert!(input.contains("touch made"), "{input}");
        world.accept().await;
        world.hear("done").await;
        world.wait_state("idle").await;
        world.nudge(&world.shell_call("touch never")).await.expect("taken");
        world.wait_prompt().await;
        world.decline().await;
        world.wait_state("idle").await;
        assert!(world.workspace().join("made").exists() && !world.workspace().join("never").exists());
    }
}
