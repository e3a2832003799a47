//! The tool list, requested by the guard itself because a call came before the list did.

use std::sync::Arc;
use std::time::{Duration, Instant};

use ahash::AHashMap;
use bytestring::ByteString;
use serde_json::Value;
use toolbond_contract::{Revision, tool_error};
use toolbond_telemetry::CallSpan;

use super::held::{Held, PartFate};
use super::job::Check;
use super::pending::{Key, Pending, Purpose};
use super::{
    Action, AskId, Conversation, Destination, JobPurpose, Link, OWN_ID, PageRequest, StreamId,
    Ticket,
};
use crate::audience::Audience;
use crate::contract::arguments::CheckedArguments;
use crate::contract::budget::Budget;
use crate::contract::catalog::Catalog;
use crate::contract::header_changes::HeaderChange;
use crate::contract::list::CheckedPage;
use crate::contract::param_headers::ParamHeaders;
use crate::contract::refusal_text;
use crate::event::Event;
use crate::json::edit::{Misfit, Span, apply};
use crate::json::object::Object;
use crate::message::{Id, code, meta};

/// The most pages that are requested.
pub(crate) const MAX_PAGES: usize = 1000;

/// How often a list is requested that changes meanwhile.
const TRIES: usize = 3;

/// A call that waits: for the tool list, or for its arguments to be checked.
#[derive(Debug)]
pub(super) struct WaitingCall {
    pub(super) ticket: Ticket,
    pub(super) index: usize,
    pub(super) stream: StreamId,
    pub(super) key: Key,
    /// The id that the client gave it.
    pub(super) id: Id,
    /// The name that the client calls the tool, and where it stands in the text.
    pub(super) name: String,
    pub(super) name_at: Span,
    pub(super) arguments: Option<ByteString>,
    /// The arguments as the tool takes them, where the client called a view of it.
    pub(super) restored: Option<ByteString>,
    pub(super) meta: Option<String>,
    pub(super) audience: Audience,
    /// The headers that repeat arguments, where there are headers to check.
    pub(super) headers: Option<Arc<ParamHeaders>>,
    /// The message that the call is a part of, and where in it the call stands.
    pub(super) text: ByteString,
    pub(super) span: Span,
    /// What changes in the text of the call on its way to the server.
    pub(super) edits: Vec<(Span, String)>,
    /// When it came.
    pub(super) received: Instant,
    /// Whether the list was requested again because of it.
    pub(super) is_rechecked: bool,
    /// The headers that change with it, beside those that follow from the arguments.
    pub(super) header_changes: Vec<HeaderChange>,
    pub(super) call_span: Option<CallSpan>,
}

impl WaitingCall {
    /// The arguments that are checked.
    pub(super) fn arguments(&self) -> Option<&ByteString> {
        self.restored.as_ref().or(self.arguments.as_ref())
    }

    /// What the server gets if the call passes: under the name that the server has for the tool, and with `arguments`
    /// in place of those of the client if they were repaired.
    pub(super) fn to_send(
        &self,
        own_name: &str,
        arguments: Option<String>,
    ) -> Result<PartFate, Misfit> {
        let mut edits = self.edits.clone();
        if own_name != self.name {
            edits.push((self.name_at, Value::from(own_name).to_string()));
        }
        if let Some(new) = arguments.or_else(|| self.restored.as_ref().map(ToString::to_string)) {
            let old = self.arguments.as_deref().ok_or(Misfit)?;
            edits.push((Span::locate(&self.text, old).ok_or(Misfit)?, new));
        }
        if edits.is_empty() {
            return Ok(PartFate::Same);
        }
        apply(&self.text, self.span, edits).map(PartFate::Edited)
    }

    /// The tool error for a call that could not be checked.
    pub(super) fn failure(&self, reason: &str) -> CheckedArguments {
        let text = format!("could not check the arguments for tool `{}`: {reason}", self.name);
        CheckedArguments::Refused(refusal_text(tool_error(text), &self.audience.revision))
    }
}

/// From one page of a list to the next.
#[derive(Debug, Default)]
pub(crate) struct Pages {
    /// The cursor to the page to request, as JSON; the first page has none.
    pub(crate) cursor: Option<String>,
    seen: usize,
}

/// The list has no end.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Endless;

