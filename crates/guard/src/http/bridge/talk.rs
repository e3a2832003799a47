//! One process, and those who wait for what it says.

use std::future::pending;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::value::RawValue;
use tokio::io::{
    AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, ReadHalf, WriteHalf, duplex,
    split,
};
use tokio::sync::{Notify, mpsc, oneshot, watch};
use tokio::time::timeout;
use toolpact_contract::Revision;

use super::desk::{Desk, Waiter, meta};
use super::lane::{Inbox, Lane, SHARED_PATIENCE, Sent};
use crate::inspector::lock;
use crate::message::{Cancelled, Kind, Message, code, error, object};
use crate::patch::splice;
use crate::stdio::{Server, Watchdog, relay_until};
use crate::{Event, Id, Inspector, Ward};

/// One process, with a guard before it.
pub(super) struct Talk {
    is_shared: bool,
    ward: Arc<Ward>,
    /// Lines for the process.
    to: mpsc::Sender<Vec<u8>>,
    desk: Mutex<Desk>,
    own: AtomicI64,
    stop: Notify,
    ends_when_idle: AtomicBool,
    phase: watch::Sender<Phase>,
}

/// Where a process stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    Running,
    Ending,
    Gone,
}

impl Talk {
    /// A talk without a process, and the lines for it.
    fn new(is_shared: bool, ward: &Arc<Ward>) -> (Arc<Self>, mpsc::Receiver<Vec<u8>>) {
        let (to, lines) = mpsc::channel(64);
        let talk = Self {
            is_shared,
            ward: Arc::clone(ward),
            to,
            desk: Mutex::new(Desk::new()),
            own: AtomicI64::new(0),
            stop: Notify::new(),
            ends_when_idle: AtomicBool::new(false),
            phase: watch::Sender::new(Phase::Running),
        };
        (Arc::new(talk), lines)
    }

    pub(super) fn start(
        mut server: Server,
        watchdog: Option<Watchdog>,
        is_shared: bool,
        idle: Duration,
        ward: &Arc<Ward>,
    ) -> Arc<Self> {
        let (talk, lines) = Self::new(is_shared, ward);
        let (ours, theirs) = duplex(1 << 16);
        let (reader, writer) = split(ours);
        let inspector = Arc::new(Inspector::of(Arc::clone(ward)));
        // Requests without a session say what they are in their head, if not in themselves.
        let revision = if is_shared { Revision::V2026_07_28 } else { Revision::default() };
        tokio::spawn(write(writer, lines));
        let same = Arc::clone(&talk);
        tokio::spawn(async move {
            if let Some(streams) = server.streams() {
                let relayed = relay_until(split(theirs), streams, inspector, revision, pending());
                let relayed = tokio::spawn(relayed);
                tokio::select! {
                    () = same.read(reader) => {}
                    () = same.stop.notified() => {}
                    () = same.idle(idle) => {}
                }
                relayed.abort();
            }
            same.phase.send_replace(Phase::Ending);
            {
                let mut desk = lock(&same.desk);
                desk.waiting.clear();
                desk.hang_up();
            }
            // How it ends is of no interest any more.
            let _ = server.end().await;
            drop(server);
            let _ = tokio::task::spawn_blocking(move || drop(watchdog)).await;
            same.phase.send_replace(Phase::Gone);
        });
        talk
    }

    /// Reads what the guard before the process lets through, until the process is gone.
    async fn read(&self, reader: ReadHalf<DuplexStream>) {
        let mut reader = BufReader::new(reader);
        loop {
            let mut line = Vec::new();
            match reader.read_until(b'\n', &mut line).await {
                Ok(0) | Err(_) => return,
                Ok(_) => {}
            }
            let Ok(text) = std::str::from_utf8(line.trim_ascii()) else { continue };
            if text.starts_with('[') {
                let batch = serde_json::from_str::<Vec<&RawValue>>(text).unwrap_or_default();
                for element in batch {
                    self.dispatch(element.get()).await;
                }
            } else {
                self.dispatch(text).await;
            }
        }
    }

    /// Gives a message of the process to whom it is for.
    async fn dispatch(&self, text: &str) {
        let Ok(message) = Message::read(text.as_bytes()) else { return };
        let id = match message.kind() {
            Kind::Response(id) => id,
            // There is no client that it could be for.
            Kind::Request(..) if self.is_shared => {
                return self.refuse(&message, code::REQUEST, "not supported").await;
            }
            _ => return self.event(&message, text).await,
        };
        let mut desk = lock(&self.desk);
        desk.used = Instant::now();
        let waiter = desk.waiting.remove(&id);
        let waiter = waiter.or_else(|| desk.waiting.remove(&id.other_reading()?));
        if let Some(waiter) = waiter {
            let answer = match (&waiter.id, message.id) {
                (Some(original), Some(id)) => splice(text, &[(id.get(), original.clone())]),
                _ => text.to_owned(),
            };
            // A client that is gone does not want it.
            let _ = waiter.answer.send(answer.into_bytes());
        }
    }

