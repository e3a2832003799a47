//! Lines of bounded length, read from a pipe.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncBufRead, AsyncRead, BufReader};

use super::{AT_ONCE, give_way};
use crate::memory::{MemoryLimit, NoMemory, Reservation, Sender};
use toolbond_guard_core::counted::Counted;
use toolbond_guard_core::message::{IdScanner, Unreadable};

/// One line of a pipe.
#[derive(Debug)]
pub(crate) enum Line {
    /// The line with its line break, if it has one.
    Whole(Counted),
    /// A line that is longer than allowed, or for which there is no memory. Only what identifies it is kept.
    TooLong(Unreadable),
}

/// Reads lines of at most `max` bytes.
#[derive(Debug)]
pub(crate) struct LineReader<R> {
    reader: BufReader<R>,
    max: usize,
    may_wait: bool,
    line: Vec<u8>,
    /// The memory of `line`.
    memory: Reservation,
    skipped: Option<SkippedLine>,
}

/// A line of which only the id is kept.
#[derive(Debug)]
struct SkippedLine {
    scanner: IdScanner,
    /// How much of what was kept before has been scanned.
    done: usize,
    /// How long the line is by now.
    bytes: usize,
    /// Why it is not kept, if it is not too long.
    why: Option<NoMemory>,
}

impl<R: AsyncRead + Unpin> LineReader<R> {
    /// Reads lines of `sender`. A line for which there is no memory is waited with.
    pub(crate) fn new(reader: R, sender: Sender, max: usize, limit: &MemoryLimit) -> Self {
        let reader = BufReader::with_capacity(BUFFER, reader);
        let (line, memory) = (Vec::new(), limit.message(sender));
        Self { reader, max, may_wait: true, line, memory, skipped: None }
    }

    /// Skips lines for which there is no memory.
    pub(crate) fn without_waiting(self) -> Self {
        Self { may_wait: false, ..self }
    }

    /// The next line; `None` at the end of the pipe. What was read of a line is kept between calls.
    pub(crate) async fn next(&mut self) -> io::Result<Option<Line>> {
        std::future::poll_fn(|context| self.poll_next(context)).await
    }

    pub(crate) fn poll_next(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<io::Result<Option<Line>>> {
        let mut moved = 0;
        loop {
            if let Some(skipped) = &mut self.skipped
                && skipped.done < self.line.len()
            {
                let end = self.line.len().min(skipped.done + AT_ONCE);
                skipped.scanner.feed(&self.line[skipped.done..end]);
                skipped.done = end;
                if end < self.line.len() {
                    give_way(context);
                    return Poll::Pending;
                }
                (self.line, self.memory) = (Vec::new(), self.memory.another(0));
                skipped.done = 0;
            }
            let buffer = ready!(Pin::new(&mut self.reader).poll_fill_buf(context))?;
            let end = memchr::memchr(b'\n', buffer);
            let part = &buffer[..end.map_or(buffer.len(), |at| at + 1)];
            let (used, bytes) = (part.len(), self.line.len() + part.len());
            if let Some(skipped) = &mut self.skipped {
                skipped.scanner.feed(part);
                skipped.bytes += used;
            } else {
                let mut why = None;
                if bytes <= self.max && bytes > self.line.capacity() {
                    // Most lines come in one piece. Longer ones get twice as much each time, but no more than allowed.
                    let capacity = if self.line.is_empty() { bytes } else { bytes * 2 };
                    let capacity = capacity.min(self.max);
                    let grown = if self.may_wait {
                        ready!(self.memory.poll_grow(capacity, context))
                    } else {
                        self.memory.try_grow(capacity)
                    };
                    match grown {
                        Ok(()) => self.line.reserve_exact(capacity - self.line.len()),
                        Err(error) => why = Some(error),
                    }
                }
                if bytes > self.max || why.is_some() {
                    let bytes = self.line.len();
                    self.skipped =
                        Some(SkippedLine { scanner: IdScanner::default(), done: 0, bytes, why });
                    continue;
                }
                self.line.extend_from_slice(part);
            }
            Pin::new(&mut self.reader).consume(used);
            if end.is_none() && used > 0 {
                moved += used;
                if moved >= AT_ONCE {
                    give_way(context);
                    return Poll::Pending;
                }
                continue;
            }
            let line = std::mem::take(&mut self.line);
            return Poll::Ready(Ok(match self.skipped.take() {
                Some(skipped) => Some(Line::TooLong(skipped.finish(self.max))),
                None if line.is_empty() => None,
                None => {
                    let memory = self.memory.another(0);
                    let memory = std::mem::replace(&mut self.memory, memory);
                    Some(Line::Whole(memory.attach(line)))
                }
            }));
        }
    }
}

impl SkippedLine {
    fn finish(self, max: usize) -> Unreadable {
        let (id, has_method) = self.scanner.finish();
        match self.why {
            None => Unreadable::too_long(self.bytes, max, id, has_method),
            Some(error) => Unreadable { id, has_method, ..Unreadable::not_read(error.to_string()) },
        }
    }
}

/// The bytes that are read at a time.
const BUFFER: usize = 64 << 10;

#[cfg(test)]
mod tests {
    use super::{Line, LineReader};
    use crate::memory::{MemoryLimit, Sender};
    use toolbond_guard_core::message::Id;

