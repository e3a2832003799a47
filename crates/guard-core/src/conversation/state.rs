//! The state of a conversation, and what concerns all of it.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use ahash::AHashMap;
use bytes::Bytes;
use toolbond_contract::Revision;

use super::action::{Action, Destination, StreamId, Ticket, cancellation};
use super::fetcher::Fetcher;
use super::handshake::AwaitedHandshake;
use super::held::{Decision, Held};
use super::job::{Job, JobId, JobKind, JobOutcome};
use super::link::Link;
use super::pending::{Key, Pending, PendingRequests, Purpose};
use super::running::{HeldAnswer, JobPurpose, RunningJob};
use super::skipped::Skipped;
use super::waiting_call::WaitingCall;
use crate::caller::Caller;
use crate::contract::arguments::CheckedArguments;
use crate::contract::catalog::{Catalog, Lookup, Tool};
use crate::contract::list::HIDDEN;
use crate::contract::tasks::Tasks;
use crate::environment::Record;
use crate::era::Bridge;
use crate::event::Event;
use crate::json::object::Object;
use crate::json::rope::Rope;
use crate::message::{Frame, Handshake, Id, Outgoing, code, error, meta};
use crate::server::{Rules, Server};

/// A conversation between clients and one server.
pub struct Conversation {
    pub(super) server: Arc<Server>,
    pub(super) link: Link,
    /// Whether all its requests are of one session, where each has a stream of its own.
    pub(super) has_session: bool,
    pub(super) catalog: Catalog,
    pub(super) tasks: Tasks,
    pub(super) pending: PendingRequests,
    pub(super) negotiated: Revision,
    /// The name of the only client, where that has sent `initialize`.
    pub(super) client: Option<Arc<str>>,
    /// What the clients call themselves that sent `initialize` and have no session.
    pub(super) sessionless: Sessionless,
    /// Whether the only client was told that it will hear of changed lists.
    pub(super) tells_changes: bool,
    /// Whether it was told of a change since it last got a list.
    pub(super) has_told_change: bool,
    /// How much of what was learned of output schemas it was told, and when.
    pub(super) told_learned: (u64, Option<Instant>),
    /// What the server sent that is no message.
    pub(super) skipped: Skipped,
    pub(super) fetcher: Fetcher,
    /// What translates for a server on a pipe that may be of another era.
    pub(super) bridge: Option<Bridge>,
    /// The handshake that a client waits for, if it does.
    pub(super) handshake: Option<AwaitedHandshake>,
    /// The time of what is being handled.
    pub(super) now: Instant,
    /// The requests that are posted to an endpoint, by the stream that they came on, until the server accepts them.
    pub(super) posted: AHashMap<StreamId, Vec<(Key, u64)>>,
    pub(super) held: AHashMap<Ticket, Held>,
    pub(super) jobs: AHashMap<JobId, RunningJob>,
    pub(super) actions: VecDeque<Action>,
    /// The last number that was given to a ticket, a job, or a request.
    pub(super) last: u64,
}

/// What clients without a session call themselves whose requests have the same headers.
#[derive(Debug, Default)]
pub(super) enum Sessionless {
    #[default]
    Unknown,
    /// All of them.
    Name(String),
    Several,
}

impl Sessionless {
    pub(super) fn add(&mut self, name: String) {
        match self {
            Self::Unknown => *self = Self::Name(name),
            Self::Name(known) if *known == name => {}
            _ => *self = Self::Several,
        }
    }

    pub(super) fn name(&self) -> Option<&str> {
        match self {
            Self::Name(name) => Some(name),
            Self::Unknown | Self::Several => None,
        }
    }
}

/// After this time a replica requests the tool list again: another one may have heard of a change. A client is told no
/// more often that what was learned of output schemas changed the list.
const MAX_AGE: Duration = Duration::from_secs(60);

const TOOLS_CHANGED: &str = "notifications/tools/list_changed";

