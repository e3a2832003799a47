//! Clients on Streamable HTTP in front of a server that is a process.
//!
//! A client that opens a session gets a process of its own, which ends with the session. Requests
//! without a session, as they are from 2026-07-28 on, share one process.

mod answers;
mod mailbox;
mod parked;
mod post;
mod resume;
mod session;

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use arc_swap::ArcSwap;
use hyper::body::{Body as _, Incoming};
use hyper::{HeaderMap, Method, Request, Response, StatusCode};

use self::session::ProcessSession;
use crate::child::Launch;
use crate::event::Event;
use crate::http::body::{Sender, read_body};
use crate::http::media::media;
use crate::http::modern::{Era, era_of_headers, era_of_post};
use crate::http::respond::{Body, plain, refuse};
use crate::lock::lock;
use crate::message::{self, Kind, Message, code, error};
use crate::runtime::memory::MemoryLimit;
use crate::runtime::pool::JobPool;
use crate::runtime::read::Received;
use crate::server::GuardedServer;

const SESSION: &str = "mcp-session-id";

/// The limits of [`Processes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProcessLimits {
    /// The most sessions at a time.
    pub sessions: usize,
    /// How long a session may be idle before it ends.
    pub idle: Duration,
}

impl Default for ProcessLimits {
    fn default() -> Self {
        Self { sessions: 64, idle: Duration::from_secs(1800) }
    }
}

/// The processes of one server, one for each session and one for all requests without a session.
pub struct Processes {
    server: Arc<GuardedServer>,
    pool: Arc<JobPool>,
    settings: ArcSwap<(Launch, ProcessLimits)>,
    sessions: Mutex<HashMap<String, Arc<ProcessSession>>>,
    shared: Mutex<Option<Arc<ProcessSession>>>,
}

impl std::fmt::Debug for Processes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Processes").field("server", &self.server).finish_non_exhaustive()
    }
}

impl Processes {
    /// Starts processes as `launch` says when clients need them.
    #[must_use]
    pub fn new(
        launch: Launch,
        limits: ProcessLimits,
        server: Arc<GuardedServer>,
        memory: Arc<MemoryLimit>,
    ) -> Self {
        Self {
            server,
            pool: Arc::new(JobPool::new(memory)),
            settings: ArcSwap::from_pointee((launch, limits)),
            sessions: Mutex::default(),
            shared: Mutex::default(),
        }
    }

    /// Changes how further processes are started. Running ones go on.
    pub(crate) fn set(&self, launch: Launch, limits: ProcessLimits) {
        self.settings.store(Arc::new((launch, limits)));
        // The next request without a session starts a new process; this one ends when it is idle.
        lock(&self.shared).take().inspect(|session| session.end_when_idle());
    }

    pub(crate) fn server(&self) -> &Arc<GuardedServer> {
        &self.server
    }

    /// Closes the streams that clients opened with GET.
    pub(crate) fn close_streams(&self) {
        lock(&self.sessions).values().for_each(|session| session.close_listener());
    }

    /// Ends all processes.
    pub(crate) async fn close(&self) {
        let mut all: Vec<_> = lock(&self.sessions).drain().map(|(_, session)| session).collect();
        all.extend(lock(&self.shared).take());
        for session in &all {
            session.end();
        }
        for session in all {
            session.until_gone().await;
        }
    }

    /// Answers one request.
    pub(crate) async fn answer(&self, request: Request<Incoming>) -> Response<Body> {
        let (parts, body) = request.into_parts();
        let method = parts.method;
        if method == Method::POST {
            if let Err(reason) = media(&parts.headers) {
                return refuse(StatusCode::UNSUPPORTED_MEDIA_TYPE, code::REQUEST, &reason);
            }
            let max = self.server.rules().settings.max_message;
            let bytes = match read_body(body, Sender::Client, max, self.pool.memory()).await {
                Ok(bytes) => bytes,
                Err(error) => return error.response(),
            };
            let mut received = Received::counted(bytes, &self.pool).await;
            return match received.message() {
                Ok(message) => self.post(&parts.headers, &message).await,
                Err(unreadable) => self.refuse_unreadable(&unreadable),
            };
        }
        if method != Method::GET && method != Method::DELETE || !body.is_end_stream() {
            let text = "expected POST with a message, or GET or DELETE without\n";
            return plain(StatusCode::METHOD_NOT_ALLOWED, text);
        }
        let era = match era_of_headers(&parts.headers, &self.server.supported()) {
            Ok(era) => era,
            Err(response) => return *response,
        };
        let Some(id) = session_id(&parts.headers).filter(|_| era == Era::Legacy) else {
            return plain(StatusCode::METHOD_NOT_ALLOWED, "expected the header Mcp-Session-Id\n");
        };
        let Some(session) = self.session(id) else { return no_session() };
        if method == Method::GET {
            return session.stream(&parts.headers);
        }
        lock(&self.sessions).remove(id);
        session.end();
        plain(StatusCode::NO_CONTENT, "")
    }

