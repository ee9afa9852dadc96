//! One connection's worth of attach: what the person types goes one way, what the session shows
//! the other, and neither waits for the other. Whether to connect again is decided elsewhere.

use std::collections::VecDeque;
use std::time::Duration;

use coop_client::v1;
use coop_client::v1::attach_request::Message as Asked;
use coop_client::v1::attach_response::Message as Told;
use tokio::sync::mpsc;
use tokio::time::{Instant, Interval, MissedTickBehavior, interval_at};
use tonic::Streaming;

use super::failure::Failure;
use super::local;
use super::person::{Person, Turn};
use crate::error::Code;

/// A lease is renewed well within its 30 seconds.
const RENEWAL: Duration = Duration::from_secs(10);

/// Why a sitting is over.
#[derive(Debug)]
pub(super) enum Ending {
    Exited(v1::ExitEvent),
    Detached,
    /// This signal came.
    Quit(u8),
    /// coop ended the stream without an exit: it goes.
    Closed,
    /// Nobody sees what is drawn.
    Unseen,
    Failed(Failure),
}

/// One attached stream.
pub(super) struct Sitting {
    requests: mpsc::Sender<v1::AttachRequest>,
    answers: Streaming<v1::AttachResponse>,
    /// Whether the session follows this terminal's size.
    resizes: bool,
    /// The size that was asked for last.
    size: Option<v1::TerminalSize>,
    /// Ticks when the lease is to be renewed, if it is wanted.
    renewals: Option<Interval>,
    waiting: VecDeque<Asked>,
    /// Whether everything typed has been followed by the question that tells when it was taken.
    asked_last: bool,
    /// The code of the last refusal that the person was told.
    told_of: String,
}

impl Sitting {
    pub(super) fn new(
        requests: mpsc::Sender<v1::AttachRequest>,
        answers: Streaming<v1::AttachResponse>,
        resizes: bool,
        size: Option<v1::TerminalSize>,
        lock: bool,
    ) -> Self {
        let renewals = lock.then(|| {
            let mut renewals = interval_at(Instant::now() + RENEWAL, RENEWAL);
            renewals.set_missed_tick_behavior(MissedTickBehavior::Delay);
            renewals
        });
        let waiting = if lock { VecDeque::from([lease()]) } else { VecDeque::new() };
        Self {
            requests,
            answers,
            resizes,
            size,
            renewals,
            waiting,
            asked_last: false,
            told_of: String::new(),
        }
    }

    /// Sits until something ends it.
    pub(super) async fn hold(mut self, person: &mut Person) -> Ending {
        // Nobody may have listened when the size changed since it was asked for.
        self.follow_size();
        loop {
            self.plan(person);
            let asking = !self.waiting.is_empty();
            let listening = person.keeps_up();
            let ending = tokio::select! {
                turn = person.turn() => self.follow(turn),
                () = ask(&self.requests, &mut self.waiting), if asking => None,
                told = self.answers.message(), if listening => match told {
                    Ok(Some(told)) => told.message.and_then(|told| self.hear(told, person)),
                    Ok(None) => Some(Ending::Closed),
                    Err(status) => Some(Ending::Failed(status.into())),
                },
                () = tick(&mut self.renewals) => {
                    self.waiting.push_back(lease());
                    None
                }
            };
            if let Some(ending) = ending {
                return ending;
            }
        }
    }

    /// What was typed is sent in one piece as soon as everything before it is.
    fn plan(&mut self, person: &mut Person) {
        if !self.waiting.is_empty() {
            return;
        }
        if let Some(typed) = person.take_typed() {
            self.waiting.push_back(Asked::Input(typed));
        } else if person.has_finished() && !self.asked_last {
            // Requests are taken in order, so the refusal of a size that no terminal has says
            // that everything before it has been written.
            self.asked_last = true;
            self.waiting.push_back(Asked::Resize(v1::ResizeRequest { cols: 0, rows: 0 }));
        }
    }

    fn follow(&mut self, turn: Turn) -> Option<Ending> {
        match turn {
            Turn::Progress => {}
            Turn::Resize => self.follow_size(),
            Turn::Leave(ending) => return Some(ending),
        }
        None
    }

    fn follow_size(&mut self) {
        let size = local::size().filter(|_| self.resizes);
        if size != self.size {
            self.size = size;
            let asked =
                size.map(|size| Asked::Resize(v1::ResizeRequest { cols: size.cols, rows: size.rows }));
            self.waiting.extend(asked);
        }
    }

    fn hear(&mut self, told: Told, person: &mut Person) -> Option<Ending> {
        match told {
            Told::Snapshot(snapshot) => person.redraw(&snapshot),
            Told::Output(chunk) => person.show(&chunk.data),
            Told::Exit(exit) => return Some(Ending::Exited(exit)),
            Told::Error(error) if self.asked_last && error.code == Code::BadRequest.as_str() => {
                return Some(Ending::Detached);
            }
            Told::Error(error) => self.complain(error, person),
            Told::Lease(_) => self.told_of.clear(),
            // What these change is part of what is drawn.
            Told::Resize(_) | Told::State(_) | Told::Restart(_) => {}
        }
        None
    }

    /// Each refusal once: a person who goes on typing knows.
    fn complain(&mut self, error: v1::AttachError, person: &mut Person) {
        if error.code != self.told_of {
            person.notice(&format!("{}: {}", error.code, error.message));
            self.told_of = error.code;
        }
    }
}

fn lease() -> Asked {
    Asked::Lease(v1::AttachLease { acquire: true, ttl_ms: None })
}

/// Sends what waits first, once there is room; nothing is lost if this is given up.
async fn ask(requests: &mpsc::Sender<v1::AttachRequest>, waiting: &mut VecDeque<Asked>) {
    let room = requests.reserve().await;
    // Without room the stream has ended, and its last answer says why.
    if let (Ok(room), Some(asked)) = (room, waiting.pop_front()) {
        room.send(v1::AttachRequest { message: Some(asked) });
    }
}

async fn tick(renewals: &mut Option<Interval>) {
    match renewals {
        Some(renewals) => {
            renewals.tick().await;
        }
        None => std::future::pending().await,
    }
}
