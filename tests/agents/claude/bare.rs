//! Claude without coop's hooks, and claude that prints: the other sources carry the state alone.

use crate::bare;
use crate::world::Setup;

#[tokio::test]
async fn without_hooks_log_status_file_title_and_screen_tell() {
    let Some(mut world) = Setup::claude().coop(&["--groom", "pristine"]).idle().await else { return };
    bare::all_goes_on(&mut world, "Bash").await;
    world.nudge("#status 401 #status 401 #status 401").await.expect("taken");
    let error = world.wait_state("error").await;
    assert_eq!(error.error_category.as_deref(), Some("unauthorized"));
    let votes = world.explain().await.votes;
    assert!(votes.iter().all(|vote| vote.tier != "hooks"), "{votes:?}");
    assert!(votes.iter().any(|vote| vote.tier == "session_log"), "{votes:?}");
}

/// Neither hooks nor title nor status file: the log and the screen are all there is.
#[tokio::test]
async fn log_and_screen_alone_are_enough() {
    let setup = Setup::claude().coop(&["--groom", "pristine", "--only-log-and-screen"]);
    let Some(mut world) = setup.idle().await else { return };
    bare::all_goes_on(&mut world, "Bash").await;
    world.nudge("#status 500 #status 500 #status 500").await.expect("taken");
    assert_eq!(world.wait_state("error").await.error_category.as_deref(), Some("server_error"));
    let tiers: Vec<String> = world.explain().await.votes.into_iter().map(|vote| vote.tier).collect();
    assert!(tiers.iter().all(|tier| tier == "session_log" || tier == "screen"), "{tiers:?}");
}

#[tokio::test]
async fn what_claude_prints_tells_as_well() {
    let print =
        |prompt: &str| Setup::claude().args(&["-p", prompt, "--output-format", "stream-json", "--verbose"]);
    if bare::what_it_prints_tells_as_well(print).await.is_some() {
        bare::a_printed_failure_is_an_error(print).await;
    }
}
