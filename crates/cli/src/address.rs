//! Where to listen: an address, or a name for one.

use std::io;
use std::net::{SocketAddr, ToSocketAddrs as _};

/// The address that `text` is, or that its name has; of several, an IPv4 one.
pub(crate) fn address(text: &str) -> io::Result<SocketAddr> {
    let found = text.to_socket_addrs()?.min_by_key(SocketAddr::is_ipv6);
    found.ok_or_else(|| io::ErrorKind::NotFound.into())
}

#[cfg(test)]
mod tests {
    use super::address;

    #[test]
    fn names_are_those_of_addresses() {
        for (text, found) in [("127.0.0.1:80", "127.0.0.1:80"), ("[::1]:80", "[::1]:80")] {
            assert_eq!(address(text).unwrap().to_string(), found);
        }
        let local = address("localhost:80").unwrap();
        assert!(local.ip().is_loopback() && local.port() == 80, "{local}");
        for none in ["", "here", "localhost", "localhost:x", "name.invalid:80"] {
            assert!(address(none).is_err(), "{none}");
        }
    }
}