impl Conversation {
    /// A conversation with `server`. Requests that name no revision, before one is negotiated, are of
    /// `revision`.
    pub fn new(server: Arc<Server>, link: Link, revision: Revision) -> Self {
        let now = server.environment().now();
        let told_learned = (server.learned().changes(), None);
        Self {
            server,
            link,
            has_session: false,
            catalog: Catalog::default(),
            tasks: Tasks::default(),
            pending: PendingRequests::default(),
            negotiated: revision,
            client: None,
            sessionless: Sessionless::default(),
            tells_changes: false,
            has_told_change: false,
            told_learned,
            skipped: Skipped::default(),
            fetcher: Fetcher::default(),
            bridge: None,
            handshake: None,
            now,
            posted: AHashMap::new(),
            held: AHashMap::new(),
            jobs: AHashMap::new(),
            actions: VecDeque::new(),
            last: 0,
        }
    }

    /// The revision that was agreed on.
    pub fn negotiated(&self) -> &Revision {
        &self.negotiated
    }

    /// Returns the same conversation with a session or without, where each request has a stream of its own.
    pub fn with_session(self, has_session: bool) -> Self {
        Self { has_session, ..self }
    }

    /// The next action, if there is one.
    pub fn poll(&mut self) -> Option<Action> {
        self.actions.pop_front()
    }

    /// When [`Conversation::on_timeout`] has to be called.
    pub fn next_timeout(&self) -> Option<Instant> {
        let bridge = self.bridge.as_ref().and_then(Bridge::next_timeout);
        let handshake = self.handshake.as_ref().map(|it| it.deadline);
        [self.fetcher.deadline(), bridge, handshake].into_iter().flatten().min()
    }

    /// Takes the outcome of a job.
    pub fn on_judged(&mut self, job: JobId, outcome: JobOutcome, now: Instant) {
        self.now = now;
        let Some(RunningJob { purpose, .. }) = self.jobs.remove(&job) else { return };
        match purpose {
            JobPurpose::Call(call, tool) => {
                let (ticket, index) = (call.ticket, call.index);
                let checked = match outcome {
                    JobOutcome::Arguments(checked) => checked,
                    JobOutcome::Failed(reason) => CheckedArguments::Failed(reason.to_owned()),
                    _ => CheckedArguments::Failed("the check failed".to_owned()),
                };
                let server = self.server.clone();
                let decision = self.conclude_check(call, tool, checked, &server.rules());
                self.settle(ticket, index, decision);
            }
            JobPurpose::Answer(answer) => self.conclude_answer(answer, outcome),
            JobPurpose::OwnPage(ask) => match outcome {
                JobOutcome::Page(page) => self.take_own_page(ask, page),
                JobOutcome::Failed(reason) => self.end_ask(ask, reason),
                _ => self.end_ask(ask, "the check failed"),
            },
        }
    }

    /// Closes a stream whose client has left, or has its answers. With `may_resume` its requests
    /// are remembered, because the client may come back for their answers.
    pub fn close_stream(&mut self, stream: StreamId, may_resume: bool, now: Instant) {
        self.now = now;
        self.abandon_jobs(stream);
        for (key, serial) in self.posted.remove(&stream).unwrap_or_default() {
            if let Some(pending) = self.pending.current(&key, serial) {
                pending.end_cancelled();
                self.pending.abandon(&key);
            }
        }
        if may_resume {
            return self.pending.keep_resumable(stream);
        }
        for (key, pending) in self.pending.close(stream) {
            pending.end_cancelled();
            let is_forgotten = self.link == Link::Streams && !self.may_come_elsewhere(&pending);
            if pending.is_answered() || pending.is_held() || is_forgotten {
                continue;
            }
            if self.link == Link::Shared {
                self.send_server(stream, cancellation(&key.1, "the client has left"));
            }
            self.abandon(&key, pending);
        }
    }

    /// Whether an answer that is checked may come on another stream than its request: in a session.
    pub(super) fn may_come_elsewhere(&self, pending: &Pending) -> bool {
        self.link == Link::Streams && self.has_session && pending.is_checked()
    }

    /// Remembers a request that is not pending any more, so that its answer is recognized and dropped.
    pub(super) fn abandon(&mut self, key: &Key, mut pending: Pending) {
        (pending.stream, pending.purpose) = (StreamId::PIPE, Purpose::Other);
        (pending.caller, pending.span) = (Caller::default(), None);
        let _ = self.pending.insert(key.clone(), pending);
        self.pending.abandon(key);
    }

