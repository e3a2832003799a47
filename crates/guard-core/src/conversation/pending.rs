//! Requests that wait for their answer.

use std::collections::VecDeque;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use crate::environment::{CallSpan, Kept};
use ahash::AHashMap;
use toolbond_contract::{Revision, results::Interim};

use super::action::StreamId;
use crate::caller::Caller;
use crate::contract::catalog::{ListKey, PageRequest, Tool};
use crate::message::{Id, error_code};

/// The most requests that wait at a time in one conversation.
pub(crate) const MAX_PENDING: usize = 65_536;

/// The most closed streams of one conversation whose requests are remembered, because a client may
/// resume them.
const MAX_RESUMABLE: usize = 1024;

/// The most requests whose client has left that are remembered: servers need not answer them.
const MAX_ABANDONED: usize = 4096;

/// What a request takes while it waits, beside its id and its progress token.
const BYTES: usize = 1 << 10;

/// Why a request was sent, as far as its answer is checked.
#[derive(Clone, Debug)]
pub(super) enum Purpose {
    /// The answer names the server and the revision. `client` is the name of a client that sends `initialize`.
    Handshake { client: Option<String> },
    /// A page of the tool list.
    List { request: PageRequest, key: ListKey },
    /// A call of a tool. `interim` says which results are not the final ones to its client.
    Call { tool: Option<Tool>, revision: Revision, interim: Interim },
    /// A request for the result of a call that became a task.
    TaskResult { tool: Option<Tool>, revision: Revision },
    /// A request about a task, whose answer may hold the result of a call.
    Task { tool: Option<Tool>, revision: Revision },
    /// A request about a task whose call is not known. Its answer is a result, or may hold one.
    UnknownTask { is_result: bool },
    /// A subscription, which has no answer as long as it is open. The server may have agreed to tell of other tools.
    Subscription { hears_of_tools: bool },
    /// Anything else.
    Other,
}

/// How far a request has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RequestProgress {
    /// The server has not seen it yet.
    Held,
    /// The server has it.
    Open,
    /// It was answered; it is kept because a client may resume its stream.
    Answered,
}

/// A request that waits for its answer.
#[derive(Clone, Debug)]
pub(super) struct Pending {
    /// The stream that its answer goes to.
    pub(super) stream: StreamId,
    pub(super) purpose: Purpose,
    /// Who sent it.
    pub(super) caller: Caller,
    pub(super) progress: RequestProgress,
    /// Whether its client has left.
    pub(super) is_abandoned: bool,
    /// Whether it asks for log messages.
    pub(super) wants_log: bool,
    /// The id that the client gave it, as JSON, where the server sees another one.
    pub(super) client_id: Option<String>,
    /// The progress token that the server sees, and the one that the client gave, as JSON.
    pub(super) token: Option<(Id, Option<String>)>,
    /// What the client of a call calls itself.
    pub(super) client: Option<Arc<str>>,
    /// The span of a call, where calls are traced.
    pub(super) span: Option<CallSpan>,
    /// The memory that it takes.
    pub(super) kept: Option<Kept>,
    serial: u64,
}

impl Pending {
    pub(super) fn new(stream: StreamId, purpose: Purpose) -> Self {
        Self {
            stream,
            purpose,
            caller: Caller::default(),
            progress: RequestProgress::Open,
            is_abandoned: false,
            wants_log: false,
            client_id: None,
            token: None,
            client: None,
            span: None,
            kept: None,
            serial: 0,
        }
    }

    /// The bytes that it takes as long as it waits under `key`.
    pub(super) fn bytes(&self, (_, id): &Key) -> usize {
        let own = |text: &Option<String>| text.as_ref().map_or(0, String::len);
        let token = |(token, client): &(Id, Option<String>)| 2 * token.bytes() + own(client);
        BYTES + 3 * id.bytes() + own(&self.client_id) + self.token.as_ref().map_or(0, token)
    }

    /// Marks the request as answered and returns it. Another answer to it is not part of its span.
    fn mark_answered(&mut self) -> Self {
        self.progress = RequestProgress::Answered;
        let answered = self.clone();
        self.span = None;
        answered
    }

