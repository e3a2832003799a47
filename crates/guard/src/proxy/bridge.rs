//! Clients that are of another era than the server.
//!
//! The era of a server on HTTP is found out with the first request: a legacy client's `initialize` goes to the server as
//! it is, and only if that is refused is the server asked as a modern client would. Before the first modern request the
//! server is asked with `server/discover`, and with `initialize` where it is silent.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use bytestring::ByteString;
use futures_util::stream;
use http_body_util::{BodyExt as _, StreamBody};
use hyper::body::{Frame, Incoming as IncomingBody};
use hyper::header::{ACCEPT, ACCEPT_ENCODING, CONTENT_TYPE, HeaderValue};
use hyper::http::request::Parts;
use hyper::{HeaderMap, Method, Response, StatusCode};
use tokio::sync::watch;
use tokio::time::{Instant, timeout};

use super::Proxy;
use crate::caller::{Caller, forwarded};
use crate::era::{
    Incoming, MODERN, discover_request, initialize_request, is_initialize, is_modern_error,
    is_modern_request,
};
use crate::http::answer::read_answer;
use crate::http::events::{EventSplitter, data};
use crate::http::respond::{Body, full};
use crate::lock::lock;
use crate::message::text;

const SESSION: &str = "mcp-session-id";

/// How long the server may take to answer `server/discover` before it is asked with `initialize`, too.
const SILENCE: Duration = Duration::from_secs(1);

/// How long a client waits for the era of a silent server, once; how long the server is asked, and how soon again.
const PATIENCE: Duration = Duration::from_secs(3);
const ASKING: Duration = Duration::from_secs(60);

/// The most callers that a silent server is remembered for, and asked for at a time.
const MAX_SILENT: usize = 1024;
const MAX_ASKED: usize = 64;

/// What the server is being asked, or was asked in vain, for one caller.
pub(super) struct Asking {
    /// What was found out; `None` until then.
    found: watch::Receiver<Option<Found>>,
    /// Whether the caller has waited for it.
    has_waited: bool,
    since: Instant,
}

impl Asking {
    fn is_open(&self) -> bool {
        self.found.borrow().is_none()
    }
}

/// What was found out about the era of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Found {
    /// It speaks the modern revision.
    Modern,
    /// It has refused a modern request, as a legacy server does.
    Refusal,
    /// It speaks legacy revisions, and does not answer a modern request.
    LegacyOnly,
    /// It has answered, and that tells nothing.
    Nothing,
    /// It has not answered.
    Silence,
}

/// What becomes of a request whose client may be of another era.
pub(super) enum Bridged {
    /// The bridge has answered it.
    Response(Box<Response<Body>>),
    /// It is `initialize`, and the server may refuse it.
    Opening(Opening),
    /// It is not for the bridge.
    No,
}

/// An `initialize` that the server may refuse.
pub(super) struct Opening {
    caller: Caller,
    headers: HeaderMap,
    bytes: Bytes,
}

impl Proxy {
    /// Answers a request if its client is of another era than the server.
    pub(super) async fn bridge(
        self: &Arc<Self>,
        parts: &Parts,
        caller: &Caller,
        bytes: &Bytes,
    ) -> Bridged {
        let is_endpoint = parts.uri.path() == self.upstream.path();
        if !self.server.rules().settings.bridge_eras || parts.method != Method::POST || !is_endpoint
        {
            return Bridged::No;
        }
        if self.bridged.has_session(&parts.headers) {
            return self.answer_bridged(caller, &parts.headers, bytes).await;
        }
        let Ok(text) = text(bytes) else { return Bridged::No };
        let Incoming::Request { method, params, .. } = Incoming::read(&text) else {
            return Bridged::No;
        };
        let eras = self.server.eras();
        if is_modern_request(&method, params) {
            let is_known = eras.is_modern() || eras.is_legacy_only();
            let is_refused =
                !is_known && self.detect(caller, &parts.headers, &text).await == Found::Refusal;
            // Whether a server that refuses is legacy, the bridge finds out.
            if is_refused || eras.is_legacy_only() {
                return self.answer_bridged(caller, &parts.headers, bytes).await;
            }
        } else if method == "initialize" && eras.is_modern_only() {
            return self.answer_bridged(caller, &parts.headers, bytes).await;
        } else if method == "initialize" && !eras.is_legacy() {
            let (headers, bytes) = (parts.headers.clone(), bytes.clone());
            let caller = caller.clone();
            return Bridged::Opening(Opening { caller, headers, bytes });
        }
        Bridged::No
    }

