//! The reasons for which coop refuses a request. It knows codes and texts; how a code looks over
//! HTTP, gRPC and WebSocket is the table in `service::wire_error`.

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident $wire:literal;)*) => {
        /// A reason that clients compare: `ErrorInfo.reason`, and `code` in JSON.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Code { $($(#[$doc])* $name,)* }

        impl Code {
            /// Every code.
            pub const ALL: &[Code] = &[$(Code::$name,)*];

            /// The name on the wire.
            pub fn as_str(self) -> &'static str {
                match self { $(Code::$name => $wire,)* }
            }

            /// The code with this name on the wire.
            pub fn from_wire(name: &str) -> Option<Code> {
                match name { $($wire => Some(Code::$name),)* _ => None }
            }
        }
    };
}

codes! {
    /// The child is not running yet, or is being replaced.
    NotReady         "NOT_READY";
    /// The child has exited, so nothing can be written to it.
    Exited           "EXITED";
    /// Another client holds the lease, or the terminal takes no more bytes.
    WriterBusy       "WRITER_BUSY";
    /// The token is missing or wrong.
    Unauthorized     "UNAUTHORIZED";
    /// The Host or Origin is not allowed, or the token lacks the scope.
    Forbidden        "FORBIDDEN";
    /// The request is invalid.
    BadRequest       "BAD_REQUEST";
    /// The named thing does not exist.
    NotFound         "NOT_FOUND";
    /// The path exists, but not with this HTTP method.
    MethodNotAllowed "METHOD_NOT_ALLOWED";
    /// No driver knows this agent.
    NoDriver         "NO_DRIVER";
    /// The session's backend cannot do this.
    Unsupported      "UNSUPPORTED";
    /// The agent cannot take a message now.
    AgentBusy        "AGENT_BUSY";
    /// The agent shows no prompt.
    NoPrompt         "NO_PROMPT";
    /// The agent shows another prompt than the one that was answered.
    StalePrompt      "STALE_PROMPT";
    /// A restart or switch is in progress.
    SwitchInProgress "SWITCH_IN_PROGRESS";
    /// A size or number is over its limit.
    TooLarge         "TOO_LARGE";
    /// The awaited effect did not come in time.
    Timeout          "TIMEOUT";
    /// A failure of coop itself.
    Internal         "INTERNAL";
}

/// A refusal: its code, one sentence for the caller, and facts for programs.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    pub code: Code,
    pub message: String,
    /// For example `holder` and `remaining_ms` of WRITER_BUSY.
    pub metadata: Vec<(String, String)>,
    /// The response of the refused call, where it has one.
    pub response: Option<EncodedResponse>,
}

/// A response message, encoded as protobuf.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EncodedResponse {
    /// With its package, for example `coop.v1.NudgeResponse`.
    pub message_name: String,
    pub bytes: Vec<u8>,
}

impl Error {
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), metadata: Vec::new(), response: None }
    }

    pub fn bad_request(message: impl Into<String>) -> Self {
        Self::new(Code::BadRequest, message)
    }

    /// The child has exited, so nothing can be written to it.
    pub fn exited() -> Self {
        Self::new(Code::Exited, "the child has exited; restart the session to write again")
    }

    /// No driver knows the program in the terminal.
    pub fn no_driver() -> Self {
        Self::new(
            Code::NoDriver,
            "no driver knows this program; name one with --agent, or describe its screen with \
             --agent-config",
        )
    }

    /// The session is ending, or has ended.
    pub fn shutting_down() -> Self {
        Self::new(Code::NotReady, "coop is shutting down")
    }

    /// Adds a fact for programs, such as the holder of the lease.
    #[must_use]
    pub fn with(mut self, key: &str, value: impl ToString) -> Self {
        self.metadata.push((key.to_owned(), value.to_string()));
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_is_read_back_from_its_name() {
        for &code in Code::ALL {
            assert_eq!(Code::from_wire(code.as_str()), Some(code));
        }
        assert_eq!(Code::from_wire("NOTHING"), None);
    }
}
