//! What requests to a server on HTTP say beside their messages.

use std::sync::{Arc, Mutex};

use ahash::AHashMap;
use hyper::HeaderMap;
use hyper::header::AUTHORIZATION;

use super::refusal::{HttpRefusal, MAX_ANSWER, Mark};
use crate::memory::MemoryLimit;
use crate::pipe::pieces::Pieces;
use toolbond_guard_core::caller::{Caller, forwarded, of_list};
use toolbond_guard_core::conversation::{AskId, StreamId};
use toolbond_guard_core::lock::lock;
use toolbond_guard_core::message::{Id, Kind, Message};

/// What a request of a client says beside its message: headers, and a query.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) headers: HeaderMap,
    pub(crate) query: Option<String>,
}

/// The headers and queries of the requests of one connection.
///
/// Modern clients that differ in what identifies them have connections of their own, whose headers never change. A
/// legacy client is known by its session, and may have other headers from one request to the next.
#[derive(Default)]
pub(crate) struct RemoteHeaders {
    pub(crate) is_fixed: bool,
    /// Whether they are those of the only client, which is on a pipe: it cannot open a session again, and sees neither a
    /// status nor headers.
    pub(crate) is_on_pipe: bool,
    /// What refusals of the server are marked with.
    pub(crate) mark: Option<Mark>,
    heads: Mutex<Heads>,
}

#[derive(Default)]
struct Heads {
    /// Those of what no request of the client stands for.
    general: Arc<Head>,
    /// Those of the requests of a legacy client.
    own: AHashMap<Id, Arc<Head>>,
    /// Those of the streams of a legacy client.
    streams: AHashMap<StreamId, Arc<Head>>,
    /// Those of requests of the guard itself that are not sent yet: the ones of the stream that needs it.
    asks: AHashMap<AskId, Arc<Head>>,
}

impl RemoteHeaders {
    /// For a process, which gets none.
    pub(crate) fn none() -> Self {
        Self { is_fixed: true, ..Self::default() }
    }

    /// The headers of this caller.
    pub(crate) fn fixed(caller: &Caller) -> Self {
        let query = caller.query().map(str::to_owned);
        let general = Arc::new(Head { headers: caller.headers(), query });
        let heads = Mutex::new(Heads { general, ..Heads::default() });
        Self { is_fixed: true, heads, ..Self::of_requests() }
    }

    /// These headers, for all requests of a client on a pipe.
    pub(crate) fn on_pipe(headers: HeaderMap) -> Self {
        let general = Arc::new(Head { headers, query: None });
        let heads = Mutex::new(Heads { general, ..Heads::default() });
        Self { is_fixed: true, is_on_pipe: true, heads, ..Self::of_requests() }
    }

    /// Whether they have credentials.
    pub(super) fn has_credentials(&self) -> bool {
        lock(&self.heads).general.headers.contains_key(AUTHORIZATION)
    }

    /// Headers that each request of a client has for itself.
    pub(crate) fn of_requests() -> Self {
        Self { mark: Mark::new(), ..Self::default() }
    }

    /// Whether the server may refuse requests with a status.
    pub(crate) fn may_be_refused(&self) -> bool {
        self.mark.is_some()
    }

    /// Takes out of an answer how the server refused its request.
    pub(crate) fn take_refusal(
        &self,
        answer: Pieces,
        memory: &MemoryLimit,
    ) -> (Pieces, Option<HttpRefusal>) {
        // Results are long, and are not searched.
        let Some(mark) = self.mark.as_ref().filter(|_| answer.length() <= MAX_ANSWER) else {
            return (answer, None);
        };
        let mut refusal = None;
        let answer = memory.count_changed(&answer.into_one(memory), |answer| {
            let (answer, found) = mark.take(answer);
            refusal = found;
            answer
        });
        (answer.into(), refusal)
    }

    /// Takes the headers of `message`, for its requests and what follows from them.
    pub(crate) fn set(
        self: &Arc<Self>,
        caller: &Caller,
        headers: &HeaderMap,
        message: Option<&Message<'_>>,
    ) -> Option<OwnHeaders> {
        if self.is_fixed {
            return None;
        }
        let query = caller.query().map(str::to_owned);
        let head = Arc::new(Head { headers: forwarded(headers), query });
        let mut heads = lock(&self.heads);
        heads.general = Arc::clone(&head);
        let mut ids = Vec::new();
        for part in message?.parts.as_slice() {
            // An id that is in use or too long is refused later.
            if let Kind::Request(id, _) = &part.kind
                && !id.is_long()
                && !heads.own.contains_key(id)
            {
                heads.own.insert(id.clone(), Arc::clone(&head));
                ids.push(id.clone());
            }
        }
        Some(OwnHeaders { all: Arc::clone(self), head, ids, stream: None })
    }

    /// Sends the request `id`, if that is one of the guard itself, with the headers of `stream`.
    pub(crate) fn ask_as(&self, stream: StreamId, id: Option<&Id>) {
        let Some(ask) = id.and_then(AskId::of_answer).filter(|_| !self.is_fixed) else { return };
        let mut heads = lock(&self.heads);
        let head = heads.streams.get(&stream).cloned();
        let Some(Head { headers, query }) = head.map(Arc::unwrap_or_clone) else { return };
        let Some(headers) = of_list(headers) else { return };
        heads.asks.insert(ask, Arc::new(Head { headers, query }));
    }

