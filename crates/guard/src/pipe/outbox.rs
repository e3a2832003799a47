//! Lines on their way into a pipe.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::sync::Mutex;
use std::task::{Context, Poll, Waker};

use smallvec::SmallVec;
use tokio::io::AsyncWrite;
use tokio::sync::Notify;

use super::pieces::Pieces;
use super::{AT_ONCE, give_way};
use toolbond_guard_core::conversation::StreamId;
use toolbond_guard_core::counted::Counted;
use toolbond_guard_core::lock::lock;

/// The bytes that may wait in an outbox before its sources are not read any further.
pub(crate) const ROOM: usize = 1 << 20;

/// What a line takes beside its text, so that many short lines are bounded, too.
const EACH: usize = 64;

/// The most lines of one write, each with its line break.
const SLICES: usize = 32;

/// A line of more bytes than this is large: small ones of other streams go before it.
const LARGE: usize = 64 << 10;

/// The bytes that may go before a large line.
const MAX_PASSED: usize = 1 << 20;

/// The most lines that a small one goes before.
const MAX_LINES: usize = 64;

/// Lines that wait to be written, oldest first, but that small ones do not wait for large ones of other streams.
#[derive(Debug, Default)]
pub(crate) struct Outbox {
    state: Mutex<Queue>,
    /// Tells those who wait for room.
    written: Notify,
}

#[derive(Debug, Default)]
struct Queue {
    lines: VecDeque<Line>,
    /// Whether a part of the first line has been written.
    is_begun: bool,
    bytes: usize,
    /// Those of large lines.
    large: usize,
    is_closed: bool,
    writer: Option<Waker>,
}

#[derive(Debug)]
struct Line {
    /// With a line break.
    pieces: VecDeque<Counted>,
    /// The request of a client that it is of; lines of no request keep their place among all others.
    stream: Option<StreamId>,
    is_large: bool,
    /// The bytes that have gone before it.
    passed: usize,
}

impl Outbox {
    /// Adds a line; its line break is added where it has none.
    pub(crate) fn push(&self, line: Counted) {
        self.push_of(None, line.into());
    }

    /// Adds a line of `stream`. Those of one stream stay in order.
    pub(crate) fn push_of(&self, stream: Option<StreamId>, pieces: Pieces) {
        let mut state = lock(&self.state);
        if state.is_closed {
            return;
        }
        let mut pieces: VecDeque<_> = pieces.into_iter().filter(|it| !it.is_empty()).collect();
        if !pieces.back().is_some_and(|piece| piece.ends_with(b"\n")) {
            pieces.push_back(Counted::from_static(b"\n"));
        }
        let bytes = pieces.iter().map(|piece| piece.len()).sum::<usize>() + EACH;
        let is_large = bytes > LARGE;
        state.bytes += bytes;
        state.large += if is_large { bytes } else { 0 };
        let at = if is_large { state.lines.len() } else { state.place(stream) };
        for line in state.lines.iter_mut().skip(at) {
            line.passed += bytes;
        }
        state.lines.insert(at, Line { pieces, stream, is_large, passed: 0 });
        if let Some(writer) = state.writer.take() {
            writer.wake();
        }
    }

    /// The bytes that wait.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        lock(&self.state).bytes
    }

    /// The bytes of small lines that wait.
    pub(crate) fn small_len(&self) -> usize {
        let state = lock(&self.state);
        state.bytes - state.large
    }

    /// Waits until there is room for more.
    pub(crate) async fn wait_for_room(&self) {
        self.wait_until(|state| state.bytes < ROOM).await;
    }

    /// Waits until small lines of fewer than `most` bytes wait.
    pub(crate) async fn wait_for_small(&self, most: usize) {
        self.wait_until(|state| state.bytes - state.large < most).await;
    }

    async fn wait_until(&self, has_room: impl Fn(&Queue) -> bool) {
        loop {
            let mut written = std::pin::pin!(self.written.notified());
            written.as_mut().enable();
            {
                let state = lock(&self.state);
                if state.is_closed || has_room(&state) {
                    return;
                }
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
        let mut moved = 0;
        loop {
            if moved >= AT_ONCE {
                give_way(context);
                return Poll::Pending;
            }
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
                let pieces = state.lines.iter().flat_map(|line| &line.pieces).take(SLICES);
                let slices: SmallVec<[_; SLICES]> =
                    pieces.map(|piece| io::IoSlice::new(piece)).collect();
                writer.as_mut().poll_write_vectored(context, &slices)
            } else {
                writer.as_mut().poll_write(context, &state.lines[0].pieces[0])
            };
            match poll {
                Poll::Ready(Ok(0)) => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                Poll::Ready(Ok(written)) => {
                    moved += written;
                    state.advance(written);
                }
                Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
                Poll::Pending => return Poll::Pending,
            }
            let has_room = state.bytes - state.large < ROOM;
            drop(state);
            if has_room {
                self.written.notify_waiters();
            }
        }
    }
}

