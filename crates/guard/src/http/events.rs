//! Server-sent events, split off a stream one by one.

use std::sync::Arc;
use std::time::Duration;

use bytes::{Buf as _, Bytes};
use http_body_util::BodyExt as _;

use super::body::BodyError;
use super::respond::BoxError;
use crate::memory::{MemoryLimit, Reservation, Sender};
use crate::pipe::breaks::has_separators;
use toolbond_guard_core::counted::Counted;
use toolbond_guard_core::message::BYTE_ORDER_MARK;

/// A byte order mark that was read as Latin-1, which `eventsource-parser` skips.
const MISREAD_MARK: &[u8] = "\u{ef}\u{bb}\u{bf}".as_bytes();

/// Events up to this size are copied out of what was read.
const COPIED: usize = 4 << 10;

/// Splits a stream into events of at most so many bytes, each with the blank line that ends it, and removes byte
/// order marks at its start.
#[derive(Debug)]
pub(crate) struct EventSplitter {
    limit: Arc<MemoryLimit>,
    max: usize,
    /// What was read, and how much of it has been taken and searched.
    buffer: Vec<u8>,
    taken: usize,
    seen: usize,
    /// The memory of the buffer.
    memory: Reservation,
    /// Whether an event has been taken.
    has_begun: bool,
    /// Whether the stream has ended.
    is_over: bool,
}

impl EventSplitter {
    /// Splits a stream of `sender` whose events have at most `max` bytes.
    pub(crate) fn new(sender: Sender, max: usize, limit: &Arc<MemoryLimit>) -> Self {
        let (limit, memory) = (Arc::clone(limit), limit.message(sender));
        let (buffer, has_begun, is_over) = (Vec::new(), false, false);
        Self { limit, max, buffer, taken: 0, seen: 0, memory, has_begun, is_over }
    }

    /// Adds bytes of the stream, once there is memory for them. To be called after all complete events were taken.
    ///
    /// Fails if there is none in time, or if an event is too long.
    pub(crate) async fn feed(&mut self, bytes: &[u8]) -> Result<(), BodyError> {
        if self.len() > self.max {
            return Err(BodyError::TooLong(self.max));
        }
        self.buffer.drain(..self.taken);
        self.seen -= self.taken;
        self.taken = 0;
        let needed = self.buffer.len() + bytes.len();
        if needed > self.buffer.capacity() {
            let most = self.max.saturating_add(bytes.len());
            let capacity = if self.buffer.is_empty() { needed } else { (2 * needed).min(most) };
            self.memory.grow(capacity).await.map_err(BodyError::NoMemory)?;
            self.buffer.reserve_exact(capacity - self.buffer.len());
        }
        self.buffer.extend_from_slice(bytes);
        Ok(())
    }

    /// The stream has ended.
    pub(crate) fn finish(&mut self) {
        self.is_over = true;
    }

    /// The next complete event, if there is one.
    pub(crate) fn next(&mut self) -> Option<Counted> {
        let Some(end) = self.end() else {
            if self.len() == 0 {
                // A stream that waits takes no memory.
                self.clear();
            }
            return None;
        };
        let event = if end - self.taken <= COPIED {
            let event = Bytes::copy_from_slice(&self.buffer[self.taken..end]);
            self.taken = end;
            self.limit.count(event)
        } else {
            self.take(end)
        };
        self.seen = self.taken;
        Some(self.unmarked(&event))
    }

    /// The bytes after the last complete event.
    pub(crate) fn rest(&mut self) -> Counted {
        let rest = self.take(self.buffer.len());
        self.unmarked(&rest)
    }

    /// Takes the bytes up to `end`, with the memory that they are in.
    fn take(&mut self, end: usize) -> Counted {
        let rest = self.buffer.split_off(end);
        let memory = self.memory.another(rest.capacity());
        let memory = std::mem::replace(&mut self.memory, memory);
        let event = Bytes::from(std::mem::replace(&mut self.buffer, rest));
        let taken = std::mem::take(&mut self.taken);
        let event = memory.attach(event);
        event.part(&event[taken..])
    }

