//! Lines on their way into a pipe.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::sync::Mutex;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use smallvec::SmallVec;
use tokio::io::AsyncWrite;
use tokio::sync::Notify;

use crate::lock::lock;
use crate::memory::Counted;

/// The bytes that may wait in an outbox before its sources are not read any further.
pub(crate) const ROOM: usize = 1 << 20;

/// What a line takes beside its text, so that many short lines are bounded, too.
const EACH: usize = 64;

/// The most lines of one write, each with its line break.
const SLICES: usize = 32;

/// Lines that wait to be written, oldest first.
#[derive(Debug, Default)]
pub(crate) struct Outbox {
    state: Mutex<State>,
    /// Tells those who wait for room.
    written: Notify,
}

#[derive(Debug, Default)]
struct State {
    lines: VecDeque<Counted>,
    bytes: usize,
    is_closed: bool,
    writer: Option<Waker>,
}

impl Outbox {
    /// Adds a line; its line break is added where it has none.
    pub(crate) fn push(&self, line: Counted) {
        let mut state = lock(&self.state);
        if state.is_closed {
            return;
        }
        state.bytes += line.len() + EACH;
        let ends = line.ends_with(b"\n");
        state.lines.push_back(line);
        if !ends {
            state.lines.push_back(Counted::from_static(b"\n"));
        }
        if let Some(writer) = state.writer.take() {
            writer.wake();
        }
    }

    /// The bytes that wait.
    pub(crate) fn len(&self) -> usize {
        lock(&self.state).bytes
    }

    /// Waits until there is room for more.
    pub(crate) async fn wait_for_room(&self) {
        self.wait_until_below(ROOM).await;
    }

    /// Waits until fewer than `most` bytes wait.
    pub(crate) async fn wait_until_below(&self, most: usize) {
        loop {
            let mut written = std::pin::pin!(self.written.notified());
            written.as_mut().enable();
            if self.len() < most || lock(&self.state).is_closed {
                return;
            }
            written.await;
        }
    }

    /// Writes what waits, and closes the pipe after it; nothing more is added.
    pub(crate) fn close(&self) {
        let mut state = lock(&self.state);
        state.is_closed = true;
        if let Some(writer) = state.writer.take() {
            writer.wake();
        }
        drop(state);
        self.written.notify_waiters();
    }

    /// Takes the next line, for who needs no pipe; `None` when the outbox is closed and empty.
    pub(crate) async fn next_line(&self) -> Option<Counted> {
        poll_fn(|context| {
            let mut state = lock(&self.state);
            let Some(line) = state.lines.pop_front() else {
                state.writer = Some(context.waker().clone());
                return if state.is_closed { Poll::Ready(None) } else { Poll::Pending };
            };
            if !line.ends_with(b"\n") {
                // Its line break is the next one.
                state.lines.pop_front();
            }
            state.bytes = state.bytes.saturating_sub(line.len() + EACH);
            drop(state);
            self.written.notify_waiters();
            Poll::Ready(Some(line))
        })
        .await
    }

    /// Writes what is pushed, until the outbox is closed and empty, or the pipe is broken.
    pub(crate) async fn write_to(&self, writer: &mut (impl AsyncWrite + Unpin)) -> io::Result<()> {
        poll_fn(|context| self.poll_write(Pin::new(&mut *writer), context)).await
    }

    /// Writes what there is: pending while the pipe takes no more or there is nothing to write, ready
    /// when the outbox is closed and empty, or the pipe is broken.
    fn poll_write(
        &self,
        mut writer: Pin<&mut (impl AsyncWrite + ?Sized)>,
        context: &mut Context<'_>,
    ) -> Poll<io::Result<()>> {
        loop {
            let mut state = lock(&self.state);
            if state.lines.is_empty() {
                state.writer = Some(context.waker().clone());
                let is_closed = state.is_closed;
                drop(state);
                return match (is_closed, writer.as_mut().poll_flush(context)?) {
                    (true, Poll::Ready(())) => writer.as_mut().poll_shutdown(context),
                    _ => Poll::Pending,
                };
            }
            let poll = if writer.is_write_vectored() {
                let slices: SmallVec<[_; SLICES]> =
                    state.lines.iter().take(SLICES).map(|line| io::IoSlice::new(line)).collect();
                writer.as_mut().poll_write_vectored(context, &slices)
            } else {
                writer.as_mut().poll_write(context, &state.lines[0])
            };
            match poll {
                Poll::Ready(Ok(0)) => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                Poll::Ready(Ok(written)) => state.advance(written),
                Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
                Poll::Pending => return Poll::Pending,
            }
            let has_room = state.bytes < ROOM;
            drop(state);
            if has_room {
                self.written.notify_waiters();
            }
        }
    }
}

