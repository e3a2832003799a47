//! Health checks: the service `grpc.health.v1.Health`.

use std::sync::Arc;

use hyper::Request;
use hyper::body::Incoming;
use prost::Message;
use tokio::sync::watch;

use super::messages::{Delivered, Messages};
use super::replies::{Replies, ReplySender, replies};
use super::status::{Code, Status, wrong};

/// The name of the service.
pub(super) const NAME: &str = "grpc.health.v1.Health";

/// The most bytes of a request.
const MAX_REQUEST: usize = 4096;

/// What the health of a service is asked for with.
#[derive(Clone, PartialEq, Message)]
struct HealthCheckRequest {
    /// The name of the service; empty for all.
    #[prost(string, tag = "1")]
    service: String,
}

/// The health of a service.
#[derive(Clone, PartialEq, Message)]
struct HealthCheckResponse {
    #[prost(enumeration = "ServingStatus", tag = "1")]
    status: i32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, prost::Enumeration)]
enum ServingStatus {
    Unknown = 0,
    Serving = 1,
    NotServing = 2,
    ServiceUnknown = 3,
}

/// Answers a request for `method` about the service `name`, which is healthy while `is_serving`.
pub(super) fn answer(
    name: &'static str,
    is_serving: &watch::Receiver<bool>,
    method: &str,
    request: Request<Incoming>,
) -> Option<Replies> {
    let is_watching = match method {
        "Check" => false,
        "Watch" => true,
        _ => return None,
    };
    // Requests and replies are small.
    let (sender, replies) = replies(1, &Arc::default());
    let is_serving = is_serving.clone();
    tokio::spawn(async move {
        let told = tell(name, is_serving, is_watching, request, &sender);
        if let Err(status) = told.await {
            sender.end(status).await;
        }
    });
    Some(replies)
}

/// Tells the health once, or on every change.
async fn tell(
    name: &str,
    mut is_serving: watch::Receiver<bool>,
    is_watching: bool,
    request: Request<Incoming>,
    sender: &ReplySender,
) -> Result<(), Status> {
    let body = request.into_body();
    let mut requests = Messages::<HealthCheckRequest>::new(body, MAX_REQUEST, &Arc::default());
    let Some(Delivered { message: request, .. }) = requests.next().await? else {
        return Err(wrong("expected a message"));
    };
    let is_known = request.service.is_empty() || request.service == name;
    if !is_known && !is_watching {
        return Err(Status::new(Code::NotFound, "service not registered"));
    }
    loop {
        let status = match *is_serving.borrow_and_update() {
            _ if !is_known => ServingStatus::ServiceUnknown,
            true => ServingStatus::Serving,
            false => ServingStatus::NotServing,
        };
        sender.send(&HealthCheckResponse { status: status.into() }).await?;
        if !is_watching {
            return Ok(());
        }
        tokio::select! {
            changed = is_serving.changed() => if changed.is_err() { return Ok(()) },
            () = sender.closed() => return Ok(()),
        }
    }
}
