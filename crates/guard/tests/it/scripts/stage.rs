//! What scripts are played on.

use std::collections::{BTreeMap, VecDeque};
use std::fmt::{self, Formatter};
use std::sync::mpsc::Receiver;

use serde::de::{Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use serde_json::value::RawValue;
use toolbond_harness::wait::HANG;

use crate::pair::Pair;

/// A guard with a client and a server that the test plays.
pub(super) trait Stage {
    fn client_sends(&mut self, text: &str);
    fn server_receives(&mut self) -> String;
    fn server_sends(&mut self, text: &str);
    fn client_receives(&mut self) -> String;

    /// The request of the guard itself for the tool list.
    fn guard_asks(&mut self) -> String {
        self.server_receives()
    }

    /// The answer to it.
    fn guard_is_told(&mut self, text: &str) {
        self.server_sends(text);
    }

    /// A text that is the same for all messages that say the same on this stage.
    fn form(&self, message: &str) -> String {
        message.trim_end().to_owned()
    }
}

impl Stage for Pair {
    fn client_sends(&mut self, text: &str) {
        self.client.send(text);
    }

    fn server_receives(&mut self) -> String {
        self.server.line()
    }

    fn server_sends(&mut self, text: &str) {
        self.server.send(text);
    }

    fn client_receives(&mut self) -> String {
        self.client.line()
    }
}

/// What came out of a guard, in the order in which it came. `T` takes the answer to a request.
pub(super) enum Seen<T> {
    Client(String),
    /// A message for the server, and how to answer it if it is a request.
    Server(String, Option<T>),
    /// A request of the guard itself for the tool list, where that comes another way.
    List(String, T),
}

/// What came out of a guard and was not looked at yet.
pub(super) struct Inbox<T> {
    receiver: Receiver<Seen<T>>,
    kept: VecDeque<Seen<T>>,
}

impl<T> Inbox<T> {
    pub(super) fn new(receiver: Receiver<Seen<T>>) -> Self {
        Self { receiver, kept: VecDeque::new() }
    }

    /// The first of those that `is_wanted`.
    pub(super) fn next(&mut self, is_wanted: impl Fn(&Seen<T>) -> bool) -> Seen<T> {
        if let Some(at) = self.kept.iter().position(&is_wanted) {
            return self.kept.remove(at).unwrap();
        }
        loop {
            let seen = self.receiver.recv_timeout(HANG).expect("a message");
            if is_wanted(&seen) {
                return seen;
            }
            self.kept.push_back(seen);
        }
    }
}

/// What a server answers on HTTP.
pub(super) enum Answer {
    /// A message before the answer.
    Before(String),
    /// The answer.
    Last(String),
}

/// The requests that a server on HTTP has, with the ids in them.
pub(super) struct Open<T>(Vec<(Vec<Value>, T)>);

impl<T> Default for Open<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> Open<T> {
    pub(super) fn add(&mut self, request: &str, answer: T) {
        self.0.push((ids(request), answer));
    }

    /// Sends `text` with `send`: to the request that it answers, or before the answer to the last one.
    pub(super) fn answer(&mut self, text: &str, send: impl FnOnce(&T, Answer)) {
        let read: Value = serde_json::from_str(text).unwrap_or_default();
        if !read["method"].is_null() {
            let (_, last) = self.0.last().expect("an open request");
            return send(last, Answer::Before(text.to_owned()));
        }
        let answered = ids(text);
        // An answer that cannot be read is that to the last request.
        let at = self.0.iter().position(|(ids, _)| ids.iter().any(|id| answered.contains(id)));
        let (_, request) = self.0.remove(at.unwrap_or_else(|| self.0.len() - 1));
        send(&request, Answer::Last(text.to_owned()));
    }
}

/// The ids in a message or a batch.
fn ids(text: &str) -> Vec<Value> {
    let read: Value = serde_json::from_str(text).unwrap_or_default();
    let parts = read.as_array().cloned().unwrap_or_else(|| vec![read]);
    parts.iter().map(|part| part["id"].clone()).filter(|id| !id.is_null()).collect()
}

/// Whether nobody answers `text`: it is a notification, or an answer itself.
pub(super) fn is_one_way(text: &str) -> bool {
    let read: Value = serde_json::from_str(text).unwrap_or_default();
    let is_answer = read.get("result").or(read.get("error")).is_some();
    read.is_object() && (is_answer || read.get("id").is_none())
}

/// The members of an object, by name; each is there once.
#[derive(Default)]
pub(super) struct Members<'a>(pub(super) BTreeMap<String, &'a RawValue>);

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Object;

        impl<'de> Visitor<'de> for Object {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Members::default();
                while let Some((name, value)) = map.next_entry()? {
                    if members.0.insert(name, value).is_some() {
                        return Err(A::Error::custom("a member twice"));
                    }
                }
                Ok(members)
            }
        }

        deserializer.deserialize_map(Object)
    }
}

/// The text of a member; `None` where it is missing, and where `text` is no object that has each member once.
pub(super) fn member(text: &str, name: &str) -> Option<String> {
    let Members(members) = serde_json::from_str(text).ok()?;
    Some(members.get(name)?.get().to_owned())
}