    /// Has an answer with `id` leave with `own`, which the client knows it by.
    fn answered_as(mut self, id: &Id, own: &Id) -> Self {
        if id != own {
            self.client_id.get_or_insert_with(|| own.to_string());
        }
        self
    }

    /// Ends its span, because the answer is an error of the guard.
    pub(super) fn end_refused(&self, code: i32) {
        if let Some(span) = &self.span {
            span.set_refused();
            span.end_error(code.into());
        }
    }

    /// Ends its span with the error response `text`.
    pub(super) fn end_error(&self, text: &str) {
        if let Some(span) = &self.span {
            span.end_error(error_code(text).unwrap_or_default().into());
        }
    }

    /// Ends its span with a result that is not checked.
    pub(super) fn end_result(&self) {
        if let Some(span) = &self.span {
            span.end_result();
        }
    }

    /// Ends its span, because nobody waits for the answer any more.
    pub(super) fn end_cancelled(&self) {
        if let Some(span) = &self.span {
            span.end_cancelled();
        }
    }

    /// Whether its answer is checked.
    pub(super) fn is_checked(&self) -> bool {
        !matches!(
            self.purpose,
            Purpose::Other | Purpose::Subscription { .. } | Purpose::Handshake { .. }
        )
    }

    /// Whether the server has not seen it yet.
    pub(super) fn is_held(&self) -> bool {
        self.progress == RequestProgress::Held
    }

    pub(super) fn is_answered(&self) -> bool {
        self.progress == RequestProgress::Answered
    }

    /// Whether an answer is expected.
    fn is_open(&self) -> bool {
        self.progress == RequestProgress::Open
    }
}

/// Where ids are told apart: one scope for a pipe, one for each stream otherwise.
pub(super) type Key = (StreamId, Id);

/// Why a request cannot be added.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum NotAdded {
    /// A pending request has the same id.
    InUse,
    /// There are [`MAX_PENDING`] requests already.
    TooMany,
    /// There is no memory for it.
    NoMemory,
}

impl NotAdded {
    /// What the client is told about its request `id`.
    pub(super) fn describe(&self, id: &Id) -> String {
        match self {
            Self::InUse => format!("request id {id} is already in use"),
            Self::TooMany => format!("{MAX_PENDING} requests are pending already"),
            Self::NoMemory => {
                "the guard holds as many open requests as its memory limit allows (--max-memory); \
                               try again later"
                    .to_owned()
            }
        }
    }
}

/// The requests that wait for their answer.
#[derive(Debug, Default)]
pub(super) struct PendingRequests {
    requests: AHashMap<Key, Pending>,
    /// The requests of each stream, but for the one of a pipe.
    streams: AHashMap<StreamId, Vec<Key>>,
    /// The requests with a progress token, by the token that the server sees.
    tokens: AHashMap<Id, Key>,
    resumable: VecDeque<StreamId>,
    /// The requests whose client has left, oldest first.
    abandoned: VecDeque<Key>,
    serial: u64,
}

impl PendingRequests {
    /// Adds a request, and returns the number that tells it from others of the same key.
    pub(super) fn insert(&mut self, key: Key, pending: Pending) -> Result<u64, NotAdded> {
        if self.requests.len() >= MAX_PENDING {
            return Err(NotAdded::TooMany);
        }
        // A server may write the id of one as the id of the other.
        let other = key.1.other_reading();
        if other.is_some_and(|other| self.requests.contains_key(&(key.0, other))) {
            return Err(NotAdded::InUse);
        }
        self.serial += 1;
        let stream = pending.stream;
        match self.requests.entry(key) {
            Entry::Occupied(_) => return Err(NotAdded::InUse),
            Entry::Vacant(vacant) => {
                if stream != StreamId::PIPE {
                    self.streams.entry(stream).or_default().push(vacant.key().clone());
                }
                if let Some((token, _)) = &pending.token {
                    self.tokens.insert(token.clone(), vacant.key().clone());
                }
                vacant.insert(Pending { serial: self.serial, ..pending });
            }
        }
        Ok(self.serial)
    }

    pub(super) fn get(&self, key: &Key) -> Option<&Pending> {
        self.requests.get(key)
    }

