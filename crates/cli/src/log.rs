//! What a guard says, on standard error.

use std::io::{self, Write as _};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use clap::ValueEnum;
use serde_json::json;
use toolpact_guard::{Event, Listener};

use crate::terminal::printable;

/// How events are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// One line a finding, starting with `toolpact: `.
    #[default]
    Text,
    /// One JSON object a line.
    Json,
}

/// Events that wait for standard error to take them; those beyond are counted.
const QUEUE: usize = 1024;

/// Writes events on a thread of its own: a client that does not read standard error holds up nothing.
#[derive(Clone)]
pub(crate) struct Log {
    queue: SyncSender<Entry>,
    lost: Arc<AtomicU64>,
}

enum Entry {
    Event(Event),
    /// What is neither good nor bad, and the server that it is about.
    Told(Option<String>, String),
    Close(mpsc::Sender<()>),
}

impl Log {
    /// Starts writing.
    pub(crate) fn open(format: Format) -> Self {
        let (queue, entries) = sync_channel(QUEUE);
        let lost = Arc::new(AtomicU64::new(0));
        let count = Arc::clone(&lost);
        thread::spawn(move || {
            for entry in entries {
                let lost = count.swap(0, Ordering::Relaxed);
                if lost > 0 {
                    let _ = write(
                        format,
                        &format!("warning: {lost} lines left out"),
                        || json!({ "severity": "warning", "message": format!("{lost} lines left out") }),
                    );
                }
                match entry {
                    Entry::Event(event) => {
                        let _ = write(format, &event.to_string(), || event.to_json());
                    }
                    Entry::Told(server, text) => {
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
        Self { queue, lost }
    }

    /// Says what is neither good nor bad.
    pub(crate) fn tell(&self, server: Option<String>, text: String) {
        self.add(Entry::Told(server, text));
    }

    fn add(&self, entry: Entry) {
        if self.queue.try_send(entry).is_err() {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Waits until all is written, for a moment.
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

fn write(format: Format, text: &str, value: impl FnOnce() -> serde_json::Value) -> io::Result<()> {
    let line = match format {
        Format::Text => format!("toolpact: {}\n", printable(text)),
        Format::Json => format!("{}\n", value()),
    };
    // In one piece: the server writes to the same place.
    io::stderr().lock().write_all(line.as_bytes())
}
