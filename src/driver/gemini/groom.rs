//! Answers setup dialogs of Gemini CLI without the user.

use crate::driver::prompt::{Answer, Prompt};

/// The operator trusts the folder in which they start the agent. The login, the key and the
/// reaction to a limit are the user's decisions.
pub(super) fn answer(prompt: &Prompt) -> Option<Answer> {
    (prompt.subtype == Some("trust")).then(|| Answer { accept: Some(true), ..Answer::default() })
}