impl Pages {
    /// Moves on to the `next` page; `false` where there is none.
    pub(crate) fn advance(&mut self, next: Option<String>) -> Result<bool, Endless> {
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

/// The tool list that the guard requests.
#[derive(Debug, Default)]
pub(super) struct Fetcher {
    running: Option<Fetch>,
    /// The last failure: until when the list is not requested again, unless it changes.
    failed: Option<(Instant, PageRequest)>,
    /// Why it failed.
    failure: String,
    waiting: Vec<WaitingCall>,
}

#[derive(Debug)]
struct Fetch {
    ask: AskId,
    stream: StreamId,
    meta: Option<String>,
    audience: Audience,
    pages: Pages,
    /// The request for the page that is on its way, and for the first page of this try.
    page: PageRequest,
    first: PageRequest,
    tries: usize,
    deadline: Instant,
    timeout: Duration,
}

impl Fetcher {
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.running.as_ref().map(|fetch| fetch.deadline)
    }

    /// Whether the list failed a moment ago, so that it is not worth asking again.
    pub(super) fn has_failed(&self, catalog: &Catalog, now: Instant) -> bool {
        self.failed.is_some_and(|(until, page)| until > now && catalog.is_unchanged_since(page))
    }

    /// Why the list could not be fetched.
    pub(super) fn failure(&self) -> &str {
        &self.failure
    }

    pub(super) fn stop(&mut self) {
        self.running = None;
        self.waiting.clear();
    }

    /// Forgets the calls of a client that has left.
    pub(super) fn forget_calls(&mut self, stream: StreamId, held: &mut AHashMap<Ticket, Held>) {
        self.waiting.retain(|call| {
            if call.stream == stream {
                held.remove(&call.ticket);
            }
            call.stream != stream
        });
    }
}

impl Conversation {
    /// Lets `call` wait for the tool list, which is requested unless that was done already.
    pub(super) fn fetch_tools(&mut self, call: WaitingCall, now: Instant) {
        if self.fetcher.running.is_none() {
            let timeout = self.server.rules().settings.list_timeout;
            let page = self.catalog.request_page(None, now);
            self.fetcher.running = Some(Fetch {
                ask: AskId(0),
                stream: call.stream,
                meta: call.meta.clone(),
                audience: call.audience.clone(),
                pages: Pages::default(),
                page,
                first: page,
                tries: 1,
                deadline: now + timeout,
                timeout,
            });
            self.request_page(now);
        }
        self.fetcher.waiting.push(call);
    }

    /// Requests the next page.
    fn request_page(&mut self, now: Instant) {
        let ask = AskId(self.next_number());
        let Some(fetch) = &mut self.fetcher.running else { return };
        fetch.ask = ask;
        fetch.page = self.catalog.request_page(fetch.pages.cursor.as_deref(), now);
        let id = Id::String(format!("{OWN_ID}{}", ask.0));
        let cursor = fetch.pages.cursor.as_deref();
        let bytes = list_request(&id, cursor, fetch.meta.as_deref(), &fetch.audience.revision);
        let stream = fetch.stream;
        if self.link == Link::Streams {
            self.actions.push_back(Action::Ask { ask, stream, bytes: bytes.into() });
            return;
        }
        let pending = Pending::new(StreamId::PIPE, Purpose::Own(ask));
        // Ids of clients that start like the guard's own are refused where they are in use.
        let _ = self.pending.insert((StreamId::PIPE, id), pending);
        self.send(Destination::Server(stream), None, bytes);
    }

    /// Takes the answer to a request of the guard itself: its result, or `None` for an error.
    pub(crate) fn on_own_answer(&mut self, ask: AskId, result: Option<ByteString>, now: Instant) {
        let is_current = |fetch: &Fetch| fetch.ask == ask;
        let Some(fetch) = self.fetcher.running.as_ref().filter(|fetch| is_current(fetch)) else {
            return;
        };
        let Some(result) = result else {
            return self.fail_fetch(ask, "the server answered with an error", now);
        };
        let (request, audience) = (fetch.page, fetch.audience.clone());
        let others = self.catalog.names_before(&audience, request);
        let check = Check::Page { request, others, result, audience };
        self.start_job(None, check, JobPurpose::OwnPage(ask));
    }

    /// A request of the guard itself failed.
    pub(crate) fn on_ask_failed(&mut self, ask: AskId, reason: &str, now: Instant) {
        self.fail_fetch(ask, reason, now);
    }

