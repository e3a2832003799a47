//! The tool lists that the guard requests itself.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::action::{AskId, StreamId};
use super::waiting_call::WaitingCall;
use crate::contract::catalog::{ListKey, PageRequest};
use crate::json::object::Object;
use crate::message::{Frame, Id, meta};

/// The most pages that are requested.
pub const MAX_PAGES: usize = 1000;

/// How often a list is requested that changes meanwhile.
pub(super) const TRIES: usize = 3;

/// From one page of a list to the next.
#[derive(Debug, Default)]
pub struct Pages {
    /// The cursor to the page to request, as JSON; the first page has none.
    pub cursor: Option<String>,
    pub(super) seen: usize,
}

/// The list has no end.
#[derive(Debug, PartialEq, Eq)]
pub struct Endless;

impl Pages {
    /// Moves on to the `next` page; `false` where there is none.
    pub fn advance(&mut self, next: Option<String>) -> Result<bool, Endless> {
        self.seen += 1;
        match next {
            None => Ok(false),
            next if next == self.cursor || self.seen >= MAX_PAGES => Err(Endless),
            next => {
                self.cursor = next;
                Ok(true)
            }
        }
    }
}

/// The tool lists that the guard requests.
#[derive(Debug, Default)]
pub(super) struct Fetcher {
    pub(super) running: Vec<Fetch>,
    /// Lists that did not come in time, oldest first.
    pub(super) failed: VecDeque<FailedFetch>,
}

/// The most lists that are requested at a time. Further ones wait in line.
pub(super) const MAX_RUNNING: usize = 8;

/// A list for which the server has no answer for so long makes room where others wait in line.
pub const LIST_PATIENCE: Duration = Duration::from_secs(5);

/// Why such a list fails.
pub const MADE_ROOM: &str = "no answer within 5 s, while others waited for theirs";

/// The most failures that are remembered.
pub(super) const MAX_FAILED: usize = 64;

/// Whom a list is requested for. A server may answer another requester in another way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Requester {
    pub(super) list: ListKey,
    /// What a request without a session says about its client.
    pub(super) about: Option<String>,
}

impl Requester {
    pub(super) fn of(call: &WaitingCall) -> Self {
        let revision = &call.list.audience.revision;
        let about = revision.is_natural().then(|| {
            let client = Object::read(call.meta.as_ref()).unwrap_or_default();
            meta::on_behalf_of(&client, &revision.to_string())
        });
        Self { list: call.list.clone(), about }
    }
}

/// A list that did not come in time. It is not waited for at every call.
#[derive(Debug)]
pub(super) struct FailedFetch {
    pub(super) requester: Requester,
    pub(super) reason: Arc<str>,
    /// Until when it is not requested again, unless it changes.
    pub(super) until: Instant,
    pub(super) page: PageRequest,
}

#[derive(Debug)]
pub(super) struct Fetch {
    pub(super) ask: AskId,
    pub(super) stream: StreamId,
    pub(super) requester: Requester,
    pub(super) pages: Pages,
    /// The request for the page that is on its way, and for the first page of this try.
    pub(super) page: PageRequest,
    pub(super) first: PageRequest,
    /// Whether it was requested; otherwise it waits in line.
    pub(super) is_asked: bool,
    /// Since when the server has no answer.
    pub(super) silent_since: Option<Instant>,
    pub(super) tries: usize,
    pub(super) deadline: Instant,
    pub(super) timeout: Duration,
    /// The calls that wait for it.
    pub(super) waiting: Vec<WaitingCall>,
}

impl Fetcher {
    pub(super) fn deadline(&self) -> Option<Instant> {
        let silent = self.running.iter().filter_map(|fetch| fetch.silent_since).min();
        let makes_room = silent.filter(|_| self.in_line() > 0).map(|since| since + LIST_PATIENCE);
        self.running.iter().map(|fetch| fetch.deadline).chain(makes_room).min()
    }

    /// How many lists wait in line.
    pub(super) fn in_line(&self) -> usize {
        self.running.iter().filter(|fetch| !fetch.is_asked).count()
    }

    /// Whether the answer to `ask` is waited for.
    pub(super) fn is_asking(&self, ask: AskId) -> bool {
        self.running.iter().any(|fetch| fetch.ask == ask)
    }

    pub(super) fn stop(&mut self) {
        self.running.clear();
    }

    pub(super) fn take(&mut self, ask: AskId) -> Option<Fetch> {
        let at = self.running.iter().position(|fetch| fetch.ask == ask)?;
        Some(self.running.remove(at))
    }
}

/// The request for a page. `about` says who the client of the call is and what it can do, as far as it said so in the way
/// that the protocol asks for.
pub(super) fn list_request(id: &Id, cursor: Option<&str>, about: Option<&str>) -> Frame {
    let mut params = Object::default();
    if let Some(cursor) = cursor {
        params.set("cursor", cursor);
    }
    if let Some(about) = about {
        params.set("_meta", about);
    }
    Frame::request(Some(id), "tools/list", &params)
}
