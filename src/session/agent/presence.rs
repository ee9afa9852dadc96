//! What follows for the session when the agent's process ends or loses the terminal: nothing more
//! is typed, and tasks end. It does not know how that is found out.

use std::time::{Duration, Instant};

use super::{AgentSession, Context};
use crate::driver::evidence::Finding;
use crate::driver::presence::Presence;
use crate::error::{Code, Error};
use crate::session::actor::Effect;
use crate::session::clock::Now;

/// How often the agent's process is searched for at most, and how long a sign of it counts.
const SEARCH_INTERVAL: Duration = Duration::from_secs(1);
/// How many signs are kept until the process is found.
const MAX_SIGNS: usize = 16;

/// What the terminal says while it is not known which process the agent is.
#[derive(Debug, Default)]
pub(super) struct AgentSearch {
    /// What it said since the last agent ended, perhaps of the next one.
    signs: Vec<(Instant, Finding)>,
    wanted: bool,
    /// No search before this.
    after: Option<Instant>,
}

impl AgentSearch {
    /// When the next search is due.
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.after.filter(|_| self.wanted)
    }
}

impl AgentSession {
    /// What the agent sends to its terminal is a sign of its process, which has the terminal then.
    pub(super) fn see_signs(&mut self, now: Now, signalled: &[Finding]) {
        let is_sign = |finding: &Finding| matches!(finding, Finding::Evidence(_));
        let presence = self.tracker.presence();
        let unknown = matches!(presence, Presence::Unbound | Presence::Gone);
        if !unknown || !signalled.iter().any(is_sign) {
            return;
        }
        if presence == Presence::Gone {
            // They count once the process that gave them is found.
            self.search.signs.retain(|(at, _)| now.steady.duration_since(*at) < SEARCH_INTERVAL);
            self.search.signs.extend(signalled.iter().map(|finding| (now.steady, finding.clone())));
            self.search.signs.truncate(MAX_SIGNS);
        }
        self.search.wanted = true;
    }

    /// Searches for the agent's process if there was a sign of it.
    pub(super) fn search_agent(&mut self, now: Now, context: &mut Context) {
        if self.search.wanted && self.search.after.is_none_or(|after| after <= now.steady) {
            self.search.wanted = false;
            self.search.after = Some(now.steady + SEARCH_INTERVAL);
            context.effects.push(Effect::FindAgent);
        }
    }

    /// The agent's process has started or ended, or the terminal's foreground has changed.
    pub(in crate::session) fn set_presence(
        &mut self,
        now: Now,
        presence: Presence,
        context: &mut Context,
    ) {
        if self.tracker.presence().absence().is_some() {
            self.screen_changed(now);
        }
        self.tracker.set_presence(now.steady, presence);
        if presence == Presence::Gone {
            self.status.forget();
        }
        let Some(cause) = presence.absence() else {
            let signs = std::mem::take(&mut self.search.signs);
            let recent = |(at, finding)| {
                (now.steady.duration_since(at) < SEARCH_INTERVAL).then_some(finding)
            };
            self.take(now, signs.into_iter().filter_map(recent), context);
            return;
        };
        context.typist.drop_task_writes();
        let state = self.tracker.verdict().situation.state();
        let message =
            format!("{}; another program may have got what was typed last", presence.explain());
        let error = Error::new(Code::AgentBusy, message).with("cause", cause);
        match presence {
            // Queued messages were for the agent that has ended.
            Presence::Gone => self.tasks.cancel_all(now, state, &error, context.publisher),
            _ => self.tasks.cancel_running(now, state, &error, context.publisher),
        }
    }
}
