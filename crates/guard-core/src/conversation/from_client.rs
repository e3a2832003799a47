//! What becomes of the messages of clients.

use std::sync::Arc;
use std::time::Instant;

use bytestring::ByteString;
use toolbond_contract::{Revision, results::Interim};

use super::action::{Action, AskId, Destination, StreamId, Ticket};
use super::handshake::AwaitedHandshake;
use super::held::{Decision, Decisions};
use super::link::Link;
use super::pending::{Key, NotAdded, Pending, Purpose, RequestProgress};
use super::state::Conversation;
use super::waiting_call::{WaitingCall, changed};
use crate::audience::Audience;
use crate::caller::{Caller, keyed_hash};
use crate::contract::budget::Budget;
use crate::contract::catalog::ListKey;
use crate::contract::param_headers::ParamHeaders;
use crate::json::edit::{EditError, Span};
use crate::message::{
    CallParams, Changes, ClientMeta, Envelope, Id, Kind, ListParams, MAX_ID, Message, Method,
    Progress, Task, TokenOf, Unreadable, cancelled_id, code, initializing_client, progress,
};
use crate::server::Rules;
use crate::trace::HttpTrace;

/// One part of a message of a client.
pub(super) struct ClientPart<'a> {
    ticket: Ticket,
    index: usize,
    stream: StreamId,
    pub(super) text: &'a ByteString,
    pub(super) envelope: &'a Envelope,
    pub(super) told: &'a Told<'a>,
}

/// What the transport says about a message of a client.
#[derive(Default)]
pub struct Told<'a> {
    /// Who sends it, where the server sees that.
    pub caller: Caller,
    /// The revision that its sender speaks.
    pub revision: Option<&'a Revision>,
    /// The headers that repeat arguments, where there are headers to check.
    pub headers: Option<Arc<ParamHeaders>>,
    /// Its trace.
    pub trace: Option<HttpTrace>,
}

impl ClientPart<'_> {
    /// Its sender. What it says of itself is part of that, and so is a header that says something else.
    fn sender(&self, client: &ClientMeta) -> Caller {
        let own = client.revision.as_ref();
        let header = self.told.revision.filter(|header| own.is_some_and(|own| own != *header));
        self.told.caller.saying(match header {
            Some(header) => keyed_hash((client.said, header.to_string())),
            None => client.said,
        })
    }
}

/// A call: what it calls, and the tool list that it is checked against.
type ReadCall<'a> = (CallParams<'a>, ListKey);

/// A request as the server gets it.
struct Readdressed {
    key: Key,
    pending: Pending,
    /// What changes in its text.
    edits: Vec<(Span, String)>,
}

impl Conversation {
    /// Takes a message of the client behind `stream`.
    pub fn on_client(
        &mut self,
        stream: StreamId,
        message: &Message<'_>,
        told: &Told<'_>,
        now: Instant,
    ) -> Ticket {
        self.now = now;
        let ticket = Ticket(self.next_number());
        let server = self.server.clone();
        let rules = server.rules();
        let mut budget = Budget::inline();
        let parts = message.parts.as_slice().iter().enumerate();
        let decisions: Decisions = parts
            .map(|(index, envelope)| {
                let text = message.text;
                let part = ClientPart { ticket, index, stream, text, envelope, told };
                let decision = self.decide_client(&part, &rules, &mut budget);
                (Destination::Server(stream), decision)
            })
            .collect();
        self.release(ticket, message, decisions);
        ticket
    }

    /// Takes text from the client that is not a message. Returns `true` if it is to be forwarded as it is.
    pub fn on_unreadable_client(&mut self, stream: StreamId, text: &Unreadable) -> bool {
        if !self.server.rules().settings.is_inspecting() && !text.excerpt.is_empty() {
            return true;
        }
        self.server.report_unreadable(text);
        // An answer to a request of the server cannot be answered itself.
        if text.id.is_some() && !text.has_method {
            return false;
        }
        let scope = self.scope(stream);
        let id = text.id.as_ref().filter(|id| {
            let key = (scope, (*id).clone());
            self.pending.get(&key).is_none()
        });
        self.refuse(stream, id, text.code(), &text.reason);
        false
    }

