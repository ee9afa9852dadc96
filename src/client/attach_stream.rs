//! One Attach stream: sends the user's input and shows the session's output, neither of which waits
//! for the other. Reconnecting is decided in `attach`.

use std::collections::VecDeque;
use std::time::Duration;

use coop_client::v1;
use coop_client::v1::attach_request::Message as ClientMessage;
use coop_client::v1::attach_response::Message as ServerMessage;
use tokio::sync::mpsc;
use tokio::time::{Instant, Interval, MissedTickBehavior, interval_at, sleep_until};
use tonic::Streaming;

use super::failure::Failure;
use super::raw_terminal;
use super::user::{Turn, User};

/// A lease is renewed well within its 30 seconds.
const RENEWAL: Duration = Duration::from_secs(10);

/// The id of the barrier behind the last input.
const LAST_INPUT: u64 = 1;

/// How long coop may make no progress before it acknowledges the barrier. A coop of an older
/// version ignores the barrier.
const BARRIER_TIMEOUT: Duration = Duration::from_secs(30);

/// Why an attach stream is over.
#[derive(Debug)]
pub(super) enum Ending {
    Exited(v1::ExitEvent),
    Detached,
    /// coop attach received this signal.
    Quit(u8),
    /// coop ended the stream without an exit, because it shuts down.
    Closed,
    /// Stdout was closed.
    OutputClosed,
    Failed(Failure),
}

/// An open Attach stream.
pub(super) struct AttachStream {
    requests: mpsc::Sender<v1::AttachRequest>,
    responses: Streaming<v1::AttachResponse>,
    /// Whether the session follows this terminal's size.
    resizes: bool,
    /// The size that was sent last.
    size: Option<v1::TerminalSize>,
    /// Ticks when the lease must be renewed; None without a lease.
    renewals: Option<Interval>,
    waiting: VecDeque<ClientMessage>,
    barrier: Barrier,
    /// The code of the last refusal that the user was shown.
    shown_refusal: String,
}

impl AttachStream {
    pub(super) fn new(
        requests: mpsc::Sender<v1::AttachRequest>,
        responses: Streaming<v1::AttachResponse>,
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
            responses,
            resizes,
            size,
            renewals,
            waiting,
            barrier: Barrier::default(),
            shown_refusal: String::new(),
        }
    }

    /// Runs until the stream or the user ends it.
    pub(super) async fn run(mut self, user: &mut User) -> Ending {
        // The size may have changed since it was sent.
        self.update_size();
        loop {
            self.queue_input(user);
            let sends = !self.waiting.is_empty();
            let reads = user.keeps_up();
            let ending = tokio::select! {
                turn = user.turn() => self.user_turn(turn),
                () = send_first(&self.requests, &mut self.waiting), if sends => {
                    self.barrier.postpone_deadline();
                    None
                }
                response = self.responses.message(), if reads => match response {
                    Ok(Some(response)) => {
                        self.barrier.postpone_deadline();
                        response.message.and_then(|message| self.receive(message, user))
                    }
                    Ok(None) => Some(Ending::Closed),
                    Err(status) => Some(Ending::Failed(status.into())),
                },
                () = self.barrier.timed_out(), if reads => Some(Ending::Failed(unconfirmed())),
                () = tick(&mut self.renewals) => {
                    self.waiting.push_back(lease());
                    None
                }
            };
            if let Some(ending) = ending {
                return ending;
            }
            if !reads {
                // The acknowledgement may be among the responses that are not read yet.
                self.barrier.postpone_deadline();
            }
        }
    }

    /// Queues the typed input as one message, once all earlier messages are sent.
    fn queue_input(&mut self, user: &mut User) {
        if !self.waiting.is_empty() {
            return;
        }
        if let Some(typed) = user.take_typed() {
            self.waiting.push_back(ClientMessage::Input(typed));
        } else if user.has_finished() && !self.barrier.is_sent() {
            self.barrier.send();
            self.waiting.push_back(ClientMessage::Barrier(v1::AttachBarrier { id: LAST_INPUT }));
        }
    }

    fn user_turn(&mut self, turn: Turn) -> Option<Ending> {
        match turn {
            Turn::Progress => {}
            Turn::Resize => self.update_size(),
            Turn::Leave(ending) => return Some(ending),
        }
        None
    }

    fn update_size(&mut self) {
        let size = raw_terminal::size().filter(|_| self.resizes);
        if size != self.size {
            self.size = size;
            let resize = size.map(|size| {
                ClientMessage::Resize(v1::ResizeRequest { cols: size.cols, rows: size.rows })
            });
            self.waiting.extend(resize);
        }
    }

    fn receive(&mut self, message: ServerMessage, user: &mut User) -> Option<Ending> {
        match message {
            ServerMessage::Snapshot(snapshot) => user.redraw(&snapshot),
            ServerMessage::Output(chunk) => user.show(&chunk.data),
            ServerMessage::Exit(exit) => return Some(Ending::Exited(exit)),
            // Everything typed has been written, or refused.
            ServerMessage::Barrier(barrier) if barrier.id == LAST_INPUT => {
                return Some(Ending::Detached);
            }
            ServerMessage::Barrier(_) => {}
            ServerMessage::Error(error) => self.show_refusal(error, user),
            ServerMessage::Lease(_) => self.shown_refusal.clear(),
            // The snapshots and the output show these changes.
            ServerMessage::Resize(_) | ServerMessage::State(_) | ServerMessage::Restart(_) => {}
        }
        None
    }

    /// Shows each refusal once, while the user goes on typing.
    fn show_refusal(&mut self, error: v1::AttachError, user: &mut User) {
        if error.code != self.shown_refusal {
            user.notice(&format!("{}: {}", error.code, error.message));
            self.shown_refusal = error.code;
        }
    }
}

