//! Fetching the tools of a server on HTTP.

use std::sync::Arc;

use futures_util::future::LocalBoxFuture;
use hyper::header::{HeaderName, HeaderValue};
use hyper::{HeaderMap, Method};
use serde_json::Value;

use super::call::Calls;
use super::list::{Listed, NATURAL, Opening, list};
use super::server::{LiveServer, ToolsError};
use crate::back::http::answer::read_answer;
use crate::back::http::{Client, HttpServer, UpstreamError, parse_upstream, set_message_headers};
use crate::http::respond::full;
use crate::runtime::pool::JobPool;
use toolbond_contract::headers::{PREFIX, encode, param_headers};
use toolbond_guard_core::message::Id;
use toolbond_guard_core::settings::MAX_MESSAGE;

const SESSION: &str = "mcp-session-id";

/// Fetches all tools of the server at `url` and makes `calls`, with `headers` in every request. Ends the session that it
/// opened, if any.
///
/// Fails at once if `url` is not an `http` or `https` URL. Use the future with a timeout: a server may
/// never answer.
pub fn tools(
    client: Client,
    url: &str,
    headers: HeaderMap,
    calls: Calls,
) -> Result<LocalBoxFuture<'static, Result<Listed, ToolsError>>, UpstreamError> {
    let server = HttpServer { url: parse_upstream(url)?, client };
    let mut remote = LiveHttp::new(server, headers);
    Ok(Box::pin(async move {
        let tools = list(&mut remote, Opening::Initialize, &calls).await;
        remote.close().await;
        tools
    }))
}

/// A server on HTTP, as a client of its own.
pub(super) struct LiveHttp {
    server: HttpServer,
    headers: HeaderMap,
    pub(super) pool: JobPool,
}

impl LiveHttp {
    pub(super) fn new(server: HttpServer, mut headers: HeaderMap) -> Self {
        set_message_headers(&mut headers);
        Self { server, headers, pool: JobPool::new(Arc::default()) }
    }

    /// Names the method of the next request, where the server wants to know it.
    pub(super) fn set_method(&mut self, method: &'static str) {
        if self.headers.contains_key("mcp-method") {
            self.headers.insert("mcp-method", HeaderValue::from_static(method));
        }
    }

    /// Ends the session that it opened, if any.
    pub(super) async fn close(&self) {
        if self.headers.contains_key(SESSION) {
            // The server may refuse, and end the session when it likes.
            let _ = self.send(Method::DELETE, String::new()).await;
        }
    }

    pub(super) async fn send(
        &self,
        method: Method,
        body: String,
    ) -> Result<hyper::Response<hyper::body::Incoming>, ToolsError> {
        let (url, headers) = (&self.server.url, self.headers.clone());
        self.server.send(method, url, headers, full(body)).await.map_err(ToolsError::Unreached)
    }
}

impl LiveServer for LiveHttp {
    async fn ask(
        &mut self,
        method: &'static str,
        id: &Id,
        request: &Value,
    ) -> Result<Value, ToolsError> {
        self.set_method(method);
        let response = self.send(Method::POST, request.to_string()).await?;
        if method == "initialize"
            && let Some(session) = response.headers().get(SESSION)
        {
            self.headers.insert(SESSION, session.clone());
        }
        let status = response.status();
        let answer = read_answer(response, MAX_MESSAGE, Some(id), &self.pool).await;
        let answer = answer.and_then(|answer| serde_json::from_str(&answer.text).ok());
        answer.ok_or(ToolsError::Status { method, status })
    }

    async fn notify(&mut self, notification: &Value) -> Result<(), ToolsError> {
        self.send(Method::POST, notification.to_string()).await.map(drop)
    }

    fn set_call(&mut self, tool: &str, arguments: &Value, schema: &Value) {
        if !self.headers.contains_key("mcp-method") {
            return;
        }
        // What the call before it had.
        let of_params = |name: &HeaderName| name.as_str().starts_with(&PREFIX.to_ascii_lowercase());
        let old: Vec<_> = self.headers.keys().filter(|name| of_params(name)).cloned().collect();
        for name in old {
            self.headers.remove(name);
        }
        let params = param_headers(schema, Some(arguments));
        let params = params.into_iter().filter_map(|it| Some((it.name, encode(it.value?)?)));
        let tool = encode(&tool.into()).unwrap_or_default();
        for (name, value) in params.chain([("mcp-name".to_owned(), tool)]) {
            let name = HeaderName::try_from(name.to_ascii_lowercase());
            if let (Ok(name), Ok(value)) = (name, HeaderValue::try_from(value)) {
                self.headers.insert(name, value);
            }
        }
    }

    fn set_revision(&mut self, revision: &str) {
        if let Ok(revision) = revision.parse() {
            self.headers.insert("mcp-protocol-version", revision);
        }
        if revision == NATURAL {
            // A server may open a session and then refuse `initialize`.
            self.headers.remove(SESSION);
        }
        if !self.headers.contains_key(SESSION) {
            self.headers.insert("mcp-method", HeaderValue::from_static("tools/list"));
        }
    }
}