    async fn lines(text: &str, max: usize) -> Vec<Line> {
        let memory = MemoryLimit::default();
        let mut reader = LineReader::new(text.as_bytes(), Sender::Server, max, &memory);
        let mut lines = Vec::new();
        while let Some(line) = reader.next().await.unwrap() {
            lines.push(line);
        }
        lines
    }

    #[tokio::test]
    async fn keeps_line_breaks_and_a_last_line_without() {
        let lines = lines("a\r\n\nbcdefghijk", 64).await;
        let whole = lines.into_iter().map(|line| match line {
            Line::Whole(line) => String::from_utf8(line.to_vec()).unwrap(),
            Line::TooLong(text) => panic!("{text:?}"),
        });
        assert_eq!(whole.collect::<Vec<_>>(), ["a\r\n", "\n", "bcdefghijk"]);
    }

    #[tokio::test]
    async fn keeps_the_id_of_a_line_that_is_too_long() {
        let long = format!("{{\"result\":{{\"id\":1,\"x\":\"{}\"}},\"id\":7}}\n", "y".repeat(100));
        let lines = lines(&format!("{long}{{}}\n"), 20).await;
        let [Line::TooLong(text), Line::Whole(_)] = &lines[..] else { panic!("{lines:?}") };
        assert_eq!((text.id.clone(), text.has_method), (Some(Id::Integer(7)), false));
        assert!(text.reason.starts_with(&format!("message of {} bytes", long.len())));
    }

    /// Reads three lines of 3 MiB, of which one fits into the memory and one goes beyond it, while these are kept.
    async fn third_line(may_wait: bool) -> (MemoryLimit, [Line; 2], Line) {
        let limit = MemoryLimit::new(16 << 20);
        let line = format!("{{\"x\":\"{}\",\"id\":7}}\n", "y".repeat(3 << 20));
        let text = line.repeat(3);
        let mut reader = LineReader::new(text.as_bytes(), Sender::Server, 4 << 20, &limit);
        if !may_wait {
            reader = reader.without_waiting();
        }
        let first = reader.next().await.unwrap().unwrap();
        assert!(limit.used()[0] >= line.len(), "{:?}", limit.used());
        let second = reader.next().await.unwrap().unwrap();
        let third = reader.next().await.unwrap().unwrap();
        (limit, [first, second], third)
    }

    #[tokio::test(start_paused = true)]
    async fn a_line_is_counted_while_it_is_read_and_skipped_without_memory() {
        for may_wait in [false, true] {
            let start = tokio::time::Instant::now();
            let (limit, kept, third) = third_line(may_wait).await;
            // The second waits for its turn, the third in vain.
            assert_eq!(start.elapsed().as_secs(), if may_wait { 31 } else { 0 });
            let Line::TooLong(text) = third else { panic!("{third:?}") };
            assert_eq!(text.id, Some(Id::Integer(7)));
            assert!(text.reason.contains("--max-memory"), "{}", text.reason);
            drop(kept);
            assert_eq!(limit.used(), [0, 0]);
        }
    }
}