    async fn answer_bridged(&self, caller: &Caller, headers: &HeaderMap, bytes: &Bytes) -> Bridged {
        let response = self.bridged.answer_post(caller, headers, bytes.clone()).await;
        Bridged::Response(Box::new(response))
    }

    /// Takes the response to `initialize`. If the server refuses it and speaks the modern revision, the bridge answers.
    pub(super) async fn bridge_refused(
        self: &Arc<Self>,
        opening: Opening,
        response: Response<Body>,
    ) -> Response<Body> {
        let may_be_era = |status: StatusCode| {
            status.is_success() || matches!(status.as_u16(), 400 | 404 | 405 | 406 | 422)
        };
        if !may_be_era(response.status()) {
            return response;
        }
        let max = self.server.rules().settings.max_message;
        let (has_result, response) = look_for_result(response, max).await;
        if has_result {
            self.server.eras().set_legacy();
            return response;
        }
        let Ok(text) = text(&opening.bytes) else { return response };
        let Some(is_legacy_version) = is_initialize(&text) else { return response };
        let asked = timeout(PATIENCE, self.discover(&opening.headers, &text)).await;
        if asked != Ok(Found::Modern) {
            return response;
        }
        // A server of both eras may refuse a version that it does not know.
        if is_legacy_version {
            self.server.eras().set_modern_only();
        }
        self.bridged.answer_post(&opening.caller, &opening.headers, opening.bytes).await
    }

