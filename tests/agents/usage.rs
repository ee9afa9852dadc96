//! What an agent's model has used is counted once, in the same terms whichever agent it is, and over its restarts.

use coop_client::v1;
use coop_client::v1::event::Payload;

use crate::world::{Setup, World, until};

/// What the fake model says that each of its answers has used, with nothing written to its cache.
const EACH: v1::GetUsageResponse = v1::GetUsageResponse {
    input_tokens: 10,
    output_tokens: 5,
    cache_read_tokens: 7,
    cache_write_tokens: 0,
    cost_usd: None,
    requests: 1,
};
/// What it says that it has written to its cache.
const WRITTEN: u64 = 3;

async fn usage(world: &mut World) -> v1::GetUsageResponse {
    world.client().get_usage(v1::GetUsageRequest {}).await.expect("told").into_inner()
}

/// Waits until so many answers are counted, and compares the numbers with what they must be.
async fn counted(world: &mut World, requests: u64, cache_write: u64) {
    let what = format!("{requests} answers of the model are counted");
    let used = until(&what, async || Some(usage(world).await).filter(|used| used.requests >= requests)).await;
    let wanted = v1::GetUsageResponse {
        input_tokens: requests * EACH.input_tokens,
        output_tokens: requests * EACH.output_tokens,
        cache_read_tokens: requests * EACH.cache_read_tokens,
        cache_write_tokens: requests * cache_write,
        requests,
        ..EACH
    };
    assert_eq!(used, wanted);
}

async fn is_counted(setup: Setup, cache_write: u64) {
    let Some(mut world) = setup.idle().await else { return };
    assert_eq!(usage(&mut world).await, v1::GetUsageResponse::default());
    world.echoes("one").await;
    counted(&mut world, 1, cache_write).await;

    // The words and the tool are one answer, and two lines in some logs.
    let call = format!("#say Let me see. {} #say all made", world.shell_call("touch made"));
    let nudged = world.nudge(&call).await.expect("taken");
    world.wait_prompt().await;
    world.accept().await;
    world.hear("all made").await;
    let idle = world.wait_state_after(nudged.seq, "idle").await;
    counted(&mut world, 3, cache_write).await;

    let again = v1::RestartSessionRequest { force: true };
    world.client().restart_session(again).await.expect("restarted");
    world.wait_state_after(idle.since_seq, "idle").await;
    world.echoes("anew").await;
    counted(&mut world, 4, cache_write).await;

    let told = |event: &v1::Event| match &event.payload {
        Some(Payload::Usage(used)) => Some(used.requests),
        _ => None,
    };
    let events = until("the last count is an event", async || {
        Some(world.events()).filter(|events| events.iter().rev().find_map(told) == Some(4))
    });
    let mut counts: Vec<_> = events.await.iter().filter_map(told).collect();
    counts.dedup();
    assert_eq!(counts, [1, 2, 3, 4]);
}

#[tokio::test]
async fn of_claude() {
    is_counted(Setup::claude(), WRITTEN).await;
}

#[tokio::test]
async fn of_codex() {
    is_counted(Setup::codex(), WRITTEN).await;
}

#[tokio::test]
async fn of_gemini() {
    is_counted(Setup::gemini(), 0).await;
}
