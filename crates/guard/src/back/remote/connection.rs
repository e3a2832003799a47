//! A connection to a server on Streamable HTTP.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use http_body_util::{BodyExt as _, Limited};
use hyper::body::Incoming;
use hyper::header::{ACCEPT, ACCEPT_ENCODING, HeaderValue, USER_AGENT, WWW_AUTHENTICATE};
use hyper::{HeaderMap, Method, Response, StatusCode, Uri};
use tokio::sync::{Mutex as AsyncMutex, Semaphore, mpsc, watch};
use tokio::time::{Instant, sleep, timeout};

use super::headers::{Head, RemoteHeaders};
use super::refusal::HttpRefusal;
use super::request::{Request, ToServer, headers_of};
use super::server::Remote;
use super::tools::{KnownTools, Learned};
use crate::http::body::{BodyError, read_body};
use crate::http::charset::{Utf8Body, response_in_utf8};
use crate::http::events::{BodyEvents, data, event_id, event_retry};
use crate::http::media::{Media, media};
use crate::http::respond::{Body, full, in_pieces};
use crate::memory::Sender;
use crate::pipe::pieces::Pieces;
use crate::random::random;
use crate::runtime::read::Received;
use toolbond_guard_core::counted::Counted;
use toolbond_guard_core::json::object::Object;
use toolbond_guard_core::lock::lock;
use toolbond_guard_core::message::{
    Frame, Id, Kind, code, error_message, error_object, error_object_code,
};

/// How soon an event stream that broke off is opened again, unless the server says; and the bounds of that.
const RETRY: Duration = Duration::from_secs(1);
const MIN_RETRY: Duration = Duration::from_millis(100);
const MAX_RETRY: Duration = Duration::from_secs(30);

/// The most bytes of a refusal that is searched for what it is about.
const MAX_TOLD: usize = 4 << 10;

/// How often the stream of a request is opened again without hearing anything.
const MAX_TRIES: usize = 5;

/// How long the server may take to answer `ping` before an answer goes on.
const PING: Duration = Duration::from_secs(1);

/// The most redirects of one request.
const MAX_REDIRECTS: usize = 5;

/// The most requests of a client on a pipe that are open at its server.
const MAX_OPEN: usize = 256;

/// Who sends a request that several clients may share.
const AGENT: &str = concat!("toolbond/", env!("CARGO_PKG_VERSION"));

/// The body of an answer of the server.
type AnswerBody = Utf8Body<Incoming>;

/// What a client is to a server on HTTP.
pub(super) struct Connection {
    pub(super) remote: Remote,
    pub(super) headers: Arc<RemoteHeaders>,
    pub(super) known: Mutex<Known>,
    /// Why the connection has ended.
    pub(super) ended: watch::Sender<Option<String>>,
    /// Whether the server has not accepted the last message that is sent in order.
    pub(super) is_busy: watch::Sender<bool>,
    /// Leave for a request of a client on a pipe to be open at the server.
    open: Semaphore,
    pub(super) reopening: AsyncMutex<()>,
    /// How often a session was opened again.
    pub(super) reopened: watch::Sender<usize>,
    to_guard: mpsc::Sender<Received>,
}

/// What is known of a connection.
#[derive(Default)]
pub(super) struct Known {
    /// The session that a legacy server opened, and the version it chose.
    pub(super) session: Option<HeaderValue>,
    pub(super) version: Option<String>,
    /// The input schemas of tools whose arguments are repeated in headers.
    tools: KnownTools,
    /// The request that opens the session of a modern client at a legacy server.
    pub(super) opening: Option<Id>,
    /// The `initialize` that opened the session of a client on a pipe.
    pub(super) initialize: Option<ToServer>,
    /// Whether a client has asked for the log of a legacy server, and the server sends it on another stream.
    pub(super) is_logging: bool,
    is_listening: bool,
    /// Where the server has redirected a client on a pipe to.
    pub(super) moved: Option<Uri>,
}

impl Connection {
    pub(super) fn new(
        remote: Remote,
        headers: Arc<RemoteHeaders>,
        to_guard: mpsc::Sender<Received>,
    ) -> Self {
        let (known, reopening) = (Mutex::default(), AsyncMutex::default());
        let (ended, is_busy) = (watch::Sender::new(None), watch::Sender::new(false));
        let (open, reopened) = (Semaphore::new(MAX_OPEN), watch::Sender::new(0));
        Self { remote, headers, known, ended, is_busy, open, reopening, reopened, to_guard }
    }