/// The barrier behind the last input: coop acknowledges it once everything typed has been written
/// or refused.
#[derive(Debug, Default)]
struct Barrier {
    /// When the wait for the acknowledgement ends; None before the barrier is sent.
    deadline: Option<Instant>,
}

impl Barrier {
    fn is_sent(&self) -> bool {
        self.deadline.is_some()
    }

    fn send(&mut self) {
        self.deadline = Some(Instant::now() + BARRIER_TIMEOUT);
    }

    /// The connection made progress, so the wait starts again.
    fn postpone_deadline(&mut self) {
        if self.is_sent() {
            self.send();
        }
    }

    /// Waits for the deadline; for ever before the barrier is sent.
    async fn timed_out(&self) {
        match self.deadline {
            Some(deadline) => sleep_until(deadline).await,
            None => std::future::pending().await,
        }
    }
}

fn unconfirmed() -> Failure {
    let seconds = BARRIER_TIMEOUT.as_secs();
    Failure::Unconfirmed(format!("coop did not confirm the last input within {seconds} s"))
}

fn lease() -> ClientMessage {
    ClientMessage::Lease(v1::AttachLease { acquire: true, ttl_ms: None })
}

/// Sends the first waiting message once there is room; cancelling it loses nothing.
async fn send_first(
    requests: &mpsc::Sender<v1::AttachRequest>,
    waiting: &mut VecDeque<ClientMessage>,
) {
    let room = requests.reserve().await;
    // If the channel is closed the stream has ended, and its last response has the reason.
    if let (Ok(room), Some(message)) = (room, waiting.pop_front()) {
        room.send(v1::AttachRequest { message: Some(message) });
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

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::time::{advance, timeout};

    #[tokio::test(start_paused = true)]
    async fn the_wait_for_the_barrier_ends_once_there_is_no_progress() {
        let mut barrier = Barrier::default();
        let hour = Duration::from_secs(3600);
        barrier.postpone_deadline();
        assert!(timeout(hour, barrier.timed_out()).await.is_err(), "the barrier is not sent yet");

        barrier.send();
        advance(BARRIER_TIMEOUT / 2).await;
        barrier.postpone_deadline();
        let progress = Instant::now();
        timeout(hour, barrier.timed_out()).await.expect("the wait ends");
        assert_eq!(progress.elapsed(), BARRIER_TIMEOUT);
        assert_eq!(
            unconfirmed().text().unwrap(),
            "coop did not confirm the last input within 30 s"
        );
    }
}
