//! What becomes of the messages that a client posts.

use std::sync::atomic::{AtomicUsize, Ordering};

use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use hyper::header::{ACCEPT, CONTENT_LENGTH, HeaderValue};
use hyper::{HeaderMap, Method, Response, StatusCode};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use toolpact_contract::Revision;

use super::answer::join;
use super::events::{Events, data};
use super::proxy::{Proxy, full};
use super::visit::{Exchange, Visit};
use crate::Id;
use crate::asked::Asked;
use crate::catalog::Known;
use crate::fetch::{Asks, OWN, asking};
use crate::inspector::{Pace, lock};
use crate::message::{Kind, Message, ToolParams, code, error, response};

/// What becomes of a body.
pub(crate) enum Sorted {
    /// It is sent on as it is.
    Forward,
    /// These messages of a batch are sent on, and these are the answers to the others.
    Partly(Vec<u8>, Vec<Vec<u8>>),
    /// The guard answers itself.
    Answered(StatusCode, Vec<u8>),
}

impl Proxy {
    /// Sorts what a client posted: one message, or a batch of them.
    pub(crate) async fn sort(
        &self,
        exchange: &Exchange,
        headers: &HeaderMap,
        body: &[u8],
    ) -> Sorted {
        if !body.trim_ascii_start().starts_with(b"[") {
            let message = match Message::read(body) {
                Ok(message) => message,
                Err(error) => return unread(&error),
            };
            let answer = self.sort_one(exchange, headers, &message).await;
            return answer
                .map_or(Sorted::Forward, |answer| Sorted::Answered(StatusCode::OK, answer));
        }
        let texts: Vec<&RawValue> = match serde_json::from_slice(body) {
            Ok(texts) => texts,
            Err(error) => return unread(&error),
        };
        let (mut kept, mut answers) = (Vec::new(), Vec::new());
        for text in texts {
            let text = text.get().as_bytes();
            let message = match Message::read(text) {
                Ok(message) => message,
                Err(error) => return unread(&error),
            };
            match self.sort_one(exchange, headers, &message).await {
                Some(answer) => answers.push(answer),
                None => kept.push(text.to_vec()),
            }
        }
        match (kept.is_empty(), answers.is_empty()) {
            (_, true) => Sorted::Forward,
            (true, false) => Sorted::Answered(StatusCode::OK, join(&answers)),
            (false, false) => Sorted::Partly(join(&kept), answers),
        }
    }

    async fn sort_one(
        &self,
        exchange: &Exchange,
        headers: &HeaderMap,
        message: &Message<'_>,
    ) -> Option<Vec<u8>> {
        let visit = &exchange.visit;
        let Kind::Request(id, method) = message.kind() else { return None };
        if matches!(method, "initialize" | "server/discover") {
            exchange.remember(id, Asked::Initialize);
            return None;
        }
        if matches!(method, "tasks/result" | "tasks/get") {
            let asked = visit.inspector.asks_for_task(method, message.params);
            exchange.remember(id, asked.unwrap_or(Asked::Other));
            return None;
        }
        if method != "tools/list" && method != "tools/call" {
            exchange.remember(id, Asked::Other);
            return None;
        }
        let wrong = |wrong: serde_json::Error| {
            error(Some(&id), code::PARAMS, &format!("#/params: {wrong}"))
        };
        let (params, named) = match ToolParams::read(message.params) {
            Ok(params) => match params.revision() {
                Ok(named) => (params, named),
                Err(error) => return Some(wrong(error)),
            },
            Err(error) => return Some(wrong(error)),
        };
        let revision = named.unwrap_or_else(|| visit.revision(headers));
        if method == "tools/list" {
            let place = lock(&visit.inspector.catalog).asks(params.cursor.is_none());
            exchange.remember(id, Asked::List { place, revision });
            return None;
        }
        let Some(name) = params.name.as_deref() else {
            return Some(error(
                Some(&id),
                code::PARAMS,
                "#/params: missing required property `name`",
            ));
        };
        let meta = params.meta.map(RawValue::get);
        let lister = Lister { proxy: self, headers, asked: AtomicUsize::new(0) };
        let known = visit.inspector.known(name, meta, &revision, &lister).await;
        visit.inspector.called(known.as_ref(), name, &revision);
        match &known {
            Some(Known::Dropped(reason)) => {
                let text = format!("tool `{name}` is not offered: {reason}");
                return Some(error(Some(&id), code::PARAMS, &text));
            }
            Some(known) => {
                let arguments = params.arguments.map(RawValue::get);
                if let Some(refusal) = arguments_of(visit, known, arguments, &revision).await {
                    return Some(response(&id, &refusal));
                }
            }
            _ => {}
        }
        exchange.remember(id, Asked::Call { known, revision });
        None
    }
}

