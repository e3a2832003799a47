//! Requests of clients, checked before they reach the server.

use std::sync::Arc;

use bytes::Bytes;
use hyper::header::{ACCEPT, ACCEPT_ENCODING, CONTENT_LENGTH, HOST, HeaderValue};
use hyper::http::request::Parts;
use hyper::{HeaderMap, Method, Request, Response, StatusCode};

use super::bridge::Bridged;
use super::endpoint::endpoint_of;
use super::session::{Answered, RequestStream, Session};
use super::{Next, Proxy, Repeatable};
use crate::front::http::{named_revision, read_request};
use crate::http::media::{Media, media};
use crate::http::respond::{Body, BoxError, join, json, refuse, remove_hop_by_hop};
use crate::runtime::drive::drive;
use crate::runtime::read::Received;
use toolbond_guard_core::caller::{Caller, check_session};
use toolbond_guard_core::conversation::{Origin, Told};
use toolbond_guard_core::message::{self, Kind, code};
use toolbond_guard_core::trace::HttpTrace;

impl Proxy {
    /// Answers one request. Checks everything in it and in its response that could be read as JSON-RPC.
    pub(crate) async fn answer_checked<B>(
        self: &Arc<Self>,
        request: Request<B>,
        next: &impl Next,
    ) -> Response<Body>
    where
        B: hyper::body::Body<Data = Bytes, Error: Into<BoxError>> + Unpin,
    {
        let (mut parts, body) = request.into_parts();
        if let Err(reason) = check_session(&parts.headers) {
            return refuse(StatusCode::BAD_REQUEST, code::REQUEST, reason);
        }
        let endpoint = endpoint_of(&parts.uri).map(|key| self.sessions.find(&key));
        let is_gone = endpoint.as_ref().is_some_and(Option::is_none);
        if is_gone || endpoint.is_some() && body.is_end_stream() {
            let text = "no event stream is open for this endpoint; connect again";
            return refuse(StatusCode::NOT_FOUND, code::REQUEST, text);
        }
        if !self.server.rules().settings.is_replica() {
            // What the server does not get says nothing about the request.
            remove_hop_by_hop(&mut parts.headers);
        }
        // The guard has to read responses, and most clients ask for compressed ones.
        parts.headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        if body.is_end_stream() {
            return self.answer_without_body(parts, next).await;
        }
        let max = self.server.rules().settings.max_message;
        let received = match read_request(&parts.headers, body, max, &self.pool).await {
            Ok(bytes) => Received::of_client(bytes, &self.pool).await,
            Err(response) => return *response,
        };
        let caller = Caller::new(&parts.headers, &parts.uri);
        if let Some(session) = endpoint.flatten() {
            return self.answer_body(parts, session, caller, received, next).await;
        }
        let (opening, received) = match self.bridge(&parts, &caller, received).await {
            Bridged::Response(response) => return *response,
            Bridged::Initialize(opening, received) => (Some(opening), received),
            Bridged::No(received) => (None, received),
        };
        let session = self.sessions.get(caller.conversation());
        let response = self.answer_body(parts, session, caller, received, next).await;
        match opening {
            Some(opening) => self.bridge_refused(opening, response).await,
            None => response,
        }
    }

    /// Answers a request with this body.
    async fn answer_body(
        self: &Arc<Self>,
        mut parts: Parts,
        session: Arc<Session>,
        caller: Caller,
        received: Received,
        next: &impl Next,
    ) -> Response<Body> {
        if let Some(endpoint) = &session.endpoint {
            if session.is_unread() {
                let text = "the client does not read its event stream";
                return refuse(StatusCode::SERVICE_UNAVAILABLE, code::INTERNAL, text);
            }
            parts.uri = endpoint.uri.clone();
        }
        let (body, mut answered) = match self.check(&mut parts, session, caller, received).await {
            Ok(forwarded) => forwarded,
            Err(response) => return *response,
        };
        let request = &mut answered.request;
        request.is_sent = true;
        parts.headers.remove(CONTENT_LENGTH);
        if self.server.rules().settings.is_replica() {
            let stream = request.stream;
            if drive(&request.session, |it, _| it.is_repeatable(stream)) {
                parts.extensions.insert(Repeatable);
            }
        }
        let is_rpc = answered.is_rpc;
        let host = parts.headers.get(HOST).cloned();
        let sent = next.send(parts, body).await;
        match sent.and_then(|response| self.keep_redirect(response, is_rpc, host.as_ref())) {
            Ok(response) => self.check_response(answered, response).await,
            Err(reason) => answered.fail(StatusCode::BAD_GATEWAY, &reason),
        }
    }

