//! Parses and compares hosts and origins as browsers write them.

use std::net::{Ipv4Addr, Ipv6Addr};

/// `host[:port]`, as in a Host header; the host in lower case, an IPv6 address without brackets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Authority {
    host: String,
    port: Option<u16>,
}

impl Authority {
    pub fn parse(text: &str) -> Option<Self> {
        let (host, port) = match text.strip_prefix('[') {
            Some(rest) => {
                let (host, port) = rest.split_once(']')?;
                host.parse::<Ipv6Addr>().ok()?;
                (host, port.strip_prefix(':').or(port.is_empty().then_some(""))?)
            }
            None => text.split_once(':').unwrap_or((text, "")),
        };
        let port = match port {
            "" => None,
            digits => Some(digits.parse().ok()?),
        };
        let plain = |c: char| c.is_ascii_alphanumeric() || "-._:".contains(c);
        let valid = !host.is_empty() && host.chars().all(plain);
        valid.then(|| Self { host: host.to_ascii_lowercase(), port })
    }

    /// Whether it is `localhost` or an address, which the DNS of another site cannot point here.
    pub fn cannot_be_rebound(&self) -> bool {
        self.host == "localhost"
            || self.host.parse::<Ipv4Addr>().is_ok()
            || self.host.parse::<Ipv6Addr>().is_ok()
    }

    /// Whether this is the named host, on any port.
    pub fn is_host(&self, name: &str) -> bool {
        self.host.eq_ignore_ascii_case(name.trim_start_matches('[').trim_end_matches(']'))
    }
}

/// `scheme://host[:port]`: the origin of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    scheme: Scheme,
    authority: Authority,
    /// As the browser wrote it, to be written back.
    text: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scheme {
    Http,
    Https,
}

impl Origin {
    /// `None` for `null` and everything else that is not a web page's origin.
    pub fn parse(text: &str) -> Option<Self> {
        let (scheme, rest) = match text.split_once("://")? {
            ("http", rest) => (Scheme::Http, rest),
            ("https", rest) => (Scheme::Https, rest),
            _ => return None,
        };
        Some(Self { scheme, authority: Authority::parse(rest)?, text: text.to_owned() })
    }

    /// Whether a page of this origin was served by the host that it calls.
    pub fn is_of(&self, host: &Authority) -> bool {
        self.authority.host == host.host && self.port_of(&self.authority) == self.port_of(host)
    }

    pub fn equals(&self, other: &Self) -> bool {
        self.scheme == other.scheme && self.is_of(&other.authority)
    }

    pub fn as_str(&self) -> &str {
        &self.text
    }

    fn port_of(&self, authority: &Authority) -> u16 {
        authority.port.unwrap_or(match self.scheme {
            Scheme::Http => 80,
            Scheme::Https => 443,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn authority(text: &str) -> Authority {
        Authority::parse(text).unwrap()
    }

    #[test]
    fn hosts_that_dns_cannot_redirect() {
        for safe in
            ["localhost", "LOCALHOST:8080", "127.0.0.1:1", "10.0.0.7", "[::1]:8080", "[fe80::1]"]
        {
            assert!(authority(safe).cannot_be_rebound(), "{safe}");
        }
        for risky in [
            "localhost.evil.example",
            "evil.example:80",
            "127.0.0.1.nip.example",
            "1.2.3",
            "localhost.",
        ] {
            assert!(!authority(risky).cannot_be_rebound(), "{risky}");
        }
    }

    #[test]
    fn invalid_hosts_are_rejected() {
        for bad in [
            "",
            ":80",
            "a b",
            "host:99999",
            "host:x",
            "[::1",
            "[::1]x",
            "[evil]",
            "a@b",
            "a/b",
            "h\u{e9}",
        ] {
            assert_eq!(Authority::parse(bad), None, "{bad:?}");
        }
    }

    #[test]
    fn an_origin_is_coops_own_if_host_and_port_are() {
        let own = |origin: &str, host: &str| Origin::parse(origin).unwrap().is_of(&authority(host));
        assert!(own("http://localhost:8080", "localhost:8080"));
        assert!(own("http://localhost", "localhost:80"));
        assert!(own("https://box.example", "box.example"));
        assert!(own("http://[::1]:8080", "[::1]:8080"));
        assert!(!own("http://localhost:8081", "localhost:8080"));
        assert!(!own("http://127.0.0.1:8080", "localhost:8080"));
        assert!(!own("http://evil.example:8080", "localhost:8080"));
    }

    #[test]
    fn null_and_other_schemes_are_not_origins() {
        for bad in ["null", "", "file://", "chrome-extension://abc", "http://", "http://a/b"] {
            assert_eq!(Origin::parse(bad), None, "{bad:?}");
        }
    }
}
