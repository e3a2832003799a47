//! The subscription that the bridge keeps at a modern server for a legacy client.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use bytestring::ByteString;
use serde_json::{Value, json};

use super::capability::{Features, Lists};
use super::io::Io;
use super::message::meta;
use crate::json::object::Object;
use crate::message::{Id, code, error_message};

/// The most resources that one client subscribes to.
const MAX_RESOURCES: usize = 1000;

/// How long to wait before a subscription that the server ended is opened again.
const PAUSE: Duration = Duration::from_secs(5);

/// What a notification of the server is.
pub(super) enum Subscribed {
    /// It was for the bridge.
    Taken,
    /// The client is told, with these parameters.
    Told(Object),
    /// It belongs to no subscription.
    Other,
}

/// The subscription of one client. A change opens a new one, and the old one ends when the new one is there.
#[derive(Default)]
pub(super) struct Listening {
    features: Features,
    resources: BTreeSet<String>,
    /// The requests that are open, oldest first.
    open: Vec<Open>,
    again: Option<Instant>,
}

struct Open {
    id: Id,
    /// The request of the client that it answers, and the resource that it is about.
    answers: Option<(Id, String, bool)>,
}

impl Listening {
    pub(super) fn next_timeout(&self) -> Option<Instant> {
        self.again
    }

    pub(super) fn on_timeout(&mut self, io: &mut Io, meta: &str) {
        if self.again.is_some_and(|again| again <= io.now) {
            self.again = None;
            self.open(io, meta, None);
        }
    }

    /// Starts to listen for changes of lists, if the server tells about them.
    pub(super) fn start(&mut self, io: &mut Io, meta: &str, features: Features) {
        self.features = features;
        if features.changes != Lists::default() && self.open.is_empty() {
            self.open(io, meta, None);
        }
    }

    /// Adds or removes a resource, for the request `id` of the client.
    pub(super) fn subscribe(&mut self, io: &mut Io, meta: &str, id: Id, uri: String, adds: bool) {
        if adds && self.resources.len() >= MAX_RESOURCES && !self.resources.contains(&uri) {
            let text = format!("the client subscribes to {MAX_RESOURCES} resources already");
            return io.refuse(&id, code::PARAMS, &text);
        }
        let changes =
            if adds { self.resources.insert(uri.clone()) } else { self.resources.remove(&uri) };
        if !changes {
            return io.answer(&id, "{}");
        }
        self.open(io, meta, Some((id, uri, adds)));
    }

    fn open(&mut self, io: &mut Io, meta: &str, answers: Option<(Id, String, bool)>) {
        let mut wanted = self.features.changes.write();
        if !self.resources.is_empty() {
            wanted.insert("resourceSubscriptions".to_owned(), json!(self.resources));
        }
        let id = io.own_id();
        let wanted = Value::from(wanted).to_string();
        let params = Object::from([("_meta", meta.to_owned()), ("notifications", wanted)]);
        io.request(&id, "subscriptions/listen", params);
        self.open.push(Open { id, answers });
    }

    /// Takes a notification of the server.
    pub(super) fn on_notification(
        &mut self,
        io: &mut Io,
        method: &str,
        mut params: Object,
    ) -> Subscribed {
        if method == "notifications/cancelled" {
            let id = params.get("requestId").and_then(|id| Id::parse(id));
            if let Some(id) = id.filter(|id| self.open.iter().any(|open| open.id == *id)) {
                self.end(io, &id, "the server ended the subscription");
            }
            return Subscribed::Taken;
        }
        let mut meta = params.object("_meta");
        let id = meta.get(meta::SUBSCRIPTION).and_then(|id| Id::parse(id));
        let Some(at) = id.and_then(|id| self.open.iter().position(|open| open.id == id)) else {
            return Subscribed::Other;
        };
        if method == "notifications/subscriptions/acknowledged" {
            let told = params.object("notifications");
            let uris = told.get("resourceSubscriptions");
            let uris: Option<Vec<String>> = uris.and_then(|uris| serde_json::from_str(uris).ok());
            let uris = uris.unwrap_or_default();
            for replaced in self.open.drain(..at) {
                io.cancel(&replaced.id, "another subscription takes its place");
                if let Some((id, ..)) = replaced.answers {
                    io.answer(&id, "{}");
                }
            }
            if let Some((id, uri, adds)) = self.open[0].answers.take() {
                if adds && !uris.contains(&uri) {
                    self.resources.remove(&uri);
                    io.refuse(
                        &id,
                        code::PARAMS,
                        "the server does not offer changes of this resource",
                    );
                } else {
                    io.answer(&id, "{}");
                }
            }
            return Subscribed::Taken;
        }
        // While two subscriptions are open, both tell of a change.
        if at + 1 < self.open.len() && self.open.len() > 1 && self.open[at + 1].answers.is_none() {
            return Subscribed::Taken;
        }
        meta.remove(meta::SUBSCRIPTION);
        let (meta, is_empty) = (meta.to_string(), meta.is_empty());
        if is_empty {
            params.remove("_meta");
        } else {
            params.set("_meta", meta);
        }
        Subscribed::Told(params)
    }

    /// Takes an answer of the server; `true` if it ends the subscription.
    pub(super) fn on_answer(
        &mut self,
        io: &mut Io,
        id: &Id,
        outcome: &Result<ByteString, ByteString>,
    ) -> bool {
        if !self.open.iter().any(|open| open.id == *id) {
            return false;
        }
        let reason = match outcome {
            Ok(_) => "the server ended the subscription".to_owned(),
            Err(error) => error_message(error).unwrap_or_else(|| "no message".to_owned()),
        };
        self.end(io, id, &reason);
        true
    }

    fn end(&mut self, io: &mut Io, id: &Id, reason: &str) {
        let Some(at) = self.open.iter().position(|open| open.id == *id) else { return };
        let ended = self.open.remove(at);
        if let Some((id, uri, adds)) = ended.answers {
            if adds {
                self.resources.remove(&uri);
            }
            return io.refuse(&id, code::INTERNAL, reason);
        }
        if self.open.is_empty() {
            io.report_once(format!(
                "server: the subscription to changes ended ({reason}); it is opened again every {} s",
                PAUSE.as_secs()
            ));
            self.again = Some(io.now + PAUSE);
        }
    }
}
