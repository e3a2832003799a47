//! Clients on Streamable HTTP in front of a server on Streamable HTTP.

mod bridge;
mod endpoint;
mod event_stream;
mod list;
mod next;
mod param_headers;
mod request;
mod response;
mod session;
mod watch;

use std::sync::{Arc, Mutex};

use ahash::AHashMap;
use bytes::Bytes;
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use hyper::header::{HOST, HeaderValue, LOCATION};
use hyper::http::request::Parts;
use hyper::{HeaderMap, Method, Request, Response, StatusCode, Uri};

pub(crate) use self::endpoint::ClientPath;
use self::endpoint::endpoint_of;
use self::list::ListsUnderWay;
pub use self::next::{Next, Repeatable, ResponseBody};
use self::session::Sessions;
use crate::http::respond::{Body, forward, full, plain, refuse, remove_hop_by_hop};
use crate::http::{Client, UpstreamError, parse_upstream};
use crate::memory::MemoryLimit;
use crate::process::{ProcessLimits, Processes, Target};
use crate::remote::Remote;
use crate::runtime::pool::JobPool;
use crate::server::GuardedServer;
use crate::url::{hide_query, with_queries, without_query};
use toolbond_guard_core::caller::Caller;
use toolbond_guard_core::event::Event;
use toolbond_guard_core::message::code;

/// The most sessions of clients that are of another era than the server.
const MAX_BRIDGED: usize = 1024;

/// A reverse proxy in front of one server.
pub struct Proxy {
    upstream: Uri,
    client: Client,
    server: Arc<GuardedServer>,
    sessions: Sessions,
    pool: Arc<JobPool>,
    lists: ListsUnderWay,
    /// Sessions of clients that are of another era than the server.
    bridged: Processes,
    /// The callers in whose name the server is asked for its era, or was asked in vain.
    asking: Mutex<AHashMap<Caller, bridge::Asking>>,
    /// Whether the streams that clients opened with GET are closed.
    is_closing: tokio::sync::watch::Sender<bool>,
    /// Whether the server is listened to for changes of its tool list.
    watched: watch::Watched,
}

