//! Who waits for what a process says.

use std::collections::{HashMap, VecDeque};
use std::time::Instant;

use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::sync::oneshot;

use super::lane::{Inbox, Lane, ROOM, lane, weight};
use crate::Id;
use crate::message::{Message, object};
use crate::patch::splice;

/// Who waits for what.
pub(super) struct Desk {
    pub(super) waiting: HashMap<Id, Waiter>,
    /// The stream that the client opened for whatever comes.
    stream: Option<Lane>,
    /// What came while nobody was there to read it, and what it takes of [`ROOM`].
    backlog: VecDeque<Vec<u8>>,
    kept: usize,
    /// Whether some of it was left out.
    misses: bool,
    pub(super) used: Instant,
}

/// Who waits for an answer.
pub(super) struct Waiter {
    /// Takes what comes before the answer.
    pub(super) events: Lane,
    pub(super) answer: oneshot::Sender<Vec<u8>>,
    /// The id and the progress token of the client, as JSON, where others took their place.
    pub(super) id: Option<String>,
    pub(super) token: Option<String>,
    pub(super) progress: Option<Id>,
}

#[derive(Deserialize)]
struct Params<'a> {
    #[serde(borrow, default, rename = "progressToken")]
    token: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "_meta")]
    meta: Option<&'a RawValue>,
}

#[derive(Deserialize)]
pub(super) struct Meta<'a> {
    #[serde(borrow, default, rename = "progressToken")]
    pub(super) token: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "io.modelcontextprotocol/subscriptionId")]
    subscription: Option<&'a RawValue>,
}

pub(super) fn meta<'a>(params: Option<&'a RawValue>) -> Option<Meta<'a>> {
    object(object::<Params<'a>>(params?.get()).ok()?.meta?.get()).ok()
}

impl Desk {
    pub(super) fn new() -> Self {
        Self {
            waiting: HashMap::new(),
            stream: None,
            backlog: VecDeque::new(),
            kept: 0,
            misses: false,
            used: Instant::now(),
        }
    }

    /// Since when nobody has used the process; nothing where there is an open request or stream.
    pub(super) fn idle_since(&self) -> Option<Instant> {
        let streams = self.stream.as_ref().is_some_and(|stream| !stream.is_closed());
        (self.waiting.is_empty() && !streams).then_some(self.used)
    }

    /// To whom goes what is no answer, and how it reads there: to the request that it is about, else
    /// the stream of the client, else a request that is open.
    pub(super) fn lane(
        &self,
        message: &Message<'_>,
        text: &str,
        is_shared: bool,
    ) -> Option<(Lane, String)> {
        let params = message.params.and_then(|params| object::<Params<'_>>(params.get()).ok());
        let token = params.and_then(|params| params.token);
        let subscription = meta(message.params).and_then(|meta| meta.subscription);
        let about = token.or(subscription).and_then(Id::of);
        let waiter = about.and_then(|id| match token {
            Some(_) => self.waiting.values().find(|waiter| waiter.progress.as_ref() == Some(&id)),
            None => self.waiting.get(&id),
        });
        if let Some(waiter) = waiter.filter(|waiter| !waiter.events.is_closed()) {
            let original = if token.is_some() { &waiter.token } else { &waiter.id };
            let text = match (original, token.or(subscription)) {
                (Some(original), Some(raw)) => splice(text, &[(raw.get(), original.clone())]),
                _ => text.to_owned(),
            };
            return Some((waiter.events.clone(), text));
        }
        if is_shared {
            return None;
        }
        let requests = self.waiting.values().map(|waiter| &waiter.events);
        let mut lanes = self.stream.iter().chain(requests);
        let lane = lanes.find(|lane| !lane.is_closed())?;
        Some((lane.clone(), text.to_owned()))
    }

    /// Keeps a message for whoever opens a stream next: what has to go for it, and whether it is the
    /// first that does.
    pub(super) fn keep(&mut self, text: &str) -> (Vec<Vec<u8>>, bool) {
        let text = text.as_bytes().to_vec();
        self.kept += weight(&text);
        self.backlog.push_back(text);
        let mut gone = Vec::new();
        while self.kept > ROOM {
            let Some(text) = self.backlog.pop_front() else { break };
            self.kept -= weight(&text);
            gone.push(text);
        }
        let first = !gone.is_empty() && !std::mem::replace(&mut self.misses, true);
        (gone, first)
    }

    /// A place for whatever comes, with what came already; none where there is one.
    pub(super) fn open_stream(&mut self) -> Option<Inbox> {
        if self.stream.as_ref().is_some_and(|stream| !stream.is_closed()) {
            return None;
        }
        let (lane, inbox) = lane(false);
        self.backlog.drain(..).for_each(|text| lane.put(text));
        (self.kept, self.misses) = (0, false);
        self.stream = Some(lane);
        Some(inbox)
    }

    /// Ends the stream for whatever comes; requests go on.
    pub(super) fn hang_up(&mut self) {
        self.stream = None;
    }
}
