//! The agent as a person sees it: a screen, and keys.

use coop_client::v1;

use super::{World, soon, until};

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

    /// Everything that the agent printed and that is still kept, as it came.
    pub async fn output(&mut self) -> Vec<u8> {
        let request = v1::GetOutputRequest { offset: 0, limit: Some(1 << 20) };
        let output = soon("output", self.run.client.get_output(request)).await.expect("output");
        output.into_inner().data.to_vec()
    }
}
