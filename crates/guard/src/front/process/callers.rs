//! Processes of a legacy server for modern clients that may be asked for input.
//!
//! Such a server does not say which call it asks for. So clients with different names, capabilities or credentials have
//! processes of their own, and a call that waits for its client has its process to itself.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::time::Instant;

use super::session::ProcessSession;
use toolbond_guard_core::caller::Caller;
use toolbond_guard_core::era::{Asks, may_need_input, meta, pipe_of_state};
use toolbond_guard_core::lock::lock;
use toolbond_guard_core::message::{Kind, Message, Parts};

/// The processes of callers, by their number.
#[derive(Default)]
pub(super) struct CallerProcesses(Mutex<BTreeMap<u64, CallerProcess>>);

struct CallerProcess {
    session: Arc<ProcessSession>,
    user: User,
    reserved: Arc<AtomicUsize>,
}

/// Who may use a process: a caller, and what a request says about its client.
#[derive(Clone, PartialEq, Eq)]
struct User {
    caller: Caller,
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

impl CallerProcess {
    fn worth(&self) -> Option<(bool, Instant)> {
        let is_reserved = self.reserved.load(Ordering::Acquire) > 0;
        self.session.worth().filter(|_| !is_reserved)
    }

    fn reserve(&self) -> Reserved {
        self.reserved.fetch_add(1, Ordering::AcqRel);
        Reserved { session: Arc::clone(&self.session), count: Arc::clone(&self.reserved) }
    }
}

/// A request of a client that may be asked for input.
pub(super) struct CallerRequest {
    user: User,
    /// The process that it is a retry for.
    number: Option<u64>,
    /// Whether its result may ask for input.
    may_ask: bool,
}

impl CallerRequest {
    /// Reads `message`; `None` where its client cannot be asked.
    pub(super) fn read(caller: &Caller, message: &Message<'_>) -> Option<Self> {
        let (Parts::One(part), text) = (&message.parts, &**message.text) else { return None };
        let [state] = part.find(text, ["requestState"]).ok()?;
        let state = state.and_then(|state| serde_json::from_str::<String>(state).ok());
        let number = state.as_deref().and_then(pipe_of_state);
        let about = part.find_meta(text, [meta::CLIENT_INFO, meta::CAPABILITIES]);
        let [info, capabilities] = about.unwrap_or_default();
        let declared = capabilities.map(|it| text.slice_ref(it));
        if !matches!(part.kind, Kind::Request(..))
            || (number.is_none() && !Asks::read(declared.as_ref()).any())
        {
            return None;
        }
        let user = User {
            caller: caller.clone(),
            info: info.map(str::to_owned),
            capabilities: capabilities.map(str::to_owned),
        };
        Some(Self { user, number, may_ask: may_need_input(&part.method(text)) })
    }
}

/// Why there is no process for a call.
pub(super) enum NoProcess<E> {
    /// As many as are allowed are in use.
    TooMany,
    /// The caller itself uses as many as one may have.
    TooManyOfOne(usize),
    NotStarted(E),
}

impl CallerProcesses {
    /// A process for `request`: the one that it is a retry for, one of its caller where no call waits for input, or a
    /// new one. There are at most `most`, and a quarter of that for one caller.
    pub(super) fn reserve<E>(
        &self,
        request: &CallerRequest,
        most: usize,
        start: impl FnOnce(u64) -> Result<Arc<ProcessSession>, E>,
    ) -> Result<Reserved, NoProcess<E>> {
        let mut all = lock(&self.0);
        all.retain(|_, it| !it.session.is_over());
        let own = |it: &&CallerProcess| it.user == request.user;
        let retried = request.number.and_then(|number| all.get(&number)).filter(own);
        let fits = |it: &&CallerProcess| !request.may_ask || !it.session.is_waiting();
        let other = || all.values().filter(own).find(fits);
        if let Some(found) = retried.or_else(other) {
            return Ok(found.reserve());
        }
        let share = (most / 4).max(1);
        if all.values().filter(own).count() >= share {
            return Err(NoProcess::TooManyOfOne(share));
        }
        if all.len() >= most {
            let idle = all.iter().filter_map(|(number, it)| Some((it.worth()?, *number)));
            let Some(other) = idle.min().and_then(|(_, number)| all.remove(&number)) else {
                return Err(NoProcess::TooMany);
            };
            other.session.end();
        }
        let number = all.last_key_value().map_or(1, |(number, _)| number + 1);
        let session = start(number).map_err(NoProcess::NotStarted)?;
        let user = request.user.clone();
        let process = CallerProcess { session, user, reserved: Arc::default() };
        let reserved = process.reserve();
        all.insert(number, process);
        Ok(reserved)
    }

    /// Takes all of them.
    pub(super) fn drain(&self) -> Vec<Arc<ProcessSession>> {
        std::mem::take(&mut *lock(&self.0)).into_values().map(|it| it.session).collect()
    }
}
