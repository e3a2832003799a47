//! The log of a guard, on standard error or in a file.

use std::fs::File;
use std::io::{self, IsTerminal as _, Write};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, SystemTime};

use anyhow::Context as _;
use clap::ValueEnum;
use serde_json::{Value, json};
use toolbond_contract::Severity;
use toolbond_guard::{Event, Listener, utc};

use crate::terminal::{printable, printable_json};

/// How log lines are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    /// One line per event: `toolbond: `, the time, and what happened.
    #[default]
    Text,
    /// One JSON object per line.
    Json,
}

/// What is logged, and where.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Observability")]
pub(crate) struct LogOptions {
    /// Log format
    #[arg(long, value_enum, default_value_t)]
    log: LogFormat,

    /// Log to the end of this file instead of standard error
    #[arg(long, value_name = "FILE")]
    log_file: Option<PathBuf>,

    /// Log errors only
    #[arg(long, short)]
    quiet: bool,

    /// Also log each call and check
    #[arg(long, short, conflicts_with = "quiet")]
    verbose: bool,
}

/// Capacity of the queue. Lines that do not fit are dropped and counted.
const QUEUE: usize = 1024;

/// Writes on its own thread, so that a client that does not read standard error blocks nothing.
#[derive(Clone)]
pub(crate) struct Log {
    queue: SyncSender<Entry>,
    dropped: Arc<AtomicU64>,
    quiet: bool,
    verbose: bool,
    /// Whether a person sees it.
    is_on_terminal: bool,
}

enum Entry {
    Line(SystemTime, Event),
    /// A message, and the server that it is about.
    Info(SystemTime, Option<String>, String),
    Close(mpsc::Sender<()>),
}

impl Log {
    /// Starts the thread.
    ///
    /// Fails if the file cannot be opened.
    pub(crate) fn open(options: &LogOptions) -> anyhow::Result<Self> {
        let LogOptions { log: format, quiet, verbose, .. } = *options;
        let file = options.log_file.as_ref().map(|path| {
            let opened = File::options().append(true).create(true).open(path);
            opened.with_context(|| format!("--log-file {}", path.display()))
        });
        let file = file.transpose()?;
        let is_on_terminal = file.is_none() && io::stderr().is_terminal();
        let (queue, entries) = sync_channel(QUEUE);
        let dropped = Arc::new(AtomicU64::new(0));
        let count = Arc::clone(&dropped);
        thread::spawn(move || {
            let mut output: Box<dyn Write> = match file {
                Some(file) => Box::new(file),
                None => Box::new(io::stderr()),
            };
            // In one call: the server writes to standard error as well.
            let mut write = |line: String| drop(output.write_all(line.as_bytes()));
            for entry in entries {
                let missing = count.swap(0, Ordering::Relaxed);
                if missing > 0 {
                    let event =
                        Event::notice(Severity::Warning, format!("{missing} log lines dropped"));
                    write(line(format, SystemTime::now(), &event.to_string(), event.to_json()));
                }
                match entry {
                    Entry::Line(time, event) => {
                        write(line(format, time, &event.to_string(), event.to_json()));
                    }
                    Entry::Info(time, server, text) => {
                        let mut value = json!({ "severity": "info", "message": text });
                        if let Some(server) = server {
                            value["server"] = server.into();
                        }
                        write(line(format, time, &text, value));
                    }
                    Entry::Close(done) => {
                        let _ = done.send(());
                        return;
                    }
                }
            }
        });
        Ok(Self { queue, dropped, quiet, verbose, is_on_terminal })
    }

    /// Logs a message about `server`, or about the guard.
    pub(crate) fn info(&self, server: Option<String>, text: String) {
        if !self.quiet {
            self.add(Entry::Info(SystemTime::now(), server, text));
        }
    }

    /// Logs a message to a person who started the command, or who wants all details.
    pub(crate) fn greet(&self, text: String) {
        if self.is_on_terminal || self.verbose {
            self.info(None, text);
        }
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
        let is_wanted = match event.severity() {
            None => self.verbose,
            Some(severity) => severity == Severity::Error || !self.quiet,
        };
        if is_wanted {
            self.add(Entry::Line(SystemTime::now(), event));
        }
    }

    fn wants_details(&self) -> bool {
        self.verbose
    }
}

/// A line of the log, without what controls a terminal.
fn line(format: LogFormat, time: SystemTime, text: &str, mut value: Value) -> String {
    let time = utc(time);
    match format {
        LogFormat::Text => format!("toolbond: {time} {}\n", printable(text)),
        LogFormat::Json => {
            value["time"] = time.into();
            format!("{}\n", printable_json(&value.to_string()))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::UNIX_EPOCH;

    use serde_json::json;

    use super::{LogFormat, line};

    #[test]
    fn no_line_controls_a_terminal() {
        let text = "a\u{9b}b\u{202e}c";
        let value = json!({ "message": text });
        let json = line(LogFormat::Json, UNIX_EPOCH, text, value.clone());
        let time = "1970-01-01T00:00:00.000Z";
        assert_eq!(json, format!("{{\"message\":\"a\\u009bb\\u202ec\",\"time\":\"{time}\"}}\n"));
        let read: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!(read["message"], value["message"]);
        let text = line(LogFormat::Text, UNIX_EPOCH, text, value);
        assert_eq!(text, format!("toolbond: {time} a\\u{{9b}}b\\u{{202e}}c\n"));
    }
}