    /// The scope of the ids of requests on `stream`.
    fn scope(&self, stream: StreamId) -> StreamId {
        if self.link == Link::Streams { stream } else { StreamId::PIPE }
    }

    fn decide_client(
        &mut self,
        part: &ClientPart<'_>,
        rules: &Rules,
        budget: &mut Budget,
    ) -> Decision {
        let is_inspecting = rules.settings.is_inspecting();
        match &part.envelope.kind {
            Kind::Request(id, _) if id.is_long() => {
                let text = format!("a request id has at most {MAX_ID} bytes");
                self.refuse(part.stream, Some(id), code::REQUEST, &text);
                Decision::Dropped
            }
            Kind::Request(id, method) => self.request(part, id, *method, rules, budget),
            // Some servers run such a call all the same.
            Kind::InvalidId(Method::CallTool) | Kind::Notification(Method::CallTool)
                if is_inspecting =>
            {
                let text = "`tools/call` needs an `id` that is a string or a number";
                self.refuse(part.stream, None, code::REQUEST, text);
                Decision::Dropped
            }
            Kind::Notification(Method::Cancelled) => self.cancel(part),
            Kind::Notification(_) | Kind::InvalidId(_) | Kind::Response(_) | Kind::Other => {
                Decision::Same
            }
        }
    }

    fn request(
        &mut self,
        part: &ClientPart<'_>,
        id: &Id,
        method: Method,
        rules: &Rules,
        budget: &mut Budget,
    ) -> Decision {
        let read = self.purpose(part, method, rules).and_then(|(purpose, call)| {
            self.readdress(part, id, purpose).map(|readdressed| (readdressed, call))
        });
        let (Readdressed { key, mut pending, edits }, mut call) = match read {
            Ok(read) => read,
            Err(error) => {
                let text = format!("#/params: {error}");
                self.refuse(part.stream, Some(id), code::PARAMS, &text);
                return Decision::Dropped;
            }
        };
        let mut changes = Changes { edits, meta: Vec::new() };
        if let Some((params, _)) = &mut call {
            pending.progress = RequestProgress::Held;
            let own = params.client.client.take().map(Arc::from);
            pending.client = own.or_else(|| self.client.clone());
        }
        let mut header_changes = Vec::new();
        if let Some((params, list)) = &call
            && let Some(traced) = self.trace_call(part, id, params, &list.audience)
        {
            pending.span = Some(traced.span);
            changes.meta = traced.meta;
            header_changes = traced.headers;
        }
        let (call_span, client) = (pending.span.clone(), pending.client.clone());
        let serial = match self.add(part, &key, pending) {
            Ok(serial) => serial,
            Err(reason) => {
                if let Some(span) = call_span {
                    span.set_refused();
                    span.end_error(code::REQUEST.into());
                }
                self.refuse(part.stream, Some(id), code::REQUEST, &reason.describe(id));
                return Decision::Dropped;
            }
        };
        let Some((params, list)) = call else {
            return match changed(part.text, part.envelope, changes, self.translates()) {
                Ok(decision) => decision,
                Err(EditError) => self.refuse_edit(part.stream, &key, id),
            };
        };
        let Some(name_at) = Span::locate(part.text, params.name_text) else {
            return self.refuse_edit(part.stream, &key, id);
        };
        let call = WaitingCall {
            ticket: part.ticket,
            index: part.index,
            stream: part.stream,
            key,
            serial,
            id: id.clone(),
            client,
            name: params.name.into_owned(),
            name_at,
            arguments: params.arguments.map(|it| part.text.slice_ref(it)),
            meta: params.meta.map(|meta| part.text.slice_ref(meta)),
            list,
            headers: part.told.headers.clone(),
            text: part.text.clone(),
            part: part.envelope.clone(),
            changes,
            received: self.now,
            is_rechecked: false,
            waits: 0,
            failure: None,
            header_changes,
            call_span,
        };
        self.decide_call(call, rules, budget)
    }

