//! Records what coop does itself, without a call: answers to set-up dialogs, and the end of a
//! session by a time-out. It reads them from the event log.

use super::super::caller::Caller;
use super::super::streams::Next;
use super::super::{Service, convert};
use crate::session::by::By;
use crate::session::event::{EventKind, EventSeq};

impl Service {
    /// Follows the event log until coop ends.
    pub async fn record_own_acts(self) {
        if self.audit.shared.is_none() {
            return;
        }
        let coop = Caller::unauthenticated("coop".into(), By::Coop);
        let mut events = self.event_cursor(EventSeq(0));
        loop {
            let event = match events.next().await {
                Next::Event(event) if event.by == Some(By::Coop) => event,
                Next::Event(_) | Next::Gap(_) | Next::Heartbeat(_) => continue,
                Next::Closed => return,
            };
            let outcome = match &event.kind {
                EventKind::Respond(respond) => respond.outcome.as_str(),
                EventKind::Restart(restart) => restart.reason.as_str(),
                EventKind::Shutdown(reason) => reason.as_str(),
                EventKind::Lease(lease) => lease.action.as_str(),
                EventKind::State(_)
                | EventKind::Prompt(_)
                | EventKind::Nudge(_)
                | EventKind::Interrupt(_)
                | EventKind::Signal(_)
                | EventKind::Env { .. }
                | EventKind::Usage(_)
                | EventKind::Exit { .. }
                | EventKind::Resize(_) => continue,
            };
            let call = convert::event_type(&event.kind).as_str();
            let Some(mut entry) = self.audit.entry(&coop, call) else { return };
            if let EventKind::Respond(respond) = &event.kind {
                entry.set("prompt_id", Some(respond.id.0.as_str()));
            }
            entry.end(outcome);
        }
    }
}
