//! What every test needs: a running coop, ways to talk to it, and waiting for things with a
//! deadline.

pub mod api;
pub mod coop;
pub mod grpc;
pub mod http;
pub mod inside;
pub mod puppet;
pub mod session;
pub mod sse;
pub mod verb;
pub mod ws;

use std::time::Duration;

use tokio::time::{Instant, timeout};

/// Nothing in a test takes this long unless it never comes.
pub const DEADLINE: Duration = Duration::from_secs(30);

/// Waits for a future that must not hang.
pub async fn soon<T>(what: &str, future: impl Future<Output = T>) -> T {
    match timeout(DEADLINE, future).await {
        Ok(value) => value,
        Err(_) => panic!("waited {DEADLINE:?} in vain for {what}"),
    }
}

/// Looks again and again until `probe` finds what it looks for.
pub async fn until<T>(what: &str, mut probe: impl AsyncFnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + DEADLINE;
    loop {
        if let Some(found) = probe().await {
            return found;
        }
        assert!(Instant::now() < deadline, "waited {DEADLINE:?} in vain for {what}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}
