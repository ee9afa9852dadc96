//! Parses the address of a coop. It does not connect.

use std::fmt;
use std::str::FromStr;

use http::Uri;

/// The address of a coop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// Plain HTTP/2 over TCP.
    Http { authority: String },
    /// TLS over TCP.
    Https { authority: String },
    /// A Unix socket.
    Unix { path: String },
}

/// A text is not an address of a coop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TargetError(String);

impl fmt::Display for TargetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:?} is not http://HOST:PORT, https://HOST:PORT, unix:///PATH, /PATH or HOST:PORT",
            self.0
        )
    }
}

impl std::error::Error for TargetError {}

impl Target {
    /// Reads `http://host:port`, `https://host:port`, `unix:///path`, a path, or `host:port`.
    pub fn parse(text: &str) -> Result<Self, TargetError> {
        let refused = || TargetError(text.to_owned());
        let socket = match text.strip_prefix("unix:") {
            Some(rest) => Some(rest.strip_prefix("//").unwrap_or(rest)),
            None => text.starts_with(['/', '.']).then_some(text),
        };
        match (socket, text.split_once("://")) {
            (Some(""), _) => Err(refused()),
            (Some(path), _) => Ok(Self::Unix { path: path.to_owned() }),
            (None, Some(("http", rest))) => {
                authority(rest).map(|authority| Self::Http { authority }).ok_or_else(refused)
            }
            (None, Some(("https", rest))) => {
                authority(rest).map(|authority| Self::Https { authority }).ok_or_else(refused)
            }
            (None, Some(_)) => Err(refused()),
            (None, None) => match authority(text) {
                // Without a scheme, a single word is more likely a mistake than a host on port 80.
                Some(authority) if has_port(&authority) => Ok(Self::Http { authority }),
                Some(_) | None => Err(refused()),
            },
        }
    }
}

/// Returns `host` or `host:port`, if the text has nothing else.
fn authority(text: &str) -> Option<String> {
    let text = text.strip_suffix('/').unwrap_or(text);
    let uri = format!("http://{text}").parse::<Uri>().ok()?;
    let authority = uri.authority()?;
    let only_authority =
        authority.as_str() == text && !text.contains('@') && !authority.host().is_empty();
    only_authority.then(|| text.to_owned())
}

fn has_port(authority: &str) -> bool {
    authority.parse::<http::uri::Authority>().is_ok_and(|authority| authority.port().is_some())
}

impl FromStr for Target {
    type Err = TargetError;

    fn from_str(text: &str) -> Result<Self, TargetError> {
        Self::parse(text)
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Http { authority } => write!(f, "http://{authority}"),
            Self::Https { authority } => write!(f, "https://{authority}"),
            Self::Unix { path } => write!(f, "unix://{path}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_is_parsed_and_printed_in_one_form() {
        for (text, printed) in [
            ("http://127.0.0.1:8080", "http://127.0.0.1:8080"),
            ("http://pod/", "http://pod"),
            ("https://coop.example:443", "https://coop.example:443"),
            ("unix:///run/coop.sock", "unix:///run/coop.sock"),
            ("unix:/run/coop.sock", "unix:///run/coop.sock"),
            ("/run/coop.sock", "unix:///run/coop.sock"),
            ("./coop.sock", "unix://./coop.sock"),
            ("localhost:8080", "http://localhost:8080"),
            ("[::1]:8080", "http://[::1]:8080"),
        ] {
            let target = Target::parse(text).unwrap();
            assert_eq!(target.to_string(), printed);
            assert_eq!(Target::parse(printed), Ok(target));
        }
    }

    #[test]
    fn other_texts_are_errors() {
        for text in [
            "",
            "localhost",
            "8080",
            "localhost:",
            "localhost:port",
            "localhost:99999999",
            "http://",
            "http://host:1/path",
            "http://host:1?query",
            "http://user@host:1",
            "ws://host:1",
            "unix:",
            "unix://",
            "host:1/x",
            "a b:1",
        ] {
            assert_eq!(Target::parse(text), Err(TargetError(text.to_owned())), "{text}");
        }
    }
}
