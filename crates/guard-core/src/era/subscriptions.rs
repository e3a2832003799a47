//! The subscriptions of modern clients, served from the notifications of a legacy server.

use ahash::AHashMap;
use serde_json::{Value, json};

use super::capability::{Features, Lists};
use super::io::Io;
use super::message::meta;
use crate::json::object::Object;
use crate::message::{Frame, Id, code};

/// The most subscriptions of one conversation at a time.
const MAX_SUBSCRIPTIONS: usize = 4096;

/// The most resources of all subscriptions of one conversation.
const MAX_RESOURCES: usize = 10_000;

/// The subscriptions of the clients of one conversation.
#[derive(Default)]
pub(super) struct Subscriptions {
    open: AHashMap<Id, Subscription>,
    /// How many subscriptions name a resource.
    resources: AHashMap<String, usize>,
    /// The requests to the server that have no answer yet: the subscription and the resource.
    asked: AHashMap<Id, Option<(Id, String)>>,
}

struct Subscription {
    lists: Lists,
    resources: Vec<String>,
    /// The answers of the server to wait for, before the client is told.
    missing: usize,
}

impl Subscriptions {
    /// Opens the subscription `id`.
    pub(super) fn open(&mut self, io: &mut Io, id: &Id, params: &Object, features: Features) {
        let wanted = params.object("notifications");
        let uris = wanted.get("resourceSubscriptions").map_or("[]", |uris| uris);
        let Ok(mut uris) = serde_json::from_str::<Vec<String>>(uris) else {
            let text = "#/params/notifications/resourceSubscriptions: expected an array of strings";
            return io.refuse(id, code::PARAMS, text);
        };
        uris.sort_unstable();
        uris.dedup();
        if self.open.contains_key(id) {
            return io.refuse(id, code::REQUEST, &format!("request id {id} is already in use"));
        }
        if self.open.len() >= MAX_SUBSCRIPTIONS || self.resources.len() + uris.len() > MAX_RESOURCES
        {
            let text = format!(
                "the limits of {MAX_SUBSCRIPTIONS} subscriptions and {MAX_RESOURCES} resources are reached"
            );
            return io.refuse(id, code::INTERNAL, &text);
        }
        if !features.subscribe {
            uris.clear();
        }
        let lists = Lists::read(&wanted).and(features.changes);
        let mut missing = 0;
        for uri in &uris {
            let count = self.resources.entry(uri.clone()).or_default();
            *count += 1;
            if *count == 1 {
                let asked = io.own_id();
                io.request(&asked, "resources/subscribe", uri_params(uri));
                self.asked.insert(asked, Some((id.clone(), uri.clone())));
                missing += 1;
            }
        }
        self.open.insert(id.clone(), Subscription { lists, resources: uris, missing });
        self.acknowledge(io, id);
    }

    /// Tells the client what it subscribed to, once that is known.
    fn acknowledge(&self, io: &mut Io, id: &Id) {
        let Some(subscription) = self.open.get(id).filter(|it| it.missing == 0) else { return };
        let mut told = subscription.lists.write();
        if !subscription.resources.is_empty() {
            told.insert("resourceSubscriptions".to_owned(), json!(subscription.resources));
        }
        let meta = Object::from([(meta::SUBSCRIPTION, id.to_string())]);
        let told = Value::from(told).to_string();
        let params = Object::from([("_meta", meta.to_string()), ("notifications", told)]);
        let method = "notifications/subscriptions/acknowledged";
        io.send_client(Frame::request(None, method, &params));
    }

    /// Takes an answer of the server; `true` if it is to a request for a resource.
    pub(super) fn on_answer(&mut self, io: &mut Io, id: &Id, is_error: bool) -> bool {
        let Some(asked) = self.asked.remove(id) else { return false };
        let Some((subscription, uri)) = asked else { return true };
        if is_error {
            self.resources.remove(&uri);
        }
        if let Some(open) = self.open.get_mut(&subscription) {
            if is_error {
                open.resources.retain(|known| *known != uri);
            }
            open.missing = open.missing.saturating_sub(1);
        }
        self.acknowledge(io, &subscription);
        true
    }

    /// Closes the subscription `id`; `false` if there is none.
    pub(super) fn close(&mut self, io: &mut Io, id: &Id) -> bool {
        let Some(subscription) = self.open.remove(id) else { return false };
        for uri in subscription.resources {
            let Some(count) = self.resources.get_mut(&uri) else { continue };
            *count -= 1;
            if *count == 0 {
                self.resources.remove(&uri);
                let asked = io.own_id();
                io.request(&asked, "resources/unsubscribe", uri_params(&uri));
                self.asked.insert(asked, None);
            }
        }
        true
    }

    /// Passes a notification of the server on to the subscriptions that are about it; `false` if there is none.
    pub(super) fn tell(&self, io: &mut Io, method: &str, params: &Object) -> bool {
        let uri = params.string("uri").unwrap_or_default();
        let mut told = false;
        for (id, subscription) in &self.open {
            let is_wanted = subscription.lists.have_changed(method);
            let is_wanted = is_wanted.unwrap_or_else(|| subscription.resources.contains(&uri));
            if is_wanted && subscription.missing == 0 {
                let mut own = params.clone();
                let mut about = own.object("_meta");
                about.set(meta::SUBSCRIPTION, id.to_string());
                own.set("_meta", about.to_string());
                io.send_client(Frame::request(None, method, &own));
                told = true;
            }
        }
        told
    }
}

fn uri_params(uri: &str) -> Object {
    [("uri", Value::from(uri).to_string())].into()
}