    /// Checks the body of a request against the contracts of the server. What is left of it goes on.
    async fn check(
        self: &Arc<Self>,
        parts: &mut Parts,
        session: Arc<Session>,
        caller: Caller,
        mut received: Received,
    ) -> Result<(Bytes, Answered), Box<Response<Body>>> {
        let revision = named_revision(&parts.headers);
        let trace = HttpTrace::read(&self.server, &parts.headers);
        let is_json = media(&parts.headers) == Ok(Media::Json);
        let headers = std::mem::take(&mut parts.headers);
        let request = RequestStream::new(session, caller.clone(), parts.uri.clone(), headers);
        let bytes = received.bytes().clone();
        let message = match received.message() {
            Ok(message) => message,
            Err(unreadable) => {
                // Forms and files for other paths of the server.
                let is_endpoint = parts.uri.path() == self.path() || is_json;
                if !is_endpoint && !unreadable.may_be_message && !looks_like_json(&bytes) {
                    parts.headers = request.take_headers();
                    let answered = Answered::new(request, Vec::new(), false, false);
                    return Ok((bytes.into_bytes(), answered));
                }
                let stream = request.stream;
                drive(&request.session, |it, _| it.on_unreadable_client(stream, &unreadable));
                let replies = request.session.take_replies(stream);
                if replies.is_empty() {
                    let reason = &unreadable.reason;
                    return Err(Box::new(refuse(StatusCode::BAD_REQUEST, code::REQUEST, reason)));
                }
                return Err(Box::new(json(StatusCode::BAD_REQUEST, join(&replies, false))));
            }
        };
        let is_rpc = message.parts.as_slice().iter().any(|part| !matches!(part.kind, Kind::Other));
        if is_rpc && parts.method != Method::POST {
            let text = format!("JSON-RPC messages are sent with POST, not {}", parts.method);
            return Err(Box::new(refuse(StatusCode::METHOD_NOT_ALLOWED, code::REQUEST, &text)));
        }
        let is_batch = matches!(message.parts, message::Parts::Batch(_));
        let (session, stream) = (&request.session, request.stream);
        let told = Told { caller, revision: revision.as_ref(), headers: None, trace };
        let ticket = drive(session, |it, now| it.on_client(stream, &message, &told, now));
        let body = session.decision(ticket).await;
        if let (None, Some(response)) = (&body, session.take_unlisted(stream, is_batch)) {
            return Err(Box::new(response));
        }
        let replies = session.take_replies(stream);
        match body {
            Some(body) => {
                parts.headers = request.take_headers();
                Ok((body, Answered::new(request, replies, is_batch, is_rpc)))
            }
            None => {
                // Nobody waits for an answer to a notification.
                let status = if replies.is_empty() { StatusCode::ACCEPTED } else { StatusCode::OK };
                let body = if replies.is_empty() { Bytes::new() } else { join(&replies, is_batch) };
                Err(Box::new(json(status, body)))
            }
        }
    }

    /// Answers a request without a body: GET for an event stream, or DELETE for the end of a session.
    async fn answer_without_body(
        self: &Arc<Self>,
        parts: Parts,
        next: &impl Next,
    ) -> Response<Body> {
        if self.bridged.has_session(&parts.headers) {
            return self.bridged.answer_without_body(&parts.method, &parts.uri, &parts.headers);
        }
        let caller = Caller::new(&parts.headers, &parts.uri);
        let key = caller.conversation();
        let session = self.sessions.get(key.clone());
        let resumed = parts.headers.get("last-event-id");
        let resumed = resumed.and_then(|id| session.stream_of_event(id.as_bytes()));
        let (request, origin) = match resumed {
            Some(stream) => {
                (RequestStream::resumed(session, caller, stream), Origin::Resumed(stream))
            }
            None => {
                let uri = parts.uri.clone();
                let mut request = RequestStream::new(session, caller, uri, HeaderMap::new());
                request.path = parts.extensions.get().cloned();
                let origin = Origin::Listening(request.stream);
                (request, origin)
            }
        };
        let listens = parts.headers.get_all(ACCEPT).iter().any(|accept| {
            let accept = accept.as_bytes().to_ascii_lowercase();
            memchr::memmem::find(&accept, b"text/event-stream").is_some()
        });
        let is_delete = parts.method == Method::DELETE;
        let is_rpc = !is_delete && (listens || matches!(origin, Origin::Resumed(_)));
        let host = parts.headers.get(HOST).cloned();
        let answered = Answered { request, origin, replies: Vec::new(), is_batch: false, is_rpc };
        let sent = next.send(parts, Bytes::new()).await;
        if is_delete && sent.is_ok() {
            self.sessions.forget(&key);
        }
        let is_kept = is_rpc || is_delete;
        match sent.and_then(|response| self.keep_redirect(response, is_kept, host.as_ref())) {
            Ok(response) => self.check_response(answered, response).await,
            Err(reason) => answered.fail(StatusCode::BAD_GATEWAY, &reason),
        }
    }
}

/// Whether some reader may find JSON in `bytes`, in whatever encoding of Unicode.
pub(super) fn looks_like_json(bytes: &[u8]) -> bool {
    let start = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes).trim_ascii_start();
    let marked = bytes.starts_with(b"\xfe\xff") || bytes.starts_with(b"\xff\xfe");
    let has_zeros = bytes.iter().take(8).any(|byte| *byte == 0);
    marked || has_zeros || matches!(start.first(), Some(b'{' | b'['))
}