impl Queue {
    /// Where a small line of `stream` goes: before the large ones of other streams that nothing else holds in place.
    fn place(&self, stream: Option<StreamId>) -> usize {
        let mut place = self.lines.len();
        let Some(stream) = stream else { return place };
        let lines = self.lines.iter().enumerate().skip(usize::from(self.is_begun));
        for (at, line) in lines.rev().take(MAX_LINES) {
            let is_other = line.stream.is_some_and(|other| other != stream);
            if !is_other || line.passed >= MAX_PASSED {
                break;
            }
            if line.is_large {
                place = at;
            }
        }
        place
    }

    /// Takes what was written off the front.
    fn advance(&mut self, mut written: usize) {
        while written > 0 {
            let Some(line) = self.lines.front_mut() else { break };
            let Some(piece) = line.pieces.front_mut() else { break };
            let part = written.min(piece.len());
            piece.advance(part);
            written -= part;
            if piece.is_empty() {
                line.pieces.pop_front();
            }
            let (is_large, is_over) = (line.is_large, line.pieces.is_empty());
            if is_over {
                self.lines.pop_front();
            }
            self.is_begun = !is_over;
            self.release(part, is_large, is_over);
        }
    }

    /// Counts `bytes` no longer, which may be the last of their line.
    fn release(&mut self, bytes: usize, is_large: bool, is_over: bool) {
        let bytes = bytes + if is_over { EACH } else { 0 };
        self.bytes -= bytes;
        self.large -= if is_large { bytes } else { 0 };
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::counted;
    use bytes::Bytes;
    use tokio::io::{AsyncReadExt as _, duplex};

    use super::{LARGE, MAX_PASSED, Outbox, Pieces, ROOM};
    use toolbond_guard_core::conversation::StreamId;

    #[tokio::test]
    async fn writes_lines_in_order_and_closes() {
        let outbox = Outbox::default();
        outbox.push(counted(Bytes::from_static(b"a\n")));
        outbox.push(counted(Bytes::from_static(b"b")));
        outbox.push(counted(vec![b'c'; ROOM]));
        assert!(outbox.len() >= ROOM);
        outbox.close();
        outbox.push(counted(Bytes::from_static(b"late")));
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

    /// Lines of `stream`: a letter, with many more bytes where it is a capital.
    fn push(outbox: &Outbox, stream: Option<StreamId>, letters: &str) {
        for letter in letters.chars() {
            let many = if letter.is_uppercase() { LARGE } else { 0 };
            let line = [letter.to_string().as_bytes(), &vec![b' '; many]].concat();
            outbox.push_of(stream, Pieces::from_iter([counted(line)]));
        }
    }

    /// The letters of the lines, in the order in which they leave.
    async fn letters(outbox: Outbox) -> String {
        outbox.close();
        let (mut writer, mut reader) = duplex(1 << 20);
        let mut text = String::new();
        let write = async {
            outbox.write_to(&mut writer).await.unwrap();
            drop(writer);
        };
        let ((), read) = tokio::join!(write, reader.read_to_string(&mut text));
        read.unwrap();
        assert_eq!(outbox.len(), 0);
        text.lines().filter_map(|line| line.chars().next()).collect()
    }

    #[tokio::test]
    async fn small_lines_go_before_large_ones_of_other_streams_alone() {
        let (a, b, c) = (Some(StreamId::new()), Some(StreamId::new()), Some(StreamId::new()));
        let outbox = Outbox::default();
        push(&outbox, a, "Ax");
        push(&outbox, b, "b");
        push(&outbox, c, "Cz");
        push(&outbox, b, "y");
        assert_eq!(letters(outbox).await, "byAxCz");
        // What is of no stream goes before nothing, and nothing goes before it.
        let outbox = Outbox::default();
        push(&outbox, a, "A");
        push(&outbox, None, "n");
        push(&outbox, b, "b");
        push(&outbox, c, "C");
        push(&outbox, b, "y");
        assert_eq!(letters(outbox).await, "AnbyC");
    }

    #[tokio::test]
    async fn a_large_line_waits_for_so_many_bytes_alone() {
        let (a, b) = (Some(StreamId::new()), Some(StreamId::new()));
        let outbox = Outbox::default();
        push(&outbox, a, "A");
        let small = vec![b'b'; LARGE / 2];
        for _ in 0..100 {
            outbox.push_of(b, Pieces::from_iter([counted(small.clone())]));
        }
        let letters = letters(outbox).await;
        let before = letters.find('A').unwrap();
        assert!(before >= 30 && before <= MAX_PASSED / small.len() + 1, "{before}");
    }

    #[tokio::test]
    async fn a_line_that_is_begun_is_written_to_its_end() {
        let (a, b, c) = (Some(StreamId::new()), Some(StreamId::new()), Some(StreamId::new()));
        let outbox = Outbox::default();
        push(&outbox, a, "A");
        push(&outbox, c, "C");
        let (mut writer, mut reader) = duplex(100);
        let write = async { outbox.write_to(&mut writer).await.unwrap() };
        let read = async {
            let mut text = String::new();
            let mut first = [0; 10];
            reader.read_exact(&mut first).await.unwrap();
            assert_eq!(outbox.small_len(), 0);
            push(&outbox, b, "b");
            outbox.close();
            reader.read_to_string(&mut text).await.unwrap();
            text.retain(char::is_alphabetic);
            text
        };
        let (text, ()) = tokio::join!(read, async {
            write.await;
        });
        assert_eq!(text, "bC");
    }
}
