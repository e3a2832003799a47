//! The hosts that a guard answers to, against DNS rebinding.

use hyper::HeaderMap;
use hyper::header::{HOST, ORIGIN};

/// The names that `Host` and `Origin` of a request may have.
///
/// A web page can make a name of its own resolve to this machine, but the browser still sends that
/// name.
#[derive(Clone, Debug)]
pub struct Hosts {
    names: Vec<String>,
}

impl Hosts {
    /// Accepts `localhost`, its addresses, and `names`.
    #[must_use]
    pub fn new(names: impl IntoIterator<Item = String>) -> Self {
        let own = ["localhost", "127.0.0.1", "[::1]"].map(str::to_owned);
        let names = names.into_iter().map(|name| name.to_ascii_lowercase());
        Self { names: own.into_iter().chain(names).collect() }
    }

    /// Whether to answer a request with these headers and, in its target, this authority.
    ///
    /// A request with two `Host` headers, or with another authority in its target, is refused: two
    /// servers may not agree on which one counts.
    pub(crate) fn allow(&self, headers: &HeaderMap, authority: Option<&str>) -> bool {
        let mut hosts = headers.get_all(HOST).iter();
        let host = hosts.next().and_then(|host| host.to_str().ok());
        if hosts.next().is_some() || !host.is_some_and(|host| self.contains(host)) {
            return false;
        }
        if !authority.is_none_or(|authority| self.contains(authority)) {
            return false;
        }
        headers.get_all(ORIGIN).iter().all(|origin| {
            let origin = origin.to_str().ok();
            origin
                .and_then(|origin| origin.split_once("://"))
                .is_some_and(|(_, authority)| self.contains(authority))
        })
    }

    fn contains(&self, authority: &str) -> bool {
        let host = match authority.rsplit_once(':') {
            Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
            _ => authority,
        };
        self.names.iter().any(|name| name.eq_ignore_ascii_case(host))
    }
}

#[cfg(test)]
mod tests {
    use hyper::HeaderMap;

    use super::Hosts;

    fn allows(host: &str, origin: Option<&str>) -> bool {
        let mut headers = HeaderMap::new();
        headers.insert("host", host.parse().unwrap());
        if let Some(origin) = origin {
            headers.insert("origin", origin.parse().unwrap());
        }
        Hosts::new(["tools.example".to_owned()]).allow(&headers, None)
    }

    #[test]
    fn only_known_names_are_answered() {
        assert!(allows("localhost:8080", None));
        assert!(allows("127.0.0.1", Some("http://localhost:3000")));
        assert!(allows("[::1]:80", None));
        assert!(allows("TOOLS.example:443", Some("https://tools.example")));
        assert!(!allows("evil.example:8080", None));
        assert!(!allows("localhost:8080", Some("http://evil.example")));
        assert!(!allows("localhost:8080", Some("null")));
        let mut two = HeaderMap::new();
        two.append("host", "localhost".parse().unwrap());
        assert!(Hosts::new([]).allow(&two, None));
        assert!(!Hosts::new([]).allow(&two, Some("evil.example")));
        two.append("host", "evil.example".parse().unwrap());
        assert!(!Hosts::new([]).allow(&two, None));
        assert!(!Hosts::new([]).allow(&HeaderMap::new(), None));
    }
}
