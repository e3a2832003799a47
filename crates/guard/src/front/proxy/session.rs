//! The sessions of a proxy, and the conversation of each.

use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasher as _, RandomState};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, Weak};

use ahash::AHashMap;
use bytes::Bytes;
use hyper::{HeaderMap, Response, StatusCode, Uri};
use tokio::sync::{Notify, oneshot};
use tokio::task::AbortHandle;
use toolbond_contract::Revision;

use super::endpoint::{ClientPath, Endpoint};
use super::list::{NotListed, ToolLists};
use super::param_headers::rewrite;
use crate::http::respond::{Body, full, join, json};
use crate::pipe::pieces::Pieces;
use crate::runtime::drive::{Driven, Transport, drive};
use toolbond_guard_core::caller::{Caller, ConversationKey};
use toolbond_guard_core::conversation::{
    Action, AskId, Conversation, Destination, Link, Origin, StreamId, Ticket,
};
use toolbond_guard_core::counted::Counted;
use toolbond_guard_core::lock::lock;
use toolbond_guard_core::message::Outgoing;

/// The most sessions that are remembered; the tools of a forgotten one are listed again.
const MAX_SESSIONS: usize = 4096;

/// The most event ids of one session that are remembered, so that resumed streams are recognized.
const MAX_EVENT_IDS: usize = 4096;

/// The most answers of the guard itself that wait for the client on the stream of an endpoint.
const MAX_UNREAD: usize = 1024;

/// How many sessions are forgotten at a time when there are too many.
const EVICTED: usize = MAX_SESSIONS / 8;

/// The sessions of a proxy.
///
/// A caching library does not fit: which sessions are forgotten first protects those of other clients.
pub(super) struct Sessions {
    table: Arc<Mutex<Table>>,
    lists: Arc<ToolLists>,
}

#[derive(Default)]
struct Table {
    sessions: AHashMap<ConversationKey, (Arc<Session>, u64)>,
    /// Counts uses; the higher, the more recent.
    clock: u64,
}

/// One session, or all requests of one client that has none.
pub(super) struct Session {
    driven: Driven,
    lists: Arc<ToolLists>,
    /// The table that it may be in.
    table: Weak<Mutex<Table>>,
    /// Where its messages are posted, in HTTP+SSE.
    pub(super) endpoint: Option<Endpoint>,
    /// Tells streams of replies.
    pub(super) told: Notify,
    /// Locked after the table, and nothing else after it.
    open: Mutex<Open>,
    /// Whether the server has answered a request of this session with success.
    is_accepted: AtomicBool,
}

/// What is open in a session.
#[derive(Default)]
struct Open {
    /// Messages that the conversation has not decided about, or that were not fetched yet.
    decided: AHashMap<Ticket, Decided>,
    requests: AHashMap<StreamId, OpenRequest>,
    /// What the guard itself tells the client on a stream that was opened with GET.
    for_listener: Option<Bytes>,
    events: EventIds,
    /// The requests of the guard itself that wait for their answer.
    asking: AHashMap<AskId, AbortHandle>,
    /// What the server answered in place of its tool list, while the conversation hears of that.
    not_listed: Option<(AskId, Response<Bytes>)>,
}

/// An open request of a client, or the stream of an endpoint.
#[derive(Default)]
struct OpenRequest {
    /// Its URI and headers, while the guard may ask on its behalf.
    head: Option<(Uri, HeaderMap)>,
    /// What the guard itself answers.
    replies: Vec<Bytes>,
    /// Whether it is refused because there is no tool list, and what the server answered in its place.
    is_unlisted: bool,
    refusal: Option<Response<Bytes>>,
}

/// What was decided about a message so far.
#[derive(Default)]
struct Decided {
    left: Option<Pieces>,
    is_done: bool,
    waiter: Option<oneshot::Sender<()>>,
}

/// Which stream an event was on, by the hash of its id. The oldest are forgotten first: clients resume from recent ones.
#[derive(Default)]
struct EventIds {
    streams: HashMap<u64, StreamId>,
    order: VecDeque<u64>,
    hasher: RandomState,
}

impl Sessions {
    pub(super) fn new(lists: ToolLists) -> Self {
        Self { table: Arc::default(), lists: Arc::new(lists) }
    }

