//! Clients that are of another era than the server.
//!
//! The era of a server on HTTP is found out with the first request: a legacy client's `initialize` goes to the server as
//! it is, and only if that is refused is the server asked as a modern client would. Before the first modern request the
//! server is asked with `server/discover`, and with `initialize` where it is silent.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use bytestring::ByteString;
use futures_util::stream;
use http_body_util::{BodyExt as _, StreamBody};
use hyper::body::Incoming as IncomingBody;
use hyper::header::{ACCEPT_ENCODING, HeaderValue};
use hyper::http::request::Parts;
use hyper::{HeaderMap, Method, Response, StatusCode};
use tokio::sync::watch;
use tokio::time::{Instant, timeout};

use super::asking::{Asking, Found};
use super::reverse_proxy::Proxy;
use crate::back::http::answer::read_answer;
use crate::back::http::set_message_headers;
use crate::back::remote::refusal::may_be_of_era;
use crate::http::body::read_body;
use crate::http::events::{EventSplitter, data};
use crate::http::media::{Media, media};
use crate::http::respond::{Body, full};
use crate::memory::Sender;
use crate::runtime::pool::JobPool;
use crate::runtime::read::Received;
use toolbond_guard_core::caller::{Caller, forwarded};
use toolbond_guard_core::counted::Counted;
use toolbond_guard_core::era::{
    MODERN, discover_request, initialize_request, is_initialize, is_modern_error, is_modern_request,
};
use toolbond_guard_core::lock::lock;
use toolbond_guard_core::message::{self, Frame, Kind};

const SESSION: &str = "mcp-session-id";

/// How long the server may take to answer `server/discover` before it is asked with `initialize`, too.
const SILENCE: Duration = Duration::from_secs(1);

/// How long a client waits for the era of a silent server, once; how long the server is asked, and how soon again.
const PATIENCE: Duration = Duration::from_secs(3);
const ASKING: Duration = Duration::from_secs(60);

/// The most callers that a silent server is remembered for, and asked for at a time.
const MAX_SILENT: usize = 1024;
const MAX_ASKED: usize = 64;

/// What becomes of a request whose client may be of another era.
pub(super) enum Bridged {
    /// The bridge has answered it.
    Response(Box<Response<Body>>),
    /// It is `initialize`, and the server may refuse it.
    Initialize(Box<SentInitialize>, Received),
    /// It is not for the bridge.
    No(Received),
}

/// An `initialize` that the server may refuse.
pub(super) struct SentInitialize {
    caller: Caller,
    headers: HeaderMap,
    received: Received,
}

/// What a request of a client asks for, as far as eras differ.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ClientRequest {
    Modern,
    Initialize,
    Other,
}

impl ClientRequest {
    fn read(received: &Received) -> Self {
        match received.frame() {
            Some(Frame { text, part }) => match &part.kind {
                Kind::Request(..) if is_modern_request(&text, &part) => Self::Modern,
                Kind::Request(_, message::Method::Initialize) => Self::Initialize,
                _ => Self::Other,
            },
            None => Self::Other,
        }
    }
}

impl Proxy {
    /// Answers a request if its client is of another era than the server.
    pub(super) async fn bridge(
        self: &Arc<Self>,
        parts: &Parts,
        caller: &Caller,
        received: Received,
    ) -> Bridged {
        let is_endpoint = parts.uri.path() == self.path();
        if !self.server.rules().settings.translate.eras
            || parts.method != Method::POST
            || !is_endpoint
        {
            return Bridged::No(received);
        }
        if self.bridged.has_session(&parts.headers) {
            return self.answer_bridged(caller, &parts.headers, received).await;
        }
        let asked = ClientRequest::read(&received);
        let eras = self.server.eras();
        if asked == ClientRequest::Modern {
            let is_known = eras.is_modern() || eras.is_legacy_only();
            let is_refused =
                !is_known && self.detect(caller, &parts.headers, &received).await == Found::Refusal;
            // Whether a server that refuses is legacy, the bridge finds out.
            if is_refused || eras.is_legacy_only() {
                return self.answer_bridged(caller, &parts.headers, received).await;
            }
        } else if asked == ClientRequest::Initialize && eras.is_modern_only() {
            return self.answer_bridged(caller, &parts.headers, received).await;
        } else if asked == ClientRequest::Initialize && !eras.is_legacy() {
            let (headers, received) = (parts.headers.clone(), received.clone());
            let (caller, same) = (caller.clone(), received.clone());
            return Bridged::Initialize(
                Box::new(SentInitialize { caller, headers, received }),
                same,
            );
        }
        Bridged::No(received)
    }

