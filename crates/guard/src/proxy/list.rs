//! Requests of the guard itself for the tool list of a server on HTTP.

use bytes::Bytes;
use bytestring::ByteString;
use hyper::header::{ACCEPT, CONTENT_LENGTH, HeaderValue};
use hyper::{HeaderMap, Method};

use super::Proxy;
use crate::http::answer::read_answer;
#[cfg(feature = "grpc")]
use crate::http::identity::forwarded;
use crate::http::respond::full;
#[cfg(feature = "grpc")]
use crate::live::tools_within;

impl Proxy {
    /// Sends the request `bytes` as a client with `headers` would: its result, or `None` where the
    /// server answers with an error.
    pub(super) async fn list_tools(
        &self,
        headers: HeaderMap,
        bytes: Bytes,
    ) -> Result<Option<ByteString>, String> {
        #[cfg(feature = "grpc")]
        if self.server.rules().settings.opens_session {
            return match self.request_list(headers.clone(), bytes).await {
                Ok(Some(result)) => Ok(Some(result)),
                _ => self.list_in_session(&headers).await.map(Some),
            };
        }
        self.request_list(headers, bytes).await
    }

    /// Lists all tools in a session of the guard itself, which a server of a legacy revision may need.
    #[cfg(feature = "grpc")]
    async fn list_in_session(&self, headers: &HeaderMap) -> Result<ByteString, String> {
        let (max, timeout) = {
            let settings = &self.server.rules().settings;
            (settings.max_message, settings.list_timeout)
        };
        let url = self.upstream.clone();
        let listed = tools_within(self.client.clone(), url, forwarded(headers), max);
        match tokio::time::timeout(timeout, listed).await {
            Ok(Ok(tools)) => Ok(tools.to_string().into()),
            Ok(Err(error)) => Err(error.to_string()),
            Err(_) => Err(format!("no answer within {} s", timeout.as_secs())),
        }
    }

    async fn request_list(
        &self,
        mut headers: HeaderMap,
        bytes: Bytes,
    ) -> Result<Option<ByteString>, String> {
        let of_call = |name: &str| name.starts_with("mcp-param-") || name == "mcp-name";
        let names: Vec<_> = headers.keys().filter(|name| of_call(name.as_str())).cloned().collect();
        for name in names {
            headers.remove(name);
        }
        headers.remove(CONTENT_LENGTH);
        if headers.contains_key("mcp-method") {
            headers.insert("mcp-method", HeaderValue::from_static("tools/list"));
        }
        headers.insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
        let sent = self.request(Method::POST, &self.upstream, headers, full(bytes)).await;
        let response = sent.map_err(|_| "could not reach the server".to_owned())?;
        let status = response.status();
        let max = self.server.rules().settings.max_message;
        read_answer(response, max, None)
            .await
            .map(|(_, result)| result)
            .ok_or_else(|| format!("the server answered with {status} and no message"))
    }
}