    /// Gives what is no answer to whom it is for, else keeps it for whoever opens a stream next. While
    /// a client does not read, nothing more is read from the process, for a time.
    async fn event(&self, message: &Message<'_>, text: &str) {
        loop {
            let lane = {
                let mut desk = lock(&self.desk);
                desk.used = Instant::now();
                desk.lane(message, text, self.is_shared)
            };
            let Some((lane, text)) = lane else { break };
            match lane.send(text.into_bytes()).await {
                Sent::Taken => return,
                // There may be another one.
                Sent::Gone => {}
                Sent::Missed(is_first) => {
                    if is_first {
                        self.warn(
                            "does not read; what the server says before its answers is left out",
                        );
                    }
                    return self.refuse(message, code::INTERNAL, "the client does not read").await;
                }
            }
        }
        if self.is_shared {
            return;
        }
        let (gone, is_first) = lock(&self.desk).keep(text);
        if is_first {
            self.warn("has no stream open; the oldest of what the server says is left out");
        }
        for text in gone {
            if let Ok(message) = Message::read(&text) {
                self.refuse(&message, code::INTERNAL, "the client has no stream open").await;
            }
        }
    }

    /// Answers what the process asks, where it does, with an error. A process that does not read it
    /// is not waited for much longer than a client.
    async fn refuse(&self, message: &Message<'_>, code: i32, text: &str) {
        if let Kind::Request(id, _) = message.kind() {
            let line = self.to.send(error(Some(&id), code, text));
            let _ = timeout(SHARED_PATIENCE, line).await;
        }
    }

    fn warn(&self, text: &str) {
        self.ward.say(Event::warning(format!("client: {text}")));
    }

    pub(super) fn is_shared(&self) -> bool {
        self.is_shared
    }

    /// Takes a request in: the id that its answer will have, and the line for the process. One whose
    /// id is that of a request still open is answered with an error.
    pub(super) fn register(
        &self,
        text: &str,
        message: &Message<'_>,
        id: Id,
        (events, answer): (Lane, oneshot::Sender<Vec<u8>>),
    ) -> Option<(Id, String)> {
        let token = meta(message.params).and_then(|meta| meta.token);
        let mut waiter = Waiter { events, answer, id: None, token: None, progress: None };
        let mut edits = Vec::new();
        let own = || self.own.fetch_add(1, Ordering::Relaxed);
        let is_exact = id.is_exact();
        let key = match (self.is_shared, is_exact) {
            (true, _) => Id::Integer(own()),
            (false, true) => id,
            (false, false) => Id::String(format!("toolpact-bridge/{}", own())),
        };
        if let (Some(raw), true) = (message.id, self.is_shared || !is_exact) {
            waiter.id = Some(raw.get().to_owned());
            edits.push((raw.get(), key.to_string()));
        }
        if let (Some(raw), true) = (token, self.is_shared) {
            waiter.token = Some(raw.get().to_owned());
            edits.push((raw.get(), key.to_string()));
        }
        waiter.progress = match (&waiter.token, token) {
            (Some(_), _) => Some(key.clone()),
            (None, token) => token.and_then(Id::of),
        };
        let mut desk = lock(&self.desk);
        desk.used = Instant::now();
        if desk.waiting.contains_key(&key) {
            let text = format!("the id {key} is that of a request still open");
            let _ = waiter.answer.send(error(Some(&key), code::REQUEST, &text));
            return None;
        }
        desk.waiting.insert(key.clone(), waiter);
        Some((key, splice(text, &edits)))
    }