/// Asks the server for its tools as its client asks for them.
struct Lister<'a> {
    proxy: &'a Proxy,
    headers: &'a HeaderMap,
    asked: AtomicUsize,
}

impl Asks for Lister<'_> {
    async fn page(&self, params: Map<String, Value>) -> Result<Vec<u8>, String> {
        let mut headers = self.headers.clone();
        let own: Vec<_> = headers
            .keys()
            .filter(|name| name.as_str().starts_with("mcp-param-"))
            .cloned()
            .collect();
        for name in own {
            headers.remove(name);
        }
        headers.remove("mcp-name");
        headers.remove(CONTENT_LENGTH);
        if headers.contains_key("mcp-method") {
            headers.insert("mcp-method", HeaderValue::from_static("tools/list"));
        }
        headers.insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
        let id = Id::String(format!("{OWN}{}", self.asked.fetch_add(1, Ordering::Relaxed)));
        let body = full(asking(&id, params));
        let uri = self.proxy.endpoint();
        let sent = self.proxy.send(Method::POST, uri, headers, body).await;
        let response = sent.map_err(|_| "the server cannot be reached".to_owned())?;
        let status = response.status();
        let max = self.proxy.visits.settings().max_message;
        let answer = answer_to(&id, response, max).await;
        answer.ok_or_else(|| format!("the server answered with {status} and no message"))
    }
}

/// The tool error to answer a call with, where its arguments are not let through.
async fn arguments_of(
    visit: &Visit,
    known: &Known,
    arguments: Option<&str>,
    revision: &Revision,
) -> Option<String> {
    if let Ok(judged) = visit.inspector.arguments(known, arguments, revision, Pace::Quick) {
        return judged;
    }
    visit.inspector.arguments_later(known, arguments, revision).await
}

/// The answer to `id` in a response, JSON or a stream of events, which is read no further.
pub(crate) async fn answer_to(
    id: &Id,
    response: Response<Incoming>,
    max: usize,
) -> Option<Vec<u8>> {
    let answers = |text: &[u8]| {
        Message::read(text)
            .is_ok_and(|message| matches!(message.kind(), Kind::Response(other) if other == *id))
    };
    let mut body = response.into_body();
    let mut all = Vec::new();
    let mut events = Events::default();
    let mut read = 0;
    while let Some(frame) = body.frame().await {
        let Ok(bytes) = frame.ok()?.into_data() else { continue };
        read += bytes.len();
        if read > max {
            return None;
        }
        all.extend_from_slice(&bytes);
        events.feed(&bytes);
        let found = std::iter::from_fn(|| events.next())
            .map(|event| data(&event))
            .find(|text| answers(text));
        if found.is_some() {
            return found;
        }
    }
    answers(&all).then_some(all)
}

fn unread(wrong: &serde_json::Error) -> Sorted {
    let code = if wrong.is_data() { code::REQUEST } else { code::PARSE };
    let text = format!("expected a message, found {wrong}");
    Sorted::Answered(StatusCode::BAD_REQUEST, error(None, code, &text))
}
