//! `coop shutdown`: asks coop to end, and waits until it has.

use std::time::Duration;

use coop_client::v1;
use tokio::time::{Instant, MissedTickBehavior, interval, timeout_at};

use super::failure::Failure;
use super::{Line, call, print};

/// coop's own default for how long the child may take.
const GRACE: Duration = Duration::from_secs(10);
/// What coop may take on top: its last output, its goodbyes, its exit.
const AFTER_GRACE: Duration = Duration::from_secs(15);
/// How often to look whether it is gone, once its streams have ended.
const LOOK: Duration = Duration::from_millis(20);

pub(super) async fn run(line: &Line, grace: Option<Duration>, json: bool) -> Result<(), Failure> {
    let grace_ms = grace.map(|grace| i32::try_from(grace.as_millis())).transpose();
    let grace_ms = grace_ms.map_err(|_| Failure::Usage("--grace is too long".to_owned()))?;
    let mut coop = line.connect().await?;
    let epoch = call(coop.get_health(v1::GetHealthRequest {})).await?.epoch;
    // Its end is the first sign; only then is it worth looking.
    let mut events = call(coop.stream_events(v1::StreamEventsRequest::default())).await?;
    let answer = call(coop.shutdown(v1::ShutdownRequest { grace_ms })).await?;

    let patience = grace.unwrap_or(GRACE) + AFTER_GRACE;
    let gone = async {
        while let Ok(Some(_)) = events.message().await {}
        let mut looks = interval(LOOK);
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        while is_there(line, epoch).await {
            looks.tick().await;
        }
    };
    match timeout_at(Instant::now() + patience, gone).await {
        Ok(()) => print::json_if(json, &answer),
        Err(_) => Err(Failure::Refused {
            code: "TIMEOUT".to_owned(),
            message: format!("coop was asked to end, and is still there after {} s", patience.as_secs()),
        }),
    }
}

/// Whether that same coop still answers; another one at its address is none of our business.
async fn is_there(line: &Line, epoch: u64) -> bool {
    let Ok(mut coop) = line.connect().await else { return false };
    call(coop.get_health(v1::GetHealthRequest {})).await.is_ok_and(|health| health.epoch == epoch)
}
