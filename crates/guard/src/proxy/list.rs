//! Requests of the guard itself for the tool list of a server on HTTP.

use bytes::Bytes;
use bytestring::ByteString;
use http_body_util::{BodyExt as _, Collected, Limited};
use hyper::header::{ACCEPT, CONTENT_LENGTH, CONTENT_TYPE, HeaderValue};
use hyper::http::uri::InvalidUri;
use hyper::{HeaderMap, Method, Response, Uri};

use super::Proxy;
use crate::caller::of_list;
use crate::http::answer::read_answer;
use crate::http::respond::{full, remove_hop_by_hop};

/// Why there is no list for a client that signs.
const SIGNED: &str =
    "the client signs each request, so the guard cannot ask in its name; list the tools first";

/// The most bytes of a response that refuses the list.
const MAX_REFUSAL: usize = 64 << 10;

/// Why there is no list.
pub(super) struct NotListed {
    pub(super) reason: String,
    /// The response of a server that does not serve this client.
    pub(super) response: Option<Response<Bytes>>,
    /// Whether the server took the request, and may answer it elsewhere.
    pub(super) is_accepted: bool,
}

impl From<String> for NotListed {
    fn from(reason: String) -> Self {
        Self { reason, response: None, is_accepted: false }
    }
}

impl Proxy {
    /// Where the list for a request to `uri` is. What a gateway does to paths is not known here, so behind one that is the
    /// path of the server's URL.
    fn list_uri(&self, uri: &Uri) -> Result<Uri, InvalidUri> {
        match uri.query() {
            _ if !self.server.rules().settings.is_replica => Ok(uri.clone()),
            Some(query) => format!("{}?{query}", self.upstream.path()).parse(),
            None => self.upstream.path().parse(),
        }
    }

    /// Sends the request `bytes` as a client that sends a request with `headers` to `uri` would: its result, or `None` where the
    /// server answers with an error. Fails with the response of a server that does not answer, such as one that wants to
    /// know who asks.
    pub(super) async fn list_tools(
        &self,
        uri: &Uri,
        headers: HeaderMap,
        bytes: Bytes,
    ) -> Result<Option<ByteString>, NotListed> {
        let Some(mut headers) = of_list(headers) else {
            return Err(SIGNED.to_owned().into());
        };
        if headers.contains_key("mcp-method") {
            headers.insert("mcp-method", HeaderValue::from_static("tools/list"));
        }
        headers.insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let uri = self.list_uri(uri).map_err(|error| error.to_string())?;
        let sent = self.request(Method::POST, &uri, headers, full(bytes)).await;
        let response = sent.map_err(|_| "could not reach the server".to_owned())?;
        let status = response.status();
        let max = self.server.rules().settings.max_message;
        let (mut parts, body) = response.into_parts();
        if status.is_client_error() {
            remove_hop_by_hop(&mut parts.headers);
            parts.headers.remove(CONTENT_LENGTH);
            let body = Limited::new(body, MAX_REFUSAL).collect().await;
            let body = body.map(Collected::to_bytes).unwrap_or_default();
            let reason = format!("the server answered with {status}");
            let response = Some(Response::from_parts(parts, body));
            return Err(NotListed { reason, response, is_accepted: false });
        }
        let not_listed = || NotListed {
            reason: format!("the server answered with {status} and no message"),
            response: None,
            is_accepted: status.is_success(),
        };
        read_answer(Response::from_parts(parts, body), max, None, &self.pool)
            .await
            .map(|(_, result)| result)
            .ok_or_else(not_listed)
    }
}