    /// Removes the request, unless it is another one with the same key.
    pub(super) fn take(&mut self, key: &Key, serial: u64) -> Option<Pending> {
        let is_it = self.get(key).is_some_and(|pending| pending.serial == serial);
        if is_it { self.remove(key) } else { None }
    }

    /// The request, unless it is another one with the same key.
    pub(super) fn current(&mut self, key: &Key, serial: u64) -> Option<&mut Pending> {
        self.requests.get_mut(key).filter(|pending| pending.serial == serial)
    }

    pub(super) fn remove(&mut self, key: &Key) -> Option<Pending> {
        let pending = self.requests.remove(key)?;
        if let Some((token, _)) = &pending.token
            && self.tokens.get(token) == Some(key)
        {
            self.tokens.remove(token);
        }
        Some(pending)
    }

    /// Takes the request that an answer with `id` on a pipe belongs to.
    pub(super) fn answer(&mut self, id: &Id) -> Option<Pending> {
        let key = |id: &Id| (StreamId::PIPE, id.clone());
        let is_open = |id: &Id| self.requests.get(&key(id)).is_some_and(Pending::is_open);
        let own = id.among(is_open)?;
        self.remove(&key(&own)).map(|pending| pending.answered_as(id, &own))
    }

    /// The request that an answer with `id` on `stream` belongs to, marked as answered.
    ///
    /// Some clients take whatever answer comes on the stream of a request for the answer to it. So an
    /// answer with another id belongs to the only request that is open there. With `renames` it leaves with
    /// the id of that: other clients may read the one that it came with as that of a request on another stream.
    pub(super) fn answer_on(
        &mut self,
        stream: StreamId,
        id: &Id,
        is_resumed: bool,
        renames: bool,
    ) -> Option<Pending> {
        let fits = |pending: &Pending| {
            if is_resumed { !pending.is_held() } else { pending.is_open() }
        };
        let is_open = |id: &Id| self.requests.get(&(stream, id.clone())).is_some_and(fits);
        let own = id.among(is_open);
        let renames = renames || own.is_some();
        let key = own.map(|own| (stream, own)).or_else(|| {
            let keys = self.streams.get(&stream)?.iter();
            let mut open = keys.filter(|key| self.requests.get(key).is_some_and(&fits));
            let only = open.next()?;
            open.next().is_none().then(|| only.clone())
        })?;
        let answered = self.requests.get_mut(&key)?.mark_answered();
        Some(if renames { answered.answered_as(id, &key.1) } else { answered })
    }

    /// Whether a request of the same sender and id waits on another stream whose client has not left.
    pub(super) fn is_open_elsewhere(&self, (stream, id): &Key, caller: &Caller) -> bool {
        let other = id.other_reading();
        self.requests.iter().any(|((found, its), pending)| {
            (its == id || Some(its) == other.as_ref())
                && found != stream
                && !pending.is_answered()
                && !pending.is_abandoned
                && pending.caller == *caller
                && !self.resumable.contains(found)
        })
    }

    /// Whether a request with `id` is pending on another stream, and none on `stream`.
    pub(super) fn is_elsewhere(&self, stream: StreamId, id: &Id) -> bool {
        let has = |id: &Id| self.requests.contains_key(&(stream, id.clone()));
        let other = id.other_reading();
        if has(id) || other.as_ref().is_some_and(has) {
            return false;
        }
        let mut keys = self.requests.keys();
        keys.any(|(_, found)| found == id || Some(found) == other.as_ref())
    }

    /// The request that an answer with `id` belongs to, whatever its stream, marked as answered.
    pub(super) fn answer_anywhere(&mut self, id: &Id) -> Option<Pending> {
        let other = id.other_reading();
        let fits = |key: &Key, pending: &Pending| {
            pending.is_open() && (key.1 == *id || Some(&key.1) == other.as_ref())
        };
        let mut found = self.requests.iter_mut().filter(|(key, pending)| fits(key, pending));
        let (key, pending) = found.next()?;
        // Two requests of the same id on two streams: nobody can tell which one it answers.
        if found.next().is_some() {
            return None;
        }
        if pending.is_abandoned {
            let key = key.clone();
            return self.remove(&key);
        }
        Some(pending.mark_answered().answered_as(id, &key.1))
    }

