//! Characters at which some reader ends a line.

use std::borrow::Cow;

use bytes::Bytes;

/// `bytes` as one line: a JSON text without the characters at which some reader ends a line.
///
/// Python ends lines at a carriage return, too, and `readline` of Node at U+2028 and U+2029. Between
/// tokens line breaks become spaces; inside strings JSON allows no bare ones, and the others are
/// escaped.
pub(crate) fn one_line(bytes: Bytes) -> Bytes {
    without(bytes.trim_ascii_end()).map_or(bytes, Bytes::from)
}

/// `body` without the characters at which some reader ends a line, if it has any.
fn without(body: &[u8]) -> Option<Vec<u8>> {
    let breaks = memchr::memchr2(b'\n', b'\r', body).is_some();
    let separators = has_separators(body);
    if !breaks && !separators {
        return None;
    }
    let mut line = body.to_vec();
    line.iter_mut().filter(|byte| matches!(byte, b'\n' | b'\r')).for_each(|byte| *byte = b' ');
    Some(match std::str::from_utf8(&line) {
        Ok(text) if separators => escape_separators(text).into_owned().into_bytes(),
        _ => line,
    })
}

/// Whether some reader ends a line before the end of `bytes`.
pub(crate) fn has_breaks(bytes: &[u8]) -> bool {
    let body = bytes.trim_ascii_end();
    memchr::memchr2(b'\n', b'\r', body).is_some() || has_separators(body)
}

/// Whether `bytes` hold U+0085, U+2028 or U+2029.
pub(crate) fn has_separators(bytes: &[u8]) -> bool {
    let line = memchr::memchr_iter(0xe2, bytes)
        .any(|at| matches!(bytes.get(at + 1..at + 3), Some([0x80, 0xa8 | 0xa9])));
    line || memchr::memmem::find(bytes, "\u{85}".as_bytes()).is_some()
}

/// A JSON text with U+0085, U+2028 and U+2029, which only strings can hold, escaped.
pub(crate) fn escape_separators(text: &str) -> Cow<'_, str> {
    if !has_separators(text.as_bytes()) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            '\u{85}' => out.push_str("\\u0085"),
            '\u{2028}' => out.push_str("\\u2028"),
            '\u{2029}' => out.push_str("\\u2029"),
            c => out.push(c),
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::one_line;

    #[test]
    fn a_line_has_no_line_breaks_inside() {
        let line = |text: &str| one_line(Bytes::from(text.to_owned()));
        assert_eq!(line("{\"a\":1}\r\n"), "{\"a\":1}\r\n");
        assert_eq!(line("{\"a\":\r1\n}"), "{\"a\": 1 }");
        assert_eq!(line("[\"\u{2028}\u{85}é\"]\n"), "[\"\\u2028\\u0085é\"]");
    }
}
