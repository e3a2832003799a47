//! The log of a guard, on standard error.

use std::io::{self, Write as _};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use clap::ValueEnum;
use serde_json::json;
use toolbond_guard::{Event, Listener};

use crate::terminal::{printable, printable_json};

/// How log lines are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    /// One line per finding, which starts with `toolbond: `.
    #[default]
    Text,
    /// One JSON object per line.
    Json,
}

/// Capacity of the queue. Lines that do not fit are dropped and counted.
const QUEUE: usize = 1024;

/// Writes on its own thread, so that a client that does not read standard error blocks nothing.
#[derive(Clone)]
pub(crate) struct Log {
    queue: SyncSender<Entry>,
    dropped: Arc<AtomicU64>,
}

enum Entry {
    Event(Event),
    /// A message, and the server that it is about.
    Info(Option<String>, String),
    Close(mpsc::Sender<()>),
}

impl Log {
    /// Starts the thread.
    pub(crate) fn open(format: LogFormat) -> Self {
        let (queue, entries) = sync_channel(QUEUE);
        let dropped = Arc::new(AtomicU64::new(0));
        let count = Arc::clone(&dropped);
        thread::spawn(move || {
            for entry in entries {
                let missing = count.swap(0, Ordering::Relaxed);
                if missing > 0 {
                    let _ = write(
                        format,
                        &format!("warning: {missing} log lines dropped"),
                        || json!({ "severity": "warning", "message": format!("{missing} log lines dropped") }),
                    );
                }
                match entry {
                    Entry::Event(event) => {
                        let _ = write(format, &event.to_string(), || event.to_json());
                    }
                    Entry::Info(server, text) => {
                        let value = || {
                            let mut value = json!({ "severity": "info", "message": text });
                            if let Some(server) = server {
                                value["server"] = server.into();
                            }
                            value
                        };
                        let _ = write(format, &text, value);
                    }
                    Entry::Close(done) => {
                        let _ = done.send(());
                        return;
                    }
                }
            }
        });
        Self { queue, dropped }
    }

    /// Logs a message about `server`, or about the guard.
    pub(crate) fn info(&self, server: Option<String>, text: String) {
        self.add(Entry::Info(server, text));
    }

    fn add(&self, entry: Entry) {
        if self.queue.try_send(entry).is_err() {
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Waits up to a second until the queue is written.
    pub(crate) fn close(&self) {
        let (done, closed) = mpsc::channel();
        if self.queue.try_send(Entry::Close(done)).is_ok() {
            let _ = closed.recv_timeout(Duration::from_secs(1));
        }
    }
}

impl Listener for Log {
    fn on_event(&self, event: Event) {
        self.add(Entry::Event(event));
    }
}

fn write(
    format: LogFormat,
    text: &str,
    value: impl FnOnce() -> serde_json::Value,
) -> io::Result<()> {
    // In one call: the server writes to standard error as well.
    io::stderr().lock().write_all(line(format, text, value).as_bytes())
}

/// A line of the log, without what controls a terminal.
fn line(format: LogFormat, text: &str, value: impl FnOnce() -> serde_json::Value) -> String {
    match format {
        LogFormat::Text => format!("toolbond: {}\n", printable(text)),
        LogFormat::Json => format!("{}\n", printable_json(&value().to_string())),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{LogFormat, line};

    #[test]
    fn no_line_controls_a_terminal() {
        let text = "a\u{9b}b\u{202e}c";
        let value = json!({ "message": text });
        let json = line(LogFormat::Json, text, || value.clone());
        assert_eq!(json, "{\"message\":\"a\\u009bb\\u202ec\"}\n");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&json).unwrap(), value);
        assert!(line(LogFormat::Text, text, || value).contains("\\u{9b}"));
    }
}
