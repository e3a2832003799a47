//! What a server writes to standard error.

use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::ChildStderr;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use toolbond_guard_core::lock::lock;

/// The most bytes of the last line that are kept.
const MAX_LINE: usize = 500;

/// How long the rest of the output may take after the server ended: a child of it may keep it open.
const REST: Duration = Duration::from_millis(300);

/// Copies standard error of a server to that of this process, and keeps the last line.
#[derive(Debug)]
pub(super) struct Stderr {
    copy: JoinHandle<()>,
    last: Arc<Mutex<LastLine>>,
}

impl Stderr {
    /// Copies `stream` until it ends.
    pub(super) fn copy(mut stream: ChildStderr) -> Self {
        let last = Arc::new(Mutex::new(LastLine::default()));
        let keeps = Arc::clone(&last);
        let copy = tokio::spawn(async move {
            let mut buffer = vec![0; 8 << 10];
            let mut stderr = tokio::io::stderr();
            while let Ok(count @ 1..) = stream.read(&mut buffer).await {
                lock(&keeps).add(&buffer[..count]);
                // A guard whose standard error is closed still reads, or the server would block.
                let _: io::Result<()> = async {
                    stderr.write_all(&buffer[..count]).await?;
                    stderr.flush().await
                }
                .await;
            }
        });
        Self { copy, last }
    }

    /// Keeps the end of what `stream` says, and shows none of it.
    pub(super) fn keep(mut stream: ChildStderr) -> Self {
        let last: Arc<Mutex<LastLine>> = Arc::default();
        let keeps = Arc::clone(&last);
        let copy = tokio::spawn(async move {
            let mut buffer = vec![0; 8 << 10];
            while let Ok(count @ 1..) = stream.read(&mut buffer).await {
                lock(&keeps).add(&buffer[..count]);
            }
        });
        Self { copy, last }
    }

    /// Waits until everything is copied, or for a moment.
    pub(super) async fn finish(&mut self) {
        if !self.copy.is_finished() {
            let _ = timeout(REST, &mut self.copy).await;
        }
    }

    /// The last line with something on it.
    pub(super) fn last_line(&self) -> Option<String> {
        lock(&self.last).line()
    }
}

/// The last line of a text that comes in pieces.
#[derive(Debug, Default)]
struct LastLine {
    /// The last complete line with something on it.
    complete: Vec<u8>,
    /// The line that has not ended.
    open: Vec<u8>,
}

impl LastLine {
    fn add(&mut self, bytes: &[u8]) {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            let room = MAX_LINE.saturating_sub(self.open.len());
            self.open.extend_from_slice(&piece[..piece.len().min(room)]);
            if piece.ends_with(b"\n") {
                if !self.open.trim_ascii().is_empty() {
                    std::mem::swap(&mut self.complete, &mut self.open);
                }
                self.open.clear();
            }
        }
    }

    fn line(&self) -> Option<String> {
        let is_open = !self.open.trim_ascii().is_empty();
        let line = if is_open { &self.open } else { &self.complete };
        let line = String::from_utf8_lossy(line.trim_ascii()).into_owned();
        (!line.is_empty()).then_some(line)
    }
}

#[cfg(test)]
mod tests {
    use super::{LastLine, MAX_LINE};

    #[test]
    fn keeps_the_last_line_that_says_something() {
        let mut last = LastLine::default();
        assert_eq!(last.line(), None);
        last.add(b"one\ntw");
        assert_eq!(last.line().as_deref(), Some("tw"));
        last.add(b"o\n \n");
        assert_eq!(last.line().as_deref(), Some("two"));
        last.add(&vec![b'x'; 10 * MAX_LINE]);
        assert_eq!(last.line().map(|line| line.len()), Some(MAX_LINE));
    }
}
