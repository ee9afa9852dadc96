//! Codex without coop's hooks: its state comes from its terminal, or from the JSON that it prints.

use crate::harness::Setup;
use crate::without_hooks;

/// Codex reports its status without being asked.
#[tokio::test]
async fn reports_in_the_terminal_give_the_state() {
    let Some(mut session) = Setup::codex().coop(&["--groom", "pristine"]).idle().await else {
        return;
    };
    session.round_trip("hello").await;
    let explained = session.explain().await;
    let votes = &explained.votes;
    assert!(votes.iter().any(|vote| vote.cause.starts_with("status:")), "{votes:?}");
    let [record] = &explained.program_status[..] else { panic!("{explained:?}") };
    assert_eq!(record.app, "codex");
    assert!(explained.refused_reports.is_empty(), "{explained:?}");
    session.nudge("#status 401 #status 401 #status 401").await.expect("taken");
    session.wait_state("error").await;
    // The report does not say why the turn failed; the log does, before or after it.
    session
        .wait_for("the category", |state| {
            state.error_category.clone().filter(|category| category == "unauthorized")
        })
        .await;
}

#[tokio::test]
async fn printed_json_reports_the_state() {
    let print = |prompt: &str| {
        Setup::codex().only_args(&["exec", "--json", "--skip-git-repo-check", prompt])
    };
    if without_hooks::printed_json_reports_the_state(print).await.is_some() {
        without_hooks::a_printed_failure_is_an_error(print).await;
    }
}
