//! Responses of the server, checked before they reach the client.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use hyper::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderValue};
use hyper::http::response::Parts;
use hyper::{Response, StatusCode};
use tokio::time::timeout;

use super::event_stream::EventStream;
use super::request::looks_like_json;
use super::session::{Answered, UNANSWERED};
use super::{Proxy, ResponseBody};
use crate::http::body::{BodyError, read_body};
use crate::http::charset::response_in_utf8;
use crate::http::media::{Media, media};
use crate::http::respond::{Body, forward, full, join, json, refuse, with_body};
use crate::memory::Sender;
use crate::runtime::drive::drive;
use crate::runtime::read::Received;
use toolbond_guard_core::conversation::Origin;
use toolbond_guard_core::event::Event;
use toolbond_guard_core::json::scan;
use toolbond_guard_core::message::code;

/// The most bytes of a body that is not labelled as JSON or events, such as an error page.
const MAX_PAGE: usize = 64 << 10;

/// How long the client waits for the status of an error with such a body, whose end does not come.
const PAGE_PATIENCE: Duration = Duration::from_secs(2);

/// What is wrong with a body that answers a request and is not labelled.
const UNLABELLED: &str = "it is neither JSON nor an event stream";

impl Proxy {
    /// Checks the messages in a response: a JSON body, or an event stream, event by event.
    pub(super) async fn check_response<B: ResponseBody>(
        self: &Arc<Self>,
        mut answered: Answered,
        response: Response<B>,
    ) -> Response<Body> {
        let request = &mut answered.request;
        if request.session.endpoint.is_none()
            && let Some(opened) = request.caller.opened(response.headers())
        {
            request.enter(self.sessions.get(opened));
        }
        if response.status().is_success() {
            request.session.accept();
            if request.session.endpoint.is_some() {
                let stream = request.stream;
                drive(&request.session, |it, _| it.accept_posted(stream));
            }
        }
        request.is_sent &= !response.status().is_client_error();
        let has_body = !response.body().is_end_stream();
        let response = response_in_utf8(response);
        match media(response.headers()) {
            Err(reason) if has_body => self.unreadable(&answered, response.into_parts().0, &reason),
            Ok(Media::Events) => self.check_events(answered, response),
            Ok(Media::Json) if answered.is_rpc => self.check_json(answered, response).await,
            _ => self.check_other(answered, response, has_body).await,
        }
    }

    /// The response if that of the server, with this head, cannot be read: an error for each request.
    fn unreadable(&self, answered: &Answered, head: Parts, reason: &str) -> Response<Body> {
        let text = format!("could not read the answer of the server: {reason}");
        self.server.report(Event::error(format!("server: {text}")));
        instead(head, answered.fail(StatusCode::OK, &text))
    }

    /// Checks a response that is neither JSON nor an event stream. Some clients read messages in it all the same.
    async fn check_other<B: ResponseBody>(
        self: &Arc<Self>,
        answered: Answered,
        response: Response<B>,
        has_body: bool,
    ) -> Response<Body> {
        let stream = answered.request.stream;
        let is_success = response.status().is_success();
        let is_rpc = answered.is_rpc && has_body;
        if is_rpc && is_success {
            let is_call = drive(&answered.request.session, |it, _| it.expects_checked(stream));
            if is_call || !matches!(answered.origin, Origin::Stream(_)) {
                return self.unreadable(&answered, response.into_parts().0, UNLABELLED);
            }
        }
        // The server had nothing to answer in the rest of the batch.
        if !answered.replies.is_empty() && is_success {
            return json(StatusCode::OK, join(&answered.replies, answered.is_batch));
        }
        if is_rpc { self.check_json(answered, response).await } else { forward(response) }
    }

