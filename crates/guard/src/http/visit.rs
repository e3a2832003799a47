//! What a guard keeps of one session.

use std::collections::HashMap;
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
    /// Requests whose answer did not come on the stream they were asked on; it may on another one.
    pub(crate) open: Mutex<HashMap<Id, Arc<Asked>>>,
    pub(crate) negotiated: Mutex<Revision>,
}

/// The requests of one session that are remembered.
const OPEN: usize = 65_536;

impl Visit {
    /// The revision that the headers name, else the one negotiated.
    pub(crate) fn revision(&self, headers: &HeaderMap) -> Revision {
        let named = headers.get("mcp-protocol-version").and_then(|value| value.to_str().ok());
        named.map_or_else(|| lock(&self.negotiated).clone(), Revision::from)
    }
}

/// One request over HTTP, with all messages in it.
pub(crate) struct Exchange {
    pub(crate) visit: Arc<Visit>,
    /// Ids are those of one client: two clients without a session may use the same ones.
    pending: Mutex<HashMap<Id, Pending>>,
    pub(crate) in_session: bool,
    /// Nothing is asked: the client wants whatever comes.
    pub(crate) is_listening: bool,
}

/// A request of one exchange. It is kept when it was answered: a server may answer it again, and
/// what counts for the client need not be the first answer.
struct Pending {
    asked: Arc<Asked>,
    is_answered: bool,
}

impl Exchange {
    pub(crate) fn new(visit: Arc<Visit>, headers: &HeaderMap, method: &Method) -> Self {
        let in_session = headers.contains_key("mcp-session-id");
        let is_listening = *method == Method::GET;
        Self { visit, pending: Mutex::default(), in_session, is_listening }
    }

    pub(crate) fn remember(&self, id: Id, asked: Asked) {
        let pending = Pending { asked: Arc::new(asked), is_answered: false };
        lock(&self.pending).insert(id, pending);
    }

    /// What an answer is to.
    pub(crate) fn answer(&self, id: &Id) -> Option<Arc<Asked>> {
        self.answer_exactly(id).or_else(|| self.answer_exactly(&id.other_reading()?))
    }

    fn answer_exactly(&self, id: &Id) -> Option<Arc<Asked>> {
        if let Some(pending) = lock(&self.pending).get_mut(id) {
            pending.is_answered = true;
            return Some(Arc::clone(&pending.asked));
        }
        self.in_session.then(|| lock(&self.visit.open).remove(id)).flatten()
    }

    /// Nothing is waited for any more: the ids of what was.
    pub(crate) fn give_up(&self) -> Vec<Id> {
        let mut ids: Vec<_> = lock(&self.pending)
            .iter_mut()
            .filter_map(|(id, pending)| {
                (!std::mem::replace(&mut pending.is_answered, true)).then(|| id.clone())
            })
            .collect();
        if ids.is_empty() && self.in_session {
            ids.extend(lock(&self.visit.open).drain().map(|(id, _)| id));
        }
        ids
    }
}

/// What was not answered may be on another stream of the session. Where there are too many such
/// requests the old ones are forgotten, and their answers pass.
impl Drop for Exchange {
    fn drop(&mut self) {
        let left: Vec<_> = lock(&self.pending)
            .drain()
            .filter(|(_, pending)| !pending.is_answered)
            .map(|(id, pending)| (id, pending.asked))
            .collect();
        if self.in_session && !left.is_empty() {
            let mut open = lock(&self.visit.open);
            if open.len() >= OPEN {
                open.clear();
            }
            open.extend(left);
        }
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
            all.clear();
        }
        let visit = all.entry(key).or_insert_with(|| {
            let inspector = Inspector::of(Arc::clone(&self.ward));
            Arc::new(Visit {
                inspector: Arc::new(inspector),
                open: Mutex::default(),
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