    fn clear(&mut self) {
        (self.buffer, self.taken, self.seen) = (Vec::new(), 0, 0);
        self.memory = self.memory.another(0);
    }

    /// The first event without the marks that some clients skip before it.
    fn unmarked(&mut self, event: &Counted) -> Counted {
        let mut left = &event[..];
        if !std::mem::replace(&mut self.has_begun, true) {
            let marks = [BYTE_ORDER_MARK.as_bytes(), MISREAD_MARK];
            while let Some(mark) = marks.iter().find(|mark| left.starts_with(mark)) {
                left.advance(mark.len());
            }
        }
        event.part(left)
    }

    /// The bytes that are buffered.
    pub(crate) fn len(&self) -> usize {
        self.buffer.len() - self.taken
    }

    /// The place after the first line break that follows another one.
    fn end(&mut self) -> Option<usize> {
        let bytes = &self.buffer;
        let mut at = self.seen;
        while at < bytes.len() {
            let Some(first) = line_break(bytes, at) else {
                at += memchr::memchr2(b'\r', b'\n', &bytes[at..]).unwrap_or(bytes.len() - at);
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

/// The events in the body of a response.
pub(crate) struct BodyEvents<B> {
    body: B,
    events: EventSplitter,
}

impl<B> BodyEvents<B>
where
    B: hyper::body::Body<Data = Bytes, Error: Into<BoxError>> + Unpin,
{
    /// The events in `body` of `sender`, of at most `max` bytes each.
    pub(crate) fn new(body: B, sender: Sender, max: usize, limit: &Arc<MemoryLimit>) -> Self {
        Self { body, events: EventSplitter::new(sender, max, limit) }
    }

    /// The next event; `None` at the end, and where the body breaks off. The last one may lack its blank line
    /// ([`is_over`](Self::is_over)).
    ///
    /// Fails if there is no memory for it in time, or if it is too long.
    pub(crate) async fn next(&mut self) -> Result<Option<Counted>, BodyError> {
        loop {
            if let Some(event) = self.events.next() {
                return Ok(Some(event));
            }
            if self.events.is_over {
                let rest = self.events.rest();
                return Ok((!rest.is_empty()).then_some(rest));
            }
            match self.body.frame().await {
                Some(Ok(frame)) => {
                    if let Ok(bytes) = frame.into_data() {
                        self.events.feed(&bytes).await?;
                    }
                }
                Some(Err(_)) => return Ok(None),
                None => self.events.finish(),
            }
        }
    }
}

impl<B> BodyEvents<B> {
    /// Whether the body has ended, so that the event that came last may have been cut off.
    pub(crate) fn is_over(&self) -> bool {
        self.events.is_over
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

/// The data of an event: its `data` line, or its `data` lines, joined.
pub(crate) fn data(event: &Counted, limit: &MemoryLimit) -> Counted {
    let values = || {
        let values = lines(event).filter_map(|line| line.strip_prefix(b"data:"));
        values.map(|value| value.strip_prefix(b" ").unwrap_or(value))
    };
    let mut some = values().take(2);
    match (some.next(), some.next()) {
        (None, _) => Counted::default(),
        (Some(one), None) => event.part(one),
        _ => limit.count(values().collect::<Vec<_>>().join(&b'\n')),
    }
}

/// The event with other data, in as many lines as that has; everything else stays.
pub(crate) fn with_data(event: &[u8], new: &[u8]) -> Vec<u8> {
    // Most data is one line.
    let mut out = Vec::with_capacity(event.len() + new.len() + 16);
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

/// The type of an event, if it has one.
pub(crate) fn event_type(event: &[u8]) -> Option<&[u8]> {
    let last = lines(event).filter_map(|line| line.strip_prefix(b"event:")).last()?;
    Some(last.strip_prefix(b" ").unwrap_or(last))
}

/// How long a client that lost the stream should wait, if an event says so.
pub(crate) fn event_retry(event: &[u8]) -> Option<Duration> {
    let last = lines(event).filter_map(|line| line.strip_prefix(b"retry:")).last()?;
    let text = std::str::from_utf8(last.strip_prefix(b" ").unwrap_or(last)).ok()?;
    text.parse().ok().map(Duration::from_millis)
}

/// The event with lines that all clients end at the same places, and without fields that nobody knows; `None` where
/// nothing changes.
///
/// Some clients end a line at `\n` alone. Python's `splitlines` ends one at a vertical tab, a form feed, the separators
/// U+001C to U+001E, U+0085, U+2028 and U+2029, too: lines with those, other than `data`, are left out.
pub(crate) fn with_plain_lines(event: &[u8]) -> Option<Bytes> {
    let hides = |line: &[u8]| !line.starts_with(b"data:") && has_hidden_breaks(line);
    let is_bare = |at: usize| event.get(at + 1) != Some(&b'\n');
    if !memchr::memchr_iter(b'\r', event).any(is_bare) && !lines(event).any(hides) {
        return None;
    }
    let fields: [&[u8]; 5] = [b"data:", b"event:", b"id:", b"retry:", b":"];
    let is_field = |line: &[u8]| fields.iter().any(|field| line.starts_with(field));
    let mut out = Vec::with_capacity(event.len());
    for line in lines(event).filter(|line| is_field(line) && !hides(line)) {
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

/// The lines of an event; some are empty that are none.
fn lines(event: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = Some(event);
    let lines = std::iter::from_fn(move || {
        let text = rest?;
        let (line, next) = match memchr::memchr(b'\n', text) {
            Some(at) => (&text[..at], Some(&text[at + 1..])),
            None => (text, None),
        };
        rest = next;
        Some(line)
    });
    let returns = |line: &[u8]| memchr::memchr(b'\r', line).is_some();
    lines.flat_map(move |line| {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        // Most lines have none, and long ones are searched faster than split.
        let (whole, split) = if returns(line) { (None, Some(line)) } else { (Some(line), None) };
        let split = split.into_iter().flat_map(|line| line.split(|byte| *byte == b'\r'));
        whole.into_iter().chain(split)
    })
}

#[cfg(test)]
mod tests {
    use crate::testing::counted;
    use std::sync::Arc;

    use futures_util::FutureExt as _;

    use super::{BodyEvents, Bytes, EventSplitter, data, event_id, with_data, with_plain_lines};
    use crate::http::body::BodyError;
    use crate::memory::{MemoryLimit, Sender};
    use toolbond_guard_core::counted::Counted;

    fn splitter() -> EventSplitter {
        EventSplitter::new(Sender::Server, 2 << 20, &Arc::new(MemoryLimit::default()))
    }

    fn feed(events: &mut EventSplitter, bytes: &[u8]) {
        events.feed(bytes).now_or_never().unwrap().unwrap();
    }

    fn data_of(event: &[u8]) -> Counted {
        data(&counted(event.to_vec()), &MemoryLimit::default())
    }

    fn cut(text: &str, size: usize) -> Vec<String> {
        let mut events = splitter();
        let mut all = Vec::new();
        for piece in text.as_bytes().chunks(size) {
            feed(&mut events, piece);
            while let Some(event) = events.next() {
                all.push(String::from_utf8(event.to_vec()).unwrap());
            }
        }
        all.push(String::from_utf8(events.rest().to_vec()).unwrap());
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
        assert_eq!(&data_of(event)[..], b"{\n}");
        assert_eq!(with_data(event, b"{}"), b"event: message\nid: 7\ndata: {}\n\n");
        let lines = with_data(event, b"{\n\"a\":\r1,\r\n\"b\":2}");
        assert_eq!(&data_of(&lines)[..], b"{\n\"a\":\n1,\n\"b\":2}");
    }

    #[test]
    fn lines_end_where_all_clients_end_them_and_those_that_hide_others_are_left_out() {
        let same = ["id: 1\n: hello\ndata: \x0b\n\n", "data: a\r\ndata: b\r\n\r\n", "a: b\n\n"];
        assert!(same.iter().all(|event| with_plain_lines(event.as_bytes()).is_none()));
        for (event, plain) in [
            ("id: 1\n: a\u{2028}data: b\nevent: x\u{b}data: c\ndata: d\n\n", "id: 1\ndata: d\n\n"),
            ("data: \r{}\n\n", "data: \n\n"),
            ("id: 1\ndata:\r\r", "id: 1\ndata:\n\n"),
            ("\r{}\n\n", "\n"),
            ("retry: 1\rdata: a\r\n\n", "retry: 1\ndata: a\n\n"),
        ] {
            assert_eq!(with_plain_lines(event.as_bytes()).unwrap(), plain, "{event:?}");
        }
        assert_eq!(event_id(b"id: 1\ndata: d\n\n"), Some(&b"1"[..]));
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
        let mut events = splitter();
        feed(&mut events, b"data: a\r\r");
        assert_eq!(events.next(), None);
        events.finish();
        assert_eq!(**events.next().unwrap(), *b"data: a\r\r");
        assert!(events.rest().is_empty());
    }

    #[tokio::test]
    async fn the_last_event_of_a_body_needs_no_blank_line() {
        let cases = [
            ("data: {}\r\r", "data: {}\r\r"),
            ("data: []\n", "data: []\n"),
            ("data: {}", "data: {}"),
            ("", ""),
        ];
        for (text, last) in cases {
            let body = http_body_util::Full::new(Bytes::from(format!("data: 1\n\n{text}")));
            let limit = Arc::new(MemoryLimit::default());
            let mut events = BodyEvents::new(body, Sender::Server, 100, &limit);
            assert_eq!(&events.next().await.unwrap().unwrap()[..], b"data: 1\n\n");
            let found = events.next().await.unwrap().unwrap_or_default();
            assert_eq!(&found[..], last.as_bytes());
            assert!(events.next().await.unwrap().is_none());
        }
    }

    #[tokio::test(start_paused = true)]
    async fn events_are_counted_while_they_are_read_and_until_they_are_dropped() {
        let limit = Arc::new(MemoryLimit::new(4 << 20));
        let mut events = EventSplitter::new(Sender::Server, 2 << 20, &limit);
        let half = [&b"data: "[..], &vec![b'a'; 1 << 20]].concat();
        feed(&mut events, &half);
        assert!(limit.used()[0] >= half.len());
        feed(&mut events, b"\n\nd");
        let event = events.next().unwrap();
        // What is left does not keep the memory of what was taken.
        assert!(events.next().is_none() && events.len() == 1 && events.buffer.capacity() < 1 << 10);
        let text = data(&event, &limit);
        drop(event);
        assert!(limit.used()[0] > 1 << 20 && text.len() == 1 << 20);
        assert!(matches!(events.feed(&half).await, Err(BodyError::NoMemory(_))));
        drop(text);
        feed(&mut events, &half);
        feed(&mut events, b"\n\n");
        assert!(events.next().is_some() && events.next().is_none());
        assert_eq!(limit.used(), [0, 0]);
    }

    #[test]
    fn an_event_is_bounded() {
        let mut events = EventSplitter::new(Sender::Server, 10, &Arc::new(MemoryLimit::default()));
        feed(&mut events, b"data: 1\n\ndata: 2\n\n");
        assert!(events.next().is_some() && events.next().is_some() && events.next().is_none());
        feed(&mut events, b"data: 12345");
        assert!(events.next().is_none());
        let fed = events.feed(b"6").now_or_never().unwrap();
        assert!(matches!(fed, Err(BodyError::TooLong(10))));
    }
}
