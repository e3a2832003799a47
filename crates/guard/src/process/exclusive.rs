//! Processes of a legacy server for modern calls that may ask their client: one call at a time, because such a server
//! does not say which call it asks for.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use hyper::HeaderMap;
use hyper::header::AUTHORIZATION;

use super::session::ProcessSession;
use crate::era::{Asks, meta, pipe_of_state};
use crate::json::object::Object;
use crate::lock::lock;
use crate::message::{Kind, Message, Method, Parts};

/// The processes that serve one call at a time, by their number.
#[derive(Default)]
pub(super) struct ExclusiveProcesses(Mutex<HashMap<u64, Exclusive>>);

struct Exclusive {
    session: Arc<ProcessSession>,
    caller: Caller,
    reserved: Arc<AtomicUsize>,
}

/// Who calls: requests of the same caller may use the same process, one after the other.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Caller {
    authorization: Option<Vec<u8>>,
    info: Option<String>,
    capabilities: Option<String>,
}

/// A process that is in use.
pub(super) struct Reserved {
    pub(super) session: Arc<ProcessSession>,
    count: Arc<AtomicUsize>,
}

impl Drop for Reserved {
    fn drop(&mut self) {
        self.count.fetch_sub(1, Ordering::AcqRel);
    }
}

impl Exclusive {
    fn is_free(&self) -> bool {
        self.reserved.load(Ordering::Acquire) == 0 && self.session.is_free()
    }

    fn reserve(&self) -> Reserved {
        self.reserved.fetch_add(1, Ordering::AcqRel);
        Reserved { session: Arc::clone(&self.session), count: Arc::clone(&self.reserved) }
    }
}

/// A call that may ask its client.
pub(super) struct AskingCall {
    caller: Caller,
    /// The process that it is a retry for.
    number: Option<u64>,
}

impl AskingCall {
    /// Reads `message`; `None` where it is no call, or its client cannot be asked.
    pub(super) fn read(headers: &HeaderMap, message: &Message<'_>) -> Option<Self> {
        let Parts::One(envelope) = &message.parts else { return None };
        let Kind::Request(_, Method::CallTool | Method::Other) = envelope.kind else { return None };
        let params = Object::read(Some(envelope.params?.text(message.text))).ok()?;
        let about = params.object("_meta");
        let state = params.string("requestState");
        let number = state.as_deref().and_then(pipe_of_state);
        let asks = Asks::read(about.get(meta::CAPABILITIES)).any();
        let needs_name = params.get("name").is_some() || params.get("uri").is_some();
        if number.is_none() && !(asks && needs_name) {
            return None;
        }
        let caller = Caller {
            authorization: headers.get(AUTHORIZATION).map(|value| value.as_bytes().to_vec()),
            info: about.get(meta::CLIENT_INFO).map(str::to_owned),
            capabilities: about.get(meta::CAPABILITIES).map(str::to_owned),
        };
        Some(Self { caller, number })
    }
}

/// Why there is no process for a call.
pub(super) enum NoProcess<E> {
    /// As many as are allowed are in use.
    TooMany,
    NotStarted(E),
}

impl ExclusiveProcesses {
    /// A process for `call`: the one that it is a retry for, one that is free, or a new one, of which there are at most
    /// `most`.
    pub(super) fn reserve<E>(
        &self,
        call: &AskingCall,
        most: usize,
        start: impl FnOnce(u64) -> Result<Arc<ProcessSession>, E>,
    ) -> Result<Reserved, NoProcess<E>> {
        let mut all = lock(&self.0);
        all.retain(|_, it| !it.session.is_over());
        let own = |it: &&Exclusive| it.caller == call.caller;
        let retried = call.number.and_then(|number| all.get(&number)).filter(own);
        let free = || all.values().filter(own).find(|it| it.is_free());
        if let Some(found) = retried.or_else(free) {
            return Ok(found.reserve());
        }
        if all.len() >= most {
            let idle = all.iter().find(|(_, it)| it.is_free()).map(|(number, _)| *number);
            let Some(other) = idle.and_then(|number| all.remove(&number)) else {
                return Err(NoProcess::TooMany);
            };
            other.session.end();
        }
        let number = all.keys().max().map_or(1, |number| number + 1);
        let session = start(number).map_err(NoProcess::NotStarted)?;
        let caller = call.caller.clone();
        let exclusive = Exclusive { session, caller, reserved: Arc::default() };
        let reserved = exclusive.reserve();
        all.insert(number, exclusive);
        Ok(reserved)
    }

    /// Takes all of them.
    pub(super) fn drain(&self) -> Vec<Arc<ProcessSession>> {
        lock(&self.0).drain().map(|(_, it)| it.session).collect()
    }
}
