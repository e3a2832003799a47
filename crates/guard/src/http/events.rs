//! Server-sent events, split off a stream one by one.

use std::time::Duration;

use bytes::{Buf as _, Bytes, BytesMut};

use crate::message::BYTE_ORDER_MARK;
use crate::pipe::outbox::has_separators;

/// A byte order mark that was read as Latin-1, which `eventsource-parser` skips.
const MISREAD_MARK: &[u8] = "\u{ef}\u{bb}\u{bf}".as_bytes();

/// Splits a stream into events, each with the blank line that ends it, and removes byte order marks
/// at its start.
#[derive(Debug, Default)]
pub(crate) struct EventSplitter {
    buffer: BytesMut,
    /// How far the buffer has been searched.
    seen: usize,
    /// Whether an event has been taken.
    has_begun: bool,
    /// Whether the buffer shares its memory with events that were taken.
    is_shared: bool,
    /// Whether the stream has ended.
    is_over: bool,
}

impl EventSplitter {
    /// Adds bytes of the stream.
    pub(crate) fn feed(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }

    /// The stream has ended.
    pub(crate) fn finish(&mut self) {
        self.is_over = true;
    }

    /// The next complete event, if there is one.
    pub(crate) fn next(&mut self) -> Option<Bytes> {
        let Some(end) = self.end() else {
            if std::mem::take(&mut self.is_shared) {
                // A few bytes do not keep the memory of what came before them.
                self.buffer = BytesMut::from(&self.buffer[..]);
            }
            return None;
        };
        let event = self.buffer.split_to(end).freeze();
        self.seen = 0;
        self.is_shared = true;
        Some(self.unmarked(event))
    }

    /// The bytes after the last complete event.
    pub(crate) fn rest(mut self) -> Bytes {
        let rest = std::mem::take(&mut self.buffer).freeze();
        self.unmarked(rest)
    }

    /// The first event without the marks that some clients skip before it.
    fn unmarked(&mut self, mut event: Bytes) -> Bytes {
        if !std::mem::replace(&mut self.has_begun, true) {
            let marks = [BYTE_ORDER_MARK.as_bytes(), MISREAD_MARK];
            while let Some(mark) = marks.iter().find(|mark| event.starts_with(mark)) {
                event.advance(mark.len());
            }
        }
        event
    }

    /// The bytes that are buffered.
    pub(crate) fn len(&self) -> usize {
        self.buffer.len()
    }

    /// The place after the first line break that follows another one.
    fn end(&mut self) -> Option<usize> {
        let bytes = &self.buffer;
        let mut at = self.seen;
        while at < bytes.len() {
            let Some(first) = line_break(bytes, at) else {
                at += 1;
                continue;
            };
            if let Some(second) = line_break(bytes, at + first) {
                // `\r` may be the first half of a line break whose second half is still to come.
                let end = at + first + second;
                let is_known = end < bytes.len() || bytes[end - 1] == b'\n' || self.is_over;
                return is_known.then_some(end);
            }
            if at + first >= bytes.len() {
                break;
            }
            at += first;
        }
        self.seen = at;
        None
    }
}

/// The length of the line break at `at`.
fn line_break(bytes: &[u8], at: usize) -> Option<usize> {
    match (bytes.get(at)?, bytes.get(at + 1)) {
        (b'\r', Some(b'\n')) => Some(2),
        (b'\r' | b'\n', _) => Some(1),
        _ => None,
    }
}

/// The data of an event: its `data` lines, joined.
pub(crate) fn data(event: &[u8]) -> Vec<u8> {
    let mut data = Vec::new();
    let mut any = false;
    for line in lines(event) {
        if let Some(value) = line.strip_prefix(b"data:") {
            if any {
                data.push(b'\n');
            }
            any = true;
            data.extend_from_slice(value.strip_prefix(b" ").unwrap_or(value));
        }
    }
    data
}

/// The event with other data, in as many lines as that has; everything else stays.
pub(crate) fn with_data(event: &[u8], new: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(event.len() + new.len());
    let mut written = false;
    for line in lines(event) {
        if line.starts_with(b"data:") {
            if written {
                continue;
            }
            written = true;
            for line in lines(new) {
                out.extend_from_slice(b"data: ");
                out.extend_from_slice(line);
                out.push(b'\n');
            }
        } else if !line.is_empty() {
            out.extend_from_slice(line);
            out.push(b'\n');
        }
    }
    out.push(b'\n');
    out
}

/// An event with `data`.
pub(crate) fn event(data: &[u8]) -> Bytes {
    with_data(b"data:\n\n", data.trim_ascii_end()).into()
}

/// The id of an event, if it has one.
pub(crate) fn event_id(event: &[u8]) -> Option<&[u8]> {
    let ids = lines(event).filter_map(|line| line.strip_prefix(b"id:"));
    ids.last().map(|id| id.strip_prefix(b" ").unwrap_or(id)).filter(|id| !id.is_empty())
}

