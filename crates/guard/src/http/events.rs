//! Server-sent events, taken from a stream one by one.

/// Cuts a stream into events, each with the blank line that ends it.
#[derive(Debug, Default)]
pub(crate) struct Events {
    buffer: Vec<u8>,
    /// How far the buffer was searched.
    seen: usize,
}

impl Events {
    /// Adds what came.
    pub(crate) fn feed(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }

    /// The next whole event, if there is one.
    pub(crate) fn next(&mut self) -> Option<Vec<u8>> {
        let end = self.end()?;
        let rest = self.buffer.split_off(end);
        self.seen = 0;
        Some(std::mem::replace(&mut self.buffer, rest))
    }

    /// What came after the last whole event.
    pub(crate) fn rest(self) -> Vec<u8> {
        self.buffer
    }

    /// How much is kept.
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
                return (end < bytes.len() || bytes[end - 1] == b'\n').then_some(end);
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

/// The event with other data, which is one line; everything else stays.
pub(crate) fn with_data(event: &[u8], new: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(event.len() + new.len());
    let mut written = false;
    for line in lines(event) {
        if line.starts_with(b"data:") {
            if written {
                continue;
            }
            written = true;
            out.extend_from_slice(b"data: ");
            out.extend_from_slice(new);
        } else if line.is_empty() {
            continue;
        } else {
            out.extend_from_slice(line);
        }
        out.push(b'\n');
    }
    out.push(b'\n');
    out
}

fn lines(event: &[u8]) -> impl Iterator<Item = &[u8]> {
    event
        .split(|byte| *byte == b'\n')
        .flat_map(|line| line.strip_suffix(b"\r").unwrap_or(line).split(|byte| *byte == b'\r'))
}

#[cfg(test)]
mod tests {
    use super::{Events, data, with_data};

    fn cut(text: &str, size: usize) -> Vec<String> {
        let mut events = Events::default();
        let mut all = Vec::new();
        for piece in text.as_bytes().chunks(size) {
            events.feed(piece);
            while let Some(event) = events.next() {
                all.push(String::from_utf8(event).unwrap());
            }
        }
        all.push(String::from_utf8(events.rest()).unwrap());
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
    }
}
