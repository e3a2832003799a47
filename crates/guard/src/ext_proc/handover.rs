//! Handing a checked request over to Envoy, which sends it and brings the response.

use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http_body_util::BodyExt as _;
use hyper::Response;
use hyper::http::request::Parts;
use tokio::sync::{mpsc, oneshot};

use super::body::PieceBody;
use crate::http::respond::Body;
use crate::proxy::Next;

const GONE: &str = "Envoy closed the stream";

/// A request that is ready to be sent, and who waits for the response.
pub(super) struct Handover {
    parts: Parts,
    body: Bytes,
    response: oneshot::Sender<Result<Response<PieceBody>, String>>,
}

/// The requests that are ready to be sent.
pub(super) struct Handovers(mpsc::Receiver<Handover>);

/// Hands requests over.
pub(super) struct ToEnvoy(mpsc::Sender<Handover>);

impl Handovers {
    pub(super) fn new() -> (ToEnvoy, Self) {
        let (sender, receiver) = mpsc::channel(1);
        (ToEnvoy(sender), Self(receiver))
    }

    pub(super) fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Handover> {
        match ready!(self.0.poll_recv(context)) {
            Some(handover) => Poll::Ready(handover),
            None => Poll::Pending,
        }
    }
}

impl Handover {
    /// The request.
    pub(super) fn request(&self) -> (&Parts, Bytes) {
        (&self.parts, self.body.clone())
    }

    /// Hands in the response, or why there is none.
    pub(super) fn respond(self, response: Result<Response<PieceBody>, String>) {
        // Nobody waits for it any more if the client has left.
        let _ = self.response.send(response);
    }
}

impl Next for ToEnvoy {
    type Body = PieceBody;

    async fn send(&self, parts: Parts, body: Body) -> Result<Response<PieceBody>, String> {
        let body = body.collect().await.map_err(|error| error.to_string())?.to_bytes();
        let (response, waits) = oneshot::channel();
        let handed = self.0.send(Handover { parts, body, response }).await;
        handed.map_err(|_| GONE.to_owned())?;
        waits.await.map_err(|_| GONE.to_owned())?
    }
}