    /// Notes that the server has accepted what was posted on `stream`; it answers on the stream of the endpoint.
    pub fn accept_posted(&mut self, stream: StreamId) {
        self.posted.remove(&stream);
    }

    /// Forgets the requests of `stream`, which the server does not have, or has refused.
    pub fn forget_requests(&mut self, stream: StreamId) {
        let posted = self.posted.remove(&stream).unwrap_or_default();
        let posted = posted.iter().filter_map(|(key, serial)| self.pending.take(key, *serial));
        let mut forgotten: Vec<_> = posted.collect();
        forgotten.extend(self.pending.close(stream).into_iter().map(|(_, pending)| pending));
        forgotten.iter().for_each(Pending::end_cancelled);
    }

    /// Marks all tool lists as changed.
    pub fn on_tools_changed(&mut self) {
        self.catalog.invalidate();
    }

    /// Marks all tool lists as changed, because tools that were left out are bundled now, and tells the client.
    pub fn on_tools_bundled(&mut self) {
        self.catalog.invalidate();
        self.tell_change();
    }

    /// Tells the client, and who subscribed to that, that the list has changed. For a client without subscriptions once is
    /// enough until it lists the tools again. The clients of a replica may listen at another one, and are not told.
    fn tell_change(&mut self) {
        if self.server.rules().settings.is_replica() {
            return;
        }
        if self.tells_changes && !std::mem::replace(&mut self.has_told_change, true) {
            self.tell(Destination::Listener, TOOLS_CHANGED, &Object::default());
        }
        for (stream, id) in self.pending.subscribers() {
            let meta = Object::from([(meta::SUBSCRIPTION, id)]).to_string();
            let params = Object::from([("_meta", meta)]);
            self.tell(Destination::Client(stream), TOOLS_CHANGED, &params);
        }
    }

    /// Tells the client that tools have other output schemas because of what was learned, in whatever conversation.
    pub(super) fn tell_learned(&mut self) {
        let changes = self.server.learned().changes();
        let (told, at) = self.told_learned;
        if changes != told && at.is_none_or(|at| at + MAX_AGE <= self.now) {
            self.told_learned = (changes, Some(self.now));
            self.tell_change();
        }
    }

    /// Answers all requests with an error that says `reason`, because the server is gone.
    pub fn on_server_gone(&mut self, reason: &str) {
        self.give_up(None, reason, true);
        self.fetcher.stop();
        if let Some(event) = self.skipped.rest() {
            self.report(event);
        }
    }

    /// Whether no message is held.
    pub fn holds_nothing(&self) -> bool {
        self.held.is_empty()
    }

    /// Whether no client waits for an answer.
    pub fn is_idle(&self) -> bool {
        self.pending.is_idle() && self.held.is_empty()
    }

    /// Whether `stream` waits for an answer that is checked.
    pub fn expects_checked(&self, stream: StreamId) -> bool {
        self.server.rules().settings.is_inspecting() && self.pending.expects_checked(stream)
    }

    /// Whether the requests of `stream` may be sent again without harm: all of them, and there is one.
    pub fn is_repeatable(&self, stream: StreamId) -> bool {
        self.pending.is_repeatable(stream)
    }

    /// Answers the requests of `stream` that are still open with an error.
    pub fn fail_stream(&mut self, stream: StreamId, reason: &str) {
        self.give_up(Some(stream), reason, false);
    }

    /// Moves `stream` and its requests to `other`: the answer on it opened a session.
    pub fn move_stream(&mut self, stream: StreamId, other: &mut Self) {
        for (key, pending) in self.pending.close(stream) {
            if let Purpose::Handshake { client: Some(client) } = &pending.purpose {
                other.client = Some(Arc::from(client.as_str()));
            }
            // Streams are never shared, so their keys are not in use.
            let _ = other.pending.insert(key, pending);
        }
    }

    pub(super) fn next_number(&mut self) -> u64 {
        self.last += 1;
        self.last
    }

    /// Sends a message that the guard wrote itself.
    pub(super) fn send(&mut self, to: Destination, ticket: Option<Ticket>, text: impl Into<Bytes>) {
        let message = Outgoing::Text(Rope::new(text));
        self.actions.push_back(Action::Send { to, ticket, message });
    }

