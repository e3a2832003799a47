//! One process, and the clients that use it.

use std::future::pending;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::FutureExt as _;
use hyper::HeaderMap;
use tokio::process::ChildStdout;
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, sleep, timeout};
use toolbond_contract::Revision;

use super::mailbox::{Mail, ROOM};
use super::streams::Streams;
use super::target::{ENDED, RunningServer, Target};
use crate::back::child::StartError;
use crate::back::remote::ToServer;
use crate::back::remote::headers::{OwnHeaders, RemoteHeaders};
use crate::memory::{MemoryLimit, Sender};
use crate::pipe::line::{Line, LineReader};
use crate::pipe::outbox::Outbox;
use crate::runtime::drive::{Driven, LAST_CHECKS, Transport, drive, take_server, wait_until};
use crate::runtime::inbox::Inbox;
use crate::runtime::pool::JobPool;
use crate::runtime::read::Received;
use crate::server::GuardedServer;
use toolbond_guard_core::caller::Caller;
use toolbond_guard_core::conversation::{Action, Conversation, Destination, Link, StreamId};
use toolbond_guard_core::era::Users;
use toolbond_guard_core::event::Event;
use toolbond_guard_core::lock::lock;
use toolbond_guard_core::message::{INLINE_BYTES, Message};
use toolbond_guard_core::trace::HttpTrace;

/// The bytes for a server that does not read, far beyond what clients may send ahead: answers of the guard itself.
const FLOOD: usize = 8 << 20;

/// How long a process waits for its only client to read.
const PATIENCE: Duration = Duration::from_secs(30);

/// Messages up to this size, such as cancellations, are queued even while the process does not read.
const SMALL: usize = 4 << 10;

/// How long a process may take to end after it closed its output.
const ENDING: Duration = Duration::from_secs(1);

/// How long a process stays after its client seems to have left.
const LEFT: Duration = Duration::from_secs(60);

/// How often the process is checked for being idle, at most.
const IDLE_CHECK: Duration = Duration::from_secs(5);

/// One process, and the clients that use it.
pub(super) struct ProcessSession {
    pub(super) server: Arc<GuardedServer>,
    driven: Driven,
    kind: SessionKind,
    /// The headers of requests, for a server on HTTP.
    headers: Arc<RemoteHeaders>,
    /// The lines on their way to a process.
    outbox: Outbox,
    /// What of a process that several clients share is being read.
    inbox: Inbox,
    /// The way to a server on HTTP.
    to_remote: Mutex<Option<mpsc::UnboundedSender<ToServer>>>,
    pub(super) streams: Mutex<Streams>,
    /// How many messages clients have sent since a server on HTTP last refused one.
    pub(super) posts: AtomicUsize,
    life: watch::Sender<Life>,
}

/// Who uses a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SessionKind {
    /// One legacy client.
    Client,
    /// All modern requests.
    Shared,
    /// Modern requests of one caller; the process has this number.
    Caller(u64),
}

impl SessionKind {
    fn is_modern(self) -> bool {
        self != Self::Client
    }

    fn users(self) -> Users {
        match self {
            Self::Client => Users::One,
            Self::Shared => Users::Many,
            Self::Caller(number) => Users::Caller(number),
        }
    }
}

/// How far the life of a session has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Life {
    Running,
    /// It ends once it is idle.
    Leaving,
    Ending,
    Gone,
}

impl Transport for ProcessSession {
    fn driven(&self) -> &Driven {
        &self.driven
    }

    fn carry_out(self: &Arc<Self>, action: Action) {
        let (to, message) = match action {
            Action::Send { to, message, .. } => (to, message),
            Action::NoAnswer(stream) => return self.cancel(stream),
            // All other actions are for requests with streams of their own to the server.
            _ => return,
        };
        if let Destination::Server(stream) = to {
            if let Some(remote) = &*lock(&self.to_remote) {
                let message = ToServer::new(message, &self.driven);
                self.headers.ask_as(stream, message.id());
                // A connection that has ended needs none.
                let _ = remote.send(message);
                return;
            }
            // A legacy client has one order for all that it sends.
            let stream = if self.kind.is_modern() { stream } else { StreamId::PIPE };
            return self.outbox.push_of(Some(stream), self.driven.line(message));
        }
        let message = self.driven.line(message);
        match to {
            Destination::Server(_) => {}
            Destination::Answer(stream) => {
                let (message, refusal) = self.headers.take_refusal(message, self.memory());
                if refusal.is_some() {
                    self.posts.store(0, Ordering::Relaxed);
                }
                let refusal = refusal.map(Box::new);
                self.deliver(Some(stream), Mail { refusal, ..Mail::new(message, true) });
            }
            Destination::Client(stream) => self.deliver(Some(stream), Mail::new(message, false)),
            Destination::Listener => self.deliver(None, Mail::new(message, false)),
        }
    }
}

