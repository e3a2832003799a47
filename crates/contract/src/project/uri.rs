//! Resolving references and splitting fragments.

use fluent_uri::{Uri, UriRef};

/// The base of a document without `$id`.
pub(crate) const NAMELESS: &str = "json-schema:///";

/// Resolves a reference against `base`, without its fragment. Returns `None` if either is not a URI.
pub(crate) fn resolve(base: &str, reference: &str) -> Option<String> {
    if split(reference).0.is_empty() {
        return Some(base.to_owned());
    }
    absolute(&resolve_as_written(base, reference)?)
}

/// Does what [`resolve`] does for a reference to elsewhere, and leaves different spellings of a URI different.
pub(crate) fn resolve_as_written(base: &str, reference: &str) -> Option<String> {
    let base = Uri::parse(base).ok()?;
    let reference = UriRef::parse(split(reference).0).ok()?;
    Some(reference.resolve_against(&base).ok()?.into_string())
}

/// Normalizes an absolute URI, without its fragment. Returns `None` if it is not one.
pub(crate) fn absolute(uri: &str) -> Option<String> {
    Some(Uri::parse(split(uri).0).ok()?.normalize().into_string())
}

/// Splits a reference at its `#`.
pub(crate) fn split(reference: &str) -> (&str, &str) {
    reference.split_once('#').unwrap_or((reference, ""))
}

/// Decodes the percent-encoding of a fragment. Returns `None` if the result is not UTF-8.
pub(crate) fn decode(fragment: &str) -> Option<String> {
    if !fragment.contains('%') {
        return Some(fragment.to_owned());
    }
    let bytes = fragment.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let code = (bytes[at] == b'%')
            .then(|| fragment.get(at + 1..at + 3))
            .flatten()
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        decoded.push(code.unwrap_or(bytes[at]));
        at += if code.is_some() { 3 } else { 1 };
    }
    String::from_utf8(decoded).ok()
}

/// Encodes a JSON Pointer as a fragment.
pub(crate) fn encode(pointer: &str) -> String {
    let mut fragment = String::with_capacity(pointer.len());
    for byte in pointer.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@/?".contains(&byte) {
            fragment.push(char::from(byte));
        } else {
            fragment.push('%');
            for half in [byte >> 4, byte & 15] {
                fragment.push(char::from(b"0123456789ABCDEF"[usize::from(half)]));
            }
        }
    }
    fragment
}

/// Appends a token to a JSON Pointer.
pub(crate) fn push(pointer: &mut String, token: &str) {
    pointer.push('/');
    for c in token.chars() {
        match c {
            '~' => pointer.push_str("~0"),
            '/' => pointer.push_str("~1"),
            c => pointer.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{NAMELESS, decode, encode, resolve};

    #[test]
    fn fragments_survive_encoding() {
        for pointer in ["", "/a~1b", "/per%cent", "/ä \"quoted\"", "/$defs/x^y"] {
            assert_eq!(decode(&encode(pointer)).as_deref(), Some(pointer));
        }
        assert_eq!(decode("/a%2"), Some("/a%2".to_owned()));
        assert_eq!(decode("/%FF"), None);
    }

    #[test]
    fn references_resolve_against_their_base() {
        assert_eq!(resolve(NAMELESS, "a.json#/x").as_deref(), Some("json-schema:///a.json"));
        assert_eq!(resolve("http://x/dir/a", "b").as_deref(), Some("http://x/dir/b"));
        assert_eq!(resolve("urn:x:y", "#a").as_deref(), Some("urn:x:y"));
        assert_eq!(resolve("http://x/", "http://y/\\"), None);
    }
}