    /// Sends a notification that the guard wrote itself.
    fn tell(&mut self, to: Destination, method: &str, params: &Object) {
        self.send(to, None, Frame::request(None, method, params).text.into_bytes());
    }

    /// Answers a request of the client behind `stream` with an error.
    pub(super) fn refuse(&mut self, stream: StreamId, id: Option<&Id>, code: i32, message: &str) {
        self.send(Destination::Answer(stream), None, error(id, code, message));
    }

    /// Finds the tool that is called.
    pub(super) fn find_tool(&mut self, rules: &Rules, call: &WaitingCall) -> Lookup {
        let WaitingCall { list, name, .. } = call;
        let catalog = self.catalog.under(rules.generation);
        if rules.settings.is_replica() && catalog.is_older(list, MAX_AGE, self.now) {
            catalog.expire(list);
        }
        if rules.settings.is_hidden(&catalog.own_name(list, name)) {
            return Lookup::Found(Tool::Withheld(HIDDEN.into()));
        }
        catalog.find(list, name)
    }

    /// Starts a job for `stream`.
    pub(super) fn start_job(
        &mut self,
        stream: Option<StreamId>,
        check: JobKind,
        purpose: JobPurpose,
    ) {
        let id = JobId(self.next_number());
        let abandoned = Arc::new(AtomicBool::new(false));
        let (server, rules) = (Arc::clone(&self.server), self.server.rules().clone());
        let flag = Arc::clone(&abandoned);
        self.jobs.insert(id, RunningJob { stream, purpose, abandoned });
        let has_waited = AtomicBool::new(false);
        let job = Job { id, server, rules, check, abandoned: flag, has_waited };
        self.actions.push_back(Action::Judge(Box::new(job)));
    }

    /// Stops the jobs whose outcome nobody waits for any more.
    pub(super) fn abandon_jobs(&mut self, stream: StreamId) {
        let is_own = |_: &JobId, job: &mut RunningJob| job.stream == Some(stream);
        let jobs: Vec<_> = self.jobs.extract_if(is_own).map(|(_, job)| job).collect();
        for RunningJob { purpose, abandoned, .. } in jobs {
            abandoned.store(true, Ordering::Relaxed);
            match purpose {
                // The other parts of a batch may be for other clients.
                JobPurpose::Answer(HeldAnswer { ticket, index, .. })
                    if self.link.splits_batches() =>
                {
                    self.settle(ticket, index, Decision::Dropped);
                }
                JobPurpose::Answer(HeldAnswer { ticket, .. })
                | JobPurpose::Call(WaitingCall { ticket, .. }, _) => {
                    self.held.remove(&ticket);
                }
                JobPurpose::OwnPage(_) => {}
            }
        }
        self.forget_calls(stream);
    }

    /// Answers open requests with an error: of `stream`, or of all streams.
    pub(super) fn give_up(&mut self, stream: Option<StreamId>, reason: &str, held: bool) {
        for key in self.pending.open_keys(stream, held) {
            let Some(pending) = self.pending.remove(&key) else { continue };
            if pending.is_abandoned {
                continue;
            }
            pending.end_refused(code::INTERNAL);
            let own = pending.client_id.as_deref().and_then(Id::parse);
            let id = own.as_ref().unwrap_or(&key.1);
            self.refuse(pending.stream, Some(id), code::INTERNAL, reason);
            if !pending.is_held() && self.may_come_elsewhere(&pending) {
                self.abandon(&key, pending);
            }
        }
    }

    /// Takes what the server says about itself.
    pub(super) fn shake_hands(&mut self, result: &str) {
        if let Some(handshake) = Handshake::read(result) {
            let Handshake { revision, server, supported, tells_changes } = handshake;
            let record = Record::Handshake { server, revision: revision.as_ref() };
            self.server.environment().record(&record);
            if !supported.is_empty() {
                self.server.set_supported(&supported);
            }
            // Clients without a session are not told apart here.
            let is_one = self.link != Link::Streams || self.has_session;
            if let Some(revision) = revision.filter(|_| is_one) {
                let is_alone = self.link != Link::Shared;
                self.tells_changes = tells_changes && is_alone && !revision.is_natural();
                self.negotiated = revision;
            }
        }
    }

    pub(super) fn report(&self, event: Event) {
        self.server.report(event);
    }
}