    /// Sends a request to the server, and its answer to the guard.
    pub(super) async fn request(&self, id: &Id, request: Option<&Request>, text: Pieces) {
        let asked = if self.headers.is_on_pipe {
            // It is never closed.
            let _open = self.open.acquire().await;
            self.ask_on_pipe(id, request, text).await
        } else {
            self.ask(id, request, text).await
        };
        match asked {
            Ok(()) => {}
            Err(NoAnswer::SessionEnded) => self.end_with_session(),
            Err(NoAnswer::Unreached(reason)) if self.is_opening(id) => self.end(reason),
            Err(NoAnswer::Unreached(reason)) => {
                self.tell_failure(id, &error_object(code::INTERNAL, &reason, None)).await;
            }
            Err(NoAnswer::Http(error, refusal)) => {
                let mark = self.headers.mark.as_ref();
                let marked = mark.map_or_else(|| error.clone(), |mark| mark.add(&error, &refusal));
                self.tell_failure(id, &marked).await;
            }
            Err(NoAnswer::Error(error)) if self.is_opening(id) => self.end_refused(&error),
            Err(NoAnswer::Error(error)) => self.tell_failure(id, &error).await,
        }
    }

    pub(super) async fn ask(
        &self,
        id: &Id,
        request: Option<&Request>,
        text: Pieces,
    ) -> Result<(), NoAnswer> {
        let has_session = lock(&self.known).session.is_some();
        let response = self.post(request, text).await.map_err(NoAnswer::Unreached)?;
        let status = response.status();
        let mut place = Place::default();
        let mut is_answered = self.read(response, Some(id), has_session, &mut place).await?;
        // A legacy server may close the stream, and go on when it is opened again.
        let is_legacy = lock(&self.known).version.is_some();
        let mut tries = 0;
        while !is_answered && is_legacy && place.last.is_some() && tries < MAX_TRIES {
            tries = if place.has_moved { 0 } else { tries + 1 };
            sleep(place.pause()).await;
            match self.resume(&mut place, Some(id)).await? {
                Resumed::Read(found) => is_answered = found,
                Resumed::Later => {}
                Resumed::Never(StatusCode::NOT_FOUND) if has_session => {
                    return Err(NoAnswer::SessionEnded);
                }
                Resumed::Never(_) => break,
            }
        }
        if is_answered {
            return Ok(());
        }
        let text = format!("the server answered with status {status} and without an answer");
        Err(NoAnswer::internal(&text))
    }

    fn is_opening(&self, id: &Id) -> bool {
        lock(&self.known).opening.as_ref() == Some(id)
    }

    /// Ends the connection, for which the server opens no session, so that the next request tries again.
    fn end_refused(&self, error: &str) {
        // The server may be of another era now.
        self.remote.server.eras().forget();
        let message = error_message(error).unwrap_or_default();
        self.end(format!("the server has opened no session: {message}"));
    }

    /// Ends the connection, whose session the server does not know any more.
    pub(super) fn end_with_session(&self) {
        lock(&self.known).session = None;
        let reason = "the server has ended the session; the next request opens a new one";
        self.end(reason.to_owned());
    }

    /// Ends the connection: the guard reads no more from it.
    fn end(&self, reason: String) {
        self.ended.send_if_modified(|ended| {
            let is_first = ended.is_none();
            ended.get_or_insert(reason);
            is_first
        });
    }

    /// Reads what the server sends to nobody's request in particular, as long as it offers that.
    pub(super) async fn listen(&self) {
        let mut place = Place::default();
        let mut is_offered = false;
        let mut reopened = self.reopened.subscribe();
        loop {
            reopened.borrow_and_update();
            let session = lock(&self.known).session.clone();
            let resumed = tokio::select! {
                resumed = self.resume(&mut place, None) => resumed,
                // The stream of a session that is gone may stay open.
                _ = reopened.changed() => {
                    place = Place::default();
                    continue;
                }
            };
            match resumed {
                Ok(Resumed::Never(StatusCode::NOT_FOUND)) if is_offered => {
                    if !self.headers.is_on_pipe || self.reopen(session).await.is_err() {
                        return self.end_with_session();
                    }
                    place = Place::default();
                    continue;
                }
                Ok(Resumed::Never(_)) => return,
                Ok(Resumed::Read(_)) => is_offered = true,
                Ok(Resumed::Later) | Err(_) => {}
            }
            sleep(place.pause()).await;
        }
    }

