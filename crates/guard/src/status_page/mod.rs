//! The status of servers over HTTP: a page, JSON, and metrics for Prometheus.

mod metrics;
mod page;

use std::sync::Arc;

use arc_swap::ArcSwap;
use futures_util::future::BoxFuture;
use hyper::body::Incoming;
use hyper::header::{ACCEPT, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};
use serde_json::json;
use tokio::net::TcpListener;

use crate::front::http::{Hosts, listen};
use crate::http::respond::{Body, full, plain};
use crate::memory::MemoryLimit;
use crate::server::GuardedServer;

/// Serves the status of servers.
#[derive(Debug)]
pub struct StatusPage {
    shown: ArcSwap<Shown>,
    memory: Arc<MemoryLimit>,
}

/// The servers whose status is shown, and for which hosts.
#[derive(Debug)]
struct Shown {
    servers: Vec<Arc<GuardedServer>>,
    hosts: Hosts,
}

impl StatusPage {
    /// Shows `servers` and the use of `memory`, for requests to one of `hosts`.
    #[must_use]
    pub fn new(servers: Vec<Arc<GuardedServer>>, hosts: Hosts, memory: Arc<MemoryLimit>) -> Self {
        Self { shown: ArcSwap::from_pointee(Shown { servers, hosts }), memory }
    }

    /// Replaces the servers and hosts.
    pub(crate) fn set(&self, servers: Vec<Arc<GuardedServer>>, hosts: Hosts) {
        self.shown.store(Arc::new(Shown { servers, hosts }));
    }

    /// Answers the clients that connect to `listener`: a page at `/`, the same as JSON at `/status.json`,
    /// metrics for Prometheus at `/metrics`.
    pub fn serve(self: Arc<Self>, listener: TcpListener) -> BoxFuture<'static, ()> {
        let answer = move |request| {
            let page = Arc::clone(&self);
            async move { page.answer(&request) }
        };
        Box::pin(listen(listener, answer, |_| (), std::future::pending()))
    }

    fn answer(&self, request: &Request<Incoming>) -> Response<Body> {
        let shown = self.shown.load();
        let authority = request.uri().authority().map(hyper::http::uri::Authority::as_str);
        if !shown.hosts.allow(request.headers(), authority) {
            return plain(StatusCode::FORBIDDEN, "host or origin not allowed\n");
        }
        if request.method() != Method::GET {
            return plain(StatusCode::METHOD_NOT_ALLOWED, "expected GET\n");
        }
        let servers = &shown.servers;
        let accept = request.headers().get(ACCEPT).and_then(|accept| accept.to_str().ok());
        let wants_json = accept.is_some_and(|accept| accept.starts_with("application/json"));
        match request.uri().path() {
            "/status.json" => typed("application/json", json(servers)),
            "/" if wants_json => typed("application/json", json(servers)),
            "/" => typed("text/html; charset=utf-8", page::render(servers)),
            "/metrics" => typed(metrics::TYPE, metrics::text(servers, &self.memory)),
            _ => plain(StatusCode::NOT_FOUND, "see /, /status.json and /metrics\n"),
        }
    }
}

fn json(servers: &[Arc<GuardedServer>]) -> String {
    let servers = servers.iter().map(|server| {
        let mut status = json!(server.status().snapshot());
        status["name"] = server.name().into();
        status
    });
    json!({ "servers": servers.collect::<Vec<_>>() }).to_string()
}

fn typed(kind: &'static str, text: String) -> Response<Body> {
    let mut response = Response::new(full(text));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert("cache-control", HeaderValue::from_static("no-store"));
    let policy = "default-src 'none'; style-src 'unsafe-inline'";
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(policy));
    response
}
