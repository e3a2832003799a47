//! URLs of servers: as they may be shown, and with the queries of clients.

use hyper::header::HeaderValue;
use hyper::{HeaderMap, Uri};
use percent_encoding::percent_decode_str;

/// The headers of a response that say nothing of a URL, and that its reader needs.
const KEPT: [&str; 6] = [
    "connection",
    "content-encoding",
    "content-length",
    "content-type",
    "date",
    "transfer-encoding",
];

/// A URL without what may be secret in it: its query and fragment.
pub(crate) fn without_query(url: &str) -> &str {
    url.split(['?', '#']).next().unwrap_or_default()
}

/// The URI for a request of a client to `path` at the server with the URL `upstream`. What the query of the server's URL
/// says, such as a key, is part of it, and then what the client's says.
pub(crate) fn with_queries(
    upstream: &Uri,
    path: &str,
    query: Option<&str>,
) -> Result<Uri, hyper::http::Error> {
    let told: Vec<_> = query.iter().flat_map(|query| query.split('&')).collect();
    let own = upstream.query().into_iter().flat_map(|own| own.split('&'));
    let pairs: Vec<_> =
        own.filter(|pair| !told.contains(pair)).chain(told.iter().copied()).collect();
    let mark = if upstream.query().or(query).is_some() { "?" } else { "" };
    let mut target = upstream.clone().into_parts();
    target.path_and_query = Some(format!("{path}{mark}{}", pairs.join("&")).parse()?);
    Ok(Uri::from_parts(target)?)
}

/// What `place` means that the server at `upstream` names in a response to a request to `base`: a path and a query. `None` if
/// that is not at the server.
pub(crate) fn place_at(upstream: &Uri, base: &Uri, place: &str) -> Option<Uri> {
    if !is_relative(place) {
        let uri = absolute(upstream, place).filter(|uri| is_same_server(upstream, uri))?;
        return uri.path_and_query()?.as_str().parse().ok();
    }
    let base = base.path();
    let path = match place.chars().next()? {
        '/' => place.to_owned(),
        '?' => format!("{base}{place}"),
        _ => format!("{}/{place}", &base[..base.rfind('/')?]),
    };
    path.parse().ok()
}

/// The URL `location` that the server at `upstream` names, if it names a host.
pub(crate) fn absolute(upstream: &Uri, location: &str) -> Option<Uri> {
    // `//host/path` is of the same scheme.
    let scheme = upstream.scheme_str().unwrap_or("http");
    let absolute = location.strip_prefix("//").map(|rest| format!("{scheme}://{rest}"));
    let uri = absolute.as_deref().unwrap_or(location).parse::<Uri>().ok();
    uri.filter(|uri| uri.host().is_some())
}

/// Whether `uri` is of the same scheme, host and port as `upstream`.
pub(crate) fn is_same_server(upstream: &Uri, uri: &Uri) -> bool {
    let origin = |uri: &Uri| {
        let port = match (uri.port_u16(), uri.scheme_str()) {
            (None, Some("http")) => Some(80),
            (None, Some("https")) => Some(443),
            (port, _) => port,
        };
        (uri.scheme_str().map(str::to_owned), uri.host().map(str::to_ascii_lowercase), port)
    };
    origin(uri) == origin(upstream)
}

/// Whether a redirect stays on the same host, however browsers and libraries read it.
pub(crate) fn is_relative(location: &str) -> bool {
    let location = location.replace('\\', "/");
    let first = location.split(['/', '?', '#']).next().unwrap_or_default();
    !location.starts_with("//") && !first.contains(':')
}

/// Leaves out of the headers of a response what the query of the server's URL says, which is not for clients, however it
/// is written.
pub(crate) fn hide_query(upstream: &Uri, headers: &mut HeaderMap) {
    let Some(own) = upstream.query() else { return };
    let own: Vec<_> = own.split('&').filter(|pair| !pair.is_empty()).map(decoded).collect();
    let names: Vec<_> =
        headers.keys().filter(|name| !KEPT.contains(&name.as_str())).cloned().collect();
    for name in names {
        let values: Vec<_> = headers.get_all(&name).iter().cloned().collect();
        if !values.iter().any(|value| without_pairs(value, &own).is_some()) {
            continue;
        }
        headers.remove(&name);
        for value in values {
            match without_pairs(&value, &own).map(|left| HeaderValue::from_bytes(left.as_bytes())) {
                None => drop(headers.append(&name, value)),
                Some(Ok(left)) if !left.is_empty() => drop(headers.append(&name, left)),
                Some(_) => {}
            }
        }
    }
}

/// Whether a part of a URL or of a header ends at `c`.
fn is_separator(c: char) -> bool {
    ends_pair(c) || ";,'".contains(c)
}

/// Whether a pair of a query ends at `c`, whatever is in it.
fn ends_pair(c: char) -> bool {
    c.is_whitespace() || "?&#<>\"".contains(c)
}

