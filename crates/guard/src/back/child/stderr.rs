//! What a server writes to standard error.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::ChildStderr;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use toolbond_guard_core::lock::lock;

/// The most bytes of a line that are kept, and the most lines.
const MAX_LINE: usize = 500;
const MAX_LINES: usize = 40;

/// How long the rest of the output may take after the server ended: a child of it may keep it open.
const REST: Duration = Duration::from_millis(300);

/// Copies standard error of a server to that of this process, and keeps the last lines.
#[derive(Debug)]
pub(super) struct Stderr {
    copy: JoinHandle<()>,
    last: Arc<Mutex<LastLines>>,
}

impl Stderr {
    /// Copies `stream` until it ends.
    pub(super) fn copy(mut stream: ChildStderr) -> Self {
        let last = Arc::new(Mutex::new(LastLines::default()));
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
        let last: Arc<Mutex<LastLines>> = Arc::default();
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

    /// The one of the last lines that says most.
    pub(super) fn telling_line(&self) -> Option<String> {
        lock(&self.last).telling()
    }
}

/// The last lines of a text that comes in pieces.
#[derive(Debug, Default)]
struct LastLines {
    /// The last complete lines with something on them.
    complete: VecDeque<Vec<u8>>,
    /// The line that has not ended.
    open: Vec<u8>,
}

impl LastLines {
    fn add(&mut self, bytes: &[u8]) {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            let room = MAX_LINE.saturating_sub(self.open.len());
            self.open.extend_from_slice(&piece[..piece.len().min(room)]);
            if piece.ends_with(b"\n") {
                let line = std::mem::take(&mut self.open);
                if !line.trim_ascii().is_empty() {
                    if self.complete.len() == MAX_LINES {
                        self.complete.pop_front();
                    }
                    self.complete.push_back(line);
                }
            }
        }
    }

    /// The line that says most: the last one that names an error, else the last one that says something.
    fn telling(&self) -> Option<String> {
        let lines = self.complete.iter().chain([&self.open]);
        let lines: Vec<_> = lines.map(|line| String::from_utf8_lossy(line)).collect();
        let lines: Vec<_> = lines.iter().map(|line| line.trim()).collect();
        // `npm` says the reason first, and then where its log is.
        let of_npm = lines.iter().find(|line| npm_message(line).is_some());
        let names_error = || lines.iter().rev().find(|line| is_error(line));
        let says_something = || lines.iter().rev().find(|line| !is_noise(line));
        let any = || lines.iter().rev().find(|line| !line.is_empty());
        let found = of_npm.or_else(names_error).or_else(says_something).or_else(any)?;
        Some((*found).to_owned())
    }
}

/// What a line of `npm` or `npx` says, beside codes and paths.
fn npm_message(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("npm error ").or_else(|| line.strip_prefix("npm ERR! "))?.trim();
    let first = rest.split(' ').next().unwrap_or_default();
    let is_detail = ["code", "syscall", "path", "errno", "dest", "signal", "command", "A"];
    let is_message = rest.split_whitespace().count() > 2 && !is_detail.contains(&first);
    is_message.then_some(rest)
}

/// Whether a line names an error: `Error: …`, `ValueError: …`, `error: …`, `fatal: …`, a panic.
fn is_error(line: &str) -> bool {
    let Some((name, message)) = line.split_once(':') else { return false };
    let name = name.rsplit(['.', ' ']).next().unwrap_or_default();
    let lower = name.to_ascii_lowercase();
    let is_name = lower.ends_with("error") || lower.ends_with("exception") || lower == "fatal";
    (is_name && !message.trim().is_empty()) || line.contains(" panicked at ")
}

/// Whether a line says nothing by itself: places in a trace, brackets, the version of Node, members of an error.
fn is_noise(line: &str) -> bool {
    !line.contains(char::is_alphanumeric)
        || line.starts_with("at ")
        || line.starts_with("Node.js v")
        || line.starts_with("npm notice")
        || line.starts_with("npm error")
        || line.starts_with("note: run with `RUST_BACKTRACE")
        || ["code:", "requireStack:", "errno:", "syscall:"].iter().any(|it| line.starts_with(it))
}

#[cfg(test)]
mod tests {
    use super::{LastLines, MAX_LINE, MAX_LINES};

    fn telling(text: &str) -> Option<String> {
        let mut last = LastLines::default();
        last.add(text.as_bytes());
        last.telling()
    }

    #[test]
    fn keeps_a_bounded_number_of_lines_that_say_something() {
        let mut last = LastLines::default();
        assert_eq!(last.telling(), None);
        last.add(b"one\ntw");
        assert_eq!(last.telling().as_deref(), Some("tw"));
        last.add(b"o\n \n");
        assert_eq!(last.telling().as_deref(), Some("two"));
        last.add(&vec![b'x'; 10 * MAX_LINE]);
        assert_eq!(last.telling().map(|line| line.len()), Some(MAX_LINE));
        for _ in 0..10 * MAX_LINES {
            last.add(b"line\n");
        }
        assert_eq!(last.complete.len(), MAX_LINES);
    }

    #[test]
    fn the_line_that_says_most_is_found() {
        for (text, expected) in [
            (
                "npm error code E404\nnpm error 404 Not Found - GET https://a.example/nope - Not found\n\
                 npm error 404\nnpm error 404  The requested resource 'nope' could not be found.\n\
                 npm error A complete log of this run can be found in: /home/a/.npm/_logs/a.log\n",
                "npm error 404 Not Found - GET https://a.example/nope - Not found",
            ),
            (
                "npm error code ENOENT\nnpm error syscall open\nnpm error path /a/package.json\n\
                 npm error errno -2\nnpm error enoent Could not read package.json\n\
                 npm error A complete log of this run can be found in: /a.log\n",
                "npm error enoent Could not read package.json",
            ),
            (
                "node:internal/modules/cjs/loader:1\n  throw err;\n  ^\n\n\
                 Error: Cannot find module '/a.js'\n    at Function.resolve (node:a:1)\n  \
                 code: 'MODULE_NOT_FOUND',\n  requireStack: []\n}\n\nNode.js v22.1.0\n",
                "Error: Cannot find module '/a.js'",
            ),
            (
                "Traceback (most recent call last):\n  File \"a.py\", line 1, in <module>\n\
                 ModuleNotFoundError: No module named 'a'\n",
                "ModuleNotFoundError: No module named 'a'",
            ),
            (
                "thread 'main' panicked at a.rs:1:1:\nout of paper\n\
                 note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace\n",
                "thread 'main' panicked at a.rs:1:1:",
            ),
            ("Starting\nno key\n}\n", "no key"),
            ("sh: 1: nope: not found\n", "sh: 1: nope: not found"),
            ("}\n", "}"),
        ] {
            assert_eq!(telling(text).as_deref(), Some(expected));
        }
    }
}
