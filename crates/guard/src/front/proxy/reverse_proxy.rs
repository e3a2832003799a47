//! A reverse proxy in front of one server.

use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, Mutex};

use ahash::AHashMap;
use bytes::Bytes;
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use hyper::http::request::Parts;
use hyper::{Request, Response, StatusCode, Uri};

use super::asking::Asking;
use super::endpoint::endpoint_of;
use super::list::ToolLists;
use super::next::Next;
use super::session::Sessions;
use crate::back::http::{Client, HttpServer, UpstreamError, parse_upstream};
use crate::back::remote::Remote;
use crate::front::process::{ProcessLimits, Processes, Target};
use crate::http::respond::{Body, forward, full, plain, refuse};
use crate::memory::MemoryLimit;
use crate::runtime::pool::JobPool;
use crate::server::GuardedServer;
use toolbond_guard_core::caller::Caller;
use toolbond_guard_core::message::code;

/// The most sessions of clients that are of another era than the server.
const MAX_BRIDGED: usize = 1024;

/// A reverse proxy in front of one server.
pub struct Proxy {
    pub(super) remote: Remote,
    pub(super) server: Arc<GuardedServer>,
    pub(super) sessions: Sessions,
    pub(super) pool: Arc<JobPool>,
    /// Sessions of clients that are of another era than the server.
    pub(super) bridged: Processes,
    /// The callers in whose name the server is asked for its era, or was asked in vain.
    pub(super) asking: Mutex<AHashMap<Caller, Asking>>,
    /// Whether the streams that clients opened with GET are closed.
    pub(super) is_closing: tokio::sync::watch::Sender<bool>,
    /// Whether the server is listened to for changes of its tool list.
    pub(super) watched: Watched,
}

/// Whether a server is listened to.
#[derive(Debug, Default)]
pub(super) struct Watched {
    pub(super) is_running: AtomicBool,
    pub(super) uses: AtomicU64,
}

impl std::fmt::Debug for Proxy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Proxy").field("upstream", self.upstream()).finish_non_exhaustive()
    }
}

impl Proxy {
    /// A proxy in front of the server at `url`.
    ///
    /// Fails if it is not an `http` or `https` URL.
    pub fn new(
        url: &str,
        client: Client,
        server: Arc<GuardedServer>,
        memory: Arc<MemoryLimit>,
    ) -> Result<Self, UpstreamError> {
        let http = HttpServer { url: parse_upstream(url)?, client };
        let pool = Arc::new(JobPool::new(memory));
        let remote = Remote { http, server: Arc::clone(&server), pool: Arc::clone(&pool) };
        let limits = ProcessLimits { sessions: MAX_BRIDGED, ..ProcessLimits::default() };
        let (target, same) = (Target::Remote(Box::new(remote.clone())), Arc::clone(&pool));
        let bridged = Processes::with_target(target, limits, Arc::clone(&server), same);
        Ok(Self {
            sessions: Sessions::new(ToolLists::new(remote.clone())),
            remote,
            server,
            pool,
            bridged,
            asking: Mutex::default(),
            is_closing: tokio::sync::watch::Sender::new(false),
            watched: Watched::default(),
        })
    }

    /// Answers one request.
    ///
    /// Checks everything that could be read as JSON-RPC, at any path: servers do not agree on which paths are
    /// the same.
    pub(crate) async fn answer(self: Arc<Self>, request: Request<Incoming>) -> Response<Body> {
        // `CONNECT` has none.
        if request.uri().path_and_query().is_none() {
            return plain(StatusCode::BAD_REQUEST, "expected a path\n");
        }
        let is_checked = self.server.rules().settings.is_inspecting();
        if is_checked || endpoint_of(request.uri()).is_some() {
            return self.answer_checked(request, &*self).await;
        }
        let (parts, body) = request.into_parts();
        let body = body.map_err(Into::into).boxed_unsync();
        match self.remote.forward(parts.method, &parts.uri, parts.headers, body).await {
            Ok(response) => forward(response),
            Err(error) => refuse(StatusCode::BAD_GATEWAY, code::INTERNAL, &error),
        }
    }

    /// Whether it sends its requests through `client`.
    pub(crate) fn uses(&self, client: &Client) -> bool {
        self.remote.http.client.is_same(client)
    }

    /// Closes the streams that clients opened with GET, which never end by themselves.
    pub(crate) fn close_streams(&self) {
        self.bridged.close_streams();
        self.is_closing.send_replace(true);
    }

    /// Ends the sessions that the guard opened at the server.
    pub(crate) async fn close(&self) {
        self.bridged.close().await;
    }

    /// The server behind it.
    pub(crate) fn server(&self) -> &Arc<GuardedServer> {
        &self.server
    }

    /// The path of the server's URL.
    #[must_use]
    pub fn path(&self) -> &str {
        self.remote.http.url.path()
    }

    /// The server's URL.
    pub(crate) fn upstream(&self) -> &Uri {
        &self.remote.http.url
    }
}

/// Sends requests to the server itself.
impl Next for Proxy {
    type Body = Incoming;

    async fn send(&self, parts: Parts, body: Bytes) -> Result<Response<Incoming>, String> {
        self.remote.forward(parts.method, &parts.uri, parts.headers, full(body)).await
    }
}
