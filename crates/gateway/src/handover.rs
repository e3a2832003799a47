//! Handing a checked request over to Envoy, which sends it and brings the response.

use bytes::Bytes;
use hyper::Response;
use hyper::http::request::Parts;
use tokio::sync::{mpsc, oneshot};
use toolbond_guard::gateway::Next;

use crate::body::PieceBody;

/// A request that is ready to be sent.
pub(super) struct Handover {
    pub(super) parts: Parts,
    pub(super) body: Bytes,
    pub(super) response: Waiting,
}

/// Who waits for the response, or for why there is none.
pub(super) type Waiting = oneshot::Sender<Result<Response<PieceBody>, String>>;

/// Hands requests over.
pub(super) struct ToEnvoy(pub(super) mpsc::Sender<Handover>);

impl Next for ToEnvoy {
    type Body = PieceBody;

    async fn send(&self, parts: Parts, body: Bytes) -> Result<Response<PieceBody>, String> {
        let (response, waits) = oneshot::channel();
        // Where nobody takes it, nobody responds, either.
        let _ = self.0.send(Handover { parts, body, response }).await;
        waits.await.unwrap_or_else(|_| Err("Envoy closed the stream".to_owned()))
    }
}