impl ProcessSession {
    /// The revision that client and server agreed on.
    pub(super) fn negotiated(&self) -> Revision {
        self.driven.look(|conversation| conversation.negotiated().clone())
    }

    /// A session without a process.
    fn new(
        kind: SessionKind,
        headers: Arc<RemoteHeaders>,
        server: &Arc<GuardedServer>,
        pool: &Arc<JobPool>,
    ) -> Arc<Self> {
        // Requests without a session are of 2026-07-28 or later, whatever else they say.
        let (link, revision) = if kind.is_modern() {
            (Link::Shared, Revision::V2026_07_28)
        } else {
            (Link::Session, Revision::default())
        };
        let conversation = Conversation::new(Arc::clone(server.shared()), link, revision);
        let conversation = conversation.with_bridge(kind.users());
        Arc::new(Self {
            server: Arc::clone(server),
            driven: Driven::new(conversation, Arc::clone(pool)),
            kind,
            headers,
            outbox: Outbox::default(),
            inbox: Inbox::default(),
            to_remote: Mutex::default(),
            streams: Mutex::new(Streams::new()),
            posts: AtomicUsize::new(0),
            life: watch::Sender::new(Life::Running),
        })
    }

    /// Starts `target`, and forwards its messages until it ends, [`ProcessSession::end`] is called, or it is idle for
    /// longer than `idle`.
    pub(super) fn start(
        target: Target,
        kind: SessionKind,
        caller: &Caller,
        idle: Duration,
        server: &Arc<GuardedServer>,
        pool: &Arc<JobPool>,
    ) -> Result<Arc<Self>, StartError> {
        let headers = match &target {
            Target::Process(_) => RemoteHeaders::none(),
            Target::Remote(_) if kind.is_modern() => RemoteHeaders::fixed(caller),
            Target::Remote(_) => RemoteHeaders::of_requests(),
        };
        let session = Self::new(kind, Arc::new(headers), server, pool);
        let mut peer = session.connect(&target)?;
        let carried = Arc::clone(&session);
        tokio::spawn(async move {
            let mut has_ended;
            loop {
                has_ended = carried.carry(&mut peer, idle).await;
                // Some servers end when a client of another era talks to them.
                if !has_ended || !drive(&carried, |it, _| it.wants_restart()) {
                    break;
                }
                let Ok(again) = carried.connect(&target) else { break };
                std::mem::replace(&mut peer, again).end().await;
                drive(&carried, Conversation::on_restart);
            }
            carried.end();
            carried.outbox.close();
            lock(&carried.to_remote).take();
            let mut reason = ENDED.to_owned();
            if has_ended && let Ok(Some((log, why))) = timeout(ENDING, peer.wait()).await {
                let event = Event::warning(format!("server: {log}"));
                carried.server.report(event.or_unquoted("server: ended"));
                reason = why;
            }
            if has_ended {
                // Answers that came before the end may still be checked.
                drive(&carried, |it, _| it.fail_waiting_calls(&reason));
                wait_until(&carried, LAST_CHECKS, Conversation::holds_nothing).await;
            }
            drive(&carried, |it, _| it.on_server_gone(&reason));
            carried.close_streams();
            peer.end().await;
            carried.advance(Life::Gone);
        });
        Ok(session)
    }

    /// Starts what the session talks to. From then on messages may be sent.
    fn connect(&self, target: &Target) -> Result<RunningServer, StartError> {
        let peer = target.start(&self.headers)?;
        if let RunningServer::Remote(remote) = &peer {
            *lock(&self.to_remote) = Some(remote.sender());
        }
        Ok(peer)
    }

    /// Forwards messages; `true` if the server has ended.
    async fn carry(self: &Arc<Self>, peer: &mut RunningServer, idle: Duration) -> bool {
        let (read, written) = match peer {
            RunningServer::Process(child, _) => {
                let Some((output, mut input)) = child.streams() else { return true };
                let read = self.read(output).boxed();
                let written = async move {
                    let _ = self.outbox.write_to(&mut input).await;
                    // A process that stopped reading is noticed when it ends, or may be started again.
                    drop(input);
                    if !drive(self, |it, _| it.is_bridging()) {
                        self.outbox.close();
                    }
                };
                (read, written.boxed())
            }
            RunningServer::Remote(remote) => {
                let read = async {
                    while let Some(received) = remote.next().await {
                        self.take(received);
                        self.wait_for_client().await;
                    }
                };
                (read.boxed(), pending().boxed())
            }
        };
        let written = async {
            written.await;
            pending::<()>().await;
        };
        tokio::select! {
            () = read => true,
            () = written => false,
            () = self.until(Life::Ending) => false,
            () = self.until_idle(idle) => false,
        }
    }

