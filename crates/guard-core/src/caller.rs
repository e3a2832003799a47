//! Who sends a request: everything that a server may tell callers apart by.

use std::hash::{BuildHasher as _, Hash, Hasher, RandomState};
use std::sync::{Arc, OnceLock};

use http::header::{HOST, HeaderName, HeaderValue};
use http::{HeaderMap, Uri};
use memchr::memmem;

use crate::hop_by_hop::{remove_headers, remove_hop_by_hop};

/// Who sends a request: its session, and all its headers that are not about one message, at one host, path and query.
///
/// A server may list other tools to another caller, so what was learned from one is never used for the other. A session
/// alone does not tell who calls: a server that knows no sessions ignores the id.
#[derive(Clone, Debug, Default)]
pub struct Caller {
    parts: Arc<Parts>,
    /// A hash of what a message says about its sender.
    said: u64,
}

#[derive(Debug, Default)]
struct Parts {
    /// A hash of all others, which is what is compared: nobody can find two callers with the same one.
    hash: [u64; 2],
    session: Option<String>,
    /// The headers in the order of their names.
    headers: Vec<(HeaderName, HeaderValue)>,
    /// The host, path and query.
    target: String,
}

/// Whose requests are one conversation. The headers of a client with a session may change, for example when it renews a
/// token.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ConversationKey {
    Session {
        id: String,
        target: String,
    },
    Caller(Caller),
    /// Those that are posted to an endpoint of the guard, in HTTP+SSE.
    Endpoint {
        token: String,
    },
}

impl Caller {
    /// The sender of a request with these headers to this URI.
    pub fn new(headers: &HeaderMap, uri: &Uri) -> Self {
        let mut own: Vec<_> = of_client(headers).collect();
        // Values of one name stay in their order.
        own.sort_by(|(a, _), (b, _)| a.as_str().cmp(b.as_str()));
        let session = session_id(headers).map(str::to_owned);
        let target = target(headers, uri);
        let hash = long_hash((&session, signature_keys(headers), &own, &target));
        Self { parts: Arc::new(Parts { hash, session, headers: own, target }), said: 0 }
    }

    /// The same caller without its headers, which take up to 64 KiB, to be kept when its request is answered.
    pub fn kept(&self) -> Self {
        let parts = Parts { hash: self.parts.hash, ..Parts::default() };
        Self { parts: Arc::new(parts), said: self.said }
    }

    /// The sender of a message that says this about itself; 0 if it says nothing.
    pub fn saying(&self, said: u64) -> Self {
        Self { parts: Arc::clone(&self.parts), said }
    }

    /// The query of its requests.
    pub fn query(&self) -> Option<&str> {
        self.parts.target.split_once('?').map(|(_, query)| query)
    }

    /// Whether it names a session.
    pub fn has_session(&self) -> bool {
        self.parts.session.is_some()
    }

    /// The conversation of its requests.
    pub fn conversation(&self) -> ConversationKey {
        let Parts { session, target, .. } = &*self.parts;
        match session {
            Some(id) => ConversationKey::session(id, target),
            None => ConversationKey::Caller(self.kept()),
        }
    }

    /// The conversation that the server opens for it with a session in the headers of `response`.
    pub fn opened(&self, response: &HeaderMap) -> Option<ConversationKey> {
        Some(ConversationKey::session(session_id(response)?, &self.parts.target))
    }

    /// Its headers.
    pub fn headers(&self) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in &self.parts.headers {
            headers.append(name, value.clone());
        }
        headers
    }
}

impl ConversationKey {
    fn session(id: &str, target: &str) -> Self {
        // Clients may make up long ones.
        let short = |text: &str| match text.len() {
            0..=256 => text.to_owned(),
            _ => format!("{:x?}", long_hash(text)),
        };
        Self::Session { id: short(id), target: short(target) }
    }
}

impl PartialEq for Caller {
    fn eq(&self, other: &Self) -> bool {
        self.parts.hash == other.parts.hash && self.said == other.said
    }
}

impl Eq for Caller {}

impl Hash for Caller {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.parts.hash, self.said).hash(state);
    }
}

/// Fails if readers may disagree about the session that headers name.
pub fn check_session(headers: &HeaderMap) -> Result<(), &'static str> {
    match (headers.contains_key("mcp-session-id"), session_id(headers)) {
        (true, None) => Err("expected one header Mcp-Session-Id, of visible ASCII characters"),
        _ => Ok(()),
    }
}

/// The session that headers name. Of two names, none counts.
pub fn session_id(headers: &HeaderMap) -> Option<&str> {
    let mut values = headers.get_all("mcp-session-id").iter();
    let id = values.next()?.to_str().ok()?;
    values.next().is_none().then_some(id)
}

