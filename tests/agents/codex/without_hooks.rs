//! Codex that prints JSON: its state comes from its output.

use crate::harness::Setup;
use crate::without_hooks;

#[tokio::test]
async fn printed_json_reports_the_state() {
    let print = |prompt: &str| {
        Setup::codex().only_args(&["exec", "--json", "--skip-git-repo-check", prompt])
    };
    if without_hooks::printed_json_reports_the_state(print).await.is_some() {
        without_hooks::a_printed_failure_is_an_error(print).await;
    }
}