    /// The request with the progress token `token`.
    pub(super) fn by_token(&self, token: &Id) -> Option<&Pending> {
        self.get(self.tokens.get(token)?)
    }

    /// The streams of the subscriptions that hear of other tools, and the ids that their clients gave them, as JSON.
    pub(super) fn subscribers(&self) -> Vec<(StreamId, String)> {
        let hears = |(_, pending): &(&Key, &Pending)| {
            !pending.is_abandoned
                && matches!(pending.purpose, Purpose::Subscription { hears_of_tools: true })
        };
        let address = |((_, id), pending): (&Key, &Pending)| {
            (pending.stream, pending.client_id.clone().unwrap_or_else(|| id.to_string()))
        };
        self.requests.iter().filter(hears).map(address).collect()
    }

    /// Notes whether the subscription `key` hears of other tools.
    pub(super) fn acknowledge(&mut self, key: &Key, hears: bool) {
        if let Some(Purpose::Subscription { hears_of_tools }) =
            self.requests.get_mut(key).map(|pending| &mut pending.purpose)
        {
            *hears_of_tools = hears;
        }
    }

    /// The open request that asked for log messages; `None` where there are several, or its client has left.
    pub(super) fn only_logged(&self) -> Option<&Pending> {
        let is_logged = |pending: &&Pending| pending.is_open() && pending.wants_log;
        let mut open = self.requests.values().filter(is_logged);
        let only = open.next().filter(|_| open.next().is_none())?;
        (!only.is_abandoned).then_some(only)
    }

    /// Marks a request whose client has left. The oldest of many are forgotten.
    pub(super) fn abandon(&mut self, key: &Key) {
        let Some(pending) = self.requests.get_mut(key) else { return };
        if std::mem::replace(&mut pending.is_abandoned, true) {
            return;
        }
        self.abandoned.push_back(key.clone());
        if self.abandoned.len() > MAX_ABANDONED
            && let Some(oldest) = self.abandoned.pop_front()
            && self.requests.get(&oldest).is_some_and(|it| it.is_abandoned)
        {
            self.remove(&oldest);
        }
    }

    /// The request whose client gave it the id `text`, where the server sees another one.
    pub(super) fn find_replaced(&self, text: &str) -> Option<Key> {
        let is_it =
            |pending: &Pending| !pending.is_abandoned && pending.client_id.as_deref() == Some(text);
        self.requests.iter().find(|(_, pending)| is_it(pending)).map(|(key, _)| key.clone())
    }

    /// Whether a client waits for the answer to the request that opens a session, or asks for the revisions.
    pub(super) fn waits_for_handshake(&self) -> bool {
        let waits = |pending: &Pending| {
            pending.is_open()
                && !pending.is_abandoned
                && matches!(pending.purpose, Purpose::Handshake { .. })
        };
        self.requests.values().any(waits)
    }

    /// Whether a client waits for an answer.
    pub(super) fn is_idle(&self) -> bool {
        let waits = |pending: &Pending| {
            !pending.is_answered()
                && !pending.is_abandoned
                && !matches!(pending.purpose, Purpose::Subscription { .. })
        };
        !self.requests.values().any(waits)
    }

    fn of_stream(&self, stream: StreamId) -> impl Iterator<Item = &Pending> {
        let keys = self.streams.get(&stream).into_iter().flatten();
        keys.filter_map(|key| self.requests.get(key))
    }

    /// Whether `stream` has a request whose answer is checked.
    pub(super) fn expects_checked(&self, stream: StreamId) -> bool {
        self.of_stream(stream).any(|pending| pending.is_open() && pending.is_checked())
    }

    /// Whether the requests of `stream` may be sent again without harm: all of them, and there is one.
    pub(super) fn is_repeatable(&self, stream: StreamId) -> bool {
        let mut pending = self.of_stream(stream).peekable();
        pending.peek().is_some()
            && pending.all(|pending| match &pending.purpose {
                Purpose::Handshake { .. } | Purpose::List { .. } => true,
                Purpose::Call { tool: Some(tool), .. }
                | Purpose::TaskResult { tool: Some(tool), .. } => tool.is_repeatable(),
                _ => false,
            })
    }