impl State {
    /// Takes what was written off the front.
    fn advance(&mut self, mut written: usize) {
        while written > 0 {
            let Some(line) = self.lines.front_mut() else { break };
            let part = written.min(line.len());
            line.advance(part);
            written -= part;
            self.bytes = self.bytes.saturating_sub(part);
            if line.is_empty() {
                self.lines.pop_front();
                self.bytes = self.bytes.saturating_sub(EACH / 2);
            }
        }
        if self.lines.is_empty() {
            self.bytes = 0;
        }
    }
}

/// `bytes` as one line: a JSON text without the characters at which some reader ends a line.
///
/// Python ends lines at a carriage return, too, and `readline` of Node at U+2028 and U+2029. Between
/// tokens line breaks become spaces; inside strings JSON allows no bare ones, and the others are
/// escaped.
pub(crate) fn one_line(bytes: Bytes) -> Bytes {
    let body = bytes.trim_ascii_end();
    let breaks = memchr::memchr2(b'\n', b'\r', body).is_some();
    let separators = has_separators(body);
    if !breaks && !separators {
        return bytes;
    }
    let mut line = body.to_vec();
    line.iter_mut().filter(|byte| matches!(byte, b'\n' | b'\r')).for_each(|byte| *byte = b' ');
    let line = match std::str::from_utf8(&line) {
        Ok(text) if separators => escape_separators(text).into_owned().into_bytes(),
        _ => line,
    };
    line.into()
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
    use tokio::io::{AsyncReadExt as _, duplex};

    use super::{Outbox, ROOM, one_line};

    #[tokio::test]
    async fn writes_lines_in_order_and_closes() {
        let outbox = Outbox::default();
        outbox.push(Bytes::from_static(b"a\n").into());
        outbox.push(Bytes::from_static(b"b").into());
        outbox.push(vec![b'c'; ROOM].into());
        assert!(outbox.len() >= ROOM);
        outbox.close();
        outbox.push(Bytes::from_static(b"late").into());
        let (mut writer, mut reader) = duplex(100);
        let mut read = Vec::new();
        let (written, _) = tokio::join!(
            async {
                let done = outbox.write_to(&mut writer).await;
                drop(writer);
                done
            },
            reader.read_to_end(&mut read)
        );
        written.unwrap();
        assert!(read.starts_with(b"a\nb\ncc") && read.ends_with(b"c\n") && outbox.len() == 0);
    }

    #[tokio::test]
    async fn hands_over_lines_in_order_and_whole() {
        let outbox = Outbox::default();
        for line in ["a\n", "b", "", "c\n"] {
            outbox.push(Bytes::from(line).into());
        }
        outbox.close();
        let mut lines = Vec::new();
        while let Some(line) = outbox.next_line().await {
            lines.push(line.trim_ascii_end().to_vec());
        }
        assert_eq!(lines, [&b"a"[..], b"b", b"", b"c"]);
        assert_eq!(outbox.len(), 0);
    }

    #[test]
    fn a_line_has_no_line_breaks_inside() {
        let line = |text: &str| one_line(Bytes::from(text.to_owned()));
        assert_eq!(line("{\"a\":1}\r\n"), "{\"a\":1}\r\n");
        assert_eq!(line("{\"a\":\r1\n}"), "{\"a\": 1 }");
        assert_eq!(line("[\"\u{2028}\u{85}é\"]\n"), "[\"\\u2028\\u0085é\"]");
    }
}