impl std::fmt::Debug for Proxy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Proxy").field("upstream", &self.upstream).finish_non_exhaustive()
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
        let upstream = parse_upstream(url)?;
        let pool = Arc::new(JobPool::new(memory));
        let remote = Remote {
            upstream: upstream.clone(),
            client: client.clone(),
            server: Arc::clone(&server),
            pool: Arc::clone(&pool),
        };
        let limits = ProcessLimits { sessions: MAX_BRIDGED, ..ProcessLimits::default() };
        let (target, same) = (Target::Remote(Box::new(remote)), Arc::clone(&pool));
        let bridged = Processes::with_target(target, limits, Arc::clone(&server), same);
        Ok(Self {
            upstream,
            client,
            server,
            sessions: Sessions::default(),
            pool,
            lists: ListsUnderWay::default(),
            bridged,
            asking: Mutex::default(),
            is_closing: tokio::sync::watch::Sender::new(false),
            watched: watch::Watched::default(),
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
        match self.request(parts.method, &parts.uri, parts.headers, body).await {
            Ok(response) => forward(response),
            Err(error) => refuse(StatusCode::BAD_GATEWAY, code::INTERNAL, &error),
        }
    }

    /// Sends a request to the path of `uri` at the server. Fails if there is no response, with a reason that is also
    /// reported.
    async fn request(
        &self,
        method: Method,
        uri: &Uri,
        mut headers: HeaderMap,
        body: Body,
    ) -> Result<Response<Incoming>, String> {
        let target = self.target(uri).map_err(|error| error.to_string())?;
        remove_hop_by_hop(&mut headers);
        headers.remove(HOST);
        let mut request = Request::new(body);
        *request.method_mut() = method;
        *request.uri_mut() = target;
        *request.headers_mut() = headers;
        let mut response = self.client.send(request).await.map_err(|error| {
            let text = format!("could not reach the server: {error}");
            self.server.report(Event::error(format!("server: {text}")));
            text
        })?;
        hide_query(&self.upstream, response.headers_mut());
        Ok(response)
    }

    /// The URI at the server for a request to `uri` at the guard. What the query of the server's URL says, such as a key,
    /// is part of every request to its path, with or without a slash at its end, which servers redirect between.
    fn target(&self, uri: &Uri) -> Result<Uri, hyper::http::Error> {
        let is_endpoint =
            uri.path().trim_end_matches('/') == self.upstream.path().trim_end_matches('/');
        if is_endpoint {
            return with_queries(&self.upstream, uri.path(), uri.query());
        }
        let mut target = self.upstream.clone().into_parts();
        target.path_and_query = uri.path_and_query().cloned();
        Ok(Uri::from_parts(target)?)
    }

    /// Points a redirect to the server itself at the guard instead; `host` is that of the request. Fails if it would lead a JSON-RPC message
    /// (`is_rpc`) to another server, with a reason that is also reported.
    fn keep_redirect<B>(
        &self,
        mut response: Response<B>,
        is_rpc: bool,
        host: Option<&HeaderValue>,
    ) -> Result<Response<B>, String> {
        let Some(location) = response.headers().get(LOCATION) else { return Ok(response) };
        let location = String::from_utf8_lossy(location.as_bytes()).into_owned();
        if is_relative(&location) || !response.status().is_redirection() {
            return Ok(response);
        }
        // A server behind a gateway names the gateway, which the client comes back to.
        let is_own = |target: &Uri| {
            let authority = target.authority().map(|authority| authority.as_str().as_bytes());
            let is_replica = self.server.rules().settings.is_replica();
            is_replica && authority.is_some() && authority == host.map(HeaderValue::as_bytes)
        };
        match self.absolute(&location) {
            Some(target) if is_own(&target) => Ok(response),
            Some(target) if self.is_at_server(&target) => {
                let path = target.path_and_query().map_or("/", |path| path.as_str());
                if let Ok(path) = path.parse() {
                    response.headers_mut().insert(LOCATION, path);
                }
                Ok(response)
            }
            _ if is_rpc => {
                let location: String = without_query(&location).chars().take(200).collect();
                let text = format!(
                    "the server redirects to {location}, around the guard; guard that URL instead"
                );
                self.server.report(Event::error(format!("server: {text}")));
                Err(text)
            }
            _ => Ok(response),
        }
    }

    /// The URL `location`, if it names a host.
    fn absolute(&self, location: &str) -> Option<Uri> {
        // `//host/path` is of the same scheme.
        let scheme = self.upstream.scheme_str().unwrap_or("http");
        let absolute = location.strip_prefix("//").map(|rest| format!("{scheme}://{rest}"));
        let uri = absolute.as_deref().unwrap_or(location).parse::<Uri>().ok();
        uri.filter(|uri| uri.host().is_some())
    }

    /// Whether `uri` is of the same scheme, host and port as the server.
    fn is_at_server(&self, uri: &Uri) -> bool {
        let origin = |uri: &Uri| {
            let port = match (uri.port_u16(), uri.scheme_str()) {
                (None, Some("http")) => Some(80),
                (None, Some("https")) => Some(443),
                (port, _) => port,
            };
            (uri.scheme_str().map(str::to_owned), uri.host().map(str::to_ascii_lowercase), port)
        };
        origin(uri) == origin(&self.upstream)
    }

    /// Whether it sends its requests through `client`.
    pub(crate) fn uses(&self, client: &Client) -> bool {
        self.client.is_same(client)
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
        self.upstream.path()
    }

    /// The server's URL.
    pub(crate) fn upstream(&self) -> &Uri {
        &self.upstream
    }
}

/// Sends requests to the server itself.
impl Next for Proxy {
    type Body = Incoming;

    async fn send(&self, parts: Parts, body: Bytes) -> Result<Response<Incoming>, String> {
        self.request(parts.method, &parts.uri, parts.headers, full(body)).await
    }
}

/// Whether a redirect stays on the same host, however browsers and libraries read it.
fn is_relative(location: &str) -> bool {
    let location = location.replace('\\', "/");
    let first = location.split(['/', '?', '#']).next().unwrap_or_default();
    !location.starts_with("//") && !first.contains(':')
}
