//! Gemini without coop's hooks, and gemini that prints: the other sources carry the state alone.

use crate::bare;
use crate::world::Setup;

#[tokio::test]
async fn without_hooks_title_log_and_screen_tell() {
    let Some(mut world) = Setup::gemini().coop(&["--groom", "pristine"]).idle().await else { return };
    assert!(!world.home().join(".gemini/extensions/coop-hooks").exists());
    let reason = world.explain().await.reason;
    assert!(reason.contains("no hooks are heard"), "{reason}");
    bare::all_goes_on(&mut world, "run_shell_command").await;
    let votes = world.explain().await.votes;
    assert!(votes.iter().all(|vote| vote.tier != "hooks"), "{votes:?}");
    assert!(votes.iter().any(|vote| vote.tier == "terminal"), "{votes:?}");
}

fn print(prompt: &str) -> Setup {
    Setup::gemini().args(&["-p", prompt, "-o", "stream-json"])
}

#[tokio::test]
async fn what_gemini_prints_tells_as_well() {
    let Some(working) = bare::what_it_prints_tells_as_well(print).await else { return };
    assert_eq!(working.detection_tier, "stdout");
    bare::a_printed_failure_is_an_error(print).await;
}
