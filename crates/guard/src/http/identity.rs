//! Which headers of a request tell who sent it.

use std::sync::Arc;

use hyper::HeaderMap;
use hyper::header::{AUTHORIZATION, COOKIE, EXPECT, HOST, HeaderName, HeaderValue, USER_AGENT};

use super::respond::remove_hop_by_hop;

/// What tells clients apart: headers in the order of their names.
#[derive(Clone, Default, PartialEq, Eq, Hash)]
pub(crate) struct Identity(Arc<[(HeaderName, HeaderValue)]>);

impl Identity {
    /// All that a server may know a client by: the headers that are not about one connection or one message.
    pub(crate) fn of_client(headers: &HeaderMap) -> Self {
        Self::new(&forwarded(headers), |name| !is_of_message(name))
    }

    /// The usual credentials, for a server that sees no headers.
    pub(crate) fn of_credentials(headers: &HeaderMap) -> Self {
        let names = [AUTHORIZATION, COOKIE, HeaderName::from_static("x-api-key")];
        Self::new(headers, |name| names.contains(name))
    }

    fn new(headers: &HeaderMap, is_part: impl Fn(&HeaderName) -> bool) -> Self {
        let all = headers.iter().filter(|(name, _)| is_part(name));
        let mut all: Vec<_> = all.map(|(name, value)| (name.clone(), value.clone())).collect();
        // Values of one name stay in their order.
        all.sort_by(|(a, _), (b, _)| a.as_str().cmp(b.as_str()));
        Self(all.into())
    }

    pub(crate) fn headers(&self) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in &*self.0 {
            headers.append(name, value.clone());
        }
        headers
    }
}

/// The headers of a client's request that are also those of the request to the server.
pub(crate) fn forwarded(headers: &HeaderMap) -> HeaderMap {
    let mut headers = headers.clone();
    remove_hop_by_hop(&mut headers);
    let names: Vec<_> = headers.keys().filter(|name| is_replaced(name)).cloned().collect();
    for name in names {
        headers.remove(name);
    }
    headers
}

/// Whether a header describes the request that carries it, so that another request has another one.
fn is_replaced(name: &HeaderName) -> bool {
    let text = name.as_str();
    let starts = ["accept", "content-", "mcp-"];
    [EXPECT, HOST].contains(name)
        || text == "last-event-id"
        || starts.iter().any(|start| text.starts_with(start))
}

/// Whether a header may differ between two requests of one client: traces, ids of requests, and the program that sends.
fn is_of_message(name: &HeaderName) -> bool {
    let names = [
        "b3",
        "baggage",
        "cf-ray",
        "dpop",
        "elastic-apm-traceparent",
        "idempotency-key",
        "newrelic",
        "request-id",
        "sentry-trace",
        "signature",
        "signature-input",
        "traceparent",
        "tracestate",
        "uber-trace-id",
        "x-amzn-trace-id",
        "x-cloud-trace-context",
        "x-correlation-id",
        "x-request-id",
        "x-request-start",
        "x-trace-id",
    ];
    let text = name.as_str();
    let starts = ["x-b3-", "x-datadog-", "x-envoy-"];
    name == USER_AGENT
        || names.contains(&text)
        || starts.iter().any(|start| text.starts_with(start))
}

#[cfg(test)]
mod tests {
    use hyper::HeaderMap;
    use hyper::header::HeaderName;

    use super::Identity;

    fn headers(all: &[(&'static str, &'static str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in all {
            headers.append(HeaderName::from_static(name), value.parse().unwrap());
        }
        headers
    }

    #[test]
    fn clients_differ_in_headers_that_are_not_about_a_message() {
        let ada = [("x-api-key", "ada"), ("cookie", "a=1"), ("x-tenant", "t")];
        let of = |more: &[(&'static str, &'static str)]| {
            Identity::of_client(&headers(&[&ada[..], more].concat()))
        };
        let own = of(&[]);
        let about_messages = [
            ("accept", "a/b"),
            ("accept-language", "de"),
            ("connection", "x-hop"),
            ("content-length", "3"),
            ("host", "a"),
            ("last-event-id", "1"),
            ("mcp-session-id", "s"),
            ("traceparent", "00-1"),
            ("user-agent", "u"),
            ("x-b3-spanid", "1"),
            ("x-hop", "1"),
            ("x-request-id", "r"),
        ];
        assert!(of(&about_messages) == own);
        for other in [("authorization", "b"), ("cookie", "b=2"), ("x-api-key", "b"), ("x-a", "b")] {
            assert!(of(&[other]) != own, "{other:?}");
        }
        let turned: Vec<_> = ada.into_iter().rev().collect();
        assert!(Identity::of_client(&headers(&turned)) == own);
        assert_eq!(own.headers(), headers(&ada));
    }

    #[test]
    fn credentials_are_the_usual_headers() {
        let of = |name, value| Identity::of_credentials(&headers(&[(name, value)]));
        assert!(of("x-forwarded-for", "1.2.3.4") == Identity::default());
        for name in ["authorization", "cookie", "x-api-key"] {
            assert!(of(name, "a") != of(name, "b"), "{name}");
        }
    }
}
