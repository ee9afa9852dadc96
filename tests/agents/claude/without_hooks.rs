//! Claude without coop's hooks, interactive or printing JSON.

use crate::harness::Setup;
use crate::without_hooks;

#[tokio::test]
async fn state_comes_from_log_status_file_title_and_screen() {
    let Some(mut session) = Setup::claude().coop(&["--groom", "pristine"]).idle().await else {
        return;
    };
    without_hooks::messages_permission_and_interrupt_work(&mut session, "Bash").await;
    session.nudge("#status 401 #status 401 #status 401").await.expect("taken");
    let error = session.wait_state("error").await;
    assert_eq!(error.error_category.as_deref(), Some("unauthorized"));
    let votes = session.explain().await.votes;
    assert!(votes.iter().all(|vote| vote.tier != "hooks"), "{votes:?}");
    assert!(votes.iter().any(|vote| vote.tier == "session_log"), "{votes:?}");
}

/// Without hooks, title and status file: only the log and the screen are left.
#[tokio::test]
async fn state_comes_from_log_and_screen_alone() {
    let setup = Setup::claude().coop(&["--groom", "pristine", "--only-log-and-screen"]);
    let Some(mut session) = setup.idle().await else { return };
    without_hooks::messages_permission_and_interrupt_work(&mut session, "Bash").await;
    session.nudge("#status 500 #status 500 #status 500").await.expect("taken");
    assert_eq!(session.wait_state("error").await.error_category.as_deref(), Some("server_error"));
    let tiers: Vec<String> =
        session.explain().await.votes.into_iter().map(|vote| vote.tier).collect();
    assert!(tiers.iter().all(|tier| tier == "session_log" || tier == "screen"), "{tiers:?}");
}

#[tokio::test]
async fn printed_json_reports_the_state() {
    let print = |prompt: &str| {
        Setup::claude().args(&["-p", prompt, "--output-format", "stream-json", "--verbose"])
    };
    if without_hooks::printed_json_reports_the_state(print).await.is_some() {
        without_hooks::a_printed_failure_is_an_error(print).await;
    }
}