    /// Removes the requests of `stream`, and returns them.
    pub(super) fn close(&mut self, stream: StreamId) -> Vec<(Key, Pending)> {
        let keys = self.streams.remove(&stream).unwrap_or_default();
        let mut closed = Vec::new();
        for key in keys {
            if self.get(&key).is_some_and(|pending| pending.stream == stream)
                && let Some(pending) = self.remove(&key)
            {
                closed.push((key, pending));
            }
        }
        closed
    }

    /// Keeps the requests of a closed stream, because its client may resume it; the oldest such
    /// streams are forgotten.
    pub(super) fn keep_resumable(&mut self, stream: StreamId) {
        if !self.streams.contains_key(&stream) || self.resumable.contains(&stream) {
            return;
        }
        self.resumable.push_back(stream);
        if self.resumable.len() > MAX_RESUMABLE
            && let Some(oldest) = self.resumable.pop_front()
        {
            self.close(oldest);
        }
    }

    /// The keys of all requests that wait for an answer, oldest first: of `stream`, or of all
    /// streams. Requests that the server has not seen count only with `held`.
    pub(super) fn open_keys(&self, stream: Option<StreamId>, held: bool) -> Vec<Key> {
        let is_meant = |pending: &Pending| {
            !pending.is_answered()
                && (held || !pending.is_held())
                && stream.is_none_or(|stream| pending.stream == stream)
        };
        let open = self.requests.iter().filter(|(_, pending)| is_meant(pending));
        let mut open: Vec<_> = open.map(|(key, pending)| (pending.serial, key.clone())).collect();
        open.sort_unstable_by_key(|(serial, _)| *serial);
        open.into_iter().map(|(_, key)| key).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::{
        MAX_ABANDONED, MAX_PENDING, MAX_RESUMABLE, NotAdded, Pending, PendingRequests, Purpose,
        RequestProgress, StreamId,
    };
    use crate::message::Id;

    fn pending(stream: StreamId) -> Pending {
        Pending::new(stream, Purpose::Other)
    }

    #[test]
    fn an_id_waits_once_on_a_pipe() {
        let mut requests = PendingRequests::default();
        let key = (StreamId::PIPE, Id::Integer(1));
        requests.insert(key.clone(), pending(StreamId::PIPE)).unwrap();
        let again = requests.insert(key, pending(StreamId::PIPE));
        assert_eq!(again, Err(NotAdded::InUse));
        // It leaves with the id that the client knows.
        let answered = requests.answer(&Id::String("1".into())).unwrap();
        assert_eq!(answered.client_id.as_deref(), Some("1"));
        assert!(requests.answer(&Id::Integer(1)).is_none());
        assert!(requests.is_idle());
    }

    #[test]
    fn a_number_and_its_text_are_not_ids_at_the_same_time() {
        let mut requests = PendingRequests::default();
        let [number, text] =
            [Id::Integer(1), Id::String("1".into())].map(|id| (StreamId::PIPE, id));
        let serial = requests.insert(number.clone(), pending(StreamId::PIPE)).unwrap();
        let again = requests.insert(text.clone(), pending(StreamId::PIPE));
        assert_eq!(again, Err(NotAdded::InUse));
        assert!(requests.take(&number, serial + 1).is_none());
        assert!(requests.take(&number, serial).is_some());
        assert!(requests.insert(text, pending(StreamId::PIPE)).is_ok());
    }

    #[test]
    fn a_held_request_has_no_answer() {
        let mut requests = PendingRequests::default();
        let held = Pending { progress: RequestProgress::Held, ..pending(StreamId::PIPE) };
        requests.insert((StreamId::PIPE, Id::Integer(1)), held).unwrap();
        assert!(requests.answer(&Id::Integer(1)).is_none());
        assert_eq!(requests.open_keys(None, true).len(), 1);
        assert!(requests.open_keys(None, false).is_empty());
    }

    #[test]
    fn an_answer_on_a_stream_belongs_to_its_only_request() {
        let mut requests = PendingRequests::default();
        let (one, two) = (StreamId::new(), StreamId::new());
        requests.insert((one, Id::Integer(1)), pending(one)).unwrap();
        requests.insert((two, Id::Integer(1)), pending(two)).unwrap();
        let answered = requests.answer_on(one, &Id::Integer(7), false, true).unwrap();
        assert_eq!(answered.client_id.as_deref(), Some("1"));
        assert!(requests.answer_on(one, &Id::Integer(1), false, true).is_none());
        assert!(requests.answer_on(one, &Id::Integer(1), true, true).is_some());
        assert!(requests.answer_anywhere(&Id::Integer(1)).is_some());
        requests.insert((two, Id::Integer(2)), pending(two)).unwrap();
        requests.insert((two, Id::Integer(3)), pending(two)).unwrap();
        assert!(requests.answer_on(two, &Id::Integer(9), false, true).is_none());
        assert_eq!(requests.close(two).len(), 3);
    }

    #[test]
    fn an_answer_that_may_be_to_two_requests_is_to_none() {
        let mut requests = PendingRequests::default();
        let [one, two] = [(); 2].map(|()| StreamId::new());
        requests.insert((one, Id::Integer(1)), pending(one)).unwrap();
        requests.insert((two, Id::String("1".into())), pending(two)).unwrap();
        assert!(requests.answer_anywhere(&Id::Integer(1)).is_none());
        assert!(requests.is_elsewhere(StreamId::new(), &Id::Integer(1)));
        assert!(!requests.is_elsewhere(two, &Id::Integer(1)));
        requests.close(two);
        assert!(requests.answer_anywhere(&Id::Integer(1)).is_some());
    }

    #[test]
    fn a_token_goes_with_its_request() {
        let mut requests = PendingRequests::default();
        let (key, token) = ((StreamId::PIPE, Id::Integer(1)), Id::Integer(7));
        let told = Pending { token: Some((token.clone(), None)), ..pending(StreamId::PIPE) };
        requests.insert(key.clone(), told).unwrap();
        assert!(requests.by_token(&token).is_some());
        requests.remove(&key);
        // Another request of the same id did not ask for progress.
        requests.insert(key, pending(StreamId::PIPE)).unwrap();
        assert!(requests.by_token(&token).is_none());
    }

    #[test]
    fn a_bounded_number_of_requests_waits() {
        let mut requests = PendingRequests::default();
        let mut add = |id: usize| {
            let id = Id::Integer(i64::try_from(id).unwrap());
            requests.insert((StreamId::PIPE, id), pending(StreamId::PIPE))
        };
        assert!((0..MAX_PENDING).all(|id| add(id).is_ok()));
        assert_eq!(add(MAX_PENDING), Err(NotAdded::TooMany));
    }

    #[test]
    fn remembers_a_bounded_number_of_requests_whose_client_has_left() {
        let mut requests = PendingRequests::default();
        for id in 0..i64::try_from(3 * MAX_ABANDONED).unwrap() {
            let key = (StreamId::PIPE, Id::Integer(id));
            requests.insert(key.clone(), pending(StreamId::PIPE)).unwrap();
            requests.abandon(&key);
            requests.abandon(&key);
        }
        assert_eq!(requests.requests.len(), MAX_ABANDONED);
        assert!(requests.is_idle());
    }

    #[test]
    fn a_log_message_is_of_the_only_request_that_asked_for_it() {
        let key = |id| (StreamId::PIPE, Id::Integer(id));
        let logged = || Pending { wants_log: true, ..pending(StreamId::PIPE) };
        let mut requests = PendingRequests::default();
        requests.insert(key(1), pending(StreamId::PIPE)).unwrap();
        assert!(requests.only_logged().is_none());
        requests.insert(key(2), logged()).unwrap();
        assert!(requests.only_logged().is_some());
        requests.insert(key(3), logged()).unwrap();
        requests.abandon(&key(3));
        assert!(requests.only_logged().is_none());
        requests.remove(&key(2));
        assert!(requests.only_logged().is_none());
    }

    #[test]
    fn remembers_a_bounded_number_of_closed_streams() {
        let mut requests = PendingRequests::default();
        for _ in 0..2 * MAX_RESUMABLE {
            let stream = StreamId::new();
            requests.insert((stream, Id::Integer(1)), pending(stream)).unwrap();
            requests.keep_resumable(stream);
            requests.keep_resumable(stream);
        }
        assert_eq!(requests.requests.len(), MAX_RESUMABLE);
        assert_eq!(requests.streams.len(), MAX_RESUMABLE);
    }
}
