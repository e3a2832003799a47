//! One request: judged, sent on, and its answer judged.

use std::sync::Arc;

use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper::header::{
    ACCEPT_ENCODING, CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, HOST, HeaderName, HeaderValue,
    LOCATION, TE, TRAILER, TRANSFER_ENCODING, UPGRADE,
};
use hyper::{HeaderMap, Method, Request, Response, StatusCode, Uri};
use percent_encoding::percent_decode_str;
use tokio::sync::watch;

use super::client::Client;
use super::posted::posted;
use super::question::Sorted;
use super::visit::{Exchange, Visits};
use crate::message::{code, error};
use crate::{Event, Ward};

pub(crate) type Body = BoxBody<Bytes, Box<dyn std::error::Error + Send + Sync>>;

/// Why a URL is none of a server.
#[derive(Debug, thiserror::Error)]
#[error("{url}: expected a URL such as http://127.0.0.1:3000/mcp, found {found}")]
pub struct UpstreamError {
    /// The URL.
    pub url: String,
    /// What is wrong with it.
    pub found: &'static str,
}

/// Reads the URL of a server.
///
/// Fails where it has no host, a port that is none, or a scheme other than `http` and `https`.
pub(crate) fn upstream(url: &str) -> Result<Uri, UpstreamError> {
    let wrong = |found| UpstreamError { url: url.to_owned(), found };
    let uri: Uri = url.parse().map_err(|_| wrong("no URL"))?;
    match (uri.scheme_str(), uri.authority()) {
        (Some("http" | "https"), Some(authority)) if authority.as_str().contains('@') => {
            Err(wrong("a user in it, whose password would be in every log"))
        }
        (Some("http" | "https"), Some(authority)) => {
            let port = authority.as_str().rsplit_once(':').map_or("", |(_, port)| port);
            let is_port = port.is_empty() || port.ends_with(']') || port.parse::<u16>().is_ok();
            is_port.then_some(uri).ok_or_else(|| wrong("a port beyond 65535"))
        }
        (None, _) => Err(wrong("no scheme")),
        _ => Err(wrong("another scheme")),
    }
}

/// A reverse proxy in front of one server.
pub struct Proxy {
    upstream: Uri,
    client: Client,
    pub(crate) visits: Visits,
    /// Whether streams that clients opened for whatever comes are over.
    hung_up: watch::Sender<bool>,
}

impl std::fmt::Debug for Proxy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Proxy").field("upstream", &self.upstream).finish_non_exhaustive()
    }
}

impl Proxy {
    /// A proxy to the server at `url`.
    ///
    /// Fails where that is no `http` or `https` URL.
    pub fn new(url: &str, client: Client, ward: Arc<Ward>) -> Result<Self, UpstreamError> {
        let hung_up = watch::Sender::new(false);
        Ok(Self { upstream: upstream(url)?, client, visits: Visits::new(ward), hung_up })
    }

    /// Answers one request.
    pub(crate) async fn answer(self: Arc<Self>, request: Request<Incoming>) -> Response<Body> {
        let (mut parts, body) = request.into_parts();
        let looks = self.visits.settings().looks();
        let (path, endpoint) = (parts.uri.path(), self.upstream.path());
        let is_endpoint = path == endpoint || place(path) == place(endpoint);
        if !looks || !is_endpoint {
            let body = body.map_err(Into::into).boxed();
            return match self.send(parts.method, &parts.uri, parts.headers, body).await {
                Ok(response) => pass(response),
                Err(response) => response,
            };
        }
        // Answers have to be read; most clients ask for compressed ones unless told otherwise.
        parts.headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        let exchange = Exchange::new(self.visits.of(&parts.headers), &parts.headers, &parts.method);
        let mut own = Vec::new();
        let body = if parts.method == Method::POST {
            let max = self.visits.settings().max_message;
            let bytes = match posted(body, max).await {
                Ok(bytes) => bytes,
                Err(answer) => return answer,
            };
            match self.sort(&exchange, &parts.headers, &bytes).await {
                Sorted::Forward => full(bytes),
                Sorted::Partly(rest, answers) => {
                    own = answers;
                    parts.headers.remove(CONTENT_LENGTH);
                    full(rest)
                }
                Sorted::Answered(status, answer) => return json(status, answer),
            }
        } else {
            body.map_err(Into::into).boxed()
        };
        if parts.method == Method::DELETE {
            self.visits.forget(&parts.headers);
        }
        match self.send(parts.method, &parts.uri, parts.headers, body).await {
            Ok(response) => self.judge(exchange, response, own).await,
            Err(response) => response,
        }
    }

