//! Requests of a client to a process. The response is JSON if nothing comes before the answers, and an event
//! stream otherwise.

use std::sync::Arc;
use std::time::Duration;

use hyper::header::ACCEPT;
use hyper::{HeaderMap, Response, StatusCode};
use tokio::time::timeout;
use toolbond_contract::Revision;

use super::callers::Reserved;
use super::client_stream::ClientStream;
use super::events::{respond, respond_resumable, resume};
use super::session::ProcessSession;
use super::target::ENDED;
use crate::front::http::modern::status_of;
use crate::front::http::named_revision;
use crate::http::respond::{Body, join, json, json_in_pieces, no_content, plain, refuse};
use crate::pipe::pieces::Pieces;
use crate::runtime::drive::{Transport as _, drive};
use toolbond_guard_core::caller::Caller;
use toolbond_guard_core::contract::param_headers::ParamHeaders;
use toolbond_guard_core::conversation::{StreamId, Told};
use toolbond_guard_core::counted::Counted;
use toolbond_guard_core::message::{Kind, Message, Method, Parts, code};

/// How long a client waits for the head of a response. A later answer comes in an event stream, which can
/// be kept alive.
const HEAD: Duration = Duration::from_secs(5);

impl ProcessSession {
    /// Forwards the message of a client.
    pub(super) async fn post(
        self: &Arc<Self>,
        caller: &Caller,
        headers: &HeaderMap,
        message: &Message<'_>,
    ) -> Posted {
        if !self.accepts(message.text.len()).await {
            let text = "the server does not read its input";
            return refuse(StatusCode::SERVICE_UNAVAILABLE, code::INTERNAL, text).into();
        }
        let accept = headers.get(ACCEPT).and_then(|accept| accept.to_str().ok());
        let takes_events = accept.is_some_and(|accept| accept.contains("text/event-stream"));
        let is_batch = matches!(message.parts, Parts::Batch(_));
        // A call without an id that can be used is refused with an answer, too.
        let refuses = is_batch && self.server.rules().settings.is_inspecting();
        let requests = |part: &&toolbond_guard_core::message::Envelope| match part.kind {
            Kind::Request(..) => true,
            Kind::InvalidId(Method::CallTool) | Kind::Notification(Method::CallTool) => refuses,
            _ => false,
        };
        let expected = message.parts.as_slice().iter().filter(requests).count();
        let initializes = |part: &toolbond_guard_core::message::Envelope| {
            matches!(part.kind, Kind::Request(_, Method::Initialize))
        };
        let is_initialize = message.parts.as_slice().iter().any(initializes);
        let own = self.set_headers(caller, headers, Some(message));
        let mut client = ClientStream::open(self, !takes_events, expected);
        (client.headers, client.inflow.is_initialize) = (own, is_initialize);
        let stream = client.stream.unwrap_or(StreamId::PIPE);
        if let Some(own) = &mut client.headers {
            own.enter(stream);
        }
        let revision = named_revision(headers);
        let params = self.is_modern().then(|| {
            let all = headers.iter().map(|(name, value)| (name.as_str(), value.as_bytes()));
            Arc::new(ParamHeaders::new(all))
        });
        // A process sees no headers.
        let caller = if self.may_be_refused() { caller.clone() } else { Caller::default() };
        let told = Told {
            caller,
            revision: revision.as_ref(),
            headers: params,
            trace: self.http_trace(headers),
        };
        drive(self, |it, now| it.on_client(stream, message, &told, now));
        if expected == 0 {
            return respond_without_request(&client).into();
        }
        // Earlier clients cannot read the event that a resumable stream starts with.
        let is_resumable =
            takes_events && !self.is_modern() && revision == Some(Revision::V2025_11_25);
        Posted::Open(Box::new(Open {
            client,
            takes_events,
            is_resumable,
            is_batch,
            reserved: None,
        }))
    }

    /// The response with these answers.
    async fn respond_with(&self, mut all: Vec<Pieces>, is_batch: bool) -> Response<Body> {
        if !is_batch
            && all.len() == 1
            && let Some(one) = all.pop()
        {
            let status = if self.is_modern() { self.status_of(&one).await } else { StatusCode::OK };
            return json_in_pieces(status, one.into_iter().map(Counted::into_bytes));
        }
        let memory = self.memory();
        let texts = all.into_iter().map(|message| message.into_one(memory).into_bytes());
        let texts: Vec<_> = texts.collect();
        json(StatusCode::OK, memory.count(join(&texts, is_batch)).into_bytes())
    }