    /// The session with this key. Where there are too many, and all are in use, it is forgotten with the request.
    pub(super) fn get(&self, key: ConversationKey) -> Arc<Session> {
        let mut table = lock(&self.table);
        table.clock += 1;
        let clock = table.clock;
        if let Some((session, used)) = table.sessions.get_mut(&key) {
            *used = clock;
            return Arc::clone(session);
        }
        if table.sessions.len() >= MAX_SESSIONS {
            table.evict();
        }
        let has_session = matches!(key, ConversationKey::Session { .. });
        let session = Arc::new(Session::new(self, Link::Streams, has_session, None));
        if table.sessions.len() < MAX_SESSIONS {
            table.sessions.insert(key, (Arc::clone(&session), clock));
        }
        session
    }

    /// The session with this key, if there is one.
    pub(super) fn find(&self, key: &ConversationKey) -> Option<Arc<Session>> {
        lock(&self.table).sessions.get(key).map(|(session, _)| Arc::clone(session))
    }

    /// Adds a session for what is posted to `endpoint`, for as long as the stream is open that it was told on; `None` if
    /// there are too many.
    pub(super) fn open(&self, endpoint: Endpoint) -> Option<Arc<Session>> {
        let key = endpoint.key();
        let session = Arc::new(Session::new(self, Link::Endpoint, true, Some(endpoint)));
        let mut table = lock(&self.table);
        if table.sessions.len() >= MAX_SESSIONS {
            table.evict();
        }
        let clock = table.clock;
        (table.sessions.len() < MAX_SESSIONS).then(|| {
            table.sessions.insert(key, (Arc::clone(&session), clock));
            session
        })
    }

    /// Forgets the tool lists of all sessions.
    pub(super) fn forget_lists(&self) {
        let all: Vec<_> =
            lock(&self.table).sessions.values().map(|(session, _)| Arc::clone(session)).collect();
        for session in &all {
            drive(session, |it, _| it.on_tools_changed());
        }
    }

    /// Forgets the session with this key, which has ended.
    pub(super) fn forget(&self, key: &ConversationKey) {
        if !matches!(key, ConversationKey::Caller(_)) {
            lock(&self.table).sessions.remove(key);
        }
    }
}

impl Table {
    /// Forgets up to an eighth of the sessions, and none with open requests: first those that the server has not
    /// accepted, such as made-up ids, then those that were not used for longest.
    fn evict(&mut self) {
        let rank = |(session, used): &(Arc<Session>, u64)| {
            (Arc::strong_count(session) > 1, session.is_accepted.load(Ordering::Relaxed), *used)
        };
        let mut ranks: Vec<_> = self.sessions.values().map(rank).collect();
        let (_, limit, _) = ranks.select_nth_unstable(EVICTED);
        let limit = *limit;
        self.sessions.retain(|_, entry| {
            let rank = rank(entry);
            rank.0 || rank >= limit
        });
    }
}

impl Session {
    fn new(all: &Sessions, link: Link, has_session: bool, endpoint: Option<Endpoint>) -> Self {
        let remote = &all.lists.remote;
        let server = Arc::clone(remote.server.shared());
        let conversation =
            Conversation::new(server, link, Revision::default()).with_session(has_session);
        Self {
            driven: Driven::new(conversation, Arc::clone(&remote.pool)),
            lists: Arc::clone(&all.lists),
            table: Arc::downgrade(&all.table),
            endpoint,
            told: Notify::new(),
            open: Mutex::default(),
            is_accepted: AtomicBool::new(false),
        }
    }

    /// Waits until the message `ticket` is decided: what is left of it.
    pub(super) async fn decision(&self, ticket: Ticket) -> Option<Bytes> {
        let waits = {
            let mut open = lock(&self.open);
            let entry = open.decided.entry(ticket).or_default();
            let (waiter, waits) = oneshot::channel();
            entry.waiter = Some(waiter);
            (!entry.is_done).then_some(waits)
        };
        if let Some(waits) = waits {
            let _entry = Undecided { session: self, ticket };
            let _ = waits.await;
        }
        let left = lock(&self.open).decided.remove(&ticket)?.left?;
        self.driven.pool().join(left).await.map(Counted::into_bytes)
    }

    /// Records that the server answered a request with success.
    pub(super) fn accept(&self) {
        self.is_accepted.store(true, Ordering::Relaxed);
    }

    /// Whether the client does not read what the guard itself answers on the stream of an endpoint.
    pub(super) fn is_unread(&self) -> bool {
        let open = lock(&self.open);
        open.requests.get(&StreamId::PIPE).is_some_and(|it| it.replies.len() >= MAX_UNREAD)
    }

