//! Helpers for a session over gRPC: type, read the screen, and read all output.

use coop_client::{Client, Reason, v1};
use tonic::{Code, Status, Streaming};

use super::{soon, until};

/// Types a line and Enter.
pub async fn type_line(client: &mut Client, text: &str) {
    let request = v1::SendInputRequest { text: text.to_owned(), enter: true };
    soon("the line to be typed", client.send_input(request)).await.expect("typed");
}

/// The rows of the screen.
pub async fn rows(client: &mut Client) -> Vec<String> {
    client.get_screen(v1::GetScreenRequest::default()).await.expect("a screen").into_inner().lines
}

/// Waits until a row of the screen is exactly this.
pub async fn see(client: &mut Client, wanted: &str) {
    until(wanted, async || rows(client).await.iter().any(|row| row == wanted).then_some(())).await;
}

pub async fn status(client: &mut Client) -> v1::GetStatusResponse {
    soon("a status", client.get_status(v1::GetStatusRequest {}))
        .await
        .expect("a status")
        .into_inner()
}

/// The pid of the child, which must be running.
pub async fn child_pid(client: &mut Client) -> i32 {
    status(client).await.pid.expect("the child runs")
}

/// Waits for the child's exit and returns its code and signal.
pub async fn exited(client: &mut Client) -> (Option<i32>, Option<i32>) {
    until("the exit", async || {
        let status = status(client).await;
        (status.state == "exited").then_some((status.exit_code, status.exit_signal))
    })
    .await
}

/// Whether this process exists and is no zombie.
pub fn lives(pid: i32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with(['Z', 'X']))
}

/// Waits for a file that a child writes its pid to, on one line.
pub async fn pid_in(file: &std::path::Path) -> i32 {
    until("a pid in a file", async || {
        let text = std::fs::read_to_string(file).ok()?;
        text.strip_suffix('\n')?.parse().ok()
    })
    .await
}

/// The next event of this type; other events are skipped.
pub async fn event(events: &mut Streaming<v1::Event>, kind: &str) -> v1::Event {
    loop {
        let event = soon(kind, events.message()).await.expect("no error").expect("not the end");
        if event.r#type == kind {
            return event;
        }
    }
}

/// The remaining messages, and the error that the stream ends with.
pub async fn rest<T>(stream: &mut Streaming<T>) -> (Vec<T>, Option<Status>) {
    let mut messages = Vec::new();
    loop {
        match soon("the end of a stream", stream.message()).await {
            Ok(Some(message)) => messages.push(message),
            Ok(None) => return (messages, None),
            Err(status) => return (messages, Some(status)),
        }
    }
}

/// The reason in a status of coop.
pub fn refusal(status: &Status) -> Reason {
    coop_client::reason(status).unwrap_or_else(|| panic!("{status:?} is not an error of coop"))
}

/// Whether a stream ended because coop shuts down.
pub fn is_shutdown(status: &Status) -> bool {
    status.code() == Code::Unavailable && refusal(status).code == "NOT_READY"
}

/// One reader of output, which records everything and checks that the offsets are continuous.
pub struct Recording {
    stream: Streaming<v1::OutputChunk>,
    pub first: v1::OutputChunk,
    /// The expected offset of the next byte.
    pub next: u64,
    pub skipped: u64,
    pub bytes: Vec<u8>,
}

impl Recording {
    /// Records from the oldest byte that coop keeps.
    pub async fn record(client: &mut Client) -> Self {
        Self::from(client, v1::StreamOutputRequest::default()).await
    }

    pub async fn from(client: &mut Client, request: v1::StreamOutputRequest) -> Self {
        let mut stream =
            soon("a stream", client.stream_output(request)).await.expect("a stream").into_inner();
        let first = soon("the first message", stream.message())
            .await
            .expect("a message")
            .expect("not the end");
        assert!(first.data.is_empty() && first.epoch > 0, "{first:?}");
        Self { stream, next: first.offset, first, skipped: 0, bytes: Vec::new() }
    }

    /// The next chunk, which must follow the one before; `None` at the end.
    pub async fn chunk(&mut self) -> Option<v1::OutputChunk> {
        let chunk = soon(&format!("output at {}", self.next), self.stream.message())
            .await
            .expect("no error")?;
        assert_eq!(chunk.offset, self.next + chunk.skipped, "offsets are continuous");
        assert_eq!(chunk.next_offset, chunk.offset + chunk.data.len() as u64);
        self.next = chunk.next_offset;
        self.skipped += chunk.skipped;
        Some(chunk)
    }

    /// Records one more chunk; false at the end.
    pub async fn more(&mut self) -> bool {
        match self.chunk().await {
            Some(chunk) => {
                self.bytes.extend_from_slice(&chunk.data);
                true
            }
            None => false,
        }
    }

    /// Records until there are this many bytes.
    pub async fn until_length(&mut self, length: usize) {
        while self.bytes.len() < length {
            assert!(
                self.more().await,
                "the output ended after {} of {length} bytes",
                self.bytes.len()
            );
        }
    }

    /// Records until the text has come.
    pub async fn until_text(&mut self, text: &str) {
        while !self.text().contains(text) {
            assert!(self.more().await, "{text:?} never came: {:?}", self.text());
        }
    }

    pub async fn until_end(&mut self) {
        while self.more().await {}
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }
}
