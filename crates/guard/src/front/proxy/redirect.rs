//! URLs that a server names: redirects, and the endpoints of HTTP+SSE. None may lead around the guard.

use hyper::header::{HeaderValue, LOCATION};
use hyper::{Response, Uri};

use super::endpoint::Endpoint;
use super::reverse_proxy::Proxy;
use crate::url::{absolute, is_relative, is_same_server, place_at, without_query};
use toolbond_guard_core::event::Event;

impl Proxy {
    /// An endpoint for a client that listens at `base`, and that the server tells to post to `place`. Fails with a reason.
    pub(super) fn endpoint(&self, base: &Uri, place: &str) -> Result<Endpoint, String> {
        let Some(uri) = place_at(self.upstream(), base, place) else {
            let place: String = without_query(place).chars().take(200).collect();
            return Err(format!(
                "the server wants messages at {place}, around the guard; guard that URL instead"
            ));
        };
        Endpoint::new(uri)
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
        let upstream = self.upstream();
        match absolute(upstream, &location) {
            Some(target) if is_own(&target) => Ok(response),
            Some(target) if is_same_server(upstream, &target) => {
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
}