    /// Opens an event stream with GET, where `place` is, and reads it.
    async fn resume(&self, place: &mut Place, id: Option<&Id>) -> Result<Resumed, NoAnswer> {
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
        if let Some(last) = &place.last {
            headers.insert("last-event-id", last.clone());
        }
        let sent = self.send(Method::GET, id, headers, full("")).await;
        let Ok(response) = sent else { return Ok(Resumed::Later) };
        let status = response.status();
        if status.is_success() && matches!(media(response.headers()), Ok(Media::Events)) {
            if id.is_none() {
                lock(&self.known).is_listening = true;
            }
            let start = Instant::now();
            let is_answered = self.read(response, id, false, place).await;
            place.has_moved |= start.elapsed() >= MAX_RETRY;
            return is_answered.map(Resumed::Read);
        }
        let is_busy = status.is_server_error() && status != StatusCode::NOT_IMPLEMENTED;
        // 409: to the server the last stream is still open.
        if is_busy || matches!(status.as_u16(), 408 | 409 | 429) {
            return Ok(Resumed::Later);
        }
        Ok(Resumed::Never(status))
    }

    /// Posts a message, and reports a failure.
    pub(super) async fn post(
        &self,
        request: Option<&Request>,
        text: Pieces,
    ) -> Result<Response<AnswerBody>, String> {
        let schema_of = |name: &str| lock(&self.known).tools.schema(name);
        let headers = headers_of(request, &self.remote.server, &schema_of);
        let id = request.and_then(|request| request.id.as_ref());
        let post = || {
            let body = in_pieces(text.clone().into_iter().map(Counted::into_bytes));
            self.send(Method::POST, id, headers.clone(), body)
        };
        let mut sent = post().await;
        for _ in 0..MAX_REDIRECTS {
            match sent.as_ref().map(|response| self.follows(response)) {
                Ok(Ok(true)) => sent = post().await,
                Ok(Err(elsewhere)) => sent = Err(elsewhere),
                Ok(Ok(false)) | Err(_) => break,
            }
        }
        sent.inspect_err(|failure| self.remote.report(failure))
    }

    /// Sends a request, with the headers of the client and of the session.
    pub(super) async fn send(
        &self,
        method: Method,
        id: Option<&Id>,
        own: HeaderMap,
        body: Body,
    ) -> Result<Response<AnswerBody>, String> {
        let head = self.headers.get(id);
        let Head { mut headers, query } =
            head.ok_or_else(|| "the client has left, or signs each request".to_owned())?;
        let moved = lock(&self.known).moved.clone();
        let endpoint = || self.remote.http.endpoint(query.as_deref());
        let uri = moved.map_or_else(endpoint, Ok)?;
        headers.entry(USER_AGENT).or_insert(HeaderValue::from_static(AGENT));
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        {
            let known = lock(&self.known);
            if let Some(id) = &known.session {
                headers.insert("mcp-session-id", id.clone());
            }
            if let Some(version) = known.version.as_ref().and_then(|it| it.parse().ok()) {
                headers.insert("mcp-protocol-version", version);
            }
        }
        headers.extend(own);
        self.remote.http.send(method, &uri, headers, body).await.map(response_in_utf8)
    }

    /// Hands the messages of a response to the guard; says whether the request `id` is answered.
    async fn read(
        &self,
        response: Response<AnswerBody>,
        id: Option<&Id>,
        has_session: bool,
        place: &mut Place,
    ) -> Result<bool, NoAnswer> {
        let status = response.status();
        if status.is_success()
            && let Some(session) = response.headers().get("mcp-session-id")
        {
            lock(&self.known).session = Some(session.clone());
        }
        let (parts, body) = response.into_parts();
        let is_stream = matches!(media(&parts.headers), Ok(Media::Events));
        let max = self.remote.server.rules().settings.max_message;
        let failed = |reason: &str| Err(NoAnswer::internal(reason));
        let memory = self.remote.pool.memory();
        let mut all = Counted::default();
        let mut is_answered = id.is_none();
        if is_stream {
            let mut events = BodyEvents::new(body, Sender::Server, max, memory);
            loop {
                let event = match events.next().await {
                    Ok(Some(event)) => event,
                    Ok(None) => break,
                    Err(error) => return failed(&format!("an event of the server: {error}")),
                };
                let message = data(&event, memory);
                // What has no blank line after it is whole if it is the answer. Else it comes again.
                if events.is_over() && !self.is_answer(&message, id).await {
                    break;
                }
                place.move_to(&event);
                if !message.is_empty() {
                    is_answered |= self.take(message, id).await;
                }
            }
        } else {
            match read_body(body, Sender::Server, max, &self.remote.pool).await {
                Ok(body) => all = body,
                Err(BodyError::Incomplete) => {}
                Err(error) => return failed(&format!("the answer of the server: {error}")),
            }
        }
        if status.is_success() {
            if !all.is_empty() {
                is_answered |= self.take(all, id).await;
            }
            return Ok(is_answered);
        }
        let may_sign_in = parts.headers.contains_key(WWW_AUTHENTICATE);
        let received = Received::of_client(all, &self.remote.pool).await;
        let is_unknown = is_without_session(status, &received, id);
        let told = error_of(&received);
        if has_session && !may_sign_in && is_unknown {
            return Err(NoAnswer::SessionEnded);
        }
        if let Some(refusal) = HttpRefusal::read(&parts) {
            let text =
                || error_object(code::INTERNAL, &format!("the server answered {status}"), None);
            return Err(NoAnswer::Http(told.unwrap_or_else(text), Box::new(refusal)));
        }
        // Errors about a request do not always repeat its id.
        told.map_or(Ok(is_answered), |told| Err(NoAnswer::Error(told)))
    }