    async fn answer_bridged(
        &self,
        caller: &Caller,
        headers: &HeaderMap,
        received: Received,
    ) -> Bridged {
        let response = self.bridged.answer_post(caller, headers, received).await;
        Bridged::Response(Box::new(response))
    }

    /// Takes the response to `initialize`. If the server refuses it and speaks the modern revision, the bridge answers.
    pub(super) async fn bridge_refused(
        self: &Arc<Self>,
        opening: Box<SentInitialize>,
        response: Response<Body>,
    ) -> Response<Body> {
        let status = response.status();
        if !status.is_success() && !may_be_of_era(status) {
            return response;
        }
        let max = self.server.rules().settings.max_message;
        let (has_result, response) = look_for_result(response, max, &self.pool).await;
        if has_result {
            self.server.eras().set_legacy();
            return response;
        }
        let first = opening.received.frame();
        let read = first.and_then(|first| Some((is_initialize(&first)?, discover_request(&first))));
        let Some((is_legacy_version, discover)) = read else { return response };
        let discover = self.discover(&opening.caller, &opening.headers, discover);
        if timeout(PATIENCE, discover).await != Ok(Found::Modern) {
            return response;
        }
        // A server of both eras may refuse a version that it does not know.
        if is_legacy_version {
            self.server.eras().set_modern_only();
        }
        self.bridged.answer_post(&opening.caller, &opening.headers, opening.received).await
    }

    /// Finds out which era the server is of, in the name of the client that sent `message`. A client waits once for a
    /// server that is silent; then the server gets what the client sends, and is asked besides.
    async fn detect(
        self: &Arc<Self>,
        caller: &Caller,
        headers: &HeaderMap,
        received: &Received,
    ) -> Found {
        let Some(first) = received.frame() else { return Found::Nothing };
        let Some(mut asked) = self.asked(caller, headers, &first) else { return Found::Nothing };
        if let Ok(Ok(found)) = timeout(PATIENCE, asked.wait_for(Option::is_some)).await {
            return found.unwrap_or(Found::Nothing);
        }
        if let Some(asking) = lock(&self.asking).get_mut(caller) {
            asking.has_waited = true;
        }
        Found::Nothing
    }

    /// What is found out about the server for this caller; `None` where that is not waited for.
    fn asked(
        self: &Arc<Self>,
        caller: &Caller,
        headers: &HeaderMap,
        first: &Frame,
    ) -> Option<watch::Receiver<Option<Found>>> {
        let mut all = lock(&self.asking);
        let known = all.get(caller);
        let has_waited = known.is_some_and(|asking| asking.has_waited);
        if let Some(open) = known.filter(|asking| asking.is_open()) {
            return (!has_waited).then(|| open.found.subscribe());
        }
        if known.is_some_and(|asking| asking.since.elapsed() < ASKING) {
            return None;
        }
        if all.len() >= MAX_SILENT {
            all.retain(|_, asking| asking.is_open());
        }
        let open = || all.iter().filter(|(_, asking)| asking.is_open());
        if open().count() >= MAX_ASKED {
            // What nobody waits for makes room.
            let idle = open().filter(|(_, asking)| asking.found.receiver_count() == 0);
            let oldest = idle.min_by_key(|(_, asking)| asking.since)?.0.clone();
            if let Some(asking) = all.remove(&oldest) {
                asking.stop();
                if asking.has_waited {
                    all.insert(oldest, asking);
                }
            }
        }
        let (tell, found) = watch::channel(None);
        let (own, since) = (tell.clone(), Instant::now());
        let (proxy, same) = (Arc::clone(self), caller.clone());
        let headers = headers.clone();
        let (discover, initialize) = (discover_request(first), initialize_request(first));
        let task = tokio::spawn(async move {
            let caller = same;
            let found = tokio::select! {
                asked = timeout(ASKING, proxy.ask(&caller, &headers, discover, initialize)) => {
                    asked.unwrap_or(Found::Silence)
                }
                () = proxy.left(&caller, &tell) => return,
            };
            match found {
                Found::Modern => proxy.server.eras().set_modern(),
                Found::LegacyOnly => proxy.server.eras().set_legacy_only(),
                Found::Refusal | Found::Nothing | Found::Silence => {}
            }
            let mut all = lock(&proxy.asking);
            if found != Found::Silence {
                all.remove(&caller);
            } else if let Some(asking) = all.get_mut(&caller) {
                asking.has_waited = true;
            }
            tell.send_replace(Some(found));
        });
        let task = task.abort_handle();
        all.insert(caller.kept(), Asking { found: own, has_waited, since, task });
        (!has_waited).then_some(found)
    }