    /// Reads the messages of the process until it ends.
    async fn read(self: &Arc<Self>, output: ChildStdout) {
        let max = self.server.rules().settings.max_message;
        let mut lines = LineReader::new(output, Sender::Server, max, self.memory());
        let is_shared = self.kind.is_modern();
        if is_shared {
            // Other clients of a shared process do not wait for memory.
            lines = lines.without_waiting();
        }
        loop {
            // A server that sends without end and does not read what it gets for it is not read any further.
            self.outbox.wait_for_small(FLOOD).await;
            let found = if is_shared {
                self.inbox.next(&mut lines, self.driven.pool()).await
            } else {
                self.next_line(&mut lines).await
            };
            let Ok(Some(received)) = found else { return };
            self.take(received);
            self.wait_for_client().await;
        }
    }

    /// The next line of a process with one client.
    async fn next_line(
        &self,
        lines: &mut LineReader<ChildStdout>,
    ) -> std::io::Result<Option<Received>> {
        Ok(match lines.next().await? {
            None => None,
            Some(Line::TooLong(why)) => Some(Received::unread(why)),
            Some(Line::Whole(line)) => {
                Some(Received::of_server_as_line(line, self.driven.pool()).await)
            }
        })
    }

    /// Takes a message of the server.
    fn take(self: &Arc<Self>, received: Received) {
        if received.is_blank() {
            return;
        }
        // Clients on HTTP get messages alone.
        let _ = take_server(self, received);
    }

    /// Waits until the only client of a server has read: no other client waits as well.
    async fn wait_for_client(&self) {
        if !self.kind.is_modern() && !self.has_room() {
            let _ = timeout(PATIENCE, self.wait_for_room()).await;
        }
    }

    /// Whether the server may refuse requests with a status.
    pub(super) fn may_be_refused(&self) -> bool {
        self.headers.may_be_refused()
    }

    /// Whether clients without a session share it.
    pub(super) fn is_modern(&self) -> bool {
        self.kind.is_modern()
    }

    /// The memory limit of all messages.
    pub(super) fn memory(&self) -> &Arc<MemoryLimit> {
        self.driven.pool().memory()
    }

    /// Waits until there is room for a message of `bytes`. Returns `false` if the process does not read.
    pub(super) async fn accepts(&self, bytes: usize) -> bool {
        let outbox = &self.outbox;
        if outbox.small_len() > self.memory().queue_limit() {
            return false;
        }
        let room = async {
            // Large messages of others are no reason for a small one to wait.
            match bytes {
                _ if bytes <= SMALL => {}
                _ if bytes <= INLINE_BYTES => outbox.wait_for_small(ROOM).await,
                _ => outbox.wait_for_room().await,
            }
        };
        timeout(PATIENCE, room).await.is_ok()
    }

    /// The last use of the process, or `None` while a request or stream is open.
    pub(super) fn idle_since(&self) -> Option<Instant> {
        let mut streams = lock(&self.streams);
        if streams.listens() || self.is_waiting() {
            streams.used = Instant::now();
            return None;
        }
        streams.requests.is_empty().then_some(streams.used)
    }

    /// Whether a call waits for input of its client.
    pub(super) fn is_waiting(&self) -> bool {
        self.driven.look(Conversation::is_waiting)
    }

    /// Whether its client has come back after it opened the session.
    pub(super) fn has_returned(&self) -> bool {
        // A legacy client opens it with two messages.
        let opening = if self.kind.is_modern() { 1 } else { 2 };
        self.posts.load(Ordering::Relaxed) > opening
    }

    /// How much it is worth to keep: one whose client came once may be anybody's, and is worth less than any other one.
    /// `None` while a request uses it, or waits for input of its client.
    pub(super) fn worth(&self) -> Option<(bool, Instant)> {
        let streams = lock(&self.streams);
        let is_free = streams.requests.is_empty() && !self.is_waiting();
        is_free.then(|| (self.has_returned(), streams.used))
    }

