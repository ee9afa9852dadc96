//! `coop shutdown`: asks coop to shut down, and waits until it has.

use std::time::Duration;

use coop_client::v1;
use tokio::time::{Instant, MissedTickBehavior, interval, timeout_at};

use super::failure::Failure;
use super::{Endpoint, call, print};

/// coop's own default for how long the child may take.
const GRACE: Duration = Duration::from_secs(10);
/// How long coop may take after that for its last output and its exit.
const AFTER_GRACE: Duration = Duration::from_secs(15);
/// How often to check whether it has exited, once its streams have ended.
const CHECK_INTERVAL: Duration = Duration::from_millis(20);

pub(super) async fn run(
    endpoint: &Endpoint,
    grace: Option<Duration>,
    json: bool,
) -> Result<(), Failure> {
    let grace_ms = grace.map(|grace| i32::try_from(grace.as_millis())).transpose();
    let grace_ms = grace_ms.map_err(|_| Failure::Usage("--grace is too long".to_owned()))?;
    let mut coop = endpoint.connect().await?;
    let epoch = call(coop.get_health(v1::GetHealthRequest {})).await?.epoch;
    // The stream ends first; before that, checking is useless.
    let mut events = call(coop.stream_events(v1::StreamEventsRequest::default())).await?;
    let response = call(coop.shutdown(v1::ShutdownRequest { grace_ms })).await?;

    let limit = grace.unwrap_or(GRACE) + AFTER_GRACE;
    let gone = async {
        while let Ok(Some(_)) = events.message().await {}
        let mut checks = interval(CHECK_INTERVAL);
        checks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        while is_running(endpoint, epoch).await {
            checks.tick().await;
        }
    };
    match timeout_at(Instant::now() + limit, gone).await {
        Ok(()) => print::json_if(json, &response),
        Err(_) => Err(Failure::Refused {
            code: "TIMEOUT".to_owned(),
            message: format!(
                "coop is still running {} s after the request to shut down",
                limit.as_secs()
            ),
        }),
    }
}

/// Whether the same coop still answers; another one may have taken its address.
async fn is_running(endpoint: &Endpoint, epoch: u64) -> bool {
    let Ok(mut coop) = endpoint.connect().await else { return false };
    call(coop.get_health(v1::GetHealthRequest {})).await.is_ok_and(|health| health.epoch == epoch)
}
