//! Helpers of all tests: a running coop, clients for it, and waiting with a deadline.

pub mod api;
pub mod child;
pub mod coop;
pub mod fake_agent;
pub mod grpc;
pub mod h2;
pub mod http;
pub mod session;
pub mod sse;
pub mod verb;
pub mod ws;

use std::time::Duration;

use tokio::time::{Instant, timeout};

/// A test that waits this long has failed.
pub const DEADLINE: Duration = Duration::from_secs(30);

/// Waits for a future that must not hang.
pub async fn soon<T>(what: &str, future: impl Future<Output = T>) -> T {
    match timeout(DEADLINE, future).await {
        Ok(value) => value,
        Err(_) => panic!("waited {DEADLINE:?} for {what}"),
    }
}

/// Repeats `probe` until it returns a value.
pub async fn until<T>(what: &str, mut probe: impl AsyncFnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + DEADLINE;
    loop {
        if let Some(found) = probe().await {
            return found;
        }
        assert!(Instant::now() < deadline, "waited {DEADLINE:?} for {what}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Whether the program is installed. If it is not, prints that it was not tested.
pub fn installed(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).any(|directory| directory.join(program).is_file());
    if !found {
        not_tested(&format!("{program} is not installed; run `make setup`"));
    }
    found
}

/// Prints that something was not tested, and why.
#[expect(clippy::print_stderr, reason = "the result must show what was not tested")]
pub fn not_tested(why: &str) {
    eprintln!("\n*** NOT TESTED: {why} ***\n");
}
