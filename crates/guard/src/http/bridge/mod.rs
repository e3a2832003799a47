//! Clients on HTTP, and a server that is a process.
//!
//! A client that opens a session has a process of its own, which ends with it. Requests without a
//! session, as they are from 2026-07-28 on, share one process: ids and progress tokens are exchanged on
//! the way, because two clients may use the same ones.

mod desk;
mod lane;
mod launch;
mod post;
mod talk;

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use hyper::body::Incoming;
use hyper::{HeaderMap, Method, Request, Response, StatusCode};
use serde_json::value::RawValue;
use toolpact_contract::Revision;

pub use self::launch::Launch;
use self::talk::Talk;
use super::posted::posted;
use super::proxy::{Body, plain, refuse};
use crate::inspector::lock;
use crate::message::{Kind, Message, ToolParams, code};
use crate::{Event, Ward};

const SESSION: &str = "mcp-session-id";

/// What is bounded in a [`Bridge`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Bounds {
    /// The most sessions at a time.
    pub sessions: usize,
    /// How long a session may be idle before it is ended.
    pub idle: Duration,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { sessions: 64, idle: Duration::from_secs(1800) }
    }
}

/// Stands between clients on HTTP and a server that is a process.
pub struct Bridge {
    ward: Arc<Ward>,
    settings: Mutex<(Launch, Bounds)>,
    sessions: Mutex<HashMap<String, Arc<Talk>>>,
    shared: Mutex<Option<Arc<Talk>>>,
}

impl std::fmt::Debug for Bridge {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Bridge").field("ward", &self.ward).finish_non_exhaustive()
    }
}

impl Bridge {
    /// A bridge to a server that is started as `launch` says, as often as there are sessions.
    #[must_use]
    pub fn new(launch: Launch, bounds: Bounds, ward: Arc<Ward>) -> Self {
        let settings = Mutex::new((launch, bounds));
        Self { ward, settings, sessions: Mutex::default(), shared: Mutex::default() }
    }

    /// From now on processes are started like this; those that run go on.
    pub fn set(&self, launch: Launch, bounds: Bounds) {
        *lock(&self.settings) = (launch, bounds);
        // The next request without a session starts a new one; this one ends when it is idle.
        lock(&self.shared).take().inspect(|talk| talk.end_when_idle());
    }

    pub(crate) fn ward(&self) -> &Arc<Ward> {
        &self.ward
    }

    /// Ends the streams that clients opened for whatever comes.
    pub(crate) fn hang_up(&self) {
        lock(&self.sessions).values().for_each(|talk| talk.hang_up());
    }

    /// Ends all processes.
    pub(crate) async fn close(&self) {
        let mut talks: Vec<_> = lock(&self.sessions).drain().map(|(_, talk)| talk).collect();
        talks.extend(lock(&self.shared).take());
        for talk in &talks {
            talk.end();
        }
        for talk in talks {
            talk.ended().await;
        }
    }

    /// Answers one request.
    pub(crate) async fn answer(&self, request: Request<Incoming>) -> Response<Body> {
        let (parts, body) = request.into_parts();
        let method = parts.method;
        if method == Method::POST {
            let max = self.ward.settings().max_message;
            return match posted(body, max).await {
                Ok(body) => self.post(&parts.headers, &body).await,
                Err(answer) => answer,
            };
        }
        if method != Method::GET && method != Method::DELETE {
            return plain(StatusCode::METHOD_NOT_ALLOWED, "expected POST, GET or DELETE\n");
        }
        let Some(id) = session_id(&parts.headers) else {
            return plain(StatusCode::METHOD_NOT_ALLOWED, "there is no session\n");
        };
        let Some(talk) = self.session(id) else { return no_session() };
        if method == Method::GET {
            return talk.stream();
        }
        lock(&self.sessions).remove(id);
        talk.end();
        plain(StatusCode::NO_CONTENT, "")
    }

    async fn post(&self, headers: &HeaderMap, body: &[u8]) -> Response<Body> {
        let is_batch = body.trim_ascii_start().starts_with(b"[");
        let texts: Vec<&[u8]> = if is_batch {
            match serde_json::from_slice::<Vec<&RawValue>>(body) {
                Ok(texts) => texts.iter().map(|text| text.get().as_bytes()).collect(),
                Err(error) => return unread(&error),
            }
        } else {
            vec![body]
        };
        let mut messages = Vec::with_capacity(texts.len());
        for text in texts {
            match (std::str::from_utf8(text), Message::read(text)) {
                (Ok(text), Ok(message)) => messages.push((text, message)),
                (_, Err(error)) => return unread(&error),
                (Err(_), _) => return plain(StatusCode::BAD_REQUEST, "expected UTF-8\n"),
            }
        }
        if messages.is_empty() {
            return refuse(
                StatusCode::BAD_REQUEST,
                code::REQUEST,
                "expected a message, found none",
            );
        }
        let greets = messages
            .iter()
            .any(|(_, message)| matches!(message.kind(), Kind::Request(_, "initialize")));
        if let Some(id) = session_id(headers) {
            let Some(talk) = self.session(id) else { return no_session() };
            return talk.post(headers, &messages, is_batch).await;
        }
        if greets {
            return self.open(headers, &messages, is_batch).await;
        }
        let named = headers.get("mcp-protocol-version").and_then(|value| value.to_str().ok());
        let is_natural = named.map(Revision::from).is_some_and(|revision| revision.is_natural())
            || messages.iter().all(|(_, message)| names_natural(message));
        if !is_natural {
            let text = "there is no session: expected the header Mcp-Session-Id, or `initialize`";
            return refuse(StatusCode::BAD_REQUEST, code::REQUEST, text);
        }
        match self.shared() {
            Ok(talk) => talk.post(headers, &messages, is_batch).await,
            Err(response) => *response,
        }
    }

