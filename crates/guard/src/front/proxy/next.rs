//! Where a checked request goes.

use bytes::Bytes;
use hyper::Response;
use hyper::http::request::Parts;

use crate::http::respond::BoxError;

/// The body of a response of the server.
pub trait ResponseBody:
    hyper::body::Body<Data = Bytes, Error: Into<BoxError> + Send> + Send + Unpin + 'static
{
}

impl<B> ResponseBody for B where
    B: hyper::body::Body<Data = Bytes, Error: Into<BoxError> + Send> + Send + Unpin + 'static
{
}

/// Marks a request that may be sent again without harm.
#[derive(Clone, Copy, Debug)]
pub struct Repeatable;

/// Takes requests that were checked to the server, and brings back its responses.
pub trait Next: Sync {
    /// The body of a response.
    type Body: ResponseBody;

    /// Sends a request. Fails if there is no response, with a reason that is also reported.
    fn send(
        &self,
        parts: Parts,
        body: Bytes,
    ) -> impl Future<Output = Result<Response<Self::Body>, String>> + Send;
}
