//! A server on Streamable HTTP, and the one way in which the guard sends it requests.

use hyper::body::Incoming;
use hyper::{HeaderMap, Method, Request, Response, Uri};

use super::client::Client;
use crate::http::respond::Body;
use crate::url::{hide_query, with_queries};

/// A server on Streamable HTTP.
#[derive(Clone, Debug)]
pub(crate) struct HttpServer {
    pub(crate) url: Uri,
    pub(crate) client: Client,
}

impl HttpServer {
    /// Sends a request to the path of `uri` at the server. Fails with the reason in one line.
    pub(crate) async fn send(
        &self,
        method: Method,
        uri: &Uri,
        headers: HeaderMap,
        body: Body,
    ) -> Result<Response<Incoming>, String> {
        let mut request = Request::new(body);
        *request.method_mut() = method;
        *request.uri_mut() = self.target(uri).map_err(|error| error.to_string())?;
        *request.headers_mut() = headers;
        let sent = self.client.send(request).await;
        let mut response = sent.map_err(|error| format!("could not reach the server: {error}"))?;
        hide_query(&self.url, response.headers_mut());
        Ok(response)
    }

    /// The URI at the guard that leads to the path of the server's URL, with this query.
    pub(crate) fn endpoint(&self, query: Option<&str>) -> Result<Uri, String> {
        let query = query.map_or_else(String::new, |query| format!("?{query}"));
        format!("{}{query}", self.url.path()).parse().map_err(|error| format!("{error}"))
    }

    /// The URI at the server for a request to `uri` at the guard. What the query of the server's URL says, such as a key,
    /// is part of every request to its path, with or without a slash at its end, which servers redirect between.
    fn target(&self, uri: &Uri) -> Result<Uri, hyper::http::Error> {
        if uri.path().trim_end_matches('/') == self.url.path().trim_end_matches('/') {
            return with_queries(&self.url, uri.path(), uri.query());
        }
        let mut target = self.url.clone().into_parts();
        target.path_and_query = uri.path_and_query().cloned();
        Ok(Uri::from_parts(target)?)
    }
}