    /// Takes what the guard itself tells the client, for a stream that was opened with GET.
    pub(super) fn take_for_listener(&self) -> Option<Bytes> {
        lock(&self.open).for_listener.take()
    }

    /// Takes what the guard itself answers on `stream`.
    pub(super) fn take_replies(&self, stream: StreamId) -> Vec<Bytes> {
        let mut open = lock(&self.open);
        open.requests.get_mut(&stream).map(|it| std::mem::take(&mut it.replies)).unwrap_or_default()
    }

    /// The response to a request that is refused because there is no tool list. The server's own answer tells the client
    /// what to do: to authorize itself, or to open another session.
    pub(super) fn take_unlisted(&self, stream: StreamId, is_batch: bool) -> Option<Response<Body>> {
        let response = {
            let mut open = lock(&self.open);
            let request = open.requests.get_mut(&stream).filter(|it| it.is_unlisted)?;
            request.is_unlisted = false;
            request.refusal.take()
        };
        Some(response.map_or_else(
            || json(StatusCode::SERVICE_UNAVAILABLE, join(&self.take_replies(stream), is_batch)),
            |response| response.map(full),
        ))
    }

    /// Remembers that the event `id` was on `stream`.
    pub(super) fn record_event(&self, id: &[u8], stream: StreamId) {
        let events = &mut lock(&self.open).events;
        let hash = events.hasher.hash_one(id);
        if events.streams.insert(hash, stream).is_none() {
            events.order.push_back(hash);
        }
        if events.order.len() > MAX_EVENT_IDS
            && let Some(oldest) = events.order.pop_front()
        {
            events.streams.remove(&oldest);
        }
    }

    /// The stream that the event `id` was on.
    pub(super) fn stream_of_event(&self, id: &[u8]) -> Option<StreamId> {
        let events = &lock(&self.open).events;
        events.streams.get(&events.hasher.hash_one(id)).copied()
    }
}

impl Transport for Session {
    fn driven(&self) -> &Driven {
        &self.driven
    }

    fn carry_out(self: &Arc<Self>, action: Action) {
        match action {
            Action::Send { to, ticket, message } => self.send(to, ticket, message),
            Action::SetHeaders { stream, headers: changes } => {
                let mut open = lock(&self.open);
                let request = open.requests.get_mut(&stream);
                if let Some((_, headers)) = request.and_then(|it| it.head.as_mut()) {
                    rewrite(headers, changes);
                }
            }
            Action::Done(ticket) => {
                let mut open = lock(&self.open);
                let entry = open.decided.entry(ticket).or_default();
                entry.is_done = true;
                if let Some(waiter) = entry.waiter.take() {
                    let _ = waiter.send(());
                }
            }
            Action::Ask { ask, stream, bytes } => self.ask(ask, stream, bytes),
            Action::StopAsking(ask) => {
                if let Some(asked) = lock(&self.open).asking.remove(&ask) {
                    asked.abort();
                }
            }
            Action::Unlisted { stream, ask } => {
                let mut open = lock(&self.open);
                let found = open.not_listed.as_ref().filter(|(own, _)| Some(*own) == ask);
                let refusal = found.map(|(_, response)| response.clone());
                let request = open.requests.entry(stream).or_default();
                (request.is_unlisted, request.refusal) = (true, refusal);
            }
            Action::Judge(_) | Action::NoAnswer(_) => {}
        }
    }
}

impl Session {
    /// Sends a message of the conversation, or keeps it until it is fetched.
    fn send(&self, to: Destination, ticket: Option<Ticket>, message: Outgoing) {
        let message = self.driven.pieces(message);
        if let Some(ticket) = ticket {
            lock(&self.open).decided.entry(ticket).or_default().left = Some(message);
            return;
        }
        let stream = match to {
            // All answers come on one stream.
            Destination::Answer(_) | Destination::Client(_) | Destination::Listener
                if self.endpoint.is_some() =>
            {
                StreamId::PIPE
            }
            Destination::Answer(stream) | Destination::Client(stream) => stream,
            Destination::Listener => {
                lock(&self.open).for_listener = Some(self.bytes(message));
                return self.told.notify_waiters();
            }
            // Messages of the guard itself go another way where each request has its own stream.
            Destination::Server(_) => return,
        };
        let bytes = self.bytes(message);
        let mut open = lock(&self.open);
        if matches!(to, Destination::Client(_)) && self.endpoint.is_none() {
            // Its client may have left, or not read for long.
            let request = open.requests.get_mut(&stream);
            let Some(request) = request.filter(|it| it.replies.len() < MAX_UNREAD) else { return };
            request.replies.push(bytes);
        } else {
            open.requests.entry(stream).or_default().replies.push(bytes);
        }
        drop(open);
        self.told.notify_waiters();
    }

