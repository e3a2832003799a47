//! The tools of a live server on HTTP.

use hyper::header::{ACCEPT, CONTENT_TYPE, HeaderValue};
use hyper::{HeaderMap, Method, Request, Uri};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::client::Client;
use super::proxy::{UpstreamError, full, upstream};
use super::question::answer_to;
use crate::live::{Peer, ToolsError, error_of, list};
use crate::message::Message;
use crate::{Id, MAX_MESSAGE};

const SESSION: &str = "mcp-session-id";

/// A server on Streamable HTTP that is asked for its tools.
#[derive(Debug)]
pub struct Asker {
    client: Client,
    url: Uri,
    headers: HeaderMap,
    asked: i64,
}

impl Asker {
    /// Asks the server at `url`; `headers` go with every request.
    ///
    /// Fails where that is no `http` or `https` URL.
    pub fn new(client: Client, url: &str, mut headers: HeaderMap) -> Result<Self, UpstreamError> {
        let accept = HeaderValue::from_static("application/json, text/event-stream");
        headers.insert(ACCEPT, accept);
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        Ok(Self { client, url: upstream(url)?, headers, asked: 0 })
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
        params: Value,
    ) -> Result<Box<RawValue>, ToolsError> {
        self.asked += 1;
        let id = self.asked;
        let body = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        if self.headers.contains_key("mcp-method") {
            self.headers.insert("mcp-method", HeaderValue::from_static(method));
        }
        let response = self.send(Method::POST, body.to_string()).await?;
        if method == "initialize"
            && let Some(session) = response.headers().get(SESSION)
        {
            self.headers.insert(SESSION, session.clone());
        }
        let status = response.status();
        let answer = answer_to(&Id::Integer(id), response, MAX_MESSAGE).await;
        let Some(answer) = answer else { return Err(ToolsError::Status { method, status }) };
        match Message::read(&answer).ok().and_then(|message| message.result) {
            Some(result) => Ok(result.to_owned()),
            None => Err(ToolsError::Refused { method, error: error_of(&answer) }),
        }
    }

    async fn tell(&mut self, method: &'static str) -> Result<(), ToolsError> {
        let body = json!({ "jsonrpc": "2.0", "method": method });
        self.send(Method::POST, body.to_string()).await.map(drop)
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
