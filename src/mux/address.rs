//! Which session of which multiplexer, as `--attach` takes it.

use std::str::FromStr;

/// The longest name of a session.
const NAME_LIMIT: usize = 256;

/// The terminal multiplexers whose sessions coop can serve.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Multiplexer {
    Tmux,
    Screen,
}

impl Multiplexer {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Tmux => "tmux",
            Self::Screen => "screen",
        }
    }

    /// The command that starts a session, without the name, for error messages.
    pub(super) fn new_session_command(self) -> &'static str {
        match self {
            Self::Tmux => "tmux new-session -d -s",
            Self::Screen => "screen -d -m -S",
        }
    }
}

/// A session of a multiplexer, by name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    pub multiplexer: Multiplexer,
    pub name: String,
}

/// Text that names no session.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "it takes tmux:NAME or screen:NAME, and a name has 1 to {NAME_LIMIT} bytes and \
     no control characters"
)]
pub struct BadAddress;

impl FromStr for Address {
    type Err = BadAddress;

    fn from_str(text: &str) -> Result<Self, BadAddress> {
        let (multiplexer, name) = text.split_once(':').ok_or(BadAddress)?;
        let multiplexer = match multiplexer {
            "tmux" => Multiplexer::Tmux,
            "screen" => Multiplexer::Screen,
            _ => return Err(BadAddress),
        };
        if name.is_empty() || name.len() > NAME_LIMIT || name.contains(char::is_control) {
            return Err(BadAddress);
        }
        Ok(Self { multiplexer, name: name.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_a_multiplexer_and_a_name() {
        let address = |multiplexer, name: &str| Ok(Address { multiplexer, name: name.to_owned() });
        assert_eq!("tmux:work".parse::<Address>(), address(Multiplexer::Tmux, "work"));
        assert_eq!("screen:-S".parse::<Address>(), address(Multiplexer::Screen, "-S"));
        assert_eq!("tmux:a:b.c".parse::<Address>(), address(Multiplexer::Tmux, "a:b.c"));
        let long = format!("tmux:{}", "x".repeat(NAME_LIMIT + 1));
        for text in
            ["", "tmux", "tmux:", "screen:", "zellij:x", "work", "tmux:a\nb", "tmux:\u{9b}x", &long]
        {
            assert_eq!(text.parse::<Address>(), Err(BadAddress), "{text:?}");
        }
    }
}
