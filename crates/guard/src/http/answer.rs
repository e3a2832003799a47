//! What becomes of the answers of a server.

use std::sync::Arc;
use std::time::Duration;

use http_body_util::BodyExt as _;
use http_body_util::channel::{Channel, Sender};
use hyper::body::{Bytes, Incoming};
use hyper::header::{CONTENT_ENCODING, CONTENT_TYPE};
use hyper::{HeaderMap, Response, StatusCode};
use serde_json::value::RawValue;
use tokio::task::JoinHandle;

use super::events::{Events, data, with_data};
use super::posted::read;
use super::proxy::{Body, Proxy, full, json, pass, refuse, with_body};
use super::room::{NO_ROOM, Room};
use super::visit::Exchange;
use crate::asked::{Asked, UNJUDGED};
use crate::inspector::{Pace, lock};
use crate::message::{BYTE_ORDER_MARK, Kind, Message, code, error};
use crate::{Event, Id};

impl Proxy {
    /// Judges what is in an answer: one JSON body, or a stream of events, each as it comes. What the
    /// guard answered itself, `own`, is put beside it.
    pub(crate) async fn judge(
        self: &Arc<Self>,
        mut exchange: Exchange,
        response: Response<Incoming>,
        own: Vec<Vec<u8>>,
    ) -> Response<Body> {
        let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        let kind = kind.and_then(|kind| kind.split(';').next()).unwrap_or_default().trim();
        let is_json = kind.eq_ignore_ascii_case("application/json");
        let is_stream = kind.eq_ignore_ascii_case("text/event-stream");
        if !(is_json || is_stream) {
            // Where the rest of a batch needs no answer, it has none to put ours beside.
            if !own.is_empty() && response.status().is_success() {
                return json(StatusCode::OK, join(&own));
            }
            return pass(response);
        }
        if let Some(encoding) = encoding(response.headers()) {
            let text = format!("the answer of the server is encoded ({encoding}), unasked");
            self.visits.say(Event::error(format!("server: {text}")));
            return refuse(StatusCode::BAD_GATEWAY, code::INTERNAL, &text);
        }
        let (parts, body) = response.into_parts();
        let max = self.visits.settings().max_message;
        // The session that an answer opens is the one of the requests that follow.
        if parts.headers.contains_key("mcp-session-id") {
            exchange.visit = self.visits.of(&parts.headers);
            exchange.in_session = true;
        }
        if is_json {
            // How long it takes is up to the client, who can leave.
            let body = match read(body, max, Duration::MAX).await {
                Ok(body) => body,
                Err(unread) => {
                    let text = format!("the answer of the server was not read: {unread}");
                    self.visits.say(Event::error(format!("server: {text}")));
                    return refuse(StatusCode::BAD_GATEWAY, code::INTERNAL, &text);
                }
            };
            let body = judge_body(&exchange, body).await;
            let body = if own.is_empty() { body } else { beside(&body, own) };
            return with_body(parts, full(body));
        }
        let (mut sender, channel) = Channel::new(16);
        let proxy = Arc::clone(self);
        let carried = tokio::spawn(async move {
            for answer in own {
                let event = with_data(b"data:\n\n", answer.trim_ascii_end());
                if sender.send_data(event.into()).await.is_err() {
                    return;
                }
            }
            proxy.stream(&exchange, body, sender, max).await;
        });
        with_body(parts, carry(&carried, channel))
    }

    /// Carries events until one side is gone.
    async fn stream(
        &self,
        exchange: &Exchange,
        mut body: Incoming,
        mut sender: Sender<Bytes, Box<dyn std::error::Error + Send + Sync>>,
        max: usize,
    ) {
        let (mut events, mut room) = (Events::default(), Room::default());
        let mut is_first = true;
        loop {
            while let Some(event) = events.next() {
                // A stream may begin with a byte order mark, which is no part of the first event.
                let event = match event.strip_prefix(BYTE_ORDER_MARK) {
                    Some(marked) if is_first => marked.to_vec(),
                    _ => event,
                };
                is_first = false;
                let text = Bytes::from(data(&event));
                let judged = judge_body(exchange, text.clone()).await;
                let event =
                    if judged == text { event } else { with_data(&event, judged.trim_ascii_end()) };
                if sender.send_data(event.into()).await.is_err() {
                    return;
                }
            }
            if events.len() > max {
                let text = format!("event exceeds the limit of {max} bytes (--max-message)");
                self.visits.say(Event::error(format!("server: {text}")));
                return sender.abort(text.into());
            }
            let frame = tokio::select! {
                frame = body.frame() => frame,
                () = self.hung_up(), if exchange.is_listening => return,
            };
            match frame {
                Some(Ok(frame)) => {
                    if let Ok(bytes) = frame.into_data() {
                        if room.hold(events.len() + bytes.len()).await.is_err() {
                            self.visits.say(Event::error(format!("server: {NO_ROOM}")));
                            return sender.abort(NO_ROOM.into());
                        }
                        events.feed(&bytes);
                    }
                }
                Some(Err(error)) => return sender.abort(error.into()),
                None => break,
            }
        }
        let mut rest = events.rest();
        let text = Bytes::from(data(&rest));
        // An event that its stream broke off is none, and clients pass over it. Its message may be
        // whole all the same: `\r\r` ends an event only when nothing follows.
        if Message::read(&text).is_ok() {
            let judged = judge_body(exchange, text.clone()).await;
            if judged != text {
                rest = with_data(&rest, judged.trim_ascii_end());
            }
        }
        if !rest.is_empty() {
            // A client that is gone does not want it.
            let _ = sender.send_data(rest.into()).await;
        }
    }
}