    /// Sends a request on, with its headers.
    pub(crate) async fn send(
        &self,
        method: Method,
        uri: &Uri,
        mut headers: HeaderMap,
        body: Body,
    ) -> Result<Response<Incoming>, Response<Body>> {
        let mut place = self.upstream.clone().into_parts();
        place.path_and_query = uri.path_and_query().cloned();
        let place = Uri::from_parts(place)
            .map_err(|_| plain(StatusCode::BAD_REQUEST, "not a request\n"))?;
        end_to_end(&mut headers);
        headers.remove(HOST);
        let mut request = Request::new(body);
        *request.method_mut() = method;
        *request.uri_mut() = place;
        *request.headers_mut() = headers;
        let mut response = self.client.send(request).await.map_err(|error| {
            let text = format!("the server cannot be reached: {error}");
            self.visits.say(Event::error(format!("server: {text}")));
            refuse(StatusCode::BAD_GATEWAY, code::INTERNAL, &text)
        })?;
        if self.visits.settings().looks()
            && let Some(place) = self.place_behind(response.headers())
        {
            response.headers_mut().insert(LOCATION, place);
        }
        Ok(response)
    }

    /// Where a redirect leads that would lead clients around the guard to the server itself, seen
    /// from where they are.
    fn place_behind(&self, headers: &HeaderMap) -> Option<HeaderValue> {
        let location: Uri = headers.get(LOCATION)?.to_str().ok()?.parse().ok()?;
        let host = |uri: &Uri| uri.host().map(str::to_ascii_lowercase);
        let port = |uri: &Uri| match (uri.port_u16(), uri.scheme_str()) {
            (None, Some("http")) => Some(80),
            (None, Some("https")) => Some(443),
            (port, _) => port,
        };
        let of = |uri: &Uri| (uri.scheme().cloned(), host(uri), port(uri));
        if location.scheme().is_none() || of(&location) != of(&self.upstream) {
            return None;
        }
        HeaderValue::from_str(location.path_and_query()?.as_str()).ok()
    }

    /// Whether this is how it asks its server.
    pub(crate) fn asks_with(&self, client: &Client) -> bool {
        self.client.is_same(client)
    }

    /// Ends the streams that clients opened for whatever comes.
    pub(crate) fn hang_up(&self) {
        self.hung_up.send_replace(true);
    }

    /// Waits for that.
    pub(crate) async fn hung_up(&self) {
        // Only a sender that is gone fails, and this is one.
        let _ = self.hung_up.subscribe().wait_for(|hung_up| *hung_up).await;
    }

    /// The path that the server answers on, and so does the proxy.
    #[must_use]
    pub fn path(&self) -> &str {
        self.upstream.path()
    }

    /// The URL of the server.
    pub(crate) fn endpoint(&self) -> &Uri {
        &self.upstream
    }
}

/// A path as most servers compare it: `/mcp/`, `//mcp` and `/%6Dcp` lead where `/mcp` does.
fn place(path: &str) -> Vec<String> {
    let path = percent_decode_str(path).decode_utf8_lossy().to_lowercase();
    path.split('/').filter(|part| !part.is_empty()).map(str::to_owned).collect()
}

/// The headers about the connection, whatever `Connection` says.
static HOP: [HeaderName; 7] = [
    CONNECTION,
    HeaderName::from_static("keep-alive"),
    HeaderName::from_static("proxy-connection"),
    TE,
    TRAILER,
    TRANSFER_ENCODING,
    UPGRADE,
];

/// Leaves the headers that are not about the connection.
pub(crate) fn end_to_end(headers: &mut HeaderMap) {
    let named: Vec<HeaderName> = headers
        .get_all(CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|name| name.trim().parse().ok())
        .collect();
    for name in HOP.iter().chain(&named) {
        headers.remove(name);
    }
}

/// An answer as it came.
pub(crate) fn pass(response: Response<Incoming>) -> Response<Body> {
    let (mut parts, body) = response.into_parts();
    end_to_end(&mut parts.headers);
    Response::from_parts(parts, body.map_err(Into::into).boxed())
}

/// An answer with another body.
pub(crate) fn with_body(response: hyper::http::response::Parts, body: Body) -> Response<Body> {
    let mut parts = response;
    end_to_end(&mut parts.headers);
    parts.headers.remove(CONTENT_LENGTH);
    Response::from_parts(parts, body)
}

pub(crate) fn full(bytes: impl Into<Bytes>) -> Body {
    Full::new(bytes.into()).map_err(|never| match never {}).boxed()
}

pub(crate) fn json(status: StatusCode, answer: Vec<u8>) -> Response<Body> {
    let mut response = Response::new(full(answer));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

pub(crate) fn refuse(status: StatusCode, code: i32, text: &str) -> Response<Body> {
    json(status, error(None, code, text))
}

pub(crate) fn plain(status: StatusCode, text: &'static str) -> Response<Body> {
    let mut response = Response::new(full(text));
    *response.status_mut() = status;
    response
}
