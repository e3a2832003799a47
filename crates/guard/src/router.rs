//! The servers that clients reach at one address.

use std::collections::BTreeMap;
use std::sync::Arc;

use arc_swap::ArcSwap;
use futures_util::future::BoxFuture;
use hyper::body::Incoming;
use hyper::{Request, Response, StatusCode, Uri};
use tokio::net::TcpListener;

use crate::front::http::{Hosts, listen};
use crate::front::process::Processes;
use crate::front::proxy::{ClientPath, Proxy};
use crate::http::respond::{Body, plain};
use crate::server::GuardedServer;
use toolbond_guard_core::event::Event;

/// The most servers that are named to whoever asks at a wrong path.
const MAX_PATHS: usize = 100;

/// Answers clients at one address with the servers of its [`Routes`], which may change.
#[derive(Debug)]
pub struct Router(ArcSwap<Routes>);

/// The servers, and the hosts that they are reachable by.
#[derive(Debug)]
pub struct Routes {
    hosts: Hosts,
    backends: Backends,
}

#[derive(Debug)]
enum Backends {
    /// All requests are for this one.
    One(Backend),
    /// Each has the path `/NAME/mcp`.
    Named(BTreeMap<String, Backend>),
}

/// The transport in front of one server.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Backend {
    /// For a server on HTTP.
    Proxy(Arc<Proxy>),
    /// For a server that is a process.
    Processes(Arc<Processes>),
}

impl Backend {
    /// The server behind it.
    #[must_use]
    pub fn server(&self) -> &Arc<GuardedServer> {
        match self {
            Self::Proxy(proxy) => proxy.server(),
            Self::Processes(processes) => processes.server(),
        }
    }

    /// Whether both are one, with one state.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Proxy(one), Self::Proxy(other)) => Arc::ptr_eq(one, other),
            (Self::Processes(one), Self::Processes(other)) => Arc::ptr_eq(one, other),
            _ => false,
        }
    }

    /// Closes the streams that clients opened with GET, which never end by themselves.
    pub(crate) fn close_streams(&self) {
        match self {
            Self::Proxy(proxy) => proxy.close_streams(),
            Self::Processes(processes) => processes.close_streams(),
        }
    }

    /// Ends the processes of the server, or the sessions that the guard opened at it.
    pub(crate) async fn close(&self) {
        match self {
            Self::Proxy(proxy) => proxy.close().await,
            Self::Processes(processes) => processes.close().await,
        }
    }
}

impl Routes {
    /// One server: at `/mcp` if it is a process, at all its paths otherwise.
    #[must_use]
    pub fn one(backend: Backend, hosts: Hosts) -> Self {
        Self { hosts, backends: Backends::One(backend) }
    }

    /// Several servers, each at the path `/NAME/mcp`.
    pub(crate) fn named(backends: BTreeMap<String, Backend>, hosts: Hosts) -> Self {
        Self { hosts, backends: Backends::Named(backends) }
    }

    fn all(&self) -> Vec<Backend> {
        match &self.backends {
            Backends::One(backend) => vec![backend.clone()],
            Backends::Named(backends) => backends.values().cloned().collect(),
        }
    }

    /// Where the servers are, for whoever asks at another path.
    fn paths(&self) -> String {
        let mut text = "no server at this path; there is one at\n".to_owned();
        match &self.backends {
            Backends::One(_) => text.push_str("/mcp\n"),
            Backends::Named(backends) => {
                for name in backends.keys().take(MAX_PATHS) {
                    text.extend(["/", name, "/mcp\n"]);
                }
                if let more @ 1.. = backends.len().saturating_sub(MAX_PATHS) {
                    text.extend(["and ", &more.to_string(), " more\n"]);
                }
            }
        }
        text
    }

    fn find(&self, path: &str) -> Option<Backend> {
        match &self.backends {
            Backends::One(Backend::Processes(_)) if path != "/mcp" => None,
            Backends::One(backend) => Some(backend.clone()),
            Backends::Named(backends) => {
                let name = path.strip_prefix('/')?.strip_suffix("/mcp")?;
                backends.get(name).cloned()
            }
        }
    }
}

impl Router {
    /// Answers for `routes`.
    #[must_use]
    pub fn new(routes: Routes) -> Self {
        Self(ArcSwap::from_pointee(routes))
    }

    /// Replaces the routes. Requests in progress finish under the old ones.
    pub(crate) fn set_routes(&self, routes: Routes) {
        self.0.store(Arc::new(routes));
    }

    /// Answers the clients that connect to `listener` until `end` completes. Open requests then have ten
    /// seconds to finish.
    ///
    /// The future is boxed, so that it is compiled in this crate and not in the one that polls it.
    pub fn serve(
        self: Arc<Self>,
        listener: TcpListener,
        end: BoxFuture<'static, ()>,
    ) -> BoxFuture<'static, ()> {
        let router = Arc::clone(&self);
        let answer = move |request| {
            let router = Arc::clone(&router);
            async move { router.answer(request).await }
        };
        Box::pin(async move {
            let end = async {
                end.await;
                self.0.load().all().iter().for_each(Backend::close_streams);
            };
            let warn = |text: String| {
                if let Some(backend) = self.0.load().all().first() {
                    backend.server().report(Event::warning(text));
                }
            };
            listen(listener, answer, warn, end).await;
            for backend in self.0.load().all() {
                backend.close().await;
            }
        })
    }

    /// Answers one request.
    async fn answer(&self, mut request: Request<Incoming>) -> Response<Body> {
        let backend = {
            let routes = self.0.load();
            let uri = request.uri();
            let authority = uri.authority().map(hyper::http::uri::Authority::as_str);
            if !routes.hosts.allow(request.headers(), authority) {
                return plain(StatusCode::FORBIDDEN, "host or origin not allowed\n");
            }
            let Some(backend) = routes.find(uri.path()) else {
                return plain(StatusCode::NOT_FOUND, routes.paths());
            };
            if let (Backends::Named(_), Backend::Proxy(proxy)) = (&routes.backends, &backend) {
                let path = ClientPath(request.uri().path().to_owned());
                *request.uri_mut() = endpoint(proxy.upstream(), request.uri());
                request.extensions_mut().insert(path);
            }
            backend
        };
        match backend {
            Backend::Proxy(proxy) => proxy.answer(request).await,
            Backend::Processes(processes) => processes.answer(request).await,
        }
    }
}

/// The path of `upstream`, with the query of `uri`.
fn endpoint(upstream: &Uri, uri: &Uri) -> Uri {
    let query = uri.query();
    let query = query.map_or_else(String::new, |query| format!("?{query}"));
    format!("{}{query}", upstream.path()).parse().unwrap_or_else(|_| uri.clone())
}
