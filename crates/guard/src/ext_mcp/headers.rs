//! The headers of a client, as agentgateway sends them.

use hyper::HeaderMap;
use hyper::header::{CONTENT_TYPE, HOST, HeaderName, HeaderValue};

use super::wire::{HeaderMutation, McpHeader};

/// Reads headers. Leaves out those of HTTP/2 itself (`:path`), those about the body, and the session: it is one of the
/// gateway, which servers do not know.
pub(super) fn read_headers(headers: Vec<McpHeader>) -> HeaderMap {
    let mut read = HeaderMap::new();
    for McpHeader { key, value } in headers {
        let Ok(name) = HeaderName::try_from(key) else { continue };
        if let (true, Ok(value)) = (is_kept(&name), HeaderValue::from_maybe_shared(value)) {
            read.append(name, value);
        }
    }
    read.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    read
}

fn is_kept(name: &HeaderName) -> bool {
    let text = name.as_str();
    let left_out = ["mcp-session-id", "last-event-id"];
    !left_out.contains(&text)
        && *name != HOST
        && !text.starts_with("content-")
        && !text.starts_with("accept")
}

/// What changes `before` into `after`.
pub(super) fn mutation(before: &HeaderMap, after: &HeaderMap) -> Option<HeaderMutation> {
    let is_same = |name: &HeaderName| before.get_all(name).iter().eq(after.get_all(name).iter());
    let set = after.iter().filter(|(name, _)| !is_same(name)).map(|(name, value)| McpHeader {
        key: name.as_str().to_owned(),
        value: value.as_bytes().to_vec().into(),
    });
    let gone = before.keys().filter(|name| !after.contains_key(*name));
    let mutation =
        HeaderMutation { set: set.collect(), remove: gone.map(ToString::to_string).collect() };
    let is_empty = mutation.set.is_empty() && mutation.remove.is_empty();
    (!is_empty).then_some(mutation)
}

#[cfg(test)]
mod tests {
    use super::{McpHeader, mutation, read_headers};

    fn header(key: &str, value: &'static str) -> McpHeader {
        McpHeader { key: key.to_owned(), value: value.into() }
    }

    #[test]
    fn reads_what_says_who_the_client_is() {
        let headers = read_headers(vec![
            header(":path", "/mcp"),
            header("Authorization", "Bearer a"),
            header("mcp-session-id", "of the gateway"),
            header("content-length", "7"),
            header("accept-encoding", "br"),
            header("x-multi", "1"),
            header("x-multi", "2"),
            header("no name", "1"),
            header("x-line", "a\nb"),
        ]);
        let names: Vec<_> = headers.keys().map(hyper::header::HeaderName::as_str).collect();
        assert_eq!(names, ["authorization", "x-multi", "content-type"]);
        assert_eq!(headers.get_all("x-multi").iter().count(), 2);
    }

    #[test]
    fn a_mutation_has_only_what_changes() {
        let before = read_headers(vec![
            header("mcp-param-a", "1"),
            header("mcp-param-b", "1"),
            header("x-multi", "1"),
            header("x-multi", "2"),
        ]);
        assert_eq!(mutation(&before, &before), None);
        let mut after = before.clone();
        after.insert("mcp-param-a", "2".parse().unwrap());
        after.remove("mcp-param-b");
        let mutation = mutation(&before, &after).unwrap();
        assert_eq!(mutation.set, [header("mcp-param-a", "2")]);
        assert_eq!(mutation.remove, ["mcp-param-b"]);
    }
}