    /// The status of a response of 2026-07-28 with this message.
    async fn status_of(&self, message: &Pieces) -> StatusCode {
        let pool = self.driven().pool();
        let Some(text) = pool.join(message.clone()).await else { return StatusCode::OK };
        let found = pool.run(text.len(), move || status_of(&text)).await;
        found.unwrap_or(StatusCode::OK)
    }

    /// Opens the event stream that a client requests with GET, or resumes an earlier one.
    pub(super) fn stream(self: &Arc<Self>, headers: &HeaderMap) -> Response<Body> {
        if let Some(resumed) = resume(self, headers) {
            return resumed;
        }
        match ClientStream::listen(self) {
            Some(client) => respond(client),
            None => plain(StatusCode::CONFLICT, "an event stream is already open\n"),
        }
    }
}

/// A message of a client that was forwarded. It does not keep the message, which may be large.
pub(super) enum Posted {
    /// It has this response.
    Answered(Box<Response<Body>>),
    /// Its answers are to come.
    Open(Box<Open>),
}

/// The requests of a client that have to be answered.
pub(super) struct Open {
    client: ClientStream,
    takes_events: bool,
    is_resumable: bool,
    is_batch: bool,
    /// Keeps the process of the client.
    reserved: Option<Reserved>,
}

impl From<Response<Body>> for Posted {
    fn from(response: Response<Body>) -> Self {
        Self::Answered(Box::new(response))
    }
}

impl Posted {
    /// The same with a process that is kept until it is answered.
    pub(super) fn with(mut self, reserved: Reserved) -> Self {
        if let Self::Open(open) = &mut self {
            open.reserved = Some(reserved);
        }
        self
    }

    /// Waits for the response.
    pub(super) async fn response(self) -> Response<Body> {
        match self {
            Self::Answered(response) => *response,
            Self::Open(open) => open.response().await,
        }
    }
}

impl Open {
    async fn response(self) -> Response<Body> {
        let Self { mut client, takes_events, is_resumable, is_batch, reserved: _reserved } = self;
        let session = Arc::clone(&client.session);
        if is_resumable {
            if session.may_be_refused() {
                let _ = timeout(HEAD, client.fill(false)).await;
            }
            let refused = client.refused(is_batch);
            return refused.unwrap_or_else(|| respond_resumable(client));
        }
        let wait = client.fill(true);
        let is_in_time = if takes_events {
            timeout(HEAD, wait).await.is_ok()
        } else {
            wait.await;
            true
        };
        let has_only_answers = client.inflow.seen.iter().all(|it| it.is_answer);
        if !is_in_time || !client.inflow.is_complete() || !has_only_answers {
            return respond(client);
        }
        if client.inflow.seen.is_empty() && client.inflow.is_cancelled {
            // Whoever reads events may expect some for a request.
            return if takes_events { respond(client) } else { no_content() };
        }
        if client.inflow.seen.is_empty() {
            // The server ended before it got the request.
            return refuse(StatusCode::SERVICE_UNAVAILABLE, code::INTERNAL, ENDED);
        }
        if let Some(refused) = client.refused(is_batch) {
            return refused;
        }
        let all = client.inflow.seen.drain(..).map(|mail| mail.message).collect();
        session.respond_with(all, is_batch).await
    }
}

/// The response to a notification or an answer of the client: the errors of the guard, if any.
fn respond_without_request(client: &ClientStream) -> Response<Body> {
    client.inflow.mailbox.close();
    let (taken, memory) = (client.inflow.mailbox.take(), client.session.memory());
    let errors: Vec<_> = taken
        .mail
        .into_iter()
        .filter(|mail| mail.is_answer)
        .map(|it| it.message.into_one(memory).into_bytes())
        .collect();
    if errors.is_empty() {
        plain(StatusCode::ACCEPTED, "")
    } else {
        json(StatusCode::BAD_REQUEST, join(&errors, false))
    }
}
