//! Token usage is counted once per response, in the same terms for every agent, and across
//! restarts.

use coop_client::v1;
use coop_client::v1::event::Payload;

use crate::harness::{Setup, TestSession, poll_until};

/// The usage of each response of the fake model, without cache writes.
const EACH: v1::GetUsageResponse = v1::GetUsageResponse {
    input_tokens: 10,
    output_tokens: 5,
    cache_read_tokens: 7,
    cache_write_tokens: 0,
    cost_usd: None,
    requests: 1,
};
/// The tokens that each response writes to the cache.
const WRITTEN: u64 = 3;

async fn usage(session: &mut TestSession) -> v1::GetUsageResponse {
    session.client().get_usage(v1::GetUsageRequest {}).await.expect("the usage").into_inner()
}

/// Waits until this many responses are counted, and compares the totals.
async fn counted(session: &mut TestSession, requests: u64, cache_write: u64) {
    let what = format!("{requests} responses of the model are counted");
    let used = poll_until(&what, async || {
        Some(usage(session).await).filter(|used| used.requests >= requests)
    })
    .await;
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
    let Some(mut session) = setup.idle().await else { return };
    assert_eq!(usage(&mut session).await, v1::GetUsageResponse::default());
    session.round_trip("one").await;
    counted(&mut session, 1, cache_write).await;

    // The text and the tool call are one response, but two lines in some logs.
    let call = format!("#say Let me see. {} #say all made", session.shell_call("touch made"));
    let nudged = session.nudge(&call).await.expect("taken");
    session.wait_prompt().await;
    session.accept().await;
    session.wait_reply("all made").await;
    let idle = session.wait_state_after(nudged.seq, "idle").await;
    counted(&mut session, 3, cache_write).await;

    let again = v1::RestartSessionRequest { force: true };
    session.client().restart_session(again).await.expect("restarted");
    session.wait_state_after(idle.since_seq, "idle").await;
    session.round_trip("anew").await;
    counted(&mut session, 4, cache_write).await;

    let requests = |event: &v1::Event| match &event.payload {
        Some(Payload::Usage(used)) => Some(used.requests),
        _ => None,
    };
    let events = poll_until("the last count is an event", async || {
        Some(session.events()).filter(|events| events.iter().rev().find_map(requests) == Some(4))
    });
    let mut counts: Vec<_> = events.await.iter().filter_map(requests).collect();
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
