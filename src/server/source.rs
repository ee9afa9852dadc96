//! Where a connection comes from, as far as limits for each source are concerned.

use std::fmt;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};

/// The source of connections: one address, or one network of an IPv6 site.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Source {
    Address(IpAddr),
    Unix,
}

impl Source {
    /// The source of a TCP connection. A machine with IPv6 usually has a whole /64 of addresses.
    pub(super) fn of(address: SocketAddr) -> Self {
        let ip = address.ip().to_canonical();
        match ip {
            IpAddr::V4(_) => Self::Address(ip),
            IpAddr::V6(v6) => {
                let network = u128::from(v6) & !u128::from(u64::MAX);
                let is_local = v6.is_loopback();
                Self::Address(if is_local { ip } else { Ipv6Addr::from(network).into() })
            }
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Address(address) => address.fmt(f),
            Self::Unix => f.write_str("the Unix socket"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_addresses_of_one_machine_are_one_source() {
        let of = |text: &str| Source::of(text.parse().unwrap());
        assert_eq!(of("10.0.0.1:1"), of("10.0.0.1:2"));
        assert_eq!(of("10.0.0.1:1"), of("[::ffff:10.0.0.1]:1"));
        assert_ne!(of("10.0.0.1:1"), of("10.0.0.2:1"));
        assert_eq!(of("[2001:db8::1]:1"), of("[2001:db8::ffff:2]:1"));
        assert_ne!(of("[2001:db8::1]:1"), of("[2001:db8:0:1::1]:1"));
        assert_eq!(of("[::1]:1").to_string(), "::1");
    }
}