    /// Takes a checked page, and requests the next one or resumes the calls that wait.
    pub(super) fn take_own_page(&mut self, ask: AskId, page: CheckedPage, now: Instant) {
        let Some(fetch) = self.fetcher.running.as_mut().filter(|fetch| fetch.ask == ask) else {
            return;
        };
        if let Some((page, tools)) = page.tools {
            self.catalog.add_page(&fetch.audience, page, tools);
        }
        match fetch.pages.advance(page.next) {
            Ok(true) => return self.request_page(now),
            Ok(false) if self.catalog.is_unchanged_since(fetch.first) => {}
            Ok(false) if fetch.tries < TRIES => {
                fetch.tries += 1;
                fetch.pages = Pages::default();
                fetch.first = self.catalog.request_page(None, now);
                return self.request_page(now);
            }
            Ok(false) => {
                self.catalog.accept_stale(&fetch.audience);
                self.report(Event::warning(format!(
                    "server: the tool list changed each of {TRIES} times it was fetched; the last one is in force"
                )));
            }
            Err(Endless) => {
                self.catalog.cut_off(&fetch.audience);
                self.report(Event::error(
                    "server: the tool list has no end; calls of tools beyond its first pages are refused",
                ));
            }
        }
        self.fetcher.running = None;
        self.resume_calls(now);
    }

    /// Gives up the request `ask` and with it the list.
    pub(super) fn fail_fetch(&mut self, ask: AskId, reason: &str, now: Instant) {
        let is_current = self.fetcher.running.as_ref().is_some_and(|fetch| fetch.ask == ask);
        if is_current {
            self.end_fetch(reason, now, now);
        }
    }

    /// Acts on time that has passed.
    pub(crate) fn on_timeout(&mut self, now: Instant) {
        let Some(fetch) = self.fetcher.running.as_ref().filter(|fetch| fetch.deadline <= now)
        else {
            return;
        };
        // A list that does not come is not waited for at every call.
        let (timeout, ask) = (fetch.timeout, fetch.ask);
        let key = (StreamId::PIPE, Id::String(format!("{OWN_ID}{}", ask.0)));
        self.pending.remove(&key);
        let reason = format!("no answer within {} s", timeout.as_secs());
        self.end_fetch(&reason, now + timeout, now);
    }

    fn end_fetch(&mut self, reason: &str, until: Instant, now: Instant) {
        let Some(fetch) = self.fetcher.running.take() else { return };
        reason.clone_into(&mut self.fetcher.failure);
        let then = if self.server.rules().settings.require_list {
            "calls are refused"
        } else if self.catalog.has_list(&fetch.audience) {
            "calls are checked against the last one"
        } else {
            "calls are forwarded unchecked"
        };
        self.report(Event::error(format!(
            "server: could not fetch the tool list; {then}: {reason}"
        )));
        // Those who waited for it do not wait for the same again. The list was asked for in the name of one of them,
        // and may have failed because of that: others have it asked for in their own name.
        let waiting = std::mem::take(&mut self.fetcher.waiting);
        let (same, others): (Vec<_>, Vec<_>) =
            waiting.into_iter().partition(|call| until > now || call.meta == fetch.meta);
        self.fetcher.waiting = same;
        let page = self.catalog.request_page(None, now);
        self.fetcher.failed = Some((now + Duration::from_nanos(1), page));
        self.resume_calls(now);
        self.fetcher.failed = Some((until, fetch.first));
        for call in others {
            self.fetch_tools(call, now);
        }
    }

    /// Answers the calls that wait for the list with an error: the server will not send it.
    pub(crate) fn fail_waiting_calls(&mut self, reason: &str) {
        self.fetcher.running = None;
        for call in std::mem::take(&mut self.fetcher.waiting) {
            if let Some(pending) = self.pending.remove(&call.key) {
                pending.end_refused(code::INTERNAL);
            }
            self.refuse(call.stream, Some(&call.id), code::INTERNAL, reason);
            self.settle(call.ticket, call.index, PartFate::Dropped);
        }
    }

    /// Decides about the calls that waited for the list.
    fn resume_calls(&mut self, now: Instant) {
        let server = self.server.clone();
        let rules = server.rules();
        let mut budget = Budget::inline();
        for call in std::mem::take(&mut self.fetcher.waiting) {
            let (ticket, index) = (call.ticket, call.index);
            match self.decide_call(call, &rules, &mut budget, now) {
                PartFate::Waiting => {}
                fate => self.settle(ticket, index, fate),
            }
        }
    }
}

/// The request for a page: it says who the client of the call is and what it can do, as far as it said so in the way
/// that the protocol asks for.
fn list_request(id: &Id, cursor: Option<&str>, meta: Option<&str>, revision: &Revision) -> String {
    let mut params = Object::default();
    if let Some(cursor) = cursor {
        params.set("cursor", cursor);
    }
    if revision.is_natural() {
        let client = Object::read(meta).unwrap_or_default();
        params.set("_meta", meta::on_behalf_of(&client, &revision.to_string()));
    }
    let params = if params.is_empty() { String::new() } else { format!(",\"params\":{params}") };
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"tools/list\"{params}}}")
}