/// How a body is encoded, where it is: most clients decode it whether they asked for it or not.
fn encoding(headers: &HeaderMap) -> Option<String> {
    let named = headers.get_all(CONTENT_ENCODING).iter();
    let mut named = named.map(|name| String::from_utf8_lossy(name.as_bytes()).into_owned());
    named.find(|name| !name.trim().eq_ignore_ascii_case("identity"))
}

/// The body that `task` fills. A client that is gone drops it: then nothing is carried any more,
/// however long the server says nothing.
pub(crate) fn carry(
    task: &JoinHandle<()>,
    channel: Channel<Bytes, Box<dyn std::error::Error + Send + Sync>>,
) -> Body {
    let carried = Carried(task.abort_handle());
    let body = channel.map_frame(move |frame| {
        let _ = &carried;
        frame
    });
    body.boxed()
}

/// The task that carries a stream: ends with it.
struct Carried(tokio::task::AbortHandle);

impl Drop for Carried {
    fn drop(&mut self) {
        self.0.abort();
    }
}

async fn judge_body(exchange: &Exchange, body: Bytes) -> Bytes {
    if !body.trim_ascii_start().starts_with(b"[") {
        return judge_text(exchange, &body).await.map_or(body, Into::into);
    }
    let Ok(batch) = serde_json::from_slice::<Vec<&RawValue>>(&body) else {
        return broken(exchange).map_or(body, Into::into);
    };
    let mut texts = Vec::with_capacity(batch.len());
    let mut changed = false;
    for element in batch {
        let old = element.get().as_bytes();
        let new = judge_text(exchange, old).await;
        changed |= new.is_some();
        texts.push(new.map_or_else(|| old.to_vec(), |new| new.trim_ascii_end().to_vec()));
    }
    if !changed {
        return body;
    }
    join(&texts).into()
}

/// A batch of messages.
pub(crate) fn join(texts: &[Vec<u8>]) -> Vec<u8> {
    let texts: Vec<_> = texts.iter().map(|text| text.trim_ascii()).collect();
    [b"[", &texts.join(&b","[..])[..], b"]"].concat()
}

/// The answers in `body`, a batch or a single one, and `own`, as a batch.
fn beside(body: &[u8], mut own: Vec<Vec<u8>>) -> Bytes {
    let theirs = match serde_json::from_slice::<Vec<&RawValue>>(body) {
        Ok(batch) => batch.iter().map(|answer| answer.get().as_bytes().to_vec()).collect(),
        Err(_) => vec![body.to_vec()],
    };
    own.splice(0..0, theirs);
    join(&own).into()
}

/// One message as the client gets it; nothing where that is how it came.
async fn judge_text(exchange: &Exchange, text: &[u8]) -> Option<Vec<u8>> {
    let message = match Message::read(text) {
        Ok(message) => message,
        Err(_) if looks_like_one(text) => return broken(exchange),
        // Clients pass over it, or know what to say.
        Err(_) => return None,
    };
    let (id, asked) = look(exchange, &message)?;
    let inspector = Arc::clone(&exchange.visit.inspector);
    if let Ok(judged) = asked.judge(&inspector, id.as_ref(), &message, text, Pace::Quick) {
        return judged;
    }
    let (old, ward, answered) = (text.to_vec(), Arc::clone(&inspector.ward), id.clone());
    let judge = move |pace| asked.judge_line(&inspector, id.as_ref(), &old, pace);
    let failed = || Some(error(answered.as_ref(), code::INTERNAL, UNJUDGED));
    ward.workers.judge(judge).await.unwrap_or_else(failed)
}

/// Whether a client may still find a message in `text`.
fn looks_like_one(text: &[u8]) -> bool {
    let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    matches!(text.trim_ascii_start().first(), Some(b'{' | b'['))
}

/// What takes the place of a message that cannot be read, or be read in two ways: it may be the
/// answer to any request that is looked at. Nothing where there is none.
fn broken(exchange: &Exchange) -> Option<Vec<u8>> {
    let text = "the server sent a broken message";
    let ids = exchange.give_up();
    let errors: Vec<_> = ids.iter().map(|id| error(Some(id), code::INTERNAL, text)).collect();
    let errors = match &errors[..] {
        [] => return None,
        [one] => one.clone(),
        _ => join(&errors),
    };
    exchange.visit.inspector.say(Event::error(format!("server: {text}")));
    Some(errors)
}

/// The request that a message answers, where the answer is looked at.
fn look(exchange: &Exchange, message: &Message<'_>) -> Option<(Option<Id>, Arc<Asked>)> {
    let id = match message.kind() {
        Kind::Response(id) => id,
        Kind::Notification("notifications/tools/list_changed") => {
            exchange.visit.inspector.tools_changed();
            return None;
        }
        Kind::Notification("notifications/tasks") => {
            let inspector = &exchange.visit.inspector;
            let asked = inspector.asks_for_task("tasks/get", message.params)?;
            return Some((None, Arc::new(asked)));
        }
        _ => return None,
    };
    let asked = exchange.answer(&id)?;
    if let Asked::Initialize = *asked {
        let inspector = &exchange.visit.inspector;
        if let Some(revision) = message.result.and_then(|result| inspector.initialized(result)) {
            *lock(&exchange.visit.negotiated) = revision;
        }
        return None;
    }
    message.result?;
    Some((Some(id), asked))
}