    /// Waits until all clients have left that wait for what is asked for this caller, and forgets it then. It never ends
    /// once one has waited for as long as it does: the server is asked on.
    async fn left(&self, caller: &Caller, tell: &watch::Sender<Option<Found>>) {
        loop {
            tell.closed().await;
            let has_waited = {
                let mut all = lock(&self.asking);
                let own = all.get(caller).filter(|asking| asking.found.same_channel(tell));
                let is_known = own.is_some();
                let has_waited = own.is_some_and(|asking| asking.has_waited);
                // Another one may have come meanwhile.
                if !has_waited && tell.receiver_count() == 0 {
                    if is_known {
                        all.remove(caller);
                    }
                    return;
                }
                has_waited
            };
            if has_waited {
                std::future::pending::<()>().await;
            }
        }
    }

    /// Asks the server with `server/discover`, and where it does not answer that with `initialize`, too.
    async fn ask(
        &self,
        caller: &Caller,
        headers: &HeaderMap,
        discover: Frame,
        initialize: Frame,
    ) -> Found {
        let mut discover = pin!(self.discover(caller, headers, discover));
        if let Ok(found) = timeout(SILENCE, &mut discover).await {
            return found;
        }
        let opened = tokio::select! {
            biased;
            found = &mut discover => return found,
            Some(opened) = self.initialize(caller, headers, initialize) => opened,
            else => return Found::Silence,
        };
        // It is there, and may only be slow.
        timeout(SILENCE, discover).await.unwrap_or(opened)
    }

    /// Asks the server with `initialize`, and ends the session that it opens for that; `None` if it does not answer.
    async fn initialize(
        &self,
        caller: &Caller,
        headers: &HeaderMap,
        request: Frame,
    ) -> Option<Found> {
        let mut headers = own_headers(headers);
        let response = self.send_own(Method::POST, caller, headers.clone(), request.text).await?;
        let session = response.headers().get(SESSION).cloned();
        let max = self.server.rules().settings.max_message;
        let answer = read_answer(response, max, None, &self.pool).await;
        if let Some(session) = session {
            headers.insert(SESSION, session);
            let _ = self.send_own(Method::DELETE, caller, headers, ByteString::new()).await;
        }
        let answer = answer?;
        if answer.part.result.is_some() {
            return Some(Found::LegacyOnly);
        }
        Some(if is_modern_refusal(&answer) { Found::Modern } else { Found::Silence })
    }

    /// Sends a request of the guard itself, in the name of `caller`.
    async fn send_own(
        &self,
        method: Method,
        caller: &Caller,
        headers: HeaderMap,
        text: ByteString,
    ) -> Option<Response<IncomingBody>> {
        let uri = self.remote.http.endpoint(caller.query()).ok()?;
        self.remote.forward(method, &uri, headers, full(text.into_bytes())).await.ok()
    }

    /// Asks the server whether it speaks the modern revision.
    async fn discover(&self, caller: &Caller, headers: &HeaderMap, request: Frame) -> Found {
        self.try_discover(caller, headers, request).await.unwrap_or(Found::Nothing)
    }

    async fn try_discover(
        &self,
        caller: &Caller,
        headers: &HeaderMap,
        request: Frame,
    ) -> Option<Found> {
        let mut headers = own_headers(headers);
        headers.insert("mcp-protocol-version", HeaderValue::from_static(MODERN));
        headers.insert("mcp-method", HeaderValue::from_static("server/discover"));
        let response = self.send_own(Method::POST, caller, headers, request.text).await?;
        let status = response.status();
        let max = self.server.rules().settings.max_message;
        let answer = read_answer(response, max, None, &self.pool).await;
        // A legacy server does not know the method.
        let is_legacy_status = status == StatusCode::OK || may_be_of_era(status);
        let refusal = is_legacy_status.then_some(Found::Refusal);
        match answer {
            Some(answer) if answer.part.result.is_some() || is_modern_refusal(&answer) => {
                Some(Found::Modern)
            }
            Some(_) => refusal,
            None => refusal.filter(|_| status != StatusCode::OK),
        }
    }
}

/// Whether a message is an error that only modern servers answer with.
fn is_modern_refusal(answer: &Frame) -> bool {
    answer.part.error.is_some_and(|error| is_modern_error(error.text(&answer.text)))
}

/// The headers of a request in the name of a client whose request has `headers`.
fn own_headers(headers: &HeaderMap) -> HeaderMap {
    let mut headers = forwarded(headers);
    set_message_headers(&mut headers);
    headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    headers
}

