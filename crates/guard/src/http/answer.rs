//! What becomes of the answers of a server.

use std::error::Error;
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
        let kind = kind(response.headers());
        let is_json = kind.contains("application/json") || kind.contains("+json");
        let is_stream = kind.contains("text/event-stream");
        if !(is_json || is_stream) {
            // Where the rest of a batch needs no answer, it has none to put ours beside.
            if !own.is_empty() && response.status().is_success() {
                return json(StatusCode::OK, join(&own));
            }
            return pass(response);
        }
        let encoding = encoding(response.headers());
        if encoding.is_some() || (is_json && is_stream) {
            let text = match encoding {
                Some(name) => format!("the answer of the server is encoded ({name}), unasked"),
                None => "the answer of the server is JSON and a stream of events".to_owned(),
            };
            self.visits.say(Event::error(format!("server: {text}")));
            return refuse(StatusCode::BAD_GATEWAY, code::INTERNAL, &text);
        }
        let (parts, body) = response.into_parts();
        let max = self.visits.settings().max_message;
        if parts.headers.contains_key("mcp-session-id") {
            exchange.enter(self.visits.of(&parts.headers));
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
            let body = body.unwrap_or_else(|| unanswered(&exchange).into());
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
        mut body: impl hyper::body::Body<Data = Bytes, Error: Into<Box<dyn Error + Send + Sync>>>
        + Unpin,
        mut sender: Sender<Bytes, Box<dyn Error + Send + Sync>>,
        max: usize,
    ) {
        let (mut events, mut room) = (Events::default(), Room::default());
        let mut is_over = false;
        loop {
            // What says nothing goes on with what follows it.
            let mut out = Vec::new();
            while let Some(event) = events.next() {
                let text = Bytes::from(data(&event));
                if text.is_empty() {
                    out.extend_from_slice(&event);
                    continue;
                }
                let event = match judge_body(exchange, text.clone()).await {
                    Some(judged) if judged == text => event,
                    Some(judged) => with_data(&event, judged.trim_ascii_end()).into(),
                    None => continue,
                };
                let event = if out.is_empty() {
                    event
                } else {
                    out.extend_from_slice(&event);
                    std::mem::take(&mut out).into()
                };
                if sender.send_data(event).await.is_err() {
                    return;
                }
            }
            if !out.is_empty() && sender.send_data(out.into()).await.is_err() {
                return;
            }
            if is_over {
                break;
            }
            // There is always room for less.
            let _ = room.hold(events.len()).await;
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
                None => {
                    events.finish();
                    is_over = true;
                }
            }
        }
        let mut rest = events.rest();
        let text = Bytes::from(data(&rest));
        // An event that its stream broke off is none, and clients pass over it; most of them.
        if Message::read(&text).is_ok() {
            match judge_body(exchange, text.clone()).await {
                Some(judged) if judged == text => {}
                Some(judged) => rest = with_data(&rest, judged.trim_ascii_end()).into(),
                None => return,
            }
        }
        if !rest.is_empty() {
            // A client that is gone does not want it.
            let _ = sender.send_data(rest).await;
        }
    }
}

