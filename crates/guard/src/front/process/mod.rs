//! Clients on Streamable HTTP in front of a server that is a process.
//!
//! A client that opens a session gets a process of its own, which ends with the session. Requests
//! without a session, as they are from 2026-07-28 on, share one process.

mod callers;
mod client_stream;
mod delivery;
mod events;
mod history;
mod inflow;
mod mailbox;
mod post;
mod session;
mod streams;
mod target;

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use arc_swap::ArcSwap;
use hyper::body::{Body as _, Incoming};
use hyper::{HeaderMap, Method, Request, Response, StatusCode, Uri};
use tokio::time::Instant;

use self::callers::{CallerProcesses, CallerRequest, NoProcess};
use self::post::Posted;
use self::session::{ProcessSession, SessionKind};
pub(crate) use self::target::Target;
use crate::back::child::Launch;
use crate::front::http::modern::{Era, era_of_headers, era_of_post};
use crate::front::http::read_request;
use crate::http::respond::{Body, json, no_content, plain, refuse, remove_hop_by_hop};
use crate::memory::MemoryLimit;
use crate::random::random;
use crate::runtime::pool::JobPool;
use crate::runtime::read::Received;
use crate::server::GuardedServer;
use toolbond_guard_core::caller::{Caller, check_session, session_id};
use toolbond_guard_core::era::discover_request;
use toolbond_guard_core::event::Event;
use toolbond_guard_core::lock::lock;
use toolbond_guard_core::message::{self, Frame, Kind, Message, Parts, Text, code, error};

const SESSION: &str = "mcp-session-id";

/// How long a call waits for the era of its server to be found out.
const DETECTING: Duration = Duration::from_secs(75);