    /// Whether `message` is the answer to the request `id`.
    async fn is_answer(&self, message: &Counted, id: Option<&Id>) -> bool {
        let received = Received::of_client(message.clone(), &self.remote.pool).await;
        let kind = received.frame().map(|frame| frame.part.kind);
        matches!(kind, Some(Kind::Response(found)) if found.among(|found| Some(found) == id).is_some())
    }

    /// Takes a message of the server; `true` if it answers the request `id`.
    async fn take(&self, message: Counted, id: Option<&Id>) -> bool {
        let received = Received::of_client_as_line(message, &self.remote.pool).await;
        // Whoever waits for a broken answer hears that it is broken.
        let mut is_answer = id.is_some() && received.broken_answer_id() == id;
        if let Some(frame) = received.frame()
            && let Kind::Response(found) = &frame.part.kind
        {
            is_answer = found.among(|found| Some(found) == id).is_some();
            self.catch_up().await;
            match frame.part.error.map(|error| frame.slice(error)) {
                None => self.learn(&frame).await,
                Some(error) if self.is_opening(found) => {
                    self.end_refused(&error);
                    return is_answer;
                }
                Some(_) => {}
            }
        }
        self.tell(received).await;
        is_answer
    }

    /// Waits for log messages that the server sent before an answer, on its other stream. Nothing says that they have
    /// arrived, so they get one round trip more than the answer.
    async fn catch_up(&self) {
        let may_be_late = {
            let known = lock(&self.known);
            known.is_logging && known.is_listening
        };
        if !may_be_late {
            return;
        }
        let Some(number) = random() else { return };
        let ping = format!(r#"{{"jsonrpc":"2.0","id":"toolbond/{number:032x}","method":"ping"}}"#);
        let answered = async {
            let ping = Pieces::from(self.remote.pool.memory().count(ping));
            let response = self.post(None, ping).await.ok()?;
            Limited::new(response.into_body(), MAX_TOLD).collect().await.ok()
        };
        // A server that ignores it is not asked again.
        if timeout(PING, answered).await.is_err() {
            lock(&self.known).is_logging = false;
        }
    }

    /// Keeps what later requests need.
    async fn learn(&self, answer: &Frame) {
        let Some(result) = answer.part.result.map(|result| answer.slice(result)) else { return };
        let knows_tools = !lock(&self.known).tools.is_empty();
        let read = move || Learned::of_result(&result, knows_tools);
        let Some(learned) = self.remote.pool.run(answer.text.len(), read).await else { return };
        let mut known = lock(&self.known);
        known.version = learned.version.or(known.version.take());
        if !learned.tools.is_empty() {
            known.tools.add_page(learned.tools);
        }
    }

    /// Answers the request `id` with this error.
    async fn tell_failure(&self, id: &Id, error: &str) {
        let text = Frame::error(id, error).text.into_bytes();
        let pool = &self.remote.pool;
        self.tell(Received::of_client(pool.memory().count(text), pool).await).await;
    }

    /// Hands a message to the guard.
    async fn tell(&self, received: Received) {
        let has_ended = self.ended.borrow().is_some();
        if !has_ended {
            // A session that is gone needs none.
            let _ = self.to_guard.send(received).await;
        }
    }
}

/// What came of opening an event stream again.
enum Resumed {
    /// It was read to its end; whether the request was answered in it.
    Read(bool),
    /// The server may open it later.
    Later,
    /// The server refuses it.
    Never(StatusCode),
}

/// Why a request has no answer.
pub(super) enum NoAnswer {
    /// The server does not know the session.
    SessionEnded,
    /// The request may not have reached the server.
    Unreached(String),
    /// An error object.
    Error(String),
    /// An error object for a refusal with a status.
    Http(String, Box<HttpRefusal>),
}

impl NoAnswer {
    pub(super) fn internal(reason: &str) -> Self {
        Self::Error(error_object(code::INTERNAL, reason, None))
    }
}

/// How far an event stream was read.
struct Place {
    /// The id of the last event that has one.
    last: Option<HeaderValue>,
    /// How soon the server wants it to be opened again.
    retry: Duration,
    /// The last pause before that.
    pause: Option<Duration>,
    /// Whether something was heard since then.
    has_moved: bool,
}

impl Default for Place {
    fn default() -> Self {
        Self { last: None, retry: RETRY, pause: None, has_moved: false }
    }
}

impl Place {
    fn move_to(&mut self, event: &[u8]) {
        self.has_moved = true;
        if let Some(id) = event_id(event) {
            self.last = HeaderValue::from_bytes(id).ok();
        }
        if let Some(retry) = event_retry(event) {
            self.retry = retry.clamp(MIN_RETRY, MAX_RETRY);
        }
    }

