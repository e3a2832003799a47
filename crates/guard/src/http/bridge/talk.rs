//! One process, and those who wait for what it says.

use std::collections::{HashMap, VecDeque};
use std::future::pending;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::io::{
    AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, ReadHalf, WriteHalf, duplex,
    split,
};
use tokio::sync::{Notify, mpsc, oneshot, watch};
use toolpact_contract::Revision;

use crate::inspector::lock;
use crate::message::{Cancelled, Kind, Message, code, error, object};
use crate::patch::splice;
use crate::stdio::{Server, Watchdog, relay_until};
use crate::{Id, Inspector, Ward};

/// What is kept for a client that does not read for the moment.
const BACKLOG: usize = 256;

/// One process, with a guard before it.
pub(super) struct Talk {
    is_shared: bool,
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

/// Who waits for what.
struct Desk {
    waiting: HashMap<Id, Waiter>,
    /// The stream that the client opened for whatever comes.
    stream: Option<mpsc::Sender<Vec<u8>>>,
    backlog: VecDeque<Vec<u8>>,
    used: Instant,
}

/// Who waits for an answer.
pub(super) struct Waiter {
    /// Takes what comes before the answer.
    pub(super) events: mpsc::Sender<Vec<u8>>,
    pub(super) answer: oneshot::Sender<Vec<u8>>,
    /// The id and the progress token of the client, as JSON, where others took their place.
    id: Option<String>,
    token: Option<String>,
    progress: Option<Id>,
}

#[derive(Deserialize)]
struct Params<'a> {
    #[serde(borrow, default, rename = "progressToken")]
    token: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "_meta")]
    meta: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Meta<'a> {
    #[serde(borrow, default, rename = "progressToken")]
    token: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "io.modelcontextprotocol/subscriptionId")]
    subscription: Option<&'a RawValue>,
}

fn meta<'a>(params: Option<&'a RawValue>) -> Option<Meta<'a>> {
    object(object::<Params<'a>>(params?.get()).ok()?.meta?.get()).ok()
}

impl Talk {
    pub(super) fn start(
        mut server: Server,
        watchdog: Option<Watchdog>,
        is_shared: bool,
        idle: Duration,
        ward: &Arc<Ward>,
    ) -> Arc<Self> {
        let (to, lines) = mpsc::channel(64);
        let desk = Desk {
            waiting: HashMap::new(),
            stream: None,
            backlog: VecDeque::new(),
            used: Instant::now(),
        };
        let talk = Arc::new(Self {
            is_shared,
            to,
            desk: Mutex::new(desk),
            own: AtomicI64::new(0),
            stop: Notify::new(),
            ends_when_idle: AtomicBool::new(false),
            phase: watch::Sender::new(Phase::Running),
        });
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
                desk.stream = None;
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
                    self.dispatch(element.get());
                }
            } else {
                self.dispatch(text);
            }
        }
    }

    /// Gives a message of the process to whom it is for.
    fn dispatch(&self, text: &str) {
        let Ok(message) = Message::read(text.as_bytes()) else { return };
        let mut desk = lock(&self.desk);
        desk.used = Instant::now();
        let id = match message.kind() {
            Kind::Response(id) => id,
            Kind::Request(id, _) if self.is_shared => {
                // There is no client that it could be for.
                let _ = self.to.try_send(error(Some(&id), code::REQUEST, "not supported"));
                return;
            }
            _ => return desk.event(&message, text, self.is_shared),
        };
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

    /// Takes a request in: the id that its answer will have, and the line for the process. One whose
    /// id is that of a request still open is answered with an error.
    pub(super) fn register(
        &self,
        text: &str,
        message: &Message<'_>,
        id: Id,
        (events, answer): (mpsc::Sender<Vec<u8>>, oneshot::Sender<Vec<u8>>),
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
    pub(super) fn open_stream(&self) -> Option<mpsc::Receiver<Vec<u8>>> {
        let mut desk = lock(&self.desk);
        if desk.stream.as_ref().is_some_and(|stream| !stream.is_closed()) {
            return None;
        }
        let (sender, receiver) = mpsc::channel(BACKLOG);
        for text in std::mem::take(&mut desk.backlog) {
            let _ = sender.try_send(text);
        }
        desk.stream = Some(sender);
        Some(receiver)
    }

    /// Ends the stream for whatever comes; requests go on.
    pub(super) fn hang_up(&self) {
        lock(&self.desk).stream = None;
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
            {
                let desk = lock(&self.desk);
                let streams = desk.stream.as_ref().is_some_and(|stream| !stream.is_closed());
                if desk.waiting.is_empty() && !streams && desk.used.elapsed() >= limit {
                    return;
                }
            }
            tokio::time::sleep((idle / 4).clamp(Duration::from_millis(50), Duration::from_secs(5)))
                .await;
        }
    }
}

impl Desk {
    /// Gives what is no answer to whom it is for: the request that it is about, else the stream of
    /// the client, else a request that is open, else whoever asks next.
    fn event(&mut self, message: &Message<'_>, text: &str, is_shared: bool) {
        let params = message.params.and_then(|params| object::<Params<'_>>(params.get()).ok());
        let token = params.and_then(|params| params.token);
        let subscription = meta(message.params).and_then(|meta| meta.subscription);
        let about = token.or(subscription).and_then(Id::of);
        let waiter = about.and_then(|id| match token {
            Some(_) => self.waiting.values().find(|waiter| waiter.progress.as_ref() == Some(&id)),
            None => self.waiting.get(&id),
        });
        if let Some(waiter) = waiter {
            let original = if token.is_some() { &waiter.token } else { &waiter.id };
            let text = match (original, token.or(subscription)) {
                (Some(original), Some(raw)) => splice(text, &[(raw.get(), original.clone())]),
                _ => text.to_owned(),
            };
            // A client that does not keep up misses some.
            let _ = waiter.events.try_send(text.into_bytes());
            return;
        }
        if is_shared {
            return;
        }
        let text = text.as_bytes().to_vec();
        if let Some(stream) = self.stream.as_ref().filter(|stream| !stream.is_closed()) {
            let _ = stream.try_send(text);
        } else if let Some(waiter) = self.waiting.values().find(|waiter| !waiter.events.is_closed())
        {
            let _ = waiter.events.try_send(text);
        } else {
            if self.backlog.len() >= BACKLOG {
                self.backlog.pop_front();
            }
            self.backlog.push_back(text);
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
