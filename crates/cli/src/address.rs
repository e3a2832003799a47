//! Socket addresses on the command line.

use std::net::{Ipv4Addr, SocketAddr, ToSocketAddrs as _};

/// Parses an address such as `127.0.0.1:8080`, or resolves a name such as `localhost:8080`, preferably to IPv4. A port
/// alone is one of this machine.
pub(crate) fn parse_address(text: &str) -> Result<SocketAddr, String> {
    if let Ok(port) = text.parse() {
        return Ok((Ipv4Addr::LOCALHOST, port).into());
    }
    if let Some(port) = text.strip_prefix(':') {
        return Err(format!(
            "expected an address, such as 127.0.0.1:{port} for this machine or 0.0.0.0:{port} for all"
        ));
    }
    if text.bytes().all(|byte| byte.is_ascii_digit()) && !text.is_empty() {
        return Err("expected a port of at most 65535".to_owned());
    }
    if !text.contains(':') {
        return Err(format!(
            "expected a port, such as 8080, or an address, such as {text}:8080",
            text = if text.is_empty() { "127.0.0.1" } else { text }
        ));
    }
    let found = text.to_socket_addrs().map_err(|error| error.to_string())?;
    found.min_by_key(SocketAddr::is_ipv6).ok_or_else(|| "it has no address".to_owned())
}

#[cfg(test)]
mod tests {
    use super::parse_address;

    #[test]
    fn parses_addresses_and_resolves_names() {
        for (text, found) in
            [("127.0.0.1:80", "127.0.0.1:80"), ("[::1]:80", "[::1]:80"), ("80", "127.0.0.1:80")]
        {
            assert_eq!(parse_address(text).unwrap().to_string(), found);
        }
        let local = parse_address("localhost:80").unwrap();
        assert!(local.ip().is_loopback() && local.port() == 80, "{local}");
        for invalid in ["", "here", "localhost", "localhost:x", ":80", "65536", "name.invalid:80"] {
            assert!(parse_address(invalid).is_err(), "{invalid}");
        }
    }
}
