//! Lines of bounded length.

use std::io;

use tokio::io::{AsyncBufRead, AsyncBufReadExt as _};

use super::skim::Skim;
use crate::Id;

/// One line of a stream.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// The line with its line break, if it has one.
    Whole(Vec<u8>),
    /// A line that is longer than it may be. It is not kept; what can be told of it is.
    TooLong {
        /// The id of the message that it would have been.
        id: Option<Id>,
        /// Whether it has a method, which makes it a request or a notification.
        has_method: bool,
        /// Its bytes.
        bytes: usize,
    },
}

/// Reads the next line; nothing at the end of the stream.
///
/// At most `max` bytes are kept, however long the line is.
pub(crate) async fn read_line<R: AsyncBufRead + Unpin>(
    reader: &mut R,
    max: usize,
) -> io::Result<Option<Line>> {
    let mut line = Vec::new();
    let mut skim: Option<Skim> = None;
    let mut bytes = 0;
    loop {
        let buffer = reader.fill_buf().await?;
        let end = memchr::memchr(b'\n', buffer);
        let part = &buffer[..end.map_or(buffer.len(), |at| at + 1)];
        let used = part.len();
        bytes += used;
        match &mut skim {
            Some(skim) => skim.feed(part),
            None if line.len() + used <= max => line.extend_from_slice(part),
            None => {
                let mut first = Skim::default();
                first.feed(&line);
                first.feed(part);
                line = Vec::new();
                skim = Some(first);
            }
        }
        reader.consume(used);
        if end.is_some() || used == 0 {
            return Ok(match skim {
                Some(skim) => {
                    let (id, has_method) = skim.finish();
                    Some(Line::TooLong { id, has_method, bytes })
                }
                None if line.is_empty() => None,
                None => Some(Line::Whole(line)),
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Line, read_line};
    use crate::Id;

    async fn lines(text: &str, max: usize) -> Vec<Line> {
        let mut reader = tokio::io::BufReader::with_capacity(7, text.as_bytes());
        let mut lines = Vec::new();
        while let Some(line) = read_line(&mut reader, max).await.unwrap() {
            lines.push(line);
        }
        lines
    }

    #[tokio::test]
    async fn keeps_line_breaks_and_a_last_line_without() {
        let whole = |text: &str| Line::Whole(text.as_bytes().to_vec());
        assert_eq!(
            lines("a\r\n\nbcdefghijk", 64).await,
            [whole("a\r\n"), whole("\n"), whole("bcdefghijk")]
        );
    }

    #[tokio::test]
    async fn tells_of_a_line_that_is_too_long() {
        let long = format!("{{\"result\":{{\"id\":1,\"x\":\"{}\"}},\"id\":7}}\n", "y".repeat(100));
        let text = format!("{long}{{}}\n");
        assert_eq!(
            lines(&text, 20).await,
            [
                Line::TooLong { id: Some(Id::Integer(7)), has_method: false, bytes: long.len() },
                Line::Whole(b"{}\n".to_vec()),
            ]
        );
    }
}