    /// The line for the process of what is no request. Nothing where it gives up a request without
    /// a session: whose that is cannot be told, and a client gives up its own by leaving.
    pub(super) fn line(&self, text: &str, message: &Message<'_>) -> Option<String> {
        let Kind::Notification("notifications/cancelled") = message.kind() else {
            return Some(text.to_owned());
        };
        if self.is_shared {
            return None;
        }
        let cancelled =
            message.params.and_then(|params| object::<Cancelled<'_>>(params.get()).ok());
        let Some(raw) = cancelled.and_then(|cancelled| cancelled.request) else {
            return Some(text.to_owned());
        };
        let desk = lock(&self.desk);
        let mut waiting = desk.waiting.iter();
        let exchanged = waiting.find(|(_, waiter)| waiter.id.as_deref() == Some(raw.get()));
        let edits = exchanged.map(|(key, _)| (raw.get(), key.to_string()));
        Some(splice(text, edits.as_slice()))
    }

    /// Nobody waits for these any more.
    pub(super) fn leave(&self, keys: &[Id]) {
        let mut desk = lock(&self.desk);
        desk.used = Instant::now();
        for key in keys {
            if desk.waiting.remove(key).is_some() && self.is_shared {
                let cancelled = format!(
                    r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{key},"reason":"the client is gone"}}}}"#
                );
                let _ = self.to.try_send(cancelled.into_bytes());
            }
        }
    }

    pub(super) async fn send(&self, line: Vec<u8>) -> bool {
        self.to.send(line).await.is_ok()
    }

    /// A place for whatever comes, with what came already; none where there is one.
    pub(super) fn open_stream(&self) -> Option<Inbox> {
        lock(&self.desk).open_stream()
    }

    /// Ends the stream for whatever comes; requests go on.
    pub(super) fn hang_up(&self) {
        lock(&self.desk).hang_up();
    }

    /// Since when nobody has used the process; nothing where there is an open request or stream.
    pub(super) fn idle_since(&self) -> Option<Instant> {
        lock(&self.desk).idle_since()
    }

    pub(super) fn end(&self) {
        // A process that is gone stays gone.
        self.phase.send_if_modified(|phase| {
            let runs = *phase == Phase::Running;
            if runs {
                *phase = Phase::Ending;
            }
            runs
        });
        self.stop.notify_one();
    }

    pub(super) fn end_when_idle(&self) {
        self.ends_when_idle.store(true, Ordering::Relaxed);
    }

    pub(super) fn is_over(&self) -> bool {
        *self.phase.borrow() != Phase::Running
    }

    /// Waits until the process is gone.
    pub(super) async fn ended(&self) {
        // Only a sender that is gone fails, and this is one.
        let _ = self.phase.subscribe().wait_for(|phase| *phase == Phase::Gone).await;
    }

    /// Returns when nobody has used the process for `idle`.
    async fn idle(&self, idle: Duration) {
        loop {
            let limit =
                if self.ends_when_idle.load(Ordering::Relaxed) { Duration::ZERO } else { idle };
            if self.idle_since().is_some_and(|since| since.elapsed() >= limit) {
                return;
            }
            tokio::time::sleep((idle / 4).clamp(Duration::from_millis(50), Duration::from_secs(5)))
                .await;
        }
    }
}

/// Writes lines to the guard before the process.
async fn write(mut writer: WriteHalf<DuplexStream>, mut lines: mpsc::Receiver<Vec<u8>>) {
    while let Some(mut line) = lines.recv().await {
        // Pretty-printed messages have line breaks between their tokens, and only there.
        line.iter_mut().filter(|byte| matches!(byte, b'\n' | b'\r')).for_each(|byte| *byte = b' ');
        line.push(b'\n');
        if writer.write_all(&line).await.is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::Talk;
    use crate::http::bridge::lane::ROOM;
    use crate::{Event, Settings, Ward};

    /// What a process is told of its requests that nobody takes, and how often that is said.
    async fn asks(
        talk: &Talk,
        lines: &mut super::mpsc::Receiver<Vec<u8>>,
        length: usize,
    ) -> String {
        let long = "a".repeat(length);
        for id in 0..3 {
            let ask = format!(
                r#"{{"jsonrpc":"2.0","id":{id},"method":"roots/list","params":{{"a":"{long}"}}}}"#
            );
            talk.dispatch(&ask).await;
        }
        let mut told = String::new();
        while let Ok(line) = lines.try_recv() {
            told += &String::from_utf8(line).unwrap();
        }
        told
    }

    #[tokio::test(start_paused = true)]
    async fn requests_of_the_process_that_nobody_takes_are_answered() {
        let said = Arc::new(std::sync::Mutex::new(Vec::new()));
        let hears = Arc::clone(&said);
        let hears = move |event: Event| hears.lock().unwrap().push(event.to_string());
        let ward = Arc::new(Ward::new("a", Settings::default(), Arc::new(hears)));
        let (talk, mut lines) = Talk::new(false, &ward);
        // Without a stream, the last ones are kept.
        let told = asks(&talk, &mut lines, ROOM).await;
        assert!(told.contains(r#""id":0,"error""#) && told.contains(r#""id":1,"error""#), "{told}");
        assert!(!told.contains(r#""id":2"#), "{told}");
        assert_eq!(said.lock().unwrap().len(), 1);
        assert!(said.lock().unwrap()[0].contains("has no stream open"));
        // With one that is not read, the first ones.
        let mut inbox = talk.open_stream().unwrap();
        let told = asks(&talk, &mut lines, 1).await;
        assert_eq!(told.matches("the client does not read").count(), 3, "{told}");
        assert_eq!(said.lock().unwrap().len(), 2);
        assert!(said.lock().unwrap()[1].contains("does not read"));
        assert!(inbox.try_recv().unwrap().len() > ROOM);
        assert_eq!(asks(&talk, &mut lines, 1).await, "");
    }
}