    /// A message as bytes.
    fn bytes(&self, message: Pieces) -> Bytes {
        message.into_one(self.driven.pool().memory()).into_bytes()
    }

    /// Asks the server on behalf of the guard.
    fn ask(self: &Arc<Self>, ask: AskId, stream: StreamId, bytes: Bytes) {
        let head = lock(&self.open).requests.get(&stream).and_then(|it| it.head.clone());
        let Some((uri, headers)) = head else {
            return drive(self, |it, now| it.fail_fetch(ask, "the client has left", now));
        };
        let (lists, session) = (Arc::clone(&self.lists), Arc::downgrade(self));
        let asked = tokio::spawn(async move {
            let answer = lists.fetch(&uri, headers, bytes).await;
            let Some(session) = session.upgrade() else { return };
            lock(&session.open).asking.remove(&ask);
            match answer {
                Ok(result) => drive(&session, |it, now| it.on_own_answer(ask, result, now)),
                // The answer comes on the stream of the endpoint.
                Err(NotListed { is_accepted: true, .. }) if session.endpoint.is_some() => {}
                Err(NotListed { reason, response, .. }) => {
                    lock(&session.open).not_listed = response.map(|response| (ask, response));
                    drive(&session, |it, now| it.fail_fetch(ask, &reason, now));
                    lock(&session.open).not_listed = None;
                }
            }
        });
        lock(&self.open).asking.insert(ask, asked.abort_handle());
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        lock(&self.open).asking.drain().for_each(|(_, asked)| asked.abort());
    }
}

/// A message whose decision is waited for; forgotten if the wait ends.
struct Undecided<'a> {
    session: &'a Session,
    ticket: Ticket,
}

impl Drop for Undecided<'_> {
    fn drop(&mut self) {
        let decided = &mut lock(&self.session.open).decided;
        if decided.get(&self.ticket).is_some_and(|entry| !entry.is_done) {
            decided.remove(&self.ticket);
        }
    }
}

/// One HTTP request of a client: a stream of the conversation, which closes with it.
pub(super) struct RequestStream {
    pub(super) session: Arc<Session>,
    pub(super) stream: StreamId,
    pub(super) caller: Caller,
    /// Whether its client may resume it.
    pub(super) may_resume: bool,
    /// Where it asks for events, if it wrote another path than the server sees.
    pub(super) path: Option<ClientPath>,
    /// Whether the server may answer it: it was sent, and not refused.
    pub(super) is_sent: bool,
}

impl RequestStream {
    /// A new stream of `session`; `uri` and `headers` are those of its request, which it keeps for requests of
    /// the guard itself.
    pub(super) fn new(session: Arc<Session>, caller: Caller, uri: Uri, headers: HeaderMap) -> Self {
        let stream = StreamId::new();
        let request = OpenRequest { head: Some((uri, headers)), ..OpenRequest::default() };
        lock(&session.open).requests.insert(stream, request);
        Self { session, stream, caller, may_resume: false, path: None, is_sent: false }
    }

    /// Takes the headers back: the guard has nothing more to ask for this request.
    pub(super) fn take_headers(&self) -> HeaderMap {
        let mut open = lock(&self.session.open);
        let head = open.requests.get_mut(&self.stream).and_then(|it| it.head.take());
        head.map(|(_, headers)| headers).unwrap_or_default()
    }

    /// The stream that a client resumes.
    pub(super) fn resumed(session: Arc<Session>, caller: Caller, stream: StreamId) -> Self {
        Self { session, stream, caller, may_resume: true, path: None, is_sent: true }
    }

    /// The URI of its request, as long as the guard may ask for it.
    pub(super) fn uri(&self) -> Option<Uri> {
        let open = lock(&self.session.open);
        open.requests.get(&self.stream)?.head.as_ref().map(|(uri, _)| uri.clone())
    }