    /// Finds out which era the server is of, in the name of the client that sent `message`. A client waits once for a
    /// server that is silent; then the server gets what the client sends, and is asked besides.
    async fn detect(
        self: &Arc<Self>,
        caller: &Caller,
        headers: &HeaderMap,
        message: &ByteString,
    ) -> Found {
        let Some(mut asked) = self.asked(caller, headers, message) else { return Found::Nothing };
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
        message: &ByteString,
    ) -> Option<watch::Receiver<Option<Found>>> {
        let mut all = lock(&self.asking);
        let known = all.get(caller);
        let has_waited = known.is_some_and(|asking| asking.has_waited);
        if let Some(open) = known.filter(|asking| asking.is_open()) {
            return (!has_waited).then(|| open.found.clone());
        }
        if known.is_some_and(|asking| asking.since.elapsed() < ASKING) {
            return None;
        }
        if all.len() >= MAX_SILENT {
            all.retain(|_, asking| asking.is_open());
        }
        if all.values().filter(|asking| asking.is_open()).count() >= MAX_ASKED {
            return None;
        }
        let (tell, found) = watch::channel(None);
        let since = Instant::now();
        all.insert(caller.clone(), Asking { found: found.clone(), has_waited, since });
        drop(all);
        let (proxy, caller) = (Arc::clone(self), caller.clone());
        let (headers, message) = (headers.clone(), message.clone());
        tokio::spawn(async move {
            let asked = timeout(ASKING, proxy.ask(&headers, &message)).await;
            let found = asked.unwrap_or(Found::Silence);
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
        (!has_waited).then_some(found)
    }

    /// Asks the server with `server/discover`, and where it does not answer that with `initialize`, too.
    async fn ask(&self, headers: &HeaderMap, message: &ByteString) -> Found {
        let mut discover = pin!(self.discover(headers, message));
        if let Ok(found) = timeout(SILENCE, &mut discover).await {
            return found;
        }
        let opened = tokio::select! {
            biased;
            found = &mut discover => return found,
            Some(opened) = self.initialize(headers, message) => opened,
            else => return Found::Silence,
        };
        // It is there, and may only be slow.
        timeout(SILENCE, discover).await.unwrap_or(opened)
    }

    /// Asks the server with `initialize`, and ends the session that it opens for that; `None` if it does not answer.
    async fn initialize(&self, headers: &HeaderMap, message: &ByteString) -> Option<Found> {
        let mut headers = own_headers(headers);
        let sent = self.post(headers.clone(), initialize_request(message)).await;
        let response = sent.ok()?;
        let session = response.headers().get(SESSION).cloned();
        let max = self.server.rules().settings.max_message;
        let answer = read_answer(response, max, None).await;
        if let Some(session) = session {
            headers.insert(SESSION, session);
            let body = full(Bytes::new());
            let _ = self.request(Method::DELETE, &self.upstream, headers, body).await;
        }
        let (answer, result) = answer?;
        if result.is_some() {
            return Some(Found::LegacyOnly);
        }
        let text = text(&answer).ok()?;
        match Incoming::read(&text) {
            Incoming::Answer { outcome: Err(error), .. } if is_modern_error(error) => {
                Some(Found::Modern)
            }
            _ => Some(Found::Silence),
        }
    }

    /// Posts a message of the guard itself.
    async fn post(
        &self,
        headers: HeaderMap,
        message: String,
    ) -> Result<Response<IncomingBody>, String> {
        self.request(Method::POST, &self.upstream, headers, full(message)).await
    }

    /// Asks the server whether it speaks the modern revision.
    async fn discover(&self, headers: &HeaderMap, message: &ByteString) -> Found {
        self.try_discover(headers, message).await.unwrap_or(Found::Nothing)
    }

    async fn try_discover(&self, headers: &HeaderMap, message: &ByteString) -> Option<Found> {
        let mut headers = own_headers(headers);
        headers.insert("mcp-protocol-version", HeaderValue::from_static(MODERN));
        headers.insert("mcp-method", HeaderValue::from_static("server/discover"));
        let response = self.post(headers, discover_request(message)).await.ok()?;
        let status = response.status();
        let max = self.server.rules().settings.max_message;
        let answer = read_answer(response, max, None).await;
        // A legacy server does not know the method.
        let is_legacy_status = matches!(status.as_u16(), 200 | 400 | 404 | 405 | 406 | 422);
        let refusal = is_legacy_status.then_some(Found::Refusal);
        match answer {
            Some((_, Some(_))) => Some(Found::Modern),
            Some((bytes, None)) => match Incoming::read(&text(&bytes).ok()?) {
                Incoming::Answer { outcome: Err(error), .. } if is_modern_error(error) => {
                    Some(Found::Modern)
                }
                _ => refusal,
            },
            None => refusal.filter(|_| status != StatusCode::OK),
        }
    }
}

/// The headers of a request in the name of a client whose request has `headers`.
fn own_headers(headers: &HeaderMap) -> HeaderMap {
    let mut headers = forwarded(headers);
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
    headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    headers
}

/// Whether a response has a result. Returns the same response, with what was read of it.
async fn look_for_result(response: Response<Body>, max: usize) -> (bool, Response<Body>) {
    let (parts, body) = response.into_parts();
    let mut all = Vec::new();
    let mut events = EventSplitter::default();
    let mut outcome = None;
    let has_result = |bytes: Vec<u8>| {
        let text = text(&bytes.into()).ok()?;
        match Incoming::read(&text) {
            Incoming::Answer { outcome, .. } => Some(outcome.is_ok()),
            _ => None,
        }
    };
    let mut rest = Some(body);
    while outcome.is_none() && all.len() <= max {
        let Some(body) = &mut rest else { break };
        let Some(Ok(frame)) = body.frame().await else {
            rest = None;
            break;
        };
        let Ok(bytes) = frame.into_data() else { continue };
        all.extend_from_slice(&bytes);
        events.feed(&bytes);
        outcome = std::iter::from_fn(|| events.next()).find_map(|event| has_result(data(&event)));
    }
    let outcome = outcome.or_else(|| has_result(all.clone()));
    let read = stream::once(async move { Ok(Frame::data(Bytes::from(all))) });
    let rest = stream::unfold(rest, |rest| async move {
        let mut body = rest?;
        let frame = body.frame().await?;
        Some((frame, Some(body)))
    });
    let whole = StreamBody::new(futures_util::StreamExt::chain(read, rest)).boxed_unsync();
    (outcome == Some(true), Response::from_parts(parts, whole))
}
