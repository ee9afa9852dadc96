//! Which of Gemini CLI's dialogs need nobody's decision.

use crate::driver::prompt::{Answer, Prompt};

/// The folder is trusted by whoever started the agent in it. How to sign in, with which key, and what to do about a
/// limit is for people to say.
pub(super) fn answer(prompt: &Prompt) -> Option<Answer> {
    (prompt.subtype == Some("trust")).then(|| Answer { accept: Some(true), ..Answer::default() })
}