    /// Checks a body as JSON, be it labelled so or not.
    async fn check_json<B: ResponseBody>(
        self: &Arc<Self>,
        answered: Answered,
        response: Response<B>,
    ) -> Response<Body> {
        let (mut parts, body) = response.into_parts();
        let is_labelled = media(&parts.headers) == Ok(Media::Json);
        let max = self.server.rules().settings.max_message;
        let max = if is_labelled { max } else { max.min(MAX_PAGE) };
        let is_page = !is_labelled && !parts.status.is_success();
        let patience = if is_page { PAGE_PATIENCE } else { Duration::MAX };
        let read = read_body(body, Sender::Server, max, &self.pool);
        let bytes = match timeout(patience, read).await.unwrap_or(Err(BodyError::TimedOut)) {
            Ok(bytes) => bytes,
            Err(BodyError::TooLong(_) | BodyError::TimedOut) if !is_labelled => {
                return self.unreadable(&answered, parts, UNLABELLED);
            }
            Err(error) => return self.unreadable(&answered, parts, &error.to_string()),
        };
        let Answered { request, origin, mut replies, is_batch, .. } = answered;
        let (session, stream) = (&request.session, request.stream);
        let mut received = Received::of_server(bytes.clone(), &self.pool).await;
        let left = match received.message() {
            Ok(message) => {
                let ticket = drive(session, |it, now| it.on_server(origin, &message, now));
                session.decision(ticket).await
            }
            Err(_) if is_page && !looks_like_json(&bytes) && !may_hold_event(&bytes) => {
                return with_body(parts, full(bytes.into_bytes()));
            }
            Err(unreadable) => {
                // Some readers may find a result in it.
                let is_forwarded = drive(session, |it, now| {
                    let is_awaited = is_labelled && it.expects_checked(stream);
                    it.on_unreadable_server(origin, &unreadable, now) && !is_awaited
                }) && !may_hold_event(&bytes);
                if is_forwarded && !is_labelled {
                    return with_body(parts, full(bytes.into_bytes()));
                }
                is_forwarded.then(|| bytes.into_bytes())
            }
        };
        let mut own = session.take_replies(stream);
        if left.is_none() && own.is_empty() {
            drive(session, |it, _| it.fail_stream(stream, UNANSWERED));
            own = session.take_replies(stream);
        }
        let length = left.as_ref().map_or(0, Bytes::len);
        let body = match left {
            Some(left) if replies.is_empty() && own.is_empty() => left,
            // The answer comes on the stream of the endpoint.
            None if request.session.endpoint.is_some() && parts.status.is_success() => {
                return json(StatusCode::ACCEPTED, Bytes::new());
            }
            None if replies.is_empty() && own.is_empty() => {
                let refusal = refuse(StatusCode::BAD_GATEWAY, code::INTERNAL, UNANSWERED);
                return instead(parts, refusal);
            }
            left => {
                let merge = move || {
                    let mut texts = left.map_or_else(Vec::new, |left| elements(&left));
                    texts.append(&mut replies);
                    texts.append(&mut own);
                    join(&texts, is_batch)
                };
                let merged = self.pool.run(length, merge).await;
                let Some(merged) = merged else {
                    return refuse(StatusCode::BAD_GATEWAY, code::INTERNAL, UNANSWERED);
                };
                if !is_labelled {
                    parts.headers.insert(CONTENT_TYPE, JSON);
                }
                self.pool.memory().count(merged).into_bytes()
            }
        };
        with_body(parts, full(body))
    }

    fn check_events<B: ResponseBody>(
        self: &Arc<Self>,
        answered: Answered,
        response: Response<B>,
    ) -> Response<Body> {
        let (parts, body) = response.into_parts();
        let stream = EventStream::new(Arc::clone(self), answered, body);
        with_body(parts, stream.into_body())
    }
}

impl Answered {
    /// The response when there is no answer of the server: an error for each request, with `status`. Without a request,
    /// an error without an id.
    pub(super) fn fail(&self, status: StatusCode, reason: &str) -> Response<Body> {
        let (session, stream) = (&self.request.session, self.request.stream);
        drive(session, |it, _| it.fail_stream(stream, reason));
        let replies = [self.replies.clone(), session.take_replies(stream)].concat();
        if replies.is_empty() {
            return refuse(StatusCode::BAD_GATEWAY, code::INTERNAL, reason);
        }
        json(status, join(&replies, self.is_batch))
    }
}

const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// The response with `refusal` in the place of a body that had this head. What the status and the headers of an error
/// say, such as how to authorize, still holds.
fn instead(mut head: Parts, refusal: Response<Body>) -> Response<Body> {
    if head.status.is_success() {
        return refusal;
    }
    head.headers.remove(CONTENT_ENCODING);
    head.headers.insert(CONTENT_TYPE, JSON);
    with_body(head, refusal.into_body())
}

/// Whether a client that reads `bytes` as a stream of events, whatever ends a line for it, may find data with an object.
fn may_hold_event(bytes: &[u8]) -> bool {
    let starts_line = |at: usize| {
        let before = bytes[..at].iter().rev().find(|byte| !matches!(byte, b' ' | b'\t'));
        !before.is_some_and(u8::is_ascii_graphic)
    };
    bytes.contains(&b'{') && memchr::memmem::find_iter(bytes, b"data").any(starts_line)
}

/// The messages of a batch, or the single one.
fn elements(body: &Bytes) -> Vec<Bytes> {
    // Readers skip a byte order mark at the start of a body alone.
    let text = body.strip_prefix("\u{feff}".as_bytes()).unwrap_or(body);
    match std::str::from_utf8(text).ok().and_then(scan::elements) {
        Some(batch) => batch.iter().map(|part| body.slice_ref(part.as_bytes())).collect(),
        None => vec![body.slice_ref(text)],
    }
}
