//! What a guard keeps of one session.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use hyper::header::AUTHORIZATION;
use hyper::{HeaderMap, Method};
use toolpact_contract::Revision;

use crate::asked::Asked;
use crate::inspector::lock;
use crate::{Id, Inspector, Settings, Ward};

/// One session, or all requests of one client that has none: tools may differ from one to the next.
pub(crate) struct Visit {
    pub(crate) inspector: Arc<Inspector>,
    /// The last requests, the newest at the end: their answers may come on other streams than they
    /// were asked on, and again where a client resumes one.
    asked: Mutex<VecDeque<Arc<Pending>>>,
    pub(crate) negotiated: Mutex<Revision>,
}

/// The requests of one session that are remembered; answers to older ones are taken on their own
/// stream alone.
const ASKED: usize = 1024;

/// The most bytes of an id, and of the name of a revision, that are remembered.
const NAME: usize = 1024;

impl Visit {
    /// The revision that the headers name, else the one negotiated.
    pub(crate) fn revision(&self, headers: &HeaderMap) -> Revision {
        let named = headers.get("mcp-protocol-version").and_then(|value| value.to_str().ok());
        named.map_or_else(|| lock(&self.negotiated).clone(), Revision::from)
    }

    fn remember(&self, pending: Arc<Pending>) {
        if pending.is_long() {
            return;
        }
        let mut asked = lock(&self.asked);
        if asked.len() >= ASKED {
            asked.pop_front();
        }
        asked.push_back(pending);
    }
}

/// One request over HTTP, with all messages in it.
pub(crate) struct Exchange {
    pub(crate) visit: Arc<Visit>,
    /// Ids are those of one client: two clients without a session may use the same ones.
    pending: Mutex<HashMap<Id, Arc<Pending>>>,
    in_session: bool,
    /// Nothing is asked: the client wants whatever comes.
    pub(crate) is_listening: bool,
}

/// A request. It is kept when it was answered: a server may answer it again, and what counts for
/// the client need not be the first answer.
struct Pending {
    id: Id,
    asked: Arc<Asked>,
    is_answered: AtomicBool,
}

impl Pending {
    /// It is answered from now on: whether it was not before.
    fn settle(&self) -> bool {
        !self.is_answered.swap(true, Ordering::Relaxed)
    }

    fn is_looked_at(&self) -> bool {
        !matches!(*self.asked, Asked::Other)
    }

    /// Whether the client wrote more than it takes to tell its requests apart.
    fn is_long(&self) -> bool {
        let id = match &self.id {
            Id::Integer(_) => 0,
            Id::Number(text) | Id::String(text) => text.len(),
        };
        let revision = match &*self.asked {
            Asked::List { revision, .. }
            | Asked::Call { revision, .. }
            | Asked::Task { revision, .. } => revision.to_string().len(),
            _ => 0,
        };
        id.max(revision) > NAME
    }
}

impl Exchange {
    pub(crate) fn new(visit: Arc<Visit>, headers: &HeaderMap, method: &Method) -> Self {
        let in_session = headers.contains_key("mcp-session-id");
        let is_listening = *method == Method::GET;
        Self { visit, pending: Mutex::default(), in_session, is_listening }
    }

    pub(crate) fn remember(&self, id: Id, asked: Asked) {
        let is_answered = AtomicBool::new(false);
        let pending = Arc::new(Pending { id: id.clone(), asked: Arc::new(asked), is_answered });
        self.visit.remember(Arc::clone(&pending));
        lock(&self.pending).insert(id, pending);
    }

    /// The session that an answer opens is the one of the requests that follow.
    pub(crate) fn enter(&mut self, visit: Arc<Visit>) {
        if Arc::ptr_eq(&self.visit, &visit) {
            return;
        }
        for pending in lock(&self.pending).values() {
            visit.remember(Arc::clone(pending));
        }
        self.visit = visit;
        self.in_session = true;
    }

    /// What an answer is to.
    pub(crate) fn answer(&self, id: &Id) -> Option<Arc<Asked>> {
        self.answer_exactly(id).or_else(|| self.answer_exactly(&id.other_reading()?))
    }

    fn answer_exactly(&self, id: &Id) -> Option<Arc<Asked>> {
        let own = lock(&self.pending).get(id).cloned();
        let pending = own.or_else(|| {
            // Without a session, a client that resumes a stream is all that asks for answers here.
            let is_shared = self.in_session || self.is_listening;
            let asked = is_shared.then(|| lock(&self.visit.asked))?;
            asked.iter().rev().find(|pending| pending.id == *id).cloned()
        })?;
        pending.settle();
        Some(Arc::clone(&pending.asked))
    }

    /// Nothing is waited for any more on this stream: the ids of what was, here or on a stream of the
    /// session that is gone. Nothing where no answer is looked at.
    pub(crate) fn give_up(&self) -> Option<Vec<Id>> {
        let own = lock(&self.pending);
        let mut is_looked_at = own.values().any(|pending| pending.is_looked_at());
        let open = own.values().filter(|pending| pending.settle());
        let mut ids: Vec<_> = open.map(|pending| pending.id.clone()).collect();
        if self.in_session || self.is_listening {
            let asked = lock(&self.visit.asked);
            is_looked_at |= asked.iter().any(|pending| pending.is_looked_at());
            if ids.is_empty() && self.in_session {
                let left = asked.iter().filter(|pending| Arc::strong_count(pending) == 1);
                let left = left.filter(|pending| pending.is_looked_at() && pending.settle());
                ids.extend(left.map(|pending| pending.id.clone()));
            }
        }
        is_looked_at.then_some(ids)
    }
}

/// All sessions.
pub(crate) struct Visits {
    pub(crate) ward: Arc<Ward>,
    all: Mutex<HashMap<String, Arc<Visit>>>,
}

/// The sessions that are remembered; a forgotten one has its tools listed again.
const VISITS: usize = 4096;

impl Visits {
    pub(crate) fn new(ward: Arc<Ward>) -> Self {
        Self { ward, all: Mutex::default() }
    }

    pub(crate) fn settings(&self) -> Arc<Settings> {
        self.ward.settings()
    }

    pub(crate) fn say(&self, event: crate::Event) {
        self.ward.say(event);
    }

    /// The session of a request: by its id, else by who asks.
    pub(crate) fn of(&self, headers: &HeaderMap) -> Arc<Visit> {
        let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        let key = text("mcp-session-id").map_or_else(
            || format!("by {}", text(AUTHORIZATION.as_str()).unwrap_or_default()),
            |id| format!("id {id}"),
        );
        let mut all = lock(&self.all);
        if all.len() >= VISITS && !all.contains_key(&key) {
            // Those with open requests last.
            all.retain(|_, visit| Arc::strong_count(visit) > 1);
            if all.len() >= VISITS {
                all.clear();
            }
        }
        let visit = all.entry(key).or_insert_with(|| {
            let inspector = Inspector::of(Arc::clone(&self.ward));
            Arc::new(Visit {
                inspector: Arc::new(inspector),
                asked: Mutex::default(),
                negotiated: Mutex::default(),
            })
        });
        Arc::clone(visit)
    }

    /// The session ended.
    pub(crate) fn forget(&self, headers: &HeaderMap) {
        if let Some(id) = headers.get("mcp-session-id").and_then(|value| value.to_str().ok()) {
            lock(&self.all).remove(&format!("id {id}"));
        }
    }
}