    /// Answers a body that is not a message.
    fn refuse_unreadable(&self, text: &message::Unreadable) -> Response<Body> {
        let reason = &text.reason;
        self.server.report(Event::error(format!("client: could not read a message: {reason}")));
        let code = if text.is_json { code::REQUEST } else { code::PARSE };
        let id = text.id.as_ref().filter(|_| text.has_method);
        crate::http::respond::json(StatusCode::BAD_REQUEST, error(id, code, reason))
    }

    async fn post(&self, headers: &HeaderMap, message: &Message<'_>) -> Response<Body> {
        match era_of_post(headers, message, &self.server.supported()) {
            Ok(Era::Modern) => {
                return match self.shared() {
                    Ok(session) => session.post(headers, message).await,
                    Err(response) => *response,
                };
            }
            Ok(Era::Legacy) => {}
            Err(response) => return *response,
        }
        if headers.contains_key(SESSION) {
            let session = session_id(headers).and_then(|id| self.session(id));
            let Some(session) = session else { return no_session() };
            return session.post(headers, message).await;
        }
        let initializes = |part: &message::Envelope| {
            matches!(part.kind, Kind::Request(_, message::Method::Initialize))
        };
        if message.parts.as_slice().iter().any(initializes) {
            return self.open(headers, message).await;
        }
        let text = "expected the header Mcp-Session-Id, or `initialize`";
        refuse(StatusCode::BAD_REQUEST, code::REQUEST, text)
    }

    /// Opens a session.
    async fn open(&self, headers: &HeaderMap, message: &Message<'_>) -> Response<Body> {
        let mut bytes = [0; 16];
        if getrandom::fill(&mut bytes).is_err() {
            return plain(StatusCode::INTERNAL_SERVER_ERROR, "no random numbers\n");
        }
        let id = format!("{:032x}", u128::from_ne_bytes(bytes));
        let session = {
            let mut sessions = lock(&self.sessions);
            sessions.retain(|_, session| !session.is_over());
            let most = self.settings.load().1.sessions;
            if sessions.len() >= most {
                // Many clients leave without ending their session.
                let idle = sessions.iter().filter_map(|(id, it)| Some((it.idle_since()?, id)));
                let longest = idle.min().map(|(_, id)| id.clone());
                let text = format!("{most} sessions are open (max-sessions)");
                let Some(session) = longest.and_then(|id| sessions.remove(&id)) else {
                    self.server.report(Event::error(format!("client: {text}")));
                    return refuse(StatusCode::SERVICE_UNAVAILABLE, code::INTERNAL, &text);
                };
                let text = format!("client: {text}; ended the one that was idle longest");
                self.server.report(Event::warning(text));
                session.end();
            }
            match self.start(false) {
                Ok(session) => sessions.entry(id.clone()).or_insert(session).clone(),
                Err(response) => return *response,
            }
        };
        let mut opening = Opening { processes: self, id: &id, session, is_done: false };
        let mut response = opening.session.post(headers, message).await;
        if !opening.session.is_over()
            && let Ok(value) = id.parse()
        {
            response.headers_mut().insert(SESSION, value);
            opening.is_done = true;
        }
        response
    }

    fn session(&self, id: &str) -> Option<Arc<ProcessSession>> {
        lock(&self.sessions).get(id).filter(|session| !session.is_over()).cloned()
    }

    /// The process that all requests without a session share.
    fn shared(&self) -> Result<Arc<ProcessSession>, Box<Response<Body>>> {
        let mut shared = lock(&self.shared);
        match shared.as_ref().filter(|session| !session.is_over()) {
            Some(session) => Ok(Arc::clone(session)),
            None => Ok(Arc::clone(shared.insert(self.start(true)?))),
        }
    }

    fn start(&self, is_shared: bool) -> Result<Arc<ProcessSession>, Box<Response<Body>>> {
        let (launch, limits) = &**self.settings.load();
        match launch.clone().start() {
            Ok((child, watchdog)) => {
                let (server, pool) = (&self.server, &self.pool);
                let idle = limits.idle;
                Ok(ProcessSession::start(child, watchdog, is_shared, idle, server, pool))
            }
            Err(error) => {
                let cause = std::error::Error::source(&error).map(ToString::to_string);
                let text = format!("{error}: {}", cause.unwrap_or_default());
                self.server.report(Event::error(format!("server: {text}")));
                Err(Box::new(refuse(StatusCode::BAD_GATEWAY, code::INTERNAL, &text)))
            }
        }
    }
}

/// A session whose client does not have its id yet. If the client leaves before that, or the server
/// refuses `initialize`, the session ends.
struct Opening<'a> {
    processes: &'a Processes,
    id: &'a str,
    session: Arc<ProcessSession>,
    is_done: bool,
}

impl Drop for Opening<'_> {
    fn drop(&mut self) {
        if !self.is_done {
            lock(&self.processes.sessions).remove(self.id);
            self.session.end();
        }
    }
}

/// The session that a request names. Of two names, none counts.
fn session_id(headers: &HeaderMap) -> Option<&str> {
    let mut values = headers.get_all(SESSION).iter();
    let id = values.next()?.to_str().ok()?;
    values.next().is_none().then_some(id)
}

fn no_session() -> Response<Body> {
    refuse(StatusCode::NOT_FOUND, code::REQUEST, "no such session; it may have ended")
}
