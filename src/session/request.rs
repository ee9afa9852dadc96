//! The requests of callers to the agent: a nudge, or an answer to its prompt.

use std::time::Duration;

use crate::driver::prompt::Answer;
use crate::error::{Code, Error};

/// The largest message, in bytes.
pub(crate) const MESSAGE_LIMIT: usize = 1 << 20;
/// How many tasks, and how many queued messages, may wait for the agent.
pub(crate) const QUEUE_LIMIT: usize = 64;

/// A message for the agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NudgeRequest {
    pub text: String,
    pub mode: NudgeMode,
    /// Messages with the same key are typed only once.
    pub idempotency_key: Option<String>,
    /// How long the caller waits for a witness. Zero means: until the message is submitted.
    pub confirm: Duration,
}

/// What to do with a message that the agent cannot take now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NudgeMode {
    RejectIfBusy,
    Queue,
    Interrupt,
}

impl NudgeMode {
    /// The mode with this name on the wire; the empty name is the default.
    pub fn parse(name: &str) -> Option<Self> {
        match name {
            "" | "reject_if_busy" => Some(Self::RejectIfBusy),
            "queue" => Some(Self::Queue),
            "interrupt" => Some(Self::Interrupt),
            _ => None,
        }
    }
}

impl NudgeRequest {
    /// Refuses a text that cannot be typed into a composer.
    pub fn check(text: &str) -> Result<(), Error> {
        if text.trim().is_empty() {
            return Err(Error::bad_request("message is empty"));
        }
        if text.len() > MESSAGE_LIMIT {
            let message = format!("message is larger than {MESSAGE_LIMIT} bytes");
            return Err(Error::new(Code::TooLarge, message));
        }
        let control = text.chars().find(|c| c.is_control() && !matches!(c, '\t' | '\n'));
        match control {
            None => Ok(()),
            Some(control) => Err(Error::bad_request(format!(
                "message has the control character {:#04x} in it; only tabs and line feeds can be \
                 typed",
                u32::from(control)
            ))),
        }
    }
}

/// An answer to the agent's prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RespondRequest {
    /// The prompt that the caller saw.
    pub prompt_id: Option<String>,
    pub answer: Answer,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_that_cannot_be_typed_is_refused() {
        for text in ["", " \n", "a\x1b[201~b", "bell\x07", "a\rb", "nul\0", "\u{9b}1m"] {
            assert_eq!(NudgeRequest::check(text).unwrap_err().code, Code::BadRequest, "{text:?}");
        }
        let large = "x".repeat(MESSAGE_LIMIT + 1);
        assert_eq!(NudgeRequest::check(&large).unwrap_err().code, Code::TooLarge);
        assert!(NudgeRequest::check("two\nlines\tand a tab 🐔").is_ok());
    }
}
