//! The agent as a person sees it: a screen, and keys.

use std::time::Duration;

use coop_client::v1;
use tokio::time::Instant;

use super::{World, soon, until};
use crate::fake::arrivals;

impl World {
    /// The rows of the screen.
    pub async fn screen(&mut self) -> Vec<String> {
        let request = v1::GetScreenRequest::default();
        soon("a screen", self.run.client.get_screen(request)).await.expect("a screen").into_inner().lines
    }

    /// Waits until some row has this text in it.
    pub async fn see(&mut self, wanted: &str) {
        self.see_row(wanted, |row| row.contains(wanted)).await;
    }

    /// Waits until some row is as it should be.
    pub async fn see_row(&mut self, wanted: &str, is_it: impl Fn(&str) -> bool) {
        let what = format!("{wanted:?} on the screen");
        until(&what, async || self.screen().await.iter().any(|row| is_it(row)).then_some(())).await;
    }

    /// Waits until some row starts with this text, after what the agent puts before its model's words.
    pub async fn hear(&mut self, text: &str) {
        self.see_row(text, |row| row.trim_start_matches([' ', '●', '•', '✦']).starts_with(text)).await;
    }

    /// Presses keys, as bytes.
    pub async fn press(&mut self, keys: &str) {
        let request = v1::SendInputRawRequest { data: keys.as_bytes().to_vec().into() };
        soon("the keys to be taken", self.run.client.send_input_raw(request)).await.expect("taken");
    }

    /// Pastes a text, and presses Enter in the same write.
    pub async fn paste(&mut self, text: &str) {
        self.press(&format!("\x1b[200~{text}\x1b[201~\r")).await;
    }

    /// Gives the agent a message by its keyboard.
    pub async fn type_in(&mut self, text: &str) {
        if self.agent.takes_enter_with_a_paste() {
            self.paste(text).await;
        } else {
            self.submit(text).await;
        }
    }

    /// Pastes a text, and presses Enter until the model has been told.
    async fn submit(&mut self, text: &str) {
        let before = self.api.user_messages().len();
        self.press(&format!("\x1b[200~{text}\x1b[201~")).await;
        let first = text.lines().next().unwrap_or_default();
        let shown = |row: &str| row.contains("[Pasted Text") || row.contains(first);
        self.see_row(text, shown).await;
        let deadline = Instant::now() + super::DEADLINE;
        while self.api.user_messages().len() == before {
            assert!(Instant::now() < deadline, "{text:?} was never taken");
            self.press("\r").await;
            let told =
                self.api.wait_for("the text", |requests| (arrivals(requests).len() > before).then_some(()));
            drop(tokio::time::timeout(Duration::from_millis(400), told).await);
        }
    }

    /// Presses keys until the screen is as it should be, again each time the patience is over:
    /// agents drop keys that come while a dialog is new, and nothing but the screen tells which.
    pub async fn press_until(
        &mut self,
        keys: &str,
        patience: Duration,
        wanted: &str,
        is_it: impl Fn(&[String]) -> bool,
    ) {
        let what = format!("{keys:?} to bring {wanted}");
        until(&what, async || {
            self.press(keys).await;
            let over = Instant::now() + patience;
            while Instant::now() < over {
                if is_it(&self.screen().await) {
                    return Some(());
                }
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            None
        })
        .await;
    }

    /// Switches codex to its plan mode. The key is pressed once: it goes round.
    pub async fn plan_mode(&mut self) {
        self.wait_state("idle").await;
        self.press("\x1b[Z").await;
        self.see("Plan mode (shift+tab").await;
    }

    /// Brings the agent into the mode in which its model may ask the user something.
    pub async fn let_it_ask(&mut self) {
        if self.agent.asks_in_plan_mode() {
            self.plan_mode().await;
        }
    }

    /// Presses the digit of an option until the dialog has gone from the screen. A digit too many
    /// does no harm.
    pub async fn answer(&mut self, digit: &str, dialog: &str) {
        let gone = |rows: &[String]| !rows.iter().any(|row| row.contains(dialog));
        self.press_until(digit, Duration::from_millis(500), &format!("the end of {dialog:?}"), gone).await;
    }

    /// Presses Enter at a dialog that has stood long enough, and waits until it has gone. Never
    /// twice: an Enter too many takes the next dialog's default.
    pub async fn enter(&mut self, dialog: &str) {
        self.see_standing(dialog, |row| row.contains(dialog)).await;
        self.press("\r").await;
        until(&format!("the end of {dialog:?}"), async || {
            (!self.screen().await.iter().any(|row| row.contains(dialog))).then_some(())
        })
        .await;
    }

    /// Moves to an option that has no digit, and takes it.
    pub async fn pick(&mut self, arrow: &str, option: &str) {
        self.see_standing(option, |row| row.contains(option)).await;
        self.press(arrow).await;
        self.see_standing(option, |row| row.contains('❯') && row.contains(option)).await;
        self.press("\r").await;
        until(&format!("the end of {option:?}"), async || {
            (!self.screen().await.iter().any(|row| row.contains(option))).then_some(())
        })
        .await;
    }

    /// Waits until a row has been as it should be for longer than any dialog takes to be drawn
    /// anew: claude's trust dialog comes twice, and loses what was chosen in the first one.
    async fn see_standing(&mut self, wanted: &str, is_it: impl Fn(&str) -> bool) {
        let mut since = None;
        until(&format!("{wanted:?} to stand on the screen"), async || {
            let there = self.screen().await.iter().any(|row| is_it(row));
            let since = since.get_or_insert_with(Instant::now);
            if !there {
                *since = Instant::now();
            }
            (since.elapsed() > Duration::from_millis(500)).then_some(())
        })
        .await;
    }

    /// Everything that the agent printed and that is still kept, as it came.
    pub async fn output(&mut self) -> Vec<u8> {
        let request = v1::GetOutputRequest { offset: 0, limit: Some(1 << 20) };
        let output = soon("output", self.run.client.get_output(request)).await.expect("output");
        output.into_inner().data.to_vec()
    }
}