/// Whether a response has a result. Returns the same response, with what was read of it.
async fn look_for_result(
    response: Response<Body>,
    max: usize,
    pool: &JobPool,
) -> (bool, Response<Body>) {
    let is_stream = matches!(media(response.headers()), Ok(Media::Events));
    let (parts, body) = response.into_parts();
    let memory = pool.memory();
    let mut outcome = None;
    let (mut read, mut length) = (Vec::new(), 0);
    let mut rest = None;
    if is_stream {
        let mut events = EventSplitter::new(Sender::Server, max, memory);
        rest = Some(body);
        while let Some(body) = &mut rest
            && outcome.is_none()
        {
            let frame = body.frame().await;
            let Some(Ok(bytes)) = frame.map(|frame| frame.map(hyper::body::Frame::into_data))
            else {
                rest = None;
                break;
            };
            let Ok(bytes) = bytes else { continue };
            // The stream goes on whether or not this can be read.
            let is_fed = events.feed(&bytes).await.is_ok();
            length += bytes.len();
            read.push(memory.count(bytes).into_bytes());
            while let (true, None, Some(event)) = (is_fed, outcome, events.next()) {
                outcome = has_result(data(&event, memory), pool).await;
            }
            if !is_fed || length > max {
                break;
            }
        }
    } else {
        match read_body(body, Sender::Server, max, pool).await {
            Ok(bytes) => {
                outcome = has_result(bytes.clone(), pool).await;
                read.push(bytes.into_bytes());
            }
            Err(error) => return (false, error.response()),
        }
    }
    let read = stream::iter(read.into_iter().map(|bytes| Ok(hyper::body::Frame::data(bytes))));
    let rest = stream::unfold(rest, |rest| async move {
        let mut body = rest?;
        let frame = body.frame().await?;
        Some((frame, Some(body)))
    });
    let whole = StreamBody::new(futures_util::StreamExt::chain(read, rest)).boxed_unsync();
    (outcome == Some(true), Response::from_parts(parts, whole))
}

/// Whether a message is a result; `None` where it is no answer.
async fn has_result(bytes: Counted, pool: &JobPool) -> Option<bool> {
    let Frame { part, .. } = Received::of_client(bytes, pool).await.frame()?;
    matches!(part.kind, Kind::Response(_)).then(|| part.result.is_some())
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::sync::Arc;
    use std::time::Duration;

    use hyper::{HeaderMap, Uri};
    use tokio::sync::watch;
    use tokio::time::{sleep, timeout};

    use super::{Found, MAX_ASKED, lock};
    use crate::back::http::Client;
    use crate::front::proxy::Proxy;
    use crate::memory::MemoryLimit;
    use crate::server::GuardedServer;
    use toolbond_guard_core::caller::Caller;
    use toolbond_guard_core::event::Event;
    use toolbond_guard_core::json::object::Object;
    use toolbond_guard_core::message::{Frame, Id};
    use toolbond_guard_core::settings::Settings;

    /// What is found out for the client with this number.
    fn ask(proxy: &Arc<Proxy>, client: usize) -> Option<watch::Receiver<Option<Found>>> {
        let mut headers = HeaderMap::new();
        headers.insert("x-client", client.into());
        let caller = Caller::new(&headers, &Uri::from_static("/mcp"));
        let first = Frame::request(Some(&Id::Integer(1)), "tools/list", &Object::default());
        proxy.asked(&caller, &headers, &first)
    }

    #[tokio::test]
    async fn questions_that_nobody_waits_for_end_or_make_room() {
        // It is silent.
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let server = GuardedServer::new("test", Settings::default(), Arc::new(|_: Event| ()));
        let client = Client::new(None).unwrap();
        let memory = Arc::new(MemoryLimit::default());
        let proxy = Arc::new(Proxy::new(&url, client, Arc::new(server), memory).unwrap());

        let waits: Vec<_> = (0..MAX_ASKED).map(|client| ask(&proxy, client).unwrap()).collect();
        assert!(ask(&proxy, MAX_ASKED).is_none());
        let same = ask(&proxy, 0).unwrap();
        // All clients but one leave.
        drop(waits);
        let left = async {
            while lock(&proxy.asking).len() > 1 {
                sleep(Duration::from_millis(1)).await;
            }
        };
        timeout(super::ASKING / 2, left).await.unwrap();
        assert!(!same.has_changed().unwrap());

        // Others have waited, and the server is asked on.
        for client in 1..MAX_ASKED {
            let waits = ask(&proxy, client).unwrap();
            lock(&proxy.asking).values_mut().for_each(|asking| asking.has_waited = true);
            drop(waits);
        }
        assert!(lock(&proxy.asking).values().all(super::Asking::is_open));
        let _further = ask(&proxy, MAX_ASKED).unwrap();
        assert!(!same.has_changed().unwrap());
        let open = lock(&proxy.asking).values().filter(|asking| asking.is_open()).count();
        assert_eq!(open, MAX_ASKED);
    }
}