    /// What a request is for; with that, if it is a call that is checked, what it calls and for whom.
    ///
    /// Fails where its parameters cannot be read.
    fn purpose<'a>(
        &self,
        part: &ClientPart<'a>,
        method: Method,
        rules: &Rules,
    ) -> serde_json::Result<(Purpose, Option<ReadCall<'a>>)> {
        let (text, envelope) = (part.text, part.envelope);
        let purpose = match method {
            Method::Initialize => {
                Purpose::Handshake { client: initializing_client(text, envelope) }
            }
            Method::Discover => Purpose::Handshake { client: None },
            Method::Listen => Purpose::Subscription { hears_of_tools: false },
            _ if !rules.settings.is_inspecting() => Purpose::Other,
            Method::CallTool => {
                let params = CallParams::read(text, envelope)?;
                let list = self.list_key(part, &params.client, rules);
                let revision = list.audience.revision.clone();
                let known = Interim::known_to(&revision);
                let interim = if params.may_be_task { known } else { known.without_tasks() };
                let purpose = Purpose::Call { tool: None, revision, interim };
                return Ok((purpose, Some((params, list))));
            }
            Method::ListTools => {
                let params = ListParams::read(text, envelope)?;
                Purpose::List {
                    request: self.catalog.request_page(params.cursor, self.now),
                    key: self.list_key(part, &params.client, rules),
                }
            }
            Method::TaskResult | Method::Task => self.task_purpose(method, part)?,
            _ => Purpose::Other,
        };
        Ok((purpose, None))
    }

    /// Adds a request to those that wait for their answer.
    fn add(
        &mut self,
        part: &ClientPart<'_>,
        key: &Key,
        mut pending: Pending,
    ) -> Result<u64, NotAdded> {
        // In one session, an answer to the one may be taken for an answer to the other.
        if self.has_session && self.pending.is_open_elsewhere(key, &part.told.caller) {
            return Err(NotAdded::InUse);
        }
        pending.kept = self.server.environment().keep(pending.bytes(key));
        if pending.kept.is_none() {
            return Err(NotAdded::NoMemory);
        }
        if let Kind::Request(_, method) = part.envelope.kind
            && let Some(awaited) = AwaitedHandshake::new(method, self.now)
            && !(self.handshake.is_some() && self.pending.waits_for_handshake())
        {
            self.handshake = Some(awaited);
        }
        let serial = self.pending.insert(key.clone(), pending)?;
        if self.link == Link::Endpoint {
            self.posted.entry(part.stream).or_default().push((key.clone(), serial));
        }
        Ok(serial)
    }

    /// Returns whose tool list a request is about.
    fn list_key(&self, part: &ClientPart<'_>, client: &ClientMeta, rules: &Rules) -> ListKey {
        let caller = part.sender(client);
        let revision = client.revision.clone().or_else(|| part.told.revision.cloned());
        let client = client.client.as_deref().or(self.client.as_deref());
        let revision = revision.unwrap_or_else(|| self.negotiated.clone());
        // It may be any of those that sent the same headers.
        let sender = self.sessionless.name().filter(|_| !revision.is_natural());
        let settings = &rules.settings;
        let (target, client) = (settings.target(client), client.or(sender));
        let validation = settings.validation(client, &revision);
        let reads_only_text = settings.reads_only_text(client);
        let audience = Audience { revision, target, validation, reads_only_text };
        let audience = self.bridged(audience);
        ListKey { caller, audience }
    }

    /// Refuses a request whose text does not take the changes that it needs.
    pub(super) fn refuse_edit(&mut self, stream: StreamId, key: &Key, id: &Id) -> Decision {
        if let Some(pending) = self.pending.remove(key) {
            pending.end_refused(code::INTERNAL);
        }
        self.refuse(stream, Some(id), code::INTERNAL, "could not edit the request");
        Decision::Dropped
    }

    /// Replaces the id and the progress token of a request where the link needs that.
    ///
    /// Fails where two readers may disagree about the token: that of another client would get through.
    fn readdress(
        &mut self,
        part: &ClientPart<'_>,
        id: &Id,
        purpose: Purpose,
    ) -> serde_json::Result<Readdressed> {
        // The stream of a request that is posted to an endpoint ends before its answer comes.
        let stream = if self.link == Link::Endpoint { StreamId::PIPE } else { part.stream };
        let mut pending = Pending::new(stream, purpose);
        pending.caller = part.told.caller.clone();
        let mut edits = Vec::new();
        let replacement = match self.link {
            Link::Pipe | Link::Streams | Link::Endpoint => None,
            Link::Session if id.is_exact() => None,
            // No random number: the id is used, and refused if it is in use.
            Link::Session => {
                self.server.random().map(|it| Id::String(format!("toolbond-request/{it:032x}")))
            }
            Link::Shared => {
                Some(Id::Integer(i64::try_from(self.next_number()).unwrap_or(i64::MAX)))
            }
        };
        if let Some((replacement, span)) = replacement.as_ref().zip(part.envelope.id) {
            pending.client_id = Some(span.text(part.text).to_owned());
            edits.push((span, replacement.to_string()));
        }
        let mut told = Progress::default();
        if matches!(self.link, Link::Session | Link::Shared) {
            told = progress(part.text, part.envelope, TokenOf::Request)?;
        }
        pending.wants_log = told.wants_log;
        if let Some((token, span)) = told.token {
            pending.token = match &replacement {
                Some(own) if self.link == Link::Shared => {
                    edits.push((span, own.to_string()));
                    Some((own.clone(), Some(span.text(part.text).to_owned())))
                }
                _ => Some((token, None)),
            };
        }
        let key = (self.scope(part.stream), replacement.unwrap_or_else(|| id.clone()));
        Ok(Readdressed { key, pending, edits })
    }

    /// What a request about a task is for.
    fn task_purpose(&self, method: Method, part: &ClientPart<'_>) -> serde_json::Result<Purpose> {
        let task = Task::of_params(part.text, part.envelope)?;
        let call = task.id.and_then(|id| self.tasks.get(&id));
        let is_result = method == Method::TaskResult;
        Ok(match call {
            None => Purpose::UnknownTask { is_result },
            Some((tool, revision)) if is_result => Purpose::TaskResult { tool, revision },
            Some((tool, revision)) => Purpose::Task { tool, revision },
        })
    }

    /// Handles `notifications/cancelled`.
    fn cancel(&mut self, part: &ClientPart<'_>) -> Decision {
        let cancelled = cancelled_id(part.text, part.envelope);
        let Some((id, span)) = cancelled else { return Decision::Same };
        let key = match self.link {
            // Nobody can tell whose request it means. A client cancels its request by leaving.
            Link::Shared => return Decision::Dropped,
            // The request has a stream of its own, and stays there.
            Link::Streams => return Decision::Same,
            Link::Session | Link::Pipe | Link::Endpoint => (StreamId::PIPE, id),
        };
        if AskId::of_answer(&key.1).is_some_and(|ask| self.fetcher.is_asking(ask)) {
            return Decision::Dropped;
        }
        if let Some(is_held) = self.withdraw(&key) {
            // A request that the server never saw needs no cancellation.
            return if is_held { Decision::Dropped } else { Decision::Same };
        }
        match self.pending.find_replaced(span.text(part.text)) {
            Some(key) => {
                let own = key.1.to_string();
                if self.withdraw(&key) == Some(true) {
                    return Decision::Dropped;
                }
                let changes = Changes { edits: vec![(span, own)], meta: Vec::new() };
                changed(part.text, part.envelope, changes, self.translates())
                    .unwrap_or(Decision::Dropped)
            }
            None => Decision::Same,
        }
    }

    /// Ends the wait for the answer to a request. Returns whether the server has not seen it yet; `None` where there is no
    /// such request.
    fn withdraw(&mut self, key: &Key) -> Option<bool> {
        let pending = self.pending.get(key)?;
        pending.end_cancelled();
        let (is_held, stream) = (pending.is_held(), pending.stream);
        if !pending.is_abandoned {
            self.actions.push_back(Action::NoAnswer(stream));
        }
        if is_held {
            self.pending.remove(key);
        } else {
            // The server may answer it all the same.
            self.pending.abandon(key);
        }
        Some(is_held)
    }
}