/// How long the session of a modern client at a server on HTTP stays unused before it makes room for others.
const UNUSED: Duration = Duration::from_secs(60);

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
    settings: ArcSwap<(Target, ProcessLimits)>,
    sessions: Mutex<HashMap<String, Arc<ProcessSession>>>,
    /// By their client, where the server is on HTTP.
    shared: Mutex<HashMap<Caller, Arc<ProcessSession>>>,
    callers: CallerProcesses,
    /// Taken while the era of the server is being found out.
    detecting: tokio::sync::Mutex<()>,
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
        let pool = Arc::new(JobPool::new(memory));
        Self::with_target(Target::Process(launch), limits, server, pool)
    }

    /// Sessions with `target`.
    pub(crate) fn with_target(
        target: Target,
        limits: ProcessLimits,
        server: Arc<GuardedServer>,
        pool: Arc<JobPool>,
    ) -> Self {
        Self {
            server,
            pool,
            settings: ArcSwap::from_pointee((target, limits)),
            sessions: Mutex::default(),
            shared: Mutex::default(),
            callers: CallerProcesses::default(),
            detecting: tokio::sync::Mutex::default(),
        }
    }

    /// Changes how further processes are started. Running ones go on.
    pub(crate) fn set(&self, launch: Launch, limits: ProcessLimits) {
        self.settings.store(Arc::new((Target::Process(launch), limits)));
        self.server.eras().forget();
        // The next request without a session starts a new process; this one ends when it is idle.
        lock(&self.shared).drain().for_each(|(_, session)| session.end_when_idle());
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
        all.extend(lock(&self.shared).drain().map(|(_, session)| session));
        all.extend(self.callers.drain());
        for session in &all {
            session.end();
        }
        for session in all {
            session.until_gone().await;
        }
    }

    /// Answers one request.
    pub(crate) async fn answer(&self, request: Request<Incoming>) -> Response<Body> {
        let (mut parts, body) = request.into_parts();
        remove_hop_by_hop(&mut parts.headers);
        if let Err(reason) = check_session(&parts.headers) {
            return refuse(StatusCode::BAD_REQUEST, code::REQUEST, reason);
        }
        if parts.method == Method::POST {
            let max = self.server.rules().settings.max_message;
            return match read_request(&mut parts.headers, body, max, &self.pool).await {
                Ok(bytes) => {
                    let caller = Caller::new(&parts.headers, &parts.uri);
                    let received = Received::of_client_as_line(bytes, &self.pool).await;
                    self.answer_post(&caller, &parts.headers, received).await
                }
                Err(response) => *response,
            };
        }
        if parts.method != Method::GET && parts.method != Method::DELETE || !body.is_end_stream() {
            let text = "expected POST with a message, or GET or DELETE without\n";
            return plain(StatusCode::METHOD_NOT_ALLOWED, text);
        }
        self.answer_without_body(&parts.method, &parts.uri, &parts.headers)
    }

    /// Answers a POST with this body.
    pub(crate) async fn answer_post(
        &self,
        caller: &Caller,
        headers: &HeaderMap,
        mut received: Received,
    ) -> Response<Body> {
        let posted = match received.message() {
            Ok(message) => self.post(caller, headers, &message).await,
            Err(unreadable) => return self.refuse_unreadable(&unreadable),
        };
        drop(received);
        posted.response().await
    }

    /// Answers GET or DELETE.
    pub(crate) fn answer_without_body(
        &self,
        method: &Method,
        uri: &Uri,
        headers: &HeaderMap,
    ) -> Response<Body> {
        let era =
            match era_of_headers(headers, self.is_of_session(headers), &self.server.supported()) {
                Ok(era) => era,
                Err(response) => return *response,
            };
        let Some(id) = session_id(headers).filter(|_| era == Era::Legacy) else {
            return plain(StatusCode::METHOD_NOT_ALLOWED, "expected the header Mcp-Session-Id\n");
        };
        let Some(session) = self.session(id) else { return no_session() };
        if method == Method::GET {
            session.set_headers(&Caller::new(headers, uri), headers, None);
            return session.stream(headers);
        }
        lock(&self.sessions).remove(id);
        session.end();
        no_content()
    }

    /// Whether a request is of a session.
    pub(crate) fn has_session(&self, headers: &HeaderMap) -> bool {
        session_id(headers).is_some_and(|id| self.session(id).is_some())
    }

    /// Whether a request that names 2026-07-28 may be of a session: of one whose server agreed on that in `initialize`, or
    /// one that is over.
    fn is_of_session(&self, headers: &HeaderMap) -> bool {
        let agreed = |session: Arc<ProcessSession>| session.negotiated().is_natural();
        session_id(headers).is_some_and(|id| self.session(id).is_none_or(agreed))
    }

    /// Answers a body that is not a message.
    fn refuse_unreadable(&self, text: &message::Unreadable) -> Response<Body> {
        self.server.report_unreadable(text);
        let id = text.id.as_ref().filter(|_| text.has_method);
        json(StatusCode::BAD_REQUEST, error(id, text.code(), &text.reason))
    }

    async fn post(&self, caller: &Caller, headers: &HeaderMap, message: &Message<'_>) -> Posted {
        let has_session = self.is_of_session(headers);
        match era_of_post(headers, message, has_session, &self.server.supported()) {
            Ok(Era::Modern) => return self.post_modern(caller, headers, message).await,
            Ok(Era::Legacy) => {}
            Err(response) => return (*response).into(),
        }
        if headers.contains_key(SESSION) {
            let session = session_id(headers).and_then(|id| self.session(id));
            let Some(session) = session else { return no_session().into() };
            return session.post(caller, headers, message).await;
        }
        let initializes = |part: &message::Envelope| {
            matches!(part.kind, Kind::Request(_, message::Method::Initialize))
        };
        if message.parts.as_slice().iter().any(initializes) {
            return self.open(caller, headers, message).await.into();
        }
        let text = "expected the header Mcp-Session-Id, or `initialize`";
        refuse(StatusCode::BAD_REQUEST, code::REQUEST, text).into()
    }

    /// Forwards a request without a session.
    async fn post_modern(
        &self,
        caller: &Caller,
        headers: &HeaderMap,
        message: &Message<'_>,
    ) -> Posted {
        let request = CallerRequest::read(caller, message);
        if request.is_some() {
            self.detect(caller, headers, message).await;
        }
        if let Some(request) = request.filter(|_| self.server.eras().is_legacy_only()) {
            let most = self.settings.load().1.sessions;
            let start = |number| self.start(SessionKind::Caller(number), caller);
            let text = match self.callers.reserve(&request, most, start) {
                Ok(reserved) => {
                    let posted = reserved.session.post(caller, headers, message).await;
                    return posted.with(reserved);
                }
                Err(NoProcess::NotStarted(response)) => return (*response).into(),
                Err(NoProcess::TooMany) => {
                    format!("{most} processes are in use (max-sessions)")
                }
                Err(NoProcess::TooManyOfOne(share)) => format!(
                    "{share} calls of this client wait for its input, a quarter of max-sessions"
                ),
            };
            self.server.report(Event::error(format!("client: {text}")));
            return refuse(StatusCode::SERVICE_UNAVAILABLE, code::INTERNAL, &text).into();
        }
        match self.shared(caller) {
            Ok(session) => session.post(caller, headers, message).await,
            Err(response) => (*response).into(),
        }
    }

    /// Finds out which era the server is of, if that is not known, in the name of the client of `message`.
    async fn detect(&self, caller: &Caller, headers: &HeaderMap, message: &Message<'_>) {
        let _one = self.detecting.lock().await;
        let eras = self.server.eras();
        let is_off = !self.server.rules().settings.translate.eras;
        if is_off || eras.is_modern() || eras.is_legacy_only() {
            return;
        }
        let Ok(session) = self.shared(caller) else { return };
        let Parts::One(part) = &message.parts else { return };
        let first = Frame { text: (**message.text).clone(), part: part.clone() };
        let discover = discover_request(&first).text.into_bytes();
        let Ok(text) = Text::read(&self.pool.memory().count(discover)) else { return };
        let mut headers = headers.clone();
        headers.remove(hyper::header::ACCEPT);
        if let Ok(probe) = Message::read(&text) {
            let ask =
                async { session.post(&Caller::default(), &headers, &probe).await.response().await };
            let _ = tokio::time::timeout(DETECTING, ask).await;
        }
    }

    /// Opens a session.
    async fn open(
        &self,
        caller: &Caller,
        headers: &HeaderMap,
        message: &Message<'_>,
    ) -> Response<Body> {
        let Some(id) = random().map(|id| format!("{id:032x}")) else {
            return plain(StatusCode::INTERNAL_SERVER_ERROR, "no random numbers\n");
        };
        let session = {
            let mut sessions = lock(&self.sessions);
            sessions.retain(|_, session| !session.is_over());
            let most = self.settings.load().1.sessions;
            if sessions.len() >= most {
                // Many clients leave without ending their session.
                let idle = sessions
                    .iter()
                    .filter_map(|(id, it)| Some((it.has_returned(), it.idle_since()?, id)));
                let longest = idle.min().map(|(.., id)| id.clone());
                let text = format!("{most} sessions are open (max-sessions)");
                let Some(session) = longest.and_then(|id| sessions.remove(&id)) else {
                    self.server.report(Event::error(format!("client: {text}")));
                    return refuse(StatusCode::SERVICE_UNAVAILABLE, code::INTERNAL, &text);
                };
                let text = format!("client: {text}; ended the one that was idle longest");
                self.server.report(Event::warning(text));
                session.end();
            }
            match self.start(SessionKind::Client, &Caller::default()) {
                Ok(session) => sessions.entry(id.clone()).or_insert(session).clone(),
                Err(response) => return *response,
            }
        };
        let mut opening = NewSession { processes: self, id: &id, session, is_done: false };
        let mut response = opening.session.post(caller, headers, message).await.response().await;
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

    /// The process that all requests without a session share; of a server on HTTP, those of one client.
    fn shared(&self, caller: &Caller) -> Result<Arc<ProcessSession>, Box<Response<Body>>> {
        let settings = self.settings.load();
        let client = match &settings.0 {
            Target::Process(_) => Caller::default(),
            Target::Remote(_) => caller.clone(),
        };
        let mut shared = lock(&self.shared);
        if let Some(session) = shared.get(&client).filter(|session| !session.is_over()) {
            return Ok(Arc::clone(session));
        }
        shared.retain(|_, session| !session.is_over());
        let mut free: Vec<_> =
            shared.iter().filter_map(|(other, it)| Some((it.worth()?, other))).collect();
        free.sort_unstable_by_key(|(worth, _)| *worth);
        let strangers = free.iter().take_while(|((has_returned, _), _)| !has_returned).count();
        let is_full = shared.len() >= settings.1.sessions;
        if is_full || strangers >= settings.1.sessions.div_ceil(4) {
            // Made-up headers cost no client its session that has just used it.
            let may_end =
                |(has_returned, used): (bool, Instant)| !has_returned || used.elapsed() >= UNUSED;
            let other = free.first().filter(|(worth, _)| may_end(*worth));
            let Some(other) = other.map(|(_, other)| Caller::clone(other)) else {
                let text = format!("{} clients use the server (max-sessions)", shared.len());
                let status = StatusCode::SERVICE_UNAVAILABLE;
                return Err(Box::new(refuse(status, code::INTERNAL, &text)));
            };
            shared.remove(&other).inspect(|session| session.end());
        }
        let session = self.start(SessionKind::Shared, &client)?;
        shared.insert(client, Arc::clone(&session));
        Ok(session)
    }

    fn start(
        &self,
        kind: SessionKind,
        caller: &Caller,
    ) -> Result<Arc<ProcessSession>, Box<Response<Body>>> {
        let (target, limits) = &**self.settings.load();
        let (server, pool) = (&self.server, &self.pool);
        match ProcessSession::start(target.clone(), kind, caller, limits.idle, server, pool) {
            Ok(session) => Ok(session),
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
struct NewSession<'a> {
    processes: &'a Processes,
    id: &'a str,
    session: Arc<ProcessSession>,
    is_done: bool,
}

impl Drop for NewSession<'_> {
    fn drop(&mut self) {
        if !self.is_done {
            lock(&self.processes.sessions).remove(self.id);
            self.session.end();
        }
    }
}

fn no_session() -> Response<Body> {
    refuse(StatusCode::NOT_FOUND, code::REQUEST, "no such session; it may have ended")
}
