//! Lines of bounded length, read from a pipe.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncBufRead, AsyncRead, BufReader};

use crate::message::{Skim, Unreadable};

/// One line of a pipe.
#[derive(Debug)]
pub(crate) enum Line {
    /// The line with its line break, if it has one.
    Whole(Vec<u8>),
    /// A line that is longer than allowed, of which only what identifies it is kept.
    TooLong(Unreadable),
}

/// Reads lines of at most `max` bytes.
#[derive(Debug)]
pub(crate) struct LineReader<R> {
    reader: BufReader<R>,
    max: usize,
    line: Vec<u8>,
    /// The rest of a line that is too long, and how long it is by now.
    skim: Option<(Skim, usize)>,
}

impl<R: AsyncRead + Unpin> LineReader<R> {
    pub(crate) fn new(reader: R, max: usize) -> Self {
        let reader = BufReader::with_capacity(BUFFER, reader);
        Self { reader, max, line: Vec::new(), skim: None }
    }

    /// The next line; `None` at the end of the pipe.
    pub(crate) async fn next(&mut self) -> io::Result<Option<Line>> {
        std::future::poll_fn(|context| self.poll_next(context)).await
    }

    /// The next line; `None` at the end of the pipe. What was read of a line is kept between calls.
    pub(crate) fn poll_next(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<io::Result<Option<Line>>> {
        loop {
            let buffer = ready!(Pin::new(&mut self.reader).poll_fill_buf(context))?;
            let end = memchr::memchr(b'\n', buffer);
            let part = &buffer[..end.map_or(buffer.len(), |at| at + 1)];
            let used = part.len();
            match &mut self.skim {
                Some((skim, bytes)) => {
                    skim.feed(part);
                    *bytes += used;
                }
                None if self.line.len() + used <= self.max => self.line.extend_from_slice(part),
                None => {
                    let mut skim = Skim::default();
                    skim.feed(&self.line);
                    skim.feed(part);
                    let bytes = self.line.len() + used;
                    self.line = Vec::new();
                    self.skim = Some((skim, bytes));
                }
            }
            Pin::new(&mut self.reader).consume(used);
            if end.is_none() && used > 0 {
                continue;
            }
            let line = std::mem::take(&mut self.line);
            return Poll::Ready(Ok(match self.skim.take() {
                Some((skim, bytes)) => {
                    let (id, has_method) = skim.finish();
                    Some(Line::TooLong(Unreadable::too_long(bytes, self.max, id, has_method)))
                }
                None if line.is_empty() => None,
                None => Some(Line::Whole(line)),
            }));
        }
    }
}

/// The bytes that are read at a time.
const BUFFER: usize = 64 << 10;

#[cfg(test)]
mod tests {
    use super::{Line, LineReader};
    use crate::message::Id;

    async fn lines(text: &str, max: usize) -> Vec<Line> {
        let mut reader = LineReader::new(text.as_bytes(), max);
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
            Line::Whole(line) => String::from_utf8(line).unwrap(),
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
}