    /// Sends a client's message to a server on HTTP with the headers and the query that it came with.
    pub(super) fn set_headers(
        &self,
        caller: &Caller,
        headers: &HeaderMap,
        message: Option<&Message<'_>>,
    ) -> Option<OwnHeaders> {
        self.headers.set(caller, headers, message)
    }

    /// What `headers` say about the trace of a request; `None` where nothing is exported.
    pub(super) fn http_trace(&self, headers: &HeaderMap) -> Option<HttpTrace> {
        HttpTrace::read(&self.server, headers)
    }

    /// Ends the process.
    pub(super) fn end(&self) {
        self.advance(Life::Ending);
    }

    /// Ends the process as soon as it is idle.
    pub(super) fn end_when_idle(&self) {
        self.advance(Life::Leaving);
    }

    pub(super) fn is_over(&self) -> bool {
        *self.life.borrow() >= Life::Ending
    }

    /// Waits until the process has ended.
    pub(super) async fn until_gone(&self) {
        self.until(Life::Gone).await;
    }

    fn advance(&self, to: Life) {
        self.life.send_if_modified(|life| to > std::mem::replace(life, to.max(*life)));
    }

    async fn until(&self, point: Life) {
        // Only a sender that is gone fails, and this is one.
        let _ = self.life.subscribe().wait_for(|life| *life >= point).await;
    }