    /// Opens a session.
    async fn open(
        &self,
        headers: &HeaderMap,
        messages: &[(&str, Message<'_>)],
        is_batch: bool,
    ) -> Response<Body> {
        let mut bytes = [0; 16];
        if getrandom::fill(&mut bytes).is_err() {
            return plain(StatusCode::INTERNAL_SERVER_ERROR, "no random numbers\n");
        }
        let id = format!("{:032x}", u128::from_ne_bytes(bytes));
        let talk = {
            let mut sessions = lock(&self.sessions);
            sessions.retain(|_, talk| !talk.is_over());
            let most = lock(&self.settings).1.sessions;
            if sessions.len() >= most {
                // Many clients leave without a word.
                let idle = sessions.iter().filter_map(|(id, talk)| Some((talk.idle_since()?, id)));
                let longest = idle.min().map(|(_, id)| id.clone());
                let text = format!("{most} sessions are open (max-sessions)");
                let Some(talk) = longest.and_then(|id| sessions.remove(&id)) else {
                    self.ward.say(Event::error(format!("client: {text}")));
                    return refuse(StatusCode::SERVICE_UNAVAILABLE, code::INTERNAL, &text);
                };
                let text = format!("client: {text}: the one that was idle longest is ended");
                self.ward.say(Event::warning(text));
                talk.end();
            }
            match self.start(false) {
                Ok(talk) => sessions.entry(id.clone()).or_insert(talk).clone(),
                Err(response) => return *response,
            }
        };
        let mut opening = Opening { bridge: self, id: &id, talk, is_done: false };
        let mut response = opening.talk.post(headers, messages, is_batch).await;
        if !opening.talk.is_over()
            && let Ok(value) = id.parse()
        {
            response.headers_mut().insert(SESSION, value);
            opening.is_done = true;
        }
        response
    }

    fn session(&self, id: &str) -> Option<Arc<Talk>> {
        lock(&self.sessions).get(id).filter(|talk| !talk.is_over()).cloned()
    }

    /// The process that all requests without a session share.
    fn shared(&self) -> Result<Arc<Talk>, Box<Response<Body>>> {
        let mut shared = lock(&self.shared);
        match shared.as_ref().filter(|talk| !talk.is_over()) {
            Some(talk) => Ok(Arc::clone(talk)),
            None => Ok(Arc::clone(shared.insert(self.start(true)?))),
        }
    }

    fn start(&self, is_shared: bool) -> Result<Arc<Talk>, Box<Response<Body>>> {
        let (launch, bounds) = lock(&self.settings).clone();
        match launch.start() {
            Ok((server, watchdog)) => {
                Ok(Talk::start(server, watchdog, is_shared, bounds.idle, &self.ward))
            }
            Err(error) => {
                let cause = std::error::Error::source(&error).map(ToString::to_string);
                let text = format!("{error}: {}", cause.unwrap_or_default());
                self.ward.say(Event::error(format!("server: {text}")));
                Err(Box::new(refuse(StatusCode::BAD_GATEWAY, code::INTERNAL, &text)))
            }
        }
    }
}

/// A session whose client does not have its id yet. One that leaves before it has, or is refused by
/// the server, leaves no session behind.
struct Opening<'a> {
    bridge: &'a Bridge,
    id: &'a str,
    talk: Arc<Talk>,
    is_done: bool,
}

impl Drop for Opening<'_> {
    fn drop(&mut self) {
        if !self.is_done {
            lock(&self.bridge.sessions).remove(self.id);
            self.talk.end();
        }
    }
}

fn session_id(headers: &HeaderMap) -> Option<&str> {
    headers.get(SESSION).and_then(|value| value.to_str().ok())
}

/// Whether a message itself says that it is one of 2026-07-28 or later.
fn names_natural(message: &Message<'_>) -> bool {
    let params = ToolParams::read(message.params).ok();
    let revision = params.and_then(|params| params.revision().ok().flatten());
    revision.is_some_and(|revision| revision.is_natural())
}

fn no_session() -> Response<Body> {
    refuse(StatusCode::NOT_FOUND, code::REQUEST, "no such session; it may have ended")
}

fn unread(wrong: &serde_json::Error) -> Response<Body> {
    let code = if wrong.is_data() { code::REQUEST } else { code::PARSE };
    refuse(StatusCode::BAD_REQUEST, code, &format!("expected a message, found {wrong}"))
}