/// `value` without those of the pairs `own` that are in it; `None` if none is.
fn without_pairs(value: &HeaderValue, own: &[String]) -> Option<String> {
    let value = String::from_utf8_lossy(value.as_bytes());
    // A URL in the query of a URL is encoded once more.
    let texts = |part: &str| [decoded(part), decoded(&decoded(part))];
    let has_whole =
        |text: &String, pair: &String| pair.contains(is_separator) && text.contains(pair.as_str());
    let shows_whole = |part: &str| {
        texts(part).iter().any(|text| own.iter().any(|pair| text == pair || has_whole(text, pair)))
    };
    let shows = |part: &str| {
        let has =
            |text: &String| text.split(is_separator).any(|it| own.iter().any(|pair| it == pair));
        shows_whole(part) || texts(part).iter().any(has)
    };
    let whole = without_parts(&value, ends_pair, shows_whole);
    let left = without_parts(whole.as_deref().unwrap_or(&value), is_separator, shows).or(whole);
    // Some of it is left if it is written in yet another way.
    let rest = left.as_deref().unwrap_or(&value);
    if shows_whole(rest) { Some(String::new()) } else { left }
}

/// `value` without the parts up to a separator that are `left_out`; `None` if none is.
fn without_parts(
    value: &str,
    is_separator: impl Fn(char) -> bool,
    left_out: impl Fn(&str) -> bool,
) -> Option<String> {
    let mut left = String::new();
    let mut has_changed = false;
    for part in value.split_inclusive(&is_separator) {
        let end = part.find(&is_separator).unwrap_or(part.len());
        if !left_out(&part[..end]) {
            left.push_str(part);
            continue;
        }
        has_changed = true;
        if !part[end..].starts_with('&') {
            // Nothing follows that it was separated from.
            left.truncate(left.trim_end_matches(['?', '&']).len());
            left.push_str(&part[end..]);
        }
    }
    has_changed.then_some(left)
}

fn decoded(text: &str) -> String {
    percent_decode_str(&text.replace('+', " ")).decode_utf8_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use hyper::{HeaderMap, Uri};

    use super::{hide_query, with_queries};

    #[test]
    fn a_request_has_both_queries_and_what_both_say_once() {
        let target = |upstream: &str, query| {
            let upstream: Uri = upstream.parse().unwrap();
            with_queries(&upstream, "/mcp", query).unwrap().to_string()
        };
        assert_eq!(target("http://a/mcp", None), "http://a/mcp");
        assert_eq!(target("http://a/mcp", Some("x=1")), "http://a/mcp?x=1");
        assert_eq!(target("http://a/mcp?k=s", None), "http://a/mcp?k=s");
        assert_eq!(target("http://a/mcp?k=s&l=t", Some("x&l=t")), "http://a/mcp?k=s&x&l=t");
    }

    #[test]
    fn what_the_query_of_the_server_says_is_left_out_of_headers() {
        let upstream: Uri = "http://a/mcp?key=s%20cret&v=1".parse().unwrap();
        for (name, value, left) in [
            ("location", "/mcp/?key=s%20cret&v=1", Some("/mcp/")),
            ("location", "/mcp/?v=1&x=2&key=s+cret#f", Some("/mcp/?x=2#f")),
            ("location", "/mcp/?x=2&%6bey=s%20cret", Some("/mcp/?x=2")),
            ("location", "/in?next=http%3A%2F%2Fa%2Fmcp%3Fkey%3Ds%2520cret&x", Some("/in?x")),
            ("location", "/mcp/?rev=12&v=11", Some("/mcp/?rev=12&v=11")),
            ("content-location", "?key=s%20cret", None),
            ("link", "</mcp?key=s%20cret&x=1>; rel=self", Some("</mcp?x=1>; rel=self")),
            ("refresh", "1; url=/mcp?x=1&key=s%20cret", Some("1; url=/mcp?x=1")),
            ("www-authenticate", "Bearer m=\"/mcp?v=1\"", Some("Bearer m=\"/mcp\"")),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(name, value.parse().unwrap());
            hide_query(&upstream, &mut headers);
            let found = headers.get(name).map(|value| value.to_str().unwrap());
            assert_eq!(found, left, "{name}: {value}");
        }
        for (query, value, left) in [
            ("key=a,b", "/mcp/?x&key=a,b", Some("/mcp/?x")),
            ("key=a;b&v=1", "/mcp/?key=a;b&v=1", Some("/mcp/")),
            ("key=a'b", "c=d; path=/mcp?key=a'b", Some("c=d; path=/mcp")),
            ("key=a%2fb,c", "/mcp?key=a%2Fb,c&x", Some("/mcp?x")),
            ("key=a,b", "</mcp?key=a%2Cb>; rel=self", Some("</mcp>; rel=self")),
            ("key=a?b", "/mcp?key=a?b", None),
            ("key=a", "/mcp?key=a,b", Some("/mcp,b")),
        ] {
            let upstream: Uri = format!("http://a/mcp?{query}").parse().unwrap();
            let mut headers = HeaderMap::new();
            headers.insert("x-url", value.parse().unwrap());
            headers.insert("content-type", "text/html;v=1".parse().unwrap());
            hide_query(&upstream, &mut headers);
            let found = headers.get("x-url").map(|value| value.to_str().unwrap());
            assert_eq!(found, left, "{query}: {value}");
            assert_eq!(headers["content-type"], "text/html;v=1");
        }
    }
}
