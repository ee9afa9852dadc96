//! Requests that no correct client sends. Each is refused with its documented error, and the
//! session is unaffected.

mod bytes;
mod grpc;
mod http;
mod ws;

use serde_json::{Value, json};

use crate::support::coop::Coop;
use crate::support::until;

/// A shell, and its status before the test.
struct Session {
    coop: Coop,
    before: Value,
}

impl Session {
    async fn start() -> Self {
        let coop = Coop::shell().await;
        let before = until("the prompt", async || {
            let status = coop.http().get("/api/v1/status").await.json();
            (status["bytes_read"] != 0).then_some(status)
        })
        .await;
        Self { coop, before }
    }

    /// Checks that nothing has reached the child, that it is the same process, and that it still
    /// takes input.
    async fn is_unharmed(&self) {
        let http = self.coop.http();
        let after = http.get("/api/v1/status").await.json();
        for field in ["pid", "generation", "epoch", "bytes_written", "state", "session_id"] {
            assert_eq!(after[field], self.before[field], "{field}: {after}");
        }
        let size = http.get("/api/v1/screen").await.json();
        assert_eq!((&size["cols"], &size["rows"]), (&json!(200), &json!(50)));
        let typed =
            http.post("/api/v1/input", json!({"text": "echo un''harmed", "enter": true})).await;
        assert_eq!(typed.json()["bytes_written"], 16, "{}", typed.text());
        until("the echo", async || {
            let text = http.get("/api/v1/screen/text").await.text();
            text.lines().any(|line| line == "unharmed").then_some(())
        })
        .await;
    }
}

/// A random number generator that gives the same numbers in every run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next() % limit as u64).expect("small")
    }

    /// Random bytes, or text that resembles the JSON of a request.
    fn bytes(&mut self) -> Vec<u8> {
        const PIECES: [&str; 26] = [
            "{",
            "}",
            "[",
            "]",
            ":",
            ",",
            "\"",
            "\\",
            "\\u0000",
            "\"text\"",
            "\"keys\"",
            "\"type\"",
            "\"input\"",
            "\"cols\"",
            "\"signal\"",
            "null",
            "true",
            "-1",
            "1e999",
            "65536",
            "\u{1b}",
            "\u{fffd}",
            "\"\\ud800\"",
            " ",
            "NaN",
            "\"format\"",
        ];
        let length = self.below(200);
        if self.next().is_multiple_of(2) {
            (0..length).map(|_| self.next().to_le_bytes()[0]).collect()
        } else {
            (0..length / 4).flat_map(|_| PIECES[self.below(PIECES.len())].bytes()).collect()
        }
    }
}
