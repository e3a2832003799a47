//! Clients that are of another era than the server.
//!
//! The era of a server on HTTP is found out with the first request: a legacy client's `initialize` goes to the server as
//! it is, and only if that is refused is the server asked as a modern client would. Before the first modern request the
//! server is asked with `server/discover`.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use bytestring::ByteString;
use futures_util::stream;
use http_body_util::{BodyExt as _, StreamBody};
use hyper::body::Frame;
use hyper::header::{ACCEPT, CONTENT_LENGTH, CONTENT_TYPE, HeaderValue};
use hyper::http::request::Parts;
use hyper::{HeaderMap, Method, Response, StatusCode};

use tokio::time::timeout;

use super::Proxy;
use crate::caller::Caller;
use crate::era::{
    Incoming, MODERN, discover_request, is_initialize, is_modern_error, is_modern_request,
};
use crate::http::answer::read_answer;
use crate::http::events::{EventSplitter, data};
use crate::http::respond::{Body, full};
use crate::message::text;

/// How long the server may take to answer `server/discover`.
const SILENCE: Duration = Duration::from_secs(5);

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
            if !eras.is_modern() && !eras.is_legacy_only() {
                self.detect(&parts.headers, &text).await;
            }
            if eras.is_legacy_only() {
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
        if !is_initialize(&text) {
            return response;
        }
        let asked = timeout(SILENCE, self.discover(&opening.headers, &text)).await;
        if asked != Ok(Some(true)) {
            return response;
        }
        self.server.eras().set_modern_only();
        self.bridged.answer_post(&opening.caller, &opening.headers, opening.bytes).await
    }

    /// Finds out which era the server is of, in the name of the client that sent `message`.
    async fn detect(&self, headers: &HeaderMap, message: &ByteString) {
        match timeout(SILENCE, self.discover(headers, message)).await {
            Ok(Some(false)) => self.server.eras().set_legacy_only(),
            Ok(Some(true)) => self.server.eras().set_modern(),
            // A server that is silent, because it starts for example, gets what the client sends. The next request asks
            // again.
            Ok(None) | Err(_) => {}
        }
    }

    /// Asks the server whether it speaks the modern revision; `None` if it does not say.
    async fn discover(&self, headers: &HeaderMap, message: &ByteString) -> Option<bool> {
        let mut headers = headers.clone();
        let of_message = |name: &str| name.starts_with("mcp-");
        let names: Vec<_> =
            headers.keys().filter(|name| of_message(name.as_str())).cloned().collect();
        for name in names {
            headers.remove(name);
        }
        headers.remove(CONTENT_LENGTH);
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
        headers.insert("mcp-protocol-version", HeaderValue::from_static(MODERN));
        headers.insert("mcp-method", HeaderValue::from_static("server/discover"));
        let request = discover_request(message);
        let sent = self.request(Method::POST, &self.upstream, headers, full(request)).await;
        let response = sent.ok()?;
        let status = response.status();
        let max = self.server.rules().settings.max_message;
        let answer = read_answer(response, max, None).await;
        let is_legacy_status = matches!(status.as_u16(), 200 | 400 | 404 | 405 | 406 | 422);
        match answer {
            // A legacy server does not know the method.
            Some((_, Some(_))) => Some(true),
            Some((bytes, None)) => {
                let text = text(&bytes).ok()?;
                let Incoming::Answer { outcome: Err(error), .. } = Incoming::read(&text) else {
                    return is_legacy_status.then_some(false);
                };
                if is_modern_error(error) {
                    return Some(true);
                }
                is_legacy_status.then_some(false)
            }
            None => (is_legacy_status && status != StatusCode::OK).then_some(false),
        }
    }
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