    /// Moves to the session that the answer opened.
    pub(super) fn enter(&mut self, session: Arc<Session>) {
        if Arc::ptr_eq(&self.session, &session) {
            return;
        }
        drive(&self.session, |old, _| {
            drive(&session, |new, _| old.move_stream(self.stream, new));
        });
        let request = lock(&self.session.open).requests.remove(&self.stream);
        lock(&session.open).requests.extend(request.map(|request| (self.stream, request)));
        self.session = session;
    }
}

impl Drop for RequestStream {
    fn drop(&mut self) {
        let (stream, may_resume) = (self.stream, self.may_resume);
        // It asks for nothing more.
        self.take_headers();
        drive(&self.session, |it, now| {
            if !self.is_sent {
                it.forget_requests(stream);
            }
            it.close_stream(stream, may_resume, now);
        });
        if let (StreamId::PIPE, Some(endpoint)) = (stream, &self.session.endpoint)
            && let Some(table) = self.session.table.upgrade()
        {
            lock(&table).sessions.remove(&endpoint.key());
        }
        lock(&self.session.open).requests.remove(&stream);
    }
}

/// What a server was sent, and is expected to answer.
pub(super) struct Answered {
    pub(super) request: RequestStream,
    pub(super) origin: Origin,
    /// What the guard itself answered, which is put beside the answers of the server.
    pub(super) replies: Vec<Bytes>,
    pub(super) is_batch: bool,
    /// Whether its client reads JSON-RPC messages in the answer: it sent one, or listens.
    pub(super) is_rpc: bool,
}

impl Answered {
    /// A request that was posted.
    pub(super) fn new(
        request: RequestStream,
        replies: Vec<Bytes>,
        is_batch: bool,
        is_rpc: bool,
    ) -> Self {
        let origin = Origin::Stream(request.stream);
        Self { request, origin, replies, is_batch, is_rpc }
    }
}

/// The error for requests that the server left unanswered.
pub(super) const UNANSWERED: &str = "the server did not answer the request";

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{ConversationKey, MAX_SESSIONS, Sessions, lock};
    use crate::back::http::{Client, HttpServer};
    use crate::back::remote::Remote;
    use crate::front::proxy::list::ToolLists;
    use crate::memory::MemoryLimit;
    use crate::runtime::pool::JobPool;
    use crate::server::GuardedServer;
    use toolbond_guard_core::event::Event;
    use toolbond_guard_core::settings::Settings;

    fn key(id: &str) -> ConversationKey {
        ConversationKey::Session { id: id.to_owned(), target: "/mcp".to_owned() }
    }

    fn sessions() -> Sessions {
        let server = GuardedServer::new("test", Settings::default(), Arc::new(|_: Event| ()));
        let url = "http://127.0.0.1:9/mcp".parse().unwrap();
        let http = HttpServer { url, client: Client::new(None).unwrap() };
        let pool = Arc::new(JobPool::new(Arc::new(MemoryLimit::default())));
        Sessions::new(ToolLists::new(Remote { http, server: Arc::new(server), pool }))
    }

    #[test]
    fn made_up_ids_do_not_evict_sessions_that_the_server_accepted() {
        let sessions = sessions();
        let get = |id: &str| sessions.get(key(id));
        let accepted = Arc::downgrade(&get("accepted"));
        get("accepted").accept();
        for n in 0..3 * MAX_SESSIONS {
            get(&format!("bogus {n}"));
            assert!(lock(&sessions.table).sessions.len() <= MAX_SESSIONS);
        }
        assert!(Arc::ptr_eq(&accepted.upgrade().unwrap(), &get("accepted")));

        for n in 0..MAX_SESSIONS {
            get("accepted");
            get(&format!("session {n}")).accept();
        }
        assert!(Arc::ptr_eq(&accepted.upgrade().unwrap(), &get("accepted")));
        assert!(!lock(&sessions.table).sessions.contains_key(&key("session 0")));
        assert!(lock(&sessions.table).sessions.len() <= MAX_SESSIONS);
    }

    #[test]
    fn sessions_with_open_requests_are_never_forgotten() {
        let sessions = sessions();
        let open: Vec<_> = (0..MAX_SESSIONS).map(|n| sessions.get(key(&n.to_string()))).collect();
        let further = sessions.get(key("further"));
        assert!(!Arc::ptr_eq(&further, &sessions.get(key("further"))));
        for (n, session) in open.iter().enumerate() {
            assert!(Arc::ptr_eq(session, &sessions.get(key(&n.to_string()))));
        }
    }
}