/// How long a client that lost the stream should wait, if an event says so.
pub(crate) fn event_retry(event: &[u8]) -> Option<Duration> {
    let last = lines(event).filter_map(|line| line.strip_prefix(b"retry:")).last()?;
    let text = std::str::from_utf8(last.strip_prefix(b" ").unwrap_or(last)).ok()?;
    text.parse().ok().map(Duration::from_millis)
}

/// The event without the lines, other than `data`, in which some clients find further lines; `None`
/// where nothing changes.
///
/// Python's `splitlines` ends a line at a vertical tab, a form feed, the separators U+001C to U+001E,
/// U+0085, U+2028 and U+2029, too.
pub(crate) fn without_hidden_lines(event: &[u8]) -> Option<Bytes> {
    let hides = |line: &[u8]| !line.starts_with(b"data:") && has_hidden_breaks(line);
    if !lines(event).any(hides) {
        return None;
    }
    let mut out = Vec::with_capacity(event.len());
    for line in lines(event).filter(|line| !line.is_empty() && !hides(line)) {
        out.extend_from_slice(line);
        out.push(b'\n');
    }
    out.push(b'\n');
    Some(out.into())
}

/// Whether some clients end a line inside of `line`.
pub(crate) fn has_hidden_breaks(line: &[u8]) -> bool {
    let is_control = |byte: &u8| matches!(byte, 0x0b | 0x0c | 0x1c..=0x1e);
    line.iter().any(is_control) || has_separators(line)
}

fn lines(event: &[u8]) -> impl Iterator<Item = &[u8]> {
    event
        .split(|byte| *byte == b'\n')
        .flat_map(|line| line.strip_suffix(b"\r").unwrap_or(line).split(|byte| *byte == b'\r'))
}

#[cfg(test)]
mod tests {
    use super::{EventSplitter, data, event_id, with_data, without_hidden_lines};

    fn cut(text: &str, size: usize) -> Vec<String> {
        let mut events = EventSplitter::default();
        let mut all = Vec::new();
        for piece in text.as_bytes().chunks(size) {
            events.feed(piece);
            while let Some(event) = events.next() {
                all.push(String::from_utf8(event.into()).unwrap());
            }
        }
        all.push(String::from_utf8(events.rest().into()).unwrap());
        all
    }

    #[test]
    fn events_end_at_blank_lines_however_they_arrive() {
        let text = "id: 1\ndata: a\n\n: hello\r\n\r\ndata: b\ndata:c\n\nrest";
        for size in 1..text.len() {
            let events = cut(text, size);
            assert_eq!(events.concat(), text);
            assert_eq!(events.last().unwrap(), "rest", "{size}");
            assert_eq!(events.iter().filter(|event| event.contains("data")).count(), 2, "{size}");
        }
    }

    #[test]
    fn data_is_replaced_alone() {
        let event = b"event: message\r\nid: 7\r\ndata: {\r\ndata: }\r\n\r\n";
        assert_eq!(data(event), b"{\n}");
        assert_eq!(with_data(event, b"{}"), b"event: message\nid: 7\ndata: {}\n\n");
        let lines = with_data(event, b"{\n\"a\":\r1,\r\n\"b\":2}");
        assert_eq!(data(&lines), b"{\n\"a\":\n1,\n\"b\":2}");
    }

    #[test]
    fn lines_that_hide_others_are_left_out() {
        assert_eq!(without_hidden_lines(b"id: 1\n: hello\ndata: \x0b\n\n"), None);
        let event = "id: 1\n: a\u{2028}data: b\nevent: x\u{b}data: c\ndata: d\n\n";
        let left = without_hidden_lines(event.as_bytes()).unwrap();
        assert_eq!(left, "id: 1\ndata: d\n\n");
        assert_eq!(event_id(&left), Some(&b"1"[..]));
        assert_eq!(event_id(b"data: 1\n\n"), None);
    }

    #[test]
    fn marks_are_left_out_at_the_start_alone() {
        let text = "\u{feff}\u{feff}\u{ef}\u{bb}\u{bf}\u{feff}data: a\n\n\u{feff}data: b\n\n";
        for size in 1..text.len() {
            let events = cut(text, size);
            assert_eq!(events, ["data: a\n\n", "\u{feff}data: b\n\n", ""], "{size}");
        }
        assert_eq!(cut("\u{feff}data", 1), ["data"]);
    }

    #[test]
    fn two_carriage_returns_end_the_last_event() {
        let mut events = EventSplitter::default();
        events.feed(b"data: a\r\r");
        assert_eq!(events.next(), None);
        events.finish();
        assert_eq!(events.next().unwrap(), "data: a\r\r");
        assert_eq!(events.rest(), "");
    }

    #[test]
    fn what_is_left_does_not_keep_the_memory_of_what_was_taken() {
        let mut events = EventSplitter::default();
        events.feed(&[&b"data: "[..], &vec![b'a'; 1 << 20], b"\n\nd"].concat());
        assert!(events.next().is_some() && events.next().is_none());
        assert!(events.len() == 1 && events.buffer.capacity() < 1 << 10);
    }
}