    /// Waits until nobody has used the process for `idle`.
    async fn until_idle(&self, idle: Duration) {
        loop {
            let limit = if *self.life.borrow() == Life::Leaving {
                Duration::ZERO
            } else if lock(&self.streams).seems_left() {
                idle.min(LEFT)
            } else {
                idle
            };
            if self.idle_since().is_some_and(|since| since.elapsed() >= limit) {
                return;
            }
            sleep((idle / 4).clamp(Duration::from_millis(50), IDLE_CHECK)).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::text;
    use std::sync::{Arc, Mutex};
    use std::time::Duration;

    use futures_util::FutureExt as _;
    use http_body_util::BodyExt as _;
    use hyper::{HeaderMap, Response};
    use tokio::time::timeout;

    use super::{Mail, ProcessSession, SessionKind, drive, lock};
    use crate::front::process::client_stream::ClientStream;
    use crate::front::process::mailbox::ROOM;
    use crate::http::respond::Body;
    use crate::memory::MemoryLimit;
    use crate::runtime::pool::JobPool;
    use crate::server::GuardedServer;
    use toolbond_guard_core::conversation::Origin;
    use toolbond_guard_core::event::Event;
    use toolbond_guard_core::message::Message;
    use toolbond_guard_core::settings::Settings;

    /// What a process is told about three requests of `length` bytes that nobody takes.
    async fn ask(session: &Arc<ProcessSession>, length: usize) -> String {
        let long = "a".repeat(length);
        for id in 0..3 {
            let text = text(format!(
                r#"{{"jsonrpc":"2.0","id":{id},"method":"roots/list","params":{{"a":"{long}"}}}}"#
            ));
            let message = Message::read(&text).unwrap();
            drive(session, |it, now| it.on_server(Origin::Pipe, &message, now));
        }
        session.outbox.close();
        let mut told = Vec::new();
        session.outbox.write_to(&mut told).await.unwrap();
        String::from_utf8(told).unwrap()
    }

    fn session(kind: SessionKind) -> (Arc<ProcessSession>, Arc<Mutex<Vec<String>>>) {
        session_within(kind, MemoryLimit::default())
    }

    fn session_within(
        kind: SessionKind,
        memory: MemoryLimit,
    ) -> (Arc<ProcessSession>, Arc<Mutex<Vec<String>>>) {
        let said = Arc::new(Mutex::new(Vec::new()));
        let hears = Arc::clone(&said);
        let listener = move |event: Event| hears.lock().unwrap().push(event.to_string());
        let server = GuardedServer::new("a", Settings::default(), Arc::new(listener));
        let pool = JobPool::new(Arc::new(memory));
        (ProcessSession::new(kind, Arc::default(), &Arc::new(server), &Arc::new(pool)), said)
    }

    #[tokio::test(start_paused = true)]
    async fn a_process_ends_soon_after_its_client_has_left() {
        let half_an_hour = Duration::from_secs(1800);
        let waits = |session: Arc<ProcessSession>, limit: u64| async move {
            timeout(Duration::from_secs(limit), session.until_idle(half_an_hour)).await.is_ok()
        };
        let (session, _said) = session(SessionKind::Client);
        assert!(
            !waits(Arc::clone(&session), 1700).await,
            "a client that never listened may come back"
        );
        let listener = ClientStream::listen(&session).unwrap();
        assert!(!waits(Arc::clone(&session), 3000).await, "it listens");
        drop(listener);
        assert!(waits(Arc::clone(&session), 100).await, "it has left");
    }

    #[tokio::test]
    async fn requests_of_the_process_that_nobody_takes_are_answered() {
        // Without a stream, the last ones are kept.
        let (one, said) = session(SessionKind::Client);
        let told = ask(&one, ROOM).await;
        assert!(told.contains(r#""id":0,"error""#) && told.contains(r#""id":1,"error""#), "{told}");
        assert!(!told.contains(r#""id":2"#), "{told}");
        assert_eq!(said.lock().unwrap().len(), 1);
        assert!(said.lock().unwrap()[0].contains("has no stream open"));
        // With one that is not read, the first one.
        let (two, said) = session(SessionKind::Client);
        let _listener = ClientStream::listen(&two).unwrap();
        let told = ask(&two, ROOM).await;
        assert_eq!(told.matches("the client does not read").count(), 2, "{told}");
        assert_eq!(said.lock().unwrap().len(), 1);
        // The process has waited for it once, and is not held up again.
        assert!(two.wait_for_client().now_or_never().is_some());
    }

    /// The next event of a response.
    async fn event(response: &mut Response<Body>) -> String {
        let frame = response.body_mut().frame().await.unwrap().unwrap();
        String::from_utf8(frame.into_data().unwrap().to_vec()).unwrap()
    }

    #[tokio::test]
    async fn what_a_closed_stream_did_not_get_waits_for_the_next_one() {
        let (session, _said) = session(SessionKind::Client);
        let listens = || session.stream(&HeaderMap::new());
        let mut first = listens();
        let told = ask(&session, 10).await;
        assert_eq!(told, "");
        assert!(event(&mut first).await.contains(r#""id":0"#));
        drop(first);
        let mut second = listens();
        for id in [1, 2] {
            let event = event(&mut second).await;
            assert!(event.contains(&format!(r#""id":{id}"#)), "{event}");
        }
        // No more than fits: the process learns that nobody takes the others.
        let (large, said) = self::session(SessionKind::Client);
        let first = large.stream(&HeaderMap::new());
        for _ in 0..2 {
            large.deliver(None, Mail::new(large.memory().count(vec![b'a'; ROOM / 2]), false));
        }
        drop(first);
        large.deliver(None, Mail::new(large.memory().count(vec![b'a'; ROOM / 2]), false));
        assert_eq!(lock(&large.streams).backlog.len(), 1);
        assert!(said.lock().unwrap()[0].contains("has no stream open"));
    }

    #[tokio::test]
    async fn streams_that_wait_to_be_resumed_leave_memory_to_others() {
        let (session, _said) = session_within(SessionKind::Client, MemoryLimit::new(16 << 20));
        let answer = || Mail::new(session.memory().count(vec![b'a'; 300_000]), true);
        let suspend = || {
            let mut client = ClientStream::open(&session, false, 2);
            client.inflow.mailbox.deliver(answer());
            let stream = client.stream.unwrap();
            let (resumable, _) = client.take_resumable().unwrap();
            session.suspend(resumable);
            stream
        };
        let first = suspend();
        for _ in 0..8 {
            let stream = suspend();
            session.deliver(Some(stream), answer());
        }
        let used = session.memory().used()[0];
        assert!(used <= 1 << 20, "{used}");
        let suspended = session.resume(first).unwrap();
        assert_eq!(suspended.inflow.mailbox.take().mail.len(), 1);
    }

    #[tokio::test]
    async fn a_process_that_does_not_read_leaves_memory_to_others() {
        let (session, _said) = session_within(SessionKind::Client, MemoryLimit::new(16 << 20));
        assert!(session.accepts(1).await);
        for _ in 0..12 {
            session.outbox.push(session.memory().count(vec![b'a'; 50_000]));
        }
        assert!(!session.accepts(1).await);
    }

    #[tokio::test]
    async fn a_shared_process_warns_once_of_notifications_that_name_no_request() {
        let (session, said) = session(SessionKind::Shared);
        let _client = ClientStream::open(&session, false, 1);
        for n in 0..3 {
            let text = text(format!(
                r#"{{"jsonrpc":"2.0","method":"notifications/message","params":{{"data":{n}}}}}"#
            ));
            let message = Message::read(&text).unwrap();
            drive(&session, |it, now| it.on_server(Origin::Pipe, &message, now));
        }
        let said = said.lock().unwrap();
        assert!(matches!(&said[..], [one] if one.contains("names no open request")), "{said:?}");
    }
}
