//! A server on Streamable HTTP, as those see it who send it requests.

use std::sync::Arc;

use hyper::body::Incoming as IncomingBody;
use hyper::header::HOST;
use hyper::{HeaderMap, Method, Response, Uri};

use crate::back::http::HttpServer;
use crate::http::respond::{Body, remove_hop_by_hop};
use crate::runtime::pool::JobPool;
use crate::server::GuardedServer;
use toolbond_guard_core::event::Event;

/// A server on Streamable HTTP.
#[derive(Clone, Debug)]
pub(crate) struct Remote {
    pub(crate) http: HttpServer,
    pub(crate) server: Arc<GuardedServer>,
    pub(crate) pool: Arc<JobPool>,
}

impl Remote {
    /// Sends a request in the name of a client, whose headers these are. Fails if there is no response, with a reason
    /// that is also reported.
    pub(crate) async fn forward(
        &self,
        method: Method,
        uri: &Uri,
        mut headers: HeaderMap,
        body: Body,
    ) -> Result<Response<IncomingBody>, String> {
        remove_hop_by_hop(&mut headers);
        headers.remove(HOST);
        let sent = self.http.send(method, uri, headers, body).await;
        sent.inspect_err(|failure| self.report(failure))
    }

    pub(super) fn report(&self, failure: &str) {
        self.server.report(Event::error(format!("server: {failure}")));
    }
}
