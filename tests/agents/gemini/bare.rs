//! Gemini without coop's hooks, and gemini that prints: the other sources carry the state alone.

use super::{idle, shell, still_answers};
use crate::world::Setup;

#[tokio::test]
async fn without_hooks_title_log_and_screen_tell() {
    let Some(mut world) = idle(Setup::gemini().coop(&["--groom", "pristine"])).await else { return };
    assert!(!world.home().join(".gemini/extensions/coop-hooks").exists());
    for round in 0..3 {
        still_answers(&mut world, &format!("round {round}")).await;
    }
    world.nudge(&format!("{} #say allowed", shell("touch made"))).await.expect("taken");
    let prompt = world.wait_prompt().await;
    assert_eq!((prompt.r#type.as_str(), prompt.tool.as_deref()), ("permission", Some("run_shell_command")));
    world.accept().await;
    world.hear("allowed").await;
    world.wait_state("idle").await;
    world.nudge("#stream 3x0 #hold gate #say never").await.expect("taken");
    world.api.wait_held("gate").await;
    world.wait_state("working").await;
    assert!(world.interrupt().await.expect("an interrupt").delivered);
    world.wait_state("idle").await;
    let votes = world.explain().await.votes;
    assert!(votes.iter().all(|vote| vote.tier != "hooks"), "{votes:?}");
    assert!(votes.iter().any(|vote| vote.tier == "terminal"), "{votes:?}");
}

#[tokio::test]
async fn what_gemini_prints_tells_as_well() {
    let print = |prompt: &str| {
        Setup::gemini().args(&["-p", prompt, "-o", "stream-json"]).coop(&["--groom", "pristine"])
    };
    let Some(mut world) = print("#hold gate #say printed").start().await else { return };
    world.api.wait_held("gate").await;
    let working = world.wait_state("working").await;
    assert_eq!(working.detection_tier, "stdout");
    world.api.release("gate");
    world.wait_state("exited").await;
    assert_eq!(world.state().await.last_message.as_deref(), Some("printed"));

    let Some(mut world) = print("#status 401").start().await else { return };
    world.wait_state("exited").await;
    assert!(world.states().iter().any(|state| state == "error"), "{:?}", world.states());
}
