//! Socket addresses on the command line.

use std::io;
use std::net::{SocketAddr, ToSocketAddrs as _};

/// Parses an address such as `127.0.0.1:8080`, or resolves a name such as `localhost:8080`, preferably to IPv4.
pub(crate) fn parse_address(text: &str) -> io::Result<SocketAddr> {
    let found = text.to_socket_addrs()?.min_by_key(SocketAddr::is_ipv6);
    found.ok_or_else(|| io::ErrorKind::NotFound.into())
}

#[cfg(test)]
mod tests {
    use super::parse_address;

    #[test]
    fn parses_addresses_and_resolves_names() {
        for (text, found) in [("127.0.0.1:80", "127.0.0.1:80"), ("[::1]:80", "[::1]:80")] {
            assert_eq!(parse_address(text).unwrap().to_string(), found);
        }
        let local = parse_address("localhost:80").unwrap();
        assert!(local.ip().is_loopback() && local.port() == 80, "{local}");
        for invalid in ["", "here", "localhost", "localhost:x", "name.invalid:80"] {
            assert!(parse_address(invalid).is_err(), "{invalid}");
        }
    }
}
