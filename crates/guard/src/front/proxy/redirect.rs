//! URLs that a server names: redirects, and the endpoints of HTTP+SSE. None may lead around the guard.

use hyper::header::{HeaderValue, LOCATION};
use hyper::{Response, Uri};

use super::endpoint::Endpoint;
use super::reverse_proxy::Proxy;
use crate::url::without_query;
use toolbond_guard_core::event::Event;

impl Proxy {
    /// An endpoint for a client that listens at `base`, and that the server tells to post to `place`. Fails with a reason.
    pub(super) fn endpoint(&self, base: &Uri, place: &str) -> Result<Endpoint, String> {
        let Some(uri) = self.place(base, place) else {
            let place: String = without_query(place).chars().take(200).collect();
            return Err(format!(
                "the server wants messages at {place}, around the guard; guard that URL instead"
            ));
        };
        Endpoint::new(uri)
    }

    /// What `place` means on a stream that was opened at `base`; `None` if that is not at the server.
    fn place(&self, base: &Uri, place: &str) -> Option<Uri> {
        if !is_relative(place) {
            let uri = self.absolute(place).filter(|uri| self.is_at_server(uri))?;
            return uri.path_and_query()?.as_str().parse().ok();
        }
        let base = base.path();
        let path = match place.chars().next()? {
            '/' => place.to_owned(),
            '?' => format!("{base}{place}"),
            _ => format!("{}/{place}", &base[..base.rfind('/')?]),
        };
        path.parse().ok()
    }

    /// Points a redirect to the server itself at the guard instead; `host` is that of the request. Fails if it would lead a JSON-RPC message
    /// (`is_rpc`) to another server, with a reason that is also reported.
    pub(super) fn keep_redirect<B>(
        &self,
        mut response: Response<B>,
        is_rpc: bool,
        host: Option<&HeaderValue>,
    ) -> Result<Response<B>, String> {
        let Some(location) = response.headers().get(LOCATION) else { return Ok(response) };
        let location = String::from_utf8_lossy(location.as_bytes()).into_owned();
        if is_relative(&location) || !response.status().is_redirection() {
            return Ok(response);
        }
        // A server behind a gateway names the gateway, which the client comes back to.
        let is_own = |target: &Uri| {
            let authority = target.authority().map(|authority| authority.as_str().as_bytes());
            let is_replica = self.server.rules().settings.is_replica();
            is_replica && authority.is_some() && authority == host.map(HeaderValue::as_bytes)
        };
        match self.absolute(&location) {
            Some(target) if is_own(&target) => Ok(response),
            Some(target) if self.is_at_server(&target) => {
                let path = target.path_and_query().map_or("/", |path| path.as_str());
                if let Ok(path) = path.parse() {
                    response.headers_mut().insert(LOCATION, path);
                }
                Ok(response)
            }
            _ if is_rpc => {
                let location: String = without_query(&location).chars().take(200).collect();
                let text = format!(
                    "the server redirects to {location}, around the guard; guard that URL instead"
                );
                self.server.report(Event::error(format!("server: {text}")));
                Err(text)
            }
            _ => Ok(response),
        }
    }

    /// The URL `location`, if it names a host.
    fn absolute(&self, location: &str) -> Option<Uri> {
        // `//host/path` is of the same scheme.
        let scheme = self.upstream().scheme_str().unwrap_or("http");
        let absolute = location.strip_prefix("//").map(|rest| format!("{scheme}://{rest}"));
        let uri = absolute.as_deref().unwrap_or(location).parse::<Uri>().ok();
        uri.filter(|uri| uri.host().is_some())
    }

    /// Whether `uri` is of the same scheme, host and port as the server.
    fn is_at_server(&self, uri: &Uri) -> bool {
        let origin = |uri: &Uri| {
            let port = match (uri.port_u16(), uri.scheme_str()) {
                (None, Some("http")) => Some(80),
                (None, Some("https")) => Some(443),
                (port, _) => port,
            };
            (uri.scheme_str().map(str::to_owned), uri.host().map(str::to_ascii_lowercase), port)
        };
        origin(uri) == origin(self.upstream())
    }
}

/// Whether a redirect stays on the same host, however browsers and libraries read it.
fn is_relative(location: &str) -> bool {
    let location = location.replace('\\', "/");
    let first = location.split(['/', '?', '#']).next().unwrap_or_default();
    !location.starts_with("//") && !first.contains(':')
}
