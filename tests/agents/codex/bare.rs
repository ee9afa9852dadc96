//! Codex that prints: what it prints tells its state.

use crate::bare;
use crate::world::Setup;

#[tokio::test]
async fn what_codex_prints_tells_as_well() {
    let print = |prompt: &str| Setup::codex().only_args(&["exec", "--json", "--skip-git-repo-check", prompt]);
    if bare::what_it_prints_tells_as_well(print).await.is_some() {
        bare::a_printed_failure_is_an_error(print).await;
    }
}
