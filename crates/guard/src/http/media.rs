//! The type of a body, by its headers.

use hyper::HeaderMap;
use hyper::header::{CONTENT_ENCODING, CONTENT_TYPE};

/// The type of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Media {
    /// JSON.
    Json,
    /// A stream of events.
    Events,
    /// Anything else, or nothing.
    Other,
}

/// Why a body cannot be read.
pub(crate) type Unsupported = String;

/// Returns the type of the body with these headers. Clients search for a name at the start of
/// `Content-Type`, or anywhere in it.
///
/// Fails if peers may read the body in different ways: it has another charset than UTF-8, is encoded, or
/// has two types.
pub(crate) fn media(headers: &HeaderMap) -> Result<Media, Unsupported> {
    // What nearly all bodies are.
    let mut types = headers.get_all(CONTENT_TYPE).iter();
    if let (Some(only), None, false) =
        (types.next(), types.next(), headers.contains_key(CONTENT_ENCODING))
    {
        match only.as_bytes() {
            b"application/json" => return Ok(Media::Json),
            b"text/event-stream" => return Ok(Media::Events),
            _ => {}
        }
    }
    let mut named = String::new();
    for value in headers.get_all(CONTENT_TYPE) {
        named.push_str(&String::from_utf8_lossy(value.as_bytes()).to_ascii_lowercase());
        named.push(',');
    }
    let is_json = named.contains("application/json") || named.contains("+json");
    let is_events = named.contains("text/event-stream");
    if is_json && is_events {
        return Err("the body is both JSON and a stream of events".to_owned());
    }
    let charsets = named.split("charset").skip(1);
    for charset in charsets {
        let charset = charset.trim_start_matches([' ', '\t', '*', '=', '"', '\'']);
        let end = charset.find([';', ',', '"', '\'', ' ']).unwrap_or(charset.len());
        let charset = &charset[..end];
        if !matches!(charset, "utf-8" | "utf8") {
            let charset: String = charset.chars().take(60).collect();
            return Err(format!("the body is in the charset `{charset}`, expected UTF-8"));
        }
    }
    if let Some(encoding) = encoding(headers) {
        return Err(format!("the body is encoded ({encoding}), expected none"));
    }
    Ok(match (is_json, is_events) {
        (true, _) => Media::Json,
        (_, true) => Media::Events,
        _ => Media::Other,
    })
}

/// How a body is encoded, where it is: most peers decode it whether they asked for it or not.
fn encoding(headers: &HeaderMap) -> Option<String> {
    let named = headers.get_all(CONTENT_ENCODING).iter();
    let mut named = named.map(|name| String::from_utf8_lossy(name.as_bytes()).into_owned());
    named.find(|name| !name.trim().eq_ignore_ascii_case("identity"))
}

#[cfg(test)]
mod tests {
    use hyper::HeaderMap;

    use super::{Media, media};

    fn media_type(types: &[&str]) -> Result<Media, String> {
        let mut headers = HeaderMap::new();
        for value in types {
            headers.append("content-type", value.parse().unwrap());
        }
        media(&headers)
    }

    #[test]
    fn names_are_found_wherever_clients_look_for_them() {
        assert_eq!(media_type(&["application/json"]), Ok(Media::Json));
        assert_eq!(media_type(&["Application/JSON-rpc; charset=UTF-8"]), Ok(Media::Json));
        assert_eq!(media_type(&["application/mcp+json; a=b"]), Ok(Media::Json));
        assert_eq!(media_type(&["text/plain", "application/json"]), Ok(Media::Json));
        assert_eq!(media_type(&["Text/Event-Stream;charset=\"utf-8\""]), Ok(Media::Events));
        assert_eq!(media_type(&["text/plain"]), Ok(Media::Other));
        assert_eq!(media_type(&[]), Ok(Media::Other));
    }

    #[test]
    fn what_peers_may_read_in_two_ways_is_refused() {
        for types in [
            &["application/json; charset=utf-7"][..],
            &["application/json;charset = UTF-16be"],
            &["text/event-stream; charset=utf-8; charset=utf-7"],
            &["text/event-stream; charset*=utf-7"],
            &["application/json; text/event-stream"],
            &["application/json; charset="],
        ] {
            assert!(media_type(types).is_err(), "{types:?}");
        }
    }

    #[test]
    fn an_encoded_body_is_refused() {
        for (encoding, is_read) in [("identity", true), ("gzip", false)] {
            let mut headers = HeaderMap::new();
            headers.insert("content-type", "application/json".parse().unwrap());
            headers.insert("content-encoding", encoding.parse().unwrap());
            assert_eq!(media(&headers).is_ok(), is_read, "{encoding}");
        }
    }
}
