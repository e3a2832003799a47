//! Listening for changes of the tool list of a server on HTTP.

use std::sync::Arc;

use hyper::{HeaderMap, Method};
use serde_json::json;

use super::http::LiveHttp;
use super::list::{Opening, open};
use super::server::{LiveServer as _, ToolsError};
use crate::back::http::HttpServer;
use crate::http::events::{BodyEvents, data};
use crate::http::media::{Media, media};
use crate::memory::Sender;
use toolbond_guard_core::counted::Counted;
use toolbond_guard_core::json::members::members;
use toolbond_guard_core::message::{
    Kind, Message, Method as Rpc, Parts, Text, code, error, response,
};

/// The most bytes of one event.
const MAX_EVENT: usize = 1 << 20;

/// Listens to `server` and calls `on_change` for each change of its tool list. Returns when the stream ends.
///
/// Fails if the server cannot be reached, wants to know who asks, or has no such stream.
pub(crate) async fn watch(
    server: HttpServer,
    on_change: impl FnMut() + Send,
) -> Result<(), ToolsError> {
    let mut remote = LiveHttp::new(server, HeaderMap::new());
    let watched = listen(&mut remote, on_change).await;
    remote.close().await;
    watched
}

async fn listen(
    remote: &mut LiveHttp,
    mut on_change: impl FnMut() + Send,
) -> Result<(), ToolsError> {
    let mut asked = 0;
    let response = match open(remote, &mut asked, Opening::Initialize).await?.meta {
        None => remote.send(Method::GET, String::new()).await?,
        Some(meta) => {
            let params = json!({ "_meta": meta, "notifications": { "toolsListChanged": true } });
            let request = json!({
                "jsonrpc": "2.0", "id": asked + 1, "method": "subscriptions/listen", "params": params,
            });
            remote.set_method("subscriptions/listen");
            remote.send(Method::POST, request.to_string()).await?
        }
    };
    let status = response.status();
    if !status.is_success() || media(response.headers()) != Ok(Media::Events) {
        return Err(ToolsError::Status { method: "subscriptions/listen", status });
    }
    // The list may have changed before the stream was open.
    on_change();
    let memory = Arc::clone(remote.pool.memory());
    let mut events = BodyEvents::new(response.into_body(), Sender::Asked, MAX_EVENT, &memory);
    while let Ok(Some(event)) = events.next().await {
        take(remote, data(&event, &memory), &mut on_change).await?;
    }
    Ok(())
}

/// Takes a message of the server: a change, or a request that wants an answer.
async fn take(
    remote: &mut LiveHttp,
    event: Counted,
    on_change: &mut (impl FnMut() + Send),
) -> Result<(), ToolsError> {
    let Ok(text) = Text::read(&event) else { return Ok(()) };
    let Ok(message) = Message::read(&text) else { return Ok(()) };
    let Parts::One(envelope) = &message.parts else { return Ok(()) };
    match &envelope.kind {
        Kind::Notification(Rpc::ToolsChanged) => on_change(),
        Kind::Request(id, _) => {
            let method = members(&text, ["method"]).ok().and_then(|[method]| method);
            let answer = match method {
                Some("\"ping\"") => response(id, "{}"),
                _ => error(Some(id), code::METHOD, "not supported"),
            };
            let answer = serde_json::from_slice(&answer).unwrap_or_default();
            remote.notify(&answer).await?;
        }
        _ => {}
    }
    Ok(())
}