/// What a body is, in lower case: clients look for a name at the start of it, or anywhere in it.
fn kind(headers: &HeaderMap) -> String {
    let named = headers.get_all(CONTENT_TYPE).iter();
    let named = named.map(|name| String::from_utf8_lossy(name.as_bytes()).to_ascii_lowercase());
    named.collect::<Vec<_>>().join(", ")
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
    channel: Channel<Bytes, Box<dyn Error + Send + Sync>>,
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

/// What becomes of a message.
enum Fate {
    /// It leaves as it came.
    Same,
    /// This takes its place.
    Replaced(Vec<u8>),
    /// Nothing does.
    LeftOut,
}

/// A message, or a batch of them, as the client gets it; nothing where nothing is left of it.
async fn judge_body(exchange: &Exchange, body: Bytes) -> Option<Bytes> {
    let is_batch = body.trim_ascii_start().starts_with(b"[");
    let batch = is_batch.then(|| serde_json::from_slice::<Vec<&RawValue>>(&body));
    let fate = match batch {
        None => judge_text(exchange, &body).await,
        Some(Err(_)) => broken(exchange),
        Some(Ok(batch)) => {
            let mut texts = Vec::with_capacity(batch.len());
            let mut changed = false;
            for element in batch {
                let old = element.get().as_bytes();
                let fate = judge_text(exchange, old).await;
                changed |= !matches!(fate, Fate::Same);
                match fate {
                    Fate::Same => texts.push(old.to_vec()),
                    Fate::Replaced(new) => texts.push(new),
                    Fate::LeftOut => {}
                }
            }
            match (changed, texts.is_empty()) {
                (false, _) => Fate::Same,
                (true, true) => Fate::LeftOut,
                (true, false) => Fate::Replaced(join(&texts)),
            }
        }
    };
    match fate {
        Fate::Same => Some(body),
        Fate::Replaced(new) => Some(new.into()),
        Fate::LeftOut => None,
    }
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

async fn judge_text(exchange: &Exchange, text: &[u8]) -> Fate {
    let message = match Message::read(text) {
        Ok(message) => message,
        Err(_) if looks_like_one(text) => return broken(exchange),
        // Clients pass over it, or know what to say.
        Err(_) => return Fate::Same,
    };
    let (id, asked) = match look(exchange, &message) {
        Look::Judge(id, asked) => (id, asked),
        Look::Pass => return Fate::Same,
        Look::LeaveOut => return Fate::LeftOut,
    };
    let fate = |judged: Option<Vec<u8>>| judged.map_or(Fate::Same, Fate::Replaced);
    let inspector = Arc::clone(&exchange.visit.inspector);
    if let Ok(judged) = asked.judge(&inspector, id.as_ref(), &message, text, Pace::Quick) {
        return fate(judged);
    }
    let (old, ward, answered) = (text.to_vec(), Arc::clone(&inspector.ward), id.clone());
    let judge = move |pace| asked.judge_line(&inspector, id.as_ref(), &old, pace);
    let failed = || Some(error(answered.as_ref(), code::INTERNAL, UNJUDGED));
    fate(ward.workers.judge(judge).await.unwrap_or_else(failed))
}

/// Whether a client may still find a message in `text`.
fn looks_like_one(text: &[u8]) -> bool {
    let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    matches!(text.trim_ascii_start().first(), Some(b'{' | b'['))
}

/// What becomes of a message that cannot be read, or be read in two ways: it may be the answer to
/// any request that is looked at.
fn broken(exchange: &Exchange) -> Fate {
    let text = "the server sent a broken message";
    let Some(ids) = exchange.give_up() else { return Fate::Same };
    let inspector = &exchange.visit.inspector;
    if ids.is_empty() && !inspector.settings().looks() {
        return Fate::Same;
    }
    inspector.say(Event::error(format!("server: {text}")));
    errors(&ids, text).map_or(Fate::LeftOut, Fate::Replaced)
}

/// Errors that answer these requests; nothing where there are none.
fn errors(ids: &[Id], text: &str) -> Option<Vec<u8>> {
    let errors: Vec<_> = ids.iter().map(|id| error(Some(id), code::INTERNAL, text)).collect();
    match &errors[..] {
        [] => None,
        [one] => Some(one.clone()),
        _ => Some(join(&errors)),
    }
}

/// What takes the place of an answer of which nothing is left.
fn unanswered(exchange: &Exchange) -> Vec<u8> {
    let text = "the server did not answer the request";
    let ids = exchange.give_up().unwrap_or_default();
    errors(&ids, text).unwrap_or_else(|| error(None, code::INTERNAL, text))
}

/// What is to be done with a message.
enum Look {
    /// The answer to `Asked` is judged, or what says the same about a task.
    Judge(Option<Id>, Arc<Asked>),
    /// It leaves as it came.
    Pass,
    /// It does not leave.
    LeaveOut,
}

/// Finds the request that a message answers.
fn look(exchange: &Exchange, message: &Message<'_>) -> Look {
    let inspector = &exchange.visit.inspector;
    let id = match message.kind() {
        Kind::Response(id) => id,
        Kind::Notification("notifications/tools/list_changed") => {
            inspector.tools_changed();
            return Look::Pass;
        }
        Kind::Notification("notifications/tasks") => {
            let asked = inspector.asks_for_task("tasks/get", message.params);
            return asked.map_or(Look::Pass, |asked| Look::Judge(None, Arc::new(asked)));
        }
        // An answer to nobody.
        Kind::Other if message.result.is_some() && inspector.settings().looks() => {
            return Look::LeaveOut;
        }
        _ => return Look::Pass,
    };
    match (exchange.answer(&id), message.result) {
        (Some(asked), Some(result)) if matches!(*asked, Asked::Initialize) => {
            if let Some(revision) = inspector.initialized(result) {
                *lock(&exchange.visit.negotiated) = revision;
            }
            Look::Pass
        }
        (Some(asked), Some(_)) => Look::Judge(Some(id), asked),
        (None, Some(_)) if inspector.settings().looks() => {
            let id: String = id.to_string().chars().take(60).collect();
            let text = format!("server: {id} is the id of no request of the session; left out");
            inspector.say(Event::info(text));
            Look::LeaveOut
        }
        _ => Look::Pass,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use http_body_util::BodyExt as _;
    use http_body_util::channel::Channel;
    use hyper::body::Bytes;
    use hyper::{HeaderMap, Method};

    use super::super::room::held;
    use super::{Exchange, Proxy};
    use crate::http::Client;
    use crate::{Event, Settings, Ward};

    #[tokio::test]
    async fn an_event_that_has_left_takes_no_room() {
        let ward = Ward::new("server", Settings::default(), Arc::new(|_: Event| {}));
        let client = Client::new(None).unwrap();
        let proxy = Proxy::new("http://localhost/mcp", client, Arc::new(ward)).unwrap();
        let headers = HeaderMap::new();
        let exchange = Exchange::new(proxy.visits.of(&headers), &headers, &Method::GET);
        let (mut server, body) = Channel::<Bytes>::new(4);
        let (sender, mut client) = Channel::new(4);
        let converse = async move {
            server.send_data(Bytes::from(vec![b':'; 1 << 20])).await.unwrap();
            while held() == 0 {
                tokio::task::yield_now().await;
            }
            server.send_data(Bytes::from_static(b"\n\n")).await.unwrap();
            assert!(client.frame().await.unwrap().unwrap().is_data());
            for _ in 0..100 {
                tokio::task::yield_now().await;
            }
            assert_eq!(held(), 0);
        };
        tokio::join!(converse, proxy.stream(&exchange, body, sender, 1 << 24));
    }
}
