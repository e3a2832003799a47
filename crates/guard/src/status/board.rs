//! Serving what guards saw: a page, JSON, and metrics.

use std::sync::{Arc, PoisonError, RwLock};

use hyper::body::Incoming;
use hyper::header::{ACCEPT, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};
use serde_json::json;
use tokio::net::TcpListener;

use super::{metrics, page};
use crate::Ward;
use crate::http::{Body, Hosts, full, listen, plain};

/// The servers whose status is shown, and to whom.
#[derive(Debug)]
pub struct Board {
    wards: RwLock<Vec<Arc<Ward>>>,
    hosts: Hosts,
}

impl Board {
    /// Shows `wards` to those who call the board by one of `hosts`.
    #[must_use]
    pub fn new(wards: Vec<Arc<Ward>>, hosts: Hosts) -> Self {
        Self { wards: RwLock::new(wards), hosts }
    }

    /// From now on these are shown.
    pub fn set(&self, wards: Vec<Arc<Ward>>) {
        *self.wards.write().unwrap_or_else(PoisonError::into_inner) = wards;
    }

    /// Answers those who connect to `listener`: a page at `/`, the same as JSON at `/status.json`,
    /// metrics for Prometheus at `/metrics`.
    pub async fn serve(self: Arc<Self>, listener: TcpListener) {
        let answer = move |request| {
            let board = Arc::clone(&self);
            async move { board.answer(&request) }
        };
        listen(listener, answer, |_| (), std::future::pending()).await;
    }

    fn answer(&self, request: &Request<Incoming>) -> Response<Body> {
        if !self.hosts.allow(request.headers()) {
            return plain(StatusCode::FORBIDDEN, "host or origin not allowed\n");
        }
        if request.method() != Method::GET {
            return plain(StatusCode::METHOD_NOT_ALLOWED, "expected GET\n");
        }
        let wards = self.wards.read().unwrap_or_else(PoisonError::into_inner).clone();
        let accept = request.headers().get(ACCEPT).and_then(|accept| accept.to_str().ok());
        let wants_json = accept.is_some_and(|accept| accept.starts_with("application/json"));
        match request.uri().path() {
            "/status.json" => typed("application/json", json(&wards)),
            "/" if wants_json => typed("application/json", json(&wards)),
            "/" => typed("text/html; charset=utf-8", page::page(&wards)),
            "/metrics" => typed(metrics::TYPE, metrics::text(&wards)),
            _ => plain(StatusCode::NOT_FOUND, "see /, /status.json and /metrics\n"),
        }
    }
}

fn json(wards: &[Arc<Ward>]) -> String {
    let servers = wards.iter().map(|ward| {
        let mut status = json!(ward.status().snapshot());
        status["name"] = ward.name().into();
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