/// The keys of the signatures of a message (RFC 9421), whose other parts are about this message.
fn signature_keys(headers: &HeaderMap) -> Vec<&[u8]> {
    const NAME: &[u8] = b"keyid=";
    let inputs = headers.get_all("signature-input").iter().map(HeaderValue::as_bytes);
    let keys =
        |input| memmem::find_iter(input, NAME).map(move |at| first_item(&input[at + NAME.len()..]));
    inputs.flat_map(keys).collect()
}

/// The string that `text` starts with, as it is written, or else all up to a separator.
fn first_item(text: &[u8]) -> &[u8] {
    let mut is_escaped = false;
    let ends = |c: &u8| {
        let is_end = *c == b'"' && !is_escaped;
        is_escaped = *c == b'\\' && !is_escaped;
        is_end
    };
    match text.strip_prefix(b"\"") {
        Some(string) => string.split(ends).next().unwrap_or_default(),
        None => text.split(|c| matches!(c, b';' | b',')).next().unwrap_or_default(),
    }
}

/// The headers of a call that are also those of a request for the tool list in its name; `None` where each request is
/// signed, so that nobody else can send one.
pub fn of_list(mut headers: HeaderMap) -> Option<HeaderMap> {
    const OF_CALL: [&str; 9] = [
        "content-digest",
        "content-length",
        "content-md5",
        "digest",
        "expect",
        "idempotency-key",
        "mcp-name",
        "range",
        "repr-digest",
    ];
    if headers.contains_key("dpop") || headers.contains_key("signature") {
        return None;
    }
    remove_headers(&mut headers, |name| {
        OF_CALL.contains(&name.as_str()) || name.as_str().starts_with("mcp-param-")
    });
    Some(headers)
}

/// The host, path and query that a request with these headers is sent to.
fn target(headers: &HeaderMap, uri: &Uri) -> String {
    let named = headers.get(HOST).map(|host| String::from_utf8_lossy(host.as_bytes()));
    let host = uri.authority().map(|it| it.as_str().into()).or(named).unwrap_or_default();
    let path = uri.path_and_query().map_or("/", |target| target.as_str());
    format!("{}{path}", host.to_ascii_lowercase())
}

/// A hash with a secret key, so that no client can choose two values with the same hash.
pub fn keyed_hash(value: impl Hash) -> u64 {
    static KEY: OnceLock<RandomState> = OnceLock::new();
    KEY.get_or_init(RandomState::new).hash_one(value)
}

/// Two hashes of that kind.
fn long_hash(value: impl Hash) -> [u64; 2] {
    [0, 1].map(|n| keyed_hash((n, &value)))
}

/// The headers that tell who the client is. What `Connection` names is among them: a gateway may forward it.
fn of_client(headers: &HeaderMap) -> impl Iterator<Item = (HeaderName, HeaderValue)> {
    let own = headers.iter().filter(|(name, _)| !is_of_message(name.as_str()));
    own.map(|(name, value)| (name.clone(), value.clone()))
}

/// The headers of a client's request that are also those of the request to the server.
pub fn forwarded(headers: &HeaderMap) -> HeaderMap {
    let starts = ["accept", "content-", "mcp-"];
    let names = ["expect", "host", "last-event-id"];
    let is_replaced = |name: &HeaderName| {
        let name = name.as_str();
        names.contains(&name) || starts.iter().any(|start| name.starts_with(start))
    };
    let mut headers = headers.clone();
    remove_hop_by_hop(&mut headers);
    remove_headers(&mut headers, is_replaced);
    headers
}

/// Whether a header may differ between two requests of one client: it describes the message, its trace or its signature.
///
/// A header that is missing here only costs requests for tool lists. One that is here must not tell clients apart.
fn is_of_message(name: &str) -> bool {
    const NAMES: [&str; 53] = [
        "accept",
        "accept-encoding",
        "b3",
        "baggage",
        "cache-control",
        "cf-ray",
        "connection",
        "content-digest",
        "content-encoding",
        "content-length",
        "content-md5",
        "content-type",
        "date",
        "digest",
        "dpop",
        "elastic-apm-traceparent",
        "expect",
        "host",
        "idempotency-key",
        "keep-alive",
        "last-event-id",
        "mcp-method",
        "mcp-name",
        "mcp-protocol-version",
        "mcp-session-id",
        "newrelic",
        "pragma",
        "proxy-connection",
        "repr-digest",
        "request-id",
        "sentry-trace",
        "signature",
        "signature-input",
        "te",
        "traceparent",
        "tracestate",
        "trailer",
        "transfer-encoding",
        "uber-trace-id",
        "upgrade",
        "x-amzn-trace-id",
        "x-cloud-trace-context",
        "x-correlation-id",
        "x-datadog-origin",
        "x-datadog-parent-id",
        "x-datadog-sampling-priority",
        "x-datadog-tags",
        "x-datadog-trace-id",
        "x-envoy-attempt-count",
        "x-envoy-expected-rq-timeout-ms",
        "x-request-id",
        "x-request-start",
        "x-trace-id",
    ];
    const STARTS: [&str; 2] = ["mcp-param-", "x-b3-"];
    NAMES.binary_search(&name).is_ok() || STARTS.iter().any(|start| name.starts_with(start))
}

