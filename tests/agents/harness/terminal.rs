//! The agent through its terminal: a screen, and keys.

use std::time::Duration;

use coop_client::v1;
use tokio::time::Instant;

use super::{TestSession, poll_until, within_deadline};
use crate::fake_model::arrivals;

impl TestSession {
    /// The rows of the screen.
    pub async fn screen(&mut self) -> Vec<String> {
        let request = v1::GetScreenRequest::default();
        within_deadline("a screen", self.coop.client.get_screen(request))
            .await
            .expect("a screen")
            .into_inner()
            .lines
    }

    /// Waits until a row contains this text.
    pub async fn wait_text(&mut self, wanted: &str) {
        self.wait_row(wanted, |row| row.contains(wanted)).await;
    }

    /// Waits until a row matches.
    pub async fn wait_row(&mut self, wanted: &str, matches: impl Fn(&str) -> bool) {
        let what = format!("{wanted:?} on the screen");
        poll_until(&what, async || {
            self.screen().await.iter().any(|row| matches(row)).then_some(())
        })
        .await;
    }

    /// Waits until a row starts with this text of the model, after the agent's bullet.
    pub async fn wait_reply(&mut self, text: &str) {
        self.wait_row(text, |row| row.trim_start_matches([' ', '●', '•', '✦']).starts_with(text))
            .await;
    }

    /// Sends keys, as bytes.
    pub async fn press(&mut self, keys: &str) {
        let request = v1::SendInputRawRequest { data: keys.as_bytes().to_vec().into() };
        within_deadline("the keys to be taken", self.coop.client.send_input_raw(request))
            .await
            .expect("taken");
    }

    /// Pastes a text, and presses Enter in the same write.
    pub async fn paste(&mut self, text: &str) {
        self.press(&format!("\x1b[200~{text}\x1b[201~\r")).await;
    }

    /// Types and submits a message at the keyboard.
    pub async fn type_in(&mut self, text: &str) {
        if self.agent.takes_enter_with_a_paste() {
            self.paste(text).await;
        } else {
            self.submit(text).await;
        }
    }

    /// Pastes a text, and presses Enter until the message reaches the model.
    async fn submit(&mut self, text: &str) {
        let before = self.api.user_messages().len();
        self.press(&format!("\x1b[200~{text}\x1b[201~")).await;
        let first = text.lines().next().unwrap_or_default();
        let shown = |row: &str| row.contains("[Pasted Text") || row.contains(first);
        self.wait_row(text, shown).await;
        let deadline = Instant::now() + super::DEADLINE;
        while self.api.user_messages().len() == before {
            assert!(Instant::now() < deadline, "{text:?} was never submitted");
            self.press("\r").await;
            let arrived = self
                .api
                .wait_for("the text", |requests| (arrivals(requests).len() > before).then_some(()));
            drop(tokio::time::timeout(Duration::from_millis(400), arrived).await);
        }
    }

    /// Presses keys until the screen matches, again after each interval: agents drop keys in the
    /// first moments of a dialog, and only the screen shows which.
    pub async fn press_until(
        &mut self,
        keys: &str,
        interval: Duration,
        wanted: &str,
        matches: impl Fn(&[String]) -> bool,
    ) {
        let what = format!("{keys:?} to bring {wanted}");
        poll_until(&what, async || {
            self.press(keys).await;
            let over = Instant::now() + interval;
            while Instant::now() < over {
                if matches(&self.screen().await) {
                    return Some(());
                }
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            None
        })
        .await;
    }

    /// Switches codex to plan mode. The key cycles through the modes, so it is pressed once.
    pub async fn plan_mode(&mut self) {
        self.wait_state("idle").await;
        self.press("\x1b[Z").await;
        // A narrow terminal cuts the rest of the row off.
        self.wait_text("Plan mode").await;
    }

    /// Switches the agent to a mode in which its model can ask questions.
    pub async fn allow_questions(&mut self) {
        if self.agent.asks_in_plan_mode() {
            self.plan_mode().await;
        }
    }

    /// Presses the digit of an option until the dialog has left the screen. An extra digit does no
    /// harm.
    pub async fn answer(&mut self, digit: &str, dialog: &str) {
        let gone = |rows: &[String]| !rows.iter().any(|row| row.contains(dialog));
        self.press_until(
            digit,
            Duration::from_millis(500),
            &format!("the end of {dialog:?}"),
            gone,
        )
        .await;
    }

    /// Presses Enter once at a dialog that has been visible long enough, and waits until it is
    /// gone. A second Enter could confirm the next dialog.
    pub async fn enter(&mut self, dialog: &str) {
        self.wait_stable_row(dialog, |row| row.contains(dialog)).await;
        self.press("\r").await;
        poll_until(&format!("the end of {dialog:?}"), async || {
            (!self.screen().await.iter().any(|row| row.contains(dialog))).then_some(())
        })
        .await;
    }

    /// Moves to an option without a digit, and selects it.
    pub async fn pick(&mut self, arrow: &str, option: &str) {
        self.wait_stable_row(option, |row| row.contains(option)).await;
        self.press(arrow).await;
        self.wait_stable_row(option, |row| row.contains('❯') && row.contains(option)).await;
        self.press("\r").await;
        poll_until(&format!("the end of {option:?}"), async || {
            (!self.screen().await.iter().any(|row| row.contains(option))).then_some(())
        })
        .await;
    }

    /// Waits until a row has matched for longer than any redraw of a dialog takes: claude draws its
    /// trust dialog twice, and loses the selection of the first.
    async fn wait_stable_row(&mut self, wanted: &str, matches: impl Fn(&str) -> bool) {
        let mut since = None;
        poll_until(&format!("{wanted:?} to stay on the screen"), async || {
            let there = self.screen().await.iter().any(|row| matches(row));
            let since = since.get_or_insert_with(Instant::now);
            if !there {
                *since = Instant::now();
            }
            (since.elapsed() > Duration::from_millis(500)).then_some(())
        })
        .await;
    }

    /// All output of the agent that coop still has, unchanged.
    pub async fn output(&mut self) -> Vec<u8> {
        let request = v1::GetOutputRequest { offset: 0, limit: Some(1 << 20) };
        let output =
            within_deadline("output", self.coop.client.get_output(request)).await.expect("output");
        output.into_inner().data.to_vec()
    }
}