    /// How long to wait now: longer each time that nothing was heard.
    fn pause(&mut self) -> Duration {
        let has_moved = std::mem::take(&mut self.has_moved);
        let longer = self.pause.filter(|_| !has_moved).map(|last| last.saturating_mul(2));
        *self.pause.insert(longer.unwrap_or(self.retry).min(MAX_RETRY))
    }
}

/// Whether a server that answers so does not know the session of the request.
fn is_without_session(status: StatusCode, body: &Received, id: Option<&Id>) -> bool {
    let frame = body.frame();
    let error = frame.as_ref().and_then(|it| Some(it.slice(it.part.error?)));
    match status.as_u16() {
        404 => error.and_then(|error| error_object_code(&error)) != Some(code::METHOD),
        // What several SDKs answer instead of 404, without the id of the request.
        400 | 401 => {
            let kind = frame.map(|frame| frame.part.kind);
            let is_answer = matches!(&kind, Some(Kind::Response(found)) if Some(found) == id);
            let told = body.bytes().to_ascii_lowercase();
            let names_it = memchr::memmem::find(&told, b"session").is_some();
            !is_answer && told.len() <= MAX_TOLD && names_it
        }
        _ => false,
    }
}

/// The error object in `body`, if it is an error answer.
fn error_of(body: &Received) -> Option<String> {
    let text = std::str::from_utf8(body.bytes()).ok()?;
    let error = Object::copied(text.trim_ascii()).get("error")?.clone();
    error.starts_with('{').then(|| error.to_string())
}

#[cfg(test)]
mod tests {
    use hyper::StatusCode;

    use super::{MAX_RETRY, MIN_RETRY, Place, Received, is_without_session};
    use crate::memory::MemoryLimit;
    use crate::testing::counted;
    use toolbond_guard_core::message::Id;

    #[test]
    fn a_stream_that_stays_silent_is_opened_less_and_less_often() {
        let mut place = Place::default();
        let pauses: Vec<_> = (0..7).map(|_| place.pause().as_secs()).collect();
        assert_eq!(pauses, [1, 2, 4, 8, 16, 30, 30]);
        place.move_to(b"id: 7\nretry: 250\ndata:\n\n");
        assert_eq!(place.pause().as_millis(), 250);
        assert_eq!(place.last.as_ref().unwrap(), "7");
        place.move_to(b"retry: 0\n\n");
        assert_eq!(place.pause(), MIN_RETRY);
        place.move_to(b"retry: 99999999\n\n");
        assert_eq!(place.pause(), MAX_RETRY);
    }

    #[test]
    fn a_refusal_tells_whether_the_session_is_over() {
        let id = Id::String("a".to_owned());
        let is = |status, body: &str| {
            let body = Received::read(counted(body.to_owned()), &MemoryLimit::default());
            is_without_session(StatusCode::from_u16(status).unwrap(), &body, Some(&id))
        };
        assert!(is(404, "") && is(404, r#"{"error":{"code":-32001,"message":"a"}}"#));
        assert!(!is(404, r#"{"error":{"code":-32601,"message":"a"}}"#));
        assert!(is(400, "No valid Session ID") && is(401, "Session not found"));
        assert!(!is(400, "no") && !is(500, "session"));
        let answer = r#"{"jsonrpc":"2.0","id":"a","error":{"code":-32602,"message":"session"}}"#;
        assert!(!is(400, answer));
    }
}