#[cfg(test)]
mod tests {
    use http::HeaderMap;
    use http::header::HeaderName;

    use super::{Caller, ConversationKey};

    fn headers(all: &[(&'static str, &'static str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in all {
            headers.append(HeaderName::from_static(name), value.parse().unwrap());
        }
        headers
    }

    fn caller(all: &[(&'static str, &'static str)], uri: &str) -> Caller {
        Caller::new(&headers(all), &uri.parse().unwrap())
    }

    #[test]
    fn callers_differ_in_headers_that_are_not_about_a_message() {
        let ada = [("cookie", "a=1"), ("x-api-key", "ada"), ("x-tenant", "t")];
        let of = |more: &[(&'static str, &'static str)]| caller(&[&ada[..], more].concat(), "/mcp");
        let own = of(&[]);
        let about_messages = [
            ("accept", "a/b"),
            ("connection", "x-tenant"),
            ("content-length", "3"),
            ("last-event-id", "1"),
            ("mcp-param-a", "1"),
            ("traceparent", "00-1"),
            ("x-b3-spanid", "1"),
            ("x-request-id", "r"),
        ];
        assert!(of(&about_messages) == own);
        let others = [
            ("api-key", "b"),
            ("authorization", "b"),
            ("cookie", "b=2"),
            ("host", "b"),
            ("user-agent", "b"),
            ("x-api-key", "b"),
            ("x-auth-token", "b"),
        ];
        for other in others {
            assert!(of(&[other]) != own, "{other:?}");
        }
        let signed = |input| of(&[("signature-input", input)]);
        let [one, again, other] = [
            r#"a=("@method");created=1;keyid="k\",1""#,
            r#"a=("@method");created=2;keyid="k\",1";nonce="n""#,
            r#"a=("@method");created=1;keyid="k\",2""#,
        ]
        .map(signed);
        assert!(one == again && one != other && one != own);
        let [two, joined] = [r#"a=();keyid="k",b=();keyid="l""#, r#"a=();keyid="kl""#].map(signed);
        assert!(two != joined);
        let bytes = |key: u8| {
            let mut headers = HeaderMap::new();
            let value =
                http::header::HeaderValue::from_bytes(&[b"a=();keyid=", &[key][..]].concat());
            headers.insert("signature-input", value.unwrap());
            Caller::new(&headers, &"/mcp".parse().unwrap())
        };
        assert!(bytes(0xe1) != bytes(0xe2));
        let turned: Vec<_> = ada.into_iter().rev().collect();
        assert!(caller(&turned, "/mcp") == own);
        assert_eq!(own.headers(), headers(&ada));
        for target in ["/mcp?tenant=a", "/other", "/mcp/"] {
            assert!(caller(&ada, target) != own, "{target}");
        }
    }

    #[test]
    fn what_is_kept_of_a_caller_is_short() {
        let long = |last: &str| ["x".repeat(50_000).as_str(), last].concat();
        let of = |name: &'static str, value: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(name, value.parse().unwrap());
            Caller::new(&headers, &"/".parse().unwrap())
        };
        let (one, other) = (of("x-api-key", &long("1")), of("x-api-key", &long("2")));
        let ConversationKey::Caller(kept) = one.conversation() else { panic!("no session") };
        assert!(kept == one && kept != other && kept.saying(1) != one);
        assert!(kept.headers().is_empty());
        let session = |last| of("mcp-session-id", &long(last)).conversation();
        assert!(session("1") == session("1") && session("1") != session("2"));
        let ConversationKey::Session { id, .. } = session("1") else { panic!("a session") };
        assert!(id.len() < 100, "{id}");
    }

    #[test]
    fn a_session_is_one_conversation_and_not_one_caller() {
        let of = |session, who| caller(&[("mcp-session-id", session), ("cookie", who)], "/mcp");
        assert!(of("s", "a") != of("s", "b"));
        assert_eq!(of("s", "a").conversation(), of("s", "b").conversation());
        assert_ne!(of("s", "a").conversation(), of("t", "a").conversation());
        let other = caller(&[("mcp-session-id", "s")], "/other");
        assert_ne!(of("s", "a").conversation(), other.conversation());
        let unnamed = |who| caller(&[("cookie", who)], "/mcp");
        assert_ne!(unnamed("a").conversation(), unnamed("b").conversation());
        let opened = unnamed("a").opened(&headers(&[("mcp-session-id", "s")]));
        assert_eq!(opened, Some(of("s", "b").conversation()));
        let twice = headers(&[("mcp-session-id", "s"), ("mcp-session-id", "t")]);
        assert_eq!(unnamed("a").opened(&twice), None);
    }
}