    /// The head of the request `id`, or of what no request stands for. `None` for a request of the guard itself whose
    /// client has left.
    pub(crate) fn get(&self, id: Option<&Id>) -> Option<Head> {
        let mut heads = lock(&self.heads);
        let own = id.and_then(|id| heads.own.get(id).cloned());
        let ask = id.and_then(AskId::of_answer).filter(|_| !self.is_fixed);
        let found = match (own, ask) {
            // The request of a client may be that of another guard.
            (Some(own), _) => own,
            (None, Some(ask)) => heads.asks.remove(&ask)?,
            (None, None) => Arc::clone(&heads.general),
        };
        Some(Arc::unwrap_or_clone(found))
    }
}

/// The headers of requests, for as long as these are open.
pub(crate) struct OwnHeaders {
    all: Arc<RemoteHeaders>,
    head: Arc<Head>,
    ids: Vec<Id>,
    stream: Option<StreamId>,
}

impl OwnHeaders {
    /// The requests are of `stream`.
    pub(crate) fn enter(&mut self, stream: StreamId) {
        self.stream = Some(stream);
        lock(&self.all.heads).streams.insert(stream, Arc::clone(&self.head));
    }
}

impl Drop for OwnHeaders {
    fn drop(&mut self) {
        let mut heads = lock(&self.all.heads);
        for id in &self.ids {
            heads.own.remove(id);
        }
        if let Some(stream) = &self.stream {
            heads.streams.remove(stream);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::server::GuardedServer;
    use crate::testing::text;
    use std::sync::Arc;
    use toolbond_guard_core::event::Event;
    use toolbond_guard_core::settings::Settings;

    use hyper::HeaderMap;

    use super::{Head, RemoteHeaders};
    use toolbond_guard_core::caller::Caller;
    use toolbond_guard_core::conversation::{AskId, StreamId};
    use toolbond_guard_core::message::{Id, Message, Text};

    fn server() -> GuardedServer {
        GuardedServer::new("a", Settings::default(), Arc::new(|_: Event| ()))
    }

    fn of(who: &str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert("authorization", who.parse().unwrap());
        headers
    }

    #[test]
    fn a_request_keeps_its_headers_when_others_follow() {
        let headers = Arc::new(RemoteHeaders::default());
        let requests = ["a", "b"]
            .map(|id| text(format!(r#"{{"jsonrpc":"2.0","id":"{id}","method":"ping"}}"#)));
        let caller = Caller::default();
        let send =
            |text: &Text, who| headers.set(&caller, &of(who), Some(&Message::read(text).unwrap()));
        let get = |id: &str| headers.get(Some(&Id::String(id.to_owned()))).unwrap().headers;
        let _first = send(&requests[0], "ada");
        let second = send(&requests[1], "bob");
        let _same = send(&requests[0], "eve");
        assert_eq!([get("a"), get("b"), get("c")], [of("ada"), of("bob"), of("eve")]);
        drop(second);
        assert_eq!([get("a"), get("b")], [of("ada"), of("eve")]);
    }

    #[test]
    fn a_request_of_the_guard_is_sent_as_by_the_client_that_needs_it() {
        let headers = Arc::new(RemoteHeaders::of_requests());
        let (ada, ask) = (StreamId::new(), AskId::new(&server()).unwrap());
        let ping = text(r#"{"id":1,"method":"ping"}"#);
        let mut sent = of("ada");
        let of_message =
            ["idempotency-key", "digest", "content-digest", "mcp-name", "mcp-param-a", "range"];
        for name in of_message {
            sent.insert(name, "x".parse().unwrap());
        }
        let caller = Caller::new(&sent, &"/mcp?tenant=a".parse().unwrap());
        let mut first = headers.set(&caller, &sent, Some(&Message::read(&ping).unwrap()));
        let first = first.as_mut().unwrap();
        first.enter(ada);
        headers.ask_as(ada, Some(&ask.to_id()));
        headers.set(&Caller::default(), &of("bob"), None);
        let expected = Head { headers: of("ada"), query: Some("tenant=a".to_owned()) };
        assert_eq!(headers.get(Some(&ask.to_id())), Some(expected));
        assert_eq!(headers.get(Some(&ask.to_id())), None);
    }

    #[test]
    fn nobody_asks_in_the_name_of_a_client_that_signs_each_request() {
        let headers = Arc::new(RemoteHeaders::of_requests());
        let (ada, ask) = (StreamId::new(), AskId::new(&server()).unwrap());
        let ping = text(r#"{"id":1,"method":"ping"}"#);
        let mut sent = of("ada");
        sent.insert("dpop", "proof".parse().unwrap());
        let message = Message::read(&ping).unwrap();
        let mut first = headers.set(&Caller::default(), &sent, Some(&message));
        first.as_mut().unwrap().enter(ada);
        headers.ask_as(ada, Some(&ask.to_id()));
        assert_eq!(headers.get(Some(&ask.to_id())), None);
    }

    #[test]
    fn the_headers_and_the_query_of_a_modern_client_are_fixed() {
        let caller = Caller::new(&of("ada"), &"/?tenant=a".parse().unwrap());
        let headers = Arc::new(RemoteHeaders::fixed(&caller));
        assert!(headers.set(&Caller::default(), &of("bob"), None).is_none());
        let expected = Head { headers: of("ada"), query: Some("tenant=a".to_owned()) };
        assert_eq!(headers.get(None), Some(expected));
    }
}
