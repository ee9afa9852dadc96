//! Who caused something: the value that commands carry into the session and events carry out of
//! it. It knows no credentials; the server decides who a caller is.

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;

/// The most characters of a name.
const NAME_LIMIT: usize = 64;

/// The caller that caused an event, or coop itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum By {
    /// A caller with a token, and the token's name.
    Token(Option<Name>),
    /// A caller with a client certificate, and the certificate's common name.
    Certificate(Option<Name>),
    /// A process of this user, over a Unix socket.
    Uid(u32),
    /// A client without credentials, by its address; `None` if that is unknown.
    Address(Option<IpAddr>),
    /// An attached terminal whose user has no name.
    Terminal,
    /// coop: grooming, time-outs, signals to its own process.
    Coop,
}

/// A name that is safe to print: short, and without control characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Name(Arc<str>);

impl Name {
    /// The printable part of a text.
    pub fn new(text: &str) -> Self {
        let printable = |c: char| if c.is_control() { '\u{fffd}' } else { c };
        Self(text.chars().take(NAME_LIMIT).map(printable).collect::<String>().into())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl By {
    /// The same caller in front of an attached terminal: without a name it is only `terminal`.
    #[must_use]
    pub fn at_terminal(self) -> Self {
        match self {
            Self::Token(None) | Self::Certificate(None) | Self::Address(_) => Self::Terminal,
            Self::Token(Some(_))
            | Self::Certificate(Some(_))
            | Self::Uid(_)
            | Self::Terminal
            | Self::Coop => self,
        }
    }
}

impl fmt::Display for By {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Token(None) => f.write_str("token"),
            Self::Token(Some(Name(name))) => write!(f, "token:{name}"),
            Self::Certificate(None) => f.write_str("cert"),
            Self::Certificate(Some(Name(name))) => write!(f, "cert:{name}"),
            Self::Uid(uid) => write!(f, "uid:{uid}"),
            Self::Address(None) => f.write_str("unknown"),
            Self::Address(Some(address)) => write!(f, "tcp:{address}"),
            Self::Terminal => f.write_str("terminal"),
            Self::Coop => f.write_str("coop"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_caller_has_its_own_form() {
        let name = Some(Name::new("ada"));
        for (by, text, at_terminal) in [
            (By::Token(name.clone()), "token:ada", "token:ada"),
            (By::Token(None), "token", "terminal"),
            (By::Certificate(name), "cert:ada", "cert:ada"),
            (By::Certificate(None), "cert", "terminal"),
            (By::Uid(1000), "uid:1000", "uid:1000"),
            (By::Address(Some(IpAddr::from([127, 0, 0, 1]))), "tcp:127.0.0.1", "terminal"),
            (By::Address(None), "unknown", "terminal"),
            (By::Terminal, "terminal", "terminal"),
            (By::Coop, "coop", "coop"),
        ] {
            assert_eq!(by.to_string(), text);
            assert_eq!(by.at_terminal().to_string(), at_terminal);
        }
    }

    #[test]
    fn a_name_is_short_and_has_no_control_characters() {
        assert_eq!(Name::new("a\x1b[31m\nb").as_str(), "a\u{fffd}[31m\u{fffd}b");
        assert_eq!(Name::new(&"ä".repeat(1000)).as_str().chars().count(), NAME_LIMIT);
    }
}
