//! What clients reach at one address.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};

use hyper::body::Incoming;
use hyper::{Request, Response, StatusCode, Uri};
use tokio::net::TcpListener;

use super::bridge::Bridge;
use super::listen::listen;
use super::origin::Hosts;
use super::proxy::{Body, Proxy, plain};
use crate::{Event, Ward};

/// Servers that clients reach at one address, by name or one alone.
#[derive(Debug)]
pub struct Front(RwLock<Arc<Routes>>);

/// Which servers there are, and who may ask for them.
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

/// What stands before a server.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Backend {
    /// Before one on HTTP.
    Proxy(Arc<Proxy>),
    /// Before one that is a process.
    Bridge(Arc<Bridge>),
}

impl Backend {
    /// What is known of the server.
    #[must_use]
    pub fn ward(&self) -> &Arc<Ward> {
        match self {
            Self::Proxy(proxy) => &proxy.visits.ward,
            Self::Bridge(bridge) => bridge.ward(),
        }
    }

    /// Ends streams that are open for whatever the server has to say: they have no end of their own.
    fn hang_up(&self) {
        match self {
            Self::Proxy(proxy) => proxy.hang_up(),
            Self::Bridge(bridge) => bridge.hang_up(),
        }
    }

    /// Ends what was started for the server.
    pub async fn close(&self) {
        if let Self::Bridge(bridge) = self {
            bridge.close().await;
        }
    }
}

impl Routes {
    /// One server, at its own path or, where it is a process, at `/mcp`, for those who call it by one of `hosts`.
    #[must_use]
    pub fn one(backend: Backend, hosts: Hosts) -> Self {
        Self { hosts, backends: Backends::One(backend) }
    }

    /// Several servers, each under the path `/NAME/mcp`.
    #[must_use]
    pub fn named(backends: BTreeMap<String, Backend>, hosts: Hosts) -> Self {
        Self { hosts, backends: Backends::Named(backends) }
    }

    fn all(&self) -> Vec<Backend> {
        match &self.backends {
            Backends::One(backend) => vec![backend.clone()],
            Backends::Named(backends) => backends.values().cloned().collect(),
        }
    }

    fn find(&self, path: &str) -> Option<Backend> {
        match &self.backends {
            // What a server on HTTP has at other paths is its own affair.
            Backends::One(Backend::Bridge(_)) if path != "/mcp" => None,
            Backends::One(backend) => Some(backend.clone()),
            Backends::Named(backends) => {
                let name = path.strip_prefix('/')?.strip_suffix("/mcp")?;
                backends.get(name).cloned()
            }
        }
    }
}

impl Front {
    /// Answers for `routes`.
    #[must_use]
    pub fn new(routes: Routes) -> Self {
        Self(RwLock::new(Arc::new(routes)))
    }

    /// From now on these are the routes; requests that are under way end as they began.
    pub fn set(&self, routes: Routes) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(routes);
    }

    /// Answers those who connect to `listener` until `end`; then lets open requests come to an end,
    /// for ten seconds.
    pub async fn serve(self: Arc<Self>, listener: TcpListener, end: impl Future<Output = ()>) {
        let front = Arc::clone(&self);
        let answer = move |request| {
            let front = Arc::clone(&front);
            async move { front.answer(request).await }
        };
        let end = async {
            end.await;
            self.routes().all().iter().for_each(Backend::hang_up);
        };
        let say = |text: String| {
            if let Some(backend) = self.routes().all().first() {
                backend.ward().say(Event::warning(text));
            }
        };
        listen(listener, answer, say, end).await;
        for backend in self.routes().all() {
            backend.close().await;
        }
    }

    fn routes(&self) -> Arc<Routes> {
        Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Answers one request.
    async fn answer(&self, mut request: Request<Incoming>) -> Response<Body> {
        let routes = self.routes();
        if !routes.hosts.allow(request.headers()) {
            return plain(StatusCode::FORBIDDEN, "host or origin not allowed\n");
        }
        let Some(backend) = routes.find(request.uri().path()) else {
            return plain(StatusCode::NOT_FOUND, "no such server\n");
        };
        match backend {
            Backend::Proxy(proxy) => {
                if let Backends::Named(_) = routes.backends {
                    *request.uri_mut() = under(proxy.endpoint(), request.uri());
                }
                proxy.answer(request).await
            }
            Backend::Bridge(bridge) => bridge.answer(request).await,
        }
    }
}

/// The endpoint of a server, with the query of `uri` where it has one.
fn under(endpoint: &Uri, uri: &Uri) -> Uri {
    let query = uri.query().or(endpoint.query());
    let query = query.map_or_else(String::new, |query| format!("?{query}"));
    format!("{}{query}", endpoint.path()).parse().unwrap_or_else(|_| uri.clone())
}
