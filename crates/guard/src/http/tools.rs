//! The tools of a live server on HTTP.

use hyper::header::{ACCEPT, CONTENT_TYPE, HeaderValue};
use hyper::{HeaderMap, Method, Request, Uri};
use serde_json::{Value, json};

use super::client::Client;
use super::proxy::{UpstreamError, full, upstream};
use super::question::answer_to;
use crate::live::{Peer, ToolsError, list};
use crate::{Id, MAX_MESSAGE};

const SESSION: &str = "mcp-session-id";

/// A server on Streamable HTTP that is asked for its tools.
#[derive(Debug)]
pub struct Asker {
    client: Client,
    url: Uri,
    headers: HeaderMap,
}

impl Asker {
    /// Asks the server at `url`; `headers` go with every request.
    ///
    /// Fails where that is no `http` or `https` URL.
    pub fn new(client: Client, url: &str, mut headers: HeaderMap) -> Result<Self, UpstreamError> {
        let accept = HeaderValue::from_static("application/json, text/event-stream");
        headers.insert(ACCEPT, accept);
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        Ok(Self { client, url: upstream(url)?, headers })
    }

    /// A `tools/list` result with all pages in one; a session that was opened for it is ended.
    ///
    /// Wait for it with a timeout: a server may never answer.
    pub async fn tools(mut self) -> Result<Value, ToolsError> {
        let tools = list(&mut self).await;
        if self.headers.contains_key(SESSION) {
            // A server may not want to: then it ends the session when it likes.
            let _ = self.send(Method::DELETE, String::new()).await;
        }
        tools.map(|tools| json!({ "tools": tools }))
    }

    async fn send(
        &self,
        method: Method,
        body: String,
    ) -> Result<hyper::Response<hyper::body::Incoming>, ToolsError> {
        let mut request = Request::new(full(body));
        *request.method_mut() = method;
        *request.uri_mut() = self.url.clone();
        *request.headers_mut() = self.headers.clone();
        self.client.send(request).await.map_err(ToolsError::Unreached)
    }
}

impl Peer for Asker {
    async fn ask(
        &mut self,
        method: &'static str,
        id: &Id,
        request: &Value,
    ) -> Result<Vec<u8>, ToolsError> {
        if self.headers.contains_key("mcp-method") {
            self.headers.insert("mcp-method", HeaderValue::from_static(method));
        }
        let response = self.send(Method::POST, request.to_string()).await?;
        if method == "initialize"
            && let Some(session) = response.headers().get(SESSION)
        {
            self.headers.insert(SESSION, session.clone());
        }
        let status = response.status();
        let answer = answer_to(id, response, MAX_MESSAGE).await;
        answer.ok_or(ToolsError::Status { method, status })
    }

    async fn tell(&mut self, notification: &Value) -> Result<(), ToolsError> {
        self.send(Method::POST, notification.to_string()).await.map(drop)
    }

    fn speak(&mut self, revision: &str) {
        if let Ok(revision) = revision.parse() {
            self.headers.insert("mcp-protocol-version", revision);
        }
        if !self.headers.contains_key(SESSION) {
            self.headers.insert("mcp-method", HeaderValue::from_static("tools/list"));
        }
    }
}
